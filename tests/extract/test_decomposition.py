"""Phrase-decomposition forests against the definition, by trying all edges of small alignments."""

import itertools
from functools import cache

import numpy as np
import pytest
from helpers import save_model
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import linked_lengths, n_derivations, texts, tight_phrase_pairs

from lscfg.errors import InputError
from lscfg.extract.decomposition import REST, decompose
from lscfg.extract.derive import derive
from lscfg.grammar.table import RuleTable
from lscfg.kernel import (
    BRACKETINGS,
    PAPER_FEATURES,
    Binding,
    DeriveOptions,
    Deriver,
    FeatureOptions,
    Grammar,
    Inference,
    Model,
)


def span_of(made, node):
    return (*made.forest.node_span[node].tolist(), *made.forest.node_tgt[node].tolist())


def edges_by_definition(n, m, links):
    """Minimal edges of each phrase pair: sets of disjoint phrases inside it that no other such set covers."""
    phrases = tight_phrase_pairs(n, m, links)
    root = (0, n, 0, m)
    found = {}
    for head in phrases | {root}:
        if head[:2] == root[:2] and head != root:
            continue  # the root takes its place: target words without links at the ends
        inside = sorted(p for p in phrases if head[0] <= p[0] and p[1] <= head[1] and p[:2] != head[:2])
        choices = list(antichains(inside))
        found[head] = {
            tails for tails in choices if not any(other != tails and covers(other, tails) for other in choices)
        }
    return found


def antichains(phrases):
    """All sets of disjoint phrases, of a sorted list, as sorted tuples."""
    yield ()
    for k, first in enumerate(phrases):
        for rest in antichains([p for p in phrases[k + 1 :] if p[0] >= first[1]]):
            yield (first, *rest)


def covers(big, small):
    return all(any(b[0] <= s[0] and s[1] <= b[1] for b in big) for s in small)


@settings(max_examples=300, deadline=None)
@given(linked_lengths())
def test_nodes_edges_and_number_of_derivations_are_those_of_the_definition(pair):
    made = decompose(*texts(*pair))
    expected = edges_by_definition(*pair)
    found = {}
    for node in made.nodes():
        found[span_of(made, node)] = {tuple(span_of(made, t) for t in edge.tails) for edge in made.edges(node)}
        assert len(found[span_of(made, node)]) == len(list(made.edges(node)))
    assert found == expected

    @cache
    def count(head):
        return sum(int(np.prod([count(tail) for tail in tails], dtype=object)) for tails in expected[head])

    assert n_derivations(made) == count((0, pair[0], 0, pair[1]))


@settings(max_examples=300, deadline=None)
@given(linked_lengths(9))
def test_lemma_2_several_edges_are_binary_splits(pair):
    _, _, links = pair
    made = decompose(*texts(*pair))
    for node in made.nodes():
        edges = list(made.edges(node))
        if len(edges) == 1:
            continue
        i, j = made.forest.node_span[node].tolist()
        for edge in edges:
            left, right = (made.forest.node_span[tail].tolist() for tail in edge.tails)
            inside = {s for s, _ in links if i <= s < j}
            assert {s for s in inside if left[0] <= s < left[1] or right[0] <= s < right[1]} == inside


@settings(max_examples=300, deadline=None)
@given(linked_lengths(9))
def test_lemma_3_all_derivations_have_the_same_length(pair):
    made = decompose(*texts(*pair))
    lengths = {}
    for node in made.nodes():
        lengths[node] = {
            1 + sum(choice)
            for edge in made.edges(node)
            for choice in itertools.product(*(lengths[tail] for tail in edge.tails))
        }
        assert lengths[node] == {made.levels()[node]}


@settings(max_examples=300, deadline=None)
@given(linked_lengths(9), st.sampled_from(BRACKETINGS))
def test_every_bracketing_of_the_tree_is_in_the_forest(pair, bracketing):
    line = texts(*pair)
    made = decompose(*line)
    nodes = {span_of(made, node): node for node in made.nodes()}
    tree = derive(*([text] for text in line), options=DeriveOptions(bracketing))
    for node in range(len(tree.rule)):
        tails = tuple(nodes[tuple(span)] for span in tree.span[tree.parent == node].tolist())
        rules = {edge.tails: made.rules.text(edge.rule) for edge in made.edges(nodes[tuple(tree.span[node].tolist())])}
        assert rules[tails] == tree.rules.text(int(tree.rule[node]))
    assert len(tree.rule) == made.levels()[-1]


