"""The translator that a pipeline has learned: it obeys terms, learns corrections, and travels in copies."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lscfg.bundle.system import TranslationSystem
from lscfg.decode.memory import JOURNAL, Memory
from lscfg.decode.terms import Term
from lscfg.errors import InputError
from lscfg.parallel.engine import Serial
from lscfg.parallel.temporary import TemporaryFolder
from lscfg.prepare.record import Record
from lscfg.prepare.sides import Side
from lscfg.serve.filled import translated_document
from lscfg.serve.lattices import BadSentenceError
from lscfg.serve.translator import TranslationOptions, Translator
from lscfg.settings import LARGEST
from lscfg.tuning.evaluate import corpus_score, restored_bleu, restored_tokens
from lscfg.tuning.pipeline.arguments import UNCHANGED
from lscfg.tuning.pipeline.files import Bundle, kept_journal
from lscfg.turns import in_turn

_RAW = TranslationOptions(raw=True, max_words=LARGEST)


class FittedTranslator:
    """A bundle, its corrections, and its open translator. Copies and pickles hold the corrections.

    Args:
        journal: content of the journal of corrections.
    """

    def __init__(self, bundle: Bundle, journal: bytes = b""):
        self.bundle, self._turn = bundle, threading.RLock()
        self._translator: Translator | None = None
        self._memory = TemporaryFolder()
        if journal:
            (self._memory.path / JOURNAL).write_bytes(journal)

    @classmethod
    def read(cls, folder: Path) -> FittedTranslator:
        """The translator of a bundle, with the corrections in its folder, of which the translator uses a copy.

        Raises:
            InputError: a line of the journal of corrections is damaged.
        """
        if journal := kept_journal(folder):
            Memory(folder)
        return cls(Bundle.found(folder.absolute()), journal)

    def system(self) -> TranslationSystem:
        """The open system, which prepares text; see ``open_bundle``."""
        return self.bundle.system()

    def preparation(self) -> Record:
        """The preparation of text."""
        found = self.system().preparation
        assert found is not None
        return found

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Preparation of both languages."""
        source, target = self.preparation().sides
        return source.side(), target.side()

    @in_turn
    def translate(self, lines: Sequence[str], terms: Sequence[Term], details: bool) -> list[dict[str, Any]]:
        """The answers to lines as the HTTP service gives them, see docs/guides/serving.md.

        Args:
            terms: in raw text.
            details: add the details, and the keys that only some answers of the service contain.

        Raises:
            InputError: a line cannot be translated.
        """
        translator, answers = self._open(), []
        for number, line in enumerate(lines):
            try:
                answer = translator(line, replace(_RAW, terms=tuple(terms), details=details)).answer
            except BadSentenceError as error:
                raise InputError(f"lines[{number}] {error}") from error
            if details:
                answer |= {"terms": answer.get("terms", []), "confidence": answer["details"].get("confidence")}
            answers.append(answer)
        return answers

    @in_turn
    def translate_document(self, path: str, terms: Sequence[Term]) -> bytes:
        """The content of a file in which the texts are translated.

        Args:
            terms: in raw text.

        Raises:
            InputError: see ``lscfg.serve.filled.translated_document``.
        """
        system = replace(self.system(), memory=self._memory.path, glossary=tuple(terms))
        return translated_document(system, path, Serial())

    def bleu(self, output: Sequence[str], references: Sequence[str]) -> float:
        """BLEU (0 to 100): sacrebleu tokenises raw text, and tokens are scored as they are."""
        preparation = self.preparation()
        if preparation.settings.tokeniser == UNCHANGED:
            found = corpus_score("bleu", output, [references])
        else:
            found = restored_bleu(output, [references], restored_tokens(preparation.sides[1].language))[0]
        return min(100.0, found)  # of equal texts, sacrebleu's may be above 100 by a rounding error

    @in_turn
    def correct(self, source: str, target: str) -> int:
        """Stores a correction, and returns its number.

        Raises:
            InputError: a side cannot be stored.
        """
        try:
            return self._open().correct(source, target, _RAW)["id"]
        except BadSentenceError as error:
            raise InputError(str(error)) from error

    @in_turn
    def undo(self, number: int) -> None:
        """Removes a correction.

        Raises:
            InputError: no correction has this number.
        """
        if not self._open().undo(number):
            raise InputError(f"no correction {number}; it may be removed already")

    def save(self, path: Path) -> None:
        """Writes the bundle with the corrections; see ``Bundle.copy``."""
        self.bundle.copy(path, kept_journal(self._memory.path))

    def _open(self) -> Translator:
        if self._translator is None:
            self._translator = Translator(replace(self.system(), memory=self._memory.path))
        return self._translator

    def __reduce__(self) -> tuple[Any, ...]:
        return FittedTranslator, (self.bundle, kept_journal(self._memory.path))
