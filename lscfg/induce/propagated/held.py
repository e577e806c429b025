"""Labelled phrases that are held out, so that what right candidates have in common can be learned of them."""

from __future__ import annotations

import numpy as np

MOST = 2000
"""Held-out phrases of a length, at most; and at most a fifth of the rarer half of each stratum."""

SEED = 1


def hold_out(labelled: np.ndarray, length: np.ndarray, count: np.ndarray, loose: np.ndarray) -> np.ndarray:
    """bool [phrases]: a sample of the rarer half of the labelled phrases of each length, as unlabelled ones are rare.

    Args:
        labelled: bool; length, count: int64, words and tokens of each phrase.
        loose: bool, whether there are pairs that fit links in part. Phrases with and without are sampled apart, or
            those that can show what such pairs are worth would be few.
    """
    dice, held = np.random.default_rng(SEED), np.zeros(len(labelled), bool)
    for one in np.unique(length).tolist():
        for stratum in (False, True):
            own = np.flatnonzero(labelled & (length == one) & (loose == stratum))
            rare = own[np.argsort(count[own], kind="stable")[: len(own) // 2]]
            held[dice.choice(rare, min(MOST // 2, len(rare) // 5), replace=False)] = True
    return held
