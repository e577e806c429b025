"""``lscfg lm``: an n-gram language model from text."""

from __future__ import annotations

import argparse

from lscfg import log
from lscfg.io.arguments import InputFile
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.lm.lmplz import build_lm
from lscfg.options import add_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "text", type=InputFile, metavar="TEXT", help="tokenised text, one sentence per line, .gz allowed"
    )
    add_output(parser, "ARPA file to write, .gz allowed", required=True)
    parser.add_argument(
        "--order", type=int, default=4, metavar="N", help="words of the longest n-grams, 2 to 6 (default: %(default)s)"
    )
    parser.add_argument(
        "--prune",
        type=int,
        nargs="+",
        default=[],
        metavar="K",
        help="drop n-grams seen at most K times; one K for each order, the last K for all higher orders",
    )
    parser.add_argument(
        "--discount-fallback",
        action="store_true",
        help="use the discounts 0.5, 1 and 1.5 where the text is too small to estimate them",
    )
    parser.add_argument(
        "--estimator",
        choices=("lscfg", "lmplz"),
        default="lscfg",
        help="lscfg: built in, in memory; lmplz: KenLM's program, for large text (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Estimates and writes the model.

    Raises:
        InputError: see ``lscfg.lm.lmplz.build_lm``.
    """
    fallback = DEFAULT_FALLBACK if args.discount_fallback else None
    build_lm(args.text, args.output, args.order, args.prune, fallback, args.estimator)
    log.info(f"wrote {args.output}: {args.order}-grams of {args.text}, estimated by {args.estimator}")
