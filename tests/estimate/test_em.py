"""EM: against enumeration of all states, its invariants, recovery of a model from a sample, checkpoints, clusters."""

import dataclasses
import shutil

import numpy as np
import pytest
from em_oracle import PLAIN, corpus, enumerate_states, random_weights
from estimates import estimate_iterated, estimate_mle
from helpers import sampled_pairs

from lscfg.errors import InputError
from lscfg.estimate import em
from lscfg.estimate.clusters import ClusterSettings, cluster_states, k_means, nearest
from lscfg.estimate.em import EMRun, EMSettings, Tying, affordable_limit
from lscfg.estimate.pieces import Pieces
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.examples import Examples
from lscfg.io.tensors import load, save
from lscfg.kernel.expectation import ARITIES, Expectation, TreeSet, Weights
from lscfg.model.parameters import Parameters


def pieces_of(derivations: Derivations, limit: int = 0) -> tuple[Examples, TreeSet]:
    examples = Examples.of(derivations)
    tying = Tying.of(examples, examples.counts, limit)
    return examples, Pieces.of(examples, derivations.trees[:-1]).trees(tying.row, tying.rows)


# 4 and 8: the vectorised loops, whose rows are longer than the words that a machine holds
@pytest.mark.parametrize(("m", "n", "longest"), [(1, 30, 6), (2, 20, 6), (3, 12, 4), (4, 6, 3), (8, 5, 2)])
@pytest.mark.parametrize("limit", [0, 1])
def test_expected_counts_are_those_of_enumeration(m, n, longest, limit):
    _, trees = pieces_of(corpus(n, seed=m, longest=longest), limit)
    weights = random_weights(trees, m, m)
    likelihoods, counts, roots = enumerate_states(trees, weights)
    expectation = Expectation(trees)
    assert expectation.infer(weights) == 0
    assert np.allclose(expectation.log_likelihood, likelihoods, rtol=0, atol=1e-10)
    assert np.allclose(expectation.root_counts(), roots, atol=1e-10)
    totals = expectation.count(weights)
    for k in ARITIES:
        assert np.allclose(weights.tensors[k], counts[k], rtol=0, atol=1e-10)
        assert np.allclose(totals[k], counts[k].sum(axis=tuple(range(2, k + 2))), atol=1e-10)


def test_wide_rules_cut_a_tree():
    # 2 4 1 3: no two neighbours make a phrase pair; then the same below and next to other words
    derivations = derive(["a b c d", "x a b c d"], ["p q r s", "p q r s y"], ["0-1 1-3 2-0 3-2", "1-1 2-3 3-0 4-2 0-4"])
    examples, trees = pieces_of(derivations)
    assert derivations.rules.arity.max() == 4
    # four leaves below the wide root; then a binary root with one leaf and one child unseen, and four leaves more
    assert np.diff(trees.first_node).tolist() == [1, 1, 1, 1, 2, 1, 1, 1, 1]
    assert trees.root_kind.tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]
    assert trees.children[4].tolist() == [5, -1]
    assert len(trees.arity) == examples.n_examples


def test_chunks_of_frequent_rules_add_up(monkeypatch):
    derivations = corpus(300)
    results = []
    for size in (4096, 7):
        monkeypatch.setattr("lscfg.kernel.expectation.CHUNK", size)
        _, trees = pieces_of(derivations)
        weights = random_weights(trees, 5, 1)
        expectation = Expectation(trees)
        expectation.infer(weights)
        totals = expectation.count(weights)
        results.append([*weights.tensors, *totals])
    assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("most", [1, 40])
