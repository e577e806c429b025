"""The real Moses behind the same interface as the embedded decoder: cdec's configuration, weights and features."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lscfg import log
from lscfg.adapter import told_warnings, untranslated
from lscfg.decode.names import FeatureNames
from lscfg.decode.parsing import read_grammar
from lscfg.errors import InputError, LscfgError, exit_reason
from lscfg.formats.ini import read_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.moses_bridge.config import Conventions, escape, has_escapes, write_moses, write_moses_ini
from lscfg.moses_bridge.nbest import read_nbest
from lscfg.moses_bridge.program import PROGRAM
from lscfg.parallel.temporary import TemporaryFolder

VARIABLE = "LSCFG_MOSES"
"""Environment variable with the path of the program that ``lscfg moses build`` makes."""


def find_moses(latent: bool) -> Path | None:
    """The program that ``VARIABLE`` names, else moses_lscfg on PATH; without latent features also moses_chart.

    Raises:
        InputError: the variable names no program.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not (os.path.isfile(named) and os.access(named, os.X_OK)):
            raise InputError(f"no such program; correct the environment variable {VARIABLE}", named)
        return Path(named).resolve()
    found = shutil.which(PROGRAM) or (None if latent else shutil.which("moses_chart"))
    return Path(found) if found else None


class MosesDecoder:
    """Runs Moses with a converted cdec.ini, in a new process for each call, with ``threads`` threads.

    Raises:
        InputError: Moses or the configuration is missing, or the configuration cannot be converted.
    """

    def __init__(self, ini: str | os.PathLike[str], program: Path | None = None, threads: int = 1):
        self.ini = Path(ini).resolve()
        self._config = read_ini(ini)
        found = program or find_moses(self._config.latent is not None)
        if found is None:
            raise InputError(
                f"no {PROGRAM} found; make it with lscfg moses build, and put it on PATH or set {VARIABLE}"
            )
        self.program = found
        if threads < 1:
            raise InputError(f"the number of threads must be at least 1, got {threads}")
        self.threads = threads
        self._warned: set[str] = set()
        self._temporary = TemporaryFolder("lscfg-moses-")
        self._folder = self._temporary.path
        self._moses_ini = write_moses(self._folder, self._config, {}, ini)
        grammar = read_grammar(self._config)
        self.names: FeatureNames = FeatureNames.of(self._config, grammar=grammar)
        self._conventions = Conventions.of_grammar(self._config, grammar)
        self._escapes = not has_escapes(grammar)

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool = True
    ) -> list[list[Hypothesis]]:
        """At most ``k`` hypotheses of each sentence, best first; an empty one if Moses prints none.

        Warnings of lscfg's feature function are passed on, once each.

        Raises:
            LscfgError: Moses failed; its last lines are shown.
        """
        write_moses_ini(self._moses_ini, self._config, self._conventions, weights, self.ini)
        todo = [n for n, line in enumerate(sentences) if line.strip()]
        nbest = self._folder / "nbest"
        command = [str(self.program), "-f", str(self._moses_ini), "-v", "0", "-threads", str(self.threads)]
        command += ["-n-best-list", str(nbest), str(k), *(["distinct"] if unique else [])]
        text = "".join(escape(" ".join(sentences[n].split())) + "\n" for n in todo)
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
        if done.returncode or not nbest.is_file():
            last = " | ".join(done.stderr.decode(errors="replace").strip().splitlines()[-3:])
            raise LscfgError(f"{self.program} ended with {exit_reason(done.returncode)}: {last}")
        self._pass_on(done.stderr, todo)
        found = read_nbest(nbest)
        lists = [[Hypothesis("", {}, 0.0)] for _ in sentences]
        for index, n in enumerate(todo):
            if index in found:
                ordered = sorted(found[index], key=lambda h: -h.score)  # Moses almost sorts them
                lists[n] = [self._conventions.hypothesis_from_moses(h, self._escapes) for h in ordered]
        if missing := [n for index, n in enumerate(todo) if index not in found]:
            log.warn_once(untranslated("Moses", missing, len(todo)), self._warned)
        return lists

    def _pass_on(self, stderr: bytes, todo: Sequence[int]) -> None:
        """Repeats the warnings of the feature function, with the numbers of the lines; Moses sees no empty ones."""
        for told in told_warnings(stderr.splitlines()):
            message = re.sub(r"(?<=sentence )\d+", lambda number: str(todo[int(number[0]) - 1] + 1), told)
            log.warn_once(f"in Moses: {message}", self._warned)
