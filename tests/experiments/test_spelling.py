"""experiments/small/spelling.py: replaced words."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from sacrebleu.metrics import CHRF

SMALL = str(Path(__file__).resolve().parents[2] / "experiments" / "small")
sys.path.insert(0, SMALL)
spelling = import_module("spelling")
sys.path.remove(SMALL)


class Planned:
    """A model that respells one word."""

    def best(self, word):
        return ("kaza" if word == "casa" else word), 1.0


def test_longer_words_that_contain_a_word_stay():
    assert spelling.replaced("Ana y Anabel, Ana-Ana: Ana.", "Ana", "Anita") == "Anita y Anabel, Ana-Ana: Anita."
    source, reference = ["casas casa Casa"], ["casas kaza Kaza"]
    rows = list(spelling.measure(set(), source, reference, Planned()))
    assert [row[:3] for row in rows[:2]] == [("kept, of 3", 0, 1), ("oracle", 2, 3)]
    assert [row[:3] for row in rows[2:]] == [(f"model, {least}", 2, 3) for least in spelling.CONFIDENCES]
    gain = 100 - CHRF().corpus_score(source, [reference]).score
    assert [row[3] for row in rows] == pytest.approx([0, *[gain] * 5])
