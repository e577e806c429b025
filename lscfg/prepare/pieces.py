"""Rare target words in pieces: a SentencePiece model of words, next to a tokeniser of whole words."""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

from lscfg.errors import InputError
from lscfg.io.json_files import read_json
from lscfg.prepare.spacing import JOINER, MARKS
from lscfg.prepare.spm import SubwordSettings, load_pieces, train_pieces

# The cut is the last step of preparation, so that limits count words, capitals are those of words, and the blanks next
# to words keep their marks. The source keeps whole words: its pieces would break names, which are copied.

USER = "target_pieces"
MARK = JOINER + JOINER
"""Begins a piece that continues a word. The marks of ``lscfg.prepare.spacing`` never stand in a row like this."""
WHOLE = 10
"""Occurrences from which on a word stays whole."""
MOST = 200
"""Maximum occurrences of a word that training counts."""


class PieceFile(TypedDict):
    """Content of the model's file."""

    words: list[str]
    """Words that stay whole."""
    model: str
    """The SentencePiece model, in base 64."""


def train_cutter(lines: Iterable[str], pieces: int, path: Path) -> None:
    """Trains a model on lines of words, a unigram model, and writes it.

    Raises:
        InputError: sentencepiece is missing, or the text is unsuitable for training a model.
    """
    counts = Counter(bare for line in lines for word in line.split() if _is_plain(bare := _bare(word)))
    repeated = (word for word, count in sorted(counts.items()) for _ in range(min(count, MOST)))
    model = train_pieces(repeated, "target", SubwordSettings(vocabulary=pieces, model_type="unigram"), USER)
    whole = sorted(word for word, count in counts.items() if count >= WHOLE)
    made: PieceFile = {"words": whole, "model": base64.b64encode(model).decode()}
    path.write_text(json.dumps(made, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


class WordCutter:
    """Cuts words, and joins their pieces.

    Raises:
        InputError: sentencepiece is missing, or the file is damaged.
    """

    def __init__(self, path: Path):
        found: PieceFile = read_json(path, PieceFile, "prepare the corpus again")
        self._whole = frozenset(found["words"])
        try:
            model = base64.b64decode(found["model"], validate=True)
        except binascii.Error as error:
            raise InputError(f"damaged ({error}); prepare the corpus again", path) from error
        self._processor = load_pieces(model, path, USER)
        self._pieces = lru_cache(1 << 16)(self._cut)

    def cut(self, words: str) -> str:
        """The words, rare ones in pieces."""
        return " ".join(piece for word in words.split() for piece in self._pieces(word))

    def _cut(self, word: str) -> tuple[str, ...]:
        bare = _bare(word)
        if bare in self._whole or not _is_plain(bare):
            return (word,)
        found = [piece.removeprefix("\u2581") for piece in self._processor.encode(bare, out_type=str)]
        first, *rest = filter(None, found)
        return (word[: len(word) - len(bare)] + first, *(MARK + piece for piece in rest))


def join_pieces(words: str) -> str:
    """The words, each whole; a piece without a beginning becomes a word."""
    if MARK not in words:
        return words
    found: list[str] = []
    for word in words.split():
        piece = word.removeprefix(MARK)
        if piece == word or not found:
            found.append(piece)
        else:
            found[-1] += piece
    return " ".join(word for word in found if word)


def _bare(word: str) -> str:
    """The word without the marks before it."""
    return word.lstrip(MARKS)


def _is_plain(word: str) -> bool:
    """True for words with letters and without digits, marks, and signs of escaped words."""
    letters = any(sign.isalpha() for sign in word)
    return letters and not any(sign.isdigit() or sign in MARKS or sign in "&;" for sign in word)