def test_trees_in_parts_give_the_same_counts(monkeypatch, most):
    _, trees = pieces_of(corpus(300))
    assert sum(len(part) for part in trees.parts(most)) == len(trees)
    assert all(len(part) == 1 or len(part.arity) <= most for part in trees.parts(most))
    results = []
    for nodes, threads in ((len(trees.arity), 1), (most, 1), (most, 3)):
        monkeypatch.setattr("lscfg.kernel.expectation.NODES", nodes)
        weights = random_weights(trees, 4, 1)
        expectation = Expectation(trees, threads)
        expectation.infer(weights)
        totals = expectation.count(weights)
        results.append([expectation.log_likelihood, expectation.root_counts(), *weights.tensors, *totals])
    whole, parts, threaded = results
    assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(whole, parts, strict=True))
    assert all((a == b).all() for a, b in zip(parts, threaded, strict=True))


@pytest.mark.parametrize("m", [2, 3, 8])
@pytest.mark.parametrize("init", ["random", "matsuzaki"])
def test_likelihood_never_falls(m, init):
    model = estimate_iterated(corpus(150, seed=m), EMSettings(m, 30, seed=m, init=init, **PLAIN))
    (history,) = model.about["log-likelihood a rule"]
    assert len(history) == 31 and (np.diff(history) > -1e-12).all()
    assert history[-1] > history[1] + 0.05  # the first iteration finds the frequencies of rules, states follow


@pytest.mark.parametrize(
    "settings",
    [
        EMSettings(3, 6, **PLAIN),
        EMSettings(3, 6),
        EMSettings(3, 6, held_out=0.2),
        EMSettings(3, 6, held_out=0.2, **PLAIN),
        ClusterSettings(3, 6),
    ],
)
def test_parameters_are_distributions(settings):
    derivations = corpus(120)
    model = estimate_iterated(derivations, settings)
    assert len(model.rules) == len(Examples.of(derivations).rules)
    assert all((tensor >= 0).all() for tensor in model.tensors)
    total = sum(t.sum(axis=(0, *range(2, t.ndim))) for t in model.tensors)
    assert (Examples.of(derivations).singletons()).any()
    assert np.allclose(total + model.unk, 1, atol=1e-12)
    assert np.isclose(model.root.sum(), 1)
    assert model.about["best iteration"] <= 6
    assert model.about["method"] == ("clusters" if isinstance(settings, ClusterSettings) else "em")


def test_rules_of_each_arity_can_be_a_distribution():
    """As in Figure 2b of the paper; the E step of enumeration, then counts over those of the arity."""
    derivations = corpus(20, seed=3, longest=5)
    em, (_, trees) = EMRun(derivations, EMSettings(2, normalise="arity", **PLAIN)), pieces_of(derivations)
    weights = em.begin(0)
    for _ in range(3):
        assert all(np.allclose(t.sum(axis=(0, *range(2, t.ndim))), 1, rtol=1e-12) for t in weights.tensors)
        _, counts, roots = enumerate_states(trees, weights)
        em.train.infer(weights)
        em.step(weights, em.train, em.tying)
        assert np.allclose(weights.root, roots / roots.sum(axis=1, keepdims=True), atol=1e-12)
        for tensor, count in zip(weights.tensors, counts, strict=True):
            mass = count.sum(axis=(0, *range(2, count.ndim)))
            assert np.allclose(weights.scale[0] * tensor, count / mass.reshape(-1, *[1] * (count.ndim - 2)), atol=1e-10)


def test_usual_distributions_leave_no_trace_in_the_model():
    usual = estimate_iterated(corpus(30), EMSettings(2, 2)).about["settings"]
    arity = estimate_iterated(corpus(30), EMSettings(2, 2, normalise="arity")).about["settings"]
    assert "normalise" not in usual and arity == usual | {"normalise": "arity"}


def test_each_iteration_can_become_a_model():
    """The weights of an iteration make the model that EM of so many iterations makes."""
    settings, found = EMSettings(3, 4, **PLAIN), {}
    em = EMRun(corpus(60), settings)
    last = em.run(lambda iteration, weights: found.update({iteration: em.estimate_of(weights, iteration).parameters()}))
    assert [*found] == [0, 1, 2, 3, 4]
    for iteration, model in found.items():
        alone = EMRun(corpus(60), dataclasses.replace(settings, iterations=iteration)).run().parameters()
        assert all(np.array_equal(*pair) for pair in zip(model.tensors, alone.tensors, strict=True))
        assert np.array_equal(model.root, alone.root) and np.array_equal(model.unk, alone.unk)
    assert np.array_equal(found[4].tensors[2], last.parameters().tensors[2])


