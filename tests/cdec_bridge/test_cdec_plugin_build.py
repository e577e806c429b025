"""The plug-in for cdec: what is said of one that cannot be built or loaded."""

from __future__ import annotations

import re
import subprocess

import pytest

from lscfg.cdec_bridge.library import CdecTree, build_library, check_library
from lscfg.cli import main
from lscfg.errors import InputError


def test_check_says_that_all_is_well(tree, library):
    assert re.search(r"loads .*; \d+ derivations have the features", check_library(tree, library))


def test_check_names_a_missing_symbol(tree, tmp_path):
    source = tmp_path / "other.cc"
    source.write_text(
        'extern "C" int no_such_function(); extern "C" void* create_ff() { return (void*)no_such_function; }'
    )
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", tmp_path / "other.so"], check=True)
    with pytest.raises(InputError, match="does not export no_such_function"):
        check_library(tree, tmp_path / "other.so")


def test_check_tells_what_is_no_library_of_ours(tree, library, tmp_path):
    (tmp_path / "other.cc").write_text("int something;\n")
    subprocess.run(["g++", "-shared", "-fPIC", tmp_path / "other.cc", "-o", tmp_path / "other.so"], check=True)
    with pytest.raises(InputError, match=r"other\.so: lacks create_ff"):
        check_library(tree, tmp_path / "other.so")
    (tmp_path / "cut.so").write_bytes(library.read_bytes()[:100_000])
    with pytest.raises(InputError, match=r"cut\.so: is truncated, so cdec cannot map it"):
        check_library(tree, tmp_path / "cut.so")


@pytest.mark.parametrize(
    ("script", "end"),
    [("echo hello", "status 0: no word"), ("exit 3", "status 3"), ("echo no >&2; kill $$", "SIGTERM: no")],
)
def test_check_tells_what_is_no_cdec(tmp_path, script, end):
    program = tmp_path / "decoder" / "cdec"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match=f"this cdec does not work: without the library, it ends with .*{end}"):
        check_library(CdecTree(tmp_path, None, program), tmp_path / "none.so")


def test_build_names_a_missing_header(tmp_path, capsys):
    (tmp_path / "decoder").mkdir()
    assert main(["cdec", "build", "--cdec-root", str(tmp_path), "-o", str(tmp_path / "l.so")]) == 1
    assert "no decoder/ff.h; give the source tree in which cdec was built" in capsys.readouterr().err


def test_build_shows_what_the_compiler_refuses(tmp_path, capsys):
    for name in ("decoder/ff.h", "decoder/hg.h", "decoder/sentence_metadata.h", "utils/fdict.h", "utils/filelib.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#error of another version\n")
    assert main(["cdec", "build", "--cdec-root", str(tmp_path), "-o", str(tmp_path / "l.so")]) == 1
    assert "cannot compile the feature function: " in capsys.readouterr().err
    assert not (tmp_path / "l.so").exists()


def test_build_without_a_compiler(tmp_path, monkeypatch):
    for name in ("decoder/ff.h", "decoder/hg.h", "decoder/sentence_metadata.h", "utils/fdict.h", "utils/filelib.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(InputError, match="no compiler no-such-compiler"):
        build_library(CdecTree.at(tmp_path), tmp_path / "l.so")
