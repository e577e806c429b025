"""EM with log-linear features of rules: against finite differences, closed forms, and a slow reference."""

import numpy as np
import pytest
from em_oracle import PLAIN, corpus, enumerate_states

from lscfg.errors import InputError
from lscfg.estimate import features_em
from lscfg.estimate.em import EMRun, EMSettings
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.estimate.features_em import FeatureDesign, FeatureEMSettings, FeatureRun, RuleFactor
from lscfg.estimate.rule_indicators import TEMPLATES, RuleIndicators
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.examples import Examples
from lscfg.kernel.expectation import Weights
from lscfg.model.parameters import Parameters

FREE = FeatureDesign(variance=np.inf, rule_variance=np.inf)


def run_of(derivations: Derivations, design: FeatureDesign | None = None, **settings) -> FeatureRun:
    made = type("Run", (FeatureRun,), {"design": design or FeatureDesign()})
    return made(derivations, FeatureEMSettings(**{"m": 2, "iterations": 3} | settings), "em-features")


def inferred(run: FeatureRun, restart: int = 0) -> Weights:
    weights = run.begin(restart)
    run.train.infer(weights)
    return weights


def slopes(value, point: np.ndarray, places: list[tuple[int, int]], step: float = 1e-5) -> np.ndarray:
    """Central differences of ``value`` along some entries of the point."""
    found = []
    for place in places:
        there = np.zeros_like(point)
        there[place] = step
        found.append((value(point + there) - value(point - there)) / (2 * step))
    return np.array(found)


def some_places(shape: tuple[int, ...], n: int = 40) -> list[tuple[int, int]]:
    rng = np.random.default_rng(1)
    return [(int(rng.integers(shape[0])), int(rng.integers(shape[1]))) for _ in range(n)]


# ---- features ----


def test_features_of_rules():
    derivations = derive(["a b", "b c", "d"], ["x y", "z x", "u"], ["0-0 1-1", "0-1 1-0", "0-0"])
    rules = Examples.of(derivations).rules
    classes = np.array([ord(word) % 7 for word in rules.words])
    text = [rules.text(k) for k in range(len(rules))]
    straight, swapped = (
        text.index("[X] ||| [X,1] [X,2] ||| [X,1] [X,2]"),
        text.index("[X] ||| [X,1] [X,2] ||| [X,2] [X,1]"),
    )
    word = text.index("[X] ||| a ||| x")
    sizes = {}
    for name in TEMPLATES:
        found = RuleIndicators.of(rules, classes, [name])
        rows = found.matrix.toarray()
        sizes[name] = len(np.unique(rows, axis=0))
        assert set(found.template) == {TEMPLATES.index(name)} and set(np.unique(rows)) <= {0, 1}
        differs = {"rule", "target", "order"}
        assert (rows[straight] != rows[swapped]).any() == (name in differs), name
        # an unknown word looks like any word in these templates alone
        assert (rows[word] == found.unknown).all() == (name in ("order", "shape", "lengths")), name
    assert sizes["rule"] == len(rules) and sizes["order"] == 3 and sizes["shape"] == sizes["lengths"] == 2
    assert sizes["source"] == 5 and sizes["words"] == len(rules) - 1


def test_places_of_words_and_their_numbers():
    one, both = ["e a f b g", "a", "b"], ["p q r s", "q", "s"]
    derivations = derive(one, both, ["0-0 1-1 2-2 3-3 4-2", "0-0", "0-0"])
    rules = Examples.of(derivations).rules
    shapes = {}
    for k in range(len(rules)):
        found = RuleIndicators.of(rules, np.zeros(len(rules.words), int), ["shape"]).matrix[[k]].indices[0]
        sides = [rules.src_text(k), rules.tgt_text(k)]
        places = tuple(tuple(any(word[0] != "[" for word in part) for part in cut(side.split())) for side in sides)
        assert shapes.setdefault(int(found), places) == places
    assert len(set(shapes.values())) == len(shapes) > 2


