"""Minimum risk: the gradient by finite differences, expectations by enumeration, and what it learns."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from lscfg.tuning.objectives import OBJECTIVES
from lscfg.tuning.pool import Pool
from lscfg.tuning.risk import ExpectedScore, ListSource, risk


def pool_of(name: str, seed: int = 1, sentences: int = 12) -> Pool:
    """Random lists of three features for references of few words; one sentence has no list."""
    draw = random.Random(seed)

    def text() -> str:
        return " ".join(draw.choices("abcde", k=draw.randint(4, 8)))

    pool = Pool([[text() for _ in range(sentences)]], OBJECTIVES[name])
    lists = [
        [Hypothesis(text(), {f: draw.gauss(0, 1) for f in "xyz"}, 0.0) for _ in range(draw.randint(1, 6))]
        for _ in range(sentences - 1)
    ]
    pool.add([*lists, []])
    return pool


@pytest.mark.parametrize("name", [*OBJECTIVES])
def test_gradient_is_that_of_differences(name: str) -> None:
    pool, weights = pool_of(name), np.array([0.4, -0.3, 0.2])
    expected = ExpectedScore(pool.objective, [ListSource(pool)])
    for sharpness, temperature in ((0.5, 2.0), (1.5, 0.0)):
        _, gradient = expected.value(weights, sharpness, temperature)
        for k in range(3):
            step = 1e-5 * np.eye(3)[k]
            above, below = (expected.value(weights + sign * step, sharpness, temperature)[0] for sign in (1, -1))
            assert gradient[k] == pytest.approx((above - below) / 2e-5, rel=1e-5, abs=1e-6)


def test_value_is_that_of_all_choices() -> None:
    """Expected statistics are the mean over all choices of one hypothesis a sentence, by their probabilities."""
    pool = pool_of("bleu", 3, 5)
    weights, sharpness, temperature = np.array([0.5, 0.1, -0.4]), 0.7, 1.5
    lists = [one for one in pool.sentences if len(one.stats)]
    scores = [sharpness * one.features.astype(float) @ weights[one.numbers()] for one in lists]
    sums, entropy, total = np.zeros(10), 0.0, 0.0
    for choice in itertools.product(*(range(len(one)) for one in scores)):
        p = math.exp(sum(float(one[k]) for one, k in zip(scores, choice, strict=True)))
        p /= math.prod(float(np.exp(one).sum()) for one in scores)
        sums += p * sum(one.stats[k] for one, k in zip(lists, choice, strict=True))
        entropy -= p * math.log(p)
        total += p
    value, _ = ExpectedScore(pool.objective, [ListSource(pool)]).value(weights, sharpness, temperature)
    assert total == pytest.approx(1)
    assert value == pytest.approx(pool.objective.score(sums) + temperature * entropy / len(lists), abs=1e-9)


@pytest.mark.parametrize("name", ["bleu", "ribes", "bleu+chrf"])
def test_learns_and_never_loses(name: str) -> None:
    gains = []
    for seed in range(4):
        pool, start = pool_of(name, seed, 30), {"x": 0.1, "y": 0.1, "z": -0.1, "other": 2.0}
        found = risk(pool, start)
        gains.append(pool.score(pool.vector(found.weights)) - pool.score(pool.vector(start)))
        assert found.weights["other"] == 2.0 and [*found.weights] == ["other", "x", "y", "z"]
        vector = pool.vector(found.weights)
        assert np.linalg.norm(vector) == pytest.approx(np.linalg.norm(pool.vector(start)))
        assert found == risk(pool, start)
        longer = risk(pool, {n: 10 * value for n, value in start.items()})
        assert pool.score(pool.vector(longer.weights)) == pytest.approx(pool.score(vector), abs=1e-9)
    assert min(gains) >= 0 and max(gains) > 1


def test_bad_starts_are_refused() -> None:
    with pytest.raises(InputError, match="start weight of x is nan"):
        risk(pool_of("bleu"), {"x": math.nan})
    with pytest.raises(InputError, match="every k-best list is empty"):
        risk(Pool([["a"]]), {"x": 1.0})


def test_lists_of_one_hypothesis_keep_the_weights() -> None:
    pool = Pool([["a b c d"]])
    pool.add([[Hypothesis("a b c d", {"x": 1.0}, 0.0)]])
    assert risk(pool, {"x": 0.5}).weights == {"x": 0.5}


def test_rounding_is_no_deviation() -> None:
    pool = Pool([["a b c d"]])
    pool.add([[Hypothesis(f"a b c {k}", {"x": 0.1, "y": 0.7, "z": float(k)}, 0.0) for k in range(25)]])
    assert ListSource(pool).deviation(np.array([0.3, 0.9, 0.0])) == 0
    assert ListSource(pool).deviation(np.array([0.3, 0.9, 1e-3])) > 0
