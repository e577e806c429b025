"""The command line: parses the arguments, runs one command, and turns each error into one line.

``lscfg.command_table`` lists the commands; only the module of the command that is called is loaded.
"""

from __future__ import annotations

import argparse
import errno
import gc
import io
import os
import re
import resource
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from lscfg import log
from lscfg.command_table import COMMANDS, ESTIMATION, JOBS, OLD_COMMANDS, OLD_FORMS, Command, by_group, every_command
from lscfg.errors import LscfgError
from lscfg.extras import cure
from lscfg.io.arguments import checked_files, has_outputs
from lscfg.io.write import FULL
from lscfg.parallel.signals import Terminated, ending_on_signals
from lscfg.parallel.worker import ONE_THREAD, keep_freed_memory
from lscfg.parser import SHELLS, CommandParser, completion_script
from lscfg.version import __version__

SESSION = (
    "lscfg demo -o demo",
    "lscfg init ja-en",
    "lscfg run ja-en/experiment.toml -o ja-en",
    "lscfg decode -c cdec.ini -w weights test.ja > test.out",
)
"""Examples for those who have seen none; each command has its own."""

GOOD, BAD_INPUT, BAD_USAGE, FAULT, INTERRUPTED = 0, 1, 2, 70, 130

FOREIGN = {"dask", "distributed", "lzma", "pickle", "pyarrow", "safetensors", "safetensors_rust", "tornado", "zlib"}
"""Packages whose exceptions concern files and connections, not a fault of lscfg. A stage translates those that it
expects into an ``InputError`` with a cure; ``explain`` translates the rest."""

_FOREIGN_LIBRARY = re.compile(r"cannot open shared object|failed to map|cannot allocate|cannot enable|too many open")
"""Reasons of the system's loader."""

LEAST_MEMORY = 256 << 20
"""Bytes of address space that the libraries of a command need; OpenBLAS hangs between 150 and 230 MB."""

QUIET = "--quiet"
"""The option of all commands, which may stand anywhere before ``--``."""


class FaultError(LscfgError):
    """A fault of lscfg in another process, in the words of ``explain``."""


class _LastingOutput(io.FileIO):
    """Standard output that drops data after its reader has left, since other outputs are still to be written."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            _drop_output()
            log.info("the reader of standard output has left; the other outputs are still written")
            return super().write(data)


class MainParser(CommandParser):
    """The parser of all commands, which lists them by group."""

    commands: tuple[Command, ...]

    def format_help(self) -> str:
        width = max(len(command.name) for command in self.commands)
        parts = ["usage: lscfg COMMAND [OPTIONS]", "       lscfg COMMAND --help", "", str(self.description), ""]
        for title, commands in by_group(self.commands).items():
            parts += [f"{title}:", *(f"  {command.name:<{width}}  {command.help}" for command in commands), ""]
        options = [(", ".join(one.option_strings), str(one.help)) for one in self.arguments() if one.option_strings]
        width = max(len(names) for names, _ in options)
        parts += ["options:", *(f"  {names:<{width}}  {text}" for names, text in options), ""]
        parts += ["examples:", *(f"  {line}" for line in SESSION), ""]
        return "\n".join([*parts, "exit status: 0 success, 1 bad input, 2 usage, 70 internal error, 130 interrupt\n"])


def build_parser(commands: Sequence[Command], chosen: str | None = None) -> MainParser:
    """Builds the parser of some commands.

    Args:
        chosen: the one command that is loaded and declares its options; None: all.
    """
    parser = MainParser(
        prog="lscfg",
        usage="lscfg COMMAND [OPTIONS]",
        description="Latent-variable synchronous CFGs as features for machine-translation decoders.",
        add_help=False,
    )
    parser.commands = tuple(commands)
    parser.add_argument("-h", "--help", action="help", help="show this help")
    parser.add_argument(QUIET, action="store_true", help="show warnings and errors only, with any command")
    parser.add_argument("--version", action="version", version=f"lscfg {__version__}", help="show the version")
    parser.add_argument(
        "--print-completion", choices=SHELLS, help=f"print a script that completes commands in {' or '.join(SHELLS)}"
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", prog="lscfg", parser_class=CommandParser)
    for command in commands:
        sub = subparsers.add_parser(
            command.name,
            help=command.help,
            description=command.help,
            epilog=f"example: {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,  # an example stays on its line
        )
        sub.old_form = OLD_FORMS.get(command.name, "")
        if chosen in (None, command.name):
            try:
                command.load().add_arguments(sub)
            except ImportError as error:
                if chosen or cure(error) is None:  # else completion, which offers such a command without options
                    raise
    return parser


def add_actions(parser: CommandParser, modules: Mapping[str, ModuleType]) -> None:
    """Declares the actions of a command, each by a module with ``HELP`` and ``add_arguments(parser)``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, module in modules.items():
        module.add_arguments(add_action(actions, name, module.HELP))


