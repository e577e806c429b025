"""``lscfg compress``: a model whose tensors are sums of a few outer products."""

from __future__ import annotations

import argparse

HELP = "make tensors of low rank, which take less memory and time"
EXAMPLE = "lscfg compress model.lscfg --cp 8 -o small.lscfg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, OutputFile

    parser.add_argument("model", type=InputFile, metavar="MODEL", help="model file of lscfg estimate")
    parser.add_argument("-o", "--output", type=OutputFile, metavar="MODEL", required=True, help="model file to write")
    parser.add_argument("--cp", type=int, required=True, metavar="R", help="most components of a tensor")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.01,
        metavar="E",
        help="share of a tensor's norm that may be left where fewer components do (default: %(default)s)",
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="the model does not depend on them (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> None:
    """Decomposes the tensors and writes the model.

    Raises:
        InputError: the model cannot be read, or an option is out of range.
    """
    import os

    import numpy as np

    from lscfg import log
    from lscfg.model.compress import CPSettings, compress

    found = compress(args.model, args.output, CPSettings(args.cp, args.tolerance, threads=args.threads))
    before, after = (os.path.getsize(path) for path in (args.model, args.output))
    some = found.error[found.ranks > 0]
    mean, worst = (float(np.mean(some)), float(np.max(some))) if len(some) else (0.0, 0.0)
    log.info(
        f"{len(found.ranks)} tensors, {found.components[-1]} components; relative error {mean:.2g} in the mean, "
        f"{worst:.2g} at most; {before / 1e6:.1f} MB -> {after / 1e6:.1f} MB: {args.output}"
    )