def test_one_state_is_relative_frequency():
    derivations = corpus(100)
    plain, expected = estimate_iterated(derivations, EMSettings(1, 2, **PLAIN)), estimate_mle(derivations)
    shrunk = estimate_iterated(derivations, EMSettings(1, 2))
    for model in (plain, shrunk):
        for tensor, wanted in zip(model.tensors, expected.tensors, strict=True):
            assert np.allclose(tensor, wanted, rtol=1e-12)
        assert np.allclose(model.unk, expected.unk) and model.root.tolist() == [1]


def test_states_are_interchangeable():
    derivations = corpus(80)
    order = np.array([2, 0, 3, 1])
    for options in (PLAIN, {}):
        em = EMRun(derivations, EMSettings(4, **options))
        first = em.begin(0)
        second = Weights(
            [t[np.ix_(range(len(t)), *[order] * (t.ndim - 1))].copy() for t in first.tensors],
            first.scale[order],
            first.root[:, order].copy(),
        )
        for weights in (first, second):
            for _ in range(5):
                em.train.infer(weights)
                em.step(weights, em.train, em.tying)
        assert np.allclose(first.root[:, order], second.root)
        for a, b in zip(first.tensors, second.tensors, strict=True):
            assert np.allclose(a[np.ix_(range(len(a)), *[order] * (a.ndim - 1))], b, atol=1e-10)


def test_shrinkage_is_its_formula():
    em = EMRun(corpus(200), EMSettings(3, shrink_source=2.0, shrink_arity=7.0))
    weights = em.begin(0)
    em.train.infer(weights)
    totals = em.train.count(weights)
    counts = [t.copy() for t in weights.tensors]
    em.train.shrink(weights, totals, em.shrinkage(em.tying))
    examples, tying = em.examples, em.tying
    for k in ARITIES:
        tokens = counts[k].reshape(len(counts[k]), -1).sum(axis=1)
        average = counts[k].sum(axis=0) / tokens.sum()
        begin, rows = tying.groups[k]
        for group in range(len(begin) - 1):
            members = rows[begin[group] : begin[group + 1]]
            q = (counts[k][members].sum(axis=0) + 7 * average) / (tokens[members].sum() + 7)
            for row in members:
                expected = tying.mass[k][row] * (counts[k][row] + 2 * q) / (tokens[row] + 2)
                assert np.allclose(weights.tensors[k][row], expected, rtol=1e-10)
        # rules of frequent source sides share their group, whether or not they share tensors
        of_row = np.empty(tying.rows[k], np.int64)
        of_row[rows] = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        chosen = np.nonzero(examples.rules.arity == k)[0]
        frequent = (
            np.bincount(examples.rules.source_id, weights=examples.counts)[examples.rules.source_id[chosen]] >= 10
        )
        for source in np.unique(examples.rules.source_id[chosen[frequent]]):
            same = chosen[frequent][examples.rules.source_id[chosen[frequent]] == source]
            assert len(np.unique(of_row[tying.row[same]])) == 1
        single = chosen[examples.counts[chosen] == 1]
        assert (tying.members[k][tying.row[single]] >= 1).all() and (tying.mass[k][tying.row[single]] == 1).all()


