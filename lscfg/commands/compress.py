"""``lscfg compress``: a model whose tensors are sums of a few outer products."""

from __future__ import annotations

import argparse
import os

import numpy as np

from lscfg import log
from lscfg.io.arguments import InputFile
from lscfg.model.compress import CPSettings, compress
from lscfg.options import add_jobs, add_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("model", type=InputFile, metavar="MODEL", help="model of lscfg estimate")
    add_output(parser, "model to write", metavar="MODEL", required=True)
    parser.add_argument("--cp", type=int, required=True, metavar="R", help="maximum components per tensor")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.01,
        metavar="E",
        help="relative error at which fewer components are enough (default: %(default)s)",
    )
    add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    """Decomposes the tensors and writes the model.

    Raises:
        InputError: the model cannot be read, or an option is out of range.
    """
    found = compress(args.model, args.output, CPSettings(args.cp, args.tolerance, threads=args.jobs))
    before, after = (os.path.getsize(path) for path in (args.model, args.output))
    some = found.error[found.ranks > 0]
    mean, worst = (float(np.mean(some)), float(np.max(some))) if len(some) else (0.0, 0.0)
    log.table(
        {
            "tensors": len(found.ranks),
            "components": int(found.components[-1]),
            "relative error": f"{mean:.2g} mean, {worst:.2g} worst",
            "size": f"{before / 1e6:.1f} MB -> {after / 1e6:.1f} MB",
        }
    )
    log.info(f"wrote {args.output}")
