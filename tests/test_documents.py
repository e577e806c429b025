"""Tables of the documents are those of the declarations."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

DOCUMENTS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def make_tables():
    """The program that writes the tables."""
    spec = spec_from_file_location("make_tables", DOCUMENTS / "make_tables.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def texts(make_tables):
    """The documents that have tables."""
    return [document.read_text(encoding="utf-8") for document in make_tables.DOCUMENTS]


def test_tables_are_those_of_the_declarations(make_tables, texts):
    assert [make_tables.updated(text) for text in texts] == texts, "run docs/make_tables.py"


def test_every_table_is_in_one_document_once(make_tables, texts):
    text = "".join(texts)
    assert {name: text.count(f"<!-- settings: {name} -->") for name in make_tables.tables()} == dict.fromkeys(
        make_tables.tables(), 1
    )
    assert text.count("<!-- settings: ") == len(make_tables.tables())


def test_a_changed_table_is_written_anew_and_an_unknown_one_refused(make_tables):
    mark = "<!-- settings: estimator/mle -->"
    made = make_tables.updated(f"before\n{mark}\nold\n<!-- end -->\nafter\n")
    assert made.startswith(f"before\n{mark}\n") and made.endswith("\n<!-- end -->\nafter\n") and "old" not in made
    assert "| `max_targets` | 0 | ≥ 0 |" in made and make_tables.updated(made) == made
    with pytest.raises(KeyError, match="estimator/none"):
        make_tables.updated("<!-- settings: estimator/none -->\n<!-- end -->")
