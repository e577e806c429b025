"""Replacing the folder of an earlier preparation, unless it holds files of somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.folders import check_lost, replaced_folder
from lscfg.prepare.corpus import DROPPED, HELD_OUT_SETS
from lscfg.prepare.cut import TRAIN, set_files
from lscfg.prepare.files import PIECES_CHOICE, RECORD
from lscfg.prepare.health import HEALTH
from lscfg.prepare.record import Record


@contextmanager
def replaced_preparation(folder: Path) -> Iterator[Path]:
    """Makes a temporary folder, which replaces the folder of an earlier preparation at the end of the block.

    Raises:
        InputError: see ``check_replaced_preparation`` and ``replaced_folder``.
    """
    check_replaced_preparation(folder)
    with replaced_folder(folder, RECORD) as place:
        yield place


def check_replaced_preparation(folder: Path) -> None:
    """Refuses to replace a preparation that holds further files.

    Raises:
        InputError: the folder holds files that the earlier preparation did not make, or its record is damaged.
    """
    if (folder / RECORD).is_file():
        check_lost(folder, own_files(folder), "preparation")


def own_files(folder: Path) -> set[str]:
    """The names of the files that a preparation made in its folder.

    Raises:
        InputError: the record is damaged.
    """
    try:
        record = Record.read(folder)
    except InputError as error:
        raise InputError(
            "is damaged or of another version, so the folder's own files are unknown; remove the folder, or name "
            "another output",
            folder / RECORD,
        ) from error
    names = {RECORD, DROPPED, HEALTH, PIECES_CHOICE, *(path.name for path in record.models())}
    for side in record.sides:
        sets = (TRAIN, *HELD_OUT_SETS, *(f"{name}.ref" for name in HELD_OUT_SETS))
        names |= {path.name for path in set_files(folder, side.language, sets)}
    return names
