"""The rules of the house, executed: which room may use which, where pointers and pools live, what names mean."""

import ast
import json
import re
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

FLOORS = (
    ("lscfg.errors",),
    ("lscfg.extras", "lscfg.log", "lscfg.settings", "lscfg.kinds"),
    ("lscfg.parallel",),
    ("lscfg.io",),
    ("lscfg.kernel",),
    ("lscfg.corpus", "lscfg.formats", "lscfg.lm", "lscfg.prepare", "lscfg.demo"),
    ("lscfg.grammar",),
    ("lscfg.extract", "lscfg.model"),
    ("lscfg.estimate", "lscfg.adapter"),
    ("lscfg.context", "lscfg.decode", "lscfg.induce"),
    ("lscfg.study", "lscfg.bundle"),
    ("lscfg.api",),
    ("lscfg.serve",),
    ("lscfg.options", "lscfg.parser", "lscfg.command_table"),
    ("lscfg.cli",),
    ("lscfg.commands", "lscfg.__main__"),
    ("lscfg.cdec_bridge", "lscfg.moses_bridge"),
    ("lscfg.tuning",),
)
"""A room uses rooms of lower floors only."""

BESIDE = ("tuning", "cdec_bridge", "moses_bridge")
"""Packages of lscfg whose folders lie outside its own."""

OF_KINDS = {
    "add_context",
    "Settings",
    "estimate",
    "rules",
    "tokens",
    "decoding",
    "learn",
    "align_corpus",
    "align_text",
    "fit",
}
OF_KINDS |= {"trees", "read_pairs", "train_model", "open_tokeniser"}
"""What every module of a kind defines: one meaning, several times (``lscfg.kinds``)."""

C_SUFFIXES = {".c", ".h", ".cc", ".cpp"}

POOLS = {"concurrent", "multiprocessing"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the packages by its dotted name."""
    for top in ("lscfg", *BESIDE):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = (*(["lscfg"] if top in BESIDE else []), *path.relative_to(ROOT).with_suffix("").parts)
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), ast.parse(path.read_text("utf-8"))


def imports(tree: ast.Module) -> Iterator[str]:
    """Dotted names of what a module imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(name: str) -> str | None:
    """The room of a dotted name; None outside the project and for what the package itself has."""
    parts = name.split(".")
    if parts[0] != "lscfg":
        return None
    return ".".join(parts[:2]) if len(parts) > 1 and parts[1] not in ("__version__", "_kernel") else None


def test_rooms_use_lower_floors_only():
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    wrong = set()
    for name, tree in modules():
        here = room(name)
        if here is None:
            continue
        assert here in floor, f"{here} is on no floor; add it to FLOORS"
        for used in filter(None, map(room, imports(tree))):
            if used != here and floor[used] >= floor[here]:
                wrong.add(f"{name} uses {used}")
    assert not wrong


def test_the_bridges_do_not_know_each_other():
    for name, tree in modules():
        bridges = {"lscfg.cdec_bridge", "lscfg.moses_bridge"}
        if room(name) in bridges:
            other = bridges - {room(name)}
            assert other.isdisjoint(filter(None, map(room, imports(tree)))), name


def test_only_the_kernel_package_has_pointers():
    for name, tree in modules():
        if not name.startswith("lscfg.kernel"):
            assert not any(used.startswith("lscfg._kernel") for used in imports(tree)), name
        private = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "pointer"}
        assert not private, f"{name}: a pointer is called _pointer and stays inside"


def test_only_one_room_makes_pools():
    users = {name for name, tree in modules() if any(used.partition(".")[0] in POOLS for used in imports(tree))}
    assert {room(name) for name in users} <= {"lscfg.parallel"}, users


def test_a_public_name_has_one_meaning():
    """Of classes and functions. The languages of demo are alike, and a stage has the name of its work."""
    found = defaultdict(set)
    for name, tree in modules():
        if name.startswith(("lscfg.demo", "lscfg.tuning.experiment.stages")) or ".commands" in name:
            continue
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                found[node.name].add(name)
    twice = {name: sorted(where) for name, where in found.items() if len(where) > 1 and name not in OF_KINDS}
    assert not twice


