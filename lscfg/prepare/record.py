"""``prepare.json``: the record of a preparation, with all data for preparing new text and restoring translations."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from lscfg.errors import InputError
from lscfg.extras import installed_versions
from lscfg.io.json_files import write_json
from lscfg.io.read import decode_text, read_bytes
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.sides import ModelFile, SideRecipe
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.version import __version__

RECORD = "prepare.json"
FORMAT = 1
PACKAGES = ("sacremoses", "sentencepiece")


@dataclass(frozen=True)
class Record:
    """A preparation.

    Attributes:
        sides: source and target, with their models.
        sizes: number of pairs read, and written for each set.
        counts: number of remarks by treatment and reason.
    """

    settings: PrepareSettings
    sides: tuple[SideRecipe, SideRecipe]
    sizes: Mapping[str, int]
    counts: Mapping[str, Mapping[str, int]]

    def __post_init__(self) -> None:
        source, target = self.sides
        object.__setattr__(self, "sides", (replace(source, marked=False), target))

    def write(self, folder: Path) -> None:
        """Writes the file next to the models."""
        sides = {}
        for name, side in zip(("source", "target"), self.sides, strict=True):
            models = {"case": side.case_model, "words": side.word_model}
            files = {key: {"file": model.path.name, "sha256": model.sha256} for key, model in models.items() if model}
            sides[name] = {"language": side.language, "models": files}
        tokenisation, reading = self.settings.tokenisation, self.settings.reading
        assert tokenisation is not None
        made = {
            "format": FORMAT,
            "settings": self.settings.facts()
            | {"tokenisation": tokenisation.facts(), "reading": reading.facts() if reading else {}},
            "sides": sides,
            "pairs": dict(self.sizes),
            **self.counts,
            "versions": {
                "lscfg": __version__,
                "unicode": unicodedata.unidata_version,
                **installed_versions(PACKAGES),
            },
        }
        write_json(folder / RECORD, made)

    def models(self) -> list[Path]:
        """The files of the models."""
        return [model.path for side in self.sides for model in (side.case_model, side.word_model) if model is not None]

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
        try:
            found = json.loads(decode_text(read_bytes(path), path))
            if found["format"] != FORMAT:
                raise InputError(f"of format {found['format']}, not {FORMAT}; prepare the corpus again", path)
            facts = dict(found["settings"])
            own = TOKENISERS[facts["tokeniser"]].Settings.of(facts.pop("tokenisation"))
            del facts["reading"]
            settings = replace(PrepareSettings.of(facts), tokenisation=own)
            source, target = (_side(folder, settings, found["sides"][name]) for name in ("source", "target"))
            counts = {done: found[done] for done in ("dropped", "kept")}
            return cls(settings, (source, target), found["pairs"], counts)
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise InputError("damaged, or not of lscfg prepare; prepare the corpus again", path) from error


def _side(folder: Path, settings: PrepareSettings, facts: Mapping[str, Any]) -> SideRecipe:
    models = {key: ModelFile(folder / model["file"], model["sha256"]) for key, model in facts["models"].items()}
    assert settings.tokenisation is not None
    return SideRecipe(
        facts["language"],
        settings.unicode,
        settings.casing,
        settings.tokeniser,
        settings.tokenisation,
        models.get("case"),
        models.get("words"),
    )
