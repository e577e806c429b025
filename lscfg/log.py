"""What a person sees while lscfg works: log lines and progress bars, all on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")

quiet = False
"""Set by ``--quiet``: no log lines and no progress; warnings and errors still show."""

label = ""
"""What lines begin with, where several processes write them; they have no progress bars."""


def info(message: str) -> None:
    """One line of log, unless quiet."""
    if not quiet:
        tqdm.write(f"[lscfg] {label}{message}", file=sys.stderr)


def table(figures: Mapping[str, object]) -> None:
    """A line of log for each figure: names aligned to the left, and whole numbers, in groups of three, to the right."""
    width = max(map(len, figures), default=0)
    digits = max((len(f"{value:,}") for value in figures.values() if isinstance(value, int)), default=0)
    for name, value in figures.items():
        info(f"  {name:<{width}}  " + (f"{value:>{digits},}" if isinstance(value, int) else str(value)))


_held: ContextVar[list[str] | None] = ContextVar("held", default=None)


def warn(message: str) -> None:
    """One line of warning, quiet or not."""
    held = _held.get()
    if held is None:
        tqdm.write(f"[lscfg] {label}warning: {message}", file=sys.stderr)
    else:
        held.append(message)


@contextmanager
def held_back() -> Iterator[list[str]]:
    """Warnings of this thread are collected meanwhile and not shown: several workers may have the same to say."""
    messages: list[str] = []
    token = _held.set(messages)
    try:
        yield messages
    finally:
        _held.reset(token)


_hidden: ContextVar[bool] = ContextVar("hidden", default=False)


@contextmanager
def no_progress() -> Iterator[None]:
    """No progress bar of this thread meanwhile: that of another worker shows how far the work is."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a progress bar on a terminal (none when quiet or when stderr is a file)."""
    off = True if quiet or label or _hidden.get() else None  # None: it is off where stderr is no terminal
    return iter(tqdm(items, desc=what, total=total, disable=off, leave=False, file=sys.stderr))


def meter(what: str, total: int | None = None) -> tqdm:
    """A progress bar over bytes, moved by its ``update``; shown when ``progress`` would be."""
    return tqdm(
        desc=what,
        total=total,
        unit="B",
        unit_scale=True,
        disable=True if quiet or label else None,
        leave=False,
        file=sys.stderr,
    )
