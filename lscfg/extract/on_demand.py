"""Hiero rules of single sentences on demand: an index of word-aligned text instead of a grammar.

Extracting all rules of a large text takes hours, and the grammar does not fit into memory. An index takes a few bytes a
word, and a decoder that maps the index extracts the rules of a sentence when it translates the sentence (Lopez 2007).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from lscfg.corpus.parallel import stream_aligned
from lscfg.errors import InputError
from lscfg.extract.hiero_settings import HieroLimits, HieroSettings
from lscfg.formats.rule_index import KIND
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.select import select_rules
from lscfg.grammar.table import RuleTable
from lscfg.io.json_files import check_shape
from lscfg.io.tensors import FORMAT, load, metadata_json, save
from lscfg.kernel import AlignedText, LineError, SuffixIndex
from lscfg.log import progress
from lscfg.settings import LARGEST, Limits

MOST_PLACES = 300
"""Default maximum number of places of a source side whose rules are extracted."""

PLACES = Annotated[int, Limits(least=0, most=LARGEST)]
"""Shape of such a number."""

PER_TARGET = 10
"""Target sides are counted at a fraction 1 / PER_TARGET of these places, since sentences have more of them."""

ROUNDING = 1 - 1e-9
"""Ratio above which sums of shares differ only by rounding."""

MOST_TAUGHT = 20_000
"""Maximum number of pairs that an index keeps in memory, the latest ones."""

FORGOTTEN = 1_000
"""Pairs that leave the memory together, since the others are then read again."""


def write_index(
    path: str | os.PathLike[str],
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    alignments: Sequence[str | os.PathLike[str]],
    settings: HieroSettings,
    places: int = MOST_PLACES,
) -> int:
    """Writes the index of a text, with every pair once for each alignment; returns the number of pairs.

    Args:
        places: maximum number of places of a source side whose rules are extracted; 0: all.

    Raises:
        InputError: a setting needs the rules of the whole text, or as ``extract_files``.
    """
    if settings.no_singletons or settings.significance is not None:
        name = "no_singletons" if settings.no_singletons else "significance"
        raise InputError(f"{name} needs the rules of the whole text; leave it out, or write a grammar")
    text = AlignedText()
    for links in alignments:
        for number, pair in enumerate(progress(stream_aligned(source, target, links), "index"), 1):
            try:
                text.add(*pair)
            except LineError as error:
                raise error.at(number, links) from None
    arrays = text.arrays()
    del text
    pairs = len(arrays["src.starts"]) - 1
    chosen = {name: value for name, value in asdict(settings).items() if name in _KEPT} | {"places": places}
    metadata = {"lscfg": KIND, "format": FORMAT, "settings": json.dumps(chosen)}
    save(path, _indexed(arrays), metadata)
    return pairs


_KEPT = {field.name for field in fields(HieroLimits)} - {"no_singletons"} | {"max_targets"}


def _indexed(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of the file, with vocabulary and lexicon in order for binary search."""
    found = {name: array for name, array in arrays.items() if not name.startswith(("rules.", "lexicon."))}
    data, bounds = arrays["vocab.bytes"].tobytes(), arrays["vocab.offsets"].tolist()
    size = len(bounds) - 1
    found["vocab.order"] = np.array(sorted(range(size), key=lambda k: data[bounds[k] : bounds[k + 1]]), np.int32)
    pairs, counts = arrays["lexicon.words"], arrays["lexicon.count"]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    rows = np.searchsorted(pairs[order, 0], np.arange(-1, size + 1)).astype(np.int64)
    totals = [np.bincount(given, counts, size + 1).astype(np.int64) for given in (pairs + 1).T]
    return found | {
        "lexicon.rows": rows,
        "lexicon.target": pairs[order, 1].astype(np.int32),
        "lexicon.count": counts[order],
        "lexicon.total": np.stack(totals, 1),
    }


class RuleIndex:
    """An open index. Only one thread may use it at a time.

    Raises:
        InputError: the file cannot be read, is no index, or is damaged.

    Attributes:
        places: maximum number of places of a source side whose rules are extracted; 0: all.
        max_targets: number of the most frequent target sides that are kept of each source side.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        _, metadata = load(path, KIND, [])
        try:
            found = metadata_json(metadata, "settings")
            self.places = found.pop("places", None)
            check_shape(self.places, PLACES, "places")
            settings = HieroSettings.of(found)
        except (ValueError, InputError) as error:
            raise InputError(f"damaged settings ({error}); make the index again", path) from None
        self.max_targets, s = settings.max_targets, settings
        limits = (s.max_phrase, s.target_phrase, s.max_symbols, s.max_arity, s.loose, s.min_hole)
        self._index, self._taught = SuffixIndex(path, limits), list[tuple[str, str, str]]()

    def teach(self, pairs: Iterable[tuple[str, str, str]]) -> int:
        """Replaces the text in memory by the latest of these pairs: words of both sides, and links.

        Returns:
            Number of earlier pairs that are left out, a multiple of ``FORGOTTEN``; 0 up to ``MOST_TAUGHT`` pairs.

        Raises:
            LineError: see ``SuffixIndex.teach``.
        """
        every = [*pairs]
        first = max(0, -(-(len(every) - MOST_TAUGHT) // FORGOTTEN) * FORGOTTEN)
        wanted = every[first:]
        if wanted[: len(self._taught)] != self._taught:
            self._index.forget()
            self._taught = []
        for pair in wanted[len(self._taught) :]:
            self._index.teach(*pair)
            self._taught.append(pair)
        return first

    def rules(self, sentence: str, max_span: int = 0) -> tuple[RuleCounts, np.ndarray]:
        """The rules that can translate a part of a sentence, and the numbers of those that a grammar keeps, ascending.

        Counts and features equal those of a grammar of the whole text; where places are left out, they are estimates.

        Args:
            sentence: words separated by blanks.
            max_span: leaves out rules that must cover more words than this; 0: no limit.

        Raises:
            InputError: the file is damaged.
        """
        self._index.look_up(sentence, max_span, self.places)
        arrays = self._index.arrays()
        try:
            table = RuleTable.from_arrays(arrays)
        except ValueError as error:
            raise InputError(f"damaged: {error}; make the index again", self.path) from None
        counts = [arrays[name] for name in ("count", "tokens", "lexicon.words", "lexicon.count")]
        counted = RuleCounts(table, *counts, lexicon_total=arrays["lexicon.total"])
        kept = select_rules(counted, self.max_targets).kept
        of_targets = self._index.count_targets(kept, -(-self.places // PER_TARGET))
        found = np.bincount(table.target_id, arrays["count"]) if len(table) else of_targets
        of_targets = np.where(of_targets < found * ROUNDING, found, of_targets)  # a sample may miss places of a rule
        return replace(counted, target_count=of_targets), kept

    def text(self, sentence: str, max_span: int = 0) -> str:
        """The lines of a grammar of ``rules``, in cdec's format."""
        counted, kept = self.rules(sentence, max_span)
        if not len(kept):
            return ""
        return counted.rules.kernel.text(kept, counted.features, RuleFeatures(counted)(kept)).decode()

    def words(self, side: int) -> list[str]:
        """The words of a side of the text in the file, ``SOURCE`` or ``TARGET``, in no particular order."""
        return [word.decode("utf-8", "replace") for word in self._index.words(side)]

    def examined(self) -> tuple[int, int]:
        """Numbers of places of source and target sides whose rules were extracted last."""
        return self._index.examined()
