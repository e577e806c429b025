"""``lscfg pack``: copies a system into one folder that may be moved."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path

from lscfg import log
from lscfg.bundle.manifest import Manifest, PackedFile
from lscfg.bundle.new_text import warn_of_filtered_rules
from lscfg.bundle.places import CONFIDENCE, MANIFEST, PREPARE, preparation_of
from lscfg.bundle.soft_terms import with_soft_terms
from lscfg.bundle.system import INI, WEIGHTS, latent_model, open_bundle, open_system, with_model
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, LatentFeature, write_ini
from lscfg.formats.rule_index import is_index
from lscfg.formats.weights import write_weights
from lscfg.io.folders import check_lost, replaced_folder
from lscfg.io.read import file_hash
from lscfg.io.write import copy_file
from lscfg.kernel import Grammar, LatentOptions
from lscfg.kernel.compiled import ENDING, compiled_file, save_compiled
from lscfg.kernel.lm import ngram_arrays
from lscfg.model.small import write_packed
from lscfg.prepare.files import RECORD
from lscfg.prepare.record import Record

# Files of a bundle are named by their hashes, because decoders look into the working directory first: a file found
# there under such a name is equal.


def pack(
    system: str | os.PathLike[str],
    output: str | os.PathLike[str],
    weights: str | os.PathLike[str] | None = None,
    prepare: str | os.PathLike[str] | None = None,
    name: str | None = None,
    glossary: str | os.PathLike[str] | None = None,
    texts: bool = False,
    small: bool = False,
) -> Manifest:
    """Opens a system to check it, and writes its bundle.

    Args:
        system: an ini file, or the folder of a system of ``lscfg run``.
        output: the folder of the bundle; it may replace another bundle only.
        weights: a file of weights that replaces the weights of the ini file or the folder.
        prepare: folder of a preparation; None: the preparation of the experiment that the system belongs to, if any.
        name: name of the system, for people; None: that of the output.
        glossary: table of terms; the soft ones determine the weight of ``Terminology``, unless the weights contain it.
        texts: also pack the texts of grammars and language models, which cdec and Moses read.
        small: drop small parameters of the latent model; see ``lscfg.model.small``.

    Raises:
        InputError: a file cannot be read, copied or used, or the output exists and is not a bundle; the glossary
            contains no soft terms, or the system names no development set for them.
    """
    place = Path(system)
    if (place / MANIFEST).exists():
        raise InputError("is a bundle already; copy the folder as it is", place)
    check_replaced_bundle(Path(output))
    warn_of_filtered_rules(place)
    found = open_system(place, weights)
    preparation = Path(prepare) if prepare is not None else preparation_of(place)
    if preparation is not None and prepare is None:
        log.info(f"text is prepared as in {preparation}")
    replace(found, preparation=None if preparation is None else Record.read(preparation)).check()
    if glossary is not None:
        found = replace(found, weights=with_soft_terms(found, place, preparation, glossary))
    with replaced_folder(output, MANIFEST) as folder:
        write_weights(folder / WEIGHTS, found.weights)
        packed = _compiled(_copied_files(found.config, folder, small), folder, texts)
        config = replace(packed, weights=_named_by_content("weights", folder / WEIGHTS))
        write_ini(folder / INI, config)
        if found.confidence is not None:
            found.confidence.write(folder / CONFIDENCE)
        if preparation is not None:
            _copy_preparation(preparation, folder / PREPARE)
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        files = {name: PackedFile.of(_role(name), folder / name) for name in names}
        manifest = Manifest(name or Path(output).absolute().name, files)
        manifest.write(folder)
        open_bundle(folder)
    return manifest


def _role(name: str) -> str:
    """The role of a file of a bundle, by its name."""
    if name.endswith(ENDING):
        return f"compiled {_role(name.removesuffix(ENDING))}"
    return {
        INI: "configuration",
        "grammar": "grammar",
        "lm": "language model",
        "model": "latent model",
        "weights": "feature weights",
        CONFIDENCE: "confidence",
        f"{PREPARE}/{RECORD}": "preparation of raw text",
    }.get(name.partition("-")[0], "model of the preparation")


def check_replaced_bundle(output: Path, besides: Collection[str] = ()) -> None:
    """Refuses to replace a bundle that holds further files.

    Args:
        besides: names of files that may be lost.

    Raises:
        InputError: a file in the folder does not belong to its bundle.
    """
    if (output / MANIFEST).is_file():
        check_lost(output, {*Manifest.read(output).files, MANIFEST, *besides}, "bundle")


def _copied_files(config: DecoderConfig, folder: Path, small: bool) -> DecoderConfig:
    """Copies the files of a configuration, and returns the configuration with their new names."""
    model, latent = latent_model(config), None
    if config.latent is not None and model is not None:
        known = () if any(map(is_index, config.grammars)) else config.grammars
        write_packed(model, folder / "model", small, known)
        latent = _explicit(with_model(config.latent, _named_by_content("model", folder / "model", ".lscfg")))
    grammars = tuple(_copied("grammar", grammar, folder) for grammar in config.grammars)
    return replace(config.with_models(lambda path: _copied("lm", path, folder)), grammars=grammars, latent=latent)


def _compiled(config: DecoderConfig, folder: Path, texts: bool) -> DecoderConfig:
    """Writes the compiled forms of grammars and language models, which decoders open in a fraction of the time.

    Without ``texts``, they replace the texts, and the configuration names them.
    """

    def placed(role: str, path: Path) -> Path:
        if texts:
            return path
        (folder / path).unlink()
        return _named_by_content(role, Path(compiled_file(folder / path)), ENDING)

    @cache  # two equal files have one name
    def grammar(path: Path) -> Path:
        if is_index(folder / path):
            return path
        read = Grammar()
        read.read(folder / path)
        save_compiled(folder / path, "grammar", read.arrays())
        return placed("grammar", path)

    @cache
    def model(path: Path) -> Path:
        if path not in names:
            return path  # classes of a model
        arrays = ngram_arrays(folder / path)
        if arrays is None:
            return path
        save_compiled(folder / path, "ngrams", arrays)
        return placed("lm", path)

    names = {one.path for one in config.models}
    return replace(config.with_models(model), grammars=tuple(map(grammar, config.grammars)))


def _explicit(latent: LatentFeature) -> LatentFeature:
    """The feature function with an explicit list of features, since another version may have other defaults."""
    names = LatentOptions.of(latent.options.items()).features.names
    return replace(latent, options={**latent.options, "features": ",".join(names)})


def _copied(role: str, source: Path, folder: Path) -> Path:
    """Copies a file, and returns its name, which keeps the endings that readers need."""
    copy_file(source, folder / role)
    ending = re.search(r"(\.[A-Za-z0-9]+)?(\.gz)?$", source.name)
    return _named_by_content(role, folder / role, ending[0] if ending else "")


def _named_by_content(role: str, file: Path, ending: str = "") -> Path:
    """Renames a file by its hash, and returns the name.

    Decoders look for the files of an ini in the working directory first; a file of this name there is equal.
    """
    name = f"{role}-{file_hash(file)[:16]}{ending}"
    file.rename(file.with_name(name))
    return Path(name)


def _copy_preparation(source: Path, target: Path) -> None:
    """Copies the record and its models, but not the corpus next to them."""
    record = Record.read(source)
    target.mkdir()
    copy_file(source / RECORD, target / RECORD)
    for model in record.models():
        if model.parent != source:
            raise InputError(f"the model {model} is not in this folder", source / RECORD)
        if not (target / model.name).exists():
            copy_file(model, target / model.name)
