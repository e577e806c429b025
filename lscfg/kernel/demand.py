"""Rules of single sentences on demand, from suffix arrays over word-aligned text (plugin/demand)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check, utf8
from lscfg.kernel.extract import Collector


class AlignedText(Collector):
    """Collects word-aligned sentence pairs."""

    def __init__(self) -> None:
        super().__init__(lib.lscfg_aligned_new(), lib.lscfg_aligned_free)

    def add(self, src: str, tgt: str, links: str) -> None:
        """Adds a pair: words separated by blanks, links ``i-j`` counted from 0.

        Raises:
            LineError: as for ``Deriver.add``, or a side has more than 65,535 words.
        """
        self._add(lib.lscfg_aligned_add, src, tgt, links)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns text and suffix arrays, named as in the file of an index, and the tables of ``Deriver.tables``."""
        v = ffi.new("lscfg_aligned_view *")
        lib.lscfg_aligned_get(self._pointer, v)
        found = {
            "links": self._copy(v.links, (v.n_links, 2), np.uint16),
            "links.starts": self._copy(v.link_starts, v.n_pairs + 1, np.int64),
            **self._tables(v),
        }
        for side, name in enumerate(("src", "tgt")):
            words = self._copy(v.words[side], v.n_words[side], np.int32)
            found |= {
                f"{name}.words": words,
                f"{name}.starts": self._copy(v.starts[side], v.n_pairs + 1, np.int64),
                f"{name}.suffixes": _suffixes(words, v.n_words[side] - v.n_pairs, v.tables.n_words),
            }
        return found


def _suffixes(words: np.ndarray, size: int, types: int) -> np.ndarray:
    order, error = np.empty(size, np.int32), ffi.new("lscfg_error *")
    given = ffi.from_buffer("int32_t[]", words)
    code = lib.lscfg_suffixes(given, len(words), types, ffi.from_buffer("int32_t[]", order), error)
    check(code, error)
    return order


class SuffixIndex(Collector):
    """A mapped index over word-aligned text, with further text in memory.

    Only one thread may use it at a time.

    Args:
        path: file of the index.
        limits: ``max_phrase``, ``max_target_phrase``, ``max_symbols``, ``max_arity``, ``loose`` and ``min_hole``, as
            for ``HieroExtractor``.

    Raises:
        InputError: the file cannot be read or is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], limits: tuple[int, int, int, int, bool, int]) -> None:
        *sizes, loose, min_hole = limits
        options = ffi.new("lscfg_hiero_options *", (*sizes, False, 0, 1, loose, min_hole))
        made, error = ffi.new("lscfg_index **"), ffi.new("lscfg_error *")
        check(lib.lscfg_index_open(os.fsencode(path), options, made, error), error, path)
        super().__init__(made[0], lib.lscfg_index_free)
        self._path = path

    def teach(self, src: str, tgt: str, links: str) -> None:
        """Adds a pair to the text in memory; see ``AlignedText.add``."""
        self._add(lib.lscfg_index_teach, src, tgt, links)

    def forget(self) -> None:
        """Forgets the text in memory."""
        check(lib.lscfg_index_forget(self._pointer, self._error), self._error)

    def look_up(self, line: str, max_span: int, places: int) -> None:
        """Finds the rules that can translate a part of a sentence.

        Args:
            max_span: leaves out rules that must cover more words than this; 0: no limit.
            places: maximum number of places of a source side in the file whose rules are extracted; 0: all.

        Raises:
            InputError: the file is damaged.
        """
        text = utf8(line)
        code = lib.lscfg_index_look_up(self._pointer, text, len(text), max_span, places, self._error)
        check(code, self._error, self._path)

    def count_targets(self, rules: np.ndarray, places: int) -> np.ndarray:
        """Counts the target sides of some rules of the last look-up in the whole text.

        Args:
            rules: int64, numbers of rules; places: as for ``look_up``, of a target side.

        Returns:
            float64 [target sides], numbered as by ``Rules.number``; 0 for sides of other rules.

        Raises:
            InputError: the file is damaged.
        """
        rules = np.ascontiguousarray(rules, np.int64)
        given = ffi.from_buffer("int64_t[]", rules)
        check(
            lib.lscfg_index_count_targets(self._pointer, len(rules), given, places, self._error),
            self._error,
            self._path,
        )
        v = self._view()
        return self._copy(v.target_count, v.n_targets, np.float64)

    def _view(self) -> Any:
        v = ffi.new("lscfg_index_view *")
        lib.lscfg_index_get(self._pointer, v)
        return v

    def examined(self) -> tuple[int, int]:
        """Returns the numbers of places of source and target sides whose rules were extracted last."""
        v = self._view()
        return int(v.n_places[0]), int(v.n_places[1])

    def words(self, side: int) -> list[bytes]:
        """Returns the words of a side of the text in the file: 0 for source, 1 for target."""
        v = self._view()
        bounds = self._copy(v.all_offsets, v.n_all_words + 1, np.int64).tolist()
        used = self._copy(v.all_total, (v.n_all_words + 1, 2), np.int64)[1:, side]
        data = bytes(ffi.buffer(v.all_bytes, v.n_all_bytes))
        return [data[bounds[k] : bounds[k + 1]] for k in np.flatnonzero(used).tolist()]

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns the rules of the last look-up: ``count``, ``tokens`` and the tables as in ``HieroExtractor``.

        The lexicon contains the words of these rules only; ``lexicon.total``, int64 [words + 1, 2], contains the links
        of each word as source and as target word in the whole text, first those of no word.
        """
        v = self._view()
        return {
            "count": self._copy(v.count, v.tables.n_rules, np.float64),
            "tokens": self._copy(v.tokens, v.tables.n_rules, np.int64),
            "lexicon.total": self._copy(v.lexicon_total, (v.tables.n_words + 1, 2), np.int64),
            **self._tables(v),
        }
