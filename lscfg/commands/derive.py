"""``lscfg derive``: minimal derivation trees of a word-aligned corpus."""

from __future__ import annotations

import argparse

HELP = "build the minimal derivation tree of each word-aligned sentence pair"
EXAMPLE = "lscfg derive train.ja train.en train.align -o train.deriv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("source", metavar="SOURCE", help="tokenized source text, one sentence a line")
    parser.add_argument("target", metavar="TARGET", help="its translation, line by line")
    parser.add_argument("alignment", metavar="ALIGNMENT", help="Pharaoh alignments i-j, source position first")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="derivation file to write")


def run(args: argparse.Namespace) -> None:
    """Derives, writes the derivation file and logs its sizes.

    Raises:
        InputError: see ``lscfg.corpus.read_parallel`` and ``lscfg.derive.derive``.
    """
    from lscfg import log
    from lscfg.align import read_alignments
    from lscfg.corpus import read_parallel
    from lscfg.derive import derive

    src, tgt = read_parallel(args.source, args.target)
    derivations = derive(src, tgt, read_alignments(args.alignment, len(src)), args.alignment)
    derivations.save(args.output)
    log.info("; ".join(f"{count} {what}" for what, count in derivations.statistics().items()))
