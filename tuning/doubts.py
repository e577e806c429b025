"""Signs that a tuning or a test set cannot have worked, each with its likely cause."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from lscfg.tuning.bleu import ORDER, corpus_bleu, corpus_stats

SHORTEST, LONGEST = 0.9, 1.15
"""Usual lengths of translations, relative to the references."""

MOST_DECOMPOSED = 0.02
"""Usual difference between translations and references in the share of lines that are not in NFC."""

NEAR = 1.5
"""Translations of the same text are closer to their own references than this factor times those of other lines."""

LEAST_LINES = 5
"""Lines that are enough to compare own references with those of other lines."""


def doubts(
    texts: Sequence[str],
    references: Sequence[Sequence[str]],
    bleu: float,
    length_ratio: float,
    oracle_bleu: float | None = None,
) -> list[str]:
    """Reasons to doubt a score, empty if none was found.

    Args:
        texts: the translations.
        references: one document per reference set, each with a line per translation.
        bleu: BLEU (0 to 100) of the translations.
        length_ratio: length of the translations over that of the references.
        oracle_bleu: the best BLEU that was possible; None: unknown.
    """
    found = []
    if not any(line.strip() for document in references for line in document):
        found.append("all references are empty")
    elif not any(line.strip() for line in texts):
        found.append("all translations are empty")
    elif (oracle_bleu == 0 or bleu == 0) and _are_short(texts):
        found.append(
            f"BLEU is 0: it counts sequences of {ORDER} words, and no translation has as many; chrF suits short text"
        )
    elif oracle_bleu == 0 or bleu == 0:
        which = "no list has a translation that shares" if oracle_bleu == 0 else "no translation shares"
        found.append(
            f"BLEU is 0: {which} an n-gram with its reference; are source and reference the same text, with the same "
            "tokenisation and casing?"
        )
    elif (other := _of_other_lines(texts, references)) is not None and other[0] <= NEAR * other[1]:
        found.append(
            f"the translations are no closer to their references (BLEU {other[0]:.2f}) than to references of other "
            f"lines ({other[1]:.2f}); are source and reference the same text, line by line?"
        )
    if bleu and (doubt := length_doubt(length_ratio)):
        found.append(doubt)
    shares = {"translations": _decomposed(texts), "references": max(map(_decomposed, references))}
    if abs(shares["translations"] - shares["references"]) > MOST_DECOMPOSED:
        side = max(shares, key=lambda name: shares[name])
        found.append(
            f"{shares[side]:.0%} of the lines of the {side} are not in Unicode's form NFC, as with accents as separate "
            "characters (NFD), so words that look equal differ; convert both sides to NFC"
        )
    return found


def _decomposed(lines: Sequence[str]) -> float:
    """The share of lines that the normal form NFC would change."""
    return sum(not unicodedata.is_normalized("NFC", line) for line in lines) / max(1, len(lines))


def _are_short(lines: Sequence[str]) -> bool:
    return all(len(line.split()) < ORDER for line in lines)


def length_doubt(ratio: float) -> str:
    """A reason to doubt the length of translations, empty if it is usual.

    Args:
        ratio: length of the translations over that of the references.
    """
    if SHORTEST <= ratio <= LONGEST:
        return ""
    cause = "lines too long for the decoder, or a wrong start weight of WordPenalty"
    return f"the translations are {ratio:.2f} times as long as their references; look for {cause}"


def reference_doubts(references: Sequence[Sequence[str]], texts: Sequence[str]) -> list[str]:
    """The warnings of ``uneven_references`` and ``missing_references``, empty if there are none."""
    return [*filter(None, (uneven_references(references), missing_references(references, texts)))]


def uneven_references(references: Sequence[Sequence[str]]) -> str:
    """A warning of lines with an empty reference next to one of words; empty if there are none.

    BLEU compares the length of a translation to the closest reference, and TER to the mean of all, so an empty line,
    which may mean that a reference is missing, favours short translations. sacrebleu counts empty lines likewise.

    Args:
        references: one document per reference set, equally long.
    """
    lines = enumerate(zip(*references, strict=True), 1)
    uneven = [number for number, texts in lines if len({bool(text.strip()) for text in texts}) > 1]
    if not uneven:
        return ""
    return (
        f"{len(uneven)} of {len(references[0])} lines have an empty reference next to another one (first line "
        f"{uneven[0]}), which counts as a reference of no words and favours short translations; repeat the other "
        "reference there"
    )


def missing_references(references: Sequence[Sequence[str]], texts: Sequence[str]) -> str:
    """A warning of lines with words whose references are all empty; empty if there are none.

    Args:
        references: one document per reference set, equally long.
        texts: the sources, or translations.
    """
    lines = enumerate(zip(texts, zip(*references, strict=True), strict=True), 1)
    missing = [number for number, (text, wanted) in lines if text.strip() and not any(map(str.strip, wanted))]
    if not missing:
        return ""
    return (
        f"{len(missing)} of {len(texts)} lines have no reference (first line {missing[0]}), so every translation there "
        "counts as wrong; remove such lines from all files of the set"
    )


def _of_other_lines(texts: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float] | None:
    """BLEU against the own references and against those of the next line, without equal neighbours; None if too few."""
    after = [[*document[1:], *document[:1]] for document in references]
    kept = [n for n, line in enumerate(references[0]) if line != after[0][n]]
    if len(kept) < LEAST_LINES:
        return None
    lines = [texts[n] for n in kept]
    own, other = (
        corpus_bleu(corpus_stats(lines, [[document[n] for n in kept] for document in documents]).sum(axis=0))
        for documents in (references, after)
    )
    return own, other
