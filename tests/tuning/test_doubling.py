"""The gain by twice the text, against NumPy's fit and samples drawn here."""

import numpy as np
import pytest

from lscfg.tuning.bleu import corpus_bleu, corpus_stats
from lscfg.tuning.doubling import SAMPLES, SEED, doubling_gain
from lscfg.tuning.metrics.metric import METRICS

REFERENCES = [["a man sleeps on the old couch ."] * 3 + ["the dog eats a red apple here ."] * 5]
GOOD = REFERENCES[0]
MIXED = [line.replace("sleeps", "rests") for line in GOOD]
BAD = [line.replace("the", "a").replace("sleeps on", "rests at") for line in GOOD]


def test_the_slope_is_that_of_least_squares():
    pairs, outputs = [500, 1000, 2000], [BAD, MIXED, GOOD]
    found = doubling_gain(pairs, outputs, REFERENCES, METRICS["bleu"])
    bleu = [corpus_bleu(corpus_stats(lines, REFERENCES).sum(axis=0)) for lines in outputs]
    assert found.scores == pytest.approx(bleu) and bleu[0] < bleu[1] < bleu[2] == pytest.approx(100)
    assert found.gain == pytest.approx(np.polyfit(np.log2(pairs), bleu, 1)[0])
    rng = np.random.default_rng(SEED)
    slopes = []
    for _ in range(SAMPLES):
        chosen = rng.choice(len(GOOD), size=len(GOOD), replace=True)
        scores = [corpus_bleu(corpus_stats(lines, REFERENCES)[chosen].sum(axis=0)) for lines in outputs]
        slopes.append(np.polyfit(np.log2(pairs), scores, 1)[0])
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(slopes, (0.025, 0.975))), rel=1e-4)
    assert found.low <= found.gain <= found.high


def test_equal_translations_gain_nothing():
    found = doubling_gain([10, 33], [MIXED, MIXED], REFERENCES, METRICS["bleu"])
    assert (found.gain, found.low, found.high) == pytest.approx((0, 0, 0), abs=1e-9)
