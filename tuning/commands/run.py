"""``lscfg run``: a whole experiment."""

from __future__ import annotations

import argparse

HELP = "run an experiment: from a parallel corpus to a table of BLEU scores and a report"
EXAMPLE = "lscfg run ja-en.toml -o ja-en"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, output_folder
    from lscfg.parallel.cores import available_cores

    parser.add_argument(
        "experiment", type=InputFile, metavar="EXPERIMENT", help="experiment file (TOML, see docs/FORMATS.md)"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_folder("results.json", "manifest.json", "report.html"),
        metavar="DIR",
        required=True,
        help="folder for results and finished stages",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        help="folder from which the relative paths of [corpus] count (default: EXPERIMENT's own)",
    )
    parser.add_argument(
        "--runs", type=int, metavar="N", help="tunings of each system (default: runs in [tuning], or 1)"
    )
    parser.add_argument(
        "--decoder", metavar="NAME", help="embedded, cdec or moses (default: name in [decoder], or embedded)"
    )
    parser.add_argument(
        "--systems", metavar="LIST", help="names of the systems to run, separated by commas (default: all)"
    )
    parser.add_argument("--plan", action="store_true", help="table of the stages and which are there; nothing is run")
    parser.add_argument(
        "--jobs", type=int, default=available_cores(), metavar="N", help="processes (default: all cores)"
    )


def run(args: argparse.Namespace) -> None:
    """Runs the stages that are not finished yet and prints the table.

    Raises:
        LscfgError: see ``lscfg.tuning.experiment.run.run_experiment``.
    """
    from pathlib import Path

    from lscfg.extras import need
    from lscfg.tuning.commands import check_names
    from lscfg.tuning.experiment.config import Overrides
    from lscfg.tuning.experiment.run import run_experiment, show_plan

    check_names(args.experiment, args.output, args.data)  # the manifest has them
    overrides = Overrides(
        data=Path(args.data) if args.data else None,
        runs=args.runs,
        decoder=args.decoder,
        systems=[name.strip() for name in args.systems.split(",")] if args.systems is not None else None,
    )
    if args.plan:
        print(show_plan(args.experiment, args.output, overrides))
        return
    need("report")  # it comes last
    print(run_experiment(args.experiment, args.output, args.jobs, overrides))
