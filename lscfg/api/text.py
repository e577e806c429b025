"""From parallel text to derivations, with lists of lines.

>>> import lscfg
>>> trees = lscfg.derive(["das haus"], ["the house"], ["0-0 1-1"])
>>> trees.rules.text(1)
'[X] ||| das ||| the'
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from lscfg.api.arguments import brief, check_lines, check_number, check_path, check_text
from lscfg.corpus.align import AlignmentSettings
from lscfg.corpus.align import align as align_corpus
from lscfg.corpus.aligner import ALIGNERS
from lscfg.corpus.parallel import check_sentences
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.derive import derive as derive_corpus
from lscfg.extract.minimal import MinimalRules, MinimalSettings
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_grammar
from lscfg.kernel import DeriveOptions
from lscfg.settings import settings_from


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
        InputError: an unknown aligner, a setting out of its range, sides of unequal length, a word that cannot appear
            in a grammar, or the package sil-thot is missing.
        TypeError: an argument has another type, or the aligner has no such setting.
    """
    src, tgt = check_lines(source, "source"), check_lines(target, "target")
    check_text(aligner, "aligner")
    check_text(heuristic, "heuristic")
    jobs = int(check_number(jobs, "jobs", 1))
    if len(src) != len(tgt):
        raise InputError(f"{len(tgt)} target sentences for {len(src)} source sentences; give pairs")
    for name, lines in (("source", src), ("target", tgt)):
        check_sentences(lines, name, allow_empty=True)
    made = settings_from(ALIGNERS[aligner].Settings, settings, f"the aligner {aligner}")
    return align_corpus(src, tgt, AlignmentSettings(aligner, heuristic, made), jobs)


def derive_lines(source: Iterable[str], target: Iterable[str], alignment: Iterable[str], **options: Any) -> Derivations:
    """The minimal derivation tree of each sentence pair (paper, section 3); ``lscfg.derive``.

    Args:
        source, target: sentences of tokens that blanks separate.
        alignment: links of each pair, as from ``lscfg.align``.
        options: options of ``lscfg derive``, such as ``max_arity=2``.

    Raises:
        InputError: a link is malformed or out of range, a sentence is empty, or the sides are of unequal length.
        TypeError: an argument has another type, or there is no such option.
    """
    src, tgt, links = check_lines(source, "source"), check_lines(target, "target"), check_lines(alignment, "alignment")
    made = settings_from(DeriveOptions, options, "derive")
    if len(src) != len(tgt):
        raise InputError(f"{len(tgt)} target sentences for {len(src)} source sentences; give pairs")
    if not src:
        raise InputError("source must have one sentence or more; the list is empty")
    return derive_corpus(src, tgt, links, options=made)


def write_minimal_grammar(derivations: Derivations, path: str | os.PathLike[str]) -> int:
    """Writes the rules of derivation trees as a grammar in cdec's format, as ``lscfg grammar minimal`` does.

    Args:
        path: file to write; ``.gz`` compresses it.

    Returns:
        Number of rules, without the glue rule.

    Raises:
        InputError: the file cannot be written.
        TypeError: an argument has another type.
    """
    if not isinstance(derivations, Derivations):
        raise TypeError(f"derivations must be lscfg.Derivations, not {brief(derivations)}; make them with lscfg.derive")
    path, rules = check_path(path, "path"), MinimalRules.of(derivations)
    selection = select_rules(rules, MinimalSettings().max_targets)
    write_grammar(path, rules, selection)
    return len(selection.kept)
