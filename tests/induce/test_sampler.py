"""Samples of trees and rules against the exact posterior of small corpora, and what a seed promises."""

import math
from collections import Counter, defaultdict
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sampling import (
    ALPHA,
    MEAN_LENGTH,
    CorpusTrees,
    PairTrees,
    forests_of,
    length_of,
    log_probability,
    options_of,
    poisson,
    rules_of,
    sampled_states,
    states_of,
    trees_of,
)
from trees import Decomposition, linked_lengths, texts

from lscfg.kernel import LineError
from lscfg.kernel.sample import MOVES, PhraseForests, SamplerOptions, TreeSampler

PAIRS = [("a b c d", "p q r s", "0-0 1-1 2-2 3-3"), ("a b c", "p q r", "0-0 1-2 2-1")]
REPEATED = [("a a a a", "p p p p", "0-0 1-1 2-2 3-3"), ("a a", "p p", "0-0 1-1")]


@pytest.mark.parametrize("model", ["py", "dp"])
@pytest.mark.parametrize(("pairs", "max_cut"), [(PAIRS, 7), (PAIRS, 2), (REPEATED, 7)])
def test_samples_have_the_exact_distribution(pairs, max_cut, model):
    corpus, forests = trees_of((*pairs,), model, max_cut, False), forests_of(pairs, max_cut)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 24_000, every=2, model=model))
    assert distance < 1.2 * noise


COPIES = [("a b", "p q", "0-0 1-1")] * 4


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize(("alpha", "discount"), [(5, 0.5), (0.1, 0.8)])
def test_seated_tokens_have_the_exact_distribution(alpha, discount, moves):
    """That of Pitman-Yor processes, summed over all seatings of the tokens."""
    corpus, forests = CorpusTrees(COPIES, "py", seated=(alpha, discount)), forests_of(COPIES)
    options = {"alpha": alpha, "discount": discount, "moves": moves}
    distance, noise = corpus.distance(sampled_states(corpus, forests, 20_000, every=4, tables="exact", **options))
    assert distance < (1.6 if moves == "tree" else 1.3) * noise


def test_tables_that_are_powers_are_not_those_of_the_process():
    corpus, forests = CorpusTrees(COPIES, "py", seated=(0.1, 0.8)), forests_of(COPIES)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 10_000, alpha=0.1, discount=0.8))
    assert distance > 3 * noise


def log_of_seats(tokens, alpha, discount):
    """Of tokens (length, table) that come one after the other, each to its table."""
    total, size, of_length = 0.0, Counter(), defaultdict(lambda: [0, 0])
    for length, table in tokens:
        n, tables = of_length[length]
        share = size[table] - discount if size[table] else (alpha + discount * tables) * math.exp(poisson(length))
        total += poisson(length) + math.log(share / (n + alpha))
        of_length[length] = [n + 1, tables + (not size[table])]
        size[table] += 1
    return total


@pytest.mark.parametrize("seed", range(3))
def test_seated_tokens_may_come_in_any_order(seed):
    """The joint probability is the product over tokens in whatever order; tables of tokens are those of the counts."""
    sampler = TreeSampler(forests_of(PAIRS + REPEATED), SamplerOptions(tables="exact", corrected=True, seed=seed))
    for number in range(1, 10):
        sampler.sweep(number)
    arrays, table, tokens = sampler.checkpoint(), 0, []
    assert (
        np.bincount(arrays["seats"][:, 0], np.prod(arrays["seats"][:, 1:], axis=1), len(arrays["count"]))
        == arrays["count"]
    ).all()
    assert arrays["length.tables"].sum() == arrays["seats"][:, 2].sum()
    for rule, size, tables in arrays["seats"].tolist():
        begin, middle, end = (
            arrays["rules.offsets"][rule],
            arrays["rules.src_length"][rule],
            arrays["rules.offsets"][rule + 1],
        )
        symbols = [str(s) if s >= 0 else 1 for s in arrays["rules.symbols"][begin:end].tolist()]
        length = length_of((tuple(symbols[:middle]), tuple(symbols[middle:])))
        for _ in range(tables):
            tokens += size * [(length, table)]
            table += 1
    for _ in range(5):
        Random(seed).shuffle(tokens)
        log = log_of_seats(tokens, 5.0, 0.5) - arrays["log_ways"][0]
        assert sampler.state().log_joint == pytest.approx(log, abs=1e-9)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize(("pairs", "max_cut"), [(PAIRS, 7), (PAIRS, 2), (REPEATED, 7)])
