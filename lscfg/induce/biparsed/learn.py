"""Learning of weights (Xiao et al. 2012, section 3.3): passes, each judged by held-out pairs."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.induce.biparsed.checkpoint import LearnerCheckpoint, State
from lscfg.induce.biparsed.passes import PIECE, Visitor, learn_pass, summary
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.induce.biparsed.shards import Shards
from lscfg.kernel.biparse import FIRST, NEIGHBOURS, BiparseModel, Bitexts

# Held-out pairs compare weights, not passes: each new rule adds rivals to a pair, which make it less likely
# to win. So after each pass held-out pairs are parsed twice with the same rules, under the current and the first
# weights, and the difference must grow.


@dataclass(frozen=True)
class Split:
    """Pairs that a model learns from, and held-out pairs that decide when to stop; both int32."""

    learned: np.ndarray
    held_out: np.ndarray


def split(pairs: np.ndarray, share: float, seed: int) -> Split:
    """Draws the pairs that are held out; with a share above 0 at least one, unless there is only one."""
    order = np.random.default_rng([seed, 0]).permutation(pairs).astype(np.int32)
    n = min(len(pairs) - 1, max(1, round(share * len(pairs)))) if share else 0
    return Split(np.sort(order[n:]), np.sort(order[:n]))


class Learner:
    """Learning of a model from some pairs of a text.

    Args:
        shards: engine in which parts of each pass learn in parallel, which needs a checkpoint. None: pair by pair, in
            this process.

    Attributes:
        model: the current model; trace: a record for each pass.
    """

    def __init__(
        self,
        text: Bitexts,
        settings: BiparseSettings,
        visitor: Visitor,
        pairs: np.ndarray,
        name: str = "",
        checkpoint: LearnerCheckpoint | None = None,
        shards: Shards | None = None,
    ):
        self.model = BiparseModel(text, settings.beams)
        self.trace: list[dict[str, object]] = []
        self._settings, self._visitor, self._name = settings, visitor, name
        self._split = split(pairs, settings.held_out, settings.seed)
        self._best_gain = 0.0
        self._checkpoint = checkpoint or LearnerCheckpoint(None, 0, "", False)
        self._shards = shards

    def run(self) -> BiparseModel:
        """Learns until the last pass, or until held-out pairs stop gaining.

        Returns:
            The model after the last pass with a gain on held-out pairs; the first model if no pass had one.

        Raises:
            InputError: no pair has a parse, weights diverge, the rules exceed the cache, or the checkpoint is damaged,
                belongs to other text or settings, or has more passes.
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
        if state and len(state.trace) > self._settings.passes:
            done = len(state.trace)
            raise InputError(f"already has {done} passes; ask for as many, or start again", self._checkpoint.path)
        if state:
            self._checkpoint.put(state, self.model)
            self.trace, self._best_gain = state.trace, state.best_gain

    def learn(self, number: int) -> None:
        """One pass. Its record marks the end of learning, when held-out pairs stop gaining.

        Raises:
            InputError: no sentence pair has a parse.
        """
        s, began = self._settings, perf_counter()
        order = np.random.default_rng([s.seed, number]).permutation(self._split.learned)
        title = f"{self._name}pass {number}"
        if self._shards:
            self.model = BiparseModel(self.model.text, s.beams)  # the checkpoint contains the learned weights
            records = self._shards.learn(self.model, order, number, self._checkpoint, title)
        else:
            records = learn_pass(self.model, order, s, number, self._visitor, title)
        self.model.next_pass()
        self.model.forget(s.rule_cache)
        record = {"pass": number, **summary(records), "seconds": perf_counter() - began}
        if "ln p" not in record:
            raise InputError("no sentence pair has a parse; use a lexicon of this text, or wider beams")
        record["over"] = not self._gains(record)
        self.trace.append(record)
        told = ", ".join(f"{key} {_short(value)}" for key, value in record.items() if key not in ("pass", "over"))
        log.info(f"{title}: {told}")

    def _gains(self, record: dict[str, object]) -> bool:
        """Compares the weights with the first weights on held-out pairs, under the same rules."""
        if not self._settings.held_out:
            return True
        now = before = -np.inf
        if len(self._split.held_out):
            now, before = self._held_out(NEIGHBOURS), self._held_out(NEIGHBOURS | FIRST)
        if not np.isfinite(now - before):
            log.warning("no held-out pair has a parse, so nothing is learned; hold out more pairs, or none (held_out)")
            return True
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


def _short(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
