"""Moses' tags in a line: what is read, and what is refused by column."""

from __future__ import annotations

import pytest

from lscfg.errors import InputError
from lscfg.formats.marked import ANY_ORDER, read_marked


def test_spans_translations_and_probabilities() -> None:
    line = 'das ist <np translation="a||small  one" prob="0.8||0.2">ein kleines</np> <n english=\'x\'>h</n>'
    text, spans, order = read_marked(line)
    assert text == "das ist ein kleines h"
    assert spans == (((2, 4), ("a", "small one"), (0.8, 0.2)), ((4, 5), ("x",), (1.0,)))
    assert order == ANY_ORDER


@pytest.mark.parametrize(
    ("line", "zones", "walls"),
    [
        ("<zone>a b</zone> c", [(0, 2)], []),
        ("a <wall/> b <wall /> c", [], [(1, (0, 3)), (2, (0, 3))]),
        ("<wall/> a <zone><wall/> b</zone><wall/>", [(1, 2)], []),
        (
            "a <zone>b <wall/> <zone>c d</zone><wall/> e</zone> <wall/> f",
            [(1, 5), (2, 4)],
            [(2, (1, 5)), (4, (1, 5)), (5, (0, 6))],
        ),
        ("<zone>a <np translation='x'>b</np></zone>", [(0, 2)], []),
    ],
)
def test_zones_and_walls(line: str, zones: list[object], walls: list[object]) -> None:
    """A wall within a zone concerns the words of the zone only; one without words on both sides does nothing."""
    assert [*read_marked(line).order.zones] == zones
    assert [*read_marked(line).order.walls] == walls


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", ""),
        ("a b", "a b"),
        ("a &lt; b", "a &lt; b"),
        ("<x translation='1'>a</x><y translation='2'>b</y>", "a b"),
        ("<zone><x translation='1'>a</x></zone><wall/><zone>b</zone>", "a b"),
        ("a<wall/> b", "a b"),
        ("<x translation='1' label='NP' entity='a' type='b' id='7'>a</x>", "a"),  # of Moses, which ignores them here
        ("<x translation='1' transliteration='2' problem='3' prob='1'>a</x>", "a"),
    ],
)
def test_lines_that_are_good(line: str, words: str) -> None:
    assert read_marked(line).text == words


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a < b", "column 3: '< b' is not a tag; write &lt; for the character"),
        ("a <np>b</np>", 'column 3: <np> has no translation="..."'),
        ("a <np translation='x'>b", "column 3: <np> is not closed"),
        ("a <np translation='x'></np>", "column 3: <np> covers no word"),
        ("a </np>", "column 3: </np> closes a tag that is not open"),
        ("<np translation='x'>b</nq>", "column 22: </nq> closes a tag that is not open"),
        ("<np translation='x'>b <n translation='y'>c</n></np>", "column 23: <n> is inside another tag"),
        ("<np translation='x'/>", "column 1: <np> is inside another tag, not closed"),
        ("<np translation='x'>b</np>c", "column 22: </np> is inside a word"),
        ("a<np translation='x'>b</np>", "column 2: <np> is inside a word; separate the words by blanks"),
        ("(<np translation='x'>b</np> )", "column 2: <np> is inside a word"),
        ("a<zone>b</zone>", "column 2: <zone> is inside a word"),
        ("<np translation='x' probs='1'>b</np>", "has the attribute 'probs', which is not read (did you mean prob?)"),
        ("<np translation='x' Probability='1'>b</np>", "'Probability', which is not read (did you mean prob?)"),
        ("<np translations='x'>b</np>", "'translations', which is not read (did you mean translation?)"),
        ("<np translation='x' span='0'>b</np>", "'span', which is not read; put the tag around the words"),
        ("<np translation='x||x'>b</np>", "column 1: <np> has an empty or repeated translation"),
        ("<np translation='x||'>b</np>", "column 1: <np> has an empty or repeated translation"),
        ("<np translation='x' prob='0.5||0.5'>b</np>", "column 1: <np> needs a positive number in prob= for each of 1"),
        ("<np translation='x' prob='0'>b</np>", "column 1: <np> needs a positive number"),
        ("<np translation='x' prob='nan'>b</np>", "column 1: <np> needs a positive number"),
        ("<np translation='x' prob='1_0'>b</np>", "column 1: <np> needs a positive number"),
        ("<np translation='x' translation='y'>b</np>", "column 1: <np> has an attribute twice"),
        ("<np translation='x' english='y'>b</np>", "column 1: <np> has an attribute twice"),
        ("<np translation=x>b</np>", "column 1: <np> has text that is not an attribute: 'translation=x'"),
        ("<zone>a b", "column 1: <zone> is not closed"),
        ("<zone>a</zone> " * 33, "column 481: more than 32 zones in a line"),
        ("<zone name='x'>a</zone>", "column 1: <zone> takes no attributes"),
        ("a <zone></zone>", "column 3: <zone> covers no word"),
        ("<np translation='x'>a <zone>b</zone></np>", "column 23: <zone> is inside another tag"),
        ("<np translation='x'>a <wall/> b</np>", "column 23: <wall> is inside another tag"),
        ("a <wall> b", "column 3: <wall> is inside another tag, not closed"),
        ("a<wall/>b", "column 2: <wall> is inside a word"),
        ("<zone>a <np translation='x'>b</zone></np>", "column 30: </zone> closes a tag that is not open"),
        ("<update source='a' target='b'/>", "column 1: <update> would change the system"),
    ],
)
def test_faults_are_named_by_column(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_marked(line)
    assert message in str(caught.value)
