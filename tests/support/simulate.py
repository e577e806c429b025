"""Corpora sampled from an L-SCFG with known parameters, which estimators should recover (thesis, section 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.grammar.table import MAX_TENSOR_ARITY, RuleTable
from lscfg.model.parameters import Parameters


@dataclass(frozen=True)
class GrammarSettings:
    """A random L-SCFG."""

    rank: int = 3
    """Number m of hidden states."""
    lexical: int = 12
    unary: int = 4
    binary: int = 4
    """Rules without, with one and with two nonterminals."""
    shares: tuple[float, float, float] = (0.55, 0.15, 0.3)
    """Probability of each arity, in every state; a node must have less than one child on average."""
    concentration: float = 0.3
    """Concentration of the Dirichlet distributions of rules given a state and of states given a rule; the smaller, the
    more the states differ."""

    def __post_init__(self) -> None:
        for name in ("rank", "lexical", "unary", "binary"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.concentration < np.inf:
            raise InputError(f"the concentration must be above 0, got {self.concentration}")
        if min(self.shares) < 0 or abs(sum(self.shares) - 1) > 1e-9 or self.shares[1] + 2 * self.shares[2] >= 1:
            raise InputError(f"arities with probabilities {self.shares} do not give finite trees")


def random_model(settings: GrammarSettings, seed: int) -> Parameters:
    """C^r = p(rule, states of nonterminals | state), C^S = p(state of the root).

    Half of the binary rules exchange their nonterminals, and so does every other rule of one nonterminal with its word;
    the first two binary rules have no words, the others one on each side.
    """
    rng, m = _generator(seed), settings.rank
    rules = [([f"f{k}"], [f"e{k}"]) for k in range(settings.lexical)]
    for k in range(settings.unary):
        rules.append(([f"u{k}", "[X,1]"], [f"v{k}", "[X,1]"] if k % 2 else ["[X,1]", f"v{k}"]))
    for k in range(settings.binary):
        order = ["[X,2]", "[X,1]"] if k % 2 else ["[X,1]", "[X,2]"]
        src, tgt = ([[f"s{k}"], [f"t{k}"]]) if k >= 2 else ([], [])
        rules.append((["[X,1]", *src, "[X,2]"], [order[0], *tgt, order[1]]))
    tensors = []
    for arity, n in enumerate((settings.lexical, settings.unary, settings.binary)):
        p = rng.dirichlet(np.full(n, settings.concentration), size=m).T * settings.shares[arity]
        states = rng.dirichlet(np.full(m**arity, settings.concentration), size=(n, m))
        tensors.append((p[:, :, None] * states).reshape(n, *[m] * (arity + 1)))
    about = {"method": "random", "seed": seed, **vars(settings)}
    about["shares"] = list(settings.shares)
    root = rng.dirichlet(np.ones(m))
    return Parameters(_table(rules), (tensors[0], tensors[1], tensors[2]), root, np.zeros(m), about)


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise InputError(f"the seed must be at least 0, not {seed}")
    return np.random.default_rng(seed)


def _table(rules: list[tuple[list[str], list[str]]]) -> RuleTable:
    words: dict[str, int] = {}

    def number(token: str, source: bool) -> int:
        if token.startswith("[X,"):
            return -1 if source else -int(token[3:-1])
        return words.setdefault(token, len(words))

    sides = [([number(t, True) for t in src], [number(t, False) for t in tgt]) for src, tgt in rules]
    return RuleTable(
        list(words),
        np.array([s for src, tgt in sides for s in (*src, *tgt)], np.int32),
        np.cumsum([0] + [len(src) + len(tgt) for src, tgt in sides]).astype(np.int64),
        np.array([len(src) for src, _ in sides], np.int32),
        np.array([sum(s < 0 for s in src) for src, _ in sides], np.int32),
    )


class _Choices:
    """For each state, the rules with the states of their nonterminals, and their cumulative probabilities."""

    def __init__(self, model: Parameters):
        m, arity = model.rank, model.rules.arity
        parts = [np.moveaxis(t, 1, 0).reshape(m, -1) for t in model.tensors]
        self.p = np.concatenate(parts, axis=1).astype(np.float64)  # sums in float32 would lose rare rules
        total = self.p.sum(axis=1, keepdims=True)
        if (self.p < 0).any() or (model.root < 0).any() or not (total > 0).all() or not model.root.sum() > 0:
            raise InputError("only a model without negative parameters, and with rules in each state, can be sampled")
        self.p = self.p / total
        self.root = model.root / model.root.sum()
        self.rule, states = [], []
        for k in range(MAX_TENSOR_ARITY + 1):
            self.rule.append(np.repeat(np.nonzero(arity == k)[0], m**k))
            combination = np.tile(np.arange(m**k), int((arity == k).sum()))
            pair = {0: (combination * 0 - 1, combination * 0 - 1), 1: (combination, combination * 0 - 1)}.get(
                k, (combination // m, combination % m)
            )
            states.append(np.stack(pair, 1))
        self.rules, self.states = np.concatenate(self.rule), np.concatenate(states)
        # mean number of children of each state in each state: trees are finite if its powers vanish
        mean = np.zeros((m, m))
        for slot in (0, 1):
            has = self.states[:, slot] >= 0
            for h in range(m):
                mean[h] += np.bincount(self.states[has, slot], self.p[h, has], m)
        radius = float(np.abs(np.linalg.eigvals(mean)).max())
        if radius >= 1 - 1e-9:
            raise InputError(f"trees of this model are infinite (a node has {radius:.3f} children like itself)")

    def draw(self, state: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A choice for each node, int64 [nodes]."""
        uniform, chosen = rng.random(len(state)), np.empty(len(state), np.int64)
        for h in range(len(self.p)):
            here = state == h
            cumulative = np.cumsum(self.p[h])
            last = np.nonzero(self.p[h])[0][-1]  # rounding may leave the last sum below 1
            chosen[here] = np.minimum(np.searchsorted(cumulative, uniform[here], "right"), last)
        return chosen