def test_files_have_one_head():
    """No module is longer than a reader can keep in mind."""
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in _sources()}
    assert {path: lines for path, lines in lengths.items() if lines > 620} == {}


def _sources() -> Iterator[Path]:
    for top in ("lscfg", *BESIDE, "tests"):
        yield from (path for path in (ROOT / top).rglob("*.py") if path.parent.name != "demo")


# ---- the kernel ----


PLUGIN = ROOT / "plugin"
KERNEL = json.loads((PLUGIN / "include" / "kernel.json").read_text("utf-8"))


def included(path: Path) -> list[str]:
    """The files of the project that a C file includes."""
    return re.findall(r'(?m)^#include "([^"]+)"', path.read_text("utf-8"))


def kernel_files() -> list[Path]:
    """All C files and headers of the kernel's floors."""
    return [path for floor in KERNEL["floors"] for path in sorted((PLUGIN / floor).glob("*.[ch]"))]


def test_floors_of_the_kernel_use_lower_ones_only():
    """An include names the floor; a public header is that of the file's own floor or of one below."""
    floor = {name: number for number, name in enumerate(KERNEL["floors"])}
    for path in kernel_files():
        for name in included(path):
            used = Path(name).stem if name.startswith("lscfg/") else name.partition("/")[0]
            assert used in floor, f"{path.name} includes {name}, which is on no floor"
            assert floor[used] <= floor[path.parent.name], f"{path.parent.name}/{path.name} includes {name}"


def test_files_of_the_kernel_have_no_circle():
    """A room is a C file with its header; a room that is used by another does not use it, over however many steps."""
    used = defaultdict(set)
    for path in kernel_files():
        room = path.relative_to(PLUGIN).with_suffix("").as_posix()
        used[room] |= {name.removesuffix(".h") for name in included(path) if not name.startswith("lscfg/")} - {room}
    done: set[str] = set()

    def walk(room: str, way: tuple[str, ...]) -> None:
        assert room not in way, f"a circle: {' -> '.join((*way[way.index(room) :], room))}"
        if room not in done:
            for other in sorted(used[room]):
                walk(other, (*way, room))
            done.add(room)

    for room in sorted(used):
        walk(room, ())


def test_decoders_know_what_a_decoder_needs_and_the_kernel_knows_no_decoder():
    allowed = {f"lscfg/{floor}.h" for floor in KERNEL["decoder"]}
    for folder in ("adapter", "cdec", "moses"):
        for path in (PLUGIN / folder).iterdir():
            public = {name for name in included(path) if name.startswith("lscfg")}
            assert public <= allowed, f"{path.name} includes {public - allowed}"
    for path in kernel_files():
        assert not re.search(r"(?i)#include [<\"](python|moses|cdec)", path.read_text("utf-8")), path.name


def test_every_floor_is_built_and_shipped():
    assert {path.name for path in PLUGIN.iterdir() if path.is_dir()} == {
        *KERNEL["floors"],
        "include",
        "adapter",
        "cdec",
        "moses",
    }
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-dir"]
    parts = [*KERNEL["decoder"], "include", "adapter", "cdec", "moses"]
    sources = {f"lscfg.sources.{part}": f"plugin/{part}" for part in parts}
    sources["lscfg.sources.include.lscfg"] = "plugin/include/lscfg"
    assert shipped == sources | {f"lscfg.{name}": name for name in BESIDE}


def test_nothing_in_the_checkout_is_a_link():
    """Archives and Windows file systems do not keep links, and tools see files twice."""
    listed = subprocess.run(["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert [line for line in listed.stdout.splitlines() if line.startswith("120000")] == []


def test_no_line_of_c_is_longer_than_120_columns():
    files = [path for path in (*PLUGIN.rglob("*"), *(ROOT / "tests").rglob("*")) if path.suffix in C_SUFFIXES]
    assert len(files) > 100
    for path in files:
        long = [n for n, line in enumerate(path.read_text("utf-8").splitlines(), 1) if len(line) > 120]
        assert not long, f"{path.relative_to(ROOT)}: lines {long}"
