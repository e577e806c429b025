"""Pools of threads and processes are made in one room."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("lscfg", "tuning", "cdec_bridge", "moses_bridge")
POOLS = ("concurrent", "multiprocessing", "joblib", "dask", "distributed")
LOCKS = {"Lock", "RLock"}
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
OUTSIDE = [path for path in MODULES if path.parent != ROOT / "lscfg" / "parallel"]


def imported(tree: ast.AST) -> set[str]:
    """First parts of the modules that a module imports anywhere."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def threading_names(tree: ast.AST) -> set[str]:
    """What a module uses of ``threading``."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "threading":
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module == "threading":
            found |= {name.name for name in node.names}
    return found


def test_the_room_of_pools_is_there():
    """What is forbidden elsewhere is found where it is allowed."""
    inside = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES if path not in OUTSIDE]
    assert {"concurrent", "multiprocessing"} <= set().union(*map(imported, inside))
    assert "Thread" in set().union(*map(threading_names, inside))
    assert len(OUTSIDE) > 100


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pool_is_made_elsewhere(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not imported(tree) & set(POOLS)
    assert threading_names(tree) <= LOCKS
