"""``lscfg align``: word alignment of a parallel corpus."""

from __future__ import annotations

import argparse
import dataclasses

HELP = "align the words of a parallel corpus"
EXAMPLE = "lscfg align train.ja train.en -o train.align"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.corpus.align import AlignmentSettings, aligners
    from lscfg.io.arguments import InputFile, OutputFile
    from lscfg.options import add_jobs
    from lscfg.settings import add_kind_options, add_options

    parser.add_argument("source", type=InputFile, metavar="SOURCE", help="tokenized source text, one sentence a line")
    parser.add_argument("target", type=InputFile, metavar="TARGET", help="tokenized translation, line by line")
    parser.add_argument(
        "-o", "--output", type=OutputFile, metavar="FILE", required=True, help="Pharaoh alignments to write"
    )
    add_options(parser, AlignmentSettings)
    add_kind_options(parser, aligners())
    add_jobs(parser, ", and no more than 2 are used")


def run(args: argparse.Namespace) -> None:
    """Aligns and writes one line of links a sentence pair.

    Raises:
        InputError: see ``lscfg.corpus.align.AlignmentSettings`` and ``lscfg.corpus.parallel.read_parallel``.
    """
    from lscfg import log
    from lscfg.corpus.align import AlignmentSettings, align, aligners
    from lscfg.corpus.parallel import read_parallel
    from lscfg.io.text import write_lines
    from lscfg.settings import from_kind_options, from_options

    settings = from_options(AlignmentSettings, args)
    settings = dataclasses.replace(settings, aligner=from_kind_options(settings.model, aligners(), args))
    src, tgt = read_parallel(args.source, args.target)
    log.info(f"aligning {len(src)} sentence pairs")
    write_lines(args.output, align(src, tgt, settings, args.jobs))
