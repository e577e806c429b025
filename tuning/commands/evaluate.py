"""``lscfg evaluate``: scores of translations, confidence in them, gain by corrections, and best scores of grammars."""

from __future__ import annotations

import argparse

from lscfg.cli import add_actions
from lscfg.parser import CommandParser
from lscfg.tuning.commands import confidence, corrections, oracle, scores

ACTIONS = {"scores": scores, "oracle": oracle, "confidence": confidence, "corrections": corrections}


def add_arguments(parser: CommandParser) -> None:
    """Declares the actions."""
    add_actions(parser, ACTIONS)


def run(args: argparse.Namespace) -> None:
    """Runs the action."""
    ACTIONS[args.action].run(args)
