"""Files among the arguments of a command: a type for each use of a file, and checks before any work begins.

Commands give the types to ``ArgumentParser.add_argument``. ``checked_files`` finds their values among the parsed
arguments, so that a command that declares its files cannot forget to check them.
"""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Self

from lscfg.errors import InputError, LscfgError
from lscfg.io.read import STDIN_FILE
from lscfg.io.write import check_output, check_replaceable

# The types of arguments name inputs and outputs, so that the command line checks all of them before any work. A pipe
# is copied to a file, since several readers read their input twice.


class InputFile(str):
    """A file that a command reads."""

    @property
    def path(self) -> str:
        """Path of the file."""
        return str(self)

    def at(self, path: str) -> Self:
        """A copy of the argument with another file."""
        return type(self)(path)

    def files(self) -> Iterator[str]:
        """All files that the command reads for the argument."""
        yield self.path


class NamedFile(InputFile):
    """``NAME=FILE``, or ``FILE`` alone."""

    @property
    def name(self) -> str:
        """The name, empty without ``=``."""
        return self.partition("=")[0] if "=" in self else ""

    @property
    def path(self) -> str:
        return self.partition("=")[2] or str(self)

    def at(self, path: str) -> Self:
        return type(self)(f"{self.name}={path}" if "=" in self else path)


class StandardInput(InputFile):
    """Standard input that a command reads as it arrives, without a copy."""

    @property
    def path(self) -> str:
        return STDIN_FILE


def file_or_stream(text: str) -> InputFile:
    """The type of an argument that names a file, or standard input by ``-`` or ``/dev/stdin``."""
    return StandardInput(text) if text in ("-", STDIN_FILE) else InputFile(text)


class InputFolder(InputFile):
    """A folder of files that a command reads."""

    def files(self) -> Iterator[str]:
        if os.path.isdir(self):
            yield from (os.path.join(self, name) for name in os.listdir(self))


class ClusterName(InputFile):
    """The value of ``--cluster``; a file only if it ends in .yaml or .yml."""

    def files(self) -> Iterator[str]:
        if self.endswith((".yaml", ".yml")):
            yield self.path


class OutputFile(str):
    """A file that a command writes."""

    def named(self, args: Mapping[str, Any]) -> Iterator[OutputFile]:
        """All files that the command writes for the argument, given all arguments."""
        yield self


class NamedOutput(OutputFile):
    """``CONTENT=FILE``: a file that a command writes, and the name of its content."""

    @property
    def content(self) -> str:
        """The name of the content."""
        return self.partition("=")[0]

    @property
    def path(self) -> str:
        """The file, or an empty path."""
        return self.partition("=")[2]

    def named(self, args: Mapping[str, Any]) -> Iterator[OutputFile]:
        """See ``OutputFile.named``."""
        if self.path:
            yield OutputFile(self.path)


class OutputPattern(OutputFile):
    """A file that a command writes, or several: a name in braces is replaced by each value of that argument."""

    def named(self, args: Mapping[str, Any]) -> Iterator[OutputFile]:
        argument = next((name for name in args if f"{{{name}}}" in self), None)
        for value in (None,) if argument is None else args[argument]:
            yield OutputFile(str(self).replace(f"{{{argument}}}", str(value)))


class FolderName(str):
    """A folder that a command uses in its own way, such as a source tree; only an empty name is refused."""


class OutputFolder(str):
    """A folder into which a command writes."""

    names: tuple[str, ...] = ()
    """Patterns of the files that the command writes there."""
    new: bool = False
    """Refuse a folder that contains such files: the command, not its user, chooses their names."""


def output_folder(*names: str, new: bool = False) -> Callable[[str], OutputFolder]:
    """The type of an argument that names a folder, into which the command writes files of these names or patterns.

    Args:
        new: refuse a folder that contains such files.
    """

    def made(text: str) -> OutputFolder:
        folder = OutputFolder(text)
        folder.names, folder.new = names, new
        return folder

    return made


_NAMES = InputFile, OutputFile, OutputFolder, FolderName

RECORDS = "records_inputs"
"""A default of a parser whose command writes the paths of its inputs for later commands: the cure for pipes."""


