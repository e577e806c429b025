"""``lscfg run``: a whole experiment."""

from __future__ import annotations

import argparse
import os

HELP = "run an experiment: from a parallel corpus to a table of BLEU scores"
EXAMPLE = "lscfg run ja-en.toml -o ja-en"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("experiment", metavar="EXPERIMENT", help="experiment file (TOML, see docs/FORMATS.md)")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder for results and finished stages")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (default: all cores)"
    )


def run(args: argparse.Namespace) -> None:
    """Runs the stages that are not finished yet and prints the table.

    Raises:
        LscfgError: see ``tuning.experiment.run.run_experiment``.
    """
    from tuning.experiment.run import run_experiment

    print(run_experiment(args.experiment, args.output, args.jobs))
