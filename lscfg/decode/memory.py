"""Translation memory: corrected sentence pairs on disk, their phrases as rules, and equal or similar sentences."""

from __future__ import annotations

import json
import os
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from lscfg.decode.phrases import PHRASE_WORDS, PhraseIndex, pair_phrases
from lscfg.decode.recalled import NOTHING, Aligner, Recalled, StoredPair, StoredRule
from lscfg.decode.similar import SentenceIndex
from lscfg.errors import InputError, quote
from lscfg.io.folders import lock_file
from lscfg.io.json_files import check_shape
from lscfg.json_text import parse_json
from lscfg.kernel import words_fault
from lscfg.later import later
from lscfg.settings import LARGEST, Limits

if TYPE_CHECKING:
    from lscfg.corpus import open_aligner
else:
    open_aligner = later("lscfg.corpus.open_aligner")

# The journal only grows: a correction is a line, and so is its undoing. All writers hold a lock. If the last line lacks
# its newline, a person wrote it, or a crash cut it. An entry of a person is used, and the next writer adds the newline;
# a part of an entry is ignored, and the next writer removes it.

JOURNAL = "corrections.jsonl"
COMPILED = "corrections.phrases"
"""Phrases from the beginning of the journal, which a process need not extract again."""
NEW_LINES = 500
"""Lines of the journal after the compiled ones that a process compiles when it opens a memory for writing."""

MOST_WORDS = 100
"""Maximum words of a side of a pair."""
MOST_PAIRS = 100_000
MOST_TARGETS = 10
"""Maximum translations of a phrase that a sentence may use, the latest ones; frequent words have thousands."""
MOST_SOURCES = 1 << 15
"""Maximum number of source phrases whose rules a memory caches; a full cache is emptied."""
HALVED_BY = 500
"""Later corrections after which the value of a correction is halved."""


class PairError(InputError):
    """A pair that cannot be stored, whatever the memory contains."""


class _Correction(TypedDict):
    """A line of the journal."""

    id: Annotated[int, Limits(least=1, most=LARGEST)]
    source: str
    target: str
    links: list[tuple[int, int]]
    typed: NotRequired[str]
    time: NotRequired[str]


class _Undoing(TypedDict):
    """A line of the journal."""

    undo: int


