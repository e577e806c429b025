"""One pass over sentence pairs, batch by batch, each by threads (Xiao et al. 2012, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lscfg import log
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.kernel.biparse import NEIGHBOURS, BiparseModel, LearningStep, Visits
from lscfg.parallel.engine import Engine

PIECE = 8
"""Pairs that one thread visits at a time; results do not depend on it."""


class Visitor:
    """Visits pairs in threads, and passes the visits on in the order of pairs."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._visits: list[Visits] = []

    def visit(self, model: BiparseModel, pairs: np.ndarray, what: int) -> Iterator[Visits]:
        """The visits of some pairs, piece by piece, each valid until the next call.

        Args:
            pairs: int32; the model must not change before the last piece.
        """
        pieces = [pairs[first : first + PIECE] for first in range(0, len(pairs), PIECE)]
        while len(self._visits) < len(pieces):
            self._visits.append(Visits())

        def run(number: int) -> Visits:
            return model.visit(self._visits[number], pieces[number], what)

        return self._engine.map(run, range(len(pieces)))

    def forget(self) -> None:
        """Frees the memory of all visits."""
        self._visits.clear()

    def in_batches(
        self,
        model: BiparseModel,
        pairs: np.ndarray,
        batch: int,
        what: int,
        take: Callable[[Visits], None],
        title: str,
        end: Callable[[], None] = lambda: None,
    ) -> np.ndarray:
        """Visits all pairs, adds each complete batch, and returns the kernel's records.

        Args:
            title: title of a progress bar; empty for none.
            end: function to call at the end of each batch.
        """
        records, batches = [], range(0, len(pairs), batch)
        for first in log.progress(batches, title) if title else batches:
            done = list(self.visit(model, pairs[first : first + batch], what))
            for visits in done:
                take(visits)
                records.append(visits.results())
            end()
        return np.concatenate(records)


def summary(records: np.ndarray) -> dict[str, Any]:
    """Summarises a pass in figures.

    Args:
        records: records of the kernel, with neighbour hypergraphs.
    """
    good = records[records["tries"] > 0]
    figures: dict[str, object] = {
        "pairs": int((records["tries"] != 0).sum()),
        "without a parse": int((records["tries"] < 0).sum()),
    }
    figures["tried again"] = int((np.abs(records["tries"]) > 1).sum())
    if len(good):
        gap = good["log_pair"] - good["log_source"]
        figures |= {"edges kept": float(good["kept"].mean()), "best score": float(good["viterbi"].mean())}
        if good["sides"].any():
            figures |= {"ln p": float(gap.mean()), "above 1": int((gap > 1e-6).sum())}
    return figures


def learn_pass(
    model: BiparseModel, pairs: np.ndarray, settings: BiparseSettings, number: int, visitor: Visitor, title: str = ""
) -> np.ndarray:
    """Learns from pairs in the given order; returns the kernel's records.

    Args:
        number: number of the pass, from 1.

    Raises:
        InputError: weights diverge.
    """
    s, n = settings, len(pairs)
    done = (number - 1) * n

    def follow() -> None:
        nonlocal done
        rate = s.rate * s.decay ** (done / n)
        shrink = s.strength / (n if s.prior == "corpus" else 1)
        model.update(LearningStep(rate, s.lexical_rate if number > 1 else 0.0, shrink, s.prior, s.adagrad))
        done += s.batch

    return visitor.in_batches(model, pairs, s.batch, NEIGHBOURS, model.learn, title, follow)
