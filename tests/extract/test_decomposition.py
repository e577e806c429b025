"""Phrase-decomposition forests against the definition, by trying all edges of small alignments."""

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import Decomposition, linked_lengths, texts, tight_phrase_pairs

from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.kernel import (
    BRACKETINGS,
    DeriveOptions,
    Deriver,
)


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
    made = Decomposition(*texts(*pair))
    expected = edges_by_definition(*pair)
    found = {}
    spans = made.spans
    for span, edges in zip(spans, made.edges, strict=True):
        found[span] = {tuple(spans[t] for t in edge.tails) for edge in edges}
        assert len(found[span]) == len(edges)
    assert found == expected

    @cache
    def count(head):
        return sum(int(np.prod([count(tail) for tail in tails], dtype=object)) for tails in expected[head])

    assert made.derivations() == count((0, pair[0], 0, pair[1]))


@settings(max_examples=300, deadline=None)
@given(linked_lengths(9))
def test_lemma_2_several_edges_are_binary_splits(pair):
    _, _, links = pair
    made = Decomposition(*texts(*pair))
    spans = made.spans
    for (i, j, *_), edges in zip(spans, made.edges, strict=True):
        if len(edges) == 1:
            continue
        for edge in edges:
            left, right = (spans[tail] for tail in edge.tails)
            inside = {s for s, _ in links if i <= s < j}
            assert {s for s in inside if left[0] <= s < left[1] or right[0] <= s < right[1]} == inside


@settings(max_examples=300, deadline=None)
@given(linked_lengths(9))
def test_lemma_3_all_derivations_have_the_same_length(pair):
    made = Decomposition(*texts(*pair))
    lengths = []
    for edges in made.edges:
        lengths.append(
            {1 + sum(choice) for edge in edges for choice in itertools.product(*(lengths[tail] for tail in edge.tails))}
        )
    assert lengths == [{level} for level in made.levels]


@settings(max_examples=300, deadline=None)
@given(linked_lengths(9), st.sampled_from(BRACKETINGS))
def test_every_bracketing_of_the_tree_is_in_the_forest(pair, bracketing):
    line = texts(*pair)
    made = Decomposition(*line)
    nodes = {span: node for node, span in enumerate(made.spans)}
    tree = derive(*([text] for text in line), options=DeriveOptions(bracketing))
    for node in range(len(tree.rule)):
        tails = tuple(nodes[tuple(span)] for span in tree.span[tree.parent == node].tolist())
        rules = {edge.tails: made.rules.text(edge.rule) for edge in made.edges[nodes[tuple(tree.span[node].tolist())]]}
        assert rules[tails] == tree.rules.text(int(tree.rule[node]))
    assert len(tree.rule) == made.levels[-1]


def test_permutation_without_phrases():
    made = Decomposition("a b c d", "p q r s", "0-1 1-3 2-0 3-2")
    (edge,) = made.edges[-1]
    assert edge.tails == (0, 1, 2, 3)
    assert made.rules.text(edge.rule) == "[X] ||| [X,1] [X,2] [X,3] [X,4] ||| [X,3] [X,1] [X,4] [X,2]"
    assert made.derivations() == 1


def test_monotone_pair_has_catalan_many_derivations():
    n = 30
    made = Decomposition(*texts(n, n, [(i, i) for i in range(n)]))
    catalan = 1
    for k in range(n - 1):
        catalan = catalan * 2 * (2 * k + 1) // (k + 2)
    assert made.derivations() == catalan
    assert sum(map(len, made.edges)) == n + (n**3 - n) // 6


def test_words_without_links_belong_to_the_lowest_node():
    made = Decomposition("a x b", "p u q v", "0-0 2-2")
    (edge,) = made.edges[-1]
    assert made.rules.text(edge.rule) == "[X] ||| [X,1] x [X,2] ||| [X,1] u [X,2] v"


def test_forests_share_a_rule_table_with_trees_and_count_nothing():
    deriver = Deriver(forests=True)
    with pytest.raises(InputError, match="cannot be merged into themselves"):
        deriver.merge(deriver)
    deriver.add("a b", "p q", "0-0 1-1")
    assert sorted(deriver.forests().rule.tolist()) == [0, 1, 2]
    assert deriver.counts().rules.tolist() == [1, 1, 1]


@pytest.mark.parametrize("bad", [("", "x", ""), ("a", "|||", ""), ("a", "x", "0"), ("a", "x", "0-1")])
def test_bad_pairs_are_refused(bad):
    with pytest.raises(InputError):
        Decomposition(*bad)
