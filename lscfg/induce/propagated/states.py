"""Hidden states of new rules, from the states of similar labelled phrases.

A model gives rules without nonterminals, and unknown words, their probabilities in each state. New rules take a part
of the mass of unknown words, state by state, so that no sum changes.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.grammar.table import RuleTable
from lscfg.induce.propagated.diagnosis import rule_costs
from lscfg.induce.propagated.neighbours import transitions
from lscfg.induce.propagated.ngrams import NGrams
from lscfg.induce.propagated.phrases import PhraseFile
from lscfg.kernel import CONTEXT_SHAPES, CONTEXT_WORD_KINDS
from lscfg.model.context import ContextModel
from lscfg.model.parameters import OneState, Parameters

# New rules take a share of the probability mass of unknown words, state by state, so no sum changes.

MOST = 0.9
"""Largest share of the mass of unknown words for new rules, since some words stay unknown."""


class NewRule(NamedTuple):
    """A rule without nonterminals, and P(e|f)."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    probability: float


def read_rules(path: str | os.PathLike[str]) -> list[NewRule]:
    """The rules of a grammar of ``lscfg propagate rules``.

    Raises:
        InputError: a rule has no cost GraphEgivenF.
    """
    costs = rule_costs(path, "GraphEgivenF")
    return [NewRule(tuple(f.split()), tuple(e.split()), p) for f, own in costs.items() for e, p in own.items()]


def with_states(
    model: Parameters, share: np.ndarray | None, phrases: PhraseFile, graph: sparse.csr_matrix, rules: Sequence[NewRule]
) -> Parameters:
    """The model with the new rules.

    The states of a phrase are the mean over its labelled neighbours, weighted by similarity; a phrase without
    neighbours gets the states of unknown words. Rules of a phrase differ only in P(e|f). A context model gets the
    rules, too, and scores their target words with the weights of other rules.

    Args:
        share: float64 [m], share of each state; None if the parameters are not probabilities.
        graph: similarities of source phrases.

    Raises:
        InputError: parameters are negative, or the model has no mass for unknown words.
    """
    if model.rules.lhs is not None:
        raise InputError("the model has several categories; expansion needs a model of [X] alone")
    if share is None:
        raise InputError(
            "the model has negative parameters, which cannot be probabilities of states; use one of em or clusters"
        )
    if not model.unk.sum() > 0:
        raise InputError("the model has no mass for unknown words; estimate it again")
    first = int((model.rules.arity == 0).sum())
    model_rules = {_sides(model.rules, rule) for rule in range(first)}
    new = [rule for rule in rules if (rule.source, rule.target) not in model_rules]
    if not new:
        return model
    states = _phrase_states(model, share, phrases, graph, {rule.source for rule in new})
    raw = np.array([rule.probability * states[rule.source] for rule in new])
    taken = min(len({rule.source for rule in new}) / max((~phrases.labelled).sum(), 1), MOST)
    total = raw.sum(0)
    added = taken * model.unk * raw / np.where(total > 0, total, 1)
    one = None
    if model.one:
        plain = np.array([rule.probability for rule in new])
        values = taken * float(model.one.unk[0]) * plain / plain.sum()
        one = OneState(np.insert(model.one.rules, first, values), model.one.unk * (1 - taken))
    zero = np.concatenate([model.tensors[0], added.astype(model.tensors[0].dtype)])
    return dataclasses.replace(
        model,
        rules=_with_rules(model.rules, new, first),
        tensors=(zero, *model.tensors[1:]),
        unk=model.unk - added.sum(0),
        one=one,
        context=_with_context(model.context, new) if model.context else None,
        about={**model.about, "new rules": len(new)},
    )


def _sides(rules: RuleTable, rule: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    source, target = (tuple(rules.words[word] for word in side) for side in (rules.src(rule), rules.tgt(rule)))
    return source, target


def _phrase_states(
    model: Parameters, share: np.ndarray, phrases: PhraseFile, graph: sparse.csr_matrix, wanted: set[tuple[str, ...]]
) -> Mapping[tuple[str, ...], np.ndarray]:
    """p(state | phrase) of some source phrases, float64 [m] each."""
    of_source: dict[tuple[str, ...], np.ndarray] = {}
    for rule, values in enumerate(model.tensors[0].astype(float)):
        source = _sides(model.rules, rule)[0]
        of_source[source] = of_source.get(source, 0) + values * share
    texts = [tuple(text.split()) for text in phrases.source.phrases.texts(phrases.words)]
    known = np.zeros((len(texts), model.rank))
    for row, text in enumerate(texts):
        if phrases.labelled[row] and text in of_source:
            own = of_source[text]
            known[row] = own / max(own.sum(), np.finfo(float).tiny)
    mixed = np.asarray(transitions(graph) @ known)
    unknown = model.unk * share
    fallback = unknown / unknown.sum() if unknown.sum() > 0 else np.full(model.rank, 1 / model.rank)
    sums = mixed.sum(1)
    found = {}
    for row, text in enumerate(texts):
        if text in wanted:
            found[text] = mixed[row] / sums[row] if sums[row] > 0 else fallback
    return found | dict.fromkeys(wanted - found.keys(), fallback)


def _with_rules(rules: RuleTable, new: Sequence[NewRule], first: int) -> RuleTable:
    """The table with rules without nonterminals inserted before rule ``first``; words keep their numbers."""
    numbers = {word: number for number, word in enumerate(rules.words)}
    rows = [[numbers.setdefault(word, len(numbers)) for word in rule.source + rule.target] for rule in new]
    made = NGrams.of(rows)
    at = int(rules.offsets[first])
    symbols = np.concatenate([rules.symbols[:at], made.symbols, rules.symbols[at:]])
    lengths = np.insert(np.diff(rules.offsets), first, made.lengths)
    own = [len(rule.source) for rule in new]
    return RuleTable(
        [*numbers],
        symbols.astype(rules.symbols.dtype),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.insert(rules.src_length, first, own),
        np.insert(rules.arity, first, np.zeros(len(own), np.int32)),
    )


def _with_context(context: ContextModel, new: Sequence[NewRule]) -> ContextModel:
    """Adds the rules to the context model, without weights and with their probabilities as counts."""
    old = context.rules
    known = {_sides(old, rule) for rule in np.flatnonzero(old.arity == 0).tolist()}
    new = [rule for rule in new if (rule.source, rule.target) not in known]
    rules = _with_rules(old, new, len(old))
    more = len(rules.words) - len(old.words)
    # outcomes: rules, words, shapes; items: kinds of words of the sentence and its two ends, then lengths
    sizes = np.diff(context.offsets)
    sizes = np.insert(sizes, [len(old)] * len(new) + [len(old) + len(old.words)] * more, 0)
    assert len(sizes) == len(rules) + len(rules.words) + CONTEXT_SHAPES
    kind, word = np.divmod(context.items, len(old.words) + 2)
    moved = kind * (len(rules.words) + 2) + word + np.where(word >= len(old.words), more, 0)
    border = CONTEXT_WORD_KINDS * (len(old.words) + 2)
    items = np.where(context.items < border, moved, context.items + CONTEXT_WORD_KINDS * more).astype(np.int32)
    counts = np.concatenate([context.counts, [rule.probability for rule in new]])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    dense = context.low_dimensional and context.low_dimensional.with_more(len(old.words), more, len(new))
    return ContextModel(rules, counts, offsets, items, context.weights, dense)
