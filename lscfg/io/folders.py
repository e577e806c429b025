"""Folders and temporary files: a new file or folder takes its name only when it is complete."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lscfg.errors import InputError


def make_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made with those above it if it is not there.

    Raises:
        InputError: it cannot be made.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made a folder: {error.strerror or error}", path) from error
    return folder


_TEMPORARY = ".lscfg.{}.tmp"


NEW = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


def remove_temporaries(folder: Path, below: bool = True) -> None:
    """Removes what killed processes have left of the files and folders that they were writing.

    The temporary of a living process is locked, and stays.

    Args:
        below: in folders below this one, too.
    """
    pattern = _TEMPORARY.format("*")
    for left in [*(folder.rglob(pattern) if below else folder.glob(pattern))]:
        with suppress(OSError):
            file = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()
            finally:
                os.close(file)


def make_temporary(folder: Path) -> tuple[Path, int]:
    """A new, locked file of a name that nobody can guess, with the permissions of any new file; open for writing."""
    while True:
        path = folder / _TEMPORARY.format(secrets.token_hex(8))
        try:
            file = os.open(path, NEW | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        except FileExistsError:
            continue
        with suppress(OSError):  # where there are no locks, remove_temporaries gets none either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:  # else it was taken for a left one before it had its lock
            return path, file
        os.close(file)


@contextmanager
def replaced_folder(path: str | os.PathLike[str], mark: str) -> Iterator[Path]:
    """A temporary neighbour of the folder that takes its name when all went well.

    Args:
        mark: a file of a folder that was made so before, which alone gives way.

    Raises:
        InputError: there is something else by that name, or the folder cannot be made.
    """
    path = Path(path).absolute()
    if path.exists() and not (path / mark).is_file() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"is there, and not a folder with {mark} that could be replaced; give another name", path)
    remove_temporaries(make_folder(path.parent), below=False)
    number = secrets.token_hex(8)
    temporary = make_folder(path.with_name(_TEMPORARY.format(number)))
    old = path.with_name(f".{path.name}.{number}.old")  # no temporary: for a moment it is all there is
    lock = os.open(temporary, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield temporary
        if path.exists():
            path.rename(old)
        temporary.rename(path)
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
        os.close(lock)
