"""``lscfg estimate``: the parameters of an L-SCFG from derivations."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.context.inputs import ContextInputs
    from lscfg.settings import Declared

NONE = "none"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares an action for each estimator, with its own settings as options."""
    from lscfg.cli import add_action
    from lscfg.estimate.estimator import ESTIMATORS
    from lscfg.io.arguments import InputFile
    from lscfg.settings import add_options

    actions = parser.add_subparsers(dest="estimator", metavar="ESTIMATOR", required=True)
    for name in ESTIMATORS.names():
        found = ESTIMATORS[name]
        action = add_action(actions, name, found.HELP)
        _add_common(action)
        add_options(action.add_argument_group(f"settings of {name}"), found.Settings)
        if found.CHECKPOINTS:
            action.add_argument("--checkpoint", metavar="DIR", help="folder for the state after each iteration")
            action.add_argument("--resume", action="store_true", help="continue from what is already there")
        _add_context(action.add_argument_group("context of the words around a rule"))
        _add_scorer(action)
        action.add_argument(
            "--boundary",
            type=InputFile,
            metavar="MODEL",
            help="model of lscfg induce biparse --boundary-model, whose weights of spans the new one takes over",
        )


def _add_common(parser: argparse.ArgumentParser) -> None:
    from lscfg.io.arguments import InputFile
    from lscfg.options import add_cluster, add_jobs, add_output

    parser.add_argument("derivations", type=InputFile, metavar="DERIVATIONS", help="derivations of lscfg derive")
    add_output(parser, "model to write", metavar="MODEL", required=True)
    add_jobs(parser)
    add_cluster(parser)
    parser.add_argument(
        "--precision",
        choices=("single", "double"),
        default="single",
        help="precision of the tensors in the file (default: %(default)s)",
    )


def _add_context(group: argparse._ArgumentGroup) -> None:
    from lscfg.context.learner import CONTEXT_MODELS, DEFAULTS
    from lscfg.io.arguments import InputFile
    from lscfg.settings import add_options

    group.add_argument(
        "--context",
        type=InputFile,
        metavar="TEXT",
        help="source side of the corpus; the model also learns how well target sides fit the words around a rule",
    )
    group.add_argument(
        "--hiero-context",
        type=InputFile,
        nargs="+",
        metavar="FILE",
        help="SOURCE TARGET ALIGNMENT...; learns the context of Hiero rules too, or alone without --context",
    )
    group.add_argument(
        "--context-model",
        choices=(*_models(True), NONE),
        default=DEFAULTS[0],
        help="context model; none: a scorer alone, which --sense names (default: %(default)s)",
    )
    group.add_argument(
        "--tokens",
        choices=("minimal", "phrases"),
        default="minimal",
        help="whose target sides --context is learned of: the derivations' rules, or their phrase pairs, which are the "
        "rules of lscfg grammar --phrases (default: %(default)s)",
    )
    group.add_argument(
        "--leave-out",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="random share of the tokens that it is not learned from, for lscfg mrr --protocol thesis (default: 0)",
    )
    group.add_argument(
        "--views-text",
        type=InputFile,
        metavar="TEXT",
        help="further source text, without translations; the joint context model and scorers with --sense-k learn from "
        "it, too, which words are around the same ones",
    )
    for name in _models(True):
        add_options(group, CONTEXT_MODELS[name].Settings, prefix=name)


def _add_scorer(parser: argparse.ArgumentParser) -> None:
    from lscfg.settings import add_kind_options

    parser.add_argument(
        "--sense",
        choices=_models(False),
        help="with --context: also a scorer of target sides of this kind, from few dimensions (default: none)",
    )
    add_kind_options(parser, _scorers(), "sense")


def _models(weights: bool) -> tuple[str, ...]:
    """The context models with weights, or the low-dimensional ones."""
    from lscfg.context.learner import CONTEXT_MODELS
    from lscfg.kernel import CONTEXT_FEATURES

    return tuple(name for name in CONTEXT_MODELS if (CONTEXT_MODELS[name].FEATURES == CONTEXT_FEATURES) == weights)


