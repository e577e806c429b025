"""The real cdec behind the same interface as the embedded decoder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lscfg.errors import InputError, LscfgError
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.formats.weights import write_weights


def find_cdec() -> Path | None:
    """The cdec program: below ``CDEC_ROOT`` (the source tree, or a build folder in it) if set, else on PATH."""
    root = os.environ.get("CDEC_ROOT")
    if root:
        for folder in (Path(root), *(child for child in sorted(Path(root).glob("*")) if child.is_dir())):
            for candidate in (folder / "cdec", folder / "decoder" / "cdec"):
                if candidate.is_file() and os.access(candidate, os.X_OK):
                    return candidate.resolve()
        return None
    found = shutil.which("cdec")
    return Path(found) if found else None


class CdecDecoder:
    """Runs cdec with a configuration file, once for each call.

    Raises:
        InputError: there is no cdec, or no such configuration.
    """

    def __init__(self, ini: str | os.PathLike[str], program: Path | None = None):
        self.ini = Path(ini).resolve()
        if not self.ini.is_file():
            raise InputError("no such file", ini)
        found = program or find_cdec()
        if found is None:
            raise InputError("no cdec program found; put it on PATH or set CDEC_ROOT to its source tree")
        self.program = found

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool = True
    ) -> list[list[Hypothesis]]:
        """At most ``k`` hypotheses of each sentence, best first; an empty one where cdec gives no output.

        Paths in the configuration count from its own folder, where cdec is run.

        Raises:
            LscfgError: cdec failed; its last lines are shown.
        """
        with tempfile.TemporaryDirectory() as folder:
            write_weights(Path(folder) / "weights", weights)
            command = [str(self.program), "-c", str(self.ini), "-w", f"{folder}/weights", "-k", str(k)]
            if unique:
                command.append("-r")
            # Ids of our own: cdec leaves out empty lines, and what follows would be counted wrong.
            text = "".join(f'<seg id="{n}">{line}</seg>\n' for n, line in enumerate(sentences) if line.strip())
            run = subprocess.run(
                command, input=text, capture_output=True, text=True, encoding="utf-8", cwd=self.ini.parent, check=False
            )
        if run.returncode:
            last = " | ".join(run.stderr.strip().splitlines()[-3:])
            raise LscfgError(f"{self.program} ended with status {run.returncode}: {last}")
        lists: list[list[Hypothesis]] = [[] for _ in sentences]
        for line in run.stdout.splitlines():
            sentence, hypothesis = parse_hypothesis(line, self.program)
            lists[sentence].append(hypothesis)
        return [found or [Hypothesis("", {}, 0.0)] for found in lists]
