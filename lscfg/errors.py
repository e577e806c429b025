"""Exceptions that lscfg raises on purpose; the command line prints each as one line and exits with status 1."""

from __future__ import annotations

import difflib
import signal
from collections.abc import Iterable
from os import PathLike
from typing import Any

SHOWN = 80
"""Most characters of a piece of input that a message quotes."""

LONGEST = 1200
"""Most characters of a line of a message, and of the name of the file before it."""


def cut(text: object) -> str:
    """A piece of input, cut if it is long."""
    whole = str(text)
    return whole if len(whole) <= SHOWN else whole[: SHOWN - 1] + "…"


_ENDS_OF_LINES, _DIRECTIONS = (0x2028, 0x2029), (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160), *_ENDS_OF_LINES, *_DIRECTIONS)}


def quote(text: object) -> str:
    """A piece of input for a message: cut, in quotes, with control characters escaped."""
    return repr(cut(text))


def _bounded(line: str) -> str:
    """A line of a message, without its middle if it is too long: the end gives the cure."""
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]}…{line[-half:]}"


def counted(count: int, noun: str) -> str:
    """A number of things, such as "1 sentence" or "2 sentences"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def exit_reason(status: int) -> str:
    """The way in which a process ended, given its exit status, which is negative for a signal."""
    if status >= 0:
        return f"status {status}"
    names = {one.value: one.name for one in signal.Signals}  # not those of most real-time signals
    return f"signal {names.get(-status, -status)}"


def did_you_mean(name: object, known: Iterable[str], least: float = 0.6) -> str:
    """The end of a message about an unknown name: the most similar known name, if any.

    Args:
        least: smallest similarity (0 to 1) of such a name.
    """
    near = difflib.get_close_matches(str(name)[:SHOWN], list(known), 1, least)
    return f" (did you mean {near[0]}?)" if near else ""


class LscfgError(Exception):
    """Base of every error that lscfg raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[LscfgError], arguments: tuple[Any, ...], state: dict[str, Any]) -> LscfgError:
    """Copies an error without its constructor, whose arguments an error does not keep."""
    error = kind.__new__(kind, *arguments)
    super(LscfgError, error).__init__(*arguments)
    error.__dict__.update(state)
    return error


class InputError(LscfgError, ValueError):
    """Bad input. The message gives the fault, the file and the 1-based line if known, and the cure."""

    def __init__(self, message: str, path: str | PathLike[str] | None = None, line: int | None = None):
        self.path = path
        self.line = line
        place = "" if path is None else _bounded(str(path))
        where = "" if path is None else f"{place}:{line}: " if line else f"{place}: "
        own = {code: text for code, text in _CONTROLS.items() if code != ord("\n")}  # a message may have several lines
        lines = map(_bounded, message.translate(own).split("\n"))
        super().__init__(where.translate(_CONTROLS) + "\n".join(lines))


class KernelError(LscfgError, RuntimeError):
    """A failure of the C kernel: no memory, or an error in a callback."""


class NotBuiltError(LscfgError, ImportError):
    """A missing C kernel, for example in a checkout before the first build."""

    def __init__(self) -> None:
        super().__init__("the C kernel is not built: pip install . (in a checkout: pip install -e .)")


class TooLargeError(KernelError):
    """A forest exceeds its size limit."""


class WorkerError(KernelError):
    """The death of a worker of an engine.

    Attributes:
        reason: the way in which the worker died.
        block: number, from 0, of the block that the worker was processing.
    """

    def __init__(self, reason: str, block: int):
        self.reason, self.block = reason, block
        super().__init__(f"{reason} at block {block + 1}")
