"""``lscfg inspect``: what is in a model or derivation file."""

from __future__ import annotations

import argparse

HELP = "show what a model or derivation file holds"
EXAMPLE = "lscfg inspect spectral8.lscfg --rules 5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("file", metavar="FILE", help="model or derivation file")
    parser.add_argument("--rules", type=int, default=5, metavar="N", help="rules to show (default: %(default)s)")
    parser.add_argument("--rule", metavar="'SRC ||| TGT'", help="show the tensor of this rule")
    parser.add_argument("--tree", type=int, metavar="N", help="show the derivation of sentence pair N, from 1")


def run(args: argparse.Namespace) -> None:
    """Prints the description.

    Raises:
        InputError: the file cannot be read, or does not hold what is asked for.
    """
    from lscfg import tensors
    from lscfg.errors import InputError
    from lscfg.inspection import describe_derivations, describe_model, show_rule, show_tree

    kind = tensors.kind(args.file)
    if args.rule and kind == "model":
        print(show_rule(args.file, args.rule))
    elif args.tree and kind == "derivations":
        print(show_tree(args.file, args.tree))
    elif args.rule or args.tree:
        raise InputError(f"this is a {kind} file: --rule is for models, --tree for derivations", args.file)
    elif kind == "model":
        print(describe_model(args.file, args.rules))
    else:
        print(describe_derivations(args.file, args.rules))
