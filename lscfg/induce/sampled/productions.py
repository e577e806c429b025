"""Forests of a file for sampling, with a production on each edge (docs/reference/formats.md, Forests, Derivations)."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lscfg import log
from lscfg.errors import InputError, counted, cut
from lscfg.extract.derive import Derivations
from lscfg.extract.yields import expand_ranges
from lscfg.grammar.table import RuleTable
from lscfg.io.read import stream_lines
from lscfg.io.tensors import is_tensors
from lscfg.json_text import parse_json
from lscfg.kernel.base import words_fault
from lscfg.kernel.sample import GivenForest, PhraseForests

_NONTERMINAL = re.compile(r"\[([^\[\],\s]+),([1-9]\d*)\]")
_CATEGORY = re.compile(r"[^\[\],\s|]+")
_TARGET = re.compile(r"\[(?:[^\[\],\s]+,)?([1-9]\d*)\]")

ROUNDS = 10
"""Iterations of inside-outside for the probabilities of productions."""


@dataclass(frozen=True)
class Production:
    """A production: its category, and both sides. Nonterminals are numbers from 0 in source order."""

    category: str
    source: tuple[str | int, ...]
    target: tuple[str | int, ...]
    tails: tuple[str, ...]
    """Categories of the nonterminals."""


@dataclass(frozen=True)
class ProductionForests:
    """Forests of a file, and the productions that label their edges."""

    productions: list[Production]
    forests: list[GivenForest]

    @property
    def categories(self) -> np.ndarray:
        """int32 [productions], numbers of the categories."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(p.category, len(numbers)) for p in self.productions], np.int32)

    def kernel(self, max_cut: int, pcfg: bool) -> PhraseForests:
        """The forests in the kernel; pcfg: with probabilities of productions."""
        made, category = PhraseForests(max_cut), self.categories
        made.label(category, production_weights(category, self.forests) if pcfg else np.zeros(len(category)))
        for forest in self.forests:
            made.give(forest)
        return made


def read_productions(path: str | os.PathLike[str], max_words: int) -> ProductionForests:
    """Reads forests; those of unparsed sentences and of more than ``max_words`` words are left out.

    Args:
        path: lines of forests, or derivations with forests, whose rules are the productions.

    Raises:
        InputError: a line is not a forest, or a production does not fit its tails; the derivations contain no forests;
            or no forest is left.
    """
    if is_tensors(path):
        return _with_forests(_of_derivations(Derivations.load(path), max_words, path), path)
    numbers: dict[Production, int] = {}
    made = ProductionForests([], [])
    unparsed = long = 0
    for number, text in enumerate(stream_lines(path), 1):
        try:
            line = parse_json(text)
            if "cut" in line:
                raise InputError("lscfg inspect marginals kept only the largest marginals, so derivations are missing")
            if not line["parsed"]:
                unparsed += 1
                continue
            if line["nodes"][-1][2] - line["nodes"][-1][1] > max_words:
                long += 1
                continue
            made.forests.append(_forest(line, numbers))
        except json.JSONDecodeError as error:
            raise InputError(f"not JSON: {error.msg}; the file may be cut off", path, number) from error
        except InputError as error:
            raise InputError(str(error), path, number) from error
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else cut(error) or repr(error)
            raise InputError(
                f"not a forest ({what}); see Forests in the documentation of formats", path, number
            ) from error
    if unparsed:
        log.info(f"left out: {counted(unparsed, 'sentence')} without a parse")
    _tell_long(long, max_words)
    made.productions.extend(numbers)
    return _with_forests(made, path)


def _tell_long(number: int, max_words: int) -> None:
    if number:
        log.warning(f"left out: {counted(number, 'forest')} of more than {max_words} words")


def _with_forests(made: ProductionForests, path: str | os.PathLike[str]) -> ProductionForests:
    if not made.forests:
        raise InputError("no forest is left", path)
    return made


