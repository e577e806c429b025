"""Samples of trees and rules against the exact posterior of small corpora, and what a seed promises."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sampling import ALPHA, CorpusTrees, forests_of, length_of, log_probability, sampled_states
from trees import linked_lengths, texts

from lscfg.extract.decomposition import REST, decompose
from lscfg.kernel import LineError
from lscfg.kernel.sample import PhraseForests, TreeSampler

PAIRS = [("a b c d", "p q r s", "0-0 1-1 2-2 3-3"), ("a b c", "p q r", "0-0 1-2 2-1")]
REPEATED = [("a a a a", "p p p p", "0-0 1-1 2-2 3-3"), ("a a", "p p", "0-0 1-1")]


@pytest.mark.parametrize("model", ["py", "dp"])
@pytest.mark.parametrize(("pairs", "max_cut"), [(PAIRS, 7), (PAIRS, 2), (REPEATED, 7)])
def test_samples_have_the_exact_distribution(pairs, max_cut, model):
    corpus, forests = CorpusTrees(pairs, model, max_cut), forests_of(pairs, max_cut)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 80_000, every=4, model=model))
    assert distance < 1.2 * noise


@pytest.mark.parametrize(("pairs", "max_cut"), [(PAIRS, 7), (PAIRS, 2), (REPEATED, 7)])
def test_whole_trees_have_the_exact_distribution_too(pairs, max_cut):
    """They are refused often, so that fewer of them count: the noise is that of independent draws."""
    corpus, forests = CorpusTrees(pairs, "py", max_cut), forests_of(pairs, max_cut)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 400_000, every=20, moves="tree"))
    assert distance < 1.4 * noise


def test_whole_trees_leave_higher_nodes_alone():
    sampler = TreeSampler(forests_of(PAIRS), moves="tree")
    before = sampler.trees()
    for number in range(1, 200):
        sampler.sweep(number, max_level=1)
    assert (before["edge"] == sampler.trees()["edge"]).all() and sampler.state().edges_moved > 0


def test_a_temperature_flattens_the_distribution():
    corpus, forests = CorpusTrees(PAIRS[1:], "py", temperature=2.0), forests_of(PAIRS[1:])
    distance, noise = corpus.distance(sampled_states(corpus, forests, 40_000, temperature=2.0))
    assert distance < 1.5 * noise
    distance, noise = corpus.distance(sampled_states(corpus, forests, 40_000))
    assert distance > 10 * noise


@pytest.mark.parametrize(("pairs", "max_cut"), [(PAIRS, 7), (PAIRS, 2), (REPEATED, 7)])
def test_a_rule_counts_once_however_many_derivations_it_has(pairs, max_cut):
    corpus, forests = CorpusTrees(pairs, "py", max_cut, corrected=True), forests_of(pairs, max_cut)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 80_000, every=4, corrected=True))
    assert distance < 1.2 * noise
    if max_cut > 2:
        distance, noise = corpus.distance(sampled_states(corpus, forests, 80_000, every=4))
        assert distance > 1.7 * noise


@settings(max_examples=60, deadline=None)
@given(linked_lengths(), st.integers(1, 9))
def test_the_derivations_of_rules_are_those_of_all_trees(pair, max_cut):
    """The corrected joint probability is the plain one by the number of trees with the same cut nodes."""
    pair = texts(*pair)
    forests = forests_of([pair], max_cut)
    assume(forests.sizes().nodes <= 10)  # all states are listed
    corpus = CorpusTrees([pair], "py", max_cut)
    plain, corrected = (TreeSampler(forests, discount=0, corrected=corrected) for corrected in (False, True))
    for sampler in (plain, corrected):
        for number in range(1, 4):
            sampler.sweep(number)
        (key,) = corpus.state_of(sampler)
        ways = math.log(corpus.pairs[0].derivations(key)) if sampler is corrected else 0
        assert sampler.state().log_joint == pytest.approx(corpus.logs[key,] - ways, abs=1e-8)


def test_without_the_density_factor_the_distribution_is_another_one():
    corpus, forests = CorpusTrees(PAIRS[:1], "py"), forests_of(PAIRS[:1])
    distance, noise = corpus.distance(sampled_states(corpus, forests, 80_000, density=False))
    assert distance > 2.5 * noise


@settings(max_examples=100, deadline=None)
@given(linked_lengths())
def test_forests_are_those_of_all_minimal_derivations(pair):
    made = decompose(*texts(*pair))
    forests = forests_of([texts(*pair)])
    sizes = forests.sizes()
    nodes = list(made.nodes())
    assert (sizes.pairs, sizes.nodes, sizes.edges) == (1, len(nodes), sum(len(list(made.edges(n))) for n in nodes))
    assert sizes.max_level == made.levels()[made.forest.node_cat != REST].max()


@settings(max_examples=60, deadline=None)
@given(st.lists(linked_lengths(), min_size=1, max_size=4), st.sampled_from(["py", "dp"]), st.integers(1, 9))
def test_counts_and_probability_are_those_of_the_trees(pairs, model, max_cut):
    """After sweeps: types, tokens and the log joint recomputed from the rules that are in the trees."""
    corpus = [texts(*pair) for pair in pairs]
    sampler = TreeSampler(forests_of(corpus, max_cut), model, ALPHA, 0)
    for number in range(1, 4):
        sampler.sweep(number)
    sampler.keep()
    arrays, state = sampler.arrays(), sampler.state()
    assert (arrays["kept"] == arrays["count"]).all() and (arrays["kept_short"] <= arrays["kept"]).all()
    assert state.tokens == arrays["count"].sum() and state.types == (arrays["count"] > 0).sum()
    rules = []
    for k, count in enumerate(arrays["count"].tolist()):
        begin, end = arrays["rules.offsets"][k : k + 2]
        symbols = arrays["rules.symbols"][begin:end].tolist()
        middle = arrays["rules.src_length"][k]
        sides = [[str(s) if s >= 0 else -s for s in side] for side in (symbols[:middle], symbols[middle:])]
        gaps = iter(range(1, len(symbols)))
        sides[0] = [next(gaps) if isinstance(s, int) else s for s in sides[0]]
        rules += count * [tuple(map(tuple, sides))]
    types = [len({word for pair in corpus for word in pair[side].split()}) for side in (0, 1)]
    assert state.log_joint == pytest.approx(log_probability(rules, model, ALPHA, types), abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(linked_lengths())
def test_rules_of_a_tree_fill_both_sentences(pair):
    source, target, links = texts(*pair)
    sampler = TreeSampler(forests_of([(source, target, links)]))
    sampler.sweep(1)
    sampler.keep()
    arrays = sampler.arrays()
    words = [0, 0]
    for k, count in enumerate(arrays["count"].tolist()):
        begin, end = arrays["rules.offsets"][k : k + 2]
        is_word = arrays["rules.symbols"][begin:end] >= 0
        middle = arrays["rules.src_length"][k]
        words[0] += count * int(is_word[:middle].sum())
        words[1] += count * int(is_word[middle:].sum())
    assert words == [len(source.split()), len(target.split())]


def test_places_are_those_of_the_rules():
    sampler = TreeSampler(forests_of([("a b", "p q", "0-0 1-1"), ("c", "r", "0-0")]), places=True)
    sampler.keep()
    arrays = sampler.arrays()
    found = {tuple(place[1:]) for place in arrays["places"].tolist()}
    none = (-1, -1)
    assert found == {(0, 0, 2, 0, 1, 1, 2), (0, 0, 1, *none, *none), (0, 1, 2, *none, *none), (1, 0, 1, *none, *none)}
    assert np.array_equal(np.bincount(arrays["places"][:, 0]), arrays["kept"])


def test_short_rules_have_few_words_and_a_link():
    """The rule of bare nonterminals has no word; the root is longer than three words."""
    pair = ("a b c d", "p q r s", "0-0 1-1 2-2 3-3")
    sampler = TreeSampler(forests_of([pair], max_cut=1), max_phrase=3)
    sampler.keep()
    arrays = sampler.arrays()
    is_word = np.diff(arrays["rules.offsets"]) == 2
    assert arrays["kept"].sum() == 7 and arrays["kept_short"].tolist() == np.where(is_word, arrays["kept"], 0).tolist()


def test_a_seed_gives_the_same_chain_and_another_one_does_not():
    def run(**options):
        sampler = TreeSampler(forests_of(PAIRS), **options)
        seen = []
        for number in range(1, 30):
            sampler.sweep(number)
            seen.append((sampler.trees()["edge"].tolist(), sampler.trees()["cut"].tolist(), sampler.state()))
        return seen

    assert run(seed=7) == run(seed=7)
    assert run(seed=7) != run(seed=8) and run(seed=7) != run(seed=7, chain=1)


def test_a_level_leaves_higher_nodes_alone():
    sampler = TreeSampler(forests_of(PAIRS))
    before = sampler.trees()
    for number in range(1, 20):
        sampler.sweep(number, max_level=1)
    after = sampler.trees()
    assert (before["edge"] == after["edge"]).all()
    assert sampler.state().edges_drawn == 0 and sampler.state().cuts_moved > 0


@pytest.mark.parametrize(
    ("rule", "length"),
    [((("a", "b"), ("p",)), 3), (((1, 2), (2, 1)), 3), ((("a", 1, "b"), (1, "p")), 3), (((1,), (1, "p")), 3)],
)
def test_the_length_of_a_rule_is_its_words_and_its_scope(rule, length):
    assert length_of(rule) == length


def test_pairs_without_links_and_long_ones():
    forests = PhraseForests(max_words=3)
    forests.add("a b", "p", "")
    forests.add("a b c d", "p", "0-0")
    forests.add("a", "p", "0-0")
    sizes = forests.sizes()
    assert (sizes.pairs, sizes.nodes, sizes.bare, sizes.dropped) == (3, 2, 2, {"too long": 1})
    sampler = TreeSampler(forests)
    sampler.sweep(1)
    assert sampler.state().tokens == 2


@pytest.mark.parametrize("pair", [("", "p", ""), ("a", "p", "0-1"), ("a", "p", "x"), ("[X]", "p", "0-0")])
def test_bad_pairs_are_refused_or_dropped(pair):
    with pytest.raises(LineError):
        PhraseForests().add(*pair)
    forests = PhraseForests(drop=True)
    forests.add(*pair)
    assert forests.sizes().pairs == 1 and sum(forests.sizes().dropped.values()) == 1
    assert TreeSampler(forests).state().tokens == 0


@pytest.mark.parametrize("options", [{"alpha": 0}, {"discount": 1}, {"mean_length": 0}, {"chain": 4096}, {"seed": -1}])
def test_settings_out_of_range(options):
    with pytest.raises(ValueError, match="out of range"):
        TreeSampler(forests_of(PAIRS), **options)
    with pytest.raises(ValueError, match="out of range"):
        TreeSampler(forests_of(PAIRS)).sweep(0)
