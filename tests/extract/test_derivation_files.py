"""Damaged derivation files: each kind of damage is one error that names the file, the place and the cure."""

import resource

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations, derive
from lscfg.io import tensors

SRC, TGT, LINKS = ["a b c", "c b", "a"], ["A B C", "B C", "A"], ["0-0 1-1 2-2", "0-1 1-0", "0-0"]


@pytest.fixture
def damaged(tmp_path):
    """Writes the file with one of its arrays or a fact changed."""

    def write(name, change):
        path = tmp_path / "d"
        derive(SRC, TGT, LINKS).save(path)
        arrays, metadata = tensors.load(path, "derivations")
        if name in arrays:
            arrays[name] = change(arrays[name])
        else:
            metadata[name] = change
        tensors.save(path, arrays, metadata)
        return path

    return write


def put(place, value):
    """The change of one value."""

    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("node.rule", put(0, 2**31 - 1), "node 0 has a rule that is not in the table"),
        ("node.rule", put(2, -1), "node 2 has a rule that is not in the table"),
        ("node.parent", put(0, 1), "node 0 begins a tree, but is not the root"),  # a circle
        ("node.parent", put(1, 2), "node 1 is not in preorder"),
        ("node.parent", put(2, -1), "node 2 is not in preorder"),
        ("node.slot", put(1, 1), "node 1 is not in preorder"),
        ("node.span", put((0, 1), 2**31 - 1), "node 0 has a rule that does not fit its span and its children"),
        ("node.span", put((1, 2), -5), "node 1 has a rule that does not fit"),
        ("trees", put(1, 99), "the trees are not in order"),
        ("trees", put(-1, 1), "the trees are not"),
        ("trees", put(1, -(2**63)), "the trees are not in order"),
        ("trees", put(0, 1), "the trees do not contain all nodes"),
        ("trees", lambda trees: trees[:0], r"array 'trees' is int64 \[0\], not int64 \[trees \+ 1\]"),
        ("node.slot", lambda slot: slot[:-1], "array 'node.slot'"),
        ("node.rule", lambda rule: rule.astype(np.int64), "array 'node.rule' is int64"),
        ("lexicon.words", put((0, 0), 2**30), f"array 'lexicon.words' holds {2**30}"),
        ("lexicon.words", put(0, -1), "a link without words"),
        ("lexicon.count", put(0, 0), "array 'lexicon.count' holds 0"),
        ("rules.symbols", put(0, 6), "array 'rules.symbols' holds 6"),
        ("rules.symbols", put(0, -2), "rule 0 has an impossible source side"),
        ("rules.src_length", put(1, 0), "rule 1 has an impossible source side"),
        ("rules.src_length", put(1, 2**31 - 1), "rule 1 has an impossible source side"),
        ("rules.arity", put(1, 7), "rule 1 has an impossible source side"),
        ("rules.offsets", put(1, 2**40), "array 'rules.offsets' does not ascend"),
        ("vocab.bytes", put(0, 0xFF), "array 'vocab.bytes' holds a word that is not UTF-8"),
        ("vocab.bytes", put(0, 7), "array 'vocab.bytes': control character"),
        ("vocab.bytes", put(0, 0x20), "array 'vocab.bytes' holds an empty word, a blank, or a word twice"),
        ("vocab.bytes", put(1, ord("a")), "array 'vocab.bytes' holds an empty word, a blank, or a word twice"),
        ("vocab.offsets", put(1, 0), "array 'vocab.bytes' holds an empty word, a blank, or a word twice"),
        ("vocab.offsets", put(1, -3), "array 'vocab.offsets' does not ascend"),
        ("dropped", '{"too long": 1}', "0 trees have no nodes"),
        ("dropped", '{"too long": "x"}', "0 trees have no nodes"),
        ("dropped", "[" * 100_000, "metadata 'dropped' is not JSON"),
        ("options", '{"max_arity": "two"}', "metadata 'options' has max_arity = 'two'"),
        ("options", '{"max_arity": 3}', "max_arity must be at most 2"),
        ("options", "[]", "metadata 'options' is not a JSON object"),
        ("alignments", "x", "invalid literal"),
        ("alignments", "2", "3 trees of 2 alignments"),
    ],
)
def test_damage_is_named_with_its_cure(name, change, message, damaged):
    path = damaged(name, change)
    with pytest.raises(
        InputError, match=f"^{path}: damaged, or written by another version: .*{message}.*lscfg derive$"
    ):
        Derivations.load(path)


def test_a_rule_twice(damaged):
    def first_like_second(symbols):
        words = [k for k, symbol in enumerate(symbols) if symbol >= 0]
        return put(words[2:4], symbols[words[:2]])(symbols)

    with pytest.raises(InputError, match="two rules are the same"):
        Derivations.load(damaged("rules.symbols", first_like_second))


def test_a_nonterminal_twice_on_the_target_side(damaged):
    def twice(symbols):
        return put(np.nonzero(symbols == -2)[0][0], -1)(symbols)

    with pytest.raises(InputError, match="has an impossible target side"):
        Derivations.load(damaged("rules.symbols", twice))


def test_a_large_number_asks_for_no_memory(damaged, capsys):
    """``numpy.bincount`` over rule 2**31 - 1 would be 16 GiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = damaged("node.rule", put(1, 2**31 - 1))
    assert main(["grammar", "minimal", str(path), "-o", str(path.with_name("g"))]) == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
    assert capsys.readouterr().err.count("\n") == 1


def test_a_circle_of_parents_does_not_hang(damaged, capsys):
    path = damaged("node.parent", put(0, 1))
    assert main(["estimate", "em", str(path), "-m", "2", "-o", str(path.with_name("m"))]) == 1
    assert f"{path}: damaged" in capsys.readouterr().err
