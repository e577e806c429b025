"""Minimal derivation trees: properties on random alignments, and another program's trees on real text."""

import json
from itertools import pairwise

import numpy as np
import pytest
from helpers import node_children, reduced_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.derive import Derivations, derive
from lscfg.errors import InputError


def expand(derivations: Derivations, below: dict[int, list[int]], node: int) -> tuple[list[str], list[str]]:
    """Source and target yield of a node."""
    rules, rule = derivations.rules, int(derivations.rule[node])
    yields = [expand(derivations, below, child) for child in below[node]]
    src, next_child = [], 0
    for symbol in rules.src(rule).tolist():
        if symbol < 0:
            src += yields[next_child][0]
            next_child += 1
        else:
            src.append(rules.words[symbol])
    tgt = []
    for symbol in rules.tgt(rule).tolist():
        tgt += yields[-1 - symbol][1] if symbol < 0 else [rules.words[symbol]]
    assert next_child == len(yields) == rules.arity[rule]
    return src, tgt


@st.composite
def aligned_pairs(draw):
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=10))
    return [f"f{i}" for i in range(n)], [f"e{j}" for j in range(m)], sorted(links)


def tight_phrase_pairs(n, m, links):
    """(i, j, k, l) of all phrase pairs whose border words have links, by trying all spans."""
    found = set()
    for i in range(n):
        for j in range(i + 1, n + 1):
            inside = [t for s, t in links if i <= s < j]
            if not inside:
                continue
            k, last = min(inside), max(inside) + 1
            back = [s for s, t in links if k <= t < last]
            if min(back) >= i and max(back) < j and {i, j - 1} <= set(back):
                found.add((i, j, k, last))
    return found


def crosses(a, b):
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


@settings(max_examples=400, deadline=None)
@given(aligned_pairs())
def test_properties_of_random_alignments(pair):
    src, tgt, links = pair
    derivations = derive([" ".join(src)], [" ".join(tgt)], [" ".join(f"{i}-{j}" for i, j in links)])
    below = node_children(derivations, 0)
    assert expand(derivations, below, 0) == (src, tgt)
    phrases = tight_phrase_pairs(len(src), len(tgt), links)
    spans = [tuple(span) for span in derivations.span.tolist()]
    assert spans[0] == (0, len(src), 0, len(tgt))
    assert set(spans[1:]) <= phrases
    # nothing can be decomposed further: a phrase pair that is no node crosses one that is, or is the root
    root = max(phrases, key=lambda p: p[1] - p[0], default=None)
    for phrase in phrases - set(spans[1:]):
        assert phrase == root or any(crosses(phrase, span) for span in spans)


@settings(max_examples=200, deadline=None)
@given(aligned_pairs())
def test_sequences_are_bracketed_to_the_left(pair):
    src, tgt, links = pair
    derivations = derive([" ".join(src)], [" ".join(tgt)], [" ".join(f"{i}-{j}" for i, j in links)])
    below = node_children(derivations, 0)
    span = derivations.span
    borders = {phrase[:2] for phrase in tight_phrase_pairs(len(src), len(tgt), links)}
    for kids in below.values():
        for left, right in pairwise(kids):
            for part in below[right][:1]:
                # were (left, part) a phrase pair, then it would be a node
                if span[part, 0] == span[right, 0]:
                    assert (span[left, 0], span[part, 1]) not in borders


def test_words_without_links_stay():
    derivations = derive(["a x b y"], ["p q r s"], ["0-1 2-2"])
    rules = [derivations.rules.text(int(r)) for r in derivations.rule]
    assert rules == [
        "[X] ||| [X,1] y ||| p [X,1] s",
        "[X] ||| [X,1] x [X,2] ||| [X,1] [X,2]",
        "[X] ||| a ||| q",
        "[X] ||| b ||| r",
    ]


def test_target_words_at_the_ends_stay_with_the_whole_phrase():
    derivations = derive(["a b"], ["p q r s"], ["0-2 1-1"])
    rules = [derivations.rules.text(int(r)) for r in derivations.rule]
    assert rules == ["[X] ||| [X,1] [X,2] ||| p [X,2] [X,1] s", "[X] ||| a ||| r", "[X] ||| b ||| q"]


def test_no_links_at_all_is_one_rule():
    derivations = derive(["a b"], ["c"], [""])
    assert [derivations.rules.text(int(r)) for r in derivations.rule] == ["[X] ||| a b ||| c"]


def test_lexicon_counts_links_and_words_without():
    derivations = derive(["a b", "a"], ["x y", "x"], ["0-0", "0-0"])
    words = derivations.rules.words
    names = [tuple(words[w] if w >= 0 else None for w in pair) for pair in derivations.lexicon.tolist()]
    pairs = dict(zip(names, derivations.lexicon_count.tolist(), strict=True))
    assert pairs == {("a", "x"): 2, ("b", None): 1, (None, "y"): 1}


def test_long_sentence_in_a_moment():
    n = 2000
    line = " ".join(f"w{i}" for i in range(n))
    for links in (" ".join(f"{i}-{i}" for i in range(n)), " ".join(f"{i}-{n - 1 - i}" for i in range(n))):
        derivations = derive([line], [line], [links])
        assert len(derivations.rule) == 2 * n - 1


@pytest.mark.parametrize("links", ["0", "0-", "-0", "a-b", "0-0-0", "0-0,1-1", "0-5", "3-0", "99999999999999999999-0"])
def test_bad_links_name_file_and_line(links):
    with pytest.raises(InputError, match="al:2: "):
        derive(["a b c", "a b c"], ["a b", "a b"], ["0-0", links], "al")


def test_saved_derivations_come_back(tmp_path):
    made = derive(["a é 日"], ["x y"], ["0-1 1-0 2-0"])
    made.save(tmp_path / "d")
    back = Derivations.load(tmp_path / "d")
    assert back.rules.words == made.rules.words
    for name in ("trees", "rule", "parent", "slot", "span", "lexicon", "lexicon_count"):
        assert np.array_equal(getattr(made, name), getattr(back, name))
    made.save(tmp_path / "again")
    assert (tmp_path / "d").read_bytes() == (tmp_path / "again").read_bytes()


def test_cut_derivation_file_is_refused(tmp_path):
    derive(["a"], ["b"], ["0-0"]).save(tmp_path / "d")
    data = (tmp_path / "d").read_bytes()
    for size in (0, 5, 40, len(data) - 1):
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(InputError, match="cut"):
            Derivations.load(tmp_path / "cut")


def test_reference_trees(shared):
    """300 real pairs: the same trees as another program's, which drops unaligned target and final source words."""
    with open(shared / "oracle" / "minimal_derivations.jsonl") as file:
        pairs = [json.loads(line) for line in file]
    assert len(pairs) == 300
    made = derive([p["src"] for p in pairs], [p["tgt"] for p in pairs], [p["align"] for p in pairs])
    for number, pair in enumerate(pairs):
        links = [tuple(map(int, link.split("-"))) for link in pair["align"].split()]
        below = node_children(made, number)
        kept_src, kept_tgt = max(i for i, _ in links), {j for _, j in links}
        tree = reduced_tree(made, below, min(below), kept_src, kept_tgt)
        while tree["rule"] == "[X] ||| [X,1] ||| [X,1]":  # a root that held nothing but such words
            tree = tree["children"][0]
        assert tree == plain(pair["tree"])


def plain(tree):
    return {"rule": tree["rule"], "children": [plain(child) for child in tree["children"]]}
