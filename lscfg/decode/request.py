"""Requests for sentences, sentences that are ready for the search, and the answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from lscfg.decode.columns import ComputedRows, LayeredValues, OwnFeatures
from lscfg.decode.derivations import Derivation, Translated, WordDetails
from lscfg.decode.recalled import NOTHING, Recalled, StoredPair, remembered
from lscfg.decode.sentence_rules import ADDED, AddedFeatures
from lscfg.decode.terms import NO_TERMS, FoundTerms, Occurrence, ReplacedWords, UsedTerm, form_places
from lscfg.errors import InputError, cut
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.marked import ANY_ORDER, WordOrder
from lscfg.formats.plf import Lattice
from lscfg.kernel import Forest, Grammar
from lscfg.kernel.options import ImproperCounts
from lscfg.kernel.search import Hypergraph
from lscfg.settings import LARGEST


class FeatureProvider(Protocol):
    """Features of rule applications that depend on the whole forest, but not on the weights."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""

    def features(self, forest: Forest) -> np.ndarray:
        """Values of the features, float64 [n_apps, len(names)]; a derivation has the sums over its applications."""


ProviderSource = Callable[[Grammar], FeatureProvider]
"""Makes the features for a finished grammar. Processes need a picklable one, such as a module's function."""


@dataclass(frozen=True, eq=False)
class Translations:
    """The k-best list of one sentence as arrays, best first."""

    texts: list[str]
    """The n translations, words separated by a blank."""
    scores: np.ndarray
    """float64 [n], model scores."""
    features: np.ndarray
    """float64 [n, F], columns as ``EmbeddedDecoder.feature_names``."""
    derivations: tuple[Derivation, ...] = ()
    """The n derivations, if requested and the sentence has a parse."""
    unparsed: str = ""
    """Reason why the sentence has no parse and its words are passed through; else empty."""
    details: tuple[WordDetails, ...] = ()
    """Details of the words of the best translation, if requested; words that are passed through have posterior 0."""
    terms: tuple[UsedTerm, ...] = ()
    """Hard terms in the best translation."""
    taught: tuple[int, ...] = ()
    """Positions of the source words that terms and corrections translate."""
    own_names: tuple[str, ...] = ()
    """Names of further columns of ``features``: features of this sentence that the decoder does not name."""


