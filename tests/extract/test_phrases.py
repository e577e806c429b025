"""Phrase pairs of derivations, and the grammar of them, against trees that are read by hand and by recursion."""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.phrases import PhrasePairSettings, PhraseRules, Phrases, phrase_tokens
from lscfg.io.read import read_lines

PAIRS = [
    ("a b", "A B", "0-0 1-1"),
    ("a b", "A x B", "0-0 1-2"),  # the unlinked x belongs to no phrase but the whole
    ("b p a", "A of B", "0-2 2-0"),  # one rule with both as nonterminals
    ("a", "A", "0-0"),
]


def corpus(pairs=PAIRS, **options):
    return derive(*map(list, zip(*pairs, strict=True)), **options)


def text_of(found):
    table = found.rules
    return [(table.src_text(rule), table.tgt_text(rule)) for rule in found.places[:, 0].tolist()]


def test_phrases_by_hand():
    found = phrase_tokens(corpus())
    pairs = Counter(text_of(found))
    assert pairs[("a", "A")] == 4 and pairs[("b", "B")] == 3 and pairs[("b p a", "A of B")] == 1
    assert not any("x" in target for _, target in pairs), "a rule of bare nonterminals is no phrase"
    whole = text_of(found).index(("b p a", "A of B"))
    assert found.places[whole, 1:].tolist() == [2, 0, 3, -1, -1, -1, -1]
    assert {*found.rules.arity.tolist()} == {0} and found.rules.check_distinct() is None


def nested(derivations, max_words):
    """(source, target, pair, span) of all phrases by recursion over the tree's text."""
    vocabulary, found = derivations.rules, []
    for tree in range(len(derivations)):
        first, last = derivations.trees[tree : tree + 2].tolist()

        def words(node, side, last=last):
            children = [k for k in range(node + 1, last) if derivations.parent[k] == node]
            symbols = (vocabulary.src if side == 0 else vocabulary.tgt)(int(derivations.rule[node])).tolist()
            out, met = [], 0
            for symbol in symbols:
                if symbol >= 0:
                    out.append(vocabulary.words[symbol])
                else:
                    out += words(children[met if side == 0 else -1 - symbol], side)
                    met += 1
            return out

        for node in range(first, last):
            source = vocabulary.src(int(derivations.rule[node]))
            i, j = derivations.span[node, :2].tolist()
            if (source >= 0).any() and j - i <= max_words:
                pair = tree % derivations.pairs
                found.append((" ".join(words(node, 0)), " ".join(words(node, 1)), pair, i, j))
    return found


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), max_words=st.integers(1, 6))
def test_phrases_are_the_yields_of_nodes_with_words(seed, max_words):
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(5):
        n, m = rng.integers(1, 8, 2).tolist()
        links = {(int(rng.integers(n)), int(rng.integers(m))) for _ in range(rng.integers(1, 8))}
        source, target = (" ".join(rng.choice([*letters], size)) for letters, size in (("abc", n), ("ABC", m)))
        pairs.append((source, target, " ".join(f"{i}-{j}" for i, j in sorted(links))))
    derivations = corpus(pairs)
    expected = nested(derivations, max_words)
    if not expected:
        with pytest.raises(InputError, match=f"no phrase pair of at most {max_words} source words"):
            phrase_tokens(derivations, max_words)
        return
    found = phrase_tokens(derivations, max_words)
    own = [(*text, *place) for text, place in zip(text_of(found), found.places[:, 1:4].tolist(), strict=True)]
    assert own == expected


def test_grammar(tmp_path):
    """Phrases with the features of other rules; two rules for glue with Glue and Inverse and nothing else."""
    corpus().save(tmp_path / "d")
    assert (
        main(["grammar", "phrases", str(tmp_path / "d"), "--set", "max_words=3", "-o", str(tmp_path / "g"), "--quiet"])
        == 0
    )
    lines = read_lines(tmp_path / "g")
    assert lines[-3:] == [
        "[X] ||| [X,1] [X,2] ||| [X,1] [X,2] ||| Glue=1",
        "[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| Glue=1 Inverse=1",
        "[S] ||| [X,1] ||| [1] |||",
    ]
    (line,) = (line for line in lines if line.startswith("[X] ||| a ||| A |||"))
    assert f"CountEF={math.log10(5):.5f}" in line and "EgivenF" not in line  # which is 0: -log10 of 1
    (line,) = (line for line in lines if line.startswith("[X] ||| b p a ||| A of B |||"))
    assert "IsSingletonF=1 IsSingletonFE=1" in line
    assert (
        main(["grammar", "phrases", str(tmp_path / "d"), "--set", "max_words=2", "-o", str(tmp_path / "g"), "--quiet"])
        == 0
    )
    assert not any(line.startswith("[X] ||| b p a") for line in read_lines(tmp_path / "g"))


def test_tokens_count_with_the_weights_of_their_trees():
    weighted = dataclasses.replace(corpus(), sample=np.zeros(4, np.int32), weight=np.array([0.5, 0.25, 0.125, 2.0]))
    found, plain = PhraseRules.of(weighted), PhraseRules.of(corpus())
    texts = [(found.rules.src_text(rule), found.rules.tgt_text(rule)) for rule in range(len(found.rules))]
    count = dict(zip(texts, found.count.tolist(), strict=True))
    assert count["a", "A"] == 2.875 and count["b", "B"] == 0.875 and count["b p a", "A of B"] == 0.125
    assert found.tokens.tolist() == plain.tokens.tolist() == plain.count.tolist()
    assert found.count[-2:].tolist() == [1, 1]  # glue


def test_both_glue_rules_stay_next_to_one_target_side(tmp_path):
    corpus([("a", "A", "0-0"), ("a", "B", "0-0"), ("a", "B", "0-0")]).save(tmp_path / "d")
    words = ["grammar", "phrases", str(tmp_path / "d"), "--max-targets", "1", "-o", str(tmp_path / "g"), "--quiet"]
    assert main(words) == 0
    sides = [line.split(" ||| ")[1:3] for line in read_lines(tmp_path / "g")]
    assert sides == [["a", "B"], ["[X,1] [X,2]", "[X,1] [X,2]"], ["[X,1] [X,2]", "[X,2] [X,1]"], ["[X,1]", "[1] |||"]]


def test_rule_extractor(tmp_path):
    corpus().save(tmp_path / "d")
    inputs = RuleInputs(tmp_path, tmp_path, (), tmp_path / "d")
    two = PhrasePairSettings(max_words=2)
    counted, found = Phrases().rules(inputs, two), Phrases().tokens(inputs, two)
    assert isinstance(counted, PhraseRules) and len(counted.rules) == len(found.rules) + 2
    assert counted.count[:-2].tolist() == np.bincount(found.places[:, 0]).tolist()
    assert not Phrases().decoding(PhrasePairSettings()).glue
    with pytest.raises(InputError, match="phrase pairs need derivations"):
        Phrases().rules(RuleInputs(tmp_path, tmp_path), PhrasePairSettings())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["{d}", "--set", "max_words=0", "-o", "g"], "--set max_words: max_words must be at least 1, not 0"),
        (["{d}", "{d}", "{d}", "-o", "g"], "phrases needs one file: derivations of lscfg derive"),
    ],
)
def test_bad_options(tmp_path, capsys, options, message):
    corpus().save(tmp_path / "d")
    assert main(["grammar", "phrases", *(option.format(d=tmp_path / "d") for option in options)]) == 1
    assert message in capsys.readouterr().err
