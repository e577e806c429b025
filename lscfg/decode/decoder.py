"""The embedded decoder: grammar, language model and latent features in one process, for tuning without cdec.

A development set is decoded many times under changing weights. What does not depend on the weights, the forest and the
features of its rule applications, is therefore kept for each distinct sentence.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.kernel import Forest, Grammar, ParseOptions, S
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import Hypergraph, KBest, SearchOptions, search, search_hypergraph
from lscfg.parallel.workers import WorkerPool

WORD_PENALTY = -1 / math.log(10)
"""cdec's WordPenalty of one target word."""

CACHED = 4000
"""Sentences whose forests are kept for the next time: what a tuning asks for again and again."""


class FeatureProvider(Protocol):
    """Features of rule applications that depend on the whole forest, but not on the weights."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""

    def features(self, forest: Forest) -> np.ndarray:
        """Their values, float64 [n_apps, len(names)]; those of a derivation are the sums over its applications."""


@dataclass(frozen=True)
class Translations:
    """The k-best list of one sentence as arrays, best first.

    Attributes:
        texts: n translations, words separated by a blank.
        scores: float64 [n], model scores.
        features: float64 [n, F], columns as ``EmbeddedDecoder.feature_names``.
    """

    texts: list[str]
    scores: np.ndarray
    features: np.ndarray


@dataclass(frozen=True)
class SentenceGraph:
    """The best part of the hypergraph of one sentence's search, with the features of its edges.

    Attributes:
        graph: the hypergraph; its words are numbers in ``words``.
        words: words by number.
        names: names of the features.
        features: float64 [edges, F]; those of a derivation are the sums over its edges.
    """

    graph: Hypergraph
    words: tuple[str, ...]
    names: tuple[str, ...]
    features: np.ndarray


@dataclass(frozen=True)
class _Sentence:
    """What is kept of a sentence; ``forest`` is None where it has no parse."""

    text: str
    forest: Forest | None
    penalties: np.ndarray  # WordPenalty of each application
    extra: np.ndarray | None  # [n_apps, F]


class EmbeddedDecoder:
    """Decodes as cdec does with the same configuration: exhaustive parse, then cube pruning with the language model.

    One thing is more than cdec does: a sentence that has no parse without Hiero's glue rules is parsed with them.

    A context manager; ``close`` ends the worker processes. Not to be used by two threads at once.

    Args:
        config: what an ini file says; its ``weights``, ``k_best`` and ``latent`` are left to the caller.
        provider: further features of the rule applications, None for none. It must expect forests of ``grammar``.
        grammar: what ``read_grammar(config)`` gave, if the caller has need of it already.
        jobs: processes that share the sentences; results do not depend on it.
        cached: sentences, at most, whose forests are kept.

    Attributes:
        grammar: the grammar.
        feature_names: the features of a hypothesis in the order of the columns of ``Translations.features``.

    Raises:
        InputError: a file cannot be read or is malformed.
    """

    def __init__(
        self,
        config: DecoderConfig,
        provider: FeatureProvider | None = None,
        grammar: Grammar | None = None,
        jobs: int = 1,
        cached: int = CACHED,
    ):
        if jobs < 1:
            raise InputError(f"jobs must be 1 or more, not {jobs}")
        if grammar is None and not config.grammars:
            raise InputError("the configuration names no grammar; add grammar=FILE")
        self.config = config
        self.grammar = read_grammar(config) if grammar is None else grammar
        self._provider = provider
        self._cached = cached
        self._ways = parse_options(config, self.grammar)
        self._model = None
        if config.language_model is not None:
            self._model = LanguageModel(config.language_model, self.grammar.vocab)
        self._lay_out_features()
        self._words: list[str] = []
        self._sentences: dict[str, _Sentence] = {}
        self._warned: set[str] = set()
        self._pool = WorkerPool(jobs, self._decode_here) if jobs > 1 else None

    def _lay_out_features(self) -> None:
        """Gives each feature a column. A feature of a rule may have the name of another one: values add up."""
        columns: dict[str, int] = {}

        def column(name: str) -> int:
            return columns.setdefault(name, len(columns))

        indptr, indices, values = self.grammar.features()
        mapping = np.array([column(name) for name in self.grammar.feature_names], np.int64)
        self._rule_penalty = np.full(len(self.grammar) + 3, np.nan)  # target words are counted when a rule is met
        self._rule_penalty[-3:] = 0, 0, WORD_PENALTY
        # the rules behind those of the grammar: glue over one node, glue over two, pass-through
        indptr = np.concatenate([indptr, indptr[-1] + np.array([0, 1, 2])])
        indices = np.concatenate([mapping[indices], [column("Glue"), column("PassThrough")]])
        values = np.concatenate([values, [1.0, 1.0]])
        self._penalty_column = column("WordPenalty") if self.config.word_penalty else None
        self._lm_columns: list[int] = []
        if self._model is not None:
            name = self.config.language_model_name
            self._lm_columns = [column(name), column(name + "_OOV")]
        names = () if self._provider is None else self._provider.names
        self._extra_columns = np.array([column(name) for name in names], np.int64)
        if len(set(names)) < len(names):
            raise ValueError(f"the provider names a feature twice: {names}")
        self._rules = sparse.csr_array((values, indices, indptr), shape=(len(indptr) - 1, len(columns)))
        self.feature_names = tuple(columns)

    @classmethod
    def from_ini(cls, path: str | os.PathLike[str], jobs: int = 1, cached: int = CACHED) -> EmbeddedDecoder:
        """The decoder of a cdec.ini, with the latent features that it asks for.

        Raises:
            InputError: the ini or a file that it names cannot be read or is malformed.
        """
        config = read_ini(path)
        grammar = read_grammar(config)
        provider = None
        if config.latent is not None:
            provider = LatentFeatures.from_ini(config.latent, grammar, path, marginals=False)
        return cls(config, provider, grammar, jobs, cached)

    def __enter__(self) -> EmbeddedDecoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif self._pool is not None:  # what a process that was killed has noticed cannot be asked for
            self._pool.close()

    def close(self) -> None:
        """Ends the worker processes (the next call would start new ones) and lets the provider say what it noticed."""
        if self._pool is not None:
            self._pool.close()
        if isinstance(self._provider, LatentFeatures):
            self._provider.report()

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int = 1, unique: bool = False
    ) -> list[list[Hypothesis]]:
        """The k-best list of each sentence, features that are 0 left out. Arguments as of ``decode_arrays``."""
        return [self._hypotheses(found) for found in self.decode_arrays(sentences, weights, k, unique)]

    def _hypotheses(self, found: Translations) -> list[Hypothesis]:
        return [
            Hypothesis(text, {self.feature_names[f]: float(row[f]) for f in np.flatnonzero(row)}, float(score))
            for text, row, score in zip(found.texts, found.features, found.scores, strict=True)
        ]

    def decode_arrays(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int = 1, unique: bool = False
    ) -> list[Translations]:
        """The k-best list of each sentence.

        A sentence without a parse gives its own words, an empty one the empty translation: one hypothesis with score
        and features 0, and a warning.

        Args:
            sentences: source sentences, words separated by blanks.
            weights: by feature name; 0 where there is none, and names that the decoder does not know are ignored.
            k: most hypotheses for a sentence.
            unique: only the best derivation of each translation.

        Raises:
            InputError: a weight or a score is not finite, or k is not positive.
            KernelError: a worker process died; the sentence is named.
        """
        return [found for found, _ in self._decode(sentences, weights, k, unique, 0)]

    def decode_graphs(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool, edges_per_word: int
    ) -> tuple[list[list[Hypothesis]], list[SentenceGraph | None]]:
        """What ``decode`` gives, and the hypergraph of each sentence, None where it has no parse.

        Args:
            edges_per_word: edges kept for each word of the source, at least 1: the best, by the best derivation that
                uses them.
        """
        if edges_per_word < 1:
            raise InputError(f"edges_per_word must be 1 or more, not {edges_per_word}")
        results = self._decode(sentences, weights, k, unique, edges_per_word)
        return [self._hypotheses(found) for found, _ in results], [graph for _, graph in results]

    def _decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool, edges_per_word: int
    ) -> list[tuple[Translations, SentenceGraph | None]]:
        if not 1 <= k < 2**31:
            raise InputError(f"k must be 1 to {2**31 - 1}, not {k}")
        vector = np.array([float(weights.get(name, 0.0)) for name in self.feature_names])
        for name, weight in zip(self.feature_names, vector, strict=True):
            if not math.isfinite(weight):
                raise InputError(f"the weight of {name} is {weight}; it must be finite")
        context = (vector, k, unique, edges_per_word)
        if self._pool is not None:
            return self._pool.map(sentences, context)
        results = self._decode_here(enumerate(log.progress(sentences, "decoding", len(sentences))), context)
        return [found for _, found in results]

    def _decode_here(
        self, items: Iterable[tuple[int, str]], context: tuple[np.ndarray, int, bool, int]
    ) -> Iterator[tuple[int, tuple[Translations, SentenceGraph | None]]]:
        """Results for (index, sentence) pairs, in this process."""
        weights, k, unique, edges_per_word = context
        rule_scores = self._rules @ weights
        for index, text in items:
            sentence = self._sentences.get(text)
            if sentence is None:
                sentence = self._prepare(index, text)
                if len(self._sentences) < self._cached:
                    self._sentences[text] = sentence
            yield index, self._decode_one(sentence, rule_scores, weights, k, unique, edges_per_word)

    def _prepare(self, index: int, text: str) -> _Sentence:
        """Parses a sentence and works out what does not depend on the weights."""
        ids = self.grammar.vocab.add_line(text)
        forest = None
        if len(ids):
            parses = (self.grammar.parse(ids, way) for way in self._ways)
            forest = next((forest for forest in parses if forest is not None), None)
        if forest is None:
            if text not in self._warned:
                self._warned.add(text)
                why = "has no parse; its words are passed through" if len(ids) else "is empty"
                log.warn(f"sentence {index + 1} {why}")
            return _Sentence(self._text(ids), None, np.empty(0), None)
        for rule in np.unique(forest.app_rule):
            if np.isnan(self._rule_penalty[rule]):
                self._rule_penalty[rule] = WORD_PENALTY * sum(symbol >= 0 for symbol in self.grammar.tgt(int(rule)))
        extra = None
        if self._provider is not None:
            extra = np.asarray(self._provider.features(forest), np.float64)
            if extra.shape != (forest.n_apps, len(self._extra_columns)):
                raise ValueError(f"features of shape {extra.shape} for {forest.n_apps} applications")
            if not np.isfinite(extra).all():
                raise InputError(f"sentence {index + 1} has latent features that are not finite: {text}")
        return _Sentence(text, forest, self._rule_penalty[forest.app_rule], extra)

    def _decode_one(
        self,
        sentence: _Sentence,
        rule_scores: np.ndarray,
        weights: np.ndarray,
        k: int,
        unique: bool,
        edges_per_word: int,
    ) -> tuple[Translations, SentenceGraph | None]:
        forest = sentence.forest
        if forest is None:
            return Translations([sentence.text], np.zeros(1), np.zeros((1, len(weights)))), None
        scores = rule_scores[forest.app_rule]
        if self._penalty_column is not None:
            scores += weights[self._penalty_column] * sentence.penalties
        if sentence.extra is not None:
            scores += sentence.extra @ weights[self._extra_columns]
        lm_weight, oov_weight = weights[self._lm_columns] if self._lm_columns else (0.0, 0.0)
        options = SearchOptions(self.config.pop_limit, k, unique, float(lm_weight), float(oov_weight))
        kept = None
        if edges_per_word:
            most = edges_per_word * len(sentence.text.split())
            found, graph = search_hypergraph(forest, self.grammar, self._model, scores, options, most)
            kept = self._graph(sentence, forest, graph)
        else:
            found = search(forest, self.grammar, self._model, scores, options)
        starts = found.word_offsets
        texts = [self._text(found.words[starts[h] : starts[h + 1]]) for h in range(len(found))]
        return Translations(texts, np.array(found.score), self._features(sentence, forest, found)), kept

    def _graph(self, sentence: _Sentence, forest: Forest, graph: Hypergraph) -> SentenceGraph:
        """The hypergraph with words of its own, since processes number unknown words differently, and features."""
        ids, numbers = np.unique(graph.symbols[graph.symbols >= 0], return_inverse=True)
        symbols = graph.symbols.copy()
        symbols[symbols >= 0] = numbers
        inner = graph.app >= 0
        apps = graph.app[inner]
        features = np.zeros((len(graph.app), len(self.feature_names)))
        features[inner] = self._rules[forest.app_rule[apps]].toarray()
        if self._penalty_column is not None:
            features[inner, self._penalty_column] += sentence.penalties[apps]
        if sentence.extra is not None:
            features[np.ix_(inner, self._extra_columns)] += sentence.extra[apps]
        if self._lm_columns:
            features[:, self._lm_columns[0]] += graph.lm
            features[:, self._lm_columns[1]] += graph.oov
        words = tuple(self._text(ids[i : i + 1]) for i in range(len(ids)))
        return SentenceGraph(replace(graph, symbols=symbols), words, self.feature_names, features)

    def _features(self, sentence: _Sentence, forest: Forest, found: KBest) -> np.ndarray:
        """Sums of the features over the applications of each derivation."""
        rules = forest.app_rule[found.apps]
        counts = sparse.csr_array(
            (np.ones(len(rules)), rules, found.app_offsets), shape=(len(found), self._rules.shape[0])
        )
        features = np.asarray((counts @ self._rules).toarray())
        starts = found.app_offsets[:-1]  # no derivation is without an application
        if self._penalty_column is not None:
            features[:, self._penalty_column] += np.add.reduceat(sentence.penalties[found.apps], starts)
        if sentence.extra is not None:
            features[:, self._extra_columns] += np.add.reduceat(sentence.extra[found.apps], starts, axis=0)
        if self._lm_columns:
            features[:, self._lm_columns[0]] += found.lm
            features[:, self._lm_columns[1]] += found.oov
        return features

    def _text(self, ids: np.ndarray) -> str:
        vocab = self.grammar.vocab
        if len(self._words) < len(vocab):
            self._words.extend(vocab.word(i) for i in range(len(self._words), len(vocab)))
        return " ".join([self._words[i] for i in ids.tolist()])


def read_grammar(config: DecoderConfig) -> Grammar:
    """The finished grammar of a configuration.

    Raises:
        InputError: a file cannot be read, or a rule is malformed.
    """
    grammar = Grammar()
    for path in config.grammars:
        grammar.read(path)
    grammar.category(config.goal)  # a category must be known before the grammar is finished
    grammar.finish()
    return grammar


def parse_options(config: DecoderConfig, grammar: Grammar) -> tuple[ParseOptions, ...]:
    """How a sentence is parsed, and how it is where that gives nothing."""
    options = ParseOptions(
        max_span=config.max_span,
        glue=config.glue,
        pass_through=int(config.pass_through),
        goal=grammar.category(config.goal),
    )
    # A sentence longer than any rule may be has no parse without glue: better glued than not translated.
    return options, replace(options, glue=True, goal=S)
