"""``lscfg diagnose``: what models know of held-out derivations, before any tuning."""

from __future__ import annotations

import argparse

HELP = "measure on held-out derivations how well models' marginals choose rules, targets and orientations"
EXAMPLE = "lscfg diagnose spectral8.lscfg clusters16.lscfg --train train.deriv --held-out dev.deriv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, OutputFile

    parser.add_argument("models", type=InputFile, metavar="MODEL", nargs="+", help="model files of lscfg estimate")
    parser.add_argument(
        "--train",
        type=InputFile,
        metavar="DERIVATIONS",
        required=True,
        help="what the models were estimated from: grammar and counts",
    )
    parser.add_argument(
        "--held-out",
        type=InputFile,
        metavar="DERIVATIONS",
        required=True,
        help="derivations of pairs that no model was trained on",
    )
    parser.add_argument("-o", "--output", type=OutputFile, metavar="FILE", help="write all figures there as JSON")
    parser.add_argument(
        "--max-targets",
        type=int,
        default=30,
        metavar="K",
        help="most frequent target sides that a source side keeps (0: all; default: %(default)s)",
    )
    parser.add_argument("--floor", type=float, default=1e-6, help="no logarithm of less (default: %(default)s)")
    parser.add_argument(
        "--negative",
        choices=("flip", "clamp"),
        default="flip",
        help="a negative marginal counts as its absolute value or as zero (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the table.

    Raises:
        InputError: a file cannot be read or is of another kind, or an option is out of its range.
    """
    from lscfg.extract.derive import Derivations
    from lscfg.io.text import write_json
    from lscfg.study.diagnose import Diagnosis, format_diagnosis, report

    train, held_out = Derivations.load(args.train), Derivations.load(args.held_out)
    diagnosis = Diagnosis(train, held_out, args.max_targets, args.floor, args.negative)
    results = diagnosis.references()
    for path in args.models:
        results += diagnosis.measure_all(path)
    content = report(diagnosis, results)
    print(format_diagnosis(content))
    if args.output:
        write_json(args.output, content)
