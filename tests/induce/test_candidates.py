"""Maps of contexts, stems, spaces and the learned ranking, on text whose translations are known."""

import numpy as np
import pytest
from scipy import sparse
from seeds import seeds

from lscfg.errors import InputError
from lscfg.induce.propagated import mapping, ranking
from lscfg.induce.propagated.candidates import _largest, lexical_weights
from lscfg.induce.propagated.held import hold_out
from lscfg.induce.propagated.mapping import from_map, ridge
from lscfg.induce.propagated.morphology import from_stems
from lscfg.induce.propagated.neighbours import nearest_dense_rows
from lscfg.induce.propagated.ngrams import NGrams
from lscfg.induce.propagated.phrases import PhraseFile, PhraseSide
from lscfg.induce.propagated.propagation import Solution
from lscfg.induce.propagated.spaces import GraphSettings, dense_rows
from lscfg.induce.propagated.spread import PropagationSettings, Spread, spread
from lscfg.prepare.stems import read_stems, stemmer

WORDS = 30


def phrase_file(source, target, labels, contexts=(None, None), counts=None):
    """Phrases of one-word and longer texts; every word of a labelled one is linked with the words of its labels."""
    numbers = {}
    sides = []
    for texts, own in zip((source, target), contexts, strict=True):
        grams = NGrams.of([[numbers.setdefault(word, len(numbers)) for word in text.split()] for text in texts])
        sides.append((grams, own))
    links = {(numbers[f], numbers[e]) for (a, b) in labels for f in source[a].split() for e in target[b].split()} | {
        (numbers[word], -1) for word in ("none",) if word in numbers
    }
    made = []
    for grams, own in sides:
        shape = (len(grams), 2 * len(numbers))
        own = sparse.csr_matrix(shape, dtype=np.int32) if own is None else sparse.csr_matrix(own, shape=shape)
        count = np.full(len(grams), 3) if counts is None else counts[: len(grams)]
        made.append(PhraseSide(grams, np.asarray(count), own.astype(np.int32), np.zeros(0, np.int64)))
    places = (list(labels.values()), np.array([*labels]).T if labels else np.zeros((2, 0), int))
    matrix = sparse.csr_matrix(places, shape=(len(source), len(target)))
    lexicon = np.array(sorted(links) or np.zeros((0, 2)), np.int32)
    held = hold_out(np.diff(matrix.indptr) > 0, made[0].phrases.lengths, made[0].count, np.zeros(len(source), bool))
    return PhraseFile([*numbers], *made, matrix, lexicon, np.ones(len(lexicon), np.int64), {}, held)


def test_ridge_regression_is_the_minimum():
    dice = np.random.default_rng(1)
    x, y, weight = dice.normal(size=(20, 3)), dice.normal(size=(20, 2)), dice.random(20)

    def loss(image):
        return (weight * ((x @ image - y) ** 2).sum(1)).sum() + 0.7 * (image**2).sum()

    found = ridge(x, y, weight, 0.7)
    for _ in range(20):
        assert loss(found + dice.normal(scale=1e-3, size=found.shape)) > loss(found)


def test_a_map_finds_words_whose_contexts_correspond():
    """Source and target contexts are the same counts under other names of the contexts."""
    dice = np.random.default_rng(2)
    counts = dice.poisson(2, (WORDS, 6)) + dice.poisson(9, (WORDS, 6)) * (dice.random((WORDS, 6)) < 0.3)
    source, target = [f"f{k}" for k in range(WORDS)], [f"e{k}" for k in range(WORDS)]
    hidden = range(WORDS - 4, WORDS)
    labels = {(k, k): 1.0 for k in range(WORDS) if k not in hidden}
    there = np.zeros((WORDS, 4 * WORDS))
    there[:, :6] = counts
    elsewhere = np.zeros_like(there)
    elsewhere[:, 20:26] = counts[:, ::-1]
    phrases = phrase_file(source, target, labels, (there, elsewhere))
    found = from_map(phrases, GraphSettings(rank=5)).toarray()
    assert (found[: WORDS - 4] == 0).all()
    right = [int((found[k] > found[k, k]).sum()) for k in hidden]
    assert np.mean(right) < 3  # of 30; by chance it would be 15
    assert found[WORDS - 1].max() <= 1 + 1e-6


