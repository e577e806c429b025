"""Translation of one sentence at a time in a worker process: text or words in, JSON out."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import nsmallest
from typing import Any, NamedTuple

from lscfg.bundle.system import TranslationSystem
from lscfg.corpus.parallel import plain_fault
from lscfg.decode.derivations import Translated, derivation_objects
from lscfg.decode.inflected import ModelPhrases
from lscfg.decode.inputs import marked_terms
from lscfg.decode.memory import LastingMemory, open_lasting_memory
from lscfg.decode.parsing import given_words
from lscfg.decode.recalled import Aligner
from lscfg.decode.taught import conflicts
from lscfg.decode.terms import MOST_WORDS, ChosenSpan, Occurrence, Term, find_terms
from lscfg.errors import InputError, LscfgError, quote
from lscfg.formats.rule_index import SOURCE
from lscfg.kernel import Grammar, words_fault
from lscfg.log import held_back
from lscfg.parallel.worker import keep
from lscfg.prepare.limits import length_fault
from lscfg.prepare.numbers import NumberFormats
from lscfg.prepare.sentences import Undivided
from lscfg.prepare.sides import Side
from lscfg.prepare.untouched import lost_parts, untouched_parts
from lscfg.serve.detection import LanguageDetection
from lscfg.serve.lattices import BadSentenceError, LongSentenceError, lattice_words, path_words
from lscfg.serve.shown import GivenTerms, ShownTranslation, detail_objects, given_terms
from lscfg.serve.stored import sentence_count, stored_source
from lscfg.serve.tagged import Tags, untagged
from lscfg.study.comparison import comparison_object

NOT_OF_LATTICES = ("the service's glossary and corrections do not apply to lattices",)

CURE = 'requests of the service send lattices with "input": "plf", and rules as "grammar"'
"""Cure for sentences in cdec's other forms of input."""

SPARE = 2
"""Translations that are searched per distinct text of a list, since restoring makes some texts equal."""


@dataclass(frozen=True)
class TranslationOptions:
    """The options of a request for translation."""

    kbest: int | None = None
    """Length of the k-best list; None: the best translation only."""
    derivations: bool = False
    """Return derivations."""
    raw: bool = False
    """Prepare the text before the translation, and restore the text of the translation."""
    max_words: int = 1
    """Maximal number of words."""
    details: bool = False
    """Return details of the words of the translation."""
    terms: tuple[Term, ...] = ()
    """Glossary of the request, before the glossary of the system."""
    choices: tuple[ChosenSpan, ...] = ()
    """Translations of spans of the sentence."""
    xml_input: str | None = None
    """Use of Moses' tags in the sentence, as for ``marked_terms``; None: tags are text."""
    lattice: bool = False
    """The sentence is a lattice in PLF."""
    rules: tuple[str, ...] = ()
    """Further rules, lines of a grammar in the words of the system."""
    distinct: bool = False
    """The translations of the k-best list differ in their texts."""

    @property
    def texts(self) -> list[str]:
        """The texts of rules, terms and choices."""
        terms = [text for term in self.terms for text in (term.source, *term.targets)]
        return [*self.rules, *terms, *(choice.target for choice in self.choices)]


class Answered(NamedTuple):
    """A translated sentence."""

    answer: dict[str, Any]
    """A JSON object, see docs/guides/serving.md."""
    words: int
    """Number of words of the sentence."""
    unknown: int
    """Number of these words that no rule of the grammar, no term and no correction contains."""
    fault: str = ""
    """The reason why the latest corrections are not used, with a path, so not for clients; see ``LastingMemory``."""


