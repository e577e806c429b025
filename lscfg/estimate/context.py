"""Which target side a rule application has among the source words around it (thesis, chapter 4).

Hidden states know the rules around a rule, but hardly any words. Beside them stands a log-linear model of a rule's
target side given its source side, its span, those of its nonterminals, and the source sentence,

    p(e | f, context) ~ count(f, e) exp(sum over items c of w(rule, c) + sum over words t of e of w(t, c)),

the thesis's phrase-sense disambiguation with features in as many dimensions as there are (section 4.2.4). Its weights
go into the model file; decoders have it as ContextTarget0, ContextTargetBare and ContextTargetN (docs/FORMATS.md).
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from lscfg import log
from lscfg.derive import Derivations
from lscfg.errors import InputError
from lscfg.estimate.examples import Examples
from lscfg.estimate.spectral import Estimate
from lscfg.parameters import CONTEXT_KINDS, ContextWeights, Parameters
from lscfg.rules import RuleTable
from lscfg.text import read_lines

Model = TypeVar("Model", Parameters, Estimate)

BAG = CONTEXT_KINDS - 1
"""The kind of items that are any word of the sentence away from the span."""

NONE = -1
"""In place of a word: there is no item."""


@dataclass(frozen=True)
class ContextSettings:
    """What the context model may be told.

    Attributes:
        penalty: 1 / the variance of the weights' prior, > 0.
        min_count: weights of items that fewer tokens of the outcome have are 0, at least 1.
        min_word: words of fewer occurrences are no items, at least 1.
        max_targets: most frequent target sides of a source side among which is chosen, at least 2.
        iterations: of L-BFGS, at most.
    """

    penalty: float = 2.0
    min_count: int = 2
    min_word: int = 3
    max_targets: int = 20
    iterations: int = 40


def _runs(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For runs of these lengths, one behind the other: each element's run, and its place in it."""
    run = np.repeat(np.arange(len(lengths)), lengths)
    return run, np.arange(len(run)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


@dataclass(frozen=True)
class Contexts:
    """The context items of rule tokens.

    Kinds 0 and 1 are the words one and two before the span, 2 and 3 those behind it, 4 and 5 the first and the last
    word of the first nonterminal, 6 and 7 of the second, ``BAG`` each word further away than two from the span, which
    only rules with words have. An item is kind x (words + 2) + word; the two words behind those of the vocabulary are
    the ends of the sentence.

    Attributes:
        items: int64 [tokens, 8], kinds 0 to 7, ``NONE`` where there is no such word or it is too rare.
        bag_token, bag_item: int64 [pairs], the tokens' items of the kind ``BAG``, in order of tokens.
    """

    items: np.ndarray
    bag_token: np.ndarray
    bag_item: np.ndarray

    @classmethod
    def of(cls, tokens: np.ndarray, examples: Examples, words: np.ndarray, first: np.ndarray, size: int) -> Contexts:
        """The items of tokens.

        Args:
            tokens: int64 [tokens], nodes of the examples, ascending.
            words: int64, the words of all sentences, ``NONE`` for rare ones; first: int64 [sentences + 1].
            size: number of words of the vocabulary.
        """
        derivations = examples.derivations
        tree = np.searchsorted(derivations.trees, tokens, "right") - 1
        begin, end = first[tree], first[tree + 1]
        span = derivations.span[:, :2].astype(np.int64)
        i, j = span[tokens].T

        def at(place: np.ndarray) -> np.ndarray:
            inside = (place >= 0) & (place < end - begin)
            found = np.where(place < 0, size, size + 1)
            found[inside] = words[(begin + place)[inside]]
            return found

        kinds = [at(i - 1), at(i - 2), at(j), at(j + 1)]
        for child in examples.children[tokens].T:
            edges = np.where(child[:, None] >= 0, span[child], 0)
            kinds += [np.where(child >= 0, at(place), NONE) for place in (edges[:, 0], edges[:, 1] - 1)]
        items = np.stack([np.where(word >= 0, kind * (size + 2) + word, NONE) for kind, word in enumerate(kinds)], 1)

        types = examples.type[tokens]
        wordy = np.nonzero(examples.rules.src_length[types] > examples.rules.arity[types])[0]
        index, place = _runs((end - begin)[wordy])
        bag_token = wordy[index]
        word = words[begin[bag_token] + place]
        kept = ((place < i[bag_token] - 2) | (place >= j[bag_token] + 2)) & (word >= 0)
        return cls(items, bag_token[kept], BAG * (size + 2) + word[kept])


class Outcomes:
    """What weights belong to: the rules, then the words of the vocabulary as target words.

    Attributes:
        offsets, members: of each rule the distinct words of its target side, behind the number of rules, and itself.
    """

    def __init__(self, rules: RuleTable):
        rule, place = _runs(np.diff(rules.offsets))
        target = (place >= rules.src_length[rule]) & (rules.symbols >= 0)
        pairs = np.unique(rule[target] * len(rules.words) + rules.symbols[target])
        owner, word = np.divmod(pairs, max(len(rules.words), 1))
        owner = np.concatenate([np.arange(len(rules)), owner])
        member = np.concatenate([np.arange(len(rules)), len(rules) + word])
        order = np.argsort(owner, kind="stable")
        self.members = member[order]
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(rules)))])

    def pairs(self, rules: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(index into ``rules``, outcome) of all outcomes of the rules given."""
        index, place = _runs(np.diff(self.offsets)[rules])
        return index, self.members[self.offsets[rules][index] + place]


def read_source(path: str | os.PathLike[str], derivations: Derivations) -> list[str]:
    """The source sentence of each derivation.

    Raises:
        InputError: the file cannot be read, or has not the sentences of the derivations.
    """
    lines = read_lines(path)
    if len(lines) != derivations.pairs:
        raise InputError(f"{len(lines)} source sentences, but derivations of {derivations.pairs}", path)
    lines *= derivations.alignments
    lengths = np.array([len(line.split()) for line in lines], np.int64)
    owner = np.repeat(np.arange(len(lines)), np.diff(derivations.trees))
    if len(wrong := np.nonzero(derivations.span[:, 1] > lengths[owner])[0]):
        pair = int(owner[wrong[0]]) % derivations.pairs
        raise InputError("is shorter than the sentence of its derivation", path, pair + 1)
    return lines


def add_context(model: Model, derivations: Derivations, source: list[str]) -> Model:
    """The model with the context weights of its rules.

    Args:
        derivations: those that the model was estimated from.
        source: their sentences, as of ``read_source``.

    Raises:
        InputError: no source side has a choice.
    """
    examples = Examples.of(derivations)
    weights = estimate_context(examples, source, ContextSettings())
    settings = asdict(ContextSettings())
    return replace(
        model, context=_of_rules(weights, examples.rules, model.rules), about=model.about | {"context": settings}
    )


def _of_rules(weights: ContextWeights, rules: RuleTable, some: RuleTable) -> ContextWeights:
    """The weights without those of the rules that are not among ``some``, which are in the same order."""
    if len(some) == len(rules):
        return weights
    numbers = {_sides(rules, rule): rule for rule in range(len(rules))}
    kept = [numbers[_sides(some, rule)] for rule in range(len(some))]
    outcomes = np.concatenate([kept, np.arange(len(rules), len(weights.offsets) - 1)]).astype(np.int64)
    lengths = np.diff(weights.offsets)[outcomes]
    index, place = _runs(lengths)
    chosen = weights.offsets[outcomes][index] + place
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return ContextWeights(offsets, weights.items[chosen], weights.weights[chosen])


def _sides(rules: RuleTable, rule: int) -> tuple[bytes, bytes]:
    return rules.src(rule).tobytes(), rules.tgt(rule).tobytes()


def estimate_context(examples: Examples, source: list[str], settings: ContextSettings) -> ContextWeights:
    """The weights that the tokens of the derivations' rules have the highest penalised likelihood with.

    Args:
        source: the source sentences that the derivations are of.

    Raises:
        InputError: no source side has a choice.
    """
    rules = examples.rules
    words, first = _words(source, rules, settings.min_word)

    # the choices of a source side, most frequent first
    side = rules.source_id
    order = np.lexsort((-examples.counts, side))
    rank = np.empty(len(rules), np.int64)
    rank[order] = np.arange(len(rules)) - np.searchsorted(side[order], side[order])
    choices = order[rank[order] < settings.max_targets]
    n_sides = int(side.max(initial=-1)) + 1
    begin, end = (np.searchsorted(side[choices], np.arange(n_sides), where) for where in ("left", "right"))
    number = end - begin

    tokens = np.nonzero(examples.is_example)[0]
    types = examples.type[tokens]
    chosen = (rank[types] < settings.max_targets) & (number[side[types]] > 1)
    tokens, types = tokens[chosen], types[chosen]
    if not len(tokens):
        raise InputError("no source side has two target sides: there is nothing to choose by context")
    contexts = Contexts.of(tokens, examples, words, first, len(rules.words))
    outcomes = Outcomes(rules)
    width = CONTEXT_KINDS * (len(rules.words) + 2)
    own = _rows_and_keys(outcomes, types, np.arange(len(tokens)), contexts, width)
    known, seen = np.unique(np.concatenate([keys for _, keys in own]), return_counts=True)
    known = known[seen >= settings.min_count]

    sizes = number[side[types]]
    ends = np.cumsum(sizes)
    starts = ends - sizes
    token = np.repeat(np.arange(len(tokens)), sizes)
    choice = choices[begin[side[types]][token] + np.arange(len(token)) - starts[token]]
    matrix = _matrix(outcomes, choice, token, contexts, width, known)
    weights, before, after = _fit(matrix, np.log(examples.counts[choice]), choice == types[token], starts, settings)
    log.info(f"{len(known)} context weights; loss of a target side {before:.3f} by frequency, {after:.3f} in context")
    outcome, item = np.divmod(known, width)
    offsets = np.searchsorted(outcome, np.arange(len(rules) + len(rules.words) + 1))
    return ContextWeights(offsets.astype(np.int64), item.astype(np.int32), weights.astype(np.float32))


def _words(source: list[str], rules: RuleTable, least: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of all words, ``NONE`` for rare ones and those that are in no rule, and where sentences begin."""
    numbers = {word: k for k, word in enumerate(rules.words)}
    lines = [line.split() for line in source]
    first = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    words = np.array([numbers.get(word, NONE) for word in chain.from_iterable(lines)], np.int64)
    counts = np.bincount(words[words >= 0], minlength=len(rules.words))
    return np.where((words >= 0) & (counts[words] >= least), words, NONE), first


def _rows_and_keys(
    outcomes: Outcomes, rules: np.ndarray, token: np.ndarray, contexts: Contexts, width: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(row, outcome x width + item) of every feature of rules (rows) in tokens' contexts; tokens ascending."""
    row, outcome = outcomes.pairs(rules)
    found = []
    for items in contexts.items.T:
        item = items[token][row]
        here = item >= 0
        found.append((row[here], outcome[here] * width + item[here]))
    begin, end = (np.searchsorted(contexts.bag_token, token, where) for where in ("left", "right"))
    index, place = _runs((end - begin)[row])
    item = contexts.bag_item[begin[row][index] + place]
    found.append((row[index], outcome[index] * width + item))
    return found


def _matrix(
    outcomes: Outcomes, rules: np.ndarray, token: np.ndarray, contexts: Contexts, width: int, known: np.ndarray
) -> sparse.csr_matrix:
    """How often each row, a rule in a token's context, has each of the known keys; float32 [rows, keys]."""
    parts = []
    for begin in log.progress(range(0, len(rules), BLOCK), "context items"):
        block = slice(begin, begin + BLOCK)
        rows, columns = [], []
        for row, keys in _rows_and_keys(outcomes, rules[block], token[block], contexts, width):
            column = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            here = known[column] == keys
            rows.append(row[here].astype(np.int32))
            columns.append(column[here].astype(np.int32))
        place = (np.concatenate(rows), np.concatenate(columns))
        shape = (len(rules[block]), len(known))
        parts.append(sparse.csr_matrix((np.ones(len(place[0]), np.float32), place), shape=shape))
    return sparse.vstack(parts, "csr")


BLOCK = 200_000
"""Rows of the matrix that are made at a time."""


def _fit(
    matrix: sparse.csr_matrix, frequency: np.ndarray, right: np.ndarray, starts: np.ndarray, settings: ContextSettings
) -> tuple[np.ndarray, float, float]:
    """The best weights, and the loss of a choice (nats) without them and with them."""
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(right))))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray, float]:
        scores = matrix @ weights.astype(np.float32) + frequency
        most = np.maximum.reduceat(scores, starts)
        shares = np.exp(scores - most[group])
        total = np.add.reduceat(shares, starts)
        shares /= total[group]
        log_loss = float((np.log(total) + most).sum() - scores[right].sum())
        gradient = matrix.T @ (shares - right).astype(np.float32) + settings.penalty * weights
        return log_loss + settings.penalty / 2 * float(weights @ weights), gradient.astype(np.float64), log_loss

    start = np.zeros(matrix.shape[1])
    options = {"maxiter": settings.iterations, "maxcor": 6}
    found = minimize(lambda w: loss(w)[:2], start, jac=True, method="L-BFGS-B", options=options)
    return found.x, loss(start)[2] / len(starts), loss(found.x)[2] / len(starts)
