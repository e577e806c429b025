"""Sparse tensors: what is dropped and rounded stays within its limits, and inference is that of the rounded tensors."""

import struct

import numpy as np
import pytest
from damage import damaged_copies
from helpers import rule_table, save_model
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import join_file, split_file

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.io.tensors import load
from lscfg.kernel import Binding, Model, ParseOptions, X
from lscfg.model.compress import make_sparse
from lscfg.model.parameters import Parameters
from lscfg.model.sparse import sparse, unpack_sparse

RULES = [
    *(f"a ||| x{k}" for k in range(3)),
    *(f"b [X,1] ||| [X,1] y{k}" for k in range(4)),
    *(f"[X,1] [X,2] ||| [X,2] z{k} [X,1]" for k in range(5)),
]


@pytest.fixture
def model_file(tmp_path):
    """A model of positive tensors whose entries range over several powers of ten; two tensors are equal."""
    rng = np.random.default_rng(2)
    table = rule_table(RULES)
    tensors = [np.exp(rng.normal(scale=3, size=[4] * (arity + 1))) for arity in table.arity]
    tensors[-1] = tensors[-2]
    return save_model(tmp_path / "model", table, tensors, np.ones(4), np.ones(4))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(0, 6), m=st.integers(1, 5), share=st.sampled_from([1e-6, 1e-3, 0.05]), seed=st.integers(0, 10**6))
def test_entries_are_near_and_sums_restored(n, m, share, seed):
    rng = np.random.default_rng(seed)
    tensors = (np.exp(rng.normal(scale=4, size=(n, m, m, m))) * (rng.random((n, m, m, m)) < 0.7)).astype(np.float32)
    tensors = tensors[rng.integers(0, max(1, n), size=n)]
    found = sparse(tensors, share)
    made = np.asarray(unpack_sparse(found.arrays("C2"), "C2", (m, m, m)))
    assert made.shape == tensors.shape and made.dtype == np.float32
    assert len(found.scales) == len({row.tobytes() for row in tensors})
    total = tensors.sum((1, 2, 3), dtype=np.float64)
    largest = tensors.max((1, 2, 3), initial=0).astype(np.float64)
    kept = tensors >= np.where(largest < share * total, largest / 2, share * total)[:, None, None, None]
    kept &= tensors > 0
    assert ((made > 0) == kept).all()
    assert np.allclose(made.sum((1, 2, 3), dtype=np.float64), total, rtol=1e-5)
    lost = 1 - (tensors * kept).sum(dtype=np.float64) / total.sum() if n and total.sum() else 0
    assert found.dropped == pytest.approx(lost, abs=1e-9)
    factor = made[kept] / tensors[kept]  # each entry is rounded by half of a step, and all of a tensor scaled
    restored = np.repeat(
        total / np.maximum((tensors * kept).sum((1, 2, 3), dtype=np.float64), 1e-300), kept.sum((1, 2, 3))
    )
    step = -np.log2(found.levels[1])
    assert (np.abs(np.log2(factor / restored)) <= step * 1.01 + 1e-5).all()


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_a_flat_tensor_stays_flat(noise):
    tensors = np.zeros((3, 16, 16, 16), np.float32)
    tensors[:2, 0, 0, 0] = 1000
    tensors[2] = (1 + noise * np.random.default_rng(1).random((16, 16, 16))) / 16**3  # below the share of its sum
    made = np.asarray(unpack_sparse(sparse(tensors, 3e-4).arrays("C2"), "C2", (16, 16, 16)))
    assert np.allclose(made, tensors, rtol=0.01)