def cut(words: list[str]) -> list[list[str]]:
    """The words around nonterminals."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word.startswith("["):
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


# ---- the factor theta ----


@pytest.mark.parametrize("held_out", [0.0, 0.3])
def test_the_gradient_is_that_of_finite_differences(held_out):
    run = run_of(corpus(60), held_out=held_out)
    factor = run.factor(run.tying)
    assert factor.seen.all() == (not held_out)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(len(factor.columns), 2))
    expected = rng.random((len(factor.seen), 2)) * factor.seen[:, None]

    def value(point: np.ndarray) -> float:
        return float((expected * factor.logarithms(point)[0]).sum()) + factor.penalised(point)

    places = some_places(weights.shape)
    gradient = factor.gradient(weights, np.exp(factor.logarithms(weights)[0]), expected)
    assert np.allclose(slopes(value, weights, places), [gradient[place] for place in places], rtol=1e-6, atol=1e-6)


def test_fishers_identity():
    """The gradient of expected counts is that of the likelihood of the trees, by enumeration."""
    run = run_of(corpus(15, longest=4), **PLAIN)
    weights, factor = inferred(run), run.factor(run.tying)
    point = weights.loglinear[factor.columns]
    places = some_places(point.shape, 25)
    trees = run.counted.trees(run.tying.row, run.tying.rows)

    def value(there: np.ndarray) -> float:
        moved = weights.copy()
        moved.loglinear = np.zeros_like(weights.loglinear)
        moved.loglinear[factor.columns] = there
        features_em.compose(moved, factor)
        return float(enumerate_states(trees, moved)[0].sum()) + factor.penalised(there)

    expected = np.concatenate(run.train.count(weights.copy()))
    gradient = factor.gradient(point, np.exp(factor.logarithms(point)[0]), expected)
    assert np.allclose(slopes(value, point, places), [gradient[place] for place in places], rtol=1e-6, atol=1e-6)


def test_a_direct_step_climbs_the_same_slope():
    """Both M steps rise from one point, the direct one higher in the likelihood of the trees."""
    risen = []
    for direct in (False, True):
        run = run_of(corpus(80, seed=4), FREE, direct=direct, **PLAIN)
        weights = inferred(run)
        factor = run.factor(run.tying)
        before, start = run.train.total(), weights.loglinear[factor.columns]
        expected = np.concatenate(run.train.count(weights.copy()))
        slope = factor.gradient(start, np.exp(factor.logarithms(start)[0]), expected)
        run.step(weights, run.train, run.tying)
        run.train.infer(weights)
        assert ((weights.loglinear[factor.columns] - start) * slope).sum() > 0
        risen.append(run.train.total() - before)
    assert 0 < risen[0] < risen[1]


def test_indicators_of_rules_without_prior_give_the_m_step_of_em():
    derivations = corpus(60, seed=2)
    design = FeatureDesign(("rule",), np.inf, np.inf, least=1, steps=5000)
    run = run_of(derivations, design, **PLAIN)
    plain = EMRun(derivations, EMSettings(2, 3, **PLAIN))
    weights = inferred(run)
    other = weights.copy()
    plain.train.infer(other)
    run.step(weights, run.train, run.tying)
    plain.step(other, plain.train, plain.tying)
    for k, tensor in enumerate(weights.tensors):
        of_em = other.tensors[k] * other.scale.reshape(1, -1, *[1] * k)
        assert np.allclose(tensor, of_em, rtol=0, atol=1e-6)
    assert np.allclose(weights.root, other.root, atol=1e-12)


# ---- EM ----


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("m", [1, 3])
def test_likelihood_never_falls_without_prior(m, direct):
    run = run_of(corpus(100, seed=m), FREE, m=m, iterations=8, direct=direct, **PLAIN)
    (history,) = run.run().about["log-likelihood a rule"]
    assert len(history) == 9 and (np.diff(history) > -1e-12).all() and history[-1] > history[1]


@pytest.mark.parametrize("settings", [{}, PLAIN, {"held_out": 0.2}, {"held_out": 0.2, "direct": True}, {"restarts": 2}])
def test_parameters_are_distributions(settings):
    derivations = corpus(120)
    model = run_of(derivations, m=3, **settings).run().parameters()
    assert len(model.rules) == len(Examples.of(derivations).rules)
    assert all((tensor > 0).all() for tensor in model.tensors) and (model.unk > 0).all()
    total = sum(tensor.sum(axis=(0, *range(2, tensor.ndim))) for tensor in model.tensors)
    assert np.allclose(total + model.unk, 1, atol=1e-12) and np.isclose(model.root.sum(), 1)
    assert model.about["method"] == "em-features"


def test_the_oov_rule_has_order_shape_and_lengths_of_a_word():
    """Without other features, an unknown word is as likely as any rule that translates a word by a word."""
    design = FeatureDesign(("order", "shape", "lengths"), least=1)
    model = run_of(corpus(60), design, **PLAIN).run().parameters()
    one_word = np.flatnonzero((model.rules.src_length == 1) & (np.diff(model.rules.offsets) == 2))
    assert len(one_word) > 3 and np.allclose(model.tensors[0][one_word], model.unk, rtol=1e-12)


def test_rare_features_have_no_weight():
    run = run_of(corpus(100), iterations=2)
    counts = run.features.matrix.T @ run.examples.counts
    weights = inferred(run)
    run.step(weights, run.train, run.tying)
    assert (counts < 2).any() and (weights.loglinear[counts < 2] == 0).all() and weights.loglinear[counts >= 2].all()


def test_held_out_trees_count_for_nothing():
    run = run_of(corpus(90, seed=7), held_out=0.3)
    factor = run.factor(run.tying)
    counts = np.bincount(run.pieces.rule[run.pieces.of_sentences(~run.held_out)], minlength=len(run.examples.rules))
    assert (factor.seen == (counts > 0)).all() and not factor.seen.all()
    assert (factor.columns == np.flatnonzero(run.features.matrix.T @ counts >= 2)).all()


@pytest.mark.parametrize("settings", [{"m": 4}, {"m": 3, "held_out": 0.2}, {"m": 2, "direct": True}, {"forests": True}])
def test_threads_change_no_byte(settings, tmp_path):
    rng = np.random.default_rng(5)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 6, rng.integers(2, 6))) for _ in range(80)]
    links = [" ".join(f"{k}-{k}" for k in range(len(text.split()))) for text in texts]
    derivations = derive(texts, texts, links, forests=True)
    given = FeatureEMSettings(**{"iterations": 3} | settings)
    for threads in (1, 2):
        ESTIMATORS["em-features"].estimate(derivations, given, threads).save(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@pytest.mark.parametrize("held_out", [0.0, 0.2])
def test_a_resumed_run_gives_the_same_model(held_out, tmp_path):
    derivations, kind = corpus(80), ESTIMATORS["em-features"]
    whole, short = (FeatureEMSettings(2, n, held_out=held_out) for n in (4, 2))
    expected = kind.estimate(derivations, whole).parameters()
    kind.estimate(derivations, short, folder=tmp_path)
    found = kind.estimate(derivations, whole, folder=tmp_path, resume=True).parameters()
    assert all((a == b).all() for a, b in zip(found.tensors, expected.tensors, strict=True))
    with pytest.raises(InputError, match="other settings or derivations"):
        ESTIMATORS["em"].estimate(derivations, EMSettings(2, 4, held_out=held_out), folder=tmp_path, resume=True)


def test_categories_are_refused():
    from lscfg.extract.labels import label

    derivations = label(corpus(150), 2, least=1).derivations
    with pytest.raises(InputError, match="one category"):
        ESTIMATORS["em-features"].estimate(derivations, FeatureEMSettings(2, 1))


def test_it_can_be_read_again(tmp_path):
    ESTIMATORS["em-features"].estimate(corpus(40), FeatureEMSettings(2, 2)).save(tmp_path / "model")
    assert Parameters.load(tmp_path / "model").about["settings"]["direct"] is False


def test_theta_sums_to_one():
    run = run_of(corpus(60), held_out=0.3)
    factor: RuleFactor = run.factor(run.tying)
    theta = np.exp(factor.logarithms(inferred(run).loglinear[factor.columns])[0])
    assert np.allclose(theta[factor.seen].sum(axis=0), 1, rtol=1e-12) and (theta > 0).all()
