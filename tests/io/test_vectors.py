"""Vectors of words as text."""

import pytest

from lscfg.errors import InputError
from lscfg.io.vectors import read_vectors

VECTORS = {
    "a 1 0\nb 1\n": "vectors:2: 1 values, but 2 on other lines",
    "a 1 nan\n": "vectors:1: vector of 'a': 'nan' is not finite",
    "a 1 x\n": "vectors:1: vector of 'a': 'x' is not a number",
    "a 1 1_0\n": "vectors:1: vector of 'a': '1_0' is not a number",
    "c 1 0\n": "vectors: no word of the text has a vector",
    "a\n": "vectors:1: 0 values",
    "a 1 0\nb 1 0\na 1 0 2\n": "vectors:3: 3 values, but 2 on other lines",
    "1 2\na 1 0\nb 1\n": "vectors:3: 1 values, but 2 on other lines",
    "1 0\n": "vectors: no word of the text has a vector",
    "": "vectors: no word of the text has a vector",
}


@pytest.mark.parametrize("text", VECTORS)
def test_bad_vectors_are_refused(tmp_path, text):
    (tmp_path / "vectors").write_text(text)
    with pytest.raises(InputError) as error:
        read_vectors(tmp_path / "vectors", ["a", "b"])
    assert VECTORS[text] in str(error.value)


def test_words_without_a_vector_have_0(tmp_path):
    (tmp_path / "vectors").write_text("2 2\nb 0.5 -1\nelse 1 1\n")
    assert read_vectors(tmp_path / "vectors", ["a", "b"]).tolist() == [[0, 0], [0.5, -1]]


def test_words_of_several_parts(tmp_path):
    """GloVe's files contain words with blanks, also of other kinds."""
    text = ". . . 0.5 0.6\na 0.1 0.2\nb\u00a0c 0.3 0.1\nat name@domain.com 1 2\nd\t3 4\n"
    (tmp_path / "vectors").write_text(text)
    words = ["a", ". . .", "b\u00a0c", "b", "at name@domain.com", "d", "."]
    found = [[0.1, 0.2], [0.5, 0.6], [0.3, 0.1], [0, 0], [1, 2], [3, 4], [0, 0]]
    assert read_vectors(tmp_path / "vectors", words).tolist() == found


def test_a_header_and_blanks_at_the_ends_of_lines(tmp_path, caplog):
    """fastText ends each line with a blank."""
    (tmp_path / "vectors").write_text("2 2 \nb  0.5 -1 \na b 1 1 \n")
    assert read_vectors(tmp_path / "vectors", ["b", "a b"]).tolist() == [[0.5, -1], [1, 1]] and not caplog.records
    (tmp_path / "vectors").write_text("3 2\nb 0.5 -1\nb 1 1\n")
    assert read_vectors(tmp_path / "vectors", ["b"]).tolist() == [[0.5, -1]]
    announced, twice = (record.getMessage() for record in caplog.records)
    assert "announces 3 vectors, but 2 follow; the file may be cut off" in announced
    assert "words that occur twice: 1 (first vector kept), for example 'b'" in twice


def test_vectors_in_binary_form_are_named(tmp_path):
    (tmp_path / "vectors").write_bytes(b"2 2\na \xcd\xcc\xcc\x3d\x00\x00\x80\x3f\nb \xcd\xcc\xcc\x3d\x00\x00\x80\x3f\n")
    with pytest.raises(InputError, match="vectors: vectors in binary form; write them as text"):
        read_vectors(tmp_path / "vectors", ["a"])
