"""What ``lscfg inspect`` says of small models whose answers are known."""

import re

import numpy as np
import pytest
from helpers import rule_table, save_model

from lscfg.errors import InputError
from lscfg.model.parameters import Parameters
from lscfg.study.inspect import describe_model, show_nearest, show_states, spectrum_text

EMPTY = (np.zeros((0, 2, 2)), np.zeros((0, 2, 2, 2)))


def model(tmp_path, tensors, rules):
    return save_model(tmp_path / "m", rule_table(rules), tensors, np.array([0.25, 0.75]), np.array([0.0, 0.5]))


def test_nearest_is_the_cosine_of_tensors_of_the_same_arity(tmp_path):
    tensors = [np.array(v, float) for v in ([1, 0], [3, 0.1], [-1, 0], [0, 0.5], [0, 0])] + [np.eye(2)]
    path = model(tmp_path, tensors, ["a ||| A", "b ||| B", "c ||| C", "d ||| D", "e ||| E", "f [X,1] ||| [X,1]"])
    lines = show_nearest(path, "[X] ||| a ||| A", 1).splitlines()
    assert lines[0] == "[X] ||| a ||| A" and "nearest of 2 rules of arity 0" in lines[3]  # d has the OOV tensor
    assert lines[4] == "  +0.9994  3.002e+00  [X] ||| b ||| B" and lines[-1].endswith(
        "-1.0000  1.000e+00  [X] ||| c ||| C"
    )
    assert "OOV rule, as those of 0 others" in show_nearest(path, "d ||| D", 1)
    with pytest.raises(InputError, match="no rule 'x"):
        show_nearest(path, "x ||| y", 1)


def test_a_model_without_rules(tmp_path):
    path = model(tmp_path, [], [])
    described = describe_model(path, 3)
    assert re.search(r"rules of arity 0 +0$", described, re.M) and "negative" not in described
    assert show_states(path, 2).startswith("state 0: root 25.0 %")
    with pytest.raises(InputError, match="no rule 'a"):
        show_nearest(path, "a ||| A", 1)


@pytest.mark.parametrize(
    "about",
    [
        {"singular values": "none"},
        {"singular values": [0.0, 0.0]},
        {"singular values": [10**400]},
        {"singular values": [1.0], "condition": []},
        {"features by template": [1]},
        {"features by template": {"inside": 3}},
    ],
)
def test_facts_of_another_kind_are_refused(about, tmp_path):
    made = Parameters(rule_table(["a ||| A"]), (np.ones((1, 2)), *EMPTY), np.ones(2), np.ones(2), about)
    made.save(tmp_path / "m")
    with pytest.raises(InputError, match=rf"m: not a whole model \(its '{list(about)[-1]}'"):
        describe_model(tmp_path / "m", 1)


def test_rules_of_the_oov_rule_in_either_precision(tmp_path):
    third = np.array([0.1, 1 / 3])  # is another number in single precision
    made = Parameters(rule_table(["a ||| A", "b ||| B"]), (np.array([[1.0, 0], third]), *EMPTY), np.ones(2), third)
    for precision in ("float32", "float64"):
        made.save(tmp_path / precision, precision)
        assert re.search(r"left to the OOV rule +1$", describe_model(tmp_path / precision, 1), re.M)


def test_states_are_conditional_probabilities(tmp_path):
    binary = np.zeros((2, 2, 2))
    binary[0, 1, 0] = 0.6
    tensors = [np.array([0.4, 0.1]), np.array([0.0, 0.4]), binary]
    path = model(tmp_path, tensors, ["a ||| A", "b ||| B", "[X,1] [X,2] ||| [X,2] [X,1]"])
    first, second = show_states(path, 2).split("\n\n")
    assert first.splitlines() == [
        "state 0: root 25.0 %, OOV 0.00 %",
        "  arity 0, 40.0 %",
        "     40.00 %  a ||| A",
        "  arity 1, 0.0 %",
        "  arity 2, 60.0 %",
        "     60.00 %  [X,1] [X,2] ||| [X,2] [X,1]",
        "  nonterminals 1 0 (100.0 %)",
    ]
    assert "state 1: root 75.0 %, OOV 50.00 %" in second and "40.00 %  b ||| B" in second


def test_directions_of_signed_models(tmp_path):
    path = model(tmp_path, [np.array([1.0, 0.1]), np.array([-2.0, 0.1])], ["a ||| A", "b ||| B"])
    text = show_states(path, 1)
    assert "signed" in text and text.index("a ||| A") < text.index("dimension 0 -") < text.index("b ||| B")
    assert "50.0 % negative" not in describe_model(path, 1) and "25.0 % negative" in describe_model(path, 1)


def test_bars_are_as_long_as_the_values():
    bars = [line.count("█") for line in spectrum_text([2.0, 1.0, 1e-9])]
    assert bars == [40, 20, 1]
