"""One language of a preparation: from a line of raw text to words, and from words back to text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.read import file_hash
from lscfg.parallel.worker import keep
from lscfg.prepare.casing import open_caser, read_forms
from lscfg.prepare.clean import clean, plain_spaces, protect_words, restore_words
from lscfg.prepare.limits import length_fault
from lscfg.prepare.pieces import WordCutter, join_pieces
from lscfg.prepare.sentences import words_and_signs
from lscfg.prepare.spacing import without_marks
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import Declared


@dataclass(frozen=True)
class ModelFile:
    """A model and the SHA-256 of its first content."""

    path: Path
    sha256: str

    @classmethod
    def of(cls, path: Path) -> ModelFile:
        """The file as it is."""
        return cls(path, file_hash(path))

    def checked(self) -> Path:
        """The file.

        Raises:
            InputError: the file has changed.
        """
        if file_hash(self.path) != self.sha256:
            raise InputError("not the model that the corpus was prepared with; prepare the corpus again", self.path)
        return self.path


@dataclass(frozen=True)
class SideRecipe:
    """Recipe of a ``Side`` for any process; lacks models before their training."""

    language: str
    unicode: str
    casing: str
    tokeniser: str
    settings: Declared
    case_model: ModelFile | None = None
    word_model: ModelFile | None = None
    piece_model: ModelFile | None = None
    marked: bool = True
    """Words carry the marks that restoring needs; never those of a source, where a mark would make a word unknown."""
    starts: bool = True
    """Restored sentences begin with a capital letter."""

    def side(self) -> Side:
        """The side, made once in each worker.

        Raises:
            InputError: a model is missing or damaged, or a package is not installed.
        """
        return keep(f"side {self.language}", self, lambda: Side(self))

    @property
    def subwords(self) -> bool:
        """True if the tokeniser splits text into pieces of words."""
        return TOKENISERS[self.tokeniser].SUBWORDS

    @property
    def has_pieces(self) -> bool:
        """True if tokens may be pieces of words."""
        return self.subwords or self.piece_model is not None


class Side:
    """One language of a preparation.

    Attributes:
        forms: counts of the words of the training text within sentences; None unless casing needs them.

    Raises:
        InputError: see ``SideRecipe.side``.
    """

    def __init__(self, recipe: SideRecipe):
        self.recipe, self.subwords = recipe, recipe.subwords
        model = recipe.word_model.checked() if recipe.word_model else None
        self._marks = TOKENISERS[recipe.tokeniser].MARKED
        self._tokeniser = TOKENISERS[recipe.tokeniser].open(recipe.language, recipe.settings, model)
        self._cutter = WordCutter(recipe.piece_model.checked()) if recipe.piece_model else None
        self.forms = read_forms(recipe.case_model.checked()) if recipe.case_model else None
        self._caser = open_caser(recipe.casing, self.forms, not self.subwords, recipe.language, recipe.starts)

    def clean(self, line: str) -> str:
        """The raw line without forbidden characters."""
        return clean(line, self.recipe.unicode)

    def split(self, line: str) -> str:
        """The text for casing: the words of a clean line, or the line itself for sub-words."""
        if self.subwords:
            return line
        words = " ".join(self._tokeniser.encode(line))
        return words if self.recipe.marked or not self._marks else without_marks(words)

    def finish(self, text: str) -> str:
        """The words of the result of ``split``."""
        text = self._caser.encode(text)
        if self.subwords:
            text = " ".join(self._tokeniser.encode(text))
        words = protect_words(plain_spaces(text))
        return self._cutter.cut(words) if self._cutter else words

    def encode(self, line: str) -> str:
        """The words of a raw line, separated by single blanks; none of an empty one.

        Raises:
            InputError: the line is too long, see ``lscfg.prepare.limits``.
        """
        _check_length(line)
        return self.finish(self.split(self.clean(line)))

    def join(self, words: str) -> str:
        """The text of some words within a sentence: without the capital letter of a sentence's beginning."""
        listed = restore_words(join_pieces(words)).split()
        return plain_spaces(self._tokeniser.decode(listed))

    def decode(self, line: str) -> str:
        """The text of a line of words, as a person would write it.

        Raises:
            InputError: the line is too long, see ``lscfg.prepare.limits``.
        """
        _check_length(line)
        words = restore_words(join_pieces(line)).split()
        if self.subwords:
            return plain_spaces(self._caser.decode(self._tokeniser.decode(words)))
        return plain_spaces(self._tokeniser.decode(self._caser.decode(" ".join(words)).split()))

    def uncased(self, line: str) -> str:
        """The words of a raw line in the line's own letters.

        Raises:
            InputError: the line is too long, see ``lscfg.prepare.limits``.
        """
        _check_length(line)
        text = self.split(self.clean(line))
        return protect_words(plain_spaces(" ".join(self._tokeniser.encode(text)) if self.subwords else text))


def _check_length(line: str) -> None:
    if fault := length_fault(line):
        raise InputError(f"a line {fault}; split the line")


def word_counter(recipe: SideRecipe | None) -> Callable[[str], int]:
    """Counts the words of a text exactly where they may be pieces; elsewhere see ``words_and_signs``.

    Raises:
        InputError: see ``SideRecipe.side``.
    """
    if recipe is None or not recipe.has_pieces:
        return words_and_signs
    side = recipe.side()
    return lambda text: len(text) if length_fault(text) else len(side.encode(text).split())
