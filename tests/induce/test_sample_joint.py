"""Joint distributions of corpora, derivations and parameters, which a right sampler keeps (Geweke 2004)."""

import numpy as np
import pytest
from closed_world import scores

MODELS = ("py", "dp")


@pytest.mark.parametrize("model", MODELS)
def test_sweeps_keep_the_joint_distribution(model):
    assert np.abs(scores(model, 200, seed=1)).max() < 4


@pytest.mark.nightly
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("moves", ["local", "tree"])
def test_geweke_all_quantities_are_kept(model, moves):
    assert np.abs(scores(model, 6_000, seed=2, moves=moves)).max() < 4


@pytest.mark.nightly
@pytest.mark.parametrize("fault", [{"density": False}, {"corrected": False}])
def test_geweke_faults_are_seen(fault):
    """Trees without the density factor; rules that count once for each of their derivations."""
    assert np.abs(scores("dp", 6_000, seed=2, **fault)).max() > 6
