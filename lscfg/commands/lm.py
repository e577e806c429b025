"""``lscfg lm``: an n-gram language model from text."""

from __future__ import annotations

import argparse

HELP = "estimate an n-gram language model (ARPA) from tokenized text"
EXAMPLE = "lscfg lm train.en -o lm.arpa.gz --order 4"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, OutputFile

    parser.add_argument(
        "text", type=InputFile, metavar="TEXT", help="tokenized text, one sentence a line (UTF-8, .gz allowed)"
    )
    parser.add_argument(
        "-o", "--output", type=OutputFile, metavar="ARPA", required=True, help="model to write (.gz allowed)"
    )
    parser.add_argument(
        "--order", type=int, default=4, metavar="N", help="longest n-grams, 2..6 (default: %(default)s)"
    )
    parser.add_argument(
        "--prune",
        type=int,
        nargs="+",
        default=[],
        metavar="K",
        help="drop n-grams seen at most K times; one K for each order, the last goes for the rest (as in 0 0 1)",
    )
    parser.add_argument(
        "--discount-fallback",
        action="store_true",
        help="use discounts 0.5 1 1.5 where a small text does not determine them, rather than stop",
    )
    parser.add_argument(
        "--estimator",
        choices=("auto", "lscfg", "lmplz"),
        default="auto",
        help="lscfg: built in; lmplz: KenLM's; auto: lmplz if it is on the PATH (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Estimates and writes the model.

    Raises:
        InputError: see ``lscfg.lm.lmplz.build_lm``.
    """
    from lscfg import log
    from lscfg.lm.estimate import DEFAULT_FALLBACK
    from lscfg.lm.lmplz import build_lm

    fallback = DEFAULT_FALLBACK if args.discount_fallback else None
    used = build_lm(args.text, args.output, args.order, args.prune, fallback, args.estimator)
    log.info(f"{args.order}-gram model of {args.text} estimated by {used}: {args.output}")