def test_words_with_longer_labels_alone_choose_no_penalty(monkeypatch):
    """A map reaches phrases of two words; other words would be ranked by an arbitrary phrase."""
    dice = np.random.default_rng(5)
    source, target = [f"f{k}" for k in range(WORDS)], [*(f"e{k}" for k in range(WORDS)), "e0 e1 e2"]
    labels = {(k, WORDS if k % 2 == 0 else k): 1.0 for k in range(WORDS - 4)}
    contexts = [dice.poisson(2, (len(side), 4 * WORDS)) for side in (source, target)]
    ranked = []

    def rank(source, target, image, rows, labels):
        ranked.extend(np.diff(labels.indptr)[rows].tolist())
        return 0.0

    monkeypatch.setattr(mapping, "_held_out", rank)
    assert from_map(phrase_file(source, target, labels, contexts), GraphSettings(rank=5)).nnz > 0
    assert ranked and min(ranked) > 0
    long = {(k, WORDS): 1.0 for k in range(WORDS - 4)}
    assert from_map(phrase_file(source, target, long, contexts), GraphSettings(rank=5)).nnz == 0


def test_nothing_to_map():
    assert from_map(phrase_file(["a"], ["A"], {}), GraphSettings()).nnz == 0
    assert from_map(phrase_file(["a"], ["A"], {(0, 0): 1.0}), GraphSettings()).nnz == 0


STEMS = {"geht": "geh", "gehen": "geh", "goes": "go", "going": "go", "went": "go"}


def test_stems_give_inflected_forms():
    phrases = phrase_file(["geht", "gehen", "haus"], ["goes", "going", "house", "went"], {(0, 0): 1.0, (2, 2): 1.0})
    phrases.target.count[:] = (5, 2, 9, 0)  # no text has went
    stem = lambda word: STEMS.get(word, word)  # noqa: E731
    found = from_stems(phrases, stem, stem).toarray()
    assert (found[[0, 2]] == 0).all()
    assert found[1].tolist() == pytest.approx([1, found[1, 1], 0, 0])
    assert 0 < found[1, 1] < 1


def test_a_phrase_of_known_stems_alone_gets_candidates():
    phrases = phrase_file(["geht", "rot"], ["goes"], {(0, 0): 1.0})
    assert from_stems(phrases, str, str).nnz == 0


def test_stemmers_and_files_of_stems(tmp_path):
    for language in ("german", "de", "ger", "deu_Latn", "de-AT"):
        assert stemmer(language, None)("häuser") == "haus"
    assert stemmer("", None)("häuser") == "häuser"
    path = tmp_path / "stems"
    path.write_text("häuser haus\nrot\n")
    assert read_stems(path) == {"häuser": "haus", "rot": "rot"}
    assert stemmer("", path)("häuser") == "haus" and stemmer("", path)("blau") == "blau"
    with pytest.raises(InputError, match=r"no stemmer for 'klingon'; choose one of .*german"):
        stemmer("klingon", None)
    path.write_text("häuser haus\nein wort zuviel\n")
    with pytest.raises(InputError, match="stems:2: expected a word and its stem, found 3 words"):
        read_stems(path)


def test_vectors_of_phrases_are_sums(tmp_path):
    path = tmp_path / "vectors"
    path.write_text("3 2\na 1 0\nb 0 2\nother 5 5\n")
    phrases = phrase_file(["a", "a b", "none"], ["A"], {(0, 0): 1.0})
    rows = dense_rows(phrases.source, phrases.words, GraphSettings(space="vectors"), path)
    assert rows == pytest.approx(np.array([[1, 0], np.array([1, 2]) / 5**0.5, [0, 0]]))


def test_word_vectors_have_to_be_given():
    phrases = phrase_file(["a"], ["A"], {(0, 0): 1.0})
    with pytest.raises(InputError, match="source_vectors and target_vectors"):
        dense_rows(phrases.source, phrases.words, GraphSettings(space="vectors"))


@pytest.mark.parametrize("space", ["svd", "cca"])
def test_twins_are_nearest_in_low_dimensional_spaces(space):
    dice = np.random.default_rng(3)
    counts = np.repeat(dice.poisson(3, (10, 40)), 2, axis=0)  # every second row repeats the one before it
    texts = [f"w{k}" for k in range(20)]
    phrases = phrase_file(texts, ["A"], {(0, 0): 1.0}, (counts[:, : 2 * 21], None))
    rows = dense_rows(phrases.source, phrases.words, GraphSettings(space=space, rank=8))
    graph = nearest_dense_rows(rows, 1)
    assert [graph[k].indices.tolist() for k in range(20)] == [[k ^ 1] for k in range(20)]


