"""That what samples are compared with can tell faults: chains of the original program's kind, counts and marginals."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import CorpusTrees, PairTrees, cut_nodes, forests_of, length_of, options_of, rules_of, sampled_states
from scipy import stats
from trees import linked_lengths, texts

from lscfg.kernel.sample import MOVES, TABLES, SamplerOptions, TreeSampler

PAIRS = [("a b c d", "p q r s", "0-0 1-1 2-2 3-3"), ("a b c", "p q r", "0-0 1-2 2-1")]


@pytest.mark.parametrize(
    ("pairs", "max_cut", "original"),
    [
        pytest.param(PAIRS[:1], 2, 1, id="forced cuts have two values"),
        pytest.param([("a a a", "p p p", "0-0 1-1 2-2")], 7, 2, id="rules of an option are weighed apart"),
    ],
)
def test_what_the_original_program_does_otherwise_is_seen(pairs, max_cut, original):
    corpus, forests = CorpusTrees(pairs, "py", max_cut, seated=(0.1, 0.0)), forests_of(pairs, max_cut)
    options = {"alpha": 0.1, "every": 3, "seed": 2}
    distance, noise = corpus.distance(sampled_states(corpus, forests, 30_000, **options, original=original))
    assert distance > 2.5 * noise
    distance, noise = corpus.distance(sampled_states(corpus, forests, 30_000, **options))
    assert distance < 1.3 * noise


@pytest.mark.parametrize("corrected", [False, True])
def test_cut_nodes_count_once_or_for_each_derivation(corrected):
    """The marginal distribution of the sets of cut nodes of a pair, which are its rules at their places."""
    corpus, forests = CorpusTrees(PAIRS[:1], "py"), forests_of(PAIRS[:1])
    sets = {cut_nodes(key): (corpus.logs[key,], corpus.pairs[0].derivations(key)) for (key,) in corpus.logs}
    weights = {nodes: math.exp(log) * (1 if corrected else ways) for nodes, (log, ways) in sets.items()}
    found = Counter()
    for (key,), n in sampled_states(corpus, forests, 10_000, corrected=corrected).items():
        found[cut_nodes(key)] += n
    total = sum(weights.values())
    for nodes, weight in weights.items():
        p, n = weight / total, sum(found.values())
        assert abs(found[nodes] - n * p) < 5 * math.sqrt(n * p) + 1
    assert max(ways for _, ways in sets.values()) == 5


def test_p_values_of_many_seeds_are_uniform():
    """Chi-squared of thinned samples; cells of which fewer than five are expected are joined."""
    corpus, forests, values = CorpusTrees(PAIRS[1:], "dp"), forests_of(PAIRS[1:]), []
    for seed in range(20):
        found = sampled_states(corpus, forests, 2_000, every=4, model="dp", seed=seed, moves="blocked")
        n = sum(found.values())
        cells = [(found[state], n * p) for state, p in corpus.exact.items()]
        large = [cell for cell in cells if cell[1] >= 5]
        rest = [sum(cell[k] for cell in cells if cell[1] < 5) for k in (0, 1)]
        observed, expected = zip(*large, *([rest] if rest[1] >= 5 else []), strict=True)
        scale = sum(observed) / sum(expected)
        values.append(stats.chisquare(observed, np.array(expected) * scale).pvalue)
    assert stats.kstest(values, "uniform").pvalue > 0.001


@pytest.mark.parametrize(("density", "balanced"), [(True, 1 / 5), (False, 1 / 3)])
def test_five_trees_are_as_likely_as_one_another(density, balanced):
    """Figure 1 of the paper: where rules do not count, only the density factor makes all trees equally likely. A chain
    that draws the edge of the root from its three values has the balanced tree more often."""
    corpus, forests = CorpusTrees(PAIRS[:1], "py"), forests_of(PAIRS[:1])
    found = sampled_states(corpus, forests, 6_000, temperature=1e9, density=density)
    trees = Counter()
    for (key,), n in found.items():
        trees[tuple((node, edge) for node, edge, _ in key)] += n
    n = sum(trees.values())
    expected = sorted([balanced, *[(1 - balanced) / 4] * 4])
    assert len(trees) == 5
    for count, p in zip(sorted(trees.values()), expected, strict=True):
        assert abs(count - n * p) < 4 * math.sqrt(n * p * (1 - p))


@pytest.mark.parametrize("moves", MOVES)
def test_processes_that_are_drawn_again_leave_the_exact_distribution(moves):
    """That of the trees, over all concentrations and discounts."""
    pairs = [("a b", "p q", "0-0 1-1")] * 3

    def base(rule):
        return -math.log(2) * len(rule[0] + rule[1])

    corpus, options = CorpusTrees(pairs, "py", resampled=base), {"tables": "exact", "length": "none", "base": "uniform"}
    sampler, found = TreeSampler(forests_of(pairs), options_of(moves=moves, **options)), Counter()
    for number in range(1, 12_000 if moves == "tree" else 6_000):
        sampler.sweep(number)
        sampler.resample(number)
        if moves != "tree" or number % 2:
            found[corpus.state_of(sampler)] += 1
    distance, noise = corpus.distance(found)
    assert distance < (1.8 if moves == "tree" else 1.4) * noise
    fixed = sampled_states(corpus, forests_of(pairs), 6_000, discount=0.5, **options)
    assert corpus.distance(fixed)[0] > 2 * noise


@settings(max_examples=60, deadline=None)
@given(
    st.lists(linked_lengths(), min_size=1, max_size=3),
    st.sampled_from(MOVES),
    st.sampled_from(TABLES),
    st.booleans(),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_counts_are_those_of_the_trees_after_each_sweep(pairs, moves, tables, corrected, max_cut, informed, shards):
    """Rules are read off the trees, which are trees of the forests; their words are those of both sentences."""
    pairs = [texts(*pair) for pair in pairs]
    trees = [PairTrees(pair, max_cut) for pair in pairs]
    options = SamplerOptions(moves=moves, tables=tables, corrected=corrected, informed=informed)
    sampler = TreeSampler(forests_of(pairs, max_cut), options)
    for number in range(1, 6):
        if shards and tables == "power" and moves != "type":
            sampler.sweep_in_shards(number, range(len(pairs) + 1), map, number)
        else:
            sampler.sweep(number, number)
        sampler.adapt()
        arrays, expected, at = sampler.arrays() | sampler.checkpoint(), Counter(), 0
        for pair, tree in zip(pairs, trees, strict=True):
            end = at + len(tree.edges)
            rules = tree.rules(tree.read(arrays["edge"][at:end], arrays["cut"][at:end]))
            expected.update(rules)
            at = end
            for side in (0, 1):
                words = Counter(symbol for rule in rules for symbol in rule[side] if isinstance(symbol, str))
                assert words == Counter(pair[side].split())
        found = dict(zip(rules_of(arrays), arrays["count"].tolist(), strict=True))
        assert {rule: n for rule, n in found.items() if n} == expected
        tokens, sizes = np.zeros_like(arrays["length.tokens"]), np.zeros_like(arrays["length.tables"])
        seated = np.bincount(arrays["seats"][:, 0], arrays["seats"][:, 2], len(found)) if tables == "exact" else None
        for k, (rule, n) in enumerate(found.items()):
            length = length_of(rule)
            tokens[length] += n
            sizes[length] += seated[k] if tables == "exact" else n**0.5 if n else 0
        assert (tokens == arrays["length.tokens"]).all()
        assert sizes == pytest.approx(arrays["length.tables"], abs=1e-9)


@pytest.mark.parametrize("moves", MOVES)
def test_names_of_words_are_nothing_to_a_chain(moves):
    renamed = [tuple(side.translate(str.maketrans("abcdpqrs", "dcbasrqp")) for side in pair[:2]) for pair in PAIRS]
    runs = []
    for texts_ in ([pair[:2] for pair in PAIRS], renamed):
        pairs = [(*text, pair[2]) for text, pair in zip(texts_, PAIRS, strict=True)]
        sampler = TreeSampler(forests_of(pairs), SamplerOptions(moves=moves))
        for number in range(1, 30):
            sampler.sweep(number)
        runs.append([array.tolist() for array in sampler.trees().values()] + [sampler.state()])
    assert runs[0] == runs[1]


@pytest.mark.parametrize("moves", ["local", "tree", "blocked"])
def test_a_single_shard_is_a_sweep(moves):
    """All counts and trees are the same; rules may have other numbers."""
    samplers = [TreeSampler(forests_of(PAIRS), SamplerOptions(moves=moves, corrected=True)) for _ in range(2)]
    for number in range(1, 30):
        samplers[0].sweep(number)
        samplers[1].sweep_in_shards(number, [0, 2], map)
        one, other = (sampler.trees() for sampler in samplers)
        assert (one["edge"] == other["edge"]).all() and (one["cut"] == other["cut"]).all()
    assert samplers[0].state().tokens == samplers[1].state().tokens
    assert samplers[0].state().log_joint == pytest.approx(samplers[1].state().log_joint)
    with pytest.raises(ValueError, match="cannot be sampled in shards"):
        TreeSampler(forests_of(PAIRS), SamplerOptions(tables="exact")).sweep_in_shards(1, [0, 1, 2], map)


def test_shards_see_the_changes_of_others_after_the_sweep():
    """Two pairs of the same words share rules: in shards their distribution is near the exact one, not equal."""
    pairs = [("a b c", "p q r", "0-0 1-1 2-2")] * 2
    corpus, sampler, found = CorpusTrees(pairs, "py"), TreeSampler(forests_of(pairs), options_of()), Counter()
    for number in range(1, 10_000):
        sampler.sweep_in_shards(number, [0, 1, 2], map)
        found[corpus.state_of(sampler)] += 1
    distance, noise = corpus.distance(found)
    assert noise < distance < 4 * noise
