"""Ratios to one state: the kernel's against their definition, and the model files that make them possible."""

from functools import cache

import numpy as np
import pytest
from composition import MINIMAL, closure, sides
from estimates import estimate_iterated, estimate_mle
from forests import PASS, UNKNOWN, rebuilt
from helpers import rule_table, save_model
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import ratio_features
from trees import corpus

from lscfg.cli import main
from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError
from lscfg.estimate.clusters import ClusterSettings
from lscfg.estimate.em import EMSettings
from lscfg.estimate.spectral import MethodOfMoments, SpectralSettings
from lscfg.formats.ini import LatentFeature
from lscfg.kernel import (
    LATENT_FEATURES,
    PAPER_FEATURES,
    Binding,
    BindingOptions,
    FeatureOptions,
    ForestBuilder,
    Grammar,
    Model,
    ParseOptions,
    S,
    X,
    feature_names,
)
from lscfg.model.compress import CPSettings, compress
from lscfg.model.parameters import OneState, Parameters

RATIOS = LATENT_FEATURES[4:11]
RULES = [*MINIMAL, "[X,1] [X,2] ||| [X,1] x [X,2]"]
OOV = BindingOptions(compose=True, oov=True, oov_parts=True)


def models(folder, m, seed, signed):
    """A model of RULES, and one that has its parameters of one state as its own."""
    rng = np.random.default_rng(seed)
    table = rule_table(RULES)

    def draw(*shape):
        return rng.normal(size=shape) if signed else rng.uniform(size=shape)

    one = OneState(rng.uniform(0.001, 1, len(table)), rng.uniform(0.001, 1, 1))
    one.rules[rng.random(len(table)) < 0.1] = 0
    tensors = [draw(*[m] * (a + 1)) for a in table.arity]
    model = Model(save_model(folder / "m", table, tensors, draw(m), draw(m), one))
    values = [np.full([1] * (a + 1), value) for a, value in zip(table.arity, one.rules, strict=True)]
    return model, Model(save_model(folder / "one", table, values, np.ones(1), one.unk))


