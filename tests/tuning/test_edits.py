"""Words that match a reference: edits are sacrebleu's, and matches agree with them."""

from __future__ import annotations

import random

import pytest
from sacrebleu.metrics.lib_ter import translation_edit_rate

from lscfg.tuning.edits import edited


@pytest.mark.parametrize("seed", range(200))
def test_edits_are_those_of_sacrebleu(seed: int) -> None:
    choose = random.Random(seed)
    one, other = ([choose.choice("abcde") for _ in range(choose.randint(1, 9))] for _ in range(2))
    found = edited(one, [other])
    assert found.edits == translation_edit_rate(one, other)[0]
    matched = [word for word, kept in zip(one, found.matched, strict=True) if kept]
    assert all(matched.count(word) <= other.count(word) for word in matched)
    # of the words that do not match, each needs an edit; so does each word of the reference that no word matches
    assert found.edits >= max(len(one), len(other)) - len(matched)


def test_matches_by_hand() -> None:
    assert edited(["the", "red", "house"], [["the", "red", "house"]]) == ((True, True, True), 0)
    assert edited(["the", "red", "house"], [["the", "blue", "house"]]) == ((True, False, True), 1)
    assert edited(["a", "b", "c", "d", "e", "f"], [["d", "e", "f", "a", "b", "c"]]) == ((True,) * 6, 1)  # one shift
    assert edited(["a", "a", "b"], [["b"]]).matched == (False, False, True)
    assert edited([], [["a", "b"]]) == ((), 2) and edited(["a"], [[]]) == ((False,), 1)


def test_the_nearest_reference_counts() -> None:
    references = [["x", "y"], ["a", "c"], ["a", "c"]]
    assert edited(["a", "b"], references) == ((True, False), 1)
