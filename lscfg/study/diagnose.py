"""Held-out choices of rules under models: a measure of latent features that takes seconds instead of a tuning.

The source side of a held-out pair is parsed as in a decoder, without its target side. Tensor inside-outside computes
the marginals that decoder features are based on. Then each rule application of the pair's reference derivation is
ranked among its competitors:

* ``rule``: among all applications of its span, by marginal;
* ``target``: among the target sides of its source side over the same tails, P(e|f) in context; for source sides with
  words and at least two target sides;
* ``orient``: in order or swapped, of the reference's two spans, for source sides of two nonterminals alone;
* ``blind``: the same for a border between two source words, over all spans that meet there.

The reference is in a normal form: in a sequence in order, the right part is never in order itself. So the spans of a
reference application reveal something about its orientation, and ``orient`` favours a model that has learned the normal
form. ``blind`` does not: all minimal derivations of a pair agree on the orientation of the smallest phrase around a
border, and the answer of the model is a sum over all bracketings,

    P(swapped at k) = sum of mu(a) over swapped a that split at k / the same sum over swapped and ordered a.

References may also be forests: all minimal derivations of a pair. At each phrase pair, every rule that rewrites it in
one of them is right, and ``rule`` and ``orient`` take the sum of their marginals. A model that prefers a bracketing
other than the normal form is then right, too.

With one state all of this is context-free: a model must beat the figures of relative frequencies and of m = 1.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.decode.parsing import has_categories
from lscfg.errors import InputError, TooLargeError, quote
from lscfg.estimate import mle
from lscfg.extract.derive import Derivations
from lscfg.extract.yields import Yields
from lscfg.grammar.select import MAX_TARGETS
from lscfg.io.columns import align_columns, fit
from lscfg.kernel import Binding, FeatureOptions, Forest, Grammar, Model, ParseOptions, X
from lscfg.log import progress, warning
from lscfg.study.gains import mean_gain
from lscfg.study.rule_questions import MEASURES, Question, RuleQuestions

# Models are judged by held-out choices from the marginals that a decoder would see. Orientation is asked at boundaries
# between words, summed over all bracketings, because the tree shape of a normal form would give it away.

FREQUENCY, ONE_STATE = "relative frequency", "m = 1"
"""Names of the two references: counts of the training derivations, and the one-state model of them."""

AROUND = {"context": " in context", "sense": " by its scorer"}
"""Suffix of a model's name, by the feature family that is part of its scores."""

OTHER_CATEGORIES = "has several categories, but choices are those of [X] alone; name a model made without --labels"
"""Refusal of a model."""

NAMED = 48
"""Most characters of a model's name in a table."""


@dataclass
class Score:
    """Answers to the questions of one measure, by sentence."""

    loss: np.ndarray
    """float64 [sentences], sums of log-losses."""
    rank: np.ndarray
    """float64 [sentences], sums of reciprocal ranks."""
    n: np.ndarray
    """int64 [sentences], questions."""
    losses: list[float] = field(default_factory=list)
    """Log-loss of each question, in the order of ``Diagnosis``."""

    @property
    def mean_loss(self) -> float:
        """Nats per question; NaN without questions."""
        return float(self.loss.sum() / self.n.sum()) if self.n.any() else math.nan

    @property
    def mean_rank(self) -> float:
        """Mean reciprocal rank, in (0, 1]."""
        return float(self.rank.sum() / self.n.sum()) if self.n.any() else math.nan

    def gain(self, reference: Score) -> tuple[float, float]:
        """The reduction in loss against the reference, and its standard error."""
        return mean_gain(reference.loss - self.loss, self.n)


@dataclass
class Result:
    """Figures of one model."""

    name: str
    """File of the model, ``FREQUENCY`` or ``ONE_STATE``."""
    rank: int | None
    """Number m of hidden states."""
    scores: dict[str, Score]
    """By measure."""
    negative_mass: float = 0.0
    """Share of negative marginals in the absolute sum, mean over sentences."""
    below: int = 0
    """Sentences whose sum over all derivations is negative."""
    zero: int = 0
    """Sentences whose sum over all derivations is 0."""


