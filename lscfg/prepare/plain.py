"""No tokeniser: words are what blanks separate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lscfg.settings import Declared

HELP = "words are what blanks separate already"
VERSION = 1
SUBWORDS = False


@dataclass(frozen=True)
class Settings(Declared):
    """There is nothing to set."""


class Blanks:
    """Words between blanks."""

    def encode(self, line: str) -> list[str]:
        """The words of a clean line."""
        return line.split()

    def decode(self, words: list[str]) -> str:
        """The words with blanks between them."""
        return " ".join(words)


def train_model(lines: Sequence[str], side: str, settings: Settings) -> None:
    """There is no model."""


def open_tokeniser(language: str, settings: Settings, model: Path | None) -> Blanks:
    """The tokeniser."""
    return Blanks()
