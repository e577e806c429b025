"""Signs of damaged or foreign text in single sentences and pairs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from lscfg.prepare.repair import ENTITY, TAG

_DAMAGED = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010fffd]")
_RETURN = re.compile(r"\r(?!\Z)")
_NUMBER = re.compile(r"\d{1,4000}")  # Python refuses to convert longer ones
_GROUPED = re.compile(r"(?<=\d)[.,' \u00a0\u202f](?=\d{3}(?!\d))")
_ZEROS = re.compile(r"(?<=\d)[.,]0+(?!\d)")
_COUNTED = re.compile(r"(\d{1,99})\s?([十百千万萬億亿])")
_COUNTS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8}
_MONTH = re.compile(r"\d+\s?月")
"""A month as a number, where other languages use its name."""

_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"]*[^\s<>\".,;:!?)]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")

ENTITIES, TAGS, DAMAGED, RETURNS = "entities", "tags", "damaged", "returns"

_CONTENT = {ENTITIES: ("&", ENTITY), TAGS: ("<", TAG), RETURNS: ("\r", _RETURN)}
"""A sign that is in the text, and the pattern."""


def content_of(text: str) -> list[str]:
    """Names the suspicious kinds of content of a text."""
    found = [kind for kind, (sign, pattern) in _CONTENT.items() if sign in text and pattern.search(text)]
    return [*found, DAMAGED] if not text.isascii() and _DAMAGED.search(text) else found


def numbers_differ(source: str, target: str) -> bool:
    """True if both sides have digits and their numbers differ, or their web and mail addresses do.

    Separators of thousands and zeros after a comma do not count, digits before Chinese numerals do, as in ５万. Words
    for numbers, and months by their numbers, are not compared.
    """
    if "@" in source or "@" in target or "www." in source + target or "://" in source + target:
        one, other = (sorted(_ADDRESS.findall(text)) for text in (source, target))
        if one != other:
            return True
        source, target = (_ADDRESS.sub(" ", text) for text in (source, target))
    one, other = (_numbers(text) for text in (source, target))
    return bool(one and other) and one != other


def _numbers(text: str) -> list[int]:
    """The numbers in digits, in ascending order."""
    text = _ZEROS.sub("", _GROUPED.sub("", text))[:10_000]
    if not text.isascii():
        text = _COUNTED.sub(lambda found: str(int(found[1]) * _COUNTS[found[2]]), _MONTH.sub(" ", text))
    return sorted(map(int, _NUMBER.findall(text)))


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
