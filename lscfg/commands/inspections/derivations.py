"""``lscfg inspect derivations``: sizes, rules and trees of a file of derivations."""

from __future__ import annotations

import argparse
import sys

from lscfg.commands.inspections.files import add_file, check_kind
from lscfg.errors import InputError, cut
from lscfg.extract.derive import Derivations
from lscfg.io.numbers import MOST_DIGITS
from lscfg.parser import CommandParser
from lscfg.study.inspect import describe_derivations, draw_tree, show_tree

HELP = "show the sizes, rules and trees of derivations"

ALL = "all"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_file(parser, "DERIVATIONS", "derivations of lscfg derive")
    parser.add_argument(
        "--tree",
        metavar="N",
        help="show tree N, counted from 1 (trees of a second alignment come last), or all, as in a file NAME.trees",
    )
    parser.add_argument(
        "--format",
        choices=("text", "svg"),
        default="text",
        help="output format; svg: picture of the phrases and the forest of tree N (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the description.

    Raises:
        InputError: the file holds no derivations, or lacks the tree.
    """
    if args.top < 0:
        raise InputError(f"--top must be at least 0, not {args.top}")
    numbered = args.tree is None or (args.tree.isascii() and args.tree.isdigit() and len(args.tree) <= MOST_DIGITS)
    if args.tree != ALL and not numbered:
        raise InputError(f"--tree must be a number or {ALL}, not {cut(args.tree)}")
    if args.format == "svg" and args.tree in (None, ALL):
        raise InputError("--format svg draws one tree; give its number as --tree N")
    check_kind(args.file, "derivations")
    if args.tree is None:
        print(describe_derivations(args.file, args.top))
    elif args.tree == ALL:
        sys.stdout.writelines(f"{line}\n" for line in Derivations.load(args.file).text_lines())
    elif args.format == "svg":
        print(draw_tree(args.file, int(args.tree)))
    else:
        print(show_tree(args.file, int(args.tree)))
