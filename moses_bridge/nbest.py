"""Moses' n-best lists: ``id ||| translation ||| Name= value [value ...] ... ||| score``.

The values of a feature with several values are called ``Name_0``, ``Name_1`` and so on here, a single value ``Name``.
"""

from __future__ import annotations

import os

from lscfg.errors import InputError, cut, quote
from lscfg.formats.kbest import Hypothesis, translation_text
from lscfg.io.numbers import parse_number, parse_whole
from lscfg.io.read import read_lines, split_fields


def parse_features(text: str) -> dict[str, float]:
    """Features of one line by name.

    Raises:
        ValueError: a value that is not a number, or a name without one.
    """
    groups: list[tuple[str, list[float]]] = []
    for token in text.split():
        if token.endswith("="):
            groups.append((token[:-1], []))
        elif not groups:
            raise ValueError(f"value {quote(token)} without a name")
        else:
            groups[-1][1].append(parse_number(token))
    features: dict[str, float] = {}
    for name, values in groups:
        if not values:
            raise ValueError(f"feature {cut(name)} without a value")
        names = [name] if len(values) == 1 else [f"{name}_{k}" for k in range(len(values))]
        if twice := next((one for one in names if one in features), None):
            raise ValueError(f"feature {cut(twice)} is given twice")
        features.update(zip(names, values, strict=True))
    return features


def is_nbest(line: str) -> bool:
    """True for a line whose features are in Moses' notation, ``Name= value``."""
    fields = split_fields(line)
    return len(fields) >= 4 and any(token.endswith("=") for token in fields[2].split())


def parse_nbest(
    line: str, path: str | os.PathLike[str] | None = None, number: int | None = None
) -> tuple[int, Hypothesis]:
    """The sentence id and the hypothesis of one line; further fields, such as alignments, are left out.

    Raises:
        InputError: a malformed line.
    """
    fields = split_fields(line)
    if len(fields) < 4:
        raise InputError(f"expected 4 fields between |||, found {len(fields)}", path, number)
    try:
        hypothesis = Hypothesis(translation_text(fields[1]), parse_features(fields[2]), parse_number(fields[3]))
        return parse_whole(fields[0]), hypothesis
    except ValueError as error:
        raise InputError(f"not an n-best line ({error})", path, number) from error


def read_nbest(path: str | os.PathLike[str]) -> dict[int, list[Hypothesis]]:
    """The n-best lists of a file by sentence id.

    Raises:
        InputError: a malformed line, named by file and line, or a last line without its newline, which may be cut.
    """
    lists: dict[int, list[Hypothesis]] = {}
    for number, line in enumerate(read_lines(path, closed=True), 1):
        sentence, hypothesis = parse_nbest(line, path, number)
        lists.setdefault(sentence, []).append(hypothesis)
    return lists
