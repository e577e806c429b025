"""``lscfg tune margin``: weights of rules, linked words and span borders, learned by hope and fear."""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.extract.extractor import EXTRACTORS, RuleInputs
from lscfg.formats.ini import read_ini
from lscfg.formats.weights import read_weights
from lscfg.io.arguments import output_folder
from lscfg.options import add_config, add_jobs, add_output, add_text, add_weights
from lscfg.parser import CommandParser
from lscfg.settings import Declared
from lscfg.tuning.experiment.cache import locked
from lscfg.tuning.margin.folds import FoldRules
from lscfg.tuning.margin.settings import MarginSettings
from lscfg.tuning.margin.system import FILES, INI, START, learn_system

HELP = "learn weights of rules and words on the training text"

TABLE = "margin"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_text(parser)
    extractors = _extractors()
    parser.add_argument(
        "--rules", required=True, choices=extractors, help="rule extractor of the configuration's grammar"
    )
    add_config(parser)
    add_weights(parser, "tuned weights of the configuration", required=True)
    add_output(parser, "folder for the new system", type=output_folder(*FILES, new=True), metavar="DIR", required=True)
    add_jobs(parser)
    tables = (Table(name, (settings,)) for name, settings in extractors.items())
    add_settings(parser, Table(TABLE, (MarginSettings,)), *tables)


def _extractors() -> dict[str, type[Declared]]:
    """The settings of the extractors that need text alone."""
    found = {name: EXTRACTORS[name] for name in EXTRACTORS}
    return {name: source.Settings for name, source in found.items() if source.NEEDS == ("text",)}


def run(args: argparse.Namespace) -> None:
    """Learns, and writes the grammar, a model of span borders, a configuration and start weights into the folder.

    Raises:
        InputError: another command is at work in the folder; see ``lscfg.tuning.margin.system.learn_system``, too.
    """
    given = GivenSettings(args, TABLE, args.rules)
    settings = given.build(TABLE, MarginSettings)
    own = given.build(args.rules, _extractors()[args.rules])
    rules = FoldRules(EXTRACTORS[args.rules], own, settings.order)
    inputs = RuleInputs(Path(args.source), Path(args.target), tuple(map(Path, args.alignment)))
    config, weights, folder = read_ini(args.config), read_weights(args.weights), Path(args.output)
    with locked(folder):
        learn_system(inputs, rules, config, weights, settings, folder, args.jobs)
    log.info(f"wrote {folder}; tune it with: lscfg tune weights -c {folder / INI} -w {folder / START} ...")
