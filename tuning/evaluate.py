"""Scores of systems on a test set with the paired bootstrap test, computed by sacrebleu."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, Result

from lscfg.errors import InputError
from tuning.bleu import HYPOTHESIS_LENGTH, REFERENCE_LENGTH, check_references, corpus_stats, length_ratio


@dataclass(frozen=True)
class SystemScore:
    """One system's scores; BLEU and chrF from 0 to 100."""

    name: str
    bleu: float
    bleu_mean: float
    """Mean of BLEU over the bootstrap samples."""
    bleu_ci: float
    """Half the width of the 95 % confidence interval around the mean."""
    p_value: float | None
    """Chance of so large a BLEU difference to the baseline if there were none; none for the baseline or without one."""
    length_ratio: float
    """Words of the system over words of the closest references."""
    brevity_penalty: float
    """BLEU's factor for short output (0 to 1)."""
    signature: str
    """sacrebleu's description of how BLEU was computed."""
    chrf: float | None = None
    """chrF2, if asked for."""
    chrf_p_value: float | None = None
    chrf_signature: str | None = None


def evaluate(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    baseline: str | None = None,
    samples: int = 1000,
    seed: int = 12345,
    chrf: bool = False,
) -> list[SystemScore]:
    """Scores of all systems in the order given; tokens are what blanks separate (sacrebleu's ``tokenize="none"``).

    The p-values are those of sacrebleu's paired bootstrap (Koehn, 2004), except that a system whose sentences all
    have the baseline's statistics gets 1 (sacrebleu would count no sample and give its smallest value). Equal
    arguments give equal scores.

    Args:
        systems: the output lines of each system by name; lines may be empty.
        references: one document per reference set, each with as many lines as the systems have.
        baseline: name of the system to test the others against; none: no test.
        samples: bootstrap samples (at least 1).
        seed: seed of the sampling, at least 1 (sacrebleu takes 0 for "no seed").

    Raises:
        InputError: numbers of lines differ or are 0, no system, unknown baseline, or a number out of its range.
    """
    _check(systems, references, baseline, samples, seed)
    stats = {name: corpus_stats(lines, references) for name, lines in systems.items()}
    if baseline is None:
        groups = [[name] for name in systems]
    else:
        groups = [[baseline, *(name for name in systems if name != baseline)]]
    scores: dict[str, SystemScore] = {}
    for names in groups:
        signatures, results = _paired_test({name: systems[name] for name in names}, references, samples, seed, chrf)
        for position, name in enumerate(names):
            bleu = results["BLEU"][position]
            total = stats[name].sum(axis=0)
            length, closest = int(total[HYPOTHESIS_LENGTH]), int(total[REFERENCE_LENGTH])
            extra = results["chrF2"][position] if chrf else None
            scores[name] = SystemScore(
                name=name,
                bleu=float(bleu.score),
                bleu_mean=float(bleu.mean or 0),
                bleu_ci=float(bleu.ci or 0),
                p_value=_p_value(bleu, position > 0 and np.array_equal(stats[name], stats[names[0]])),
                length_ratio=length_ratio(total),
                brevity_penalty=1.0 if length >= closest else float(np.exp(1 - closest / length)) if length else 0.0,
                signature=signatures["BLEU"],
                chrf=float(extra.score) if extra else None,
                chrf_p_value=_p_value(extra, _same_characters(systems, names[0], name)) if extra else None,
                chrf_signature=signatures["chrF2"] if extra else None,
            )
    return [scores[name] for name in systems]


def _check(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    baseline: str | None,
    samples: int,
    seed: int,
) -> None:
    """Raises InputError for everything that sacrebleu would cut short, misread or end in a traceback."""
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
    if samples < 1:
        raise InputError(f"samples must be at least 1, not {samples}")
    if seed < 1:
        raise InputError(f"seed must be at least 1, not {seed}")


def _same_characters(systems: Mapping[str, Sequence[str]], one: str, other: str) -> bool:
    """Whether two systems' lines differ in blanks at most, which chrF does not see."""
    pairs = zip(systems[one], systems[other], strict=True)
    return all("".join(first.split()) == "".join(second.split()) for first, second in pairs)


def _p_value(result: Result, same: bool) -> float | None:
    """The result's p-value; 1 for a system that cannot be told from the baseline."""
    if result.p_value is None:
        return None
    return 1.0 if same else float(result.p_value)


def _paired_test(
    systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], samples: int, seed: int, chrf: bool
) -> tuple[dict[str, str], dict[str, list[Result]]]:
    """sacrebleu's signatures and results by metric; the first system is the baseline."""
    metrics: dict[str, Metric] = {"BLEU": BLEU(tokenize="none", force=True)}
    if chrf:
        metrics["chrF"] = CHRF()
    named: list[tuple[str, Sequence[str]]] = [(name, list(lines)) for name, lines in systems.items()]
    documents = [list(document) for document in references]
    with _sacrebleu_seed(seed):
        # One process: the samples then cost no fork, and are the same in every run.
        test = PairedTest(named, metrics, documents, test_type="bs", n_samples=samples, n_jobs=1)
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
