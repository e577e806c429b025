"""``lscfg prepare``: turns raw parallel text into a corpus, prepares new text and restores translations."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from lscfg import log
from lscfg.cli import add_action
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError
from lscfg.io.arguments import InputFile, InputFolder, output_folder
from lscfg.io.folders import make_folder
from lscfg.io.read import STDIN_FILE, stream_lines
from lscfg.io.sides import SIDES
from lscfg.io.write import atomic_write
from lscfg.options import add_jobs, add_output
from lscfg.parallel.choose import in_processes
from lscfg.parser import CommandParser
from lscfg.prepare.corpus import DROPPED, RawFiles, check_health, prepare_corpus, propose_spelling
from lscfg.prepare.files import RECORD
from lscfg.prepare.guess import guess_reading
from lscfg.prepare.health import HEALTH
from lscfg.prepare.limits import length_fault
from lscfg.prepare.reader import TEXT_READERS, reader_of
from lscfg.prepare.record import Record
from lscfg.prepare.replaced import replaced_preparation
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import SettingError, settings_of
from lscfg.study.health import health_page

TABLE = "prepare"

HEALTH_PAGE = "health.html"
PROPOSALS = "Proposed rewrites for a table of [prepare] orthography; check each with a speaker:"


def add_arguments(parser: CommandParser) -> None:
    """Declares the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    corpus = add_action(actions, "corpus", "clean, tokenise, filter and split raw text into a folder")
    corpus.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=InputFile,
        help="a source text and its translation, or files with both: tables, TMX, XLIFF, JSON lines, Parquet",
    )
    add_output(corpus, "folder to write; needed without --check", type=output_folder("*"), metavar="DIR")
    corpus.add_argument(
        "--check",
        action="store_true",
        help="list the faults of the text and their treatment, with -o also as a page; make no corpus",
    )
    for name in ("dev", "test"):
        corpus.add_argument(
            f"--{name}-files",
            metavar="FILE",
            nargs="+",
            type=InputFile,
            default=[],
            help=f"raw source of the {name} set and its references, instead of --{name}",
        )
    add_jobs(corpus)
    add_settings(corpus, Table(TABLE, (PrepareSettings,), TEXT_READERS.settings() | TOKENISERS.settings()))
    apply = add_action(actions, "apply", "prepare new text, from standard input or a file, like the corpus")
    apply.add_argument("--side", choices=SIDES, default="source", help="language of the text (default: %(default)s)")
    restore = add_action(actions, "restore", "restore translations to ordinary text")
    for action in (apply, restore):
        action.mixes = True
        action.add_argument("folder", metavar="DIR", type=InputFolder, help="folder of lscfg prepare corpus")
        action.add_argument(
            "text", type=InputFile, metavar="TEXT", nargs="?", help="file to read (default: standard input)"
        )


def run(args: argparse.Namespace) -> None:
    """Runs the action.

    Raises:
        InputError: see ``lscfg.prepare.corpus.prepare_corpus`` and ``lscfg.prepare.record.Record.read``.
    """
    if args.action == "corpus":
        _corpus(args)
    else:
        _convert(args)


def _corpus(args: argparse.Namespace) -> None:
    if args.output is None and not args.check:
        raise InputError("-o: give the folder to write, or --check to examine the text only")
    given, readers, kinds = GivenSettings(args, TABLE), TEXT_READERS.settings(), TOKENISERS.settings()
    corpus = [Path(file) for file in args.files]
    _guess(corpus, given)
    source = reader_of(corpus, given.choose(TABLE, PrepareSettings, "format"))
    tokeniser = given.choose(TABLE, PrepareSettings, "tokeniser")
    classes = (PrepareSettings, readers[source], kinds[tokeniser])
    settings, reading, tokenisation = given.build(TABLE, *classes, others=readers | kinds)
    settings = dataclasses.replace(settings, reading=reading, tokenisation=tokenisation)
    files = RawFiles(tuple(corpus), tuple(map(Path, args.dev_files)), tuple(map(Path, args.test_files)))
    try:
        if args.check:
            _check(files, settings, args.output)
            return
        with in_processes(args.jobs) as engine, replaced_preparation(Path(args.output)) as folder:
            record = prepare_corpus(files, settings, folder, engine)
    except SettingError as error:  # a language that no file's name ends in
        raise given.located(TABLE, PrepareSettings, error) from None
    for line in record.summary():
        log.info(line)
    log.info(f"wrote {args.output}; each pair that was dropped is in {Path(args.output) / DROPPED}")


def _guess(files: Sequence[Path], given: GivenSettings) -> None:
    """Guesses each setting for reading the files that the command line and the settings file leave out.

    Raises:
        InputError: see ``lscfg.prepare.guess.guess``.
    """
    readers = TEXT_READERS.settings()
    stated = given.stated(TABLE, PrepareSettings, *readers.values())
    reading = {item.name for item in settings_of(readers[stated["format"]])} if "format" in stated else {"format"}
    if {"source_language", "target_language", *reading} <= {*stated}:
        return
    found = guess_reading(files, stated)
    given.suppose(TABLE, found.settings)
    for finding in found.findings:
        log.info(str(finding))
    for warning in found.warnings:
        log.warning(warning)


def _check(files: RawFiles, settings: PrepareSettings, folder: Path | None) -> None:
    if folder is not None:
        _check_folder(Path(folder))
    health, pairs = check_health(files, settings)
    if folder is not None:
        health.write(make_folder(folder), pairs)
        names = ", ".join(path.name for path in files.corpus)
        with atomic_write(Path(folder) / HEALTH_PAGE) as file:
            file.write(health_page(health.facts(pairs), names))
        log.info(f"wrote {Path(folder) / HEALTH_PAGE}")
    print(health.table(pairs))
    if proposals := propose_spelling(files, settings):
        print(f"\n{PROPOSALS}\n")
        print("\n".join(map(str, proposals)))


def _check_folder(folder: Path) -> None:
    """Refuses to replace files of other origin than an earlier check.

    Raises:
        InputError: the folder holds a preparation, or one of the files without the other.
    """
    if (folder / RECORD).exists():
        raise InputError("holds a prepared corpus with its own health.json; name another folder", folder)
    found = [folder / name for name in (HEALTH, HEALTH_PAGE) if (folder / name).exists()]
    if len(found) == 1:
        raise InputError("already exists; name another folder", found[0])


def _convert(args: argparse.Namespace) -> None:
    source, target = Record.read(Path(args.folder)).sides
    recipe = source if args.action == "apply" and args.side == "source" else target
    side = recipe.side()
    work = side.encode if args.action == "apply" else side.decode
    path = args.text or STDIN_FILE
    for number, line in enumerate(stream_lines(path), 1):
        if fault := length_fault(line):
            raise InputError(f"{fault}; split the line", path, number)
        sys.stdout.write(work(line) + "\n")
