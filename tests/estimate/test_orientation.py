"""Orientations of phrases: blocks by brute force, the learner, features by their definition, bad input."""

import itertools
import math

import numpy as np
import pytest
from helpers import rule_table
from plain_neural import affiliate
from scipy import sparse

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.estimate.orientation import OrientationEstimator, fit_orientations, orientation_logs, orientations
from lscfg.extract.derive import derive
from lscfg.io import tensors
from lscfg.kernel import Binding, FeatureOptions, Model, ParseOptions, S, X
from lscfg.model.orientation import OrientationModel
from lscfg.model.parameters import Parameters
from lscfg.settings import Declared

OPTIONS = FeatureOptions(names=("orientation",))
RULES = [
    "a0 ||| A0",
    "a1 ||| B1 q",
    "a2 ||| A2",
    "a3 ||| B3",
    "[X,1] a1 ||| q B1 [X,1]",
    "[X,1] a2 [X,2] ||| [X,2] A2 [X,1] B1",
    "[X,1] [X,2] ||| [X,2] [X,1]",
    "[X,1] [X,2] ||| [X,1] [X,2]",
    "a3 [X,1] a1 ||| B1 [X,1] q B3",
    "[X,1] new a0 [X,2] ||| [X,2] A0 [X,1]",
    "new [X,1] ||| [X,1] other",
    "[X,1] a2 [X,2] ||| [X,1] [X,2] A2",
]


def corpus(pairs=150, seed=5):
    """Words of odd numbers swap with the next word; some source words have no link."""
    random = np.random.default_rng(seed)
    source, target, links = [], [], []
    for _ in range(pairs):
        words = random.integers(0, 6, random.integers(2, 8)).tolist()
        order = [*range(len(words))]
        for k in range(len(words) - 1):
            if words[order[k]] % 2:
                order[k], order[k + 1] = order[k + 1], order[k]
        free = random.random(len(words)) < 0.2
        free[order[0]] = False
        order = [k for k in order if not free[k]]
        source.append(" ".join(f"a{word}" for word in words))
        target.append(" ".join(f"{'AB'[words[k] % 2]}{words[k]}" for k in order))
        links.append(" ".join(f"{k}-{x}" for x, k in enumerate(order)))
    return source, target, links


@pytest.fixture(scope="module")
def trees():
    return derive(*corpus())


@pytest.fixture(scope="module")
def model(trees):
    return OrientationEstimator().estimate(trees, Declared())


def brute_force(place, n):
    """All blocks by their target spans, and their orientations, from every phrase pair that no link leaves."""
    m = len(place)
    pairs = {
        (i, j, a, b)
        for i, j in itertools.combinations(range(n + 1), 2)
        for a, b in itertools.combinations(range(m + 1), 2)
        if all((i <= place[x] < j) == (a <= x < b) for x in range(m))
    }
    found = {}
    for i, j, a, b in pairs:
        if i not in place[a:b] or j - 1 not in place[a:b]:
            continue  # a free word at an end
        before = behind = 2
        for other in pairs:
            if other[3] == a:
                before = 0 if other[1] == i else 1 if other[0] == j else before
            if other[2] == b:
                behind = 0 if other[0] == j else 1 if other[1] == i else behind
        found[a, b] = (i, j, before if a else -1, behind if b < m else -1)
    return found


def test_blocks_are_those_of_brute_force():
    random, seen = np.random.default_rng(4), set()
    for _ in range(200):
        n, m = random.integers(1, 8, 2).tolist()
        place = random.permutation(8)[:m] % n if random.random() < 0.5 else random.integers(0, n, m)
        spans, found = orientations(place.astype(np.int32), n)
        expected = brute_force(place.tolist(), n)
        rows = [tuple(row) for row in np.hstack((spans, found)).tolist()]
        assert rows == [expected[key] for key in sorted(expected)]
        seen.update(value for row in rows for value in row[2:])
    assert seen == {-1, 0, 1, 2}


