"""``lscfg inspect`` on small models whose answers are known."""

import re

import numpy as np
import pytest
from categories import RULES, random_parameters, saved, table_of
from helpers import rule_table, save_model

from lscfg.errors import InputError
from lscfg.model.parameters import Parameters
from lscfg.study.inspect import describe_model, show_nearest, show_rule, show_states, spectrum_text

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
    assert "OOV rule with 0 others" in show_nearest(path, "d ||| D", 1)
    with pytest.raises(InputError, match="no rule 'x"):
        show_nearest(path, "x ||| y", 1)


def test_a_model_without_rules(tmp_path):
    path = model(tmp_path, [], [])
    described = describe_model(path, 3)
    assert re.search(r"rules of arity 0 +0$", described, re.M) and "negative" not in described
    assert show_states(path, 2).startswith("state 1\n  share 75.0 %, root 75.0 %")
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
    # a node of state 0 has 0.6 children of each state, one of state 1 has none: 0.25 / 0.4 nodes, and 0.75 + 0.375
    assert second.splitlines() == [
        "state 0: A",
        "  share 35.7 %, root 25.0 %, OOV 0.00 %, entropy 0.97 bits",
        "  arity 0, 40.0 %",
        "     40.00 %  a ||| A",
        "  arity 1, 0.0 %",
        "  arity 2, 60.0 %",
        "     60.00 %  [X,1] [X,2] ||| [X,2] [X,1]",
        "  nonterminals 1 0 (100.0 %)",
    ]
    assert first.startswith("state 1: B, A\n  share 64.3 %, root 75.0 %, OOV 50.00 %") and "40.00 %  b ||| B" in first


def test_rules_are_tables(tmp_path):
    rng = np.random.default_rng(1)
    rules = ["a ||| A", "a [X,1] ||| [X,1] A", "[X,1] [X,2] ||| [X,2] [X,1]"]
    for m in (2, 40):
        tensors = [rng.normal(size=[m] * (k + 1)) for k in range(3)]
        path = save_model(tmp_path / "m", rule_table(rules), tensors, np.ones(m), np.ones(m))
        for rule, tensor in zip(rules, tensors, strict=True):
            text = show_rule(path, rule)
            lines = text.splitlines()
            assert max(map(len, lines)) <= 100 and lines[1].startswith(f"largest value {np.abs(tensor).max():.4g}; ")
            best = np.unravel_index(np.abs(tensor).argmax(), tensor.shape)
            if tensor.ndim == 3:
                row = lines[5].split()
                assert [int(k) for k in row[:3]] == list(best) and abs(abs(float(row[3])) - 100) < 0.1
            else:
                assert m == 40 or re.search(r"-?100\.0", text)
            assert ("without the" in text) == (m == 40)
            assert (f"without the {40 - 14} states" in text) == (m == 40)


def test_directions_of_signed_models(tmp_path):
    path = model(tmp_path, [np.array([1.0, 0.1]), np.array([-2.0, 0.1])], ["a ||| A", "b ||| B"])
    text = show_states(path, 1)
    assert "signed" in text and text.index("a ||| A") < text.index("dimension 0 -") < text.index("b ||| B")
    assert "50.0 % negative" not in describe_model(path, 1) and "25.0 % negative" in describe_model(path, 1)


def test_bars_are_as_long_as_the_values():
    bars = [line.count("█") for line in spectrum_text([2.0, 1.0, 1e-9])]
    assert bars == [40, 20, 1]


def test_models_of_several_categories(tmp_path):
    parameters = random_parameters(table_of(RULES, ("A", "B")), (2, 3), 1)
    path = saved(parameters, tmp_path / "m")
    lines = describe_model(path, 1).splitlines()
    roots = lines[lines.index("root vector C^S") + 1 :][:2]
    assert [line.split()[0] for line in roots] == ["[A]", "[B]"]
    assert [len(line.split()) for line in roots] == [4, 4]
    assert show_rule(path, "[B] ||| a ||| x").startswith("[B] ||| a ||| x\n")
    assert show_rule(path, "b ||| x").startswith("[A] ||| b ||| x\n")
    with pytest.raises(InputError, match=r"for \[A\], \[B\]; put one of these and \|\|\| before the rule"):
        show_rule(path, "a ||| x")
    with pytest.raises(InputError, match="several categories"):
        show_states(path, 1)
