"""cdec's weights format: one ``name value`` a line, ``#`` starts a comment."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from os import PathLike

from lscfg.errors import InputError, cut, did_you_mean, quote
from lscfg.io.read import read_lines
from lscfg.io.write import atomic_write


def read_weights(path: str | PathLike[str]) -> dict[str, float]:
    """Returns the weights by feature name.

    Raises:
        InputError: a line that is not a name and a finite number, a repeated name, a last line without its newline, or
            no weights.
    """
    weights: dict[str, float] = {}
    for number, line in enumerate(read_lines(path, closed=True), 1):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        if len(fields) != 2:
            raise InputError(f"expected 'name value', found {quote(line)}", path, number)
        name = fields[0]
        try:
            value = float(fields[1])
        except ValueError:
            message = f"expected 'name value', found {quote(line)}: {quote(fields[1])} is not a number"
            raise InputError(message, path, number) from None
        if not math.isfinite(value):
            raise InputError(f"expected 'name value' with a finite value, found {quote(line)}", path, number)
        if name in weights:
            raise InputError(f"weight {cut(name)} is given twice", path, number)
        weights[name] = value
    if not weights:
        raise InputError("no weights; expected lines 'name value'", path)
    return weights


def unknown_weights(weights: Mapping[str, float], known: Collection[str]) -> str:
    """Lists non-zero weights without a feature, each with the feature that may be meant; empty if there are none."""
    unknown = sorted(name for name in weights.keys() - set(known) if weights[name])
    return ", ".join(quote(name) + did_you_mean(name, known) for name in unknown)


def write_weights(path: str | PathLike[str], weights: Mapping[str, float]) -> None:
    """Writes the weights sorted by name; ``repr`` keeps every bit of each value."""
    with atomic_write(path) as file:
        for name in sorted(weights):
            file.write(f"{name} {float(weights[name])!r}\n")
