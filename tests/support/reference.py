"""References for the numbers and the speed of the kernel, in plain NumPy: Fig. 1 of the paper, edge by edge; the
ratios to one state by their definition; and the pseudo-corpus of MIRA. And what k-best lists share with cdec's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from lscfg.formats.kbest import Hypothesis
from lscfg.kernel import Forest, Grammar, X
from lscfg.model.parameters import Parameters
from lscfg.study.rule_questions import NEITHER, ORDERED, SWAPPED
from lscfg.tuning.bleu import CORRECT, HYPOTHESIS_LENGTH, REFERENCE_LENGTH, TOTAL
from lscfg.tuning.mira import BACKGROUND


class FigureOne:
    """Tensor inside-outside over forests of a model's own grammar whose root is an X; no scaling, so short sentences.

    Args:
        parameters: the model, its rules in the order of the grammar's.
        grammar: the grammar of the forests.
    """

    def __init__(self, parameters: Parameters, grammar: Grammar):
        self.parameters, self.n_rules = parameters, len(grammar)
        self.tensor = [parameters.tensor(rule) for rule in range(self.n_rules)]

    def rule(self, forest: Forest, app: int) -> np.ndarray:
        """C^rule of an application; the pass-through rule has the OOV tensor."""
        rule = int(forest.app_rule[app])
        return self.tensor[rule] if rule < self.n_rules else self.parameters.unk

    def marginals(self, forest: Forest) -> tuple[np.ndarray, np.ndarray, float]:
        """Signed marginals of the applications and of the nodes, and g."""
        assert (forest.node_cat == X).all()
        m = self.parameters.rank
        alpha, beta = np.zeros((forest.n_nodes, m)), np.zeros((forest.n_nodes, m))
        apps = [range(forest.edge_apps[e], forest.edge_apps[e + 1]) for e in range(forest.n_edges)]
        tails = [[int(t) for t in pair if t >= 0] for pair in forest.edge_tail]
        edges = [range(forest.node_edges[q], forest.node_edges[q + 1]) for q in range(forest.n_nodes)]
        for q in range(forest.n_nodes):
            for e in edges[q]:
                for a in apps[e]:
                    value = self.rule(forest, a)
                    for t in reversed(tails[e]):
                        value = value @ alpha[t]
                    alpha[q] += value
        beta[-1] = self.parameters.root
        for q in reversed(range(forest.n_nodes)):
            for e in edges[q]:
                for a in apps[e]:
                    outer = np.tensordot(beta[q], self.rule(forest, a), 1)
                    if len(tails[e]) == 1:
                        beta[tails[e][0]] += outer
                    elif len(tails[e]) == 2:
                        left, right = tails[e]
                        beta[left] += outer @ alpha[right]
                        beta[right] += alpha[left] @ outer
        g = float(alpha[-1] @ beta[-1])
        mu = np.zeros(forest.n_apps)
        for e in range(forest.n_edges):
            for a in apps[e]:
                value = np.tensordot(beta[forest.edge_head[e]], self.rule(forest, a), 1)
                for t in reversed(tails[e]):
                    value = value @ alpha[t]
                mu[a] = value / g
        return mu, (alpha * beta).sum(axis=1) / g, g


def ratio_features(
    forest: Forest, grammar: Grammar, latent: np.ndarray, plain: np.ndarray, floor: float = 1e-6, clip: float = 4.0
) -> dict[str, np.ndarray]:
    """By name the logarithms of ratios between two models, float64 [n_apps] each.

    Args:
        latent, plain: marginals of the applications, none of them negative.
    """
    rule, edge = forest.app_rule, forest.app_edge
    order = np.full(forest.n_apps, NEITHER)
    for a in np.nonzero(rule < len(grammar))[0]:
        source = grammar.src(int(rule[a]))
        if len(source) == 2 and max(source) < 0:
            first = next(symbol for symbol in grammar.tgt(int(rule[a])) if symbol < 0)
            order[a] = ORDERED if first == -1 else SWAPPED
    here = forest.node_cat[forest.edge_head[edge]] == X
    arity = (forest.edge_tail[edge] >= 0).sum(axis=1)

    def logarithm(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
        share = np.divide(part, whole, out=np.ones_like(part), where=whole > 0)
        return np.log(np.maximum(share, floor))

    def factors(marginal: np.ndarray) -> np.ndarray:
        """Of target side, order and source side, [3, n_apps]."""
        by_edge = np.bincount(edge, marginal, forest.n_edges)
        by_node = np.bincount(forest.edge_head, by_edge, forest.n_nodes)
        by_order = by_edge[edge]
        for way in (ORDERED, SWAPPED):
            chosen = order == way
            by_order[chosen] = np.bincount(edge, marginal * chosen, forest.n_edges)[edge][chosen]
        shares = [(marginal, by_order), (by_order, by_edge[edge]), (by_edge[edge], by_node[forest.edge_head[edge]])]
        return np.array([logarithm(*share) for share in shares])

    target, orders, source = np.clip(factors(latent) - factors(plain), -clip, clip)
    bare = order != NEITHER
    columns = {
        "LatentTarget": (target, ~bare),
        "LatentTargetBare": (target, bare),
        "LatentOrdered": (orders, order == ORDERED),
        "LatentSwapped": (orders, order == SWAPPED),
        "LatentSource0": (source, arity == 0),
        "LatentSourceBare": (source, bare),
        "LatentSourceN": (source, ~bare & (arity > 0)),
    }
    return {name: values * (chosen & here) for name, (values, chosen) in columns.items()}


class PseudoCorpus:
    """BLEU of single sentences, each with a decaying background (``lscfg.tuning.mira``).

    Args:
        decay: what the background keeps of its counts for each sentence added, 0 to 1.
    """

    def __init__(self, decay: float = 0.999):
        self.decay, self.stats = decay, BACKGROUND

    def scores(self, stats: np.ndarray) -> np.ndarray:
        """The scores, in words, of hypotheses whose statistics are given by column [10, hypotheses]."""
        counts = stats + self.stats[:, None]
        precision = counts[CORRECT].prod(axis=0) / counts[TOTAL].prod(axis=0)
        reference = counts[REFERENCE_LENGTH]
        log_brevity = np.minimum(0.0, 1.0 - reference / counts[HYPOTHESIS_LENGTH])
        return np.sqrt(np.sqrt(precision)) * np.exp(log_brevity) * reference

    def add(self, stats: np.ndarray) -> None:
        """Lets the background decay once and adds one sentence's statistics, which without a floor would underflow."""
        self.stats = np.maximum(self.decay * self.stats + stats, 1e-6)


def common_hypotheses(
    ours: Iterable[Sequence[Hypothesis]],
    theirs: Iterable[Sequence[Hypothesis]],
    within: float = 2e-5,
    others: Mapping[str, float] = MappingProxyType({}),
) -> Iterator[tuple[Hypothesis, Hypothesis]]:
    """Each hypothesis of a host's lists that ours have too, ours first: the same words and features.

    cdec prints six digits, so that scores are left to the caller.

    Args:
        within: what a feature near 0 may differ by; others: that of features of these names.
    """

    def is_same(a: Hypothesis, b: Hypothesis) -> bool:
        return a.text == b.text and all(
            math.isclose(
                a.features.get(name, 0.0), b.features.get(name, 0.0), rel_tol=2e-5, abs_tol=others.get(name, within)
            )
            for name in {*a.features, *b.features}
        )

    for our_list, their_list in zip(ours, theirs, strict=True):
        for b in their_list:
            match = next((a for a in our_list if is_same(a, b)), None)
            if match is not None:
                yield match, b
