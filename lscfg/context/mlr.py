"""Scores with one dimension per word: each rule weights every word (thesis, section 4.2.4, MLR)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.context.low_dimensional import COSTS, CostSettings, Fitted, LowDimensionalLearner, SentenceSettings, Task
from lscfg.context.views import repeated_items
from lscfg.errors import InputError
from lscfg.extract.yields import expand_ranges
from lscfg.kernel.context import WeightsTrainer
from lscfg.parallel.choose import in_threads
from lscfg.settings import setting

NORMS = ("l2", "l1")

PARTS = 16
"""Groups of source sides that threads divide among themselves."""


@dataclass(frozen=True)
class MLRSettings(SentenceSettings, CostSettings, defaults={"penalty": 1e-5}):
    """Settings of multinomial regression."""

    norm: str = setting("l2", "norm of the penalty: half the square of a weight, or its absolute value", choices=NORMS)


class MultinomialRegression(LowDimensionalLearner[MLRSettings]):
    """A weight for each rule and surrounding word."""

    HELP = "like ls-online, with a weight for each rule, word and distance instead of dimensions"
    VERSION = 2
    Settings = MLRSettings

    def fit(self, task: Task, settings: MLRSettings) -> Fitted:
        """Learns the scores of each source side separately, since source sides share no weights.

        Raises:
            InputError: no token has a choice, or the weights diverged.
        """
        asked = task.asked(task.used)
        if not len(asked):
            raise InputError("no source side of a token has two rules, so the context has nothing to choose")
        around, side = repeated_items(task.views.matrix[asked]), task.side[asked]
        lists, items = _own_items(around, side, len(task.views.items))
        behind = np.bincount(lists[:, 0], minlength=len(task.begin) - 1)  # items of each side; the bias follows them
        of_row = behind[task.tokens.rules.source_id[task.scored]]
        begin = around.indptr + np.arange(len(asked) + 1)
        with_bias = np.insert(items, around.indptr[1:], behind[side])
        offsets = np.concatenate([[0], np.cumsum(of_row + 1)])
        first, size = task.begin[side], np.diff(task.begin)[side]
        trainer = WeightsTrainer(
            COSTS[settings.costs],
            begin,
            with_bias,
            task.own[asked],
            first,
            size,
            np.maximum(task.counts, 0.5),
            offsets,
            settings.norm == "l1",
            settings.rate,
            settings.penalty,
        )
        _train(trainer, side, settings, task.threads)
        start = np.concatenate([[0], np.cumsum(behind)])
        rules = task.tokens.rules.source_id[task.scored]
        columns = lists[expand_ranges(start[rules], of_row), 1]
        rows = np.repeat(np.arange(task.rows), of_row)
        values = trainer.parameters[expand_ranges(offsets[:-1], of_row)]
        weights = sparse.csr_matrix((values, (rows, columns)), (task.rows, len(task.views.items)))
        weights.eliminate_zeros()
        none = np.zeros((len(task.views.items), 0)), np.zeros(0), np.zeros((task.rows, 0))
        return Fitted("sparse", *none, trainer.parameters[offsets[1:] - 1], weights=weights)


def _own_items(around: sparse.csr_matrix, side: np.ndarray, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """int64 [lists, 2], items of the tokens of each source side, by side; int64, items of each token by list."""
    keys = np.repeat(side, np.diff(around.indptr)) * n_items + around.indices
    found, number = np.unique(keys, return_inverse=True)
    sides, items = np.divmod(found, n_items)
    number -= np.searchsorted(sides, np.repeat(side, np.diff(around.indptr)))
    return np.column_stack([sides, items]), number


def _train(trainer: WeightsTrainer, side: np.ndarray, settings: MLRSettings, threads: int) -> None:
    random, part = np.random.default_rng(settings.seed), side % PARTS
    with in_threads(threads) as engine:
        for number in range(1, settings.passes + 1):
            order = random.permutation(len(side))
            groups = [order[part[order] == k] for k in range(PARTS)]
            loss = sum(engine.map(trainer.learn, groups)) / len(side)
            log.info(f"mlr, pass {number}: loss {loss:.4f}")
            if not np.isfinite(loss):
                raise InputError(f"mlr diverged in pass {number}; choose a smaller rate")
