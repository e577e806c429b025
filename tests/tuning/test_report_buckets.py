"""The tables that divide the test set by words, lengths and n-grams, by figures found by hand."""

import dataclasses
from collections import Counter

import pytest
from little_report import little_content, little_manifest, row
from sacrebleu.metrics import BLEU

from lscfg.tuning.report.buckets import (
    GRAMS,
    Breakdown,
    bounds_name,
    by_frequency,
    by_length,
    distinguishing,
    gram_matches,
    times,
    within_bounds,
)
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.page import render


def of(outputs, references, training):
    """The content of some translations."""
    results = {"baseline": next(iter(outputs)), "systems": [row(name) for name in outputs]}
    return Content("x", results, [""] * len(references[0]), references, outputs, [], {}, 5, training=training)


def test_bounds():
    assert [within_bounds(value, (2, 4)) for value in (1, 2, 4, 5)] == [False, True, True, False]
    assert within_bounds(10**6, (1000, None)) and bounds_name((1000, None)) == "1,000 or more"
    assert [times(bounds) for bounds in ((0, 0), (1, 1), (2, 4))] == ["never", "once", "2 to 4 times"]


def test_words_by_frequency():
    outputs = {"A": ["the the cat", "a dog"], "B": ["the rare cat", ""]}
    training = {"the": 1000, "cat": 3, "rare": 1, "a": 50, "dog": 4}
    found = by_frequency(of(outputs, [["the rare cat", "the dog"]], training))
    assert [(item.bounds, item.size, item.sentences) for item in found] == [
        ((1, 1), 1, [0]),
        ((2, 4), 2, [0, 1]),
        ((1000, None), 2, [0, 1]),  # no reference has the words seen 10 to 99 times
    ]
    once, few, often = (item.scores for item in found)
    assert once == {"A": 0.0, "B": 100.0}
    assert few == {"A": 100.0, "B": pytest.approx(200 * 1 / (1 + 2))}
    assert often == {"A": pytest.approx(200 * 1 / (2 + 2)), "B": pytest.approx(200 * 1 / (1 + 2))}


def test_sentences_by_length_have_sacrebleus_score():
    references = [["a b c d e", "a b c d e f g", "b c d e f g h i"], ["x", "a b c d", "x"]]
    outputs = {"A": ["a b c d", "a b c d f g", "b c x e f g h i"]}
    found = by_length(of(outputs, references, {}))
    assert [(item.bounds, item.size, item.sentences) for item in found] == [((0, 5), 1, [0]), ((6, 10), 2, [1, 2])]
    for item in found:
        expected = BLEU(tokenize="none", force=True).corpus_score(
            [outputs["A"][k] for k in item.sentences], [[lines[k] for k in item.sentences] for lines in references]
        )
        assert item.scores["A"] == pytest.approx(expected.score)


def test_ngrams_that_one_system_has():
    references = [["the old cat sat", "the old cat", "a dog sat"]]
    outputs = {"A": ["an old cat sat", "old the cat", "a dog sat"], "B": ["the old cat sat", "the old cat", "a dog"]}
    matches = gram_matches(of(outputs, references, {}))
    assert matches["A"].lines[0] == Counter(
        {("old",): 1, ("cat",): 1, ("sat",): 1, ("old", "cat"): 1, ("cat", "sat"): 1, ("old", "cat", "sat"): 1}
    )
    found = distinguishing(matches["A"], matches["B"])
    # "the old" has the matches of the longer "the old cat", which is shown
    assert [(item.gram, item.matches, item.sentences) for item in found] == [
        ("the old cat", (0, 2), [0, 1]),
        ("the old cat sat", (0, 1), [0]),
        ("old cat", (1, 2), [1]),
        ("the", (1, 2), [0]),
    ]
    back = distinguishing(matches["B"], matches["A"])
    assert [(item.gram, item.matches, item.sentences) for item in back] == [
        ("a dog sat", (0, 1), [2]),
        ("sat", (1, 2), [2]),
    ]


def test_few_ngrams_are_shown():
    words = [f"w{k}" for k in range(50)]
    outputs = {"A": ["x"] * 50, "B": [f"{word} y" for word in words]}
    matches = gram_matches(of(outputs, [[f"{word} z" for word in words]], {}))
    assert len(distinguishing(matches["A"], matches["B"])) == GRAMS


def test_tables_are_in_the_page():
    content = little_content()
    text = render(content, little_manifest())
    assert "By word frequency" in text and '<tr data-set="frequency-0"><th scope="row">never</th>' in text
    assert "By sentence length" in text and "More frequent in SPECTRAL-16 than in MIN." in text
    assert set(Breakdown.of(content).sets()) == {*(f"frequency-{k}" for k in range(6)), "length-0", "length-1"}
    unknown = dataclasses.replace(content, training={})
    assert "By word frequency" not in render(unknown, little_manifest())
