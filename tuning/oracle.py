"""The best BLEU that a grammar can reach: translations chosen with the reference at hand (Xiao et al. 2012, Table 2).

Each sentence is parsed as the decoder does, and searched with sentence BLEU instead of a model. Of the
remaining translations, one of each sentence is chosen for corpus BLEU. So the figure is a lower bound of the best that
the grammar allows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lscfg import log
from lscfg.decode.parsing import first_parse, parse_options, read_grammar
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.formats.segments import grammar_path
from lscfg.kernel import Grammar
from lscfg.kernel.search import OracleOptions, oracle
from lscfg.parallel.choose import in_threads
from lscfg.tuning.bleu import CORRECT, TOTAL, SentenceReferences, check_references, corpus_bleu, length_ratio
from lscfg.tuning.pool import choose

# A partial translation is known by its counts of reference n-grams, its length, and the n-grams at its ends, so
# without limits the search is exact. A linear approximation of BLEU would count an n-gram again that the reference has
# once.


@dataclass(frozen=True)
class Oracle:
    """The best translations that a grammar can reach.

    Attributes:
        name: of the grammar.
        rules: of the grammar, or of those of all sentences together.
        bleu: BLEU (0 to 100) of the translations.
        sentence_bleu: corpus BLEU where each sentence has the translation of the best sentence BLEU.
        precisions: of n-grams of order 1 to 4, in per cent.
        length_ratio: words of the translations over words of the references.
        exact: sentences whose translation is a reference.
        unparsed: sentences without a parse, whose words are passed through.
        translations: of each sentence.
    """

    name: str
    rules: int
    bleu: float
    sentence_bleu: float
    precisions: list[float]
    length_ratio: float
    exact: int
    unparsed: int
    translations: list[str]


def read_system(path: str | os.PathLike[str]) -> DecoderConfig:
    """Reads parse settings from a grammar, a cdec.ini, or a folder of grammars of single sentences.

    A single grammar is parsed with cdec's defaults, which include Hiero's glue and pass-through of words.

    Raises:
        InputError: the file does not exist, or the ini is malformed.
    """
    if os.path.isdir(path):
        return read_ini(Path(path) / "cdec.ini")
    if str(path).endswith(".ini"):
        return read_ini(path)
    return DecoderConfig(grammars=(Path(path),), pass_through=True)


def find_oracle(
    name: str,
    path: str | os.PathLike[str],
    sentences: Sequence[str],
    references: Sequence[Sequence[str]],
    options: OracleOptions,
    threads: int = 1,
) -> Oracle:
    """Finds the translations of a grammar that are closest to the references, and their BLEU.

    The result does not depend on ``threads``.

    Args:
        name: of the grammar.
        path: see ``read_system``.
        sentences: source sentences, words separated by blanks.
        references: one document per reference set, each with a line per sentence.
        options: limits of the search.

    Raises:
        InputError: numbers of lines differ, a file cannot be read or is malformed, or see
            ``lscfg.kernel.search.oracle``.
    """
    check_references(references, len(sentences))
    config = read_system(path)
    together = None if os.path.isdir(path) else read_grammar(config)
    search = _searcher(config, together, path, options)
    tasks = [(n, line, lines) for n, (line, *lines) in enumerate(zip(sentences, *references, strict=True))]
    if together is not None:
        for _, line, lines in tasks:  # before there are threads: the vocabulary cannot grow while others read it
            for text in (line, *lines):
                together.vocab.add_line(text)
    texts: list[list[str]] = []
    stats: list[NDArray[np.int32]] = []
    rules = unparsed = 0
    with in_threads(threads) as engine:
        answers = log.progress(engine.map(search, tasks), f"oracle of {name}", len(tasks))
        for (number, line, lines), (found, size, why) in zip(tasks, answers, strict=True):
            rules += size
            if why and line.strip():
                log.warning(f"{name}: sentence {number + 1} {why}; its words are passed through")
                unparsed += 1
            texts.append(found)
            stats.append(SentenceReferences(lines).stats([text.split() for text in found]))
    best = np.stack([rows[0] for rows in stats]).sum(axis=0, dtype=np.int64)
    chosen, total = choose(stats)
    translations = [found[choice] for found, choice in zip(texts, chosen, strict=True)]
    return Oracle(
        name=name,
        rules=rules if together is None else len(together),
        bleu=corpus_bleu(total),
        sentence_bleu=corpus_bleu(np.asarray(best)),
        precisions=(100 * total[CORRECT] / np.maximum(total[TOTAL], 1)).tolist(),
        length_ratio=length_ratio(total),
        exact=sum(
            text.split() in map(str.split, lines) for text, (_, _, lines) in zip(translations, tasks, strict=True)
        ),
        unparsed=unparsed,
        translations=translations,
    )


_Task = tuple[int, str, Sequence[str]]
"""A sentence's number, the sentence, and its references."""

_Answer = tuple[list[str], int, str]
"""Translations, rules of a grammar of the sentence's own, and why there is no parse."""


def _searcher(
    config: DecoderConfig, together: Grammar | None, folder: str | os.PathLike[str], options: OracleOptions
) -> Callable[[_Task], _Answer]:
    """A function that finds translations by the grammar, or by the grammar of a sentence in the folder."""

    def search(task: _Task) -> _Answer:
        number, line, lines = task
        if together is not None:
            grammar, size = together, 0
        elif line.strip():
            grammar = read_grammar(replace(config, grammars=(grammar_path(folder, number),)))
            size = len(grammar)
        else:
            return [""], 0, "is empty"
        forest, why = first_parse(grammar, grammar.vocab.add_line(line), parse_options(config, grammar))
        if forest is None:
            return [" ".join(line.split())], size, why
        found = oracle(forest, grammar, [grammar.vocab.add_line(text) for text in lines], options)
        return [" ".join(map(grammar.vocab.word, words)) for words in found.word_lists()], size, ""

    return search
