"""The table [corpus] of an experiment file: tokenised text, or raw text that is prepared first."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Corpus:
    """Files of text, tokenised, one sentence a line; relative paths count from the data folder, where the caller names
    one, or else from the experiment file."""

    source: Path
    target: Path
    dev_source: Path
    dev_reference: list[Path]
    test_source: Path
    test_reference: list[Path]
    alignment: list[Path] = field(default_factory=list)
    """Pharaoh alignments of source and target; made by the align stage if not given."""


@dataclass(frozen=True)
class RawCorpus:
    """Files of raw text, which [prepare] makes a corpus of; paths as in ``Corpus``."""

    source: Path
    target: Path | None = None
    """None where one file has both sides."""
    dev_source: Path | None = None
    """None where pairs of the text are set off."""
    dev_reference: list[Path] = field(default_factory=list)
    test_source: Path | None = None
    test_reference: list[Path] = field(default_factory=list)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the training text."""
        return (self.source, self.target) if self.target else (self.source,)

    def held_out(self, name: str) -> tuple[Path, ...]:
        """Source and references of the dev or test set; none if its pairs are set off."""
        source, references = getattr(self, f"{name}_source"), getattr(self, f"{name}_reference")
        return (source, *references) if source else ()
