"""Moses' rules for words and punctuation of a language, as sacremoses has them."""

from __future__ import annotations

from pathlib import Path

from lscfg.errors import InputError
from lscfg.prepare.tokeniser import Tokeniser
from lscfg.settings import Declared

# Words are not escaped as in Moses, because only whole words ||| and [X] have a meaning in lscfg's grammars, and
# moses_lscfg refuses an escaped corpus.

UNSPACED = ("ja", "zh", "yue", "th", "lo", "km", "my", "bo", "dz")
"""Languages that write no blanks between words."""


class MosesRules:
    """The tokeniser and the detokeniser of a language; English ones for a language without specific rules."""

    def __init__(self, language: str):
        from sacremoses import MosesDetokenizer, MosesTokenizer

        self._tokeniser, self._detokeniser = MosesTokenizer(language), MosesDetokenizer(language)

    def encode(self, line: str) -> list[str]:
        """The words of a clean line."""
        words: list[str] = self._tokeniser.tokenize(line, escape=False)
        return words

    def decode(self, words: list[str]) -> str:
        """The text; blanks next to quotation marks and the like are guessed."""
        return str(self._detokeniser.detokenize(words, unescape=False))


class MosesTokeniser(Tokeniser[Declared]):
    """Moses' rules, as sacremoses has them."""

    HELP = "Moses' rules for words and punctuation (sacremoses)"
    VERSION = 1
    Settings = Declared

    def open(self, language: str, settings: Declared, model: Path | None) -> MosesRules:
        """The tokeniser.

        Raises:
            InputError: sacremoses is missing, or the language has no blanks between words.
        """
        base = language.lower().replace("_", "-").partition("-")[0]
        if base in UNSPACED:
            raise InputError(
                f"moses does not split the words of {language}; use the tokeniser spm, or split the words first"
            )
        try:
            return MosesRules(base)
        except ImportError as error:
            raise InputError("the tokeniser moses needs sacremoses: pip install 'lscfg[train]'") from error
