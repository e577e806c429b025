"""Labelled phrases that are held out to learn the properties of correct candidates."""

from __future__ import annotations

import numpy as np

MOST = 2000
"""Most held-out phrases of a length; at most a fifth of the rarer half of each stratum is held out."""

SEED = 1


def hold_out(labelled: np.ndarray, length: np.ndarray, count: np.ndarray, loose: np.ndarray) -> np.ndarray:
    """bool [phrases]: a sample of the rarer half of the labelled phrases of each length, as unlabelled ones are rare.

    Args:
        labelled: bool [phrases]; length, count: int64 [phrases], words and tokens of each phrase.
        loose: bool [phrases], True for phrases with pairs that partly fit links. Phrases with and without such pairs
            are sampled separately, so that enough phrases show the value of such pairs.
    """
    dice, held = np.random.default_rng(SEED), np.zeros(len(labelled), bool)
    for one in np.unique(length).tolist():
        for stratum in (False, True):
            own = np.flatnonzero(labelled & (length == one) & (loose == stratum))
            rare = own[np.argsort(count[own], kind="stable")[: len(own) // 2]]
            held[dice.choice(rare, min(MOST // 2, len(rare) // 5), replace=False)] = True
    return held
