"""Scores over several tunings: against sacrebleu for one run, full enumeration, and the distribution of p-values."""

import itertools
import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from lscfg.errors import InputError
from lscfg.tuning import significance
from lscfg.tuning.bleu import bleu, corpus_stats
from lscfg.tuning.evaluate import evaluate
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.significance import compact, paired_bootstrap

BLEU_METRIC = METRICS["bleu"]

WORDS = [f"w{n}" for n in range(25)]


def spoiled(lines, rate, draw):
    return [" ".join(draw.choice(WORDS) if draw.random() < rate else word for word in line.split()) for line in lines]


def sentences(count, draw, words=9):
    return [" ".join(draw.choices(WORDS, k=words)) for _ in range(count)]


def compare(outputs, *arguments, **options):
    """BLEU of each system."""
    return [system.metrics["BLEU"] for system in evaluate(outputs, *arguments, **options).systems]


def approximate_randomisation(one, other, trials, seed=12345):
    return significance.approximate_randomisation(BLEU_METRIC, one, other, trials, seed)


def test_one_run_is_sacrebleus(monkeypatch):
    """Exactly, but for p-values of randomisation, whose random numbers are others."""
    monkeypatch.setenv("SACREBLEU_SEED", "5")
    draw = random.Random(3)
    truth = sentences(100, draw)
    systems = {"base": spoiled(truth, 0.3, draw), "other": spoiled(truth, 0.26, draw)}
    named = list(systems.items())
    scorers = {"BLEU": BLEU(tokenize="none", force=True), "chrF2": CHRF(), "TER": TER()}
    theirs = PairedTest(named, scorers, [truth], test_type="bs", n_samples=300)()[1]
    randomised = PairedTest(named, scorers, [truth], test_type="ar", n_samples=1000)()[1]
    outputs = {name: [lines] for name, lines in systems.items()}
    outputs["same"] = [[f" {line}" for line in systems["base"]]]
    ours = evaluate(outputs, [truth], "base", metrics=["bleu", "chrf", "ter"], samples=300, trials=1000, seed=5).systems
    for title in scorers:
        for position in range(2):
            one, other = theirs[title][position], ours[position].metrics[title]
            assert (other.score, other.runs) == (pytest.approx(one.score), [pytest.approx(one.score)])
            assert (other.mean, other.ci) == (pytest.approx(one.mean, abs=1e-4), pytest.approx(one.ci, abs=1e-4))
            expected = None if one.p_value is None else pytest.approx(one.p_value, abs=0.004)
            assert other.p_bootstrap == expected and other.deviation is None
        exact = randomised[title][1].p_value
        found = ours[1].metrics[title].p_randomised
        assert found == pytest.approx(exact, abs=4 * (2 * exact * (1 - exact) / 1000) ** 0.5 + 1 / 1001)
        assert (ours[2].metrics[title].p_bootstrap, ours[2].metrics[title].p_randomised) == (1.0, 1.0)
    assert 0.01 < randomised["BLEU"][1].p_value < 0.99  # so that the comparison means something


@pytest.mark.parametrize(("runs", "count"), [(1, 7), (2, 7), (3, 8)])
def test_against_all_exchanges(runs, count):
    """Every choice of sentences whose outputs the systems exchange, those of all runs together."""
    draw = random.Random(runs)
    truth = sentences(count, draw)
    one, other = (
        np.stack([corpus_stats(spoiled(truth, rate, draw), [truth]) for _ in range(runs)]).astype(np.float32)
        for rate in (0.3, 0.2)
    )
    total = (one + other).sum(axis=(0, 1))
    observed = abs(bleu(one.sum(axis=(0, 1))) - bleu(other.sum(axis=(0, 1))))
    as_far = deals = 0
    for swapped in itertools.product((False, True), repeat=count):
        side = sum((other if swap else one)[:, k].sum(axis=0) for k, swap in enumerate(swapped))
        as_far += abs(bleu(side) - bleu(total - side)) >= observed - 1e-9
        deals += 1
    exact, trials = as_far / deals, 20000
    assert 0 < exact < 1
    found = approximate_randomisation(one, other, trials, seed=4)
    assert found == pytest.approx(exact, abs=4 * (exact * (1 - exact) / trials) ** 0.5 + 1 / trials)
    assert (
        found == approximate_randomisation(one, other, trials, seed=4) != approximate_randomisation(one, other, 999, 5)
    )
    assert found == pytest.approx(approximate_randomisation(other, one, trials, seed=6), abs=0.02)


def test_no_p_value_is_zero():
    """The outputs as they are count as one more trial, and as one more sample."""
    draw = random.Random(6)
    truth = sentences(30, draw)
    outputs = {"bad": [spoiled(truth, 0.9, draw)], "good": [truth]}
    bad, good = compare(outputs, [truth], "bad", samples=99, trials=99, against=["good"])
    assert (good.p_randomised, good.p_bootstrap, bad.p_against["good"]) == (1 / 100, 1 / 100, 1 / 100)


@pytest.mark.parametrize(("difference", "expected"), [(0, 3 / 5), (0.5, 3 / 5), (1.4, 2 / 5), (1.5, 2 / 5), (9, 1 / 5)])
def test_bootstrap_by_hand(difference, expected):
    """The samples differ by 1, 2, 3 and 4, by -1.5, -0.5, 0.5 and 1.5 from their mean; what is equal counts."""
    one, other = np.array([10.0, 20.0, 30.0, 40.0]), np.array([9.0, 22.0, 33.0, 36.0])
    assert paired_bootstrap(difference, one, other) == paired_bootstrap(difference, other, one) == expected


