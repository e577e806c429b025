"""The rules of the architecture, executed: layers, circles, pointers, pools, names and sizes."""

import ast
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS = (
    ("lscfg.closing", "lscfg.errors", "lscfg.json_text", "lscfg.later", "lscfg.turns", "lscfg.version"),
    ("lscfg.extras", "lscfg.log", "lscfg.settings"),
    ("lscfg.kinds",),
    ("lscfg.settings_file",),
    ("lscfg.parallel",),
    ("lscfg.io",),
    ("lscfg.kernel",),
    ("lscfg.functions",),
    ("lscfg.corpus", "lscfg.formats", "lscfg.lm", "lscfg.prepare", "lscfg.demo"),
    ("lscfg.markup",),
    ("lscfg.grammar",),
    ("lscfg.model",),
    ("lscfg.extract",),
    ("lscfg.estimate", "lscfg.adapter"),
    ("lscfg.context", "lscfg.decode", "lscfg.induce"),
    ("lscfg.study", "lscfg.bundle"),
    ("lscfg.api",),
    ("lscfg.serve",),
    ("lscfg.command_table",),
    ("lscfg.parser",),
    ("lscfg.options", "lscfg.command_settings"),
    ("lscfg.cli",),
    ("lscfg.commands", "lscfg.__main__"),
    ("lscfg.cdec_bridge", "lscfg.moses_bridge"),
    ("lscfg.tuning",),
    ("lscfg",),
)
"""A package uses packages of lower layers only."""

OUTSIDE = ("tuning", "cdec_bridge", "moses_bridge")
"""Packages of lscfg whose folders lie outside its own."""

LINES = {ast.FunctionDef: 80, ast.AsyncFunctionDef: 80, ast.ClassDef: 250}
"""Maximal lengths of a function and of a class."""

C_SUFFIXES = {".c", ".h", ".cc", ".cpp"}

POOLS = {"concurrent", "multiprocessing"}


class Module(NamedTuple):
    """Facts of a module, without its tree, which every later garbage collection would visit."""

    imports: tuple[str, ...]
    """Dotted names: at the top, in functions, for type checkers only, and relative ones."""
    late: tuple[str, ...]
    """Names imported in functions."""
    public: tuple[str, ...]
    """Classes and functions at the top."""
    long: tuple[str, ...]
    """Functions and classes above their maximal length."""
    pointer: bool
    """An attribute is called ``pointer``."""