class Translator:
    """An open system, with the recipe of its source side, if any, as ``source``.

    Raises:
        InputError: see ``TranslationSystem.decoder`` and ``SideRecipe.side``.
    """

    def __init__(self, system: TranslationSystem):
        self._weights, self._unique = system.weights, system.config.unique_k_best
        self._decoder = system.decoder()
        self._sides = tuple(recipe.side() for recipe in system.preparation.sides) if system.preparation else None
        self.source = system.preparation.sides[0] if system.preparation else None
        self._phrases = ModelPhrases(system.config)
        languages = [recipe.language for recipe in system.preparation.sides] if system.preparation else ["", ""]
        self._numbers = NumberFormats.of(languages[0], languages[1])
        self._known = self._decoder.known_words(SOURCE)
        self._languages = LanguageDetection(system, self._decoder, self._known, self._sides)
        self._glossary, self._confidence = system.glossary, system.confidence
        self._whole = Undivided(term.source for term in self._glossary)
        self._memory = _opened_memory(system, self._decoder.align, self._sides)
        self.rules = len(self._decoder.grammar) if self._decoder.lists_rules else None

    def warm(self) -> None:
        """Translates a word, so that processes forked later need not load what the first translation loads."""
        words = map(self._decoder.grammar.vocab.word, nsmallest(1, self._known))
        with held_back(), suppress(LscfgError):
            list(self._decoder.translate(words, self._weights))

    def __call__(self, text: str, options: TranslationOptions) -> Answered:
        """The translation of a sentence.

        Raises:
            BadSentenceError: the text is not a sentence of words or is too long, or the rules do not fit.
            InputError: a score is not finite.
        """
        sides, lattice, tags = self._sides if options.raw else None, options.lattice, None
        known = _given_words(options.rules, self._decoder.grammar)
        if lattice:
            words = lattice_words(text, options.max_words, None if sides is None else sides[0])
            given = GivenTerms(warnings=NOT_OF_LATTICES if self._glossary or self._memory else ())
        else:
            try:
                text, words, tags = untagged(text, options.xml_input, sides, lambda plain: self._words(plain, options))
            except InputError as error:
                raise BadSentenceError(str(error)) from None
            words = _with_spans(words, options.choices) if sides else words
            given = self._terms(text, words, options, tags)
        found = self._translated(words, options, given, tags)
        if sides and not lattice and tags is None and found.answered is None and (apart := _stop_apart(words)) != words:
            other = self._terms(text, apart, options, None)
            if _ends(other, apart, 1) and not _ends(given, words, 0):
                words, given = apart, other
                found = self._translated(words, options, given, None)
        best, tokens = found.hypotheses[0], path_words(found) if lattice else words.split()
        if lattice:
            text = words = " ".join(tokens)
        shown = ShownTranslation.of(text, tokens, best.text, found.terms, given, sides)
        if found.answered is not None and found.answered.typed and sides:
            shown = shown.with_text(found.answered.typed, best.text)
        answer: dict[str, Any] = {"translation": shown.text, "score": best.score}
        if options.raw or lattice:
            answer |= {"source_words": words, "words": best.text}
        unknown = {k for k in self._unknown(tokens, found.taught) if tokens[k] not in known}
        warnings = [*_warnings(found), *given.warnings, *_conflicts(found, sides, shown)]
        if sides is not None:
            warnings += _lost(text, shown.text, sides[0], self._numbers)
        listed = [*dict.fromkeys(tokens[k] for k in sorted(unknown))]
        answer |= {"parsed": not found.unparsed, "unknown": listed, "warnings": warnings}
        if options.terms or options.choices or tags is not None or self._glossary:
            answer["terms"] = shown.terms
        if self._memory is not None:
            answer["memory"] = self._recalled(found, options)
        if options.kbest is not None:
            answer["kbest"] = self._listed(found, options)
        if options.derivations:
            answer["derivations"] = derivation_objects(found)
        if options.details:
            answer["details"] = detail_objects(found, shown, unknown, sides, self._confidence)
        return Answered(answer, len(tokens), len(unknown), self._memory.fault if self._memory is not None else "")

    def _translated(self, words: str, options: TranslationOptions, given: GivenTerms, tags: Tags | None) -> Translated:
        """The translations of a sentence or lattice of words."""
        try:
            with held_back():  # warnings about the sentence go into the answer
                (found,) = self._decoder.translate(
                    [words],
                    self._weights,
                    (options.kbest or 1) * (SPARE if options.distinct else 1),
                    self._unique or options.distinct,
                    options.derivations or options.lattice,
                    details=options.details,
                    terms=given.index,
                    choices=given.choices,
                    memory=None if options.lattice else self._memory,
                    numbers=self._numbers,
                    xml_input=(options.xml_input, tags.line) if options.xml_input and tags else None,
                    rules=options.rules,
                )
            return found
        except InputError as error:
            if error.path is None and (options.lattice or options.rules):  # their own costs or features
                raise BadSentenceError(str(error)) from None
            raise

    def _unknown(self, tokens: list[str], taught: Iterable[int]) -> set[int]:
        """Positions of the words that no rule contains."""
        find = self._decoder.grammar.vocab.find
        return {k for k, word in enumerate(tokens) if find(word) not in self._known}.difference(taught)

    def _listed(self, found: Translated, options: TranslationOptions) -> list[dict[str, Any]]:
        """The k-best list as JSON."""
        listed = [
            {"translation": self._restored(one.text, options), "score": one.score, "features": one.features}
            for one in found.hypotheses
        ]
        if not options.distinct:
            return listed
        first = {one["translation"]: one for one in reversed(listed)}
        return sorted(first.values(), key=listed.index)[: options.kbest]

    def _recalled(self, found: Translated, options: TranslationOptions) -> dict[str, Any]:
        """The pairs of the memory for a sentence, as JSON."""
        similar = [
            {
                "id": pair.id,
                "source": pair.source,
                "target": (options.raw and pair.typed) or self._restored(pair.target, options),
                "similarity": float(f"{similarity:.6g}"),
            }
            for pair, similarity in found.recalled.similar
        ]
        return {"id": found.answered.id if found.answered else None, "similar": similar}

    def correct(self, source: str, target: str, options: TranslationOptions) -> dict[str, int]:
        """Stores a corrected pair, and returns its number and its count of rules.

        Raises:
            BadSentenceError: a side cannot be stored.
        """
        assert self._memory is not None
        words, typed = self._words(source, options), ""
        if options.raw and self._sides is not None:
            _refuse_several(source, self._sides[0], self._whole, "store each of them with its translation")
            if "\0" in target or length_fault(target):
                raise BadSentenceError("target: contains a NUL character or is too long")
            text = self._sides[1].clean(target)
            target = self._sides[1].encode(target)
            typed = text if self._sides[1].decode(target) != text else ""
        try:
            pair, rules = self._memory.add(words, target, typed)
        except InputError as error:
            if error.path is not None:  # of the journal, not of the pair
                raise
            raise BadSentenceError(str(error)) from None
        return {"id": pair.id, "rules": rules}

    def why_not(self, source: str, wanted: str, options: TranslationOptions) -> dict[str, Any]:
        """Compares a wanted translation with the decoder's, without glossary and corrections, as JSON.

        Raises:
            BadSentenceError: a side is not a sentence of words, or is too long.
        """
        words, sides = self._words(source, options), self._sides if options.raw else None
        if sides is not None:
            _refuse_several(source, sides[0], self._whole, "ask for each of them")
            if "\0" in wanted or length_fault(wanted):
                raise BadSentenceError("wanted: contains a NUL character or is too long")
            wanted = sides[1].encode(wanted)
        if fault := words_fault(wanted) or plain_fault(wanted):
            raise BadSentenceError(f"wanted: {fault}")
        try:
            with held_back():
                found = comparison_object(self._decoder.why_not(words, wanted, self._weights, self._numbers))
        except InputError as error:
            raise BadSentenceError(str(error)) from None
        if sides is not None:
            for key in ("wanted", "chosen"):
                found[key] = sides[1].decode(found[key])
            for rule in (*(found["first"] or ()), *found["missing"]):
                rule["source"], rule["target"] = sides[0].join(rule["source"]), sides[1].join(rule["target"])
        return found

    def stored(self, after: int, most: int, options: TranslationOptions) -> list[dict[str, Any]]:
        """The first stored pairs with numbers above ``after``, at most ``most``, as JSON.

        Raises:
            InputError: see ``Memory.page``.
        """
        assert self._memory is not None
        sides = self._sides if options.raw else None
        return [
            {
                "id": pair.id,
                "source": pair.source if sides is None else stored_source(pair.source, sides[0], self._whole),
                "target": (options.raw and pair.typed) or self._restored(pair.target, options),
                "time": pair.time or None,
            }
            for pair in self._memory.page(after, most)
        ]

    def undo(self, number: int) -> bool:
        """Removes a stored pair; False if there is none with that number."""
        assert self._memory is not None
        self._memory.refresh()
        if number not in self._memory:
            return False
        self._memory.undo(number)
        return True

    def detected(self, text: str, options: TranslationOptions) -> list[tuple[int, float]]:
        """The sides in whose languages a text can be, see ``LanguageDetection.detected``."""
        return self._languages.detected(text, options.max_words, options.raw)

    def _words(self, text: str, options: TranslationOptions) -> str:
        if "\0" in text:
            raise BadSentenceError("contains a NUL character")
        if too_long := length_fault(text):
            raise LongSentenceError(too_long)
        _check_words(text, options)
        if options.raw and self._sides is not None:
            text = self._sides[0].encode(text)
            _check_words(text, options)
        if fault := plain_fault(text, CURE) or words_fault(text):
            raise BadSentenceError(fault)
        return text

    def _terms(self, text: str, words: str, options: TranslationOptions, tags: Tags | None) -> GivenTerms:
        """The terms and choices of a request and of the system, in words.

        Raises:
            BadSentenceError: a choice or a term does not fit.
        """
        own = options.raw == (self._sides is not None)  # the glossary of the system is text for its preparation
        sides, marked = self._sides if options.raw else None, list[Occurrence]()
        untouched = _untouched(text, sides[0], self._numbers) if sides else []
        glossaries = options.terms, self._glossary if own else ()
        try:
            given = given_terms(glossaries, options.choices, text, words, sides, self._phrases, untouched)
            if tags is not None and options.xml_input is not None:
                given = replace(given, typed={**given.typed, **tags.typed})
                marked = marked_terms(tags.line.spans, options.xml_input)
            find_terms(words.split(), (), given.choices, marked)
        except InputError as error:
            raise BadSentenceError(str(error)) from None
        return given

    def _restored(self, words: str, options: TranslationOptions) -> str:
        return self._sides[1].decode(words) if options.raw and self._sides is not None else words


