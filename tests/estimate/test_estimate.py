"""MLE and spectral estimates: against direct formulas, and recovery of a model from a sample of it."""

import numpy as np
import pytest
from estimates import estimate_iterated, estimate_mle, estimate_spectral
from trees import corpus

from lscfg.errors import InputError
from lscfg.estimate.em import EMSettings
from lscfg.estimate.features import inside_features, outside_features, scale
from lscfg.estimate.spectral import MethodOfMoments, SpectralSettings, embed
from lscfg.extract.derive import Derivations, DeriveOptions, derive, derive_files
from lscfg.extract.examples import Examples
from lscfg.extract.yields import Yields
from lscfg.grammar.table import RuleTable
from lscfg.model.parameters import Parameters


def test_examples_know_their_neighbours():
    derivations = derive(["a b c d", "a"], ["y z w x", "y"], ["0-0 1-1 2-3 3-2", "0-0"])
    examples = Examples.of(derivations)
    texts = [examples.rules.text(int(t)) for t in examples.type]
    root = 0
    left, right = examples.children[root]
    assert texts[root] == "[X] ||| [X,1] [X,2] ||| [X,1] [X,2]"
    assert texts[left] == "[X] ||| [X,1] [X,2] ||| [X,1] [X,2]" and texts[right].endswith("||| [X,2] [X,1]")
    assert examples.parent[left] == root and examples.slot[right] == 1
    assert examples.is_root.sum() == 2 and examples.n_examples == 8
    assert (np.diff(examples.rules.arity) >= 0).all()


def test_rules_of_more_nonterminals_are_neighbours_but_no_examples():
    # 2 4 1 3: no two neighbours make a phrase pair
    derivations = derive(["a b c d"], ["p q r s"], ["0-1 1-3 2-0 3-2"])
    examples = Examples.of(derivations)
    assert derivations.rules.arity.max() == 4
    assert examples.n_examples == 4 and len(examples.rules) == 4
    assert (examples.parent[examples.is_example] == 0).all()
    psi = outside_features(examples, ("parent",))
    assert psi[1:].sum() == 4  # the parent's rule is a feature of its children all the same


def test_mle_is_relative_frequency():
    derivations = corpus()
    model = estimate_mle(derivations)
    examples = Examples.of(derivations)
    total = sum(tensor.sum() for tensor in model.tensors)
    assert not examples.singletons().any()
    assert np.isclose(total, 1) and model.rank == 1 and model.root.tolist() == [1]
    frequent = int(examples.counts.argmax())
    assert np.isclose(model.tensor(frequent).item(), examples.counts[frequent] / examples.n_examples)


def test_oov_shares_the_mass_of_singletons():
    derivations = derive(["a", "b", "c", "c"], ["x", "y", "z", "z"], ["0-0"] * 4)
    model = estimate_mle(derivations)
    values = {model.rules.src_text(r): model.tensor(r).item() for r in range(3)}
    assert np.isclose(values["a"], (2 / 4) / 3) and values["a"] == values["b"] == model.unk.item()
    assert np.isclose(values["c"], 2 / 4)


@pytest.mark.parametrize(
    "settings", [None, SpectralSettings(m=2), EMSettings(2, 3), EMSettings(2, 3, shrink_source=0, shrink_arity=0)]
)
def test_oov_is_an_average_token_where_no_rule_was_seen_once(settings):
    """Nothing is taken from the other rules for it."""
    derivations = corpus()
    examples = Examples.of(derivations)
    lexical = examples.rules.arity == 0
    assert (examples.counts[lexical] > 1).all()
    if settings is None:
        model = estimate_mle(derivations)
    elif isinstance(settings, EMSettings):
        model = estimate_iterated(derivations, settings)
        assert sum(t.sum(axis=(0, *range(2, t.ndim))) for t in model.tensors) == pytest.approx(np.ones(2))
    else:
        model = estimate_spectral(derivations, settings)
    assert model.unk == pytest.approx(model.tensors[0].sum(axis=0) / examples.counts[lexical].sum(), rel=1e-12)
    assert model.one.unk == pytest.approx([1 / examples.n_examples], rel=1e-12)
    assert model.one.rules.sum() == pytest.approx(1)