@cache
def composed_names():
    """Both sides of all rules that are composed of RULES, in order."""
    return sorted(closure({sides(rule): np.ones([1] * (rule.count("[X,") // 2 + 1)) for rule in RULES}, 3))


def larger_grammar(model, seed):
    """Some rules of the model and some composed of them."""
    if not seed % 3:
        return model.grammar()
    names, grammar = composed_names(), Grammar()
    for k in np.random.default_rng(seed).permutation(len(names))[:60]:
        grammar.read_text(f"[X] ||| {' '.join(names[k][0])} ||| {' '.join(names[k][1])}\n")
    grammar.finish()
    return grammar


@settings(max_examples=150)
@given(
    m=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    signed=st.booleans(),
    glue=st.booleans(),
    clamp=st.booleans(),
    built=st.booleans(),
    words=st.lists(st.sampled_from("aabbccq"), min_size=1, max_size=8),
)
def test_equal_their_definition(tmp_path_factory, m, seed, signed, glue, clamp, built, words):
    """Covers glue, unknown words, composed rules, negative parameters and zeros, and parts of forests."""
    model, one = models(tmp_path_factory.mktemp("m"), m, seed, signed)
    grammar = larger_grammar(model, seed)
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(5, glue, 2, S if glue else X))
    if forest is not None and built:
        forest = rebuilt(forest, grammar, np.random.default_rng(seed), 0.8)[0]
    if forest is None:
        return
    binding, plain = (Binding(found, grammar, OOV) for found in (model, one))
    inference, other = binding.infer(forest), plain.infer(forest)
    for log, floor in ((True, 1e-6), (False, 1e-3)):
        options = FeatureOptions(log, floor, "clamp" if clamp else "flip", LATENT_FEATURES[:11])
        everything = binding.features(forest, inference, options)
        latent = np.maximum(inference.apps, 0) if clamp else np.abs(inference.apps)
        expected = dict.fromkeys(RATIOS, np.zeros(forest.n_apps))
        if inference.sign > 0 and other.sign > 0:
            expected = ratio_features(forest, grammar, latent, other.apps, floor)
        for name, values in zip(RATIOS, everything[:, 4:].T, strict=True):
            assert values == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name
        if inference.sign < 0 < other.sign:
            expected = ratio_features(forest, grammar, latent, other.apps, floor)
        kept = binding.features(forest, inference, FeatureOptions(log, floor, options.negative, RATIOS, "keep"))
        for name, values in zip(RATIOS, kept.T, strict=True):
            assert values == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name
        some = FeatureOptions(log, floor, options.negative, ("LatentSwapped", "LatentSpan", "LatentTarget"))
        assert np.array_equal(binding.features(forest, inference, some), everything[:, [7, 3, 4]])
        paper = FeatureOptions(log, floor, options.negative, PAPER_FEATURES)
        assert np.array_equal(binding.features(forest, inference, paper), everything[:, :3])


def test_every_class_of_rules_has_its_features(tmp_path):
    """The factors of an application multiply to its share of the node, so that their ratios add up."""
    model, one = models(tmp_path, 2, 4, False)
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("b a c b a b a"), ParseOptions(100, True, 2, S))
    found = Binding(model, grammar)
    inference = found.infer(forest)
    features = found.features(forest, inference, FeatureOptions(floor=1e-300, names=("ratios",)))
    assert (np.abs(features) > 1e-3).any(axis=0).all()
    shares = []
    for apps in (inference.apps, Binding(one, grammar).infer(forest).apps):
        head = forest.edge_head[forest.app_edge]
        shares.append(apps / np.bincount(head, apps, forest.n_nodes)[head])
    inner = (forest.node_cat[head] == X) & (shares[1] > 0) & (np.abs(features) < 4).all(axis=1)
    assert inner.sum() > 20
    assert features.sum(axis=1)[inner] == pytest.approx(np.log(shares[0] / shares[1])[inner], abs=1e-9)
    assert not features[forest.node_cat[head] != X].any()


def test_rules_that_the_grammar_has_not(tmp_path):
    """An unknown rule has no source side to be bare."""
    model, one = models(tmp_path, 2, 1, False)
    grammar = model.grammar()
    builder = ForestBuilder(grammar.vocab.add_line("a z"))
    left = builder.add_node(X, 0, 1)
    builder.add_application(0)
    builder.add_application(len(grammar) + UNKNOWN)
    right = builder.add_node(X, 1, 2)
    builder.add_application(len(grammar) + PASS)
    builder.add_node(X, 0, 2)
    builder.add_application(8, left, right)
    builder.add_application(len(grammar) + UNKNOWN, left, right)
    forest = builder.finish(grammar)[0]
    binding, plain = (Binding(found, grammar, OOV).infer(forest).apps for found in (model, one))
    expected = ratio_features(forest, grammar, binding, plain)
    found = LatentFeatures(model, grammar, FeatureOptions(names=("ratios",)), "oov").features(forest)
    assert found == pytest.approx(np.stack(list(expected.values()), 1)) and found[:, 4].any()


@pytest.fixture(scope="module")
def estimates():
    trees = corpus(80, 3)
    em = {"m": 2, "iterations": 2}
    return {
        "mle": estimate_mle(trees),
        "few": estimate_mle(trees, 1),
        "spectral": MethodOfMoments().estimate(trees, SpectralSettings(m=2)),
        "pruned": MethodOfMoments().estimate(trees, SpectralSettings(m=2, max_targets=1)),
        "em": estimate_iterated(trees, EMSettings(**em)),
        "held out": estimate_iterated(trees, EMSettings(**em, held_out=0.3)),
        "clusters": estimate_iterated(trees, ClusterSettings(**em)),
    }


def test_every_estimator_writes_the_maximum_likelihood_estimate(estimates, tmp_path):
    for name, estimate in estimates.items():
        estimate.save(tmp_path / name)
        found = Parameters.load(tmp_path / name)
        expected = estimates["few" if name == "pruned" else name if name == "few" else "mle"]
        assert found.one is not None and found.one.rules.dtype == np.float64
        texts = [[rules.text(r) for r in range(len(rules))] for rules in (found.rules, expected.rules)]
        assert texts[0] == texts[1]
        assert np.array_equal(found.one.rules, np.concatenate([tensor.ravel() for tensor in expected.tensors]))
        assert np.array_equal(found.one.unk, expected.unk)


def test_a_model_of_one_state_adds_nothing(estimates, tmp_path):
    estimates["mle"].save(tmp_path / "m", np.float64)
    model = Model(tmp_path / "m")
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("f1 f2 f0 new f3"), ParseOptions(100, False, 2, X))
    assert np.abs(LatentFeatures(model, grammar, FeatureOptions(names=("ratios",))).features(forest)).max() < 1e-9


def test_compressed_models_keep_it(estimates, tmp_path):
    estimates["clusters"].save(tmp_path / "m")
    compress(tmp_path / "m", tmp_path / "low", CPSettings(8, 0.0))
    found = []
    for name in ("m", "low"):
        model = Model(tmp_path / name)
        grammar = model.grammar()
        forest = grammar.parse(grammar.vocab.add_line("f1 f2 f0 f4 f3"), ParseOptions(100, False, 2, X))
        found.append(LatentFeatures(model, grammar, FeatureOptions(names=("ratios",))).features(forest))
    assert found[0] == pytest.approx(found[1], abs=1e-3) and np.abs(found[0]).max() > 0.1
    ones = [Parameters.load(tmp_path / name).one for name in ("m", "low")]
    assert np.array_equal(ones[0].rules, ones[1].rules) and ones[0].unk == ones[1].unk


def test_models_without_one_state(tmp_path, capsys):
    """They open and have the other features; ratios are refused when the model is loaded."""
    table = rule_table(["a ||| x"])
    path = save_model(tmp_path / "m", table, [np.ones(2)], np.ones(2), np.ones(2))
    grammar = Model(path).grammar()
    forest = grammar.parse(grammar.vocab.add_line("a"), ParseOptions(10, False, 0, X))
    assert LatentFeatures(path, grammar, FeatureOptions(names=PAPER_FEATURES)).features(forest).tolist() == [[0, 0, 0]]
    message = "m: the model has no one-state parameters .*, which LatentOrdered needs; estimate the model again"
    wanted = FeatureOptions(names=("LatentSpan", "LatentOrdered"))
    with pytest.raises(InputError, match=message):
        LatentFeatures(path, grammar, wanted)
    with pytest.raises(InputError, match=message):
        LatentFeatures.from_ini(
            LatentFeature({"model": "m", "features": "LatentOrdered"}), grammar, tmp_path / "cdec.ini"
        )
    binding = Binding(Model(path), grammar)
    with pytest.raises(InputError, match="estimate the model again"):
        binding.features(forest, binding.infer(forest), wanted)
    (tmp_path / "text").write_text("a\n")
    assert main(["inspect", "marginals", str(path), str(tmp_path / "text"), "--set", "names=ratios"]) == 1
    assert "which LatentTarget needs" in capsys.readouterr().err


def test_names():
    assert feature_names(["paper"]) == LATENT_FEATURES[:3] and feature_names(["ratios"]) == RATIOS
    assert len(RATIOS) == 7 and RATIOS[0] == "LatentTarget"
    assert FeatureOptions(names=("LatentSpan", "ratios")).names == ("LatentSpan", *RATIOS)
    for bad in (("ratios", "LatentTarget"), ("paper", "paper"), ("ratio",)):
        with pytest.raises(
            InputError,
            match=r"must not name '(LatentTarget|paper)' twice|unknown feature 'ratio'; families are paper, span",
        ):
            FeatureOptions(names=bad)
