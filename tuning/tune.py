"""The tuning loop: decode the development set, pool the k-best lists, learn new weights with MIRA, again.

What keeps it stable. Batch MIRA can run away: from poor start weights, or with a pool that knows few kinds of error,
it may find weights under which the decoder's outputs collapse, most often to far too short ones, which no list so far
warned of. Hence:

* the pool keeps all lists, so that a collapse appears once and then teaches what to avoid;
* when BLEU has fallen below a share of the best so far (``restart_below``), learning starts from the best iteration's
  weights, not from the collapsed ones;
* ``interpolation`` below 1 moves only part of the way to MIRA's weights;
* the result is the best iteration's weights, never merely the last.

Start weights should translate decently already: signs right, the language model on, and the word penalty such that the
outputs' length is about right. Compare the length ratio in the log.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lscfg import __version__
from lscfg import log as lscfg_log
from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis, read_kbest, write_kbest
from lscfg.text import atomic_write, read_bytes
from tuning.bleu import WIDTH, check_references, corpus_bleu, length_ratio
from tuning.mira import MiraSettings, mira
from tuning.pool import Pool

HISTORY = "history.json"
"""Name of the checkpoint's file; ``kbest.001.gz`` and so on hold the iterations' lists."""


class Decoder(Protocol):
    """Whatever yields k-best lists."""

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool = ...
    ) -> Sequence[Sequence[Hypothesis]]:
        """Per sentence at most ``k`` hypotheses, best first; with ``unique`` no translation twice in a list.

        Equal arguments must give equal lists, or a resumed tuning differs from an uninterrupted one.
        """
        ...


@dataclass(frozen=True)
class TuneSettings:
    """How to tune.

    Raises:
        InputError: a value is out of its range.
    """

    iterations: int = 15
    """Decoding runs over the development set, at most (at least 1)."""
    kbest: int = 100
    """Hypotheses per sentence and run (at least 1)."""
    unique: bool = True
    """Ask for distinct translations: the lists then differ in words, not only in derivations."""
    patience: int = 3
    """Stop after so many iterations without a new best BLEU (at least 1)."""
    seed: int = 1
    """Seed of MIRA's shuffling (0 or above); each iteration derives its own from it."""
    interpolation: float = 1.0
    """Part of the way from the old weights to MIRA's that is taken (above 0, at most 1)."""
    restart_below: float = 0.9
    """Learning restarts from the best weights when BLEU falls below this share of the best (0 to 1; 0: never)."""
    mira: MiraSettings = field(default_factory=MiraSettings)

    def __post_init__(self) -> None:
        for name in ("iterations", "kbest", "patience"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.seed < 0:
            raise InputError(f"seed must not be negative, but is {self.seed}")
        if not 0 < self.interpolation <= 1:
            raise InputError(f"interpolation must be above 0 and at most 1, not {self.interpolation}")
        if not 0 <= self.restart_below <= 1:
            raise InputError(f"restart_below must be between 0 and 1, not {self.restart_below}")


@dataclass(frozen=True)
class Iteration:
    """One decoding run: the weights it used and what came out."""

    iteration: int
    """Counted from 1."""
    dev_bleu: float
    """BLEU (0 to 100) of the lists' first hypotheses."""
    length_ratio: float
    """Length of the first hypotheses over that of the references."""
    oracle_bleu: float
    """BLEU (0 to 100) that choosing from all lists so far can reach (greedy, a lower bound)."""
    pool_bleu: float | None
    """BLEU (0 to 100) that MIRA's weights had on the lists so far before this run; none for the start weights."""
    hypotheses: int
    """Size of the pool with this run's lists."""
    added: int
    """How many of this run's hypotheses were new."""
    weights: dict[str, float]
    """The weights decoded with, sorted by name."""


@dataclass(frozen=True)
class TuneResult:
    """The outcome of a tuning."""

    weights: dict[str, float]
    """Weights of the iteration with the best development BLEU (the earliest of equals), sorted by name."""
    best_iteration: int
    history: tuple[Iteration, ...]
    stopped: str
    """Why it ended."""


def tune(
    decoder: Decoder,
    dev_sources: Sequence[str],
    dev_references: Sequence[Sequence[str]],
    start_weights: Mapping[str, float],
    settings: TuneSettings | None = None,
    checkpoint_dir: str | PathLike[str] | None = None,
    resume: bool = False,
    decoder_id: str = "",
    log: Callable[[str], None] = lscfg_log.info,
) -> TuneResult:
    """Tunes the weights for BLEU on a development set.

    With ``checkpoint_dir``, every finished decoding run is saved there. With ``resume`` the runs saved are not
    repeated: a tuning that was killed, or whose decoder failed, goes on with the run that was under way and ends with
    the same bytes as an uninterrupted one. A resumed tuning may have other ``iterations`` and ``patience``, so that a
    finished one can be prolonged; everything else must be as it was, including ``decoder_id``, any text that
    identifies the decoder.

    Args:
        dev_sources: the sentences to decode.
        dev_references: one document per reference set, each with a line per source sentence.
        start_weights: weights of the first run; features without one start at 0.
        log: receives one line per run.

    Raises:
        InputError: numbers of lines differ, a weight or feature is not finite, the decoder broke its contract, or the
            checkpoint is not this tuning's. Exceptions of the decoder pass through.
    """
    settings = settings or TuneSettings()
    check_references(dev_references, len(dev_sources))
    if not dev_sources:
        raise InputError("the development set is empty")
    for name, value in start_weights.items():
        if not math.isfinite(value):
            raise InputError(f"start weight of {name} is {value}, which is not finite")
    pool = Pool(dev_references)
    checkpoint = _Checkpoint(checkpoint_dir, settings, start_weights, (dev_sources, dev_references, decoder_id))
    history = checkpoint.load(resume)
    for past in history:
        pool.add(checkpoint.lists(past.iteration, len(dev_sources)))
        if len(pool) != past.hypotheses:
            raise InputError(f"k-best lists of iteration {past.iteration} are not those of its history", checkpoint_dir)
    if history:
        log(f"resumed after iteration {len(history)}")
    while (stopped := _stop_reason(history, settings)) is None:
        weights, pool_bleu = _next_weights(history, pool, settings, start_weights)
        lists = _normalised(decoder.decode(dev_sources, weights, settings.kbest, unique=settings.unique))
        record = _record(len(history) + 1, lists, pool, weights, pool_bleu)
        history.append(record)
        checkpoint.save(history, lists)
        log(_describe(history))
    checkpoint.finish(history, stopped)
    best = _best(history)
    return TuneResult(best.weights, best.iteration, tuple(history), stopped)


def _best(history: Sequence[Iteration]) -> Iteration:
    """The iteration with the best development BLEU, the earliest of equals."""
    return max(history, key=lambda record: (record.dev_bleu, -record.iteration))


def _stop_reason(history: Sequence[Iteration], settings: TuneSettings) -> str | None:
    """Why no further run is due, or none if one is."""
    if history and len(history) - _best(history).iteration >= settings.patience:
        return f"no better BLEU in {settings.patience} iterations"
    if len(history) >= settings.iterations:
        return f"{len(history)} iterations done"
    return None


def _next_weights(
    history: Sequence[Iteration], pool: Pool, settings: TuneSettings, start: Mapping[str, float]
) -> tuple[dict[str, float], float | None]:
    """Weights of the next run and their pool BLEU before interpolation; depends on nothing but the arguments."""
    if not history:
        return {name: float(start[name]) for name in sorted(start)}, None
    best, last = _best(history), history[-1]
    old = best.weights if last.dev_bleu < settings.restart_below * best.dev_bleu else last.weights
    learned = mira(pool, old, settings.mira, (settings.seed, len(history)))
    part = settings.interpolation
    return {n: (1 - part) * old.get(n, 0.0) + part * w for n, w in learned.weights.items()}, learned.bleu


def _record(
    iteration: int,
    lists: Sequence[Sequence[Hypothesis]],
    pool: Pool,
    weights: dict[str, float],
    pool_bleu: float | None,
) -> Iteration:
    """Adds the lists to the pool and sums the run up."""
    added = pool.add(lists)
    stats: NDArray[np.int64] = np.zeros(WIDTH, dtype=np.int64)
    for candidates, hypotheses in zip(pool.sentences, lists, strict=True):
        words = hypotheses[0].text.split() if hypotheses else []
        stats += candidates.references.stats([words])[0]
    return Iteration(
        iteration=iteration,
        dev_bleu=corpus_bleu(stats),
        length_ratio=length_ratio(stats),
        oracle_bleu=pool.oracle_bleu(),
        pool_bleu=pool_bleu,
        hypotheses=len(pool),
        added=added,
        weights=weights,
    )


def _normalised(lists: Sequence[Sequence[Hypothesis]]) -> list[list[Hypothesis]]:
    """The lists as reading them back from a checkpoint gives them: 32-bit feature values, single blanks between words.

    Raises:
        InputError: the k-best format could not hold a hypothesis.
    """
    good_names: set[str] = set()

    def copy(sentence: int, hypothesis: Hypothesis) -> Hypothesis:
        text = " ".join(hypothesis.text.split())
        for name in hypothesis.features.keys() - good_names:
            if "|||" in name or name.split() != [name]:
                raise InputError(f"sentence {sentence}: bad feature name {name!r}")
            good_names.add(name)
        if "|||" in text:
            raise InputError(f"sentence {sentence}: ||| in the translation {text!r}")
        if not math.isfinite(hypothesis.score):
            raise InputError(f"sentence {sentence}: model score {hypothesis.score} of {text!r} is not finite")
        values = np.array(list(hypothesis.features.values()), dtype=np.float32).tolist()
        return Hypothesis(text, dict(zip(hypothesis.features, values, strict=True)), hypothesis.score)

    with np.errstate(over="ignore"):  # what 32 bits cannot hold becomes infinite, which the pool refuses by name
        return [[copy(number, hypothesis) for hypothesis in hypotheses] for number, hypotheses in enumerate(lists, 1)]


def _describe(history: Sequence[Iteration]) -> str:
    """The line of log of the last run."""
    last, best = history[-1], _best(history)
    standing = "best so far" if best is last else f"best {best.dev_bleu:.2f} in iteration {best.iteration}"
    return (
        f"iteration {last.iteration}: BLEU {last.dev_bleu:.2f} ({standing}), length ratio {last.length_ratio:.3f}, "
        f"oracle {last.oracle_bleu:.2f}, {last.hypotheses} hypotheses ({last.added} new)"
    )


class _Checkpoint:
    """A tuning's folder: ``history.json`` and one k-best file per run; does nothing without a folder."""

    def __init__(
        self,
        folder: str | PathLike[str] | None,
        settings: TuneSettings,
        start: Mapping[str, float],
        data: Sequence[Any],
    ):
        self._folder = None if folder is None else Path(folder)
        self._settings = asdict(settings)
        weights = {name: float(start[name]) for name in sorted(start)}
        fixed = {key: value for key, value in self._settings.items() if key not in ("iterations", "patience")}
        identity = json.dumps([weights, fixed, data], default=list, ensure_ascii=True)
        self._identity = hashlib.sha256(identity.encode()).hexdigest()

    def load(self, resume: bool) -> list[Iteration]:
        """The runs saved so far; none if there is no checkpoint yet.

        Raises:
            InputError: there is a checkpoint but it is not to be resumed, or it is damaged or another tuning's.
        """
        if self._folder is None:
            if resume:
                raise InputError("resuming needs a checkpoint folder")
            return []
        path = self._folder / HISTORY
        if not path.exists():
            return []
        if not resume:
            raise InputError("a tuning is here already; resume it or name another folder", path)
        try:
            content = json.loads(read_bytes(path))
            identity, history = content["identity"], [Iteration(**record) for record in content["history"]]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"not the history of a tuning ({error})", path) from error
        if identity != self._identity:
            raise InputError("was made with other data, start weights, decoder or settings; name another folder", path)
        return history

    def lists(self, iteration: int, sentences: int) -> list[list[Hypothesis]]:
        """The k-best lists of a saved run.

        Raises:
            InputError: the file is missing, damaged or has a sentence too many.
        """
        path = self._path(iteration)
        lists = read_kbest(path)
        if any(not 0 <= sentence < sentences for sentence in lists):
            raise InputError(f"has a sentence outside 0 to {sentences - 1}", path)
        return [lists.get(sentence, []) for sentence in range(sentences)]

    def save(self, history: Sequence[Iteration], lists: Sequence[Sequence[Hypothesis]]) -> None:
        """Saves the last run: its lists first, so that the history never names a run without them."""
        if self._folder is not None:
            write_kbest(self._path(history[-1].iteration), lists)
            self.finish(history, None)

    def finish(self, history: Sequence[Iteration], stopped: str | None) -> None:
        """Writes the history; without times or places, so that equal tunings give equal bytes."""
        if self._folder is None:
            return
        content = {
            "version": __version__,
            "identity": self._identity,
            "settings": self._settings,
            "stopped": stopped,
            "best_iteration": _best(history).iteration,
            "history": [asdict(record) for record in history],
        }
        with atomic_write(self._folder / HISTORY) as file:
            json.dump(content, file, indent=1)
            file.write("\n")

    def _path(self, iteration: int) -> Path:
        assert self._folder is not None
        return self._folder / f"kbest.{iteration:03d}.gz"
