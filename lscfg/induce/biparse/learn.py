"""Learning of weights pair by pair (Xiao et al. 2012, Algorithm 1), and expected counts under them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.induce.biparse.checkpoint import LearnerCheckpoint, State
from lscfg.induce.biparse.settings import BiparseSettings
from lscfg.kernel.biparse import FIRST, NEIGHBOURS, BiparseModel, Bitexts, LearningStep, Visits
from lscfg.parallel.engine import Engine

PIECE = 8
"""Pairs that one thread visits at a time; no result depends on it."""


class Visitor:
    """Visits pairs by threads, and hands what they find on in their order."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._visits: list[Visits] = []

    def visit(self, model: BiparseModel, pairs: np.ndarray, what: int) -> Iterator[Visits]:
        """The visits of some pairs, piece by piece, each valid until the next call.

        Args:
            pairs: int32; the model must stay as it is until the last piece has come.
        """
        pieces = [pairs[first : first + PIECE] for first in range(0, len(pairs), PIECE)]
        while len(self._visits) < len(pieces):
            self._visits.append(Visits())

        def run(number: int) -> Visits:
            return model.visit(self._visits[number], pieces[number], what)

        return self._engine.map(run, range(len(pieces)))

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
        """Visits all pairs, and takes each batch when all of it was visited; returns the kernel's records of all.

        Args:
            end: what is to be done at the end of each batch.
        """
        records = []
        for first in log.progress(range(0, len(pairs), batch), title):
            done = list(self.visit(model, pairs[first : first + batch], what))
            for visits in done:
                take(visits)
                records.append(visits.results())
            end()
        return np.concatenate(records)


def summary(records: np.ndarray) -> dict[str, Any]:
    """What a pass tells of itself.

    Args:
        records: of the kernel, with neighbour hypergraphs.
    """
    good = records[records["tries"] > 0]
    figures: dict[str, Any] = {
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


@dataclass(frozen=True)
class Split:
    """Which pairs a model learns from, and which tell when to stop; int32 both."""

    learned: np.ndarray
    held_out: np.ndarray


def split(pairs: np.ndarray, share: float, seed: int) -> Split:
    """Draws the pairs that are held out; with a share above 0 at least one, unless there is only one."""
    order = np.random.default_rng([seed, 0]).permutation(pairs).astype(np.int32)
    n = min(len(pairs) - 1, max(1, round(share * len(pairs)))) if share else 0
    return Split(np.sort(order[n:]), np.sort(order[:n]))


class Learner:
    """A model that learns from some pairs of a text.

    Attributes:
        model: as it is now; trace: a record for each pass.
    """

    def __init__(
        self,
        text: Bitexts,
        settings: BiparseSettings,
        visitor: Visitor,
        pairs: np.ndarray,
        name: str = "",
        checkpoint: LearnerCheckpoint | None = None,
    ):
        self.model = BiparseModel(text, settings.beams)
        self.trace: list[dict[str, Any]] = []
        self._settings, self._visitor, self._name = settings, visitor, name
        self._split = split(pairs, settings.held_out, settings.seed)
        self._best_gain = 0.0
        self._checkpoint = checkpoint or LearnerCheckpoint(None, 0, "", False)

    def run(self) -> BiparseModel:
        """Learns until the passes are over, or held-out pairs gain no more.

        Returns:
            The model after the last pass that held-out pairs gained by; of the beginning if there was none.

        Raises:
            InputError: no pair has a parse, weights grow without end, the rules are more than the cache has room for,
                or the checkpoint is damaged or of other text or settings.
        """
        self._load()
        while len(self.trace) < self._settings.passes and not (self.trace and self.trace[-1]["over"]):
            self.learn(len(self.trace) + 1)
            if self._checkpoint.path:
                self._checkpoint.save(State(self.model.arrays(), self.trace, self._best_gain))
        if self._settings.held_out:
            self.model.go_back()
        return self.model

    def _load(self) -> None:
        state = self._checkpoint.load()
        if not state:
            return
        try:
            self.model.restore(state.arrays)
        except ValueError as error:
            raise self._checkpoint.damaged(str(error)) from error
        self.trace, self._best_gain = state.trace, state.best_gain

    def learn(self, number: int) -> None:
        """One pass. Its record says whether learning is over, since held-out pairs gained no more."""
        s, began = self._settings, perf_counter()
        order = np.random.default_rng([s.seed, number]).permutation(self._split.learned)
        n = len(order)
        done = (number - 1) * n

        def follow() -> None:
            nonlocal done
            rate = s.rate * s.decay ** (done / n)
            shrink = s.strength / (n if s.prior == "corpus" else 1)
            self.model.update(LearningStep(rate, s.lexical_rate if number > 1 else 0.0, shrink, s.prior, s.adagrad))
            done += s.batch

        title = f"{self._name}pass {number}"
        records = self._visitor.in_batches(self.model, order, s.batch, NEIGHBOURS, self.model.learn, title, follow)
        self.model.next_pass()
        self.model.forget(s.rule_cache)
        record = {"pass": number, **summary(records), "seconds": perf_counter() - began}
        if "ln p" not in record:
            raise InputError("no sentence pair has a parse: give a lexicon of this text, or wider beams")
        record["over"] = not self._gains(record)
        self.trace.append(record)
        told = ", ".join(f"{key} {_short(value)}" for key, value in record.items() if key not in ("pass", "over"))
        log.info(f"{self._name}pass {number}: {told}")

    def _gains(self, record: dict[str, Any]) -> bool:
        """Compares weights on the held-out pairs, under the same rules, with those of the beginning."""
        held_out = self._split.held_out
        if not len(held_out):
            return True
        now, before = self._held_out(NEIGHBOURS), self._held_out(NEIGHBOURS | FIRST)
        record |= {"held-out ln p": now, "held-out ln p without learning": before}
        gain = now - before
        if self._best_gain >= gain:
            return False
        self.model.keep()
        self._best_gain = gain
        return True

    def _held_out(self, what: int) -> float:
        title, pairs = f"{self._name}held out", self._split.held_out
        records = self._visitor.in_batches(self.model, pairs, 8 * PIECE, what, lambda _: None, title)
        return float(summary(records).get("ln p", -np.inf))


def _short(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