@pytest.mark.parametrize("values", [1 << 29, 15])  # few values: rules of several tokens share tensors
@pytest.mark.parametrize("weighted", [False, True])
def test_one_state_gives_relative_frequencies_whatever_tensors_are_shared(values, weighted, monkeypatch):
    """Of smoothed EM, with one state, also for trees that weigh less than 1."""
    monkeypatch.setattr(em, "VALUES", values)
    derivations = corpus(60, seed=4)
    if weighted:
        rng = np.random.default_rng(5)
        weight = rng.choice([0.25, 0.5, 1.0], len(derivations))
        derivations = dataclasses.replace(derivations, weight=weight, sample=np.zeros(len(derivations), np.int32))
    run = EMRun(derivations, EMSettings(1, 3))
    assert (run.limit > 1) == (values == 15)
    tokens = np.bincount(run.examples.rules.arity, weights=run.examples.counts, minlength=3)
    shared = [(mass * members).sum() for mass, members in zip(run.tying.mass, run.tying.members, strict=True)]
    assert shared == pytest.approx(tokens)
    made, expected = run.run().parameters(), estimate_mle(derivations)
    several = run.examples.counts > 1  # others share their mass with the OOV rule, in two ways
    found = np.array([made.tensor(rule).item() for rule in range(len(made.rules))])
    wanted = np.array([expected.tensor(rule).item() for rule in range(len(made.rules))])
    assert several.sum() > 5 and found[several] == pytest.approx(wanted[several])
    assert found.sum() + made.unk.item() == pytest.approx(1)


def test_reaches_the_likelihood_of_the_generator():
    """Trees of a grammar with four states: EM may do better than the truth on its own sample, not worse."""
    src, tgt, links, truth = sampled_pairs(4000, 3)
    derivations = derive(src, tgt, links)
    settings = EMSettings(4, 60, restarts=4, seed=2, **PLAIN)
    model = estimate_iterated(derivations, settings, threads=2)
    best = max(history[-1] for history in model.about["log-likelihood a rule"])
    expected = np.mean([np.log(truth[f"{s} {a == '0-1 1-0'}"]) for s, a in zip(src, links, strict=True)]) / 3
    assert best > expected - 1e-4
    values = {model.rules.text(r): model.tensor(r) for r in range(len(model.rules))}
    error = 0.0
    for key, p in truth.items():
        first, second, swapped = key.split()
        order = "[X,2] [X,1]" if swapped == "True" else "[X,1] [X,2]"
        left, right = (values[f"[X] ||| {w} ||| {w.upper()}"] for w in (first, second))
        q = model.root @ np.einsum("abc,b,c->a", values[f"[X] ||| [X,1] [X,2] ||| {order}"], left, right)
        error += abs(q - p) / 2
    assert error < 0.03


@pytest.mark.parametrize("options", [PLAIN | {"iterations": 3}, {"iterations": 6, "held_out": 0.3, "patience": 2}])
def test_the_best_of_all_beginnings_is_kept(options):
    """It is what EM makes of that beginning alone, be it the first of them, the last or one between."""
    derivations, winners = corpus(40), set()
    name = "held-out log-likelihood a rule" if "held_out" in options else "log-likelihood a rule"
    for seed in (5, 6, 7):
        singles = []
        for restart in range(3):
            em = EMRun(derivations, EMSettings(2, seed=seed, **options))
            beginning = em.begin(restart)
            em.begin = lambda _, beginning=beginning: beginning
            singles.append(em.run().parameters())
        histories = [single.about[name][0] for single in singles]
        best = int(np.argmax([max(history) for history in histories]))
        winners.add(best)
        found, single = estimate_iterated(derivations, EMSettings(2, restarts=3, seed=seed, **options)), singles[best]
        assert found.about[name] == histories and found.about["best restart"] == best + 1
        assert found.about["best iteration"] == single.about["best iteration"]
        pairs = zip((*found.tensors, found.root), (*single.tensors, single.root), strict=True)
        assert all(np.array_equal(*pair) for pair in pairs)
    assert winners == {0, 1, 2}


def interrupted(em: EMRun, after: int) -> None:
    """Runs EM and stops it with an exception after some steps."""
    step, left = em.step, [after]

    def stopping(*arguments):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        step(*arguments)

    em.step = stopping
    with pytest.raises(KeyboardInterrupt):
        em.run()


