"""``lscfg context``: a context model, added to a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.context.inputs import ContextInputs
from lscfg.context.learner import CONTEXT_MODELS, DEFAULTS
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import EXTRACTORS, RuleInputs, extractor_names
from lscfg.io.arguments import InputFile
from lscfg.io.tensors import check_model_output
from lscfg.model.parameters import Parameters
from lscfg.options import add_jobs, add_output
from lscfg.parser import CommandParser

TABLE = "context"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.add_argument("model", type=InputFile, metavar="MODEL", help="model of lscfg estimate or lscfg context")
    parser.add_argument(
        "text",
        type=InputFile,
        nargs="+",
        metavar="TEXT",  # argparse of Python 3.11 shows no tuple of an argument
        help="tokenised source side of the corpus; for --rules that need text, also its translation and alignments",
    )
    add_output(parser, "model to write", metavar="MODEL", required=True)
    parser.list_names("context models", [(name, CONTEXT_MODELS[name].HELP) for name in CONTEXT_MODELS])
    parser.add_argument(
        "--model",
        dest="context_model",
        choices=CONTEXT_MODELS.names(),
        default=DEFAULTS[0],
        help="context model of the list below (default: %(default)s)",
    )
    parser.add_argument(
        "--derivations",
        type=InputFile,
        metavar="DERIVATIONS",
        required=True,
        help="derivations that the model was estimated from",
    )
    parser.add_argument(
        "--rules",
        default="minimal",
        metavar="NAMES",
        help="rule extractors whose target sides are learned, joined by + (default: %(default)s)",
    )
    parser.add_argument(
        "--leave-out",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="random share of the tokens to leave out, for lscfg inspect choices (default: 0)",
    )
    parser.add_argument(
        "--more", type=InputFile, metavar="TEXT", help="further source text, for context models with dense vectors"
    )
    add_jobs(parser)
    add_settings(parser, Table(TABLE, (), CONTEXT_MODELS.settings()))


def run(args: argparse.Namespace) -> None:
    """Learns the context model and writes a model with it.

    Raises:
        InputError: a file cannot be read or does not fit the others, the output ends in .gz, or no source side has a
            choice.
    """
    check_model_output(args.output)
    name = args.context_model
    given = GivenSettings(args, TABLE, *extractor_names(args.rules), main=True)
    settings = given.build(TABLE, CONTEXT_MODELS[name].Settings, others=CONTEXT_MODELS.settings(), ignore=("model",))
    extractors = {rules: given.build(rules, EXTRACTORS[rules].Settings) for rules in extractor_names(args.rules)}
    source, *others = map(Path, args.text)
    if others and not any("text" in EXTRACTORS[rules].NEEDS for rules in extractors):
        raise InputError("only SOURCE is read for these rules; name more source text with --more", others[0])
    for rules in extractors:
        if "text" in EXTRACTORS[rules].NEEDS and len(others) < 2:
            raise InputError(f"{rules} rules need SOURCE TARGET ALIGNMENT..., not SOURCE alone")
    files = RuleInputs(source, others[0] if others else None, tuple(others[1:]), Path(args.derivations))
    more = [Path(args.more)] if args.more else []
    inputs = ContextInputs({name: settings}, source, files, extractors, args.leave_out, more)
    data = inputs.read(Derivations.load(args.derivations))
    model = Parameters.load(args.model)
    precision = model.tensors[0].dtype
    data.add(model, args.jobs).save(args.output, precision)
    log.info(f"wrote {args.output}")
