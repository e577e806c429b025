"""Packed tensors: the same values in fewer bytes, for both readers, and the same inference to the last bit."""

import dataclasses
import os
import struct

import numpy as np
import pytest
from damage import damaged_copies
from helpers import rule_table, save_model
from mutations import join_file, split_file

from lscfg.errors import InputError
from lscfg.io.tensors import Blocks, load
from lscfg.kernel import Binding, FeatureOptions, Model, ParseOptions, X
from lscfg.model import packing
from lscfg.model.parameters import Estimate, OneState, Parameters, blocks_of
from lscfg.model.shared import SharedTensors, stored, sum_of_rules, sums_by_state
from lscfg.study.inspect import describe_model, show_nearest, show_states
from lscfg.study.states import States

SIDES = ["x", "y", "x y", "y x", "x x"]
RULES = [
    *("a ||| " + side for side in SIDES),
    *(f"b [X,1] ||| [X,1] {side}" for side in SIDES),
    *(f"[X,1] c [X,2] ||| [X,1] {side} [X,2]" for side in SIDES),
    *(f"[X,1] [X,2] ||| [X,2] {side} [X,1]" for side in SIDES),
    "[X,1] [X,2] ||| [X,1] [X,2]",
]


def parameters(m: int, kind: type = np.float32, seed: int = 1, signed: bool = True) -> Parameters:
    """Tensors some of which are equal, and some of whose entries are 0 in all of them; m = 1: not even that."""
    rng = np.random.default_rng(seed)
    table = rule_table(RULES)
    tensors = []
    for arity in range(3):
        n = int((table.arity == arity).sum())
        array = rng.normal(size=[n] + [m] * (arity + 1))
        array = array if signed else np.abs(array)
        if m > 1:
            used = rng.random(size=array.shape[1:]) < 0.4
            used.flat[0] = True  # so that a derivation has a probability
            array = np.where(used, array, 0.0)
        array = array[rng.integers(0, (n + 1) // 2, size=n)]
        tensors.append(array.astype(kind))
    one = OneState(np.full(len(table), 1 / len(table)), np.array([0.25]))
    return Parameters(table, tuple(tensors), np.ones(m), np.full(m, 0.5), one=one)  # type: ignore[arg-type]


def packed_and_plain(tmp_path, model, kind, monkeypatch):
    model.save(tmp_path / "plain", kind)
    assert "C2.index" not in load(tmp_path / "plain", "model")[0]  # too small to gain
    monkeypatch.setattr(packing, "LEAST_SAVED", -(1 << 30))
    model.save(tmp_path / "packed", kind)
    assert "C2" not in load(tmp_path / "packed", "model")[0]
    return tmp_path / "packed", tmp_path / "plain"


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 2, 5, 8])
def test_values_and_inference_keep_every_bit(tmp_path, monkeypatch, m, kind):
    model = parameters(m, kind)
    found, results = [], []
    for path in packed_and_plain(tmp_path, model, kind, monkeypatch):
        found.append(Parameters.load(path))
        bound = Model(path)
        grammar = bound.grammar()
        binding = Binding(bound, grammar)
        forest = grammar.parse(grammar.vocab.add_line("b a c b a c a a b a"), ParseOptions(100, False, 2, X))
        assert forest is not None
        inference = binding.infer(forest)
        ratios = binding.features(forest, inference, FeatureOptions(names=("ratios",)))
        results.append((inference, ratios))
    for ours, theirs, given in zip(found[0].tensors, found[1].tensors, model.tensors, strict=True):
        assert ours.dtype == theirs.dtype == kind
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes() == np.asarray(given).tobytes()
    (packed, ours), (plain, theirs) = results
    assert np.abs(packed.apps).max() > 0
    assert packed.apps.tobytes() == plain.apps.tobytes()
    assert packed.nodes.tobytes() == plain.nodes.tobytes()
    assert ours.tobytes() == theirs.tobytes()


def test_files_hold_each_tensor_and_entry_once(tmp_path, monkeypatch):
    model = parameters(5)
    path, _ = packed_and_plain(tmp_path, model, np.float32, monkeypatch)
    arrays, metadata = load(path, "model")
    assert metadata["format"] == "2"
    for k in (1, 2):
        flat = model.tensors[k].reshape(len(model.tensors[k]), -1)
        assert len(arrays[f"C{k}.values"]) == len({row.tobytes() for row in flat}) < len(flat)
        assert arrays[f"C{k}.support"].tolist() == np.flatnonzero(flat.any(0)).tolist()
        assert len(arrays[f"C{k}.support"]) < flat.shape[1]


