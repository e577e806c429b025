"""EM whose rule probabilities are log-linear in features of rules (Berg-Kirkpatrick et al. 2010, NAACL).

A parameter is the product of two factors. The probability of a rule given the state of its left-hand side,

    theta(rule | h) = exp w_h . f(rule) / sum over rules of exp w_h . f(rule),

shares weights among rules with equal words, sides or shapes. The distribution of the states of its nonterminals,
Q(h2, h3 | rule, h), consists of expected counts, shrunk as in ``lscfg.estimate.em``. One distribution over both would
have rules * m^3 outcomes.

Each feature of ``lscfg.estimate.rule_indicators`` has a weight for each state. Normal priors keep weights small. A
constant feature would cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from lscfg.errors import InputError
from lscfg.estimate.checkpoint import CHECKPOINTS
from lscfg.estimate.em import EMRun, Iterations, Tying, root_distributions, with_chosen_states
from lscfg.estimate.estimator import Estimator
from lscfg.estimate.rule_indicators import TEMPLATES, RuleIndicators
from lscfg.extract.derive import Derivations
from lscfg.extract.word_classes import FEWEST, exchange
from lscfg.extract.yields import Yields
from lscfg.kernel.expectation import Expectation, Weights
from lscfg.model.parameters import Estimate
from lscfg.settings import setting

CLASSES = 32
"""Classes of target words; fewer if the text has fewer words."""

EXACT = 1e-15
"""Relative gain of an iteration of L-BFGS below which it ends."""


@dataclass(frozen=True)
class FeatureEMSettings(Iterations):
    """Settings of EM with features of rules."""

    direct: bool = setting(
        False, "maximise the marginal likelihood directly in each iteration: slow, one E step for each gradient"
    )


@dataclass(frozen=True)
class FeatureDesign:
    """Constants of the features and of learning."""

    templates: tuple[str, ...] = TEMPLATES
    variance: float = 1.0
    """Variance of the prior of a weight; infinite without prior."""
    rule_variance: float = 0.5
    """Variance of the prior of a rule's own weight."""
    least: int = 2
    """Least number of tokens of a feature for each alignment; the weight of a rarer one is 0."""
    steps: int = 8
    """Iterations of L-BFGS in each M step."""
    start: float = 0.02
    """Standard deviation of the first weights."""

    def penalties(self, features: RuleIndicators) -> np.ndarray:
        """Inverse variances of the weights of features, float64 [columns, 1]."""
        own = features.template == TEMPLATES.index("rule")
        return 1 / np.where(own, self.rule_variance, self.variance)[:, None]


