"""Learning and measuring the confidence in translations of a text with references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lscfg.decode.confidence import Confidence, translation_evidence, weights_hash
from lscfg.decode.derivations import Translated, WordDetails
from lscfg.errors import InputError, counted
from lscfg.tuning.calibration import Floats, Quality, bands_of, calibrate, held_out, quality
from lscfg.tuning.edits import edited

FEWEST = 20
"""Minimum number of sentences that a calibration is learned from."""

LIGHT = 0.3
"""Maximum share of edits, for each word of a translation, in a translation that counts as right."""


@dataclass(frozen=True)
class JudgedText:
    """Translations whose words all have evidence, and their comparison with references.

    Attributes:
        details: details of the words of each translation.
        matched: [words], 1 for words that a reference contains at their place.
        light: [translations], 1 where at most ``LIGHT`` of the words change.
        lengths: [translations], number of source words.
        owner: [words], number of each word's translation.
        left_out: number of sentences without words, a reference or evidence, such as those without a parse.
    """

    details: Sequence[Sequence[WordDetails]]
    matched: Floats
    light: Floats
    lengths: Floats
    owner: NDArray[np.int64]
    left_out: int

    @property
    def words(self) -> list[Mapping[str, float]]:
        """The evidence for each word."""
        return [word.evidence for words in self.details for word in words]

    def translations(self, shares: Floats) -> list[Mapping[str, float]]:
        """The evidence for each translation, from the smooth confidence in each word."""
        ends = np.cumsum([len(words) for words in self.details])[:-1]
        parts = np.split(shares, ends) if len(self.details) else []
        return [translation_evidence(words, part.tolist()) for words, part in zip(self.details, parts, strict=True)]


def judge(translated: Iterable[Translated], references: Sequence[Sequence[str]]) -> JudgedText:
    """Compares translations with references.

    Args:
        translated: each sentence with its details.
        references: lines of each reference, one reference or more; an empty line is a missing one.
    """
    details: list[Sequence[WordDetails]] = []
    matched: list[bool] = []
    light, lengths, left_out = [], [], 0
    for number, found in enumerate(translated):
        wanted = [words for lines in references if (words := lines[number].split())]
        if not found.details or not wanted or not all(word.evidence for word in found.details):
            left_out += 1
            continue
        made = edited([word.text for word in found.details], wanted)
        details.append(found.details)
        matched += made.matched
        light.append(made.edits <= LIGHT * len(found.details))
        lengths.append(len(found.sentence.split()))
    owner = np.repeat(np.arange(len(details)), [len(words) for words in details])
    one, other, length = (np.array(values, dtype=np.float64) for values in (matched, light, lengths))
    return JudgedText(details, one, other, length, owner, left_out)


def learn_confidence(text: JudgedText, weights: Mapping[str, float]) -> Confidence:
    """The calibrations of a text.

    Bands, and the evidence for translations, come from calibrations of other sentences.

    Args:
        weights: feature weights of the system.

    Raises:
        InputError: the text has too few sentences, or no word of the translations is right.
    """
    if len(text.details) < FEWEST:
        raise InputError(
            f"{counted(len(text.details), 'sentence')} with a parse, words and a reference; confidence needs {FEWEST} "
            "or more"
        )
    if not text.matched.any():
        raise InputError("no word of the translations is in a reference; do the references translate this text?")
    shares, smooth = held_out(text.words, text.matched, text.owner)
    words = replace(calibrate(text.words, text.matched, text.owner), bands=bands_of(shares, text.matched))
    evidence, numbers = text.translations(smooth), np.arange(len(text.details))
    light, _ = held_out(evidence, text.light, numbers)
    translations = replace(calibrate(evidence, text.light, numbers), bands=bands_of(light, text.light))
    return Confidence(weights_hash(weights), len(text.details), words, translations)


class Measured(NamedTuple):
    """Quality of the confidence in the words and in the translations of a text."""

    words: Quality
    translations: Quality


def measure(confidence: Confidence, text: JudgedText, samples: int = 1000, seed: int = 1) -> Measured:
    """The quality of a confidence on a text, from which it should not have been learned.

    Args:
        samples, seed: of the bootstrap.

    Raises:
        InputError: no sentence has words, evidence and a reference.
    """
    if not text.details:
        raise InputError("no sentence with a parse, words and a reference; nothing can be measured")
    shares = np.array([confidence.words(one) for one in text.words])
    smooth = np.array([confidence.words.smooth(one) for one in text.words])
    light = np.array([confidence.translations(one) for one in text.translations(smooth)])
    return Measured(
        quality(shares, text.matched, text.lengths[text.owner], text.owner, samples, seed),
        quality(light, text.light, text.lengths, np.arange(len(light)), samples, seed),
    )
