"""The command line: finds the commands of all installed packages, parses, runs, turns errors into one line.

A command is a module with ``HELP``, ``EXAMPLE``, ``add_arguments(parser)`` and ``run(args)``, named in the entry-point
group ``lscfg.commands``. So the packages above this one add commands without being imported here.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from types import ModuleType
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

GOOD, BAD_INPUT, BAD_USAGE = 0, 1, 2

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
        epilog=f"examples:\n{examples}\n\nexit status: 0 good, 1 bad input, 2 bad usage",
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
    commands = load_commands()
    given = sys.argv[1:] if arguments is None else arguments
    chosen = next((word for word in given if not word.startswith("-")), "")
    args = build_parser(commands, chosen).parse_args(given)

    from lscfg import log
    from lscfg.errors import LscfgError
    from lscfg.io.text import FULL

    log.quiet = args.quiet
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale: all text is UTF-8
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        commands[args.command].run(args)
        sys.stdout.flush()
    except LscfgError as error:
        print(f"lscfg {args.command}: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(f"lscfg {args.command}: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has gone, as in "lscfg ... | head"
        _drop_output()
    except OSError as error:
        if error.errno not in FULL or error.filename is not None:
            raise
        print(f"lscfg {args.command}: standard output: cannot write: {error.strerror}", file=sys.stderr)
        _drop_output()
        return BAD_INPUT
    return GOOD


def _drop_output() -> None:
    """What is still to be written to standard output goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
