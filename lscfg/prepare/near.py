"""Near duplicates: pairs that differ only in case, punctuation and blanks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


class _Signs(dict[int, "str | None"]):
    """A table for ``str.translate`` that removes punctuation, blanks and characters without a visible form."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = None if unicodedata.category(chr(code))[0] in "PZC" else chr(code)
        return found


_SIGNS = _Signs()


def near_form(pair: Sequence[str]) -> tuple[str, ...]:
    """A pair without case, punctuation and blanks; near duplicates have equal forms. Text of signs alone stays."""
    return tuple(unicodedata.normalize("NFKC", text).casefold().translate(_SIGNS) or text for text in pair)
