"""Forests of a small ambiguous grammar: derivations counted and summed one by one, and forests built again."""

import itertools
from pathlib import Path

import numpy as np
from helpers import rule_table, save_model

from lscfg.kernel import (
    Forest,
    ForestBuilder,
    Grammar,
    Model,
    X,
)

GLUE_TOP, GLUE, PASS, UNKNOWN, PASS_KNOWN = range(5)
"""Rules of every grammar, whose numbers follow those of the rules that it lists."""

RULES = [
    "a ||| x",
    "a ||| y",
    "b ||| x",
    "a b ||| z",
    "b [X,1] ||| [X,1] x",
    "b [X,1] ||| y [X,1]",
    "[X,1] c [X,2] ||| [X,2] [X,1]",
    "[X,1] [X,2] ||| [X,1] [X,2]",
    "[X,1] [X,2] ||| [X,2] x [X,1]",
]


class Brute:
    """Values of derivations by summing over every assignment of hidden states, one state at a time.

    With ``only`` = (node, state), over the assignments that give this node this state.
    """

    only: tuple[int, int] | None = None

    def __init__(self, forest: Forest, grammar: Grammar, tensors: dict[int, np.ndarray], root: np.ndarray):
        self.forest, self.grammar, self.tensors, self.root = forest, grammar, tensors, root

    def tree(self, apps: list[int]) -> tuple[float | np.ndarray, list[int]]:
        """Inside value of the derivation that begins the list (preorder), and what follows it."""
        app, rest = apps[0], apps[1:]
        edge = self.forest.app_edge[app]
        children = []
        for _ in [t for t in self.forest.edge_tail[edge] if t >= 0]:
            child, rest = self.tree(rest)
            children.append(child)
        m = len(self.root)
        if self.forest.node_cat[self.forest.edge_head[edge]] != X:
            value = 1.0
            for child in children:
                value *= sum(child[h] * self.root[h] for h in range(m)) if isinstance(child, np.ndarray) else child
            return value, rest
        tensor = self.tensors.get(int(self.forest.app_rule[app]))
        value = np.zeros(m)
        if tensor is not None:
            for h in range(m):
                for states in itertools.product(range(m), repeat=len(children)):
                    product = tensor[(h, *states)]
                    for child, state in zip(children, states, strict=True):
                        product = product * child[state]
                    value[h] += product
        if self.only is not None and self.forest.edge_head[edge] == self.only[0]:
            value[np.arange(m) != self.only[1]] = 0
        return value, rest

    def value(self, apps: list[int]) -> float:
        value, rest = self.tree(apps)
        assert not rest
        return float(value @ self.root) if isinstance(value, np.ndarray) else float(value)


def build(
    tmp_path: Path, m: int, seed: int, signed: bool, scale: float = 1.0
) -> tuple[Model, Grammar, dict[int, np.ndarray], np.ndarray]:
    """A random model of RULES of m states, its grammar, its tensors by rule number, and the weights of the root."""
    rng = np.random.default_rng(seed)
    table = rule_table(RULES)

    def draw(*shape):
        return (rng.normal(size=shape) if signed else rng.uniform(size=shape)) * scale

    tensors = [draw(*[m] * (a + 1)) for a in table.arity]
    root, unk = draw(m), draw(m)
    model = Model(save_model(tmp_path / "m", table, tensors, root, unk))
    grammar = model.grammar()
    tensors_by_rule = dict(enumerate(tensors))
    tensors_by_rule[len(grammar) + 2] = unk
    return model, grammar, tensors_by_rule, root


def paths(forest: Forest) -> int:
    """Number of derivations of the root."""
    inside = [0] * forest.n_nodes
    for e in range(forest.n_edges):
        ways = int(forest.edge_apps[e + 1] - forest.edge_apps[e])
        for t in forest.edge_tail[e]:
            ways *= inside[t] if t >= 0 else 1
        inside[forest.edge_head[e]] += ways
    return inside[-1]


def applications(forest: Forest) -> list[tuple[int, int, tuple[int, ...]]]:
    """Head, rule and tails of each application."""
    return [
        (
            int(forest.edge_head[e]),
            int(forest.app_rule[a]),
            tuple(int(t) for t in forest.edge_tail[e] if t >= 0),
        )
        for a, e in enumerate(forest.app_edge)
    ]


def rebuilt(forest: Forest, grammar: Grammar, order: np.random.Generator | None = None, keep: float = 1.0):
    """A forest pushed application by application, shuffled at each node; with keep < 1 some are left out."""
    builder, pushed = ForestBuilder(forest.words), []
    apps = applications(forest)
    for q in range(forest.n_nodes):
        assert builder.add_node(int(forest.node_cat[q]), *forest.node_span[q].tolist()) == q
        chosen = [a for a, app in enumerate(apps) if app[0] == q]
        if order is not None:
            order.shuffle(chosen)
            chosen = [a for a in chosen if order.random() < keep]
        for a in chosen:
            assert builder.add_application(apps[a][1], *apps[a][2]) == len(pushed)
            pushed.append(a)
    made, app_of = builder.finish(grammar)
    return made, app_of, pushed


def grammar_of(text: str) -> Grammar:
    """The finished grammar of a text."""
    g = Grammar()
    g.read_text(text)
    g.finish()
    return g
