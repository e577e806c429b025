"""Parts of a text that a translation repeats unchanged: addresses, numbers, tags, placeholders, code, emoji."""

from __future__ import annotations

import re
from collections import Counter

from lscfg.prepare.characters import TONES
from lscfg.prepare.numbers import NumberFormats

_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_PRINTF = r"%(?:\(\w+\)|\d+\$)?[-+#0]*+\d*+(?:\.\d+)?(?:hh?|ll?|z)?[sdifgxuc@]"
_ATTRIBUTE = r"""\s+[\w:.-]+=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
_ADDRESS = r"[^\s<>\"'`\u3000-\u309f\uac00-\ud7af\uff00-\uffef]"  # what follows without a blank is of the sentence
_NAME, _END = r"(?<![A-Za-z0-9_$\u00c0-\u024f])", r"(?![A-Za-z0-9_\u00c0-\u024f])"
_PATTERNS = (
    # code, but not `quoted' words
    r"(?<!`)`(?![`\s])[^`\n]+`(?![A-Za-z\u00c0-\u024f]{3}|`)|(?<!`)``(?![`\s])(?:(?!``|'')[^\n])+``(?!`)",
    r"\{%(?:(?!\{%|%\})[^\n])*+%\}|<%(?:(?!<%|%>)[^\n])*+%>|<\?(?:(?!<\?|\?>)[^\n])*+\?>",  # of templates
    rf"</?[A-Za-z][\w:.-]*+(?:{_ATTRIBUTE})*+\s*/?>",  # tags
    r"\{\w+,\s*(?:plural|select|selectordinal)\s*,(?:[^{}\n]|\{[^{}\n]*\})*+\}",  # messages of ICU
    rf"(?:https?|ftp)://{_ADDRESS}+|\bwww\.{_ADDRESS}+\.{_ADDRESS}+",
    r"\b[\w.+-]{1,64}+@[\w-]+(?:\.[\w-]+)+",  # without a limit, time is quadratic
    r"\b[A-Za-z]:\\[^\s\"<>|]*",
    r"(?<![\w/.:])(?:~|\.{1,2})?(?:/[\w.+-]+){2,}/?",
    r"\{\{[^{}\n]*\}\}|[$#%]?\{[\w.]*(?:![rsa])?(?::[^{}\s]*)?\}",
    rf"{_NAME}\$[A-Za-z_][A-Za-z0-9_]*",  # variables
    rf"{_NAME}(?:[a-z][a-z0-9]*(?:_(?!in(?:nen)?\b)[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:\(\))?{_END}",
    rf"{_NAME}__(?:all|call|dict|doc|file|init|main|name|repr|str|version)__(?:\(\))?{_END}",
    rf"{_NAME}[A-Za-z][A-Za-z0-9]*\(\)|{_NAME}[a-z]\[\d+\]|{_NAME}[CF](?:\+\+|#){_END}",
    r"\\[nrt](?![a-z])",
    r"(?<!\S):[a-z][a-z0-9_+-]*:(?!\S)",  # names of emoji
    rf"(?<![\w%])(?:{_PRINTF}|%%)*{_PRINTF}(?:%%)*(?!\w)|(?<![\w%]){_PRINTF}(?!\w)",
    r"(?<![\w.,%])\d*(?:%%)+\w*(?:%%)*",
    r"\b\d{4}-\d\d-\d\d\b",
    # telephone numbers, but not numbers with separators of thousands
    r"(?<!\w)\+(?!\d{1,3}(?:[ .]\d{3})+(?!(?:[ ./-]|\)? ?\()?\d))"
    r"(?:\d{10,15}|\d{1,3}(?:(?: ?/ ?|[ -])?\(?\d{1,7}+\)?){2,8}+)(?!\w)",
    r"\b[vV]?\d+(?:\.\d+){2,}(?:[-+]\w+(?:\.\w+)*)?\b",
    r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b",  # hash
    f"[{_EMOJI}](?:[{_EMOJI}{TONES}\ufe0f\u200d])*",
    r"(?<!\S)[:;]-?[()DP](?![^\s\u3000-\u9fff])",
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
