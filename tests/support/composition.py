"""Tensors of composed rules, contracted by hand."""

import itertools
from pathlib import Path

import numpy as np
from helpers import rule_table, save_model

from lscfg.kernel import Binding, BindingOptions, Grammar, Model

MINIMAL = [
    "a ||| x",
    "a ||| y",
    "b ||| x",
    "c ||| z y",
    "a b ||| y x",
    "b [X,1] ||| [X,1] x",
    "[X,1] c ||| z [X,1]",
    "[X,1] c [X,2] ||| [X,2] [X,1]",
    "[X,1] [X,2] ||| [X,1] [X,2]",
    "[X,1] [X,2] ||| [X,2] x [X,1]",
]
COMPOSE = BindingOptions(compose=True)

Sides = tuple[tuple[str, ...], tuple[str, ...]]


def sides(rule: str) -> Sides:
    """Source and target symbols of ``source ||| target``."""
    src, tgt = (tuple(side.split()) for side in rule.split("|||"))
    return src, tgt


def combined(rule: Sides, parts: list[Sides | None]) -> Sides:
    """The rule with parts instead of its nonterminals, None for a nonterminal; nonterminals are numbered again."""
    count, below = 0, []
    for part in parts:
        src, tgt = part or (("[X,1]",), ("[X,1]",))
        arity = sum(t.startswith("[X,") for t in src)
        names = {f"[X,{k + 1}]": f"[X,{count + k + 1}]" for k in range(arity)}
        below.append(tuple(tuple(names.get(t, t) for t in side) for side in (src, tgt)))
        count += arity
    replaced = [
        [w for t in side for w in (below[int(t[3:-1]) - 1][k] if t.startswith("[X,") else (t,))]
        for k, side in enumerate(rule)
    ]
    return tuple(replaced[0]), tuple(replaced[1])


def arity(rule: Sides) -> int:
    """Number of nonterminals."""
    return sum(t.startswith("[X,") for t in rule[0])


def contract(tensor: np.ndarray, below: list[np.ndarray | None]) -> np.ndarray:
    """The tensor with tensors of parts instead of nonterminals; axes in source order."""
    first = tensor.ndim - 1 - len(below) + 1
    for part in below:
        if part is None:
            first += 1
            continue
        tensor = np.moveaxis(
            np.tensordot(tensor, part, (first, 0)),
            range(tensor.ndim - 1, tensor.ndim - 1 + part.ndim - 1),
            range(first, first + part.ndim - 1),
        )
        first += part.ndim - 1
    return tensor


def closure(tensors: dict[Sides, np.ndarray], longest: int) -> dict[Sides, np.ndarray]:
    """The tensors of all pairs of sides, of ``longest`` source symbols at most, summed over their derivations."""
    total: dict[Sides, np.ndarray] = {}
    of_length: list[list[Sides | None]] = [[] for _ in range(longest + 1)]
    of_length[1].append(None)  # a nonterminal
    for length in range(1, longest + 1):
        found: dict[Sides, np.ndarray] = {}
        for rule, tensor in tensors.items():
            words = len(rule[0]) - arity(rule)
            for lengths in itertools.product(range(1, length + 1), repeat=arity(rule)):
                if words + sum(lengths) != length:
                    continue
                for parts in itertools.product(*(of_length[n] for n in lengths)):
                    if sum(arity(p) if p else 1 for p in parts) <= 2:
                        made = combined(rule, list(parts))
                        value = contract(tensor, [total[p] if p else None for p in parts])
                        found[made] = found.get(made, 0) + value
        of_length[length] += found
        total |= found
    return total


def composed_system(
    path: Path, m: int, seed: int, n_rules: int, longest: int = 3
) -> tuple[Model, Grammar, Binding, dict[int, np.ndarray], np.ndarray]:
    """A model of MINIMAL and a grammar of some of its closure.

    Returns:
        Model, grammar, their binding, the grammar's tensors by rule number, and the weights of the root.
    """
    rng = np.random.default_rng(seed)
    table = rule_table(MINIMAL)
    tensors = [rng.normal(size=[m] * (a + 1)) for a in table.arity]
    root, unk = rng.normal(size=m), rng.normal(size=m)
    model = Model(save_model(path / "m", table, tensors, root, unk))
    minimal = {
        sides(f"{table.src_text(r)} ||| {table.tgt_text(r)}"): t
        for r, t in zip(range(len(table)), tensors, strict=True)
    }
    total = closure(minimal, longest)
    names = sorted(total)
    chosen = [names[k] for k in rng.permutation(len(names))[:n_rules]]
    grammar = Grammar()
    for src, tgt in chosen:
        grammar.read_text(f"[X] ||| {' '.join(src)} ||| {' '.join(tgt)}\n")
    grammar.finish()
    own = {r: minimal.get(rule, total[rule]) for r, rule in enumerate(chosen)}
    own[len(grammar) + 2] = unk
    return model, grammar, Binding(model, grammar, COMPOSE), own, root
