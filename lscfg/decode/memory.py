"""Translation memory: corrected sentence pairs on disk, their phrases as rules, and equal or similar sentences."""

from __future__ import annotations

import fcntl
import json
import os
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, NotRequired, TypedDict

from lscfg.corpus.edits import word_edits
from lscfg.corpus.open_aligner import OpenAligner
from lscfg.errors import InputError, quote
from lscfg.io.json_files import check_shape
from lscfg.json_text import parse_json
from lscfg.kernel import words_fault

# The journal only grows: a correction is a line, and so is its undoing. A line without a newline at the end was cut by
# a crash: readers ignore it, and the next writer removes it. All writers hold a lock.

JOURNAL = "corrections.jsonl"

MOST_WORDS = 100
"""Maximum words of a side of a pair."""
MOST_PAIRS = 100_000
PHRASE_WORDS = 7
"""Maximum source words of a rule."""
MOST_TARGETS = 10
"""Maximum translations of a phrase that a sentence may use, the latest ones; frequent words have thousands."""
HALVED_BY = 500
"""Later corrections after which the value of a correction is halved."""

SIMILAR = 0.7
"""Minimum similarity of a sentence that is offered (Koehn and Senellart 2010 gain above this value)."""
MOST_SIMILAR = 3
CANDIDATES, COMPARED = 1000, 50
"""Latest sentences with a rare word in common, and those of them with the most common words, which are compared."""

Links = Sequence[tuple[int, int]]
"""Pairs of a source and a target position."""

Aligner = Callable[[Sequence[str], Sequence[str]], Links]
"""Links the words of two sentences."""


class StoredPair(NamedTuple):
    """A corrected pair."""

    id: int
    source: str
    target: str
    """Words, separated by blanks."""
    links: tuple[tuple[int, int], ...]
    typed: str = ""
    """The target as a person typed it, where restoring its words gives another text."""


class SimilarPair(NamedTuple):
    """A stored pair with a similar source."""

    pair: StoredPair
    similarity: float
    """1 minus the edits per word of the longer sentence."""


class StoredRule(NamedTuple):
    """A phrase pair of stored pairs."""

    source: str
    target: str
    value: float
    """Its feature ``Correction``: source words, halved by every ``HALVED_BY`` later corrections."""


class Recalled(NamedTuple):
    """Everything that the memory contains for a sentence."""

    pair: StoredPair | None = None
    """The latest pair with this source."""
    rules: tuple[StoredRule, ...] = ()
    similar: tuple[SimilarPair, ...] = ()
    """The most similar first."""


NOTHING = Recalled()


class _Correction(TypedDict):
    """A line of the journal."""

    id: int
    source: str
    target: str
    links: list[tuple[int, int]]
    typed: NotRequired[str]


class _Undoing(TypedDict):
    """A line of the journal."""

    undo: int


