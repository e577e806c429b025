"""PRO against plain versions of its parts and on a problem with a known answer."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from pools import planted
from sacrebleu.metrics import BLEU
from scipy import sparse

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from lscfg.tuning import pro as pro_module
from lscfg.tuning.bleu import SentenceReferences, bleu_plus_one, corpus_bleu
from lscfg.tuning.pool import Pool
from lscfg.tuning.pro import ProSettings, pro, sample_pairs


def test_sentence_bleu_against_sacrebleu() -> None:
    draw = random.Random(1)
    metric = BLEU(smooth_method="add-k", smooth_value=1, tokenize="none", effective_order=False)
    compared = 0
    for _ in range(100):
        reference = " ".join(draw.choices("abcdef", k=draw.randint(4, 9)))
        hypothesis = draw.choices("abcdefx", k=draw.randint(4, 9))
        stats = SentenceReferences([reference]).stats([hypothesis])[0]
        if stats[0]:
            expected = metric.sentence_score(" ".join(hypothesis), [reference]).score / 100
            assert bleu_plus_one(stats) == pytest.approx(expected, abs=1e-9)
            compared += 1
    assert compared > 90
    stats = SentenceReferences(["a b c"]).stats([[], ["x", "y"], ["a"], ["a", "b", "c"]])
    assert bleu_plus_one(stats).tolist() == pytest.approx([0, 0, math.exp(1 - 3), 1])


def test_pairs_are_those_of_the_paper() -> None:
    scores = np.random.default_rng(1).random(30)
    settings = ProSettings(samples=200, kept=20)
    better, worse = sample_pairs(scores, settings, np.random.default_rng(5))
    drawn = np.random.default_rng(5).integers(30, size=(200, 2))
    differences = sorted((abs(scores[a] - scores[b]) for a, b in drawn), reverse=True)
    assert (scores[better] - scores[worse]).tolist() == pytest.approx([d for d in differences if d > 0.05][:20])
    few = sample_pairs(np.array([0.5, 0.52, 0.54]), settings, np.random.default_rng(5))
    assert [len(side) for side in few] == [0, 0]


def test_regression_is_at_its_optimum() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(loc=(0.5, 0, -0.3, 0), size=(80, 4))
    w = pro_module._regression(sparse.csr_array(x), 0.7)

    def loss(v: np.ndarray) -> float:
        return float(np.log1p(np.exp(-x @ v)).sum() + 0.35 * (v @ v))

    for step in np.concatenate([np.eye(4), -np.eye(4)]) * 1e-3:
        assert loss(w + step) > loss(w)
    gradient = 0.7 * w - x.T @ (1 / (1 + np.exp(x @ w)))
    assert np.abs(gradient).max() < 1e-3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pro_finds_the_planted_weights(seed: int) -> None:
    pool, truth = planted(sentences=60, hypotheses=40, seed=seed)
    start = {"lm": 0.1, "tm": -0.1, "words": 0.2, "noise": 0.3}
    result = pro(pool, start, seed=seed)
    assert result.bleu > 97
    length = math.hypot(*result.weights.values())
    assert length == pytest.approx(math.hypot(*start.values()))
    assert sum(truth[name] * result.weights[name] for name in truth) / length > 0.95
    assert result.bleu == corpus_bleu(pool.best_stats(pool.vector(result.weights)))


def test_pro_is_determined_by_its_seed() -> None:
    pool, _ = planted(sentences=20, hypotheses=10, seed=5)
    one, two, other = (pro(pool, {"lm": 0.1}, ProSettings(samples=30), seed) for seed in ((1, 2), (1, 2), (1, 3)))
    assert one == two and one.weights != other.weights


def test_many_sparse_features() -> None:
    """Each sentence has features of its own; one is common and decides."""
    references = [f"a{n} b{n} c{n} d{n} e{n}" for n in range(200)]
    lists = [
        [Hypothesis(r, {"good": 1.0, f"own{n}": 1.0}, 0.0), Hypothesis(f"a{n} x", {f"other{n}": 1.0}, 0.0)]
        for n, r in enumerate(references)
    ]
    pool = Pool([references])
    pool.add(lists)
    result = pro(pool, {"good": -1.0})
    assert len(result.weights) == 401 and result.bleu == pytest.approx(100)
    assert result.weights["good"] == max(result.weights.values())


def test_nothing_to_learn_keeps_the_weights() -> None:
    pool = Pool([["a b c", "d e"]])
    pool.add([[Hypothesis("a b c", {"f": 1.0}, 0.0), Hypothesis("a b c", {"f": 2.0}, 0.0)], []])
    result = pro(pool, {"f": 0.3, "g": 0.1})
    assert result.weights == {"f": 0.3, "g": 0.1}


def test_pro_refuses_bad_arguments() -> None:
    pool = Pool([["a"]])
    with pytest.raises(InputError, match="no hypotheses"):
        pro(pool, {})
    with pytest.raises(InputError, match="start weight of f is inf"):
        pro(pool, {"f": math.inf})
    for bad in ({"samples": 0}, {"kept": 0}, {"threshold": 1.0}, {"regularisation": 0.0}):
        with pytest.raises(InputError, match=f"{next(iter(bad))} must be"):
            ProSettings(**bad)