@pytest.mark.parametrize("options", [PLAIN, {"restarts": 3}, {"restarts": 2, "held_out": 0.2, "patience": 2}])
@pytest.mark.parametrize("after", [1, 6])
def test_resume_gives_the_same_bytes(tmp_path, options, after):
    derivations, settings = corpus(80), EMSettings(3, 4 if "restarts" in options else 9, **options)
    estimate_iterated(derivations, settings).save(tmp_path / "whole")
    interrupted(EMRun(derivations, settings, checkpoint=tmp_path / "state"), after)
    estimate_iterated(derivations, settings, folder=tmp_path / "state", resume=True).save(tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()
    # a checkpoint that has all iterations is only read
    estimate_iterated(derivations, settings, folder=tmp_path / "state", resume=True).save(tmp_path / "again")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "again").read_bytes()


def test_resume_with_more_iterations(tmp_path):
    derivations = corpus(80)
    estimate_iterated(derivations, EMSettings(3, 8)).save(tmp_path / "whole")
    estimate_iterated(derivations, EMSettings(3, 3), folder=tmp_path / "state")
    estimate_iterated(derivations, EMSettings(3, 8), folder=tmp_path / "state", resume=True).save(tmp_path / "more")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "more").read_bytes()
    with pytest.raises(InputError, match="already has 8 iterations; ask for as many, or start again"):
        estimate_iterated(derivations, EMSettings(3, 7), folder=tmp_path / "state", resume=True)


def test_checkpoints_of_others_are_refused(tmp_path):
    derivations = corpus(40)
    estimate_iterated(derivations, EMSettings(2, 2), folder=tmp_path)
    with pytest.raises(InputError, match="other settings or derivations"):
        estimate_iterated(derivations, EMSettings(2, 2, seed=5), folder=tmp_path, resume=True)
    with pytest.raises(InputError, match="other settings or derivations"):
        estimate_iterated(corpus(41), EMSettings(2, 2), folder=tmp_path, resume=True)
    fewer = dataclasses.replace(derivations, options=dataclasses.replace(derivations.options, max_arity=1))
    with pytest.raises(InputError, match="other settings or derivations"):
        estimate_iterated(fewer, EMSettings(2, 2), folder=tmp_path, resume=True)
    (tmp_path / "checkpoint.em").write_bytes((tmp_path / "checkpoint.em").read_bytes()[:-9])
    with pytest.raises(InputError, match="cut off"):
        estimate_iterated(derivations, EMSettings(2, 2), folder=tmp_path, resume=True)
    shutil.rmtree(tmp_path)
    with pytest.raises(InputError, match=r"checkpoint\.em: no checkpoint is there .*; run without --resume$"):
        estimate_iterated(derivations, EMSettings(2, 2), folder=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("scale", lambda array: array * np.nan, "array 'scale' holds nan"),
        ("root", lambda array: -array, "array 'root' holds -"),
        ("C0", lambda array: array[1:], "array 'C0' is float64"),
        ("C1", lambda array: array.astype(np.float32), "array 'C1' is float32"),
        ("state", "[" * 100_000, "metadata 'state' is not JSON"),
        ("state", '{"restart": 0, "history": [{"train": "x"}], "finished": []}', "its state has an impossible history"),
        ("state", '{"restart": 7, "history": [], "finished": []}', "its state has an impossible restart"),
        ("state", '{"restart": 0, "history": [], "finished": [[]]}', "another number of restarts"),
        ("state", '{"restart": 0, "iteration": 1}', "its state has an impossible score"),
    ],
)
def test_damaged_checkpoints_are_refused(name, change, message, tmp_path):
    derivations, path = corpus(40), tmp_path / "checkpoint.em"
    estimate_iterated(derivations, EMSettings(2, 2), folder=tmp_path)
    arrays, metadata = load(path, "em")
    if name in arrays:
        arrays[name] = change(arrays[name])
    else:
        metadata[name] = change
    save(path, arrays, metadata)
    with pytest.raises(InputError, match=f"^{path}: the checkpoint is damaged: .*{message}.*; delete it and"):
        estimate_iterated(derivations, EMSettings(2, 2), folder=tmp_path, resume=True)


