"""Conditional logit against a general optimiser, ranks and shares against their definitions."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from lscfg.estimate.choice import Choices, fit_choices


def random_choices(seed, questions=60, features=3):
    rng = np.random.default_rng(seed)
    begin = np.concatenate([[0], np.cumsum(rng.integers(1, 6, questions))])
    values = rng.normal(size=(begin[-1], features)) * [1, 10, 0.1][:features]
    utility = values @ rng.normal(size=features) + rng.gumbel(size=begin[-1])
    right = np.array([a + utility[a:b].argmax() for a, b in pairwise(begin)])
    return Choices(begin, right), values


@pytest.mark.parametrize("seed", range(5))
def test_weights_have_the_largest_likelihood(seed):
    choices, values = random_choices(seed)
    found = fit_choices(choices, values)

    def loss(weights):
        total = 0.0
        for k in range(len(choices)):
            scores = values[choices.begin[k] : choices.begin[k + 1]] @ weights
            total += np.log(np.exp(scores - scores.max()).sum()) + scores.max()
            total -= values[choices.right[k]] @ weights
        return total

    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    assert loss(found) == pytest.approx(best.fun, abs=1e-3) and choices.losses(values @ found).sum() == pytest.approx(
        loss(found)
    )


def test_a_copy_adds_nothing_and_an_oracle_everything():
    choices, values = random_choices(9)
    alone = choices.losses(values @ fit_choices(choices, values)).mean()
    copied = np.column_stack([values, values[:, 1]])
    assert choices.losses(copied @ fit_choices(choices, copied)).mean() == pytest.approx(alone, abs=1e-5)
    told = np.zeros(len(values))
    told[choices.right] = 1
    oracle = np.column_stack([values, told])
    assert choices.losses(oracle @ fit_choices(choices, oracle)).mean() < 1e-3
    constant = np.ones((len(values), 1))
    assert np.isfinite(fit_choices(choices, constant)).all()


def test_ranks_and_shares():
    choices = Choices(np.array([0, 3, 4, 8]), np.array([1, 3, 4]))
    scores = np.array([2.0, 1.0, 0.0, 5.0, 1.0, 1.0, 1.0, 3.0])
    assert choices.ranks(scores).tolist() == [2, 1, 3]  # the middle of the three equal ones behind the first
    shares = np.exp(choices.log_shares(scores))
    assert [shares[:3].sum(), shares[3], shares[4:].sum()] == pytest.approx([1, 1, 1])
    some, options = choices.select(np.array([True, False, True]))
    assert some.begin.tolist() == [0, 3, 7] and some.right.tolist() == [1, 3] and options.sum() == 7
