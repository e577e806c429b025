"""The tuning loop: decode the development set, pool the k-best lists, learn new weights, again.

Any decoder that yields k-best lists will do (``lscfg.decode.host.KBestDecoder``), and any optimiser
(``lscfg.tuning.optimisers``): batch MIRA, MERT, PRO, minimum risk, or that of a host (``lscfg.tuning.hosts``).

Batch MIRA, for example, can become unstable: from poor start weights, or with a pool of few kinds of errors, it may
find weights under which the decoder's outputs collapse, most often to far too short ones, since no list so far contains
such errors. Therefore:

* the pool keeps all lists, so that a collapse happens once, and its outputs are negative examples from then on;
* when BLEU falls below a share of the best so far (``restart_below``), learning starts from the best iteration's
  weights, not from the collapsed ones;
* ``interpolation`` below 1 moves only part of the way to the weights learned;
* the result is the best iteration's weights, never merely the last.

Start weights should translate decently: with the right signs, a language-model weight above 0, and a word penalty that
makes the outputs about as long as the references. Compare the length ratio in the log.

The tuning log is ``history.json`` in the checkpoint's folder: ``settings`` (with the ``optimiser``'s name), ``stopped``
(why it ended, null while it runs), ``best_iteration``, and ``history``, an ``Iteration`` for each run: dev BLEU,
length ratio, oracle BLEU, what the optimiser promised, sizes of the pool, weights. Times are in ``seconds.json``
instead, so that equal tunings give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import repeat
from os import PathLike
from pathlib import Path
from typing import Any, NotRequired, Protocol, TypedDict, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lscfg import log as lscfg_log
from lscfg.decode.host import KBestDecoder
from lscfg.decode.inputs import further_names
from lscfg.decode.names import FeatureNames
from lscfg.decode.request import SentenceGraph
from lscfg.errors import InputError, cut, quote
from lscfg.formats.kbest import Hypothesis, HypothesisList, read_kbest, write_kbest
from lscfg.formats.weights import missing_names, unknown_weights
from lscfg.io.json_files import COUNT, check_shape, read_json
from lscfg.io.read import read_bytes
from lscfg.io.write import atomic_write
from lscfg.json_text import parse_json
from lscfg.settings import Declared, setting
from lscfg.tuning.bleu import WIDTH, check_references, corpus_bleu, length_ratio
from lscfg.tuning.doubts import doubts, length_doubt, reference_doubts
from lscfg.tuning.objectives import BLEU, OBJECTIVES
from lscfg.tuning.optimisers import OPTIMISERS, HypergraphSettings, Learned, Learner, Step, learner_of
from lscfg.tuning.pool import Pool, check_start
from lscfg.version import __version__

# Decoder and optimiser are two callables. The optimiser's result depends only on its arguments and the seed, so a
# checkpoint needs only the lists; hypergraphs are not saved, and a resumed tuning decodes once more.

HISTORY = "history.json"
"""Name of the checkpoint's file; ``kbest.001.gz`` and so on hold the iterations' lists."""

LARGEST_WEIGHT = 1e100
"""Largest start weight, whose square is a number, too."""

SECONDS = "seconds.json"
"""Name of the file of times: wall seconds of ``decoding`` and of ``learning``, one of each per iteration."""


@runtime_checkable
class GraphDecoder(Protocol):
    """A decoder that returns hypergraphs, such as the embedded one."""

    def decode_graphs(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool, edges_per_word: int
    ) -> tuple[Sequence[Sequence[Hypothesis]], Sequence[SentenceGraph | None]]:
        """The lists as for ``decode``, and a hypergraph of each sentence, pruned to so many edges for a source word."""
        ...


@dataclass(frozen=True)
class TuneSettings(Declared):
    """Settings of a tuning.

    Raises:
        InputError: a value is out of its range.
    """

    iterations: int = setting(15, "decoding runs over the development set", least=1, common=True)
    kbest: int = setting(100, "hypotheses of each sentence and run", least=1, metavar="K", letter="k", common=True)
    unique: bool = setting(True, "let k-best lists repeat translations")
    metric: str = setting(
        "bleu", "objective; chrf suits languages of long words and little text", choices=tuple(OBJECTIVES)
    )
    patience: int = setting(4, "runs without a better value of `metric` before tuning stops", least=1)
    seed: int = setting(1, "seed of all random choices", least=0, common=True)
    optimiser: str = setting("mira", "optimiser", metavar="NAME", common=True)
    """A kind of ``lscfg.tuning.optimisers``, or the name of the optimiser in the arguments of ``tune``."""
    interpolation: float | None = setting(
        None,
        "step from the old to the learned weights, as a share",
        above=0,
        most=1,
        shown="1, for PRO 0.1",
    )
    restart_below: float = setting(
        0.9, "share of the best score below which learning restarts from the best weights; 0: never", least=0, most=1
    )
    learner: Declared | None = None
    """Settings of the optimiser; None: its defaults."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.learner is None and self.optimiser in OPTIMISERS:
            object.__setattr__(self, "learner", OPTIMISERS[self.optimiser].Settings())

    def step(self) -> float:
        """The interpolation, with its default filled in."""
        if self.interpolation is not None:
            return self.interpolation
        return OPTIMISERS[self.optimiser].INTERPOLATION if self.optimiser in OPTIMISERS else 1.0

    def edges_per_word(self) -> int | None:
        """Edges that hypergraphs keep for each source word; None for an optimiser of lists."""
        return self.learner.edges_per_word if isinstance(self.learner, HypergraphSettings) else None


