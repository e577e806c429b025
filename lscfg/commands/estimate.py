"""``lscfg estimate``: the parameters of an L-SCFG from derivations."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError, counted
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.derive import Derivations
from lscfg.io.arguments import InputFile
from lscfg.io.tensors import check_model_output
from lscfg.model.parameters import Parameters
from lscfg.options import add_checkpoint, add_jobs, add_kind, add_output, checkpoint_folder
from lscfg.parser import CommandParser

PARTS = {
    "boundary": ("span-boundary weights", "grammar biparsed --write boundary=MODEL"),
    "neural": ("neural network", "estimate neural"),
    "orientation": ("orientations", "estimate orientation"),
}
"""Parts of other models that the model takes: option, content, and the command that makes such a model."""


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_kind(parser, "estimator", {name: ESTIMATORS[name].HELP for name in ESTIMATORS})
    parser.add_argument("derivations", type=InputFile, metavar="DERIVATIONS", help="derivations of lscfg derive")
    add_output(parser, "model to write", metavar="MODEL", required=True)
    parser.add_argument(
        "--precision",
        choices=("single", "double"),
        default="single",
        help="precision of the tensors in the file (default: %(default)s)",
    )
    for name, (content, source) in PARTS.items():
        parser.add_argument(
            f"--{name}", type=InputFile, metavar="MODEL", help=f"model with the {content} to copy, of lscfg {source}"
        )
    for action in add_checkpoint(parser):
        parser.limit(action, *(name for name in ESTIMATORS if ESTIMATORS[name].CHECKPOINTS))
    add_jobs(parser)
    add_settings(parser, *(Table(name, (ESTIMATORS[name].Settings,)) for name in ESTIMATORS), by_kind=True)


def run(args: argparse.Namespace) -> None:
    """Estimates and writes the model.

    Raises:
        InputError: a file cannot be read or does not fit the others, the output ends in .gz, or the text is too small
            for the rank.
    """
    check_model_output(args.output)
    given = GivenSettings(args, args.estimator)
    settings = given.build(args.estimator, ESTIMATORS[args.estimator].Settings, others=ESTIMATORS.settings())
    folder = checkpoint_folder(args)
    parts: dict[str, Any] = {}
    for name, (content, source) in PARTS.items():
        if path := getattr(args, name):
            parts[name] = getattr(Parameters.load(path), name)
            if parts[name] is None:
                raise InputError(f"no {content}; name a model of lscfg {source}", path)
    derivations = Derivations.load(args.derivations)
    model = ESTIMATORS[args.estimator].estimate(derivations, settings, args.jobs, folder, args.resume)
    if parts:
        model = dataclasses.replace(model, **parts)
    model.save(args.output, "float32" if args.precision == "single" else "float64")
    log.info(f"wrote {args.output}: {counted(len(model.rules), 'rule')}, m = {model.rank}")
