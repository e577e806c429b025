"""Classes of characters that Python's regular expressions lack."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

JOINERS = "\u200c\u200d"
"""The zero-width joiners: letters of Arabic and Indic scripts, and part of emoji."""

ENDS, WIDE_ENDS = ".?!…։؟۔।॥።፧။។᙮‼⁇⁈⁉．｡。！？\u037e", "。！？｡"
"""Full stops, question and exclamation marks of all scripts, and those that no blank follows."""

FLAG, TONES = "\U0001f1e6-\U0001f1ff", "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
"""For brackets of regular expressions: letters, two of which are a flag; skin tones and tags, parts of an emoji."""

PLANES = (range(0x20000), range(0xE0000, 0xE0200))
"""Code points that can be of any class but ideographs and private use."""


def ranges(codes: Iterable[int]) -> str:
    """Ascending code points as the inside of a bracket of a regular expression."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in runs)


def chosen(choose: Callable[[str], bool]) -> list[int]:
    """The code points of ``PLANES`` that are chosen by their general category."""
    return [code for plane in PLANES for code in plane if choose(unicodedata.category(chr(code)))]


@cache
def marks() -> str:
    """Combining marks of all scripts, variation selectors among them, for a bracket of a regular expression."""
    return ranges(chosen(lambda category: category[0] == "M"))


@cache
def _long_runs() -> re.Pattern[str]:
    reordered = ranges(code for plane in PLANES for code in plane if unicodedata.combining(chr(code)))
    return re.compile(f"([{reordered}]{{30}})(?=[{reordered}])")


def stream_safe(text: str) -> str:
    """The text with U+034F after each 30 combining marks in a row, as UAX #15 has it.

    Normal forms sort the marks of a letter, and Python does so in time quadratic in their number.
    """
    return text if text.isascii() else _long_runs().sub("\\1\u034f", text)