def sample(model: Parameters, n: int, seed: int) -> Derivations:
    """Derivation trees of ``n`` sentence pairs, sampled top-down with their states, which are then dropped.

    The probabilities of each state's rules are normalised; the OOV rule is not sampled.

    Raises:
        InputError: the model has negative parameters, or its trees are infinite.
    """
    if n < 1:
        raise InputError(f"the number of sentence pairs must be at least 1, got {n}")
    rng, choices = _generator(seed), _Choices(model)
    arity = model.rules.arity
    # breadth first: all nodes of one depth at a time
    state = rng.choice(model.rank, size=n, p=choices.root)
    rules, parents, slots, levels = [], [np.full(n, -1)], [np.zeros(n, np.int64)], [0]
    while len(state):
        choice = choices.draw(state, rng)
        rule = choices.rules[choice]
        rules.append(rule)
        first = levels[-1]
        levels.append(first + len(rule))
        node = np.repeat(np.arange(len(rule)), arity[rule])
        slot = np.concatenate([[0], np.cumsum(arity[rule])[:-1]]).astype(np.int64)
        slot = np.arange(len(node)) - slot[node]
        state = choices.states[choice[node], slot]
        parents.append(node + first)
        slots.append(slot)
    rule, parent, slot = np.concatenate(rules), np.concatenate(parents), np.concatenate(slots)
    return _in_preorder(model.rules, rule, parent, slot, levels, n)


