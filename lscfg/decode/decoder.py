"""The embedded decoder: grammar, language model and latent features in one process, for tuning without cdec.

Tuning decodes a development set many times under changing weights. The forest and the features of its rule applications
do not depend on the weights, so the decoder keeps them for each distinct sentence.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from lscfg import log
from lscfg.decode.derivations import Translated, split_words
from lscfg.decode.inputs import UNTAUGHT, marked_terms, segment_words
from lscfg.decode.latent import Improper, LatentFeatures
from lscfg.decode.names import FeatureNames
from lscfg.decode.opened import OpenedDecoder
from lscfg.decode.parsing import given_words, index_of
from lscfg.decode.recalled import NOTHING, Aligner, Links
from lscfg.decode.request import Answer, ProviderSource, Request, SentenceGraph, Translations, request_of
from lscfg.decode.sentence import own_decoder
from lscfg.decode.sentence_rules import added_weights
from lscfg.decode.terms import ChosenSpan, Occurrence, Term, TermIndex
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, LatentFeature, read_ini
from lscfg.formats.kbest import HypothesisList
from lscfg.formats.marked import ANY_ORDER, MarkedLine, read_marked
from lscfg.formats.plf import is_lattice
from lscfg.formats.rule_index import SOURCE
from lscfg.formats.segments import segment_text, with_text
from lscfg.kernel import Grammar
from lscfg.later import later
from lscfg.parallel.engine import Arriving, Engine

if TYPE_CHECKING:
    from lscfg.decode import why_not as comparing
    from lscfg.decode.memory import Memory
    from lscfg.prepare.numbers import NumberFormats
else:
    comparing = later("lscfg.decode.why_not")

CACHED = 4 << 30
"""Bytes of forests to keep, since tuning decodes the same sentences again and again."""


class EmbeddedDecoder:
    """Decodes as cdec does with the same configuration: exhaustive parse, then cube pruning with the language model.

    Unlike cdec, the decoder parses a sentence without a parse again with Hiero's glue rules.

    Each worker reads grammar and models, unless forked from a process that has read them, and keeps both and the
    forests of its sentences until the engine is closed or works for another decoder. A context manager. Only one thread
    may use it at a time.

    Args:
        config: settings of an ini file; the caller takes care of ``weights``, ``k_best`` and ``latent``.
        provider: source of further features of rule applications; None: no further features.
        engine: shares out the sentences, and is closed by the caller; None: this process. Results do not depend on it.
        cached: upper limit in bytes of the forests that all workers keep together.
        needed: refuse a configuration without a grammar, even if lines name grammars.

    Attributes:
        feature_names: features of a hypothesis in the order of the columns of ``Translations.features``.
        live_features: features without those that are 0 in every rule, which need no weight.

    Raises:
        InputError: a file cannot be read or is malformed.
        TypeError: the provider cannot be sent to the workers of the engine.
    """

    def __init__(
        self,
        config: DecoderConfig,
        provider: ProviderSource | None = None,
        engine: Engine | None = None,
        cached: int = CACHED,
        needed: bool = True,
    ):
        self.config = config
        self._improper = Improper()
        self._opened = OpenedDecoder(config, provider, engine, cached, needed)
        self.feature_names, self.live_features = self._opened.feature_names, self._opened.live_features

    @property
    def names(self) -> FeatureNames:
        """Names of the features, for checks of weights."""
        return FeatureNames(self.feature_names, self.live_features, self.config.feature_heads)

    @property
    def align(self) -> Aligner:
        """Links of the words of two sentences by the grammar's rules, in a decoder without an engine."""
        return partial(_links, self._opened)

    @property
    def closed(self) -> bool:
        """True after ``close`` without an engine, until a later use opens the files again."""
        return self._opened.closed

    @property
    def grammar(self) -> Grammar:
        """The grammar."""
        return self._opened.grammar

    @property
    def lists_rules(self) -> bool:
        """False if an index gives the rules of each sentence, so that the grammar lacks them."""
        return index_of(self.config) is None

    def known_words(self, side: int) -> frozenset[int]:
        """Numbers of the words of a side, ``SOURCE`` or ``TARGET``, of the grammar and of the text of an index."""
        return self._opened.known_words(side)

    @classmethod
    def from_ini(
        cls, path: str | os.PathLike[str], engine: Engine | None = None, cached: int = CACHED, needed: bool = True
    ) -> EmbeddedDecoder:
        """The decoder of a cdec.ini with its latent features.

        Raises:
            InputError: the ini or one of its files cannot be read or is malformed.
        """
        return cls.from_config(read_ini(path), engine, cached, needed)

    @classmethod
    def from_config(
        cls, config: DecoderConfig, engine: Engine | None = None, cached: int = CACHED, needed: bool = True
    ) -> EmbeddedDecoder:
        """The decoder of a configuration that has been read.

        Raises:
            InputError: one of its files cannot be read or is malformed.
        """
        provider: ProviderSource | None = None
        if config.latent is not None:
            provider = partial(_latent_features, config.latent, config.path or "")
        return cls(config, provider, engine, cached, needed)

    def __enter__(self) -> EmbeddedDecoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._opened.close()

    def close(self) -> None:
        """Warns of values that are not probabilities, and frees grammar and models if possible."""
        self._opened.close()
        if self._opened.latent_options is not None:
            self._improper.report(self._opened.latent_options)

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int = 1, unique: bool = False
    ) -> list[HypothesisList]:
        """The k-best list of each sentence, without features that are 0. Arguments are those of ``decode_arrays``."""
        return [self._hypotheses(found) for found in self.decode_arrays(sentences, weights, k, unique)]

    def _hypotheses(self, found: Translations) -> HypothesisList:
        names = self.feature_names + found.own_names
        return HypothesisList(names, found.texts, found.features, found.scores)

    def decode_arrays(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int = 1, unique: bool = False
    ) -> list[Translations]:
        """The k-best list of each sentence.

        A sentence without a parse yields its own words, and an empty one the empty translation, as one hypothesis with
        score and features 0, and a warning.

        Args:
            sentences: source sentences, words separated by blanks.
            weights: by feature name; missing weights are 0, and unknown names are ignored.
            k: largest number of hypotheses of a sentence.
            unique: only the best derivation of each translation.

        Raises:
            InputError: a weight or a score is not finite, or k is not positive.
            KernelError: a worker died; the sentence is named.
        """
        return [found for found, _ in self._decode(sentences, request_of(self.feature_names, weights, k, unique))]

    def translate(
        self,
        sentences: Iterable[str],
        weights: Mapping[str, float],
        k: int = 1,
        unique: bool = False,
        derivations: bool = False,
        arriving: Arriving | None = None,
        details: bool = False,
        terms: Iterable[Term] | TermIndex = (),
        choices: Sequence[ChosenSpan] = (),
        memory: Memory | None = None,
        xml_input: str | tuple[str, MarkedLine] | None = None,
        numbers: NumberFormats | None = None,
        rules: Sequence[str] = (),
    ) -> Iterator[Translated]:
        """The k-best list of each sentence, optionally with derivations; few sentences are in memory at a time.

        Args:
            sentences, weights, k, unique: as for ``decode_arrays``.
            details: compute the details of the words of the best translation.
            terms: glossary, see ``TermIndex``. The weight of soft terms is ``Terminology``, or 1.
            choices: translations of spans, for each sentence.
            memory: answers equal sentences, and gives rules and frames with features of ``ADDED`` to others.
            arriving: signals the next sentence of a stream; a list does not wait for later sentences.
            xml_input: use of Moses' tags in sentences, as for ``marked_terms``, or that and their tags; None: words.
            numbers: formats of both languages; numbers that no rule contains change theirs before the search.
            rules: further rules for all sentences, lines of a grammar; see ``given_words``.

        Raises:
            InputError: as ``decode_arrays``; a choice is no span, has no target or overlaps another; a bad tag.
            KernelError: as ``decode_arrays``.
        """
        request = request_of(self.feature_names, weights, k, unique, derivations=derivations, details=details)
        request = request._replace(added_weights=added_weights(weights), rules=tuple(rules))
        index = terms if isinstance(terms, TermIndex) else TermIndex(terms)
        requests = _with_numbers(_requests(request, sentences, index, choices, memory, xml_input), numbers, self, rules)
        for text, own, answer in self._checked(requests, arriving):
            yield answer.translated(text, list(self._hypotheses(answer.translations)), own)

    def why_not(
        self, sentence: str, wanted: str, weights: Mapping[str, float], numbers: NumberFormats | None = None
    ) -> comparing.WhyNot:
        """Compares a wanted translation of a sentence with the decoder's, in a decoder without an engine.

        Args:
            numbers: as for ``translate``.

        Raises:
            InputError: as in ``lscfg.decode.why_not.why_not``.
            ValueError: the decoder has an engine.
        """
        here = self._opened.here
        if here is None:
            raise ValueError("a decoder with an engine cannot compare translations")
        plain = (sentence, request_of((), {}, 1, False))
        ((text, _),) = _with_numbers([plain], numbers, self, ())
        return comparing.why_not(own_decoder(here, text), weights, text, wanted)

    def decode_graphs(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool, edges_per_word: int
    ) -> tuple[list[HypothesisList], list[SentenceGraph | None]]:
        """The lists of ``decode``, and the hypergraph of each sentence, None without a parse.

        Args:
            edges_per_word: edges kept for each word of the source, at least 1, ranked by their best derivations.

        Raises:
            InputError: as ``decode_arrays``; ``edges_per_word`` is less than 1, or the configuration has further
                language models or a ``WordFunction``.
        """
        if edges_per_word < 1:
            raise InputError(f"edges_per_word must be 1 or more, not {edges_per_word}")
        if self.config.further_models:
            raise InputError("a hypergraph has the features of one language model; tune with another optimiser")
        if state := next((one.name for one in self.config.functions if one.of_words() is not None), None):
            raise InputError(f"a hypergraph has no features of {state}; tune with another optimiser")
        results = self._decode(sentences, request_of(self.feature_names, weights, k, unique, edges_per_word))
        return [self._hypotheses(found) for found, _ in results], [graph for _, graph in results]

    def _decode(self, sentences: Sequence[str], request: Request) -> list[tuple[Translations, SentenceGraph | None]]:
        answers = self._checked((text, request) for text in sentences)
        return [(found.translations, found.graph) for *_, found in log.progress(answers, "decoding", len(sentences))]

    def _checked(
        self, requests: Iterable[tuple[str, Request]], arriving: Arriving | None = None
    ) -> Iterator[tuple[str, Request, Answer]]:
        for number, (text, request, answer) in enumerate(self._opened.answers(requests, arriving), 1):
            if not np.isfinite(answer.translations.scores).all():
                raise InputError(f"sentence {number} has a score that is not finite; give smaller weights")
            if answer.improper is not None:
                self._improper.add(answer.improper)
            yield text, request, answer


