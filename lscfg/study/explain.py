"""Explanation of one sentence by a model: best derivation, and for each span target sides, gains and hidden states.

The best derivation has the largest product of q(a) over its applications a, where q(a) is the share of a in its node,

    q(a) = mu(a) / mu(head of a),

which approximates the model by a tree distribution without states (max-rule-product of Petrov and Klein 2007). In a
model with context weights, these scale the share of each target side.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lscfg import log
from lscfg.decode.derivations import AppliedRule, describe, rule_sides
from lscfg.decode.latent import LatentFeatures
from lscfg.decode.parsing import model_grammar, parse_options, read_grammar
from lscfg.errors import InputError, quote
from lscfg.formats.ini import find_file, read_ini
from lscfg.kernel import CONTEXT_FEATURES, BindingOptions, FeatureOptions, Forest, Grammar, Model, ParseOptions, X
from lscfg.kernel.extra_rules import extra_sides
from lscfg.kernel.forest import REST
from lscfg.kernel.options import LatentOptions
from lscfg.model.parameters import Parameters
from lscfg.study.states import States

NONTERMINAL = re.compile(r"\[[^\[\]]+,[0-9]+\]")
"""A nonterminal in a side of a rule; no grammar has such a word."""

SEEN = 0.05
"""Least marginal of the spans shown besides those of the best derivation."""


@dataclass(frozen=True)
class Choice:
    """One rule that a span may have."""

    source: str
    target: str
    """Both sides as text."""
    spans: tuple[tuple[int, int], ...]
    """Spans of the nonterminals in source order."""
    marginal: float
    """mu, the probability of the rule there, given the sentence; in [0, 1] for models of probabilities."""
    given_source: float
    """P(e|f), share among the target sides of the same source side over the same spans."""
    frequency: float | None
    """Relative frequency of the target side among these; None for a rule outside the model."""
    gain: float | None
    """ln(given_source / frequency), the effect of the hidden states; None without a frequency or a probability."""
    context: float | None
    """Effect of the surrounding words, as a logarithm; None without context weights."""
    chosen: bool
    """True if the rule is part of the best derivation."""


@dataclass(frozen=True)
class StateShare:
    """A hidden state at a span."""

    state: int
    """Number of the state."""
    share: float
    """Posterior of the state given the span, in [0, 1]."""
    name: str
    """Typical words of the state."""


@dataclass(frozen=True)
class SpanChoices:
    """A span of the sentence with the rules that compete for it."""

    span: tuple[int, int]
    """Words i to j, half-open, from 0."""
    words: str
    """Text of the span."""
    marginal: float
    """mu of the span."""
    depth: int | None
    """Depth of the span in the best derivation; None outside that derivation."""
    choices: tuple[Choice, ...]
    """Choices, the best first."""
    n_choices: int
    """Number of all choices."""
    states: tuple[StateShare, ...]
    """States, the most probable first; empty if the parameters are not probabilities, or for several categories."""
    category: str = "X"
    """Category of the span; a span may have several."""


@dataclass(frozen=True)
class Explanation:
    """A sentence explained by a model."""

    model: str
    """File of the model."""
    rank: int
    """Number m of hidden states."""
    words: tuple[str, ...]
    """Words of the sentence."""
    unknown: tuple[str, ...] = ()
    """Words without a rule, in their order."""
    translation: str | None = None
    """Translation of the best derivation; None without a parse."""
    best: tuple[AppliedRule, ...] = ()
    """The rules of the best derivation, each before its children."""
    spans: tuple[SpanChoices, ...] = ()
    """Spans of the best derivation from the root down, then others with a marginal of ``least`` or more."""
    log_g: float = -math.inf
    """Natural logarithm of the sum over all derivations; -inf if no derivation has a probability."""
    negative_mass: float = 0.0
    """Share of negative marginals in the absolute sum, in [0, 1]."""


class Explainer:
    """Explains sentences by a model.

    Args:
        path: a model, which parses with its own rules, or an ini with an LSCFG line, which sets the grammar and
            options.

    Raises:
        InputError: a file cannot be read, or the ini has no LSCFG line.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        unknown, negative = BindingOptions(compose=True), "flip"
        self._ways: tuple[ParseOptions, ...] = ()
        self._borrows = False
        model_path, config = path, read_ini(path) if self.path.endswith(".ini") else None
        if config is not None:
            if config.latent is None:
                raise InputError("no feature_function=LSCFG, so no model to explain", path)
            found = find_file(config.latent.options.get("model", ""), path)
            if found is None:
                raise InputError("feature function LSCFG: no model file", path, config.latent.number)
            options = LatentOptions.of(config.latent.options.items())
            model_path, unknown, negative = found, options.unknown, options.features.negative
            self.grammar = read_grammar(config)
            self._borrows = config.substitutes
        self.model = Model(model_path)
        parameters = Parameters.load(model_path)
        goal = X
        if config is not None:
            self._frequency = _frequencies(parameters, self.grammar)
        else:
            self.grammar, goal = model_grammar(self.model)
            self._frequency = np.zeros(len(self.grammar))
            if parameters.one is not None:
                self._frequency[: len(self.model)] = parameters.one.rules
        known = {*parameters.rules.categories}
        self._categories = [c for c, name in enumerate(self.grammar.categories()) if name in known]
        self.states = States.of(parameters)
        self._has_context = parameters.context is not None and parameters.context.has_weights
        names = ("LatentEgivenF", *(CONTEXT_FEATURES if self._has_context else ()))
        # shares of marginals explain a sentence also if g < 0
        features = FeatureOptions(log=False, negative=negative, names=names, improper="keep")
        self._latent = LatentFeatures(self.model, self.grammar, features, unknown)
        self._alone = ParseOptions(1, False, 2, goal, passed=self._latent.binding.passed)
        if config is not None:
            self._ways = parse_options(config, self.grammar, self._latent.binding)
        self._names = [self.states.name(h) for h in range(self.model.rank)] if self.states else []

    def __call__(
        self, sentence: str, top: int = 3, least: float = SEEN, derivation: Sequence[AppliedRule] = ()
    ) -> Explanation:
        """Explains a sentence of words separated by blanks.

        Args:
            top: largest number of choices, and of states, of a span.
            least: smallest marginal of spans outside the best derivation.
            derivation: replaces the best derivation, for example by that of a decoder with the same ini. A rule that
                an unknown word borrows has the figures of the copied word.

        Raises:
            InputError: ``top`` or ``least`` is out of its range, or the derivation is not in the forest.
            TooLargeError: the forest exceeds the limit.
        """
        if top < 1 or not 0 <= least < math.inf:
            raise InputError("the number of choices must be at least 1, and the minimum marginal at least 0")
        words = tuple(sentence.split())
        forest = self._parse(words)
        unknown = self._unknown(words, forest)
        if forest is None:
            return Explanation(self.path, self.model.rank, words, unknown)
        inference, states = self._latent.binding.infer_states(forest)
        features = self._latent.binding.features(forest, inference, self._latent.options)
        context = features[:, 1:].sum(axis=1)
        shares = _shares(forest, np.abs(inference.apps), context)
        apps = self._apps_of(forest, words, derivation) if derivation else _best_derivation(forest, shares)
        head = forest.edge_head[forest.app_edge]
        best = tuple(replace(rule, features={}) for rule in derivation)
        best = best or describe(forest, self.grammar, words, apps, [{} for _ in apps])
        depth = {int(head[app]): level for app, level in zip(apps, _depths(best), strict=True)}
        with_states = np.isin(forest.node_cat, self._categories)
        others = np.nonzero(with_states & (np.abs(inference.nodes) >= least))[0]
        nodes = [int(head[app]) for app in apps if with_states[head[app]]]
        nodes += sorted({*others.tolist()}.difference(nodes), key=lambda q: (*forest.node_span[q].tolist(), q))
        sheet = _Sheet(forest, inference.apps, features[:, 0], context, shares, frozenset(apps))
        spans = tuple(
            self._span(sheet, q, words, float(inference.nodes[q]), depth.get(q), states[q], top) for q in nodes
        )
        text = _translation(best)
        return Explanation(
            self.path, self.model.rank, words, unknown, text, best, spans, inference.log_g, inference.negative_mass
        )

    def _unknown(self, words: Sequence[str], forest: Forest | None) -> tuple[str, ...]:
        """The words that no rule of the grammar matches in the sentence; a warning if these are all words."""
        matched = np.zeros(len(words) + 1, np.int64)  # how often words are terminals of rules, as differences
        if forest is not None:
            edges = np.unique(forest.app_edge[forest.app_rule < len(self.grammar)])
            tails = forest.edge_tail[edges].reshape(-1)
            tails = tails[tails >= 0]
            tails = tails[forest.node_cat[tails] != REST]
            for nodes, sign in ((forest.edge_head[edges], 1), (tails, -1)):
                np.add.at(matched, forest.node_span[nodes, 0], sign)
                np.add.at(matched, forest.node_span[nodes, 1], -sign)
            known = np.cumsum(matched[:-1]) > 0
        else:
            known = np.array([self.grammar.vocab.find(word) >= 0 for word in words], bool)
        unknown = tuple(word for word, is_known in zip(words, known, strict=True) if not is_known)
        if words and len(unknown) == len(words):
            log.warning(
                f"{self.path}: no word of the sentence is known ({quote(' '.join(unknown))}); "
                "is it in the source language, with blanks between words as in the training text?"
            )
        return unknown

    def _parse(self, words: Sequence[str]) -> Forest | None:
        ids = np.array([self.grammar.vocab.find(word) for word in words], np.int32)
        ways = self._ways or (replace(self._alone, max_span=max(len(words), 1)),)
        for way in ways if len(ids) else ():
            if (forest := self.grammar.parse(ids, way)) is not None:
                return forest
        return None

    def _apps_of(self, forest: Forest, words: Sequence[str], derivation: Sequence[AppliedRule]) -> list[int]:
        """The applications of a derivation's rules."""
        names = ["" if category == REST else self.grammar.category_name(int(category)) for category in forest.node_cat]
        spans = [tuple(span) for span in forest.node_span.tolist()]
        nodes = {(name, span): q for q, (name, span) in enumerate(zip(names, spans, strict=True))}
        apps = []
        for rule in derivation:
            head = nodes.get((rule.category, rule.span), -1)
            below = [nodes.get((derivation[k].category, derivation[k].span), -1) for k in rule.children]
            edges = [] if head < 0 else range(*forest.node_edges[head : head + 2].tolist())
            fitting = [e for e in edges if forest.tails(e) == below]
            candidates = [app for e in fitting for app in range(*forest.edge_apps[e : e + 2].tolist())]
            wanted = [(rule.source, rule.target), (rule.source, rule.source)][: 1 + self._borrows]
            by_sides = {self._sides(forest, app, words): app for app in reversed(candidates)}
            app = next((by_sides[sides] for sides in wanted if sides in by_sides), None)
            if app is None:
                raise InputError(
                    f"the forest has no rule {rule.source} → {rule.target} over words {rule.span}", self.path
                )
            apps.append(app)
        return apps

    def _span(
        self,
        sheet: _Sheet,
        node: int,
        words: Sequence[str],
        marginal: float,
        depth: int | None,
        states: np.ndarray,
        top: int,
    ) -> SpanChoices:
        forest = sheet.forest
        begin, end = forest.edge_apps[forest.node_edges[node : node + 2]].tolist()
        order = begin + np.argsort(-sheet.shares[begin:end], kind="stable")
        shown = order[:top].tolist()
        shown += [app for app in order[top:].tolist() if app in sheet.chosen]
        i, j = forest.node_span[node].tolist()
        choices = tuple(self._choice(sheet, app, words) for app in shown)
        total = states.sum()
        found: tuple[StateShare, ...] = ()
        if self.states is not None and total > 0:
            best = np.argsort(-states, kind="stable")[:top].tolist()
            found = tuple(StateShare(h, float(states[h] / total), self._names[h]) for h in best if states[h] > 0)
        category = self.grammar.category_name(int(forest.node_cat[node]))
        return SpanChoices((i, j), " ".join(words[i:j]), marginal, depth, choices, end - begin, found, category)

    def _choice(self, sheet: _Sheet, app: int, words: Sequence[str]) -> Choice:
        forest, edge = sheet.forest, int(sheet.forest.app_edge[app])
        source, target = self._sides(forest, app, words)
        frequency = self._share(forest, edge, app)
        given = float(sheet.given_source[app])
        gain = math.log(given / frequency) if frequency and given > 0 else None
        tails = forest.tails(edge)
        return Choice(
            source,
            target,
            tuple((int(forest.node_span[q, 0]), int(forest.node_span[q, 1])) for q in tails),
            float(sheet.marginals[app]),
            given,
            frequency,
            gain,
            float(sheet.context[app]) if self._has_context else None,
            app in sheet.chosen,
        )

    def _sides(self, forest: Forest, app: int, words: Sequence[str]) -> tuple[str, str]:
        rule, n = int(forest.app_rule[app]), len(self.grammar)
        if rule < n:
            return rule_sides(self.grammar, rule)
        head = int(forest.edge_head[forest.app_edge[app]])
        return extra_sides(rule - n, words[int(forest.node_span[head, 0])])

    def _share(self, forest: Forest, edge: int, app: int) -> float | None:
        """The relative frequency of an application's target side among those of its edge."""
        begin, end = forest.edge_apps[edge : edge + 2].tolist()
        rules = forest.app_rule[begin:end]
        if rules[0] >= len(self.grammar):
            return None
        values = self._frequency[rules]
        mine = self._frequency[forest.app_rule[app]]
        return float(mine / values.sum()) if mine > 0 else None


