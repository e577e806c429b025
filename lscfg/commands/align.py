"""``lscfg align``: word alignment of a parallel corpus."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.corpus.align import AlignmentSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.corpus.align import HEURISTICS, AlignmentSettings
    from lscfg.corpus.aligner import ALIGNERS
    from lscfg.io.arguments import InputFile, OutputFile, OutputPattern
    from lscfg.options import add_jobs, add_text
    from lscfg.settings import add_kind_options, add_options

    add_text(parser, links="")
    parser.add_argument(
        "-o",
        "--output",
        type=OutputPattern,
        metavar="FILE",
        action="append",
        required=True,
        help="Pharaoh alignments to write; of several heuristics one file each, by {heuristic} in the name or by one "
        "-o for each",
    )
    parser.add_argument(
        "--heuristic",
        type=_heuristics,
        default=(AlignmentSettings.heuristic,),
        metavar="LIST",
        help=f"how the two directions are joined, one way or several of {', '.join(HEURISTICS)} "
        f"(default: {AlignmentSettings.heuristic})",
    )
    parser.add_argument(
        "--save", type=OutputFile, metavar="MODEL", help="keep the trained aligner there, for other text"
    )
    parser.add_argument(
        "--model",
        type=InputFile,
        dest="saved",
        metavar="MODEL",
        help="align with this saved aligner, without training",
    )
    add_options(parser, AlignmentSettings, leave=("heuristic",))
    add_kind_options(parser, ALIGNERS.settings())
    add_jobs(parser, ", and no more than 2 are used")


def _heuristics(text: str) -> tuple[str, ...]:
    from lscfg.corpus.align import HEURISTICS

    names = tuple(text.split(","))
    for name in names:
        if name not in HEURISTICS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(HEURISTICS)}")
    if len({*names}) < len(names):
        raise argparse.ArgumentTypeError("name each heuristic once")
    return names


def run(args: argparse.Namespace) -> None:
    """Aligns and writes one line of links a sentence pair, into a file for each heuristic.

    Raises:
        InputError: see ``lscfg.corpus.align.AlignmentSettings`` and ``lscfg.corpus.parallel.read_parallel``; or options
            do not go together.
    """
    from lscfg import log
    from lscfg.corpus.align import align_both_ways, align_with
    from lscfg.corpus.parallel import read_parallel
    from lscfg.errors import InputError
    from lscfg.io.text import write_lines

    outputs = [path for output in args.output for path in output.named(vars(args))]
    if len(outputs) != len(args.heuristic):
        raise InputError(
            f"{len(outputs)} outputs for {len(args.heuristic)} heuristics; give one -o for each, "
            "or one with {heuristic} in its name"
        )
    settings = _settings(args)
    src, tgt = read_parallel(args.source, args.target)
    log.info(f"aligning {len(src)} sentence pairs")
    if settings is None:
        links = align_with(args.saved, src, tgt, jobs=args.jobs)
    else:
        links = align_both_ways(src, tgt, settings, jobs=args.jobs, save=args.save)
    for path, heuristic in zip(outputs, args.heuristic, strict=True):
        write_lines(path, links.joined(heuristic))
        log.info(f"wrote {path}")
    if args.save:
        log.info(f"wrote {args.save}")


def _settings(args: argparse.Namespace) -> AlignmentSettings | None:
    """By which the aligner is trained; None where it is saved already.

    Raises:
        InputError: they are given though nothing is trained, or one is out of its range.
    """
    import os

    from lscfg.corpus.align import AlignmentSettings
    from lscfg.corpus.aligner import ALIGNERS
    from lscfg.errors import InputError
    from lscfg.settings import Declared, from_kind_options, from_options, given_options, option_names

    if args.saved is None:
        settings: AlignmentSettings = from_options(AlignmentSettings, args, heuristic=args.heuristic[0])
        return dataclasses.replace(settings, aligner=from_kind_options(settings.model, ALIGNERS.settings(), args))
    if args.saved in ALIGNERS.names() and not os.path.exists(args.saved):
        raise InputError(f"--model is the file of a saved aligner; choose the kind by --aligner {args.saved}")
    if args.save:
        raise InputError("--save keeps an aligner that is trained, and --model trains none; give one of them")
    classes: list[type[Declared]] = [AlignmentSettings, *ALIGNERS.settings().values()]
    for cls in classes:
        for option in option_names(cls, given_options(cls, args).keys() - {"heuristic"}):
            raise InputError(f"{option} is for training; the saved aligner of --model has its own")
    return None