def _scorers() -> dict[str, type[Declared]]:
    """Settings of the low-dimensional context models."""
    from lscfg.context.learner import CONTEXT_MODELS

    return {name: CONTEXT_MODELS[name].Settings for name in _models(False)}


def run(args: argparse.Namespace) -> None:
    """Estimates and writes the model.

    Raises:
        InputError: a file cannot be read or does not fit the others, or the text is too little for the rank asked.
    """
    if args.cluster:
        from lscfg.parallel.jobs import run_there

        return run_there(run, args)

    import dataclasses
    from pathlib import Path

    from lscfg import log
    from lscfg.errors import InputError
    from lscfg.estimate.estimator import ESTIMATORS
    from lscfg.extract.derive import Derivations
    from lscfg.model.parameters import Parameters
    from lscfg.settings import from_options

    settings = from_options(ESTIMATORS[args.estimator].Settings, args)
    folder, resume = getattr(args, "checkpoint", None), getattr(args, "resume", False)
    if resume and not folder:
        raise InputError("--resume needs --checkpoint DIR, the folder to continue from")
    context = _context(args)
    boundary = Parameters.load(args.boundary).boundary if args.boundary else None
    if args.boundary and boundary is None:
        raise InputError("no weights of spans; name a model of lscfg induce biparse --boundary-model", args.boundary)
    derivations = Derivations.load(args.derivations)
    checkpoint = Path(folder) if folder else None
    data = context.read(derivations) if context else None
    model = ESTIMATORS[args.estimator].estimate(derivations, settings, args.jobs, checkpoint, resume)
    if data:
        model = data.add(model, args.jobs)
    if boundary:
        model = dataclasses.replace(model, boundary=boundary)
    model.save(args.output, "float32" if args.precision == "single" else "float64")
    log.info(f"wrote {args.output}: {len(model.rules)} rules, m = {model.rank}")


def _context(args: argparse.Namespace) -> ContextInputs | None:
    """What the options say of a context model."""
    from pathlib import Path

    from lscfg.context.inputs import ContextInputs
    from lscfg.context.learner import CONTEXT_MODELS, DEFAULTS
    from lscfg.errors import InputError
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs
    from lscfg.grammar.tokens import check_share
    from lscfg.io.text import read_lines
    from lscfg.settings import from_kind_options, from_options, given_options, option_names

    name = args.context_model
    declared = CONTEXT_MODELS[DEFAULTS[0] if name == NONE else name].Settings
    settings = from_options(declared, args, name)
    if name == NONE and not args.sense:
        raise InputError("--context-model none leaves no context; name a scorer with --sense")
    if not args.sense and any(given_options(cls, args, "sense") for cls in _scorers().values()):
        raise InputError("options --sense-... are of a scorer, which --sense names")
    scorer = from_kind_options(args.sense, _scorers(), args, "sense") if args.sense else None
    if not (args.context or args.hiero_context):
        if args.sense:
            raise InputError("--sense needs the source side of the corpus; give it with --context")
        if given := option_names(declared, given_options(declared, args, name), name):
            raise InputError(f"{', '.join(given)}: of a context model, which --context or --hiero-context asks for")
        return None
    names, text, inputs = [], args.context, RuleInputs(derivations=Path(args.derivations))
    if args.hiero_context:
        if len(args.hiero_context) < 3:
            raise InputError("--hiero-context needs three files or more: source, target and alignments")
        src, tgt, *alignments = args.hiero_context
        if args.context and read_lines(src) != read_lines(args.context):
            raise InputError("--context has another text; give the same one to both", src)
        inputs = RuleInputs(Path(src), Path(tgt), tuple(map(Path, alignments)), Path(args.derivations))
        names, text = ["hiero"], src
    if args.context:
        names.append(args.tokens)
    extractors = {source: EXTRACTORS[source].Settings() for source in names}
    check_share(args.leave_out)
    models = {} if name == NONE else {name: settings}
    models |= {args.sense: scorer} if scorer else {}
    if args.views_text and not any(CONTEXT_MODELS[model].TAKES_TEXT for model in models):
        raise InputError("--views-text is for --context-model joint and for scorers with --sense-k")
    more = [Path(args.views_text)] if args.views_text else []
    return ContextInputs(models, Path(text), inputs, extractors, args.leave_out, more)