def add_action(actions: Any, name: str, help_text: str) -> CommandParser:
    """The parser of an action of a command.

    Args:
        actions: what ``add_subparsers`` of the command's parser returned.
    """
    action: CommandParser = actions.add_parser(name, help=help_text, description=help_text)
    return action


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status."""
    if arguments is None and sys.getfilesystemencoding() != "utf-8":  # of daemons under LC_ALL=POSIX
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    program = arguments is None
    if program:
        gc.disable()  # until everything is imported: collections would traverse the modules and free nothing
    with log.shown(log.Display()):
        try:
            return _main(sys.argv[1:] if arguments is None else arguments, program)
        finally:
            log.settle()  # argparse, too, writes to stderr


def _main(given: Sequence[str], program: bool) -> int:
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    _open_standard_files()
    quiet, given = _without_quiet(given)
    chosen = next((word for word in given if not word.startswith("-")), "")
    own = {command.name: command for command in COMMANDS}
    words = [word for word in given if not word.startswith("-")][:2]
    for old in (" ".join(words), chosen):
        if old in OLD_COMMANDS and (chosen not in own or old != chosen):
            log.say(f"lscfg {old}: is now {OLD_COMMANDS[old]}")
            return BAD_USAGE
    if chosen and (fault := _fault_of_limits()):
        log.say(f"lscfg {chosen}: {fault}")
        return BAD_INPUT
    try:
        commands = COMMANDS if chosen in own else every_command()
        if given and given[0] in own:
            commands = (own[chosen],)  # the others' parsers would take most of the time of a quick command
        parser = build_parser(commands, chosen)
    except (ImportError, LscfgError) as error:  # a command may need a package that is not installed
        log.say(f"lscfg {chosen}: {explain(error)[0]}")
        return explain(error)[1]
    args, unknown = parser.parse_known_args(given)
    if unknown:
        parser.chosen(args).refuse(unknown)
    if program:
        gc.freeze()
        gc.enable()
    log.show(log.Display(quiet=quiet))
    name = f"lscfg {args.command}" if args.command else "lscfg"
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale: all text is UTF-8; names of files are as given
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        if program and isinstance(sys.stdout, io.TextIOWrapper) and has_outputs(args):
            sys.stdout = _lasting(sys.stdout)
        if args.command is None:
            shell = args.print_completion
            print(completion_script(build_parser(every_command()), shell) if shell else parser.format_help(), end="")
        else:
            command = next(command for command in parser.commands if command.name == args.command)
            if command.group in (JOBS, ESTIMATION):  # groups that estimate models
                keep_freed_memory()
            with ending_on_signals(), checked_files(args):
                command.load().run(args)
        sys.stdout.flush()
    except Terminated as end:
        log.say(f"{name}: ended by {end.signal}{_kept(args)}")
        return end.status
    except KeyboardInterrupt:
        log.say(f"{name}: interrupted{_kept(args)}")
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, BrokenPipeError) and not has_outputs(args):
            _drop_output()  # the reader of standard output has left, as in "lscfg ... | head"
            return GOOD
        message, status = explain(error)
        log.say(f"{name}: {message}")
        try:
            sys.stdout.flush()  # finished work is kept
        except OSError:
            _drop_output()
        return status
    return GOOD


def _kept(args: argparse.Namespace) -> str:
    """A remark on the work of a command that was ended early: kept where the same command goes on from there."""
    jobs = [command.name for command in COMMANDS if command.group == JOBS]
    resumes = args.command in jobs or ("resume" in args and getattr(args, "checkpoint", True))
    return "; finished work is kept" if resumes else ""


def _fault_of_limits() -> str | None:
    """Describes a limit of memory under which NumPy's library would wait for ever for a buffer; None without one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_MEMORY:
        return None
    wanted = f"at least {LEAST_MEMORY >> 10}, or unlimited"
    return f"address space is limited to {limit >> 20} MiB; raise the limit: ulimit -v {wanted}"


