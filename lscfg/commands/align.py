"""``lscfg align``: word alignment of a parallel corpus."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.corpus.align import HEURISTICS, AlignmentSettings, align_both_ways, align_with
from lscfg.corpus.aligner import ALIGNERS
from lscfg.corpus.parallel import read_parallel
from lscfg.errors import InputError
from lscfg.io.arguments import InputFile, OutputFile, OutputPattern
from lscfg.io.write import write_lines
from lscfg.options import add_jobs, add_text
from lscfg.parser import CommandParser
from lscfg.settings import Declared, setting, settings_of

TABLE = "alignment"


@dataclass(frozen=True)
class Joining(Declared):
    """Symmetrisation of both directions: the option ``--heuristic`` or the key ``heuristics``."""

    heuristics: tuple[str, ...] = setting(
        (AlignmentSettings.heuristic,), "symmetrisation of the two directions", choices=HEURISTICS
    )


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_text(parser, links="")
    parser.add_argument(
        "-o",
        "--output",
        type=OutputPattern,
        metavar="FILE",
        action="append",
        required=True,
        help="Pharaoh alignments to write; for several heuristics one file each, by {heuristic} in the name or by one "
        "-o for each",
    )
    parser.add_argument(
        "--heuristic",
        type=_heuristics,
        default=argparse.SUPPRESS,
        metavar="LIST",
        help=f"symmetrisation of the two directions, one or several of {', '.join(HEURISTICS)} "
        f"(default: {AlignmentSettings.heuristic})",
    )
    parser.add_argument("--save", type=OutputFile, metavar="MODEL", help="file for the trained aligner")
    parser.add_argument(
        "--model", type=InputFile, dest="saved", metavar="MODEL", help="saved aligner to use instead of training one"
    )
    add_jobs(parser, ", and at most 2 are used")
    table = Table(TABLE, (AlignmentSettings, Joining), ALIGNERS.settings())
    add_settings(parser, table, choices={"model": ALIGNERS.names()})


def _heuristics(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in HEURISTICS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(HEURISTICS)}")
    if len({*names}) < len(names):
        raise argparse.ArgumentTypeError("name each heuristic once")
    return names


def run(args: argparse.Namespace) -> None:
    """Aligns and writes one line of links per sentence pair, into a file for each heuristic.

    Raises:
        InputError: see ``lscfg.corpus.align.AlignmentSettings`` and ``lscfg.corpus.parallel.read_parallel``; or options
            do not go together.
    """
    given = GivenSettings(args, TABLE)
    heuristics = getattr(args, "heuristic", None) or given.choose(TABLE, Joining, "heuristics")
    outputs = [path for output in args.output for path in output.named({"heuristic": heuristics})]
    if len(outputs) != len(heuristics):
        raise InputError(
            f"{len(outputs)} outputs for {len(heuristics)} heuristics; give one -o for each, "
            "or one with {heuristic} in its name"
        )
    settings = _settings(args, given)
    src, tgt = read_parallel(args.source, args.target)
    log.info(f"aligning {len(src)} sentence pairs")
    if settings is None:
        links = align_with(args.saved, src, tgt, jobs=args.jobs)
    else:
        links = align_both_ways(src, tgt, settings, jobs=args.jobs, save=args.save)
    for path, heuristic in zip(outputs, heuristics, strict=True):
        write_lines(path, links.joined(heuristic))
        log.info(f"wrote {path}")
    if args.save:
        log.info(f"wrote {args.save}")


def _settings(args: argparse.Namespace, given: GivenSettings) -> AlignmentSettings | None:
    """The settings of the training; None for a saved aligner.

    Raises:
        InputError: a saved aligner has settings, or one is out of its range.
    """
    kinds = ALIGNERS.settings()
    if args.saved is None:
        name = given.choose(TABLE, AlignmentSettings, "model")
        if name not in kinds:
            given.build(TABLE, AlignmentSettings, ignore=given.keys(TABLE))  # refuses the name
        settings, _, aligner = given.build(TABLE, AlignmentSettings, Joining, kinds[name], others=kinds)
        return AlignmentSettings(settings.model, aligner=aligner)
    if args.saved in kinds and not os.path.exists(args.saved):
        raise InputError(f"--model is the file of a saved aligner; choose the kind by --aligner {args.saved}")
    if args.save:
        raise InputError("--save keeps a trained aligner, and --model trains none; give one of them")
    training = {item.name for kind in kinds.values() for item in settings_of(kind)}
    given.build(TABLE, AlignmentSettings, Joining, ignore=training)  # refuses unknown keys
    options = ["--aligner"] if hasattr(args, "model") else []
    for name in [*options, *(f"--set {key}" for key in given.keys(TABLE) if key != "heuristics")]:
        raise InputError(f"{name} is for training; the saved aligner of --model keeps its own settings")
    return None
