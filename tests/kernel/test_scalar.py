"""Scalar inside-outside over all kinds of forests, against the enumeration of their derivations."""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from forests import RULES, applications, build, grammar_of, paths
from helpers import derivations
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lattices import encode, random_lattice
from samples import SampledDerivations, add_features, sample_derivations
from scipy.stats import chi2, kstest
from trees import linked_lengths, n_derivations, texts

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError
from lscfg.extract.decomposition import REST, decompose
from lscfg.kernel import Binding, Forest, ForestBuilder, Grammar, ParseOptions, S, X, scalar

KINDS = ("parsed", "lattice", "built", "decomposed")
MOST = 400  # derivations of a forest that is enumerated


def random_grammar(rng: np.random.Generator) -> Grammar:
    """Some of the rules of the tests of inference, some of them twice, in random order."""
    chosen = rng.choice(RULES, int(rng.integers(3, 2 * len(RULES))))
    return grammar_of("".join(f"[X] ||| {rule} |||\n" for rule in [*chosen, "a ||| x", "[X,1] [X,2] ||| [1] [2]"]))


def random_forest(kind: str, rng: np.random.Generator) -> Forest | None:
    """A small forest of a kind; None: there was no derivation."""
    if kind == "decomposed":
        n = int(rng.integers(1, 8))
        cut = int(rng.integers(n + 1))  # two halves in order, one of them mirrored, or in any order
        order = rng.permutation(n) if rng.random() < 0.3 else np.roll(np.arange(n), cut)
        order[:cut] = order[:cut][:: rng.choice([-1, 1])]
        return decompose(*texts(n, n, sorted(enumerate(order.tolist())))).forest
    made = random_grammar(rng)
    glue = bool(rng.integers(2))
    options = ParseOptions(100, glue, int(rng.integers(3)), S if glue else X)
    words = rng.choice(list("abcq"), int(rng.integers(1, 5))).tolist()
    if kind == "lattice":
        arcs = random_lattice(rng, words, list("abcq"), 0.2)
        return made.parse_lattice(encode(made, arcs), len(words) + 1, options)
    forest = made.parse(made.vocab.add_line(" ".join(words)), options)
    return forest if kind == "parsed" or forest is None else copied(forest, made, rng)


def copied(forest: Forest, grammar: Grammar, rng: np.random.Generator) -> Forest | None:
    """Forest of these rules over repeated nodes, with applications repeated or left out."""
    builder, copies = ForestBuilder(forest.words), {}
    apps = applications(forest)
    for q in range(forest.n_nodes):
        for _ in range(1 if q == forest.n_nodes - 1 else int(rng.integers(1, 3))):
            copies.setdefault(q, []).append(builder.add_node(int(forest.node_cat[q]), *forest.node_span[q].tolist()))
            for _, rule, tails in (app for app in apps if app[0] == q):
                for _ in range(int(rng.integers(0, 3))):
                    builder.add_application(rule, *(int(rng.choice(copies[t])) for t in tails))
    return builder.finish(grammar)[0]


def random_weights(forest: Forest, rng: np.random.Generator, impossible: float = 0.0, scale: float = 1.0) -> np.ndarray:
    weights = rng.normal(size=forest.n_apps) * scale
    weights[rng.random(forest.n_apps) < impossible] = -np.inf
    return weights


def some_forest(seed: int, kind: str, least: int = 2) -> tuple[Forest, list[list[int]], np.random.Generator]:
    """The first of a list of random forests with enough derivations, but not too many, and its derivations."""
    for number in range(1000):
        rng = np.random.default_rng([seed, number])
        forest = random_forest(kind, rng)
        if forest is not None and least <= paths(forest) <= MOST:
            return forest, derivations(forest), rng
    raise AssertionError("no such forest")


