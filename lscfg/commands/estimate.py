"""``lscfg estimate``: the parameters of an L-SCFG from derivations."""

from __future__ import annotations

import argparse
import dataclasses

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError, counted
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.derive import Derivations
from lscfg.io.arguments import InputFile
from lscfg.model.parameters import Parameters
from lscfg.options import add_checkpoint, add_jobs, add_kind, add_output, checkpoint_folder
from lscfg.parser import CommandParser


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
    parser.add_argument(
        "--boundary",
        type=InputFile,
        metavar="MODEL",
        help="model whose span-boundary weights are copied, of lscfg grammar biparsed --write boundary=MODEL",
    )
    parser.add_argument(
        "--neural",
        type=InputFile,
        metavar="MODEL",
        help="model whose neural network is copied, of lscfg estimate neural",
    )
    parser.add_argument(
        "--orientation",
        type=InputFile,
        metavar="MODEL",
        help="model whose orientations are copied, of lscfg estimate orientation",
    )
    for action in add_checkpoint(parser):
        parser.limit(action, *(name for name in ESTIMATORS if ESTIMATORS[name].CHECKPOINTS))
    add_jobs(parser)
    add_settings(parser, *(Table(name, (ESTIMATORS[name].Settings,)) for name in ESTIMATORS), by_kind=True)


def run(args: argparse.Namespace) -> None:
    """Estimates and writes the model.

    Raises:
        InputError: a file cannot be read or does not fit the others, or the text is too small for the rank.
    """
    given = GivenSettings(args, args.estimator)
    settings = given.build(args.estimator, ESTIMATORS[args.estimator].Settings, others=ESTIMATORS.settings())
    folder = checkpoint_folder(args)
    boundary = Parameters.load(args.boundary).boundary if args.boundary else None
    if args.boundary and boundary is None:
        raise InputError(
            "no span-boundary weights; name a model of lscfg grammar biparsed --write boundary=MODEL", args.boundary
        )
    neural = Parameters.load(args.neural).neural if args.neural else None
    if args.neural and neural is None:
        raise InputError("no neural network; name a model of lscfg estimate neural", args.neural)
    orientation = Parameters.load(args.orientation).orientation if args.orientation else None
    if args.orientation and orientation is None:
        raise InputError("no orientations; name a model of lscfg estimate orientation", args.orientation)
    derivations = Derivations.load(args.derivations)
    model = ESTIMATORS[args.estimator].estimate(derivations, settings, args.jobs, folder, args.resume)
    if boundary:
        model = dataclasses.replace(model, boundary=boundary)
    if neural:
        model = dataclasses.replace(model, neural=neural)
    if orientation:
        model = dataclasses.replace(model, orientation=orientation)
    model.save(args.output, "float32" if args.precision == "single" else "float64")
    log.info(f"wrote {args.output}: {counted(len(model.rules), 'rule')}, m = {model.rank}")
