"""``lscfg init``: the first files of a new experiment."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from lscfg import log
from lscfg.errors import InputError
from lscfg.formats.ini import format_ini
from lscfg.formats.weights import write_weights
from lscfg.io.arguments import RECORDS, InputFile, output_folder
from lscfg.io.folders import make_folder
from lscfg.io.sides import SIDES
from lscfg.io.write import atomic_write, check_replaceable, write_lines
from lscfg.options import add_source
from lscfg.prepare.guess import INIT_OPTIONS, Given, guess
from lscfg.prepare.reader import TEXT, file_ending, kind_of_ending
from lscfg.prepare.settings import PrepareSettings
from lscfg.settings import SettingError
from lscfg.tuning.experiment.template import (
    CORPUS,
    MOST_HELD_OUT,
    SMALL_TEXT,
    decoder_files,
    experiment_text,
    held_out_size,
    relative,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.set_defaults(**{RECORDS: "name a file"})
    parser.add_argument("folder", type=output_folder(), metavar="DIR", help="folder to write")
    corpus = parser.add_argument_group(
        "experiment.toml", "written unless only a grammar is named; files that you omit get placeholder names"
    )
    add_source(corpus, CORPUS["source"][1])
    corpus.add_argument("-t", "--target", type=InputFile, metavar="TEXT", help=CORPUS["target"][1])
    corpus.add_argument(
        "--raw",
        action="store_true",
        help="treat the text as raw: lscfg run tokenises it and sets pairs aside for tuning and testing",
    )
    for side in SIDES:
        corpus.add_argument(
            f"--{side}-language",
            metavar="CODE",
            default="",
            help=f"{side} language of raw text, such as en or pt-BR (default: that of the files)",
        )
    for text, use in (("dev", "tune"), ("test", "test")):
        corpus.add_argument(
            f"--{text}-set",
            type=InputFile,
            nargs=2,
            metavar=("SOURCE", "REFERENCE"),
            help=f"text to {use} on, and its reference translation",
        )
    decoder = parser.add_argument_group("cdec.ini and start.weights", "written if --grammar is given")
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
        InputError: a file that is named does not exist, a file to be written does, or raw text has no known language.
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
    if args.source and not args.raw and kind_of_ending(Path(args.source)) not in (None, TEXT):
        raise InputError(f"a file of pairs (.{file_ending(Path(args.source))}) is raw text; add --raw", args.source)
    if args.grammar and not args.lm:
        raise InputError("cdec.ini needs a language model; name one with --lm")
    wanted = bool(given or args.raw or not args.grammar)
    for file in (*((experiment,) if wanted else ()), *((ini, weights) if args.grammar else ())):
        check_replaceable(file)
    made = None
    if args.grammar:
        for path in filter(None, (args.grammar, args.lm, args.model, args.library)):
            relative(path, folder)
        model, library = (Path(name) if name else None for name in (args.model, args.library))
        made = decoder_files(folder, Path(args.grammar), Path(args.lm), model, args.rules, library)
        lines = format_ini(made[0])
    prepare, tables = _prepare(args) if args.raw else (None, {})
    make_folder(folder)
    if wanted:
        with atomic_write(experiment) as file:
            file.write(experiment_text(given, prepare, tables=tables | SMALL_TEXT))
        log.info(f"wrote {experiment}")
        missing = [key for key in CORPUS if key not in given and not (args.raw and (given or "_" in key))]
        if missing:
            log.info(f"  edit in [corpus]: {', '.join(missing)}")
        log.info(f"  then: {shlex.join(['lscfg', 'run', str(experiment), '-o', str(folder)])}")
    if made:
        write_lines(ini, lines)
        write_weights(weights, made[1])
        log.info(f"wrote {ini} and {weights}")
        files = shlex.join(["-c", str(ini), "-w", str(weights), "-o", str(folder / "tuned")])
        log.info(f"  tune with: lscfg tune weights -s DEV --reference REFERENCE {files}")


def _prepare(args: argparse.Namespace) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
    """The keys of [prepare], with numbers of pairs for dev and test by the size of the text, and of other tables.

    Raises:
        InputError: a language is not a code, or the files cannot be read or hold no pairs.
    """
    files = [Path(name) for name in (args.source, args.target) if name]
    if len(files) == 2 and files[0].resolve() == files[1].resolve():
        raise InputError("is named for both sides; name two files, or one table with -s alone", files[0])
    languages = {f"{side}_language": getattr(args, f"{side}_language") for side in SIDES}
    drawn = [name for name in ("dev", "test") if not getattr(args, f"{name}_set")]
    if not files:
        return languages | dict.fromkeys(drawn, MOST_HELD_OUT), {}
    try:
        PrepareSettings(**languages)
    except SettingError as error:
        option = "--" + error.name.replace("_", "-")
        raise InputError(f"{option} {error.requirement}", files[0]) from None
    found = guess(
        files, Given(languages=(languages["source_language"], languages["target_language"]), options=INIT_OPTIONS)
    )
    for finding in found.findings:
        log.info(str(finding))
    for warning in found.warnings:
        log.warning(warning)
    size = held_out_size(found.pairs)
    sizes = ", ".join(f"{name} = {size}" for name in drawn)
    log.info(f"{found.pairs:,} pairs{': ' if sizes else ''}{sizes}")
    return found.settings | dict.fromkeys(drawn, size), found.tables
