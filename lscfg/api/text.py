"""From parallel text to derivations, with lists of lines.

>>> import lscfg
>>> trees = lscfg.derive(["das haus"], ["the house"], ["0-0 1-1"])
>>> trees.rules.text(1)
'[X] ||| das ||| the'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lscfg.corpus.align import AlignmentSettings
from lscfg.corpus.align import align as align_corpus
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.derive import derive as derive_corpus
from lscfg.kernel import DeriveOptions


def align_lines(
    source: Iterable[str],
    target: Iterable[str],
    aligner: str = "eflomal",
    heuristic: str = "union",
    jobs: int = 2,
    **settings: Any,
) -> list[str]:
    """Word alignments ``i-j ...`` of sentence pairs, source position first; ``lscfg.align``.

    Args:
        source, target: sentences of tokens that blanks separate.
        aligner: name of the aligner, as in ``lscfg align --aligner``.
        heuristic: symmetrisation of the two directions.
        jobs: with 2, both directions run at the same time; the result is the same.
        settings: settings of the aligner, such as ``seed``.

    Raises:
        InputError: an unknown aligner, a setting out of its range, sides of unequal length, or the package sil-thot
            is missing.
    """
    src, tgt = _lines(source), _lines(target)
    if len(src) != len(tgt):
        raise InputError(f"{len(tgt)} target sentences for {len(src)} source sentences; give pairs")
    return align_corpus(src, tgt, AlignmentSettings.with_aligner(aligner, heuristic, **settings), jobs)


def derive_lines(source: Iterable[str], target: Iterable[str], alignment: Iterable[str], **options: Any) -> Derivations:
    """The minimal derivation tree of each sentence pair (paper, section 3); ``lscfg.derive``.

    Args:
        source, target: sentences of tokens that blanks separate.
        alignment: links of each pair, as from ``lscfg.align``.
        options: options of ``lscfg derive``, such as ``max_arity=2``.

    Raises:
        InputError: a link is malformed or out of range, a sentence is empty, or the sides are of unequal length.
    """
    return derive_corpus(_lines(source), _lines(target), _lines(alignment), options=DeriveOptions(**options))


def _lines(text: Iterable[str]) -> list[str]:
    """The lines.

    Raises:
        TypeError: one string.
    """
    if isinstance(text, str):
        raise TypeError("give a list of lines, not one string")
    return [line.rstrip("\n") for line in text]
