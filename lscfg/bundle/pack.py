"""``lscfg pack``: a system as one folder that may be moved."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lscfg import log
from lscfg.bundle.manifest import MANIFEST, Manifest, PackedFile
from lscfg.bundle.system import INI, PREPARE, WEIGHTS, ini_file, latent_model, model_files, open_bundle, open_system, with_model
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, write_ini
from lscfg.formats.weights import write_weights
from lscfg.io.text import FULL, new_folder
from lscfg.prepare.record import RECORD, Record


def pack(
    system: str | os.PathLike[str],
    output: str | os.PathLike[str],
    weights: str | os.PathLike[str] | None = None,
    prepare: str | os.PathLike[str] | None = None,
) -> Manifest:
    """Writes the bundle of a system, and opens it as a program that translates would.

    Args:
        system: an ini file, or the folder of a system of ``lscfg run``.
        output: the bundle; nothing may be there yet.
        weights: in place of those of the ini file or the folder.
        prepare: folder of a preparation. None: that of the experiment to which the system's folder belongs, if it has
            one.

    Raises:
        InputError: a file cannot be read, copied or used, or there is something by the name of the output.
    """
    place = Path(system)
    if (place / MANIFEST).exists():
        raise InputError("is a bundle already; copy the folder as it is", place)
    with new_folder(output) as folder:
        found = open_system(ini_file(place), weights or _weights_beside(place))
        write_ini(folder / INI, _copied_config(found.config, folder))
        write_weights(folder / WEIGHTS, found.weights)
        preparation = Path(prepare) if prepare is not None else _preparation_beside(place)
        if preparation is not None:
            _copy_preparation(preparation, folder / PREPARE)
        files = [path for path in folder.rglob("*") if path.is_file()]
        name = Path(output).absolute().name
        manifest = Manifest(name, {path.relative_to(folder).as_posix(): PackedFile.of(path) for path in files})
        manifest.write(folder)
        packed = open_bundle(folder)
        packed.decoder().close()
        if packed.preparation is not None:
            for recipe in packed.preparation.sides:
                recipe.side()
    return manifest


def _weights_beside(place: Path) -> Path | None:
    return place / WEIGHTS if place.is_dir() and (place / WEIGHTS).is_file() else None


def _preparation_beside(place: Path) -> Path | None:
    """The preparation of the experiment whose folder has ``systems/NAME``."""
    found = place.resolve().parent.parent / PREPARE
    if not place.is_dir() or place.resolve().parent.name != "systems" or not (found / RECORD).is_file():
        return None
    log.info(f"the text is prepared as {found} says")
    return found


def _copied_config(config: DecoderConfig, folder: Path) -> DecoderConfig:
    """Copies the files of a configuration; returns it with their new names."""
    grammars = _copies("grammar", config.grammars, folder)
    model = latent_model(config)
    latent = None
    if config.latent is not None and model is not None:
        latent = with_model(config.latent, _copies("model", [model], folder)[0])
    language_model = None
    if config.language_model is not None:
        language_model = _copies("lm", [config.language_model], folder)[0]
    return replace(config, grammars=tuple(grammars), language_model=language_model, latent=latent, weights=Path(WEIGHTS))


def _copies(role: str, sources: Sequence[Path], folder: Path) -> list[Path]:
    """Copies files under the name of their role, with the endings that readers go by; returns the names."""
    names = []
    for number, source in enumerate(sources, 1):
        ending = re.search(r"(\.[A-Za-z0-9]+)?(\.gz)?$", source.name)
        names.append(Path(f"{role}{'' if len(sources) == 1 else number}{ending[0] if ending else ''}"))
        _copy(source, folder / names[-1])
    return names


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        if error.errno in FULL:
            raise InputError(f"cannot write: {error.strerror}", target) from error
        raise InputError(f"cannot be copied: {error.strerror or error}", source) from error


def _copy_preparation(source: Path, target: Path) -> None:
    """Copies the record and its models, and not the corpus beside them."""
    record = Record.read(source)
    target.mkdir()
    _copy(source / RECORD, target / RECORD)
    for model in model_files(record):
        if model.parent != source:
            raise InputError(f"the model {model} is none of the folder's", source / RECORD)
        if not (target / model.name).exists():
            _copy(model, target / model.name)
