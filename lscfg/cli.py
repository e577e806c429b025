"""The command line: finds the commands of all installed packages, parses, runs, turns errors into one line.

A command is a module with ``HELP``, ``EXAMPLE``, ``add_arguments(parser)`` and ``run(args)``, named in the entry-point
group ``lscfg.commands``. So the packages above this one add commands without being imported here.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from types import FrameType, ModuleType
from typing import Any

# in order of the data flow, then the whole job
ORDER = (
    "prepare",
    "align",
    "derive",
    "grammar",
    "lm",
    "estimate",
    "marginals",
    "heatmap",
    "diagnose",
    "decode",
    "pack",
    "serve",
    "cdec",
    "moses",
    "tune",
    "evaluate",
    "run",
    "demo",
    "inspect",
    "compress",
    "simulate",
)

GOOD, BAD_INPUT, BAD_USAGE, FAULT, INTERRUPTED = 0, 1, 2, 70, 130

QUIET = "no log and no progress on stderr"


def load_commands() -> dict[str, ModuleType]:
    """The command modules by name, in order of the data flow."""
    found = {point.name: point for point in entry_points(group="lscfg.commands")}
    names = [name for name in ORDER if name in found] + sorted(set(found) - set(ORDER))
    return {name: found[name].load() for name in names}


def build_parser(commands: dict[str, ModuleType], chosen: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands.

    Args:
        chosen: the one command whose options are declared, since some ask their packages for them; None: all.
    """
    from lscfg import __version__

    width = max(map(len, commands), default=0)
    examples = "\n".join(f"  {name:<{width}}  {module.EXAMPLE}" for name, module in commands.items())
    parser = argparse.ArgumentParser(
        prog="lscfg",
        description="Latent-variable synchronous CFGs for machine translation.",
        epilog=f"examples:\n{examples}\n\nexit status: 0 good, 1 bad input, 2 bad usage, 70 a fault of lscfg",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"lscfg {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in commands.items():
        sub = subparsers.add_parser(
            name, help=module.HELP, description=module.HELP, epilog=f"example: {module.EXAMPLE}"
        )
        if chosen in (None, name):
            module.add_arguments(sub)
        sub.add_argument("--quiet", action="store_true", help=QUIET)
    return parser


def add_action(actions: Any, name: str, help_text: str) -> argparse.ArgumentParser:
    """The parser of an action of a command; ``--quiet`` may stand behind it, too.

    Args:
        actions: what ``add_subparsers`` of the command's parser returned.
    """
    action: argparse.ArgumentParser = actions.add_parser(name, help=help_text, description=help_text)
    action.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help=QUIET)
    return action


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status."""
    # One thread for each matrix product: sums over threads would come out in another order each time, and the work is
    # spread over processes anyway. To be set before numpy is loaded.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    _open_standard_files()
    commands = load_commands()
    given = sys.argv[1:] if arguments is None else arguments
    chosen = next((word for word in given if not word.startswith("-")), "")
    args = build_parser(commands, chosen).parse_args(given)

    from lscfg import log
    from lscfg.io.arguments import checked_files

    log.quiet = args.quiet
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale: all text is UTF-8; names of files are as given
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        with _ending_when_told(), checked_files(args):
            commands[args.command].run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"lscfg {args.command}: interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in "lscfg ... | head"
        _drop_output()
    except Exception as error:
        message, status = explain(error)
        print(f"lscfg {args.command}: {message}", file=sys.stderr)
        try:
            sys.stdout.flush()  # what was finished is kept
        except OSError:
            _drop_output()
        return status
    return GOOD


@contextmanager
def _ending_when_told() -> Iterator[None]:
    """SIGTERM and SIGHUP end the work as an exception does, so that temporary files and workers go."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    told = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        told = []  # only the main thread may say what a signal does
    for number in told:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in told:
            signal.signal(number, signal.SIG_DFL)


def explain(error: Exception) -> tuple[str, int]:
    """One line for the user, and the exit status.

    An exception that is none of lscfg's own, nor one that any program may meet, is a fault of lscfg's. It has a status
    of its own, so that nobody takes it for bad input, and its traceback shows where ``LSCFG_TRACEBACK`` is set.
    """
    from lscfg.errors import LscfgError
    from lscfg.io.text import FULL

    said = " ".join(str(error).split())
    if isinstance(error, LscfgError):
        return str(error), BAD_INPUT
    if isinstance(error, MemoryError):
        detail = f" ({said})" if said else ""
        return f"out of memory{detail}; give it less text at a time, shorter lines or fewer threads and jobs", BAD_INPUT
    if isinstance(error, RecursionError):
        return "the input is nested too deeply; is it what the command expects?", BAD_INPUT
    if isinstance(error, OverflowError):
        return f"a number is too large ({said}); look through the options and the input", BAD_INPUT
    if isinstance(error, OSError):
        if error.filename is None and error.errno in (*FULL, errno.EBADF):
            return f"standard output: cannot write: {error.strerror}", BAD_INPUT
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return f"{where}cannot be read or written: {error.strerror or said}", BAD_INPUT
    if os.environ.get("LSCFG_TRACEBACK"):
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return (
        f"fault in lscfg: {type(error).__name__} at {place}: {said}; please report it, with the output of "
        "the same command under LSCFG_TRACEBACK=1",
        FAULT,
    )


def _open_standard_files() -> None:
    """Puts something in the place of a standard file that was closed, so that no other file gets its number.

    Data for standard output are then an error, as on a full disk, and not lost without a word; messages are lost.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            mode = os.O_RDONLY if name == "stdout" else os.O_RDWR
            os.open(os.devnull, mode)  # gets the lowest number that is free, which is this one
            if name != "stdin":
                setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 (for good)


def _drop_output() -> None:
    """What is still to be written to standard output goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    sys.exit(main())
