"""Phrase pairs of stored sentence pairs: an index in memory, most of which comes from a compiled file."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, Self

import numpy as np

from lscfg.decode.recalled import Links, StoredPair
from lscfg.io.write import atomic_write

PHRASE_WORDS = 7
"""Maximum source words of a rule."""

_FORM = 2
"""Number of the compiled file's format."""


class _Compiled(NamedTuple):
    """Phrase pairs as arrays; entry e is a target of a source, and the entries of a source are adjacent."""

    rows: dict[str, int]
    """Row of each source."""
    targets: list[str]
    entries: np.ndarray
    """int64 [rows + 1], first entry of each row."""
    entry_target: np.ndarray
    """int32 [entries], ascending by latest pair, then by text."""
    entry_pairs: np.ndarray
    """int64 [entries + 1], first of the pairs of each entry."""
    pairs: np.ndarray
    """int32, ascending for each entry."""

    def of(self, source: str) -> dict[str, list[int]]:
        """Targets of a source, each with its pairs."""
        row = self.rows.get(source)
        if row is None:
            return {}
        found = {}
        for e in range(int(self.entries[row]), int(self.entries[row + 1])):
            own = self.pairs[self.entry_pairs[e] : self.entry_pairs[e + 1]]
            found[self.targets[self.entry_target[e]]] = own.tolist()
        return found

    def latest(self, source: str, most: int) -> tuple[tuple[str, int], ...]:
        """At most ``most`` targets of a source with their latest pairs, the latest first."""
        row = self.rows.get(source)
        if row is None:
            return ()
        begin, end = self.entries[row : row + 2].tolist()
        begin = max(begin, end - most)
        latest = self.pairs[self.entry_pairs[begin + 1 : end + 1] - 1].tolist()
        targets = [self.targets[target] for target in self.entry_target[begin:end].tolist()]
        return tuple(zip(reversed(targets), reversed(latest), strict=True))


