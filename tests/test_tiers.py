"""Marks, tiers and skips of the tests themselves."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from skips import ACCEPTED, accepted
from tiers import KERNEL, MARKS, SLOW, marks

TESTS = Path(__file__).resolve().parent


def test_every_pattern_names_a_file():
    for patterns in MARKS.values():
        for pattern in patterns:
            assert [*TESTS.glob(pattern.partition("::")[0].replace("*/", "**/"))], pattern
    assert all((TESTS / folder).is_dir() for folder in KERNEL)


def test_no_test_measures_time():
    """A clock gives a time to give up at, never a length of time: that belongs to benchmarks."""
    clocks = re.compile(r"\b(?:time|monotonic|perf_counter|process_time|thread_time)(?:_ns)?\(\)")
    measured = [
        f"{path.relative_to(TESTS)}:{node.lineno}"
        for path in sorted({*TESTS.rglob("test_*.py"), *TESTS.glob("support/*.py")})
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and clocks.search(ast.unparse(node.left))
    ]
    assert measured == []


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


SKIPPING = """
import pytest
@pytest.mark.skipif(True, reason="no pandas")
def test_a(): pass
def test_b(): pytest.skip("no cdec: CDEC_ROOT is not set")
def test_c(): pytest.importorskip("no_such_module")
@pytest.mark.xfail
def test_d(): assert False
@pytest.fixture
def missing(): pytest.skip("no corpora")
def test_e(missing): pass
"""


def test_a_skip_that_is_not_on_the_list_is_an_error(tmp_path):
    (tmp_path / "test_some.py").write_text(SKIPPING)
    (tmp_path / "test_file.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "skips", "--rootdir=."]
    command += ["--continue-on-collection-errors"]
    there = os.environ | {"PYTHONPATH": str(TESTS / "support")}
    done = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert {*re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)} == {
        "test_some.py::test_a",
        "test_some.py::test_c",
        "test_some.py::test_e",
        "test_file.py",
    }
    assert "1 skipped, 1 xfailed" in done.stdout


def test_skips_of_the_list_are_in_tests():
    """Each pattern accepts the reason of some skip, so that the list does not grow old."""
    text = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py") if path.name != "skips.py")
    for pattern in ACCEPTED:
        plain = re.split(r"[\\.(\[]", pattern)[0]
        assert not plain or plain in text, pattern
    assert not accepted("no pandas") and accepted("Skipped: no cdec: CDEC_ROOT is not set")
