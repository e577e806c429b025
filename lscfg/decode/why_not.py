"""Reasons why the decoder does not choose a wanted translation: the model, the search, or missing rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lscfg.decode.derivations import AppliedRule, rule_sides
from lscfg.decode.missing import cheapest_derivation
from lscfg.decode.parsing import first_parse
from lscfg.decode.request import Sentence, Translations, request_of
from lscfg.decode.sentence import SentenceDecoder
from lscfg.errors import InputError
from lscfg.kernel import Forest, Grammar, GrammarLayer, X
from lscfg.kernel.extra_rules import extra_sides, is_extra, layer_begin
from lscfg.kernel.forest import REST
from lscfg.kernel.search import Forced, force

LONGEST = 7
"""Maximum number of words of each side of a missing rule."""

MAX_WORDS = 60
"""Maximum number of words of the sentence and of the translation."""

HOLE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Target side of the rules of the layer, which may yield any words; no word of a text, since readers drop it."""


@dataclass(frozen=True)
class MissingRule:
    """A rule that the grammar would need.

    Attributes:
        source, target: words of both sides.
        span: words [i, j) of the sentence.
        reason: one of the grammar's limits that explains its absence.
    """

    source: str
    target: str
    span: tuple[int, int]
    reason: str


@dataclass(frozen=True)
class WhyNot:
    """Comparison of a wanted translation with the decoder's output.

    Attributes:
        verdict: ``same``, ``model``, ``search`` or ``unreachable``.
        wanted, chosen: both translations.
        wanted_score, chosen_score: model scores; None for a translation that is not reachable.
        first: first rules in the order of the source words in which the derivations differ, wanted and chosen.
        features: share of each feature in the difference of the scores, weight · (wanted - chosen), largest first.
        missing: rules with the fewest words, or swapped neighbours, that make the wanted translation reachable.
    """

    verdict: str
    wanted: str
    chosen: str
    wanted_score: float | None = None
    chosen_score: float | None = None
    first: tuple[AppliedRule, AppliedRule] | None = None
    features: tuple[tuple[str, float], ...] = ()
    missing: tuple[MissingRule, ...] = ()


def why_not(decoder: SentenceDecoder, weights: Mapping[str, float], sentence: str, wanted: str) -> WhyNot:
    """Compares a wanted translation of a sentence with the decoder's.

    Args:
        weights: by feature name; missing weights are 0.
        sentence, wanted: words separated by blanks.

    Raises:
        InputError: a text is empty or has more than ``MAX_WORDS`` words, or the sentence is too long for a forest.
    """
    words, targets = sentence.split(), wanted.split()
    for name, text in (("sentence", words), ("wanted translation", targets)):
        if not 1 <= len(text) <= MAX_WORDS:
            raise InputError(f"the {name} has {len(text)} words; 1 to {MAX_WORDS} can be compared")
    request = request_of(decoder.feature_names, weights, 1, True, derivations=True)
    prepared = decoder.prepare(0, " ".join(words), prune=False)
    ids = decoder.grammar.vocab.add_line(" ".join(targets)).tolist()
    chosen, _ = decoder.decode_prepared(prepared, request)
    if chosen.texts[0] == " ".join(targets):
        return WhyNot("same", chosen.texts[0], chosen.texts[0], float(chosen.scores[0]), float(chosen.scores[0]))
    forced = None
    if prepared.forest is not None:
        scores = decoder.scores(prepared, decoder.rule_scores(request.weights), request.weights_of(prepared))
        forced = force(prepared.forest, prepared.grammar, scores, ids)
    if forced is None:
        missing = _missing(decoder, prepared, words, ids)
        own = None if prepared.forest is None else float(chosen.scores[0])
        return WhyNot("unreachable", " ".join(targets), chosen.texts[0], None, own, missing=missing)
    found, _ = decoder.decode_prepared(_only(prepared, forced), request)
    shares = _shares(decoder, weights, found, chosen)
    first = _first_difference(found.derivations[0], chosen.derivations[0])
    better = found.scores[0] > chosen.scores[0]
    return WhyNot(
        "search" if better else "model",
        " ".join(targets),
        chosen.texts[0],
        float(found.scores[0]),
        float(chosen.scores[0]),
        first,
        shares,
    )


def _shares(
    decoder: SentenceDecoder, weights: Mapping[str, float], found: Translations, chosen: Translations
) -> tuple[tuple[str, float], ...]:
    """Shares of the features in the difference of two scores, the largest first."""
    sums: dict[str, float] = {}
    for sign, one in ((1, found), (-1, chosen)):
        names = decoder.feature_names + one.own_names
        for name, value in zip(names, one.features[0].tolist(), strict=True):
            sums[name] = sums.get(name, 0.0) + sign * value
    shares = {name: weights.get(name, 0.0) * value for name, value in sums.items()}
    return tuple(sorted(((n, v) for n, v in shares.items() if v), key=lambda share: -abs(share[1])))