@pytest.mark.parametrize("settings", [EMSettings(4, 5, **PLAIN), EMSettings(4, 5), ClusterSettings(4, 5, held_out=0.1)])
def test_threads_give_the_same_bytes(tmp_path, settings, monkeypatch):
    monkeypatch.setattr("lscfg.kernel.expectation.CHUNK", 50)
    for threads in (1, 2, 5):
        estimate_iterated(corpus(200), settings, threads).save(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes() == (tmp_path / "5").read_bytes()


@pytest.mark.parametrize("m", [2, 16])
def test_a_tree_of_ten_thousand_nodes(m):
    n = 5001
    words = [f"w{k % 7}" for k in range(n)]
    derivations = derive([" ".join(words)], [" ".join(words)], [" ".join(f"{k}-{k}" for k in range(n))])
    assert len(derivations.rule) > 10_000
    model = estimate_iterated(derivations, EMSettings(m, 3, **PLAIN))
    (history,) = model.about["log-likelihood a rule"]
    assert np.isfinite(history).all() and (np.diff(history) > -1e-12).all()
    # one state: the sum of the logarithms of all rules' frequencies
    single = estimate_iterated(derivations, EMSettings(1, 1, **PLAIN))
    counts = Examples.of(derivations).counts
    entropy = float((counts / counts.sum() * np.log(counts / counts.sum())).sum())
    assert np.isclose(single.about["log-likelihood a rule"][0][-1], entropy, rtol=1e-12)


@pytest.mark.usefixtures("terminal")
def test_impossible_trees_are_told_of(capsys):
    em = EMRun(corpus(30), EMSettings(2, 3, **PLAIN))
    weights = em.begin(0)
    weights.tensors[0][:] = 0
    # but for a binary rule over two that are not observed
    assert em.train.infer(weights) == np.isneginf(em.train.log_likelihood).sum() >= len(em.train.log_likelihood) - 1
    em.begin = lambda restart: weights
    with pytest.raises(InputError, match="no start gives"):
        em.run()
    assert "are impossible" in capsys.readouterr().err


def test_all_trees_of_a_pair_are_held_out():
    src, tgt, links, _ = sampled_pairs(30, 1)
    twice = dataclasses.replace(derive(src * 2, tgt * 2, links * 2), alignments=2)
    held_out = EMRun(twice, EMSettings(2, 1, held_out=0.3)).held_out
    assert held_out.sum() == 18 and np.array_equal(held_out[:30], held_out[30:])


def test_held_out_likelihood_ends_em():
    derivations = corpus(150)
    model = estimate_iterated(derivations, EMSettings(8, 60, held_out=0.3, patience=2, **PLAIN))
    (held_out,) = model.about["held-out log-likelihood a rule"]
    best = model.about["best iteration"]
    assert best == int(np.argmax(held_out)) and len(held_out) == best + 3 < 61


def test_clusters_separate_what_is_separate():
    src, tgt, links, _ = sampled_pairs(400, 1)
    examples = Examples.of(derive(src, tgt, links))
    state = cluster_states(examples, examples.is_example, 3, 1)
    assert (state == cluster_states(examples, examples.is_example, 3, 1)).all()
    text = np.array([examples.rules.text(int(t)) for t in examples.type])
    binary = np.array(["[X,1]" in t for t in text])
    assert not set(state[binary]) & set(state[~binary])


def test_k_means_finds_blobs_and_fills_empty_clusters():
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(c, 0.05, size=(30, 2)) for c in (0, 3, 6)]).astype(np.float32)
    for seed in range(20):
        centres = k_means(points, 3, np.random.default_rng(seed))
        cluster, distance = nearest(points, centres)
        assert len(np.unique(cluster)) == 3 and distance.max() < 9
    with pytest.raises(InputError, match="only 2 different nodes for 3"):
        k_means(np.repeat(np.eye(2, dtype=np.float32), 5, axis=0), 3, rng)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"m": -1}, "m must be at least 0, not -1"),
        ({"m": 129}, "m must be at most 128, not 129"),
        ({"iterations": -1}, "iterations must be at least 0"),
        ({"restarts": 0}, "restarts must be at least 1"),
        ({"init": "best"}, "init must be one of random, matsuzaki, samples, split, not 'best'"),
        ({"shrink_source": -1.0}, "shrink_source must be at least 0"),
        ({"shrink_arity": float("nan")}, "shrink_arity must be a finite number, not nan"),
        ({"held_out": 1.0}, "held_out must be less than 1, not 1.0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"patience": 0}, "patience must be at least 1"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(InputError, match=message):
        EMSettings(**options)


def test_trees_that_do_not_fit_are_refused():
    _, trees = pieces_of(corpus(5))
    parts = {name: getattr(trees, name) for name in ("first_node", "root_kind", "arity", "row", "children", "rows")}
    for name, value in (
        ("row", trees.row + 10_000),
        ("children", trees.children * 0),
        ("arity", trees.arity + 3),
        ("first_node", trees.first_node + 1),
        ("root_kind", trees.root_kind[1:]),
    ):
        with pytest.raises(ValueError, match=r"range|follow|whole|edges"):
            TreeSet(**(parts | {name: value}))
    weights = random_weights(trees, 2, 1)
    weights.tensors[0] = weights.tensors[0][1:]
    with pytest.raises(ValueError, match="tensors of arity 0"):
        Expectation(trees).infer(weights)


def test_a_model_file_decodes(tmp_path):
    """Parameters of EM are read by the kernel like any others."""
    from lscfg.kernel import Model

    estimate_iterated(corpus(60), EMSettings(4, 3)).save(tmp_path / "em")
    assert Model(tmp_path / "em").rank == 4
    assert Parameters.load(tmp_path / "em").about["settings"]["shrink_source"] == 5.0


def test_large_corpora_share_more_tensors(monkeypatch):
    """The limit is the least one at which separate tensors are small enough; equal counts stay together."""
    examples, m = Examples.of(corpus(150)), 3
    counts = examples.counts
    assert affordable_limit(examples, m) == 1
    for values in (0, 20, 100, 500, 2_000):
        monkeypatch.setattr("lscfg.estimate.em.VALUES", values)
        tried = {}
        for limit in {1, *counts[counts > 1].tolist()}:
            rows = Tying.of(examples, counts, limit).rows
            tried[limit] = sum(n * m ** (k + 1) for k, n in enumerate(rows))
        fit = [limit for limit, size in tried.items() if size <= values]
        assert affordable_limit(examples, m) == min(fit, default=max(tried))


def test_one_rule_of_a_source_side_is_no_way_around_the_limit(monkeypatch):
    """Every source side here has one rule, so a class for each would hold as much as separate tensors."""
    src, tgt = ([f"{side}{k}" for k in range(40) for _ in range(15)] for side in "fe")
    examples = Examples.of(derive(src, tgt, ["0-0"] * len(src)))
    assert (examples.counts == 15).all()
    monkeypatch.setattr("lscfg.estimate.em.VALUES", 100)
    limit = affordable_limit(examples, 4)
    assert limit == 15 and Tying.of(examples, examples.counts, limit).rows == (1, 0, 0)


@pytest.mark.usefixtures("terminal")
def test_em_says_what_shares_tensors(monkeypatch, capsys):
    derivations = corpus(150)
    separate = EMRun(derivations, EMSettings(2, 1))
    monkeypatch.setattr("lscfg.estimate.em.VALUES", 100)
    shared = EMRun(derivations, EMSettings(2, 1))
    assert sum(shared.tying.rows) < sum(separate.tying.rows)
    assert f"at most {shared.limit:g} times share tensors" in capsys.readouterr().err
    assert EMRun(derivations, EMSettings(2, 1, **PLAIN)).limit == 0
