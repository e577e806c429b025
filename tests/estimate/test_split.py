"""States that are split and merged: likelihoods that stay, losses by enumeration, planted numbers, and checkpoints."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from estimates import estimate_iterated
from simulate import GrammarSettings, random_model, sample

from lscfg.errors import InputError
from lscfg.estimate.em import EMRun, EMSettings
from lscfg.estimate.split import merge_losses, merge_states, split_states
from lscfg.kernel.expectation import Expectation, TreeSet, Weights

ONE = TreeSet(
    np.array([0, 4], np.int64),
    np.array([0], np.int32),
    np.array([2, 0, 1, 0], np.int8),
    np.array([0, 0, 0, 1], np.int32),
    np.array([[1, 2], [-1, -1], [3, -1], [-1, -1]], np.int32),
    (2, 1, 1),
)


def random_weights(m, seed=1):
    rng = np.random.default_rng(seed)
    tensors = [rng.uniform(0.1, 1, (rows, *[m] * (k + 1))) for k, rows in enumerate((2, 1, 1))]
    return Weights(tensors, rng.uniform(0.2, 1, m), rng.dirichlet(np.ones(m), 2))


def likelihood(weights, merged_at=None, pair=(), share=()):
    """Of the tree of ``ONE``, by enumerating all states; at one node two states rewrite as their mixture."""
    m, total = weights.m, 0.0
    parameters = [t * weights.scale.reshape(-1, *[1] * (t.ndim - 2)) for t in weights.tensors]
    for states in itertools.product(range(m), repeat=4):
        value = weights.root[0, states[0]]
        for node in range(4):
            arity, row = int(ONE.arity[node]), int(ONE.row[node])
            below = [states[child] for child in ONE.children[node, :arity]]
            heads = [(states[node], 1.0)]
            if node == merged_at and states[node] in pair:
                heads = list(zip(pair, share, strict=True))
            value *= sum(p * parameters[arity][(row, head, *below)] for head, p in heads)
        total += value
    return math.log(total)


def test_the_enumeration_is_the_likelihood():
    weights, trees = random_weights(3), Expectation(ONE)
    trees.infer(weights, count=False)
    assert trees.total() == pytest.approx(likelihood(weights), abs=1e-12)


def test_losses_are_those_of_single_nodes_that_merge_two_states():
    weights, trees = random_weights(3), Expectation(ONE)
    pairs = [(0, 1), (0, 2), (1, 2)]
    losses, mass = merge_losses(trees, weights, pairs)
    assert mass.sum() == pytest.approx(4)
    for loss, pair in zip(losses, pairs, strict=True):
        share = mass[list(pair)] / mass[list(pair)].sum()
        changes = [likelihood(weights, node, pair, share) - likelihood(weights) for node in range(4)]
        assert loss == pytest.approx(sum(changes), abs=1e-11)


def test_weights_of_trees_count_and_impossible_trees_do_not():
    two = TreeSet(
        np.array([0, 4, 5], np.int64),
        np.array([0, 0], np.int32),
        np.append(ONE.arity, np.int8(0)),
        np.append(ONE.row, np.int32(2)),
        np.concatenate([ONE.children, np.full((1, 2), -1, np.int32)]),
        (3, 1, 1),
        weight=np.array([0.25, 3.0]),
    )
    weights = random_weights(3)
    alone, mass = merge_losses(Expectation(ONE), weights, [(0, 2)])
    weights.tensors[0] = np.concatenate([weights.tensors[0], np.zeros((1, 3))])
    found, of_both = merge_losses(Expectation(two), weights, [(0, 2)])
    assert found == pytest.approx(alone / 4) and of_both == pytest.approx(mass / 4)


@pytest.mark.parametrize("twins", [3, 2])
def test_splitting_without_noise_keeps_the_likelihood_and_merging_restores_it(twins):
    weights, trees = random_weights(3), Expectation(ONE)
    trees.infer(weights, count=False)
    before = trees.total()
    wide = split_states(weights, twins, 0.0, np.random.default_rng(1))
    trees.infer(wide, count=False)
    assert wide.m == 3 + twins and trees.total() == pytest.approx(before, abs=1e-12)
    losses, mass = merge_losses(trees, wide, [(k, 3 + k) for k in range(twins)])
    assert losses == pytest.approx(np.zeros(twins), abs=1e-12)
    for merged in (np.arange(twins), np.array([1])):
        after = merge_states(wide, 3, merged, mass)
        trees.infer(after, count=False)
        assert after.m == 3 + twins - len(merged) and trees.total() == pytest.approx(before, abs=1e-12)
    whole = merge_states(wide, 3, np.arange(twins), mass)
    for one, other in zip(whole.tensors, weights.tensors, strict=True):
        assert one == pytest.approx(other * weights.scale.reshape(-1, *[1] * (other.ndim - 2)), abs=1e-14)
    assert whole.root == pytest.approx(weights.root)


def test_noise_moves_every_parameter_by_little():
    weights = random_weights(2)
    calm, noisy = (split_states(weights, 2, noise, np.random.default_rng(1)) for noise in (0.0, 0.01))
    for one, other in zip([*calm.tensors, calm.root], [*noisy.tensors, noisy.root], strict=True):
        change = np.abs(other / one - 1)
        assert change.min() > 0 and change.max() <= 0.01


def test_states_grow_by_halves_up_to_m():
    trees = sample(random_model(GrammarSettings(rank=4, lexical=16), 2), 60, 1)
    made = estimate_iterated(trees, EMSettings(7, 1, init="split"))
    (curve,) = made.about["log-likelihood by states"]
    assert [m for m, _ in curve] == [1, 2, 3, 5, 7] and made.rank == 7
    assert made.about["method"] == "em" and made.about["settings"]["init"] == "split"
    again = estimate_iterated(trees, EMSettings(7, 1, init="split"), threads=2)
    other = estimate_iterated(trees, EMSettings(7, 1, init="split", seed=2))
    assert all((a == b).all() for a, b in zip(made.tensors, again.tensors, strict=True))
    assert any((a != b).any() for a, b in zip(made.tensors, other.tensors, strict=True))


@pytest.mark.parametrize("rank", [1, 2])
def test_held_out_trees_end_the_growth_near_the_planted_number(rank):
    """Each round adds at least half as many states again, so the number may be one too large."""
    found = []
    for seed in range(2):
        trees = sample(random_model(GrammarSettings(rank=rank, lexical=6 * rank), seed), 800, seed)
        settings = EMSettings(6, 0, seed=seed, init="split", held_out=0.2, shrink_source=0, shrink_arity=0)
        found.append(estimate_iterated(trees, settings).rank)
    assert found == [1] * 2 if rank == 1 else all(2 <= m <= 3 for m in found), found


def test_split_states_are_more_likely_than_the_best_of_five_random_starts():
    trees = sample(random_model(GrammarSettings(rank=3, lexical=18), 5), 800, 5)
    plain = {"shrink_source": 0.0, "shrink_arity": 0.0}
    grown = estimate_iterated(trees, EMSettings(3, 20, init="split", **plain)).about["log-likelihood a rule"][0][-1]
    several = estimate_iterated(trees, EMSettings(3, 20, restarts=5, **plain)).about["log-likelihood a rule"]
    assert grown > max(history[-1] for history in several)


def test_an_interrupted_run_ends_with_the_same_model(tmp_path):
    trees = sample(random_model(GrammarSettings(rank=2), 1), 200, 1)
    settings = EMSettings(5, 4, init="split", held_out=0.2, patience=9)
    whole = estimate_iterated(trees, settings)
    EMRun(trees, EMSettings(5, 2, init="split", held_out=0.2, patience=9), "split", checkpoint=tmp_path).run()
    resumed = estimate_iterated(trees, settings, folder=tmp_path, resume=True)
    assert resumed.about == whole.about
    assert all((a == b).all() for a, b in zip(resumed.tensors, whole.tensors, strict=True))


def test_a_damaged_curve_is_refused(tmp_path):
    from lscfg.io import tensors

    trees = sample(random_model(GrammarSettings(rank=2), 1), 50, 1)
    EMRun(trees, EMSettings(2, 2, init="split"), "split", checkpoint=tmp_path).run()
    arrays, metadata = tensors.load(tmp_path / "checkpoint.em", "em", ["C0", "C1", "C2", "scale", "root"])
    state = json.loads(metadata["state"]) | {"curves": [[["one", 2.0]]]}
    tensors.save(tmp_path / "checkpoint.em", arrays, metadata | {"state": json.dumps(state)})
    with pytest.raises(InputError, match="impossible curves"):
        estimate_iterated(trees, EMSettings(2, 3, init="split"), folder=tmp_path, resume=True)


def test_losses_over_forests_of_one_tree_each_are_those_of_trees():
    """And in a forest of two trees, of a node that only one contains, by enumerating both."""
    weights = random_weights(3)
    forest = TreeSet(
        ONE.first_node,
        ONE.root_kind,
        np.array([2, 0, 1, 0, 0], np.int8),
        np.array([0, 0, 0, 1, 1], np.int32),
        np.array([[1, 2], [-1, -1], [3, -1], [-1, -1], [-1, -1]], np.int32),
        (2, 1, 1),
        first_edge=np.array([0, 1, 2, 4, 5], np.int64),
    )
    same = replace(ONE, first_edge=np.arange(5))
    pairs = [(0, 1), (1, 2)]
    for one, other in zip(
        merge_losses(Expectation(ONE), weights, pairs), merge_losses(Expectation(same), weights, pairs), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-12)
    losses, mass = merge_losses(Expectation(forest), weights, pairs)

    def total(merged_at, pair, share):
        """The tree of ONE, and the same with a word for the node 2."""
        small = 0.0
        parameters = [t * weights.scale.reshape(-1, *[1] * (t.ndim - 2)) for t in weights.tensors]
        for states in itertools.product(range(3), repeat=3):
            value = weights.root[0, states[0]]
            for node, (arity, row, below) in enumerate([(2, 0, states[1:]), (0, 0, ()), (0, 1, ())]):
                heads = [(states[node], 1.0)]
                if node == merged_at and states[node] in pair:
                    heads = list(zip(pair, share, strict=True))
                value *= sum(p * parameters[arity][(row, head, *below)] for head, p in heads)
            small += value
        return math.log(small + math.exp(likelihood(weights, merged_at, pair, share)))

    for loss, pair in zip(losses, pairs, strict=True):
        share = mass[list(pair)] / mass[list(pair)].sum()
        assert loss == pytest.approx(sum(total(n, pair, share) - total(None, (), ()) for n in range(4)), abs=1e-11)