def _only(sentence: Sentence, forced: Forced) -> Sentence:
    """The sentence with one derivation."""
    forest = sentence.forest
    assert forest is not None
    keep = np.isin(np.arange(forest.n_apps), forced.apps)
    keep |= forest.node_cat[forest.edge_head[forest.app_edge]] == REST
    part, kept = forest.restricted(keep)
    rows, penalties = sentence.rows[kept], sentence.penalties[kept]
    extra = None if sentence.extra is None else sentence.extra[kept]
    own = None if sentence.own is None else sentence.own.part(kept)
    return replace(sentence, forest=part, rows=rows, penalties=penalties, extra=extra, own=own)


def _first_difference(
    wanted: Sequence[AppliedRule], chosen: Sequence[AppliedRule]
) -> tuple[AppliedRule, AppliedRule] | None:
    """The rules of both derivations for the first source word that they translate by different rules.

    Derivations may also differ in rules without source words only, of which the first are taken.
    """
    rules = [{place: rule for rule in found for place in rule.source_words} for found in (wanted, chosen)]
    for place in sorted(rules[0].keys() & rules[1].keys()):
        if _form(rules[0][place]) != _form(rules[1][place]):
            return rules[0][place], rules[1][place]
    own, other = ({_form(rule) for rule in found} for found in (wanted, chosen))
    first = next((rule for rule in wanted if _form(rule) not in other), None)
    second = next((rule for rule in chosen if _form(rule) not in own), None)
    return None if first is None or second is None else (first, second)


def _form(rule: AppliedRule) -> tuple[str, str, tuple[int, int]]:
    return rule.source, rule.target, rule.span


def _missing(
    decoder: SentenceDecoder, prepared: Sentence, words: Sequence[str], targets: list[int]
) -> tuple[MissingRule, ...]:
    """The rules with the fewest words that make a translation reachable; empty if no such rules do."""
    grammar = decoder.grammar
    ids = grammar.vocab.add_line(prepared.text if prepared.forest is not None else " ".join(words))
    layer, hole = GrammarLayer(grammar), grammar.vocab.add_line(HOLE).tolist()
    spans = ((i, j) for i in range(len(ids)) for j in range(i + 1, min(i + LONGEST, len(ids)) + 1))
    for source in dict.fromkeys(tuple(ids[i:j].tolist()) for i, j in spans):
        layer.add(X, list(source), hole)
    layer.finish()
    first = layer_begin(grammar)
    for way in decoder.ways:
        forest, why = first_parse(layer, ids, [way])
        if forest is None:
            if "has no parse" not in why:
                raise InputError(f"the sentence {why}")
            continue
        found = cheapest_derivation(forest, layer, targets, lambda rule: rule >= first, LONGEST)
        if found is not None:
            break
    else:
        return ()
    known = grammar.source_words()
    rules = []
    for app, (begin, end), swap in zip(found.apps, found.intervals, found.swaps, strict=True):
        span = tuple(forest.node_span[forest.edge_head[forest.app_edge[app]]].tolist())
        if swap < 0 and int(forest.app_rule[app]) < first:
            continue
        source, text = ids[slice(*span)].tolist(), " ".join(grammar.vocab.word(word) for word in targets[begin:end])
        reason = _other_order(forest, layer, app) if swap >= 0 else _reason(prepared, source, span, known)
        rules.append(MissingRule(" ".join(words[slice(*span)]), text, span, reason))
    return tuple(sorted(rules, key=lambda rule: rule.span))


def _other_order(forest: Forest, grammar: Grammar, app: int) -> str:
    """Describes the rule of an application whose target symbols swap places."""
    rule = int(forest.app_rule[app])
    is_own = not is_extra(grammar, rule)
    source, target = rule_sides(grammar, rule) if is_own else extra_sides(rule - len(grammar), "")
    return f"the grammar has another order: {source} → {target}"


def _reason(prepared: Sentence, source: Sequence[int], span: tuple[int, int], known: frozenset[int]) -> str:
    """Describes what the grammar lacks for some source words."""
    if unknown := [word for word in source if word not in known]:
        names = " ".join(prepared.grammar.vocab.word(word) for word in unknown)
        return f"unknown word{'s' * (len(unknown) > 1)} {names}"
    if prepared.forest is not None and _translates(prepared, span):
        return "the grammar has these words with other translations only"
    return "the grammar has no rule for these words"


def _translates(prepared: Sentence, span: tuple[int, int]) -> bool:
    """True if a rule of words covers exactly this span."""
    forest = prepared.forest
    assert forest is not None
    words = (forest.edge_tail[forest.app_edge, 0] < 0) & (forest.app_rule < len(prepared.grammar))
    return bool((forest.node_span[forest.edge_head[forest.app_edge[words]]] == span).all(axis=1).any())
