"""Files among a command's arguments: each says whether it is read or written, and all are checked before any work.

The types are those of ``ArgumentParser.add_argument``. ``checked_files`` finds their values among the parsed ones, so
that a command that declares its files cannot forget to check them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from lscfg.errors import InputError, LscfgError
from lscfg.io.write import check_output


class InputFile(str):
    """A file that a command reads."""

    @property
    def path(self) -> str:
        """The file."""
        return str(self)

    def at(self, path: str) -> Self:
        """The argument with another file."""
        return type(self)(path)

    def files(self) -> Iterator[str]:
        """All files that are read for it."""
        yield self.path


class NamedFile(InputFile):
    """``NAME=FILE``, or ``FILE`` alone."""

    @property
    def name(self) -> str:
        """The name, empty where there is none."""
        return self.partition("=")[0] if "=" in self else ""

    @property
    def path(self) -> str:
        return self.partition("=")[2] or str(self)

    def at(self, path: str) -> Self:
        return type(self)(f"{self.name}={path}" if "=" in self else path)


class StandardInput(InputFile):
    """What a command reads from standard input as it comes, so that it is not copied first."""

    @property
    def path(self) -> str:
        return "/dev/stdin"


def file_or_stream(text: str) -> InputFile:
    """The type of an argument that is a file, or standard input where it is ``-`` or ``/dev/stdin``."""
    return StandardInput(text) if text in ("-", "/dev/stdin") else InputFile(text)


class InputFolder(InputFile):
    """A folder of files that a command reads."""

    def files(self) -> Iterator[str]:
        if os.path.isdir(self):
            yield from (os.path.join(self, name) for name in os.listdir(self))


class ClusterName(InputFile):
    """What ``--cluster`` names; a file only where it ends in .yaml or .yml."""

    def files(self) -> Iterator[str]:
        if self.endswith((".yaml", ".yml")):
            yield self.path


class OutputFile(str):
    """A file that a command writes."""

    def named(self, args: Mapping[str, Any]) -> Iterator[OutputFile]:
        """All files that are written for it, given the command's arguments."""
        yield self


class OutputPattern(OutputFile):
    """A file that a command writes, or one for each value of another argument, whose name in braces it has."""

    def named(self, args: Mapping[str, Any]) -> Iterator[OutputFile]:
        argument = next((name for name in args if f"{{{name}}}" in self), None)
        for value in (None,) if argument is None else args[argument]:
            yield OutputFile(str(self).replace(f"{{{argument}}}", str(value)))


class OutputFolder(str):
    """A folder into which a command writes.

    Attributes:
        names: patterns of the files that it may replace there.
    """

    names: tuple[str, ...] = ()


def output_folder(*names: str) -> Callable[[str], OutputFolder]:
    """The type of an argument that is a folder into which files of these names, or patterns, are written."""

    def made(text: str) -> OutputFolder:
        folder = OutputFolder(text)
        folder.names = names
        return folder

    return made


@contextmanager
def checked_files(args: argparse.Namespace) -> Iterator[None]:
    """Checks all files of a command; meanwhile, each pipe that it reads is a file that can be read again.

    Files of settings, which are paths, are read.

    Raises:
        InputError: an output is an input too, or is given twice, or cannot be written.
    """
    values = [value for argument in vars(args).values() for value in _each(argument)]
    read = [path for value in values if isinstance(value, InputFile) for path in value.files()]
    read += [str(value) for value in values if isinstance(value, Path)]
    written: dict[str, OutputFile] = {}
    for value in values:
        if isinstance(value, OutputFolder):
            _check_folder(value, read)
        for output in value.named(vars(args)) if isinstance(value, OutputFile) else ():
            if any(_same(output, path) for path in read):
                raise InputError("is an input, too, and would be overwritten; name another output", output)
            twice = written.setdefault(os.path.realpath(output), output) is not output
            if twice and (os.path.isfile(output) or not os.path.exists(output)):  # else it is a pipe or a device
                raise InputError("is to be written twice; name two files", output)
    for output in written.values():
        check_output(output)
    with _pipes_kept(args):
        yield


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _same(one: str, other: str) -> bool:
    """Whether both are one file; what is no file, as a terminal, may be read and written."""
    return os.path.isfile(one) and os.path.isfile(other) and os.path.samefile(one, other)


def _check_folder(folder: OutputFolder, read: list[str]) -> None:
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InputError("is no folder; name another one", folder)
    for path in read:
        place = os.path.join(folder, os.path.basename(path))
        if any(fnmatch(os.path.basename(path), name) for name in folder.names) and _same(place, path):
            raise InputError("is an input, too, and would be overwritten; name another folder for the output", place)


@contextmanager
def _pipes_kept(args: argparse.Namespace) -> Iterator[None]:
    """The arguments with a copy in place of each pipe, which could be read once only."""
    copies: dict[str, str] = {}
    with ExitStack() as stack:

        def kept(value: Any) -> Any:
            path = value.path if isinstance(value, InputFile) else str(value)
            if isinstance(value, StandardInput) or not (isinstance(value, (InputFile, Path)) and _is_pipe(path)):
                return value
            if path not in copies:
                folder = stack.enter_context(TemporaryDirectory(prefix="lscfg-"))
                copies[path] = _copied(path, folder)
            return value.at(copies[path]) if isinstance(value, InputFile) else Path(copies[path])

        for name, value in vars(args).items():
            setattr(args, name, [kept(one) for one in value] if isinstance(value, list) else kept(value))
        try:
            yield
        except LscfgError as error:
            text = str(error)
            for path, copy in copies.items():
                text = text.replace(copy, path)
            if text == str(error):
                raise
            raise InputError(text) from error


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _copied(path: str, folder: str) -> str:
    copy = os.path.join(folder, os.path.basename(path))
    try:
        with open(path, "rb") as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except OSError as error:
        raise InputError(f"cannot be copied to {folder}: {error.strerror or error}", path) from error
    return copy
