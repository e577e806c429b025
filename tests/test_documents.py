"""Checks of the documentation: links, words, budgets, tables made from results and code, and the site itself."""

import argparse
import ast
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from lscfg.cli import build_parser
from lscfg.command_table import COMMANDS, every_command
from lscfg.decode.unknown import SUBSTITUTES
from lscfg.functions.function import FunctionLine
from lscfg.kernel import (
    DEFAULT_FEATURES,
    LATENT_FEATURES,
    START_WEIGHTS,
    feature_names,
)

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ROOT / "docs"
EXPERIMENTS = ROOT / "experiments"
PAGES = sorted([*ROOT.glob("*.md"), *DOCUMENTS.rglob("*.md"), *EXPERIMENTS.rglob("*.md")])
PRODUCT = ("lscfg", "tuning", "cdec_bridge", "moses_bridge")
SITE = ("sphinx", "myst_parser", "furo")

sys.path.insert(0, str(DOCUMENTS))
import made  # noqa: E402
import make_tables  # noqa: E402

# ---- budgets ----

WORDS_OF_README, WORDS_OF_A_PAGE, WORDS_OF_ALL_PAGES = 950, 5_000, 34_000


def words(page):
    return len(page.read_text(encoding="utf-8").split())


def test_pages_keep_their_budgets():
    assert words(ROOT / "README.md") <= WORDS_OF_README
    assert {page.name: words(page) for page in PAGES if words(page) > WORDS_OF_A_PAGE} == {}
    assert words(DOCUMENTS / "architecture.md") <= 3_000
    assert words(DOCUMENTS / "results.md") <= 4_000
    assert words(ROOT / "CHANGELOG.md") <= 2_700


def test_all_prose_keeps_its_budget():
    found = {
        page
        for page in ROOT.rglob("*.md")
        if not {"tests", "build", ".venv", ".pytest_cache"} & {*page.relative_to(ROOT).parts}
    }
    assert sum(map(words, found)) <= WORDS_OF_ALL_PAGES


# ---- English ----

OLD_WORDS = {
    r"beside": "next to, besides",
    r"anew": "again",
    r"alike": "similar",
    r"of (?:its|their) own": "separate, own",
    r"st(?:and|ands|ood) for": "mean",
    r"in place of": "instead of",
    r"told|tells?": "given, show",
    r"ha(?:s|ve) to be": "must be",
    r"no more than": "at most",
    r"is so": "holds",
}
"""Words that a native technical writer does not use in these senses, and better ones (CONTRIBUTING.md, English)."""

QUESTIONS = re.compile(r"(?:What|How|Where|Which|Whether|Those|When|Who|Why|The same)\b")
"""Beginnings that a docstring must not have."""

OLD = re.compile(rf"\b(?:{'|'.join(OLD_WORDS)})\b".replace(" ", r"[\s*]+"), re.I)  # a line may end within