def test_trees_by_inside_sums_have_the_exact_distribution(pairs, max_cut, corrected):
    corpus, forests = trees_of((*pairs,), "py", max_cut, corrected), forests_of(pairs, max_cut)
    options = {"moves": "blocked", "corrected": corrected}
    distance, noise = corpus.distance(sampled_states(corpus, forests, 20_000, **options))
    assert distance < 1.2 * noise


@pytest.mark.parametrize(
    ("pairs", "options"),
    [
        (REPEATED + REPEATED[1:], {}),
        (REPEATED + REPEATED[1:], {"corrected": True}),
        ([*COPIES, ("b a", "q p", "0-0 1-1")], {"model": "dp"}),
    ],
)
def test_cuts_by_type_have_the_exact_distribution(pairs, options):
    corpus = trees_of((*pairs,), options.get("model", "py"), 7, options.get("corrected", False))
    sampler = TreeSampler(forests_of(pairs), options_of(moves="type", **options))
    distance, noise = corpus.distance(states_of(corpus, sampler, 12_000))
    assert distance < 1.2 * noise
    assert sampler.state().types_moved > 12_000


def test_only_cuts_of_several_nodes_are_drawn_by_type():
    pair = ("a b c", "p q r", "0-0 1-1 2-2")
    for pairs in ([pair], [pair] * 2):
        sampler = TreeSampler(forests_of(pairs), SamplerOptions(moves="type"))
        for number in range(1, 11):
            sampler.sweep(number)
        state = sampler.state()
        assert state.cuts_drawn > 0 and (state.types_drawn > 0) == (len(pairs) > 1)


@pytest.mark.parametrize("corrected", [False, True])
def test_inside_sums_leave_higher_nodes_alone(corrected):
    """Below them the distribution is that of all states in which they are as they are."""
    pairs = [("a b c d", "p q s r", "0-0 1-1 2-3 3-2")]
    corpus = CorpusTrees(pairs, "py", corrected=corrected)
    sampler = TreeSampler(forests_of(pairs), options_of(moves="blocked", corrected=corrected, seed=3))
    (begin,) = corpus.state_of(sampler)
    found = states_of(corpus, sampler, 4_000, max_level=3)
    high = {node for node, _, _ in begin if corpus.pairs[0].level(node) > 3}
    corpus.condition(lambda states: {e for e in states[0] if e[0] in high} == {e for e in begin if e[0] in high})
    assert high and len(found) > 1
    distance, noise = corpus.distance(found)
    assert distance < 1.3 * noise


@pytest.mark.parametrize(("pairs", "max_cut"), [(PAIRS, 7), (PAIRS, 2), (REPEATED, 7)])
def test_whole_trees_have_the_exact_distribution_too(pairs, max_cut):
    """They are refused often, so that fewer of them count: the noise is that of independent draws."""
    corpus, forests = trees_of((*pairs,), "py", max_cut, False), forests_of(pairs, max_cut)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 80_000, every=16, moves="tree"))
    assert distance < 1.4 * noise


def test_whole_trees_leave_higher_nodes_alone():
    sampler = TreeSampler(forests_of(PAIRS), SamplerOptions(moves="tree"))
    before = sampler.trees()
    for number in range(1, 200):
        sampler.sweep(number, max_level=1)
    assert (before["edge"] == sampler.trees()["edge"]).all() and sampler.state().trees_moved > 0


@pytest.mark.parametrize("corrected", [False, True])
def test_held_out_pairs_have_the_probability_of_all_their_states(corrected):
    held = [("a b c", "p r q", "0-0 1-2 2-1"), REPEATED[1], ("x", "p", "0-0")]
    sampler = TreeSampler(forests_of(PAIRS + held), options_of(corrected=corrected, held_out=3))
    for number in range(1, 6):
        sampler.sweep(number)
    arrays = sampler.arrays()
    counts = dict(zip(rules_of(arrays), arrays["count"].tolist(), strict=True))
    of_length = Counter()
    for rule, n in counts.items():
        of_length[length_of(rule)] += n
    expected = 0.0
    for pair in held:
        trees, total = PairTrees(pair, 7), 0.0
        for key, rules in trees.states.items():
            product = 1.0
            for rule in rules:
                length = length_of(rule)
                base = math.exp(poisson(length))
                product *= base * (counts.get(rule, 0) + ALPHA * base) / (of_length[length] + ALPHA)
            total += product / (trees.derivations(key) if corrected else 1)
        expected += math.log(total)
    assert sampler.held_out() == (pytest.approx(expected, abs=1e-9), 3 + 2 + 1, 0)
    assert arrays["count"].sum() == sampler.state().tokens and sampler.trees()["cut"][-1] == 0


