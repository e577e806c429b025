"""A process of lscfg that works next to this one until its owner ends it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from lscfg import log
from lscfg.closing import Closing
from lscfg.errors import WorkerError
from lscfg.parallel.jobs import GRACE_SECONDS, Job, job_outcome, started_job

Ready = Callable[[], None]
"""Called by the function of a companion as soon as its work has begun."""


class Companion(Closing):
    """A call ``function(argument, ready)`` in a process, which ends with the thread that started it.

    An interruption at the keyboard does not reach the process; SIGTERM asks it to end.

    Args:
        function: a function of a module.
        files: open file descriptors that the process inherits under the same numbers.
    """

    def __init__(self, function: Callable[[Any, Ready], None], argument: Any, files: Sequence[int] = ()):
        self._signal, inherited = os.pipe()
        try:
            job = Job(_with_signal, (function, argument, inherited), display=log.current_display())
            self._process = started_job(job, 1, (*files, inherited))
        except BaseException:
            os.close(self._signal)
            raise
        finally:
            os.close(inherited)

    def wait_until_ready(self) -> None:
        """Waits until the function calls ``ready``.

        Raises:
            Exception: the error of the function.
            WorkerError: the process died or the function returned.
        """
        if not os.read(self._signal, 1):
            self.wait()
            raise WorkerError("a process ended before its work began", 0)

    def wait(self) -> None:
        """Waits for the end of the function.

        Raises:
            Exception: the error of the function.
            WorkerError: the process died.
        """
        job_outcome(self._process, self._process.communicate()[0])

    @property
    def alive(self) -> bool:
        """True until the process ends."""
        return self._process.poll() is None

    def end(self) -> None:
        """Asks the process to end; does not wait."""
        if self.alive:
            self._process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """Ends the process, by force after ``GRACE_SECONDS``."""
        self.end()
        with suppress(OSError):
            os.close(self._signal)
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _with_signal(call: tuple[Callable[[Any, Ready], None], Any, int], threads: int) -> None:
    function, argument, descriptor = call

    def ready() -> None:
        os.write(descriptor, b".")

    function(argument, ready)
