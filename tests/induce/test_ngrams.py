"""Texts as numbers, n-grams in them and their contexts, against counts made word by word."""

from collections import Counter

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.induce.propagated import contexts, ngrams, text
from lscfg.induce.propagated.contexts import count_contexts, frequent_columns, unit_rows, weighted
from lscfg.induce.propagated.ngrams import Finder, NGrams, count_ngrams
from lscfg.induce.propagated.text import BORDER, Text, read_words

LINES = ["a b a b c", "c a a a", "", "b", "a a a a b", "c c a b"]


def text_of(tmp_path, lines):
    path = tmp_path / "text"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    numbers = {}
    return read_words([path], numbers), numbers


def random_lines(seed):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(list("abcdef"), random.integers(1, 9))) for _ in range(60)]


def counted(lines, length):
    return Counter(
        tuple(words[at : at + length]) for words in map(str.split, lines) for at in range(len(words) + 1 - length)
    )


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("counters", [5, 1 << 20])
@pytest.mark.parametrize("block", [3, 1 << 20])
@pytest.mark.parametrize("lines", [LINES, random_lines(1), random_lines(2)])
def test_ngrams_are_counted_within_sentences(tmp_path, monkeypatch, lines, block, counters, threads):
    """By blocks, the counters of a first pass may be too few; they never lose an n-gram."""
    monkeypatch.setattr(text, "BLOCK", block)
    monkeypatch.setattr(ngrams, "BLOCK", block)
    monkeypatch.setattr(ngrams, "COUNTERS", counters)
    whole, numbers = text_of(tmp_path, lines)
    words = list(numbers)
    for least in (1, 3):
        found = count_ngrams(whole, (1, 2, 4), least, threads)
        expected = counted(lines, 1) + counted(lines, 2) + counted(lines, 4)
        named = {tuple(words[w] for w in one): count for one, count in found.items()}
        assert named == {one: count for one, count in expected.items() if count >= least}


@pytest.mark.parametrize("lines", [LINES, random_lines(3)])
def test_phrases_are_found_where_they_overlap_themselves(tmp_path, lines):
    whole, numbers = text_of(tmp_path, lines)
    wanted = ["a a", "a", "c a b", "zz a"]
    numbers["zz"] = len(numbers)
    phrases = NGrams.of([[numbers[word] for word in one.split()] for one in wanted])
    expected = [counted(lines, len(one.split()))[tuple(one.split())] for one in wanted]
    assert Finder(phrases).count(whole).tolist() == expected


def by_hand(lines, phrase, window):
    found, size = Counter(), len(phrase)
    for words in map(str.split, lines):
        for at in range(len(words) + 1 - size):
            if words[at : at + size] == phrase:
                found.update(("left", word) for word in words[max(at - window, 0) : at])
                found.update(("right", word) for word in words[at + size : at + size + window])
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("block", [3, 1 << 20])
@pytest.mark.parametrize("window", [1, 2, 5])
@pytest.mark.parametrize("lines", [LINES, random_lines(4)])
def test_contexts_are_those_of_the_window_within_the_sentence(tmp_path, monkeypatch, lines, window, block, threads):
    monkeypatch.setattr(contexts, "HELD", block * window)
    whole, numbers = text_of(tmp_path, lines)
    phrases = [["a"], ["a", "a"], ["a", "b"], ["c", "a", "a"]]
    table = NGrams.of([[numbers[word] for word in one] for one in phrases])
    found = count_contexts(whole, table, len(numbers), window, threads).toarray()
    for row, phrase in zip(found, phrases, strict=True):
        expected = by_hand(lines, phrase, window)
        for word, number in numbers.items():
            assert row[number] == expected["left", word]
            assert row[len(numbers) + number] == expected["right", word]


def test_pmi_by_hand():
    from scipy import sparse

    counts = sparse.csr_matrix(np.array([[2, 0, 1], [1, 3, 0], [0, 0, 0]]))
    found = weighted(counts).toarray()
    assert found[0, 0] == pytest.approx(np.log(2 * 7 / (3 * 3)))
    assert found[1, 0] == pytest.approx(np.log(1 * 7 / (4 * 3)))
    assert found[1, 1] == pytest.approx(np.log(3 * 7 / (4 * 3)))
    assert (found[2] == 0).all()
    assert weighted(counts, "ppmi").toarray()[1, 0] == 0
    powers = np.array([3, 3, 1]) ** 0.75
    assert weighted(counts, "ppmi-cds").toarray()[0, 2] == pytest.approx(np.log(1 / 3 * powers.sum() / powers[2]))
    norms = np.linalg.norm(unit_rows(weighted(counts)).toarray(), axis=1)
    assert norms == pytest.approx([1, 1, 0])


