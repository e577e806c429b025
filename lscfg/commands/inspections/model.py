"""``lscfg inspect model``: sizes, rules and hidden states of a model."""

from __future__ import annotations

import argparse

from lscfg.commands.inspections.files import add_file, check_kind
from lscfg.errors import InputError
from lscfg.parser import CommandParser
from lscfg.study.inspect import describe_model, show_nearest, show_rule, show_states

HELP = "show the sizes, rules and hidden states of a model"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_file(parser, "MODEL", "model of lscfg estimate")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--rule", metavar="'SRC ||| TGT'", help="show the tensor of this rule")
    one.add_argument("--nearest", metavar="'SRC ||| TGT'", help="show the nearest rules in latent space")
    one.add_argument("--states", action="store_true", help="show the rules of each hidden state")


def run(args: argparse.Namespace) -> None:
    """Prints the description.

    Raises:
        InputError: the file is not a model, or lacks the rule.
    """
    if args.top < 0:
        raise InputError(f"--top must be at least 0, not {args.top}")
    check_kind(args.file, "model")
    if args.rule is not None:
        print(show_rule(args.file, args.rule))
    elif args.nearest is not None:
        print(show_nearest(args.file, args.nearest, args.top))
    elif args.states:
        print(show_states(args.file, args.top))
    else:
        print(describe_model(args.file, args.top))
