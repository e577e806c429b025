"""Bayes risk of joined lists against a plain sum over all pairs of hypotheses, with scales on both sides of 1."""

import math
import random

import pytest
from sacrebleu.metrics import BLEU, CHRF

from lscfg.formats.kbest import Hypothesis
from lscfg.tuning.rescore import agreed, ranked_by_risk

SCORERS = {"bleu": BLEU(tokenize="none", force=True, effective_order=True), "chrf": CHRF()}


def plain(systems, name, scale):
    """The expected utility of each translation: the sum over all others, each system having the same share."""
    systems = [one for one in systems if one]
    weight: dict[str, float] = {}
    for hypotheses in systems:
        total = sum(math.exp(scale * one.score) for one in hypotheses)
        for one in hypotheses:
            share = math.exp(scale * one.score) / total / len(systems)
            weight[one.text] = weight.get(one.text, 0.0) + share
    score = SCORERS[name].sentence_score
    return {text: sum(share * score(text, [other]).score for other, share in weight.items()) for text in weight}


def random_systems(seed):
    draw = random.Random(seed)
    return [
        [
            Hypothesis(" ".join(draw.choices("abcd", k=draw.randint(1, 5))), {}, draw.gauss(0, 4))
            for _ in range(draw.randint(1, 7))
        ]
        for _ in range(3)
    ]


@pytest.mark.parametrize("scale", [0.0, 0.01, 0.1, 0.3, 0.7, 1.0, 3.0])
@pytest.mark.parametrize("name", SCORERS)
def test_expected_utilities(name, scale):
    differ = 0
    for seed in range(12):
        systems = random_systems(seed)
        expected = plain(systems, name, scale)
        found = ranked_by_risk(systems, name, scale)
        assert len(found) == sum(map(len, systems))
        for one in found:
            assert one.score == pytest.approx(expected[one.text], abs=1e-9), (seed, one.text)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        assert expected[found[0].text] == pytest.approx(max(expected.values()), abs=1e-9)
        differ += found[0].text != max((one for own in systems for one in own), key=lambda one: one.score).text
    assert differ or scale > 1


def test_agreement_under_small_scales():
    scales = (0.0, 0.05, 0.1, 0.5, 2.0)
    for seed in range(12):
        systems = random_systems(seed)
        for scale, text in zip(scales, agreed(systems, scales), strict=True):
            expected = plain(systems, "bleu", scale)
            assert expected[text] == pytest.approx(max(expected.values()), abs=1e-9)
