"""``lscfg evaluate``: scores of translations, and the best scores that grammars can reach."""

from __future__ import annotations

import argparse

from lscfg.cli import add_actions
from lscfg.parser import CommandParser
from lscfg.tuning.commands import oracle, scores

ACTIONS = {"scores": scores, "oracle": oracle}


def add_arguments(parser: CommandParser) -> None:
    """Declares the actions."""
    add_actions(parser, ACTIONS)


def run(args: argparse.Namespace) -> None:
    """Runs the action."""
    ACTIONS[args.action].run(args)
