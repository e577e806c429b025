"""Weights of the features of corrections, and the gain by corrections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from lscfg import log
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.memory import Memory, PairError
from lscfg.decode.recalled import Aligner
from lscfg.prepare.numbers import NumberFormats
from lscfg.tuning.evaluate import corpus_score
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.significance import approximate_randomisation

SHARES = {"Memory": (0.0, 2.0, -2.0, 4.0, -4.0, 8.0), "Correction": (0.0, 0.03, 0.1, 0.3)}
"""Weights to try, as multiples of the mean absolute weight, since only ratios of weights matter; 0 first."""
TRIALS = 2000

Translator = Callable[[Mapping[str, float]], Sequence[str]]
"""Translations of a text under weights, by use of the corrections."""


def fit_weights(
    translate: Translator, weights: Mapping[str, float], references: Sequence[Sequence[str]]
) -> dict[str, float]:
    """The weights with those of ``SHARES`` that give the best BLEU, one after the other; of equal ones the first.

    Args:
        references: lines of each reference, one reference or more.
    """
    scale = float(np.mean([abs(value) for value in weights.values() if value] or [1.0]))
    found = {**weights, **dict.fromkeys(SHARES, 0.0)}
    for name, shares in SHARES.items():
        tried = [found | {name: share * scale} for share in shares]
        scores = [corpus_score("bleu", translate(one), references) for one in tried]
        best = scores.index(max(scores))
        found = tried[best]
        log.info(f"{name} {found[name]:.4g}: BLEU {scores[best]:.2f}, {scores[0]:.2f} with 0")
    return found


class Compared(NamedTuple):
    """BLEU without and with corrections, and the p-value of the difference."""

    without: float
    corrected: float
    p: float


def replay(
    decoder: EmbeddedDecoder,
    weights: Mapping[str, float],
    texts: Sequence[str],
    references: Sequence[str],
    align: Aligner,
    numbers: NumberFormats | None = None,
) -> list[str]:
    """Translations of a text, after each of which the reference is stored as its correction.

    A pair that cannot be stored is left out.

    Args:
        numbers: as for ``EmbeddedDecoder.translate``.

    Raises:
        InputError: the temporary folder cannot be written.
    """
    found = []
    with TemporaryDirectory(prefix="lscfg-") as folder:
        memory = Memory(folder, align)
        for text, reference in log.progress(zip(texts, references, strict=True), "corrections", len(texts)):
            (translated,) = decoder.translate([text], weights, memory=memory, numbers=numbers)
            found.append(translated.hypotheses[0].text)
            with suppress(PairError):
                memory.add(text, reference)
    return found


def compare_corrected(
    without: Sequence[str], corrected: Sequence[str], references: Sequence[Sequence[str]]
) -> Compared:
    """Compares two translations of a text by approximate randomisation; references as in ``fit_weights``."""
    metric = METRICS["bleu"]
    one, other = (
        np.asarray(metric.statistics(text, references, (), metric.Settings()))[None] for text in (without, corrected)
    )
    before, after = (corpus_score("bleu", text, references) for text in (without, corrected))
    return Compared(before, after, approximate_randomisation(metric, one, other, TRIALS))
