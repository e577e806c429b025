"""``lscfg inspect``: the content of files, and the view of a model on sentences and choices."""

from __future__ import annotations

import argparse

from lscfg.cli import add_actions
from lscfg.commands.inspections import choices, corrections, derivations, grammar, marginals, model, sentence
from lscfg.parser import CommandParser

ACTIONS = {
    "model": model,
    "derivations": derivations,
    "grammar": grammar,
    "sentence": sentence,
    "marginals": marginals,
    "choices": choices,
    "corrections": corrections,
}


def add_arguments(parser: CommandParser) -> None:
    """Declares the actions."""
    add_actions(parser, ACTIONS)


def run(args: argparse.Namespace) -> None:
    """Runs the action."""
    ACTIONS[args.action].run(args)
