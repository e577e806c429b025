"""Details of a translation: the links of each word, its posterior probability, and what could replace it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lscfg.decode.derivations import Alternative, Derivation, WordDetails
from lscfg.decode.evidence import word_evidence
from lscfg.decode.links import RuleLinks, joined_links
from lscfg.kernel import REST, Forest, Grammar
from lscfg.kernel.extra_rules import is_extra
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import Hypergraph

EDGES_PER_WORD = 100
"""Edges of the search's hypergraph, for each word of the source, over which posteriors are summed."""

Contributions = Callable[[Sequence[int]], list[dict[str, float]]]

REASONS = 3
"""Maximum number of reasons of an alternative."""

ALTERNATIVES = 8
"""Maximum number of alternatives of a word."""


@dataclass(frozen=True, eq=False)
class Searched:
    """A searched sentence."""

    forest: Forest
    grammar: Grammar
    links: RuleLinks
    graph: Hypergraph
    """Of the search."""
    scores: np.ndarray
    """float64 [n_apps], scores without the language model."""
    edge_scores: np.ndarray
    """float64 [edges of the graph], scores with the language model."""
    contributions: Contributions
    """Weighted features of applications, without those that are 0."""
    values: Sequence[Mapping[str, float] | None] = ()
    """Features of the rules of the best derivation; None for a rule outside the grammar."""
    model: LanguageModel | None = None


def details(searched: Searched, derivation: Derivation, words: Sequence[int]) -> tuple[WordDetails, ...]:
    """The details of the words of a translation.

    Posteriors are sums over the derivations of the graph (Ueffing and Ney 2007), the exponential of whose scores counts
    as their probability.

    Args:
        derivation: of the translation; the features of its rules are their contributions to the score.
        words: of the translation, by their numbers in the grammar's vocabulary.
    """
    forest, graph = searched.forest, searched.graph
    probabilities = graph_posteriors(graph, searched.edge_scores)
    apps: dict[int, float] = defaultdict(float)
    for app, probability in zip(graph.app.tolist(), probabilities.tolist(), strict=True):
        if app >= 0:
            apps[app] += probability
    posteriors, counts = _word_posteriors(searched, apps)
    text = [searched.grammar.vocab.word(word) for word in words]
    links = joined_links(derivation, len(words))
    found: list[WordDetails] = []
    maker = {position: rule for rule in derivation for position in rule.target_words}
    by_span: dict[tuple[int, int], list[tuple[float, float, str, int]]] = {}
    for position, word in enumerate(words):
        rule = maker[position]
        spans = {(links[position][0], links[position][-1] + 1)} if links[position] else set()
        if not rule.children:
            spans.add(rule.span)
        ranked = []
        for span in sorted(spans):
            if span not in by_span:
                by_span[span] = _choices(forest, searched, span, apps)
            current = [text[k] for k, of in enumerate(links) if of and span[0] <= of[0] and of[-1] < span[1]]
            ranked += [(*choice, span) for choice in by_span[span] if choice[2] != " ".join(current)]
        ranked.sort(key=lambda choice: (-choice[0], -choice[1], choice[2], choice[4]))
        alternatives = tuple(
            Alternative(span, text, share, *_reasons(searched, derivation, span, app))
            for share, _, text, app, span in ranked[:ALTERNATIVES]
        )
        posterior = min(1.0, posteriors.get((word, links[position]), 0.0))
        found.append(WordDetails(text[position], links[position], posterior, alternatives))
    shares = [(found[position].posterior, counts.get(word, 0.0)) for position, word in enumerate(words)]
    evidence = word_evidence(derivation, searched.values, words, shares, searched.model)
    return tuple(replace(word, evidence=own) for word, own in zip(found, evidence, strict=True))


def _reasons(
    searched: Searched, derivation: Derivation, span: tuple[int, int], app: int
) -> tuple[float | None, tuple[tuple[str, float], ...]]:
    """Difference in score of an application to the rules of a span, and the features that differ most.

    Without a subtree over exactly this span, nothing can be compared.
    """
    if all(rule.span != span for rule in derivation):
        return None, ()
    differences = Counter(searched.contributions([app])[0])
    for rule in derivation:
        if span[0] <= rule.span[0] and rule.span[1] <= span[1]:
            differences.subtract(rule.features)
    ranked = sorted(
        ((name, value) for name, value in differences.items() if value), key=lambda one: (-abs(one[1]), one)
    )
    return math.fsum(differences.values()), tuple(ranked[:REASONS])


