"""Calibrations and measures of their quality, compared with slow loops, scipy and enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from lscfg.decode.confidence import Calibration
from lscfg.tuning import calibration
from lscfg.tuning.calibration import (
    Level,
    area_under_curve,
    bands_of,
    brier_score,
    calibrate,
    calibration_error,
    held_out,
    isotonic_regression,
    logistic_regression,
    quality,
)


def sample(n: int, seed: int) -> tuple[list[dict[str, float]], np.ndarray, np.ndarray]:
    """Evidence, labels, and the probabilities that the labels were drawn with."""
    random = np.random.default_rng(seed)
    x, y = random.normal(size=n), random.normal(3, 5, size=n)
    shares = 1 / (1 + np.exp(-(0.5 + 2 * x - 0.1 * y)))
    labels = (random.random(n) < shares).astype(float)
    return [{"x": a, "y": b, "constant": 7.0} for a, b in zip(x.tolist(), y.tolist(), strict=True)], labels, shares


@pytest.mark.parametrize("penalty", [0.1, 1.0, 50.0])
def test_newton_finds_the_minimum_that_scipy_finds(penalty: float) -> None:
    random = np.random.default_rng(3)
    values = np.column_stack([random.normal(size=(200, 4)) * [1, 3, 0.1, 1], np.ones(200)])
    labels = random.choice([0.02, 0.99], 200)

    def loss(weights: np.ndarray) -> float:
        scores = values @ weights
        return float(
            sum(math.log1p(math.exp(s)) - t * s for s, t in zip(scores, labels, strict=True))
        ) + penalty / 2 * float(weights[:-1] @ weights[:-1])

    found = logistic_regression(values, labels, penalty)
    best = optimize.minimize(loss, np.zeros(5), tol=1e-12).x
    assert found == pytest.approx(best, abs=1e-4)
    assert loss(found) <= loss(best) + 1e-9


def test_newton_survives_columns_that_repeat_each_other() -> None:
    column = np.linspace(-5, 5, 40)
    values = np.column_stack([column, column, np.ones(40)])
    found = logistic_regression(values, np.where(column > 0, 0.95, 0.05))
    assert found[0] == pytest.approx(found[1]) and found[0] > 0.1


def plain_isotonic(values: list[float], labels: list[float]) -> dict[float, float]:
    """By the max-min formula (Robertson et al. 1988) over the means of all ranges of distinct values."""
    distinct = sorted(set(values))

    def mean(i: int, j: int) -> float:
        inside = [label for value, label in zip(values, labels, strict=True) if distinct[i] <= value <= distinct[j]]
        return sum(inside) / len(inside)

    n = len(distinct)
    return {distinct[k]: max(min(mean(i, j) for j in range(k, n)) for i in range(k + 1)) for k in range(n)}


@pytest.mark.parametrize("seed", range(20))
def test_isotonic_regression_is_the_max_min_formula(seed: int) -> None:
    random = np.random.default_rng(seed)
    values, labels = random.integers(0, 9, 15).astype(float), random.integers(0, 2, 15).astype(float)
    steps = isotonic_regression(values, labels)
    assert steps == sorted(steps) and len({step.share for step in steps}) == len(steps)
    assert sum(step.outputs for step in steps) == 15
    expected = plain_isotonic(values.tolist(), labels.tolist())
    for value, share in expected.items():
        assert any(share == pytest.approx(step.share) for step in steps)
        pool = [one for one in values if expected[one] == pytest.approx(share)]
        assert any(
            np.mean(pool) == pytest.approx(step.value) for step in steps if step.share == pytest.approx(share)
        ), value


@pytest.mark.parametrize("seed", range(5))
def test_measures_are_those_of_plain_loops(seed: int) -> None:
    random = np.random.default_rng(seed)
    shares, labels = random.integers(0, 12, 100) / 12, random.integers(0, 2, 100).astype(float)
    ordered = sorted(range(100), key=lambda k: (shares[k], k))
    error, begin = 0.0, 0
    for number in range(15):
        size = 100 // 15 + (number < 100 % 15)
        part = ordered[begin : begin + size]
        error += size / 100 * abs(sum(shares[k] for k in part) / size - sum(labels[k] for k in part) / size)
        begin += size
    assert calibration_error(shares, labels) == pytest.approx(error)
    pairs = [(p, q) for p, a in zip(shares, labels, strict=True) for q, b in zip(shares, labels, strict=True) if a > b]
    wins = sum(1.0 if p > q else 0.5 if p == q else 0.0 for p, q in pairs)
    assert area_under_curve(shares, labels) == pytest.approx(wins / len(pairs))
    assert brier_score(shares, labels) == pytest.approx(sum((shares[k] - labels[k]) ** 2 for k in range(100)) / 100)


def test_measures_of_few_outputs() -> None:
    one = np.ones(1)
    assert calibration_error(0.25 * one, one) == 0.75 and math.isnan(area_under_curve(one, one))
    found = quality(0.5 * one, one, one, np.zeros(1, int), samples=10)
    assert found.ece == (0.5, 0.5, 0.5) and found.rate == 1 and math.isnan(found.auc[1])


def test_a_calibration_finds_the_probabilities_of_the_labels() -> None:
    evidence, labels, shares = sample(4000, 1)
    made = calibrate(evidence, labels, np.arange(len(labels)))
    assert {*made.weights} == {"x", "y"}  # a constant says nothing
    assert made.weights["x"] == pytest.approx(2, abs=0.2) and made.weights["y"] == pytest.approx(-0.1, abs=0.02)
    assert np.mean([abs(made(one) - share) for one, share in zip(evidence, shares, strict=True)]) < 0.02
    others, later, _ = sample(4000, 2)
    found = quality(np.array([made(one) for one in others]), later, np.ones(4000), np.arange(4000), samples=50)
    assert found.ece[0] < 0.03 and found.brier[0] < found.rate_brier and found.auc[0] > 0.8
    assert found.ece[1] <= found.ece[2] and abs(found.chance_ece - found.ece[0]) < 0.02
    assert found.length_auc == 0.5


def test_much_text_gets_steps_from_other_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, labels, _ = sample(300, 4)
    sentences = np.repeat(np.arange(100), 3)
    plain = calibrate(evidence, labels, sentences)
    linear = np.zeros(300)
    for fold in range(calibration.FOLDS):
        others = [k for k in range(300) if sentences[k] % calibration.FOLDS != fold]
        made = calibrate([evidence[k] for k in others], labels[others], sentences[others])
        for k in {*range(300)} - {*others}:
            linear[k] = made.linear(evidence[k])
    steps = isotonic_regression(linear, labels)
    monkeypatch.setattr(calibration, "ISOTONIC", 300)
    found = calibrate(evidence, labels, sentences)
    assert plain.steps == () and (found.bias, found.weights) == (plain.bias, plain.weights)
    assert np.array(found.steps) == pytest.approx(np.array(calibration._cautious_steps(steps)))
    values, shares = zip(*found.steps, strict=True)
    assert list(values) == sorted(values) and list(shares) == sorted(shares)
    assert 1 < len(shares) <= 300 / calibration.FEW and shares[0] > 0 and shares[-1] < 1


def test_few_outputs_at_an_end_limit_no_other_level() -> None:
    steps = [
        Level(-3.0, 0.0, 1),
        Level(-1.0, 0.2, 100),
        Level(1.0, 0.8, 100),
        Level(3.0, 0.98, 100),
        Level(9.0, 1.0, 1),
    ]
    found = calibration._cautious_steps(steps)
    assert [value for value, _ in found] == pytest.approx([(-100 - 3) / 101, 1.0, (300 + 9) / 101])
    assert [share for _, share in found] == pytest.approx([20 / 101, 0.8, 99 / 101])
    assert calibration._cautious_steps([Level(0.0, 1.0, 60)]) == ((0.0, 1 - 1 / 62),)
    assert calibration._cautious_steps([]) == ()
    near = calibration._cautious_steps(
        [Level(0, 0.0, 50), Level(1, 0.001, 900), Level(2, 0.999, 900), Level(3, 1.0, 50)]
    )
    assert [share for _, share in near] == pytest.approx([1 / 52, 1 / 52, 51 / 52, 51 / 52])  # still ascending


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_equal_labels_give_no_certainty(label: float) -> None:
    evidence, labels, _ = sample(30, 5)
    made = calibrate(evidence, np.full(30, label), np.arange(30))
    assert all(abs(made(one) - label) == pytest.approx(1 / 32, abs=0.02) for one in evidence)
    assert isinstance(calibrate([{"x": 1.0}], labels[:1], np.zeros(1, int)), Calibration)


def test_no_output_is_judged_by_a_calibration_of_its_own_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences with random labels, whose words could be recognised by evidence that names the sentence."""
    monkeypatch.setattr(calibration, "RARE", 1)
    random = np.random.default_rng(6)
    owner = np.repeat(np.arange(60), 10)
    labels = random.integers(0, 2, 60).astype(float)[owner]
    evidence = [{f"sentence {number}": 1.0} for number in owner.tolist()]
    made = calibrate(evidence, labels, owner)
    assert area_under_curve(np.array([made(one) for one in evidence]), labels) == 1
    assert all(area_under_curve(shares, labels) < 0.6 for shares in held_out(evidence, labels, owner))


def test_bands_count_every_output_once() -> None:
    shares = np.array([1.0, 0.9, 0.89, 0.7, 0.5, 0.1, 0.0])
    bands = bands_of(shares, np.array([1, 0, 1, 1, 0, 1, 0.0]))
    assert [(band.least, band.count, band.right) for band in bands] == [
        (0.9, 2, 1),
        (0.7, 2, 2),
        (0.5, 1, 0),
        (0.0, 2, 1),
    ]