def _opened_memory(system: TranslationSystem, align: Aligner, sides: tuple[Side, ...] | None) -> LastingMemory | None:
    if system.memory is None:
        return None
    return open_lasting_memory(system.memory, align, None if sides is None else sides[1].decode)


def _conflicts(found: Translated, sides: tuple[Side, ...] | None, shown: ShownTranslation) -> list[str]:
    if sides is None:
        return conflicts(found)
    return conflicts(found, sides[0].join, sides[1].join, shown.source_of)


def _stop_apart(words: str) -> str:
    """The words; a full stop that the tokeniser left at the end of the last one, as in ``Node.js.``, is another one."""
    return f"{words[:-1]} ." if words.endswith(".") and words[-2:-1].strip(" .") else words


def _with_spans(words: str, choices: Iterable[ChosenSpan]) -> str:
    """The words in which an answer gave the spans of choices, see ``_stop_apart``."""
    return _stop_apart(words) if any(span[1] > len(words.split()) for span, _ in choices) else words


def _ends(given: GivenTerms, words: str, after: int) -> bool:
    """True if a term ends so many words before the end."""
    tokens = words.split()
    return any(one.span[1] == len(tokens) - after for one in given.index.find(tokens).occurrences)


def _check_words(text: str, options: TranslationOptions) -> None:
    if (count := len(text.split())) > options.max_words:
        raise LongSentenceError(f"has {count} words; at most {options.max_words} are translated")


