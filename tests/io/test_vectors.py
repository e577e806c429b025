"""Vectors of words as text."""

import pytest

from lscfg.errors import InputError
from lscfg.io.vectors import read_vectors

VECTORS = {
    "a 1 0\nb 1\n": "vectors:2: 1 values, but 2 on earlier lines",
    "a 1 nan\n": "vectors:1: the vector of 'a' is not finite",
    "a 1 x\n": "vectors:1: could not convert string to float: 'x'",
    "c 1 0\n": "vectors: no word of the text has a vector",
    "a\n": "vectors:1: 0 values",
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