@dataclass
class Diagnosis:
    """The questions that a held-out set asks, for any number of models.

    Raises:
        InputError: no held-out pair can be parsed, a setting is out of its range, forests are missing, or the rules of
            the training derivations have several categories.
    """

    train: Derivations
    """The derivations that the models were estimated from; they give grammar, relative frequencies and m = 1."""
    held_out: Derivations
    """Derivations of other pairs."""
    max_targets: int = MAX_TARGETS
    """Target sides of each source side in the grammar, as in the grammar of a decoder."""
    floor: float = 1e-6
    """Least share, as for the features of a decoder."""
    negative: str = "flip"
    """A negative marginal counts as its absolute value (``"flip"``) or as zero (``"clamp"``)."""
    forests: bool = False
    """References are all minimal derivations of the held-out pairs, not their trees."""
    grammar: Grammar = field(init=False)
    counts: dict[str, int] = field(init=False)
    """Numbers of held-out pairs and of their applications, parsed and found."""
    sentences: list[str] = field(init=False)
    """Source sides of the held-out pairs that are parsed."""

    def __post_init__(self) -> None:
        if not 0 < self.floor < 1:
            raise InputError(f"floor must be between 0 and 1, got {self.floor}")
        if self.negative not in ("flip", "clamp"):
            raise InputError(f"negative marginals: 'flip' or 'clamp', got {quote(self.negative)}")
        self._asked = RuleQuestions(self.train, self.held_out, self.max_targets, self.forests)
        self.grammar = self._asked.grammar
        self._ask()

    def _ask(self) -> None:
        sentences = Yields.of(self._asked.held_out).sentences(self._asked.held_out, 0)
        trees: dict[int, list[int]] = {}
        for tree, pair in enumerate(self._asked.pair.tolist()):
            trees.setdefault(pair, []).append(tree)
        self.sentences: list[str] = []
        self._forests: list[Forest] = []
        self._questions: list[list[Question]] = []
        for number, own in enumerate(progress(trees.values(), "parse", len(trees)), 1):
            line = sentences[own[0]]
            ids = self.grammar.vocab.add_line(line)
            try:
                forest = self.grammar.parse(ids, ParseOptions(max(len(ids), 1), False, 2, X))
            except TooLargeError as error:
                warning(f"held-out pair {number} of {len(ids)} words has {error}; it is skipped")
                continue
            if forest is None:
                continue
            self.sentences.append(line)
            self._forests.append(forest)
            self._questions.append([question for tree in own for question in self._asked.of(forest, tree)])
        if not self._forests:
            raise InputError("no held-out sentence has a parse with the rules of the training derivations")
        self.counts = {"pairs": len(trees), "parsed": len(self._forests), **self._asked.counts}

    # ---- models ----

    def references(self) -> list[Result]:
        """Relative frequencies and the one-state model."""
        scores = [self._asked.frequency[forest.app_rule] for forest in self._forests]
        frequency = Result(FREQUENCY, None, self._score(scores))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mle.lscfg"
            mle.RelativeFrequencies().estimate(self.train, mle.MLESettings()).save(path, np.float64)
            one_state = self.measure(path)
        one_state.name = ONE_STATE
        return [frequency, one_state]

    def measure(self, path: str | os.PathLike[str], family: str = "") -> Result:
        """The figures of a model file.

        Args:
            family: ``context`` or ``sense``: multiply the marginals of a rule by exp(its features of that family),
                which depend on the source words around it.

        Raises:
            InputError: the file cannot be read or is not a model, lacks the features, or has several categories.
        """
        model = Model(path)
        if has_categories(model.grammar()):
            raise InputError(OTHER_CATEGORIES, path)
        binding = Binding(model, self.grammar)
        options = FeatureOptions(names=(family or "context",))
        name = os.fspath(path) + AROUND.get(family, "")
        scores, masses, signs = [], [], []
        for forest in progress(self._forests, os.path.basename(name), len(self._forests)):
            inference = binding.infer(forest)
            values = np.abs(inference.apps) if self.negative == "flip" else np.maximum(inference.apps, 0)
            if family:
                values *= np.exp(binding.features(forest, inference, options).sum(axis=1))
            scores.append(values)
            masses.append(inference.negative_mass)
            signs.append(inference.sign)
        return Result(
            name,
            model.rank,
            self._score(scores),
            float(np.mean(masses)),
            signs.count(-1),
            signs.count(0),
        )

    def measure_all(self, path: str | os.PathLike[str]) -> list[Result]:
        """``measure``, without and with each family of context features that the model has."""
        model, found = Model(path), [self.measure(path)]
        for family in AROUND:
            try:
                model.check_features(FeatureOptions(names=(family,)))
            except InputError:
                continue
            found.append(self.measure(path, family))
        return found

    # ---- where models differ ----

    def differences(self, result: Result, base: Result, n: int) -> dict[str, object]:
        """The n rules and n sentences whose target sides gain most from a model over another one, and that lose most.

        Returns:
            Lists ``rules`` and ``sentences`` of objects with the text, the number of questions and the total reduction
            in loss, in nats; the largest gain first, the largest loss last.
        """
        own, other = (np.array(found.scores["target"].losses) for found in (result, base))
        where = [(q.rule, k) for k, questions in enumerate(self._questions) for q in questions if q.measure == "target"]
        gains = other - own
        rules = np.array([rule for rule, _ in where], np.int64)
        sentences = np.array([k for _, k in where], np.int64)
        held = self._asked.held_rules
        return {
            "rules": _most(rules, gains, n, held.short_text),
            "sentences": _most(sentences, gains, n, self.sentences.__getitem__),
        }

    def _score(self, scores: Sequence[np.ndarray]) -> dict[str, Score]:
        """Answers by measure.

        Args:
            scores: for each forest, float64 [n_apps], not negative.
        """
        n = len(self._forests)
        found = {name: Score(np.zeros(n), np.zeros(n), np.zeros(n, np.int64)) for name in MEASURES}
        for k, (questions, values) in enumerate(zip(self._questions, scores, strict=True)):
            for question in questions:
                loss, rank = question.answer(values, self.floor)
                score = found[question.measure]
                score.loss[k] += loss
                score.losses.append(loss)
                score.rank[k] += rank
                score.n[k] += 1
        return found


