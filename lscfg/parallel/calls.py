"""The part of ``Engine.map`` that engines of processes share: draw blocks, send them, and keep results in order."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lscfg.parallel.engine import Arriving

Outcome = tuple[bool, Any]
"""True and a result, or False and an error."""


def check_sendable(function: Callable[[Any], Any]) -> None:
    """Refuses a function that a worker cannot import.

    Raises:
        TypeError: the function is not one of a module.
    """
    try:
        pickle.dumps(function)
    except Exception as error:
        raise TypeError(f"{function!r} cannot go to a worker; it must be a function of a module") from error


class OrderedCall:
    """One call of ``map``: sends messages of one block or more, and yields the outcomes in the order of the blocks.

    Args:
        held: most messages that are under way or wait for an earlier result.
        batch: blocks of a message.
    """

    def __init__(self, held: int, batch: int = 1):
        self._held, self._batch = held, batch
        self._sent = 0
        self._outcomes: dict[int, list[Outcome]] = {}

    def results(self, blocks: Iterable[Any], arriving: Arriving | None) -> Iterator[Any]:
        """The results in the order of the blocks; see ``Engine.map``."""
        outgoing = self._send_each(blocks)
        for number in itertools.count():
            more = self._draw(outgoing, number, arriving)
            if number == self._sent:
                return
            while number not in self._outcomes:
                self._receive(number, arriving if more else None)
                more = self._draw(outgoing, number, arriving)
            for well, result in self._outcomes.pop(number):
                if not well:
                    raise result
                yield result

    def _draw(self, outgoing: Iterator[bool], number: int, arriving: Arriving | None) -> bool:
        """Sends as many messages as may be ahead of a result; returns True if more may go as soon as blocks arrive."""
        while self._sent < number + self._held:
            if arriving is not None and self._sent > number and not arriving.ready():
                return True
            if not next(outgoing, False):
                return False
        return False

    def _send_each(self, blocks: Iterable[Any]) -> Iterator[bool]:
        """Sends a message with each step. A block that cannot be drawn fails in its turn, after earlier failures."""
        drawn: list[Any] = []
        failure: Exception | None = None
        try:
            for block in blocks:
                drawn.append(block)
                if len(drawn) == self._batch:
                    yield self._send_next(drawn)
                    drawn = []
        except Exception as error:
            failure = error
        if drawn:
            yield self._send_next(drawn)
        if failure is not None:
            self._outcomes[self._sent] = [(False, failure)]
            self._sent += 1
            yield True

    def _send_next(self, blocks: list[Any]) -> bool:
        self._send(self._sent, blocks)
        self._sent += 1
        return True

    def _send(self, number: int, blocks: list[Any]) -> None:
        """Sends the message of this number."""
        raise NotImplementedError

    def _receive(self, awaited: int, arriving: Arriving | None) -> None:
        """Takes the outcomes that have arrived, or waits for the first one, or for blocks that arrive."""
        raise NotImplementedError
