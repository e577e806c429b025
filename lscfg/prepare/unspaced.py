"""Places where a text without blanks may be cut: not inside a word or a character."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u1b00-\u1b7f\u2e80-\u312f\u3190-\ua4cf\ua980-\ua9df"
    "\uaa60-\uaa7f\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff61-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
"""Characters of scripts without blanks between words, and their signs; Korean and Ethiopic separate words."""

_LEADING = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4")
"""Vowels of Thai and Lao that are written before their consonants."""

_TRAILING = frozenset("\u0e33\u0eb3")
"""Vowels of Thai and Lao that Unicode calls letters, but that are part of the character before."""

_CLOSING = frozenset(("Mn", "Mc", "Me", "Lm", "Pe", "Pf", "Po"))
"""Categories of combining marks, of signs that repeat or lengthen the character before, and of closing signs."""

_VIRAMA = 9
"""Canonical combining class of signs that stack the next consonant below, as in Khmer."""


def cut_places(text: str) -> list[int]:
    """Places in a text, in characters from its beginning, between two characters of scripts without blanks.

    None is before a combining mark or a closing sign, or after an opening sign.
    """
    return [
        place
        for place, (before, after) in enumerate(pairwise(text), 1)
        if _UNSPACED.match(before)
        and _UNSPACED.match(after)
        and unicodedata.category(after) not in _CLOSING
        and unicodedata.category(before) not in ("Ps", "Pi")
        and before not in _LEADING
        and after not in _TRAILING
        and unicodedata.combining(before) != _VIRAMA
    ]
