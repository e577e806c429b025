"""Networks and orientations of a model in the kernel."""

from pathlib import Path

import pytest
from helpers import random_network, random_orientation

from lscfg.kernel import Binding, FeatureOptions, Forest, Grammar, Model, ParseOptions, S
from lscfg.model.parameters import Parameters

FAMILIES = {name: FeatureOptions(names=(name,)) for name in ("neural", "orientation")}
RULES = ("a ||| A", "a [X,1] ||| [X,1] A", "[X,1] [X,2] ||| [X,2] [X,1]")


def grammar_of(rules: tuple[str, ...]) -> Grammar:
    grammar = Grammar()
    grammar.read_text("".join(f"[X] ||| {rule} ||| F=1\n" for rule in rules))
    grammar.finish()
    return grammar


def saved(folder: Path, words: tuple[list[str], list[str]]) -> Model:
    """A model of a network and orientations alone."""
    parts = {"neural": random_network(words, 1), "orientation": random_orientation(words, 1)}
    Parameters.without_rules(**parts).save(folder / "m")
    return Model(folder / "m")


def parsed(grammar: Grammar, line: str) -> Forest:
    return grammar.parse(grammar.vocab.add_line(line), ParseOptions(100, True, 1, S))


@pytest.mark.parametrize("family", FAMILIES)
def test_source_words_that_only_the_target_side_knows_are_unknown(tmp_path, family):
    """The target side adds far more words to the grammar than the source side."""
    model = saved(tmp_path, (["a"], ["A", *(f"t{number}" for number in range(30_000))]))
    grammar = grammar_of(RULES)
    binding = Binding(model, grammar)
    forests = [parsed(grammar, f"a {word} a a") for word in ("unseen", "t5", "t15000", "t29999")]
    found = [binding.features(forest, None, FAMILIES[family]) for forest in forests]
    rules = forests[0].app_rule < len(grammar)  # a word that is passed through is a target word, too
    assert found[0][rules].any()
    for other in found[1:]:
        assert other[rules].tobytes() == found[0][rules].tobytes()
