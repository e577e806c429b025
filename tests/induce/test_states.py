"""Hidden states of new rules: sums stay, twins are alike, and the context model keeps what it knew."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from lscfg.errors import InputError
from lscfg.grammar.table import RuleTable
from lscfg.induce.propagated.ngrams import NGrams
from lscfg.induce.propagated.phrases import PhraseFile, PhraseSide
from lscfg.induce.propagated.states import MOST, NewRule, read_rules, with_states
from lscfg.kernel import CONTEXT_SHAPES, CONTEXT_WORD_KINDS
from lscfg.model.context import ContextModel
from lscfg.model.parameters import OneState, Parameters

WORDS = ["a", "A", "b", "B"]


def rule_table():
    """a -> A, b -> B, a X -> A X."""
    symbols = np.array([0, 1, 2, 3, 0, -1, 1, -1], np.int32)
    offsets = np.array([0, 2, 4, 8])
    return RuleTable(WORDS, symbols, offsets, np.array([1, 1, 2], np.int32), np.array([0, 0, 1], np.int32))


@pytest.fixture
def model():
    rules = rule_table()
    outcomes = np.zeros(ContextModel.outcomes(rules) + 1, np.int64)
    outcomes[3 + 1 + 1 :] = 2  # the target word A has two weights
    items = np.array([0 * (len(WORDS) + 2) + 2, CONTEXT_WORD_KINDS * (len(WORDS) + 2) + 3], np.int32)
    context = ContextModel(rules, np.ones(3), outcomes, items, np.array([0.5, -0.25], np.float32))
    tensors = np.array([[0.5, 0.0], [0.0, 0.6]]), np.array([[[0.2, 0.1], [0.1, 0.1]]]), np.zeros((0, 2, 2, 2))
    one = OneState(np.array([0.3, 0.3, 0.2]), np.array([0.2]))
    return Parameters(rules, tensors, np.array([1.0, 0.0]), np.array([0.2, 0.2]), {}, one, context)


@pytest.fixture
def phrases():
    """a and b are labelled, c and d are not; c is like a, d like nothing."""
    source, target = NGrams.of([[0], [2], [4], [5]]), NGrams.of([[1], [3]])
    sides = [
        PhraseSide(side, np.ones(len(side), int), sparse.csr_matrix((len(side), 12), dtype=np.int32), np.zeros(0, int))
        for side in (source, target)
    ]
    labels = sparse.csr_matrix(np.array([[1.0, 0], [0, 1.0], [0, 0], [0, 0]]))
    lexicon = np.array([[0, 1]], np.int32), np.ones(1, np.int64)
    return PhraseFile([*WORDS, "c", "d"], *sides, labels, *lexicon, {}, np.zeros(len(source), bool))


GRAPH = sparse.csr_matrix(np.array([[0, 0, 1.0, 0], [0, 0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 0]]))
NEW = [NewRule(("c",), ("A",), 0.75), NewRule(("c",), ("C",), 0.25), NewRule(("d",), ("B",), 1.0)]
SHARE = np.array([0.5, 0.5])


def test_sums_stay_and_a_twin_has_the_states_of_its_twin(model, phrases):
    wide = with_states(model, SHARE, phrases, GRAPH, NEW)
    before = sum(part.sum(axis=tuple(k for k in range(part.ndim) if k != 1)) for part in model.tensors) + model.unk
    after = sum(part.sum(axis=tuple(k for k in range(part.ndim) if k != 1)) for part in wide.tensors) + wide.unk
    assert after == pytest.approx(before, abs=1e-6)
    assert wide.unk == pytest.approx((1 - MOST) * model.unk)
    first, second, third = wide.tensors[0][2:]
    assert first[1] == second[1] == 0 and first[0] == pytest.approx(3 * second[0])  # as a, which has the first state
    assert third[1] > 0
    assert wide.one.rules.sum() + wide.one.unk == pytest.approx(1)
    assert wide.rules.words == [*WORDS, "c", "C", "d"]
    assert wide.rules.arity.tolist() == [0, 0, 0, 0, 0, 1]


def test_the_context_model_is_the_same_for_old_rules(model, phrases, tmp_path):
    wide = with_states(model, SHARE, phrases, GRAPH, NEW)
    words = len(wide.context.rules.words)
    assert len(wide.context.offsets) == len(wide.context.rules) + words + CONTEXT_SHAPES + 1
    place = len(wide.context.rules) + 1  # the word A
    assert np.diff(wide.context.offsets)[place] == 2 and wide.context.offsets[-1] == 2
    assert wide.context.items.tolist() == [2, CONTEXT_WORD_KINDS * (words + 2) + 3]
    wide.save(tmp_path / "model")
    again = Parameters.load(tmp_path / "model")
    assert len(again.rules) == len(model.rules) + 3 and again.about["new rules"] == 3


def test_rules_that_the_model_has_are_left_alone(model, phrases):
    assert with_states(model, SHARE, phrases, GRAPH, [NewRule(("a",), ("A",), 1.0)]) is model


def test_a_new_rule_may_delete_a_phrase(model, phrases, tmp_path):
    with_states(model, SHARE, phrases, GRAPH, [NewRule(("c",), (), 1.0)]).save(tmp_path / "model")
    assert Parameters.load(tmp_path / "model").rules.text(2) == "[X] ||| c ||| "


def test_models_without_states_are_refused(model, phrases):
    with pytest.raises(InputError, match="negative parameters, which cannot be probabilities"):
        with_states(model, None, phrases, GRAPH, NEW)
    with pytest.raises(InputError, match="no mass for unknown words"):
        with_states(dataclasses.replace(model, unk=np.zeros(2)), SHARE, phrases, GRAPH, NEW)


def test_rules_are_read_from_a_grammar(tmp_path):
    path = tmp_path / "rules"
    path.write_text("[X] ||| c ||| A ||| GraphEgivenF=0.5 Graph=1\n")
    assert read_rules(path) == [NewRule(("c",), ("A",), pytest.approx(10**-0.5))]
    path.write_text("[X] ||| c ||| ||| GraphEgivenF=0.5 Graph=1\n")
    assert read_rules(path) == [NewRule(("c",), (), pytest.approx(10**-0.5))]
    path.write_text("[X] ||| c ||| A ||| EgivenF=0.5\n")
    with pytest.raises(InputError, match="no rule has the feature GraphEgivenF"):
        read_rules(path)
    path.write_text("")
    assert read_rules(path) == []