@dataclass(frozen=True)
class Iteration:
    """One decoding run: its weights and results."""

    iteration: int
    """Counted from 1."""
    dev_bleu: float
    """BLEU (0 to 100) of the lists' first hypotheses."""
    length_ratio: float
    """Length of the first hypotheses over that of the references."""
    oracle_bleu: float
    """BLEU (0 to 100) that choosing from all lists so far can reach (greedy, a lower bound)."""
    pool_bleu: float | None
    """BLEU (0 to 100) of the learned weights, before interpolation, on the lists before this run; null for the start
    weights."""
    hypotheses: int
    """Size of the pool with this run's lists."""
    added: int
    """Number of new hypotheses in this run."""
    weights: dict[str, float]
    """The weights decoded with, sorted by name."""
    dev_score: float | None = None
    """The objective (0 to 100) of the first hypotheses; None for BLEU."""

    @property
    def score(self) -> float:
        """The objective (0 to 100) of the first hypotheses."""
        return self.dev_bleu if self.dev_score is None else self.dev_score

    def facts(self) -> dict[str, Any]:
        """The record for ``history.json``, which names another objective than BLEU only."""
        return {name: value for name, value in asdict(self).items() if name != "dev_score" or value is not None}

    def check(self, number: int) -> None:
        """Checks a record that was read from a file and has its shape.

        Args:
            number: which run it is, from 1.

        Raises:
            ValueError: the record is not of that run.
        """
        if self.iteration != number:
            raise ValueError(f"run {number} lacks its number")


class IterationFacts(TypedDict):
    """An iteration in ``history.json``."""

    iteration: COUNT
    dev_bleu: float
    length_ratio: float
    oracle_bleu: float
    pool_bleu: float | None
    hypotheses: COUNT
    added: COUNT
    weights: dict[str, float]
    dev_score: NotRequired[float]


def dev_score(record: Mapping[str, Any]) -> float:
    """The score of an iteration of ``history.json`` in the metric of tuning."""
    found: float = record.get("dev_score", record["dev_bleu"])
    return found


class HistoryFacts(TypedDict):
    """Shape of ``history.json``."""

    version: str
    identity: str
    settings: dict[str, Any]
    stopped: str | None
    best_iteration: COUNT
    history: list[IterationFacts]


