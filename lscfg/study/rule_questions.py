"""Questions of held-out derivations: the right rule, target side or orientation in a forest."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.minimal import MinimalRules
from lscfg.grammar.select import select_rules
from lscfg.grammar.table import RuleTable
from lscfg.kernel import Forest, Grammar

MEASURES = ("rule", "target", "orient", "blind")
"""Kinds of questions; see ``lscfg.study.diagnose``."""

NEITHER, ORDERED, SWAPPED = 0, 1, 2

Span = tuple[int, ...]
"""Begin and end on the source side."""


def orientation(rules: RuleTable) -> np.ndarray:
    """int8 [rules]: ``ORDERED`` or ``SWAPPED`` for source sides of two nonterminals and no word, else ``NEITHER``.

    The target side may have words: only the order of its nonterminals counts.
    """
    found = np.zeros(len(rules), np.int8)
    for rule in np.nonzero((rules.arity == 2) & (rules.src_length == 2))[0].tolist():
        target = rules.tgt(rule)
        found[rule] = ORDERED if target[target < 0][0] == -1 else SWAPPED
    return found


@dataclass(frozen=True)
class Question:
    """Applications of which one is right."""

    measure: str
    """One of ``MEASURES``."""
    options: np.ndarray
    """int64 [n], applications of the forest."""
    where: np.ndarray | None
    """int64 [n], the option of each application, from 0; None if each is an option by itself."""
    right: int
    """The option of the reference."""
    rule: int = -1
    """The rule of the reference, a number in the held-out derivations; -1 if it does not matter."""

    def answer(self, scores: np.ndarray, floor: float) -> tuple[float, float]:
        """Log-loss in nats and reciprocal rank of the right option.

        Args:
            scores: float64 [n_apps], not negative. Options that all have 0 count as equally likely, as in a decoder.
            floor: least share whose logarithm is taken.
        """
        values = scores[self.options]
        if self.where is not None:
            values = np.bincount(self.where, values, 2)
        right, total = values[self.right], values.sum()
        share = right / total if total > 0 else 1 / len(values)
        # the middle rank among equal ones, so that constant scores are worth nothing
        rank = 1 + (values > right).sum() + ((values == right).sum() - 1) / 2
        return -math.log(max(share, floor)), 1 / float(rank)


class RuleQuestions:
    """Questions about the rules of held-out pairs, in the forests that the rules of the training pairs give.

    Args:
        train: the derivations whose minimal rules make up the grammar.
        held_out: derivations of other pairs.
        max_targets: target sides of a source side in the grammar, as in the grammar of a decoder.
        over_forests: references are all minimal derivations of the held-out pairs instead of their trees.

    Raises:
        InputError: the held-out derivations have no forests, or the training rules have several categories.
    """

    grammar: Grammar
    frequency: np.ndarray
    """float64 [rules of the grammar and extra ones], counts in the training derivations."""
    orientation: np.ndarray
    """int8 of the same shape; see ``orientation``."""
    held_rules: RuleTable
    """The rules of the references."""
    pair: np.ndarray
    """int64 [trees], sentence pair of each held-out tree with nodes; the trees of several alignments share it."""

    def __init__(self, train: Derivations, held_out: Derivations, max_targets: int, over_forests: bool):
        if train.rules.lhs is not None:
            raise InputError(
                "the training derivations have several categories, but choices are those of [X] alone; derive them "
                "without --labels"
            )
        if over_forests and held_out.forests is None:
            raise InputError("the held-out derivations contain no forests; create them with lscfg derive --forests")
        self.counts = {"applications": 0, "in the forests": 0}
        self._reference_forests, self.held_rules = None, held_out.rules
        if over_forests and held_out.forests:
            forests = held_out.forests
            self._reference_forests = dataclasses.replace(forests, first=np.unique(forests.first))
            self.held_rules = forests.rules
        filled = np.nonzero(np.diff(held_out.trees))[0]  # a dropped pair has a tree without nodes
        self.pair = filled % held_out.pairs
        self.held_out = dataclasses.replace(held_out, trees=np.unique(held_out.trees))
        counted = MinimalRules.of(train)
        kept = select_rules(counted, max_targets).kept
        text = _lines(counted.rules, kept)
        self.grammar = Grammar()
        self.grammar.read_text(text)
        self.grammar.finish()
        # The three extra rules follow the rules of the grammar and are never right.
        extra = len(self.grammar) + 3 - len(kept)
        self.frequency = np.concatenate([counted.count[kept], np.zeros(extra)])
        self.orientation = np.concatenate([orientation(counted.rules)[kept], np.zeros(extra, np.int8)])
        number = {line: k for k, line in enumerate(text.split("\n"))}
        held = self.held_rules
        self._held_orientation = orientation(held)
        lines = _lines(held, np.arange(len(held))).split("\n")
        self._number = np.array([number.get(line, -1) for line in lines[: len(held)]], np.int64)

    def of(self, forest: Forest, tree: int) -> list[Question]:
        """The questions of a tree of a held-out pair, whose source side has the forest."""
        at_span = {tuple(span): q for q, span in enumerate(forest.node_span.tolist())}
        questions = self._borders(forest, tree)
        for span, edges in self._reference(tree):
            self.counts["applications"] += len(edges)
            found = [(rule, self._find(forest, at_span, rule, (span, *tails))) for rule, tails in edges]
            found = [(rule, app) for rule, app in found if app >= 0]
            self.counts["in the forests"] += len(found)
            if found:
                questions += self._of_node(forest, found)
        return questions

    def _reference(self, tree: int) -> Iterator[tuple[Span, list[tuple[int, list[Span]]]]]:
        """The nodes of the reference: source span, and each rule that rewrites it there with the spans below."""
        held, forests = self.held_out, self._reference_forests
        if forests is None:
            first, last = held.trees[tree : tree + 2].tolist()
            children: dict[int, list[Span]] = {node: [] for node in range(first, last)}
            spans = [tuple(span) for span in held.span[first:last, :2].tolist()]
            for node in range(first + 1, last):
                children[int(held.parent[node])].append(spans[node - first])
            for node in range(first, last):
                yield spans[node - first], [(int(held.rule[node]), children[node])]
            return
        first, last = forests.first[tree : tree + 2].tolist()
        spans = [tuple(span) for span in forests.span[first:last, :2].tolist()]
        for node in range(first, last):
            edges = []
            for edge in range(forests.edge[node], forests.edge[node + 1]):
                tails = forests.tail[forests.first_tail[edge] : forests.first_tail[edge + 1]].tolist()
                edges.append((int(forests.rule[edge]), [spans[tail - first] for tail in tails]))
            yield spans[node - first], edges

    def _borders(self, forest: Forest, tree: int) -> list[Question]:
        """The questions ``blind``, which all derivations of a pair share."""
        held, questions = self.held_out, []
        of_rule = self.orientation[forest.app_rule]
        tails = forest.edge_tail[forest.app_edge]
        split = np.where(of_rule > NEITHER, forest.node_span[tails[:, 0], 1], -1)
        for node in range(*held.trees[tree : tree + 2].tolist()):
            rule = int(held.rule[node])
            if self._held_orientation[rule] == NEITHER:
                continue
            options = np.nonzero(split == held.span[node + 1, 1])[0]  # the first child follows its node
            where = of_rule[options].astype(np.int64) - ORDERED
            if len(np.unique(where)) == 2:
                questions.append(Question("blind", options, where, int(self._held_orientation[rule]) - ORDERED, rule))
        return questions

    def _of_node(self, forest: Forest, found: list[tuple[int, int]]) -> list[Question]:
        """The other questions at a node.

        Args:
            found: rules of the reference and their applications, one or more; all of them are right.
        """
        questions = []
        of_rule = self.orientation[forest.app_rule]
        right = np.array([app for _, app in found])
        head = int(forest.edge_head[forest.app_edge[right[0]]])
        begin, end = forest.edge_apps[forest.node_edges[head : head + 2]].tolist()
        where = np.arange(end - begin)
        where[right - begin] = where[right[0] - begin]
        if len(np.unique(where)) > 1:
            one = None if len(right) == 1 else np.unique(where, return_inverse=True)[1]
            answer = int(right[0] - begin if one is None else one[right[0] - begin])
            questions.append(Question("rule", np.arange(begin, end), one, answer, found[0][0]))
        pairs = [(rule, app) for rule, app in found if of_rule[app] > NEITHER]
        for rule, app in found:
            options = self._of_edge(forest, app)
            if of_rule[app] == NEITHER and len(options) > 1:
                questions.append(Question("target", options, None, app - int(options[0]), rule))
        if pairs:
            options = np.concatenate([self._of_edge(forest, app) for _, app in pairs])
            orders, (rule, app) = of_rule[options].astype(np.int64) - ORDERED, pairs[0]
            if len(np.unique(orders)) == 2:
                questions.append(Question("orient", options, orders, int(of_rule[app]) - ORDERED, rule))
        return questions

    def _of_edge(self, forest: Forest, app: int) -> np.ndarray:
        """The applications of the same source side over the same tails, int64, ascending."""
        edge = int(forest.app_edge[app])
        return np.arange(*forest.edge_apps[edge : edge + 2].tolist())

    def _find(self, forest: Forest, at_span: dict[Span, int], rule: int, spans: Sequence[Span]) -> int:
        """The application of a reference's rule at the spans of its node and children; -1 if there is none."""
        number = int(self._number[rule])
        head, *tails = (at_span.get(span, -1) for span in spans)
        if number < 0 or min(head, *tails, 0) < 0:
            return -1
        begin, end = forest.edge_apps[forest.node_edges[head : head + 2]].tolist()
        tails += [-1] * (2 - len(tails))
        apps = begin + np.nonzero(forest.app_rule[begin:end] == number)[0]
        fits = (forest.edge_tail[forest.app_edge[apps]] == tails).all(axis=1)
        return int(apps[fits][0]) if fits.any() else -1


def _lines(rules: RuleTable, which: np.ndarray) -> str:
    """Rules in cdec's format without features, one per line."""
    return rules.kernel.text(which, (), np.empty((len(which), 0))).decode("utf-8")
