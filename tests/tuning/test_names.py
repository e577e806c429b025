"""Words of the command line that no output could hold."""

import re
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "scores", "--reference", "f", b"A\xff=f"),
        ("run", "e.toml", "-o", b"r\xff"),
        ("run", b"e\xff.toml", "-o", "r"),
    ],
)
def test_names_that_are_not_utf8_are_refused(tmp_path, words):
    """No table, JSON file or report could hold them."""
    (tmp_path / "f").write_text("a b\n")
    command = [sys.executable, "-P", "-m", "lscfg", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and not (tmp_path / "r").exists()
    assert re.fullmatch(rf"lscfg {words[0]}: the name '.*\\udcff.*' is not UTF-8; give another\n", done.stderr)