def test_a_negative_zero_stays(tmp_path, monkeypatch):
    model = parameters(3)
    model.tensors[2][:, 0, 0, 0] = -0.0
    path, _ = packed_and_plain(tmp_path, model, np.float32, monkeypatch)
    assert np.signbit(np.asarray(Parameters.load(path).tensors[2])[:, 0, 0, 0]).all()


def test_estimates_in_blocks_write_the_same_bytes(tmp_path, monkeypatch):
    model = parameters(4, np.float64)

    def blocks(array: np.ndarray) -> Blocks:
        return Blocks(array.shape, lambda kind: (array[k : k + 3].astype(kind) for k in range(0, len(array), 3)))

    one = model.one
    assert one is not None
    estimate = Estimate(model.rules, tuple(map(blocks, model.tensors)), model.root, model.unk, {}, one)  # type: ignore[arg-type]
    for least in (packing.LEAST_SAVED, -(1 << 30)):
        monkeypatch.setattr(packing, "LEAST_SAVED", least)
        model.save(tmp_path / "whole")
        estimate.save(tmp_path / "blocks")
        assert (tmp_path / "whole").read_bytes() == (tmp_path / "blocks").read_bytes()
    assert blocks_of(model.tensors[2]).array().tobytes() == model.tensors[2].tobytes()


def test_large_models_are_packed_and_small_ones_plain(tmp_path):
    table = rule_table([f"[X,1] [X,2] ||| [X,1] w{k} [X,2]" for k in range(10)])
    for m, packs in ((4, False), (16, True)):
        tensors = [np.full([m] * 3, 0.5)] * 10
        path = save_model(tmp_path / "model", table, tensors, np.ones(m), np.ones(m))
        assert ("C2.index" in load(path, "model")[0]) == packs
        assert load(path, "model")[1]["format"] == ("2" if packs else "1")


def test_a_model_without_rules_of_two_nonterminals_stays_plain(tmp_path):
    path = save_model(tmp_path / "model", rule_table(["a ||| x"]), [np.ones(2)], np.ones(2), np.ones(2))
    assert Parameters.load(path).tensors[2].shape == (0, 2, 2, 2)
    assert len(Model(path)) == 1


def integer(array, position, value):
    array[2][4 * position : 4 * position + 4] = struct.pack("<i", value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("C2.values"), "C2.values' is missing"),
        (lambda a: a.pop("C1.support"), "C1.support' is missing"),
        (lambda a: integer(a["C2.index"], 1, -1), "C2.index' holds -1"),
        (lambda a: integer(a["C2.index"], 2, 1 << 30), f"C2.index' holds {1 << 30}"),
        (lambda a: integer(a["C1.support"], 1, 0), "C1.support' does not ascend|C1.support' holds"),
        (lambda a: integer(a["C2.support"], 0, -5), "C2.support' does not ascend|C2.support' holds"),
        (lambda a: integer(a["C2.support"], 0, 1 << 30), "C2.support' does not ascend|C2.support' holds"),
        (lambda a: a["C2.values"].__setitem__(1, a["C2.values"][1][::-1]), "C2.support' and 'C2.values'|C2.values' is"),
        (lambda a: a["C2.index"].__setitem__(0, "F32"), "C2.index'|C2' is missing"),
        (lambda a: a["C2.index"].__setitem__(slice(1, 3), [[1], bytearray(4)]), "rules|tensors of arity 2"),
    ],
)
def test_damage_is_one_error_of_both_readers(tmp_path, monkeypatch, change, message):
    path, _ = packed_and_plain(tmp_path, parameters(5), np.float32, monkeypatch)
    metadata, arrays = split_file(path.read_bytes())
    change(arrays)
    path.write_bytes(join_file(metadata, arrays))
    with pytest.raises(InputError, match=message) as error:
        Model(path)
    assert "\n" not in str(error.value)
    with pytest.raises((InputError, ValueError), match=f"{message}|shape"):
        Parameters.load(path)


