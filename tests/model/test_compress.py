"""Models of low rank: exact where the rank is, and their inference against that with the full tensors."""

import dataclasses
import itertools

import numpy as np
import pytest
from helpers import rule_table, save_model
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.io.tensors import load
from lscfg.kernel import Binding, Model, ParseOptions, X
from lscfg.model.compress import CPSettings, compress, low_rank
from lscfg.model.parameters import Parameters, full_tensors

RULES = [
    "a ||| x",
    "a ||| y",
    "b ||| x",
    "b [X,1] ||| [X,1] x",
    "[X,1] c [X,2] ||| [X,2] [X,1]",
    "[X,1] [X,2] ||| [X,1] [X,2]",
    "[X,1] [X,2] ||| [X,2] x [X,1]",
]


def sums_of_products(n: int, m: int, rank: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u, v, w = rng.normal(size=(3, n, rank, m))
    return np.einsum("nra,nrb,nrc->nabc", u, v, w)


@settings(max_examples=25)
@given(m=st.integers(2, 6), rank=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_the_rank_is_found(m, rank, seed):
    full = sums_of_products(4, m, rank, seed)
    found = low_rank(full, CPSettings(4 * m, 1e-5))
    made = full_tensors(found.components, found.factors.astype(np.float64))
    left = np.linalg.norm((full - made).reshape(4, -1), axis=1) / np.linalg.norm(full.reshape(4, -1), axis=1)
    assert (left < 2e-5).all()
    assert np.allclose(left, found.error, atol=1e-5)  # of factors in double precision
    if rank == 1:
        assert (found.ranks == 1).all()


def test_fewer_components_leave_more():
    full = np.random.default_rng(1).normal(size=(3, 4, 4, 4))
    errors = [low_rank(full, CPSettings(rank, 0.0)).error for rank in (1, 2, 4, 8)]
    assert all((after < before).all() for before, after in itertools.pairwise(errors))


def test_zeros_have_no_components():
    full = sums_of_products(3, 3, 1, 2)
    full[1] = 0
    found = low_rank(full, CPSettings(2))
    assert found.ranks.tolist() == [1, 0, 1]
    assert found.error[1] == 0


def test_threads_give_the_same_bytes(tmp_path):
    rng = np.random.default_rng(3)
    table = rule_table(RULES)
    save_model(tmp_path / "m", table, [rng.normal(size=[4] * (a + 1)) for a in table.arity], np.ones(4), np.ones(4))
    for threads in (1, 3):
        compress(tmp_path / "m", tmp_path / f"{threads}", CPSettings(3, threads=threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


@pytest.mark.parametrize("m", [1, 3, 8, 11])
@pytest.mark.parametrize("glue", [False, True])
def test_inference_equals_that_with_the_expanded_tensors(tmp_path, m, glue):
    rng = np.random.default_rng(m)
    table = rule_table(RULES)
    tensors = [rng.normal(size=[m] * (a + 1)) / m ** (a / 2) for a in table.arity]
    tensors[-1] = np.zeros([m] * 3)
    save_model(tmp_path / "m", table, tensors, rng.normal(size=m), rng.normal(size=m))
    compress(tmp_path / "m", tmp_path / "low", CPSettings(3))
    arrays, parameters = load(tmp_path / "low", "model")[0], Parameters.load(tmp_path / "low")
    full = full_tensors(arrays["C2.components"], arrays["C2.factors"].astype(np.float64))
    dataclasses.replace(parameters, tensors=(*parameters.tensors[:2], full)).save(tmp_path / "expanded", np.float64)
    results = []
    for name in ("low", "expanded"):
        model = Model(tmp_path / name)
        grammar = model.grammar()
        words = grammar.vocab.add_line("a b c a q c b a b c b" if glue else "a b a c a b b a")
        forest = grammar.parse(words, ParseOptions(6 if glue else 100, glue, 2, 1 if glue else X))
        results.append(Binding(model, grammar).infer(forest))
    low, expanded = results
    assert low.sign == expanded.sign and low.log_g == pytest.approx(expanded.log_g, abs=1e-12)
    scale = max(1.0, float(np.abs(expanded.apps).max()))
    assert np.allclose(low.apps, expanded.apps, rtol=1e-12, atol=1e-12 * scale)
    assert np.allclose(low.nodes, expanded.nodes, rtol=1e-12, atol=1e-12 * scale)


def test_sentences_without_probability(tmp_path):
    table = rule_table(RULES)
    tensors = [np.ones([2] * (a + 1)) for a in table.arity]
    tensors[0][:] = tensors[1][:] = 0
    save_model(tmp_path / "m", table, tensors, np.ones(2), np.ones(2))
    compress(tmp_path / "m", tmp_path / "low", CPSettings(1))
    model = Model(tmp_path / "low")
    grammar = model.grammar()
    found = Binding(model, grammar).infer(
        grammar.parse(grammar.vocab.add_line("a b a"), ParseOptions(100, False, 2, X))
    )
    assert found.sign == 0 and not found.apps.any() and not found.nodes.any()


def test_command(tmp_path, capsys):
    rng = np.random.default_rng(4)
    table = rule_table(RULES)
    save_model(tmp_path / "m", table, [rng.normal(size=[2] * (a + 1)) for a in table.arity], np.ones(2), np.ones(2))
    assert main(["compress", str(tmp_path / "m"), "--cp", "2", "-o", str(tmp_path / "low")]) == 0
    assert ["[lscfg]", "tensors", "3"] in map(str.split, capsys.readouterr().err.splitlines())
    assert Model(tmp_path / "low").rank == 2
    assert main(["compress", str(tmp_path / "low"), "--cp", "2", "-o", str(tmp_path / "lower")]) == 1
    assert "already has low rank" in capsys.readouterr().err
    with pytest.raises(InputError, match="1 or more"):
        CPSettings(0)
    with pytest.raises(InputError, match=r"\[0, 1\)"):
        CPSettings(1, 1.5)
