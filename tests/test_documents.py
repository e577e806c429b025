"""The documents: tables, links and facts are those of the code, and the site can be made."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from lscfg.kernel import (
    DEFAULT_FEATURES,
    LATENT_FEATURES,
    PAPER_FEATURES,
    START_WEIGHTS,
    feature_names,
)

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCUMENTS.rglob("*.md"), *(ROOT / "experiments").rglob("*.md")])
SITE = ("sphinx", "myst_parser", "furo")


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


def without_code(text):
    """The text of a page without its blocks and spans of code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))


def anchors(page):
    """The anchors of a page's headings, as browsers of repositories and the site make them."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = next(n for n in range(100) if (f"{name}-{n}" if n else name) not in found)
        found.add(f"{name}-{number}" if number else name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_to_files_and_headings(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_pages_that_the_code_names_are_there():
    """In comments, docstrings and messages."""
    named = {}
    for folder in ("lscfg", "tuning", "cdec_bridge", "moses_bridge", "plugin", "tests", "benchmarks", "experiments"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".c", ".h", ".cc", ".cpp", ".toml") and path.is_file():
                for name in re.findall(r"docs/([\w/-]+\.md)", path.read_text(encoding="utf-8")):
                    named.setdefault(name, path)
    assert {"reference/formats.md", "reference/features.md"} <= named.keys()
    assert [(name, path) for name, path in named.items() if not (DOCUMENTS / name).is_file()] == []


def test_every_feature_is_defined_in_a_table():
    text = (DOCUMENTS / "reference" / "features.md").read_text(encoding="utf-8")
    defined = re.findall(
        r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", text.partition("## Marginals as features")[2], re.M))
    )
    assert sorted(defined) == sorted(LATENT_FEATURES)
    family = re.search(r"^\| `paper` \|([^|]*)\|", text, re.M)[1]
    assert tuple(re.findall(r"`(\w+)`", family)) == PAPER_FEATURES
    start = re.search(r"^\| ([^|]*) \| 0\.5 \|$", text, re.M)[1]
    assert dict.fromkeys(re.findall(r"`(\w+)`", start), 0.5) == START_WEIGHTS


def test_weights_for_moses_are_where_tuning_begins():
    """In the order of the features that the line names."""
    ours = [START_WEIGHTS.get(name, 0.0) for name in feature_names(DEFAULT_FEATURES.split(","))]
    for page in (ROOT / "README.md", DOCUMENTS / "guides" / "moses.md"):
        line = re.search(r"^ *Latent= (.*)$", page.read_text(encoding="utf-8"), re.M)[1]
        assert [float(value) for value in line.split()] == ours, page


def test_every_page_is_on_the_site():
    """In the list of contents, which a reader without one would not find."""
    text = (DOCUMENTS / "index.md").read_text(encoding="utf-8")
    listed = {line for block in re.findall(r"```{toctree}\n(.*?)```", text, re.S) for line in block.split()}
    assert {os.path.relpath(page.with_suffix(""), DOCUMENTS) for page in PAGES} - listed == {"index"}


def test_the_site_can_be_made(tmp_path):
    for name in SITE:
        if find_spec(name) is None:
            pytest.skip(f"make docs needs {name}: pip install 'lscfg[docs]'")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-c",
            DOCUMENTS,
            "-d",
            tmp_path / "trees",
            ROOT,
            tmp_path / "site",
        ],
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    pages = {path.name for path in (tmp_path / "site" / "docs").rglob("*.html")}
    assert {"cdec.html", "moses.html", "configuration.html", "features.html", "formats.html"} <= pages
    page = tmp_path / "site" / "docs" / "reference" / "api.html"
    assert 'id="lscfg.kernel.Binding"' in page.read_text(encoding="utf-8")