class SecondsFacts(TypedDict):
    """Shape of ``seconds.json``."""

    learning: list[float]
    decoding: list[float]


@dataclass(frozen=True)
class TuneResult:
    """The outcome of a tuning."""

    weights: dict[str, float]
    """Weights of the iteration with the best value of the objective (the earliest of equals), sorted by name."""
    best_iteration: int
    history: tuple[Iteration, ...]
    stopped: str
    """Reason of the end."""
    seconds: float = field(compare=False)
    """Wall seconds of decoding and learning, including the saved times of the earlier parts of a resumed tuning."""


def tune(
    decoder: KBestDecoder,
    dev_sources: Sequence[str],
    dev_references: Sequence[Sequence[str]],
    start_weights: Mapping[str, float],
    settings: TuneSettings | None = None,
    checkpoint_dir: str | PathLike[str] | None = None,
    resume: bool = False,
    decoder_id: str = "",
    log: Callable[[str], None] = lscfg_log.info,
    learn: Learner | None = None,
) -> TuneResult:
    """Tunes the weights for a metric on a development set.

    With ``checkpoint_dir``, every finished decoding run is saved there. With ``resume`` the runs saved are not
    repeated: a tuning that was killed, or whose decoder failed, goes on with the run that was under way and ends with
    the same bytes as an uninterrupted one. A resumed tuning may have other ``iterations`` and ``patience``, so that a
    finished one can be prolonged; everything else must be unchanged, including ``decoder_id``, any text that
    identifies the decoder. An optimiser of hypergraphs decodes once more when resumed, since these are not saved.

    A start weight of a feature that no hypothesis of the first run has is kept as it is, with a warning; a feature
    without start weight begins at 0. A feature of the decoder that no hypothesis has, or none of the best run, gets
    the weight 0, or each later command would miss its weight.

    Args:
        dev_sources: the sentences to decode.
        dev_references: one document per reference set, each with a line per source sentence.
        start_weights: weights of the first run; features without one start at 0.
        log: receives two lines per run (scores and seconds; weights), one of a resumption, and one of all seconds.
        learn: the optimiser; None for the one that ``settings.optimiser`` names.

    Raises:
        InputError: numbers of lines differ, a weight or feature is not finite, the optimiser tunes for BLEU only, the
            decoder broke its contract, or the checkpoint is not this tuning's. Exceptions of the decoder pass through.
    """
    settings = settings or TuneSettings()
    check_references(dev_references, len(dev_sources))
    if not dev_sources:
        raise InputError("the development set is empty")
    _check_start(start_weights)
    if settings.metric != "bleu" and (learn is not None or OPTIMISERS[settings.optimiser].BLEU_ONLY):
        raise InputError(f"{settings.optimiser} tunes for BLEU only; leave out metric = {settings.metric}")
    learn = _learner(settings, learn)
    pool = Pool(dev_references, OBJECTIVES[settings.metric])
    checkpoint = _Checkpoint(checkpoint_dir, settings, start_weights, (dev_sources, dev_references, decoder_id))
    history = checkpoint.load(resume)
    lists = checkpoint.fill(pool, history, len(dev_sources))
    best_lists: Sequence[Sequence[Hypothesis]] = []
    if history:
        log(f"resumed after iteration {len(history)}")
        best_lists = checkpoint.lists(_best(history).iteration, len(dev_sources))
    names: FeatureNames | None = getattr(decoder, "names", None)
    if not history:
        _warn_of_start(start_weights, names, dev_sources)
    runner = _Runner(decoder, dev_sources, settings)
    seconds = checkpoint.seconds(len(history))
    while (stopped := _stop_reason(history, settings)) is None:
        began, before = time.perf_counter(), runner.seconds
        weights, pool_bleu = _next_weights(history, pool, lists, settings, start_weights, learn, runner)
        learned = time.perf_counter() - began - (runner.seconds - before)  # a resumed tuning may decode in it
        lists = _normalised(runner.decode(weights))
        record = _record(len(history) + 1, lists, pool, weights, pool_bleu)
        history.append(record)
        best_lists = lists if _best(history) is record else best_lists
        seconds["learning"].append(round(learned, 3))
        seconds["decoding"].append(round(runner.seconds - before, 3))
        checkpoint.save(history, lists, seconds)
        if record.iteration == 1 and names is None:
            _warn_unknown(pool.names, start_weights)
        spent = f"learning {learned:.1f} s, decoding {runner.seconds - before:.1f} s"
        log(f"{_describe(history, pool.objective.title)}; {spent}")
        log(f"  {_describe_weights(weights)}")
    decoding, learning = sum(seconds["decoding"]), sum(seconds["learning"])
    if total := decoding + learning:
        log(f"decoding took {decoding:.1f} s, learning {learning:.1f} s ({learning / total:.0%} of both)")
    checkpoint.finish(history, stopped)
    best = _best(history)
    _warn_of_result(best, history[-1], best_lists, dev_references)
    weights = _with_all(best.weights, [*(() if names is None else names.live), *pool.names])
    return TuneResult(weights, best.iteration, tuple(history), stopped, total)