def test_cosines_of_roots_are_the_affinity_of_distributions():
    """Bhattacharyya's coefficient; by Fisher's metric, distributions are points of a sphere of radius 2."""
    from scipy import sparse

    counts = sparse.csr_matrix(np.random.default_rng(1).integers(0, 3, (4, 7)))
    rows = unit_rows(weighted(counts, "hellinger")).toarray()
    p = counts.toarray() / counts.toarray().sum(1, keepdims=True)
    assert rows == pytest.approx(np.sqrt(p))
    for i in range(4):
        for j in range(4):
            assert rows[i] @ rows[j] == pytest.approx(sum(np.sqrt(a * b) for a, b in zip(p[i], p[j], strict=True)))
    near = p[0] + 1e-4 * (p[1] - p[0]) * (p[0] > 0)
    near /= near.sum()
    used = p[0] > 0
    metric = np.sqrt(((near - p[0])[used] ** 2 / p[0][used]).sum())  # ds² = Σ dp² / p
    chord = 2 * np.linalg.norm(np.sqrt(near) - np.sqrt(p[0]))
    assert chord == pytest.approx(metric, rel=1e-3)


def test_frequent_words_have_a_column_on_each_side(tmp_path):
    whole, numbers = text_of(tmp_path, LINES)
    a, b = numbers["a"], numbers["b"]
    assert frequent_columns(whole.counts(len(numbers)), 2).tolist() == [a, b, 3 + a, 3 + b]


def sentences_of(blocks):
    return [" ".join(map(str, one)) for block in blocks for one in split(block.tolist())]


def split(numbers):
    """The sentences between borders; there is one at both ends."""
    assert numbers[0] == BORDER == numbers[-1]
    found = [[]]
    for number in numbers[1:]:
        if number == BORDER:
            found.append([])
        else:
            found[-1].append(number)
    return found[:-1]


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_a_text_is_its_parts_and_a_block_is_of_whole_sentences(tmp_path, monkeypatch, block):
    monkeypatch.setattr(text, "BLOCK", block)
    paths = [tmp_path / "one", tmp_path / "two"]
    lines = [line for line in random_lines(5) if line]
    paths[0].write_text("\n" + "\n\n".join(lines[:9]) + "\n", encoding="utf-8")
    paths[1].write_text("\n".join(lines[9:]) + "\n", encoding="utf-8")
    numbers = {}
    both = read_words(paths, numbers)
    expected = [" ".join(str(numbers[word]) for word in line.split()) for line in lines]
    assert sentences_of(both.blocks()) == expected == sentences_of([both.array()])
    assert both.sentences() == len(lines) and len(both) == len(both.array())
    apart = read_words(paths[:1], numbers) + read_words(paths[1:], numbers)
    assert sentences_of(apart.blocks()) == expected
    for first in (0, 1, 8, 9, 10, len(lines), len(lines) + 1):
        for whole in (both, apart):
            part = whole.beginning(first)
            assert sentences_of(part.blocks()) == expected[:first] == sentences_of([part.array()])
    assert [*Text().blocks()] == [] and Text().array().tolist() == [BORDER]


def test_a_full_disk_is_told_with_the_folder(tmp_path, monkeypatch):
    def full(file, data):
        raise OSError(28, "No space left on device")

    path = tmp_path / "mono"
    path.write_text("a b\n")
    monkeypatch.setattr(text.os, "write", full)
    with pytest.raises(InputError, match="TMPDIR"):
        read_words([path], {})


def test_a_folder_for_temporary_files_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    """Another one is not taken in its place: that may be small."""
    (tmp_path / "mono").write_text("a b\n")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"none: cannot hold .*; free some space, or set TMPDIR"):
        read_words([tmp_path / "mono"], {})


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"", "no word", None),
        (b"\n\n", "no word", None),
        (b"a b\n\xff\n", "UTF-8", 2),
        (b"a\n[X,1] b\n", "reserved", 2),
        (b"a\tb\n", "blank", 1),
        (b'a\n\n<seg id="1"> a </seg>\n', "a segment of cdec's", 3),
    ],
)
def test_bad_text_is_refused_by_file_and_line(tmp_path, data, message, line):
    path = tmp_path / "mono"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as error:
        read_words([path], {})
    assert str(error.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
