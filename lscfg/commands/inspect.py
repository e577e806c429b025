"""``lscfg inspect``: what is in a model or derivation file."""

from __future__ import annotations

import argparse

HELP = "show what a model or derivation file holds"
EXAMPLE = "lscfg inspect spectral8.lscfg --rules 5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile

    parser.add_argument("file", type=InputFile, metavar="FILE", help="model or derivation file")
    parser.add_argument("--rules", type=int, default=5, metavar="N", help="rules to show (default: %(default)s)")
    parser.add_argument("--rule", metavar="'SRC ||| TGT'", help="show the tensor of this rule")
    parser.add_argument("--nearest", metavar="'SRC ||| TGT'", help="show the rules nearest to this one in latent space")
    parser.add_argument("--states", action="store_true", help="show what each hidden state stands for")
    parser.add_argument(
        "--tree",
        type=int,
        metavar="N",
        help="show the derivation of sentence pair N, from 1; those of a second alignment follow",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the description.

    Raises:
        InputError: the file cannot be read, or does not hold what is asked for.
    """
    from lscfg.errors import InputError
    from lscfg.io import tensors
    from lscfg.study.inspect import (
        describe_derivations,
        describe_model,
        show_nearest,
        show_rule,
        show_states,
        show_tree,
    )

    if args.rules < 0:
        raise InputError(f"the number of rules to show must be at least 0, got {args.rules}")
    kind = tensors.file_kind(args.file)
    asked = [
        name
        for name in ("rule", "nearest", "states", "tree")
        if getattr(args, name) is not None and getattr(args, name) is not False
    ]
    if len(asked) > 1:
        raise InputError(f"one at a time: --{' or --'.join(asked)}")
    if asked and (asked == ["tree"]) != (kind == "derivations"):
        raise InputError(
            f"this is a {kind} file: --rule, --nearest and --states are for models, --tree is for derivations",
            args.file,
        )
    if asked == ["rule"]:
        print(show_rule(args.file, args.rule))
    elif asked == ["nearest"]:
        print(show_nearest(args.file, args.nearest, args.rules))
    elif asked == ["states"]:
        print(show_states(args.file, args.rules))
    elif asked == ["tree"]:
        print(show_tree(args.file, args.tree))
    elif kind == "model":
        print(describe_model(args.file, args.rules))
    else:
        print(describe_derivations(args.file, args.rules))
