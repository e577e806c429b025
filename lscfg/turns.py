"""Methods that threads call one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class Takes(Protocol):
    """An object whose methods wait for each other."""

    _turn: threading.RLock
    """Held by the method that runs."""


ObjectT = TypeVar("ObjectT", bound=Takes)
Arguments = ParamSpec("Arguments")
ResultT = TypeVar("ResultT")


def in_turn(
    method: Callable[Concatenate[ObjectT, Arguments], ResultT],
) -> Callable[Concatenate[ObjectT, Arguments], ResultT]:
    """A method that waits until no other thread uses the object.

    Sentences add their words to the kernel's vocabulary, which moves in memory while it grows, and Python's lock is
    free while the kernel runs.
    """

    @wraps(method)
    def waiting(self: ObjectT, /, *args: Arguments.args, **options: Arguments.kwargs) -> ResultT:
        with self._turn:
            return method(self, *args, **options)

    return waiting