def _requests(
    request: Request,
    sentences: Iterable[str],
    index: TermIndex,
    choices: Sequence[ChosenSpan],
    memory: Memory | None,
    xml_input: str | tuple[str, MarkedLine] | None,
) -> Iterator[tuple[str, Request]]:
    """The request of each sentence. Glossary and memory may be large, so workers get only a sentence's part of them."""
    mode, tags = xml_input if isinstance(xml_input, tuple) else (xml_input, None)
    for number, text in enumerate(sentences, 1):
        recalled, marked, order = NOTHING, list[Occurrence](), ANY_ORDER
        plain = segment_text(text)
        if mode is not None and not is_lattice(plain):
            words, spans, given = tags or read_marked(plain)
            plain, text, marked = words, text.replace(plain, words), marked_terms(spans, mode)
            order = ANY_ORDER if mode == "ignore" else given
        if is_lattice(plain) and (index.terms or choices or memory is not None):
            raise InputError(f"sentence {number} is {UNTAUGHT}")
        if memory is not None:
            memory.refresh()
            recalled = memory.recall(plain)
        terms = index.find(split_words(plain), choices, marked)
        folder = None if memory is None else memory.path.parent
        yield text, request._replace(terms=terms, recalled=recalled, order=order, corrections=folder)


def _with_numbers(
    requests: Iterable[tuple[str, Request]],
    formats: NumberFormats | None,
    decoder: EmbeddedDecoder,
    rules: Sequence[str],
) -> Iterator[tuple[str, Request]]:
    """The requests with numbers that no rule contains in the target language, in segments, too; lattices stay."""
    if formats is None:
        yield from requests
        return
    known: frozenset[int] | None = None
    own = given_words(rules, "rules")
    for text, request in requests:
        plain = segment_text(text)
        words = split_words(plain)
        changed = [formats.converted(word, before) for before, word in itertools.pairwise(["", *words])]
        if changed != words and not is_lattice(plain):
            known = decoder.known_words(SOURCE) if known is None else known
            find, kept = decoder.grammar.vocab.find, own | segment_words(text, decoder.config)
            kept |= {rule.source for rule in request.recalled.rules}  # numbers that a correction translates
            pairs = zip(words, changed, strict=True)
            text = with_text(text, " ".join(w if w in kept or find(w) in known else other for w, other in pairs))
        yield text, request


def _links(opened: OpenedDecoder, source: Sequence[str], target: Sequence[str]) -> Links:
    here = opened.here
    assert here is not None
    return own_decoder(here, " ".join(source)).links.of_words(source, target)


def _latent_features(feature: LatentFeature, ini: str | os.PathLike[str], grammar: Grammar) -> LatentFeatures:
    return LatentFeatures.from_ini(feature, grammar, ini, marginals=False)
