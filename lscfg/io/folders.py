"""Folders and temporary files: a new file or folder takes its name only when it is complete."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from lscfg import log
from lscfg.errors import InputError


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Makes a folder, and the folders above it, unless it exists.

    Raises:
        InputError: the folder cannot be made.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder: {error.strerror or error}", path) from error
    return folder


def path_from(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> str:
    """The path relative to the folder, which may be reached by a link."""
    return os.path.relpath(os.path.abspath(path), os.path.realpath(folder))


UNLOCKABLE = errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP
"""Numbers of errors of file systems without locks."""

_reported: set[int] = set()
"""Devices without locks that a warning named."""


def lock_file(file: IO[Any], place: str | os.PathLike[str], wait: bool = True, warn: bool = True) -> bool:
    """Locks an open file; returns False if another process holds the lock and ``wait`` is False.

    A file system without locks gets one warning, and the work goes on.

    Args:
        place: the path that messages name.
        warn: False: the caller holds another lock in the same place, which gave the warning.

    Raises:
        InputError: the file cannot be locked.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNLOCKABLE:
            raise InputError(f"cannot be locked: {error.strerror or error}", place) from error
        device = os.fstat(file.fileno()).st_dev
        if warn and device not in _reported:
            _reported.add(device)
            log.warning(f"{place}: cannot be locked ({error.strerror}); run one command at a time there")
    return True


_TEMPORARY = ".lscfg.{}.tmp"


NEW = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


def remove_temporaries(folder: Path, below: bool = True) -> None:
    """Removes temporary files and folders of killed processes.

    A living process locks its temporaries; they stay.

    Args:
        below: search the folders below, too.
    """
    pattern = _TEMPORARY.format("*")
    for left in [*(folder.rglob(pattern) if below else folder.glob(pattern))]:
        with suppress(OSError):
            file = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if left.is_dir():
                    _remove(left)
                else:
                    left.unlink()
            finally:
                os.close(file)


