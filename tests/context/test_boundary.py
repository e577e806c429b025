"""The feature of words at the borders of spans: the kernel's against its definition, and files that hold no weights."""

import dataclasses

import numpy as np
import pytest
from composition import MINIMAL
from helpers import rule_table
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.io import tensors
from lscfg.kernel import Binding, FeatureOptions, Model, ParseOptions, X, feature_names
from lscfg.model.boundary import BoundaryModel
from lscfg.model.parameters import Parameters

OPTIONS = FeatureOptions(names=("boundary",))
WORDS = ["b", "z", "a", "c"]


def random_boundary(seed, share=0.7):
    """Weights of random pairs of words, and these by their words, None for what is beyond the sentence."""
    rng = np.random.default_rng(seed)
    every = np.array([(i, j) for i in range(-1, len(WORDS)) for j in range(-1, len(WORDS))])
    given, known = [], []
    for _ in range(2):
        pairs = rng.permutation(every)[: int(share * len(every))]
        weights = rng.normal(size=len(pairs))
        given.append((pairs, weights))
        named = [tuple(WORDS[k] if k >= 0 else None for k in pair) for pair in pairs.tolist()]
        known.append(dict(zip(named, weights, strict=True)))
    return BoundaryModel.of(WORDS, *given), known


def model_with(folder, boundary, rules=MINIMAL):
    table = rule_table(rules)
    values = tuple(np.ones(((table.arity == k).sum(), *[1] * (k + 1))) for k in range(3))
    Parameters(table, values, np.ones(1), np.ones(1), boundary=boundary).save(folder / "m")
    return Model(folder / "m")


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 7), glue=st.booleans())
def test_the_feature_is_that_of_the_definition(tmp_path_factory, seed, length, glue):
    boundary, (ends, sides) = random_boundary(seed)
    model = model_with(tmp_path_factory.mktemp("boundary"), boundary)
    grammar = model.grammar()
    words = np.random.default_rng(seed).choice([*WORDS, "x", "other"], length).tolist()
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, glue, 1, X))
    if forest is None:
        return
    found = Binding(model, grammar).features(forest, None, OPTIONS)[:, 0]
    padded = [None, *words, None]
    for edge in range(forest.n_edges):
        i, j = forest.node_span[forest.edge_head[edge]]
        value = ends.get((words[i], words[j - 1]), 0) + sides.get((padded[i], padded[j + 1]), 0)
        if forest.node_cat[forest.edge_head[edge]] != X:
            value = 0
        assert found[slice(*forest.edge_apps[edge : edge + 2])] == pytest.approx(value, abs=1e-6)


def test_weights_in_any_order_make_one_model(tmp_path):
    pairs = np.array([[2, 0], [-1, 3], [2, 0], [0, 0]])
    made = BoundaryModel.of(WORDS, (pairs, np.array([1.0, 2.0, 0.5, 0.0])), (pairs[:0], np.zeros(0)))
    assert made.words == ["b", "a", "c"] and made.ends.tolist() == [[-1, 2], [1, 0]]
    assert made.ends_weights.tolist() == [2, 1.5] and not len(made.sides)
    model_with(tmp_path, made)
    read = Parameters.load(tmp_path / "m").boundary
    assert {name: array.tolist() for name, array in read.arrays().items()} == {
        name: array.tolist() for name, array in made.arrays().items()
    }


def test_a_model_may_have_no_rules(tmp_path):
    """A decoder whose grammar has no tensors can have the feature all the same."""
    boundary, (ends, sides) = random_boundary(3, 1)
    model = model_with(tmp_path, boundary, [])
    rules = Parameters.load(tmp_path / "m").rules
    assert len(rules) == 0 and not OPTIONS.need_inference
    (tmp_path / "other").mkdir()
    grammar = model_with(tmp_path / "other", None).grammar()
    forest = grammar.parse(grammar.vocab.add_line("a b"), ParseOptions(9, False, 1, X))
    found = Binding(model, grammar).features(forest, None, OPTIONS)
    top = forest.edge_apps[np.flatnonzero(forest.edge_head == len(forest.node_cat) - 1)[0]]
    assert found[top, 0] == pytest.approx(ends["a", "b"] + sides[None, None], abs=1e-6)


def test_lattices_have_no_borders(tmp_path):
    model = model_with(tmp_path, random_boundary(2, 1)[0])
    grammar = model.grammar()
    arcs = np.array([[k, k + 1, word] for k, word in enumerate(grammar.vocab.add_line("a b a"))], np.int32)
    forest = grammar.parse_lattice(arcs, 4, ParseOptions(9, False, 1, X))
    assert not Binding(model, grammar).features(forest, None, OPTIONS).any()


def test_names_and_models_without_weights(tmp_path):
    assert feature_names(["boundary"]) == ("SpanBoundary",)
    with pytest.raises(
        InputError, match="no span-boundary weights, which SpanBoundary needs; estimate the model with --bound"
    ):
        model_with(tmp_path, None).check_features(OPTIONS)


def _change(name, value):
    def change(arrays):
        arrays[name] = value(arrays[name].copy())

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change("boundary.ends.words", lambda pairs: pairs[::-1].copy()), "'boundary.ends.words' does not ascend"),
        (_change("boundary.sides.words", lambda pairs: pairs + 9), "'boundary.sides.words' holds"),
        (_change("boundary.sides.words", lambda pairs: pairs[:-1].copy()), "boundary.sides"),
        (_change("boundary.ends.weights", lambda values: values * np.float32(np.nan)), "'boundary.ends.weights' holds"),
        (_change("boundary.vocab.offsets", lambda offsets: offsets[::-1].copy()), "vocab.offsets"),
        (lambda arrays: arrays.pop("boundary.sides.weights"), "sides.weights"),
    ],
)
def test_damaged_weights_are_refused(tmp_path, change, message):
    model_with(tmp_path, random_boundary(2)[0])
    arrays, metadata = tensors.load(tmp_path / "m", "model")
    arrays = dict(arrays)
    change(arrays)
    tensors.save(tmp_path / "bad", arrays, metadata)
    for read in (Model, Parameters.load):
        with pytest.raises(
            InputError, match=message if read is Model else message.replace("boundary.", "(boundary.)?")
        ):
            read(tmp_path / "bad")


def test_the_model_keeps_them(tmp_path):
    boundary, _ = random_boundary(5)
    model_with(tmp_path, boundary)
    one = dataclasses.replace(Parameters.load(tmp_path / "m"), about={"a": 1})
    assert one.boundary is not None and one.boundary.words == boundary.words


def test_a_model_without_weights_of_spans_has_none_to_give(tmp_path, capsys):
    model_with(tmp_path, None)
    words = ["estimate", "mle", str(tmp_path / "m"), "-o", str(tmp_path / "out"), "--boundary", str(tmp_path / "m")]
    assert main(words) == 1
    assert "no span-boundary weights; name a model of lscfg grammar biparsed" in capsys.readouterr().err