def _of_derivations(derivations: Derivations, max_words: int, path: str | os.PathLike[str]) -> ProductionForests:
    """The forests of derivations. Rules have the numbers of their first edges, as in a file of lines."""
    found = derivations.forests
    if found is None:
        raise InputError("the derivations contain no forests; create them with lscfg derive --forests", path)
    forests, long = list[GivenForest](), 0
    for first, end in itertools.pairwise(found.first.tolist()):
        if end == first:
            continue  # a dropped pair
        if found.span[first, 1] - found.span[first, 0] > max_words:
            long += 1
            continue
        # heads stand before their tails there, and behind them here
        bounds = found.edge[first : end + 1]
        sizes = np.diff(bounds)[::-1]
        edge = expand_ranges(bounds[:-1][::-1], sizes)
        arity = found.arity[edge].astype(np.int64)
        tails = found.tail[expand_ranges(found.first_tail[edge], arity)]
        forests.append(
            GivenForest(
                np.ascontiguousarray(found.span[first:end, :2][::-1], np.int32),
                np.cumsum([0, *sizes], dtype=np.int32),
                found.rule[edge],
                np.cumsum([0, *arity], dtype=np.int32),
                (end - 1 - tails).astype(np.int32),
            )
        )
    _tell_long(long, max_words)
    labels = np.concatenate([forest.label for forest in forests]) if forests else np.empty(0, np.int32)
    rules, begin = np.unique(labels, return_index=True)
    rules = rules[np.argsort(begin)]
    number = np.zeros(len(found.rules), np.int32)
    number[rules] = np.arange(len(rules))
    forests = [replace(forest, label=number[forest.label]) for forest in forests]
    return ProductionForests([_rule(found.rules, rule) for rule in rules.tolist()], forests)


def _rule(rules: RuleTable, rule: int) -> Production:
    """The production of a rule."""
    names, gap = rules.categories, itertools.count()
    source = [rules.words[symbol] if symbol >= 0 else next(gap) for symbol in rules.src(rule).tolist()]
    target = [rules.words[symbol] if symbol >= 0 else -1 - symbol for symbol in rules.tgt(rule).tolist()]
    tails = [names[-1 - symbol] for symbol in rules.src(rule).tolist() if symbol < 0]
    return Production(names[rules.category[rule]], tuple(source), tuple(target), tuple(tails))


def _forest(line: dict[str, Any], numbers: dict[Production, int]) -> GivenForest:
    """The forest of a line without nodes that are in no derivation of the root; new productions get numbers."""
    nodes = line["nodes"]
    into: list[list[tuple[int, list[int]]]] = [[] for _ in nodes]
    for edge in line["edges"]:
        head, tails = edge["node"], edge["tails"]
        if not 0 <= head < len(nodes) or not all(isinstance(tail, int) and 0 <= tail < head for tail in tails):
            raise ValueError(f"node {cut(head)} with tails {cut(tails)}; tails precede their heads")
        _check_spans([nodes[node][1:3] for node in (head, *tails)])
        for target, *_ in edge["targets"]:
            production = _production(nodes[head][0], edge["source"], target, [nodes[tail][0] for tail in tails])
            into[head].append((numbers.setdefault(production, len(numbers)), tails))
    useful = _useful(into)
    if not useful:
        raise InputError("the root has no derivation")
    place = {node: k for k, node in enumerate(useful)}
    kept = [[edge for edge in into[node] if all(tail in place for tail in edge[1])] for node in useful]
    edges = [edge for of_node in kept for edge in of_node]
    return GivenForest(
        np.array([nodes[node][1:3] for node in useful], np.int32),
        np.cumsum([0, *map(len, kept)], dtype=np.int32),
        np.array([label for label, _ in edges], np.int32),
        np.cumsum([0, *(len(tails) for _, tails in edges)], dtype=np.int32),
        np.array([place[tail] for _, tails in edges for tail in tails], np.int32),
    )


def _check_spans(spans: list[list[int]]) -> None:
    """Raises an error unless the spans of tails lie side by side within that of the head, the first.

    No tree can then contain a node twice.
    """
    (begin, end), *tails = spans
    position = begin
    for first, last in tails:
        if not position <= first < last:
            break
        position = last
    else:
        if begin < end and position <= end:
            return
    raise InputError(f"tails of the spans {cut(tails)} do not lie side by side within {begin}-{end}, in source order")


