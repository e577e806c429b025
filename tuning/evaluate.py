"""Scores of systems on a test set in any metric, with intervals and tests, over one or several runs of each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU

from lscfg import log
from lscfg.errors import InputError, counted
from lscfg.prepare.languages import is_unspaced, rule_languages
from lscfg.settings import Declared
from lscfg.tuning.bleu import check_references
from lscfg.tuning.doubts import reference_doubts
from lscfg.tuning.metrics.metric import METRICS, Floats, Metric, Stats
from lscfg.tuning.significance import (
    approximate_randomisation,
    bootstrap,
    compact,
    confidence_interval,
    paired_bootstrap,
)

MAX_SAMPLES = 1_000_000
"""Most samples of a bootstrap, and trials of a randomisation: p-values then have six digits, after some minutes."""


@dataclass(frozen=True)
class MetricScore:
    """The score of a system in one metric."""

    score: float
    """Mean over the runs."""
    runs: list[float]
    """Score of each run."""
    deviation: float | None
    """Sample standard deviation over the runs; None for one run."""
    mean: float
    """Mean over the bootstrap samples."""
    ci: float
    """Half the width of the 95 % confidence interval around it."""
    p_bootstrap: float | None
    """Paired bootstrap against the baseline; None for the baseline, or without one."""
    p_randomised: float | None
    """Approximate randomisation against the baseline."""
    p_against: dict[str, float | None]
    """Approximate randomisation against further systems, by name; None for the system itself."""
    components: dict[str, float]
    """Further figures of all runs together, such as the n-gram precisions of BLEU."""


@dataclass(frozen=True)
class SystemScore:
    """The scores of a system."""

    name: str
    metrics: dict[str, MetricScore]
    """Scores by the title of the metric."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of all systems in the order given."""

    systems: list[SystemScore]
    signatures: dict[str, str]
    """A description of each metric, by its title."""
    samples: int
    trials: int
    seed: int


def evaluate(
    outputs: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[Sequence[str]],
    baseline: str | None = None,
    *,
    metrics: Sequence[str | Metric[Any]] = ("bleu",),
    settings: Mapping[str, Declared] | None = None,
    source: Sequence[str] = (),
    samples: int = 1000,
    trials: int = 10000,
    seed: int = 12345,
    against: Sequence[str] = (),
) -> Evaluation:
    """The scores of all systems, with tests (``lscfg.tuning.significance``). Equal arguments give equal scores.

    Warns of lines that have no reference, or an empty one next to another one.

    Args:
        outputs: by system the lines of each of its runs, which may be empty; all systems have equally many runs. One
            run is a list in a list: ``{"A": [lines]}``.
        references: one document per reference set, each with as many lines as the outputs.
        baseline: system to test the others against; None: no test.
        metrics: metrics, or their names.
        settings: by the name of a metric; a missing metric has its default settings.
        source: the source side, for metrics that read it.
        samples: bootstrap samples (at least 1).
        trials: trials of the randomisation (at least 1).
        seed: of all random choices, at least 1 (sacrebleu takes 0 for "no seed").
        against: further systems to test the others against, by randomisation.

    Raises:
        InputError: numbers of runs or lines differ or are 0, an unknown baseline or metric, or a number out of range.
        TypeError: a run or a reference set is not a list of lines.
    """
    _check_outputs(outputs, references, (baseline, *against))
    texts = [" ".join(lines) for lines in zip(*(run for runs in outputs.values() for run in runs), strict=True)]
    for doubt in reference_doubts(references, texts):
        log.warning(f"references: {doubt}")
    check_numbers(samples=samples, trials=trials, seed=seed)
    scores: dict[str, dict[str, MetricScore]] = {name: {} for name in outputs}
    signatures = {}
    for one in metrics:
        metric = METRICS[one] if isinstance(one, str) else one
        chosen = (settings or {}).get(metric.name) or metric.Settings()
        signatures[metric.TITLE] = metric.signature(len(references), samples, seed, chosen)
        stats = {
            system: compact(np.stack([metric.statistics(lines, references, source, chosen) for lines in runs]))
            for system, runs in outputs.items()
        }
        test = _Test(metric, stats, samples, trials, seed, baseline, against)
        for system in outputs:
            scores[system][metric.TITLE] = test.score(system)
    return Evaluation([SystemScore(*item) for item in scores.items()], signatures, samples, trials, seed)


