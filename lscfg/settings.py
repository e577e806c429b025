"""Settings as data: the field of a setting declares default, range and help.

Checks, options of commands and their help, keys of experiment files, the contents of stage keys, and the tables of
docs/reference/configuration.md derive from these declarations.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Self, TypeVar, get_args, get_origin, get_type_hints

from lscfg.errors import InputError, cut, did_you_mean, quote

LARGEST = 2**31 - 1
"""The largest whole number of any setting: the kernel counts in 32 bits."""


_HALF = re.compile("[\ud800-\udfff]")

_WANTED = {int: "a whole number", float: "a number", bool: "True or False", str: "a string", Path: "a file name"}
"""Types of settings for messages."""


def file_name(value: str | os.PathLike[Any]) -> bool:
    """True if a file can have the name."""
    name = os.fspath(value)
    try:
        return isinstance(name, str) and name != "" and "\0" not in name and bool(os.fsencode(name))
    except UnicodeEncodeError:
        return False


class SettingError(InputError):
    """A value out of its range.

    Attributes:
        name: name of the setting, or of its option if known; requirement: the violated requirement, without the name.
    """

    def __init__(self, name: str, requirement: str):
        super().__init__(f"{name} {requirement}")
        self.name, self.requirement = name, requirement


def _number(value: float) -> str:
    """A limit for messages; whole numbers show all digits."""
    return f"{value:g}" if value % 1 else f"{value:.0f}"


@dataclass(frozen=True)
class Limits:
    """Limits of a setting's values; None: no such limit."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()

    def requirement(self, value: Any) -> str | None:
        """The requirement that the value violates, or None."""
        if self.choices and value not in self.choices:
            known = ", ".join(self.choices)
            return f"must be one of {known}, not {quote(value)}{did_you_mean(value, self.choices)}"
        if isinstance(value, float) and not math.isfinite(value):
            return f"must be a finite number, not {value}"
        for limit, within, words in (
            (self.least, operator.ge, "at least"),
            (self.most, operator.le, "at most"),
            (self.above, operator.gt, "more than"),
            (self.below, operator.lt, "less than"),
        ):
            if limit is not None and not within(value, limit):
                return f"must be {words} {_number(limit)}, not {value}"
        return None

    def __str__(self) -> str:
        if self.choices:
            return ", ".join(self.choices)
        most = None if self.most == LARGEST else self.most
        limits = (("≥", self.least), (">", self.above), ("≤", most), ("<", self.below))
        return ", ".join(f"{sign} {_number(limit)}" for sign, limit in limits if limit is not None)


