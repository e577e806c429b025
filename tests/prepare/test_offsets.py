"""Ranges of words in raw and restored text."""

from __future__ import annotations

import random

import pytest

from lscfg.prepare.offsets import word_ranges


def shown(words: str, text: str) -> list[str]:
    return [text[i:j] for i, j in word_ranges(words.split(), text)]


@pytest.mark.parametrize(
    ("words", "text", "wanted"),
    [
        ("la casa , roja", "La casa, roja", ["La", "casa", ",", "roja"]),
        ("\u2581the \u2581hou se", "The  house", ["The", "hou", "se"]),
        ("AT & T \uffeda", "AT&amp;T a", ["AT", "&amp;", "T", "a"]),
        ("a < b > t", "a &lt;b&gt; t", ["a", "&lt;", "b", "&gt;", "t"]),
        ("kauft H & M ; x", "kauft H&M; x", ["kauft", "H", "&", "M", ";", "x"]),
        ("a < b", "a &amp;lt; b", ["a", "&amp;lt;", "b"]),
        ("x & lt ; y", "x &lt; y", ["x", "&", "lt", ";", "y"]),
        ("été t", "&eacute;t&#233; t", ["&eacute;t&#233;", "t"]),
        ("&lbrack;X] ok", "[X] ok", ["[X]", "ok"]),
        ("café 5", "cafe\u0301\t5", ["cafe\u0301", "5"]),
        ("straße", "STRASSE", ["STRASSE"]),
        ("fi nal", "ﬁ nal", ["ﬁ", "nal"]),
        ("a b", "a\u200b b", ["a", "b"]),
        ("はい 。", "はい。", ["はい", "。"]),
        ("a lost b", "a b", ["a", "", "b"]),
        ("", "", []),
        ("𝒳 y", "X y", ["X", "y"]),
    ],
)
def test_ranges_of_words(words: str, text: str, wanted: list[str]) -> None:
    assert shown(words, text) == wanted


def test_words_are_found_whatever_blanks_and_capitals_become() -> None:
    draw = random.Random(3)
    for _ in range(300):
        words = ["".join(draw.choices("abcñé.,-ß日", k=draw.randint(1, 4))) for _ in range(draw.randint(0, 12))]
        wanted, text = [], ""
        for word in words:
            text += " " * draw.randint(0, 2)
            form = draw.choice((word, word.upper(), word.title()))
            wanted.append(form)
            text += form
        assert shown(" ".join(words), text) == wanted


def test_text_that_differs_keeps_its_neighbours_and_its_order() -> None:
    assert shown("one two three four", "one zwei three four")[2:] == ["three", "four"]
    draw = random.Random(4)
    for _ in range(200):
        words, text = ("".join(draw.choices("ab c", k=draw.randint(0, 30))) for _ in range(2))
        ranges = word_ranges(words.split(), text)
        ends = [0, *(place for one in ranges for place in one)]
        assert ends == sorted(ends) and ends[-1] <= len(text) and len(ranges) == len(words.split())
    assert len(word_ranges(["ab" * 2500], "ba" * 2500)) == 1  # in linear time
