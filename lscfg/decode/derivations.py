"""Derivations and details of translations: applied rules with their spans and features, words, and their JSON."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lscfg.decode.recalled import NOTHING, Recalled, StoredPair
from lscfg.decode.terms import NO_TERMS, FoundTerms, UsedTerm
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.plf import is_lattice
from lscfg.formats.segments import segment_text
from lscfg.kernel import Forest, Grammar
from lscfg.kernel.extra_rules import extra_sides, is_extra

_NONTERMINAL = re.compile(r"\[.+,\d+\]")

Side = Sequence[int]
"""Symbols of one side of a rule: a word's number, or -1-k for the k-th tail of the edge."""


@dataclass(frozen=True)
class AppliedRule:
    """One rule of a derivation."""

    category: str
    """Category of the left-hand side."""
    span: tuple[int, int]
    target_span: tuple[int, int]
    """Words [i, j) of the sentence and of the translation that its subtree covers."""
    source: str
    target: str
    """Both sides as text, nonterminals as in ``[X,1]`` on both."""
    source_words: tuple[int, ...]
    target_words: tuple[int, ...]
    """Positions of the words of both sides."""
    children: tuple[int, ...]
    """Rules of the nonterminals in source order, by number in the derivation."""
    features: Mapping[str, float] = field(hash=False)
    """Features by name, without those that are 0."""
    links: tuple[tuple[int, int], ...] = ()
    """Positions of linked words: a word of the sentence and a word of the translation."""


Derivation = tuple[AppliedRule, ...]
"""The rules of a derivation from the root down, each before its children, which are in source order."""


class Alternative(NamedTuple):
    """Another translation of some source words, by one rule of the forest."""

    span: tuple[int, int]
    """Source words [i, j)."""
    text: str
    posterior: float
    """Share of the derivations that use such a rule, by the model's scores, from 0 to 1."""
    difference: float | None = None
    """Score of the rule less the score of the rules in the translation, without the language model; None if the
    translation treats other source words together."""
    reasons: tuple[tuple[str, float], ...] = ()
    """Features that make most of the difference, with their parts."""


@dataclass(frozen=True)
class WordDetails:
    """A word of a translation."""

    text: str
    links: tuple[int, ...]
    """Positions of the linked source words, ascending."""
    posterior: float
    """Share of the derivations that translate these source words by this word, by the model's scores, from 0 to 1."""
    alternatives: tuple[Alternative, ...]
    """Other translations, the most probable first."""
    evidence: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Figures for the word's confidence; empty for words that the search did not choose from rules of the grammar."""
    confidence: float | None = None
    """Calibrated probability that the word stands in a person's translation, if the system has ``confidence.json``."""


@dataclass(frozen=True)
class Translated:
    """A sentence with its k-best list and optionally the derivations, which a sentence without a parse lacks."""

    sentence: str
    hypotheses: list[Hypothesis] = field(hash=False)
    derivations: tuple[Derivation, ...] = ()
    unparsed: str = ""
    """Reason why the sentence has no parse and its words are passed through; else empty."""
    details: tuple[WordDetails, ...] = ()
    """Details of the words of the best translation, if requested; words that are passed through have posterior 0."""
    terms: tuple[UsedTerm, ...] = ()
    """Hard terms in the best translation."""
    found: FoundTerms = NO_TERMS
    """Terms in the sentence."""
    recalled: Recalled = NOTHING
    """Everything that the memory contains for the sentence."""
    answered: StoredPair | None = None
    """The pair of the memory whose target is the translation; None: the decoder's."""
    taught: tuple[int, ...] = ()
    """Positions of the source words that terms and corrections translate, though the grammar may not contain them."""
    confidence: float | None = None
    """Calibrated probability that at most 30 % of the words must change, as ``WordDetails.confidence``."""


def rule_sides(grammar: Grammar, rule: int) -> tuple[str, str]:
    """Source and target side of a grammar's rule as text, nonterminals as in ``[X,1]`` on both."""
    word, k = grammar.vocab.word, 0
    src, names = [], []
    for symbol in grammar.src(rule):
        if symbol < 0:
            k += 1
            names.append(f"[{grammar.category_name(-1 - symbol)},{k}]")
        src.append(word(symbol) if symbol >= 0 else names[-1])
    tgt = [word(symbol) if symbol >= 0 else names[-1 - symbol] for symbol in grammar.tgt(rule)]
    return " ".join(src), " ".join(tgt)


def split_words(sentence: str) -> list[str]:
    """The words of a sentence, which blanks separate."""
    return [word for word in sentence.split(" ") if word]


def nonterminal_number(symbol: str) -> int:
    """The number of a nonterminal such as ``[X,1]`` on the source side, from 0; -1 for a word."""
    return int(symbol[symbol.rindex(",") + 1 : -1]) - 1 if _NONTERMINAL.fullmatch(symbol) else -1


