"""``lscfg inspect corrections``: the corrections in a folder, as a list or for another service, and their changes."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TypedDict

from lscfg import log
from lscfg.bundle.places import preparation_of
from lscfg.bundle.system import ini_file
from lscfg.decode.memory import Memory
from lscfg.errors import InputError, counted
from lscfg.io.arguments import InputFile, InputFolder
from lscfg.io.json_files import check_shape
from lscfg.io.read import read_lines
from lscfg.json_text import parse_json
from lscfg.parser import CommandParser
from lscfg.prepare.record import Record
from lscfg.serve.filled import document_system
from lscfg.serve.lattices import BadSentenceError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.stored import stored_source
from lscfg.serve.translator import TranslationOptions, Translator

HELP = "list, export, add or remove the corrections of lscfg serve --corrections"


class _Pair(TypedDict):
    """A line of an export, and a request for ``/corrections``."""

    source: str
    target: str


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.add_argument("corrections", type=InputFolder, metavar="DIR", help="folder of corrections")
    parser.add_argument(
        "system",
        nargs="?",
        type=InputFolder,
        metavar="SYSTEM",
        help="bundle or folder of a system whose preparation restores the text (default: show words)",
    )
    parser.add_argument(
        "--format",
        choices=("tsv", "jsonl"),
        default="tsv",
        help="tsv: id, time, source and target; jsonl: requests for POST /corrections to SYSTEM, one per line "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--add", type=InputFile, metavar="FILE", help="store the corrections of a jsonl file for SYSTEM"
    )
    parser.add_argument(
        "--undo", type=int, metavar="ID", nargs="+", default=[], help="remove these corrections instead of listing all"
    )


def run(args: argparse.Namespace) -> None:
    """Lists the corrections, or adds or removes some.

    Raises:
        InputError: the folder contains no corrections, the journal is damaged, an id is unknown, a line of the file
            cannot be stored, or an export lacks the system.
    """
    if args.add is not None:
        _add(args)
        return
    memory = Memory(args.corrections, indexed=False)
    if args.undo:
        memory.undo(*args.undo)
        log.info(f"{counted(len(memory), 'correction')} left")
        return
    if args.format == "jsonl" and args.system is None:
        raise InputError("--format jsonl needs SYSTEM, whose preparation restores the text that requests contain")
    prepared = None if args.system is None else preparation_of(ini_file(Path(args.system)))
    sides = None if prepared is None else [recipe.side() for recipe in Record.read(prepared).sides]
    if args.format == "tsv":
        print("id\ttime\tsource\ttarget")
    for pair in memory.pairs:
        source, target = pair.source, pair.target
        if sides is not None:
            source, target = stored_source(source, sides[0]), pair.typed or sides[1].decode(target)
        if args.format == "tsv":
            sys.stdout.write(f"{pair.id}\t{pair.time}\t{source}\t{target}\n")
        else:
            sys.stdout.write(json.dumps({"source": source, "target": target}, ensure_ascii=False) + "\n")


def _add(args: argparse.Namespace) -> None:
    if args.system is None or args.undo:
        raise InputError("--add needs SYSTEM, which aligns the corrections, and does not go with --undo")
    pairs: list[_Pair] = []
    for number, line in enumerate(read_lines(args.add), 1):
        try:
            pairs.append(parse_json(line))
            check_shape(pairs[-1], _Pair)
        except ValueError as error:
            raise InputError(f'expected {{"source": "…", "target": "…"}} ({error})', args.add, number) from None
    system = document_system(args.system, None, None, args.corrections)
    translator = Translator(system)
    options = TranslationOptions(raw=system.preparation is not None, max_words=ServeSettings().max_words)
    for number, pair in enumerate(log.progress(pairs, "storing", len(pairs)), 1):
        try:
            translator.correct(pair["source"], pair["target"], options)
        except BadSentenceError as error:
            raise InputError(str(error), args.add, number) from None
    log.info(f"stored {counted(len(pairs), 'correction')}")
