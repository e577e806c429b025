"""What scorers of target sides are learned from, and what they come to (thesis, section 4.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import linalg, sparse

from lscfg import log
from lscfg.context.cca import WHITENINGS, Correlation, correlate
from lscfg.context.given import VECTORS, given_directions
from lscfg.context.views import Look, Views
from lscfg.errors import InputError
from lscfg.estimate.choice import Choices, fit_choices
from lscfg.estimate.svd import normalised_rows
from lscfg.extract.yields import expand_ranges
from lscfg.grammar.select import most_frequent
from lscfg.grammar.tokens import RuleTokens
from lscfg.kinds import SENSE_MODELS, kind
from lscfg.model.context import ContextModel
from lscfg.model.sense import SenseModel
from lscfg.settings import Declared, setting

HELD_OUT = 10
"""One of so many sentences is left out of a first estimate, which calibrates the second one."""


@dataclass(frozen=True)
class ViewSettings(Declared):
    """Which words around a rule there are, and which target sides are told apart.

    Attributes:
        takes_text: whether something is learned from further source text.
    """

    takes_text: ClassVar[bool] = False

    window: int = setting(5, "words on each side", least=1, most=100)
    bag: bool = setting(False, "words of a side count wherever they stand")
    min_word: int = setting(3, "least number of tokens with a word at its distance; rarer words are one", least=1)
    max_targets: int = setting(20, "most frequent target sides that are scored of each source side", least=2)
    min_count: int = setting(2, "least number of tokens of a rule that is scored", least=1)
    gaps: bool = setting(False, "first and last word of each gap of a rule, and its length, count, too")
    seed: int = setting(1, "seed of all that is random", least=0)

    @property
    def look(self) -> Look:
        """What is looked at."""
        return Look(self.window, self.bag, self.min_word, gaps=self.gaps)


@dataclass(frozen=True)
class SentenceSettings(ViewSettings):
    """Whether there are further words."""

    sentence: bool = setting(False, "words of the whole sentence count, too, wherever they stand")

    @property
    def look(self) -> Look:
        """As of ``ViewSettings``."""
        return super().look._replace(sentence=self.sentence)


@dataclass(frozen=True)
class CcaSettings(ViewSettings):
    """How words around become a few dimensions."""

    takes_text: ClassVar[bool] = True

    k: int = setting(50, "dimensions of each side", least=1)
    whiten: str = setting("diag", "what is taken out of each side's covariance with itself", choices=WHITENINGS)
    gamma: float = setting(2.0, "regularisation of these covariances", least=0)
    relative: bool = setting(False, "gamma counts in mean variances of a side's items")
    vectors: Path | None = setting(None, VECTORS)

    @property
    def look(self) -> Look:
        """As of ``ViewSettings``; what the vector of a rare word says needs no count."""
        return super().look._replace(least=1) if self.vectors else super().look


@dataclass(frozen=True)
class Fitted:
    """A scorer as it was learned.

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
        """float64 [n]: the score of each row beside the words that are around it, [n, items], as in the kernel."""
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


