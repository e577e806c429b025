"""An experiment that runs in seconds, and the command line that runs it."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from commands_here import run_here

CORPUS = """
[corpus]
source = "train.ja"
target = "train.en"
dev_source = "dev.ja"
dev_reference = "dev.en"
test_source = "test.ja"
test_reference = ["test.en"]
"""
"""The first table of experiments of the little corpus."""

TOML = (
    CORPUS
    + """
[language_model]
order = 3
estimator = "lscfg"

[tuning]
iterations = 3
kbest = 20

[systems.MIN]

[systems.SPECTRAL]
estimator = "spectral"
m = 3
features = "paper"
start = "none"
"""
)


def stages_begun(log: str) -> list[str]:
    """The names of the stages that a log says were begun, in order."""
    return re.findall(r"^\[lscfg\] stage \d+/\d+ (\S+)(?: \([^)]*\))?$", log, re.M)


def run_lscfg(*arguments: Any, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command of lscfg, in another process only if ``subprocess.run`` needs options."""
    if not options:
        return run_here(*arguments, cwd=cwd)
    command = [sys.executable, "-P", "-m", "lscfg", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, **options)