def test_values_that_are_not_finite_are_found_when_needed(tmp_path, monkeypatch):
    path, _ = packed_and_plain(tmp_path, parameters(3), np.float32, monkeypatch)
    metadata, arrays = split_file(path.read_bytes())
    arrays["C2.values"][2] = bytearray(np.full(len(arrays["C2.values"][2]) // 4, np.nan, np.float32).tobytes())
    path.write_bytes(join_file(metadata, arrays))
    model = Model(path)
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("a c a"), ParseOptions(100, False, 2, X))
    with pytest.raises(InputError, match="not finite"):
        Binding(model, grammar).infer(forest)
    with pytest.raises(InputError, match="not finite"):
        Parameters.load(path)


def test_random_damage_never_crashes(tmp_path, monkeypatch):
    path, _ = packed_and_plain(tmp_path, parameters(3), np.float32, monkeypatch)
    metadata, arrays = split_file(path.read_bytes())
    data = join_file(metadata, arrays)
    opened = 0
    names = [name.encode() for name in arrays if name.startswith(("C1.", "C2."))]
    assert all(data.count(name) == 1 for name in names)
    for damaged in damaged_copies(data, 200, seed=5):
        (tmp_path / "d").write_bytes(damaged)
        try:
            model = Model(tmp_path / "d")
            grammar = model.grammar()
            forest = grammar.parse(grammar.vocab.add_line("a c b a"), ParseOptions(100, False, 2, X))
            if forest is not None:
                Binding(model, grammar).infer(forest)
        except InputError:
            continue
        opened += 1
    assert 0 < opened < 200


def test_the_context_of_a_packed_model_is_kept(tmp_path, monkeypatch):
    path, _ = packed_and_plain(tmp_path, parameters(3), np.float32, monkeypatch)
    before = Parameters.load(path)
    dataclasses.replace(before, about={"again": 1}).save(path)
    assert Parameters.load(path).about == {"again": 1}
    assert load(path, "model")[1]["format"] == "2"


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("m", [1, 3, 8])
def test_shared_tensors_act_as_the_array(tmp_path, monkeypatch, m, signed, kind):
    """Rows and sums of packed tensors are those of the whole array."""
    path, _ = packed_and_plain(tmp_path, parameters(m, kind, signed=signed), kind, monkeypatch)
    loaded = Parameters.load(path)
    monkeypatch.setattr("lscfg.model.shared.BLOCK", 100)
    plain = dataclasses.replace(loaded, tensors=tuple(np.asarray(one) for one in loaded.tensors))
    for ours, whole in zip(loaded.tensors[1:], plain.tensors[1:], strict=True):
        assert isinstance(ours, SharedTensors) and len(stored(ours)[0]) < len(ours) == len(whole)
        assert (ours.shape, ours.dtype, ours.size) == (whole.shape, whole.dtype, whole.size)
        flags = np.arange(len(whole)) % 3 == 0
        for rules in (0, -1, slice(1, 4), slice(0, 0), np.array([2, 0, 2]), flags):
            assert ours[rules].dtype == kind and np.array_equal(ours[rules], whole[rules])
        assert np.array_equal(ours.blocks().array(), whole)
        different, index = stored(ours)
        assert np.array_equal(np.abs(different).max(axis=1)[index], np.abs(whole).reshape(len(whole), -1).max(axis=1))
        assert sums_by_state(ours) == pytest.approx(sums_by_state(whole), rel=1e-6)
        assert sum_of_rules(ours) == pytest.approx(sum_of_rules(whole), rel=1e-6)
    for rule in range(len(plain.rules)):
        assert np.array_equal(loaded.tensor(rule), plain.tensor(rule))
    loaded.save(tmp_path / "again", kind)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    states, others = States.of(loaded), States.of(plain)
    assert (states is None) == (others is None) == signed
    for name, values in vars(states).items() if states else ():
        if isinstance(values, np.ndarray):
            assert values == pytest.approx(getattr(others, name), abs=1e-6)


@pytest.mark.parametrize("signed", [False, True])
def test_inspect_shows_the_same_of_packed_and_plain_models(tmp_path, monkeypatch, signed):
    packed, plain = packed_and_plain(tmp_path, parameters(3, signed=signed), np.float32, monkeypatch)
    rule = Parameters.load(plain).rules.short_text(len(Parameters.load(plain).rules) - 1)
    for show in (
        lambda path: describe_model(path, 5).replace(f"{os.path.getsize(path) / 2**20:.1f} MiB", ""),
        lambda path: show_nearest(path, rule, 4),
        lambda path: show_states(path, 3),
    ):
        assert show(packed) == show(plain)
