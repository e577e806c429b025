"""``lscfg estimate``: the parameters of an L-SCFG from derivations."""

from __future__ import annotations

import argparse

HELP = "estimate L-SCFG parameters from derivations"
EXAMPLE = "lscfg estimate spectral train.deriv -m 8 -o spectral8.lscfg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "method", choices=("mle", "spectral"), help="mle: relative frequencies, one state; spectral: method of moments"
    )
    parser.add_argument("derivations", metavar="DERIVATIONS", help="derivation file of lscfg derive")
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="model file to write")
    parser.add_argument("-m", type=int, default=8, metavar="M", help="hidden states (spectral; default: %(default)s)")
    parser.add_argument(
        "--inside", metavar="LIST", default="rule,children", help="inside features (default: %(default)s)"
    )
    parser.add_argument(
        "--outside",
        metavar="LIST",
        default="parent,sibling",
        help="outside features: parent, sibling, slot (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the SVD's start (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Estimates and writes the model.

    Raises:
        InputError: the derivation file cannot be read, or the text is too little for the rank asked.
    """
    from lscfg import log
    from lscfg.derive import Derivations
    from lscfg.estimate.mle import estimate_mle
    from lscfg.estimate.spectral import SpectralSettings, estimate_spectral

    derivations = Derivations.load(args.derivations)
    if args.method == "mle":
        parameters = estimate_mle(derivations)
    else:
        settings = SpectralSettings(args.m, tuple(args.inside.split(",")), tuple(args.outside.split(",")), args.seed)
        parameters = estimate_spectral(derivations, settings)
        spectrum = parameters.about["singular values"]
        log.info("singular values " + " ".join(f"{value:.4f}" for value in spectrum))
    parameters.save(args.output)
    log.info(f"{len(parameters.rules)} rules, m = {parameters.rank}: {args.output}")