def _without_quiet(given: Sequence[str]) -> tuple[bool, list[str]]:
    """Returns whether ``--quiet`` is among the words, and the other words."""
    end = given.index("--") if "--" in given else len(given)
    return QUIET in given[:end], [*(word for word in given[:end] if word != QUIET), *given[end:]]


def explain(error: Exception, unnamed: str = "standard output") -> tuple[str, int]:
    """One line for the user, and the exit status.

    An exception that is neither lscfg's own nor one that any program may meet is a fault of lscfg. A separate status
    keeps such a fault apart from bad input, and ``LSCFG_TRACEBACK`` shows its traceback.

    Args:
        unnamed: the output that was written if the error names no file.
    """
    said = " ".join(str(error).split())
    if isinstance(error, LscfgError):
        return str(error), FAULT if isinstance(error, FaultError) else BAD_INPUT
    if isinstance(error, ImportError) and (lacking := cure(error)):
        return lacking, BAD_INPUT
    if isinstance(error, ImportError) and _FOREIGN_LIBRARY.search(said):
        remedy = "give the process more memory and open files, or install the library again"
        return f"a library cannot be loaded ({said}); {remedy}", BAD_INPUT
    if isinstance(error, MemoryError):
        detail = f" ({said})" if said else ""
        return f"out of memory{detail}; give it less text, shorter lines, a smaller -m or fewer --jobs", BAD_INPUT
    if isinstance(error, RecursionError):
        return "the input is nested too deeply; is it what the command expects?", BAD_INPUT
    if isinstance(error, OverflowError):
        return f"a number is too large ({said}); look through the options and the input", BAD_INPUT
    if isinstance(error, OSError):
        if error.filename is None and error.errno in (*FULL, errno.EBADF):
            return f"{unnamed}: cannot write: {error.strerror}", BAD_INPUT
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return f"{where}cannot be read or written: {error.strerror or said}", BAD_INPUT
    if isinstance(error, RuntimeError) and "can't start new thread" in said:
        return (
            "no further thread can start; use fewer --jobs, or allow more processes and memory (ulimit -u, -v)",
            BAD_INPUT,
        )
    if isinstance(error, UnicodeError):
        return f"text that is not UTF-8 ({said}); convert it, for example with iconv", BAD_INPUT
    if (package := type(error).__module__.partition(".")[0].strip("_")) in FOREIGN:
        said = said or type(error).__name__
        return f"{package} failed: {said}; is the input whole, and is there enough memory and space?", BAD_INPUT
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
    """Discards the output that is still to be written to standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _lasting(output: io.TextIOWrapper) -> io.TextIOWrapper:
    """Standard output as a ``_LastingOutput`` that is buffered like another file."""
    raw = _LastingOutput(1, "w", closefd=False)
    buffer: Any = raw if isinstance(output.buffer, io.RawIOBase) else io.BufferedWriter(raw)
    lines, through = output.line_buffering, output.write_through
    return io.TextIOWrapper(buffer, output.encoding, output.errors, line_buffering=lines, write_through=through)


if __name__ == "__main__":
    sys.exit(main())
