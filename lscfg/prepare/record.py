"""``prepare.json``: the record of a preparation, with all data for preparing new text and restoring translations."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NotRequired, Self, TypedDict

from lscfg.errors import InputError, quote
from lscfg.extras import installed_versions
from lscfg.io.json_files import COUNT, check_shape, read_json, write_json
from lscfg.io.sides import SIDES
from lscfg.prepare.files import RECORD
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.sides import ModelFile, SideRecipe
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.version import __version__

FORMAT = 1
PACKAGES = ("ftfy", "morfessor", "sacremoses", "sentencepiece")
CURE = "prepare the corpus again"
LATER = {"pieces"}
"""Settings that older records lack, with the default."""


class ModelFacts(TypedDict):
    """A model of a side."""

    file: str
    sha256: str


class SideModels(TypedDict):
    """The models of a side, if any."""

    case: NotRequired[ModelFacts]
    words: NotRequired[ModelFacts]
    pieces: NotRequired[ModelFacts]


class SideFacts(TypedDict):
    """A side."""

    language: str
    models: SideModels
    starts: NotRequired[bool]


class SidesFacts(TypedDict):
    """Both sides."""

    source: SideFacts
    target: SideFacts


class RecordFacts(TypedDict):
    """Shape of ``prepare.json``; the classes of the settings check ``settings``."""

    format: int
    settings: dict[str, Any]
    sides: SidesFacts
    pairs: dict[str, COUNT]
    dropped: dict[str, COUNT]
    kept: dict[str, COUNT]
    profiles: NotRequired[ModelFacts]
    versions: dict[str, str | None]


@dataclass(frozen=True)
class Record:
    """A preparation.

    Attributes:
        sides: source and target, with their models.
        sizes: number of pairs read, and written for each set.
        counts: number of remarks by treatment and reason.
        profiles: file of the ``LanguageProfiles``; None: the text was too small, or an older version prepared it.
    """

    settings: PrepareSettings
    sides: tuple[SideRecipe, SideRecipe]
    sizes: Mapping[str, int]
    counts: Mapping[str, Mapping[str, int]]
    profiles: ModelFile | None = None

    def __post_init__(self) -> None:
        source, target = self.sides
        object.__setattr__(self, "sides", (replace(source, marked=False), target))

    def write(self, folder: Path) -> None:
        """Writes the file next to the models."""
        sides = {}
        for name, side in zip(SIDES, self.sides, strict=True):
            models = {"case": side.case_model, "words": side.word_model, "pieces": side.piece_model}
            files = {key: _facts(model) for key, model in models.items() if model}
            sides[name] = {"language": side.language, "models": files, "starts": side.starts}
        tokenisation, reading = self.settings.tokenisation, self.settings.reading
        assert tokenisation is not None
        made = {
            "format": FORMAT,
            "settings": self.settings.facts()
            | {"tokenisation": tokenisation.facts(), "reading": reading.facts() if reading else {}},
            "sides": sides,
            "pairs": dict(self.sizes),
            **self.counts,
            **({"profiles": _facts(self.profiles)} if self.profiles else {}),
            "versions": {
                "lscfg": __version__,
                "unicode": unicodedata.unidata_version,
                **installed_versions(PACKAGES),
            },
        }
        write_json(folder / RECORD, made)

    def models(self) -> list[Path]:
        """The files of the models."""
        models = [model for side in self.sides for model in (side.case_model, side.word_model, side.piece_model)]
        return [model.path for model in [*models, self.profiles] if model is not None]

    def summary(self) -> list[str]:
        """Lines of log: pairs of each set, then what was dropped or remarked, by reason."""
        lines = ["pairs: " + ", ".join(f"{name} {count}" for name, count in self.sizes.items())]
        for done, counts in self.counts.items():
            if counts:
                lines.append(f"{done}: " + ", ".join(f"{reason} {count}" for reason, count in counts.items()))
        return lines

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Reads the preparation in a folder.

        Raises:
            InputError: the record is missing or damaged, or comes from another version of lscfg.
        """
        path = folder / RECORD
        if not path.is_file():
            raise InputError(f"no {RECORD} here; name a folder of lscfg prepare corpus", folder)
        found = read_json(path, RecordFacts, CURE, FORMAT)
        try:
            settings = _settings(found["settings"])
            source, target = (_side(path, settings, found["sides"][name]) for name in SIDES)
            profiles = _model(path, found["profiles"]) if "profiles" in found else None
        except ValueError as error:
            raise InputError(f"damaged, or not written by this version of lscfg ({error}); {CURE}", path) from error
        counts = {done: found[done] for done in ("dropped", "kept")}
        return cls(settings, (source, target), found["pairs"], counts, profiles)


def _facts(model: ModelFile) -> ModelFacts:
    return {"file": model.path.name, "sha256": model.sha256}


def _model(record: Path, facts: ModelFacts) -> ModelFile:
    """A model next to the record.

    Raises:
        ValueError: the name is not the name of a file in the folder.
    """
    name = facts["file"]
    if not name or name in (".", "..") or re.search(r"[/\\\x00-\x1f\x7f]", name):
        raise ValueError(f"{quote(name)} is not the name of a file in this folder")
    return ModelFile(record.parent / name, facts["sha256"])


def _settings(facts: dict[str, Any]) -> PrepareSettings:
    """The settings, all of which must be given.

    Raises:
        ValueError: a setting is missing, unknown, of another type or out of its range.
    """
    shape = dict[str, Any]
    check_shape(facts.get("tokenisation"), shape, "settings.tokenisation")
    check_shape(facts.get("reading"), shape, "settings.reading")
    plain = {name: value for name, value in facts.items() if name not in ("tokenisation", "reading")}
    settings = PrepareSettings.of(plain)
    own = TOKENISERS[settings.tokeniser].Settings.of(facts["tokenisation"])
    for made, given in ((settings, plain), (own, facts["tokenisation"])):
        if missing := made.facts().keys() - given.keys() - LATER:
            raise ValueError(f"settings.{min(missing)} is missing")
    return replace(settings, tokenisation=own)


def _side(record: Path, settings: PrepareSettings, facts: SideFacts) -> SideRecipe:
    """A side with its models, which lie next to the record.

    Raises:
        ValueError: a name is not the name of a file in the folder, or a language is none.
    """
    if not facts["language"]:
        raise ValueError("sides: a language is missing")
    PrepareSettings(source_language=facts["language"])  # refuses what is not a language
    found = facts["models"]
    case, words, pieces = (
        None if model is None else _model(record, model)
        for model in (found.get("case"), found.get("words"), found.get("pieces"))
    )
    assert settings.tokenisation is not None
    return SideRecipe(
        facts["language"],
        settings.unicode,
        settings.casing,
        settings.tokeniser,
        settings.tokenisation,
        case,
        words,
        pieces,
        starts=facts.get("starts", True),
    )
