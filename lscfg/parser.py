"""Parsers of the command line: errors that name what may be meant, and scripts that complete commands in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from lscfg.errors import did_you_mean
from lscfg.io.arguments import InputFile, OutputFile

SHELLS = ("bash", "zsh")


class CommandParser(argparse.ArgumentParser):
    """A parser that knows its options and the parsers below it.

    Attributes:
        mixes: options may stand between arguments of which the last one may be missing. ``argparse`` takes that one for
            missing where an option stands before it.
    """

    mixes = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See ``argparse``."""
        if not self.mixes:
            return super().parse_known_args(args, namespace)
        self.mixes = False  # the other way to parse uses this one
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixes = True

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = did_you_mean(value, map(str, action.choices or ()))
            raise argparse.ArgumentError(action, f"{error.message}{near}") from None

    def arguments(self) -> list[argparse.Action]:
        """The arguments that help shows, without the choice of a command below."""
        actions = (action for action in self._actions if action.help != argparse.SUPPRESS)
        return [action for action in actions if not isinstance(action, argparse._SubParsersAction)]

    def below(self) -> dict[str, CommandParser]:
        """The parsers of its commands or actions by name."""
        choices = (action.choices for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return dict(next(choices, {}))

    def every(self) -> Iterator[CommandParser]:
        """This parser and all below it."""
        yield self
        for parser in self.below().values():
            yield from parser.every()

    def chosen(self, args: argparse.Namespace) -> CommandParser:
        """The parser, among this one and those below it, of what the arguments name."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                name = getattr(args, action.dest, None)
                return action.choices[name].chosen(args) if name in action.choices else self
        return self

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """Ends the program with an error about words that are no arguments."""
        known = [name for action in self.arguments() for name in action.option_strings]
        names = [word.partition("=")[0] for word in words if word.startswith("-")]
        if early := [name for name in names if name in known]:
            self.error(f"{early[0]} goes behind the command: {self.prog} ... {early[0]}")
        near = (did_you_mean(name, known) for name in names)
        self.error(f"unrecognized arguments: {' '.join(words)}{next(filter(None, near), '')}")


def completion_script(parser: CommandParser, shell: str) -> str:
    """A script that completes commands, options, choices and names of files.

    Args:
        shell: one of ``SHELLS``.
    """
    import shtab

    for one in parser.every():
        for action in one.arguments():
            if action.metavar == "DIR":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif action.metavar == "MODEL" or _is_file(action.type):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    script: str = shtab.complete(parser, shell)
    return script


def _is_file(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, (InputFile, OutputFile, Path))