@seeds(20)
def test_dense_neighbours_are_those_of_brute_force(seed):
    dice = np.random.default_rng(seed)
    rows = dice.normal(size=(int(dice.integers(1, 40)), 5)).astype(np.float32)
    rows[dice.random(len(rows)) < 0.2] = 0
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    k = int(dice.integers(1, 50))
    graph = nearest_dense_rows(rows, k)
    cosine = rows.astype(float) @ rows.T.astype(float)
    np.fill_diagonal(cosine, 0)
    for row, values in enumerate(cosine):
        best = np.sort(values[values > 1e-6])[::-1][:k]
        found = graph[row]
        assert row not in found.indices
        assert np.sort(found.data)[::-1][: len(best)] == pytest.approx(best, abs=1e-6)


def test_the_ranking_learns_which_source_is_right():
    """Of four candidates the source 'map' prefers the right one, 'characters' and propagation a wrong one."""
    dice, size = np.random.default_rng(4), 60
    row = np.repeat(np.arange(size), 4)
    gold = np.tile([1.0, 0, 0, 0], size)
    values = {"map": gold * 0.2 + dice.random(4 * size) * 0.1, "characters": np.tile([0.1, 0.9, 0.2, 0.1], size)}
    spread = Spread(
        row,
        np.tile(np.arange(4), size),
        np.ones(4 * size, np.uint8),
        np.ones((4 * size, 2)),
        values,
        np.tile([0.1, 0.7, 0.1, 0.1], size),
        Solution(np.zeros(0), np.zeros(0, bool), [], np.zeros(0, int)),
    )
    phrases = phrase_file(["a"], ["A", "B", "C", "D E"], {(0, 0): 1.0})
    features = ranking._features(phrases, spread, ["map"])
    weights = ranking._fit(features, row, gold)
    p = ranking._softmax(features @ weights, row)
    assert np.bincount(row, p) == pytest.approx(1)
    assert p[gold > 0].min() > 0.5
    # labels of too few phrases teach nothing
    few = row < ranking.FEWEST - 1
    assert ranking._fit(features[few], row[few], gold[few]) is None


def test_held_out_phrases_lose_labels_and_links():
    source = [f"f{k}" for k in range(40)] + ["g0"]
    phrases = phrase_file(source, [f"e{k}" for k in range(40)], {(k, k): 1.0 for k in range(40)})
    held = phrases.held
    assert held.sum() == 4 and not held[40]
    part, rows = ranking._without_labels(phrases)
    assert rows.tolist() == list(range(40))
    assert (part.labelled == ~held[:40]).all()
    lost = np.flatnonzero(held)
    assert (lexical_weights(part, lost, lost) == 7).all()
    assert (lexical_weights(phrases, lost, lost) < 7).all()


def test_nearest_takes_labels_of_neighbours_only():
    """Phrase a is beside both labels and beside b, which is beside the second one alone."""
    phrases = phrase_file(["l", "m", "a", "b"], ["x", "y"], {(0, 0): 1, (1, 1): 1})
    similar = np.zeros((4, 4))
    for row, column, value in ((2, 0, 3), (2, 1, 1), (2, 3, 4), (3, 1, 1)):
        similar[row, column] = similar[column, row] = value
    graph = sparse.csr_matrix(similar), GraphSettings()
    found = {}
    for method in ("nearest", "lp"):
        settings = PropagationSettings(method=method, candidates=("neighbours",), list_order="lex")
        made = spread(phrases, graph, None, settings)
        found[method] = {(f, e): p for f, e, p in zip(made.row, made.column, made.probability, strict=True)}
    assert found["nearest"] == pytest.approx({(2, 0): 3 / 4, (2, 1): 1 / 4, (3, 1): 1})
    assert found["lp"] == pytest.approx({(2, 0): 1 / 2, (2, 1): 1 / 2, (3, 1): 1})


@pytest.mark.parametrize("size", [1, 19, 20, 21, 60])
def test_largest_are_those_of_a_stable_order(size):
    values = np.random.default_rng(size).integers(0, 4, (50, size)) / 3
    assert (_largest(values, 20) == np.argsort(-values, axis=1, kind="stable")[:, :20]).all()
