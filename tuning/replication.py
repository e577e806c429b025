"""Systems that were tuned several times: BLEU over the runs, and tests that know of them (Clark et al., 2011).

Tuning is random: another seed gives other weights and another BLEU. Of each of R runs of a system there is one output
of the test set, N sentences. What is computed:

* **BLEU of a system** is the mean of the runs' BLEU, its *deviation* the sample standard deviation (divisor R - 1): the
  part that tuning has in the differences between single runs.
* **Confidence interval**: sentences are drawn with replacement, the same ones for all runs and systems, and the mean of
  the runs' BLEU is taken on each sample. It holds the choice of sentences, not tuning.
* **Paired bootstrap** (Koehn, 2004), on the same samples: with d the absolute difference of two systems' BLEU on all
  sentences and d_b that on sample b, (samples with d_b - mean of all d_b > d, + 1) / (samples + 1), as in sacrebleu.
  Tuning is averaged, not tested.
* **Stratified approximate randomisation**: were two systems equal, then of the 2R outputs of one sentence any R could
  come from either. In each trial the 2R outputs of every sentence (a stratum) are dealt anew at random, R to each side;
  the statistic is the absolute difference of the sides' BLEU, each of the counts of its R N outputs together, as in
  MultEval. The p-value is (trials at least as far apart as the systems + 1) / (trials + 1). With R = 1 it is the usual
  approximate randomisation. It asks whether the difference is more than the sentences' and the runs' chance together
  would give, the runs of a sentence being exchangeable; a shift that one run has in all its sentences is not kept
  together, so look at the deviation too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import InputError
from lscfg.tuning.bleu import CORRECT, HYPOTHESIS_LENGTH, REFERENCE_LENGTH, TOTAL, WIDTH, bleu, corpus_stats
from lscfg.tuning.evaluate import brevity_penalty, check_numbers, check_systems

_ROUNDING = 1e-9
"""BLEU values that differ by less are equal."""

_BATCH = 1 << 24
"""Random decisions that are held in memory at a time."""


@dataclass(frozen=True)
class ReplicatedScore:
    """BLEU (0 to 100) of a system over its runs."""

    name: str
    runs: list[float]
    """BLEU of each run."""
    bleu: float
    """Their mean."""
    deviation: float | None
    """Their sample standard deviation; none for one run."""
    bleu_mean: float
    """Mean of the mean over the bootstrap samples of sentences."""
    bleu_ci: float
    """Half the width of the 95 % confidence interval around it."""
    p_bootstrap: float | None
    """Paired bootstrap against the baseline; none for the baseline or without one."""
    p_randomised: float | None
    """Stratified approximate randomisation against the baseline."""
    p_against: dict[str, float | None]
    """The same against further systems, by name; none for the system itself."""
    precisions: list[float]
    """Matching n-grams of order 1 to 4 (percent), of all runs together; as is what follows."""
    length_ratio: float
    brevity_penalty: float


def compare_runs(
    outputs: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[Sequence[str]],
    baseline: str | None = None,
    samples: int = 1000,
    trials: int = 10000,
    seed: int = 12345,
    against: Sequence[str] = (),
) -> list[ReplicatedScore]:
    """Scores of all systems in the order given.

    With one run each, they are sacrebleu's up to rounding, but for p-values of outputs that differ in a few sentences
    only (``lscfg.tuning.evaluate.evaluate``).

    Args:
        outputs: by system the output lines of each of its runs; all systems with the same number of runs.
        references: one document per reference set, each with as many lines as the outputs.
        baseline: name of the system to test the others against; none: no test.
        samples: bootstrap samples (at least 1).
        trials: trials of the randomisation (at least 1).
        seed: of all of these, at least 1.
        against: further systems to test the others against, by randomisation.

    Raises:
        InputError: numbers of runs or lines differ or are 0, unknown baseline, or a number out of its range.
    """
    runs = {name: len(found) for name, found in outputs.items()}
    if len(set(runs.values())) > 1 or 0 in runs.values():
        found = ", ".join(f"{name} has {count}" for name, count in runs.items())
        raise InputError(f"all systems need the same number of outputs (runs), one at least: {found}")
    for run in range(max(runs.values(), default=0)):
        for tested in (baseline, *against):
            check_systems({name: found[run] for name, found in outputs.items()}, references, tested)
    check_numbers(samples=samples, trials=trials, seed=seed)
    stats = {
        name: np.stack([corpus_stats(lines, references) for lines in found]).astype(np.float32)
        for name, found in outputs.items()
    }
    sentences = len(references[0])
    sampled = _sampled(stats, sentences, samples, seed)

    def randomised(name: str, other: str | None) -> float | None:
        if other is None or name == other:
            return None
        return stratified_randomisation(stats[other], stats[name], trials, seed)

    scores = []
    for name, values in stats.items():
        runs_bleu = bleu(values.sum(axis=1, dtype=np.float64))
        mean, interval = confidence_interval(sampled[name])
        total = values.sum(axis=(0, 1), dtype=np.float64)
        length, closest = int(total[HYPOTHESIS_LENGTH]), int(total[REFERENCE_LENGTH])
        p_bootstrap = None
        if baseline is not None and name != baseline:
            difference = abs(runs_bleu.mean() - bleu(stats[baseline].sum(axis=1, dtype=np.float64)).mean())
            same = np.array_equal(values, stats[baseline])
            p_bootstrap = 1.0 if same else paired_bootstrap(difference, sampled[name], sampled[baseline])
        scores.append(
            ReplicatedScore(
                name=name,
                runs=runs_bleu.tolist(),
                bleu=float(runs_bleu.mean()),
                deviation=float(runs_bleu.std(ddof=1)) if len(runs_bleu) > 1 else None,
                bleu_mean=mean,
                bleu_ci=interval,
                p_bootstrap=p_bootstrap,
                p_randomised=randomised(name, baseline),
                p_against={other: randomised(name, other) for other in against},
                precisions=(100 * total[CORRECT] / np.maximum(total[TOTAL], 1)).tolist(),
                length_ratio=length / closest if closest else 0.0,
                brevity_penalty=brevity_penalty(length, closest),
            )
        )
    return scores


def _sampled(
    stats: Mapping[str, NDArray[np.float32]], sentences: int, samples: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """BLEU of each system on each bootstrap sample [samples], the mean over its runs.

    Args:
        stats: by system, of each output [runs, sentences, 10].
    """
    found: dict[str, list[NDArray[np.float64]]] = {name: [] for name in stats}
    for drawn in _draws(sentences, samples, seed):
        for name, values in stats.items():
            # Counts below 2^24 are exact in 32 bits, so that blocks do not change the sums.
            found[name].append(bleu((drawn @ values).astype(np.float64)).mean(axis=0))
    return {name: np.concatenate(blocks) for name, blocks in found.items()}


def _draws(sentences: int, samples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """How often each sentence is in each bootstrap sample, in blocks [of samples, sentences]; sacrebleu draws the same
    ones."""
    rng = np.random.default_rng(seed)
    block = max(1, _BATCH // sentences)
    for start in range(0, samples, block):
        size = min(block, samples - start)
        indices = rng.choice(sentences, size=(size, sentences), replace=True)
        indices += np.arange(size)[:, None] * sentences
        counts = np.bincount(indices.ravel(), minlength=size * sentences)
        yield counts.reshape(size, sentences).astype(np.float32)


def confidence_interval(sampled: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and half the width of the 95 % interval of bootstrap samples [samples], as sacrebleu has it."""
    ordered = np.sort(sampled)
    cut = len(ordered) // 40
    return float(sampled.mean()), float(ordered[len(ordered) - cut - 1] - ordered[cut]) / 2