class Enumerated:
    """Sums and marginals from a list of all derivations."""

    def __init__(self, forest: Forest, found: list[list[int]], log_weight: np.ndarray):
        self.forest, self.found = forest, found
        self.scores = np.array([math.fsum(log_weight[apps]) if apps else 0.0 for apps in found])
        largest = self.scores.max()
        self.uses = np.zeros((len(found), forest.n_apps))
        for row, apps in zip(self.uses, found, strict=True):
            np.add.at(row, apps, 1)
        self.node_uses = np.zeros((len(found), forest.n_nodes))
        np.add.at(self.node_uses.T, forest.edge_head[forest.app_edge], self.uses.T)
        if largest == -np.inf:
            self.log_g, self.p = -np.inf, np.zeros(len(found))
        else:
            weights = np.exp(self.scores - largest)
            self.log_g = largest + math.log(math.fsum(weights))
            self.p = weights / math.fsum(weights)

    @property
    def best(self) -> list[int]:
        """Of the best derivations the one that is first when lists of applications are compared."""
        largest = self.scores.max()
        return min(apps for apps, score in zip(self.found, self.scores, strict=True) if score == largest)

    def below_best(self, uses: np.ndarray) -> np.ndarray:
        """The best score of a derivation that uses each column, less the best of all."""
        used = np.where(uses > 0, self.scores[:, None], -np.inf).max(axis=0)
        return used - self.scores.max()


@settings(max_examples=200)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.sampled_from([0.0, 0.2]))
def test_sums_and_marginals_equal_enumeration(kind, seed, impossible):
    rng = np.random.default_rng(seed)
    forest = random_forest(kind, rng)
    assume(forest is not None and paths(forest) <= MOST)
    weights = random_weights(forest, rng, impossible)
    expected = Enumerated(forest, derivations(forest), weights)
    found = scalar.expect(forest, weights)
    assert found.log_g == pytest.approx(expected.log_g, rel=1e-12, abs=1e-12)
    assert np.allclose(found.apps, expected.p @ expected.uses, rtol=1e-12, atol=1e-15)
    assert np.allclose(found.nodes, expected.p @ expected.node_uses, rtol=1e-12, atol=1e-15)
    assert found.nodes[-1] == (expected.log_g > -np.inf)
    inside = scalar.inside(forest, weights)
    assert inside.log_g == found.log_g
    apps, nodes = scalar.marginals(forest, inside.share)
    assert np.array_equal(apps, found.apps) and np.array_equal(nodes, found.nodes)
    for q in range(forest.n_nodes):
        below = [math.fsum(weights[d]) for d in derivations(forest, q)]
        with np.errstate(divide="ignore"):
            assert inside.nodes[q] == pytest.approx(np.logaddexp.reduce(below), rel=1e-12, abs=1e-12)
        shares = inside.share[forest.edge_apps[forest.node_edges[q]] : forest.edge_apps[forest.node_edges[q + 1]]]
        assert shares.sum() == pytest.approx(float(inside.nodes[q] > -np.inf), rel=1e-14)


@settings(max_examples=200)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.sampled_from([0.0, 0.2]), st.booleans())
def test_best_derivations_equal_enumeration(kind, seed, impossible, ties):
    rng = np.random.default_rng(seed)
    forest = random_forest(kind, rng)
    assume(forest is not None and paths(forest) <= MOST)
    weights = random_weights(forest, rng, impossible)
    if ties:  # small integers are added without rounding
        weights = np.round(weights)
    expected = Enumerated(forest, derivations(forest), weights)
    found = scalar.max_marginals(forest, weights)
    best = scalar.viterbi(forest, weights)
    assert found.log_g == pytest.approx(expected.scores.max(), rel=1e-12, abs=1e-12)
    if expected.log_g == -np.inf:
        assert best is None and (found.apps == -np.inf).all() and (found.nodes == -np.inf).all()
        return
    assert best is not None and best.score == found.log_g
    assert best.apps.tolist() == expected.best
    assert np.allclose(found.apps, expected.below_best(expected.uses), rtol=1e-12, atol=1e-12)
    assert np.allclose(found.nodes, expected.below_best(expected.node_uses), rtol=1e-12, atol=1e-12)
    assert (found.apps[best.apps] == 0).all() and found.nodes[-1] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("impossible", [0.0, 0.1])
