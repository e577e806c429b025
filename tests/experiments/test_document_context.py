"""experiments/document_context.py: items of documents against loops over words, and gains on planted topics."""

import math
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lscfg.context.low_dimensional import SentenceSettings, Task
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.io.write import write_lines

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
document_context = import_module("document_context")
sys.path.remove(str(ROOT / "experiments"))
Documents = document_context.Documents

SEEN = SentenceSettings(min_word=1, min_count=1, sentence=True)


def text(n_documents, size, seed):
    """Sentences of random documents, whose words depend on a topic of each document."""
    rng = np.random.default_rng(seed)
    lines, names = [], []
    for document in range(n_documents):
        topic = rng.integers(3)
        for _ in range(1 + rng.integers(size)):
            lines.append(" ".join(f"w{topic * 5 + rng.integers(9)}" for _ in range(1 + rng.integers(5))))
            names.append(f"d{document}")
    return lines, names


def planted(n_documents, size, seed):
    """b is B or C by the topic of the document, which other sentences tell, but not that of b."""
    rng = np.random.default_rng(seed)
    source, target, names = [], [], []
    for document in range(n_documents):
        topic = rng.integers(2)
        for place in range(size):
            word, other = (f"{'pq'[topic]}{rng.integers(3)}", "x") if place % 2 else (f"x{rng.integers(3)}", "b")
            source.append(f"{word} {other} .")
            target.append(f"{word.upper()} {'BC'[topic] if other == 'b' else 'X'} .")
            names.append(f"d{document}")
    return source, target, names, ["0-0 1-1 2-2"] * len(source)


def words_of(matrix, source):
    """The words of each sentence's items."""
    vocabulary = sorted({word for line in source for word in line.split()})
    return [{vocabulary[k] for k in row.indices} for row in matrix]


@pytest.fixture(scope="module")
def read():
    source, names = text(25, 8, 1)
    return source, names, Documents.read(names, source, 3)


def frequent(source, names, held_out):
    """Words in at least three sentences of documents that are not held out."""
    seen = Counter(
        word for line, name in zip(source, names, strict=True) if name not in held_out for word in {*line.split()}
    )
    return {word for word, count in seen.items() if count >= 3}


HELD = {"d0", "d10", "d20"}


def test_a_document_is_neighbouring_sentences_of_a_name():
    documents = Documents.read(["a", "a", "b", "a"], ["x", "y", "x", "z"], 1)
    assert documents.of.tolist() == [0, 0, 1, 2]
    assert documents.whole.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_names_must_fit_the_sentences():
    with pytest.raises(ValueError, match="1 lines of documents for 2 sentences"):
        Documents.read(["a"], ["x", "y"], 1)


def test_before_has_the_words_of_three_sentences_of_the_document(read):
    source, names, documents = read
    kept = frequent(source, names, HELD)
    usual = documents.idf > 0
    vocabulary = np.array(sorted({word for line in source for word in line.split()}))
    expected = [
        {word for back in range(1, 4) if k >= back and names[k - back] == names[k] for word in source[k - back].split()}
        & kept
        & {*vocabulary[usual]}
        for k in range(len(source))
    ]
    assert words_of(documents.before(), source) == expected
    assert any(expected)


def test_salient_words_are_the_first_by_tf_idf_of_the_other_sentences(read, monkeypatch):
    monkeypatch.setattr(document_context, "SALIENT", 4)
    source, names, documents = read
    learned = sorted({*names} - HELD)
    inside = {
        name: {w for line, of in zip(source, names, strict=True) if of == name for w in line.split()} for name in names
    }
    kept = frequent(source, names, HELD)
    idf = {w: math.log(len(learned) / max(sum(w in inside[name] for name in learned), 1)) for w in kept}
    for k, found in enumerate(words_of(documents.salient(), source)):
        rest = Counter(
            word
            for other, line in enumerate(source)
            if other != k and names[other] == names[k]
            for word in line.split()
        )
        ranked = sorted((-rest[w] * idf[w], w) for w in rest if idf.get(w, 0) > 0)
        assert found == {word for _, word in ranked[:4]}


def test_topics_do_not_see_the_sentence_itself():
    source, names = text(60, 6, 2)
    topics = Documents.read(names, source, 1).topic()
    changed = [*source]
    at = names.index("d30")  # held out, so nothing is learned from it
    changed[at] = " ".join(sorted({word for line in source for word in line.split()}))
    other = Documents.read(names, changed, 1).topic()
    assert (topics[at] != other[at]).nnz == 0
    assert topics.sum(axis=1).max() == 1


def test_a_document_of_one_sentence_has_no_items():
    source, _ = text(40, 1, 3)
    documents = Documents.read([str(k) for k in range(len(source))], source, 1)
    for name in document_context.VIEWS:
        assert getattr(documents, name)().nnz == 0


@pytest.fixture(scope="module")
def task():
    source, target, names, links = planted(60, 6, 4)
    return Task.of(tokens_of(derive(source, target, links)), source, SEEN), Documents.read(names, source, 1), source


def test_items_follow_those_of_the_sentence(task):
    of, documents, _ = task
    before, topic = documents.before(), documents.topic()
    found = document_context.with_items(of, [before, topic])
    dense, sentence = found.views.matrix.toarray(), of.tokens.places[:, 1]
    n = len(of.views.items)
    assert np.array_equal(dense[:, :n], of.views.matrix.toarray())
    further = np.hstack([before[sentence].toarray(), topic[sentence].toarray()])
    assert np.array_equal(dense[:, n:], further[:, further.any(axis=0)])
    assert len(np.unique(found.views.items)) == dense.shape[1]


def test_documents_tell_a_topic_that_sentences_do_not(task, capsys):
    of, documents, source = task
    every = np.arange(len(source))
    table = {row[0]: row for row in document_context.rows(of, documents, ["mlr"], every, documents.of)}
    loss = {name: float(row[1]) for name, row in table.items()}
    assert loss["mlr"] > 0.6  # ln 2 = 0.693
    assert loss["mlr, salient"] < 0.3
    assert loss["mlr, before, salient, topic"] < 0.3
    other = np.random.default_rng(1).permutation(every)
    shuffled = {row[0]: float(row[1]) for row in document_context.rows(of, documents, ["mlr"], other, documents.of)}
    assert shuffled["mlr, salient"] > 0.6


def test_the_command_prints_a_table(tmp_path, capsys, monkeypatch):
    source, target, names, links = planted(40, 6, 5)
    derive(source, target, links).save(tmp_path / "deriv")
    for name, lines in (("f", source), ("doc", names)):
        write_lines(tmp_path / name, lines)
    call = ["", str(tmp_path / "f"), str(tmp_path / "deriv"), "--documents", str(tmp_path / "doc"), "--models", "mlr"]
    printed = []
    for more in ((), ("--pairs", "100"), ("--seen", "--shuffled")):
        monkeypatch.setattr(sys, "argv", [*call, *more])
        document_context.main()
        printed.append(capsys.readouterr().out)
    assert printed[0].startswith("40 documents, 120 tokens")
    assert printed[1].startswith("40 documents, 50 tokens")
    assert all("mlr, before, salient, topic" in each for each in printed)
