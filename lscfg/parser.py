"""Parsers of the command line: errors that name what may be meant, and scripts that complete commands in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from lscfg.command_table import OLD_OPTIONS
from lscfg.errors import did_you_mean
from lscfg.io.arguments import InputFile, OutputFile

SHELLS = ("bash", "zsh")


class _Listing(NamedTuple):
    """A part of the help: names and helps; ``kind`` names the kind that alone has them."""

    title: str
    rows: list[tuple[str, str]]
    kind: str | None
    settings: bool


class CommandParser(argparse.ArgumentParser):
    """A parser that knows its options, its settings and the parsers below it.

    Attributes:
        mixes: options may stand between arguments of which the last one may be missing. ``argparse`` takes that one for
            missing where an option stands before it.
        kind_argument: destination of the argument that names a kind; ``limit`` reserves options for kinds.
        old_form: the command of the last release, which lacked the first argument, and the new one.
    """

    mixes = False
    kind_argument = ""
    old_form = ""

    def __init__(self, prog: str | None = None, add_help: bool = True, **keywords: Any):
        super().__init__(prog, add_help=False, allow_abbrev=False, **keywords)
        self._listings: list[_Listing] = []
        self._limits: dict[argparse.Action, list[str]] = {}
        if add_help:
            self.add_argument("-h", "--help", action=_ShowHelp, help="show this help")

    def limit(self, action: argparse.Action, *kinds: str) -> None:
        """Reserves an option for these kinds, and for those of earlier calls."""
        self._limits.setdefault(action, []).extend(kinds)

    def list_names(
        self, title: str, rows: Sequence[tuple[str, str]], kind: str | None = None, settings: bool = False
    ) -> None:
        """Adds a list of names to the help.

        Args:
            rows: name and help of each; kind: the kind that alone has them; settings: the names are keys of settings.
        """
        if rows:
            self._listings.append(_Listing(title, list(rows), kind, settings))

    def settings(self) -> list[str]:
        """Keys of all settings in the help."""
        return [key for listing in self._listings if listing.settings for key, _ in listing.rows]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See ``argparse``."""
        if not self.mixes:
            return self._checked(super().parse_known_args(args, namespace))
        self.mixes = False  # the other way to parse uses this one
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixes = True

    def _checked(self, parsed: tuple[argparse.Namespace, list[str]]) -> tuple[argparse.Namespace, list[str]]:
        """Refuses options that the chosen kind lacks."""
        kind = getattr(parsed[0], self.kind_argument or "-", None)
        for action, kinds in self._limits.items():
            default = None if action.default == argparse.SUPPRESS else action.default
            if kind is not None and kind not in kinds and getattr(parsed[0], action.dest, default) != default:
                self.error(f"{action.option_strings[-1]} is for {', '.join(kinds)}, not for {kind}")
        return parsed

    def format_help(self) -> str:
        """See ``argparse``; the settings follow the options."""
        return self.help_of(None)

    def help_of(self, kind: str | None) -> str:
        """The help of one kind, or of all."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._shown(self._actions, kind), self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(self._shown(group._group_actions, kind))
            formatter.end_section()
        for listing in self._listings:
            if kind is None or listing.kind in (None, kind):
                formatter.start_section(listing.title)
                formatter.add_arguments([_row(key, text) for key, text in listing.rows])
                formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def _shown(self, actions: Iterable[argparse.Action], kind: str | None) -> list[argparse.Action]:
        return [action for action in actions if kind is None or kind in self._limits.get(action, (kind,))]

    def error(self, message: str) -> NoReturn:
        """See ``argparse``; a missing or wrong first argument may be a command of the last release."""
        first = any(words in message for words in ("argument ACTION:", "argument EXTRACTOR:", "required: ACTION"))
        super().error(f"{message}; {self.old_form}" if first and self.old_form else message)

    def _check_value(self, action: argparse.Action, value: object) -> None:
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
        """Ends the program with an error about words that are not arguments."""
        known = [name for action in self.arguments() for name in action.option_strings]
        names = [word.partition("=")[0] for word in words if word.startswith("-")]
        if early := [name for name in names if name in known]:
            self.error(f"{early[0]} goes after the command: {self.prog} ... {early[0]}")
        for name in names if not {*names} & OLD_OPTIONS.keys() else ():
            key = name.strip("-").replace("-", "_")
            if keys := [key for key in (key, key.partition("_")[2]) if key in self.settings()]:
                self.error(f"{name} is a setting: use --set {keys[0]}=VALUE")
        for name in names:
            if (new := OLD_OPTIONS.get(name)) and self._accepts(new):
                self.error(f"{name} is now {new}")
        near = (did_you_mean(name, known) for name in names)
        self.error(f"unrecognized arguments: {' '.join(words)}{next(filter(None, near), '')}")

    def _accepts(self, words: str) -> bool:
        """True if this parser has the option or setting with which the words begin."""
        option, _, rest = words.partition(" ")
        key = rest.partition("=")[0]
        return not option.startswith("--") or (
            any(option in action.option_strings for action in self.arguments())
            and (option != "--set" or key in self.settings())
        )


class _ShowHelp(argparse.Action):
    """Shows the help, only that of the kind which precedes the option, and exits."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None):
        super().__init__(option_strings, "help", nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        assert isinstance(parser, CommandParser)
        kind = getattr(namespace, parser.kind_argument or "-", None)
        print(parser.help_of(kind), end="")
        parser.exit()


def _row(key: str, text: str) -> argparse.Action:
    return argparse.Action([], key, metavar=key, help=text.replace("%", "%%"))


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


def _is_file(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, (InputFile, OutputFile, Path))