def test_spectral_is_the_formula_of_the_paper():
    """Dense numpy, token by token, as Fig. 2a says it."""
    derivations = corpus(40)
    settings = SpectralSettings(m=3)
    model = estimate_spectral(derivations, settings)
    examples = Examples.of(derivations)
    phi = scale(inside_features(examples), examples.is_example).toarray()
    psi = scale(outside_features(examples), examples.is_example).toarray()
    nodes = np.nonzero(examples.is_example)[0]
    omega = sum(np.outer(phi[n], psi[n]) for n in nodes) / len(nodes)
    u, sigma, vt = np.linalg.svd(omega)
    y, z = phi @ u[:, :3], psi @ vt[:3].T / sigma[:3]
    flip = np.sign(u[np.abs(u[:, :3]).argmax(axis=0), np.arange(3)])
    y, z = y * flip, z * flip
    singles = examples.singletons()
    for rule in range(len(model.rules)):
        if singles[rule]:
            continue
        arity = int(model.rules.arity[rule])
        expected = np.zeros([3] * (arity + 1))
        for node in nodes[examples.type[nodes] == rule]:
            product = z[node]
            for child in examples.children[node, :arity]:
                product = np.multiply.outer(product, y[child])
            expected += product
        assert np.allclose(model.tensor(rule), expected / len(nodes), atol=1e-12)
    assert np.allclose(model.root, y[examples.is_root & examples.is_example].mean(axis=0))
    assert np.allclose(model.about["singular values"], sigma[:3])


@pytest.mark.parametrize("m", [40_000, 10**9])
def test_states_that_no_memory_holds_are_refused_before_any_work(m):
    with pytest.raises(InputError, match=rf"m = {m} hidden states need .* GiB for a rule of 2 .* give a smaller -m"):
        estimate_spectral(corpus(40), SpectralSettings(m=m))


def test_scaling():
    examples = Examples.of(corpus(20))
    phi = inside_features(examples)
    scaled = scale(phi, examples.is_example)
    n = examples.n_examples
    count = np.asarray(phi[examples.is_example].sum(axis=0)).ravel()
    column = int(count.argmax())
    values = scaled[:, [column]].toarray().ravel()
    assert np.allclose(values[values > 0], np.sqrt((n - 1) / (count[column] + 5)))


def sample_corpus(n: int, seed: int) -> tuple[Derivations, dict[str, float]]:
    """Trees of an L-SCFG with two states that decide which words come: the pair (a, b) or (c, d), in one of two orders.

    A root has two children that have the same state as the root itself, so that the children's words go together: what
    a grammar with one state cannot say.
    """
    rng = np.random.default_rng(seed)
    lexicon = ((("a", "A"), ("b", "B")), (("c", "C"), ("d", "D")))
    src, tgt, links = [], [], []
    for _ in range(n):
        state = rng.random() < 0.4
        first, second = (lexicon[int(state)][int(rng.random() < 0.3)] for _ in range(2))
        swapped = rng.random() < (0.9 if state else 0.2)
        src.append(f"{first[0]} {second[0]}")
        tgt.append(f"{second[1]} {first[1]}" if swapped else f"{first[1]} {second[1]}")
        links.append("0-1 1-0" if swapped else "0-0 1-1")
    truth = {}
    for state, p_state in ((0, 0.6), (1, 0.4)):
        for i, p_i in ((0, 0.7), (1, 0.3)):
            for j, p_j in ((0, 0.7), (1, 0.3)):
                for swap in (False, True):
                    p_swap = (0.9 if swap else 0.1) if state else (0.2 if swap else 0.8)
                    truth[f"{lexicon[state][i][0]} {lexicon[state][j][0]} {swap}"] = p_state * p_i * p_j * p_swap
    return derive(src, tgt, links), truth


def tree_value(model: Parameters, swap: bool, first: str, second: str) -> float:
    """C^S . C^r (C^first, C^second) by hand."""
    tensors = {model.rules.text(r): model.tensor(r) for r in range(len(model.rules))}
    order = "[X,2] [X,1]" if swap else "[X,1] [X,2]"
    binary = tensors[f"[X] ||| [X,1] [X,2] ||| {order}"]
    left, right = (tensors[f"[X] ||| {w} ||| {w.upper()}"] for w in (first, second))
    return float(model.root @ np.einsum("abc,b,c->a", binary, left, right))


def tree_error(model: Parameters, truth: dict[str, float]) -> float:
    """Total variation distance of the model's normalised tree probabilities from the true ones."""
    keys = [(f, s, swap) for f in "abcd" for s in "abcd" for swap in (False, True)]
    values = np.array([tree_value(model, swap, f, s) for f, s, swap in keys])
    expected = np.array([truth.get(f"{f} {s} {swap}", 0.0) for f, s, swap in keys])
    return float(np.abs(values / values.sum() - expected).sum() / 2)


def test_spectral_recovers_a_model_from_its_sample():
    # seed and sizes fixed: the figures are what they are, the bounds leave room to other libraries' last digits
    errors = []
    for n in (300, 30000):
        derivations, truth = sample_corpus(n, 5)
        errors.append(tree_error(estimate_spectral(derivations, SpectralSettings(m=3)), truth))
    derivations, truth = sample_corpus(30000, 5)
    context_free = tree_error(estimate_mle(derivations), truth)
    assert errors[1] < errors[0] and errors[1] < 0.03
    assert context_free > 0.3


