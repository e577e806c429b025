"""Tokenisers: from text to words and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.settings import Declared


class Splitter(Protocol):
    """Splits the text of one language into words, and joins words to text."""

    def encode(self, line: str) -> list[str]:
        """The words of a clean line."""

    def decode(self, words: list[str]) -> str:
        """The text of words."""


class Tokeniser(Kind[SettingsT]):
    """Makes splitters of languages."""

    SUBWORDS: bool = False
    """Words are pieces of words, so casing comes before, not after tokenisation."""

    LEARNS: bool = False
    """``train_model`` makes a model of the training text; unless the words are pieces, of its lines before casing."""

    MARKED: bool = False
    """Words may carry marks of the blanks next to them (``lscfg.prepare.spacing``)."""

    def train_model(self, lines: Iterable[str], side: str, settings: SettingsT) -> bytes | None:
        """Trains a model of the ``"source"`` or ``"target"`` side, as bytes of a file; None: there is no model.

        Raises:
            InputError: a package is missing, or no model can be made of the text.
        """
        return None

    def remark(self, language: str) -> str:
        """The rules that the tokeniser takes for a language for want of the language's own; empty if it has them.

        Raises:
            InputError: the language is not supported.
        """
        return ""

    def damage(self, language: str, lines: Sequence[str]) -> str:
        """A fault that the tokeniser would make in the clean lines of a language, with a cure; empty if none."""
        return ""

    def open(self, language: str, settings: SettingsT, model: Path | None) -> Splitter:
        """Opens the splitter of a language.

        Args:
            model: file with the bytes of ``train_model``, if there is a model.

        Raises:
            InputError: a package is missing, the file is malformed, or the language is not supported.
        """
        raise NotImplementedError


TOKENISERS: Registry[Tokeniser[Declared]] = Registry("lscfg.tokenisers", Tokeniser, "tokeniser")
