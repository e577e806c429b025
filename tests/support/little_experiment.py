"""An experiment that runs in seconds, and the command line that runs it."""

import re
import subprocess
import sys
from typing import Any

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


def run_lscfg(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own; the options are those of subprocess.run."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "lscfg", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
