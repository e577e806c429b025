"""``lscfg pack``: a system as one folder that may be moved."""

from __future__ import annotations

import argparse

HELP = "put a system into one folder that may be moved"
EXAMPLE = "lscfg pack ja-en/systems/LATENT -o bundle"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.formats.ini import IniFile
    from lscfg.io.arguments import InputFile, InputFolder, output_folder

    parser.add_argument(
        "system", type=IniFile, metavar="SYSTEM", help="cdec.ini, or the folder of a system of lscfg run"
    )
    parser.add_argument(
        "-w", "--weights", type=InputFile, metavar="WEIGHTS", help="weights (default: those of the ini or the folder)"
    )
    parser.add_argument(
        "--prepare",
        type=InputFolder,
        metavar="DIR",
        help="folder of lscfg prepare corpus, for a system that takes text (default: that of the experiment, if any)",
    )
    parser.add_argument(
        "-o", "--output", type=output_folder(), metavar="DIR", required=True, help="folder to make; it must not exist"
    )


def run(args: argparse.Namespace) -> None:
    """Packs.

    Raises:
        InputError: see ``lscfg.bundle.pack.pack``.
    """
    from lscfg import log
    from lscfg.bundle.pack import pack

    manifest = pack(args.system, args.output, args.weights, args.prepare)
    size = sum(file.bytes for file in manifest.files.values())
    log.info(f"wrote {args.output}: {len(manifest.files)} files of {size / 1e6:,.1f} MB, with their hashes")
