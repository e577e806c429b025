"""Lattices in PLF: what is read, and what is refused by column."""

from __future__ import annotations

import random

import pytest

from lscfg.errors import InputError
from lscfg.formats.plf import Arc, Lattice, format_lattice, is_lattice, lattice_fault, parse_lattice


def test_words_costs_and_steps() -> None:
    line = r"((('a',0.5,1),('it\'s',-1e-1,2,2),),(('c', 1) , ('*EPS*',{'Own':0.25,'LatticeCost_0':2,},1),),)"
    found = parse_lattice(line)
    assert found.states == 3
    assert [arc[:3] for arc in found.arcs] == [(0, 1, "a"), (0, 2, "it's"), (1, 2, "c"), (1, 2, None)]
    assert [dict(arc.features) for arc in found.arcs] == [
        {"LatticeCost_0": 0.5},
        {"LatticeCost_0": -0.1, "LatticeCost_1": 2.0},
        {},
        {"Own": 0.25, "LatticeCost_0": 2.0},
    ]
    assert found.first_path() == ["a", "c"]
    assert found.first_words() == ("a", "c")


@pytest.mark.parametrize("seed", range(20))
def test_written_lattices_are_read_back(seed: int) -> None:
    rng = random.Random(seed)
    arcs = [
        Arc(
            begin,
            rng.randint(begin + 1, 5),
            rng.choice(["a", "it's", "\\", "\\'", None, "(", "',1)"]),
            {name: rng.choice([1e-300, -0.1, 3.0, 1e22]) for name in rng.sample(["LatticeCost_0", "N'", "\\"], 1)},
        )
        for begin in sorted(rng.choices(range(5), k=12))
    ]
    lattice = Lattice(tuple(arcs), 6)
    assert parse_lattice(format_lattice(lattice)) == lattice


def test_states_without_arcs_are_possible() -> None:
    found = parse_lattice("((('a',1,2),),(),(('b',1,1)))")
    assert found.states == 4 and found.first_words() == ("a", "", "b") and found.first_path() == ["a", "b"]


def test_lattices_begin_with_three_parentheses_and_a_quote() -> None:
    """Words may be parentheses."""
    assert is_lattice("((('a',1,1),),)")
    assert not any(map(is_lattice, ["( ( (", "((( a", " ((('a',1,1),),)", "a ((('"]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("((('a',1,1),)", "column 14: expected (, found the end of the line"),
        ("((('a',1,1),),) x", "column 17: expected the end of the line, found 'x'"),
        ("(((a,1,1),),)", "column 4: expected a word in single quotes, found 'a,1,1),),)'"),
        ("((('a' 1,1),),)", "column 8: expected ,, found '1,1),),)'"),
        ("((('a',x,1),),)", "column 8: expected a finite number, found 'x,1),),)'"),
        ("((('a',inf,1),),)", "column 8: expected a finite number"),
        ("((('a',1_0,1),),)", "column 8: expected a finite number"),
        ("((('a',0.5,0.5),),)", "column 12: expected the number of states that the arc leads on"),
        ("((('a',0.5,0),),)", "column 12: expected the number of states"),
        ("((('a',0.5,-1),),)", "column 12: expected the number of states"),
        ("((('a',0.5,2),),)", "state 1 of 1: the arc 'a' leads 2 states on, beyond the end"),
        ("((('',0.5,1),),)", "column 4: an empty word"),
        ("((('a b',0.5,1),),)", "column 4: a blank in a word"),
        ("((('[X]',0.5,1),),)", "column 4: "),
        ("((('a',{'x y':1},1),),)", "column 9: the feature 'x y' has a blank or occurs twice"),
        ("((('a',{'x':1,'x':2},1),),)", "column 15: the feature 'x' has a blank or occurs twice"),
        ("((('a',{'x' 1},1),),)", "column 13: expected :, found '1},1),),)'"),
        ("((('a',{'x':1},),),)", "column 16: expected a finite number"),
    ],
)
def test_faults_are_named_by_column(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_lattice(line)
    assert message in str(caught.value) and str(caught.value).startswith("lattice, ")


def test_any_text_is_read_or_refused() -> None:
    good, rng = "((('a',0.5,1),('b',{'x':1},2),),(('*EPS*',1),),)", random.Random(1)
    for _ in range(500):
        text = [*good]
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 2)] = rng.choice(["", "(", ")", "'", "\\", ",", "é", "9" * 400, "{", " "])
        fault = lattice_fault("".join(text))
        assert fault is None or fault.startswith("lattice, ")
