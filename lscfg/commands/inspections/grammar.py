"""``lscfg inspect grammar``: the rules of a grammar by their nonterminals."""

from __future__ import annotations

import argparse

from lscfg.io.arguments import InputFile
from lscfg.parser import CommandParser
from lscfg.study.rule_types import describe_rule_types

HELP = "count the rules of a grammar by their nonterminals"


def add_arguments(parser: CommandParser) -> None:
    """Declares the argument."""
    parser.add_argument("file", type=InputFile, metavar="GRAMMAR", help="grammar in cdec's format")


def run(args: argparse.Namespace) -> None:
    """Prints the counts, with the mean number of words.

    Raises:
        InputError: the file is not a grammar.
    """
    print(describe_rule_types(args.file))
