"""Low-dimensional context models: settings, training data, and the base class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.context.correlation import ALL_VIEWS, WHITENINGS, Correlation, correlate, correlate_all
from lscfg.context.learner import (
    AnyModel,
    ContextLearner,
    PassSettings,
    VectorSettings,
    WindowSettings,
    check_same_rules,
)
from lscfg.context.views import Look, Views
from lscfg.context.word_vectors import given_directions
from lscfg.errors import InputError
from lscfg.estimate.choice import Choices, fit_choices
from lscfg.estimate.svd import normalised_rows
from lscfg.extract.yields import expand_ranges
from lscfg.grammar.select import most_frequent
from lscfg.grammar.tokens import RuleTokens
from lscfg.kernel import SENSE_FEATURES
from lscfg.model.context import ContextModel
from lscfg.model.low_dimensional import LowDimensionalModel
from lscfg.settings import setting

COSTS = {"uniform": "indicators", "frequency": "costs"}
"""The kernel's name of a squared loss by the setting ``costs``."""

HELD_OUT = 10
"""One sentence in this many is left out of a first estimate, which calibrates the second one."""


@dataclass(frozen=True)
class ViewSettings(WindowSettings):
    """Settings of low-dimensional context models."""

    bag: bool = setting(False, "ignore the distance of words to the rule")
    min_count: int = setting(2, "minimum number of tokens of a rule that is scored", least=1)
    gaps: bool = setting(False, "also use the first and last word and the length of each gap of a rule")

    @property
    def look(self) -> Look:
        """The part of the sentence that serves as context."""
        return Look(self.window, self.bag, self.min_word, gaps=self.gaps)


@dataclass(frozen=True)
class SentenceSettings(ViewSettings):
    """Settings of context models that may see the whole sentence."""

    sentence: bool = setting(False, "also use the words of the whole sentence, at any position")

    @property
    def look(self) -> Look:
        """As in ``ViewSettings``."""
        return super().look._replace(sentence=self.sentence)


@dataclass(frozen=True)
class ViewVectorSettings(ViewSettings, VectorSettings):
    """Settings of context models whose dimensions come from a canonical correlation analysis of both sides."""

    whiten: str = setting(
        "diag", "covariance whitening of each side; gcca: of all sides and gaps together", choices=WHITENINGS
    )
    relative: bool = setting(False, "gamma in units of the mean variance of a side's items")

    @property
    def look(self) -> Look:
        """As in ``ViewSettings``; word vectors from a file need no count."""
        return super().look._replace(least=1) if self.vectors else super().look


@dataclass(frozen=True)
class RidgeSettings(ViewVectorSettings):
    """Settings of context models with a closed form."""

    ridge: float = setting(1.0, "regularisation", above=0)


@dataclass(frozen=True)
class StepSettings(ViewSettings, PassSettings):
    """Settings of context models that are learned token by token."""

    penalty: float = setting(
        30.0,
        "penalty of squared weights: inverse variance of their prior, or (ls-online, mlp, mlr, cca-mm) a penalty each "
        "time that a weight is visited",
        least=0,
    )


@dataclass(frozen=True)
class HiddenSettings(ViewSettings):
    """Settings of context models with a hidden layer."""

    hidden: int = setting(10, "units of the hidden layer", least=1, most=10_000)


@dataclass(frozen=True)
class CostSettings(StepSettings):
    """Settings of context models that are learned by squared loss."""

    costs: str = setting(
        "uniform",
        "training targets: 1 for the correct rule and 0 for others, or costs of others that grow with their counts",
        choices=tuple(COSTS),
    )


@dataclass(frozen=True)
class Fitted:
    """A learned low-dimensional context model.

    Attributes:
        kind: one of the kernel's.
        vectors: [items, m], of the words around; shift: [m]; rules: [rows, width]; bias: [rows].
        hidden: [h, m], [h] and [h], of kinds that have it.
        weights: [rows, items], of the kind ``sparse``, whose m is 0.
    """

    kind: str
    vectors: np.ndarray
    shift: np.ndarray
    rules: np.ndarray
    bias: np.ndarray
    hidden: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    weights: sparse.csr_matrix | None = None

    def scores(self, items: sparse.csr_matrix, rows: np.ndarray) -> np.ndarray:
        """float64 [n]: the score of each row given the words around it, [n, items], as in the kernel."""
        if self.weights is not None:
            result: np.ndarray = sums_of_weights(self.weights, items, rows) + self.bias[rows]
            return result
        around, rules = np.asarray(items @ self.vectors) + self.shift, self.rules[rows]
        if self.kind == "cosine":
            return np.asarray((normalised_rows(around) * rules).sum(axis=1))
        if self.kind == "dot":
            return np.asarray((around * rules).sum(axis=1) + self.bias[rows])
        assert self.hidden is not None
        hidden, bias, out = self.hidden
        if self.kind == "mlp":
            return np.asarray((np.tanh(around @ hidden.T + bias) * rules).sum(axis=1) + self.bias[rows])
        return np.asarray(np.tanh(normalised_rows(around) @ hidden.T + bias + rules) @ out + self.bias[rows])

    def model(self, task: Task, calibration: np.ndarray) -> LowDimensionalModel:
        """The context model for a model file.

        Raises:
            InputError: a value is not finite.
        """
        single = [array.astype(np.float32) for array in (self.vectors, self.shift, self.rules, self.bias)]
        matrix = self.weights
        weights = (matrix.indptr, matrix.indices, matrix.data.astype(np.float32)) if matrix is not None else None
        if not all(np.isfinite(array).all() for array in (*single, *(weights or ()))):
            raise InputError("the context model diverged: it holds values that are not finite; choose a smaller rate")
        look = task.views.look
        shape = (self.kind, look.window, look.bag, task.views.items)
        return LowDimensionalModel(
            *shape, single[0], single[1], task.row, single[2], single[3], calibration, self.hidden, weights
        )