def _most(of: np.ndarray, gains: np.ndarray, n: int, text: Callable[[int], str]) -> list[dict[str, object]]:
    """The n things with the largest sums of gains, and the n with the smallest; those without any are omitted."""
    if not len(of):
        return []
    total, count = np.bincount(of, gains), np.bincount(of)
    order = np.argsort(-total, kind="stable")
    chosen = [k for k in order[:n].tolist() if total[k] > 0]
    chosen += [k for k in order[max(n, len(order) - n) :].tolist() if total[k] < 0]
    return [{"text": text(k), "n": int(count[k]), "gain": float(total[k])} for k in chosen]


def report(diagnosis: Diagnosis, results: Sequence[Result], differences: int = 0) -> dict[str, object]:
    """Everything as plain values for JSON; gains are over the one-state model (docs/reference/formats.md).

    Args:
        differences: number of rules and sentences to name with the largest gains, and with the largest losses.
    """
    base = next(result for result in results if result.name == ONE_STATE)

    def measures(result: Result) -> dict[str, dict[str, float | int | None]]:
        values: dict[str, dict[str, float | int | None]] = {}
        for name in MEASURES:
            score = result.scores[name]
            gain, error = score.gain(base.scores[name])
            figures = {"loss": score.mean_loss, "gain": gain, "error": error, "reciprocal_rank": score.mean_rank}
            values[name] = {"n": int(score.n.sum())}
            values[name] |= {key: None if math.isnan(value) else value for key, value in figures.items()}
        return values

    return {
        "held out": diagnosis.counts,
        "settings": {
            "max_targets": diagnosis.max_targets,
            "floor": diagnosis.floor,
            "negative": diagnosis.negative,
            "forests": diagnosis.forests,
        },
        "models": [
            {
                "name": result.name,
                "m": result.rank,
                **measures(result),
                "negative_mass": result.negative_mass,
                "sentences below 0": result.below,
                "sentences at 0": result.zero,
            }
            | ({"differences": diagnosis.differences(result, base, differences)} if differences else {})
            for result in results
        ],
    }


def format_diagnosis(content: dict[str, Any]) -> str:
    """The report as tables of at most 100 columns: measures, values that are not probabilities, differences."""
    models, counts = content["models"], content["held out"]
    names = [_short(model["name"]) for model in models]
    lines = [
        f"{counts['parsed']} of {counts['pairs']} held-out sentences parsed; "
        f"{counts['in the forests']} of {counts['applications']} reference applications are in the forests",
        f"loss in nats, gain over {ONE_STATE} ± its standard error, mean reciprocal rank",
    ]
    for name in MEASURES:
        if not models[0][name]["n"]:
            continue
        rows = [[f"{name}, {models[0][name]['n']:,} questions", "m", "loss", "gain", "rank"]]
        for shown, model in zip(names, models, strict=True):
            figures = model[name]
            gain = f"{figures['gain']:+.3f} ± {figures['error']:.3f}"
            rows.append([shown, _states(model), f"{figures['loss']:.4f}", gain, f"{figures['reciprocal_rank']:.3f}"])
        lines += ["", *align_columns(rows)]
    if any(model["negative_mass"] or model["sentences below 0"] or model["sentences at 0"] for model in models):
        rows = [["no probabilities", "negative", "g < 0", "g = 0"]]
        for shown, model in zip(names, models, strict=True):
            sentences = [str(model["sentences below 0"]), str(model["sentences at 0"])]
            rows.append([shown, f"{100 * model['negative_mass']:.1f} %", *sentences])
        lines += ["", *align_columns(rows)]
    for shown, model in zip(names, models, strict=True):
        for what, found in model.get("differences", {}).items():
            if found:
                lines += ["", shown, f"  {what} with the largest gains and losses of target, sums in nats (questions)"]
                lines += [fit(f"  {one['gain']:+8.2f} {one['n']:>5}  {one['text']}") for one in found]
    return "\n".join(lines)


def _states(model: dict[str, object]) -> str:
    return "-" if model["m"] is None else str(model["m"])


def _short(name: str) -> str:
    """A model's name, without the beginning of a long path."""
    return name if len(name) <= NAMED else "…" + name[1 - NAMED :]