@dataclass(frozen=True)
class Task:
    """Tokens and the rules that are to be told apart by the words around.

    Attributes:
        tokens: of rules that share their source side with another one, those that are not scored, too.
        views: of all tokens.
        row: int32 [rules], place among the scored ones, -1: none; scored: int64 [rows], these rules, by source side.
        used: bool [tokens], those that are learned from.
        threads: how many to use; nothing depends on it.
        text: views that directions are learned from, of the tokens and of further text; None: those of the tokens.
        bases: what several estimates share, by what made it.
    """

    tokens: RuleTokens
    views: Views
    row: np.ndarray
    scored: np.ndarray
    used: np.ndarray
    threads: int = 1
    bases: dict[Any, Any] = field(default_factory=dict)
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
            more: further source text, whose words the tokens' vocabulary has; directions are learned from it, too.

        Raises:
            InputError: no source side has two target sides that are frequent enough.
        """
        tokens = tokens.with_choice()
        rules, side = tokens.rules, tokens.rules.source_id
        counts = np.bincount(tokens.places[:, 0], minlength=len(rules))
        kept = np.nonzero(most_frequent(side, counts, settings.max_targets) & (counts >= settings.min_count))[0]
        scored = kept[np.argsort(side[kept], kind="stable")]
        if not len(scored) or np.bincount(side[scored]).max() < 2:
            raise InputError("no source side has two frequent target sides: there is nothing to choose by context")
        row = np.full(len(rules), -1, np.int32)
        row[scored] = np.arange(len(scored))
        views, text = Views.with_text(source, more, rules.words, tokens.places[:, 1:], settings.look, settings.seed)
        return cls(tokens, views, row, scored, np.ones(len(tokens.places), bool), threads, text=text)

    @property
    def rows(self) -> int:
        """Rules that are scored."""
        return len(self.scored)

    @cached_property
    def own(self) -> np.ndarray:
        """int32 [tokens], the row of each one's own rule, -1: it is not scored."""
        return np.asarray(self.row[self.tokens.places[:, 0]])

    @cached_property
    def begin(self) -> np.ndarray:
        """int64 [source sides + 1], where the rows of each begin."""
        side = self.tokens.rules.source_id
        found: np.ndarray = np.searchsorted(side[self.scored], np.arange(side.max() + 2)).astype(np.int64)
        return found

    @cached_property
    def side(self) -> np.ndarray:
        """int64 [tokens], the source side of each."""
        return np.asarray(self.tokens.rules.source_id[self.tokens.places[:, 0]])

    @cached_property
    def counts(self) -> np.ndarray:
        """int64 [rows], used tokens of each."""
        own = self.own[self.used]
        return np.bincount(own[own >= 0], minlength=self.rows)

    def asked(self, tokens: np.ndarray) -> np.ndarray:
        """int64, those of some tokens, bool [tokens], that have a scored rule beside others."""
        several = np.diff(self.begin)[self.side] > 1
        return np.nonzero(tokens & (self.own >= 0) & several)[0]

    def choices(self, asked: np.ndarray) -> tuple[Choices, np.ndarray]:
        """The choice that each of these tokens is, and the row of each option."""
        side = self.side[asked]
        first, sizes = self.begin[side], np.diff(self.begin)[side]
        begin = np.concatenate([[0], np.cumsum(sizes)])
        return Choices(begin, begin[:-1] + self.own[asked] - first), expand_ranges(first, sizes)

    def correlation(self, settings: CcaSettings) -> Correlation:
        """The directions of the two views; they need no translations, and are those of all tokens and text."""
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

    def _correlate(self, settings: CcaSettings) -> Correlation:
        if settings.vectors:
            return given_directions(settings.vectors, self.views, self.tokens.rules.words)
        how = (settings.whiten, settings.gamma, settings.relative, settings.seed)
        x, y = (self.text or self.views).sides
        found = correlate(x, y, settings.k, *how, threads=self.threads)
        if not (inside := self.views.gaps).shape[1]:
            return found
        k = min(settings.k, inside.shape[1])
        return replace(found, gaps=correlate(inside, self.views.matrix, k, *how, threads=self.threads).left)

    def basis(self, settings: CcaSettings) -> np.ndarray:
        """float64 [items, dims]: what each item adds to the context of a token: k of either side, and k of gaps."""
        found = self.correlation(settings)
        parts = (found.left, found.right, *([found.gaps] if len(found.gaps) else []))
        return np.asarray(linalg.block_diag(*parts))

    def contexts(self, settings: CcaSettings) -> np.ndarray:
        """float64 [used tokens, dims], the context of each."""
        return np.asarray(self.views.matrix[self.used] @ self.basis(settings))


def sums_of_weights(weights: sparse.csr_matrix, items: sparse.csr_matrix, rows: np.ndarray) -> np.ndarray:
    """float64 [n], the sum of each row's weights for its items, [n, items]; they are looked up, since rows are long."""
    keys = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr)) * weights.shape[1] + weights.indices
    keys, values = np.append(keys, np.iinfo(np.int64).max), np.append(weights.data, 0)
    asked = np.repeat(np.arange(len(rows)), np.diff(items.indptr))
    wanted = rows[asked] * weights.shape[1] + items.indices
    at = np.searchsorted(keys, wanted)
    return np.bincount(asked, np.where(keys[at] == wanted, values[at], 0) * items.data, len(rows))