def test_batches_do_not_matter(monkeypatch):
    draw = random.Random(8)
    truth = sentences(20, draw)
    one, other = (
        np.stack([corpus_stats(spoiled(truth, 0.3, draw), [truth]) for _ in range(3)]).astype(np.float32)
        for _ in range(2)
    )
    whole = approximate_randomisation(one, other, 500)
    monkeypatch.setattr("lscfg.tuning.significance._BATCH", 1000)
    assert approximate_randomisation(one, other, 500) == whole


@pytest.mark.parametrize(("runs", "change"), [(1, 0.0), (2, 1.0), (3, 0.1), (3, 0.0)])
def test_p_values_of_equal_systems_are_uniform(runs, change):
    """Under the null hypothesis: a share x of the p-values is at most x. Each is one of 0.02, 0.04, ...

    Both systems draw their output of a sentence from the same 40, and another one in a share ``change`` of the
    sentences of each run: the runs of a system resemble each other as little or as much as those of a tuned one.
    """
    draw, choose = random.Random(21), np.random.default_rng(21)
    truth = sentences(25, draw)
    drawn = np.stack([corpus_stats(spoiled(truth, 0.3, draw), [truth]) for _ in range(40)]).astype(np.float32)
    p_values = []
    for seed in range(1, 251):
        first, again = choose.integers(40, size=(2, 1, 25)), choose.integers(40, size=(2, runs, 25))
        one, other = drawn[np.where(choose.random((2, runs, 25)) < change, again, first), np.arange(25)]
        p_values.append(approximate_randomisation(one, other, 49, seed))
    for level in (0.1, 0.3, 0.5, 0.8):
        share = np.mean(np.array(p_values) <= level + 1e-9)
        assert share == pytest.approx(level, abs=4 * (level * (1 - level) / 250) ** 0.5)


def test_runs_with_equal_output_count_once():
    draw = random.Random(12)
    truth = sentences(40, draw)
    one, other = (corpus_stats(spoiled(truth, rate, draw), [truth])[None].astype(np.float32) for rate in (0.3, 0.25))
    single = approximate_randomisation(one, other, 500)
    assert (
        0.05 < single < 1 and approximate_randomisation(one.repeat(3, axis=0), other.repeat(3, axis=0), 500) == single
    )


def test_runs_give_mean_and_deviation_and_make_differences_surer():
    draw = random.Random(2)
    truth = sentences(60, draw)
    outputs = {
        "base": [spoiled(truth, 0.32, draw) for _ in range(4)],
        "good": [spoiled(truth, 0.26, draw) for _ in range(4)],
    }
    base, good = compare(outputs, [truth], "base", samples=200, trials=2000)
    assert base.score == pytest.approx(np.mean(base.runs)) and base.deviation == pytest.approx(
        np.std(base.runs, ddof=1)
    )
    expected = [float(bleu(corpus_stats(lines, [truth]).sum(axis=0))) for lines in outputs["base"]]
    assert base.runs == pytest.approx(expected)
    singles = [
        compare(
            {"base": [outputs["base"][r]], "good": [outputs["good"][r]]}, [truth], "base", samples=200, trials=2000
        )[1]
        for r in range(4)
    ]
    assert good.p_randomised < np.median([score.p_randomised for score in singles])
    assert base.p_randomised is None and base.p_bootstrap is None


def test_refusals():
    with pytest.raises(InputError, match=r"same number of outputs \(runs\), one at least: a has 1, b has 2"):
        compare({"a": [["x"]], "b": [["x"], ["y"]]}, [["x"]])
    with pytest.raises(InputError, match="one at least: a has 0"):
        compare({"a": []}, [["x"]])
    with pytest.raises(InputError, match="system a has 2 lines, the references have 1"):
        compare({"a": [["x"], ["x", "y"]]}, [["x"]])
    with pytest.raises(InputError, match="baseline c is not among"):
        compare({"a": [["x"]]}, [["x"]], "c")
    with pytest.raises(InputError, match="trials must be at least 1"):
        compare({"a": [["x"]]}, [["x"]], trials=0)


def test_the_bootstrap_in_blocks(monkeypatch):
    """Blocks of any size draw the same samples; memory depends on the block, not on the number of samples."""
    draw = random.Random(7)
    truth = sentences(30, draw)
    outputs = {name: [spoiled(truth, rate, draw)] for name, rate in (("A", 0.3), ("B", 0.2))}
    whole = compare(outputs, [truth], "A", samples=101, trials=10)
    monkeypatch.setattr(significance, "_BATCH", 7 * len(truth))
    assert compare(outputs, [truth], "A", samples=101, trials=10) == whole
    blocks = [len(block) for block in significance._samples(len(truth), 101, 1)]
    assert max(blocks) == 7 and sum(blocks) == 101


def test_statistics_are_exact_in_32_bits_or_have_64():
    counts = np.array([[[3, 4], [5, 0]]])
    assert compact(counts).dtype == np.float32
    assert compact(counts + 0.5).dtype == np.float64
    assert compact(counts.repeat(1 << 21, axis=0)).dtype == np.float64  # sums over runs
    assert compact(counts.repeat(1 << 21, axis=1)).dtype == np.float64  # and over sentences
