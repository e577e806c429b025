"""``lscfg derive``: minimal derivation trees of a word-aligned corpus."""

from __future__ import annotations

import argparse

HELP = "build the minimal derivation tree of each word-aligned sentence pair"
EXAMPLE = "lscfg derive train.ja train.en train.align -o train.deriv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, OutputFile
    from lscfg.kernel import DeriveOptions, TreeOptions
    from lscfg.settings import add_options, settings_of

    parser.add_argument("source", type=InputFile, metavar="SOURCE", help="tokenized source text, one sentence a line")
    parser.add_argument("target", type=InputFile, metavar="TARGET", help="its translation, line by line")
    parser.add_argument(
        "alignment",
        type=InputFile,
        metavar="ALIGNMENT",
        nargs="+",
        help="Pharaoh alignments i-j, source position first; of several files each gives every pair a tree",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=OutputFile,
        metavar="FILE",
        required=True,
        help="derivation file to write; all names may end in .gz",
    )
    add_options(parser.add_argument_group("trees"), TreeOptions)
    pairs = {item.name for item in settings_of(TreeOptions)}
    add_options(parser.add_argument_group("sentence pairs"), DeriveOptions, leave=pairs)
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="the output is the same for any number (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Derives, writes the derivation file and logs its sizes.

    Raises:
        InputError: see ``lscfg.kernel.DeriveOptions`` and ``lscfg.extract.derive.derive_files``.
    """
    from lscfg import log
    from lscfg.extract.derive import derive_files
    from lscfg.kernel import DeriveOptions
    from lscfg.settings import from_options

    options = from_options(DeriveOptions, args)
    sizes = derive_files(args.source, args.target, args.alignment, args.output, options, args.threads)
    log.info("; ".join(f"{what}: {count}" for what, count in sizes.items()))
