"""``lscfg run``: a whole experiment."""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg.io.arguments import FolderName, InputFile, output_folder
from lscfg.options import add_cluster, add_jobs, add_output
from lscfg.tuning.commands import check_names
from lscfg.tuning.experiment.config import Overrides
from lscfg.tuning.experiment.run import run_experiment, show_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "experiment", type=InputFile, metavar="EXPERIMENT", help="experiment file, such as lscfg init writes"
    )
    add_output(
        parser,
        "folder for results and finished stages",
        type=output_folder("results.json", "manifest.json", "report.html"),
        metavar="DIR",
        required=True,
    )
    parser.add_argument(
        "--data",
        type=FolderName,
        metavar="DIR",
        help="folder for relative paths of [corpus] (default: the folder of EXPERIMENT)",
    )
    parser.add_argument("--runs", type=int, metavar="N", help="tunings of each system (default: runs in [tuning])")
    parser.add_argument("--decoder", metavar="NAME", help="embedded, cdec or moses (default: name in [decoder])")
    parser.add_argument("--systems", metavar="LIST", help="systems to run, separated by commas (default: all)")
    parser.add_argument(
        "--learning-curve",
        action="store_true",
        help="also train the first system without latent features on a quarter and a half of the text, for the verdict",
    )
    parser.add_argument("--plan", action="store_true", help="list the stages and their state; run nothing")
    add_jobs(parser)
    add_cluster(parser)


def run(args: argparse.Namespace) -> None:
    """Runs the stages that are not finished yet and prints the table.

    Raises:
        LscfgError: see ``lscfg.tuning.experiment.run.run_experiment``.
    """
    check_names(args.experiment, args.output, args.data)  # the manifest has them
    overrides = Overrides(
        data=Path(args.data) if args.data else None,
        runs=args.runs,
        decoder=args.decoder,
        systems=[name.strip() for name in args.systems.split(",")] if args.systems is not None else None,
        learning_curve=args.learning_curve,
    )
    if args.plan:
        print(show_plan(args.experiment, args.output, overrides))
        return
    print(run_experiment(args.experiment, args.output, jobs=args.jobs, overrides=overrides, cluster=args.cluster))
