"""Commands of tuning and evaluation for ``lscfg``'s command line."""

from __future__ import annotations

import unicodedata

from lscfg.errors import InputError, quote


def check_names(*names: str | None) -> None:
    """Refuses names that are not UTF-8, which no table, JSON file or report could hold.

    Args:
        names: words of the command line; None: not given.

    Raises:
        InputError: the first such name.
    """
    for name in names:
        if name is not None and not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(f"the name {quote(name)} is not UTF-8; give another")


def check_system(name: str) -> None:
    """Refuses names of systems that tables could not hold.

    Raises:
        InputError: the name is not UTF-8, or contains a tab, a line end or another control character.
    """
    check_names(name)
    if any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in name):
        raise InputError(f"the name {quote(name)} contains a tab, a line end or another control character")