@contextmanager
def checked_files(args: argparse.Namespace) -> Iterator[None]:
    """Checks all files of a command, and replaces each input pipe by a copy that can be read again.

    Paths among the settings count as inputs.

    Raises:
        InputError: a name is empty; an output is also an input, is given twice, or cannot be written; or an input is a
            pipe that later commands would read.
    """
    for name, argument in vars(args).items():
        if any(isinstance(value, _NAMES) and not value for value in _each(argument)):
            raise InputError(
                f"{name.replace('_', '-')}: the name of a file is empty; is a variable of the shell unset?"
            )
    values = [value for argument in vars(args).values() for value in _each(argument)]
    read = [path for value in values if isinstance(value, InputFile) for path in value.files()]
    read += [str(value) for value in values if isinstance(value, Path)]
    written: dict[str, OutputFile] = {}
    for value in values:
        if isinstance(value, OutputFolder):
            _check_folder(value, read)
        for output in value.named(vars(args)) if isinstance(value, OutputFile) else ():
            _check_other(output, read)
            twice = written.setdefault(os.path.realpath(output), output) is not output
            if twice and _is_stored(output):
                raise InputError("would be written twice; name two files", output)
    for output in written.values():
        if output == "-":
            raise InputError("-: is no name of an output; write ./-, or leave out the option for standard output")
        check_output(output)
    with _pipes_kept(args):
        yield


def has_outputs(args: argparse.Namespace) -> bool:
    """True if the arguments name files or folders that the command writes; pipes and devices do not count."""
    values = [value for argument in vars(args).values() for value in _each(argument)]
    files = [output for value in values if isinstance(value, OutputFile) for output in value.named(vars(args))]
    return any(isinstance(value, OutputFolder) for value in values) or any(map(_is_stored, files))


def _is_stored(output: str) -> bool:
    """True if an output is a regular file, or will be one."""
    return os.path.isfile(output) or not os.path.exists(output)


def check_kept(args: argparse.Namespace, paths: Sequence[str]) -> None:
    """Refuses outputs of a command that are files which the content of its inputs names.

    Raises:
        InputError: the output would overwrite the file.
    """
    for value in (value for argument in vars(args).values() for value in _each(argument)):
        for output in value.named(vars(args)) if isinstance(value, OutputFile) else ():
            _check_other(output, paths)


def _check_other(output: str, read: Sequence[str]) -> None:
    if any(_same(output, path) for path in read):
        raise InputError("is also an input and would be overwritten; name another output", output)


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _same(one: str, other: str) -> bool:
    """True if both paths name one regular file; a terminal may be read and written."""
    return os.path.isfile(one) and os.path.isfile(other) and os.path.samefile(one, other)


def _check_folder(folder: OutputFolder, read: list[str]) -> None:
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InputError("is not a folder; name another one", folder)
    for path in read:
        place = os.path.join(folder, os.path.basename(path))
        if any(fnmatch(os.path.basename(path), name) for name in folder.names) and _same(place, path):
            raise InputError("is also an input and would be overwritten; name another folder for the output", place)
    if folder.new and os.path.isdir(folder):
        names = sorted(name for name in os.listdir(folder) if any(fnmatch(name, pattern) for pattern in folder.names))
        if len(names) > 1:
            count = f"{len(names) - 1} more file{'s' if len(names) > 2 else ''} of this command"
            raise InputError(f"already contains {names[0]} and {count}; name another folder, or remove them", folder)
        for name in names:
            check_replaceable(os.path.join(folder, name))


@contextmanager
def _pipes_kept(args: argparse.Namespace) -> Iterator[None]:
    """Replaces each pipe among the arguments by a copy, since a pipe can be read only once.

    Raises:
        InputError: a later command would read the pipe.
    """
    copies: dict[str, str] = {}
    cure = getattr(args, RECORDS, None)
    with ExitStack() as stack:

        def kept(value: Any) -> Any:
            path = value.path if isinstance(value, InputFile) else str(value)
            if isinstance(value, StandardInput) or not isinstance(value, (InputFile, Path)):
                return value
            if cure and (path == STDIN_FILE or _is_pipe(path)):
                raise InputError(f"cannot be read again by later commands; {cure}", path)
            if not _is_pipe(path):
                return value
            if path not in copies:
                import tempfile

                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lscfg-"))
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
    import shutil

    copy = os.path.join(folder, os.path.basename(path))
    try:
        with open(path, "rb") as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except OSError as error:
        raise InputError(f"cannot be copied to {folder}: {error.strerror or error}", path) from error
    return copy
