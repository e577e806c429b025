"""``lscfg grammar``: the minimal grammar with its features."""

from __future__ import annotations

import argparse

HELP = "write the minimal grammar of derivations, with its features, in cdec's format"
EXAMPLE = "lscfg grammar train.deriv -o min.grammar.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("derivations", metavar="DERIVATIONS", help="derivation file of lscfg derive")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="grammar to write (.gz allowed)")
    parser.add_argument(
        "--max-targets",
        type=int,
        default=30,
        metavar="N",
        help="most frequent target sides that a source side keeps (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Writes the grammar.

    Raises:
        InputError: the derivation file cannot be read.
    """
    from lscfg import log
    from lscfg.derive import Derivations
    from lscfg.grammar import write_grammar

    log.info(f"{write_grammar(args.output, Derivations.load(args.derivations), args.max_targets)} rules: {args.output}")
