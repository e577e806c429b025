"""Work for engines: functions of a module, since other processes import them."""

import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection

from lscfg.errors import InputError
from lscfg.parallel.processes import Processes
from lscfg.parallel.temporary import TemporaryFolder
from lscfg.parallel.worker import keep


class TwoPartError(Exception):
    """Its copy cannot be made from the message alone."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")

    def __reduce__(self):
        """As of any exception; distributed, once imported, copies those that do not say it for themselves."""
        return type(self), self.args


def square(number):
    time.sleep(0.002 if number % 7 == 0 else 0)
    return number * number


def reciprocal(number):
    return 1 // (5 - number)


def bad_input(number):
    raise InputError(f"number {number}", "file", number)


def two_parts(number):
    raise TwoPartError(number, "more")


def cannot_be_pickled(number):
    return threading.Lock()


def blob(number):
    return bytes([number % 251]) * 300_000


def die(number):
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def leave(number):
    raise SystemExit(3)


def who(number):
    return os.getpid()


def made_once(number):
    made = []
    held = keep("list", number % 2, lambda: made.append(number) or [number])
    return held[0], bool(made)


def rest(seconds):
    time.sleep(seconds)


def variable(name):
    return os.environ.get(name)


def loaded(name):
    return name in sys.modules


def slowly(number):
    time.sleep(0.05)
    return number * number


def disk_full_where_told(number):
    if os.environ.get("DISK_IS_FULL"):
        with open("/dev/full", "w") as file:
            file.write("no room")
    return number * number


def disk_full(number):
    with open("/dev/full", "w") as file:
        file.write("no room")


_kept: list[TemporaryFolder] = []


def keep_folder(connection: Connection) -> None:
    """Keeps a temporary folder with a file until the process ends, and sends its path."""
    _kept.append(TemporaryFolder())
    (_kept[-1].path / "file").write_text("x")
    connection.send(str(_kept[-1].path))


def squares_of_workers(number: int) -> list[int]:
    """The first squares, by an engine of this process."""
    with Processes(2) as engine:
        return [*engine.map(square, range(number))]
