"""Models of several categories, and their derivations by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from lscfg.extract.derive import Derivations
from lscfg.grammar.table import RuleTable
from lscfg.grammar.write import glue_rules
from lscfg.kernel import Forest, Grammar
from lscfg.model.parameters import Parameters

RULES = """
[A] ||| a ||| x
[A] ||| a ||| y
[B] ||| a ||| x
[B] ||| c ||| z
[A] ||| b ||| x
[A] ||| u [B,1] ||| [B,1] v
[B] ||| [A,1] u ||| w [A,1]
[A] ||| [A,1] [B,2] ||| [A,1] [B,2]
[B] ||| [A,1] c [A,2] ||| [A,2] z [A,1]
[A] ||| [B,1] [A,2] ||| [B,1] [A,2]
[B] ||| [B,1] [B,2] ||| [B,2] [B,1]
"""
"""Rules of the categories [A] and [B], by arity."""


def table_of(text: str, names: tuple[str, ...]) -> RuleTable:
    """The table of rules, which are given in order of arity, as cdec writes them."""
    words: dict[str, int] = {}
    symbols, lengths, sources, arity, lhs = [], [], [], [], []
    for line in text.split("\n"):
        if not line:
            continue
        head, source, target = (field.split() for field in line.split("|||"))
        code = []
        for token in source + target:
            name, comma, slot = token.strip("[]").rpartition(",")
            if not (token.startswith("[") and comma):
                code.append(words.setdefault(token, len(words)))
            else:
                code.append(-1 - names.index(name) if len(code) < len(source) else -int(slot))
        symbols += code
        lengths.append(len(code))
        sources.append(len(source))
        arity.append(sum(s < 0 for s in code[: len(source)]))
        lhs.append(names.index(head[0].strip("[]")))
    assert arity == sorted(arity)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    parts = [np.array(part, np.int32) for part in (symbols, sources, arity, lhs)]
    return RuleTable(list(words), parts[0], offsets, *parts[1:], names)


def random_parameters(table: RuleTable, ranks: tuple[int, ...], seed: int) -> Parameters:
    """Uniform random parameters with so many states of each category, and zeros beyond."""
    rng, m = np.random.default_rng(seed), max(ranks)
    alive = np.arange(m) < np.array(ranks)[:, None]
    groups: list[list[np.ndarray]] = [[], [], []]
    for rule in range(len(table)):
        states = [table.category[rule], *table.below[rule][table.below[rule] >= 0]]
        tensor = rng.uniform(size=[m] * len(states))
        for axis, category in enumerate(states):
            tensor = np.moveaxis(np.moveaxis(tensor, axis, -1) * alive[category], -1, axis)
        groups[len(states) - 1].append(tensor)
    zero, one, two = (np.array(group).reshape(len(group), *[m] * (k + 1)) for k, group in enumerate(groups))
    root, unk = rng.uniform(size=(2, len(ranks), m)) * alive
    return Parameters(table, (zero, one, two), root, unk)


def grammar_of(table: RuleTable, more: str = "") -> Grammar:
    """The grammar of the rules, with glue for each category."""
    grammar = Grammar()
    lines = [table.text(rule) for rule in range(len(table))] + list(glue_rules(table)) + more.splitlines()
    grammar.read_text("\n".join(lines) + "\n")
    grammar.finish()
    return grammar


def saved(parameters: Parameters, path: Path) -> Path:
    """The model file, in double precision."""
    parameters.save(path, np.float64)
    return path


def derivations(forest: Forest, node: int | None = None) -> Iterator[tuple[int, ...]]:
    """The applications of each derivation of a node, of the root by default, in preorder."""
    node = forest.n_nodes - 1 if node is None else node
    for edge in range(forest.node_edges[node], forest.node_edges[node + 1]):
        tails = [int(t) for t in forest.edge_tail[edge] if t >= 0]
        for app in range(forest.edge_apps[edge], forest.edge_apps[edge + 1]):
            for below in itertools.product(*(list(derivations(forest, t)) for t in tails)):
                yield (app, *itertools.chain.from_iterable(below))


class Enumerated:
    """Sums over the derivations of a forest, each evaluated by itself.

    Attributes:
        g: the sum of all; apps: float64 [n_apps]; nodes: float64 [n_nodes], their shares.
    """

    def __init__(self, forest: Forest, grammar: Grammar, parameters: Parameters):
        self.forest, self.grammar, self.parameters = forest, grammar, parameters
        names = grammar.categories()
        self.category = [
            parameters.rules.categories.index(name) if name in parameters.rules.categories else -1 for name in names
        ]
        apps, nodes, self.g = np.zeros(forest.n_apps), np.zeros(forest.n_nodes), 0.0
        for found in derivations(forest):
            value, _ = self._whole(list(found))
            self.g += value
            for app in found:
                apps[app] += value
                nodes[forest.edge_head[forest.app_edge[app]]] += value
        self.apps, self.nodes = apps / self.g, nodes / self.g

    def _whole(self, apps: list[int]) -> tuple[float, list[int]]:
        """Value of the tree that the list begins with, and what follows it."""
        value, rest, category = self._tree(apps)
        return (float(value @ self.parameters.root[category]) if category >= 0 else float(value)), rest

    def _tree(self, apps: list[int]) -> tuple[np.ndarray, list[int], int]:
        app, rest = apps[0], apps[1:]
        edge = self.forest.app_edge[app]
        tails = [t for t in self.forest.edge_tail[edge] if t >= 0]
        category = self.category[self.forest.node_cat[self.forest.edge_head[edge]]]
        if category < 0:
            product = 1.0
            for _ in tails:
                value, rest = self._whole(rest)
                product *= value
            return np.array(product), rest, category
        rule = int(self.forest.app_rule[app])
        known = rule < len(self.parameters.rules)
        tensor = self.parameters.tensor(rule) if known else self.parameters.unk[category]
        children = []
        for _ in tails:
            child, rest, _ = self._tree(rest)
            children.append(child)
        for child in reversed(children):
            tensor = tensor @ child
        return tensor, rest, category


def permuted(table: RuleTable, order: list[int]) -> RuleTable:
    """Returns the rules whose category ``order[k]`` gets the number k."""
    new = np.argsort(order).astype(np.int32)
    _, on_source = table.on_source()
    symbols = table.symbols.copy()
    gaps = on_source & (symbols < 0)
    symbols[gaps] = -1 - new[-1 - symbols[gaps]]
    names = tuple(table.categories[k] for k in order)
    return replace(table, symbols=symbols, lhs=new[table.category], categories=names)


def in_blocks(parameters: Parameters, ranks: tuple[int, ...]) -> Parameters:
    """The model of [X] alone whose states are those of all categories, one block after the other.

    Tensors are zero outside the block of their categories, so it gives every tree the same value. Rules must differ
    without their categories, too.
    """
    table, first = parameters.rules, np.concatenate([[0], np.cumsum(ranks)])
    groups: list[list[np.ndarray]] = [[], [], []]
    for rule in range(len(table)):
        states = [int(table.category[rule]), *(int(c) for c in table.below[rule] if c >= 0)]
        tensor = np.zeros([first[-1]] * len(states))
        tensor[tuple(slice(first[c], first[c + 1]) for c in states)] = parameters.tensor(rule)[
            tuple(slice(ranks[c]) for c in states)
        ]
        groups[len(states) - 1].append(tensor)
    parts = [np.array(group).reshape(len(group), *[first[-1]] * (k + 1)) for k, group in enumerate(groups)]
    root, unk = (
        np.concatenate([vectors[c, :rank] for c, rank in enumerate(ranks)])
        for vectors in (parameters.root, parameters.unk)
    )
    return Parameters(table.without_categories(), (parts[0], parts[1], parts[2]), root, unk)


def known_grammar(ranks: tuple[int, ...], seed: int) -> Parameters:
    """A random L-SCFG whose rules name their categories, with finite trees."""
    n, m = len(ranks), max(ranks)
    names = tuple(f"N{c}" for c in range(n))
    shares, lines = (0.6, 0.1, 0.3), list[str]()
    for k in range(3):
        lines += [f"[N{c}] ||| f{c}.{k} ||| e{c}.{k}" for c in range(n)]
    lines += [f"[N{c}] ||| u{c} [N{(c + 1) % n},1] ||| [N{(c + 1) % n},1] v{c}" for c in range(n)]
    for k in range(2):
        for c in range(n):
            left, right = (c + k) % n, (c + 1) % n
            lines.append(f"[N{c}] ||| [N{left},1] s{c}.{k} [N{right},2] ||| [N{left},1] t{c}.{k} [N{right},2]")
    table = table_of("\n".join(lines), names)
    found = random_parameters(table, ranks, seed)
    for k, share in enumerate(shares):
        for c in range(n):
            rules = table.lhs[table.arity == k] == c
            tensors = found.tensors[k][rules] ** 4  # states that differ
            mass = tensors.reshape(len(tensors), m, -1).sum(axis=(0, 2)).reshape(1, m, *[1] * k)
            found.tensors[k][rules] = share * np.divide(tensors, mass, out=np.zeros_like(tensors), where=mass > 0)
    return Parameters(table, found.tensors, found.root / found.root.sum(), np.zeros_like(found.unk))


def with_true_categories(derivations: Derivations, model: Parameters) -> Derivations:
    """Trees sampled from ``in_blocks(model)`` with the categories of their rules."""
    blind = model.rules.without_categories()
    category = {blind.text(rule): int(model.rules.category[rule]) for rule in range(len(blind))}
    of_rule = np.array([category[derivations.rules.text(rule)] for rule in range(len(derivations.rules))], np.int32)
    return derivations.with_categories(model.rules.categories, of_rule[derivations.rule])