def test_a_temperature_flattens_the_distribution():
    corpus, forests = CorpusTrees(PAIRS[1:], "py", temperature=2.0), forests_of(PAIRS[1:])
    distance, noise = corpus.distance(sampled_states(corpus, forests, 16_000, temperature=2.0))
    assert distance < 1.5 * noise
    distance, noise = corpus.distance(sampled_states(corpus, forests, 16_000))
    assert distance > 6 * noise


@pytest.mark.parametrize("start", ["minimal", "whole"])
def test_variables_outside_trees_may_have_any_distribution(start):
    """They are cut as often as in trees of some first sweeps, and edges with more below them are drawn more often."""
    corpus, forests = trees_of((*PAIRS,), "py", 7, False), forests_of(PAIRS)
    sampler = TreeSampler(forests, options_of(informed=True, start=start))
    begin = sampler.trees()
    assert begin["cut"].sum() == (2 if start == "whole" else len(begin["cut"]))
    for number in range(1, 50):
        sampler.sweep(number)
        sampler.adapt()
    assert (sampler.checkpoint()["cut_rates"][1:4] != 0.5).any()
    distance, noise = corpus.distance(states_of(corpus, sampler, 30_000, every=3))
    assert distance < 1.2 * noise


BASED = [("a b c", "p q r", "0-0 1-2 2-2"), ("a b", "p q", "0-0 1-1"), ("c", "p", "0-0")]


def geometric(length):
    return length * math.log(MEAN_LENGTH / (1 + MEAN_LENGTH)) - math.log(1 + MEAN_LENGTH)


def lexical(rule):
    """By counting links by hand: of the geometric mean over both directions."""
    links = Counter({("a", "p"): 2, ("b", "r"): 1, ("c", "r"): 1, (None, "q"): 1, ("b", "q"): 1, ("c", "p"): 1})
    of = [Counter(), Counter()]
    for pair, n in links.items():
        for side in (0, 1):
            of[side][pair[side]] += n
    total = 0.0
    for side in (0, 1):
        ours, others = ([s for s in rule[k] if isinstance(s, str)] for k in (side, 1 - side))
        for word in ours:
            pairs = [(word, other) if side == 0 else (other, word) for other in (None, *others)]
            mean = sum(links[p] / of[1 - side][p[1 - side]] if of[1 - side][p[1 - side]] else 0 for p in pairs) / len(
                pairs
            )
            total += math.log(of[side][word] / sum(links.values()) * mean)
    return total / 2


@pytest.mark.parametrize(
    ("length", "base", "logs"),
    [
        ("geometric", "length", (geometric, lambda rule: geometric(length_of(rule)))),
        ("none", "uniform", (lambda _: 0.0, lambda rule: -len(rule[0] + rule[1]) * math.log(3))),
        ("poisson", "lexical", (poisson, lexical)),
    ],
)
def test_lengths_and_bases_have_the_exact_distribution(length, base, logs):
    corpus, forests = CorpusTrees(BASED, "py", bases=logs), forests_of(BASED)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 16_000, every=2, length=length, base=base))
    assert distance < 1.2 * noise


def mean_of(log_density, grid):
    """Of the first coordinate, on a grid."""
    logs = log_density(*grid)
    weight = np.exp(logs - logs.max())
    return float((weight * grid[0]).sum() / weight.sum())


