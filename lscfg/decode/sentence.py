"""The embedded decoder of single sentences: forest, features and search in this process."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lscfg import log
from lscfg.decode.applications import copies_of, phrases_of, share_node
from lscfg.decode.columns import FeatureColumns, SourcedRows
from lscfg.decode.derivations import Derivation, WordDetails, describe, split_words
from lscfg.decode.inputs import NO_LATTICES, encoded, lattice_of, lattice_path, own_features, segment_grammars
from lscfg.decode.links import RuleLinks
from lscfg.decode.parsing import first_lattice_parse, first_parse, index_of, parse_options, read_grammar
from lscfg.decode.provided import ProvidedFeatures
from lscfg.decode.recalled import NOTHING, Recalled
from lscfg.decode.request import (
    Answer,
    ProviderSource,
    Request,
    Sentence,
    SentenceGraph,
    Translations,
    remembered_answer,
    request_of,
)
from lscfg.decode.sentence_rules import ADDED, CORRECTION, SentenceRules, encode
from lscfg.decode.target_words import SearchModel, TargetWords
from lscfg.decode.taught import taught_positions
from lscfg.decode.terms import (
    Occurrence,
    UsedTerm,
    obeying,
    replaced_words,
    soft_terms_in,
    used_terms,
)
from lscfg.errors import InputError, quote
from lscfg.formats.ini import DecoderConfig, NamedModel
from lscfg.formats.marked import ANY_ORDER, WordOrder
from lscfg.formats.plf import is_lattice
from lscfg.formats.segments import Segment, read_segment
from lscfg.formats.word_classes import read_word_classes
from lscfg.functions.function import WORD_PENALTY
from lscfg.kernel import FeatureOptions, Forest, Grammar, GrammarLayer, X
from lscfg.kernel.base import Vocab
from lscfg.kernel.extra_rules import GLUE, OTHER_RULE, layer_begin
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import Hypergraph, KBest, SearchOptions, search, search_hypergraph
from lscfg.later import later

if TYPE_CHECKING:
    from lscfg.decode import details, frames, new_phrases, phrase_table, unknown, word_order
    from lscfg.decode import on_demand as on_demand_rules
    from lscfg.kernel import mapped_lm
else:
    details = later("lscfg.decode.details")
    frames = later("lscfg.decode.frames")
    new_phrases = later("lscfg.decode.new_phrases")
    on_demand_rules = later("lscfg.decode.on_demand")
    phrase_table = later("lscfg.decode.phrase_table")
    unknown = later("lscfg.decode.unknown")
    word_order = later("lscfg.decode.word_order")
    mapped_lm = later("lscfg.kernel.mapped_lm")

_MOST_KEPT = 1 << 18
"""Maximum number of words that a decoder keeps as strings."""


@dataclass
class Room:
    """Room for the sentences that a decoder and those of its segments keep together."""

    left: int
    """Bytes."""

    def take(self, size: int) -> bool:
        """Takes some bytes if there are as many."""
        if size > self.left:
            return False
        self.left -= size
        return True


class SentenceDecoder:
    """The decoder of single sentences, in this process; arguments are those of ``EmbeddedDecoder``.

    Args:
        vocab: vocabulary that the grammar shares with other grammars.
        models: language models of the configuration, of this vocabulary; None: reads them.
        needed, rules, on_demand, known: see ``read_grammar``.
    """

    def __init__(
        self,
        config: DecoderConfig,
        provider: ProviderSource | None,
        cached: int,
        vocab: Vocab | None = None,
        models: Sequence[LanguageModel] | None = None,
        needed: bool = True,
        rules: Sequence[str] = (),
        on_demand: bool = False,
        known: tuple[Grammar, np.ndarray] | None = None,
    ):
        self.config, self.source = config, provider
        self.grammar = read_grammar(config, vocab, needed, rules, on_demand, known)
        index = index_of(config)
        self.on_demand = None if index is None else on_demand_rules.RulesOnDemand(index, config)
        self.provided = ProvidedFeatures(None if provider is None else provider(self.grammar))
        self.room = Room(cached)
        self.keeps = cached > 0
        self.ways = parse_options(config, self.grammar, getattr(self.provided.provider, "binding", None))
        named = config.models
        self.models = [_opened(one, self.grammar.vocab) for one in named] if models is None else models
        self.columns = FeatureColumns(config, self.grammar, [one.name for one in named], self.provided.names)
        self._target = TargetWords(config.functions, self.grammar.vocab)
        self._model = SearchModel(self.models, self.columns, self._target)
        self.unknown = unknown.UnknownWords(self.grammar, self.columns.cost) if config.substitutes else None
        self.links = RuleLinks(self.grammar, self.columns.cost)
        # most words of a vocabulary are in no translation
        self._word = functools.lru_cache(_MOST_KEPT)(self.grammar.vocab.word)
        self._sentences: dict[str, Sentence] = {}
        self.segment_decoders: dict[tuple[tuple[Path, ...], tuple[str, ...], str], SentenceDecoder] = {}
        self._warned: set[str] = set()
        self._scored: tuple[np.ndarray, np.ndarray] | None = None  # weights, and the rules' scores by them

    @functools.cached_property
    def phrases(self) -> phrase_table.PhraseTable:
        """The rules of corrections."""
        return phrase_table.PhraseTable(self.grammar, new_phrases.NewPhrases(self.grammar, self.columns))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Features of every sentence, by column."""
        return self.columns.names

    @property
    def latent_options(self) -> FeatureOptions | None:
        """Options of the latent features, if the decoder has some."""
        return None if self.provided.latent is None else self.provided.latent.options

    def decode(self, request: Request, index: int, text: str) -> Answer:
        """The translations of a sentence; its index is for messages."""
        if (segment := read_segment(text)) is not None or request.rules or self.on_demand is not None:
            return _decode_segment(self, request, index, segment or Segment(None, (), text))
        if (pair := request.answer) is not None:
            return Answer(remembered_answer(pair, request, len(self.feature_names)), None, None)
        terms, recalled, order = request.terms.occurrences, request.recalled, request.order
        more = terms or recalled.phrases or recalled.similar or order != ANY_ORDER
        weighted = bool(request.added_weights[CORRECTION])
        sentence = self._sentences.get(text)
        if more:
            sentence = constrained(self, index, text, terms, recalled, order, weighted)
        if sentence is None:
            sentence = self.prepare(index, text)
            if self.keeps and self.room.take(sentence.size):
                self._sentences[text] = sentence
        translations, graph = self.decode_prepared(sentence, request)
        noticed = None if self.provided.latent is None else self.provided.latent.improper.take()
        return Answer(translations, graph, noticed)

    def rule_scores(self, weights: np.ndarray) -> np.ndarray:
        """The score of each rule by its own features, extra rules included."""
        if self._scored is None or not np.array_equal(self._scored[0], weights):
            with np.errstate(over="ignore", invalid="ignore"):  # ``scores`` refuses what is not finite
                self._scored = weights, self.columns.rules.products(weights)
        return self._scored[1]

    def prepare(self, index: int, text: str, prune: bool = True) -> Sentence:
        """Parses a sentence, prunes it if ``prune`` and the configuration agree, and computes all but scores."""
        vocab, lattice = self.grammar.vocab, lattice_of(text)
        ids = vocab.add_line(text if lattice is None else " ".join(lattice.first_path()))
        if self.unknown is not None and lattice is None and self.unknown.knows_substitutes(ids):
            return constrained(self, index, text, (), NOTHING)
        if lattice is None:
            forest, why = first_parse(self.grammar, ids, self.ways)
        else:
            self.provided.warn_of_lattice()
            forest, why = first_lattice_parse(self.grammar, encoded(lattice, vocab), lattice.states, self.ways)
        if forest is None:
            if text not in self._warned:
                if self.keeps:
                    self._warned.add(text)
                log.warning(f"sentence {index + 1} {why}" + ("; its words are passed through" if len(ids) else ""))
            return Sentence(self._text(ids), None, self.grammar, np.empty(0, np.int32), np.empty(0), None, why)
        pruned = prune and lattice is None
        forest, extra = self.provided.of_sentence(index, text, forest, pruned, self.room.left)
        penalties = self.columns.rule_penalty.take(forest.app_rule)
        own = own_features(self.config, self.feature_names, split_words(text), forest, self.grammar, lattice)
        return Sentence(text, forest, self.grammar, forest.app_rule, penalties, extra, own=own, lattice=lattice)

    def scores(self, sentence: Sentence, rule_scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The score of each application without the language model.

        Args:
            sentence: a parsed sentence; rule_scores: result of ``rule_scores`` for the same weights.
            weights: of the decoder's features and of the sentence's own.

        Raises:
            InputError: a score is not finite.
        """
        assert sentence.forest is not None
        scores = rule_scores.take(sentence.rows)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.columns.penalty is not None:
                scores += weights[self.columns.penalty] * sentence.penalties
            if sentence.extra is not None:
                scores += sentence.extra @ weights[self.columns.extra]
            if sentence.own is not None:
                sentence.own.add_scores(scores, weights)
        if not np.isfinite(scores).all():
            raise InputError(f"a rule for {quote(sentence.text)} has a score that is not finite; give smaller weights")
        return scores

    def search_options(self, weights: np.ndarray, k: int, unique: bool) -> SearchOptions:
        """The search options of weights by column."""
        return SearchOptions(self.config.pop_limit, k, unique, *self._model.weights(weights))

    def decode_prepared(self, sentence: Sentence, request: Request) -> tuple[Translations, SentenceGraph | None]:
        """The translations of a sentence that ``prepare`` has returned, or of a part of its forest, and its graph.

        Raises:
            InputError: a score is not finite.
        """
        forest, weights = sentence.forest, request.weights_of(sentence)
        if forest is None:
            nothing = np.zeros((1, len(weights)))
            passed = sentence.passed or replaced_words(sentence.text.split(), ())
            shown: tuple[WordDetails, ...] = ()
            if request.details:
                words = zip(passed.words, passed.links, strict=True)
                shown = tuple(WordDetails(word, links, 0.0, ()) for word, links in words)
            texts, scores = [sentence.text], np.zeros(1)
            unparsed, taught = sentence.unparsed, sentence.taught
            return Translations(texts, scores, nothing, (), unparsed, shown, passed.used, taught), None
        scores = self.scores(sentence, self.rule_scores(request.weights), weights)
        model = self._model(request.weights, request.named)
        if sentence.added is not None:
            scores[sentence.added.apps] += sentence.added.values @ np.array(request.added_weights)
        options = self.search_options(weights, request.k, request.unique)
        kept: SentenceGraph | None = None
        shown = ()
        wants_details = request.details and sentence.lattice is None
        if edges_per_word := max(request.edges_per_word, details.EDGES_PER_WORD if wants_details else 0):
            most = edges_per_word * sentence.length
            found, graph = search_hypergraph(forest, sentence.grammar, model, scores, options, most)
            if request.edges_per_word:
                kept = self._graph(sentence, forest, graph)
            if wants_details:
                shown = _details(self, sentence, forest, found, graph, scores, options, weights)
        else:
            found = search(forest, sentence.grammar, model, scores, options)
        starts = found.word_offsets
        texts = [self._text(found.words[starts[h] : starts[h + 1]]) for h in range(len(found))]
        derivations = self._derivations(sentence, forest, found) if request.derivations else ()
        features, further = self._features(sentence, forest, found)
        used, taught = _terms(self, sentence, found, texts), sentence.taught
        all_found = Translations(texts, np.array(found.score), features, derivations, "", shown, used, taught)
        return replace(all_found, own_names=sentence.own_names + further), kept

    def describe(
        self, sentence: Sentence, apps: list[int], features: Sequence[Mapping[str, float]] | None = None
    ) -> Derivation:
        """A derivation of the sentence."""
        assert sentence.forest is not None
        path = None if sentence.lattice is None else partial(lattice_path, sentence.lattice, sentence.forest)
        named = [{}] * len(apps) if features is None else features
        return describe(sentence.forest, sentence.grammar, split_words(sentence.text), apps, named, self.links, path)

    def _derivations(self, sentence: Sentence, forest: Forest, found: KBest) -> tuple[Derivation, ...]:
        derivations = []
        for begin, end in itertools.pairwise(found.app_offsets.tolist()):
            apps = found.apps[begin:end]
            derivations.append(self.describe(sentence, apps.tolist(), self.app_features(sentence, apps)))
        return tuple(derivations)

    def app_features(
        self, sentence: Sentence, apps: np.ndarray, weights: np.ndarray | None = None
    ) -> list[dict[str, float]]:
        """Features of single applications by name, without those that are 0; with weights, times these."""
        names, rows = self.feature_names + sentence.own_names, self._app_rows(sentence, apps)
        if weights is not None:
            rows = rows * weights
        return [{names[f]: float(row[f]) for f in np.flatnonzero(row)} for row in rows]

    def _app_rows(self, sentence: Sentence, apps: np.ndarray) -> np.ndarray:
        """Features of single applications, float64 [len(apps), F]; the language model has none."""
        features = self.columns.rules.sums(sentence.rows[apps], np.arange(len(apps) + 1))
        if self.columns.penalty is not None:
            features[:, self.columns.penalty] += sentence.penalties[apps]
        if sentence.extra is not None:
            features[:, self.columns.extra] += sentence.extra[apps]
        return features if sentence.own is None else sentence.own.add(features, apps, np.arange(len(apps) + 1))

    def _graph(self, sentence: Sentence, forest: Forest, graph: Hypergraph) -> SentenceGraph:
        """The hypergraph with features and separate word numbers, since processes number unknown words differently."""
        ids, numbers = np.unique(graph.symbols[graph.symbols >= 0], return_inverse=True)
        symbols = graph.symbols.copy()
        symbols[symbols >= 0] = numbers
        inner = graph.app >= 0
        apps = graph.app[inner]
        names = self.feature_names + sentence.own_names
        features = np.zeros((len(graph.app), len(names)))
        features[inner] = self._app_rows(sentence, apps)
        for lm, oov in self.columns.lm.tolist():
            features[:, lm] += graph.lm
            features[:, oov] += graph.oov
        words = tuple(self._text(ids[i : i + 1]) for i in range(len(ids)))
        return SentenceGraph(replace(graph, symbols=symbols), words, names, features)

    def _features(self, sentence: Sentence, forest: Forest, found: KBest) -> tuple[np.ndarray, tuple[str, ...]]:
        """Sums of the features over each derivation, and names of those that neither decoder nor sentence name."""
        columns = self.columns
        features = columns.rules.sums(sentence.rows[found.apps], found.app_offsets)
        starts = found.app_offsets[:-1]  # each derivation has an application
        if columns.penalty is not None:
            features[:, columns.penalty] += np.add.reduceat(sentence.penalties[found.apps], starts)
        if sentence.extra is not None:
            features[:, columns.extra] += np.add.reduceat(sentence.extra[found.apps], starts, axis=0)
        self._model.add(features, found)
        if sentence.own is not None:
            features = sentence.own.add(features, found.apps, found.app_offsets)
        if not self._target.order:
            return features, ()
        return self._target.add(features, self.feature_names + sentence.own_names, found.words, found.word_offsets)

    def _text(self, ids: np.ndarray) -> str:
        return " ".join(map(self._word, ids.tolist()))


def _opened(model: NamedModel, vocab: Vocab) -> LanguageModel:
    if not model.marked and model.classes is None:
        return LanguageModel(model.path, vocab)
    classes = None if model.classes is None else read_word_classes(model.classes).classes
    return mapped_lm.MappedModel(model.path, vocab, classes, model.marked)


def _decode_segment(decoder: SentenceDecoder, request: Request, index: int, segment: Segment) -> Answer:
    """The translations of a line with own grammars or rules, by a decoder of these and of the configuration's rules."""
    grammars = segment_grammars(segment, decoder.config)
    rules, request = request.rules, request._replace(rules=())
    own = own_decoder(decoder, segment.text, grammars, rules, request.corrections)
    if own is decoder:
        return decoder.decode(request, index, segment.text)
    weights = dict(request.named) | dict(zip(decoder.feature_names, request.weights.tolist(), strict=True))
    asked = request_of(own.feature_names, weights, request.k, request.unique)
    answer = own.decode(request._replace(weights=asked.weights, named=asked.named), index, segment.text)
    found = answer.translations
    columns = {name: column for column, name in enumerate(decoder.feature_names)}
    places = [columns.setdefault(name, len(columns)) for name in own.feature_names + found.own_names]
    features = np.zeros((len(found.features), len(columns)))
    features[:, places] = found.features
    own_names = tuple(columns)[len(decoder.feature_names) :]
    return answer._replace(translations=replace(found, features=features, own_names=own_names))


def own_decoder(
    decoder: SentenceDecoder,
    text: str,
    grammars: tuple[Path, ...] = (),
    rules: tuple[str, ...] = (),
    corrections: Path | None = None,
) -> SentenceDecoder:
    """The decoder of a sentence with further rules or with rules on demand; otherwise the decoder itself.

    Keeps these decoders if sentences are kept, else only the latest.

    Raises:
        InputError: the sentence is a lattice, and its rules come on demand.
    """
    if not grammars and not rules and decoder.on_demand is None:
        return decoder
    if decoder.on_demand is not None:
        if is_lattice(text):
            raise InputError(NO_LATTICES)
        if decoder.on_demand.learn(corrections):
            decoder.segment_decoders.clear()
    key = grammars, rules, "" if decoder.on_demand is None else text
    own = decoder.segment_decoders.get(key)
    if own is None:
        if not decoder.keeps:
            decoder.segment_decoders.clear()
        path = None if rules else decoder.config.path  # faults of rules from a request do not name our files
        vocab, models, known = decoder.grammar.vocab, decoder.models, None
        if decoder.on_demand is not None:
            rules = decoder.on_demand.lines(text) + rules
            known = decoder.grammar, vocab.add_line(text)
        else:
            grammars = decoder.config.grammars + grammars
        config = replace(decoder.config, grammars=grammars, path=path)
        latent = decoder.provided.latent
        source = decoder.source if latent is None else latent.of  # the source would read the model again
        cached = int(decoder.keeps)
        own = SentenceDecoder(config, source, cached, vocab, models, needed=False, rules=rules, known=known)
        own.room = decoder.room
        decoder.segment_decoders[key] = own
    return own


def constrained(
    decoder: SentenceDecoder,
    index: int,
    text: str,
    terms: tuple[Occurrence, ...],
    recalled: Recalled,
    order: WordOrder = ANY_ORDER,
    weighted: bool = False,
) -> Sentence:
    """A sentence whose derivations obey its hard terms and word order, and may use rules of corrections and frames.

    Args:
        index: number of the sentence, from 0, for a warning.
        weighted: as for ``SentenceRules``.
    """
    vocab = decoder.grammar.vocab
    ids = vocab.add_line(text)
    more = SentenceRules(decoder.grammar, weighted)
    if order.zones:
        more.add((-1 - X, -1 - X), (-1, -2), (0.0,) * len(ADDED))  # glue within zones, the layer's first rule
    for term in terms:
        for number, form in enumerate(term.forms):
            source, target = ids[slice(*term.span)].tolist(), vocab.add_line(form).tolist()
            more.add_term(term.span, tuple(source), tuple(target), term.values[number] if term.values else 0.0)
    if recalled.phrases:
        more.correct(decoder.phrases.encoded(recalled.phrases, more.everywhere(ids.tolist())))
    for similar in recalled.similar:
        if (frame := frames.frame_of(text.split(), similar.pair)) is not None:
            more.resemble(encode(decoder.grammar, frame.source, frame.target), similar.similarity)
    layer, borrowed = _layer(decoder, more, ids)
    first, widest = layer_begin(decoder.grammar), max((j - i for i, j in order.zones), default=0)
    for way in decoder.ways:
        used = way if way.max_span >= widest else replace(way, max_span=widest)
        whole, why = first_parse(layer, ids, [used])
        if whole is None:
            continue
        sentence = _with_rules(decoder, index, text, layer, whole, more, borrowed, terms)
        if terms or order != ANY_ORDER:
            keep = obeying(whole, layer, terms)
            keep[[app for app, value in more.term_values(whole).items() if value is None]] = False
            if order != ANY_ORDER:
                size = len(decoder.grammar)
                keep &= word_order.keeping_order(whole, layer, decoder.links, order, size, first, way.max_span)
            if not keep.all():
                part, kept = whole.restricted(keep)
                if part is None:
                    continue
                sentence = sentence.part(part, kept)
                rules = np.asarray(part.app_rule)
                of_layer = np.flatnonzero((rules >= first) & (rules < first + len(more)))
                sentence = replace(sentence, taught=taught_positions(part, of_layer))
        return sentence
    if order != ANY_ORDER:
        log.warning(f"sentence {index + 1} has no parse that keeps its zones and walls; they are ignored")
        return constrained(decoder, index, text, terms, recalled, ANY_ORDER, weighted)
    log.warning(f"sentence {index + 1} {why}; its words are passed through")
    passed, empty = replaced_words(text.split(), terms), np.empty(0)
    words, rows = " ".join(passed.words), np.empty(0, np.int32)
    taught = tuple(sorted(k for one in terms if one.hard for k in range(*one.span)))
    return Sentence(
        words, None, decoder.grammar, rows, empty, None, why, occurrences=terms, passed=passed, taught=taught
    )


def _layer(
    decoder: SentenceDecoder, more: SentenceRules, ids: np.ndarray
) -> tuple[GrammarLayer, dict[int, unknown.BorrowedRule]]:
    """The layer of more rules and of those that unknown words borrow, which come last."""
    layer = more.layer()
    borrowed = {} if decoder.unknown is None else decoder.unknown.add_rules(layer, ids)
    layer.finish()
    return layer, borrowed


def _with_rules(
    decoder: SentenceDecoder,
    index: int,
    text: str,
    layer: Grammar,
    whole: Forest,
    more: SentenceRules,
    borrowed: Mapping[int, unknown.BorrowedRule],
    terms: tuple[Occurrence, ...],
) -> Sentence:
    """A sentence with more rules. New rules of corrections get the features of ``NewPhrases``.

    Terms and frames get the features of a usual rule of the sentence, glue within zones those of glue; borrowed rules
    get those of the rule of the substitute, and the latent features of the copied word. Latent features come from the
    whole forest without these rules, so that they do not change the others.
    """
    size, columns = len(decoder.grammar), decoder.columns
    phrases, rows = phrases_of(whole, size), np.array(whole.app_rule)
    applied = more.applied(whole, phrases)
    own = applied.numbers < len(more)  # the others are borrowed
    apps, numbers, substitutes = applied.layer[own], applied.numbers[own], applied.layer[~own].tolist()
    single, places = more.phrases(numbers)
    usual = size + OTHER_RULE
    if len(phrases) and not single.all():  # the rule of words of median cost
        found = rows[phrases]
        costs = columns.translation_costs.take(found)
        usual = int(found[costs == np.partition(costs, len(costs) // 2)[len(costs) // 2]].min())
    rows[apps] = np.where(single, size + OTHER_RULE, usual)
    glue = apps[numbers == 0] if max(next(iter(more.sides), ((0,),))[0]) < 0 else apps[:0]
    rows[glue] = size + GLUE
    for app in substitutes:
        rows[app] = borrowed[int(whole.app_rule[app])].rule
    penalties = columns.rule_penalty.take(rows)
    penalties[apps] = WORD_PENALTY * more.lengths()[numbers]
    for app in substitutes:
        penalties[app] = WORD_PENALTY * len(layer.tgt(int(whole.app_rule[app])))
    extra = decoder.provided.of_layered(index, text, whole, applied.layer, phrases)
    if extra is not None:
        extra.row_of[glue] = len(extra.values)
        if substitutes:
            of_substitute = np.zeros(whole.n_apps, bool)
            of_substitute[substitutes] = True
            extra.row_of[of_substitute] = extra.row_of[copies_of(whole, decoder.grammar, of_substitute)]
    other = list[SourcedRows]()
    if borrowed:
        other = [
            SourcedRows(
                "unknown_words=similar", unknown.SUBSTITUTES, unknown.borrowed_features(whole, borrowed, substitutes)
            )
        ]
    if len(places):
        known = share_node(whole, phrases, apps[single])
        found_rows = decoder.phrases.features(places, known.astype(np.int64), apps[single])
        other.append(SourcedRows("a correction", found_rows.names, found_rows))
    features = own_features(decoder.config, decoder.feature_names, split_words(text), whole, layer, more=other)
    added, taught = more.added(applied, own), taught_positions(whole, apps)
    if added is not None:
        values = {app: value for app, value in more.term_values(whole).items() if value}
        added = added.with_terms(soft_terms_in(whole, layer, terms) | values)
    return Sentence(text, whole, layer, rows, penalties, extra, "", added, terms, features, taught=taught)


def _details(
    decoder: SentenceDecoder,
    sentence: Sentence,
    forest: Forest,
    found: KBest,
    graph: Hypergraph,
    scores: np.ndarray,
    options: SearchOptions,
    weights: np.ndarray,
) -> tuple[WordDetails, ...]:
    """The details of the best translation."""
    inner = graph.app >= 0
    edge_scores = options.lm_weight * graph.lm + options.oov_weight * graph.oov
    edge_scores[inner] += scores[graph.app[inner]]

    def contributions(apps: Sequence[int]) -> list[dict[str, float]]:
        return decoder.app_features(sentence, np.array(apps, np.int64), weights)

    apps = found.apps[: found.app_offsets[1]].tolist()
    derivation = decoder.describe(sentence, apps, contributions(apps))
    own = [int(forest.app_rule[app]) < layer_begin(decoder.grammar) for app in apps]  # no rules of a layer
    values = decoder.app_features(sentence, np.array(apps, np.int64))
    kept = [one if inside else None for one, inside in zip(values, own, strict=True)]
    model = decoder.models[0] if decoder.models else None
    searched = details.Searched(
        forest, sentence.grammar, decoder.links, graph, scores, edge_scores, contributions, kept, model
    )
    return details.details(searched, derivation, found.words[: found.word_offsets[1]].tolist())


def _terms(decoder: SentenceDecoder, sentence: Sentence, found: KBest, texts: list[str]) -> tuple[UsedTerm, ...]:
    """Hard terms in the best translation."""
    if not sentence.occurrences:
        return ()
    derivation = decoder.describe(sentence, found.apps[: found.app_offsets[1]].tolist())
    rules = [(rule.source_words, rule.target_words) for rule in derivation]
    return used_terms(rules, texts[0].split(" "), sentence.occurrences)
