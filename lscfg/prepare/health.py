"""Data health: faults of raw text, each with count, examples, what was done, and the setting that changes it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import quote
from lscfg.io.columns import align_columns
from lscfg.io.json_files import write_json
from lscfg.prepare.encoded import NOT_DECODED
from lscfg.prepare.near import near_form, near_references, near_texts
from lscfg.prepare.profiles import LEAST_PAIRS, foreign_sentences
from lscfg.prepare.repair import decode_entities, is_misread, repaired_encoding, without_formatting
from lscfg.prepare.suspects import DAMAGED, ENTITIES, RETURNS, TAGS, content_of, numbers_differ, scripts_of

HEALTH = "health.json"
FORMAT = 1

MARKUP, MOJIBAKE, MISREAD, HEADER = "markup", "mojibake", "misread", "header"
SCRIPT, COPY, LANGUAGE, LENGTH, NUMBERS = "script", "copy", "language", "length", "numbers"
BOILERPLATE, NEAR, LEAK = "boilerplate", "near", "leak"

DROPPABLE = (DAMAGED, SCRIPT, COPY, LANGUAGE, LENGTH, NUMBERS, BOILERPLATE, NEAR, LEAK)
"""Faults that the setting ``drop`` names."""

KEPT, DROPPED, REPAIRED = "kept", "dropped", "repaired"

EXAMPLES = 5
"""Examples of each fault."""

_SHOWN = 160
"""Characters of an example."""

_FOREIGN = 0.3
"""Share of the sentences of a side up to which letters of a script are foreign."""

_DEVIATIONS = 6.0
"""Robust deviations from the usual ratio of lengths, beyond which a pair is an outlier."""

_OFTEN, _OFTEN_SHARE, _SPARED = 20, 0.001, 3
"""Times and share of the pairs from which on a source is boilerplate, and pairs that do not count."""

_LEAK = 0.9
"""Share of common words from which on a training sentence is near a sentence of a set."""


class TextFault(NamedTuple):
    """A kind of fault in words."""

    title: str
    cure: str = ""
    """The cure, where lscfg does nothing, else the setting that changes the treatment."""
    change: str = ""
    """The setting with another value, if a setting changes the treatment."""


_HARMLESS = (NUMBERS, NEAR)
"""Faults that are not a reason for a warning."""

_DOUBTFUL = (DAMAGED, MISREAD, SCRIPT, COPY, LANGUAGE, LENGTH)
"""Faults of pairs that may train, but would make a score meaningless."""

UNICODE = 'unicode = "none" keeps them', "unicode=none"

FAULTS: Mapping[str, TextFault] = {
    ENTITIES: TextFault("HTML entities", *UNICODE),
    MARKUP: TextFault("formatting tags", *UNICODE),
    MOJIBAKE: TextFault("mojibake", *UNICODE),
    TAGS: TextFault("tags", "remove them, or translate around them"),
    MISREAD: TextFault(
        "mojibake that cannot be repaired", "UTF-8 was read as another encoding; convert the text again"
    ),
    DAMAGED: TextFault("lost characters", "U+FFFD or private characters; convert the text again"),
    RETURNS: TextFault("carriage returns", "they become blanks; if they end lines, convert them"),
    HEADER: TextFault("column names", "header = true skips the first row", "header=true"),
    SCRIPT: TextFault("letters of another script", "they may be text of another language"),
    COPY: TextFault("equal sides", "they are not translated"),
    LANGUAGE: TextFault("a side in the language of the other", "they are swapped or not translated"),
    LENGTH: TextFault("unusual lengths", "the sides may not be translations of each other"),
    NUMBERS: TextFault("different numbers or addresses", "compare both sides"),
    BOILERPLATE: TextFault("often repeated sources", "they outweigh other text"),
    NEAR: TextFault("near duplicates", "they differ from an earlier pair in a few words"),
    LEAK: TextFault("a source near the dev or test set", "they raise scores above the scores on new text"),
    "no translation": TextFault("one side only"),
    "too few columns": TextFault("too few columns"),
    "too many columns": TextFault("too many columns"),
    "another layout": TextFault("a sheet of another layout"),
    "empty": TextFault("an empty side"),
    "duplicate": TextFault("an equal earlier pair", "keep_duplicates", "keep_duplicates=true"),
    NOT_DECODED: TextFault("undecodable bytes", "encoding"),
    "held out": TextFault("an equal pair in the dev or test set"),
    "long": TextFault("long sentences", "max_length", "max_length=N"),
    "ratio": TextFault("very different lengths", "max_ratio", "max_ratio=X"),
}
"""Faults by name, in the order of tables; the last ones are the reasons of ``dropped.tsv``."""


def treatment_change(fault: str, done: str) -> str:
    """The setting that changes the treatment of a fault, with its other value; empty if no setting does."""
    if fault in DROPPABLE:
        return f"drop={fault}" if done == KEPT else ""
    return FAULTS[fault].change if fault in FAULTS and (done != KEPT or fault == HEADER) else ""


class Example(NamedTuple):
    """A pair with a fault; the texts may be cut."""

    path: str
    line: int
    source: str
    target: str


@dataclass
class HealthFinding:
    """A fault with one treatment."""

    fault: str
    done: str
    pairs: int = 0
    examples: list[Example] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The fault in words."""
        return FAULTS[self.fault].title if self.fault in FAULTS else self.fault

    @property
    def setting(self) -> str:
        """The setting that changes the treatment, or else the cure."""
        if self.fault in DROPPABLE and self.done == DROPPED:
            return "drop"
        cure = FAULTS[self.fault].cure if self.fault in FAULTS else ""
        return f'{cure}; drop = ["{self.fault}"] drops them' if self.fault in DROPPABLE else cure