class Memory:
    """The memory in a folder, which several processes may use at the same time.

    Args:
        folder: created if missing, unless nothing can be stored.
        align: links of a pair of sentences; None: nothing can be stored.
        indexed: False: pairs can only be listed and removed; ``recall`` finds neither similar pairs nor phrases.

    Raises:
        InputError: the folder cannot be used, or a line of the journal is damaged.
    """

    def __init__(self, folder: str | os.PathLike[str], align: Aligner | None = None, indexed: bool = True):
        self.path, self._align, self._indexed = Path(folder) / JOURNAL, align, indexed
        if align is None:
            check_journal(folder)
        try:
            if align is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.touch()
                with _locked_journal(self.path):
                    pass  # the last line has its newline
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror or error}", self.path) from error
        self._clear()
        self.refresh()
        if align is not None and self._lines - self._compiled > NEW_LINES:
            with suppress(InputError, OSError), open(self.path, "rb") as file:  # it only saves time
                self._phrases.save(self.path.with_name(COMPILED), file, self._read)

    def _clear(self) -> None:
        self._read, self._lines, self._last, self._file = 0, 0, 0, (0, 0)
        self._compiled = 0  # lines of the journal whose phrases came from the compiled file
        self._pairs: dict[int, StoredPair] = {}
        self._live: list[int] = []  # ascending
        self._by_source: dict[str, list[int]] = defaultdict(list)
        self._rules: dict[str, tuple[StoredRule, ...]] = {}  # by source, of those that were asked for
        self._phrases, self._sentences = PhraseIndex(), SentenceIndex(self._pairs)

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, number: int) -> bool:
        return number in self._pairs

    @property
    def state(self) -> tuple[object, ...]:
        """A value that changes with every change of the pairs."""
        return self._file, self._read

    @property
    def pairs(self) -> list[StoredPair]:
        """The pairs that are not removed, in the order of their ids."""
        return [self._pairs[number] for number in self._live]

    def page(self, after: int, most: int) -> list[StoredPair]:
        """The first pairs with ids above ``after`` that are not removed, at most ``most``, up to date.

        Raises:
            InputError: the journal cannot be read, or a line is damaged.
        """
        Memory.refresh(self)  # a list of a damaged journal would lack pairs
        begin = bisect_right(self._live, after)
        return [self._pairs[number] for number in self._live[begin : begin + most]]

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
            self._phrases, compiled = PhraseIndex.load(self.path.with_name(COMPILED), file)
            file.seek(0)
            self._apply_known(file.read(compiled))
        file.seek(self._read)
        text = file.read()
        if _is_whole(text.rpartition(b"\n")[2]):
            text += b"\n"  # counts as read: the file is then shorter than what was read, and read again next time
        whole, _, _ = text.rpartition(b"\n")
        for line in whole.split(b"\n") if whole else ():
            self._apply(line)
            self._lines += 1
            self._read += len(line) + 1

    def _apply_known(self, text: bytes) -> None:
        """Applies whole lines that were checked before, and whose phrases are known."""
        entries: list[Any] = parse_json(b"[" + b",".join(text.split(b"\n")[:-1]) + b"]")
        for found in entries:
            if "undo" in found:
                self._remove(self._pairs.pop(found["undo"]), phrases=False)
            else:
                self._insert(_pair_of(found), phrases=False)
        self._read, self._lines, self._compiled = len(text), len(entries), len(entries)

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
            pair = _pair_of(found)
            if fault := _fault(pair):
                raise ValueError(fault)
            if pair.time:
                datetime.fromisoformat(pair.time)
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
            with _locked_journal(self.path) as file:
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
            PairError: a side is empty or too long or contains what no word may contain.
            InputError: the memory is full, or the journal cannot be written.
        """
        assert self._align is not None
        sides = [[word for word in side.split(" ") if word] for side in (source, target)]
        joined = [" ".join(side) for side in sides]
        if fault := _fault(StoredPair(1, joined[0], joined[1], ())):
            raise PairError(fault)
        links = sorted({(i, j) for i, j in self._align(*sides) if i < len(sides[0]) and j < len(sides[1])})
        with self._locked() as file:
            own = self._by_source.get(joined[0])
            latest = self._pairs[own[-1]] if own else None
            if latest is not None and (latest.target, latest.typed) == (joined[1], typed):
                return latest, len({*pair_phrases(latest)})  # stored already: its removal must restore the earlier one
            if len(self._live) >= MOST_PAIRS:
                raise InputError(f"contains {MOST_PAIRS:,} pairs already; name another folder", self.path)
            number = self._last + 1
            entry: _Correction = {"id": number, "source": joined[0], "target": joined[1], "links": links}
            if typed:
                entry["typed"] = typed
            entry["time"] = datetime.now(UTC).isoformat(timespec="seconds")
            self._write(file, entry)
        pair = self._pairs[number]
        return pair, len({*pair_phrases(pair)})

    def undo(self, *numbers: int) -> None:
        """Removes pairs and their rules.

        Raises:
            InputError: the memory lacks one of these pairs; none is removed.
        """
        with self._locked() as file:
            for number in numbers:
                if number not in self._pairs:
                    raise InputError(f"no correction {number}; lscfg inspect corrections lists the ids", self.path)
            for number in dict.fromkeys(numbers):
                self._write(file, {"undo": number})

    # ---- the indexes ----

    def _insert(self, pair: StoredPair, phrases: bool = True) -> None:
        self._pairs[pair.id], self._last = pair, pair.id
        insort(self._live, pair.id)
        self._by_source[pair.source].append(pair.id)
        self._rules.clear()
        if self._indexed:
            self._sentences.add(pair)
        if phrases and self._indexed:
            self._phrases.add(pair)

    def _remove(self, pair: StoredPair, phrases: bool = True) -> None:
        self._live.remove(pair.id)
        self._by_source[pair.source].remove(pair.id)
        self._rules.clear()
        if self._indexed:
            self._sentences.remove(pair)
        if phrases and self._indexed:
            self._phrases.remove(pair)

    def _rules_of(self, source: str, n: int) -> tuple[StoredRule, ...]:
        """The rules of a source of n words with the latest targets."""
        rules = []
        for target, latest in self._phrases.latest(source, MOST_TARGETS):
            later = len(self._live) - bisect_right(self._live, latest)
            rules.append(StoredRule(source, target, n * 0.5 ** (later / HALVED_BY)))
        if len(self._rules) >= MOST_SOURCES:
            self._rules.clear()
        self._rules[source] = found = tuple(rules)
        return found

    def recall(self, text: str) -> Recalled:
        """Everything that the memory contains for a sentence of words."""
        words = [word for word in text.split(" ") if word]
        if not self._live or not words:
            return NOTHING
        pairs = self._by_source.get(" ".join(words))
        exact = self._pairs[pairs[-1]] if pairs else None
        phrases, known = list[tuple[StoredRule, ...]](), self._rules.get
        reach = self._sentences.reach(words, PHRASE_WORDS)
        for n in range(1, max(reach) + 1):
            for source in dict.fromkeys([" ".join(words[i : i + n]) for i, most in enumerate(reach) if most >= n]):
                found = known(source)
                if found is None:
                    found = self._rules_of(source, n)
                if found:
                    phrases.append(found)
        return Recalled(exact, tuple(phrases), self._sentences.similar(words))


class LastingMemory(Memory):
    """A memory that keeps what it has read when its journal becomes unreadable or damaged after the opening.

    Args:
        restore: the text of words, see ``Recalled.shown``; None: of systems that prepare no text.

    Attributes:
        fault: the reason why newer corrections are not used; empty if they are.
    """

    def __init__(self, folder: str | os.PathLike[str], align: Aligner, restore: Callable[[str], str] | None = None):
        self.fault, self._opened, self._restore = "", False, restore
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

    def recall(self, text: str) -> Recalled:
        """See ``Memory.recall``; with the text of an equal sentence's translation."""
        found = super().recall(text)
        if found.pair is None or self._restore is None:
            return found
        return found._replace(shown=found.pair.typed or self._restore(found.pair.target))


