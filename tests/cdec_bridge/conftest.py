"""Fixtures of the plug-in's tests: cdec's source tree, the library, and runs of both."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cdec_runs import Cdec

from lscfg.cdec_bridge.library import CdecTree, build_library


@pytest.fixture(scope="session")
def tree() -> CdecTree:
    if "CDEC_ROOT" not in os.environ:
        pytest.skip("no cdec: CDEC_ROOT is not set")
    return CdecTree.at(os.environ["CDEC_ROOT"])


@pytest.fixture(scope="session")
def library(tree: CdecTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "liblscfg_cdec.so"
    build_library(tree, path)
    return path


@pytest.fixture(scope="session")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which cdec prints all digits."""
    folder = tmp_path_factory.mktemp("exact")
    (folder / "exact.cc").write_text(
        "#include <iostream>\nstruct Exact { Exact() { std::cout.precision(17); } } exact;\n"
    )
    subprocess.run(["g++", "-shared", "-fPIC", "exact.cc", "-o", "exact.so"], cwd=folder, check=True)
    return {"LD_PRELOAD": str(folder / "exact.so")}


@pytest.fixture
def cdec(tree: CdecTree, library: Path, tmp_path: Path) -> Cdec:
    return Cdec(tree, library, tmp_path)
