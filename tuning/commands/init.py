"""``lscfg init``: the files to start an experiment of one's own with."""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg import log
from lscfg.errors import InputError
from lscfg.formats.ini import format_ini
from lscfg.formats.weights import write_weights
from lscfg.io.arguments import InputFile, output_folder
from lscfg.io.folders import make_folder
from lscfg.io.write import atomic_write, check_replaceable, write_lines
from lscfg.options import add_source
from lscfg.tuning.experiment.template import CORPUS, decoder_files, experiment_text, relative


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("folder", type=output_folder(), metavar="DIR", help="folder to write")
    corpus = parser.add_argument_group("experiment.toml", "files that are not named stand as names to be replaced")
    add_source(corpus, CORPUS["source"][1])
    corpus.add_argument("-t", "--target", type=InputFile, metavar="TEXT", help=CORPUS["target"][1])
    corpus.add_argument(
        "--raw",
        action="store_true",
        help="the text is raw: lscfg run prepares it, and takes pairs of it for tuning and testing",
    )
    for text, use in (("dev", "tune"), ("test", "test")):
        corpus.add_argument(
            f"--{text}-set",
            type=InputFile,
            nargs=2,
            metavar=("SOURCE", "REFERENCE"),
            help=f"text to {use} on, and its reference translation",
        )
    decoder = parser.add_argument_group("cdec.ini and start.weights", "written where a grammar is named")
    decoder.add_argument("--grammar", type=InputFile, metavar="FILE", help="grammar of lscfg grammar")
    decoder.add_argument("--lm", type=InputFile, metavar="FILE", help="language model of lscfg lm")
    decoder.add_argument("--model", type=InputFile, metavar="MODEL", help="model of lscfg estimate (default: none)")
    decoder.add_argument(
        "--library",
        type=InputFile,
        metavar="FILE",
        help="library of lscfg cdec build, for cdec itself (default: none, as for lscfg decode)",
    )
    decoder.add_argument(
        "--rules",
        metavar="NAME",
        default="minimal",
        help="rule extractors of the grammar, joined by + (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Writes the files.

    Raises:
        InputError: a file that is named is not there, or one that is to be written is.
    """
    folder = Path(args.folder)
    experiment, ini, weights = (folder / name for name in ("experiment.toml", "cdec.ini", "start.weights"))
    named = {"source": args.source, "target": args.target}
    for text in ("dev", "test"):
        for key, file in zip(("source", "reference"), getattr(args, f"{text}_set") or (), strict=False):
            named[f"{text}_{key}"] = file
    given = {key: relative(file, folder) for key, file in named.items() if file}
    if args.library and not args.model:
        raise InputError("--library is for latent features, which need --model, too")
    if (args.lm or args.model) and not args.grammar:
        raise InputError("--lm and --model are for cdec.ini, which needs --grammar, too")
    made = None
    if args.grammar:
        if not args.lm:
            raise InputError("cdec.ini needs a language model; name one with --lm")
        for path in filter(None, (args.grammar, args.lm, args.model, args.library)):
            relative(path, folder)
        model, library = (Path(name) if name else None for name in (args.model, args.library))
        made = decoder_files(folder, Path(args.grammar), Path(args.lm), model, args.rules, library)
        lines = format_ini(made[0])
    for path in (experiment, *((ini, weights) if made else ())):
        check_replaceable(path)
    make_folder(folder)
    with atomic_write(experiment) as file:
        file.write(experiment_text(given, args.raw))
    log.info(f"wrote {experiment}")
    missing = [key for key in CORPUS if key not in given and not (args.raw and (given or "_" in key))]
    if missing:
        log.info(f"  edit in [corpus]: {', '.join(missing)}")
    log.info(f"  then: lscfg run {experiment} -o {folder}")
    if made:
        write_lines(ini, lines)
        write_weights(weights, made[1])
        log.info(f"wrote {ini} and {weights}")
        log.info(
            f"  tune with: lscfg tune weights -c {ini} -w {weights} -s DEV --reference REFERENCE -o {folder / 'tuned'}"
        )