def _useful(into: Sequence[Sequence[tuple[int, list[int]]]]) -> list[int]:
    """Nodes that have a derivation and occur in one of the root, in order; none if the root has no derivation."""
    derived: set[int] = set()
    for node, edges in enumerate(into):
        if any(derived.issuperset(tails) for _, tails in edges):
            derived.add(node)
    wanted = {len(into) - 1} & derived
    for node in range(len(into) - 1, -1, -1):
        if node in wanted:
            wanted.update(*(tails for _, tails in into[node] if derived.issuperset(tails)))
    return sorted(wanted)


def _production(category: str, source: str, target: str, tails: list[str]) -> Production:
    if not isinstance(category, str) or not _CATEGORY.fullmatch(category):
        raise InputError(f"{cut(category)} cannot be a category")
    order: list[str] = []
    symbols: list[str | int] = []
    for token in source.split():
        found = _NONTERMINAL.fullmatch(token)
        symbols.append(len(order) if found else token)
        if found:
            if len(order) < len(tails) and found[1] != tails[len(order)]:
                raise InputError(f"{cut(token)} of {cut(source)} over a node {cut(tails[len(order)])}")
            order.append(found[2])
    if len(order) != len(tails) or len(set(order)) < len(order) or not symbols:
        raise InputError(f"the source side {cut(source)} does not fit its {counted(len(tails), 'tail')}")
    words: list[str | int] = []
    for token in target.split():
        found = _TARGET.fullmatch(token)
        if found and found[1] not in order:
            raise InputError(f"{cut(token)} of the target side {cut(target)} is not on the source side")
        words.append(order.index(found[1]) if found else token)
    if sorted(word for word in words if isinstance(word, int)) != list(range(len(tails))):
        raise InputError(f"the target side {cut(target)} does not fit the source side {cut(source)}")
    for side in (symbols, words):
        if fault := words_fault(" ".join(word for word in side if isinstance(word, str))):
            raise InputError(fault)
    return Production(category, tuple(symbols), tuple(words), tuple(tails))


# ---- probabilities of productions ----


def production_weights(category: np.ndarray, forests: Sequence[GivenForest], rounds: int = ROUNDS) -> np.ndarray:
    """Log probabilities of productions given their category, by inside-outside with one state from uniform ones.

    Args:
        category: int32 [productions].

    Returns:
        float64 [productions], each after add-one smoothing, so that none is impossible.
    """
    logs: np.ndarray = -np.log(np.bincount(category)[category])
    for _ in range(rounds):
        counts = np.ones(len(category))
        for forest in forests:
            np.add.at(counts, forest.label, edge_marginals(forest, logs[forest.label]))
        logs = np.log(counts) - np.log(np.bincount(category, counts))[category]
    return logs


def edge_marginals(forest: GivenForest, log_weight: np.ndarray) -> np.ndarray:
    """Probability that a tree of the forest contains an edge, if it is as likely as the product of its weights.

    Args:
        log_weight: float64 [edges].
    """
    n, tails = len(forest.span), forest.tails
    inside, score = np.empty(n), np.empty(len(forest.label))
    ends, bounds = forest.first_tail, forest.first_edge
    for node in range(n):
        begin, end = bounds[node], bounds[node + 1]
        for edge in range(begin, end):
            score[edge] = log_weight[edge] + inside[tails[ends[edge] : ends[edge + 1]]].sum()
        inside[node] = np.logaddexp.reduce(score[begin:end])
    marginal, outside = np.empty(len(score)), np.zeros(n)
    outside[-1] = 1.0
    for node in range(n - 1, -1, -1):
        begin, end = bounds[node], bounds[node + 1]
        marginal[begin:end] = outside[node] * np.exp(score[begin:end] - inside[node])
        for edge in range(begin, end):
            outside[tails[ends[edge] : ends[edge + 1]]] += marginal[edge]
    return marginal
