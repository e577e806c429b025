"""Estimators in scikit-learn's manner, and text as lists of lines."""

import copy
import doctest
import inspect
import pickle
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from helpers import sampled_pairs

import lscfg
from lscfg.api import estimators, text
from lscfg.errors import InputError
from lscfg.estimate import em, spectral
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.model.parameters import Estimate, Parameters

ALL = [lscfg.MLE, lscfg.Spectral, lscfg.EM, lscfg.FeatureEM, lscfg.Clusters, lscfg.Neural, lscfg.Orientation]


@pytest.fixture(scope="module")
def trees():
    src, tgt, links, _ = sampled_pairs(300, 1)
    return lscfg.derive(src, tgt, links)


def test_examples_of_the_modules_run():
    for module in (estimators, text):
        found = doctest.testmod(module)
        assert found.failed == 0 and found.attempted >= 3


def test_every_estimator_has_a_class():
    assert sorted(found.kind for found in ALL) == sorted(ESTIMATORS.names())


@pytest.mark.parametrize("found", ALL)
def test_settings_are_shown_kept_and_changed(found):
    one = found()
    assert repr(one) == f"{found.__name__}()" and one.threads == 1
    assert {*one.get_params()} == {*inspect.signature(found).parameters}
    again = found(**one.get_params())
    assert again.get_params() == one.get_params()
    assert one.set_params(threads=2) is one and repr(one) == f"{found.__name__}(threads=2)"
    with pytest.raises(TypeError):
        found(staets=3)


@pytest.mark.parametrize("found", ALL)
def test_settings_are_attributes(found):
    """As scikit-learn's: reading gives the setting, and assignment changes it."""
    one = found()
    for name, value in one.get_params().items():
        assert getattr(one, name) == value
        setattr(one, name, value + 1 if type(value) is int else value)
        assert one.get_params()[name] == getattr(one, name) == (value + 1 if type(value) is int else value)
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again.get_params() == one.get_params()
    with pytest.raises(AttributeError, match="no attribute 'staets'"):
        one.staets  # noqa: B018
    one.note = "of the caller"
    assert one.note == "of the caller" and "note" not in one.get_params()


def test_wrong_values_of_attributes_are_refused(trees):
    one = lscfg.EM(m=2, iterations=1)
    for name, value in (("m", -1), ("threads", 0)):
        with pytest.raises(InputError, match=name):
            setattr(one, name, value)
    with pytest.raises(TypeError, match="threads"):
        one.threads = "2"
    assert (one.m, one.threads) == (2, 1)
    one.m = 3
    assert one.fit(trees).parameters_.rank == 3


def test_settings_out_of_range_are_refused():
    with pytest.raises(InputError, match="m"):
        lscfg.Spectral(m=-1)
    kept = lscfg.EM(m=3)
    with pytest.raises(InputError):
        kept.set_params(m=-1)
    assert kept.get_params()["m"] == 3 and repr(kept) == "EM(m=3)"


def test_fit_is_what_the_command_does(trees):
    ours = lscfg.Spectral(m=2).fit(trees)
    theirs = spectral.MethodOfMoments().estimate(trees, spectral.SpectralSettings(m=2))
    np.testing.assert_array_equal(ours.parameters_.root, theirs.root)
    ours = lscfg.EM(m=2, iterations=3, threads=2).fit(trees)
    alone = em.ExpectationMaximisation().estimate(trees, em.EMSettings(m=2, iterations=3)).parameters()
    for a, b in zip(ours.parameters_.tensors, alone.tensors, strict=True):
        np.testing.assert_array_equal(a, b)


def test_files_serve_as_derivations_and_models_are_written(trees, tmp_path):
    trees.write_text(tmp_path / "x.trees")
    trees.save(tmp_path / "x.deriv")
    for name in ("x.trees", "x.deriv"):
        lscfg.Clusters(m=2).fit(tmp_path / name).save(tmp_path / "m")
        model = lscfg.load(tmp_path / "m")
        assert model.rank == 2 and model.analyse("a b").translation is not None
    with pytest.raises(InputError, match=r"call MLE\.fit first"):
        lscfg.MLE().save(tmp_path / "m")


