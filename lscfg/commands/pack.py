"""``lscfg pack``: a system as one folder that may be moved."""

from __future__ import annotations

import argparse

from lscfg import log
from lscfg.bundle.pack import pack
from lscfg.bundle.system import one_system
from lscfg.io.arguments import InputFolder, output_folder
from lscfg.options import add_config, add_glossary, add_output, add_weights


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "system", type=InputFolder, metavar="SYSTEM", nargs="?", help="system's folder of lscfg run, instead of -c"
    )
    add_config(parser, required=False)
    add_weights(parser)
    parser.add_argument(
        "--prepare",
        type=InputFolder,
        metavar="DIR",
        help="folder of lscfg prepare corpus, for a system that takes raw text (default: the experiment's, if any)",
    )
    add_glossary(
        parser,
        "table of terms; fits the least weight with which development translations use 90 %% of the soft terms",
    )
    parser.add_argument(
        "--texts", action="store_true", help="also pack the texts of grammars and language models, for cdec and Moses"
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="drop small tensor entries and context weights, and store the others in 8 bits",
    )
    add_output(parser, "folder to write; it may be an older bundle", type=output_folder(), metavar="DIR", required=True)


def run(args: argparse.Namespace) -> None:
    """Packs.

    Raises:
        InputError: as in ``lscfg.bundle.pack.pack``; or there is not one system.
    """
    manifest = pack(
        one_system(args.system, args.config),
        args.output,
        args.weights,
        args.prepare,
        glossary=args.glossary,
        texts=args.texts,
        small=args.small,
    )
    size = sum(file.bytes for file in manifest.files.values())
    log.info(f"wrote {args.output}: {len(manifest.files)} files of {size / 1e6:,.1f} MB, with their hashes")
