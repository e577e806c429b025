"""Features of the minimal grammar, against counts by hand."""

import math

import pytest

from lscfg.derive import derive
from lscfg.errors import InputError
from lscfg.grammar import MinimalRules, rule_features, select_rules, write_grammar
from lscfg.kernel import Grammar


@pytest.fixture
def derivations():
    src = ["a b", "a b", "a", "a", "b a"]
    tgt = ["x y", "y x", "x", "z", "y the x"]
    links = ["0-0 1-1", "0-1 1-0", "0-0", "0-0", "0-0 1-2"]
    return derive(src, tgt, links)


def features(derivations, rule):
    values = rule_features(derivations)
    texts = [derivations.rules.text(r).removeprefix("[X] ||| ") for r in range(len(derivations.rules))]
    return dict(zip(FEATURES, values[texts.index(rule)].tolist(), strict=True))


def test_relative_frequencies_and_counts(derivations):
    # a -> x four times, a -> z once
    found = features(derivations, "a ||| x")
    assert math.isclose(found["EgivenF"], -math.log10(4 / 5)) and found["FgivenE"] == 0
    assert math.isclose(found["CountEF"], math.log10(5)) and math.isclose(found["SampleCountF"], math.log10(6))
    assert found["IsSingletonF"] == found["IsSingletonFE"] == 0
    single = features(derivations, "a ||| z")
    assert single["IsSingletonFE"] == 1 and single["IsSingletonF"] == 0


def test_lexical_weights(derivations):
    # x is linked to a every time; "the" never: its best partner is NULL, for which it stands alone
    found = features(derivations, "[X,1] [X,2] ||| [X,1] the [X,2]")
    assert found["MaxLexEgivenF"] == 0 and found["MaxLexFgivenE"] == 0
    assert math.isclose(features(derivations, "a ||| x")["MaxLexEgivenF"], -math.log10(4 / 5))


def test_glue_and_inverse(derivations):
    assert features(derivations, "[X,1] [X,2] ||| [X,1] [X,2]")["Glue"] == 1
    swapped = features(derivations, "[X,1] [X,2] ||| [X,2] [X,1]")
    assert swapped["Glue"] == 0 and swapped["Inverse"] == 1
    assert features(derivations, "[X,1] [X,2] ||| [X,1] the [X,2]")["Glue"] == 0


def test_written_grammar_is_read_back(derivations, tmp_path):
    count = write_grammar(tmp_path / "g.gz", derivations)
    grammar = Grammar.from_files([tmp_path / "g.gz"])
    assert len(grammar) == count + 1 == len(derivations.rules) + 1  # and the root rule
    assert grammar.lhs(count) == 1


def test_most_frequent_targets_stay(derivations, tmp_path):
    write_grammar(tmp_path / "g", derivations, max_targets=1)
    lines = (tmp_path / "g").read_text().splitlines()
    assert [line.split(" ||| ")[1:3] for line in lines if line.startswith("[X] ||| a |||")] == [["a", "x"]]
    assert "EgivenF=0.09691" in lines[1]  # of all targets
    with pytest.raises(InputError, match="at least 1"):
        write_grammar(tmp_path / "g", derivations, max_targets=0)


def test_rules_of_three_nonterminals_are_left_out(tmp_path):
    derivations = derive(["a b c d"], ["p q r s"], ["0-1 1-3 2-0 3-2"])
    assert write_grammar(tmp_path / "g", derivations) == 4