@pytest.mark.parametrize("length", ["poisson", "geometric"])
def test_processes_and_mean_length_have_their_distribution_given_the_seats(length):
    """Means over many draws beside numerical integration; of lengths without a rule, means of the priors."""
    sampler = TreeSampler(forests_of(PAIRS + REPEATED), SamplerOptions(tables="exact", length=length, start="minimal"))
    arrays = sampler.arrays() | sampler.checkpoint()
    lengths = np.array([length_of(rule) for rule in rules_of(arrays)])
    drawn = []
    for number in range(1, 4001):
        sampler.resample(number)
        after = sampler.checkpoint()
        drawn.append([after["length.alpha"][[2, 9]], after["length.discount"][[2, 9]], after["mean_length"].repeat(2)])
    found = np.mean(drawn, axis=0)
    sizes = [size for rule, size, tables in arrays["seats"].tolist() for _ in range(tables) if lengths[rule] == 2]

    def log_seats(alpha, discount):
        tables, rising = np.arange(len(sizes)), np.zeros(())
        rising = np.log(alpha + tables.reshape(-1, *[1] * alpha.ndim) * discount).sum(axis=0)
        rising = rising - np.log(alpha + np.arange(sum(sizes)).reshape(-1, *[1] * alpha.ndim)).sum(axis=0)
        return rising - alpha + sum(np.log(k - discount) for size in sizes for k in range(1, size))

    alpha, discount = np.meshgrid(np.linspace(0.005, 12, 600), np.linspace(0.005, 0.995, 100))
    assert found[:2, 0] == pytest.approx(
        [mean_of(log_seats, (alpha, discount)), mean_of(lambda d, a: log_seats(a, d), (discount, alpha))], rel=0.07
    )
    assert found[:2, 1] == pytest.approx([1.0, 0.5], rel=0.07)
    weights = arrays["count"] + np.bincount(arrays["seats"][:, 0], arrays["seats"][:, 2], len(lengths))
    mean = np.linspace(0.01, 12, 3000)
    of_one, of_none = (np.log(mean), mean) if length == "poisson" else (np.log(mean / (1 + mean)), np.log1p(mean))
    log_mean = np.log(mean) - mean + of_one * (weights @ lengths) - of_none * weights.sum()
    assert found[2, 0] == pytest.approx(mean_of(lambda _: log_mean, (mean,)), rel=0.02)
    with pytest.raises(LineError, match="not seated"):
        TreeSampler(forests_of(PAIRS)).resample(1)


CHOICES = [("a b c", "p q r", ("0-0 1-1 2-2", "0-0 1-1 1-2")), ("a b", "p q", ("0-0", "0-0 1-1")), ("c", "r", ("0-0",))]


@pytest.mark.parametrize("moves", MOVES)
def test_alignments_are_chosen_with_the_exact_distribution(moves):
    """All trees of a pair are those of all its alignments."""
    corpus, every = trees_of((*CHOICES,), "py", 7, False), 20 if moves == "tree" else 3
    distance, noise = corpus.distance(sampled_states(corpus, forests_of(CHOICES), 10_000 * every, every, moves=moves))
    assert distance < 1.3 * noise
    assert {key[-1][1] for states in corpus.logs for key in states[:2]} == {0, 1}


@pytest.mark.parametrize(("pairs", "max_cut"), [(PAIRS, 7), (PAIRS, 2), (REPEATED, 7)])
def test_a_rule_counts_once_however_many_derivations_it_has(pairs, max_cut):
    corpus, forests = trees_of((*pairs,), "py", max_cut, True), forests_of(pairs, max_cut)
    distance, noise = corpus.distance(sampled_states(corpus, forests, 24_000, every=2, corrected=True))
    assert distance < 1.2 * noise
    if max_cut > 2:
        distance, noise = corpus.distance(sampled_states(corpus, forests, 60_000, every=3))
        assert distance > 1.7 * noise


@settings(max_examples=60, deadline=None)
@given(linked_lengths(), st.integers(1, 9))
def test_the_derivations_of_rules_are_those_of_all_trees(pair, max_cut):
    """The corrected joint probability is the plain one by the number of trees with the same cut nodes."""
    pair = texts(*pair)
    forests = forests_of([pair], max_cut)
    assume(forests.sizes().nodes <= 10)  # all states are listed
    corpus = CorpusTrees([pair], "py", max_cut)
    plain, corrected = (
        TreeSampler(forests, SamplerOptions(discount=0, corrected=corrected)) for corrected in (False, True)
    )
    for sampler in (plain, corrected):
        for number in range(1, 4):
            sampler.sweep(number)
        (key,) = corpus.state_of(sampler)
        ways = math.log(corpus.pairs[0].derivations(key)) if sampler is corrected else 0
        assert sampler.state().log_joint == pytest.approx(corpus.logs[key,] - ways, abs=1e-8)


