"""Commands of tuning and evaluation for ``lscfg``'s command line."""

from __future__ import annotations

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
