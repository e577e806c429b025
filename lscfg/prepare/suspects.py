"""Signs of damaged or foreign text in single sentences and pairs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from lscfg.prepare.repair import ENTITY, TAG

_DAMAGED = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010fffd]")
_RETURN = re.compile(r"\r(?!\Z)")
_NUMBER = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<=\d)[.,' \u00a0\u202f](?=\d{3}(?!\d))")
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

    Separators of thousands do not count, and words for numbers are not compared.
    """
    if "@" in source or "@" in target or "www." in source + target or "://" in source + target:
        one, other = (sorted(_ADDRESS.findall(text)) for text in (source, target))
        if one != other:
            return True
        source, target = (_ADDRESS.sub(" ", text) for text in (source, target))
    one, other = (sorted(map(int, _NUMBER.findall(_GROUPED.sub("", text)[:10_000]))) for text in (source, target))
    return bool(one and other) and one != other


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
