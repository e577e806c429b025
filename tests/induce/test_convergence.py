"""R-hat and effective samples of chains whose moments are known."""

import numpy as np
import pytest

from lscfg.induce.sampled.convergence import convergence, effective_samples, split_scale_reduction

RANDOM = np.random.default_rng(3)


def autoregressive(chains, n, keep):
    """Chains with correlation ``keep`` from one draw to the next, and variance 1."""
    found = np.empty((chains, n))
    found[:, 0] = RANDOM.normal(size=chains)
    for k in range(1, n):
        found[:, k] = keep * found[:, k - 1] + np.sqrt(1 - keep**2) * RANDOM.normal(size=chains)
    return found


def test_by_hand():
    """Halves 1 3, 5 7, 1 3, 5 7: variance within 2, of the means 16/3."""
    chains = np.array([[1.0, 3, 5, 7], [1, 3, 5, 7]])
    assert split_scale_reduction(chains) == pytest.approx(np.sqrt((1 / 2 * 2 + 16 / 3) / 2))
    assert split_scale_reduction(np.hstack([[[9.0], [9]], chains])) == split_scale_reduction(chains)


def test_independent_draws_count_fully_and_agree():
    chains = RANDOM.normal(size=(4, 2000))
    assert split_scale_reduction(chains) < 1.01
    assert effective_samples(chains) == pytest.approx(8000, rel=0.15)


@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_correlated_draws_count_by_their_autocorrelation_time(keep):
    """The sum of keep^k over all lags is (1 + keep) / (1 - keep)."""
    chains = autoregressive(4, 20_000, keep)
    assert effective_samples(chains) == pytest.approx(80_000 * (1 - keep) / (1 + keep), rel=0.15)


def test_chains_that_are_elsewhere_or_on_their_way_do_not_agree():
    chains = RANDOM.normal(size=(2, 100))
    apart = np.array([[0.0], [5.0]])
    assert split_scale_reduction(chains + apart) > 2
    assert split_scale_reduction(chains + np.linspace(0, 9, 100)) > 1.5
    assert effective_samples(chains + apart) < 10


def test_what_does_not_move():
    assert split_scale_reduction(np.ones((2, 8))) == 1
    assert effective_samples(np.ones((2, 8))) == 16
    assert split_scale_reduction(np.array([[1.0, 1, 2, 2]])) == float("inf")
    with pytest.raises(ValueError, match="4 sweeps"):
        split_scale_reduction(np.ones((2, 3)))


def test_traces():
    trace = [
        {"chain": chain, "sweep": sweep, "log_joint": RANDOM.normal(), "tokens": 7}
        for chain in (1, 2)
        for sweep in range(21)
    ]
    found = convergence(trace, burn_in=10)
    assert found["R-hat of rule tokens"] == 1 and found["effective samples of rule tokens"] == 20
    assert found["R-hat of log joint"] < 2
    assert not convergence(trace, burn_in=15) and not convergence([], 0)
