"""Parts of a text that a translation repeats unchanged: addresses, paths, placeholders, versions, code, emoji."""

from __future__ import annotations

import re
from collections import Counter

from lscfg.prepare.characters import TONES
from lscfg.prepare.numbers import NumberFormats

_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_PRINTF = r"%(?:\(\w+\)|\d+\$)?[-+#0]*+\d*+(?:\.\d+)?(?:hh?|ll?|z)?[sdifgxuc@]"
_ATTRIBUTE = r"""\s+[\w:.-]+=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
_PATTERNS = (
    r"`[^`\n]+`",  # code
    r"\{%(?:(?!\{%|%\})[^\n])*+%\}|<%(?:(?!<%|%>)[^\n])*+%>|<\?(?:(?!<\?|\?>)[^\n])*+\?>",  # of templates
    rf"</?[A-Za-z][\w:.-]*+(?:{_ATTRIBUTE})*+\s*/?>",  # tags
    r"\{\w+,\s*(?:plural|select|selectordinal)\s*,(?:[^{}\n]|\{[^{}\n]*\})*+\}",  # messages of ICU
    r"(?:https?|ftp)://[^\s<>\"'`]+|\bwww\.[^\s<>\"'`]+\.[^\s<>\"'`]+",
    r"\b[\w.+-]{1,64}+@[\w-]+(?:\.[\w-]+)+",  # without a limit, time is quadratic
    r"\b[A-Za-z]:\\[^\s\"<>|]*",
    r"(?<![\w/.:])(?:~|\.{1,2})?(?:/[\w.+-]+){2,}/?",
    r"\{\{[^{}\n]*\}\}|[$#%]?\{[\w.]*(?:![rsa])?(?::[^{}\s]*)?\}",
    r"\$[A-Za-z_]\w*|(?<!\S)[:@]\w*[A-Za-z]\w*(?!\S)",  # variables, names
    r"\b[A-Za-z]\w*_\w+(?:\(\))?|\b__\w+__(?:\(\))?|\b[A-Za-z]\w*(?:\(\)|\[\w*\])|\b[A-Z](?:\+\+|#)(?!\w)",
    r"\\[nrt](?![a-z])",
    rf"(?<![\w%])(?:{_PRINTF}|%%)*{_PRINTF}(?:%%)*(?!\w)|(?<![\w%]){_PRINTF}(?!\w)",
    r"(?<![\w.,%])\d*(?:%%)+\w*(?:%%)*",
    r"\b\d{4}-\d\d-\d\d\b|(?<!\w)\+\d[\d ()/.-]{5,24}\d(?!\w)",  # dates, telephone numbers
    r"\b[vV]?\d+(?:\.\d+){2,}(?:[-+]\w+(?:\.\w+)*)?\b",
    r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b",  # hash
    f"[{_EMOJI}](?:[{_EMOJI}{TONES}\ufe0f\u200d])*",
    r"(?<!\S)[:;]-?[()DP](?!\S)",
)
_UNTOUCHED = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MARKS = ".,;:!?)]}'\""
"""Marks at the end of an address that belong to the sentence."""


def untouched_parts(text: str, numbers: NumberFormats | None = None) -> list[str]:
    """The parts in their order, each once.

    Args:
        numbers: formats of both languages; numbers that change their formats are no such parts.
    """
    return [*_counted_parts(text, numbers)]


def _counted_parts(text: str, numbers: NumberFormats | None) -> Counter[str]:
    parts = (text[begin:end] for begin, end in untouched_spans(text))
    return Counter(part for part in parts if numbers is None or numbers.converted(part) == part)


def untouched_spans(text: str) -> list[tuple[int, int]]:
    """Characters [begin, end) of the parts."""
    found = []
    for match in _UNTOUCHED.finditer(text):
        part = match[0]
        if part[0] != "`" and any(sign in part for sign in ("/", "\\", "@", "www.")):
            part = part.rstrip(_MARKS)
        if part:
            found.append((match.start(), match.start() + len(part)))
    return found


def lost_parts(source: str, translation: str, numbers: NumberFormats | None = None) -> list[str]:
    """The untouched parts and numbers of a text that its translation lacks, in their order, each once.

    A number is its digits, so separators of thousands and decimals may change. Numbers of one digit do not count,
    because translations spell many of them.

    Args:
        numbers: see ``untouched_parts``.
    """
    digits = Counter(_digits(translation))
    parts = _counted_parts(source, numbers)
    lost = [part for part, count in parts.items() if translation.count(part) < count]
    for part in parts:
        source = source.replace(part, " ")
    for number in _NUMBER.findall(source):
        (plain,) = _digits(number)
        if len(plain) > 1 and not digits[plain]:
            lost.append(number)
    return [*dict.fromkeys(lost)]


def _digits(text: str) -> list[str]:
    return [re.sub(r"[.,]", "", number) for number in _NUMBER.findall(text)]