def _in_preorder(
    rules: RuleTable, rule: np.ndarray, parent: np.ndarray, slot: np.ndarray, levels: list[int], n: int
) -> Derivations:
    """The derivations of trees that are listed level by level, children of a node next to each other.

    Rules outside all trees are omitted.
    """
    used, rule = np.unique(rule, return_inverse=True)
    rules = rules.select(used)
    ranges = [slice(a, b) for a, b in pairwise(levels)]
    children = np.full((len(rule), 2), -1, np.int64)
    inner = np.nonzero(parent >= 0)[0]
    children[parent[inner], slot[inner]] = inner
    terminals, before, swapped = _places(rules)
    size = np.ones(len(rule), np.int64)
    width = terminals[rule].copy()
    for level in reversed(ranges[1:]):
        np.add.at(size, parent[level], size[level])
        np.add.at(width, parent[level], width[level])
    starts = np.concatenate([[0], np.cumsum(size[:n])])
    place, begin = np.empty(len(rule), np.int64), np.zeros((len(rule), 2), np.int64)
    place[:n] = starts[:-1]
    for level in ranges[1:]:
        above, k = parent[level], slot[level]
        left, right = children[above, 0], children[above, 1]
        place[level] = place[above] + 1 + np.where(k == 1, size[left], 0)
        for side in (0, 1):
            exchanged = swapped[rule[above]] if side else np.zeros(len(above), bool)
            skipped = np.where(
                exchanged & (k == 0), width[right, side], np.where(~exchanged & (k == 1), width[left, side], 0)
            )
            begin[level, side] = begin[above, side] + before[rule[above], side, k] + skipped
    order = np.argsort(place)
    span = np.stack([begin[:, 0], begin[:, 0] + width[:, 0], begin[:, 1], begin[:, 1] + width[:, 1]], 1)
    return Derivations(
        rules,
        starts,
        rule[order].astype(np.int32),
        np.where(parent >= 0, place[parent], -1)[order].astype(np.int32),
        slot[order].astype(np.int32),
        span[order].astype(np.int32),
        np.empty((0, 2), np.int32),
        np.empty(0, np.int64),
    )


def _places(rules: RuleTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words of both sides [rules, 2], words before each nonterminal [rules, 2, 2], and order of nonterminals [rules].

    The last array is True if the target side exchanges two nonterminals.
    """
    terminals, before = np.zeros((len(rules), 2), np.int64), np.zeros((len(rules), 2, 2), np.int64)
    swapped = np.zeros(len(rules), bool)
    for rule in range(len(rules)):
        for side, symbols in enumerate((rules.src(rule).tolist(), rules.tgt(rule).tolist())):
            seen = 0
            for symbol in symbols:
                if symbol >= 0:
                    terminals[rule, side] += 1
                else:
                    slot = -1 - symbol if side else seen
                    before[rule, side, slot] = terminals[rule, side]
                    swapped[rule] |= slot < seen
                    seen += 1
    return terminals, before, swapped


def tree_values(model: Parameters, derivations: Derivations) -> np.ndarray:
    """C^S . inside(tree) of each tree, float64 [sentences]: its probability under the model.

    Rules are matched by their text; a tree with a rule outside the model has 0. Small trees only: there is no
    scaling.
    """
    number = {model.rules.text(r): r for r in range(len(model.rules))}
    of = np.array([number.get(derivations.rules.text(r), -1) for r in range(len(derivations.rules))])
    rule = of[derivations.rule]
    first = np.searchsorted(model.rules.arity, np.arange(MAX_TENSOR_ARITY + 1))
    depth = np.zeros(len(rule), np.int64)
    parent = derivations.parent
    for node in range(len(rule)):  # parents come first
        if parent[node] >= 0:
            depth[node] = depth[parent[node]] + 1
    children = np.full((len(rule), 2), -1, np.int64)
    inner = np.nonzero((parent >= 0) & (derivations.slot < 2))[0]
    children[parent[inner], derivations.slot[inner]] = inner
    inside = np.zeros((len(rule), model.rank))
    arity = derivations.rules.arity[derivations.rule]
    for level in range(int(depth.max(initial=0)), -1, -1):
        for k in range(MAX_TENSOR_ARITY + 1):
            nodes = np.nonzero((depth == level) & (arity == k) & (rule >= 0))[0]
            tensor = model.tensors[k][rule[nodes] - first[k]]
            for slot in reversed(range(k)):
                tensor = np.einsum("n...b,nb->n...", tensor, inside[children[nodes, slot]])
            inside[nodes] = tensor
    result: np.ndarray = inside[derivations.trees[:-1]] @ model.root
    return result
