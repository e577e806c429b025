"""Scores of systems on a test set with paired tests, computed by sacrebleu: one output a system.

Outputs of several tunings of a system are compared by ``lscfg.tuning.replication``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, Result

from lscfg.errors import InputError
from lscfg.tuning.bleu import CORRECT, HYPOTHESIS_LENGTH, REFERENCE_LENGTH, TOTAL, check_references, corpus_stats

MAX_SAMPLES = 1_000_000
"""Most samples of a bootstrap, and trials of a randomisation: p-values then have six digits, after some minutes."""

METRICS = ("BLEU", "chrF2", "TER")
"""The names sacrebleu gives its metrics; TER is an error rate, less is better."""


@dataclass(frozen=True)
class MetricScore:
    """One system's score in one metric, 0 to 100 (TER may be more)."""

    score: float
    mean: float
    """Mean over the bootstrap samples."""
    ci: float
    """Half the width of the 95 % confidence interval around the mean."""
    p_bootstrap: float | None
    """Chance of so large a difference to the baseline if there were none: paired bootstrap; none for the baseline."""
    p_randomised: float | None
    """The same by approximate randomisation."""


@dataclass(frozen=True)
class SystemScore:
    """One system's scores."""

    name: str
    metrics: dict[str, MetricScore]
    """By name, as in ``METRICS``."""
    precisions: list[float]
    """Matching n-grams of order 1 to 4 (percent)."""
    length: int
    """Words of the system."""
    reference_length: int
    """Words of the references closest in length."""
    brevity_penalty: float
    """BLEU's factor for short output (0 to 1)."""

    @property
    def length_ratio(self) -> float:
        """Words of the system over words of the closest references (0 if these are empty)."""
        return self.length / self.reference_length if self.reference_length else 0.0


@dataclass(frozen=True)
class Evaluation:
    """All systems' scores in the order given, and how they were computed."""

    systems: list[SystemScore]
    signatures: dict[str, str]
    """sacrebleu's description of each metric."""
    samples: int
    trials: int
    seed: int


def evaluate(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    baseline: str | None = None,
    samples: int = 1000,
    seed: int = 12345,
    metrics: Sequence[str] = ("BLEU",),
    trials: int = 10000,
) -> Evaluation:
    """Scores of all systems; BLEU's tokens are what blanks separate (sacrebleu's ``tokenize="none"``).

    The p-values are those of sacrebleu's paired bootstrap (Koehn, 2004) and approximate randomisation (Riezler &
    Maxwell, 2005), except that a system that the metric cannot tell from the baseline in any sentence gets 1 (sacrebleu
    would count no sample and give its smallest value). Of samples that are as far apart as the systems are, sacrebleu
    counts none: where outputs differ in a few sentences only, its randomisation says too little, and that of
    ``lscfg.tuning.replication``, which counts them, is to be preferred. Equal arguments give equal scores.

    Args:
        systems: the output lines of each system by name; lines may be empty.
        references: one document per reference set, each with as many lines as the systems have.
        baseline: name of the system to test the others against; none: no test.
        samples: bootstrap samples (at least 1).
        seed: seed of the sampling, at least 1 (sacrebleu takes 0 for "no seed").
        metrics: some of ``METRICS``.
        trials: trials of the approximate randomisation (at least 1).

    Raises:
        InputError: numbers of lines differ or are 0, no system, unknown baseline or metric, or a number out of its
            range.
    """
    check_systems(systems, references, baseline)
    check_numbers(samples=samples, trials=trials, seed=seed)
    for metric in metrics:
        if metric not in METRICS:
            raise InputError(f"unknown metric {metric}; known are {', '.join(METRICS)}")
    groups = [[n] for n in systems] if baseline is None else [[baseline, *(n for n in systems if n != baseline)]]
    scores: dict[str, SystemScore] = {}
    signatures: dict[str, str] = {}
    for names in groups:
        group = {name: systems[name] for name in names}
        signatures, bootstrap = _paired_test(group, references, "bs", samples, seed, metrics)
        randomised = _paired_test(group, references, "ar", trials, seed, metrics)[1] if len(names) > 1 else None
        for position, name in enumerate(names):
            found = {}
            for metric in metrics:
                result = bootstrap[metric][position]
                other = randomised[metric][position] if randomised else None
                same = (
                    position > 0
                    and result.score == bootstrap[metric][0].score
                    and _same(metric, systems[names[0]], systems[name], references)
                )
                found[metric] = MetricScore(
                    score=float(result.score),
                    mean=float(result.mean or 0),
                    ci=float(result.ci or 0),
                    p_bootstrap=_p_value(result, same),
                    p_randomised=_p_value(other, same) if other else None,
                )
            scores[name] = _system_score(name, found, systems[name], references)
    return Evaluation([scores[name] for name in systems], signatures, samples, trials, seed)


TOKENS = {"zh": "zh", "yue": "zh"} | dict.fromkeys(("ja", "th", "lo", "km", "my", "bo", "dz"), "char")
"""sacrebleu's tokenisation of languages without blanks between words."""


def restored_tokens(language: str) -> str:
    """sacrebleu's tokenisation of text as people write it: 13a, or what does for a language without blanks."""
    return TOKENS.get(language.lower().replace("_", "-").partition("-")[0], "13a")


