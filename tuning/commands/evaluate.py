"""``lscfg evaluate``: BLEU of system outputs with the paired bootstrap test."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuning.evaluate import SystemScore

HELP = "score system outputs with BLEU and test their differences (paired bootstrap)"
EXAMPLE = "lscfg evaluate --reference test.en --baseline MIN MIN=min.out SPECTRAL=spectral.out"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "systems", metavar="NAME=FILE", nargs="+", help="a system's tokenized output, one sentence a line"
    )
    parser.add_argument(
        "--reference", metavar="TEXT", required=True, action="append", help="tokenized reference; repeat for several"
    )
    parser.add_argument("--baseline", metavar="NAME", help="system to test the others against (default: no test)")
    parser.add_argument(
        "--samples", type=int, default=1000, metavar="N", help="bootstrap samples (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=12345, metavar="N", help="seed of the samples (default: %(default)s)"
    )
    parser.add_argument("--chrf", action="store_true", help="chrF2 as well")
    parser.add_argument("--json", metavar="FILE", help="write the scores to a JSON file too")


def run(args: argparse.Namespace) -> None:
    """Prints the table of scores and, on request, writes them as JSON.

    Raises:
        InputError: an argument is not NAME=FILE, or see ``tuning.evaluate.evaluate``.
    """
    import json
    from dataclasses import asdict

    from lscfg.errors import InputError
    from lscfg.text import atomic_write, read_lines
    from tuning.evaluate import evaluate

    systems: dict[str, list[str]] = {}
    for item in args.systems:
        name, equals, path = item.partition("=")
        if not (name and equals and path):
            raise InputError(f"expected NAME=FILE, found {item!r}")
        if name in systems:
            raise InputError(f"system {name} is given twice")
        systems[name] = read_lines(path)
    references = [read_lines(path) for path in args.reference]
    scores = evaluate(systems, references, args.baseline, args.samples, args.seed, args.chrf)
    if args.json:
        with atomic_write(args.json) as file:
            json.dump([asdict(score) for score in scores], file, indent=1)
            file.write("\n")
    print(format_table(scores))


def format_table(scores: Sequence[SystemScore]) -> str:
    """The scores as lines of aligned columns, then the metrics' signatures."""
    rows = [["system", "BLEU", "mean ± 95 % CI", "p", "length", "BP"]]
    chrf = any(score.chrf is not None for score in scores)
    if chrf:
        rows[0] += ["chrF2", "p (chrF2)"]
    for score in scores:
        row = [
            score.name,
            f"{score.bleu:.2f}",
            f"{score.bleu_mean:.2f} ± {score.bleu_ci:.2f}",
            _number(score.p_value, 4),
            f"{score.length_ratio:.3f}",
            f"{score.brevity_penalty:.3f}",
        ]
        rows.append([*row, _number(score.chrf, 2), _number(score.chrf_p_value, 4)] if chrf else row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.append(f"BLEU: {scores[0].signature}")
    if chrf:
        lines.append(f"chrF2: {scores[0].chrf_signature}")
    return "\n".join(lines)


def _number(value: float | None, digits: int) -> str:
    """A number for the table; a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"