ALIGNER = "aligner"
"""Name of a saved aligner in the folder of a memory."""


def check_journal(folder: str | os.PathLike[str]) -> None:
    """Refuses a folder without corrections, which a command that adds none must not create.

    Raises:
        InputError: the folder has no journal.
    """
    if not (Path(folder) / JOURNAL).is_file():
        raise InputError(f"contains no {JOURNAL}; name a folder of lscfg serve --corrections", folder)


def open_memory(folder: str | os.PathLike[str], lexical: Aligner) -> Memory:
    """The memory in a folder, which aligns by the saved aligner ``aligner`` in the folder, if there is one.

    Args:
        lexical: links of a pair without a saved aligner, such as ``RuleLinks.of_words``.

    Raises:
        InputError: see ``Memory``.
    """
    return Memory(folder, pair_aligner(folder, lexical))


def open_lasting_memory(
    folder: str | os.PathLike[str], lexical: Aligner, restore: Callable[[str], str] | None = None
) -> LastingMemory:
    """The memory in a folder for a service; see ``open_memory`` and ``LastingMemory``.

    A saved aligner is read at once: a worker that is killed while it unpacks one would leave the files.

    Raises:
        InputError: see ``Memory`` and ``OpenAligner``.
    """
    align = pair_aligner(folder, lexical)
    if isinstance(align, open_aligner.OpenAligner):
        align.warm()
    return LastingMemory(folder, align, restore)


def pair_aligner(folder: str | os.PathLike[str], lexical: Aligner) -> Aligner:
    """The saved aligner in the folder of a memory, or else the given one."""
    saved = Path(folder) / ALIGNER
    return open_aligner.OpenAligner(saved) if saved.is_file() else lexical


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


@contextmanager
def _locked_journal(path: Path) -> Iterator[IO[bytes]]:
    """A journal to which no other process writes, with a newline after the last entry if a person has left it out.

    Raises:
        InputError: the journal cannot be locked.
    """
    with open(path, "r+b") as file:
        lock_file(file, path)
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.seek(0)
                if _is_whole(file.read().rpartition(b"\n")[2]):
                    file.write(b"\n")
                    file.flush()
        yield file


def _is_whole(line: bytes) -> bool:
    """True for an entry, right or wrong; False for the beginning of one."""
    try:
        return isinstance(parse_json(line), dict)
    except (ValueError, RecursionError):
        return False


def _pair_of(found: Any) -> StoredPair:
    """The pair of a line of the journal."""
    links = tuple((i, j) for i, j in found["links"])
    more = found.get("typed", ""), found.get("time", "")
    return StoredPair(found["id"], found["source"], found["target"], links, *more)
