"""The kernel without Python: plain C and C++, no warnings, no leaks, nothing exported but the interface."""

import re
from pathlib import Path

import pytest
from native import INCLUDE, KERNEL, PROGRAMS, STRICT, arguments, compile_files, kernel_objects, needs, run

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
    assert len(lines) == 6 and lines[:2] == lines[2:4] == lines[4:]  # as parsed, built anew, and with n-grams
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