def test_too_little_text_for_the_rank_says_what_is_possible():
    derivations = derive(["a b"], ["x y"], ["0-0 1-1"])
    with pytest.raises(InputError, match="at most 4 are possible"):
        estimate_spectral(derivations, SpectralSettings(m=9))
    with pytest.raises(InputError, match="m must be at least 0, not -1"):
        SpectralSettings(m=-1)
    with pytest.raises(InputError, match=r"outside must be one of .*, not 'parnt'"):
        estimate_spectral(derivations, SpectralSettings(m=1, outside=("parnt",)))


def test_same_bytes_each_time(tmp_path):
    for name in ("a", "b"):
        estimate_spectral(corpus(50), SpectralSettings(m=4)).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    back = Parameters.load(tmp_path / "a")
    assert back.about["method"] == "spectral" and back.rank == 4


def test_parameters_that_are_not_finite_are_refused():
    rules = RuleTable(
        ["a", "b"], np.array([0, 1], np.int32), np.array([0, 2]), np.array([1], np.int32), np.array([0], np.int32)
    )
    tensors = (np.array([[np.nan]]), np.empty((0, 1, 1)), np.empty((0, 1, 1, 1)))
    with pytest.raises(InputError, match="not finite"):
        Parameters(rules, tensors, np.ones(1), np.ones(1))


def smoothed_by_hand(model, examples, y, z, c):
    """Cohen et al. 2013, rule by rule, as their equations stand."""
    nodes = np.nonzero(examples.is_example)[0]
    mean_y, mean_z = y[nodes].mean(axis=0), z[nodes].mean(axis=0)
    for rule in range(len(model.rules)):
        tokens = nodes[examples.type[nodes] == rule]
        w = np.sqrt(len(tokens)) / (c + np.sqrt(len(tokens)))
        arity = int(model.rules.arity[rule])
        o, t = z[tokens], [y[examples.children[tokens, k]] for k in range(arity)]
        if arity == 1:
            pairs = np.einsum("na,nb->ab", o, t[0]) / len(tokens)
            value = w * pairs + (1 - w) * (
                w * np.outer(o.mean(axis=0), t[0].mean(axis=0)) + (1 - w) * np.outer(mean_z, mean_y)
            )
        elif arity == 2:
            k, (left, right) = len(tokens), t
            full = np.einsum("na,nb,nc->abc", o, left, right) / k
            e2 = (
                np.einsum("ab,c->abc", o.T @ left / k, right.mean(axis=0))
                + np.einsum("ac,b->abc", o.T @ right / k, left.mean(axis=0))
                + np.einsum("bc,a->abc", left.T @ right / k, o.mean(axis=0))
            ) / 3
            e3 = np.einsum("a,b,c->abc", o.mean(axis=0), left.mean(axis=0), right.mean(axis=0))
            e4 = np.einsum("a,b,c->abc", mean_z, mean_y, mean_y)
            value = w * full + (1 - w) * (w * e2 + (1 - w) * (w * e3 + (1 - w) * e4))
        else:
            continue
        yield rule, value * len(tokens) / len(nodes)


def test_smoothing_is_the_formula_of_cohen_et_al():
    derivations = corpus(50)
    examples = Examples.of(derivations)
    assert set(examples.rules.arity) == {0, 2}
    unary = derive(["a b", "c b", "a b", "a b c"], ["x y", "z y", "x y", "x y z"], ["0-0 0-1", "0-0 0-1", "0-0", "0-1"])
    for trees, m in ((derivations, 3), (unary, 2)):
        examples = Examples.of(trees)
        embedding = embed(examples, SpectralSettings(m=m))
        for c in (0.5, 20.0):
            model = estimate_spectral(trees, SpectralSettings(m=m, smoothing=c), 3)
            for rule, expected in smoothed_by_hand(model, examples, embedding.y[:], embedding.z[:], c):
                assert np.allclose(model.tensor(rule), expected, rtol=0, atol=1e-13)
        plain = estimate_spectral(trees, SpectralSettings(m=m))
        barely = estimate_spectral(trees, SpectralSettings(m=m, smoothing=1e-14))
        for a, b in zip(plain.tensors, barely.tensors, strict=True):
            assert np.allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("spectral", [True, False])