def _with_all(weights: Mapping[str, float], names: Collection[str]) -> dict[str, float]:
    """The weights, and 0 for further features that need a weight (see ``missing_names``), sorted by name."""
    return dict(sorted((dict.fromkeys(missing_names(weights, names), 0.0) | dict(weights)).items()))


def _check_start(weights: Mapping[str, float]) -> None:
    """Refuses start weights that are not finite, or so large that sums of squares are not."""
    check_start(weights)
    for name, value in weights.items():
        if abs(value) > LARGEST_WEIGHT:
            raise InputError(f"start weight of {cut(name)} is {value}; the largest is {LARGEST_WEIGHT:g}")


def _learner(settings: TuneSettings, given: Learner | None) -> Learner:
    """The given optimiser, else the one that the settings name."""
    if given is None:
        return learner_of(settings.optimiser, settings.learner)
    if settings.optimiser in OPTIMISERS:
        raise InputError(f"{settings.optimiser} is one of lscfg's own optimisers; give this one another name")
    return given


def _best(history: Sequence[Iteration]) -> Iteration:
    """The iteration with the best value of the objective, the earliest of equals."""
    return max(history, key=lambda record: (record.score, -record.iteration))


def _stop_reason(history: Sequence[Iteration], settings: TuneSettings) -> str | None:
    """The reason why the tuning ends; None if it goes on."""
    if history and len(history) - _best(history).iteration >= settings.patience:
        return f"no better {OBJECTIVES[settings.metric].title} in {settings.patience} iterations"
    if len(history) >= settings.iterations:
        return f"{len(history)} iterations done"
    return None


class _Runner:
    """Decodes the development set; keeps the hypergraphs of the last run for optimisers that learn from them."""

    def __init__(self, decoder: KBestDecoder, sources: Sequence[str], settings: TuneSettings):
        self.seconds = 0.0
        """Time spent on decoding so far."""
        self._decoder = decoder
        self._sources = sources
        self._settings = settings
        self._edges = settings.edges_per_word()
        self._graphs: Sequence[SentenceGraph | None] | None = None

    def decode(self, weights: Mapping[str, float]) -> Sequence[Sequence[Hypothesis]]:
        """A run's lists."""
        settings = self._settings
        began = time.perf_counter()
        if self._edges is not None:
            if not isinstance(self._decoder, GraphDecoder):
                raise InputError(f"{settings.optimiser} needs hypergraphs, and this decoder returns k-best lists only")
            lists, self._graphs = self._decoder.decode_graphs(
                self._sources, weights, settings.kbest, settings.unique, self._edges
            )
        else:
            lists = self._decoder.decode(self._sources, weights, settings.kbest, unique=settings.unique)
        self.seconds += time.perf_counter() - began
        return lists

    def graphs(self, weights: Mapping[str, float]) -> Sequence[SentenceGraph | None]:
        """The hypergraphs of the last run, which was with these weights."""
        if self._graphs is None:
            self.decode(weights)
        assert self._graphs is not None
        return self._graphs


