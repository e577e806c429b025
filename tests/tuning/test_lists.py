"""K-best lists as arrays are those that hypotheses make: in pools, checkpoints and files, and one by one."""

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis, HypothesisList, write_kbest
from lscfg.tuning.pool import Pool
from lscfg.tuning.tune import _normalised

NAMES = ["lm", "a", "b", "c", "d"]
REFERENCES = ["x y z", "z z", "y", "x"]


def lists(seed):
    random = np.random.default_rng(seed)
    found = []
    for _ in REFERENCES:
        n = int(random.integers(1, 12))
        values = random.normal(size=(n, len(NAMES))) * (random.random((n, len(NAMES))) < 0.5)
        values[random.random(values.shape) < 0.1] = -0.0
        texts = [" ".join(random.choice(["x", "y", "z"], random.integers(0, 4))) for _ in range(n)]
        found.append(HypothesisList(NAMES, texts, values, random.normal(size=n)))
    return found


def as_hypotheses(lists):
    return [list(hypotheses) for hypotheses in lists]


def test_one_by_one():
    made = HypothesisList(NAMES, ["x", "y"], np.array([[1, 0, 2.5, 0, 0], [0, 0, 0, 0, -1]]), np.array([3.0, 4.0]))
    both = [Hypothesis("x", {"lm": 1.0, "b": 2.5}, 3.0), Hypothesis("y", {"d": -1.0}, 4.0)]
    assert list(made) == [made[0], made[1]] == made[:] == both and made == both and made != both[:1]
    assert made[-1] == both[1] and made[1:] == both[1:] and len(made) == 2
    with pytest.raises(IndexError):
        made[2]


@pytest.mark.parametrize("seed", range(20))
def test_pools_and_files_are_the_same(tmp_path, seed):
    pools = [Pool([REFERENCES]) for _ in range(2)]
    for turn in range(3):
        found = _normalised(lists(3 * seed + turn))
        assert all(isinstance(hypotheses, HypothesisList) for hypotheses in found)
        plain = _normalised(as_hypotheses(lists(3 * seed + turn)))
        assert found == plain
        assert pools[0].add(found) == pools[1].add(plain)
        write_kbest(tmp_path / "arrays", found)
        write_kbest(tmp_path / "plain", plain)
        assert (tmp_path / "arrays").read_bytes() == (tmp_path / "plain").read_bytes()
    assert pools[0].names == pools[1].names
    for one, other in zip(pools[0].sentences, pools[1].sentences, strict=True):
        assert one.columns == other.columns and list(one.columns) == list(other.columns)
        assert one.features.tobytes() == other.features.tobytes() and (one.stats == other.stats).all()


def test_what_32_bits_cannot_hold():
    """Too small: kept as a feature that is 0. Too large: refused by name."""
    small = HypothesisList(["a", "b"], ["x"], np.array([[1e-60, 1.0]]), np.zeros(1))
    assert _normalised([small]) == [[Hypothesis("x", {"a": 0.0, "b": 1.0}, 0.0)]]
    large = HypothesisList(["a", "b"], ["x"], np.array([[1.0, 1e60]]), np.zeros(1))
    with pytest.raises(InputError, match="sentence 1: feature b has value inf, which is not finite"):
        Pool([["x"]]).add(_normalised([large]))


@pytest.mark.parametrize("name", ["T:#", "T:می\u200cروم"])
def test_names_of_words_are_held(name):
    assert _normalised([[Hypothesis("x", {name: 1.0}, 0.0)]]) == [[Hypothesis("x", {name: 1.0}, 0.0)]]


@pytest.mark.parametrize(
    ("names", "text", "score", "message"),
    [
        (["a b"], "x", 0.0, "sentence 1: bad feature name 'a b'"),
        (["#a"], "x", 0.0, "sentence 1: bad feature name '#a'"),
        (["a"], "x ||| y", 0.0, "sentence 1: ||| in the translation"),
        (["a"], "x", np.inf, "sentence 1: model score inf"),
    ],
)
def test_what_the_format_cannot_hold(names, text, score, message):
    found = HypothesisList(names, [text], np.ones((1, 1)), np.array([score]))
    for hypotheses in (found, list(found)):
        with pytest.raises(InputError) as error:
            _normalised([hypotheses])
        assert message.split("'")[0] in str(error.value)
