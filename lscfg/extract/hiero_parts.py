"""Hiero grammars whose rules do not fit into memory: the rules of a part of the source sides at a time.

All rules of a source side are in one part, so each part determines its most frequent target sides. A second
reading of the corpus counts target sides over all parts. Each part writes its rules to disk in the order of their
first occurrence, and the parts are merged in this order.
"""

from __future__ import annotations

import heapq
import itertools
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import numpy as np

from lscfg import log
from lscfg.corpus.parallel import check_words
from lscfg.errors import InputError
from lscfg.extract.hiero import HieroRules, TooManyRulesError, extract_files, mark_insignificant
from lscfg.extract.hiero_settings import HieroSettings
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import BLOCK, write_grammar
from lscfg.io.read import stream_lines
from lscfg.io.write import write_blocks

RULE_BYTES = 500
"""Peak memory per rule from extraction to its line of text, in bytes, measured on ja-en and rounded up."""

OF_CORPUS = "sentence", "initial phrase pair"
"""Prefixes of statistics that are equal in all parts."""


@dataclass(frozen=True)
class Extraction:
    """A corpus and the rules wanted from it: arguments of ``extract_files``."""

    source: str | os.PathLike[str]
    target: str | os.PathLike[str]
    alignments: Sequence[str | os.PathLike[str]]
    limits: HieroSettings
    wanted: Sequence[str] | None = None

    def extract(self, part: tuple[int, int] = (0, 1), most: int | None = None) -> HieroRules:
        """The rules; for the arguments see ``extract_files``."""
        corpus = self.source, self.target, self.alignments
        found = extract_files(*corpus, self.limits, wanted=self.wanted, part=part, most=most)
        return mark_insignificant(found, self.source, self.target, self.limits)


@dataclass(frozen=True)
class Written:
    """Summary of a grammar that was written.

    Attributes:
        rules: number of rules.
        statistics: sizes for the log; dropped: number of omitted rules by reason.
    """

    rules: int
    statistics: dict[str, int]
    dropped: dict[str, int]


def write_hiero(
    path: str | os.PathLike[str], corpus: Extraction, most: int, max_targets: int, threads: int = 1
) -> Written:
    """Writes a grammar as ``write_grammar`` does, with about ``most`` rules in memory at a time.

    The bytes of the file do not depend on ``most``. If the rules do not fit, the corpus is read twice for each part.
    The number of parts is predicted from the beginning of the corpus, after which new rules become rarer.

    Raises:
        InputError: see ``extract_files``, ``select_rules`` and ``write_grammar``; or the memory is too small for one
            rule.
    """
    if most < 1:
        raise InputError("the memory is too small for a single rule; raise --memory")
    try:
        counted = corpus.extract(most=most)
    except TooManyRulesError as found:
        share = found.rules / most / found.pairs  # the rules themselves must not outlive this block
    else:
        selection = select_rules(counted, max_targets, corpus.wanted)
        write_grammar(path, counted, selection, threads)
        return Written(len(selection.kept), counted.statistics(), selection.dropped)
    pairs = len(corpus.alignments) * sum(1 for _ in stream_lines(corpus.source))
    return write_parts(path, corpus, math.ceil(share * pairs), max_targets, threads)


def write_parts(
    path: str | os.PathLike[str], corpus: Extraction, parts: int, max_targets: int, threads: int = 1
) -> Written:
    """Writes a grammar in ``parts`` parts, at least two, all but one on disk.

    Raises:
        InputError: as ``write_hiero``.
    """
    rules, statistics, dropped = 0, dict[str, int](), dict[str, int]()
    with ExitStack() as files:
        runs: list[tuple[BinaryIO, BinaryIO]] = []
        for part in range(parts):
            counted = corpus.extract(part=(part, parts))
            check_words(counted.rules.words)
            selection = select_rules(counted, max_targets, corpus.wanted)
            rules += len(selection.kept)
            for name, size in counted.statistics().items():
                statistics[name] = size if name.startswith(OF_CORPUS) else statistics.get(name, 0) + size
            for reason, count in selection.dropped.items():
                dropped[reason] = dropped.get(reason, 0) + count
            try:
                run = [files.enter_context(TemporaryFile(dir=Path(path).parent)) for _ in range(2)]
                _write_run(counted, selection.kept, *run)
            except OSError as error:
                raise InputError(f"cannot keep rules on disk: {error.strerror or error}", Path(path).parent) from error
            runs.append((run[0], run[1]))
            log.info(f"rules of part {part + 1} of {parts}: {len(selection.kept)}")
            del counted, selection  # before the next part
        write_blocks(path, _merged(runs), threads)
    return Written(rules, statistics, dropped)


def _write_run(counted: HieroRules, kept: np.ndarray, lines: BinaryIO, order: BinaryIO) -> None:
    """Writes the lines of the rules and their sort keys, int64."""
    features = RuleFeatures(counted)
    for begin in range(0, len(kept), BLOCK):
        chosen = kept[begin : begin + BLOCK]
        lines.write(counted.rules.kernel.text(chosen, counted.features, features(chosen)))
        order.write(counted.first[chosen].tobytes())
    lines.flush()
    order.flush()


def _merged(runs: Sequence[tuple[BinaryIO, BinaryIO]]) -> Iterator[partial[bytes]]:
    """Blocks of lines in the order of all runs."""
    every = heapq.merge(*itertools.starmap(_run, runs))
    while block := b"".join(line for _, line in itertools.islice(every, BLOCK)):
        yield partial(bytes, block)


def _run(lines: BinaryIO, order: BinaryIO) -> Iterator[tuple[int, bytes]]:
    lines.seek(0)
    order.seek(0)
    while numbers := order.read(8 * BLOCK):
        yield from zip(np.frombuffer(numbers, np.int64).tolist(), lines, strict=False)