def test_features_and_covariances_equal_enumeration(kind, impossible):
    forest, found, rng = some_forest(1, kind, 5)
    weights = random_weights(forest, rng, impossible)
    expected = Enumerated(forest, found, weights)
    assert expected.log_g > -np.inf
    inside, posterior = scalar.inside(forest, weights), scalar.expect(forest, weights)
    value = rng.normal(size=forest.n_apps) + 5
    mean, covariance = scalar.covariance(forest, inside.share, value)
    sums = expected.uses @ value
    assert mean == pytest.approx(expected.p @ sums, rel=1e-12)
    counts = expected.p @ expected.uses
    by_hand = ((sums - expected.p @ sums) * expected.p) @ (expected.uses - counts)
    assert np.allclose(covariance, by_hand, rtol=1e-12, atol=1e-13)

    lengths = rng.integers(0, 4, forest.n_apps)
    indptr = np.concatenate([[0], lengths.cumsum()])
    features = indptr, rng.integers(0, 6, indptr[-1]).astype(np.int32), rng.normal(size=indptr[-1])
    dense = np.zeros((forest.n_apps, 6))
    np.add.at(dense, (np.repeat(np.arange(forest.n_apps), lengths), features[1]), features[2])
    out = np.ones(6)
    add_features(forest, posterior.apps, features, out)
    assert np.allclose(out - 1, expected.p @ (expected.uses @ dense), rtol=1e-12, atol=1e-13)
    out[:] = 0
    add_features(forest, covariance, features, out)
    h = expected.uses @ dense
    assert np.allclose(out, (expected.p * (sums - mean)) @ (h - expected.p @ h), rtol=1e-12, atol=1e-13)

    out[:] = 0  # rows by rule: every second application has none
    row = np.where(np.arange(forest.n_apps) % 2, -1, np.arange(forest.n_apps) // 2).astype(np.int32)
    add_features(forest, posterior.apps, features, out, row)
    assert np.allclose(out, posterior.apps[row >= 0] @ dense[row[row >= 0]], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_by_finite_differences(kind):
    forest, _, rng = some_forest(2, kind, 5)
    weights, value, step = random_weights(forest, rng), rng.normal(size=forest.n_apps), 1e-5
    posterior = scalar.expect(forest, weights)
    _, covariance = scalar.covariance(forest, scalar.inside(forest, weights).share, value)
    for a in range(forest.n_apps):
        log_g, mean = [], []
        for sign in (1, -1):
            moved = weights.copy()
            moved[a] += sign * step
            inside = scalar.inside(forest, moved)
            log_g.append(inside.log_g)
            mean.append(scalar.covariance(forest, inside.share, value)[0])
        assert (log_g[0] - log_g[1]) / (2 * step) == pytest.approx(posterior.apps[a], abs=1e-9)
        assert (mean[0] - mean[1]) / (2 * step) == pytest.approx(covariance[a], abs=1e-8)


def test_entropy_is_the_mean_of_the_shares_logarithms():
    """Impossible applications have a value of -inf, which nothing looks at."""
    forest, found, rng = some_forest(3, "parsed", 8)
    weights = random_weights(forest, rng, 0.1)
    expected = Enumerated(forest, found, weights)
    inside = scalar.inside(forest, weights)
    with np.errstate(divide="ignore"):
        value = np.log(inside.share)
    assert (value == -np.inf).any()
    mean, covariance = scalar.covariance(forest, inside.share, value)
    p = expected.p[expected.p > 0]
    assert mean == pytest.approx((p * np.log(p)).sum(), rel=1e-12)
    assert np.isfinite(covariance).all()


# ---- samples ----


def drawn(samples: SampledDerivations) -> list[tuple[int, ...]]:
    return [tuple(samples[k].tolist()) for k in range(len(samples))]


def p_value(counts: np.ndarray, p: np.ndarray) -> float:
    """Pearson's chi-square; cells of which fewer than five are expected count as one."""
    n, order = counts.sum(), np.argsort(p)
    small = order[: int((p * n < 5).sum())]
    cells = [(counts[k], p[k] * n) for k in order[len(small) :]] + [(counts[small].sum(), p[small].sum() * n)]
    cells = [(seen, wanted) for seen, wanted in cells if wanted > 0]
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    return float(chi2.sf(statistic, max(len(cells) - 1, 1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("impossible", [0.0, 0.05])
def test_samples_come_as_often_as_their_weights_say(kind, impossible):
    forest, found, rng = some_forest(4, kind, 20)
    expected = Enumerated(forest, found, np.full(forest.n_apps, -np.inf))
    while not 5 <= (expected.p > 0).sum() < len(found) + (impossible == 0):
        log_weight = random_weights(forest, rng, impossible)
        expected = Enumerated(forest, found, log_weight)
    number, share = {tuple(apps): k for k, apps in enumerate(found)}, scalar.inside(forest, log_weight).share
    flat = expected.p**0.8 / (expected.p**0.8).sum()  # of weights that are a little wrong
    values = []
    for seed in range(20):
        counts = np.zeros(len(found))
        for apps in drawn(sample_derivations(forest, share, 5000, seed)):
            counts[number[apps]] += 1
        assert counts.sum() == 5000 and (counts[expected.p == 0] == 0).all()
        values.append((p_value(counts, expected.p), p_value(counts, flat)))
    right, wrong = np.array(values).T
    assert right.min() > 1e-4 and kstest(right, "uniform").pvalue > 1e-3
    assert np.median(wrong) < 1e-3


def test_equal_shares_draw_every_choice_alike():
    """Shares need not add up to 1: ones at each node give the product of 1 / choices."""
    forest, found, _ = some_forest(5, "parsed", 10)
    choices = np.diff(forest.edge_apps[forest.node_edges])[forest.edge_head[forest.app_edge]]
    p = np.array([np.prod(1 / choices[apps]) for apps in found])
    assert p.sum() == pytest.approx(1) and p.min() < p.max() / 2
    number, counts = {tuple(apps): k for k, apps in enumerate(found)}, np.zeros(len(found))
    for apps in drawn(sample_derivations(forest, np.ones(forest.n_apps), 40000, 1)):
        counts[number[apps]] += 1
    assert p_value(counts, p) > 1e-3


def philox(key: tuple[int, int], counter: tuple[int, int, int, int]) -> tuple[int, ...]:
    """Philox4x32-10 as Salmon et al. 2011 define it."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & 0xFFFFFFFF, (a >> 32) ^ c3 ^ k1, a & 0xFFFFFFFF
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


def uniforms(seed: int, number: int):
    """The kernel's stream for sample ``number``."""
    block = 0
    while True:
        key, counter = (seed & 0xFFFFFFFF, seed >> 32), (block & 0xFFFFFFFF, block >> 32)
        words = philox(key, (*counter, number & 0xFFFFFFFF, number >> 32))
        for low, high in (words[:2], words[2:]):
            yield ((high << 32 | low) >> 11) * 2.0**-53
        block += 1


def test_the_reference_generator_gives_the_published_numbers():
    """kat_vectors of Random123."""
    all_ones = (0xFFFFFFFF,) * 4
    assert philox((0, 0), (0, 0, 0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox(all_ones[:2], all_ones) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    assert philox(pi[1], pi[0]) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


@pytest.mark.parametrize(("seed", "first"), [(0, 0), (2**64 - 1, 5), (12345678901234567890, 2**40)])
def test_samples_are_those_of_the_published_generator(seed, first):
    forest, _, rng = some_forest(6, "parsed", 100)
    share = scalar.inside(forest, random_weights(forest, rng)).share
    samples = sample_derivations(forest, share, 30, seed, first)
    for k in range(30):
        numbers, waiting, expected = uniforms(seed, first + k), [forest.n_nodes - 1], []
        while waiting:
            q = waiting.pop()
            begin, end = forest.edge_apps[forest.node_edges[[q, q + 1]]]
            upto = np.cumsum(share[begin:end])
            expected.append(int(begin + np.searchsorted(upto, next(numbers) * upto[-1], side="right")))
            waiting += [t for t in forest.edge_tail[forest.app_edge[expected[-1]]][::-1].tolist() if t >= 0]
        assert samples[k].tolist() == expected


def test_samples_do_not_depend_on_blocks_or_threads(monkeypatch):
    forest, _, rng = some_forest(7, "built", 20)
    share = scalar.inside(forest, random_weights(forest, rng)).share
    whole = sample_derivations(forest, share, 1000, 3)

    def same(offsets, apps):
        return np.array_equal(offsets, whole.offsets) and np.array_equal(apps, whole.apps)

    cuts = [0, 1, 300, 301, 1000]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda c: sample_derivations(forest, share, c[1] - c[0], 3, c[0]), pairwise(cuts)))
    lengths = [np.diff(part.offsets) for part in parts]
    assert same(np.concatenate([[0], *lengths]).cumsum(), np.concatenate([part.apps for part in parts]))
    monkeypatch.setattr("samples._ROOM", 7 * forest.n_nodes)
    again = sample_derivations(forest, share, 1000, 3)
    assert same(again.offsets, again.apps)
    other = sample_derivations(forest, share, 1000, 4)
    assert drawn(other) != drawn(whole)
    assert len(sample_derivations(forest, share, 0, 3)) == 0


# ---- invariances and extremes ----


@pytest.mark.parametrize("kind", KINDS)
def test_a_factor_of_a_node_can_be_moved_to_where_it_is_used(kind):
    """More for all applications of a node, and as much less where it is a tail: all derivations weigh what they did."""
    forest, _, rng = some_forest(8, kind, 5)
    weights = random_weights(forest, rng)
    factor = rng.normal(size=forest.n_nodes) * 3
    factor[-1] = 0
    used = np.where(forest.edge_tail >= 0, factor[forest.edge_tail], 0).sum(axis=1)
    moved = weights + factor[forest.edge_head[forest.app_edge]] - used[forest.app_edge]
    before, after = scalar.expect(forest, weights), scalar.expect(forest, moved)
    assert after.log_g == pytest.approx(before.log_g, rel=1e-12, abs=1e-12)
    assert np.allclose(after.apps, before.apps, rtol=1e-11) and np.allclose(after.nodes, before.nodes, rtol=1e-11)
    assert scalar.viterbi(forest, moved).apps.tolist() == scalar.viterbi(forest, weights).apps.tolist()
    at_root = forest.edge_head[forest.app_edge] == forest.n_nodes - 1
    more = scalar.expect(forest, weights + 2.5 * at_root)
    assert more.log_g == pytest.approx(before.log_g + 2.5) and np.allclose(more.apps, before.apps, rtol=1e-12)


@settings(max_examples=60)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.sampled_from([-1e4, 0, 1e4, -1e15]), st.booleans())
def test_extreme_weights(kind, seed, offset, spread):
    """Probabilities that differ by factors of e^10,000, or weights that do all."""
    rng = np.random.default_rng(seed)
    forest = random_forest(kind, rng)
    assume(forest is not None and paths(forest) <= MOST)
    weights = random_weights(forest, rng, 0.1, 1e4 if spread else 1) + offset
    expected = Enumerated(forest, derivations(forest), weights)
    found = scalar.expect(forest, weights)
    precision = max(1e-12, 4e-16 * np.abs(weights[np.isfinite(weights)]).sum(initial=0))
    if expected.log_g == -np.inf:
        assert found.log_g == -np.inf
        return
    assert found.log_g == pytest.approx(expected.log_g, rel=1e-14, abs=precision)
    if precision < 0.01:
        assert np.allclose(found.apps, expected.p @ expected.uses, rtol=2 * precision, atol=1e-300)
    assert np.isfinite(found.apps).all() and ((found.apps >= 0) & (found.apps <= 1 + 1e-9)).all()
    best = scalar.viterbi(forest, weights)
    assert math.fsum(weights[best.apps]) == pytest.approx(expected.scores.max(), rel=1e-14, abs=precision)


def test_sums_beyond_the_largest_double():
    """Sums all binary trees over 120 words, with a factor of 1,000 for each of their branches."""
    n, made = 120, grammar_of("[X] ||| a ||| x |||\n[X] ||| [X,1] [X,2] ||| [1] [2] |||\n")
    forest = made.parse(made.vocab.add_line(" ".join(["a"] * n)), ParseOptions(n, False, 0, X))
    found = scalar.expect(forest, np.where(forest.app_rule == 1, np.log(1000), 0.0))
    total = math.comb(2 * n - 2, n - 1) // n * 1000 ** (n - 1)
    assert total > 10**400 and found.log_g == pytest.approx(math.log(total), rel=1e-13)
    assert found.apps.sum() == pytest.approx(2 * n - 1, rel=1e-12)


@settings(max_examples=50)
@given(linked_lengths(9))
def test_decomposition_forests(pair):
    """Every tree has as many rules (lemma 3), including edges of more than two tails; all are sampled equally often."""
    made = decompose(*texts(*pair))
    found = scalar.expect(made.forest, np.zeros(made.forest.n_apps))
    assert found.log_g == pytest.approx(math.log(n_derivations(made)), abs=1e-12)
    rules = made.forest.node_cat != REST
    level = int(made.levels()[-1])
    assert found.nodes[rules].sum() == pytest.approx(level)
    share = scalar.inside(made.forest, np.zeros(made.forest.n_apps)).share
    samples = sample_derivations(made.forest, share, 20, 1)
    for k in range(20):
        heads = made.forest.edge_head[made.forest.app_edge[samples[k]]]
        assert rules[heads].sum() == level and len(set(heads.tolist())) == len(heads)


def test_forest_without_a_possible_derivation():
    forest, _, rng = some_forest(9, "parsed", 2)
    for weights in (np.full(forest.n_apps, -np.inf), random_weights(forest, rng)):
        at_root = forest.edge_head[forest.app_edge] == forest.n_nodes - 1
        weights[at_root] = -np.inf
        found = scalar.expect(forest, weights)
        assert found.log_g == -np.inf and not found.apps.any() and not found.nodes.any()
        share = scalar.inside(forest, weights).share
        assert (share[at_root] == 0).all()
        best = scalar.max_marginals(forest, weights)
        assert best.log_g == -np.inf and (best.apps == -np.inf).all() and (best.nodes == -np.inf).all()
        assert scalar.viterbi(forest, weights) is None
        assert sample_derivations(forest, share, 5, 1) is None
        mean, covariance = scalar.covariance(forest, share, np.ones(forest.n_apps))
        assert mean == 0 and not covariance.any()


# ---- compared with the tensors ----


@pytest.mark.parametrize("glue", [False, True])
def test_tensors_of_one_state_give_the_same(tmp_path, glue):
    model, made, tensors, root = build(tmp_path, 1, 4, False)
    with np.errstate(divide="ignore"):
        of_rule = {rule: float(np.log(tensor.item())) for rule, tensor in tensors.items()}
    for sentence in ("a", "b a b", "b a c a b a", "q a b q", "a q"):
        forest = made.parse(made.vocab.add_line(sentence), ParseOptions(100, glue, 1, S if glue else X))
        weights = np.array([of_rule.get(rule, 0.0) for rule in forest.app_rule.tolist()])
        known = {forest.node_span[q, 0] for q in forest.edge_head[forest.app_edge[forest.app_rule < 3]]}
        passed = forest.app_rule == len(made) + 2
        at = forest.node_span[forest.edge_head[forest.app_edge], 0]
        weights[passed & np.isin(at, list(known))] = -np.inf  # no unknown word
        trees = np.where(forest.edge_tail >= 0, forest.node_cat[forest.edge_tail] == X, False).sum(axis=1)
        of_states = forest.node_cat[forest.edge_head] == X
        weights += np.where(of_states, 0, trees)[forest.app_edge] * np.log(root[0])
        found, expected = scalar.expect(forest, weights), Binding(model, made).infer(forest)
        own_root = 0 if glue else np.log(root[0])
        assert found.log_g + own_root == pytest.approx(expected.log_g, rel=1e-12)
        assert np.allclose(found.apps, expected.apps, rtol=1e-11, atol=1e-14)
        assert np.allclose(found.nodes, expected.nodes, rtol=1e-11, atol=1e-14)


# ---- what is refused ----


def test_what_is_refused():
    forest, _, _ = some_forest(10, "parsed", 5)
    zeros = np.zeros(forest.n_apps)
    share = scalar.inside(forest, zeros).share
    for bad, message in ((np.nan, "weight is nan"), (np.inf, "weight is inf"), (1e301, "not finite")):
        weights = np.where(np.arange(forest.n_apps) == 0, bad, zeros)
        for function in (scalar.inside, scalar.expect, scalar.viterbi, scalar.max_marginals):
            with pytest.raises(InputError, match=message):
                function(forest, weights)
    with pytest.raises(InputError, match="unknown semiring 2"):
        scalar.inside(forest, zeros, 2)
    for bad in (-0.1, np.nan, np.inf):
        with pytest.raises(InputError, match="application 0: its share is"):
            sample_derivations(forest, np.where(np.arange(forest.n_apps) == 0, bad, share), 1, 1)
    with pytest.raises(ValueError, match="-1 samples"):
        sample_derivations(forest, share, -1, 1)
    with pytest.raises(ValueError, match="from number -1"):
        sample_derivations(forest, share, 1, 1, -1)
    at_root = forest.edge_head[forest.app_edge] == forest.n_nodes - 1
    with pytest.raises(InputError, match="nothing to choose"):
        sample_derivations(forest, np.where(at_root, share, 0), 1, 1)
    for function in (scalar.inside, scalar.expect, scalar.marginals, scalar.viterbi):
        with pytest.raises(ValueError, match="one for each application"):
            function(forest, zeros[1:])
    features = np.array([0, 1]), np.array([3]), np.array([1.0])
    rows = np.zeros(forest.n_apps, np.int32)
    for wrong, out in ((rows + 1, np.zeros(4)), (rows - 2, np.zeros(4)), (rows, np.zeros(3)), (rows[1:], np.zeros(4))):
        with pytest.raises(ValueError, match=r"rows of|feature numbers"):
            add_features(forest, zeros, features, out, wrong)
    with pytest.raises(ValueError, match="contiguous"):
        add_features(forest, zeros, features, np.zeros(4, np.float32), rows)


def test_shares_of_sums_are_no_shares_of_maxima():
    forest, _, _ = some_forest(10, "parsed", 5)
    share, apps = scalar.inside(forest, np.zeros(forest.n_apps)).share, np.empty(forest.n_nodes, np.int32)
    error, n = ffi.new("lscfg_error *"), ffi.new("int32_t *")
    buffers = ffi.from_buffer("double[]", share), ffi.from_buffer("int32_t[]", apps)
    assert lib.lscfg_forest_viterbi(forest._pointer, *buffers, n, error) == lib.LSCFG_EINPUT
    assert b"nothing to choose" in ffi.string(error.message) and n[0] == 0


def test_an_unfinished_forest_is_refused():
    builder = ForestBuilder(np.zeros(1, np.int32))
    builder.add_node(X, 0, 1)
    forest, none = Forest(builder._pointer), np.empty(0)
    for call in (
        lambda: scalar.inside(forest, none),
        lambda: scalar.expect(forest, none),
        lambda: scalar.marginals(forest, none),
        lambda: scalar.viterbi(forest, none),
        lambda: scalar.covariance(forest, none, none),
        lambda: sample_derivations(forest, none, 1, 1),
    ):
        with pytest.raises(InputError, match="has no nodes, or is not finished"):
            call()


def test_rules_of_a_grammar_have_expected_features():
    """Features of the grammar file, by the rule of each application."""
    made = grammar_of("[X] ||| a ||| x ||| A=1\n[X] ||| a ||| y ||| A=2 B=3\n[X] ||| a a ||| z ||| B=1\n")
    forest = made.parse(made.vocab.add_line("a a"), ParseOptions(10, True, 0, S))
    weights = np.zeros(forest.n_apps)
    row = np.where(forest.app_rule < len(made), forest.app_rule, -1)
    out = np.zeros(2)
    posterior = scalar.expect(forest, weights)
    add_features(forest, posterior.apps, made.features(), out, row)
    assert posterior.log_g == pytest.approx(math.log(5))  # two words of two rules each, or one rule
    assert out == pytest.approx([4 * 3 / 5, (4 * 3 + 1) / 5])
