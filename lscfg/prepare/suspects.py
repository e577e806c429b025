"""Counts of text that may be damaged or foreign, by kind and with an example, for a warning before training."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from lscfg.errors import quote

ENTITIES, MARKUP, MOJIBAKE, REPLACED = "HTML entities", "markup", "mojibake", "U+FFFD"
SCRIPT, COPIES, RETURNS = "letters of another script", "equal sides", "carriage returns"

CURES = {
    ENTITIES: "replace them by their characters",
    MARKUP: "remove the tags",
    MOJIBAKE: "UTF-8 was read as another encoding; convert the text again",
    REPLACED: "characters were lost in a conversion; convert the text again",
    SCRIPT: "they may be text of another language",
    COPIES: "set drop_copies to drop them",
    RETURNS: "they become blanks; if they end lines, convert them",
}

_WINDOWS = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore") + "".join(map(chr, range(0x80, 0xC0)))
_CONTENT: Mapping[str, tuple[str, re.Pattern[str]]] = {
    ENTITIES: ("&", re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")),
    MARKUP: ("<", re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,15}(?:\s[^<>]{0,200})?/?>")),
    REPLACED: ("\ufffd", re.compile("\ufffd")),
    RETURNS: ("\r", re.compile(r"\r(?!\Z)")),
    # characters of two or three bytes in UTF-8, read as Windows-1252 or Latin-1
    MOJIBAKE: ("", re.compile(f"[\u00c2-\u00c5\u00d0\u00d1][{_WINDOWS}]|[\u00e0-\u00ef][{_WINDOWS}][{_WINDOWS}]")),
}
"""A sign that is in the text, and the pattern; without a sign a character other than ASCII."""

_FOREIGN = 0.3
"""Share of the sentences of a side up to which letters of a script are foreign."""


class Suspects:
    """Counts suspicious pairs while they are read."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self.examples: dict[str, str] = {}
        self._scripts = Counter[str](), Counter[str]()
        self._first: dict[tuple[int, str], str] = {}

    def add(self, path: str, line: int, pair: Sequence[str]) -> None:
        """Looks at a raw pair; source and target are as they were read."""
        found = {kind for text in pair for kind in content_of(text)}
        for side, text in enumerate(pair):
            for script in scripts_of(text):
                self._scripts[side][script] += 1
                if (side, script) not in self._first:
                    self._first[side, script] = f"{path}:{line}: {quote(text)}"
        if pair[0] and pair[0].strip() == pair[1].strip():
            found.add(COPIES)
        for kind in found:
            self.counts[kind] += 1
            if kind not in self.examples:
                text = next((text for text in pair if kind in content_of(text)), pair[0])
                self.examples[kind] = f"{path}:{line}: {quote(text)}"

    def warnings(self) -> Iterator[str]:
        """One line for each kind: the number of pairs, the cure, and the first example."""
        for kind, count in sorted(self.counts.items()):
            yield _line(count, kind, CURES[kind], self.examples[kind])
        for side, name in enumerate(("source", "target")):
            scripts = self._scripts[side]
            total = max(scripts.values(), default=0)
            for script, count in sorted(scripts.items()):
                if count <= _FOREIGN * total:
                    kind = f"{script if script == 'CJK' else script.capitalize()} letters on the {name} side"
                    yield _line(count, kind, CURES[SCRIPT], self._first[side, script])


def _line(count: int, kind: str, cure: str, example: str) -> str:
    return f"{count:,} {'pair has' if count == 1 else 'pairs have'} {kind}: {cure}; first {example}"


def content_of(text: str) -> list[str]:
    """The suspicious kinds of content of a text."""
    return [
        kind
        for kind, (sign, pattern) in _CONTENT.items()
        if (sign in text if sign else not text.isascii()) and pattern.search(text)
    ]


def scripts_of(text: str) -> set[str]:
    """The scripts that a text has two letters or more of, as the names of Unicode characters begin.

    Latin counts only if most letters are Latin: names and brands in it are common in all languages.
    """
    if text.isascii():
        return {"LATIN"} if sum(map(str.isalpha, text[:200])) > 1 else set()
    counts = Counter(map(_script, text))
    del counts[""]
    most = counts.total() / 2
    return {script for script, count in counts.items() if count > (most if script == "LATIN" else 1)}


@cache
def _script(character: str) -> str:
    """The script of a letter; empty for other characters. Chinese characters and kana count as one."""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "").partition(" ")[0]
    if name in ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "KATAKANA-HIRAGANA", "BOPOMOFO", "IDEOGRAPHIC"):
        return "CJK"
    return name if name in _SCRIPTS else ""


_SCRIPTS = frozenset(
    (
        "LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "HEBREW", "ARABIC", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI",
        "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "THAI", "LAO", "TIBETAN", "MYANMAR", "GEORGIAN",
        "HANGUL", "ETHIOPIC", "KHMER", "MONGOLIAN", "CHEROKEE", "THAANA", "SYRIAC",
    )
)  # fmt: skip
