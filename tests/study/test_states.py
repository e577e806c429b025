"""Descriptions of states: shares against drawn trees, entropies and names against sums written out."""

import numpy as np
from helpers import rule_table

from lscfg.model.parameters import Parameters
from lscfg.study.states import States

RULES = ["a ||| A", "b ||| B", "c ||| C", "a [X,1] ||| A [X,1]", "[X,1] [X,2] ||| [X,2] [X,1]"]


def parameters(m: int, seed: int, growth: float = 0.8) -> Parameters:
    """Random probabilities whose trees have fewer than one child a node on average."""
    rng = np.random.default_rng(seed)
    tensors = [rng.gamma(0.3, size=(n, *[m] * (k + 1))) for k, n in ((0, 3), (1, 1), (2, 1))]
    unknown = rng.gamma(0.3, size=m)
    leaves = tensors[0].sum(axis=0) + unknown
    tensors[0] *= (1 - growth / 2) / leaves[None, :]
    unknown *= (1 - growth / 2) / leaves
    inner = tensors[1].sum(axis=(0, 2)) + tensors[2].sum(axis=(0, 2, 3))
    tensors[1] *= growth / 2 / inner[None, :, None]
    tensors[2] *= growth / 2 / inner[None, :, None, None]
    root = rng.dirichlet(np.ones(m))
    return Parameters(rule_table(RULES), tuple(tensors), root, unknown)


def drawn_shares(made: Parameters, n: int, seed: int) -> np.ndarray:
    """Shares of states in the nodes of n trees drawn from the model, rule by rule."""
    rng, m = np.random.default_rng(seed), made.rank
    seen = np.zeros(m)
    flat = [np.concatenate([t[:, h].ravel() for t in made.tensors] + [[made.unk[h]]]) for h in range(m)]
    first_unary, first_binary = 3, 3 + m
    for _ in range(n):
        todo = [rng.choice(m, p=made.root)]
        while todo:
            state = todo.pop()
            seen[state] += 1
            drawn = rng.choice(len(flat[state]), p=flat[state] / flat[state].sum())
            if first_unary <= drawn < first_binary:
                todo.append(drawn - first_unary)
            elif first_binary <= drawn < first_binary + m * m:
                todo += list(divmod(drawn - first_binary, m))
    return seen / seen.sum()


def test_shares_are_those_of_drawn_trees():
    for seed in range(3):
        made = parameters(3, seed)
        states = States.of(made)
        assert abs(states.share.sum() - 1) < 1e-12
        assert np.abs(states.share - drawn_shares(made, 4000, seed)).max() < 0.03
        assert [states.share[h] for h in states.order] == sorted(states.share, reverse=True)


def test_trees_without_end_have_shares():
    made = parameters(3, 5, growth=1.9)
    share = States.of(made).share
    assert (share >= 0).all() and abs(share.sum() - 1) < 1e-12


def test_entropy_and_rules_are_those_of_a_state():
    made = parameters(2, 7)
    states = States.of(made)
    for h in range(2):
        p = [*made.tensors[0][:, h], made.tensors[1][0, h].sum(), made.tensors[2][0, h].sum(), made.unk[h]]
        assert abs(sum(p) - 1) < 1e-12
        assert np.allclose([*states.rules[:, h], states.unknown[h]], p)
        assert abs(states.entropy[h] + np.sum(p * np.log2(p))) < 1e-9
        assert np.allclose(states.pairs[h].sum(), 1)
        order = np.argsort(-made.tensors[0][:, h]).tolist()
        assert states.best_rules(h, 0, 2) == order[:2] and states.best_rules(h, 1, 5) == [3]


def test_names_tell_a_state_from_the_others():
    lexical = np.array([[0.5, 0.5], [0.3, 0.0], [0.0, 0.1]])
    nothing = np.zeros((1, 2, 2)), np.zeros((1, 2, 2, 2))
    nothing[0][0] = [[0.1, 0.1], [0.2, 0.2]]
    made = Parameters(rule_table(RULES), (lexical, *nothing), np.array([0.5, 0.5]), np.zeros(2))
    states = States.of(made)
    assert states.name(0, 1) == "B" and states.name(1, 1) == "C"
    lexical[:, 1] = 0
    alone = States.of(Parameters(rule_table(RULES), (lexical, *nothing), np.array([0.5, 0.5]), np.zeros(2)))
    assert alone.name(1) == "A [X,1]"


def test_signed_parameters_have_no_states():
    made = parameters(2, 1)
    made.tensors[0][0, 0] = -0.1
    assert States.of(made) is None
