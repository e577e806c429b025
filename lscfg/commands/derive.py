"""``lscfg derive``: minimal derivation trees of a word-aligned corpus."""

from __future__ import annotations

import argparse

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.extract.derive import derive_files
from lscfg.kernel import DeriveOptions
from lscfg.options import add_jobs, add_output, add_text
from lscfg.parser import CommandParser

TABLE = "derive"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_text(parser, "word alignments i-j, source position first; each file gives every pair a tree")
    add_output(parser, "derivation file to write", required=True)
    parser.add_argument("--forests", action="store_true", help="also write all minimal derivations of each pair")
    add_jobs(parser)
    add_settings(parser, Table(TABLE, (DeriveOptions,)))


def run(args: argparse.Namespace) -> None:
    """Derives, writes the derivation file and logs its sizes.

    Raises:
        InputError: see ``lscfg.kernel.DeriveOptions`` and ``lscfg.extract.derive.derive_files``.
    """
    options = GivenSettings(args, TABLE).build(TABLE, DeriveOptions)
    sizes = derive_files(args.source, args.target, args.alignment, args.output, options, args.jobs, args.forests)
    log.table(sizes)
    log.info(f"wrote {args.output}")
