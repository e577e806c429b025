"""Marks and tiers of the tests themselves."""

from pathlib import Path

import pytest
from tiers import KERNEL, MARKS, SLOW, marks

TESTS = Path(__file__).resolve().parent


def test_every_pattern_names_a_file():
    for patterns in MARKS.values():
        for pattern in patterns:
            assert [*TESTS.glob(pattern.partition("::")[0].replace("*/", "**/"))], pattern
    assert all((TESTS / folder).is_dir() for folder in KERNEL)


def test_every_mark_is_declared(pytestconfig: pytest.Config):
    declared = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    assert {*SLOW, "slow", "kernel"} <= declared


@pytest.mark.parametrize(
    ("test", "fixtures", "own", "expected"),
    [
        ("kernel/test_fuzz.py::test_mutated_corpus[model]", [], [], {"compiles", "slow"}),
        ("kernel/test_forest.py::test_x", [], [], {"kernel"}),
        ("kernel/test_forest.py::test_x", [], ["compiles"], {"slow"}),
        ("cdec_bridge/test_cdec_plugin.py::test_x", ["library"], [], {"hosts", "slow"}),
        ("io/test_text.py::test_x", ["tree"], [], set()),
    ],
)
def test_marks(test, fixtures, own, expected):
    assert marks(test, fixtures, own) == expected
