"""``lscfg compress``: a model of smaller tensors, as sums of a few outer products or without small entries."""

from __future__ import annotations

import argparse
import os

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.io.arguments import InputFile
from lscfg.io.tensors import check_model_output
from lscfg.model.compress import CPSettings, compress, make_sparse
from lscfg.options import add_jobs, add_output

TOLERANCE = CPSettings.tolerance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("model", type=InputFile, metavar="MODEL", help="model of lscfg estimate")
    add_output(parser, "model to write", metavar="MODEL", required=True)
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--cp", type=int, metavar="R", help="maximum components per tensor")
    form.add_argument(
        "--sparse",
        type=float,
        metavar="T",
        help="drop entries below this share of their tensor's sum, and store the others in 8 bits; start with 0.0001",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="E",
        help=f"relative error at which fewer components are enough (default: {TOLERANCE})",
    )
    add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    """Makes the tensors smaller and writes the model.

    Raises:
        InputError: the model cannot be read, the output ends in .gz, or an option is out of range.
    """
    check_model_output(args.output)
    facts: dict[str, object]
    if args.sparse is not None and args.tolerance is not None:
        raise InputError("--tolerance belongs to --cp; leave it out with --sparse")
    if args.sparse is not None:
        kept = make_sparse(args.model, args.output, args.sparse)
        facts = {
            "tensors of arity 2": f"{len(kept.index)}, of them {len(kept.scales)} different",
            "entries of a tensor": f"{len(kept.codes) / max(1, len(kept.scales)):.0f} on average",
            "dropped": f"{kept.dropped:.2g} of the sum",
        }
    else:
        found = compress(
            args.model,
            args.output,
            CPSettings(args.cp, TOLERANCE if args.tolerance is None else args.tolerance, threads=args.jobs),
        )
        some = found.error[found.ranks > 0]
        mean, worst = (float(np.mean(some)), float(np.max(some))) if len(some) else (0.0, 0.0)
        facts = {
            "tensors": len(found.ranks),
            "components": int(found.components[-1]),
            "relative error": f"{mean:.2g} mean, {worst:.2g} worst",
        }
    before, after = (os.path.getsize(path) for path in (args.model, args.output))
    log.table({**facts, "size": f"{before / 1e6:.1f} MB -> {after / 1e6:.1f} MB"})
    log.info(f"wrote {args.output}")
