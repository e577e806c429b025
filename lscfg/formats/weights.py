"""cdec's weights format: one ``name value`` per line; ``#`` starts a comment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike

from lscfg.errors import InputError, cut, did_you_mean, quote
from lscfg.io.numbers import parse_number
from lscfg.io.read import read_lines
from lscfg.io.write import atomic_write
from lscfg.log import warning


def read_weights(path: str | PathLike[str]) -> dict[str, float]:
    """Returns the weights by feature name.

    Raises:
        InputError: a line that is not a name and a finite number, a repeated name, a last line without its newline, or
            no weights.
    """
    weights: dict[str, float] = {}
    for number, line in enumerate(read_lines(path, closed=True), 1):
        name, *rest = line.split(None, 1) or [""]
        if not name or name.startswith("#"):
            continue
        fields = [name, *"".join(rest).split("#", 1)[0].split()]  # names of words may contain #
        if len(fields) != 2:
            raise InputError(f"expected 'name value', found {quote(line)}", path, number)
        try:
            value = parse_number(fields[1])
        except ValueError as error:
            message = f"expected 'name value', found {quote(line)}: {error}"
            raise InputError(message, path, number) from None
        if name in weights:
            raise InputError(f"weight {cut(name)} is given twice", path, number)
        weights[name] = value
    if not weights:
        raise InputError("no weights; expected lines 'name value'", path)
    return weights


BUILT_IN = ("Glue", "PassThrough", "Terminology", "Correction", "Memory", "MemoryScore")
"""Features of every decoder, which many texts never need."""

LISTED = 12
"""Names of features in one message."""


def unknown_weights(weights: Mapping[str, float], known: Collection[str], heads: tuple[str, ...] = ()) -> str:
    """Lists non-zero weights without a feature, each with the feature that may be meant; empty if there are none.

    Args:
        heads: beginnings of the names of further features.
    """
    unknown = _rare(weights.keys() - set(known), known)
    unknown = sorted(name for name in unknown if weights[name] and not name.startswith(heads))
    return _listed([quote(name) + did_you_mean(name, known) for name in unknown])


def missing_weights(weights: Mapping[str, float], known: Collection[str]) -> str:
    """Lists features without a weight, in their order; empty if there are none.

    A weight of 0 is a weight. ``BUILT_IN`` features and the feature of unknown words may lack one: a development set
    without unknown words yields no weight for them.
    """
    return listed_names(missing_names(weights, known))


def missing_names(weights: Mapping[str, float], known: Collection[str]) -> list[str]:
    """Returns the features that ``missing_weights`` lists."""
    return [name for name in _rare(dict.fromkeys(known), known) if name not in weights]


def listed_names(names: Sequence[str]) -> str:
    """Returns the first of the names for a message, and the number of the others."""
    return _listed([cut(name) for name in names])


def warn_of_weights(
    weights: Mapping[str, float],
    known: Collection[str],
    live: Collection[str],
    path: object,
    of: str = "decoder",
    heads: tuple[str, ...] = (),
) -> None:
    """Warns of weights without a feature and of features without a weight.

    Args:
        known: the features.
        live: features that need a weight.
        path: file or name of the weights, for the message.
        of: owner of the features.
        heads: beginnings of the names of features that only some sentences have.
    """
    if unknown := unknown_weights(weights, known, heads):
        warning(f"{path}: weights without a feature in the {of}: {unknown}")
    if missing := missing_weights(weights, live):
        warning(f"{path}: features of the {of} without a weight, which count as 0: {missing}")


def _rare(names: Iterable[str], known: Collection[str]) -> list[str]:
    """The names without features that a decoder always knows and a text may never need."""
    return [name for name in names if name not in BUILT_IN and name.removesuffix("_OOV") not in {*known} - {name}]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")


def write_weights(path: str | PathLike[str], weights: Mapping[str, float]) -> None:
    """Writes the weights sorted by name; ``repr`` keeps every bit of each value."""
    with atomic_write(path) as file:
        for name in sorted(weights):
            file.write(f"{name} {float(weights[name])!r}\n")