def make_temporary(folder: Path) -> tuple[Path, int]:
    """Opens a new, locked file with an unguessable name and default permissions for writing."""
    while True:
        path = folder / _TEMPORARY.format(os.urandom(8).hex())
        try:
            file = os.open(path, NEW | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        except FileExistsError:
            continue
        with suppress(OSError):  # a file system without locks gives none to remove_temporaries, either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:  # otherwise remove_temporaries removed it before it was locked
            return path, file
        os.close(file)


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Makes a folder within another, for the time of the block.

    After a kill it stays until the next call for the same parent, or until ``remove_temporaries``.

    Raises:
        InputError: the folder cannot be made.
    """
    remove_temporaries(make_folder(parent), below=False)
    path, lock = _make_temporary_folder(parent)
    try:
        yield path
    finally:
        _remove(path, ignore_errors=True)
        os.close(lock)


def _make_temporary_folder(parent: Path) -> tuple[Path, int]:
    """A new folder with its lock."""
    while True:
        path = make_folder(parent / _TEMPORARY.format(os.urandom(8).hex()))
        with suppress(FileNotFoundError):  # remove_temporaries of another process came before the lock
            lock = os.open(path, os.O_RDONLY)
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists():
                return path, lock
            os.close(lock)


AT_FDCWD, RENAME_EXCHANGE, RENAME_SWAP = -100, 2, 2  # of fcntl.h and stdio.h of Linux, of sys/stdio.h of macOS


def _exchanged(one: Path, other: Path) -> bool:
    """Exchanges two names at once, so that both exist at every moment; returns False where that is impossible."""
    library, names = ctypes.CDLL(None), (os.fsencode(one), os.fsencode(other))
    if hasattr(library, "renameat2"):
        return bool(library.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0)
    return hasattr(library, "renamex_np") and library.renamex_np(*names, RENAME_SWAP) == 0


@contextmanager
def replaced_folder(path: str | os.PathLike[str], mark: str) -> Iterator[Path]:
    """Makes a temporary folder next to ``path``, which takes its name at the end of the block if no error occurs.

    Args:
        mark: name of a file in folders that may be replaced.

    Raises:
        InputError: the path exists and may not be replaced, or the folder cannot be made.
    """
    path = Path(path).absolute()
    if path.exists() and not (path / mark).is_file() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"exists and is not a folder with {mark}, which could be replaced; choose another name", path)
    if path.exists() and Path.cwd().is_relative_to(path.resolve()):
        raise InputError("is or contains the working directory, which cannot be replaced; choose another name", path)
    with temporary_folder(path.parent) as temporary:
        with _errors_at(path, temporary):
            yield temporary
        if not path.exists():
            temporary.rename(path)
        elif not _exchanged(temporary, path):
            _replace(temporary, path)


@contextmanager
def replaced_files(folder: Path, own: Iterable[str]) -> Iterator[Path]:
    """Makes a temporary folder whose files move into ``folder`` at the end of the block if no error occurs.

    Args:
        own: paths within the folder; an earlier file there goes if no new one replaces it.

    Raises:
        InputError: the folder cannot be made, or the path of a file cannot be written, such as that of a folder.
    """
    with temporary_folder(folder) as temporary:
        with _errors_at(folder, temporary):
            yield temporary
        earlier = {path for name in own if os.path.lexists(path := folder / name) and not path.is_dir()}
        made = {path: folder / path.relative_to(temporary) for path in sorted(temporary.rglob("*")) if path.is_file()}
        for path in made.values():
            make_folder(path.parent)
            if path.is_dir():
                raise InputError(f"cannot write: {os.strerror(errno.EISDIR)}", path)
        for temporary_path, path in made.items():
            try:
                os.replace(temporary_path, path)
            except OSError as error:
                raise InputError(f"cannot write: {error.strerror or error}", path) from error
        earlier -= {*made.values()}
        for path in earlier:
            path.unlink(missing_ok=True)
        for parent in {path.parent for path in earlier} - {folder}:
            with suppress(OSError):  # files of the user
                parent.rmdir()


@contextmanager
def _errors_at(path: Path, temporary: Path) -> Iterator[None]:
    """Names the path that the user gave in errors, instead of the temporary one."""
    try:
        yield
    except InputError as error:
        raise _at(path, temporary, error) from error
    except OSError as error:
        if error.filename is not None and str(temporary) in os.fsdecode(error.filename):
            error.filename = os.fsdecode(error.filename).replace(str(temporary), str(path))
        raise


def _replace(temporary: Path, path: Path) -> None:
    """Gives a folder the name of another, which goes."""
    old = path.with_name(f".{path.name}{temporary.name}.old")  # not a temporary: for a moment no other copy exists
    path.rename(old)
    try:
        temporary.rename(path)
    finally:
        if not path.exists():
            old.rename(path)
        _remove(old, ignore_errors=True)


def check_lost(folder: Path, own: Collection[str], owner: str) -> None:
    """Refuses to replace a folder that holds further files.

    Args:
        own: paths of the files that may be lost, within the folder.
        owner: what they belong to, for the message.

    Raises:
        InputError: another file is in the folder.
    """
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and path.relative_to(folder).as_posix() not in own:
            raise InputError(f"does not belong to the {owner} and would be lost; move it, or name another output", path)


def _remove(folder: Path, ignore_errors: bool = False) -> None:
    import shutil  # with all modules of compressed archives

    if folder.is_symlink():  # which had the name of a folder
        folder.unlink()
        return
    shutil.rmtree(folder, ignore_errors=ignore_errors)


def _at(path: Path, temporary: Path, error: InputError) -> InputError:
    """The error with the path that the user gave instead of the temporary one."""
    if str(temporary) not in str(error):
        return error
    made = InputError(str(error).replace(str(temporary), str(path)))
    made.path, made.line = error.path, error.line
    return made