@dataclass(frozen=True)
class _Sheet:
    """Figures of the applications of a forest, float64 [n_apps] each, and the chosen applications."""

    forest: Forest
    marginals: np.ndarray
    given_source: np.ndarray
    context: np.ndarray
    shares: np.ndarray
    chosen: frozenset[int]


def _frequencies(parameters: Parameters, grammar: Grammar) -> np.ndarray:
    """float64 [rules of the grammar]: relative frequency of each rule of the model; 0 for other rules."""
    if parameters.one is None:
        return np.zeros(len(grammar))
    table, values = parameters.rules, parameters.one.rules.tolist()
    heads = [table.categories[category] for category in table.category.tolist()]
    known = {(head, table.src_text(r), table.tgt_text(r)): values[r] for r, head in enumerate(heads)}
    found, names = np.zeros(len(grammar)), grammar.categories()
    for rule in range(len(grammar)):
        found[rule] = known.get((names[grammar.lhs(rule)], *rule_sides(grammar, rule)), 0.0)
    return found


def _shares(forest: Forest, sizes: np.ndarray, context: np.ndarray) -> np.ndarray:
    """q of each application, float64 [n_apps]: shares of the nodes in which the context moves mass within edges."""
    edge = forest.app_edge
    moved = sizes * np.exp(context)
    before, after = (np.bincount(edge, values, forest.n_edges) for values in (sizes, moved))
    moved *= (before / np.maximum(after, np.finfo(float).tiny))[edge]
    head = forest.edge_head[edge]
    total = np.bincount(head, moved, forest.n_nodes)[head]
    n = np.bincount(head, minlength=forest.n_nodes)[head]
    shares: np.ndarray = np.where(total > 0, moved / np.maximum(total, np.finfo(float).tiny), 1 / n)
    return shares


