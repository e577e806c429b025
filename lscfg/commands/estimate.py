"""``lscfg estimate``: the parameters of an L-SCFG from derivations."""

from __future__ import annotations

import argparse
import ctypes
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lscfg.extract.derive import Derivations
    from lscfg.model.parameters import Parameters

M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX = -3, -1, -8  # of malloc.h

HELP = "estimate L-SCFG parameters from derivations"
EXAMPLE = "lscfg estimate spectral train.deriv -m 8 -o spectral8.lscfg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "method",
        choices=("mle", "spectral", "em", "clusters"),
        help="mle: relative frequencies, one state; spectral: method of moments; em: expectation maximisation; "
        "clusters: states counted from clusters of the spectral embedding, then a few iterations of EM",
    )
    parser.add_argument("derivations", metavar="DERIVATIONS", help="derivation file of lscfg derive")
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="model file to write")
    parser.add_argument("-m", type=int, default=8, metavar="M", help="hidden states (not mle; default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of random choices (default: %(default)s)")
    parser.add_argument(
        "--max-targets",
        type=int,
        default=0,
        metavar="K",
        help="most frequent target sides that a source side keeps (mle and spectral; default: all)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="workers; the model does not depend on them (default: %(default)s)",
    )
    parser.add_argument(
        "--precision",
        choices=("single", "double"),
        default="single",
        help="of the tensors in the file; sums over them are in double precision anyway (default: %(default)s)",
    )
    parser.add_argument(
        "--context",
        metavar="TEXT",
        help="source side of the corpus: the model also learns which target side a rule has among the words around it",
    )
    parser.add_argument(
        "--hiero-context",
        nargs="+",
        metavar="FILE",
        help="the same of Hiero rules, for use with a Hiero grammar: source side, target side, one or more alignments; "
        "with --context of both kinds of rules",
    )
    _add_spectral(parser.add_argument_group("spectral"))
    _add_em_arguments(parser)


def _add_spectral(group: argparse._ArgumentGroup) -> None:
    both = "lexical, class, length, arity, real, constant"
    group.add_argument(
        "--inside",
        metavar="LIST",
        default="rule,children",
        help=f"inside features: rule, children, {both} (default: %(default)s)",
    )
    group.add_argument(
        "--outside",
        metavar="LIST",
        default="parent,sibling",
        help=f"outside features: parent, sibling, slot, {both} (default: %(default)s)",
    )
    group.add_argument("--src-classes", metavar="FILE", help="classes of source words, 'word class' a line")
    group.add_argument("--tgt-classes", metavar="FILE", help="classes of target words")
    group.add_argument(
        "--rule-values", metavar="FILE", help="values for the feature 'real', 'SRC ||| TGT ||| value ...' a line"
    )
    group.add_argument(
        "--min-count", type=int, default=1, metavar="N", help="drop features of fewer examples (default: %(default)s)"
    )
    group.add_argument("--no-scaling", action="store_true", help="do not scale features by their frequency")
    group.add_argument(
        "--smoothing",
        type=float,
        default=0.0,
        metavar="C",
        help="interpolate moments with those of lower order (Cohen et al. 2013; default: 0, none)",
    )
    group.add_argument("--svd", choices=("arpack", "randomized"), default="arpack", help="default: %(default)s")


def _add_em_arguments(parser: argparse.ArgumentParser) -> None:
    em = parser.add_argument_group("em and clusters")
    em.add_argument("--iterations", type=int, metavar="N", help="at most so many (default: 25, after clusters 5)")
    em.add_argument(
        "--init", choices=("random", "matsuzaki", "clusters"), default="random", help="beginning (default: %(default)s)"
    )
    em.add_argument("--restarts", type=int, default=1, metavar="N", help="beginnings (default: %(default)s)")
    em.add_argument(
        "--shrink-source",
        type=float,
        default=5,
        metavar="X",
        help="pseudo-counts that pull a rule's states to those of its source side (default: %(default)s)",
    )
    em.add_argument(
        "--shrink-arity",
        type=float,
        default=25,
        metavar="X",
        help="... and those of the source side to the arity's (default: %(default)s); both 0: EM without smoothing",
    )
    em.add_argument(
        "--held-out",
        type=float,
        default=0,
        metavar="SHARE",
        help="of the sentences, whose likelihood ends EM and chooses the model (default: none)",
    )
    em.add_argument("--checkpoint", metavar="DIR", help="folder that keeps the state after each iteration")
    em.add_argument("--resume", action="store_true", help="go on from the checkpoint")


