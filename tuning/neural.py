"""COMET (Rei et al. 2020), where it is installed and a model is on this machine, with tests of differences.

COMET gives each sentence a score, and a system the mean. So both tests are of means of paired values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import InputError
from lscfg.tuning.evaluate import MetricScore

Floats = NDArray[np.float64]

BATCH = 8
"""Sentences that the model sees at a time."""


def comet_scores(
    model: str | os.PathLike[str],
    source: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
) -> dict[str, Floats]:
    """COMET of each sentence times 100, by system, [sentences]; the mean over several references.

    Args:
        model: a checkpoint of COMET (``.ckpt``); nothing is loaded from the network.

    Raises:
        InputError: COMET is missing, or the checkpoint is.
    """
    if not Path(model).is_file():
        raise InputError("no checkpoint of COMET; name the .ckpt file of a model on this machine", model)
    try:
        from comet import load_from_checkpoint
    except ImportError as error:
        raise InputError(f"COMET cannot be loaded ({error}): pip install unbabel-comet") from error
    loaded = load_from_checkpoint(os.fspath(model))
    found = {}
    for name, lines in systems.items():
        data = [
            {"src": src, "mt": line, "ref": reference}
            for document in references
            for src, line, reference in zip(source, lines, document, strict=True)
        ]
        scores = loaded.predict(data, batch_size=BATCH, gpus=0, progress_bar=False).scores
        found[name] = 100 * np.array(scores, np.float64).reshape(len(references), -1).mean(axis=0)
    return found


def compare_means(
    scores: Mapping[str, Floats], baseline: str | None, samples: int, trials: int, seed: int
) -> dict[str, MetricScore]:
    """Means of sentence scores with a 95 % interval, tested against the baseline.

    Bootstrap and randomisation are paired, as those of sacrebleu: sentences are drawn with replacement, or each
    sentence's two scores change places with probability 1/2. p-values are (1 + as extreme ones) / (1 + all).
    """
    found = {}
    for name, own in scores.items():
        means = _resampled(own, samples, seed)
        low, high = np.percentile(means, [2.5, 97.5])
        p_bootstrap = p_randomised = None
        if baseline is not None and name != baseline:
            difference = own - scores[baseline]
            real = float(difference.mean())
            p_bootstrap = _p_value(_resampled(difference, samples, seed) - real, real)
            p_randomised = _p_value(_swapped(difference, trials, seed), real)
        found[name] = MetricScore(float(own.mean()), float(means.mean()), (high - low) / 2, p_bootstrap, p_randomised)
    return found


def _resampled(values: Floats, samples: int, seed: int) -> Floats:
    """Means of samples with replacement, [samples]; the same sentences for every system."""
    rng, size = np.random.default_rng(seed), len(values)
    return np.array([values[rng.integers(size, size=size)].mean() for _ in range(samples)])


def _swapped(difference: Floats, trials: int, seed: int) -> Floats:
    """Means of differences whose signs are drawn at random, [trials]."""
    rng, size = np.random.default_rng(seed), len(difference)
    return np.array([difference @ (1.0 - 2 * rng.integers(0, 2, size)) / size for _ in range(trials)])


def _p_value(found: Floats, real: float) -> float:
    extreme = np.abs(found) >= abs(real) * (1 - 1e-12)
    return float(1 + extreme.sum()) / (1 + len(found))