class Health:
    """Faults that were found so far.

    Args:
        drop: faults whose pairs leave the training text.
        repair: True to repair what is certain; False only counts.

    Attributes:
        doubtful: file and line of the pairs that were kept although they may be no translations; development and
            test sets avoid these pairs.
    """

    def __init__(self, drop: Collection[str] = (), repair: bool = True):
        self._drop, self._repair = drop, repair
        self._found: dict[tuple[str, str], HealthFinding] = {}
        self.doubtful: set[tuple[str, int]] = set()

    def note(self, fault: str, done: str, path: str, line: int, texts: Sequence[str] = ("", "")) -> None:
        """Counts a pair with a fault."""
        finding = self._found.setdefault((fault, done), HealthFinding(fault, done))
        finding.pairs += 1
        if done == KEPT and fault in _DOUBTFUL:
            self.doubtful.add((path, line))
        if len(finding.examples) < EXAMPLES:
            source, target, *_ = texts
            finding.examples.append(Example(path, line, _cut(source), _cut(target)))

    def refuses(self, texts: Sequence[str]) -> bool:
        """True if the raw sentences have lost characters, and such pairs leave the training text."""
        return DAMAGED in self._drop and DAMAGED in _contents(texts)

    def repaired(self, path: str, line: int, texts: Sequence[str], training: bool = True) -> tuple[str, ...]:
        """Counts the faults of the single raw sentences of a pair, which may have several targets, and repairs them.

        Entities are left to ``lscfg.prepare.clean.clean``, which decodes them in new text, too.

        Args:
            training: False for a set with files, which keeps its lines.

        Raises:
            ImportError: ftfy is not installed.
        """
        made, found = [], set[tuple[str, str]]()
        for text in texts:
            if text.isascii() and "&" not in text and "<" not in text and "\r" not in text:
                made.append(text)
                continue
            better = text
            if is_misread(text):
                better = repaired_encoding(text)
                found.add((MISREAD, KEPT) if better == text else (MOJIBAKE, self._done))
            plain = without_formatting(better)
            if plain != better:
                found.add((MARKUP, self._done))
            for fault in content_of(plain):
                decoded = fault == ENTITIES and decode_entities(plain) != plain
                if fault != ENTITIES or decoded:
                    found.add((fault, self._done if decoded else KEPT))
            made.append(plain if self._repair else text)
        for fault, done in sorted(found):
            dropped = fault == DAMAGED and training and DAMAGED in self._drop
            self.note(fault, DROPPED if dropped else done, path, line, texts)
        return tuple(made)

    @property
    def _done(self) -> str:
        return REPAIRED if self._repair else KEPT

    def inspect(self, places: Sequence[tuple[str, int]], texts: tuple[list[str], list[str]]) -> dict[int, str]:
        """Counts the faults that show only in the whole training text.

        Args:
            texts: clean sources and targets.

        Returns:
            The fault of each pair to drop, by its number.
        """
        faults = {name: find(*texts) for name, find in _FINDERS.items()}
        drop: dict[int, str] = {}
        for fault in (name for name in FAULTS if name in faults):
            done = DROPPED if fault in self._drop else KEPT
            for number in faults[fault]:
                self.note(fault, done, *places[number], (texts[0][number], texts[1][number]))
                if done == DROPPED:
                    drop.setdefault(number, fault)
        return drop

    def leaks(
        self, places: Sequence[tuple[str, int]], texts: tuple[list[str], list[str]], held: Sequence[str]
    ) -> dict[int, str]:
        """Counts training pairs whose source is near one of the sources that are held out; returns those to drop."""
        found = sorted(near_references(held, texts[0], _LEAK))
        done = DROPPED if LEAK in self._drop else KEPT
        for number in found:
            self.note(LEAK, done, *places[number], (texts[0][number], texts[1][number]))
        return dict.fromkeys(found, LEAK) if done == DROPPED else {}

    def findings(self) -> list[HealthFinding]:
        """All findings in the order of ``FAULTS``."""
        order = {name: number for number, name in enumerate(FAULTS)}
        return sorted(self._found.values(), key=lambda one: (order.get(one.fault, len(order)), one.fault, one.done))

    def warnings(self) -> Iterator[str]:
        """One line for each harmful fault that was kept: the number of pairs, the cure, and the first example."""
        for one in self.findings():
            if one.done == KEPT and one.fault in FAULTS and one.fault not in _HARMLESS:
                first = one.examples[0]
                text = next((text for text in first[2:] if one.fault in _contents([text])), first.source)
                verb = "pair has" if one.pairs == 1 else "pairs have"
                place = f"first {os.path.normpath(first.path)}:{first.line}: {quote(text)}"
                yield f"{one.pairs:,} {verb} {one.title}: {one.setting}; {place}"

    def facts(self, pairs: int) -> dict[str, object]:
        """Content of ``health.json``.

        Args:
            pairs: number of pairs read.
        """
        return {
            "format": FORMAT,
            "pairs": pairs,
            "findings": [
                {
                    "fault": one.fault,
                    "title": one.title,
                    "pairs": one.pairs,
                    "done": one.done,
                    "setting": one.setting,
                    "examples": [example._asdict() for example in one.examples],
                }
                for one in self.findings()
            ],
        }

    def write(self, folder: Path, pairs: int) -> None:
        """Writes ``health.json`` into the folder."""
        write_json(folder / HEALTH, self.facts(pairs))

    def table(self, pairs: int) -> str:
        """The findings as text, each with its examples."""
        found = self.findings()
        if not found:
            return f"{pairs:,} pairs, no fault found"
        rows = [["fault", "pairs", "done"], *([one.title, f"{one.pairs:,}", one.done] for one in found)]
        ends = ["setting or cure", *(one.setting for one in found)]
        lines = [f"{pairs:,} pairs", ""]
        lines += [f"{row}  {end}".rstrip() for row, end in zip(align_columns(rows), ends, strict=True)]
        for one in found:
            lines += ["", f"{one.title}:"]
            for example in one.examples:
                texts = " → ".join(quote(text) for text in example[2:] if text)
                lines.append(f"  {Path(example.path).name}:{example.line}" + (f"  {texts}" if texts else ""))
        return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _contents(texts: Sequence[str]) -> set[str]:
    return {fault for text in texts for fault in content_of(text)}


