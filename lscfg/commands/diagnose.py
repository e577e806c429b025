"""``lscfg diagnose``: what models know of held-out derivations, before any tuning."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile
    from lscfg.options import add_output

    parser.add_argument("models", type=InputFile, metavar="MODEL", nargs="+", help="models of lscfg estimate")
    parser.add_argument(
        "--train",
        type=InputFile,
        metavar="DERIVATIONS",
        required=True,
        help="derivations that the models were estimated from",
    )
    parser.add_argument(
        "--held-out",
        type=InputFile,
        metavar="DERIVATIONS",
        required=True,
        help="derivations of pairs that no model has seen",
    )
    add_output(parser, "file for all figures, as JSON (default: none)")
    parser.add_argument(
        "--max-targets",
        type=int,
        default=30,
        metavar="N",
        help="most frequent target sides kept of each source side; 0: all (default: %(default)s)",
    )
    parser.add_argument(
        "--floor",
        type=float,
        default=1e-6,
        metavar="X",
        help="least value whose logarithm is taken (default: %(default)s)",
    )
    parser.add_argument(
        "--negative",
        choices=("flip", "clamp"),
        default="flip",
        help="flip: a negative marginal counts as its absolute value; clamp: as 0 (default: %(default)s)",
    )
    parser.add_argument(
        "--forests",
        action="store_true",
        help="references are all minimal derivations of the held-out pairs, which lscfg derive --forests writes",
    )
    parser.add_argument(
        "--differences",
        type=int,
        default=0,
        metavar="N",
        help="show the N rules and N sentences on which a model gains most, and loses most (default: none)",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the table.

    Raises:
        InputError: a file cannot be read or is of another kind, or an option is out of its range.
    """
    from lscfg.errors import InputError
    from lscfg.extract.derive import Derivations
    from lscfg.io.text import write_json
    from lscfg.study.diagnose import Diagnosis, format_diagnosis, report

    if args.differences < 0:
        raise InputError(f"--differences must be at least 0, not {args.differences}")
    train, held_out = Derivations.load(args.train), Derivations.load(args.held_out)
    diagnosis = Diagnosis(train, held_out, args.max_targets, args.floor, args.negative, args.forests)
    results = diagnosis.references()
    for path in args.models:
        results += diagnosis.measure_all(path)
    content = report(diagnosis, results, args.differences)
    print(format_diagnosis(content))
    if args.output:
        write_json(args.output, content)
