"""Terms that a program gives as values instead of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lscfg.api.arguments import brief, check_number, check_text
from lscfg.decode.glossary import COLUMNS
from lscfg.decode.terms import FORMS, MATCHES, MODES, Term
from lscfg.errors import InputError, did_you_mean, quote

EXAMPLE = '{"source": "Haus", "target": "house"}'


def terms_of_values(value: Any) -> list[Term]:
    """The terms of a glossary: targets by source, or entries with the keys of a request.

    Raises:
        InputError: a term is faulty.
        TypeError: the value or a part of it has another type.
    """
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        raise TypeError(f"glossary must be a list of entries such as {EXAMPLE}, or a file, not {brief(value)}")
    entries = value.items() if isinstance(value, Mapping) else value
    return [_term(entry, f"glossary[{number}]") for number, entry in enumerate(entries)]


def _term(entry: Any, name: str) -> Term:
    """The term of an entry, of a source and its target, or of a copy."""
    if isinstance(entry, Term):
        return entry
    if isinstance(entry, tuple) and len(entry) == 2:
        entry = dict(zip(COLUMNS, entry, strict=False))
    if not isinstance(entry, Mapping):
        raise TypeError(f"{name} must be an entry such as {EXAMPLE}, not {brief(entry)}")
    for key in entry:
        if key not in COLUMNS:
            near = did_you_mean(str(key), COLUMNS)
            raise InputError(f"{name}: no key {quote(str(key))}{near}; keys are {', '.join(COLUMNS)}")
    target = entry.get("target", ())
    listed = target if isinstance(target, (list, tuple)) else [target]
    source = check_text(entry.get("source"), f"{name} source")
    targets = tuple(check_text(one, f"{name} target") for one in listed)
    mode, match, forms = (
        check_text(entry.get(key, usual[0]), f"{name} {key}")
        for key, usual in (("mode", MODES), ("match", MATCHES), ("forms", FORMS))
    )
    head = int(check_number(entry["head"], f"{name} head", 1)) if "head" in entry else 0
    try:
        return Term(source, targets, mode, match, forms=forms, head=head)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
