"""Random systems whose marginals are summed over all derivations one by one."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from forests import PASS, Brute
from helpers import derivations, rule_table, save_model

from lscfg.kernel import Binding, Model, ParseOptions, S, X

MOST = 2000
"""Derivations of a forest that are summed over."""

TOLERANCE = 1e-9


def _random_rule(rng: random.Random) -> str:
    """A rule of the words a to c over x and y, of up to two nonterminals."""
    arity = rng.choice([0, 0, 1, 2])
    source = rng.choices("abc", k=rng.randint(arity < 2 or rng.random() < 0.5, 2))
    target = rng.choices("xy", k=rng.randint(not arity, 2))
    for k in range(arity):
        target.insert(rng.randint(0, len(target)), f"[X,{k + 1}]")
    places = sorted(rng.randint(0, len(source)) for _ in range(arity))
    for k, place in enumerate(places):
        source.insert(place + k, f"[X,{k + 1}]")
    if source == ["[X,1]"]:
        source.append("a")
    return f"{' '.join(source)} ||| {' '.join(target)}"


def compare(folder: Path, seed: int) -> tuple[float, int]:
    """The largest error of a marginal of a random system, as a share of the mass, and derivations summed over."""
    rng = random.Random(seed)
    draw = np.random.default_rng(seed)
    table = rule_table(dict.fromkeys(_random_rule(rng) for _ in range(rng.randint(3, 12))))
    m, signed, scale = rng.randint(1, 4), rng.random() < 0.5, 10.0 ** rng.randint(-3, 3)
    tensors = [(draw.normal(size=[m] * (a + 1)) if signed else draw.random([m] * (a + 1))) * scale for a in table.arity]
    root, unk = draw.normal(size=m) if signed else draw.random(m), draw.random(m)
    model = Model(save_model(folder / "m", table, tensors, root, unk))
    grammar = model.grammar()
    glue = rng.random() < 0.5
    words = [grammar.vocab.add(rng.choice("aabbcq")) for _ in range(rng.randint(1, 5))]
    options = ParseOptions(rng.randint(2, 6), glue, rng.choice([0, 2]), S if glue else X)
    forest = grammar.parse(np.array(words, np.int32), options)
    if forest is None:
        return 0.0, 0
    trees = derivations(forest)
    if len(trees) > MOST:
        return 0.0, 0
    known = dict(enumerate(tensors)) | {len(grammar) + PASS: unk}
    brute = Brute(forest, grammar, known, root)
    values = [brute.value(tree) for tree in trees]
    mass, total = sum(map(abs, values)), sum(values)
    result = Binding(model, grammar).infer(forest)
    if not np.isfinite(result.apps).all():
        return np.inf, len(trees)
    if mass == 0 or abs(total) < 1e-6 * mass:  # what is left of a cancellation has no digits
        return 0.0, len(trees)
    sums = np.zeros(forest.n_apps)
    for tree, value in zip(trees, values, strict=True):
        for app in tree:
            sums[app] += value
    return float(np.abs(result.apps * total - sums).max() / mass), len(trees)