def without_code(text):
    """The text of a page without blocks and spans of code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))


def old_words(text):
    """The old words of a text."""
    return [" ".join(found.split()) for found in OLD.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_use_words_of_today(page):
    text = without_code(page.read_text(encoding="utf-8"))
    if page.name == "CONTRIBUTING.md":  # which lists them
        text = re.sub(r"^ *\| instead of.*?\n\n", "", text, flags=re.M | re.S)
    assert old_words(text) == []


def docstrings(folders, wanted: re.Pattern) -> Iterator[tuple[str, str]]:
    """Place and text of docstrings, also of those below fields, in the files whose text the pattern matches."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if not wanted.search(source):
                continue  # saves most of the time
            for node in ast.walk(ast.parse(source)):
                value = node.value if isinstance(node, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(text := value.value, str):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text.strip()


DESCRIBED = (*PRODUCT, "benchmarks", "experiments", "docs")
COMMENTED = (*DESCRIBED, "plugin", "tests")
C_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
"""Strings, which may look like comments, and comments."""


def comments() -> Iterator[tuple[str, str]]:
    """Place and text of comments of Python, C and C++; a Python file without an old word after a ``#`` yields none."""
    for folder in COMMENTED:
        for path in sorted((ROOT / folder).rglob("*")):
            place, found = path.relative_to(ROOT), []
            if path.suffix == ".py":
                text = path.read_text(encoding="utf-8")
                if not any(old_words(line.partition("#")[2]) for line in text.splitlines() if "#" in line):
                    continue  # saves most of the time
                tokens = tokenize.generate_tokens(io.StringIO(text).readline)
                found = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
            elif path.suffix in (".c", ".h", ".cc", ".cpp"):
                text = path.read_text(encoding="utf-8")
                for match in C_TOKENS.finditer(text):
                    if not match[0].startswith('"'):
                        found.append((text.count("\n", 0, match.start()) + 1, match[0]))
            yield from ((f"{place}:{line}", comment) for line, comment in found)


def help_texts() -> Iterator[str]:
    """Help of all commands and options."""

    def walk(parser):
        yield parser.description or ""
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for sub in action.choices.values():
                    yield from walk(sub)
            elif action.help and action.help != argparse.SUPPRESS:
                yield action.help

    yield from walk(build_parser(every_command()))


def test_docstrings_begin_with_a_verb_or_a_noun():
    quoted = re.compile(rf"[\"']\\?\s*{QUESTIONS.pattern}")
    texts = docstrings((*DESCRIBED, "tests"), quoted)
    assert [f"{place}: {text[:60]}" for place, text in texts if QUESTIONS.match(text)] == []


def test_docstrings_use_words_of_today():
    found = [f"{place}: {word}" for place, text in docstrings(DESCRIBED, OLD) for word in old_words(text)]
    assert found == []


def test_docstrings_are_found(tmp_path, monkeypatch):
    (tmp_path / "lscfg").mkdir()
    (tmp_path / "lscfg" / "a.py").write_text('"""\nWhat is told."""\nx = 1\n"How."\ny = "Which"\n')
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    wanted = [("lscfg/a.py:1", "What is told."), ("lscfg/a.py:4", "How.")]
    assert [*docstrings(["lscfg"], OLD)] == wanted and [*docstrings(["lscfg"], re.compile("alike"))] == []


def test_comments_use_words_of_today():
    found = [f"{place}: {word}" for place, text in comments() for word in old_words(text)]
    assert found == []


def test_comments_are_found(tmp_path, monkeypatch):
    (tmp_path / "lscfg").mkdir()
    (tmp_path / "lscfg" / "a.py").write_text('x = "# no comment"  # beside\n')
    text = 'char *x = "/* no comment */"; /* told\n * anew */ // alike\n/* in\n * place of */\n'
    (tmp_path / "lscfg" / "b.c").write_text(text)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert [(place, old_words(text)) for place, text in comments()] == [
        ("lscfg/a.py:1", ["beside"]),
        ("lscfg/b.c:1", ["told", "anew"]),
        ("lscfg/b.c:2", ["alike"]),
        ("lscfg/b.c:3", ["in * place of"]),
    ]


def test_help_uses_words_of_today():
    found = [f"{word}: {text[:60]}" for text in help_texts() for word in old_words(text)]
    assert found == []


# ---- parts that are made ----


def test_tables_of_results_are_those_of_the_experiments():
    for document in make_tables.DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        assert make_tables.updated(text) == text, "run docs/make_tables.py"
    for path, draw in make_tables.PICTURES.items():
        assert path.read_text(encoding="utf-8") == draw(), "run docs/make_tables.py"


def test_every_table_of_results_is_used_once():
    text = "".join(document.read_text(encoding="utf-8") for document in make_tables.DOCUMENTS)
    named = re.findall(r"<!-- (?:table|figure): (.+?) -->", text)
    assert sorted(named) == sorted([*make_tables.TABLES, *make_tables.FIGURES])


def test_a_changed_table_is_written_again_and_an_unknown_one_refused():
    mark = "<!-- table: steps -->"
    text = make_tables.updated(f"before\n{mark}\nold\n<!-- end -->\nafter\n")
    assert text.startswith(f"before\n{mark}\n") and text.endswith("\n<!-- end -->\nafter\n") and "old" not in text
    with pytest.raises(KeyError, match="none"):
        make_tables.updated("<!-- table: none -->\n<!-- end -->")


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*/results.json")), ids=lambda path: path.parent.name)
def test_results_of_experiments_are_tables(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["experiment"] == path.parent.name
    tables = [table for section in content["sections"] for table in section["tables"]]
    assert len({table["name"] for table in tables}) == len(tables) > 0
    for table in tables:
        assert len({*table["columns"]}) == len(table["columns"])
        assert all(len(row) == len(table["columns"]) for row in table["rows"]) and table["rows"]
        assert {*table["decimals"]} <= {*table["columns"]}
    assert (path.parent / "README.md").is_file()


def test_p_values_begin_with_their_point():
    """Tables with three decimals hold 0 for smaller values."""
    shown = {0.0: "<.001", 0.00004: "<.001", 0.0001: ".0001", 0.005: ".005", 0.0123: ".012", 0.25: ".25", 1.0: "1.00"}
    assert {p: made.probability(p) for p in shown} == shown


def test_every_part_of_a_page_can_be_made():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if made.MARK.search(text):
            assert "<!-- made:" not in made.filled(text)
    with pytest.raises(KeyError, match="none"):
        made.filled("<!-- made: none -->")


def test_the_reference_has_every_command_kind_and_package():
    commands, kinds = made.commands(), made.kinds()
    assert re.findall(r"^### `lscfg (\w+)`$", commands, re.M) == [command.name for command in every_command()]
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    for name in ("lscfg.estimators", "lscfg.extractors", "lscfg.context_models", "lscfg.aligners", "lscfg.optimisers"):
        assert all(f"### `{kind}`" in kinds for kind in groups[name])
    assert "`max_targets`" in kinds and "## `[tuning]`" in made.experiment()
    assert "| `lscfg.kernel` |" in made.packages()


def test_shared_settings_stand_once():
    kinds = made.kinds()
    for group in kinds.split("\n## "):
        rows = re.findall(r"^\| `\w+` \|.*$", group, re.M)
        assert len({*rows}) == len(rows)


# ---- links and names ----


def anchors(page):
    """The anchors of a page's headings, as browsers of repositories and the site make them."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = next(n for n in range(100) if (f"{name}-{n}" if n else name) not in found)
        found.add(f"{name}-{number}" if number else name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
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
    for folder in (*PRODUCT, "plugin", "tests", "benchmarks", "experiments"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".c", ".h", ".cc", ".cpp", ".toml") and path.is_file():
                for name in re.findall(r"docs/([\w/-]+\.md)", path.read_text(encoding="utf-8")):
                    named.setdefault(name, path)
    assert {"reference/formats.md", "reference/features.md"} <= named.keys()
    assert [(name, path) for name, path in named.items() if not (DOCUMENTS / name).is_file()] == []


def test_files_that_pages_name_are_there():
    """Sources in method.md, architecture.md and CONTRIBUTING.md."""
    for page in (DOCUMENTS / "method.md", DOCUMENTS / "architecture.md", ROOT / "CONTRIBUTING.md"):
        text = page.read_text(encoding="utf-8").replace("tuning/metrics/wer.py", "").replace("features_NAME.c", "")
        named = re.findall(r"`((?:lscfg|tuning|plugin|tests|docs)/[\w/.]*\w/?)`", text)
        assert len(named) > 3
        assert [name for name in named if not (ROOT / name).exists()] == [], page


def test_every_feature_is_defined_in_a_table():
    text = (DOCUMENTS / "reference" / "features.md").read_text(encoding="utf-8")
    latent, _, words = text.partition("## Marginals as features")[2].partition("## Words of translations")
    own = [*SUBSTITUTES, *(name for one in ("Letters", "Copies") for name in FunctionLine(one).names())]
    for part, names in ((latent, LATENT_FEATURES), (words, own)):
        defined = re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", part, re.M)))
        assert sorted(defined) == sorted(names)


def test_weights_for_moses_are_where_tuning_begins():
    """In the order of the features that the line names."""
    ours = [START_WEIGHTS.get(name, 0.0) for name in feature_names(DEFAULT_FEATURES.split(","))]
    for page in (ROOT / "README.md", DOCUMENTS / "guides" / "moses.md"):
        line = re.search(r"^ *Latent= (.*)$", page.read_text(encoding="utf-8"), re.M)[1]
        assert [float(value) for value in line.split()] == ours, page


# ---- commands ----


def commands_of(page: Path) -> Iterator[str]:
    """The commands of lscfg in the blocks of a page; each of a pipe."""
    for block in re.findall(r"^ *```\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.M | re.S):
        for line in re.findall(r"^ *(?:\w+=\S+ +)*(lscfg .*)$", block.replace("\\\n", ""), re.M):
            yield from (part.strip() for part in line.split(" | "))


@pytest.fixture(scope="module")
def parser():
    return build_parser(every_command())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_pages_are_understood(page, parser):
    for line in commands_of(page):
        arguments = shlex.split(re.split(" [<>] ", line)[0])
        assert parser.parse_args(arguments[1:]).command == arguments[1], line


def test_pages_show_every_command():
    shown = {line.split()[1] for page in PAGES for line in commands_of(page)}
    assert {command.name for command in COMMANDS} <= shown | set(re.findall(r"lscfg (\w+)", made.commands()))


def test_the_example_of_a_metric_works():
    """By hand: one substitution and one insertion for five words of the reference, also for the sum of two texts."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = {}
    exec(re.search(r"^```python\n(from collections.abc.*?)^```", text, re.M | re.S)[1], names)
    metric = names["WordErrorRate"]()
    found = metric.statistics(["a b c", "d e x"], [["a x c", "d e"]], (), metric.Settings())
    assert found.tolist() == [[1, 3], [1, 2]]
    assert metric.score(found.sum(axis=0)) == 40 and metric.score(found).tolist() == pytest.approx([100 / 3, 50])
    row = tomllib.loads(re.search(r"^```\n(\[project\.entry-points.*?)^```", text, re.M | re.S)[1])
    assert row["project"]["entry-points"]["lscfg.metrics"] == {"wer": "lscfg.tuning.metrics.wer:WordErrorRate"}


# ---- the site ----


def test_every_page_is_on_the_site():
    """In a list of contents, without which a reader would not find the page."""
    listed = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"```{toctree}\n(.*?)```", text, re.S):
            for entry in (line for line in block.split("\n") if line and not line.startswith(":")):
                found = page.parent.glob(f"{entry}.md") if "*" in entry else [(page.parent / entry).with_suffix(".md")]
                listed |= {path.resolve() for path in found}
    assert {*PAGES} - listed == {DOCUMENTS / "index.md"}


def test_the_site_can_be_made(tmp_path):
    for name in SITE:
        if find_spec(name) is None:
            pytest.skip(f"make docs needs {name}: pip install 'lscfg[docs]'")
    site = tmp_path / "site"
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-c", DOCUMENTS, "-d", tmp_path / "trees", ROOT, site]
    run = subprocess.run(
        [sys.executable, "-P", *command],
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    pages = {path.name for path in (site / "docs").rglob("*.html")}
    assert {"cdec.html", "moses.html", "configuration.html", "features.html", "formats.html", "method.html"} <= pages
    assert 'id="lscfg.kernel.Binding"' in (site / "docs" / "reference" / "api.html").read_text(encoding="utf-8")
    assert "--heuristic" in (site / "docs" / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "37.98" in (site / "experiments" / "ja-en-best" / "README.html").read_text(encoding="utf-8")


def read_all(path: Path) -> str:
    """The text of a file or of all modules in a folder."""
    return "".join(file.read_text(encoding="utf-8") for file in (path.rglob("*.py") if path.is_dir() else [path]))


def test_files_of_the_method_contain_its_names():
    """A row names settings, features and functions, and the files in which they are."""
    rows = 0
    for line in (ROOT / "docs/method.md").read_text(encoding="utf-8").splitlines():
        files = re.findall(r"`((?:plugin|lscfg|tuning)/[\w./]+)`", line)
        text = "".join(read_all(ROOT / file) for file in files)
        names = [
            name for name in re.findall(r"`([A-Za-z]\w*)(?: = [^`]*)?`", line) if "_" in name or name != name.lower()
        ]
        rows += bool(files and names)
        assert not files or [name for name in names if name not in text] == [], line
    assert rows > 10


def test_docstrings_and_comments_name_files_that_exist():
    named = re.compile(r"\b(?:plugin|lscfg|benchmarks|experiments|docs)/[\w/.-]+\.(?:[ch]|cc|cpp|py|md|toml)\b")
    found, roots = [], (ROOT, ROOT / "plugin/include")
    for folder in ("plugin", "lscfg", "tuning", "cdec_bridge", "moses_bridge", "benchmarks", "experiments"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".c", ".h", ".cc", ".cpp") and path != Path(__file__):
                text = path.read_text(encoding="utf-8")
                found += [
                    f"{path.relative_to(ROOT)}: {name}"
                    for name in named.findall(text)
                    if not any((root / name).exists() for root in roots)
                ]
    assert found == []


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            yield child
            yield from own_nodes(child)


def public_functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)) and child.name.startswith("_"):
            continue
        if isinstance(child, ast.FunctionDef):
            yield child
        else:
            yield from public_functions(child)


def test_docstrings_name_the_exceptions_that_their_function_raises():
    """NotImplementedError marks abstract methods and is left aside."""
    found = []
    for folder in ("lscfg", "tuning", "cdec_bridge", "moses_bridge"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for function in public_functions(ast.parse(path.read_text(encoding="utf-8"))):
                text = ast.get_docstring(function)
                for node in own_nodes(function):
                    raised = node.exc if isinstance(node, ast.Raise) else None
                    raised = raised.func if isinstance(raised, ast.Call) else raised
                    name = getattr(raised, "id", getattr(raised, "attr", "_"))
                    if text and name[0].isupper() and name != "NotImplementedError" and name not in text:
                        found.append(f"{path.relative_to(ROOT)}:{node.lineno} {function.name}: {name}")
    assert found == []
