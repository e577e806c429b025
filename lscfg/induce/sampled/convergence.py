"""Convergence of chains: potential scale reduction, effective sample size (Gelman et al. 2013, section 11.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lscfg.induce.sampled.chain import ChainSettings

WATCHED = {"log_joint": "log joint", "tokens": "rule tokens"}
"""Monitored quantities of a trace, and their names in tables."""

LEAST = 8
"""Least number of sweeps of a chain for diagnostics."""

FAR = 1.1
"""R-hat above which chains have not converged (Gelman et al. 2013)."""


def split_scale_reduction(chains: np.ndarray) -> float:
    """Potential scale reduction (R-hat): about 1 if all chains and their halves agree.

    Args:
        chains: float64 [chains, sweeps], at least 4 sweeps; of an odd number, the first is left out.

    Returns:
        The square root of pooled variance over mean variance within halves, at least about 1; 1 for constant chains,
        infinite if constant halves differ.
    """
    halves = _halves(chains)
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean()
    between = n * halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt(((n - 1) / n * within + between / n) / within))


def effective_samples(chains: np.ndarray) -> float:
    """Effective sample size of all sweeps for the mean of a quantity.

    Autocorrelations count up to the first pair of lags whose sum is not positive (Geyer 1992).

    Args:
        chains: float64 [chains, sweeps], at least 4 sweeps.

    Returns:
        At most n log10 n for n = chains × sweeps, since antithetic draws may exceed n.
    """
    halves = _halves(chains)
    m, n = halves.shape
    within = halves.var(axis=1, ddof=1).mean()
    pooled = (n - 1) / n * within + halves.mean(axis=1).var(ddof=1)
    if pooled == 0:
        return float(m * n)
    centred = halves - halves.mean(axis=1, keepdims=True)
    covariance = np.array([(centred[:, : n - lag] * centred[:, lag:]).sum(axis=1).mean() / n for lag in range(n)])
    correlation = 1 - (within * (n - 1) / n - covariance) / pooled
    pairs = correlation[: 2 * (n // 2)].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: ends[0] if len(ends) else len(pairs)])
    time = max(2 * float(pairs.sum()) - 1, 1 / np.log10(m * n))
    result: float = m * n / time
    return result


def _halves(chains: np.ndarray) -> np.ndarray:
    values = np.asarray(chains, np.float64)
    if values.ndim != 2 or values.shape[1] < 4:
        raise ValueError(f"chains need 4 sweeps or more, got shape {values.shape}")
    even = values[:, values.shape[1] % 2 :]
    return even.reshape(2 * len(even), -1)


def convergence(trace: Sequence[dict[str, Any]], burn_in: int) -> dict[str, float]:
    """R-hat and effective sample sizes of the monitored quantities after burn-in; empty for too few sweeps.

    Args:
        trace: records of all chains, each with ``chain``, ``sweep`` and the monitored quantities.
    """
    kept = [record for record in trace if record["sweep"] > burn_in]
    numbers = sorted({record["chain"] for record in kept})
    found: dict[str, float] = {}
    for name, title in WATCHED.items():
        chains = np.array([[record[name] for record in kept if record["chain"] == number] for number in numbers])
        if chains.size and chains.shape[1] >= LEAST:
            found[f"R-hat of {title}"] = round(split_scale_reduction(chains), 3)
            found[f"effective samples of {title}"] = round(effective_samples(chains), 1)
    return found


SHOWN = ("log_joint", "types", "tokens")
"""Quantities of each sweep in a history."""


def history(trace: Sequence[dict[str, Any]], settings: ChainSettings) -> dict[str, object]:
    """History of chains for JSON.

    Returns:
        ``distribution``: settings that define the target distribution; ``burn_in``; ``kept``: kept sweeps; ``chains``:
            for each chain, lists of the quantities of its sweeps; ``convergence``: see ``convergence``, empty if nodes
            are added level by level, because the distribution then changes between sweeps.
    """
    numbers = sorted({record["chain"] for record in trace})
    chains = [[record for record in trace if record["chain"] == number] for number in numbers]
    return {
        "distribution": settings.distribution(),
        "burn_in": settings.burn_in,
        "kept": list(settings.kept()),
        "convergence": {} if settings.level_sweeps else convergence(trace, settings.burn_in),
        "chains": [{name: [record[name] for record in chain] for name in SHOWN} for chain in chains],
    }
