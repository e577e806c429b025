"""``lscfg margin``: weights of rules, linked words and borders of spans, learned by hope and fear on training text."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.settings import Declared


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import output_folder
    from lscfg.options import add_config, add_jobs, add_output, add_text, add_weights
    from lscfg.settings import add_kind_options, add_options
    from lscfg.tuning.margin.settings import MarginSettings
    from lscfg.tuning.margin.system import FILES

    add_text(parser)
    sources = _sources()
    parser.add_argument(
        "--rule-source", required=True, choices=sources, help="source of the rules that the configuration's grammar has"
    )
    add_config(parser)
    add_weights(parser, "tuned weights of the configuration", required=True)
    add_output(parser, "folder for the new system", type=output_folder(*FILES), metavar="DIR", required=True)
    add_options(parser, MarginSettings)
    add_jobs(parser)
    add_kind_options(parser, sources, "rules")


def _sources() -> dict[str, type[Declared]]:
    """The settings of sources of rules that need text alone."""
    from lscfg.extract.extractor import EXTRACTORS

    found = {name: EXTRACTORS[name] for name in EXTRACTORS.names()}
    return {name: source.Settings for name, source in found.items() if source.NEEDS == ("text",)}


def run(args: argparse.Namespace) -> None:
    """Learns, and writes the grammar, a model of span borders, a configuration and start weights into the folder.

    Raises:
        InputError: see ``lscfg.tuning.margin.system.learn_system``.
    """
    from pathlib import Path

    from lscfg import log
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs
    from lscfg.formats.ini import read_ini
    from lscfg.formats.weights import read_weights
    from lscfg.settings import from_kind_options, from_options
    from lscfg.tuning.margin.folds import FoldRules
    from lscfg.tuning.margin.settings import MarginSettings
    from lscfg.tuning.margin.system import INI, START, learn_system

    settings = from_options(MarginSettings, args)
    own = from_kind_options(args.rule_source, _sources(), args, "rules")
    rules = FoldRules(EXTRACTORS[args.rule_source], own, settings.order)
    inputs = RuleInputs(Path(args.source), Path(args.target), tuple(map(Path, args.alignment)))
    config, weights, folder = read_ini(args.config), read_weights(args.weights), Path(args.output)
    learn_system(inputs, rules, config, weights, settings, folder, args.jobs)
    log.info(f"wrote {folder}; tune it with: lscfg tune -c {folder / INI} -w {folder / START} ...")