def graph_posteriors(graph: Hypergraph, scores: np.ndarray) -> np.ndarray:
    """The probability that a derivation uses each edge, if the exponential of its score counts as its probability.

    Args:
        scores: float64 [edges].

    Returns:
        float64 [edges], from 0 to 1.
    """
    begin, tails, score = graph.item_edges.tolist(), graph.tail.tolist(), scores.tolist()
    n_items = len(begin) - 1
    inside = [-math.inf] * n_items
    for item in range(n_items):
        for edge in range(begin[item], begin[item + 1]):
            for tail in tails[edge]:
                if tail >= 0:
                    score[edge] += inside[tail]
        inside[item] = log_sum(score[begin[item] : begin[item + 1]])
    outside = [-math.inf] * n_items
    outside[-1] = 0.0
    found = np.zeros(len(score))
    parts: list[list[float]] = [[] for _ in range(n_items)]
    for item in range(n_items - 1, -1, -1):
        if item < n_items - 1:
            outside[item] = log_sum(parts[item])
        for edge in range(begin[item], begin[item + 1]):
            whole = outside[item] + score[edge]
            found[edge] = math.exp(min(0.0, whole - inside[-1]))
            for tail in tails[edge]:
                if tail >= 0:
                    parts[tail].append(whole - inside[tail])
    return found


def log_sum(values: Sequence[float]) -> float:
    """The logarithm of the sum of the exponentials; of nothing: -inf."""
    most = max(values, default=-math.inf)
    return most if math.isinf(most) else most + math.log(math.fsum(math.exp(value - most) for value in values))


def _word_posteriors(
    searched: Searched, apps: Mapping[int, float]
) -> tuple[dict[tuple[int, tuple[int, ...]], float], dict[int, float]]:
    """The posteriors of words and the positions of their source words, and the expected number of each word."""
    forest, grammar = searched.forest, searched.grammar
    found: dict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
    counts: dict[int, float] = defaultdict(float)
    for app, probability in apps.items():
        rule, edge = int(forest.app_rule[app]), int(forest.app_edge[app])
        head = int(forest.edge_head[edge])
        begin = int(forest.node_span[head, 0])
        if is_extra(grammar, rule):  # of these only those that pass a word through have words
            if int(forest.node_cat[head]) != REST and not forest.tails(edge):
                found[int(forest.words[begin]), (begin,)] += probability
                counts[int(forest.words[begin])] += probability
            continue
        pairs = searched.links(rule) if rule < len(grammar) else None  # None: of a layer, all words of a rule
        own, ends, at = [], iter(forest.node_span[forest.tails(edge), 1].tolist()), begin
        for symbol in grammar.src(rule):
            if symbol >= 0:
                own.append(at)
            at = at + 1 if symbol >= 0 else next(ends)
        target = [symbol for symbol in grammar.tgt(rule) if symbol >= 0]
        for word in target:
            counts[word] += probability
        for key in {
            (word, tuple(own if pairs is None else sorted(own[i] for i, k in pairs if k == j)))
            for j, word in enumerate(target)
        }:
            found[key] += probability
    return found, counts


def _choices(
    forest: Forest, searched: Searched, span: tuple[int, int], posteriors: Mapping[int, float]
) -> list[tuple[float, float, str, int]]:
    """Posterior, score, text and best application of the target sides of rules without nonterminals over a span."""
    nodes = np.flatnonzero((forest.node_span == span).all(1) & (forest.node_cat != REST))
    found: dict[str, tuple[float, float, int]] = {}
    for node in nodes.tolist():
        for edge in range(int(forest.node_edges[node]), int(forest.node_edges[node + 1])):
            if forest.edge_tail[edge, 0] >= 0:
                continue
            for app in range(int(forest.edge_apps[edge]), int(forest.edge_apps[edge + 1])):
                rule = int(forest.app_rule[app])
                if is_extra(searched.grammar, rule) or not (symbols := searched.grammar.tgt(rule)):
                    continue
                text = " ".join(map(searched.grammar.vocab.word, symbols))
                share, score, best = found.get(text, (0.0, -math.inf, -1))
                own = float(searched.scores[app])
                found[text] = share + posteriors.get(app, 0.0), *max((score, best), (own, app))
    return [(min(1.0, share), score, text, app) for text, (share, score, app) in found.items()]


def sentence_posterior(words: Sequence[WordDetails]) -> float:
    """The geometric mean of the posteriors of the words, 1 without words."""
    return math.exp(sum(math.log(max(word.posterior, 1e-6)) for word in words) / len(words)) if words else 1.0
