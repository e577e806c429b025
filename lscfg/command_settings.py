"""Settings on the command line: an option for each common one, ``--set KEY=VALUE``, and the tables of ``--settings``.

An option overrides ``--set``, and ``--set`` overrides the file. The reader of experiment files reads all values: each
fault names the option, the key of ``--set``, or the file and line.
"""

from __future__ import annotations

import argparse
import difflib
import os
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from lscfg.errors import InputError, quote
from lscfg.io.arguments import InputFile, NamedFile
from lscfg.io.read import decode_text, read_bytes
from lscfg.parser import CommandParser
from lscfg.settings import Declared, Setting, SettingError, settings_of
from lscfg.settings_file import Keys, Reader, parse_toml

_METAVARS = {int: "N", float: "X", str: "NAME", Path: "FILE"}


@dataclass(frozen=True)
class Table:
    """A table of settings, as in an experiment file.

    Attributes:
        classes: classes whose keys are always allowed; kinds: further classes, by the name of their kind.
    """

    name: str
    classes: tuple[type[Declared], ...] = ()
    kinds: Mapping[str, type[Declared]] = field(default_factory=dict)

    def all(self) -> tuple[type[Declared], ...]:
        """All classes."""
        return (*self.classes, *self.kinds.values())


def add_settings(
    parser: CommandParser,
    *tables: Table,
    leave: Collection[str] = (),
    choices: Mapping[str, Sequence[str]] | None = None,
    by_kind: bool = False,
) -> None:
    """Declares ``--set``, ``--settings`` and options of common settings; the help lists all settings.

    Only settings of the first table become options, so that a word means one setting.

    Args:
        leave: settings that the command takes from other arguments.
        choices: values of options whose settings do not declare them.
        by_kind: the command reads one table, which its first argument names.
    """
    for table in tables:
        rows = [row for cls in table.classes for row in _rows(cls, leave)]
        parser.list_names(_title(table, by_kind), rows, table.name if by_kind else None, settings=True)
        for name, cls in table.kinds.items():
            parser.list_names(f"{_title(table, False)} of {name}", _rows(cls, leave), settings=True)
    several = len(tables) > 1 and not by_kind
    parser.add_argument(
        "--set",
        dest="set",
        type=NamedFile,
        metavar="TABLE.KEY=VALUE" if several else "KEY=VALUE",
        action="append",
        default=[],
        help="value of a setting; repeat for several",
    )
    parser.add_argument(
        "--settings", type=InputFile, metavar="FILE", help="TOML file with tables of settings, as in an experiment file"
    )
    declared: dict[str, argparse.Action] = {}
    for table in tables if by_kind else tables[:1]:
        for item in (item for cls in table.all() for item in settings_of(cls) if item.common):
            if item.name in leave:
                continue
            if item.name not in declared:
                values = (choices or {}).get(item.name, item.limits.choices)
                declared[item.name] = _add_option(parser, item, values, "" if by_kind else item.default_text())
            if by_kind:
                parser.limit(declared[item.name], table.name)


def _title(table: Table, by_kind: bool) -> str:
    return f"settings of {table.name}" if by_kind else f"settings in [{table.name}]"


def _rows(cls: type[Declared], leave: Collection[str]) -> list[tuple[str, str]]:
    """The key of each setting and its help."""
    return [(item.name, _described(item)) for item in settings_of(cls) if item.name not in leave]


def _described(item: Setting) -> str:
    """The help of a setting with its values and its default."""
    values = ", ".join(item.limits.choices)
    return f"{item.meaning()}{f': {values}' if values else ''} (default: {item.default_text()})"


def _add_option(parser: CommandParser, item: Setting, choices: Sequence[str], default: str) -> argparse.Action:
    keywords: dict[str, Any] = {"dest": item.name, "default": argparse.SUPPRESS}
    letters = [f"-{item.letter}"] if item.letter else []
    if item.kind is bool:
        keywords |= {"action": "store_false" if item.default else "store_true", "help": item.help}
    else:
        text = (f"{item.help} (default: {default})" if default else item.help).replace("%", "%%")
        keywords |= {"help": text, "type": _listed(item.kind) if item.many else item.kind}
        if choices and not item.many:
            keywords["choices"] = tuple(choices)
        else:
            keywords["metavar"] = item.metavar or ("LIST" if item.many else _METAVARS[item.kind])
    return parser.add_argument(*letters, item.option, **keywords)


