"""Log messages and progress bars.

The library logs to ``logging.getLogger("lscfg")`` and prints nothing: a program that wants the messages configures that
logger. The command line shows messages and progress bars on stderr by a ``Terminal``, the handler of this module.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")

logger = logging.getLogger("lscfg")
logger.addHandler(logging.NullHandler())

info = logger.info
warning = logger.warning

FINDINGS = "lscfg.findings"
"""Logger of warnings about the data and the results, which a command may show in its own words instead."""

finding = logging.getLogger(FINDINGS).warning


def warn_once(message: str, earlier: set[str]) -> None:
    """Logs a warning and adds it to the earlier ones, unless it is among them."""
    if message not in earlier:
        earlier.add(message)
        warning(message)


def table(figures: Mapping[str, object]) -> None:
    """Logs one line for each figure: names aligned to the left; whole numbers to the right, in groups of three."""
    width = max(map(len, figures), default=0)
    digits = max((len(f"{value:,}") for value in figures.values() if isinstance(value, int)), default=0)
    for name, value in figures.items():
        info(f"  {name:<{width}}  " + (f"{value:>{digits},}" if isinstance(value, int) else str(value)))


_held: ContextVar[list[str] | None] = ContextVar("held", default=None)


def _passes(record: logging.LogRecord) -> bool:
    held = _held.get()
    if held is None or record.levelno < logging.WARNING:
        return True
    held.append(record.getMessage())
    return False


logger.addFilter(_passes)
logging.getLogger(FINDINGS).addFilter(_passes)


@contextmanager
def held_back() -> Iterator[list[str]]:
    """Collects the warnings of this thread instead of logging them: several workers may issue the same ones."""
    messages: list[str] = []
    token = _held.set(messages)
    try:
        yield messages
    finally:
        _held.reset(token)


# ---- on a terminal ----


@dataclass(frozen=True)
class Display:
    """The way a process shows its messages, for the processes that it starts."""

    quiet: bool = False
    """Show warnings only, and no progress bars."""
    label: str = ""
    """The beginning of each line, where several processes write lines; such processes show no progress bars."""
    brief: bool = False
    """Show no findings, and of the work inside steps only warnings and progress bars; see ``inside_step``."""


class Terminal(logging.Handler):
    """Writes messages to stderr, above the progress bars; what stderr does not take is lost, and the work goes on."""

    def __init__(self, display: Display):
        super().__init__(logging.WARNING if display.quiet else logging.INFO)
        self.display = display

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None and not (self.display.brief and record.name == FINDINGS):
            say(self.line(record))

    def line(self, record: logging.LogRecord) -> str:
        """The message as it is shown."""
        kind = "warning: " if record.levelno >= logging.WARNING else ""
        return f"[lscfg] {self.display.label}{kind}{record.getMessage()}"


def say(line: str) -> None:
    """Writes a line to stderr, above the progress bars if there are any; what stderr does not take is lost."""
    if sys.stderr is None:
        return
    try:
        if _bars is None:
            sys.stderr.write(f"{line}\n")
        else:
            _bars.write(line, file=sys.stderr)
    except (OSError, ValueError):  # a full disk, a reader that has gone, or a closed file
        settle()


def settle() -> None:
    """Flushes stderr and drops what it does not take: Python would try again at its end, and then exit with 120."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):  # a closed file, or one without a descriptor
            number = sys.stderr.fileno()
            kept, null = os.dup(number), os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(null, number)
                sys.stderr.flush()
            finally:
                os.dup2(kept, number)
                os.close(kept)
                os.close(null)


def _terminal() -> Terminal | None:
    return next((handler for handler in logger.handlers if isinstance(handler, Terminal)), None)


def current_display(label: str = "") -> Display | None:
    """The display of this process, with another label if one is given; None if the process shows nothing."""
    if (terminal := _terminal()) is None:
        return None
    return replace(terminal.display, label=label or terminal.display.label)


def show(display: Display | None) -> None:
    """Shows messages on stderr from now on, in this way only; None shows nothing."""
    _show(None if display is None else Terminal(display))


def _show(terminal: Terminal | None) -> None:
    if (before := _terminal()) is not None:
        logger.removeHandler(before)
    if terminal is not None:
        logger.addHandler(terminal)
        logger.setLevel(terminal.level)
    elif before is not None:
        logger.setLevel(logging.NOTSET)


@contextmanager
def shown(display: Display | None) -> Iterator[None]:
    """Shows messages as ``show`` does, until the end of the block."""
    before = current_display()
    show(display)
    try:
        yield
    finally:
        show(before)


@contextmanager
def inside_step() -> Iterator[None]:
    """Marks work inside a step of a longer run, until the end of the block: a brief display shows its warnings only."""
    display = current_display()
    if display is None or not display.brief:
        yield
        return
    with shown(replace(display, quiet=True)):
        yield


@contextmanager
def shown_by(terminal: Terminal) -> Iterator[None]:
    """Shows messages by this handler only, until the end of the block."""
    before = _terminal()
    _show(terminal)
    try:
        yield
    finally:
        _show(before)


_hidden: ContextVar[bool] = ContextVar("hidden", default=False)


@contextmanager
def no_progress() -> Iterator[None]:
    """Hides the progress bars of this thread: another worker shows the progress."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


def _without_bars() -> bool:
    """True if this thread shows no progress bars, as where stderr is not a terminal."""
    display = current_display()
    without = display is None or (display.quiet and not display.brief) or display.label or _hidden.get()
    return bool(without) or sys.stderr is None or not sys.stderr.isatty()


_bars: type[tqdm] | None = None
"""The class of progress bars, if this process has shown one."""


def _bar_class() -> type[tqdm]:
    """The class of progress bars, whose lock belongs to one process.

    Forked processes share the lock of ``tqdm`` itself: a worker that is killed while it writes would keep the lock, and
    this process would wait forever before its next message.
    """
    global _bars
    if _bars is None:
        from threading import RLock

        from tqdm import tqdm

        bars: type[tqdm] = type("Bar", (tqdm,), {})
        bars.set_lock(RLock())
        os.register_at_fork(after_in_child=lambda: bars.set_lock(RLock()))  # another thread may hold it at the fork
        _bars = bars
    return _bars


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Iterates over items under a progress bar; the bar shows on a terminal only."""
    if _without_bars():  # importing tqdm takes as long as decoding some sentences
        return iter(items)
    return iter(_bar_class()(items, desc=what, total=total, leave=False, file=sys.stderr))


def meter(what: str, total: int | None = None) -> tqdm:
    """A progress bar over bytes, moved by its ``update``; it shows where ``progress`` shows one."""
    return _bar_class()(
        desc=what, total=total, unit="B", unit_scale=True, disable=_without_bars(), leave=False, file=sys.stderr
    )
