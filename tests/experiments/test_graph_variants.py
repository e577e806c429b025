"""experiments/graph_variants.py: gradients by differences, walks by powers of matrices, a dense linear system."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from lscfg.cli import main
from lscfg.extract.derive import derive
from lscfg.induce.propagated.phrases import PhraseFile, read_graph
from lscfg.induce.propagated.propagation import make_step, solve
from lscfg.io.write import write_lines

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
graph_variants = import_module("graph_variants")
sys.path.remove(str(ROOT / "experiments"))
Bags, BagSettings = graph_variants.Bags, graph_variants.BagSettings


# ---- word vectors ----


def some_places(rng, words):
    around = rng.integers(-1, words, (6, 4))
    around[0] = -1
    return around, rng.integers(0, words, (6, 3))


def test_gradients_are_those_of_differences():
    rng = np.random.default_rng(1)
    bags = Bags.of(rng.normal(size=(5, 3)), rng.normal(size=(5, 3)))
    around, asked = some_places(rng, 5)
    _, of_inner, of_outer = bags.gradients(around, asked)
    for vectors, at, gradient in ((bags.inner, around, of_inner), (bags.outer, asked, of_outer)):
        sums = np.zeros_like(vectors)
        np.add.at(sums, at[at >= 0], gradient[at >= 0])
        for place in np.ndindex(vectors.shape):
            losses = []
            for change in (1e-6, -2e-6):
                vectors[place] += change
                losses.append(bags.gradients(around, asked)[0])
            vectors[place] += 1e-6
            assert (losses[0] - losses[1]) / 2e-6 == pytest.approx(sums[place], abs=1e-6)


def test_a_step_follows_the_sums_of_gradients_by_adagrad():
    rng = np.random.default_rng(2)
    bags = Bags.of(rng.normal(size=(5, 3)), rng.normal(size=(5, 3)))
    around, asked = some_places(rng, 5)
    _, of_inner, of_outer = bags.gradients(around, asked)
    before, sums = [bags.inner.copy(), bags.outer.copy()], [np.zeros((5, 3)), np.zeros((5, 3))]
    np.add.at(sums[0], around[around >= 0], of_inner[around >= 0])
    np.add.at(sums[1], asked, of_outer)
    bags.step(around, asked, 0.1)
    for vectors, old, total in zip((bags.inner, bags.outer), before, sums, strict=True):
        assert np.allclose(vectors, old - 0.1 * np.sign(total), atol=1e-6)  # the length of a first step is the rate


def test_words_of_one_class_are_neighbours():
    rng = np.random.default_rng(3)
    lines = [f"the{k} {'ab'[k]}{rng.integers(3)} goes{k}" for k in rng.integers(2, size=3000)]
    settings = BagSettings(dims=8, window=2, epochs=8, rate=0.1)
    words, vectors = graph_variants.learn_vectors(lines, settings)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    class_of = {word: word[0] for word in words if word[0] in "ab"}
    for word in class_of:
        cosine = dict(zip(words, unit @ unit[words.index(word)], strict=True))
        nearest = sorted(class_of.keys() - {word}, key=cosine.__getitem__)[-2:]
        assert {class_of[one] for one in nearest} == {class_of[word]}
    again = graph_variants.learn_vectors(lines, settings)
    assert again[0] == words and np.array_equal(again[1], vectors)


# ---- multi-view diffusion ----


def symmetric_graph(rng, n):
    graph = np.where(rng.random((n, n)) < 0.6, rng.random((n, n)), 0)
    graph = graph + graph.T
    np.fill_diagonal(graph, 0)
    return graph


@pytest.mark.parametrize("time", [1, 3])
def test_distances_are_those_of_walks_between_the_views(time):
    rng = np.random.default_rng(4)
    left, right = symmetric_graph(rng, 6), symmetric_graph(rng, 6)
    kernel = np.block([[np.zeros((6, 6)), left @ right], [right @ left, np.zeros((6, 6))]])
    degree = kernel.sum(axis=1)
    walk = np.linalg.matrix_power(kernel / degree[:, None], time)
    found = graph_variants.two_views(sparse.csr_matrix(left), sparse.csr_matrix(right), 12, time)
    half = found.shape[1] // 2
    for i in range(6):
        for j in range(6):
            # the coordinates leave out the first vector, which is equal for all; that of value -1 differs by the half
            expected = sum(((walk[at + i] - walk[at + j]) ** 2 / degree).sum() for at in (0, 6))
            assert ((found[i] - found[j]) ** 2).sum() == pytest.approx(expected, abs=1e-9)
    assert half == 11


# ---- labelled phrases that move ----


def problem(seed):
    """A walk, lists, labelled rows, similarities of targets, and tokens."""
    rng = np.random.default_rng(seed)
    walk = symmetric_graph(rng, 9)
    walk = sparse.csr_matrix(walk / walk.sum(axis=1, keepdims=True))
    labelled = rng.random(9) < 0.5
    labelled[:2] = True, False
    lists = np.where(rng.random((9, 5)) < 0.7, rng.random((9, 5)) + 0.01, 0)
    lists[:, 0] += 0.01
    lists /= lists.sum(axis=1, keepdims=True)
    similar = np.where(rng.random((5, 5)) < 0.5, rng.random((5, 5)), 0)
    np.fill_diagonal(similar, 1)
    return walk, sparse.csr_matrix(lists), labelled, sparse.csr_matrix(similar), rng.integers(1, 20, 9)


@pytest.mark.parametrize("seed", range(10))
def test_without_movement_the_solution_is_that_of_lscfg(seed):
    *inputs, count = problem(seed)
    usual = make_step(*inputs, "list")
    start = np.ones(len(usual.constant))
    expected = solve(usual, start).probability
    moved = graph_variants.moving_step(0, count)(*inputs, "list")
    assert np.array_equal(moved.row, usual.row)
    assert np.allclose(solve(moved, start).probability, expected, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_movement_solves_the_linear_system(seed):
    walk, lists, labelled, similar, count = problem(seed)
    every = make_step(walk, lists, np.zeros(9, bool), similar, "list").operator.toarray()
    of_pair = np.repeat(np.arange(9), np.diff(lists.indptr))
    stay = np.where(labelled, count / (count + 4), 0.0)[of_pair]
    expected = np.linalg.solve(np.eye(len(stay)) - (1 - stay)[:, None] * every, stay * lists.data)
    moved = graph_variants.moving_step(4, count)(walk, lists, labelled, similar, "list")
    assert np.allclose(moved.constant, expected[~labelled[of_pair]], atol=1e-7)


# ---- the commands ----


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Phrases, their graph, and a fuller grammar, of sentences whose second half has no links."""
    folder, rng = tmp_path_factory.mktemp("graph"), np.random.default_rng(5)
    names = ["dog", "cat", "cow", "hen", "pig", "fox"]
    source, target = [], []
    for k in range(240):
        one, two = rng.integers(6 if k >= 120 else 4, size=2)
        source.append(f"the {names[one]} sees the {names[two]} .")
        target.append(f"DER {names[one].upper()} SIEHT DEN {names[two].upper()} !")
    links = [" ".join(f"{k}-{k}" for k in range(6))] * 240
    derive(source, target, links).save(folder / "all.deriv")
    for name, lines, part in (("f", source, slice(120)), ("e", target, slice(120)), ("a", links, slice(120))):
        write_lines(folder / name, lines[part])
    write_lines(folder / "mono.f", source[120:])
    write_lines(folder / "mono.e", target[120:])
    at = {name: str(folder / name) for name in ("f", "e", "a", "mono.f", "mono.e", "all.deriv", "phrases", "graph")}
    assert main(["grammar", "phrases", at["all.deriv"], "-o", str(folder / "gold")]) == 0
    more = [
        "--mono-source",
        at["mono.f"],
        "--mono-target",
        at["mono.e"],
        "--to-translate",
        at["mono.f"],
        "--set",
        "q=0",
    ]
    assert main(["propagate", "phrases", at["f"], at["e"], at["a"], *more, "-o", at["phrases"]]) == 0
    assert main(["propagate", "graph", at["phrases"], "-o", at["graph"]]) == 0
    return folder


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["", *map(str, arguments)])
    graph_variants.main()