def test_most_frequent_targets_keep_their_tensors(spectral):
    trees = corpus(60, 3)
    src, tgt, links = ["a"] * 6 + ["b"], ["x", "x", "x", "y", "y", "z", "v"], ["0-0"] * 7
    for derivations, limit in ((trees, 1), (derive(src, tgt, links), 2)):
        if spectral and derivations is trees:
            whole = estimate_spectral(derivations, SpectralSettings(m=2))
            pruned = estimate_spectral(derivations, SpectralSettings(m=2, max_targets=limit))
        else:
            whole, pruned = estimate_mle(derivations), estimate_mle(derivations, limit)
        tensors = {whole.rules.text(r): whole.tensor(r) for r in range(len(whole.rules))}
        counts = dict(zip(tensors, Examples.of(derivations).counts.tolist(), strict=True))
        sources = [text.split(" ||| ")[1] for text in tensors]
        expected = set()
        for source in set(sources):
            mine = [text for text, s in zip(tensors, sources, strict=True) if s == source]
            expected |= set(sorted(mine, key=lambda text: -counts[text])[:limit])
        assert len(expected) < len(tensors)
        assert {pruned.rules.text(r) for r in range(len(pruned.rules))} == expected
        for r in range(len(pruned.rules)):
            assert np.array_equal(pruned.tensor(r), tensors[pruned.rules.text(r)])
        assert np.array_equal(pruned.unk, whole.unk)


def test_bytes_do_not_depend_on_threads(tmp_path):
    for threads in (1, 2, 5):
        settings = SpectralSettings(m=4, smoothing=3.0)
        estimate_spectral(corpus(50), settings, threads).save(tmp_path / str(threads))
        MethodOfMoments().estimate(corpus(50), settings, threads).save(tmp_path / f"{threads}s")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


@pytest.mark.parametrize("smoothing", [0.0, 7.0])
def test_parameters_do_not_depend_on_blocks(tmp_path, monkeypatch, smoothing):
    settings, trees = SpectralSettings(m=4, smoothing=smoothing, max_targets=3), corpus(80, 2)
    MethodOfMoments().estimate(trees, settings).save(tmp_path / "one")
    monkeypatch.setattr("lscfg.estimate.spectral.BLOCK", 64)  # a rule of arity 2 at a time
    MethodOfMoments().estimate(trees, settings).save(tmp_path / "many")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()


def test_without_scaling_the_covariance_is_that_of_the_counts():
    examples = Examples.of(corpus(40))
    embedding = embed(examples, SpectralSettings(m=2, scaling=False))
    phi, psi = inside_features(examples), outside_features(examples)
    omega = (phi[examples.is_example].T @ psi[examples.is_example]).toarray() / examples.n_examples
    assert np.allclose(embedding.sigma, np.linalg.svd(omega, compute_uv=False)[:2])


@pytest.mark.parametrize(
    "bad",
    [
        {"min_count": 0},
        {"smoothing": -1.0},
        {"smoothing": float("nan")},
        {"max_targets": -1},
        {"svd": "power"},
    ],
)
def test_settings_are_checked(bad):
    with pytest.raises(InputError, match=str(next(iter(bad.values())))):
        SpectralSettings(**bad)


@pytest.mark.parametrize("estimate", ["lexical", "em", "mle"])
def test_dropped_pairs_leave_no_trace(tmp_path, estimate):
    """In front, in the middle and at the end of the corpus: models and texts are those of the good pairs alone."""
    good = [("a b", "A B", "0-0 1-1"), ("c d a", "C D A", "0-0 1-1 2-2"), ("a b c", "B A C", "0-1 1-0 2-2")] * 5
    bad = ("x", "", "")
    corpora = {"whole": good, "holes": [bad, *good[:4], bad, bad, *good[4:], bad]}
    found = {}
    for name, pairs in corpora.items():
        paths = [tmp_path / f"{name}.{side}" for side in ("src", "tgt", "links")]
        for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
            path.write_text("".join(f"{line}\n" for line in lines))
        derive_files(*paths, tmp_path / name, DeriveOptions(drop=True))
        derivations = Derivations.load(tmp_path / name)
        texts = [Yields.of(derivations).sentences(derivations, side) for side in (0, 1)]
        assert [text for text in texts[0] if text] == [src for src, _, _ in good]
        assert [text for text in texts[1] if text] == [tgt for _, tgt, _ in good]
        assert len(texts[0]) == len(pairs)
        if estimate == "lexical":
            settings = SpectralSettings(m=2, inside=("rule", "lexical"), outside=("parent", "lexical", "length"))
            found[name] = estimate_spectral(derivations, settings)
        else:
            found[name] = (
                estimate_iterated(derivations, EMSettings(2, 3)) if estimate == "em" else estimate_mle(derivations)
            )
    for whole, holes in zip(found["whole"].tensors, found["holes"].tensors, strict=True):
        assert np.allclose(whole, holes, rtol=1e-12, atol=0)
