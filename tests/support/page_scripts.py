"""The scripts of the page of ``lscfg serve`` in Node, where a document of stubs takes the place of a browser."""

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node on PATH to run the scripts of the page")


def run_page(folder: Path, script: str, *arguments: str) -> str:
    """Returns what a script prints that imports the page's own ones.

    Args:
        folder: for the scripts; it becomes the first argument of the script.
    """
    for file in files("lscfg.serve.page").iterdir():
        if file.name.endswith(".js"):
            (folder / file.name).write_bytes(file.read_bytes())
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "run.js").write_text(script)
    command = [str(NODE), str(folder / "run.js"), str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
