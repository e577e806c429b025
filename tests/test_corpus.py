"""Parallel text and word alignment."""

import pytest

from lscfg.align import align, read_alignments
from lscfg.corpus import read_parallel
from lscfg.errors import InputError
from lscfg.text import write_lines


def files(tmp_path, src, tgt):
    write_lines(tmp_path / "f", src)
    write_lines(tmp_path / "e", tgt)
    return tmp_path / "f", tmp_path / "e"


def test_sides_of_different_length(tmp_path):
    with pytest.raises(InputError, match=r"e: 1 lines, but .*f has 2"):
        read_parallel(*files(tmp_path, ["a", "b"], ["x"]))


@pytest.mark.parametrize("bad", ["", "  ", "a\tb", "a ||| b", "a [X] b", "[X,1]", "a\x00"])
def test_bad_sentences_name_file_and_line(tmp_path, bad):
    with pytest.raises(InputError, match="f:2: "):
        read_parallel(*files(tmp_path, ["a", bad], ["x", "y"]))
    with pytest.raises(InputError, match="e:1: "):
        read_parallel(*files(tmp_path, ["a", "b"], [bad, "y"]))


def test_brackets_and_bars_in_words_are_allowed(tmp_path):
    lines = ["[ a ]", "a|b || [x", "x] [ ]"]
    assert read_parallel(*files(tmp_path, lines, lines)) == (lines, lines)


def test_empty_corpus(tmp_path):
    with pytest.raises(InputError, match="empty"):
        read_parallel(*files(tmp_path, [], []))


def test_alignment_finds_the_words_of_a_simple_language():
    pairs = [("casa roja", "red house"), ("casa verde", "green house"), ("casa", "house"), ("flor roja", "red flower")]
    pairs += [("flor verde", "green flower"), ("flor", "flower"), ("roja", "red"), ("verde", "green")]
    src, tgt = zip(*pairs * 20, strict=True)
    links = align(src, tgt, jobs=1)
    assert links[:4] == ["0-1 1-0", "0-1 1-0", "0-0", "0-1 1-0"]
    assert align(src, tgt, jobs=2) == links


def test_doubled_blanks_do_not_shift_links():
    src, tgt = (
        ["una casa", "la casa", "una puerta", "la puerta"] * 10,
        ["a house", "the house", "a door", "the door"] * 10,
    )
    wide = [line.replace(" ", "  ") for line in tgt]
    assert align(src, wide, 3) == align(src, tgt, 3)


def test_alignment_settings_are_checked():
    with pytest.raises(InputError, match="unknown heuristic 'growing'"):
        align(["a"], ["b"], heuristic="growing")
    with pytest.raises(InputError, match="1 iteration or more"):
        align(["a"], ["b"], iterations=0)


def test_alignment_file_of_another_corpus(tmp_path):
    write_lines(tmp_path / "a", ["0-0"])
    with pytest.raises(InputError, match="1 lines for 2 sentence pairs"):
        read_alignments(tmp_path / "a", 2)
