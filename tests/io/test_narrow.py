"""Arrays in fewer bytes: the same values for every reader, and one message for what does not fit."""

import gzip

import numpy as np
import pytest
import safetensors.numpy
from helpers import random_context, rule_table, save_model

from lscfg.errors import InputError
from lscfg.io import narrow
from lscfg.io.narrow import narrowed, widened
from lscfg.io.read import file_hash
from lscfg.io.tensors import CHECKSUM, COMPILED, NARROW, load, save
from lscfg.kernel import Grammar, Model
from lscfg.kernel.compiled import compiled_file, save_compiled
from lscfg.model.parameters import Parameters
from lscfg.model.small import LEAST_WEIGHT, rounded_weights, write_packed


@pytest.mark.parametrize("most", [30, 255, 256, 65535, 65536, (1 << 24) - 1, 1 << 24])
@pytest.mark.parametrize("least", [0, -3, -16, -17])
def test_integers_come_back(most, least):
    values = np.random.default_rng(most).integers(least, most - 16, 300).astype(np.int32)
    values[:2] = least, most
    for array in (values, values.reshape(100, 3), values.reshape(150, 2), values.reshape(5, 60)):
        again = widened(narrowed({"a.b": array}))
        assert list(again) == ["a.b"] and again["a.b"].dtype == np.int32 and np.array_equal(again["a.b"], array)


@pytest.mark.parametrize("longest", [0, 3, 300, 70_000, 1 << 25])
def test_offsets_and_numbers_of_few_values_come_back(longest):
    rng = np.random.default_rng(longest)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, longest + 1, 100))]).astype(np.int64)
    numbers = rng.choice([0.0, -0.0, 1 / 3, 1e30, -2.5], 200)
    found = narrowed({"x": offsets, "y": numbers, "z": numbers.astype(np.float32), "w": rng.random(200)})
    assert "w" in found and "y" not in found and ("x" in found) == (longest == 1 << 25)
    again = widened(found)
    for name, array in (("x", offsets), ("y", numbers)):
        assert again[name].dtype == array.dtype and again[name].tobytes() == array.tobytes()
    assert again["z"].tobytes() == numbers.astype(np.float32).tobytes()


def test_a_position_outside_its_table_is_an_error(tmp_path):
    found = narrowed({"y": np.tile([1.0, 2.0, 3.0], 100)})
    with pytest.raises(ValueError, match=r"array 'y\.which' has a position outside 'y\.table'"):
        widened(found | {"y.table": found["y.table"][:2]})
    save(tmp_path / "file", found | {"y.table": found["y.table"][:2]}, {"lscfg": "model", "format": NARROW})
    with pytest.raises(InputError, match="damaged: array"):
        load(tmp_path / "file", "model")


RULES = [*(f"w{k} ||| x{k % 7}" for k in range(90)), "w1 [X,1] ||| [X,1] y", "[X,1] [X,2] ||| [X,2] [X,1]"]


def a_model(folder, rng):
    table = rule_table(RULES)
    tensors = [rng.random([4] * (arity + 1)) for arity in table.arity]
    path = save_model(folder / "plain", table, tensors, np.ones(4), np.ones(4))
    Parameters.load(path).save(folder / "plain")
    parameters = Parameters.load(path)
    object.__setattr__(parameters, "context", random_context(table, 3))
    parameters.save(path)
    return path


def test_a_packed_model_gives_the_same_arrays(tmp_path, monkeypatch):
    path = a_model(tmp_path, np.random.default_rng(3))
    monkeypatch.setattr(narrow, "LEAST_SIZE", 1)
    write_packed(path, tmp_path / "packed")
    first, second = load(path, "model")[0], load(tmp_path / "packed", "model")[0]
    assert first.keys() == second.keys()
    for name in first:
        assert first[name].dtype == second[name].dtype and first[name].tobytes() == second[name].tobytes()
    assert (tmp_path / "packed").stat().st_size < path.stat().st_size
    Parameters.load(tmp_path / "packed")
    Model(tmp_path / "packed")  # the kernel checks all arrays