def run(args: argparse.Namespace) -> None:
    """Estimates and writes the model.

    Raises:
        InputError: a file cannot be read or does not fit the others, or the text is too little for the rank asked.
    """
    from lscfg import log
    from lscfg.context.loglinear import RuleTokens, add_context, read_source
    from lscfg.errors import InputError
    from lscfg.estimate.features import FeatureSources
    from lscfg.estimate.mle import estimate_mle
    from lscfg.estimate.spectral import SpectralSettings, spectral_estimate
    from lscfg.extract.derive import Derivations
    from lscfg.io.text import check_output, read_lines

    _check_options(args)
    _keep_freed_memory()
    check_output(args.output)
    derivations = Derivations.load(args.derivations)
    if args.hiero_context and len(args.hiero_context) < 3:
        raise InputError("--hiero-context needs three files or more: source, target and alignments")
    source = read_source(args.context, derivations) if args.context else []
    if args.hiero_context:
        text = read_lines(args.hiero_context[0])
        if args.context and text != source:
            raise InputError("--context has another text; give the same one to both", args.hiero_context[0])
        source = text
    # before what may take hours: a fault of these files would come too late behind it
    tokens = [RuleTokens.minimal(derivations)] if args.context else []
    if args.hiero_context:
        src, tgt, *alignments = args.hiero_context
        tokens.insert(0, RuleTokens.hiero(src, tgt, alignments))
    if args.method == "mle":
        model: Any = estimate_mle(derivations, args.max_targets)
    elif args.method in ("em", "clusters"):
        model = _run_em(args, derivations)
    else:
        settings = SpectralSettings(
            rank=args.m,
            inside=tuple(args.inside.split(",")),
            outside=tuple(args.outside.split(",")),
            seed=args.seed,
            min_count=args.min_count,
            scaling=not args.no_scaling,
            smoothing=args.smoothing,
            max_targets=args.max_targets,
            svd=args.svd,
            sources=FeatureSources(args.src_classes, args.tgt_classes, args.rule_values),
            threads=args.threads,
        )
        model = spectral_estimate(derivations, settings)
    if tokens:
        model = add_context(model, reduce(RuleTokens.with_those_of, tokens), source)
    model.save(args.output, "float32" if args.precision == "single" else "float64")
    log.info(f"{len(model.rules)} rules, m = {model.rank}: {args.output}")


SPECTRAL = ("spectral",)
EM = ("em", "clusters")
METHODS = {
    **dict.fromkeys(("inside", "outside", "src_classes", "tgt_classes", "rule_values", "min_count"), SPECTRAL),
    **dict.fromkeys(("no_scaling", "smoothing", "svd"), SPECTRAL),
    **dict.fromkeys(("iterations", "restarts", "shrink_source", "shrink_arity", "held_out"), EM),
    **dict.fromkeys(("checkpoint", "resume"), EM),
    "init": ("em",),
    "max_targets": ("mle", "spectral"),
}
"""What each option is for, where it is not for all methods."""


def _check_options(args: argparse.Namespace) -> None:
    """Refuses options that the method would ignore."""
    from lscfg.errors import InputError

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for name, methods in METHODS.items():
        if args.method not in methods and getattr(args, name) != parser.get_default(name):
            raise InputError(f"--{name.replace('_', '-')} is for {' and '.join(methods)}, not for {args.method}")


def _keep_freed_memory() -> None:
    """Tells the C library, where it is GNU's, to keep what is freed and use it again, in all threads.

    Large arrays that come and go are otherwise given back to the system and their pages made anew each time: a fifth of
    the time of a spectral estimate, and a fifth of its memory (benchmarks/spectral.py).
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for option, value in ((M_MMAP_THRESHOLD, 32 << 20), (M_TRIM_THRESHOLD, 2**31 - 1), (M_ARENA_MAX, 1)):
            library.mallopt(option, value)


def _run_em(args: argparse.Namespace, derivations: Derivations) -> Parameters:
    from lscfg.errors import InputError
    from lscfg.estimate.em import EMSettings, estimate_em

    if args.threads < 1:
        raise InputError(f"the number of threads must be at least 1, got {args.threads}")
    if args.resume and not args.checkpoint:
        raise InputError("--resume needs the folder: --checkpoint DIR")
    settings = EMSettings.of(
        args.method,
        args.iterations,
        args.init,
        rank=args.m,
        restarts=args.restarts,
        seed=args.seed,
        shrink_source=args.shrink_source,
        shrink_arity=args.shrink_arity,
        held_out=args.held_out,
    )
    return estimate_em(derivations, settings, args.threads, args.checkpoint, args.resume)
