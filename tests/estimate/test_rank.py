"""Number of hidden states by held-out moments: the formula, known ranks, and the estimator that uses it."""

import dataclasses

import numpy as np
import pytest
from estimates import estimate_spectral
from scipy import sparse
from simulate import GrammarSettings, random_model, sample

from lscfg.errors import InputError
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.estimate.rank import EXAMPLES, MOST, held_out_rank
from lscfg.estimate.spectral import MethodOfMoments, SpectralSettings, embed
from lscfg.extract.examples import Examples


def test_the_curve_is_the_distance_to_the_moments_of_the_other_half():
    """Five deals in both directions, by the definition with dense matrices."""
    rng = np.random.default_rng(5)
    phi, psi = (sparse.random(400, n, 0.3, "csr", rng=rng) for n in (7, 9))
    tree, weight = np.sort(rng.integers(0, 60, 400)), rng.uniform(0.2, 1, 400)
    found = held_out_rank(phi, psi, tree, weight, 3)
    curves = []
    for deal in range(5):
        half = np.random.default_rng([3, deal]).permutation(tree.max() + 1) < (tree.max() + 1) // 2
        parts = []
        for rows in (half[tree], ~half[tree]):
            parts.append(phi[rows].toarray().T @ (psi[rows].toarray() * weight[rows, None]) / rows.sum())
        for ours, other in (parts, parts[::-1]):
            u, sigma, vt = np.linalg.svd(ours, full_matrices=False)
            distances = [
                ((other - u[:, :m] @ np.diag(sigma[:m]) @ vt[:m]) ** 2).sum() for m in range(1, len(sigma) + 1)
            ]
            curves.append((other**2).sum() - np.array(distances))
    assert found.curve == pytest.approx(np.median(curves, axis=0), abs=1e-12)
    assert found.m == np.median(curves, axis=0).argmax() + 1


@pytest.mark.parametrize("rank", [2, 3])
def test_the_states_of_a_sampled_grammar_are_counted(rank):
    chosen = []
    for seed in range(4):
        model = random_model(GrammarSettings(rank=rank, lexical=6 * rank), seed)
        embedding = embed(Examples.of(sample(model, 6000, seed)), SpectralSettings(m=0))
        assert embedding.held_out.argmax() + 1 == len(embedding.sigma) <= MOST
        chosen.append(len(embedding.sigma))
    assert chosen == [rank] * 4


def test_the_estimate_is_that_of_the_chosen_number():
    trees = sample(random_model(GrammarSettings(rank=2), 1), 2000, 1)
    auto, given = (estimate_spectral(trees, SpectralSettings(m=m)) for m in (0, 2))
    assert auto.rank == 2 and auto.about["rank asked"] == "auto" and len(auto.about["gain on held-out moments"]) > 2
    assert given.about["rank asked"] == 2 and "gain on held-out moments" not in given.about
    for rule in range(len(given.rules)):
        assert np.array_equal(auto.tensor(rule), given.tensor(rule))


def aligned_twice(trees):
    """Derivations whose two alignments are equal."""
    n, arrays = len(trees.rule), {name: getattr(trees, name) for name in ("rule", "slot", "span")}
    twice = {name: np.concatenate([array, array]) for name, array in arrays.items()}
    parent = np.concatenate([trees.parent, np.where(trees.parent < 0, -1, trees.parent + n)]).astype(np.int32)
    starts = np.concatenate([trees.trees, trees.trees[1:] + n])
    return dataclasses.replace(trees, trees=starts, parent=parent, alignments=2, **twice)


@pytest.mark.parametrize("estimator", ["spectral", "em"])
def test_two_alignments_of_a_pair_are_in_one_half(estimator):
    once = sample(random_model(GrammarSettings(rank=2, unary=20, binary=20), 1), 300, 1)
    kind, more = ESTIMATORS[estimator], {} if estimator == "spectral" else {"iterations": 0}
    one, two = (kind.estimate(trees, kind.Settings(m=0, **more)).rank for trees in (once, aligned_twice(once)))
    assert one == two == 1


def test_a_text_without_frequent_features_is_refused():
    one = sparse.csr_matrix(np.eye(EXAMPLES - 1))
    with pytest.raises(InputError, match="no feature has 10 examples, so m cannot be chosen; set m, or use more text"):
        held_out_rank(one, one, np.arange(EXAMPLES - 1), None, 1)


@pytest.mark.parametrize("estimator", ["em", "clusters"])
def test_em_takes_the_number_that_spectral_estimation_chooses(estimator, caplog):
    caplog.set_level("INFO", "lscfg")
    trees = sample(random_model(GrammarSettings(rank=3, lexical=18), 0), 6000, 0)
    kind = ESTIMATORS[estimator]
    auto, given = (kind.estimate(trees, kind.Settings(m=m, iterations=2)) for m in (0, 3))
    spectral = MethodOfMoments().estimate(trees, SpectralSettings(m=0))
    assert auto.rank == spectral.rank == 3 and auto.about["rank asked"] == "auto"
    assert auto.about["gain on held-out moments"] == spectral.about["gain on held-out moments"]
    assert "gain on held-out moments" not in given.about and given.about["settings"] == auto.about["settings"]
    assert all((a == b).all() for a, b in zip(auto.parameters().tensors, given.parameters().tensors, strict=True))
    assert "m = 3 hidden states, by held-out moments; gain with fewer or more: 1: " in caplog.text