@dataclass(frozen=True)
class Task:
    """Tokens, and the rules that the words around a token must distinguish.

    Attributes:
        tokens: tokens of rules that share their source side with another one, including rules without a score.
        views: of all tokens.
        row: int32 [rules], index among scored rules, or -1; scored: int64 [rows], scored rules, by source side.
        used: bool [tokens], True for training tokens.
        threads: number of threads; results do not depend on it.
        text: views of the tokens and of further text, for learning directions; None: views of the tokens alone.
        bases: bases that several estimates share, by their origin.
    """

    tokens: RuleTokens
    views: Views
    row: np.ndarray
    scored: np.ndarray
    used: np.ndarray
    threads: int = 1
    bases: dict[object, Any] = field(default_factory=dict)
    text: Views | None = None

    @classmethod
    def of(
        cls,
        tokens: RuleTokens,
        source: list[str],
        settings: ViewSettings,
        threads: int = 1,
        more: Sequence[str] = (),
    ) -> Task:
        """The task of some tokens, all of them used.

        Args:
            more: further source text for learning directions; the vocabulary of the tokens includes its words.

        Raises:
            InputError: no source side has two target sides that are frequent enough.
        """
        tokens = tokens.with_choice()
        rules, side = tokens.rules, tokens.rules.source_id
        counts = np.bincount(tokens.places[:, 0], minlength=len(rules))
        kept = np.nonzero(most_frequent(side, counts, settings.max_targets) & (counts >= settings.min_count))[0]
        scored = kept[np.argsort(side[kept], kind="stable")]
        if not len(scored) or np.bincount(side[scored]).max() < 2:
            raise InputError("no source side has two frequent target sides, so the context has nothing to choose")
        row = np.full(len(rules), -1, np.int32)
        row[scored] = np.arange(len(scored))
        views, text = Views.with_text(source, more, rules.words, tokens.places[:, 1:], settings.look, settings.seed)
        return cls(tokens, views, row, scored, np.ones(len(tokens.places), bool), threads, text=text)

    @property
    def rows(self) -> int:
        """Number of scored rules."""
        return len(self.scored)

    @cached_property
    def own(self) -> np.ndarray:
        """int32 [tokens], row of each token's own rule, or -1 without a score."""
        return np.asarray(self.row[self.tokens.places[:, 0]])

    @cached_property
    def begin(self) -> np.ndarray:
        """int64 [source sides + 1], first row of each source side."""
        side = self.tokens.rules.source_id
        found: np.ndarray = np.searchsorted(side[self.scored], np.arange(side.max() + 2)).astype(np.int64)
        return found

    @cached_property
    def side(self) -> np.ndarray:
        """int64 [tokens], the source side of each."""
        return np.asarray(self.tokens.rules.source_id[self.tokens.places[:, 0]])

    @cached_property
    def counts(self) -> np.ndarray:
        """int64 [rows], number of used tokens of each row."""
        own = self.own[self.used]
        return np.bincount(own[own >= 0], minlength=self.rows)

    def asked(self, tokens: np.ndarray) -> np.ndarray:
        """int64, tokens of the selection ``tokens``, bool [tokens], whose scored rule has scored competitors."""
        several = np.diff(self.begin)[self.side] > 1
        return np.nonzero(tokens & (self.own >= 0) & several)[0]

    def choices(self, asked: np.ndarray) -> tuple[Choices, np.ndarray]:
        """The choice at each of these tokens, and the row of each option."""
        side = self.side[asked]
        first, sizes = self.begin[side], np.diff(self.begin)[side]
        begin = np.concatenate([[0], np.cumsum(sizes)])
        return Choices(begin, begin[:-1] + self.own[asked] - first), expand_ranges(first, sizes)

    def correlation(self, settings: ViewVectorSettings) -> Correlation:
        """The directions of the two views, learned without translations from all tokens and further text."""
        key = (settings.k, settings.whiten, settings.gamma, settings.relative, settings.seed, settings.vectors)
        if key not in self.bases:
            found = self._correlate(settings)
            sizes = (
                f"{len(found.left)} items to the left, {len(found.right)} to the right and {len(found.gaps)} in gaps"
            )
            log.info(f"{len(found.sigma)} dimensions of {sizes}")
            self.bases[key] = found
        kept: Correlation = self.bases[key]
        return kept

    def _correlate(self, settings: ViewVectorSettings) -> Correlation:
        if settings.vectors:
            return given_directions(settings.vectors, self.views, self.tokens.rules.words)
        how = (settings.whiten, settings.gamma, settings.relative, settings.seed)
        x, y = (self.text or self.views).sides
        if settings.whiten == ALL_VIEWS:
            gaps = (self.text or self.views).gaps
            return correlate_all([x, y, *([gaps] if gaps.shape[1] else [])], settings.k, *how[1:], threads=self.threads)
        found = correlate(x, y, settings.k, *how, threads=self.threads)
        if not (inside := self.views.gaps).shape[1]:
            return found
        k = min(settings.k, inside.shape[1])
        return replace(found, gaps=correlate(inside, self.views.matrix, k, *how, threads=self.threads).left)

    def basis(self, settings: ViewVectorSettings) -> np.ndarray:
        """float64 [items, dims], contribution of each item to a context: k columns per side, and k for gaps."""
        return self.correlation(settings).basis()

    def contexts(self, settings: ViewVectorSettings) -> np.ndarray:
        """float64 [used tokens, dims], their contexts."""
        return np.asarray(self.views.matrix[self.used] @ self.basis(settings))


