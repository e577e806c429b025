"""Sentences of running text."""

import random

import pytest
from limits import time_limit

from lscfg.errors import InputError
from lscfg.prepare.sentences import Undivided, cut_long, split_sentences

pytest.importorskip("sacremoses", reason="abbreviations need sacremoses: pip install 'lscfg[train]'")


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("en", "He left. She stayed!  Why? (Nobody knows.)", ["He left.", "She stayed!", "Why?", "(Nobody knows.)"]),
        ("en", 'He said "No." Then Dr. Smith left.', ['He said "No."', "Then Dr. Smith left."]),
        ("en", "See No. 5 and J. Smith. 5 came.", ["See No. 5 and J. Smith.", "5 came."]),
        ("en", "version 1.5 of e.g. this ... and that", ["version 1.5 of e.g. this ... and that"]),
        ("de", "Am 3. Mai kam er. Dann ging er.", ["Am 3. Mai kam er.", "Dann ging er."]),
        ("ja", "今日は。「はい。」彼は行く！どこ？", ["今日は。", "「はい。」", "彼は行く！", "どこ？"]),
        ("ar", "ذهب؟ ثم عاد.", ["ذهب؟", "ثم عاد."]),
        ("hy", "Բարեւ։ Ինչպե՞ս ես։", ["Բարեւ։", "Ինչպե՞ս ես։"]),
        ("hi", "पहला वाक्य॥ दूसरा वाक्य।", ["पहला वाक्य॥", "दूसरा वाक्य।"]),
        ("am", "ሰላም ነው። እንዴት ነህ፧ ደህና።", ["ሰላም ነው።", "እንዴት ነህ፧", "ደህና።"]),
        ("my", "မင်္ဂလာပါ။ နေကောင်းလား။", ["မင်္ဂလာပါ။", "နေကောင်းလား။"]),
        ("km", "សួស្តី។ អរគុណ។ល។", ["សួស្តី។", "អរគុណ។ល។"]),
        ("cr", "ᐊᐊ᙮ ᐊᐃ᙮", ["ᐊᐊ᙮", "ᐊᐃ᙮"]),
        ("en", "What‼ Why⁈ No⁉ Yes⁇ Yes", ["What‼", "Why⁈", "No⁉", "Yes⁇", "Yes"]),
        ("ja", "値は３．５です．１．２節を見よ．Ａ．Ｂ．氏", ["値は３．５です．", "１．２節を見よ．", "Ａ．Ｂ．氏"]),
        ("el", "Πού πας; Εδώ\u037e Όχι.", ["Πού πας;", "Εδώ\u037e", "Όχι."]),
        ("ell", "Πού; Εδώ.", ["Πού;", "Εδώ."]),
        ("en", "Wait; He left.", ["Wait; He left."]),
        ("en", " one\n\ntwo\r\nthree", ["one", "two", "three"]),
        ("", "One. Two.\nThree.", ["One. Two.", "Three."]),
        ("en", "", []),
        ("en", " \n ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(language, text, wanted):
    found = split_sentences(text, language)
    assert [one.sentence for one in found if one.sentence] == wanted
    assert "".join(one.sentence + one.after for one in found) == text


def test_stretches_join_to_the_text():
    draw = random.Random(3)
    for _ in range(500):
        text = "".join(draw.choice(' .!?。．⁉;\n\r\u2028\u00a0aB1「」()"-') for _ in range(draw.randint(0, 40)))
        for language in ("en", "ja", "el", ""):
            found = split_sentences(text, language)
            assert "".join(one.sentence + one.after for one in found) == text
            assert all(one.sentence == one.sentence.strip() for one in found)


@pytest.mark.parametrize(
    ("text", "language", "terms", "found"),
    [
        ("Er kauft Yahoo!  JAPAN. Heute.", "de", ["Yahoo! Japan"], ["Er kauft Yahoo!  JAPAN.", "Heute."]),
        ("Er kauft Yahoo! Japan.", "de", ["Yahoo!", "Japan", "kauft"], ["Er kauft Yahoo!", "Japan."]),
        ("モー娘。の歌。はい。", "ja", ["モー娘。の"], ["モー娘。の歌。", "はい。"]),
        ("Use `a. B` now. Then stop.", "en", [], ["Use `a. B` now.", "Then stop."]),
        ("A! B? Cats. D", "en", ["a! b", "B? Cats"], ["A! B? Cats.", "D"]),
        ("A!\nB", "en", ["A! B"], ["A!", "B"]),
        ("我用Yahoo! Japan搜索。好。", "zh", ["Yahoo! Japan"], ["我用Yahoo! Japan搜索。", "好。"]),
        ("저는 Yahoo! Japan을 씁니다.", "ko", ["Yahoo! Japan"], ["저는 Yahoo! Japan을 씁니다."]),
        ("Das ist Alexandr. Noch heute.", "de", ["Dr. No"], ["Das ist Alexandr.", "Noch heute."]),
        (
            "Wir trinken Vino. 1 Glas. Dr. No kam.",
            "es",
            ["Vino. 1", "r. No"],
            ["Wir trinken Vino. 1 Glas.", "Dr. No kam."],
        ),
        (
            "詳細はhttps://example.com/をご覧ください。次の文です。",
            "ja",
            [],
            ["詳細はhttps://example.com/をご覧ください。", "次の文です。"],
        ),
        ("Die Nummer ist +49 30 123456. 2023 war gut.", "es", [], ["Die Nummer ist +49 30 123456.", "2023 war gut."]),
    ],
)
def test_sentences_end_outside_terms_and_code(text, language, terms, found):
    assert [one.sentence for one in split_sentences(text, language, Undivided(terms)) if one.sentence] == found


def test_terms_are_not_cut():
    whole = Undivided(["New York City", "York City Hall"])
    text = "one New  York city five six"
    assert [tuple(one) for one in cut_long(text, 3)] == [("one New  York", " "), ("city five six", "")]
    assert [tuple(one) for one in cut_long(text, 3, whole)] == [("one", " "), ("New  York city", " "), ("five six", "")]
    text = "x New York City Hall five"  # both terms together exceed the limit
    assert [one.sentence for one in cut_long(text, 3, whole)] == ["x New York", "City Hall five"]


@pytest.mark.parametrize(
    "piece", ["．", "．。", "３．", ".", ". ", "a. ", ".\u00a0(", "。", '."', "A", "(", " ", "`a. B`. ", "a.", "www."]
)
def test_time_is_linear(piece):
    text = piece * 500_000 + "x. X"
    with time_limit():
        found = split_sentences(text, "en", Undivided(["b. `"]))
    assert "".join(one.sentence + one.after for one in found) == text


def test_long_sentences_are_cut_at_blanks():
    assert [tuple(one) for one in cut_long("a b  c d e", 2)] == [("a b", "  "), ("c d", " "), ("e", "")]
    assert [tuple(one) for one in cut_long("a b", 2)] == [("a b", "")]
    assert [one.sentence for one in cut_long("a b, c. (d) é\u0301'ee f", 3)] == ["a b,", "c.", "(d)", "é\u0301'ee", "f"]
    with pytest.raises(InputError):
        cut_long("a", 0)


def letters(text):
    """Number of characters but blanks: a measure for which a word has many pieces."""
    return len("".join(text.split()))


@pytest.mark.parametrize(
    ("text", "terms", "wanted"),
    [
        ("ab abcdefgh, cd", [], [("ab", " "), ("", "abcdefgh, "), ("cd", "")]),  # cannot be cut, so it stays
        ("一二三，四五六七八九", [], [("一二三，", ""), ("四五六七", ""), ("八九", "")]),
        ("一二三四五六七、八九", [], [("一二三四", ""), ("五六七、", ""), ("八九", "")]),
        ("1,000,ab,c", [], [("", "1,000,"), ("ab,c", "")]),
        ("ab 一二三四五", ["三四"], [("ab 一二", ""), ("三四五", "")]),
        ("一二三　四五", [], [("一二三", "　"), ("四五", "")]),
        ("ab" * 9, [], [("", "ab" * 9)]),
    ],
)
def test_long_words_are_cut_at_commas_and_between_characters(text, terms, wanted):
    found = cut_long(text, 4, Undivided(terms), letters)
    assert [tuple(one) for one in found] == wanted
    assert "".join(one.sentence + one.after for one in found) == text


def test_pieces_are_as_long_as_the_measure_allows():
    """Joined pieces exceed the limit, and none does; the measure need not be the sum of those of words."""
    draw = random.Random(4)

    def measure(text):
        return letters(text) + text[:1].isupper() - text.count("Aa")

    for _ in range(500):
        text = "".join(draw.choice("aA一二、 ") for _ in range(draw.randint(1, 60))).strip()
        most = draw.randint(2, 9)
        found = cut_long(text, most, count=measure)
        assert "".join(one.sentence + one.after for one in found) == text
        assert all(measure(one.sentence) <= most for one in found)
        assert all(measure(one.after) > most for one in found if not one.sentence and one.after)


@pytest.mark.parametrize("text", ["語" * 300_000, "語、" * 100_000, "ab " * 200_000, "-" * 300_000])
def test_long_sentences_are_cut_in_linear_time(text):
    with time_limit():
        found = cut_long(text, 150, count=letters)
    assert "".join(one.sentence + one.after for one in found) == text
    assert all(letters(one.sentence) in (0, *range(100, 151)) for one in found[:-1])