def _next_weights(
    history: Sequence[Iteration],
    pool: Pool,
    lists: Sequence[Sequence[Hypothesis]],
    settings: TuneSettings,
    start: Mapping[str, float],
    learn: Learner,
    runner: _Runner,
) -> tuple[dict[str, float], float | None]:
    """Weights of the next run and their pool BLEU before interpolation; depends on nothing but the arguments."""
    if not history:
        return {name: float(start[name]) for name in sorted(start)}, None
    best, last = _best(history), history[-1]
    # 100 - TER may be negative, and then no share of the best score is below it
    collapsed = last.score < settings.restart_below * best.score and best.score > 0
    old = best.weights if collapsed else last.weights
    seed = (settings.seed, len(history))
    learned: Learned = learn(Step(pool, lists, old, len(history), seed, lambda: runner.graphs(last.weights)))
    part = settings.step()
    return {n: (1 - part) * old.get(n, 0.0) + part * w for n, w in learned.weights.items()}, learned.bleu


def _warn_of_start(start: Mapping[str, float], names: FeatureNames | None, sources: Sequence[str]) -> None:
    if not any(start.values()):
        lscfg_log.warning(
            "all start weights are 0, so the first lists are arbitrary; start from weights with the expected signs, "
            "such as those of lscfg init"
        )
    if names is not None:
        _warn_unknown(names.known, start, names.heads + further_names(sources))


def _warn_unknown(known: Sequence[str], start: Mapping[str, float], heads: tuple[str, ...] = ()) -> None:
    if unknown := unknown_weights(start, known, heads):
        lscfg_log.warning(f"start weights without a feature in any hypothesis, kept unchanged: {unknown}")


def _warn_of_result(
    best: Iteration,
    last: Iteration,
    lists: Sequence[Sequence[Hypothesis]],
    references: Sequence[Sequence[str]],
) -> None:
    """Warns of a tuning that cannot have worked."""
    texts = [found[0].text if found else "" for found in lists]
    for doubt in doubts(texts, references, best.dev_bleu, best.length_ratio, last.oracle_bleu):
        # the length is judged again on the test set, where the reader looks
        report = lscfg_log.finding if doubt == length_doubt(best.length_ratio) else lscfg_log.warning
        report(f"tuning: {doubt}")
    for doubt in reference_doubts(references, texts):
        lscfg_log.warning(f"tuning: {doubt}")
    if not any(best.weights.values()):
        lscfg_log.warning("tuning: all tuned weights are 0, so no translation is better than another")


def _describe_weights(weights: Mapping[str, float], most: int = 8) -> str:
    """Formats the weights by name; of many weights only the largest."""
    shown = sorted(sorted(weights, key=lambda name: (-abs(weights[name]), name))[:most])
    rest = f" and {len(weights) - most} smaller ones" if len(weights) > most else ""
    return "weights: " + " ".join(f"{name}={weights[name]:.4g}" for name in shown) + rest


def _record(
    iteration: int,
    lists: Sequence[Sequence[Hypothesis]],
    pool: Pool,
    weights: dict[str, float],
    pool_bleu: float | None,
) -> Iteration:
    """Adds the lists to the pool and summarises the run."""
    added = pool.add(lists)
    stats: NDArray[np.int64] = np.zeros(pool.objective.width, dtype=np.int64)
    for candidates, hypotheses in zip(pool.sentences, lists, strict=True):
        words = hypotheses[0].text.split() if hypotheses else []
        stats += candidates.references.stats([words])[0]
    return Iteration(
        iteration=iteration,
        dev_bleu=corpus_bleu(stats[-WIDTH:]),
        length_ratio=length_ratio(stats[-WIDTH:]),
        oracle_bleu=pool.oracle_bleu(),
        pool_bleu=pool_bleu,
        hypotheses=len(pool),
        added=added,
        weights=weights,
        dev_score=None if pool.objective is BLEU else pool.objective.score(stats),
    )


