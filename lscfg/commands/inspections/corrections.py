"""``lscfg inspect corrections``: the corrections in a folder, as a list or for another service, and their removal."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from lscfg import log
from lscfg.bundle.system import ini_file, preparation_of
from lscfg.decode.memory import Memory
from lscfg.errors import counted
from lscfg.io.arguments import InputFolder
from lscfg.parser import CommandParser
from lscfg.prepare.record import Record

HELP = "list, export or remove the corrections of lscfg serve --corrections"


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
        help="tsv: id, time, source and target; jsonl: requests for POST /corrections, one per line (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--undo", type=int, metavar="ID", nargs="+", default=[], help="remove these corrections instead of a list"
    )


def run(args: argparse.Namespace) -> None:
    """Lists the corrections, or removes some.

    Raises:
        InputError: the folder contains no corrections, the journal is damaged, or no correction has an id.
    """
    memory = Memory(args.corrections)
    if args.undo:
        memory.undo(*args.undo)
        log.info(f"{counted(len(memory), 'correction')} left")
        return
    prepared = None if args.system is None else preparation_of(ini_file(Path(args.system)))
    sides = None if prepared is None else [recipe.side() for recipe in Record.read(prepared).sides]
    if args.format == "tsv":
        print("id\ttime\tsource\ttarget")
    for pair in memory.pairs:
        source, target = pair.source, pair.target
        if sides is not None:
            source, target = sides[0].decode(source), pair.typed or sides[1].decode(target)
        if args.format == "tsv":
            sys.stdout.write(f"{pair.id}\t{pair.time}\t{source}\t{target}\n")
        else:
            sys.stdout.write(json.dumps({"source": source, "target": target}, ensure_ascii=False) + "\n")