def _listed(kind: type) -> Callable[[str], tuple[Any, ...]]:
    def values(text: str) -> tuple[Any, ...]:
        return tuple(kind(part) for part in text.split(",") if part)

    values.__name__ = "list"  # argparse names it where a value is not of the kind
    return values


class _Value(NamedTuple):
    """A given value: ``convert`` checks it against a type and a setting, and ``error`` names its origin."""

    convert: Callable[[Any, Setting], Any]
    error: Callable[[str], InputError]


class GivenSettings:
    """The settings that a command line gives.

    Args:
        tables: names of the tables that the command reads.
        main: keys of ``--set`` without a table are of the first table.

    Raises:
        InputError: the file cannot be read or lacks all tables, or a key of ``--set`` belongs to no table.
    """

    def __init__(self, args: argparse.Namespace, *tables: str, main: bool = False):
        self._args, self._tables, self._main = args, tables, main or len(tables) == 1
        self._given: dict[str, dict[str, _Value]] = {name: {} for name in tables}
        if args.settings is not None:
            self._read_file(Path(args.settings))
        for word in args.set:
            self._read_word(word)

    def keys(self, table: str) -> list[str]:
        """Names of the settings that ``--set`` or the file give in a table."""
        return list(self._given[table])

    def stated(self, table: str, *classes: type[Declared]) -> dict[str, Any]:
        """Given values of settings by name, whichever class declares them."""
        return dict(self._values(table, [(cls, item) for cls in classes for item in settings_of(cls)]))

    def suppose(self, table: str, values: Mapping[str, Any]) -> None:
        """Adds values of settings that are not given."""
        for name, value in values.items():
            self._given[table].setdefault(name, _supposed(name, value))

    def choose(self, table: str, cls: type[Declared], name: str) -> Any:
        """The value of one setting, which decides which others a table may have."""
        item = next(item for item in settings_of(cls) if item.name == name)
        return dict(self._values(table, [(cls, item)])).get(name, item.default)

    def build(
        self,
        table: str,
        *classes: type[Declared],
        others: Mapping[str, type[Declared]] | None = None,
        ignore: Collection[str] = (),
    ) -> Any:
        """The settings of a table: an instance of the class, or of each of several.

        Args:
            others: classes of other kinds, by the name of the kind.
            ignore: keys of the table that belong to other commands.

        Raises:
            InputError: a key is unknown or of another kind, or a value has the wrong type or is out of its range.
        """
        known = [(cls, item) for cls in classes for item in settings_of(cls)]
        self._check_names(table, [item.name for _, item in known], others or {}, ignore)
        made = [self._instance(table, cls) for cls in classes]
        return made[0] if len(made) == 1 else made

    def _check_names(
        self, table: str, known: Sequence[str], others: Mapping[str, type[Declared]], ignore: Collection[str]
    ) -> None:
        for name, given in self._given[table].items():
            if name in known or name in ignore:
                continue
            users = [kind for kind, cls in others.items() if name in {item.name for item in settings_of(cls)}]
            if users:
                raise given.error(f"{name} is a setting of {', '.join(users)} only")
            near = difflib.get_close_matches(name, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise given.error(f"unknown key {quote(name)}; known keys: {', '.join(known) or 'none'}{hint}")

    def _instance(self, table: str, cls: type[Declared]) -> Declared:
        values = dict(self._values(table, [(cls, item) for item in settings_of(cls)]))
        try:
            return cls(**values)
        except SettingError as error:  # of several settings that do not go together
            raise self.located(table, cls, error) from None

    def located(self, table: str, cls: type[Declared], error: SettingError) -> InputError:
        """The error with the origin of the setting: its option, its key of ``--set``, or its line in the file."""
        item = next((item for item in settings_of(cls) if item.name == error.name), None)
        if error.name in self._given[table] and not (item and self._by_option(table, item)):
            return self._given[table][error.name].error(str(error))
        if item is None:
            return error
        option = item.option if item.common else f"--set {error.name}:"
        return SettingError(option, error.requirement)

    def _by_option(self, table: str, item: Setting) -> bool:
        return item.common and table == self._tables[0] and hasattr(self._args, item.name)

    def _values(self, table: str, items: Sequence[tuple[type[Declared], Setting]]) -> Iterator[tuple[str, Any]]:
        """The given values, each in its range."""
        for cls, item in items:
            if self._by_option(table, item):
                value = getattr(self._args, item.name)
                try:
                    item.check(value)
                except SettingError as error:
                    raise SettingError(item.option, error.requirement) from None
                yield item.name, value
            elif item.name in self._given[table]:
                given = self._given[table][item.name]
                value = given.convert(get_type_hints(cls)[item.name], item)
                try:
                    item.check(value)
                except SettingError as error:
                    raise given.error(str(error)) from None
                yield item.name, value

    def _read_file(self, path: Path) -> None:
        text = decode_text(read_bytes(path), path)
        content = parse_toml(text, path)
        reader = Reader(path, text, None)
        names = " or ".join(f"[{name}]" for name in self._tables)
        if not set(self._tables) & set(content):
            near = [name for table in self._tables for name in difflib.get_close_matches(table, content, 1)]
            hint = f"; rename [{near[0]}]?" if near else ""
            raise InputError(f"no table {names}{hint}", path)
        for table in self._tables:
            rows = content.get(table, {})
            if not isinstance(rows, dict):
                raise reader.error((table,), f"{table} must be a table")
            for name, value in rows.items():
                self._given[table][name] = _of_file(reader, (table, name), value)

    def _read_word(self, word: NamedFile) -> None:
        key, _, text = str(word).partition("=")
        if "=" not in word or not key:
            raise InputError(f"--set {word}: expected KEY=VALUE")
        table, dot, name = key.rpartition(".")
        if not dot and not self._main:
            raise InputError(f"--set {key}: name the table, as in {self._tables[0]}.{key}={text}")
        table = table or self._tables[0]
        if table not in self._tables:
            near = difflib.get_close_matches(table, self._tables, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(f"--set {key}: no table {quote(table)} here, only {', '.join(self._tables)}{hint}")
        self._given[table][name] = _of_word(key, name, word.path if text else "")


def _of_file(reader: Reader, keys: Keys, value: Any) -> _Value:
    return _Value(lambda hint, item: reader.value(hint, value, keys), lambda message: reader.error(keys, message))


def _supposed(name: str, value: Any) -> _Value:
    return _Value(lambda hint, item: value, lambda message: InputError(f"{name}: {message}"))


class _WordReader(Reader):
    """Reads values of ``--set``; file names count from the working directory."""

    def __init__(self, key: str):
        super().__init__(Path(os.curdir) / "settings", "", None)
        self._key = key

    def error(self, keys: Keys, message: str) -> InputError:
        """The message with the key."""
        return InputError(f"--set {self._key}: {message}")


def _of_word(key: str, name: str, text: str) -> _Value:
    reader = _WordReader(key)
    return _Value(
        lambda hint, item: reader.value(hint, toml_value(text, item), (name,)),
        lambda message: reader.error((name,), message),
    )


def toml_value(text: str, item: Setting) -> Any:
    """The value of ``--set``: TOML, or a bare word as a string; bare values separated by commas are a list."""
    if item.many and not text.startswith("["):
        return [_single(part, item.kind) for part in text.split(",") if part]
    return _single(text, item.kind)


def _single(text: str, kind: type) -> Any:
    quoted = text[:1] in ("'", '"', "[")
    if kind in (str, Path) and not quoted:
        return text
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return found["value"] if len(found) == 1 else text