def _refuse_several(source: str, side: Side, whole: Undivided, cure: str) -> None:
    """Refuses a source of several sentences.

    Raises:
        BadSentenceError: the source has several sentences.
    """
    if (count := sentence_count(source, side, whole)) > 1:
        raise BadSentenceError(f"source: {count} sentences; {cure}")


def _untouched(text: str, source: Side, numbers: NumberFormats | None) -> list[Term]:
    """Terms that keep addresses, placeholders and the like."""
    parts = untouched_parts(source.clean(text), numbers)
    return [Term(part, (), "keep") for part in parts if len(source.encode(part).split()) <= MOST_WORDS]


def _lost(text: str, translation: str, source: Side, numbers: NumberFormats | None) -> list[str]:
    """Warnings of numbers, addresses and the like that a translation lacks."""
    return [f"the translation lacks {quote(part)}" for part in lost_parts(source.clean(text), translation, numbers)]


@lru_cache(1)
def _given_words(rules: tuple[str, ...], system: Grammar) -> frozenset[str]:
    """See ``given_words``.

    Raises:
        BadSentenceError: a line is not a rule, or no derivation can contain it.
    """
    try:
        return given_words(rules, "grammar", system)
    except InputError as error:
        raise BadSentenceError(str(error)) from None


def _warnings(found: Translated) -> list[str]:
    if not found.unparsed:
        return []
    return [found.unparsed + ("; its words are passed through" if found.sentence.strip() else "")]


# ---- in any process ----


@dataclass(frozen=True)
class SystemWork:
    """Work for a worker, with the system that does it."""

    key: str
    """Key of the system."""
    system: bytes
    """The system, pickled."""

    def translator(self) -> Translator:
        """See ``open_translator``."""
        return open_translator(self.key, self.system)


@dataclass(frozen=True)
class SentenceWork(SystemWork):
    """A sentence to translate."""

    text: str
    options: TranslationOptions

    @property
    def size(self) -> int:
        """Bytes of the texts whose words the worker remembers."""
        return sum(len(text.encode()) for text in (self.text, *self.options.texts))


def open_translator(key: str, system: bytes) -> Translator:
    """The translator that this worker keeps for the key, made if necessary; workers forked later keep it, too.

    Raises:
        InputError: see ``Translator``.
    """
    return keep("translator", key, lambda: Translator(pickle.loads(system)))


def translate_sentence(work: SentenceWork) -> Answered:
    """Translates the sentence by the translator of its system."""
    return work.translator()(work.text, work.options)


def detect_language(work: SentenceWork) -> list[tuple[int, float]]:
    """The sides in whose languages the text can be, see ``Translator.detected``."""
    return work.translator().detected(work.text, work.options)