@dataclass(frozen=True, eq=False)
class SentenceGraph:
    """The best part of the hypergraph of one sentence's search, with the features of its edges."""

    graph: Hypergraph
    """The hypergraph; its words are numbers in ``words``."""
    words: tuple[str, ...]
    """Words by number."""
    names: tuple[str, ...]
    """Names of the features."""
    features: np.ndarray
    """float64 [edges, F]; a derivation has the sums over its edges."""


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence; ``forest`` is None without a parse."""

    text: str
    forest: Forest | None
    grammar: Grammar
    rows: np.ndarray  # of the features of each application's rule; the forest's array without terms
    penalties: np.ndarray  # WordPenalty of each application
    extra: np.ndarray | LayeredValues | ComputedRows | None  # [n_apps, F]
    unparsed: str = ""  # reason why ``forest`` is None
    added: AddedFeatures | None = None
    occurrences: tuple[Occurrence, ...] = ()
    own: OwnFeatures | None = None  # of feature functions and of the input
    passed: ReplacedWords | None = None  # the words of a sentence with terms but without a parse
    taught: tuple[int, ...] = ()  # positions of the words that terms and corrections translate
    lattice: Lattice | None = None  # instead of words

    def part(self, part: Forest, kept: np.ndarray) -> Sentence:
        """The sentence with a part of its forest, whose applications are numbers in the whole."""
        return replace(
            self,
            forest=part,
            rows=self.rows[kept],
            penalties=self.penalties[kept],
            extra=None if self.extra is None else self.extra[kept],
            added=None if self.added is None else self.added.part(kept, len(self.rows)),
            own=None if self.own is None else self.own.part(kept),
        )

    @property
    def size(self) -> int:
        """Bytes of its arrays."""
        arrays = (self.penalties.nbytes, 0 if self.extra is None else self.extra.nbytes)
        others = (self.forest, self.own)
        return sum(arrays) + sum(0 if other is None else other.size for other in others)

    @property
    def length(self) -> int:
        """Words, or steps from the first state of a lattice to the last."""
        return len(self.text.split()) if self.lattice is None else self.lattice.states - 1

    @property
    def own_names(self) -> tuple[str, ...]:
        """Features of the sentence that the decoder does not name."""
        return () if self.own is None else self.own.names


NOTHING_NAMED: Mapping[str, float] = {}


class Request(NamedTuple):
    """A request for a sentence; without terms and memory, for every sentence of a call."""

    weights: np.ndarray  # by column
    k: int
    unique: bool
    edges_per_word: int  # 0 for no hypergraph
    derivations: bool
    details: bool
    terms: FoundTerms = NO_TERMS  # of this sentence
    recalled: Recalled = NOTHING  # for this sentence
    order: WordOrder = ANY_ORDER  # of this sentence
    added_weights: tuple[float, ...] = (0.0,) * len(ADDED)  # of the features ADDED
    named: Mapping[str, float] = NOTHING_NAMED  # weights of features that the decoder does not name
    rules: tuple[str, ...] = ()  # further rules, lines of a grammar
    corrections: Path | None = None  # folder of a memory, whose pairs give rules on demand

    def weights_of(self, sentence: Sentence) -> np.ndarray:
        """The weights of the decoder's features and of the sentence's own."""
        own = [self.named.get(name, 0.0) for name in sentence.own_names]
        return np.concatenate([self.weights, own]) if own else self.weights

    @property
    def answer(self) -> StoredPair | None:
        """The stored pair that answers the sentence; none where a person has chosen another translation."""
        if -1 in self.terms.numbers:
            return None
        return remembered(self.recalled, [one for one in self.terms.occurrences if one.hard])


def request_of(
    names: Sequence[str],
    weights: Mapping[str, float],
    k: int,
    unique: bool,
    edges_per_word: int = 0,
    derivations: bool = False,
    details: bool = False,
) -> Request:
    """A request for k translations under weights by name.

    Args:
        names: the decoder's features, whose missing weights are 0.

    Raises:
        InputError: a weight is not finite, or k is out of its range.
    """
    if not 1 <= k <= LARGEST:
        raise InputError(f"k must be 1 to {LARGEST}, not {k}")
    for name, weight in weights.items():
        if not math.isfinite(weight):
            raise InputError(f"the weight of {cut(name)} is {weight}; it must be finite")
    vector = np.array([float(weights.get(name, 0.0)) for name in names])
    known = {*names}
    named = {name: float(weight) for name, weight in weights.items() if name not in known and weight}
    return Request(vector, k, unique, edges_per_word, derivations, details, named=named)


class Answer(NamedTuple):
    """The answer to a request for one sentence."""

    translations: Translations
    graph: SentenceGraph | None
    improper: ImproperCounts | None  # values that are not probabilities, for ``Improper.add``

    def translated(self, text: str, hypotheses: list[Hypothesis], request: Request) -> Translated:
        """The answer for people: the sentence, its k-best list, its terms and what the memory contains for it."""
        found = self.translations
        return Translated(
            text,
            hypotheses,
            found.derivations,
            found.unparsed,
            found.details,
            found.terms,
            request.terms,
            request.recalled,
            request.answer,
            found.taught,
        )


def remembered_answer(pair: StoredPair, request: Request, features: int) -> Translations:
    """The answer of the memory, without features."""
    words = pair.target.split(" ")
    shown = [WordDetails(word, tuple(i for i, k in pair.links if k == j), 1.0, ()) for j, word in enumerate(words)]
    terms = [one for one in request.terms.occurrences if one.hard]
    used: tuple[UsedTerm, ...] = ()
    for own in (terms, request.recalled.lacking(terms)):
        places = form_places(words, [[form.split() for form in one.forms] for one in own])
        if places is not None:
            placed = zip(own, places, strict=True)
            used = tuple(UsedTerm(one.span, (i, i + len(form)), " ".join(form)) for one, (i, form) in placed)
            break
    details = tuple(shown) if request.details else ()
    taught = tuple(range(len(pair.source.split(" "))))
    return Translations([pair.target], np.zeros(1), np.zeros((1, features)), (), "", details, used, taught)
