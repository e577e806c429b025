"""Expectation maximisation over derivation trees or forests (paper, section 4.2 and Fig. 2b; thesis, section 3.3.2).

A parameter is t(rule, states of its nonterminals | state of the left-hand side): for each state a distribution over
all rules of all arities, as section 2 of the paper defines the model; with ``normalise = "arity"``, over the rules
of each arity, as in the paper's figure. Roots have a separate distribution pi.

Rules of more than two nonterminals have no parameters. They cut a tree into pieces, which are trees: below such a rule,
a piece begins whose root has a second root distribution, so that pi describes whole sentences; above it, the inside
tree that the rule rewrites is unobserved (a vector of ones). The likelihood covers all other rules.

Over forests, the tree of a pair is hidden, too: counts are expectations over all minimal derivations. These all have
equally many rules, so the likelihood prefers no derivation for its length.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lscfg.errors import InputError, counted
from lscfg.estimate.checkpoint import CHECKPOINTS, LOGLINEAR, BestModel, Checkpoints, EMState
from lscfg.estimate.estimator import Estimator, check_states
from lscfg.estimate.mle import by_arity, complete, one_state, oov_by_category, share_oov, spread_oov
from lscfg.estimate.pieces import PI, Pieces, edge_posteriors, expected_counts
from lscfg.estimate.rank import rank_of_derivations
from lscfg.estimate.split import grow
from lscfg.extract.derive import Derivations
from lscfg.extract.examples import DIGITS, Examples
from lscfg.io.tensors import Blocks
from lscfg.kernel.expectation import ARITIES, MAX_STATES, Expectation, Shrinkage, Weights
from lscfg.log import info, warning
from lscfg.model.parameters import Estimate, blocks_of, rounded
from lscfg.model.shared import sums_by_state
from lscfg.settings import Declared, setting

# Smoothing is on by default: without it the likelihood of held-out ja-en trees is lower at every m and falls after ten
# iterations. Only without smoothing does each iteration provably raise the likelihood of the training trees. Over
# forests, the rules that share a tensor are chosen once, by ten iterations with one state.

INITIAL = ("random", "matsuzaki", "samples", "split")
"""Starts of EM: uniform random numbers (paper); relative frequencies times noise (Matsuzaki et al. 2005); mean
counts of rules with the states that ``lscfg grammar sampled --set states`` drew (with no iteration, a Bayesian
estimate); states that are split and merged, see ``lscfg.estimate.split``."""

NORMALISE = ("all", "arity")
"""Rules over which t(rule, states | state) sums to 1: of all arities (section 2), or of each arity (Fig. 2b)."""

METHODS = ("clusters", "em-features")
"""Further starts, each of another estimator, whose name the model keeps."""

FREQUENT = 10
"""Fewest tokens of a source side whose singletons form a separate class."""

LONG = 4
"""Sides of more words than this form one class."""

BLOCK = 1 << 20
"""Parameter values computed at a time while the model is written."""

VALUES = 1 << 29
"""Most values of all tensors, 4 GiB; EM keeps them twice."""

DEAD = 1e-60
"""A state with less than this fraction of a token is dropped."""


@dataclass(frozen=True)
class Iterations(Declared):
    """Settings of EM from any start.

    Of several restarts the best model is kept: by held-out likelihood if trees are held out, otherwise by
    likelihood. With both pseudo-counts 0, EM is that of the paper.
    """

    m: int = setting(
        16,
        "hidden states; 0: chosen by moments of held-out sentences",
        least=0,
        most=MAX_STATES,
        metavar="M",
        common=True,
    )
    iterations: int = setting(25, "maximum iterations", least=0, common=True)
    restarts: int = setting(1, "random restarts, of which the best model is kept", least=1)
    seed: int = setting(1, "seed of the restarts and of the choice of held-out trees", least=0, common=True)
    shrink_source: float = setting(
        5.0, "pseudo-counts that pull the states of a rule towards those of its source side", least=0
    )
    shrink_arity: float = setting(
        25.0, "pseudo-counts that pull the states of a source side towards those of its arity", least=0
    )
    held_out: float = setting(
        0.0,
        "share of the sentences held out to stop EM and to choose the model",
        least=0,
        below=1,
        metavar="SHARE",
        option="held-out-share",
    )
    patience: int = setting(3, "iterations without a better held-out likelihood before EM stops", least=1)
    forests: bool = setting(
        False,
        "expected counts over all minimal derivations (from lscfg derive --forests) instead of one tree",
    )

    @property
    def smoothed(self) -> bool:
        """True if counts are shrunk and singletons tied to classes."""
        return self.shrink_source > 0 or self.shrink_arity > 0


@dataclass(frozen=True)
class EMSettings(Iterations):
    """Settings of EM."""

    init: str = setting(
        "random",
        "start: random numbers, relative frequencies times noise, mean counts of sampled states, or states that are "
        "split and merged until there are m, or held-out trees become less likely",
        choices=INITIAL,
    )
    normalise: str = setting(
        "all", "rules that share a distribution: those of all arities, or those of each arity", choices=NORMALISE
    )


@dataclass(frozen=True, eq=False)
class Tying:
    """Assignment of rules to shared tensors.

    A rule that occurs more often than ``limit`` times has a separate tensor. Others share a tensor with the rules of
    their class: the same source side if it is frequent, else the same arity and numbers of words on both sides. With
    limit 0 the classes consist of the rules that only held-out trees have; with a negative limit there are none.

    Attributes:
        row: int64 [rules], the rule's tensor among those of its arity.
        rows: number of tensors, by arity.
        mass: by arity, float64 [rows], mean tokens of the seen rules of the row, 1 for unseen rules; over forests,
            expected under the first distribution.
        members: by arity, int64 [rows], number of seen rules that share the row.
        groups: rows of the same source side, see ``Shrinkage``.
        shape: by arity, int64 [rows], ``RuleTable.shape_id`` of the rules of each row; None for one category.
        lhs: by arity, int32 [rows], category of the left-hand side; None for one category.
    """

    row: np.ndarray
    rows: tuple[int, int, int]
    mass: list[np.ndarray]
    members: list[np.ndarray]
    groups: list[tuple[np.ndarray, np.ndarray]]
    shape: list[np.ndarray] | None = None
    lhs: list[np.ndarray] | None = None

    @classmethod
    def of(cls, examples: Examples, counts: np.ndarray, limit: float) -> Tying:
        """The tying for rules seen ``counts`` times, [rules]; all trees decide which sources are frequent."""
        rules, arity = examples.rules, examples.rules.arity
        n = len(rules)
        source = rules.source_id
        sources = int(source.max(initial=-1)) + 1
        frequent = np.bincount(source, weights=examples.counts, minlength=sources)[source] >= max(FREQUENT, limit + 1)
        words = [rules.src_length - arity, np.diff(rules.offsets) - rules.src_length - arity]
        lengths = np.minimum(words[0], LONG + 1) * (LONG + 2) + np.minimum(words[1], LONG + 1)
        if rules.lhs is not None:  # no class crosses categories
            lengths += np.unique(rules.shape_id, return_inverse=True)[1].ravel() * (LONG + 2) ** 2
        group = np.where(frequent, source, sources + lengths)
        own = counts > limit
        key = np.where(own, np.arange(n), n + group)
        # rules with separate tensors still belong to the group of their source side
        group = np.where(own, source, group)
        row = np.empty(n, np.int64)
        rows, mass, members, groups = [], [], [], []
        shape, lhs = list[np.ndarray](), list[np.ndarray]()
        for k in ARITIES:
            chosen = np.nonzero(arity == k)[0]
            keys, first, inverse = np.unique(key[chosen], return_index=True, return_inverse=True)
            row[chosen] = inverse
            seen = np.bincount(inverse[counts[chosen] > 0], minlength=len(keys))
            rows.append(len(keys))
            members.append(seen)
            tokens = np.bincount(inverse, weights=counts[chosen], minlength=len(keys))
            mass.append(np.where(seen > 0, tokens / np.maximum(seen, 1), 1))
            of_row = group[chosen][first]
            order = np.argsort(of_row, kind="stable")
            if rules.lhs is not None:
                shape.append(rules.shape_id[chosen][first])
                lhs.append(rules.lhs[chosen][first])
                order = np.lexsort((of_row, shape[-1]))  # groups of the same categories side by side
            starts = np.nonzero(np.diff(of_row[order], prepend=-1))[0]
            groups.append((np.append(starts, len(order)).astype(np.int64), order.astype(np.int32)))
        three = (rows[0], rows[1], rows[2])
        return cls(row, three, mass, members, groups, *((None, None) if rules.lhs is None else (shape, lhs)))

    def shares(self, examples: Examples, counts: np.ndarray | None) -> list[np.ndarray]:
        """Tokens of each rule divided by the mean of its row, by arity; 1 for unseen rules.

        EM leaves these factors out, because the states of a tree do not depend on them; they are part of the model.

        Args:
            counts: as in ``of``; None: all rules of a row are equal.
        """
        if counts is None:
            return [np.ones(len(rows)) for rows in by_arity(self.row, examples)]
        found = zip(by_arity(counts, examples), by_arity(self.row, examples), self.mass, strict=True)
        return [np.where(own > 0, own / mass[rows], 1) for own, rows, mass in found]


def affordable_limit(examples: Examples, m: int) -> float:
    """The limit of ``Tying``: 1, or the least number of tokens at which all tensors have at most ``VALUES`` values.

    The text and the number of states determine the limit, not the memory of the machine.
    """
    if (m ** (examples.rules.arity + 1.0)).sum() <= VALUES:
        return 1

    def too_many(limit: float) -> bool:
        rows = Tying.of(examples, examples.counts, limit).rows
        return bool(sum(n * m ** (k + 1) for k, n in enumerate(rows)) > VALUES)

    limits: list[float] = [1.0, *np.unique(examples.counts[examples.counts > 1]).tolist()]
    limit = limits[min(bisect_left(limits, True, key=lambda one: not too_many(one)), len(limits) - 1)]
    if limit > 1:
        info(f"rules that occur at most {limit:g} times share tensors, since separate ones would be too large")
    return limit


class EMRun:
    """EM on the derivations of a corpus.

    Args:
        initial: one of ``INITIAL``; with ``beginning`` its name.
        threads: number of threads; the result does not depend on it.
        beginning: returns the hard states of all nodes, int64 [nodes of ``Examples``], as a start.
        checkpoint: folder for the state after each iteration; with ``resume`` EM continues from the state there.

    Raises:
        InputError: the derivations hold nothing to count, or the checkpoint has other settings or derivations,
            or more iterations.
    """

    def __init__(
        self,
        derivations: Derivations,
        settings: Iterations,
        initial: str = "random",
        threads: int = 1,
        beginning: Callable[[Examples, np.ndarray, int], np.ndarray] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ):
        self.derivations, self.settings, self.threads = derivations, settings, threads
        self.normalise = normalise_arities if getattr(settings, "normalise", "all") == "arity" else normalise
        self.initial, self.beginning = initial, beginning
        if settings.forests:
            if derivations.forests is None:
                raise InputError("the derivations contain no forests; create them with lscfg derive --forests")
            derivations = dataclasses.replace(derivations, rules=derivations.forests.rules)
        self.examples = Examples.of(derivations)
        self.pieces = Pieces.of(self.examples, derivations.trees[:-1])
        if not len(self.pieces.node):
            raise InputError("the derivations contain no rule of at most two nonterminals")
        self.counted = self.pieces
        if settings.forests and derivations.forests:
            self.counted = Pieces.of_forests(self.examples, derivations.forests)
            self.examples = dataclasses.replace(self.examples, counts=self._counts(None))
        self.categories = len(self.examples.rules.categories)
        if self.categories > 1 and initial == "split":
            raise InputError("init = 'split' needs derivations of one category; choose another start")
        self.alive = np.ones((self.categories, settings.m), bool)
        self.limit = self._limit()
        self.held_out = np.tile(_choose_held_out(derivations.pairs, settings), derivations.alignments)
        chosen = ~self.held_out if self.held_out.any() else None
        self.tying = Tying.of(self.examples, self._counts(chosen), self.limit)
        self.train = self._expectation(self.tying, chosen)
        self.test = self._expectation(self.tying, self.held_out) if chosen is not None else None
        if not self.train.nodes:
            raise InputError("no sentences are left for training; hold out fewer")
        self.curves: list[list[list[float]]] = []
        self.best: BestModel | None = None
        self.resumed: EMState | None = None
        self.checkpoints = _checkpoints(self, Path(checkpoint)) if checkpoint else None
        if resume:
            if not self.checkpoints:
                raise InputError("--resume needs the folder of a checkpoint")
            self.resumed, self.best = self.checkpoints.load()
            if (done := len(self.resumed.history)) > settings.iterations:
                raise InputError(f"already has {done} iterations; ask for as many, or start again", checkpoint)
            self.curves = self.resumed.curves

    @property
    def columns(self) -> int:
        """Log-linear weights of each state."""
        return 0

    def _limit(self) -> float:
        """The limit of ``Tying``; without smoothing, all rules that were seen have separate tensors."""
        return affordable_limit(self.examples, self.settings.m) if self.settings.smoothed else 0

    def _counts(self, chosen: np.ndarray | None) -> np.ndarray:
        """Tokens of each rule in the selected sentences (bool [sentences]) or in all; over forests, expected tokens."""
        if self.settings.forests:
            return expected_counts(self.counted, self.examples, chosen, self.threads)
        if chosen is None:
            return self.examples.counts
        nodes = self.pieces.of_sentences(chosen)
        weight = self.examples.weight
        of_node = None if weight is None else weight[self.pieces.node[nodes]]
        counts = np.bincount(self.pieces.rule[nodes], of_node, len(self.examples.rules))
        return counts if weight is None else np.round(counts, DIGITS)

    def _expectation(self, tying: Tying, chosen: np.ndarray | None) -> Expectation:
        """Of the trees or forests of some sentences (bool [sentences]), or of all."""
        nodes, weight = self.pieces.of_sentences(chosen), self.examples.weight
        tokens = nodes.sum() if weight is None else weight[self.pieces.node[nodes]].sum()
        return Expectation(self.counted.trees(tying.row, tying.rows, chosen), self.threads, tokens.item())

    def run(self, each: Callable[[int, Weights], None] | None = None) -> Estimate:
        """The parameters of the best model of all restarts.

        ``each`` is called with the number of iterations so far (the start is 0) and the weights after them, which the
        next iteration overwrites; ``estimate_of`` makes a model of them. Raises InputError if no restart reaches a
        finite log-likelihood, of the held-out trees if there are any.
        """
        settings = self.settings
        run = self.resumed or EMState(0, [], self.begin(0))
        if self.resumed and self.categories > 1:
            self.alive = _alive(run.weights, self.tying, self.categories) > 0
        while True:
            self._iterate(run, each)
            run.finished.append(run.history)
            if run.restart + 1 >= settings.restarts:
                break
            run = EMState(run.restart + 1, [], self.begin(run.restart + 1), run.finished)
        if self.best is None:
            raise InputError("no start gives the trees a positive probability")
        best = self.best
        if settings.restarts > 1:
            info(f"best: restart {best.restart + 1}, iteration {best.iteration}")
        return self._parameters(best, run.finished)

    def estimate_of(self, weights: Weights, iteration: int) -> Estimate:
        """The parameters of the weights after some iterations of the first start."""
        return self._parameters(BestModel(0.0, 0, iteration, weights), [])

    def _iterate(self, run: EMState, each: Callable[[int, Weights], None] | None) -> None:
        settings = self.settings
        while True:
            iteration = len(run.history)
            if each:
                each(iteration, run.weights)
            last = iteration >= settings.iterations
            impossible = self.train.infer(run.weights, count=not last)
            if impossible:
                warning(f"{impossible} trees are impossible and not counted")
            run.history.append(self.likelihoods(run.weights))
            step = run.history[-1]
            held = f", held out {step['held out']:.5f}" if "held out" in step else ""
            info(f"restart {run.restart + 1}, iteration {iteration}: log-likelihood {step['train']:.6f} per rule{held}")
            scores = [s.get("held out", s["train"]) for s in run.history]
            stop = "held out" in step and iteration - int(np.argmax(scores)) >= settings.patience
            # without held-out trees only the last iteration counts: the likelihood decides between restarts
            candidate = ("held out" in step or last) and np.isfinite(scores[-1])
            if candidate and (self.best is None or scores[-1] > self.best.score):
                weights = run.weights if last else run.weights.copy()
                self.best = BestModel(scores[-1], run.restart, iteration, weights)
                if self.checkpoints:
                    self.checkpoints.save_best(self.best)
            if last or stop:
                return
            self.step(run.weights, self.train, self.tying)
            if self.checkpoints:
                self.checkpoints.save(dataclasses.replace(run, curves=self.curves))

    def step(self, weights: Weights, trees: Expectation, tying: Tying) -> None:
        """The M step, in place, after ``infer``: shrinks counts if the settings ask for it, and normalises them."""
        roots = trees.root_counts()
        totals = trees.count(weights)
        weights.root = root_distributions(roots, self.categories)
        if self.settings.smoothed:
            trees.shrink(weights, totals, self.shrinkage(tying, totals))
        else:
            _fill_unseen(weights, totals, tying)
        self.normalise(weights, totals, tying)

    def shrinkage(self, tying: Tying, totals: list[np.ndarray] | None = None) -> Shrinkage:
        """The shrinkage of the M step, of these totals by state if the counts of rules change."""
        mass, prior = tying.mass, _Prior(self.alive) if self.categories > 1 else None
        if self.settings.forests and totals:  # expected counts of rules change
            mass = [
                np.where(seen > 0, total.sum(axis=1) / np.maximum(seen, 1), one)
                for seen, total, one in zip(tying.members, totals, mass, strict=True)
            ]
        pseudo_counts = self.settings.shrink_source, self.settings.shrink_arity
        return Shrinkage(*pseudo_counts, mass, tying.groups, tying.shape, prior)

    def likelihoods(self, weights: Weights) -> dict[str, float]:
        """Natural logarithms per rule token, whose number does not change."""
        step = {"train": self.train.total() / self.train.nodes}
        if self.test:
            self.test.infer(weights, count=False)
            step["held out"] = self.test.total() / (self.test.nodes or 1)
        return step

    # ---- the beginning ----

    def begin(self, restart: int) -> Weights:
        """The weights before the first iteration."""
        m = self.settings.m
        rng = np.random.default_rng([self.settings.seed, restart])
        shapes = [(rows, *[m] * (k + 1)) for k, rows in enumerate(self.tying.rows)]
        if self.beginning:
            return _from_states(self, restart, shapes)
        if self.initial == "split":
            return _grown(self, rng)
        tensors = [rng.random(shape) for shape in shapes]
        if self.initial == "matsuzaki":
            # each relative frequency, shared equally among the states below, times a number in [1/3, 3]
            for k in ARITIES:
                np.exp(np.log(3) * (2 * tensors[k] - 1), out=tensors[k])
                tensors[k] *= self.tying.mass[k].reshape(-1, *[1] * (k + 1)) / m**k
        root = root_distributions(rng.random((2 * self.categories, m)), self.categories)
        weights = Weights(tensors, np.ones(m), root)
        self.normalise(weights, totals_by_state(tensors), self.tying)
        return weights

    def _parameters(self, best: BestModel, histories: list[list[dict[str, float]]]) -> Estimate:
        weights, tying, counts = best.weights, self.tying, self.examples.counts
        if self.test:
            # one more iteration over all trees, so that rules of held-out trees get parameters, too
            tying = Tying.of(self.examples, counts, self.limit)
            weights = _moved(weights, self.tying, tying, self.examples)
            everything = self._expectation(tying, None)
            everything.infer(weights)
            self.step(weights, everything, tying)
        return self._expand(weights, tying, best, histories)

    def _expand(
        self, weights: Weights, tying: Tying, best: BestModel, histories: list[list[dict[str, float]]]
    ) -> Estimate:
        """One tensor for each rule, and the OOV rule."""
        examples = self.examples
        rows = by_arity(tying.row, examples)
        shares = tying.shares(examples, None if self.settings.forests else examples.counts)
        weights, lexical, unk = self._with_oov(weights, tying, shares[0])
        settings = self.settings
        about: dict[str, Any] = {
            "method": self.initial if self.initial in METHODS else "em",
            "rule tokens": examples.n_examples,
            "sentences": len(self.derivations),
            "settings": _facts(settings, self.initial),
            "tensors": list(tying.rows),
            "best restart": best.restart + 1,
            "best iteration": best.iteration,
            "log-likelihood a rule": _column(histories, "train"),
        }
        if self.curves:
            about["log-likelihood by states"] = self.curves
        if self.test:
            about["held-out log-likelihood a rule"] = _column(histories, "held out")
        root, one = weights.root[PI].copy(), one_state(examples)
        if examples.rules.lhs is not None:
            root = weights.root.reshape(self.categories, -1, weights.m)[:, PI].copy()
            alive = _alive(weights, tying, len(root))
            complete(root, unk, examples, alive / np.maximum(alive.sum(axis=1, keepdims=True), 1), alive)
        one_nonterminal, two = (_expanded(weights, rows[k], shares[k], k) for k in (1, 2))
        tensors = blocks_of(lexical), one_nonterminal, two
        return Estimate(examples.rules, tensors, root, unk, about, one)

    def _with_oov(self, weights: Weights, tying: Tying, shares: np.ndarray) -> tuple[Weights, np.ndarray, np.ndarray]:
        """Weights besides an OOV rule, parameters of the rules without nonterminals [rules, m], and of the OOV rule."""
        share = share_oov if self.settings.smoothed else spread_oov
        tensors = weights.tensors[0][by_arity(tying.row, self.examples)[0]] * weights.scale * shares[:, None]
        return weights, *oov_by_category(share, tensors, self.examples)


def root_distributions(counts: np.ndarray, categories: int) -> np.ndarray:
    """Distributions over the states of all categories for each kind of root, of the shape of the counts.

    Args:
        counts: float64 [categories * kinds, m], the kinds of one category after those of another.
    """
    m = counts.shape[1]
    by_kind = counts.reshape(categories, -1, m).swapaxes(0, 1)
    found = _distributions(by_kind.reshape(len(by_kind), -1))
    return np.ascontiguousarray(found.reshape(-1, categories, m).swapaxes(0, 1)).reshape(-1, m)


@dataclass(frozen=True, eq=False)
class _Prior:
    """One token of a rule of some categories, spread evenly over the states of these categories.

    Attributes:
        alive: bool [categories, m], states of each category.
    """

    alive: np.ndarray

    def __call__(self, arity: int, shape: int) -> np.ndarray:
        """Returns float64 [m, ...]; shape: see ``RuleTable.shape_id``."""
        n = len(self.alive) + 1
        states = [self.alive[c] for c in (shape // n // n, shape // n % n - 1, shape % n - 1)[: arity + 1]]
        found = reduce(np.multiply.outer, [np.asarray(one, float) for one in states])
        result: np.ndarray = np.ascontiguousarray(found / max(found.sum(), 1))
        return result


def _from_states(run: EMRun, restart: int, shapes: list[tuple[int, ...]]) -> Weights:
    """Relative frequencies of rules with the states of their nodes, shrunk because EM cannot leave a zero."""
    assert run.beginning is not None
    m, pieces = run.settings.m, run.counted
    training, of_edge = pieces.of_sentences(~run.held_out), _edge_weights(run)
    state = run.beginning(run.examples, pieces.in_corpus(training), restart)[pieces.node]
    head = pieces.head
    if run.categories > 1:
        run.alive[:] = False
        run.alive[run.examples.rules.category[pieces.rule], state[head]] = True
    tensors = []
    for k in ARITIES:
        seen = training[head] & (pieces.arity == k) & (pieces.children[:, :k] >= 0).all(axis=1)
        index = run.tying.row[pieces.rule[seen]] * m + state[head[seen]]
        for side in range(k):
            index = index * m + state[pieces.children[seen, side]]
        counts = np.bincount(index, of_edge[seen], int(np.prod(shapes[k]))).astype(np.float64)
        tensors.append(counts.reshape(shapes[k]))
    roots = np.zeros((2 * run.categories, m))
    first = pieces.first_node[:-1]
    chosen, weight = training[first], np.ones(len(first)) if pieces.weight is None else pieces.weight
    np.add.at(roots, (pieces.kind[chosen], state[first[chosen]]), weight[chosen])
    weights = Weights(tensors, np.ones(m), root_distributions(roots + 1, run.categories))
    totals = totals_by_state(tensors)
    plan = run.shrinkage(run.tying)
    if not run.settings.smoothed:
        defaults = Iterations()
        plan = Shrinkage(defaults.shrink_source, defaults.shrink_arity, plan.mass, plan.groups, plan.shape, plan.prior)
    run.train.shrink(weights, totals, plan)
    run.normalise(weights, totals, run.tying)
    return weights


def _grown(run: EMRun, rng: np.random.Generator) -> Weights:
    """States that are split and merged from one state on."""

    def update(weights: Weights) -> None:
        run.train.infer(weights)
        run.step(weights, run.train, run.tying)

    def score(weights: Weights) -> float:
        run.train.infer(weights, count=False)
        figures = run.likelihoods(weights)
        return figures.get("held out", figures["train"])

    grown = grow(run.settings.m, run.train, update, score, rng, stop=run.test is not None)
    run.curves.append(grown.curve)
    return grown.weights


def _edge_weights(run: EMRun) -> np.ndarray:
    """Fraction of a token that each edge contributes, float64 [edges]."""
    if run.settings.forests:
        return edge_posteriors(run.counted, run.examples, None, run.threads)[0]
    weight = run.examples.weight
    return np.ones(len(run.counted.node)) if weight is None else weight[run.counted.node]


def _checkpoints(run: EMRun, folder: Path) -> Checkpoints:
    settings = run.settings
    m = "states" if run.initial == "split" else str(settings.m)  # split and merged states may be fewer
    shapes = {f"C{k}": ", ".join([str(run.tying.rows[k]), *[m] * (k + 1)]) for k in ARITIES}
    shapes |= {"scale": m, "root": f"{2 * run.categories}, {m}"}
    if run.columns:
        shapes[LOGLINEAR] = f"{run.columns}, {m}"
    made_from = _fingerprint(run.derivations, settings, run.initial, run.limit)
    return Checkpoints(folder, made_from, shapes, settings.restarts, run.test is not None)


class ExpectationMaximisation(Estimator[EMSettings]):
    """EM from random numbers, noisy relative frequencies or sampled hidden states."""

    HELP = "expectation maximisation"
    VERSION = 5
    Settings = EMSettings
    CHECKPOINTS = CHECKPOINTS

    def estimate(
        self,
        derivations: Derivations,
        settings: EMSettings,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Estimate:
        """Finds parameters by EM; t(rule, states | state) sums to 1 for each state, including the OOV rule.

        A state that no tree uses has only zeros. Parameters of rules that were seen once share their mass with
        the OOV rule; if none was, the OOV rule is an average token beyond the sum of 1.

        Args:
            threads: number of threads; the result does not depend on it.
            folder: folder for the state of each iteration; resume: continue from the state there.

        Raises:
            InputError: the derivations hold nothing to count, their nodes lack states or have too many, or the
                checkpoint has other settings or derivations.
        """
        settings, facts = with_chosen_states(derivations, settings, threads)
        beginning = _sampled_states(derivations, settings.m) if settings.init == "samples" else None
        made = EMRun(derivations, settings, settings.init, threads, beginning, folder, resume).run()
        made.about.update(facts)
        return made


IterationsT = TypeVar("IterationsT", bound=Iterations)


def with_chosen_states(
    derivations: Derivations, settings: IterationsT, threads: int = 1
) -> tuple[IterationsT, dict[str, object]]:
    """Chooses the number of hidden states if it is 0.

    Returns:
        The settings with that number, and facts for ``about``; no facts if the number was given.

    Raises:
        InputError: see ``rank_of_derivations``; a tensor of so many states does not fit this machine.
    """
    if settings.m:
        return settings, {}
    found = rank_of_derivations(derivations, settings.forests, settings.seed, threads)
    check_states(found.m, int(derivations.rules.arity.max(initial=0)))
    facts: dict[str, object] = {"rank asked": "auto", "gain on held-out moments": found.curve.tolist()}
    return dataclasses.replace(settings, m=found.m), facts


def _sampled_states(derivations: Derivations, m: int) -> Callable[[Examples, np.ndarray, int], np.ndarray]:
    if derivations.state is None:
        raise InputError("the derivations have no hidden states; create them with lscfg grammar sampled --set states=M")
    states = derivations.state.astype(np.int64)
    if int(states.max(initial=0)) >= m:
        used = int(states.max()) + 1
        cure = f"use -m {used}" if used <= MAX_STATES else f"sample again with states at most {MAX_STATES}"
        raise InputError(f"the derivations have {used} hidden states; {cure}")
    return lambda examples, training, restart: states


def _expanded(weights: Weights, rows: np.ndarray, shares: np.ndarray, arity: int) -> Blocks:
    """Parameters of rules of one arity, their shares of rows; only files contain a tensor for each rule."""
    size = max(BLOCK // weights.m ** (arity + 1), 1)

    def parts(precision: np.dtype) -> Iterator[np.ndarray]:
        for first in range(0, len(rows), size):
            chosen = slice(first, first + size)
            tensor = weights.tensors[arity][rows[chosen]] * shares[chosen].reshape(-1, *[1] * (arity + 1))
            yield rounded(tensor * weights.scale.reshape(-1, *[1] * arity), precision)

    return Blocks((len(rows), *[weights.m] * (arity + 1)), parts)


def normalise(weights: Weights, totals: list[np.ndarray], tying: Tying) -> None:
    """Sets ``scale`` so that the parameters of all rules sum to 1 for each state of the left-hand side."""
    if tying.lhs is not None:
        _normalise_categories(weights, totals, tying, tying.lhs, [ARITIES])
        return
    mass = sum((tying.members[k][:, None] * totals[k]).sum(axis=0) for k in ARITIES)
    weights.scale = np.divide(1.0, mass, out=np.zeros(weights.m), where=mass > DEAD)


def normalise_arities(weights: Weights, totals: list[np.ndarray], tying: Tying) -> None:
    """Scales the tensors so that the parameters of the rules of each arity sum to 1 for each state."""
    if tying.lhs is not None:
        _normalise_categories(weights, totals, tying, tying.lhs, [(k,) for k in ARITIES])
        return
    for k in ARITIES:
        mass = (tying.members[k][:, None] * totals[k]).sum(axis=0)
        scale = np.divide(1.0, mass, out=np.zeros(weights.m), where=mass > DEAD)
        weights.tensors[k] *= scale.reshape(-1, *[1] * k)
    weights.scale = np.ones(weights.m)


def _normalise_categories(
    weights: Weights, totals: list[np.ndarray], tying: Tying, lhs: list[np.ndarray], together: Sequence[Sequence[int]]
) -> None:
    """Scales the tensors so that parameters sum to 1 for each category and state.

    Args:
        lhs: by arity, int32 [rows], category of each row; together: arities that share a distribution.
    """
    categories = 1 + max(int(of_rows.max(initial=0)) for of_rows in lhs)
    for arities in together:
        mass = np.zeros((categories, weights.m))
        for k in arities:
            np.add.at(mass, lhs[k], tying.members[k][:, None] * totals[k])
        scale = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > DEAD)
        for k in arities:
            weights.tensors[k] *= scale[lhs[k]].reshape(len(lhs[k]), weights.m, *[1] * k)
    weights.scale = np.ones(weights.m)


def _alive(weights: Weights, tying: Tying, categories: int) -> np.ndarray:
    """float64 [categories, m], 1 for each state of the left-hand side of a rule of the category, else 0."""
    found = np.zeros((categories, weights.m))
    for k in ARITIES if tying.lhs else ():
        assert tying.lhs is not None
        np.maximum.at(found, tying.lhs[k], (weights.tensors[k] > 0).reshape(-1, weights.m, weights.m**k).any(axis=2))
    return found


def _fill_unseen(weights: Weights, totals: list[np.ndarray], tying: Tying) -> None:
    """Rules that only occur in held-out trees count as one average token of their arity and categories."""
    for k in ARITIES:
        shapes = np.zeros(len(tying.members[k])) if tying.shape is None else tying.shape[k]
        for shape in np.unique(shapes):
            same = shapes == shape
            unseen, mass = np.flatnonzero(same & (tying.members[k] == 0)), totals[k][same].sum()
            if len(unseen) and mass > 0:
                weights.tensors[k][unseen] = weights.tensors[k][same].sum(axis=0) / mass


def _facts(settings: Iterations, initial: str) -> dict[str, Any]:
    """All settings; the usual distributions have no fact, as in files from before there were others."""
    facts = settings.facts() | {"init": initial}
    if facts.get("normalise") == NORMALISE[0]:
        del facts["normalise"]
    return facts


def _fingerprint(d: Derivations, settings: Iterations, initial: str, limit: float) -> str:
    facts = _facts(settings, initial) | ({"limit": limit} if limit > 1 else {})
    if limit > 1 or d.weight is not None:
        facts["mass"] = "mean"  # of a tensor that rules share; checkpoints without it gave each rule one token
    if settings.restarts == 1:
        del facts["iterations"]  # a resumed run may have more iterations
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    digest.update(json.dumps([d.options.max_arity, d.alignments]).encode())
    forests = d.forests.arrays().values() if settings.forests and d.forests else ()
    others = [array for array in (d.weight, d.state, d.rules.lhs) if array is not None]
    for array in (d.rule, d.parent, d.slot, d.trees, d.rules.symbols, d.rules.offsets, *forests, *others):
        digest.update(array.tobytes())
    return digest.hexdigest()


def totals_by_state(tensors: list[np.ndarray]) -> list[np.ndarray]:
    """Sums over the states below, by arity, float64 [rows, m]."""
    return [*map(sums_by_state, tensors)]


def _distributions(counts: np.ndarray) -> np.ndarray:
    """Rows that sum to 1; rows without counts are uniform."""
    total = counts.sum(axis=1, keepdims=True)
    result: np.ndarray = np.divide(counts, total, out=np.full_like(counts, 1 / counts.shape[1]), where=total > 0)
    return result


def _moved(weights: Weights, old: Tying, new: Tying, examples: Examples) -> Weights:
    """Moves the parameters to the rows of another tying."""
    tensors = []
    for k in ARITIES:
        chosen = examples.rules.arity == k
        source = np.zeros(new.rows[k], np.int64)
        source[new.row[chosen]] = old.row[chosen]
        tensors.append(weights.tensors[k][source])
    return Weights(tensors, weights.scale, weights.root, weights.loglinear)


def _column(histories: list[list[dict[str, float]]], name: str) -> list[list[float | None]]:
    """One figure for each iteration, without infinities, which JSON cannot hold."""
    return [[step[name] if np.isfinite(step[name]) else None for step in history] for history in histories]


def _choose_held_out(sentences: int, settings: Iterations) -> np.ndarray:
    """Held-out sentences, bool [sentences], the same for all restarts."""
    found = np.zeros(sentences, bool)
    n = int(sentences * settings.held_out)
    if settings.held_out and not n:
        raise InputError(f"held_out = {settings.held_out:g} of {counted(sentences, 'sentence')} is none; hold out more")
    found[np.random.default_rng([settings.seed, 2**32]).permutation(sentences)[:n]] = True
    return found