def test_weights_are_at_the_optimum_and_probabilities_sum_to_1():
    random = np.random.default_rng(2)
    columns = random.integers(0, 4, (300, 2)) + np.array([0, 4])
    design = sparse.csr_matrix((np.ones(600), columns.ravel(), 2 * np.arange(301)), (300, 8))
    outcome = (columns[:, 0] + random.integers(0, 2, 300)) % 3
    weights, dense = fit_orientations(design, outcome), design.toarray()
    scores = np.exp(dense @ weights)
    probabilities = scores / scores.sum(1, keepdims=True)
    assert np.exp(orientation_logs(design, weights)) == pytest.approx(probabilities)
    assert np.exp(orientation_logs(design, weights)).sum(1) == pytest.approx(1)
    slope = dense.T @ (probabilities - np.eye(3)[outcome]) + weights
    assert abs(slope).max() < 0.05


def test_held_out_orientations_are_predicted(trees):
    about = OrientationEstimator().estimate(derive(*corpus(600)), Declared()).about
    for own, shares in zip(about["held-out log-likelihood"], about["held-out log-likelihood of shares"], strict=True):
        assert own > shares + 0.1


def plain_log_p(model, sentence, i, j):
    """[sides, 3] of a span, for the source rows of a sentence."""
    padded = [1, *sentence, 2]
    found = []
    for side in range(2):
        scores = model.lengths[side, min(j - i, 7) - 1].astype(float)
        for k, row in enumerate((padded[i + 1], padded[j], padded[i], padded[j + 1])):
            scores = scores + model.weights[side, k, row]
        found.append(scores - np.log(np.exp(scores).sum()))
    return found


def plain_features(model, sentence, source, target, begin, tails):
    """The features of an application, for rows of both sides, from sets of source positions."""
    share = dict(zip(map(tuple, model.links.tolist()), model.share.tolist(), strict=True))
    places, counts = affiliate(share, source, target, begin, tails)
    inside = {p for i, j in tails for p in range(i, j)}
    covered = [
        {*range(*tails[-1 - word])} if word < 0 else {place} - inside
        for word, place in zip(target, places, strict=True)
    ]
    at, gaps, free = begin, iter(tails), set()
    for symbol, count in zip(source, counts, strict=True):
        free |= {at} if symbol >= 0 and not count else set()
        at = at + 1 if symbol >= 0 else next(gaps)[1]
    sums = [0.0, 0.0, 0.0]
    for x, word in enumerate(target):
        if word >= 0:
            continue
        i, j = tails[-1 - word]
        for side, part in enumerate((covered[:x], covered[x + 1 :])):
            others = set().union(*part)
            if not others:
                continue
            left = max(others) < i and {*range(max(others) + 1, i)} <= free
            right = min(others) >= j and {*range(j, min(others))} <= free
            found = (0 if side == 0 else 1) if left else (1 if side == 0 else 0) if right else 2
            sums[found] += plain_log_p(model, sentence, i, j)[side][found]
    return sums


def with_rules(folder, orientation):
    table = rule_table(RULES)
    values = tuple(np.ones(((table.arity == k).sum(), *[1] * (k + 1))) for k in range(3))
    Parameters(table, values, np.ones(1), np.ones(1), orientation=orientation).save(folder / "m")
    return Model(folder / "m")


