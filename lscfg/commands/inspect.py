"""``lscfg inspect``: what is in a file of a model, of derivations or of a grammar."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile

    parser.add_argument("file", type=InputFile, metavar="FILE", help="model, derivations, or grammar")
    parser.add_argument("--rules", type=int, default=5, metavar="N", help="most rules shown (default: %(default)s)")
    parser.add_argument("--rule", metavar="'SRC ||| TGT'", help="show the tensor of this rule")
    parser.add_argument("--nearest", metavar="'SRC ||| TGT'", help="show the rules nearest to this one in latent space")
    parser.add_argument("--states", action="store_true", help="show the rules of each hidden state")
    parser.add_argument(
        "--tree",
        type=int,
        metavar="N",
        help="show tree N, counted from 1; trees of a second alignment follow those of the first",
    )
    parser.add_argument(
        "--trees", action="store_true", help="show all trees, in the form that a file NAME.trees of other programs has"
    )
    parser.add_argument(
        "--rule-types",
        action="store_true",
        help="count the rules of a grammar by their nonterminals, with the mean number of their words",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the description.

    Raises:
        InputError: the file cannot be read, or does not hold what is asked for.
    """
    import sys

    from lscfg.errors import InputError
    from lscfg.extract.derive import Derivations
    from lscfg.extract.trees import has_trees
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
    if args.rule_types:
        from lscfg.study.rule_types import describe_rule_types

        print(describe_rule_types(args.file))
        return
    kind = "derivations" if has_trees(args.file) else tensors.file_kind(args.file)
    asked = [
        name
        for name in ("rule", "nearest", "states", "tree", "trees")
        if getattr(args, name) is not None and getattr(args, name) is not False
    ]
    if len(asked) > 1:
        raise InputError(f"one at a time: --{' or --'.join(asked)}")
    if asked and (asked[0] in ("tree", "trees")) != (kind == "derivations"):
        raise InputError(
            f"this is a {kind} file: --rule, --nearest and --states are for models, --tree and --trees for derivations",
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
    elif asked == ["trees"]:
        sys.stdout.writelines(f"{line}\n" for line in Derivations.load(args.file).text_lines())
    elif kind == "model":
        print(describe_model(args.file, args.rules))
    else:
        print(describe_derivations(args.file, args.rules))