@settings(max_examples=100, deadline=None)
@given(linked_lengths(9))
def test_order_and_chains(pair):
    forest = decompose(*texts(*pair)).forest
    assert (forest.edge_tail < forest.edge_head[:, None]).all()
    assert forest.node_cat[-1] != REST
    rest = forest.node_cat == REST
    assert ((forest.app_rule == -1) == rest[forest.edge_head[forest.app_edge]]).all()
    for node in np.nonzero(rest)[0]:
        tails = forest.edge_tail[forest.node_edges[node]]
        assert (tails >= 0).all()
        assert forest.node_span[node].tolist() == [forest.node_span[tails[0], 0], forest.node_span[tails[1], 1]]
        assert forest.node_tgt[node].tolist() == [forest.node_tgt[tails, 0].min(), forest.node_tgt[tails, 1].max()]


def test_permutation_without_phrases():
    made = decompose("a b c d", "p q r s", "0-1 1-3 2-0 3-2")
    (edge,) = made.edges(made.forest.n_nodes - 1)
    assert edge.tails == (0, 1, 2, 3)
    assert made.rules.text(edge.rule) == "[X] ||| [X,1] [X,2] [X,3] [X,4] ||| [X,3] [X,1] [X,4] [X,2]"
    assert n_derivations(made) == 1


def test_monotone_pair_has_catalan_many_derivations():
    n = 30
    made = decompose(*texts(n, n, [(i, i) for i in range(n)]))
    catalan = 1
    for k in range(n - 1):
        catalan = catalan * 2 * (2 * k + 1) // (k + 2)
    assert n_derivations(made) == catalan
    assert made.forest.n_edges == n + (n**3 - n) // 6


def test_words_without_links_belong_to_the_lowest_node():
    made = decompose("a x b", "p u q v", "0-0 2-2")
    (edge,) = made.edges(made.forest.n_nodes - 1)
    assert made.rules.text(edge.rule) == "[X] ||| [X,1] x [X,2] ||| [X,1] u [X,2] v"


def test_inference_over_a_decomposition_sums_its_derivations(tmp_path):
    """With rank 1 and all parameters 1/2, each derivation weighs 2^-length; lemma 3 makes all lengths equal."""
    made = decompose("a b c d", "p q r s", "0-0 1-1 2-3 3-2")
    grammar = Grammar()
    for word in made.rules.words:
        grammar.vocab.add(word)
    for rule in range(len(made.rules)):
        grammar.add(0, made.rules.src(rule), made.rules.tgt(rule))
    grammar.finish()
    order = np.argsort(made.rules.arity, kind="stable")
    rules: RuleTable = made.rules.select(order)
    tensors = [np.full([1] * (arity + 1), 0.5) for arity in rules.arity]
    model = Model(save_model(tmp_path / "m", rules, tensors, np.ones(1), np.zeros(1)))
    binding = Binding(model, grammar)
    inference = binding.infer(made.forest)
    expected = n_derivations(made) * 0.5 ** int(made.levels()[-1])
    assert inference.sign * np.exp(inference.log_g) == pytest.approx(expected)
    assert inference.nodes[-1] == pytest.approx(1)
    prime = decompose("a b c d", "p q r s", "0-1 1-3 2-0 3-2")
    with pytest.raises(InputError, match="not one of this grammar"):
        binding.infer(prime.forest)
    with pytest.raises(InputError, match="not one of this grammar"):
        zeros = np.zeros(prime.forest.n_apps), np.zeros(prime.forest.n_nodes)
        binding.features(prime.forest, Inference(*zeros, 1, 0.0, 0, 0.0), FeatureOptions(names=PAPER_FEATURES))


def test_forests_share_a_rule_table_with_trees_and_count_nothing():
    deriver = Deriver()
    with pytest.raises(InputError, match="cannot be merged into themselves"):
        deriver.merge(deriver)
    deriver.add("a b", "p q", "0-0 1-1")
    forest = deriver.decompose("a b", "p q", "0-0 1-1")
    assert sorted(forest.app_rule.tolist()) == [0, 1, 2]
    assert deriver.counts().rules.tolist() == [1, 1, 1]


@pytest.mark.parametrize("bad", [("", "x", ""), ("a", "|||", ""), ("a", "x", "0"), ("a", "x", "0-1")])
def test_bad_pairs_are_refused(bad):
    with pytest.raises(InputError):
        decompose(*bad)
