"""``lscfg rescore``: reranks k-best lists by new scores, by a network or by minimum Bayes risk."""

from __future__ import annotations

import argparse

from lscfg import log
from lscfg.corpus.parallel import read_scored_lines
from lscfg.errors import InputError, counted, quote
from lscfg.formats.kbest import format_hypothesis
from lscfg.formats.weights import read_weights, warn_of_weights, write_weights
from lscfg.io.arguments import InputFile, NamedFile, OutputFile
from lscfg.io.write import put_lines
from lscfg.options import add_kbest, add_output, add_reference, add_seed, add_weights, finite
from lscfg.tuning.mbr import check_scale
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.optimisers import OPTIMISERS, takes_graphs
from lscfg.tuning.rescore import Lists, distinct, ranked, ranked_by_risk, read_lists, tune_lists
from lscfg.tuning.target_network import FEATURE, with_joint_scores
from lscfg.tuning.tune import TuneSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "lists",
        type=InputFile,
        nargs="+",
        metavar="LISTS",
        help="k-best lists of lscfg decode -k, cdec or Moses; with --mbr also of several systems, one file each",
    )
    parser.add_argument(
        "--scores",
        type=NamedFile,
        metavar="NAME=FILE",
        action="append",
        default=[],
        help="a new feature: a number for each line of the lists; repeat for several",
    )
    parser.add_argument(
        "--network",
        type=InputFile,
        metavar="MODEL",
        help=f"model of lscfg estimate neural; adds the feature {FEATURE}, its score of the whole translation",
    )
    parser.add_argument(
        "--derivations",
        type=InputFile,
        metavar="FILE",
        help="file that lscfg decode --derivations wrote with the lists, required by --network",
    )
    add_weights(parser, "feature weights (default: the lists' own scores)")
    add_output(parser)
    add_kbest(parser)
    risk = parser.add_argument_group("minimum Bayes risk")
    risk.add_argument(
        "--mbr",
        choices=[name for name in METRICS.names() if METRICS[name].FROM_TEXT],
        help="choose the translation closest to the others of its list, or of all lists",
    )
    risk.add_argument(
        "--scale",
        type=finite,
        default=1.0,
        metavar="X",
        help="factor of scores before they become probabilities (default: %(default)s)",
    )
    tuning = parser.add_argument_group("tuning of the weights")
    tuning.add_argument(
        "--tuned",
        type=OutputFile,
        metavar="WEIGHTS",
        help="file for weights tuned on these lists; translations need -o, -k or --mbr, too",
    )
    add_reference(tuning, required=False)
    tuning.add_argument(
        "--optimiser",
        choices=[name for name in OPTIMISERS.names() if not takes_graphs(name)],
        default=TuneSettings.optimiser,
        help="optimiser (default: %(default)s)",
    )
    add_seed(tuning, TuneSettings.seed, "tuning")


def run(args: argparse.Namespace) -> None:
    """Tunes, if asked, and writes the best translations or the lists.

    Raises:
        InputError: a file cannot be read, is malformed or does not fit the others, or options do not go together.
    """
    _check(args)
    lists, weights = _weighted(args)
    if args.tuned and not (args.output or args.mbr or args.kbest is not None):
        return
    lists = [ranked(one, weights) for one in lists]
    if args.mbr:
        systems = list(zip(lists, *_others(args, len(lists)), strict=True))
        lists = [ranked_by_risk(one, args.mbr, args.scale) for one in log.progress(systems, "rescore", len(systems))]
    if args.unique:
        lists = [distinct(one) for one in lists]
    if args.kbest is None:
        put_lines(args.output, (found[0].text if found else "" for found in lists))
    else:
        groups = (found[: args.kbest] for found in lists)
        put_lines(args.output, (format_hypothesis(k, one) for k, found in enumerate(groups) for one in found))


def _check(args: argparse.Namespace) -> None:
    if args.kbest is not None and args.kbest < 1:
        raise InputError(f"--kbest must be 1 or more, not {args.kbest}")
    if args.unique and args.kbest is None:
        raise InputError("-r has no effect without -k; give both, or neither")
    check_scale(args.scale)
    if args.scale != 1.0 and not args.mbr:
        raise InputError("--scale needs --mbr: probabilities serve minimum Bayes risk only")
    if not args.tuned and (args.optimiser != TuneSettings.optimiser or args.seed != TuneSettings.seed):
        raise InputError("--optimiser and --seed need --tuned, the file for tuned weights")
    if bool(args.tuned) != bool(args.reference):
        raise InputError("--tuned and --reference go together: weights are tuned against a reference")
    if args.network and not args.derivations:
        raise InputError("--network needs --derivations, the file that lscfg decode --derivations wrote with the lists")
    if args.derivations and not args.network:
        raise InputError("--derivations needs --network, a model of lscfg estimate neural")
    if len(args.lists) > 1 and (not args.mbr or args.weights or args.scores or args.network or args.tuned):
        cure = "use --mbr, without weights" if not args.mbr else "leave out -w, --scores, --network and --tuned"
        raise InputError(f"lists of {len(args.lists)} systems, each with its own scores: {cure}")
    if (args.scores or args.network or args.tuned) and not args.weights:
        raise InputError("no weights; name the decoder's with -w, and find those of new features with --tuned")
    names = [one.name for one in args.scores]
    for name in names:
        if not name:
            raise InputError("--scores is NAME=FILE: the new feature's name and its values")
        if names.count(name) > 1:
            raise InputError(f"--scores names {quote(name)} twice")


def _others(args: argparse.Namespace, sentences: int) -> list[Lists]:
    """The lists of all systems but the first."""
    found = []
    for path in args.lists[1:]:
        found.append(read_lists(path, {}))
        if len(found[-1]) != sentences:
            raise InputError(
                f"lists of {counted(len(found[-1]), 'sentence')}, but {args.lists[0]} has {sentences}; "
                "name lists of the same text",
                path,
            )
    return found


def _weighted(args: argparse.Namespace) -> tuple[Lists, dict[str, float] | None]:
    """The lists with the new features, and the weights: those given, or tuned ones, which are written."""
    weights = read_weights(args.weights) if args.weights else None
    references: list[list[str]] = []
    for path in args.reference or ():
        wanted = len(references[0]) if references else None
        references.append(read_scored_lines(path, wanted, args.reference[0]))
    if references and not references[0]:
        raise InputError("is empty; give a reference for each sentence", args.reference[0])
    columns = {one.name: one.path for one in args.scores}
    lists = read_lists(args.lists[0], columns, len(references[0]) if references else 0)
    if args.network:
        if any(FEATURE in one.features for own in lists for one in own):
            cure = "leave out --network, or give the lists of lscfg decode"
            raise InputError(f"the lists have a feature {FEATURE} already; {cure}", args.lists[0])
        lists = with_joint_scores(lists, args.network, args.derivations, columns)
    if weights is None:
        return lists, None
    names = {name for one in lists for hypothesis in one for name in hypothesis.features}
    if not args.tuned:
        warn_of_weights(weights, names, sorted(names), args.weights, "lists")
    if args.tuned:
        settings = TuneSettings(kbest=max(map(len, lists)), optimiser=args.optimiser, seed=args.seed)
        result = tune_lists(lists, references, weights, settings)
        best = result.history[result.best_iteration - 1]
        log.info(f"{result.stopped}; best BLEU {best.dev_bleu:.2f} in iteration {best.iteration}")
        write_weights(args.tuned, result.weights)
        log.info(f"wrote {args.tuned}")
        return lists, result.weights
    return lists, weights
