"""BLEU of a corpus from sufficient statistics, as sacrebleu computes it.

A sentence's statistics are one row of ten counts: the matching n-grams of order 1 to 4 (each clipped to its largest
count in any one reference), the hypothesis's n-grams of order 1 to 4, the length of the hypothesis and that of the
reference closest to it in length. Rows add up to the statistics of a corpus. Whitespace separates words; text is not
tokenised, so this BLEU is sacrebleu's with ``tokenize="none"``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import InputError
from lscfg.tuning.ngrams import NgramMatches

ORDER = 4
"""Longest n-gram that BLEU counts."""

CORRECT = slice(0, ORDER)
TOTAL = slice(ORDER, 2 * ORDER)
HYPOTHESIS_LENGTH = 2 * ORDER
REFERENCE_LENGTH = 2 * ORDER + 1
WIDTH = 2 * ORDER + 2
"""Columns of a row of statistics."""

Stats = NDArray[np.int32] | NDArray[np.int64] | NDArray[np.float64]


class SentenceReferences:
    """The references of one sentence, prepared to count the matches of many hypotheses at once."""

    def __init__(self, references: Sequence[str]):
        """Indexes the n-grams of one or more references; an empty reference has length 0.

        Raises:
            InputError: the list of references is empty.
        """
        if not references:
            raise InputError("a sentence needs at least one reference")
        tokens = [reference.split() for reference in references]
        # Ascending, so that of two references equally close in length the shorter is found first, as in sacrebleu.
        self._lengths = np.array(sorted({len(words) for words in tokens}), dtype=np.int64)
        self._ngrams = NgramMatches(tokens, ORDER)

    def stats(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """The statistics of each hypothesis (a sequence of words, which may be empty), shape (hypotheses, 10)."""
        count = len(hypotheses)
        lengths = np.array([len(words) for words in hypotheses], dtype=np.int64)
        result = np.zeros((count, WIDTH), dtype=np.int32)
        if count == 0:
            return result
        result[:, TOTAL] = np.maximum(lengths[:, None] - np.arange(ORDER), 0)
        result[:, HYPOTHESIS_LENGTH] = lengths
        closest = np.abs(lengths[:, None] - self._lengths).argmin(axis=1)
        result[:, REFERENCE_LENGTH] = self._lengths[closest]
        result[:, CORRECT] = self._ngrams.matches(hypotheses)
        return result


def check_references(references: Sequence[Sequence[str]], sentences: int | None = None) -> int:
    """The number of sentences in every document of ``references`` (one document per reference set).

    Raises:
        InputError: the list of documents is empty, or their lengths differ among themselves or from ``sentences``.
    """
    if not references:
        raise InputError("give at least one set of references")
    counts = [len(document) for document in references]
    expected = counts[0] if sentences is None else sentences
    if any(count != expected for count in counts):
        against = "" if sentences is None else f" for {sentences} sentences"
        raise InputError(f"reference sets of {', '.join(map(str, counts))} lines{against}; all must be equally long")
    return expected


def corpus_stats(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.int32]:
    """The statistics of each sentence, shape (sentences, 10).

    ``references`` holds one document per reference set, each with a line per hypothesis (sacrebleu's order).

    Raises:
        InputError: numbers of lines differ.
    """
    check_references(references, len(hypotheses))
    rows = [
        SentenceReferences(lines).stats([hypothesis.split()])
        for hypothesis, *lines in zip(hypotheses, *references, strict=True)
    ]
    return np.concatenate(rows) if rows else np.zeros((0, WIDTH), dtype=np.int32)


def bleu(stats: Stats) -> NDArray[np.float64]:
    """BLEU (0 to 100) of each set of summed statistics, shape (..., 10) to (...).

    As in sacrebleu 2 by default: orders without a match count 1/2, 1/4, ... match in turn ("exp" smoothing),
    except that BLEU is 0 without any match, or without 4-grams.
    """
    counts = np.asarray(stats, dtype=np.float64)
    correct, total = counts[..., CORRECT], counts[..., TOTAL]
    length, reference = counts[..., HYPOTHESIS_LENGTH], counts[..., REFERENCE_LENGTH]
    missed = correct == 0
    scored = ~missed.all(axis=-1) & (total > 0).all(axis=-1)
    smoothed = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), correct)
    log_precision = np.log(smoothed / np.maximum(total, 1)).mean(axis=-1)
    log_brevity = np.minimum(0.0, 1.0 - reference / np.maximum(length, 1))
    return np.where(scored, 100.0 * np.exp(log_precision + log_brevity), 0.0)


def bleu_plus_one(stats: Stats) -> NDArray[np.float64]:
    """BLEU+1 (0 to 1) of single sentences, shape (..., 10) to (...): Lin and Och (2004).

    Matches and n-grams of order 2 and above count one more; no match of any word is 0.
    """
    counts = np.asarray(stats, dtype=np.float64)
    correct, total = counts[..., CORRECT].copy(), counts[..., TOTAL].copy()
    correct[..., 1:] += 1
    total[..., 1:] += 1
    matched = correct[..., 0] > 0
    ratio = np.where(matched[..., None], correct / np.maximum(total, 1), 1.0)
    log_brevity = np.minimum(0.0, 1.0 - counts[..., REFERENCE_LENGTH] / np.maximum(counts[..., HYPOTHESIS_LENGTH], 1))
    return np.where(matched, np.exp(np.log(ratio).mean(axis=-1) + log_brevity), 0.0)


def corpus_bleu(stats_sum: Stats) -> float:
    """BLEU (0 to 100) of a corpus with these summed statistics, shape (10,): sacrebleu's within 1e-9."""
    return float(bleu(stats_sum))


def length_ratio(stats_sum: Stats) -> float:
    """Length of the hypotheses over that of the references (0 if there is no reference word)."""
    return float(stats_sum[HYPOTHESIS_LENGTH] / stats_sum[REFERENCE_LENGTH]) if stats_sum[REFERENCE_LENGTH] else 0.0
