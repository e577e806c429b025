"""The mutation tester chooses the same mutations again, and finds them after code moved."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent / "tools" / "mutants.py"
PYTHON = '''
def size(items, most=3):
    """A docstring with 1 < 2."""
    if len(items) < most and items:
        return len(items) + 1
    items = sorted(items)
    return most
'''
C = """
/* a < b */
static int32_t size_of(const int32_t *items,
                       int32_t n) {
  int32_t sum = 0;  // n < 1
  for (int32_t k = 0; k < n; k++) sum += items[k];
  return sum > 7 && n ? sum : 0;
}
"""


@pytest.fixture
def mutants(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("mutants", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for name, text in (("lscfg/a.py", PYTHON), ("plugin/base/b.c", C)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return module


def test_mutations_of_python(mutants, tmp_path):
    found = {(one["kind"], one["mutant"]) for one in mutants.mutations(tmp_path / "lscfg" / "a.py")}
    assert {
        ("bound", "if len(items) <= most and items:"),
        ("operator", "if len(items) < most or items:"),
        ("sign", "return len(items) - 1"),
        ("constant", "return len(items) + 2"),
        ("statement", "pass"),
    } <= found
    assert not any("docstring" in mutant or "def size" in mutant for _, mutant in found)


def test_mutations_of_c(mutants, tmp_path):
    found = [*mutants.mutations(tmp_path / "plugin" / "base" / "b.c")]
    assert {one["function"] for one in found} == {"size_of"}
    assert ("bound", "for (int32_t k = 0; k <= n; k++) sum += items[k];") in {
        (one["kind"], one["mutant"]) for one in found
    }
    assert not any("// n <=" in one["mutant"] for one in found)


def test_draws_repeat_and_are_found_after_a_move(mutants, tmp_path):
    drawn = mutants.draw(["lscfg", "plugin"], 2, 1, 0.5)
    assert drawn == mutants.draw(["lscfg", "plugin"], 2, 1, 0.5) and len(drawn) == 2
    of_python = next(one for one in drawn if one["file"].endswith(".py"))
    (tmp_path / "lscfg" / "new.py").write_text("# moved\n" + PYTHON)
    (tmp_path / "lscfg" / "a.py").unlink()
    path, number = mutants.place(of_python)
    assert path.name == "new.py" and path.read_text().splitlines()[number - 1].strip() == of_python["line"]
    path.unlink()
    assert mutants.place(of_python) is None