def restored_bleu(lines: Sequence[str], references: Sequence[Sequence[str]], tokens: str = "13a") -> tuple[float, str]:
    """BLEU of text as people write it, and its signature.

    Args:
        tokens: one of sacrebleu's tokenisations.

    Raises:
        InputError: numbers of lines differ or are 0.
    """
    check_systems({"restored text": lines}, references, None)
    metric = BLEU(tokenize=tokens)
    score = float(metric.corpus_score(list(lines), [list(document) for document in references]).score)
    return score, str(metric.get_signature())


def _system_score(
    name: str, metrics: dict[str, MetricScore], lines: Sequence[str], references: Sequence[Sequence[str]]
) -> SystemScore:
    total = corpus_stats(lines, references).sum(axis=0, dtype=np.int64)
    length, closest = int(total[HYPOTHESIS_LENGTH]), int(total[REFERENCE_LENGTH])
    return SystemScore(
        name=name,
        metrics=metrics,
        precisions=(100 * total[CORRECT] / np.maximum(total[TOTAL], 1)).tolist(),
        length=length,
        reference_length=closest,
        brevity_penalty=brevity_penalty(length, closest),
    )


def brevity_penalty(length: int, reference_length: int) -> float:
    """BLEU's factor for short output, 0 to 1."""
    return 1.0 if length >= reference_length else float(np.exp(1 - reference_length / length)) if length else 0.0


def check_systems(
    systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], baseline: str | None
) -> None:
    """Refuses what sacrebleu would cut short, misread or end in a traceback.

    Raises:
        InputError: numbers of lines differ or are 0, no system, or an unknown baseline.
    """
    if not systems:
        raise InputError("no system to evaluate")
    lines = check_references(references)
    if lines == 0:
        raise InputError("the references are empty")
    for name, hypotheses in systems.items():
        if len(hypotheses) != lines:
            raise InputError(f"system {name} has {len(hypotheses)} lines, the references have {lines}")
    if baseline is not None and baseline not in systems:
        raise InputError(f"baseline {baseline} is not among the systems: {', '.join(systems)}")


def check_numbers(samples: int, trials: int, seed: int) -> None:
    """Refuses numbers of samples and trials outside 1 to ``MAX_SAMPLES``, and seeds below 1.

    Raises:
        InputError: by name.
    """
    for name, value, most in (("samples", samples, MAX_SAMPLES), ("trials", trials, MAX_SAMPLES), ("seed", seed, None)):
        if value < 1:
            raise InputError(f"{name} must be at least 1, not {value}")
        if most is not None and value > most:
            raise InputError(f"{name} must be at most {most}, not {value}")


def bleu_signature(references: int, samples: int, seed: int) -> str:
    """sacrebleu's description of BLEU with a bootstrap, as ``evaluate`` has it, of so many reference sets."""
    metric = new_metric("BLEU")
    metric.corpus_score([""], [[""]] * references)
    signature = metric.get_signature()
    signature.update("seed", str(seed))
    signature.update("bs", samples)
    return str(signature)


def _same(metric: str, one: Sequence[str], other: Sequence[str], references: Sequence[Sequence[str]]) -> bool:
    """Whether the metric sees no difference between two outputs in any sentence."""
    if metric == "BLEU":
        return np.array_equal(corpus_stats(one, references), corpus_stats(other, references))
    scorer = new_metric(metric)
    found = (scorer._extract_corpus_statistics(list(lines), [list(r) for r in references]) for lines in (one, other))
    return np.array_equal(*found)


def _p_value(result: Result, same: bool) -> float | None:
    """The result's p-value; 1 for a system that cannot be told from the baseline."""
    if result.p_value is None:
        return None
    return 1.0 if same else float(result.p_value)


def new_metric(name: str) -> Metric:
    """sacrebleu's metric of that name (one of ``METRICS``), for text that is tokenised already."""
    metrics: dict[str, Callable[[], Metric]] = {
        "BLEU": lambda: BLEU(tokenize="none", force=True),
        "chrF2": CHRF,
        "TER": TER,
    }
    return metrics[name]()


def _paired_test(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    test_type: str,
    samples: int,
    seed: int,
    metrics: Sequence[str],
) -> tuple[dict[str, str], dict[str, list[Result]]]:
    """sacrebleu's signatures and results by metric; the first system is the baseline."""
    named: list[tuple[str, Sequence[str]]] = [(name, list(lines)) for name, lines in systems.items()]
    documents = [list(document) for document in references]
    with _sacrebleu_seed(seed):
        # One process: the samples then cost no fork, and are the same in every run.
        used = {name: new_metric(name) for name in metrics}
        test = PairedTest(named, used, documents, test_type=test_type, n_samples=samples, n_jobs=1)
        signatures, results = test()
    scored = {name: [result for result in column if isinstance(result, Result)] for name, column in results.items()}
    return {name: str(signature) for name, signature in signatures.items()}, scored


@contextmanager
def _sacrebleu_seed(seed: int) -> Iterator[None]:
    """Sets the environment variable from which sacrebleu takes its seed, and restores it."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before