class PhraseIndex:
    """The phrase pairs of the live pairs: for each source its targets, in the order of their latest pairs."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, list[int]]] = {}  # sources that were asked for or changed
        self._compiled: _Compiled | None = None
        self._latest: dict[str, tuple[tuple[str, int], ...]] = {}

    def latest(self, source: str, most: int) -> tuple[tuple[str, int], ...]:
        """At most ``most`` targets of a source with their latest pairs, the latest first; ``most`` is constant."""
        found = self._latest.get(source)
        if found is None:
            known = self._known.get(source)
            if known is not None:
                found = tuple((target, own[-1]) for target, own in islice(reversed(known.items()), most))
            elif self._compiled is not None:
                found = self._compiled.latest(source, most)
            if not found:
                return ()
            self._latest[source] = found
        return found

    def targets(self, source: str) -> dict[str, list[int]]:
        """Targets of a source, each with the ids of its pairs, ascending; the target of the latest pair comes last."""
        found = self._known.get(source)
        if found is None:
            if self._compiled is None or source not in self._compiled.rows:
                return {}
            found = self._known[source] = self._compiled.of(source)
        return found

    def add(self, pair: StoredPair) -> None:
        """Adds the phrases of a pair, which is later than all others."""
        for source, target in sorted({*pair_phrases(pair)}):
            targets = self.targets(source)
            self._latest.pop(source, None)
            if not targets:
                self._known[source] = targets
            targets[target] = [*targets.pop(target, ()), pair.id]  # at the end

    def remove(self, pair: StoredPair) -> None:
        """Removes the phrases of a pair."""
        gone = {*pair_phrases(pair)}
        for source, target in gone:
            self.targets(source)[target].remove(pair.id)
        for source in {source for source, _ in gone}:
            self._latest.pop(source, None)
            rest = [(own[-1], target, own) for target, own in self.targets(source).items() if own]
            self._known[source] = {target: own for _, target, own in sorted(rest)}

    def save(self, path: Path, journal: IO[bytes], size: int) -> None:
        """Writes the compiled file of the first bytes of a journal, all of which this index contains.

        Raises:
            InputError: the file cannot be written.
        """
        sources = [*({} if self._compiled is None else self._compiled.rows), *self._known]
        sources = sorted(source for source in dict.fromkeys(sources) if self.targets(source))
        number: dict[str, int] = {}
        entries, entry_target, entry_pairs, pairs = [0], list[int](), [0], list[int]()
        for source in sources:
            for target, own in self.targets(source).items():
                entry_target.append(number.setdefault(target, len(number)))
                pairs += own
                entry_pairs.append(len(pairs))
            entries.append(len(entry_target))
        with atomic_write(path, "wb") as file:
            np.savez(
                file,
                form=np.array([_FORM, size]),
                journal=np.frombuffer(_digest(journal, size), np.uint8),
                sources=_bytes(sources),
                targets=_bytes(number),
                entries=np.array(entries, np.int64),
                entry_target=np.array(entry_target, np.int32),
                entry_pairs=np.array(entry_pairs, np.int64),
                pairs=np.array(pairs, np.int32),
            )

    @classmethod
    def load(cls, path: Path, journal: IO[bytes]) -> tuple[Self, int]:
        """The index of the compiled file, and the number of bytes of the journal that the index contains.

        An index without pairs, and 0, if the file is missing or damaged or belongs to another journal: the journal
        contains everything.
        """
        made = cls()
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:  # a zip file with checksums
                form, size = arrays["form"].tolist()
                if form != _FORM or size > os.fstat(journal.fileno()).st_size:
                    return made, 0
                if _digest(journal, size) != arrays["journal"].tobytes():
                    return made, 0
                sources, targets = (_texts(arrays[name]) for name in ("sources", "targets"))
                names = ("entries", "entry_target", "entry_pairs", "pairs")
                made._compiled = _Compiled(
                    {source: row for row, source in enumerate(sources)}, targets, *(arrays[name] for name in names)
                )
        except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile):
            return cls(), 0
        return made, size


def _digest(journal: IO[bytes], size: int) -> bytes:
    """Checksum of the first bytes of a journal."""
    journal.seek(0)
    return sha256(journal.read(size)).digest()


def _bytes(texts: Iterable[str]) -> np.ndarray:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _texts(data: np.ndarray) -> list[str]:
    text = data.tobytes().decode()
    return text.split("\n") if text else []


def pair_phrases(pair: StoredPair) -> Iterator[tuple[str, str]]:
    """Phrase pairs of a pair as text, with repetitions.

    Source words without a link are part of a phrase only between linked ones: at its ends, a rule would delete them.
    """
    source, target = pair.source.split(" "), pair.target.split(" ")
    linked = {s for s, _ in pair.links}
    for (i, j), (k, m) in phrase_spans(len(source), len(target), pair.links):
        if i in linked and j - 1 in linked:
            yield " ".join(source[i:j]), " ".join(target[k:m])


def phrase_spans(
    n_source: int, n_target: int, links: Links, longest: int = PHRASE_WORDS
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Spans [i, j) of both sides of the consistent phrase pairs (Och and Ney 2004).

    Each contains a link, no link leaves it, and unlinked target words at its ends may belong to it or not.

    Args:
        longest: maximum number of words of either side.
    """
    linked = {j for _, j in links}
    for i in range(n_source):
        for j in range(i + 1, min(i + longest, n_source) + 1):
            inside = [t for s, t in links if i <= s < j]
            if not inside:
                continue
            first, last = min(inside), max(inside)
            if any(first <= t <= last and not i <= s < j for s, t in links):
                continue
            begin = first
            while True:
                end = last + 1
                while end - begin <= longest:
                    yield (i, j), (begin, end)
                    if end == n_target or end in linked:
                        break
                    end += 1
                if begin == 0 or begin - 1 in linked:
                    break
                begin -= 1
