"""``lscfg evaluate``: scores of translations, confidence in them, and the best scores that grammars can reach."""

from __future__ import annotations

import argparse

from lscfg.cli import add_actions
from lscfg.parser import CommandParser
from lscfg.tuning.commands import confidence, oracle, scores

ACTIONS = {"scores": scores, "oracle": oracle, "confidence": confidence}


def add_arguments(parser: CommandParser) -> None:
    """Declares the actions."""
    add_actions(parser, ACTIONS)


def run(args: argparse.Namespace) -> None:
    """Runs the action."""
    ACTIONS[args.action].run(args)