def test_a_small_model_lacks_small_weights(tmp_path):
    path = a_model(tmp_path, np.random.default_rng(4))
    write_packed(path, tmp_path / "small", small=True)
    before, after = load(path, "model")[0], load(tmp_path / "small", "model")[0]
    kept = np.abs(before["context.weights"]) >= LEAST_WEIGHT
    assert 0 < kept.sum() == len(after["context.weights"])
    assert np.array_equal(before["context.items"][kept], after["context.items"])
    error = np.abs(after["context.weights"] / before["context.weights"][kept] - 1)
    assert error.max() < 0.05 and CHECKSUM not in after
    Model(tmp_path / "small")
    again = tmp_path / "again"
    write_packed(tmp_path / "small", again, small=True)  # sparse already
    assert again.stat().st_size == (tmp_path / "small").stat().st_size
    assert rounded_weights(np.zeros(0, np.float32)).size == 0


def test_a_small_model_lacks_contexts_of_rules_that_no_grammar_has(tmp_path):
    path = a_model(tmp_path, np.random.default_rng(5))
    used = [*RULES[10:50], RULES[-2], "unknown ||| words"]
    (tmp_path / "grammar").write_text("".join(f"[X] ||| {rule} |||\n" for rule in used))
    for name, grammars in (("all", ()), ("few", (tmp_path / "grammar",))):
        write_packed(path, tmp_path / name, small=True, grammars=grammars)
    Model(tmp_path / "few")
    before, after = (Parameters.load(tmp_path / name).context for name in ("all", "few"))
    found = {after.rules.text(r): r for r in range(len(after.rules))}
    assert {text.removeprefix("[X] ||| ") for text in found} == set(used[:-1])
    rows = {r: found[before.rules.text(r)] for r in range(len(before.rules)) if before.rules.text(r) in found}
    assert len(rows) == len(used) - 1
    further = len(before.offsets) - 1 - len(before.rules)  # words and shapes
    rows |= {len(before.rules) + k: len(after.rules) + k for k in range(further)}
    for first, second in rows.items():
        one, two = (slice(*c.offsets[r : r + 2]) for c, r in ((before, first), (after, second)))
        assert np.array_equal(before.items[one], after.items[two])
        assert np.array_equal(np.sign(before.weights[one]), np.sign(after.weights[two]))
    assert np.array_equal(after.counts, before.counts[[r for r in rows if r < len(before.rules)]])


def fault(path):
    """The message of a grammar, None if it can be used."""
    try:
        assert len(Grammar.from_files([path])) <= 80
    except InputError as error:
        return str(error)
    return None


def test_hostile_arrays_never_crash(tmp_path):
    """Fewer bytes than demanded, other types, and positions outside."""
    rules = "".join(f"[X] ||| a{k} ||| b{k % 3} ||| F={k % 5} G=1 ||| 0-0\n" for k in range(80))
    (tmp_path / "text").write_text(rules)
    read = Grammar()
    read.read_text(rules)
    save_compiled(tmp_path / "text", "grammar", read.arrays())
    place, rng = compiled_file(tmp_path / "text"), np.random.default_rng(1)
    raw = {name: array for name, array in safetensors.numpy.load_file(place).items() if name != CHECKSUM}
    assert sum("." in name for name in raw) >= 5
    metadata = {"lscfg": "grammar", "format": COMPILED, "source": file_hash(tmp_path / "text")}
    refused = 0
    for _ in range(300):
        name = sorted(raw)[rng.integers(len(raw))]
        array = raw[name].copy()
        kind = rng.integers(4)
        if kind == 0:
            array = array[: rng.integers(len(array) + 1)]
        elif kind == 1 and array.size:
            array.reshape(-1)[rng.integers(array.size)] = 255
        elif kind == 2:
            array = array.reshape(-1)
        else:
            array = array.astype(np.uint16)
        save(place, raw | {name: array}, metadata)
        message = fault(tmp_path / "text")
        refused += message is not None
        assert message is None or "\n" not in message
    assert refused > 100


def test_names_of_narrow_arrays_belong_to_narrow_files(tmp_path):
    arrays = {f"x{ending}": np.arange(100, dtype=np.int64) for ending in (".lengths", ".which", ".table", ".int32")}
    for file in ("plain", "plain.gz"):
        save(tmp_path / "plain", arrays, {"lscfg": "model"})
        (tmp_path / "plain.gz").write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
        again, _ = load(tmp_path / file, "model")
        assert {name: array.tolist() for name, array in again.items()} == {n: a.tolist() for n, a in arrays.items()}
    for name in arrays:
        with pytest.raises(ValueError, match="a name of a narrow array"):
            narrowed({name: arrays[name]})