class Memory:
    """The memory in a folder, which several processes may use at the same time.

    Args:
        folder: created if missing, unless nothing can be stored.
        align: links of a pair of sentences; None: nothing can be stored.

    Raises:
        InputError: the folder cannot be used, or a line of the journal is damaged.
    """

    def __init__(self, folder: str | os.PathLike[str], align: Aligner | None = None):
        self.path, self._align = Path(folder) / JOURNAL, align
        if align is None and not self.path.is_file():
            raise InputError(f"contains no {JOURNAL}; name a folder of lscfg serve --corrections", folder)
        try:
            if align is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.touch()
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror or error}", self.path) from error
        self._clear()
        self.refresh()

    def _clear(self) -> None:
        self._read, self._lines, self._last, self._file = 0, 0, 0, (0, 0)
        self._pairs: dict[int, StoredPair] = {}
        self._live: list[int] = []  # ascending
        self._by_source: dict[str, list[int]] = defaultdict(list)
        self._rules: dict[str, dict[str, list[int]]] = {}  # source, target by its latest pair, pairs
        self._with_word: dict[str, set[int]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, number: int) -> bool:
        return number in self._pairs

    @property
    def pairs(self) -> list[StoredPair]:
        """The pairs that are not removed, in the order of their ids."""
        return [self._pairs[number] for number in self._live]

    # ---- the journal ----

    def refresh(self) -> None:
        """Reads what other processes have added.

        Raises:
            InputError: the journal cannot be read, or a line is damaged.
        """
        try:
            found = os.stat(self.path)
            same = self._file == (found.st_dev, found.st_ino) and found.st_size >= self._read
            if same and found.st_size == self._read:
                return
            with open(self.path, "rb") as file:
                self._catch_up(file)
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror or error}", self.path) from error

    def _catch_up(self, file: IO[bytes]) -> None:
        """Reads the whole lines of the open journal that are new."""
        status = os.fstat(file.fileno())
        if self._file != (status.st_dev, status.st_ino) or status.st_size < self._read:
            self._clear()
            self._file = status.st_dev, status.st_ino
        file.seek(self._read)
        whole, _, _ = file.read().rpartition(b"\n")
        for line in whole.split(b"\n") if whole else ():
            self._apply(line)
            self._lines += 1
            self._read += len(line) + 1

    def _apply(self, line: bytes) -> None:
        try:
            found = parse_json(line)
            check_shape(found, _Undoing if isinstance(found, dict) and "undo" in found else _Correction)
            if "undo" in found:
                if found["undo"] not in self._pairs:
                    raise ValueError(f"no correction {found['undo']} to undo")
                self._remove(self._pairs.pop(found["undo"]))
                return
            if found["id"] <= self._last:
                raise ValueError(f"id {found['id']} is not above {self._last}")
            links = tuple((i, j) for i, j in found["links"])
            pair = StoredPair(found["id"], found["source"], found["target"], links, found.get("typed", ""))
            if fault := _fault(pair):
                raise ValueError(fault)
        except (ValueError, RecursionError) as error:
            cure = "remove the line, or restore the file"
            raise InputError(
                f"damaged, or not written by lscfg ({error}); {cure}", self.path, self._lines + 1
            ) from None
        self._insert(pair)

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """The journal, up to date, to which no other process writes."""
        try:
            with open(self.path, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                self._catch_up(file)
                file.truncate(self._read)  # a line that a crash has cut
                file.seek(self._read)
                yield file
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror or error}", self.path) from error

    def _write(self, file: IO[bytes], entry: _Correction | _Undoing) -> None:
        file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
        self._catch_up(file)

    def add(self, source: str, target: str, typed: str = "") -> tuple[StoredPair, int]:
        """Stores a corrected pair in words, which later sentences use; returns the pair and the number of its rules.

        Args:
            typed: see ``StoredPair``.

        Raises:
            InputError: a side is empty or too long or contains what no word may contain, or the memory is full.
        """
        assert self._align is not None
        sides = [[word for word in side.split(" ") if word] for side in (source, target)]
        joined = [" ".join(side) for side in sides]
        if fault := _fault(StoredPair(1, joined[0], joined[1], ())):
            raise InputError(fault)
        links = sorted({(i, j) for i, j in self._align(*sides) if i < len(sides[0]) and j < len(sides[1])})
        with self._locked() as file:
            own = self._by_source.get(joined[0])
            latest = self._pairs[own[-1]] if own else None
            if latest is not None and (latest.target, latest.typed) == (joined[1], typed):
                return latest, len({*_phrases(latest)})  # stored already: its removal must bring back what was before
            if len(self._live) >= MOST_PAIRS:
                raise InputError(f"contains {MOST_PAIRS:,} pairs already; name another folder", self.path)
            number = self._last + 1
            entry: _Correction = {"id": number, "source": joined[0], "target": joined[1], "links": links}
            if typed:
                entry["typed"] = typed
            self._write(file, entry)
        pair = self._pairs[number]
        return pair, len({*_phrases(pair)})

    def undo(self, number: int) -> None:
        """Removes a pair and its rules.

        Raises:
            InputError: the memory contains no such pair.
        """
        with self._locked() as file:
            if number not in self._pairs:
                raise InputError(f"no correction {number}", self.path)
            self._write(file, {"undo": number})

    # ---- the indexes ----

    def _insert(self, pair: StoredPair) -> None:
        self._pairs[pair.id], self._last = pair, pair.id
        insort(self._live, pair.id)
        self._by_source[pair.source].append(pair.id)
        for source, target in sorted({*_phrases(pair)}):
            targets = self._rules.setdefault(source, {})
            targets[target] = [*targets.pop(target, ()), pair.id]  # at the end
        for word in {*pair.source.split(" ")}:
            self._with_word[word].add(pair.id)

    def _remove(self, pair: StoredPair) -> None:
        self._live.remove(pair.id)
        self._by_source[pair.source].remove(pair.id)
        for source, target in {*_phrases(pair)}:
            self._rules[source][target].remove(pair.id)
        for source in {source for source, _ in _phrases(pair)}:
            rest = [(own[-1], target, own) for target, own in self._rules.pop(source).items() if own]
            if rest:
                self._rules[source] = {target: own for _, target, own in sorted(rest)}
        for word in {*pair.source.split(" ")}:
            self._with_word[word].discard(pair.id)

    def recall(self, text: str) -> Recalled:
        """Everything that the memory contains for a sentence of words."""
        words = [word for word in text.split(" ") if word]
        if not self._live or not words:
            return NOTHING
        pairs = self._by_source.get(" ".join(words))
        exact = self._pairs[pairs[-1]] if pairs else None
        rules = []
        for n in range(1, min(PHRASE_WORDS, len(words)) + 1):
            for source in dict.fromkeys(" ".join(words[i : i + n]) for i in range(len(words) - n + 1)):
                for target, own in islice(reversed(self._rules.get(source, {}).items()), MOST_TARGETS):
                    later = len(self._live) - bisect_right(self._live, own[-1])
                    rules.append(StoredRule(source, target, n * 0.5 ** (later / HALVED_BY)))
        return Recalled(exact, tuple(sorted(rules)), self._similar(words))

    def _similar(self, words: list[str]) -> tuple[SimilarPair, ...]:
        # A similar sentence lacks few words: it contains one of the rarest, if they are one more than it may lack.
        lacking = int((1 - SIMILAR) * len(words) / SIMILAR + 1e-9)
        rarest = sorted(words, key=lambda word: (len(self._with_word.get(word, ())), word))[: lacking + 1]
        candidates = {number for word in {*rarest} for number in self._with_word.get(word, ())}
        latest = nlargest(CANDIDATES, candidates)
        known, found = {*words}, []
        common = [(len(known.intersection(self._pairs[number].source.split(" "))), number) for number in latest]
        for _, number in nlargest(COMPARED, common):
            pair = self._pairs[number]
            other = pair.source.split(" ")
            longer = max(len(words), len(other))
            if min(len(words), len(other)) < SIMILAR * longer:
                continue
            similarity = 1 - word_edits(words, other) / longer
            if SIMILAR <= similarity < 1:
                found.append(SimilarPair(pair, similarity))
        return tuple(sorted(found, key=lambda one: (-one.similarity, -one.pair.id))[:MOST_SIMILAR])


