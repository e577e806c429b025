"""Counts kinds of faults of restored translations that need no reference: marks, numbers, names, repeated words.

python experiments/small/faults.py DIR/test.es Shipibo=shp/systems/MIN/test.restored prints a table with a column for
each translation; Aymara=FILE:SOURCE names another source. Most faults are characters that only the output contains.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from lscfg.errors import InputError, counted
from lscfg.io.read import read_lines


def _words(line: str) -> list[str]:
    return re.findall(r"[\w'’´+-]+", line.lower())


def _figures(line: str) -> Counter[str]:
    return Counter(re.findall(r"\d+", line))


def _names(line: str) -> set[str]:
    """Words with a capital letter within a sentence, in small letters."""
    return {word.lower() for word in re.findall(r"(?<=[^\W\d_A-Z] |[,;'] )[A-ZÁÉÍÓÚÑ]\w+", line)}


def _doubled(line: str) -> bool:
    return any(one == other and len(one) > 1 for one, other in pairwise(_words(line)))


def _ends_otherwise(source: str, output: str) -> bool:
    last = source.rstrip()[-1:]
    return last in tuple(".?!") and output.rstrip()[-1:] != last


def _only_in_output(pattern: str) -> Callable[[str, str], bool]:
    return lambda source, output: bool(re.search(pattern, output)) and not re.search(pattern, source)


FAULTS: dict[str, Callable[[str, str], bool]] = {
    "a word in capitals within the sentence that the source lacks": lambda source, output: any(
        name not in source.lower() for name in _names(output)
    ),
    "a name of the source missing": lambda source, output: any(name not in output.lower() for name in _names(source)),
    "a repeated word": lambda source, output: _doubled(output) and not _doubled(source),
    "figures missing (also as words)": lambda source, output: bool(_figures(source) - _figures(output)),
    "figures added": lambda source, output: bool(_figures(output) - _figures(source)),
    "another final mark": _ends_otherwise,
    "a mark at the beginning": _only_in_output(r"^\s*[,;.:!?)\]»”]"),
    "four full stops or more": _only_in_output(r"\.{4,}"),
    "blanks between dashes": _only_in_output(r"([-–—]) \1"),
    "a dash at one side of a word": _only_in_output(r"(?<=\w)-(?=\s)|(?<=\s)-(?=\w)"),
    "brackets or quotation marks added": _only_in_output(r"[()\"“”«»„\[\]]"),
    "a capital letter within an abbreviation": _only_in_output(r"\b[a-z]\.[A-Z]\."),
    "a small letter at the beginning": lambda source, output: output[:1].islower() and source[:1].isupper(),
    "marks of preparation": _only_in_output(r"[￭▁]|&\w+;"),
    "twice the letters of the source": lambda source, output: len(output) > 2 * len(source) + 20,
    "nothing": lambda source, output: bool(source.strip()) and not output.strip(),
}
"""Tests of a source and its translation."""


def count_faults(source: Sequence[str], output: Sequence[str]) -> dict[str, int]:
    """Number of translations with each fault."""
    pairs = list(zip(source, output, strict=True))
    return {name: sum(test(*pair) for pair in pairs) for name, test in FAULTS.items()}


def main() -> None:
    """Prints the table.

    Raises:
        InputError: a file cannot be read, or its length differs from that of the source.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="raw source text")
    parser.add_argument("outputs", metavar="NAME=FILE[:SOURCE]", nargs="+", help="restored translations")
    args = parser.parse_args()
    columns = {}
    for one in args.outputs:
        name, _, file = one.partition("=")
        path, _, own = file.partition(":")
        source, output = read_lines(own or args.source), read_lines(path)
        if len(output) != len(source):
            raise InputError(f"{counted(len(output), 'line')}, but the source has {len(source):,}", path)
        columns[name] = count_faults(source, output)
    for cells in (["fault", *columns], ["---"] * (len(columns) + 1)):
        print(f"| {' | '.join(cells)} |")
    for fault in FAULTS:
        print(f"| {' | '.join([fault, *(str(own[fault]) for own in columns.values())])} |")


if __name__ == "__main__":
    main()