def sums_of_weights(weights: sparse.csr_matrix, items: sparse.csr_matrix, rows: np.ndarray) -> np.ndarray:
    """float64 [n], sum of each row's weights over the items of a context; by look-up, since rows are long."""
    keys = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr)) * weights.shape[1] + weights.indices
    keys, values = np.append(keys, np.iinfo(np.int64).max), np.append(weights.data, 0)
    asked = np.repeat(np.arange(len(rows)), np.diff(items.indptr))
    wanted = rows[asked] * weights.shape[1] + items.indices
    at = np.searchsorted(keys, wanted)
    return np.bincount(asked, np.where(keys[at] == wanted, values[at], 0) * items.data, len(rows))


ViewSettingsT = TypeVar("ViewSettingsT", bound=ViewSettings)


class LowDimensionalLearner(ContextLearner[ViewSettingsT]):
    """Learns a context model of few dimensions."""

    FEATURES = SENSE_FEATURES

    def fit(self, task: Task, settings: ViewSettingsT) -> Fitted:
        """Learns from the used tokens of the task."""
        raise NotImplementedError

    def add(
        self,
        model: AnyModel,
        tokens: RuleTokens,
        source: list[str],
        settings: ViewSettingsT,
        threads: int = 1,
        more: Sequence[str] = (),
    ) -> AnyModel:
        """Returns the model with a low-dimensional context model; see ``ContextLearner``.

        Raises:
            InputError: the model has a joint or low-dimensional context model, or a context model of other rules.
        """
        task = Task.of(tokens, source, settings, threads, more)
        calibration = self._calibrate(task, settings)
        fitted = self.fit(task, settings)
        made = fitted.model(task, calibration)
        rules = task.tokens.rules
        if model.context:
            if model.context.low_dimensional:
                raise InputError(
                    "the model already has a joint or low-dimensional context model; start from one without"
                )
            check_same_rules(model.context.rules, rules)
            context = replace(model.context, low_dimensional=made)
        else:
            counts = np.bincount(task.tokens.places[:, 0], minlength=len(rules)).astype(np.float64)
            context = ContextModel.without_weights(rules, counts, made)
        size = f"{len(made.weights[2])} weights" if made.weights else f"{fitted.vectors.shape[1]} dimensions"
        log.info(f"{self.name}: {task.rows} rules, {len(task.views.items)} items, {size}")
        about = {"model": self.name, **settings.facts()}
        return replace(model, context=context, about=model.about | {"sense": about})

    def _calibrate(self, task: Task, settings: ViewSettingsT) -> np.ndarray:
        """float64 [2], weights of the logarithm of a rule's count and of its score, fitted to left-out sentences."""
        out = task.tokens.places[:, 1] % HELD_OUT == 0
        part = replace(task, used=~out, bases=task.bases)
        asked = part.asked(out)
        if not len(asked) or not part.counts.any():
            return np.array([1.0, 1.0])
        fitted = self.fit(part, settings)
        choices, rows = part.choices(asked)
        scores = fitted.scores(part.views.matrix[np.repeat(asked, choices.sizes)], rows)
        plain = np.log(np.maximum(part.counts[rows], 0.5))
        weights = fit_choices(choices, np.column_stack([plain, scores]))
        loss = choices.losses(np.column_stack([plain, scores]) @ weights).mean()
        log.info(
            f"calibration on {len(asked)} tokens: loss {choices.losses(plain).mean():.3f} by frequency, {loss:.3f} "
            f"with the score; MRR of the score {(1 / choices.ranks(scores)).mean():.3f}"
        )
        return weights