@pytest.mark.parametrize("found", ALL)
def test_parameters_have_one_type(trees, tmp_path, found):
    """Before and after pickling, and however many states; ``save`` writes the same file from blocks and from arrays."""
    small = {"m": 2, "iterations": 1}
    one = found(**{name: small[name] for name in small if name in found().get_params()})
    with pytest.raises(AttributeError, match="no attribute 'parameters_'"):
        one.parameters_  # noqa: B018
    assert not hasattr(one, "parameters_") and not one.__sklearn_is_fitted__()
    one.fit(trees).save(tmp_path / "blocks")
    assert type(one.parameters_) is type(pickle.loads(pickle.dumps(one)).parameters_) is Parameters
    assert one.parameters_ is one.parameters_ and one.__sklearn_is_fitted__()
    assert len(one.parameters_.rules) == 0 or one.parameters_.tensor(0).size == one.parameters_.rank
    one.save(tmp_path / "arrays")
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "arrays").read_bytes()


def test_context_is_learned_from_files(tmp_path):
    src, tgt, links, _ = sampled_pairs(300, 1)
    (tmp_path / "t").write_text("".join(line + "\n" for line in src))
    made = lscfg.derive(src, tgt, links)
    made.save(tmp_path / "x.deriv")
    found = lscfg.MLE().fit(tmp_path / "x.deriv", context=tmp_path / "t")
    assert found.parameters_.context is not None
    for context in (tmp_path / "t", src, iter(src)):
        other = lscfg.MLE().fit(made, context=context).parameters_.context
        assert other is not None and (other.weights == found.parameters_.context.weights).all()
    with pytest.raises(InputError, match="context: 299 source sentences, but derivations of 300"):
        lscfg.MLE().fit(made, context=src[1:])


def test_scikit_learn_clones_them():
    from sklearn.base import clone

    assert clone(lscfg.EM(m=3)).get_params()["m"] == 3


SCRIPT = """
import lscfg

source, target = open("train.ja").readlines(), open("train.en").readlines()
trees = lscfg.derive(source, target, lscfg.align(source, target))
lscfg.MLE().fit(trees).save("mine.lscfg")
print("done")
"""


@pytest.mark.skipif(find_spec("thot") is None, reason="no sil-thot")
def test_a_script_aligns_and_estimates(tmp_path):
    """As in docs/reference/api.md, without a guard against being imported again."""
    src, tgt, _, _ = sampled_pairs(60, 1)
    (tmp_path / "train.ja").write_text("\n".join(src) + "\n")
    (tmp_path / "train.en").write_text("\n".join(tgt) + "\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "done\n" and (tmp_path / "mine.lscfg").exists(), done.stderr


@pytest.mark.skipif(find_spec("thot") is None, reason="no sil-thot")
def test_lines_are_aligned_and_derived():
    src, tgt = ["das haus", "das buch", "ein buch"] * 4, ["the house", "the book", "a book"] * 4
    links = lscfg.align(src, tgt, seed=3, jobs=1)
    assert len(links) == 12 and len(lscfg.derive(src, tgt, links, max_arity=2)) == 12
    with pytest.raises(InputError, match="give pairs"):
        lscfg.align(src, tgt[1:])
    with pytest.raises(TypeError, match="list of lines"):
        lscfg.derive("a", "b", "0-0")
    with pytest.raises(InputError):
        lscfg.align(src, tgt, "nothing")


def test_language_models_are_estimated(tmp_path):
    (tmp_path / "t").write_text("a b\nb a\n" * 10)
    model = lscfg.lm.estimate_ngrams(tmp_path / "t", 2, discount_fallback=(0.5,))
    assert isinstance(model, lscfg.lm.NgramModel) and model.order == 2


def test_estimators_pickled_by_an_earlier_version_keep_their_parameters(trees):
    made = lscfg.EM(m=2, iterations=2).fit(trees)
    state = made.__getstate__()
    assert isinstance(made._model, Estimate)  # a copy leaves the tensors where they are
    state["parameters_"] = state.pop("_model")
    old = lscfg.EM.__new__(lscfg.EM)
    old.__setstate__(state)
    assert old.__sklearn_is_fitted__() and old.parameters_.tensors[0].tolist() == made.parameters_.tensors[0].tolist()


def test_a_subclass_may_set_settings_before():
    class Own(lscfg.EM):
        def __init__(self, m=3, **others):
            self.m = m
            super().__init__(m=m, **others)

    made = Own()
    made.m = 7
    assert made.m == made.get_params()["m"] == 7
