"""``lscfg marginals``: what a model says of sentences."""

from __future__ import annotations

import argparse

HELP = "parse sentences with a model's rules and print all marginals and features as JSON lines"
EXAMPLE = "lscfg marginals spectral8.lscfg dev.ja > dev.marginals.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("model", metavar="MODEL", help="model file of lscfg estimate")
    parser.add_argument("text", metavar="TEXT", help="tokenized source sentences, one a line")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of standard output (.gz allowed)")
    parser.add_argument("--raw", action="store_true", help="features as values, not as natural logarithms")
    parser.add_argument("--floor", type=float, default=1e-6, help="no logarithm of less (default: %(default)s)")
    parser.add_argument(
        "--negative",
        choices=("flip", "clamp"),
        default="flip",
        help="a negative marginal counts as its absolute value or as zero (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Writes one JSON object a sentence.

    Raises:
        InputError: the model or the text cannot be read.
    """
    import json
    import sys

    from lscfg.kernel import Binding, FeatureOptions, Model
    from lscfg.log import progress
    from lscfg.marginals import sentence_record
    from lscfg.text import atomic_write, read_lines

    model = Model(args.model)
    grammar = model.grammar()
    binding = Binding(model, grammar)
    options = FeatureOptions(not args.raw, args.floor, args.negative)
    lines = read_lines(args.text)
    records = (
        json.dumps({"id": k, **sentence_record(grammar, binding, line.split(), options)}, ensure_ascii=False) + "\n"
        for k, line in enumerate(progress(lines, "marginals"))
    )
    if args.output:
        with atomic_write(args.output) as file:
            file.writelines(records)
    else:
        sys.stdout.writelines(records)
