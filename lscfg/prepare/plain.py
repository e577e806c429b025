"""No tokeniser: words are what blanks separate."""

from __future__ import annotations

from pathlib import Path

from lscfg.prepare.tokeniser import Tokeniser
from lscfg.settings import Declared


class Blanks:
    """Words between blanks."""

    def encode(self, line: str) -> list[str]:
        """The words of a clean line."""
        return line.split()

    def decode(self, words: list[str]) -> str:
        """The words with blanks between them."""
        return " ".join(words)


class BlankTokeniser(Tokeniser[Declared]):
    """No tokeniser: words are what blanks separate."""

    HELP = "words are what blanks separate already"
    VERSION = 1
    Settings = Declared

    def open(self, language: str, settings: Declared, model: Path | None) -> Blanks:
        """The tokeniser."""
        return Blanks()
