"""Moses' tags in a line: what is read, and what is refused by column."""

from __future__ import annotations

import pytest

from lscfg.errors import InputError
from lscfg.formats.marked import marked_fault, read_marked


def test_spans_translations_and_probabilities() -> None:
    line = 'das ist <np translation="a||small  one" prob="0.8||0.2">ein kleines</np> <n english=\'x\'>h</n>'
    text, spans = read_marked(line)
    assert text == "das ist ein kleines h"
    assert spans == (((2, 4), ("a", "small one"), (0.8, 0.2)), ((4, 5), ("x",), (1.0,)))


@pytest.mark.parametrize("line", ["", "a b", "a &lt; b", "<x translation='1'>a</x><y translation='2'>b</y>"])
def test_lines_that_are_good(line: str) -> None:
    assert marked_fault(line) is None


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
        ("<np translation='x'/>", "column 1: <np> is inside another tag, empty"),
        ("<np translation='x'>b</np>c", "column 22: </np> is inside a word"),
        ("<np translation='x||x'>b</np>", "column 1: <np> has an empty or repeated translation"),
        ("<np translation='x||'>b</np>", "column 1: <np> has an empty or repeated translation"),
        ("<np translation='x' prob='0.5||0.5'>b</np>", "column 1: <np> needs a positive number in prob= for each of 1"),
        ("<np translation='x' prob='0'>b</np>", "column 1: <np> needs a positive number"),
        ("<np translation='x' prob='nan'>b</np>", "column 1: <np> needs a positive number"),
        ("<np translation='x' prob='1_0'>b</np>", "column 1: <np> needs a positive number"),
        ("<np translation='x' translation='y'>b</np>", "column 1: <np> has an attribute twice"),
        ("<np translation='x' english='y'>b</np>", "column 1: <np> has an attribute twice"),
        ("<np translation=x>b</np>", "column 1: <np> has text that is not an attribute: 'translation=x'"),
        ("<zone>a b</zone>", "column 1: <zone> is not supported, and Moses' chart decoder ignores it; remove the tag"),
        ("a <wall/> b", "column 3: <wall> is not supported"),
        ("<update source='a' target='b'/>", "column 1: <update> would change the system"),
    ],
)
def test_faults_are_named_by_column(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_marked(line)
    assert message in str(caught.value)
