"""The kernel without Python: plain C and C++, no warnings, no leaks, nothing exported but the interface."""

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from native import FACTS, INCLUDE, KERNEL, PROGRAMS, ROOT, STRICT, arguments, compile_files, kernel_objects, needs, run

from lscfg import _kernel

LANGUAGES = [("gcc", "c11"), ("g++", "c++11"), ("clang", "c11"), ("clang++", "c++11")]


@pytest.fixture(scope="module")
def kernel() -> list[Path]:
    """The kernel's object files; gcc has no warnings either."""
    return kernel_objects(needs("gcc"), "-g", "-O2", *STRICT)


@pytest.mark.parametrize(("compiler", "standard"), LANGUAGES)
def test_interface_in_c_and_cpp(compiler, standard, kernel, tmp_path):
    language = "c++" if "++" in standard else "c"
    strict = [f"-std={standard}", *STRICT, "-pedantic"]
    made = tmp_path / "kernel_test"
    source = PROGRAMS / "kernel_test.c"
    run(needs(compiler), *strict, INCLUDE, "-x", language, source, "-x", "none", *kernel, "-lm", "-o", made)
    lines = run(made, *arguments("kernel_test", "double1")).stdout.splitlines()
    assert len(lines) == 6 and lines[:2] == lines[2:4] == lines[4:]  # as parsed, as built, and with n-grams
    assert "root 1.000000" in lines[0]


def test_clang_has_no_warnings(tmp_path):
    compile_files(tmp_path, needs("clang"), KERNEL, "-fsyntax-only", *STRICT)


@pytest.mark.parametrize(
    ("name", "model"), [("kernel_test", "double3"), ("kernel_test", "low-rank3"), ("corpus_test", "context3")]
)
def test_valgrind_finds_nothing(name, model, kernel, tmp_path):
    checks = ["--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"]
    program = tmp_path / name
    run("gcc", "-std=c11", "-g", *STRICT, INCLUDE, PROGRAMS / f"{name}.c", *kernel, "-lm", "-o", program)
    command = [program, *arguments(name, model)]
    expected = run(*command).stdout
    assert run(needs("valgrind"), "--quiet", *checks, *command).stdout == expected


def test_only_the_interface_is_exported():
    listed = run(needs("nm"), "-D", "--defined-only", _kernel.__file__).stdout
    names = {line.split()[-1] for line in listed.splitlines()} - {"_init", "_fini"}
    assert "PyInit__kernel" in names
    assert not [name for name in names if not re.match(r"lscfg_|PyInit__kernel$|_cffi_", name)]


# ---- which C file uses which ----


PLUGIN = ROOT / "plugin"


@pytest.fixture(scope="module")
def symbols(kernel) -> dict[str, dict[str, str]]:
    """By C file (``layer/name``): its global symbols and their kinds, by ``nm``; U are those of other files."""
    found = {}
    for source, made in zip(KERNEL, kernel, strict=True):
        lines = run(needs("nm"), "--format=posix", made).stdout.splitlines()
        rows = (line.split()[:2] for line in lines)
        found[f"{source.parent.name}/{source.stem}"] = {name.lstrip("_"): kind for name, kind in rows if kind.isupper()}
    return found


def circle(uses: dict[str, set[str]]) -> list[str]:
    """A circle in a graph, empty if there is none."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}


def test_c_files_have_no_circle(symbols):
    """Neither by calls and data nor by includes, a C file and the header of its name being one."""
    home = {symbol: name for name, table in symbols.items() for symbol, kind in table.items() if kind != "U"}
    uses = defaultdict(set)
    for name, table in symbols.items():
        uses[name] |= {home[symbol] for symbol, kind in table.items() if kind == "U" and symbol in home}
    assert "extract/pair" in uses["extract/derive"] and "base/error" in uses["extract/bitext"]
    assert circle(uses) == []
    for path in (path for layer in FACTS["layers"] for path in (PLUGIN / layer).glob("*.[ch]")):
        used = re.findall(r'(?m)^#include "((?!lscfg/)[^"]+)\.h"', path.read_text("utf-8"))
        uses[f"{path.parent.name}/{path.stem}"] |= set(used)
    assert circle({name: used - {name} for name, used in uses.items()}) == []


def test_functions_are_declared_in_the_header_of_their_file(symbols):
    """Checks all functions except those of the public interface."""
    wrong = []
    for name, table in symbols.items():
        header = PLUGIN / f"{name}.h"
        declared = set(re.findall(r"\w+", header.read_text("utf-8"))) if header.exists() else set()
        functions = {symbol for symbol, kind in table.items() if kind == "T" and not symbol.startswith("lscfg_")}
        wrong += [f"{name}.c: {function}" for function in sorted(functions - declared)]
    assert wrong == []