def _best_derivation(forest: Forest, shares: np.ndarray) -> list[int]:
    """The applications of the derivation with the largest product, from the root down, the first tail first."""
    logs = np.log(np.maximum(shares, np.finfo(float).tiny))
    best = np.full(forest.n_nodes, -np.inf)
    choice = np.full(forest.n_nodes, -1)
    for node in range(forest.n_nodes):  # tails come before heads
        for edge in range(*forest.node_edges[node : node + 2].tolist()):
            begin, end = forest.edge_apps[edge : edge + 2].tolist()
            app = begin + int(logs[begin:end].argmax())
            value = logs[app] + sum(best[q] for q in forest.edge_tail[edge] if q >= 0)
            if value > best[node]:
                best[node], choice[node] = value, app
    apps, todo = [], [forest.n_nodes - 1]
    while todo:
        app = int(choice[todo.pop()])
        apps.append(app)
        todo += reversed(forest.tails(int(forest.app_edge[app])))
    return apps


def _depths(rules: Sequence[AppliedRule]) -> list[int]:
    depth = [0] * len(rules)
    for number, rule in enumerate(rules):
        for child in rule.children:
            depth[child] = depth[number] + 1
    return depth


def _translation(best: Sequence[AppliedRule]) -> str:
    """The words of a derivation's target side."""
    placed: dict[int, str] = {}
    for rule in best:
        own = [word for word in rule.target.split(" ") if not NONTERMINAL.fullmatch(word)]
        placed |= dict(zip(rule.target_words, own, strict=True))
    return " ".join(placed[k] for k in sorted(placed))
