"""Numbers in text files: one meaning for all readers.

Python alone also reads ``1_000``, digits of other scripts and ``nan``, which no other program that shares these files
does.
"""

from __future__ import annotations

import math

from lscfg.errors import quote

MOST_DIGITS = 18
"""Maximum digits of a whole number. Python refuses to convert very long ones, by its own error."""


def parse_number(text: str) -> float:
    """Returns the finite number in a decimal notation, such as ``-1.5e-7``.

    Raises:
        ValueError: another text, or a number that is not finite.
    """
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or "_" in text or not text.isascii():
        raise ValueError(f"{quote(text.strip())} is not a number")
    if not math.isfinite(value):
        raise ValueError(f"{quote(text.strip())} is not finite")
    return value


def parse_whole(text: str) -> int:
    """Returns the whole number in a decimal notation of at most ``MOST_DIGITS`` digits, such as ``-12``.

    Raises:
        ValueError: another text.
    """
    plain = text.strip()
    digits = plain.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS):
        raise ValueError(f"{quote(plain)} is not a whole number")
    return int(plain)
