"""Rare words in pieces: a SentencePiece or Morfessor model of words, next to a tokeniser of whole words."""

from __future__ import annotations

import base64
import binascii
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict

from lscfg.errors import InputError
from lscfg.io.json_files import COUNT, read_json
from lscfg.io.sides import SIDES
from lscfg.prepare.clean import PIECE_MARK
from lscfg.prepare.spacing import JOINER, MARKS
from lscfg.prepare.spm import SubwordSettings, load_pieces, train_pieces

# The cut is the last step of preparation, so that limits count words, capitals are those of words, and the blanks next
# to words keep their marks. Pieces of the source break names, which are copied.

USER = "pieces"
AUTO = "auto"
"""Model of a side whose cutting the development set chooses, in ``lscfg run``."""
LEAST = 8
"""Minimum number of pieces of a SentencePiece model."""
MARK = JOINER + JOINER
"""Begins a piece that continues a word. The marks of ``lscfg.prepare.spacing`` never stand in a row like this."""
WHOLE = 10
"""Occurrences from which on a word stays whole."""
MOST = 200
"""Maximum occurrences of a word that training counts."""
LONGEST = 30
"""Maximum length of a morph in letters."""


class Cutting(NamedTuple):
    """A value of ``pieces``."""

    side: int
    """0 for the source, 1 for the target."""
    model: str
    """``unigram``, ``bpe``, ``morfessor`` or ``auto``."""
    size: int
    """Maximum number of pieces; 0 for Morfessor, which finds the number itself, and for ``auto``."""

    @classmethod
    def read(cls, text: str) -> Cutting:
        """Reads ``SIDE:unigram:N``, ``SIDE:bpe:N``, ``SIDE:morfessor`` or ``SIDE:auto``.

        Raises:
            ValueError: the text has another form, or N is below ``LEAST``.
        """
        found = re.fullmatch(r"(source|target):(?:(unigram|bpe):([0-9]{1,6})|(morfessor|auto))", text)
        if not found or (found[3] and int(found[3]) < LEAST):
            raise ValueError(text)
        return cls(SIDES.index(found[1]), found[2] or found[4], int(found[3] or 0))


class MorphCounts(TypedDict):
    """A Morfessor Baseline model (Creutz & Lagus 2007)."""

    morphs: dict[str, COUNT]
    """Occurrences of the morphs in the segmented words."""
    total: COUNT
    """Occurrences of all morphs, and of the ends of words."""


class PieceFile(TypedDict):
    """Content of the model's file, with one of the two models."""

    words: list[str]
    """Words that stay whole."""
    model: NotRequired[str]
    """A SentencePiece model, in base 64."""
    morfessor: NotRequired[MorphCounts]


def train_cutter(lines: Iterable[str], cutting: Cutting, path: Path) -> None:
    """Trains a model on lines of words and writes it.

    Raises:
        InputError: sentencepiece or morfessor is missing, or the text is unsuitable for training a model.
    """
    counts = Counter(bare for line in lines for word in line.split() if _is_plain(bare := _bare(word)))
    made: PieceFile = {"words": sorted(word for word, count in counts.items() if count >= WHOLE)}
    if cutting.model == "morfessor":
        made["morfessor"] = train_morphs(sorted(counts))
    else:
        repeated = (word for word, count in sorted(counts.items()) for _ in range(min(count, MOST)))
        settings = SubwordSettings(vocabulary=cutting.size, model_type=cutting.model)
        made["model"] = base64.b64encode(train_pieces(repeated, SIDES[cutting.side], settings, USER)).decode()
    path.write_text(json.dumps(made, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def train_morphs(words: Sequence[str]) -> MorphCounts:
    """Trains a Morfessor Baseline model on different words, each counted once, with a fixed seed.

    Raises:
        InputError: morfessor is missing.
    """
    model = _morfessor().BaselineModel()
    model.load_data((1, word) for word in words)
    before, progress = random.getstate(), _morfessor().utils.show_progress_bar
    random.seed(1)  # Morfessor shuffles with Python's global generator
    _morfessor().utils.show_progress_bar = False
    try:
        model.train_batch()
    finally:
        random.setstate(before)
        _morfessor().utils.show_progress_bar = progress
    morphs = {str(morph): int(count) for morph, count in sorted(model.get_constructions())}
    return {"morphs": morphs, "total": sum(morphs.values()) + len(words)}


def _morfessor() -> Any:
    try:
        import morfessor
        import morfessor.utils
    except ImportError as error:
        raise InputError(f"{USER} with morfessor needs the package morfessor: pip install 'lscfg[train]'") from error
    return morfessor


def best_morphs(word: str, morphs: Mapping[str, int], total: int) -> list[str]:
    """The most probable morphs of a word, by Viterbi's algorithm; an unknown letter is a morph.

    Equal to Morfessor's own segmentation without smoothing.

    Args:
        morphs: count of each morph.
        total: sum of the counts, plus the number of words.
    """
    logs = math.log(max(total, 1))
    unknown = len(word) * logs + 1.0  # more than any segmentation into known morphs
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(word) + 1):
        ways = []
        for begin in range(max(0, end - LONGEST), end):
            count = morphs.get(word[begin:end], 0)
            if count or end - begin == 1:
                ways.append((best[begin][0] + (logs - math.log(count) if count else unknown), begin))
        best.append(min(ways))
    found, end = [], len(word)
    while end:
        found.append(word[best[end][1] : end])
        end = best[end][1]
    return found[::-1]


class WordCutter:
    """Cuts words, and joins their pieces.

    Raises:
        InputError: sentencepiece is missing, or the file is damaged.
    """

    def __init__(self, path: Path):
        found: PieceFile = read_json(path, PieceFile, "prepare the corpus again")
        self._whole = frozenset(found["words"])
        self._split = _splitter(found, path)
        self._pieces = lru_cache(1 << 16)(self._cut)

    def cut(self, words: str) -> str:
        """The words, rare ones in pieces."""
        return " ".join(piece for word in words.split() for piece in self._pieces(word))

    def _cut(self, word: str) -> tuple[str, ...]:
        bare = _bare(word)
        if bare in self._whole or not _is_plain(bare):
            return (word,)
        first, *rest = self._split(bare)
        return (word[: len(word) - len(bare)] + first, *(MARK + piece for piece in rest))


def _splitter(found: PieceFile, path: Path) -> Callable[[str], list[str]]:
    """The pieces of a word by the model of a file.

    Raises:
        InputError: see ``WordCutter``.
    """
    if "morfessor" in found:
        counts = found["morfessor"]
        return lambda word: best_morphs(word, counts["morphs"], counts["total"])
    try:
        model = base64.b64decode(found.get("model", ""), validate=True)
    except binascii.Error as error:
        raise InputError(f"damaged ({error}); prepare the corpus again", path) from error
    processor = load_pieces(model, path, USER)

    def split(word: str) -> list[str]:
        pieces = processor.encode(word, out_type=str)
        return [part for piece in pieces if (part := piece.removeprefix(PIECE_MARK))]

    return split


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