def paired_bootstrap(difference: float, one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Koehn's test as sacrebleu has it.

    Args:
        difference: absolute difference of the systems on all sentences.
        one, other: their scores on the same samples [samples].
    """
    shifts = np.abs(one - other)
    return float(((shifts - shifts.mean() > difference).sum() + 1) / (len(shifts) + 1))


def stratified_randomisation(
    one: NDArray[np.float32], other: NDArray[np.float32], trials: int, seed: int = 12345
) -> float:
    """The p-value of two systems' difference in BLEU; see above.

    Args:
        one, other: statistics (see ``lscfg.tuning.bleu``) of each output [runs, sentences, 10].
        trials: at least 1; the p-value is no less than 1 / (trials + 1).
    """
    runs, sentences = one.shape[:2]
    pooled = (
        np.concatenate([one, other]).transpose(1, 0, 2).reshape(-1, WIDTH).astype(np.float32)
    )  # sentence by sentence
    total = pooled.sum(axis=0, dtype=np.float64)
    observed = abs(float(bleu(one.sum(axis=(0, 1), dtype=np.float64)) - bleu(other.sum(axis=(0, 1), dtype=np.float64))))
    rng = np.random.default_rng(seed)
    deal = np.arange(2 * runs) < runs
    as_far = 0
    batch = max(1, _BATCH // len(pooled))
    for start in range(0, trials, batch):
        shape = (min(batch, trials - start), sentences, 2 * runs)
        dealt = rng.permuted(np.broadcast_to(deal, shape), axis=2).reshape(shape[0], -1)
        # Counts below 2^24 are exact in 32 bits, so that the sum is the same in any order.
        side = (dealt.astype(np.float32) @ pooled).astype(np.float64)
        as_far += int((np.abs(bleu(side) - bleu(total - side)) >= observed - _ROUNDING).sum())
    return (as_far + 1) / (trials + 1)
