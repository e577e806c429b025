"""Scores restored translations of a small language: chrF, chrF++, BLEU, length, and words copied from the source.

python experiments/small/table.py DIR/dev.2.es DIR/dev.2.shp words=shp/systems/MIN/test.restored prints a table row by
row, with the copied source first. Several files after a name are tunings, whose means the row lists. --results Shipibo
writes the rows into the table of the test sets in results.json, instead of rows of the same names.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev

from sacrebleu.metrics import BLEU, CHRF

from lscfg.errors import InputError, counted
from lscfg.io.read import read_lines
from lscfg.io.write import atomic_write

RESULTS = Path(__file__).with_name("results.json")

COLUMNS = ("system", "chrF", "chrF++", "BLEU", "letters", "words", "copied %")


def figures(output: Sequence[str], source: Sequence[str], reference: Sequence[str]) -> list[float]:
    """Figures of a translation: scores, lengths relative to the reference, share of words copied from the source."""
    copied = [word in text.lower().split() for line, text in zip(output, source, strict=True) for word in _words(line)]
    letters, words = (sum(map(count, output)) / sum(map(count, reference)) for count in (_letters, _count))
    scores = [CHRF(), CHRF(word_order=2), BLEU(force=True)]
    found = [metric.corpus_score(output, [reference]).score for metric in scores]
    return [*found, letters, words, _share(copied)]


def row(
    name: str, outputs: Sequence[Sequence[str]], source: Sequence[str], reference: Sequence[str]
) -> tuple[list[object], float | None]:
    """A row of the table: means of the figures of all outputs; and the standard deviation of chrF, None for one."""
    found = [figures(output, source, reference) for output in outputs]
    means = map(fmean, zip(*found, strict=True))
    rounded = [round(mean, digits) for mean, digits in zip(means, (2, 2, 2, 3, 3, 1), strict=True)]
    return [name, *rounded], round(stdev(one[0] for one in found), 2) if len(found) > 1 else None


def write_rows(language: str, rows: Sequence[tuple[list[object], float | None]], path: Path = RESULTS) -> None:
    """Puts rows into the table of the test sets: each replaces the row of its name, or follows its language's."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for cells, deviation in rows:
        begin = lines.index('     "name": "small-test",')
        end = lines.index("     ]", begin)
        own = [k for k in range(begin, end) if lines[k].startswith(f'      ["{language}", ')]
        if not own:
            raise InputError(f"no row of {language} in the table small-test", path)
        same = [k for k in own if json.loads(lines[k].rstrip(","))[1] == cells[0]]
        line = f"      {json.dumps([language, *cells, deviation], ensure_ascii=False)}"
        if same:
            lines[same[0]] = line + "," * lines[same[0]].endswith(",")
        else:
            last = own[-1]
            line += "," * lines[last].endswith(",")
            lines[last : last + 1] = [lines[last].rstrip(",") + ",", line]
    with atomic_write(path) as file:
        file.write("\n".join(lines))


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
    parser.add_argument("outputs", metavar="NAME=FILE[,FILE]", nargs="*", help="restored translations")
    parser.add_argument("--results", metavar="LANGUAGE", help="write the rows into results.json")
    args = parser.parse_args()
    source, reference = read_lines(args.source), read_lines(args.reference)
    named = [("copied source", str(args.source)), *(one.split("=", 1) for one in args.outputs)]
    rows = []
    for name, paths in named:
        outputs = [read_lines(path) for path in paths.split(",")]
        for path, output in zip(paths.split(","), outputs, strict=True):
            if len(output) != len(reference):
                raise InputError(f"{counted(len(output), 'line')}, but the reference has {len(reference):,}", path)
        rows.append(row(name, outputs, source, reference))
    if args.results:
        write_rows(args.results, rows)
    for cells in ([*COLUMNS, "deviation"], ["---"] * (len(COLUMNS) + 1), *([*cells, more] for cells, more in rows)):
        print(f"| {' | '.join('' if cell is None else str(cell) for cell in cells)} |")


if __name__ == "__main__":
    main()
