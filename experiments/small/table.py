"""Scores restored translations of a small language: chrF, chrF++, BLEU, length, and words copied from the source.

python experiments/small/table.py DIR/dev.2.es DIR/dev.2.shp words=shp/systems/MIN/test.restored prints a table row by
row, with the copied source first; --json prints the rows for results.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF

from lscfg.errors import InputError, counted
from lscfg.io.read import read_lines

COLUMNS = ("system", "chrF", "chrF++", "BLEU", "letters", "words", "copied %")


def row(name: str, output: Sequence[str], source: Sequence[str], reference: Sequence[str]) -> list[object]:
    """Figures of a translation: scores, lengths relative to the reference, share of words copied from the source."""
    copied = [word in text.lower().split() for line, text in zip(output, source, strict=True) for word in _words(line)]
    letters, words = (sum(map(count, output)) / sum(map(count, reference)) for count in (_letters, _count))
    scores = [CHRF(), CHRF(word_order=2), BLEU(force=True)]
    found = [metric.corpus_score(output, [reference]).score for metric in scores]
    return [name, *(round(score, 2) for score in found), round(letters, 3), round(words, 3), round(_share(copied), 1)]


def _words(line: str) -> list[str]:
    return line.lower().split()


def _count(line: str) -> int:
    return len(line.split())


def _letters(line: str) -> int:
    return len(line.replace(" ", ""))


def _share(found: Sequence[bool]) -> float:
    return 100 * sum(found) / max(1, len(found))


def main() -> None:
    """Prints the table.

    Raises:
        InputError: a file cannot be read, or its length differs from that of the reference.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="raw source text")
    parser.add_argument("reference", type=Path, help="raw reference")
    parser.add_argument("outputs", metavar="NAME=FILE", nargs="*", help="restored translations")
    parser.add_argument("--json", action="store_true", help="print JSON lists")
    args = parser.parse_args()
    source, reference = read_lines(args.source), read_lines(args.reference)
    named = [("copied", args.source), *(tuple(one.split("=", 1)) for one in args.outputs)]
    rows = []
    for name, path in named:
        output = read_lines(path)
        if len(output) != len(reference):
            raise InputError(f"{counted(len(output), 'line')}, but the reference has {len(reference):,}", path)
        rows.append(row(name, output, source, reference))
    if args.json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    for cells in (COLUMNS, ("---",) * len(COLUMNS), *rows):
        print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