def test_inference_is_that_of_the_rounded_tensors(model_file, tmp_path):
    make_sparse(model_file, tmp_path / "sparse", 1e-4)
    Parameters.load(tmp_path / "sparse").save(tmp_path / "dense")
    assert load(tmp_path / "sparse", "model")[1]["format"] == "2"
    assert load(tmp_path / "dense", "model")[1]["format"] == "1"
    results = []
    for name in ("sparse", "dense"):
        model = Model(tmp_path / name)
        grammar = model.grammar()
        forest = grammar.parse(grammar.vocab.add_line("b a b a a b b a a"), ParseOptions(100, False, 2, X))
        assert forest is not None
        results.append(Binding(model, grammar).infer(forest))
    assert results[0].apps.max() > 0
    assert results[0].apps.tobytes() == results[1].apps.tobytes()
    exact = Model(model_file)
    near = Binding(exact, exact.grammar()).infer(forest)
    assert 0 < np.abs(near.apps - results[0].apps).max() < 0.05


def test_models_that_cannot_become_sparse(model_file, tmp_path, capsys):
    assert main(["compress", str(model_file), "--sparse", "0.2", "-o", str(tmp_path / "out")]) == 1
    assert "would lose" in capsys.readouterr().err
    signed = save_model(tmp_path / "signed", rule_table(["b [X,1] ||| [X,1]"]), [-np.eye(2)], np.ones(2), np.ones(2))
    with pytest.raises(InputError, match="negative parameters"):
        make_sparse(signed, tmp_path / "out", 1e-4)
    for share in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="between 0 and 1"):
            make_sparse(model_file, tmp_path / "out", share)
    with pytest.raises(InputError, match="65,536 at most"):
        sparse(np.ones((1, 41, 41, 41), np.float32), 1e-4)
    assert not (tmp_path / "out").exists()


def test_the_command_tells_what_it_dropped(model_file, tmp_path, capsys):
    assert main(["compress", str(model_file), "--sparse", "1e-3", "-o", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().err
    assert "5, of them 4 different" in told
    assert "of the sum" in told
    assert Parameters.load(tmp_path / "out").about["least share of an entry"] == 1e-3
    with pytest.raises(SystemExit, match="2"):
        main(["compress", str(model_file), "-o", str(tmp_path / "out")])
    assert "--cp --sparse" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("C2.codes"), "C2.codes' is missing"),
        (lambda a: a["C2.positions"][2].__setitem__(slice(0, 2), struct.pack("<H", 64)), "C2.positions' holds 64"),
        (lambda a: a["C2.first"][2].__setitem__(slice(0, 8), struct.pack("<q", 1)), "C2.first'"),
        (lambda a: a["C1.scales"].__setitem__(slice(1, 3), [[0], bytearray()]), "C1.first'|C1.index'|C1.scales'"),
        (lambda a: a["C1.levels"].__setitem__(slice(1, 3), [[1], bytearray(4)]), "C1.first'|C1.levels'"),
        (lambda a: a["C1.levels"][2].__setitem__(slice(0, 4), struct.pack("<f", np.nan)), "not finite"),
        (lambda a: a["C2.index"][2].__setitem__(slice(0, 4), struct.pack("<i", 9)), "C2.index' holds 9"),
    ],
)
def test_damage_is_one_error_of_both_readers(model_file, tmp_path, change, message):
    make_sparse(model_file, tmp_path / "sparse", 1e-4)
    metadata, arrays = split_file((tmp_path / "sparse").read_bytes())
    change(arrays)
    (tmp_path / "sparse").write_bytes(join_file(metadata, arrays))
    for reader in (Model, Parameters.load):
        with pytest.raises(InputError, match=message) as error:
            reader(tmp_path / "sparse")
        assert "\n" not in str(error.value)


def test_random_damage_never_crashes(model_file, tmp_path):
    make_sparse(model_file, tmp_path / "sparse", 1e-4)
    data = join_file(*split_file((tmp_path / "sparse").read_bytes()))
    opened = 0
    for damaged in damaged_copies(data, 200, seed=5):
        (tmp_path / "d").write_bytes(damaged)
        try:
            model = Model(tmp_path / "d")
            grammar = model.grammar()
            forest = grammar.parse(grammar.vocab.add_line("b a b a"), ParseOptions(100, False, 2, X))
            if forest is not None:
                Binding(model, grammar).infer(forest)
        except InputError:
            continue
        opened += 1
    assert 0 < opened < 200
