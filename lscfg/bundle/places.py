"""Folders and files around the configuration of a system: its experiment, its preparation, its confidence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lscfg import log
from lscfg.errors import InputError
from lscfg.io.read import decode_text, file_hash, read_bytes
from lscfg.later import later
from lscfg.prepare.files import RECORD

if TYPE_CHECKING:
    from lscfg.decode import confidence
    from lscfg.prepare import numbers, record
else:
    confidence = later("lscfg.decode.confidence")
    numbers = later("lscfg.prepare.numbers")
    record = later("lscfg.prepare.record")

MANIFEST = "bundle.json"
"""File with the content of a bundle."""

PREPARE = "prepare"
"""Folder with the preparation of an experiment or of a bundle."""

PREPARED = "prepared"
"""File with the hash of the record of the preparation in the folder of a system."""

CONFIDENCE = "confidence.json"
"""File with calibrations in the folder of a system."""


def preparation_of(place: Path) -> Path | None:
    """The preparation of the experiment in whose folder ``systems/NAME`` lies, or of the bundle; None without one.

    Args:
        place: folder of the system, or its ini file.

    Raises:
        InputError: the experiment now has a preparation other than the system's.
    """
    system, folder = system_folder(place), _nearby(place)
    if folder is not None and not has_preparation(system, folder):
        raise InputError(f"was not made with the text in {folder}; run its experiment again", system)
    return folder


def _nearby(place: Path) -> Path | None:
    """The preparation in the folder of the bundle or experiment, if any."""
    system = system_folder(place)
    owner = system if (system / MANIFEST).is_file() else experiment_of(place)
    return owner / PREPARE if owner is not None and (owner / PREPARE / RECORD).is_file() else None


def has_preparation(system: Path, preparation: Path) -> bool:
    """True if a system was made with a preparation, or its folder does not say with which.

    Raises:
        InputError: a file cannot be read.
    """
    path = system / PREPARED
    return not path.is_file() or decode_text(read_bytes(path), path).strip() == file_hash(preparation / RECORD)


def experiment_of(place: Path) -> Path | None:
    """Folder of the experiment in which ``systems/NAME`` lies; None for a system outside an experiment.

    Args:
        place: folder of the system, or its ini file.
    """
    system = system_folder(place)
    return system.parent.parent if system.parent.name == "systems" else None


def system_folder(place: Path) -> Path:
    """The folder of a system, given the folder or its ini file."""
    return (place if place.is_dir() else place.parent).resolve()


def number_formats(config: str | os.PathLike[str]) -> numbers.NumberFormats | None:
    """The number formats of a configuration's languages, if ``preparation_of`` knows them and they differ.

    Raises:
        InputError: the preparation cannot be read.
    """
    folder = _nearby(Path(config))
    if folder is None or not has_preparation(system_folder(Path(config)), folder):
        return None
    source, target = record.Record.read(folder).sides
    return numbers.NumberFormats.of(source.language, target.language)


def confidence_of(ini: str | os.PathLike[str], weights: Mapping[str, float]) -> confidence.Confidence | None:
    """The calibrations next to an ini file; None without them, or with a warning if other weights were used.

    Raises:
        InputError: the file is damaged.
    """
    path = Path(ini).with_name(CONFIDENCE)
    if not os.path.lexists(path):
        return None
    found = confidence.Confidence.read(path)
    if found.weights_sha256 == confidence.weights_hash(weights):
        return found
    log.warning(f"{path}: belongs to other weights, so translations get no confidence; make the file again")
    return None
