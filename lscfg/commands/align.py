"""``lscfg align``: word alignment of a parallel corpus."""

from __future__ import annotations

import argparse

HELP = "align the words of a parallel corpus (eflomal or FastAlign both ways, symmetrised)"
EXAMPLE = "lscfg align train.ja train.en -o train.align"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("source", metavar="SOURCE", help="tokenized source text, one sentence a line")
    parser.add_argument("target", metavar="TARGET", help="its translation, line by line")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="Pharaoh alignments to write")
    parser.add_argument(
        "--model", choices=("eflomal", "fast-align"), default="eflomal", help="of each direction (default: %(default)s)"
    )
    parser.add_argument(
        "--iterations",
        type=int,
        metavar="N",
        help="eflomal: sweeps of the last stage, with a quarter as many of each of the two before it (default: 5000 "
        "over the root of the number of pairs); fast-align: EM iterations (default: 5)",
    )
    parser.add_argument(
        "--heuristic",
        default="union",
        metavar="NAME",
        help="how the two directions are joined: grow-diag-final-and, grow-diag-final, grow-diag, intersect or union, "
        "which leaves the fewest words without links: minimal rules take such words in wherever they stand "
        "(default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of eflomal's samples (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Aligns and writes one line of links a sentence pair.

    Raises:
        InputError: see ``lscfg.corpus.align.AlignmentSettings`` and ``lscfg.corpus.parallel.read_parallel``.
    """
    from lscfg import log
    from lscfg.corpus.align import AlignmentSettings, align
    from lscfg.corpus.parallel import read_parallel
    from lscfg.io.text import check_output, write_lines

    check_output(args.output)
    settings = AlignmentSettings(args.model, args.heuristic, args.iterations, args.seed)
    src, tgt = read_parallel(args.source, args.target)
    log.info(f"aligning {len(src)} sentence pairs")
    write_lines(args.output, align(src, tgt, settings, args.jobs))
