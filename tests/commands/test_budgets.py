"""The command line stays small, and its modules import at their tops."""

import ast
import sys
from pathlib import Path

from lscfg.cli import build_parser
from lscfg.command_table import COMMANDS
from lscfg.parser import CommandParser


def test_budgets():
    """The command line stays small: at most 22 commands, 360 options, and 30 of a parser."""
    parsers = list(build_parser(COMMANDS).every())
    counts = {parser.prog: sum(bool(action.option_strings) for action in parser._actions) for parser in parsers}
    assert all(isinstance(parser, CommandParser) for parser in parsers)
    assert len(COMMANDS) <= 22 and sum(counts.values()) <= 360 and max(counts.values()) <= 30, counts


def test_commands_import_at_their_top():
    """The table loads a command when it is called, so that no import has to hide in a function."""
    hidden = []
    for name, module in list(sys.modules.items()):
        if ".commands" in name and (path := getattr(module, "__file__", None)) and name.startswith("lscfg."):
            tree = ast.parse(Path(path).read_text(encoding="utf-8"))
            functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            inner = [one for node in functions for one in ast.walk(node)]
            hidden += [name for one in inner if isinstance(one, (ast.Import, ast.ImportFrom))]
    assert "lscfg.commands.align" in sys.modules and not hidden


def test_every_help_can_be_shown():
    for parser in build_parser(COMMANDS).every():
        assert parser.format_help().startswith(f"usage: {parser.prog}"), parser.prog
