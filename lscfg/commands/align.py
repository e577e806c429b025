"""``lscfg align``: word alignment of a parallel corpus."""

from __future__ import annotations

import argparse

HELP = "align the words of a parallel corpus (FastAlign both ways, symmetrised)"
EXAMPLE = "lscfg align train.ja train.en -o train.align"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("source", metavar="SOURCE", help="tokenized source text, one sentence a line")
    parser.add_argument("target", metavar="TARGET", help="its translation, line by line")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="Pharaoh alignments to write")
    parser.add_argument("--iterations", type=int, default=5, metavar="N", help="EM iterations (default: %(default)s)")
    parser.add_argument(
        "--heuristic",
        default="grow-diag-final-and",
        metavar="NAME",
        help="how the two directions are joined: grow-diag-final-and, grow-diag-final, grow-diag, intersect or union "
        "(default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Aligns and writes one line of links a sentence pair.

    Raises:
        InputError: see ``lscfg.corpus.read_parallel`` and ``lscfg.align.align``.
    """
    from lscfg import log
    from lscfg.align import align
    from lscfg.corpus import read_parallel
    from lscfg.text import write_lines

    src, tgt = read_parallel(args.source, args.target)
    log.info(f"aligning {len(src)} sentence pairs")
    write_lines(args.output, align(src, tgt, args.iterations, args.heuristic, args.jobs))