class _Test:
    """Scores of all systems in one metric; ``stats`` as for ``bootstrap``."""

    def __init__(
        self,
        metric: Metric[Any],
        stats: Mapping[str, Stats],
        samples: int,
        trials: int,
        seed: int,
        baseline: str | None,
        against: Sequence[str],
    ):
        self._metric, self._stats, self._trials, self._seed = metric, stats, trials, seed
        self._baseline, self._against = baseline, against
        self._sampled = bootstrap(metric, stats, samples, seed)

    def score(self, name: str) -> MetricScore:
        """The score of a system."""
        runs = self._runs(name)
        mean, interval = confidence_interval(self._sampled[name])
        return MetricScore(
            score=float(runs.mean()),
            runs=runs.tolist(),
            deviation=float(runs.std(ddof=1)) if len(runs) > 1 else None,
            mean=mean,
            ci=interval,
            p_bootstrap=self._bootstrapped(name),
            p_randomised=self._randomised(name, self._baseline),
            p_against={other: self._randomised(name, other) for other in self._against},
            components=self._metric.components(self._stats[name].sum(axis=(0, 1), dtype=np.float64)),
        )

    def _runs(self, name: str) -> Floats:
        """The score of each run."""
        return self._metric.score(self._stats[name].sum(axis=1, dtype=np.float64))

    def _bootstrapped(self, name: str) -> float | None:
        if self._baseline is None or name == self._baseline:
            return None
        one, other = self._stats[name], self._stats[self._baseline]
        if one.shape[1] == 1 or np.array_equal(one, other):
            return 1.0  # all samples are equal, so the test itself would return its smallest value
        difference = abs(float(self._runs(name).mean() - self._runs(self._baseline).mean()))
        return paired_bootstrap(difference, self._sampled[name], self._sampled[self._baseline])

    def _randomised(self, name: str, other: str | None) -> float | None:
        if other is None or name == other:
            return None
        return approximate_randomisation(self._metric, self._stats[other], self._stats[name], self._trials, self._seed)


def corpus_score(name: str, output: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """The score of one output in a metric of output and references."""
    metric = METRICS[name]
    total = sum(metric.statistics(output, references, (), metric.Settings()))  # in the order of sacrebleu
    return float(metric.score(np.asarray(total)))


def restored_tokens(language: str) -> str:
    """sacrebleu's tokenization of raw text: 13a, or another one for languages without blanks between words."""
    if not is_unspaced(language):
        return "13a"
    return "zh" if "zh" in rule_languages(language) else "char"


def restored_bleu(lines: Sequence[str], references: Sequence[Sequence[str]], tokens: str = "13a") -> tuple[float, str]:
    """BLEU of raw text, and its signature.

    Args:
        tokens: one of sacrebleu's tokenizations.

    Raises:
        InputError: numbers of lines differ or are 0.
    """
    _check_outputs({"restored text": [lines]}, references, ())
    metric = BLEU(tokenize=tokens)
    score = float(metric.corpus_score(list(lines), [list(document) for document in references]).score)
    return score, str(metric.get_signature())


def _check_outputs(
    outputs: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[Sequence[str]],
    tested: Sequence[str | None],
) -> None:
    """Refuses outputs and references of different lengths, and unknown systems to test against.

    Raises:
        InputError: numbers of runs or lines differ or are 0, or a system is unknown.
        TypeError: a run or a reference set is not a list of lines.
    """
    for name, runs in outputs.items():
        _check_lines(runs, f"the outputs of system {name}", f'{{"{name}": [lines]}}')
    _check_lines(references, "the references", "[lines]")
    if not outputs:
        raise InputError("no system to evaluate")
    counts = {name: len(found) for name, found in outputs.items()}
    if len(set(counts.values())) > 1 or 0 in counts.values():
        found = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(f"all systems need the same number of outputs (runs), one at least: {found}")
    lines = check_references(references)
    if lines == 0:
        raise InputError("the references are empty")
    for name, runs in outputs.items():
        for output in runs:
            if len(output) != lines:
                raise InputError(f"system {name} has {counted(len(output), 'line')}, the references have {lines}")
    for system in tested:
        if system is not None and system not in outputs:
            raise InputError(f"baseline {system} is not among the systems: {', '.join(outputs)}")


def _check_lines(documents: Sequence[Sequence[str]], name: str, cure: str) -> None:
    """Refuses a text instead of a list of lines, since its characters would count as lines.

    Raises:
        TypeError: a document is not a list of strings.
    """
    for lines in [documents, *documents]:
        if isinstance(lines, (str, bytes)) or not hasattr(lines, "__len__"):
            raise TypeError(f"{name} must be a list of lists of lines; give {cure}")
    if any(not isinstance(line, str) for lines in documents for line in lines):
        raise TypeError(f"the lines of {name} must be strings")


def check_numbers(samples: int, trials: int, seed: int) -> None:
    """Refuses numbers of samples and trials outside 1 to ``MAX_SAMPLES``, and seeds below 1.

    Raises:
        InputError: names the value.
    """
    for name, value, most in (("samples", samples, MAX_SAMPLES), ("trials", trials, MAX_SAMPLES), ("seed", seed, None)):
        if value < 1:
            raise InputError(f"{name} must be at least 1, not {value}")
        if most is not None and value > most:
            raise InputError(f"{name} must be at most {most}, not {value}")
