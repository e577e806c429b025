"""Pools of hypotheses whose best weights are known."""

import math
import random

from lscfg.formats.kbest import Hypothesis
from lscfg.tuning.pool import Pool

WORDS = [f"w{n}" for n in range(50)]


def planted(sentences: int, hypotheses: int, seed: int) -> tuple[Pool, dict[str, float]]:
    """A pool in which the planted weights rank every list by BLEU, and those weights (of length 1)."""
    draw = random.Random(seed)
    truth = {"lm": 0.8, "tm": 0.5, "words": -0.3, "noise": 0.0}
    length = math.hypot(*truth.values())
    truth = {name: value / length for name, value in truth.items()}
    references, lists = [], []
    for _ in range(sentences):
        words = draw.choices(WORDS, k=10)
        features = [{name: draw.gauss(0, 2) for name in truth} for _ in range(hypotheses)]
        features.sort(key=lambda values: -sum(truth[name] * values[name] for name in truth))
        texts = [
            " ".join(["x"] * (rank * 10 // hypotheses) + words[rank * 10 // hypotheses :]) for rank in range(hypotheses)
        ]
        lists.append([Hypothesis(text, values, 0.0) for text, values in zip(texts, features, strict=True)])
        references.append(" ".join(words))
    pool = Pool([references])
    pool.add(lists)
    return pool, truth
