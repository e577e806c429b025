"""Confidence in words and sentences: probabilities that a calibration computes from the evidence of the search.

``lscfg.tuning.calibration`` learns calibrations; ``confidence.json`` in a system's folder contains them.
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Self, TypedDict

from lscfg.decode.derivations import Translated, WordDetails
from lscfg.decode.evidence import log_odds
from lscfg.decode.sentence_rules import ADDED
from lscfg.errors import InputError
from lscfg.io.json_files import COUNT, read_json, write_json
from lscfg.settings import Limits

FORMAT = 1
CURE = "make the file again with lscfg evaluate confidence"

BANDS = 0.9, 0.7, 0.5, 0.0
"""Lower limits of the confidence bands that people see."""

SHARE = Annotated[float, Limits(least=0, most=1)]


NUMBER = Annotated[float, Limits(least=-1e9, most=1e9)]
"""Shape of a weight; sums with larger ones are not finite."""


class BandFacts(TypedDict):
    """Outputs of the calibration's text that received a confidence of ``least`` or more, below the next band.

    Their confidence came from calibrations that were learned from other sentences.
    """

    least: SHARE
    count: COUNT
    right: COUNT


class CalibrationFacts(TypedDict):
    """Shape of a calibration."""

    bias: NUMBER
    weights: dict[str, NUMBER]
    steps: list[tuple[NUMBER, SHARE]]
    bands: list[BandFacts]


class ConfidenceFacts(TypedDict):
    """Shape of ``confidence.json``."""

    format: int
    weights_sha256: str
    sentences: COUNT
    words: CalibrationFacts
    translations: CalibrationFacts


@dataclass(frozen=True)
class Band:
    """Outputs whose confidence was ``least`` or more: their number, and the number of right ones."""

    least: float
    count: int
    right: int


@dataclass(frozen=True)
class Calibration:
    """A probability by named evidence.

    Attributes:
        bias, weights: linear function of the evidence; absent evidence is 0. Its logistic is the probability.
        steps: isotonic function that replaces the logistic, as linear values and probabilities, both ascending;
            values between two are interpolated.
        bands: results on sentences that the calibration was not learned from.
    """

    bias: float
    weights: Mapping[str, float]
    steps: tuple[tuple[float, float], ...] = ()
    bands: tuple[Band, ...] = ()

    def linear(self, evidence: Mapping[str, float]) -> float:
        """The linear function of some evidence."""
        return self.bias + math.fsum(weight * evidence.get(name, 0.0) for name, weight in self.weights.items())

    def smooth(self, evidence: Mapping[str, float]) -> float:
        """The logistic of the linear function, without steps, which would make sums over words uneven."""
        return logistic(self.linear(evidence))

    def __call__(self, evidence: Mapping[str, float]) -> float:
        """The probability, from 0 to 1."""
        value = self.linear(evidence)
        if not self.steps:
            return logistic(value)
        right = bisect.bisect_right(self.steps, value, key=lambda step: step[0])
        if right in (0, len(self.steps)):
            return self.steps[min(right, len(self.steps) - 1)][1]
        (x, p), (y, q) = self.steps[right - 1 : right + 1]
        return p + (q - p) * (value - x) / (y - x)


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), without overflow."""
    return 1 / (1 + math.exp(-value)) if value >= 0 else 1 - 1 / (1 + math.exp(value))


@dataclass(frozen=True)
class Confidence:
    """Calibrations of a system.

    Attributes:
        weights_sha256: ``weights_hash`` of the system's feature weights.
        sentences: number of sentences that the calibrations were learned from.
        words: probability that a word stands in a person's translation at its place.
        translations: probability that at most 30 % of the words of a translation must change.
    """

    weights_sha256: str
    sentences: int
    words: Calibration
    translations: Calibration

    def of_words(self, details: Sequence[WordDetails]) -> list[float | None]:
        """The confidence in each word; None for a word without evidence."""
        return [self.words(word.evidence) if word.evidence else None for word in details]

    def of_translation(self, details: Sequence[WordDetails]) -> float | None:
        """The confidence in a translation; None unless all words have evidence."""
        if not details or not all(word.evidence for word in details):
            return None
        return self.translations(translation_evidence(details, [self.words.smooth(word.evidence) for word in details]))

    def judged(self, translated: Translated) -> Translated:
        """A translation with details, with the confidence in its words and in itself."""
        shares = self.of_words(translated.details)
        details = [replace(word, confidence=share) for word, share in zip(translated.details, shares, strict=True)]
        return replace(translated, details=tuple(details), confidence=self.of_translation(details))

    def write(self, path: Path) -> None:
        """Writes the file; equal calibrations give equal bytes."""
        facts = {"format": FORMAT, "weights_sha256": self.weights_sha256, "sentences": self.sentences}
        own = {"words": self.words, "translations": self.translations}
        write_json(path, facts | {name: _facts(one) for name, one in own.items()})

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads the file.

        Raises:
            InputError: the file is missing or damaged, or of another format.
        """
        found = read_json(path, ConfidenceFacts, CURE, FORMAT)
        made = {}
        for name in ("words", "translations"):
            facts: CalibrationFacts = found[name]
            steps = tuple((value, share) for value, share in facts["steps"])
            if any(x[0] >= y[0] or x[1] > y[1] for x, y in itertools.pairwise(steps)):
                raise InputError(f"{name}.steps must ascend; {CURE}", path)
            bands = tuple(Band(**one) for one in facts["bands"])
            if tuple(band.least for band in bands) != BANDS:
                raise InputError(f"{name}.bands must begin at {', '.join(map(str, BANDS))}; {CURE}", path)
            for number, band in enumerate(bands):
                if band.right > band.count:
                    raise InputError(f"{name}.bands[{number}].right is larger than its count; {CURE}", path)
            made[name] = Calibration(facts["bias"], facts["weights"], steps, bands)
        return cls(found["weights_sha256"], found["sentences"], made["words"], made["translations"])


def _facts(one: Calibration) -> CalibrationFacts:
    bands: list[BandFacts] = [{"least": band.least, "count": band.count, "right": band.right} for band in one.bands]
    return {"bias": one.bias, "weights": {**one.weights}, "steps": [*one.steps], "bands": bands}


def weights_hash(weights: Mapping[str, float]) -> str:
    """SHA-256 of feature weights, whatever file they come from.

    Weights of terms and corrections do not count: they change only translations that use these.
    """
    names = sorted(weights.keys() - {*ADDED})
    text = "".join(f"{name} {float(weights[name])!r}\n" for name in names)
    return hashlib.sha256(text.encode()).hexdigest()


def translation_evidence(details: Sequence[WordDetails], shares: Sequence[float]) -> dict[str, float]:
    """The evidence for a translation.

    Args:
        details: its words, one or more, all with evidence.
        shares: the smooth confidence in each word.
    """
    odds = [log_odds(share) for share in shares]

    def mean(values: Iterable[float]) -> float:
        return math.fsum(values) / len(details)

    return {
        "mean": mean(odds),
        "least": min(odds),
        "expected": mean(shares),
        "length": details[0].evidence["length"],
        "passed": mean(word.evidence["passed"] for word in details),
        "posterior": mean(word.evidence["posterior"] for word in details),
    }
