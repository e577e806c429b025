"""``lscfg derive``: minimal derivation trees of a word-aligned corpus."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError
from lscfg.extract.derive import derive_files
from lscfg.extract.labels import LEAST, MOST, check_labels, label_file
from lscfg.extract.trees import check_not_text
from lscfg.io.arguments import InputFile
from lscfg.io.folders import temporary_folder
from lscfg.kernel import DeriveOptions
from lscfg.options import add_jobs, add_output, add_text
from lscfg.parser import CommandParser

TABLE = "derive"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_text(parser, "word alignments i-j, source position first; each file gives every pair a tree")
    add_output(parser, "derivation file to write", required=True)
    parser.add_argument("--forests", action="store_true", help="also write all minimal derivations of each pair")
    parser.add_argument(
        "--labels",
        type=_labels,
        metavar="FILE",
        help="categories of nodes: bracketed parse trees of one side, or lines 'word class'; a number K: K induced "
        "classes of target words",
    )
    parser.add_argument(
        "--max-labels",
        type=int,
        metavar="N",
        help=f"maximum number of labels that become categories, the most frequent of those with {LEAST} nodes; "
        f"other nodes stay [X] (default: {MOST})",
    )
    add_jobs(parser)
    add_settings(parser, Table(TABLE, (DeriveOptions,)))


def _labels(text: str) -> InputFile | int:
    return int(text) if text.isdecimal() else InputFile(text)


def run(args: argparse.Namespace) -> None:
    """Derives, writes the derivation file and logs its sizes.

    Raises:
        InputError: see ``lscfg.kernel.DeriveOptions``, ``lscfg.extract.derive.derive_files`` and
            ``lscfg.extract.labels.label``.
    """
    check_not_text(args.output)
    options = GivenSettings(args, TABLE).build(TABLE, DeriveOptions)
    most = MOST if args.max_labels is None else args.max_labels
    derive = partial(derive_files, args.source, args.target, args.alignment)
    if args.labels is None:
        if args.max_labels is not None:
            raise InputError("--max-labels needs --labels")
        log.table(derive(args.output, options, args.jobs, args.forests))
    else:
        check_labels(args.labels, most, args.source)
        with temporary_folder(Path(args.output).parent) as folder:
            path = folder / "derivations"
            log.table(derive(path, options, args.jobs, args.forests))
            log.table(label_file(path, args.output, args.labels, most))
    log.info(f"wrote {args.output}")