class LastingMemory(Memory):
    """A memory that keeps what it has read when its journal becomes unreadable or damaged after the opening.

    Attributes:
        fault: the reason why newer corrections are not used; empty if they are.
    """

    def __init__(self, folder: str | os.PathLike[str], align: Aligner):
        self.fault, self._opened = "", False
        super().__init__(folder, align)
        self._opened = True

    def refresh(self) -> None:
        """Reads what other processes have added, or notes why that is impossible."""
        try:
            super().refresh()
            self.fault = ""
        except InputError as error:
            if not self._opened:
                raise
            self.fault = str(error)


ALIGNER = "aligner"
"""Name of a saved aligner in the folder of a memory."""


def open_memory(folder: str | os.PathLike[str], lexical: Aligner) -> Memory:
    """The memory in a folder, which aligns by the saved aligner ``aligner`` in the folder, if there is one.

    Args:
        lexical: links of a pair without a saved aligner, such as ``RuleLinks.of_words``.

    Raises:
        InputError: see ``Memory``.
    """
    return Memory(folder, _aligner(folder, lexical))


def open_lasting_memory(folder: str | os.PathLike[str], lexical: Aligner) -> LastingMemory:
    """The memory in a folder for a service; see ``open_memory``."""
    return LastingMemory(folder, _aligner(folder, lexical))


def _aligner(folder: str | os.PathLike[str], lexical: Aligner) -> Aligner:
    saved = Path(folder) / ALIGNER
    return OpenAligner(saved) if saved.is_file() else lexical


def _fault(pair: StoredPair) -> str:
    """The reason why a pair cannot be stored; empty if it can."""
    sizes = []
    for name, text in (("source", pair.source), ("target", pair.target)):
        words = text.split(" ")
        if not all(words):
            return f"the {name} is empty or contains two blanks in a row; give words separated by single blanks"
        if len(words) > MOST_WORDS:
            return f"the {name} has {len(words)} words; at most {MOST_WORDS} are stored"
        if fault := words_fault(text):
            return f"the {name} {quote(text)} {fault}"
        sizes.append(len(words))
    if not all(0 <= i < sizes[0] and 0 <= j < sizes[1] for i, j in pair.links):
        return "a link is outside the sentences"
    return ""


def _phrases(pair: StoredPair) -> Iterator[tuple[str, str]]:
    """The phrase pairs of a pair as text, those of equal words several times."""
    source, target = pair.source.split(" "), pair.target.split(" ")
    for (i, j), (k, m) in phrase_spans(len(source), len(target), pair.links):
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


def remembered(recalled: Recalled, forms: Iterable[Sequence[str]]) -> StoredPair | None:
    """The pair that answers a sentence: the equal one, unless its target lacks a hard term.

    Args:
        forms: allowed translations of each hard term.
    """
    pair = recalled.pair
    if pair is None or not all(any(f" {form} " in f" {pair.target} " for form in own) for own in forms):
        return None
    return pair
