"""Tables of a TOML file as dataclasses: checks every key and type, and names the file and line of every fault."""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from lscfg.errors import InputError, did_you_mean, quote
from lscfg.settings import SettingError

Keys = tuple[str, ...]


_LONGEST = 4096
"""Most characters of a string, the longest name of a file."""

_LONGEST_STATEMENT = 500
"""Most lines of a statement, such as a list, whose line a message names."""

_SHOWN = 200
"""Most characters of a value in a message."""


def parse_toml(text: str, path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        InputError: the file is not TOML, or contains values that Python's reader cannot represent.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise InputError(f"not TOML: {error}", path, int(line[1]) if line else text.count("\n") + 1) from error
    except ValueError as error:  # of int(), where a number has thousands of digits
        number = re.search(r"[0-9_]{4000}", text)
        line_number = text.count("\n", 0, number.start()) + 1 if number else None
        raise InputError("a number has too many digits", path, line_number) from error
    except RecursionError as error:
        deepest = max(enumerate(text.split("\n"), 1), key=lambda line: line[1].count("[") + line[1].count("{"))
        raise InputError("brackets are nested too deeply", path, deepest[0]) from error


def statements(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The statements of a TOML file: first line of each, and the tables that it defines.

    No maintained library reports positions without a second parser (tree-sitter) or private parts (tomlkit). TOML
    consists of lines: a statement is the shortest sequence of lines from its beginning that is TOML by itself.
    A statement longer than ``_LONGEST_STATEMENT`` ends the search.
    """
    inside: Keys = ()
    first = 0
    for last in range(len(lines)):
        if last - first > _LONGEST_STATEMENT:
            return
        try:
            table = tomllib.loads("".join(f"{line}\n" for line in lines[first : last + 1]))
        except ValueError:  # the statement continues on the next line
            continue
        if lines[first].lstrip().startswith("["):
            inside = _path(table)
        else:
            for name in reversed(inside):
                table = {name: table}
        if table:
            yield first + 1, table
        first = last + 1


def _path(table: Any) -> Keys:
    """The keys of a header such as ``[a.b]``."""
    keys: list[str] = []
    while isinstance(table, dict) and table:
        ((name, table),) = table.items()
        keys.append(name)
    return tuple(keys)


def _fit(table: Any, keys: Keys) -> tuple[int, bool]:
    """Counts the leading keys of a statement, and returns True if the statement ends after them."""
    depth = 0
    for name in keys:
        if not isinstance(table, dict) or name not in table:
            break
        table, depth = table[name], depth + 1
    return depth, not (isinstance(table, dict) and table)


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    """Types of the fields of a dataclass, whose evaluation takes most of the time of reading a file."""
    return get_type_hints(kind)


def _shown(value: Any) -> str:
    """The value for a message; a long value is cut."""
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class Reader:
    """Turns TOML tables into dataclasses; messages name the line of a key.

    Args:
        data: folder for relative paths in ``corpus`` and ``monolingual``; None: the file's folder, as for other tables.
    """

    def __init__(self, path: Path, text: str, data: Path | None):
        self.path, self.lines, self.data = path, text.split("\n"), data

    def error(self, keys: Keys, message: str) -> InputError:
        """The message with the file and the line of the key."""
        return InputError(message, self.path, self._line(keys))

    def unknown(self, keys: Keys, known: Sequence[str]) -> InputError:
        """The error of an unknown key."""
        name, names = keys[-1], ", ".join(known) or "none"
        return self.error(keys, f"unknown key {quote(name)}; known keys: {names}{did_you_mean(name, known)}")

    def not_one_of(self, keys: Keys, value: Any, known: Sequence[str]) -> InputError:
        """The error of a value outside the allowed ones."""
        names = ", ".join(known)
        return self.error(keys, f"{keys[-1]} must be one of {names}, not {quote(value)}{did_you_mean(value, known)}")

    def _line(self, keys: Keys) -> int | None:
        """The line that sets the key, or opens the nearest enclosing table."""
        best, nearest = (0, True), None
        for number, table in statements(self.lines):
            if (fit := _fit(table, keys)) > best:
                best, nearest = fit, number
        return nearest

    def build(self, kind: Any, table: Mapping[str, Any], keys: Keys, further: Sequence[str] = ()) -> Any:
        """An instance of the dataclass from the table.

        Args:
            further: other keys of the table, for messages.

        Raises:
            InputError: a key is unknown, missing or of the wrong type, or a value is out of its range.
        """
        hints = _hints(kind)
        for name in table:
            if name not in hints:
                raise self.unknown((*keys, name), (*further, *hints))
        values = {}
        for item in dataclasses.fields(kind):
            required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
            if item.name in table:
                values[item.name] = self.value(hints[item.name], table[item.name], (*keys, item.name))
                if required and values[item.name] in ([], ()):
                    raise self.error((*keys, item.name), f"{item.name} must be one value or more, not an empty list")
            elif required:
                raise self.error(keys, f"{'.'.join((*keys, item.name))} is missing")
        try:
            return kind(**values)
        except SettingError as error:
            raise self.error((*keys, error.name), str(error)) from error
        except InputError as error:
            raise self.error(keys, str(error)) from error

    def value(self, hint: Any, found: Any, keys: Keys) -> Any:
        """The value, checked against the expected type."""
        if isinstance(found, int) and not -(2**63) <= found < 2**63:
            raise self.error(keys, f"{keys[-1]} must be less than 2^63 in size")
        if isinstance(found, str) and len(found) > _LONGEST:
            raise self.error(keys, f"{keys[-1]} must have at most {_LONGEST} characters, not {len(found)}")
        if isinstance(hint, UnionType):
            hint = next(argument for argument in get_args(hint) if argument is not type(None))
        if get_origin(hint) is dict:
            if not isinstance(found, dict):
                raise self.error(keys, f"{keys[-1]} must be a table")
            inner = get_args(hint)[1]
            return {name: self.value(inner, item, (*keys, name)) for name, item in found.items()}
        if get_origin(hint) in (list, tuple):
            items = found if isinstance(found, list) else [found]
            return get_origin(hint)(self.value(get_args(hint)[0], item, keys) for item in items)
        if dataclasses.is_dataclass(hint):
            if not isinstance(found, dict):
                raise self.error(keys, f"{keys[-1]} must be a table")
            return self.build(hint, found, keys)
        if hint is Path and isinstance(found, str):
            return self._file(found, keys)
        if hint is float and isinstance(found, int) and not isinstance(found, bool):
            return float(found)
        if hint is not Path and type(found) is hint:
            return found
        names = {Path: "a file name", str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
        raise self.error(keys, f"{keys[-1]} must be {names[hint]}, not {_shown(found)}")

    def _file(self, name: str, keys: Keys) -> Path:
        in_corpus = keys[0] in ("corpus", "monolingual")
        path = (self.data if in_corpus and self.data else self.path.parent) / name
        if not os.path.isfile(path):  # unlike Path.exists, never fails, however long the name is
            cure = "; name the folder of the corpus with --data" if in_corpus and not self.data else ""
            raise self.error(keys, f"{keys[-1]}: no file {_shown(str(path))}{cure}")
        short = os.path.normpath(path)  # names another file if .. follows a link
        return Path(short) if os.path.isfile(short) and os.path.samefile(short, path) else path