def test_vectors_serve_the_graph(files, monkeypatch):
    run(monkeypatch, "cbow", files / "f", files / "mono.f", "--dims", 4, "-o", files / "vectors")
    settings = ["--set", "space=vectors", "--set", f"source_vectors={files / 'vectors'}"]
    assert main(["propagate", "graph", str(files / "phrases"), *settings, "-o", str(files / "by.vectors")]) == 0
    graph, _ = read_graph(files / "by.vectors", PhraseFile.read(files / "phrases"))
    assert graph.nnz > 0


def test_two_views_make_a_graph(files, monkeypatch):
    run(monkeypatch, "multiview", files / "phrases", "-o", files / "views")
    phrases = PhraseFile.read(files / "phrases")
    graph, _ = read_graph(files / "views", phrases)
    usual, _ = read_graph(files / "graph", phrases)
    assert 0 < graph.nnz <= usual.nnz and graph.data.max() <= 1
    rules = ["propagate", "rules", str(files / "phrases"), str(files / "views"), "-o", str(files / "rules")]
    assert main(rules) == 0


def test_ranks_without_movement_are_those_of_the_command(files, monkeypatch, capsys):
    rules = ["propagate", "rules", str(files / "phrases"), str(files / "graph"), "--set", "ranking=propagated"]
    assert main([*rules, "--gold", str(files / "gold"), "-o", str(files / "rules")]) == 0
    logged = capsys.readouterr().err
    run(monkeypatch, "moving", files / "phrases", files / "graph", "--gold", files / "gold", "--kappas", "0,5")
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in printed[1:]] == [[order, k] for order in ("propagated", "learned") for k in "05"]
    rank = next(line.split()[-1] for line in logged.splitlines() if "1-grams: mean reciprocal rank" in line)
    assert float(printed[1][3]) == pytest.approx(float(rank))
