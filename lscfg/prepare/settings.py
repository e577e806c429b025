"""Settings of preparation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lscfg.errors import InputError, quote
from lscfg.io.compression import plain_name
from lscfg.io.sides import SIDES
from lscfg.prepare.casing import CASINGS
from lscfg.prepare.clean import UNICODE_FORMS
from lscfg.prepare.health import DROPPABLE
from lscfg.prepare.languages import code_fault, equal_codes
from lscfg.prepare.pieces import AUTO, LEAST, Cutting
from lscfg.prepare.reader import TEXT, TEXT_READERS, reader_of
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import Declared, SettingError, setting


@dataclass(frozen=True)
class PrepareSettings(Declared):
    """Settings of the preparation of raw text.

    Raises:
        SettingError: a setting is out of its range.
    """

    source_language: str = setting(
        "", "source language, such as en or pt-BR", shown="ending of the file name", common=True
    )
    target_language: str = setting("", "target language", shown="ending of the file name", common=True)
    format: str | None = setting(
        None, "kind of the raw files", choices=TEXT_READERS.names(), shown="ending of their names"
    )
    unicode: str = setting(
        "nfc", "normal form of the text; none also keeps entities and mojibake", choices=UNICODE_FORMS
    )
    tokeniser: str = setting("moses", "tokeniser of both sides", choices=TOKENISERS.names(), common=True)
    casing: str = setting(
        "true", "casing: true (as within sentences), lower (lowercase), or none (unchanged)", choices=CASINGS
    )
    pieces: tuple[str, ...] = setting(
        (),
        "cut words with fewer than 10 occurrences: SIDE:unigram:N or SIDE:bpe:N (at most N pieces), SIDE:morfessor,"
        " or SIDE:auto (lscfg run tries none and three on dev); SIDE: source or target",
        shown="whole words",
    )
    orthography: Path | None = setting(
        None, "table of rewrites that unify the spelling of the target side of the training text"
    )
    max_length: int = setting(100, "maximum words per sentence of the training text", least=1)
    max_ratio: float = setting(9.0, "maximum length ratio between the two sides in the training text", least=1)
    keep_duplicates: bool = setting(False, "keep duplicate training pairs")
    drop: tuple[str, ...] = setting((), "faults whose pairs leave the training text", choices=DROPPABLE)
    dev: int = setting(0, "number of pairs set aside for tuning", least=0, common=True)
    test: int = setting(0, "number of pairs set aside for testing", least=0, common=True)
    seed: int = setting(1, "seed of the choice of these pairs", least=0)
    reading: Declared | None = None
    """Settings of the kind of the raw files; its own defaults if None is given."""
    tokenisation: Declared | None = None
    """Settings of the tokeniser; its own defaults if None is given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("source_language", "target_language"):
            value = getattr(self, name)
            if value and (fault := code_fault(value)):
                raise SettingError(name, f"must be a language code such as en, eng or pt-BR; {quote(value)} {fault}")
        sides = [_cutting(text).side for text in self.pieces]
        if len({*sides}) < len(sides):
            raise SettingError("pieces", "must name each side at most once")
        if [one.model for one in self.cuttings].count(AUTO) > 1:
            raise SettingError("pieces", f"can be {AUTO} for one side only")
        if sides and TOKENISERS[self.tokeniser].SUBWORDS:
            raise SettingError("pieces", f"is for tokenisers of whole words; {self.tokeniser} makes pieces itself")
        if self.tokenisation is None:
            object.__setattr__(self, "tokenisation", TOKENISERS[self.tokeniser].Settings())

    @property
    def cuttings(self) -> tuple[Cutting, ...]:
        """The values of ``pieces``."""
        return tuple(map(Cutting.read, self.pieces))

    @property
    def chosen_side(self) -> int | None:
        """The side whose pieces the development set chooses; None: all are given."""
        return next((one.side for one in self.cuttings if one.model == AUTO), None)

    def with_pieces(self, side: int, cutting: str) -> PrepareSettings:
        """The settings with other pieces of a side.

        Args:
            cutting: a value of ``pieces`` for this side; empty: whole words.
        """
        others = [text for text in self.pieces if Cutting.read(text).side != side]
        return replace(self, pieces=(*others, *([cutting] if cutting else [])))

    def languages(self, files: Sequence[Path]) -> tuple[str, str]:
        """Source and target language, from the settings or else from the endings of two file names.

        Raises:
            InputError: both languages are the same.
            SettingError: a language is not given, and cannot be taken from the ending of a file name.
        """
        found = []
        for number, side in enumerate(SIDES):
            language = getattr(self, f"{side}_language")
            if not language and len(files) == 2 and reader_of(files, self.format) == TEXT:
                _, dot, language = plain_name(files[number].name).rpartition(".")
                if dot and (fault := code_fault(language)):
                    message = f"must be given: the ending of {files[number]}, {quote(language)}, {fault}"
                    raise SettingError(f"{side}_language", message)
                language = language if dot else ""
            if not language:
                raise SettingError(f"{side}_language", "must be given: no file name ends with a language")
            found.append(language)
        if equal_codes(*found):
            same = found[0] if found[0] == found[1] else " = ".join(found)
            raise InputError(
                f"source and target have the same language, {same}; name the languages with"
                " --source-language and --target-language, or source_language and target_language in [prepare]"
            )
        return found[0], found[1]


def _cutting(text: str) -> Cutting:
    """A value of ``pieces``.

    Raises:
        SettingError: the value has another form.
    """
    try:
        return Cutting.read(text)
    except ValueError:
        wanted = f"target:unigram:4000, source:bpe:2000 ({LEAST} or more) or target:morfessor"
        raise SettingError("pieces", f"must have a form such as {wanted}, not {quote(text)}") from None
