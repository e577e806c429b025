"""Sub-words: pieces of a SentencePiece model, given or trained on the training text (Kudo & Richardson 2018)."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lscfg.errors import InputError
from lscfg.io.read import read_bytes
from lscfg.prepare.clean import PIECE_MARK
from lscfg.prepare.tokeniser import Tokeniser
from lscfg.settings import Declared, setting

# One thread trains SentencePiece, because two threads give another model. Its normalisation is off: the text is clean
# already, and pieces can then be joined exactly.

USER = "the tokeniser spm"
LONGEST = 1 << 20
"""Bytes of a line beyond which training skips the line."""


@dataclass(frozen=True)
class SubwordSettings(Declared):
    """The models of both sides."""

    vocabulary: int = setting(8000, "maximum pieces of each side", least=8)
    model_type: str = setting("unigram", "model that is trained", choices=("unigram", "bpe"))
    character_coverage: float = setting(1.0, "share of the text's characters that have pieces", above=0.9, most=1)
    source_model: Path | None = setting(None, "model of the source side; without one it is trained")
    target_model: Path | None = setting(None, "model of the target side; without one it is trained")


class SentencePieces:
    """Tokens are pieces of words, in which ``PIECE_MARK`` marks a blank."""

    def __init__(self, processor: Any):
        self._processor = processor

    def encode(self, line: str) -> list[str]:
        """The pieces of a clean line; a character that the model does not know is a piece."""
        pieces: list[str] = self._processor.encode(line, out_type=str)
        return pieces

    def decode(self, words: list[str]) -> str:
        """The text, exactly as it was if the model was trained here.

        Pieces of another model, such as those of a source word that was passed through, get their blanks, too.
        """
        return str(self._processor.decode(words)).replace(PIECE_MARK, " ").lstrip(" ")


class SubwordTokeniser(Tokeniser[SubwordSettings]):
    """SentencePiece models."""

    HELP = "sub-words of SentencePiece models, given or trained on the text"
    VERSION = 1
    SUBWORDS = True
    LEARNS = True
    Settings = SubwordSettings

    def train_model(self, lines: Iterable[str], side: str, settings: SubwordSettings) -> bytes:
        """Reads the given model of a side, or trains one on the lines.

        Raises:
            InputError: sentencepiece is missing, the given file is not a model, or the text is unsuitable for training
                one.
        """
        given = settings.files().get(f"{side}_model")
        if given:
            data = read_bytes(given)
            load_pieces(data, given)
            return data
        return train_pieces(lines, side, settings)

    def open(self, language: str, settings: SubwordSettings, model: Path | None) -> SentencePieces:
        """Opens a model of ``train_model``.

        Raises:
            InputError: sentencepiece is missing, or the file is not a model.
        """
        assert model is not None  # the preparation has written it
        return SentencePieces(load_pieces(read_bytes(model), model))


def train_pieces(lines: Iterable[str], side: str, settings: SubwordSettings, user: str = USER) -> bytes:
    """Trains a model on the lines of a side.

    Args:
        user: the setting that needs the model, for messages.

    Raises:
        InputError: sentencepiece is missing, or the text is unsuitable for training a model.
    """
    package, out = _package(user), io.BytesIO()
    try:
        package.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=out,
            vocab_size=settings.vocabulary,
            model_type=settings.model_type,
            character_coverage=settings.character_coverage,
            hard_vocab_limit=False,  # little text has fewer pieces
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=LONGEST,
            num_threads=1,  # sums over threads would give another model each time
            minloglevel=2,
        )
    except RuntimeError as error:
        reason = str(error).rpartition("] ")[2] or str(error)
        message = f"no SentencePiece model of {settings.vocabulary} pieces can be made of the {side} text: {reason}"
        raise InputError(message) from error
    return out.getvalue()


def _package(user: str) -> Any:
    try:
        import sentencepiece
    except ImportError as error:
        raise InputError(f"{user} needs sentencepiece: pip install 'lscfg[train]'") from error
    return sentencepiece


def load_pieces(data: bytes, path: Path, user: str = USER) -> Any:
    """The processor of a model.

    Raises:
        InputError: sentencepiece is missing, or the data are no model.
    """
    try:
        processor = _package(user).SentencePieceProcessor(model_proto=data)
        if data and processor.vocab_size():
            return processor
    except (RuntimeError, OSError) as error:
        raise InputError("not a SentencePiece model, or cut off or damaged", path) from error
    raise InputError("not a SentencePiece model, or cut off or damaged", path)
