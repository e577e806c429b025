"""The real cdec behind the same interface as the embedded decoder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lscfg.cdec_bridge.packing import packed_if_possible
from lscfg.cdec_bridge.paths import check_latent_lines, check_paths
from lscfg.cdec_bridge.processes import CdecProcesses
from lscfg.decode.names import FeatureNames
from lscfg.errors import InputError
from lscfg.formats.ini import read_ini
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.formats.weights import write_weights
from lscfg.io.write import write_lines

LIBRARY_VARIABLE = "LSCFG_CDEC_PLUGIN"
"""Environment variable with the path of lscfg's library for cdec."""


def find_cdec() -> Path | None:
    """The cdec program: below ``CDEC_ROOT`` (the source tree, or a build folder in it) if set, else on PATH."""
    root = os.environ.get("CDEC_ROOT")
    if root:
        return program_below(root)
    found = shutil.which("cdec")
    return Path(found) if found else None


def needed_cdec() -> Path:
    """The program that ``find_cdec`` finds.

    Raises:
        InputError: no cdec program is found.
    """
    if found := find_cdec():
        return found
    raise InputError("no cdec program found; put it on PATH or set CDEC_ROOT to its source tree")


def find_library() -> Path | None:
    """The library of ``lscfg cdec build`` that LSCFG_CDEC_PLUGIN names.

    Raises:
        InputError: the file is missing.
    """
    if not (named := os.environ.get(LIBRARY_VARIABLE)):
        return None
    if not Path(named).is_file():
        raise InputError(f"no such file; correct the environment variable {LIBRARY_VARIABLE}", named)
    return Path(named).resolve()


def program_below(root: str | os.PathLike[str]) -> Path | None:
    """The cdec program of a source tree or of a build folder in it."""
    for folder in (Path(root), *(child for child in sorted(Path(root).glob("*")) if child.is_dir())):
        for candidate in (folder / "cdec", folder / "decoder" / "cdec"):
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return candidate.resolve()
    return None


def names_of(ini: str | os.PathLike[str], sentences: Sequence[str] = ()) -> FeatureNames | None:
    """The features of a configuration; None if only cdec can read it."""
    try:
        return FeatureNames.of(read_ini(ini), sentences)
    except InputError:
        return None


class CdecDecoder:
    """Runs cdec with a configuration file, in ``jobs`` new processes for each call.

    If the configuration can be divided into passes, features are packed during the search and unpacked for the lists.
    The lists are the same and take about half the time with latent features, three quarters without. Without latent
    features this needs ``library``, the library of ``lscfg cdec build``.

    Raises:
        InputError: cdec or the configuration is missing.
    """

    def __init__(
        self,
        ini: str | os.PathLike[str],
        program: Path | None = None,
        jobs: int = 1,
        library: str | os.PathLike[str] | None = None,
    ):
        self.ini = Path(ini).resolve()
        if not self.ini.is_file():
            raise InputError("no such file", ini)
        self.program = program or needed_cdec()
        self.jobs = jobs
        self._warned: set[str] = set()
        self._packed = packed_if_possible(self.ini, library=library)

    @cached_property
    def names(self) -> FeatureNames | None:
        """The features of the configuration; None if only cdec can read it."""
        return names_of(self.ini)

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool = True
    ) -> list[list[Hypothesis]]:
        """At most ``k`` hypotheses of each sentence, best first; an empty one if cdec prints none.

        Paths in the configuration are relative to its folder, where cdec runs.

        Raises:
            InputError: a file of the configuration is missing, or latent features name no library.
            LscfgError: cdec does not start; its last lines are shown.
        """
        check_latent_lines(self.ini)
        check_paths(self.ini, self.ini.parent)
        with tempfile.TemporaryDirectory() as folder:
            ini = self.ini
            if self._packed is not None:
                ini, weights = Path(folder) / "cdec.ini", self._packed.weights(weights)
                write_lines(ini, self._packed.lines)
            write_weights(Path(folder) / "weights", weights)
            options = ["-w", f"{folder}/weights", *(["-r"] if unique else [])]
            processes = CdecProcesses(self.program, ini, options, k, self.jobs, self.ini.parent, self._warned)
            lists = processes.decode(sentences)
        return [
            [parse_hypothesis(line, self.program)[1] for line in lines] or [Hypothesis("", {}, 0.0)] for lines in lists
        ]