_JOINERS = dict.fromkeys(map(ord, "\u200c\u200d"))
"""Signs within words of Persian and of languages of India, which Python takes for unprintable."""


def is_feature_name(name: str) -> bool:
    """True if k-best lists and files of weights can hold a feature of the name.

    In moses.ini # starts a comment anywhere, so only the words after a colon may contain it, as in ``T:#``.
    """
    shown, head = name.translate(_JOINERS).isprintable(), name.partition(":")[0]
    return shown and name.split() == [name] and "|||" not in name and "#" not in head


def _normalised(lists: Sequence[Sequence[Hypothesis]]) -> list[Sequence[Hypothesis]]:
    """The lists as reading them back from a checkpoint gives them: 32-bit feature values, single blanks between words.

    Raises:
        InputError: the k-best format could not hold a hypothesis.
    """
    good_names: set[str] = set()

    def check_names(sentence: int, names: Iterable[str]) -> None:
        for name in names:
            if name not in good_names and not is_feature_name(name):
                raise InputError(
                    f"sentence {sentence}: bad feature name {quote(name)}; no blank or |||, # only after a colon"
                )
            good_names.add(name)

    def checked(sentence: int, text: str, score: float) -> str:
        text = " ".join(text.split())
        if "|||" in text and "|||" in text.split():
            raise InputError(f"sentence {sentence}: ||| in the translation {quote(text)}")
        if not math.isfinite(score):
            raise InputError(f"sentence {sentence}: model score {score} of {quote(text)} is not finite")
        return text

    def copy(sentence: int, hypotheses: Sequence[Hypothesis]) -> Sequence[Hypothesis]:
        if isinstance(hypotheses, HypothesisList):
            short = hypotheses.values.astype(np.float32).astype(np.float64)
            if ((short == 0) == (hypotheses.values == 0)).all():  # else 32 bits hold less than what is there
                check_names(sentence, [hypotheses.names[k] for k in np.flatnonzero(short.any(0)).tolist()])
                texts = list(map(checked, repeat(sentence), hypotheses.texts, hypotheses.scores.tolist()))
                return HypothesisList(hypotheses.names, texts, short, hypotheses.scores)
        values = iter(np.array([v for h in hypotheses for v in h.features.values()], dtype=np.float32).tolist())
        copies = []
        for hypothesis in hypotheses:
            if not good_names.issuperset(hypothesis.features):
                check_names(sentence, hypothesis.features)
            text = checked(sentence, hypothesis.text, hypothesis.score)
            features = dict(zip(hypothesis.features, values, strict=False))  # takes as many as there are names
            copies.append(Hypothesis(text, features, hypothesis.score))
        return copies

    with np.errstate(over="ignore"):  # what 32 bits cannot hold becomes infinite, which the pool refuses by name
        return [copy(number, hypotheses) for number, hypotheses in enumerate(lists, 1)]


def _describe(history: Sequence[Iteration], title: str) -> str:
    """Formats the last run for the log."""
    last, best = history[-1], _best(history)
    standing = "best so far" if best is last else f"best {best.score:.2f} in iteration {best.iteration}"
    bleu = "" if last.dev_score is None else f", BLEU {last.dev_bleu:.2f}"
    return (
        f"iteration {last.iteration}: {title} {last.score:.2f} ({standing}){bleu}, "
        f"length ratio {last.length_ratio:.3f}, oracle {last.oracle_bleu:.2f}, "
        f"{last.hypotheses} hypotheses ({last.added} new)"
    )


