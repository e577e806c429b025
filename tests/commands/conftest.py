"""Files and doubles of tests that run command lines."""

from functools import partial
from pathlib import Path

import helpers
import pytest


@pytest.fixture
def command_files(tmp_path, monkeypatch) -> Path:
    """The working directory, with the files that lines name."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("f", "e", "e2", "a1", "text", "model", "library")):
        (tmp_path / name).write_text(f"a{number} b\nc{number}\n")
    (tmp_path / "weights").write_text("One 1\n")
    (tmp_path / "settings.toml").write_text("[derive]\nbinarise = true\n")
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=text\nfeature_function=WordPenalty\n")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.fixture
def double(monkeypatch):
    """Doubles until the test ends."""
    return partial(helpers.double, monkeypatch)