# ---- faults that show in the whole text ----


def _headers(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    """The first pair, if both sides are a word or two without an end, although most sentences are longer."""
    if len(sources) < EXAMPLES:
        return []
    for side in (sources, targets):
        words = side[0].split()
        short = 0 < len(words) <= 2 and side[0][-1].isalpha() and not any(map(str.isdigit, side[0]))
        if not short or len(side[0]) > 20 or median(map(len, side)) < 2 * len(side[0]):
            return []
    return [0]


def _foreign_scripts(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    """Pairs with letters of a script that is rare on their side."""
    found = set[int]()
    for side in (sources, targets):
        scripts = [scripts_of(text) for text in side]
        counts = Counter(script for some in scripts for script in some)
        most = max(counts.values(), default=0)
        rare = {script for script, count in counts.items() if count <= _FOREIGN * most}
        found.update(number for number, some in enumerate(scripts) if not rare.isdisjoint(some))
    return sorted(found)


def _copies(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    """Pairs with equal sides but for case; a single word may be a name."""
    return [
        number
        for number, (source, target) in enumerate(zip(sources, targets, strict=True))
        if (source == target or source.casefold() == target.casefold()) and (" " in source or len(source) > 20)
    ]


def _foreign_languages(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    """Pairs with a side in the language of the other side, without copies."""
    marked: NDArray[np.bool_] = np.logical_or(*foreign_sentences(sources, targets))
    copies = {*_copies(sources, targets)}
    return [number for number in np.flatnonzero(marked).tolist() if number not in copies]


def _odd_lengths(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    """Pairs whose ratio of characters is far from the usual one, by median and median deviation.

    The logarithm of the ratio varies as the inverse root of the length (Gale and Church, 1993), here of the longer
    side: by the shorter one, a sentence with a single word as its translation would be usual.
    """
    if len(sources) < LEAST_PAIRS:
        return []
    one, other = (np.array([len(text) + 1.0 for text in side]) for side in (sources, targets))
    ratios = np.log(other / one)
    scaled = (ratios - np.median(ratios)) * np.sqrt(np.maximum(one, other))
    spread = 1.4826 * float(np.median(np.abs(scaled)))
    far: NDArray[np.bool_] = np.abs(scaled) > _DEVIATIONS * max(spread, 0.5)
    return list(np.flatnonzero(far).tolist())


def _odd_numbers(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    pairs = enumerate(zip(sources, targets, strict=True))
    return [number for number, pair in pairs if numbers_differ(*pair)]


def _repeated(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    """Pairs whose source occurs often, after the first of each."""
    forms = [near_form([source])[0] for source in sources]
    counts, seen, found = Counter(forms), Counter[str](), []
    least = max(_OFTEN, _OFTEN_SHARE * len(forms))
    for number, form in enumerate(forms):
        if counts[form] >= least:
            seen[form] += 1
            if seen[form] > _SPARED:
                found.append(number)
    return found


def _near_duplicates(sources: Sequence[str], targets: Sequence[str]) -> list[int]:
    return sorted(near_texts([f"{source}\n{target}" for source, target in zip(sources, targets, strict=True)]))


_FINDERS = {
    HEADER: _headers,
    SCRIPT: _foreign_scripts,
    COPY: _copies,
    LANGUAGE: _foreign_languages,
    LENGTH: _odd_lengths,
    NUMBERS: _odd_numbers,
    BOILERPLATE: _repeated,
    NEAR: _near_duplicates,
}