def test_features_are_those_of_the_definition(model, tmp_path):
    bound, own = with_rules(tmp_path, model.orientation), model.orientation
    grammar = bound.grammar()
    rows = [{word: first + k for k, word in enumerate(own.words[s])} for s, first in ((0, 3), (1, 4))]
    seen, nonzero = set(), np.zeros(3, int)
    assert not OPTIONS.need_inference
    for seed in range(25):
        words = np.random.default_rng(seed).choice(["a0", "a1", "a2", "a3", "new", "unseen"], 6).tolist()
        forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, True, 1, S))
        values = Binding(bound, grammar).features(forest, None, OPTIONS)
        sentence = [rows[0].get(word, 0) for word in words]
        for edge in range(forest.n_edges):
            head, tails = forest.edge_head[edge], [t for t in forest.edge_tail[edge].tolist() if t >= 0]
            begin, spans = int(forest.node_span[head][0]), forest.node_span[tails].tolist()
            for application in range(*forest.edge_apps[edge : edge + 2]):
                rule, expected = int(forest.app_rule[application]), [0, 0, 0]
                if forest.node_cat[head] == X and rule < len(grammar):
                    sides = [
                        [s if s < 0 else rows[k].get(grammar.vocab.word(s), 0) for s in side]
                        for k, side in enumerate((grammar.src(rule), grammar.tgt(rule)))
                    ]
                    expected = plain_features(own, sentence, *sides, begin, spans)
                    seen.add(rule)
                assert values[application] == pytest.approx(expected, abs=1e-5)
                nonzero += values[application] != 0
    assert len(seen) == len(RULES) and min(nonzero) > 20


def test_lattices_have_no_orientations(model, tmp_path):
    bound = with_rules(tmp_path, model.orientation)
    grammar = bound.grammar()
    arcs = np.array([[k, k + 1, word] for k, word in enumerate(grammar.vocab.add_line("a1 a2 a1"))], np.int32)
    forest = grammar.parse_lattice(arcs, 4, ParseOptions(9, False, 1, X))
    assert not Binding(bound, grammar).features(forest, None, OPTIONS).any()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("orientation.links", lambda a: np.full_like(a, 1000)),
        ("orientation.links", lambda a: a[::-1].copy()),
        ("orientation.share", lambda a: a + 2),
        ("orientation.words", lambda a: a[:, :, :-1].copy()),
        ("orientation.words", lambda a: a * np.float32(math.nan)),
        ("orientation.length", lambda a: a[:, 1:].copy()),
        ("orientation.length", lambda a: a * np.float32(math.nan)),
    ],
)
def test_damaged_arrays_are_refused_by_python_and_kernel(model, tmp_path, name, change):
    model.save(tmp_path / "a")
    arrays, metadata = tensors.load(tmp_path / "a", "model")
    with pytest.raises(ValueError, match="orientation"):
        OrientationModel.from_arrays(arrays | {name: change(arrays[name])})
    del metadata["checksum"]
    tensors.save(tmp_path / "b", arrays | {name: change(arrays[name])}, metadata)
    missing = {other: array for other, array in arrays.items() if other != name}
    tensors.save(tmp_path / "c", missing, metadata)
    for file in ("b", "c") if name != "orientation.words" else "b":
        with pytest.raises(InputError, match="orientation"):
            Model(tmp_path / file)


def test_the_command_copies_orientations(trees, tmp_path, capsys):
    trees.save(tmp_path / "deriv")
    files = {name: str(tmp_path / name) for name in ("deriv", "own", "again", "both", "none")}
    for name in ("own", "again"):
        assert main(["estimate", "orientation", files["deriv"], "-o", files[name], "--jobs", "1"]) == 0
    assert (tmp_path / "own").read_bytes() == (tmp_path / "again").read_bytes()
    line = ["estimate", "mle", files["deriv"], "-o", files["both"], "--orientation"]
    assert main([*line, files["own"]]) == 0
    both, own = (Parameters.load(files[name]) for name in ("both", "own"))
    assert len(both.rules) and not len(own.rules)
    for name, array in own.orientation.arrays().items():
        assert array.tobytes() == both.orientation.arrays()[name].tobytes()
    Parameters.without_rules().save(tmp_path / "none")
    assert main([*line, files["none"]]) == 1
    assert "no orientations; name a model of lscfg estimate orientation" in capsys.readouterr().err
    with pytest.raises(InputError, match="no orientations, which OrientM needs; estimate the model with --orient"):
        Model(tmp_path / "none").check_features(OPTIONS)


def test_a_text_without_phrases_inside_sentences_is_refused():
    with pytest.raises(InputError, match="no phrase inside a sentence"):
        OrientationEstimator().estimate(derive(["a", "b", "c"], ["A", "B", "C"], ["0-0"] * 3), Declared())