def setting(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    metavar: str = "",
    shown: str = "",
    part: str = "",
    option: str = "",
    letter: str = "",
    common: bool = False,
) -> Any:
    """A field of a settings class.

    Args:
        default: the default value; a list or a dict is copied for each instance.
        help: one line that begins with a noun, without the default.
        least, most, above, below: limits of a number, or of each number of several.
        choices: possible values of a string, or of each string of several.
        metavar: the value in a command's help.
        shown: the default in words, if the value would not be clear.
        part: the only part of the work that depends on the setting, if not all of it.
        common: True if commands also have an option for the setting, besides ``--set``.
        option: name of that option, if it differs; letter: short form, if any.
    """
    metadata = {"help": help, "limits": Limits(least, most, above, below, tuple(choices))}
    metadata |= {"metavar": metavar, "shown": shown, "part": part, "option_name": option}
    metadata |= {"letter": letter, "common": common}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Declared:
    """Base class of the settings of kinds, tables and commands.

    A subclass inherits settings and may change their defaults: ``class Own(Base, defaults={"passes": 2})``.

    Raises:
        SettingError: a value is out of its range.
    """

    def __init_subclass__(cls, defaults: Mapping[str, Any] | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        inherited = {name: item for base in reversed(cls.__mro__[1:]) for name, item in _fields(base).items()}
        for name, default in (defaults or {}).items():
            cls.__annotations__[name] = inherited[name].type
            setattr(cls, name, dataclasses.field(default=default, metadata=inherited[name].metadata))

    def __post_init__(self) -> None:
        for item in settings_of(type(self)):
            given = getattr(self, item.name)
            value = item.converted(given)
            item.check(value)
            if value is not given:
                object.__setattr__(self, item.name, value)

    def facts(self, *parts: str) -> dict[str, Any]:
        """All values except files, as JSON data: everything that a result depends on, apart from the contents of files.

        Args:
            parts: parts of the work; none: all of it.
        """
        return {
            item.name: list(value) if isinstance(value := getattr(self, item.name), tuple) else value
            for item in settings_of(type(self))
            if item.kind is not Path and (not parts or item.part in parts)
        }

    def files(self) -> dict[str, Path]:
        """The given files, by name of the setting."""
        found = ((item.name, getattr(self, item.name)) for item in settings_of(type(self)) if item.kind is Path)
        return {name: path for name, path in found if path is not None}

    @classmethod
    def of(cls, facts: Mapping[str, Any], files: Mapping[str, Path] | None = None) -> Self:
        """The settings with these values of ``facts`` and ``files``.

        Raises:
            SettingError: a fact is unknown, or a value has another type or is out of its range.
        """
        hints = {item.name: item for item in settings_of(cls)}
        for name in facts:
            if name not in hints:
                raise SettingError(name, f"is unknown{did_you_mean(name, hints)}")
        return cls(**facts, **{name: path for name, path in (files or {}).items() if name in hints})


DeclaredT = TypeVar("DeclaredT", bound=Declared)


def _fields(cls: type) -> dict[str, dataclasses.Field[Any]]:
    return getattr(cls, "__dataclass_fields__", {})


@dataclass(frozen=True)
class Setting:
    """One setting of a class, as declared."""

    name: str
    kind: type
    """int, float, bool, str or Path; of several values, the type of each."""
    many: bool
    optional: bool
    default: Any
    help: str
    limits: Limits
    metavar: str
    shown: str
    part: str
    option_name: str
    letter: str
    common: bool

    def converted(self, value: Any) -> Any:
        """The value as its declared type: numbers of NumPy, lists and names of files are taken, too.

        Raises:
            SettingError: the value has another type.
        """
        if value is None and self.optional:
            return None
        if not self.many:
            return self._single(value)
        if not isinstance(value, (tuple, list)):
            raise SettingError(self.name, f"must be a list, not {quote(repr(value))[1:-1]}")
        made = tuple(map(self._single, value))
        return value if isinstance(value, tuple) and all(map(operator.is_, made, value)) else made

    def _single(self, value: Any) -> Any:
        if type(value) is self.kind and self.kind is not str:
            return value
        if self.kind is int and isinstance(value, Integral) and not isinstance(value, bool):
            return int(value)
        if self.kind is float and isinstance(value, Real) and not isinstance(value, bool):
            try:
                return value if isinstance(value, int) and math.isfinite(value) else float(value)
            except OverflowError:
                raise SettingError(self.name, f"must be a finite number, not {cut(value)}") from None
        if self.kind is bool and type(value).__name__ in ("bool", "bool_"):  # the second is NumPy's
            return bool(value)
        if self.kind is str and isinstance(value, str) and not _HALF.search(value):
            return value
        if self.kind is Path and isinstance(value, (str, os.PathLike)) and file_name(value):
            return value if isinstance(value, Path) else Path(value)
        wanted = _WANTED.get(self.kind)
        if wanted is None:
            return value
        raise SettingError(self.name, f"must be {wanted}, not {quote(repr(value))[1:-1]}")

    def check(self, value: Any) -> None:
        """Refuses a value out of its range; of several values, an empty list or a repeated value.

        Raises:
            SettingError: the value is refused.
        """
        if value is None and self.optional:
            return
        if self.many and self.default and not value:  # if an empty list is possible, it is the default
            raise SettingError(self.name, "must name one or more")
        seen = set()
        for single in value if self.many else (value,):
            if requirement := self.limits.requirement(single):
                raise SettingError(self.name, requirement)
            if single in seen:
                raise SettingError(self.name, f"must not name {quote(single)} twice")
            seen.add(single)

    @property
    def option(self) -> str:
        """The command-line option; of a switch, only the opposite of the default."""
        name = self.option_name or self.name.replace("_", "-")
        if self.kind is bool and self.default:
            name = f"no-{name}"
        return f"-{name}" if len(name) == 1 else f"--{name}"

    def meaning(self) -> str:
        """The help of the key. That of an option which turns a default off describes the other value."""
        return f"false: {self.help}" if self.kind is bool and self.default else self.help

    def default_text(self) -> str:
        """The default for help and tables, or ``none``."""
        if self.shown:
            return self.shown
        if self.many:
            return ",".join(map(str, self.default)) or "none"
        if isinstance(self.default, bool):
            return str(self.default).lower()
        if isinstance(self.default, float):
            return f"{self.default:g}"
        return "none" if self.default is None or self.default == "" else f"{self.default}"


def settings_from(cls: type[DeclaredT], values: Mapping[str, Any], owner: str) -> DeclaredT:
    """The settings that a program gives by name.

    Args:
        owner: of the settings, for messages.

    Raises:
        TypeError: there is no setting of a name.
        SettingError: a value has another type or is out of its range.
    """
    known = {item.name: item.help for item in settings_of(cls)}
    for name in values:
        if name not in known:
            meant = [key for key, text in known.items() if re.split("[;:,(]", text)[0].split()[-1:] == [name]]
            near = f" (did you mean {meant[0]}?)" if len(meant) == 1 else did_you_mean(name, known)
            raise TypeError(f"{owner} has no setting {quote(name)}; settings are {', '.join(known) or 'none'}{near}")
    return cls(**values)


def settings_of(cls: type) -> tuple[Setting, ...]:
    """The settings of a class in order, without fields that are not settings."""
    return _settings_of(cls)


@cache
def _settings_of(cls: Any) -> tuple[Setting, ...]:
    hints, found = get_type_hints(cls), []
    for item in dataclasses.fields(cls):
        if "help" not in item.metadata:
            continue
        hint, optional, many = hints[item.name], False, False
        if isinstance(hint, UnionType):
            optional = True
            hint = next(argument for argument in get_args(hint) if argument is not type(None))
        if get_origin(hint) in (tuple, list):
            many, hint = True, get_args(hint)[0]
        limits = item.metadata["limits"]
        if hint is int and limits.most is None:
            limits = dataclasses.replace(limits, most=LARGEST)
        default: Any = item.default
        if item.default_factory is not MISSING:
            default = item.default_factory()
        names = ("help", "metavar", "shown", "part", "option_name", "letter", "common")
        facts = {name: item.metadata[name] for name in names}
        found.append(Setting(item.name, hint, many, optional, default, limits=limits, **facts))
    return tuple(found)