def test_without_the_density_factor_the_distribution_is_another_one():
    corpus, forests = CorpusTrees(PAIRS[:1], "py"), forests_of(PAIRS[:1])
    distance, noise = corpus.distance(sampled_states(corpus, forests, 60_000, density=False))
    assert distance > 2.5 * noise


@settings(max_examples=100, deadline=None)
@given(linked_lengths())
def test_forests_are_those_of_all_minimal_derivations(pair):
    made = Decomposition(*texts(*pair))
    sizes = forests_of([texts(*pair)]).sizes()
    assert (sizes.pairs, sizes.nodes, sizes.edges) == (1, len(made.span), sum(map(len, made.edges)))
    assert sizes.max_level == max(made.levels)


@settings(max_examples=60, deadline=None)
@given(st.lists(linked_lengths(), min_size=1, max_size=4), st.sampled_from(["py", "dp"]), st.integers(1, 9))
def test_counts_and_probability_are_those_of_the_trees(pairs, model, max_cut):
    """After sweeps: types, tokens and the log joint recomputed from the rules that are in the trees."""
    corpus = [texts(*pair) for pair in pairs]
    sampler = TreeSampler(forests_of(corpus, max_cut), SamplerOptions(model, ALPHA, 0))
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
    sampler = TreeSampler(forests_of([("a b", "p q", "0-0 1-1"), ("c", "r", "0-0")]), SamplerOptions(places=True))
    sampler.keep()
    arrays = sampler.arrays()
    found = {tuple(place[1:]) for place in arrays["places"].tolist()}
    none = (-1, -1)
    assert found == {(0, 0, 2, 0, 1, 1, 2), (0, 0, 1, *none, *none), (0, 1, 2, *none, *none), (1, 0, 1, *none, *none)}
    assert np.array_equal(np.bincount(arrays["places"][:, 0]), arrays["kept"])


def test_short_rules_have_few_words_and_a_link():
    """The rule of bare nonterminals has no word; the root is longer than three words."""
    pair = ("a b c d", "p q r s", "0-0 1-1 2-2 3-3")
    sampler = TreeSampler(forests_of([pair], max_cut=1), SamplerOptions(max_phrase=3))
    sampler.keep()
    arrays = sampler.arrays()
    is_word = np.diff(arrays["rules.offsets"]) == 2
    assert arrays["kept"].sum() == 7 and arrays["kept_short"].tolist() == np.where(is_word, arrays["kept"], 0).tolist()


def test_a_seed_gives_the_same_chain_and_another_one_does_not():
    def run(**options):
        sampler = TreeSampler(forests_of(PAIRS), SamplerOptions(**options))
        seen = []
        for number in range(1, 30):
            sampler.sweep(number)
            seen.append((sampler.trees()["edge"].tolist(), sampler.trees()["cut"].tolist(), sampler.state()))
        return seen

    assert run(seed=7) == run(seed=7)
    assert run(seed=7) != run(seed=8) and run(seed=7) != run(seed=7, chain=1)


@pytest.mark.parametrize("moves", ["local", "type"])
def test_a_level_leaves_higher_nodes_alone(moves):
    sampler = TreeSampler(forests_of(PAIRS), SamplerOptions(moves=moves))
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


@pytest.mark.parametrize(("source", "target"), [("a b c", "p q"), ("a", "p q"), ("a c", "p q"), ("a b", "p r")])
def test_another_alignment_has_the_same_words(source, target):
    forests = PhraseForests()
    with pytest.raises(LineError, match="there is no pair to join; add it first"):
        forests.join("a b", "p q", "0-1")
    forests.add("a b", "p q", "0-0 1-1")
    with pytest.raises(LineError, match="the pair has other words than the last one"):
        forests.join(source, target, "0-0")
    forests.join("a b", "p q", "0-1")
    assert forests.sizes().pairs == 1


@pytest.mark.parametrize("options", [{"alpha": 0}, {"discount": 1}, {"mean_length": 0}, {"chain": 4096}, {"seed": -1}])
def test_settings_out_of_range(options):
    with pytest.raises(ValueError, match="out of range"):
        TreeSampler(forests_of(PAIRS), SamplerOptions(**options))
    with pytest.raises(ValueError, match="out of range"):
        TreeSampler(forests_of(PAIRS)).sweep(0)