def describe(
    forest: Forest,
    grammar: Grammar,
    words: Sequence[str],
    apps: Sequence[int],
    features: Sequence[Mapping[str, float]],
    links: Callable[[int], Sequence[tuple[int, int]]] | None = None,
    path: Callable[[int], Sequence[tuple[int, str]]] | None = None,
) -> Derivation:
    """The derivation of some applications.

    Args:
        forest: of the sentence.
        words: of the sentence.
        apps: from the root down, the first tail first, as in ``lscfg.kernel.search.KBest``.
        features: of each application.
        links: word links of a grammar's rule, as in ``RuleLinks``; None: all words of a rule are linked.
        path: of a lattice, which has no ``words``: the own words of an edge's rule with the states where they begin.
    """
    children = _children([len(forest.tails(int(forest.app_edge[app]))) for app in apps])
    spans = [tuple(forest.node_span[forest.edge_head[forest.app_edge[app]]].tolist()) for app in apps]
    sides, texts = [], []
    for app, (i, _), below in zip(apps, spans, children, strict=True):
        rule = int(forest.app_rule[app])
        if not is_extra(grammar, rule):
            sides.append((_in_order(grammar.src(rule)), grammar.tgt(rule)))
            texts.append(rule_sides(grammar, rule))
        else:
            glue_or_word = [-1 - k for k in range(len(below))] or [0]
            sides.append((glue_or_word, glue_or_word))
            word = "" if below else words[i] if path is None else path(int(forest.app_edge[app]))[0][1]
            texts.append(extra_sides(rule - len(grammar), word))
    targets = _target_spans([tgt for _, tgt in sides], children)
    found = []
    for number, app in enumerate(apps):
        (src, tgt), below = sides[number], children[number]
        head, rule = int(forest.edge_head[forest.app_edge[app]]), int(forest.app_rule[app])
        source_words = _own_words(src, spans[number], [spans[child] for child in below])
        if path is not None:
            source_words = tuple(state for state, _ in path(int(forest.app_edge[app])))
        target_words = _own_words(tgt, targets[number], [targets[child] for child in below])
        pairs: Iterable[tuple[int, int]] = itertools.product(range(len(source_words)), range(len(target_words)))
        if links is not None and rule < len(grammar):
            pairs = links(rule)
        found.append(
            AppliedRule(
                grammar.category_name(int(forest.node_cat[head])),
                spans[number],
                targets[number],
                *texts[number],
                source_words,
                target_words,
                tuple(below),
                features[number],
                tuple((source_words[i], target_words[j]) for i, j in pairs),
            )
        )
    return tuple(found)


def source_path(derivation: Derivation) -> list[str]:
    """The words of the path through a lattice that a derivation translates."""
    found = list[tuple[int, str]]()
    for rule in derivation:
        own = (word for word in rule.source.split(" ") if not _NONTERMINAL.fullmatch(word))
        found += zip(rule.source_words, own, strict=True)
    return [word for _, word in sorted(found)]


def _children(arities: Sequence[int]) -> list[list[int]]:
    """The children of each rule, by number, of rules in that order."""
    children: list[list[int]] = [[] for _ in arities]
    roots: list[int] = []  # roots of the rules after this one, the next one last
    for number in reversed(range(len(arities))):
        children[number] = [roots.pop() for _ in range(arities[number])]
        roots.append(number)
    return children


def _in_order(src: Side) -> list[int]:
    """A source side whose nonterminals are tails instead of categories."""
    tails = iter(range(len(src)))
    return [symbol if symbol >= 0 else -1 - next(tails) for symbol in src]


def _target_spans(targets: Sequence[Side], children: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    length = [0] * len(targets)
    for number in reversed(range(len(targets))):
        length[number] = sum(1 if symbol >= 0 else length[children[number][-1 - symbol]] for symbol in targets[number])
    begin = [0] * len(targets)
    for number, target in enumerate(targets):
        position = begin[number]
        for symbol in target:
            if symbol < 0:
                begin[children[number][-1 - symbol]] = position
            position += 1 if symbol >= 0 else length[children[number][-1 - symbol]]
    return [(i, i + n) for i, n in zip(begin, length, strict=True)]


def _own_words(side: Side, span: tuple[int, int], below: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Positions of the words of a side, given its span and those of its nonterminals."""
    position, found = span[0], []
    for symbol in side:
        if symbol >= 0:
            found.append(position)
        position = position + 1 if symbol >= 0 else below[-1 - symbol][1]
    return tuple(found)


def derivations_json(number: int, translated: Translated) -> str:
    """JSON object of a sentence in one line, without a newline; numbers have nine digits (docs/reference/formats.md).

    Args:
        number: of the sentence, from 0.
    """
    derivations = derivation_objects(translated)
    text = segment_text(translated.sentence)
    words = None if is_lattice(text) else split_words(text)
    head: dict[str, Any] = {"id": number, "words": words, "parsed": bool(derivations), "derivations": derivations}
    if any(word.confidence is not None for word in translated.details):
        own = [word.confidence for word in translated.details]
        whole, *shares = (None if one is None else _rounded(one) for one in (translated.confidence, *own))
        head |= {"confidence": whole, "word_confidence": shares}
    return json.dumps(head, ensure_ascii=False, allow_nan=False)


def derivation_objects(translated: Translated) -> list[dict[str, Any]]:
    """The derivations of a sentence as JSON objects; empty without a parse."""
    derivations = translated.derivations
    return [
        {
            "translation": found.text,
            "score": _rounded(found.score),
            "features": {name: _rounded(value) for name, value in found.features.items()},
            "rules": [_rule_object(rule) for rule in derivation],
        }
        for found, derivation in zip(translated.hypotheses if derivations else (), derivations, strict=True)
    ]


def _rule_object(rule: AppliedRule) -> dict[str, Any]:
    return vars(rule) | {"features": {name: _rounded(value) for name, value in rule.features.items()}}


def _rounded(value: float) -> float:
    return float(f"{value:.9g}")
