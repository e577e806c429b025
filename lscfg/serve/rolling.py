"""A service at one address whose system is replaced while clients use it."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Callable
from contextlib import suppress

from lscfg import log
from lscfg.closing import Closing
from lscfg.errors import LscfgError
from lscfg.parallel.companion import Companion, Ready

Serve = Callable[[socket.socket, argparse.Namespace, Ready], None]
"""Serves on a socket by the arguments of ``lscfg serve``, and calls ``ready`` when it accepts connections."""


class RollingService(Closing):
    """A process that serves, and its successors on the same socket.

    A successor accepts connections before its predecessor answers its last requests and ends, so no client is refused
    and every request is answered. The predecessor closes connections that wait without a request.

    Args:
        serve: a function of a module.
        listening: a bound socket; the service closes it.
    """

    def __init__(self, serve: Serve, listening: socket.socket):
        self._serve, self._socket = serve, listening
        self._companion: Companion | None = None
        self._ended: list[Companion] = []

    @property
    def alive(self) -> bool:
        """True while a system is served; False after the death of its process."""
        return self._companion is not None and self._companion.alive

    def show(self, args: argparse.Namespace) -> bool:
        """Serves the system that the arguments name from now on; returns False if the previous one stays.

        Raises:
            LscfgError: the system cannot be served, and no earlier one is.
        """
        number = self._socket.fileno()
        companion = Companion(_serve_inherited, (self._serve, number, args), [number])
        try:
            companion.wait_until_ready()
        except LscfgError as error:
            companion.close()
            if not self.alive:
                raise
            log.warning(f"the service keeps the previous system: {error}")
            return False
        except BaseException:
            companion.close()
            raise
        if self._companion is not None:
            self._companion.end()
            self._ended.append(self._companion)
        self._companion = companion
        return True

    def wait(self) -> None:
        """Waits until a signal ends the process that serves.

        Raises:
            LscfgError: the process died.
        """
        if self._companion is not None:
            self._companion.wait()

    def close(self) -> None:
        """Ends the service after its answers, however long they take; a second Ctrl-C ends it at once."""
        self._socket.close()
        if self._companion is not None:
            self._companion.end()
            self._ended.append(self._companion)
            self._companion = None
        try:
            for companion in self._ended:  # asked to end already: a second signal would leave requests unanswered
                if companion.alive:
                    with suppress(Exception):  # nobody needs the outcome any more
                        companion.wait()
        finally:
            for companion in self._ended:
                companion.close()


def _serve_inherited(call: tuple[Serve, int, argparse.Namespace], ready: Ready) -> None:
    serve, number, args = call
    with socket.socket(fileno=number) as listening:
        serve(listening, args, ready)
