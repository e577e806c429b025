"""A system: configuration, weights and the preparation of its text, from a bundle, an ini file or a folder with one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from lscfg import log
from lscfg.bundle.manifest import Manifest
from lscfg.bundle.places import CONFIDENCE, MANIFEST, PREPARE, confidence_of, preparation_of
from lscfg.decode.confidence import Confidence
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.glossary import Glossary
from lscfg.decode.inflected import ModelPhrases
from lscfg.decode.terms import Term
from lscfg.errors import InputError, quote
from lscfg.formats.ini import DecoderConfig, IniFile, LatentFeature, find_file, read_ini
from lscfg.formats.weights import read_weights
from lscfg.io.arguments import InputFolder
from lscfg.io.read import file_hash
from lscfg.prepare.files import RECORD
from lscfg.prepare.record import Record

INI, WEIGHTS = "cdec.ini", "weights"


@dataclass(frozen=True)
class TranslationSystem:
    """A system that can translate."""

    name: str
    """Name of the system, for people."""
    config: DecoderConfig
    """Configuration of the decoder; its paths are relative to the working directory."""
    weights: Mapping[str, float]
    """Weight of each feature."""
    weights_path: Path
    """File of the weights, for messages."""
    preparation: Record | None = None
    """Conversion of text to words and back; None: the system reads and writes words."""
    sha256: str | None = None
    """SHA-256 of ``bundle.json``; None without a bundle."""
    glossary: tuple[Term, ...] = ()
    """Terms for every sentence; raw text if the system prepares text, otherwise words."""
    memory: Path | None = None
    """Folder of a memory of corrections."""
    confidence: Confidence | None = None
    """Calibrations for these weights."""

    def decoder(self) -> EmbeddedDecoder:
        """Opens the decoder in this process, without a cache of sentences; see ``warn_of_weights``.

        Raises:
            InputError: a file cannot be read or is malformed, or a weight is not finite.
        """
        decoder = EmbeddedDecoder.from_config(self.config, cached=0)
        decoder.names.check(self.weights, self.weights_path)
        return decoder

    def check(self) -> None:
        """Opens everything that translation needs, and closes it.

        Raises:
            InputError: a file cannot be read or is malformed, or a package is not installed.
        """
        self.decoder().close()
        if self.preparation is not None:
            for recipe in self.preparation.sides:
                recipe.side()


def one_system(folder: str | None, config: str | None) -> str:
    """The folder or the configuration, whichever is given.

    Raises:
        InputError: neither or both are given.
    """
    if folder and config:
        raise InputError("name a system's folder or a configuration with -c, not both")
    if not (folder or config):
        raise InputError("no system; name its folder, or a configuration with -c")
    return str(folder or config)


def open_system(
    path: str | os.PathLike[str], weights: str | os.PathLike[str] | None = None, confidence: bool = True
) -> TranslationSystem:
    """Opens the system of a bundle, of an ini file, or of a folder with ``cdec.ini`` and ``weights``.

    Args:
        weights: a file of weights that replaces the weights of the system.
        confidence: read the confidence of a folder, which a command that learns it replaces, whatever its state.

    Raises:
        InputError: the system cannot be read, is damaged, or has no weights.
    """
    place = Path(path)
    if os.path.lexists(place / MANIFEST):
        return open_bundle(place, weights)
    ini = ini_file(place)
    config = read_ini(ini)
    own = place / WEIGHTS if place.is_dir() and (place / WEIGHTS).is_file() else None
    found = weights or config.weights or own
    if found is None:
        raise InputError("no weights; name them with -w, or with weights= in the ini", ini)
    name = place.resolve().name if place.is_dir() else place.name
    tuned = read_weights(found)
    found_confidence = confidence_of(ini, tuned) if confidence else None
    return TranslationSystem(name, config, tuned, Path(found), confidence=found_confidence)


class SystemFiles(InputFolder):
    """A bundle, a folder of a system, or an ini file on the command line, with the files that the ini file names."""

    def files(self) -> Iterator[str]:
        """Yields the paths."""
        ini = os.path.join(self, INI) if os.path.isdir(self) else self
        return chain(super().files(), IniFile(ini).files())


def ini_file(path: Path) -> Path:
    """The ini file itself, or the ini file of a folder.

    Raises:
        InputError: the folder has no ini file.
    """
    if not path.is_dir():
        return path
    if not (path / INI).is_file():
        raise InputError(f"has neither {MANIFEST} nor {INI}; name a bundle or a system's folder", path)
    return path / INI


def open_bundle(folder: Path, weights: str | os.PathLike[str] | None = None) -> TranslationSystem:
    """Opens the system of a bundle after a check of all its files.

    Raises:
        InputError: a file is missing, damaged, a link or not part of the bundle.
    """
    manifest = Manifest.read(folder)
    manifest.check(folder)
    ini = folder / INI
    if INI not in manifest.files:
        raise InputError(f"names no {INI}; pack the system again", folder / MANIFEST)
    config = _inside(read_ini(ini), folder, manifest.files)
    preparation = None
    if f"{PREPARE}/{RECORD}" in manifest.files:
        preparation = Record.read(folder / PREPARE)
        for model in preparation.models():
            _own(model, folder, manifest.files, folder / PREPARE / RECORD)
    found = weights or config.weights
    if found is None:
        raise InputError("no weights; name them with -w", ini)
    sha256, tuned = file_hash(folder / MANIFEST), read_weights(found)
    confidence = confidence_of(ini, tuned) if CONFIDENCE in manifest.files else None
    return TranslationSystem(manifest.name, config, tuned, Path(found), preparation, sha256, confidence=confidence)


def _inside(config: DecoderConfig, folder: Path, files: Collection[str]) -> DecoderConfig:
    """The configuration with paths inside the bundle, whatever the working directory holds."""

    def own(path: str | Path) -> Path:
        return _own(path, folder, files, folder / INI)

    latent = config.latent
    if latent is not None:
        latent = with_model(latent, own(latent.options["model"]))
    return replace(
        config.with_models(own),
        grammars=tuple(map(own, config.grammars)),
        latent=latent,
        weights=None if config.weights is None else own(config.weights),
    )


def _own(path: str | Path, folder: Path, files: Collection[str], where: Path) -> Path:
    """The file that a path in a bundle means: a name, to which a reader may have added the folder."""
    name = os.path.relpath(path, folder) if Path(path).is_relative_to(folder) else str(path)
    if name not in files:
        raise InputError(f"{quote(path)} is not a file of the bundle; pack the system again", where)
    return folder / name


def open_glossary(
    given: str | os.PathLike[str] | Iterable[Term] | Glossary, config: str | os.PathLike[str]
) -> Glossary:
    """Terms in the words of a configuration's system: prepared as its text, if ``preparation_of`` knows.

    Args:
        given: a file, the terms, or the glossary as it is typed.

    Raises:
        InputError: the file or the preparation cannot be read, or a line is not a term.
    """
    if isinstance(given, Glossary):
        glossary = given
    else:
        glossary = Glossary.read(given) if isinstance(given, (str, os.PathLike)) else Glossary.of(given)
    folder = preparation_of(Path(config))
    if folder is None:
        return glossary.prepared()
    log.info(f"terms are prepared as the text in {folder}")
    source, target = Record.read(folder).sides
    return glossary.prepared((source.side(), target.side()), ModelPhrases(read_ini(config)))


def with_model(latent: LatentFeature, model: str | Path) -> LatentFeature:
    """The feature function ``LSCFG`` with another model, and without the library, which serves one machine only."""
    return LatentFeature({**latent.options, "model": str(model)}, None, latent.number)


def latent_model(config: DecoderConfig) -> Path | None:
    """The file of the latent model; None without a latent model.

    Raises:
        InputError: the file does not exist.
    """
    if config.latent is None or config.path is None:
        return None
    name = config.latent.options["model"]
    found = find_file(name, config.path)
    if found is None:
        raise InputError(f"feature function LSCFG: no model file {quote(name)}", config.path, config.latent.number)
    return found