class SenseLearner(Protocol):
    """What the module of a kind of scorers has; its row is in the entry-point group ``lscfg.sense_models``."""

    HELP: str
    VERSION: int
    Settings: type[ViewSettings]

    def fit(self, task: Task, settings: Any) -> Fitted:
        """Learns from the used tokens of the task."""


def scorer_adder(name: str, settings: ViewSettings) -> Callable[[Any, RuleTokens, list[str], int, Sequence[str]], Any]:
    """``add_scorer`` of a kind with its settings, as ``lscfg.estimate.run.ContextInputs`` has it."""
    return partial(add_scorer, name, settings)


def add_scorer(
    name: str,
    settings: ViewSettings,
    model: Any,
    tokens: RuleTokens,
    source: list[str],
    threads: int = 1,
    more: Sequence[str] = (),
) -> Any:
    """The model with a scorer of the kind ``name``.

    Args:
        model: something with ``about`` and ``context``; a context it has must be of the same tokens.
        source: the source sentences that they are of.
        more: as of ``Task.of``.

    Raises:
        InputError: no source side has a choice, or what the settings ask for cannot be had.
    """
    learner: SenseLearner = kind(SENSE_MODELS, name)
    task = Task.of(tokens, source, settings, threads, more)
    calibration = _calibrate(task, learner, settings)
    fitted = learner.fit(task, settings)
    single = [array.astype(np.float32) for array in (fitted.vectors, fitted.shift, fitted.rules, fitted.bias)]
    matrix = fitted.weights
    weights = (matrix.indptr, matrix.indices, matrix.data.astype(np.float32)) if matrix is not None else None
    if not all(np.isfinite(array).all() for array in (*single, *(weights or ()))):
        raise InputError(f"the scorer {name} diverged: it holds values that are not finite; choose a smaller rate")
    sense = SenseModel(
        fitted.kind,
        task.views.look.window,
        task.views.look.bag,
        task.views.items,
        single[0],
        single[1],
        task.row,
        single[2],
        single[3],
        calibration,
        fitted.hidden,
        weights,
    )
    rules = task.tokens.rules
    if model.context:
        if model.context.sense:
            raise InputError("a joint context model has a scorer of its own; choose --context-model loglinear")
        if [*map(len, (model.context.rules.symbols, model.context.rules))] != [len(rules.symbols), len(rules)]:
            raise InputError("the model has a context of other rules")
        context = replace(model.context, sense=sense)
    else:
        counts = np.bincount(task.tokens.places[:, 0], minlength=len(rules)).astype(np.float64)
        context = ContextModel.without_weights(rules, counts, sense)
    size = f"{fitted.vectors.shape[1]} dimensions" if weights is None else f"{len(weights[2])} weights"
    log.info(f"scorer {name}: {task.rows} rules, {len(task.views.items)} items, {size}")
    about = {"model": name, **settings.facts()}
    return replace(model, context=context, about=model.about | {"sense": about})


def _calibrate(task: Task, learner: SenseLearner, settings: ViewSettings) -> np.ndarray:
    """float64 [2], weights of the logarithm of a rule's count and of its score, fitted to sentences left out."""
    out = task.tokens.places[:, 1] % HELD_OUT == 0
    part = replace(task, used=~out, bases=task.bases)
    asked = part.asked(out)
    if not len(asked) or not part.counts.any():
        return np.array([1.0, 1.0])
    fitted = learner.fit(part, settings)
    choices, rows = part.choices(asked)
    scores = fitted.scores(part.views.matrix[np.repeat(asked, choices.sizes)], rows)
    plain = np.log(np.maximum(part.counts[rows], 0.5))
    weights = fit_choices(choices, np.column_stack([plain, scores]))
    loss = choices.losses(np.column_stack([plain, scores]) @ weights).mean()
    log.info(
        f"calibration on {len(asked)} tokens: loss {choices.losses(plain).mean():.3f} by frequency, {loss:.3f} with "
        f"the score; MRR of the score {(1 / choices.ranks(scores)).mean():.3f}"
    )
    return weights