@dataclass(frozen=True, eq=False)
class RuleFactor:
    """The factor theta for given features, and its penalised expected log-likelihood.

    Attributes:
        columns: int64 [active], the features that are not too rare, among the columns of ``RuleIndicators``.
        matrix: float64 [rules, active], these features.
        counts: float64 [active, 1], tokens of each.
        seen: bool [rules]: the probabilities of these rules sum to 1, as in ``lscfg.estimate.em``.
        penalty: float64 [active, 1], inverse variances of the weights.
        unknown: float64 [active], features of the OOV rule.
    """

    columns: np.ndarray
    matrix: sparse.csr_matrix
    counts: np.ndarray
    seen: np.ndarray
    penalty: np.ndarray
    unknown: np.ndarray

    @classmethod
    def of(cls, features: RuleIndicators, counts: np.ndarray, design: FeatureDesign, trees: float) -> RuleFactor:
        """The factor for rules that occur ``counts`` times, float64 [rules], in so many trees of each pair."""
        tokens = features.matrix.T @ counts
        active = np.flatnonzero(tokens >= design.least * trees)
        matrix, penalty = features.matrix[:, active].tocsr(), design.penalties(features)[active]
        return cls(active, matrix, tokens[active, None], counts > 0, penalty, features.unknown[active])

    def logarithms(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logarithm of theta, float64 [rules, m], and of its normaliser [m], for weights [active, m]."""
        scores = self.matrix @ weights
        top = scores[self.seen].max(axis=0)
        total = top + np.log(np.exp(scores[self.seen] - top).sum(axis=0))
        return scores - total, total

    def gradient(self, weights: np.ndarray, theta: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Gradient [active, m] of the penalised likelihood for expected counts [rules, m], at theta of the weights.

        By Fisher's identity, the gradient is also that of the marginal likelihood if the counts are expected under it.
        """
        own = np.where(self.seen[:, None], expected - expected.sum(axis=0) * theta, expected)
        result: np.ndarray = self.matrix.T @ own - weights * self.penalty
        return result

    def penalised(self, weights: np.ndarray) -> float:
        """Logarithm of the prior, without its constant."""
        return -float((weights**2 * self.penalty).sum()) / 2

    def unknown_word(self, weights: np.ndarray) -> np.ndarray:
        """The value that theta would give the OOV rule, float64 [m]."""
        result: np.ndarray = np.exp(self.unknown @ weights - self.logarithms(weights)[1])
        return result

    def fit(self, weights: np.ndarray, expected: np.ndarray, steps: int) -> np.ndarray:
        """Weights after some iterations of L-BFGS on the expected log-likelihood; never worse than the given ones."""

        def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
            logarithm, _ = self.logarithms(point)
            value = float((expected * logarithm).sum()) + self.penalised(point)
            return -value, -self.gradient(point, np.exp(logarithm), expected)

        return self.climbed(loss, weights, steps)

    def climbed(
        self, loss: Callable[[np.ndarray], tuple[float, np.ndarray]], weights: np.ndarray, steps: int
    ) -> np.ndarray:
        """Weights after some iterations of L-BFGS; loss: of weights, with its gradient."""
        # the second derivative of a weight is about the number of its tokens: with this scale, steps are equal
        scale = 1 / np.sqrt(self.counts / weights.shape[1] + self.penalty)

        def scaled(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = loss(x.reshape(weights.shape) * scale)
            return value, (slope * scale).ravel()

        options = {"maxiter": steps, "ftol": EXACT, "gtol": 0.0}
        found = minimize(scaled, (weights / scale).ravel(), jac=True, method="L-BFGS-B", options=options)
        result: np.ndarray = found.x.reshape(weights.shape) * scale
        return result


def compose(weights: Weights, factor: RuleFactor) -> None:
    """Computes tensors from theta and Q, in place; Q is the present tensor divided by its sum over states below."""
    assert weights.loglinear is not None
    theta, first = np.exp(factor.logarithms(weights.loglinear[factor.columns])[0]), 0
    for k, tensor in enumerate(weights.tensors):
        own = theta[first : first + len(tensor)]
        first += len(tensor)
        total = tensor.sum(axis=tuple(range(2, tensor.ndim)))
        share = np.divide(own, total, out=np.zeros_like(own), where=total > 0)
        tensor *= share.reshape(*share.shape, *[1] * k)
        tensor[total <= 0] = (own[total <= 0] / weights.m**k).reshape(-1, *[1] * k)
    weights.scale = np.ones(weights.m)


class FeatureRun(EMRun):
    """EM with features of rules; see ``EMRun``."""

    settings: FeatureEMSettings
    design = FeatureDesign()

    @property
    def columns(self) -> int:
        """Log-linear weights of each state."""
        return len(self.features.template)

    def _limit(self) -> int:
        return -1  # each rule has a separate tensor, also rules of held-out trees alone

    @cached_property
    def features(self) -> RuleIndicators:
        """Features of all rules, in the order of their tensors."""
        rules = self.examples.rules
        classes = np.full(len(rules.words), -1)
        if "classes" in self.design.templates:
            texts = Yields.of(self.derivations).sentences(self.derivations, 1)[: self.derivations.pairs]
            lines = [text.split() for k, text in enumerate(texts) if text and not self.held_out[k]]
            kinds = len({word for line in lines for word in line})
            if kinds >= FEWEST:
                found, number = exchange(lines, min(CLASSES, kinds)), {word: k for k, word in enumerate(rules.words)}
                classes[[number[word] for word in found.words]] = found.number
        return RuleIndicators.of(rules, classes, self.design.templates)

    def factor(self, tying: Tying) -> RuleFactor:
        """The factor theta for the tokens that a tying counts."""
        counts = np.concatenate([mass * seen for mass, seen in zip(tying.mass, tying.members, strict=True)])
        d = self.derivations
        trees = d.alignments if d.weight is None else d.weight.sum() / d.pairs
        return RuleFactor.of(self.features, counts, self.design, trees)

    def begin(self, restart: int) -> Weights:
        """Random weights of features, and random distributions of states."""
        weights = super().begin(restart)
        rng = np.random.default_rng([self.settings.seed, restart, 1])
        factor = self.factor(self.tying)
        self._set(weights, factor, self.design.start * rng.standard_normal((len(factor.columns), weights.m)))
        return weights

    def step(self, weights: Weights, trees: Expectation, tying: Tying) -> None:
        """The M step, in place, after ``infer``: weights of features, and shrunk counts of states."""
        factor, steps = self.factor(tying), self.design.steps
        assert weights.loglinear is not None
        point = weights.loglinear[factor.columns]
        if self.settings.direct:
            point = self._climb(weights, trees, factor, point)
        roots, totals = trees.root_counts(), trees.count(weights)
        weights.root = root_distributions(roots, self.categories)
        if not self.settings.direct:
            point = factor.fit(point, np.concatenate(totals), steps)
        if self.settings.smoothed:
            trees.shrink(weights, totals, self.shrinkage(tying, totals))
        self._set(weights, factor, point)

    def _set(self, weights: Weights, factor: RuleFactor, point: np.ndarray) -> None:
        """Sets the weights of active features, float64 [active, m], and with them the tensors."""
        weights.loglinear = np.zeros((self.columns, weights.m))
        weights.loglinear[factor.columns] = point
        compose(weights, factor)

    def _climb(self, weights: Weights, trees: Expectation, factor: RuleFactor, start: np.ndarray) -> np.ndarray:
        """Weights after L-BFGS on the penalised likelihood of the trees, with fixed Q; infers there."""

        def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
            self._set(weights, factor, point)
            trees.infer(weights)
            expected, (logarithm, _) = np.concatenate(trees.count(weights.copy())), factor.logarithms(point)
            value = trees.total() + factor.penalised(point)
            return -value, -factor.gradient(point, np.exp(logarithm), expected)

        found = factor.climbed(loss, start, self.design.steps)
        loss(found)
        return found

    def _with_oov(self, weights: Weights, tying: Tying, shares: np.ndarray) -> tuple[Weights, np.ndarray, np.ndarray]:
        """The OOV rule has the features that a word unknown to the text shows: order, shape and lengths."""
        factor = self.factor(tying)
        assert weights.loglinear is not None
        oov = factor.unknown_word(weights.loglinear[factor.columns])
        weights = Weights(weights.tensors, 1 / (1 + oov), weights.root)
        unk = oov * weights.scale
        return weights, weights.tensors[0] * weights.scale, unk if self.examples.rules.lhs is None else unk[None]


class FeatureRich(Estimator[FeatureEMSettings]):
    """EM with log-linear features of rules."""

    HELP = "expectation maximisation with rule probabilities that are log-linear in features of rules"
    VERSION = 3
    Settings = FeatureEMSettings
    CHECKPOINTS = CHECKPOINTS

    def estimate(
        self,
        derivations: Derivations,
        settings: FeatureEMSettings,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Estimate:
        """Finds parameters by EM; see ``ExpectationMaximisation.estimate``.

        Raises:
            InputError: the derivations hold nothing to count or have several categories, or the checkpoint has other
                settings or derivations.
        """
        if len(derivations.rules.categories) > 1:
            raise InputError("em-features needs derivations of one category; choose another estimator")
        settings, facts = with_chosen_states(derivations, settings, threads)
        made = FeatureRun(derivations, settings, "em-features", threads, None, folder, resume).run()
        made.about.update(facts)
        return made
