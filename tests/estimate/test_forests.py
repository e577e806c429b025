"""EM over forests against the enumeration of derivations and states; forests in files."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import Decomposition, aligned, linked_lengths, texts

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.estimate import em
from lscfg.estimate.clusters import ClusterSettings, SpectralClusters
from lscfg.estimate.em import EMRun, EMSettings
from lscfg.estimate.pieces import Pieces, edge_posteriors, expected_counts
from lscfg.extract.derive import Derivations, derive, derive_files
from lscfg.extract.examples import Examples
from lscfg.io import tensors
from lscfg.kernel import DeriveOptions
from lscfg.kernel.expectation import ARITIES, Expectation, TreeSet, Weights

PLAIN = {"shrink_source": 0.0, "shrink_arity": 0.0}


def prepared(n, seed=0, longest=6):
    """Derivations with all rules of their forests, examples and pieces."""
    derivations = derive(*aligned(n, seed, longest), forests=True)
    forests = derivations.forests
    examples = Examples.of(dataclasses.replace(derivations, rules=forests.rules))
    return derivations, examples, Pieces.of_forests(examples, forests)


def rows_of(examples):
    """Each rule with a tensor of its own."""
    arity = examples.rules.arity
    row = np.zeros(len(arity), np.int64)
    for k in ARITIES:
        row[arity == k] = np.arange((arity == k).sum())
    return row, tuple(int((arity == k).sum()) for k in ARITIES)


def random_weights(rows, m, seed):
    rng = np.random.default_rng(seed)
    tensors = [rng.random((n, *[m] * (k + 1))) for k, n in enumerate(rows)]
    root = rng.random((2, m))
    return Weights(tensors, rng.random(m), root / root.sum(axis=1, keepdims=True))


def derivations_of(trees: TreeSet, node):
    """All sets of edges that derive the node."""
    for edge in range(trees.first_edge[node], trees.first_edge[node + 1]):
        below = [child for child in trees.children[edge].tolist() if child >= 0]
        for choice in itertools.product(*(list(derivations_of(trees, child)) for child in below)):
            yield [edge, *itertools.chain(*choice)]


def enumerate_all(trees: TreeSet, weights: Weights):
    """Log-likelihoods, counts by arity and of roots, and expected uses of edges, over all derivations and states."""
    m = weights.m
    counts = [np.zeros_like(t) for t in weights.tensors]
    roots, edges = np.zeros_like(weights.root), np.zeros(len(trees.arity))
    likelihoods = []
    for t in range(len(trees)):
        found = []
        top = int(trees.first_node[t])
        for derivation in derivations_of(trees, top):
            heads = [int(trees.head[e]) for e in derivation]
            unseen = [(e, s) for e in derivation for s in range(trees.arity[e]) if trees.children[e, s] < 0]
            for states in itertools.product(range(m), repeat=len(heads) + len(unseen)):
                state = dict(zip([*heads, *unseen], states, strict=True))
                p, used = weights.root[trees.root_kind[t], state[top]], []
                for e, head in zip(derivation, heads, strict=True):
                    k = int(trees.arity[e])
                    below = trees.children[e].tolist()[:k]
                    index = (int(trees.row[e]), state[head])
                    index += tuple(state[c if c >= 0 else (e, s)] for s, c in enumerate(below))
                    p *= weights.scale[state[head]] * weights.tensors[k][index]
                    used.append((k, index))
                found.append((p, state[top], used, derivation))
        total = sum(p for p, *_ in found)
        likelihoods.append(np.log(total) if total else -np.inf)
        found = found if total else []
        for p, first, used, derivation in found:
            roots[trees.root_kind[t], first] += p / total
            edges[derivation] += p / total
            for k, index in used:
                counts[k][index] += p / total
    return np.array(likelihoods), counts, roots, edges


@pytest.mark.parametrize(("m", "n", "longest"), [(1, 30, 6), (2, 8, 5), (3, 5, 4), (4, 9, 3)])
def test_expected_counts_are_those_of_enumeration(m, n, longest):
    _, examples, pieces = prepared(n, m, longest)
    row, rows = rows_of(examples)
    trees = pieces.trees(row, rows)
    assert len(trees.arity) > trees.nodes  # some node has several edges
    weights = random_weights(rows, m, m)
    likelihoods, counts, roots, edges = enumerate_all(trees, weights)
    if m == 1:
        assert np.allclose(Expectation(trees).posteriors(weights), edges, rtol=0, atol=1e-12)
    expectation = Expectation(trees)
    assert expectation.infer(weights) == 0
    assert np.allclose(expectation.log_likelihood, likelihoods, rtol=0, atol=1e-10)
    assert np.allclose(expectation.root_counts(), roots, atol=1e-10)
    totals = expectation.count(weights)
    for k in ARITIES:
        assert np.allclose(weights.tensors[k], counts[k], rtol=0, atol=1e-10)
        assert np.allclose(totals[k], counts[k].sum(axis=tuple(range(2, k + 2))), atol=1e-10)


@pytest.mark.parametrize("m", [1, 3, 8])
def test_trees_are_forests_with_one_edge_a_node(m):
    derivations, examples, _ = prepared(60, 1)
    row, rows = rows_of(examples)
    trees = Pieces.of(examples, derivations.trees[:-1]).trees(row, rows)
    forests = dataclasses.replace(trees, first_edge=np.arange(trees.nodes + 1))
    found = []
    for one in (trees, forests):
        weights, expectation = random_weights(rows, m, 2), Expectation(one)
        expectation.infer(weights)
        totals = expectation.count(weights)
        found.append([expectation.log_likelihood, expectation.root_counts(), *weights.tensors, *totals])
    assert all((a == b).all() for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("most", [1, 50])
def test_parts_and_threads_change_nothing(monkeypatch, most):
    _, examples, pieces = prepared(80, 3)
    row, rows = rows_of(examples)
    trees = pieces.trees(row, rows)
    found = []
    for nodes, threads in ((trees.nodes, 1), (most, 1), (most, 3)):
        monkeypatch.setattr("lscfg.kernel.expectation.NODES", nodes)
        weights, expectation = random_weights(rows, 4, 1), Expectation(trees, threads)
        expectation.infer(weights)
        totals = expectation.count(weights)
        found.append([expectation.log_likelihood, expectation.root_counts(), *weights.tensors, *totals])
    assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(found[0], found[1], strict=True))
    assert all((a == b).all() for a, b in zip(found[1], found[2], strict=True))


def test_what_cannot_be_is_not_counted():
    _, examples, pieces = prepared(20, 4)
    row, rows = rows_of(examples)
    trees = pieces.trees(row, rows)
    weights = random_weights(rows, 2, 5)
    several = np.flatnonzero(np.diff(trees.first_edge) > 1)[0]
    first = trees.first_edge[several]
    weights.tensors[2][trees.row[first]] = 0  # the rule of a split
    likelihoods, counts, _, _ = enumerate_all(trees, weights)
    possible = np.isfinite(likelihoods)
    assert 0 < possible.sum() < len(trees)
    expectation = Expectation(trees)
    assert expectation.infer(weights) == (~possible).sum()
    assert np.allclose(expectation.log_likelihood[possible], likelihoods[possible])
    totals = expectation.count(weights)
    assert all(np.allclose(total.sum(), count.sum()) for total, count in zip(totals, counts, strict=True))


@settings(max_examples=200, deadline=None)
@given(st.lists(linked_lengths(), min_size=1, max_size=3))
def test_forests_of_a_corpus_are_those_of_its_pairs(pairs):
    made = derive(*zip(*(texts(*pair) for pair in pairs), strict=True), forests=True)
    forests = made.forests
    made._check()
    for number, pair in enumerate(pairs):
        other = Decomposition(*texts(*pair))
        spans = other.spans
        wanted = {
            span: {(other.rules.text(edge.rule), tuple(spans[t] for t in edge.tails)) for edge in edges}
            for span, edges in zip(spans, other.edges, strict=True)
        }
        found = {}
        for node in range(forests.first[number], forests.first[number + 1]):
            edges = range(forests.edge[node], forests.edge[node + 1])
            tails = {e: forests.tail[forests.first_tail[e] : forests.first_tail[e + 1]] for e in edges}
            found[tuple(forests.span[node].tolist())] = {
                (forests.rules.text(forests.rule[e]), tuple(tuple(forests.span[t].tolist()) for t in tails[e]))
                for e in edges
            }
        assert found == wanted
    # a derivation of each pair has as many rules as its tree, and the rules of trees keep their numbers
    examples = Examples.of(dataclasses.replace(made, rules=forests.rules))
    counts = expected_counts(Pieces.of_forests(examples, forests), examples, None, 1)
    assert np.isclose(counts.sum(), examples.n_examples)
    alone = derive(*zip(*(texts(*pair) for pair in pairs), strict=True))
    assert [alone.rules.text(r) for r in range(len(alone.rules))] == [
        forests.rules.text(r) for r in range(len(alone.rules))
    ]
    assert (alone.rule == made.rule).all() and len(made.rules) == len(alone.rules)


def test_equal_derivations_are_where_posteriors_begin(monkeypatch):
    monkeypatch.setattr("lscfg.estimate.pieces.ROUNDS", 1)
    made = derive(["a b c"], ["p q r"], ["0-0 1-1 2-2"], forests=True)
    examples = Examples.of(dataclasses.replace(made, rules=made.forests.rules))
    probability, rule = edge_posteriors(Pieces.of_forests(examples, made.forests), examples)
    assert sorted(np.round(probability, 9).tolist()) == [0.5] * 4 + [1.0] * 3
    assert (examples.rules.arity[rule] == 2).sum() == 4


@pytest.mark.parametrize("m", [1, 2, 4])
def test_likelihood_never_falls(m):
    made = derive(*aligned(120, m), forests=True)
    model = em.ExpectationMaximisation().estimate(made, EMSettings(m, 20, seed=m, forests=True, **PLAIN))
    (history,) = model.about["log-likelihood a rule"]
    assert (np.diff(history) > -1e-12).all() and history[-1] > history[1]
    (tree,) = (
        em.ExpectationMaximisation().estimate(made, EMSettings(m, 20, seed=m, **PLAIN)).about["log-likelihood a rule"]
    )
    assert m > 1 or history[-1] > tree[-1]  # of all trees together


@pytest.mark.parametrize(
    "chosen",
    [
        EMSettings(3, 4, forests=True, **PLAIN),
        EMSettings(3, 4, forests=True),
        EMSettings(3, 4, forests=True, held_out=0.2),
        EMSettings(3, 4, forests=True, held_out=0.2, **PLAIN),
        ClusterSettings(3, 4, forests=True),
    ],
)
def test_parameters_are_distributions(chosen):
    made = derive(*aligned(100, 7), forests=True)
    method = SpectralClusters() if isinstance(chosen, ClusterSettings) else em.ExpectationMaximisation()
    model = method.estimate(made, chosen)
    tensors = [np.concatenate([*blocks.parts(np.dtype(np.float64))]) for blocks in model.tensors]
    assert len(model.rules) == (made.forests.rules.arity <= 2).sum() > (made.rules.arity <= 2).sum()
    assert all((tensor >= 0).all() for tensor in tensors)
    total = sum(t.sum(axis=(0, *range(2, t.ndim))) for t in tensors)
    assert np.allclose(total + model.unk, 1, atol=1e-12) and np.isclose(model.root.sum(), 1)
    assert np.isclose(model.one.rules.sum() + model.one.unk[0], 1)


def test_a_run_goes_on_with_the_same_forests(tmp_path):
    made = derive(*aligned(60, 8), forests=True)
    chosen = EMSettings(2, 6, forests=True)
    whole = em.ExpectationMaximisation().estimate(made, chosen)
    em.ExpectationMaximisation().estimate(made, EMSettings(2, 3, forests=True), 1, tmp_path)
    rest = em.ExpectationMaximisation().estimate(made, chosen, 1, tmp_path, True)
    for a, b in zip(whole.tensors, rest.tensors, strict=True):
        left, right = (np.concatenate([*blocks.parts(np.dtype(np.float64))]) for blocks in (a, b))
        assert (left == right).all()
    with pytest.raises(InputError, match="belongs to other settings or derivations"):
        EMRun(made, EMSettings(2, 6), checkpoint=tmp_path, resume=True)


# ---- files ----


def written(folder, lines):
    paths = [folder / name for name in ("f", "e", "a")]
    for path, column in zip(paths, lines, strict=True):
        path.write_text("".join(f"{line}\n" for line in column))
    return paths


def test_files_are_those_of_memory_for_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("lscfg.extract.derive.BLOCK", 7)
    lines = aligned(50, 9)
    lines[0][20] = " ".join("abcdefgh")  # a pair that is dropped
    paths = written(tmp_path, lines)
    options = DeriveOptions(max_words=7, drop=True)
    for threads in (1, 3):
        derive_files(*paths, tmp_path / f"d{threads}", options, threads, forests=True)
    assert (tmp_path / "d1").read_bytes() == (tmp_path / "d3").read_bytes()
    loaded, made = Derivations.load(tmp_path / "d1"), derive(*lines, options=options, forests=True)
    plain = derive(*lines, options=options)
    for name in ("first", "edge", "rule", "tail", "span"):
        assert (getattr(loaded.forests, name) == getattr(made.forests, name)).all()
    for name in ("trees", "rule", "parent", "slot", "span"):
        assert (getattr(loaded, name) == getattr(plain, name)).all()
    assert len(loaded.rules) == len(plain.rules) < len(loaded.forests.rules)
    assert loaded.dropped == {"too long": 1} and loaded.statistics() == plain.statistics()
    loaded.save(tmp_path / "again")
    again = Derivations.load(tmp_path / "again")
    assert (again.forests.rule == loaded.forests.rule).all() and again.forests.rules.arrays().keys()


DAMAGE = {
    "forest.node": (lambda a: a[::-1].copy(), "does not ascend"),
    "forest.edge": (lambda a: np.where(np.arange(len(a)) == 1, 0, a), "node without an edge"),
    "forest.rule": (lambda a: a + 10_000, "'forest.rule' holds"),
    "forest.tail": (lambda a: a * 0, "does not follow its head"),
    "forest.span": (lambda a: a + 1, "differs from the root of the pair's tree"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_refused(tmp_path, name, capsys):
    damage, message = DAMAGE[name]
    path = tmp_path / "d"
    derive(*aligned(20, 10), forests=True).save(path)
    arrays, metadata = tensors.load(path, "derivations")
    arrays = {key: np.array(value) for key, value in arrays.items()}
    tensors.save(path, arrays | {name: damage(arrays[name])}, metadata)
    assert main(["estimate", "em", str(path), "-o", str(tmp_path / "m")]) == 1
    assert message in capsys.readouterr().err
    tensors.save(path, {key: value for key, value in arrays.items() if key != name}, metadata)
    with pytest.raises(InputError, match=f"'{name}' is missing"):
        Derivations.load(path)


def test_a_rule_that_does_not_fit_is_refused(tmp_path):
    made = derive(["a b c"], ["p q r"], ["0-0 1-1 2-2"], forests=True)
    forests = made.forests
    leaf = int(np.flatnonzero(forests.arity == 0)[0])
    rule = forests.rule.copy()
    rule[leaf] = rule[0]
    path = tmp_path / "d"
    dataclasses.replace(made, forests=dataclasses.replace(forests, rule=rule)).save(path)
    with pytest.raises(InputError, match="its rules need"):
        Derivations.load(path)
    span = forests.span.copy()
    span[forests.head[leaf], 1] += 1
    dataclasses.replace(made, forests=dataclasses.replace(forests, span=span)).save(path)
    with pytest.raises(InputError, match="a rule that does not fit its spans"):
        Derivations.load(path)


def test_what_is_wanted_must_be_there(tmp_path, capsys):
    paths = [str(path) for path in written(tmp_path, aligned(10, 11))]
    output = str(tmp_path / "d")
    for option in (["--set", "binarise=true"], ["--set", "max_arity=1"]):
        assert main(["derive", *paths, "--forests", *option, "-o", output]) == 1
        assert "forests need all minimal rules" in capsys.readouterr().err
    assert main(["derive", *paths, "-o", output, "--quiet"]) == 0
    assert main(["estimate", "em", output, "--set", "forests=true", "-o", str(tmp_path / "m")]) == 1
    assert "create them with lscfg derive --forests" in capsys.readouterr().err
