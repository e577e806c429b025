"""The built-in decoder for programs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any, overload

from lscfg.api.arguments import brief, check_lines, check_number, check_path, check_text, check_weights
from lscfg.api.opened import OpenedFiles, absolute, absolute_config, files_of_config, reopened
from lscfg.api.terms import terms_of_values
from lscfg.bundle.places import confidence_of, number_formats
from lscfg.bundle.system import open_glossary
from lscfg.bundle.typed import TypedWords
from lscfg.closing import Closing
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Translated
from lscfg.decode.inputs import check_inputs
from lscfg.decode.memory import Memory, open_memory
from lscfg.decode.parsing import given_words
from lscfg.decode.recalled import StoredPair
from lscfg.decode.terms import Term, TermIndex
from lscfg.decode.why_not import WhyNot
from lscfg.errors import InputError, quote
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.marked import MODES
from lscfg.formats.weights import read_weights
from lscfg.kernel import words_fault
from lscfg.turns import in_turn


class Decoder(Closing):
    """Translates tokenised sentences by a decoder's configuration, in this process; threads wait for each other.

    Args:
        config: a ``cdec.ini``.
        weights: a file of feature weights, or the weights; None for the file that the configuration names.
        glossary: terms that translations obey: a file as in ``lscfg decode --glossary``, targets by source, or entries
            such as ``{"source": "Haus", "target": ["house", "home"], "mode": "soft"}``.
        corrections: a folder of corrections that translations use, created if missing, as in ``lscfg serve``.

    Raises:
        InputError: a file cannot be read or is malformed, there are no weights, or a weight is not finite.
        TypeError: an argument has another type.
    """

    def __init__(
        self,
        config: str | os.PathLike[str],
        weights: str | os.PathLike[str] | Mapping[str, float] | None = None,
        glossary: str | os.PathLike[str] | Mapping[str, Any] | Iterable[Any] | None = None,
        corrections: str | os.PathLike[str] | None = None,
    ):
        self._turn = threading.RLock()
        # from the root of the file system: the program may change its working directory
        self.config = absolute(check_path(config, "config"))
        given: dict[str, float] | str | None = None
        if isinstance(weights, Mapping):
            given = check_weights(weights, "weights")
        elif isinstance(weights, (str, os.PathLike)):
            given = check_path(weights, "weights")
        elif weights is not None:
            raise TypeError(
                f"weights must be the name of a file or weights by feature, not {brief(weights)}; give for example "
                "{'LanguageModel': 0.5}"
            )
        self.glossary: str | tuple[Term, ...] | None = None
        if isinstance(glossary, (str, os.PathLike)):
            self.glossary = absolute(check_path(glossary, "glossary"))
        elif glossary is not None:
            self.glossary = tuple(terms_of_values(glossary))
        glossaries = [self.glossary] if isinstance(self.glossary, str) else []
        self._files = OpenedFiles([*files_of_config(self.config), *glossaries])
        terms = None if self.glossary is None else open_glossary(self.glossary, self.config)
        self._terms = TermIndex() if terms is None else terms.index()
        self._decoder = EmbeddedDecoder.from_config(absolute_config(self.config), cached=0, needed=False)
        self._numbers = number_formats(self.config)
        self.corrections = None if corrections is None else absolute(check_path(corrections, "corrections"))
        self._memory, self._typed = None, TypedWords(self.config, {} if terms is None else terms.typed)
        if self.corrections is not None:
            self._memory = open_memory(self.corrections, self._decoder.align)
        if given is None:
            if self._decoder.config.weights is None:
                raise InputError("no weights; give them as the second argument, or with weights= in the ini", config)
            given = str(self._decoder.config.weights)
        self.weights = read_weights(given) if isinstance(given, str) else given
        named = given if isinstance(given, str) else "weights"
        self._decoder.names.check(self.weights, named)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy opens the same files again, with the same weights and corrections."""
        arguments = self.config, self.weights, self.glossary, self.corrections
        return reopened, (type(self), self._files.contents(), *arguments)

    @overload
    def translate(
        self, lines: Iterable[str], *, xml_input: str | None = None, grammar: Iterable[str] = ()
    ) -> list[str]: ...
    @overload
    def translate(
        self, lines: Iterable[str], k: int, xml_input: str | None = None, grammar: Iterable[str] = ()
    ) -> list[list[Hypothesis]]: ...

    def translate(
        self, lines: Iterable[str], k: int | None = None, xml_input: str | None = None, grammar: Iterable[str] = ()
    ) -> list[str] | list[list[Hypothesis]]:
        """The best translation of each sentence, or its k best with scores and features.

        Args:
            lines: sentences of words that blanks separate, lattices in PLF, or lines ``<seg grammar="FILE">``; an empty
                one has an empty translation.
            k: number of translations, 1 or more.
            xml_input: use of translations in Moses' tags, as for ``lscfg decode --xml-input``; None: tags are words.
            grammar: further rules for these lines, in cdec's format.

        Raises:
            InputError: a line contains a forbidden word or a malformed tag, a rule is malformed, or an argument is out
                of its range.
            TypeError: an argument has another type.
        """
        k = None if k is None else int(check_number(k, "k", 1))
        translated = self._translated(lines, 1 if k is None else k, xml_input, grammar)
        if k is None:
            return [self._typed.best(one) for one in translated]
        return [one.hypotheses for one in translated]

    def explain(
        self, lines: Iterable[str], xml_input: str | None = None, grammar: Iterable[str] = ()
    ) -> list[Translated]:
        """The best translation of each sentence with its derivation, the details of its words, and the terms in it.

        The details of a word are its linked source words, its posterior from 0 to 1, and its alternatives; also its
        confidence, if ``confidence.json`` lies next to the configuration and belongs to the weights.

        Args:
            lines, xml_input, grammar: as for ``translate``. Lattices get no details.

        Raises:
            InputError: as for ``translate``.
            TypeError: an argument has another type.
        """
        found = self._translated(lines, 1, xml_input, grammar, details=True, derivations=True)
        confidence = confidence_of(self.config, self.weights)
        return found if confidence is None else [confidence.judged(one) for one in found]

    @in_turn
    def why_not(self, source: str, wanted: str) -> WhyNot:
        """Compares a wanted translation with the decoder's, as ``lscfg inspect sentence --why-not`` does.

        Args:
            source, wanted: words that blanks separate, at most 60 each. Glossary and corrections do not count.

        Raises:
            InputError: a text is empty, too long, or contains a forbidden word.
            TypeError: an argument is not text.
        """
        texts = check_text(source, "source"), check_text(wanted, "wanted")
        for name, text in zip(("source", "wanted"), texts, strict=True):
            if fault := words_fault(text):
                raise InputError(fault, name)
        return self._open_decoder().why_not(*texts, self.weights, self._numbers)

    def _open_decoder(self) -> EmbeddedDecoder:
        """The decoder, which reads its files again after ``close``.

        Raises:
            InputError: a file was written since it was opened, or cannot be read.
        """
        if self._decoder.closed:
            self._files.check_unchanged()
        return self._decoder

    def _translated(
        self,
        lines: Iterable[str],
        k: int,
        xml_input: str | None,
        grammar: Iterable[str],
        details: bool = False,
        derivations: bool = False,
    ) -> list[Translated]:
        # before the turn: the caller's iterables may take time, or wait for another thread
        sentences, rules = check_lines(lines, "lines"), check_lines(grammar, "grammar")
        with self._turn:
            return self._translated_lines(sentences, rules, k, xml_input, details, derivations)

    def _translated_lines(
        self, sentences: list[str], rules: list[str], k: int, xml_input: str | None, details: bool, derivations: bool
    ) -> list[Translated]:
        decoder = self._open_decoder()
        given_words(rules, "grammar", decoder.grammar if rules else None)
        if xml_input is not None and check_text(xml_input, "xml_input") not in MODES:
            raise InputError(f"xml_input must be one of {', '.join(MODES)}, not {quote(xml_input)}")
        taught = bool(self._terms.terms) or self._memory is not None
        check_inputs(sentences, "lines", decoder.config, xml_input, bool(rules), taught)
        return list(
            decoder.translate(
                sentences,
                self.weights,
                k,
                derivations=derivations,
                details=details,
                terms=self._terms,
                memory=self._memory,
                xml_input=xml_input,
                numbers=self._numbers,
                rules=rules,
            )
        )

    @in_turn
    def correct(self, source: str, target: str) -> int:
        """Stores a correction in words, which later translations use; returns its number for ``undo``.

        Raises:
            InputError: the decoder has no folder of corrections, or a side is empty, is too long or
                contains a forbidden word.
            TypeError: an argument is not text.
        """
        source, target = check_text(source, "source"), check_text(target, "target")
        memory = self._opened_memory()
        self._open_decoder()  # its rules align the pair
        return memory.add(source, target)[0].id

    @in_turn
    def stored(self) -> list[StoredPair]:
        """The corrections in the order of their numbers, including those that other programs stored.

        Raises:
            InputError: the decoder has no folder of corrections, or the folder is damaged.
        """
        memory = self._opened_memory()
        memory.refresh()
        return memory.pairs

    @in_turn
    def undo(self, number: int) -> None:
        """Removes a correction.

        Raises:
            InputError: the decoder has no folder of corrections, or no correction has this number.
            TypeError: the argument is not a number.
        """
        self._opened_memory().undo(int(check_number(number, "number", 1)))

    def _opened_memory(self) -> Memory:
        if self._memory is None:
            raise InputError("the decoder has no folder of corrections; name one in Decoder(..., corrections=FOLDER)")
        return self._memory

    @in_turn
    def close(self) -> None:
        """Frees grammar and language model; a later ``translate`` reads them again, unless a file has changed."""
        self._decoder.close()

    def __repr__(self) -> str:
        return f"<Decoder {os.path.basename(self.config)}: {len(self._decoder.feature_names)} features>"