def statements(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """All statements below a tree, without expressions, and True for those in functions."""
    below = [(tree, False)]
    while below:
        node, late = below.pop()
        late = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            for child in getattr(node, block, ()):
                yield child, late
                below.append((child, late))


def imported(node: ast.AST, package: str) -> list[str]:
    """Dotted names that a statement imports; relative ones start from the package."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
    base = ".".join([*above, *([node.module] if node.module else [])])
    return [f"{base}.{alias.name}" for alias in node.names]


def facts(text: str, package: str) -> Module:
    """Parses a module."""
    tree = ast.parse(text)
    names: list[str] = []
    late_names: list[str] = []
    long = []
    for node, late in statements(tree):
        found = imported(node, package)
        names += found
        late_names += found if late else []
        if node.__class__ in LINES and node.end_lineno - node.lineno >= LINES[node.__class__]:
            long.append(node.name)
    public = [
        node.name
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")
    ]
    pointer = "pointer" in text and any(isinstance(n, ast.Attribute) and n.attr == "pointer" for n in ast.walk(tree))
    return Module(tuple(names), tuple(late_names), tuple(public), tuple(long), pointer)


@cache
def modules() -> Mapping[str, Module]:
    """All modules of the packages by their dotted names."""
    found = {}
    for top in ("lscfg", *OUTSIDE):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = (*(["lscfg"] if top in OUTSIDE else []), *path.relative_to(ROOT).with_suffix("").parts)
            package = ".".join(parts[:-1])
            name = package if parts[-1] == "__init__" else ".".join(parts)
            found[name] = facts(path.read_text("utf-8"), package)
    return found


@cache
def programs() -> Mapping[str, Module]:
    """Tests, benchmarks and experiments by their paths."""
    paths = [path for top in ("tests", "benchmarks", "experiments") for path in sorted((ROOT / top).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): facts(path.read_text("utf-8"), "") for path in paths}


def used_modules(name: str) -> set[str]:
    """Modules of the project that a module imports: a name of a package counts as the package's own module."""
    found = set()
    for used in modules()[name].imports:
        if used.startswith("lscfg._kernel"):  # no module of Python
            continue
        while used and used not in modules():
            used = used.rpartition(".")[0]
        if used:
            found.add(used)
    return found - {name}


def package_of(name: str) -> str:
    """The package that a module belongs to, as ``LAYERS`` names it."""
    return ".".join(name.split(".")[:2])


def circles(used: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of names that reach each other, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        path.append(name)
        for other in sorted(used[name]):
            if other not in number:
                visit(other)
            if other in path:
                low[name] = min(low[name], low[other])
        if low[name] == number[name]:
            group = path[path.index(name) :]
            del path[path.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(used):
        if name not in number:
            visit(name)
    return found


def test_packages_use_lower_layers_only():
    layer = {name: number for number, names in enumerate(LAYERS) for name in names}
    wrong = set()
    for name in modules():
        here = package_of(name)
        assert here in layer, f"{here} is in no layer; add it to LAYERS"
        for used in map(package_of, used_modules(name)):
            if used != here and layer[used] >= layer[here]:
                wrong.add(f"{name} uses {used}")
    assert not wrong


def test_modules_form_no_circle():
    found = circles({name: used_modules(name) for name in modules()})
    assert found == []


def test_every_import_names_a_module():
    """In tests and benchmarks, too, and inside functions."""
    wrong = set()
    for place, module in {**modules(), **programs()}.items():
        for used in module.imports:
            known = used in modules() or used.rpartition(".")[0] in modules() or used.startswith("lscfg._kernel")
            if used.split(".")[0] == "lscfg" and not known:
                wrong.add(f"{place}: {used}")
    assert wrong == set()


def test_no_import_hides_in_a_function():
    """Modules of other packages, which an extra installs, may be imported late."""
    hidden = {f"{name}: {used}" for name, module in modules().items() for used in module.late if "lscfg" in used}
    assert hidden == set()


def test_modules_that_are_imported_later_are_seen():
    """``later`` hides no dependency: the module stands under TYPE_CHECKING, too."""
    wrong = set()
    for name in modules().keys() - {"lscfg.later"}:
        parts = name.split(".")
        top = ROOT / ("lscfg" if parts[1:2] == [] or parts[1] not in OUTSIDE else "")
        path = top.joinpath(*parts[1:])
        text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")
        given = re.findall(r"(?<!def )\blater\((.*?)\)", text)
        named = set(re.findall(r'= later\("([\w.]+)"\)', text))
        wrong |= {f"{name}: later({one})" for one in given if one.strip('"') not in named}
        wrong |= {f"{name}: {one}" for one in named - used_modules(name)}
    assert wrong == set()


def test_a_circle_is_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": set(), "f": {"a"}}) == [["b", "c"]]


@pytest.mark.parametrize(
    "line",
    [
        "import lscfg.io.read",
        "def f():\n    from lscfg.io import read",
        "if TYPE_CHECKING:\n    from lscfg.io.read import read_lines",
        "from ..io.read import read_lines",
        "from ..io import read as other",
        "from .. import io",
    ],
)
def test_an_import_is_seen(line, monkeypatch):
    monkeypatch.setitem(modules(), "lscfg.corpus.new", facts(line, "lscfg.corpus"))
    assert used_modules("lscfg.corpus.new") == {"lscfg.io" if line.endswith("import io") else "lscfg.io.read"}


def test_the_bridges_do_not_know_each_other():
    bridges = {"lscfg.cdec_bridge", "lscfg.moses_bridge"}
    for name in modules():
        if package_of(name) in bridges:
            others = bridges - {package_of(name)}
            assert others.isdisjoint(map(package_of, used_modules(name))), name


def test_only_the_kernel_package_has_pointers():
    for name, module in modules().items():
        if not name.startswith("lscfg.kernel"):
            assert not any(used.startswith("lscfg._kernel") for used in module.imports), name
        assert not module.pointer, f"{name}: a pointer is called _pointer and stays inside"


def test_only_one_package_makes_pools():
    users = {
        name for name, module in modules().items() if any(used.partition(".")[0] in POOLS for used in module.imports)
    }
    assert {package_of(name) for name in users} <= {"lscfg.parallel"}, users


def test_only_processes_of_lscfg_change_their_memory():
    """A library call leaves the process of its caller as it is."""
    name = "lscfg.parallel.worker.keep_freed_memory"
    users = {user for user, module in modules().items() if name in module.imports}
    assert users == {"lscfg.cli", "lscfg.parallel.jobs"}


def test_temporary_files_in_folders_of_users_are_those_that_are_found_again():
    """Files of a killed process would become parts of an output."""
    named = re.compile(r"\b(?:TemporaryDirectory|NamedTemporaryFile|mkdtemp|mkstemp)\([^)\n]*\bdir=(?!wanted or None)")
    packages = ("lscfg", "tuning", "cdec_bridge", "moses_bridge")
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    found = [str(path) for path in paths if named.search(path.read_text(encoding="utf-8"))]
    assert len(paths) > 300 and not found, f"{found}: use temporary_folder"


def test_copies_are_whole_or_absent():
    """A copy that fills the disk would leave a file that is cut, and name its source in the message."""
    packages = ("lscfg", "tuning", "cdec_bridge", "moses_bridge")
    named = re.compile(r"\bshutil\.(copy|copy2|copyfile|copytree|move)\(")
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    found = [str(path) for path in paths if named.search(path.read_text(encoding="utf-8"))]
    assert not found, f"{found}: use copy_file"


def test_a_public_name_has_one_meaning():
    """Classes and functions. The languages of demo resemble each other, and a stage is named like its work."""
    found = defaultdict(set)
    for name, module in modules().items():
        if name.startswith(("lscfg.demo", "lscfg.tuning.experiment.stages")) or ".commands" in name:
            continue
        for public in module.public:
            found[public].add(name)
    twice = {name: sorted(where) for name, where in found.items() if len(where) > 1}
    assert not twice


def test_functions_and_classes_are_short():
    everything = {**modules(), **programs()}
    assert {f"{place}: {name}" for place, module in everything.items() for name in module.long} == set()


# ---- the kernel ----


PLUGIN = ROOT / "plugin"
KERNEL = json.loads((PLUGIN / "include" / "kernel.json").read_text("utf-8"))


def included(path: Path) -> list[str]:
    """The files of the project that a C file includes."""
    return re.findall(r'(?m)^#include "([^"]+)"', path.read_text("utf-8"))


def kernel_files() -> list[Path]:
    """All C files and headers of the kernel's layers."""
    return [path for layer in KERNEL["layers"] for path in sorted((PLUGIN / layer).glob("*.[ch]"))]


def test_layers_of_the_kernel_use_lower_ones_only():
    """An include names the layer; a public header is that of the file's own layer or of a lower one."""
    layer = {name: number for number, name in enumerate(KERNEL["layers"])}
    for path in kernel_files():
        for name in included(path):
            used = Path(name).stem if name.startswith("lscfg/") else name.partition("/")[0]
            assert used in layer, f"{path.name} includes {name}, which is in no layer"
            assert layer[used] <= layer[path.parent.name], f"{path.parent.name}/{path.name} includes {name}"


def test_files_of_the_kernel_have_no_circle():
    """A unit is a C file with its header; no chain of includes leads from a unit back to itself."""
    used = defaultdict(set)
    for path in kernel_files():
        unit = path.relative_to(PLUGIN).with_suffix("").as_posix()
        used[unit] |= {name.removesuffix(".h") for name in included(path) if not name.startswith("lscfg/")} - {unit}
    done: set[str] = set()

    def walk(unit: str, way: tuple[str, ...]) -> None:
        assert unit not in way, f"a circle: {' -> '.join((*way[way.index(unit) :], unit))}"
        if unit not in done:
            for other in sorted(used[unit]):
                walk(other, (*way, unit))
            done.add(unit)

    for unit in sorted(used):
        walk(unit, ())


def test_decoders_know_what_a_decoder_needs_and_the_kernel_knows_no_decoder():
    allowed = {f"lscfg/{layer}.h" for layer in KERNEL["decoder"]}
    for folder in ("adapter", "cdec", "moses"):
        for path in (PLUGIN / folder).iterdir():
            public = {name for name in included(path) if name.startswith("lscfg")}
            assert public <= allowed, f"{path.name} includes {public - allowed}"
    for path in kernel_files():
        assert not re.search(r"(?i)#include [<\"](python|moses|cdec)", path.read_text("utf-8")), path.name


def test_every_layer_is_built_and_shipped():
    assert {path.name for path in PLUGIN.iterdir() if path.is_dir()} == {
        *KERNEL["layers"],
        "include",
        "adapter",
        "cdec",
        "moses",
    }
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-dir"]
    parts = [*KERNEL["decoder"], "include", "adapter", "cdec", "moses"]
    sources = {f"lscfg.sources.{part}": f"plugin/{part}" for part in parts}
    sources["lscfg.sources.include.lscfg"] = "plugin/include/lscfg"
    assert shipped == sources | {f"lscfg.{name}": name for name in OUTSIDE}


def test_nothing_in_the_checkout_is_a_link():
    """Archives and Windows file systems do not keep links, and tools see files twice."""
    tops = ("lscfg", *OUTSIDE, "plugin", "tests", "benchmarks", "docs", "experiments", "docker", "requirements")
    paths = [path for top in tops for path in (ROOT / top).rglob("*")]
    assert len(paths) > 1000 and [str(path) for path in paths if path.is_symlink()] == []


def test_no_line_of_c_is_longer_than_120_columns():
    files = [path for path in (*PLUGIN.rglob("*"), *(ROOT / "tests").rglob("*")) if path.suffix in C_SUFFIXES]
    assert len(files) > 100
    for path in files:
        long = [n for n, line in enumerate(path.read_text("utf-8").splitlines(), 1) if len(line) > 120]
        assert not long, f"{path.relative_to(ROOT)}: lines {long}"