class _Checkpoint:
    """A tuning's folder: ``history.json`` and one k-best file per run; does nothing without a folder."""

    def __init__(
        self,
        folder: str | PathLike[str] | None,
        settings: TuneSettings,
        start: Mapping[str, float],
        data: Sequence[object],
    ):
        self._folder = None if folder is None else Path(folder)
        self._settings = asdict(settings)
        if settings.metric == "bleu":  # as in tunings before there was a choice, which can be resumed
            del self._settings["metric"]
        weights = {name: float(start[name]) for name in sorted(start)}
        fixed = {key: value for key, value in self._settings.items() if key not in ("iterations", "patience")}
        identity = json.dumps([weights, fixed, data], default=list, ensure_ascii=True)
        self._identity = hashlib.sha256(identity.encode()).hexdigest()

    def load(self, resume: bool) -> list[Iteration]:
        """Loads the runs saved so far; none without a checkpoint.

        Raises:
            InputError: a checkpoint exists but is not to be resumed, or is damaged, or belongs to another tuning.
        """
        if self._folder is None:
            if resume:
                raise InputError("resuming needs a checkpoint folder")
            return []
        path = self._folder / HISTORY
        if not path.exists():
            return []
        if not resume:
            raise InputError("already contains a tuning; continue it with --resume, or name another folder", path)
        try:
            content = parse_json(read_bytes(path))
            check_shape(content, HistoryFacts)
            history = [Iteration(**record) for record in content["history"]]
            for number, record in enumerate(history, 1):
                record.check(number)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"not the history of a tuning ({error}); name another folder", path) from error
        identity = content["identity"]
        if identity != self._identity:
            raise InputError("was made with other data, start weights, decoder or settings; name another folder", path)
        return history

    def fill(self, pool: Pool, history: Sequence[Iteration], sentences: int) -> Sequence[Sequence[Hypothesis]]:
        """Adds the lists of all saved runs to the pool, and returns those of the last run.

        Raises:
            InputError: as for ``lists``, or the lists do not fit the history.
        """
        lists: Sequence[Sequence[Hypothesis]] = []
        for past in history:
            lists = self.lists(past.iteration, sentences)
            pool.add(lists)
            if len(pool) != past.hypotheses:
                message = f"k-best lists of iteration {past.iteration} are not those of its history"
                raise InputError(message, self._folder)
        return lists

    def lists(self, iteration: int, sentences: int) -> list[list[Hypothesis]]:
        """The k-best lists of a saved run.

        Raises:
            InputError: the file is missing, damaged or has a sentence too many.
        """
        path = self._path(iteration)
        if not path.exists():
            raise InputError("is missing, so the tuning cannot continue; begin again in another folder", path)
        lists = read_kbest(path)
        if any(not 0 <= sentence < sentences for sentence in lists):
            raise InputError(f"has a sentence outside 0 to {sentences - 1}", path)
        return [lists.get(sentence, []) for sentence in range(sentences)]

    def seconds(self, iterations: int) -> dict[str, list[float]]:
        """Seconds of saved runs; 0 for a run without times, since only a sum needs them."""
        past: dict[str, list[float]] = {"learning": [], "decoding": []}
        if self._folder is not None and iterations:
            with suppress(InputError):
                past = read_json(self._folder / SECONDS, SecondsFacts)
        return {key: (values + [0.0] * iterations)[:iterations] for key, values in past.items()}

    def save(
        self,
        history: Sequence[Iteration],
        lists: Sequence[Sequence[Hypothesis]],
        seconds: Mapping[str, Sequence[float]],
    ) -> None:
        """Saves the last run: its lists first, so that the history never names a run without them."""
        if self._folder is None:
            return
        write_kbest(self._path(history[-1].iteration), lists)
        with atomic_write(self._folder / SECONDS) as file:
            json.dump(seconds, file, indent=1)
            file.write("\n")
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
            "history": [record.facts() for record in history],
        }
        with atomic_write(self._folder / HISTORY) as file:
            json.dump(content, file, indent=1)
            file.write("\n")

    def _path(self, iteration: int) -> Path:
        assert self._folder is not None
        return self._folder / f"kbest.{iteration:03d}.gz"
