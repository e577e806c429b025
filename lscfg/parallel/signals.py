"""Signals that end a process: exceptions, so that temporary files and workers go, but not at the wrong moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
"""Signals that ask a process to end."""


class Terminated(SystemExit):
    """The end of the process by a signal.

    Attributes:
        number: number of the signal.
        signal: its name.
        status: exit status of the process.
    """

    def __init__(self, number: int):
        self.number, self.signal, self.status = number, signal.Signals(number).name, 128 + number
        super().__init__(self.status)


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Raises ``Terminated`` on SIGTERM and SIGHUP in the block, unless the process has chosen something else for them.

    Whoever ends a group of processes may send such a signal twice, so the first one hides all others from the clean-up.
    """
    ending = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ending = []  # only the main thread may set handlers
    before = {number: signal.getsignal(number) for number in (*ending, *([signal.SIGINT] if ending else []))}

    def end(number: int, frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    for number in ending:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # a handler of C cannot be set again
                signal.signal(number, handler)


def ignore_second_interruption() -> None:
    """Makes the first SIGINT of this process the last one that it heeds.

    A process that gets SIGINT from the keyboard may get it again from its parent, which must not end its clean-up.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)


class _Deferred:
    """A handler that notes signals until it is open; then it calls the handlers that it replaced."""

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        self.open = False
        self._waiting: list[int] = []
        for number in ENDING:
            if callable(handler := signal.getsignal(number)):
                self.handlers[number] = handler
                signal.signal(number, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.open:
            self.handlers[number](number, frame)
        else:
            self._waiting.append(number)

    def let_in(self) -> None:
        """Restores the handlers and calls those of the signals that came."""
        self.open = True  # a signal may come before the last handler is restored
        for number, handler in self.handlers.items():
            if signal.getsignal(number) is self:
                signal.signal(number, handler)
        for number in dict.fromkeys(self._waiting):
            self.handlers[number](number, None)  # raised again, the signal would reach an event loop twice


def defer_signals() -> Callable[[], None]:
    """Defers the signals of ``ENDING`` until the returned function is called, which handles those that came meanwhile.

    A fork needs it: Python ignores exceptions in its own hooks around a fork. A signal mask does not suffice, because
    another thread may take the signal, and its handler still runs in the main thread. Signals without a handler of
    Python keep their action.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
        return lambda: None
    return _Deferred().let_in
