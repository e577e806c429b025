"""The optimisers of cdec and Moses in the tuning loop: their programs learn, the loop decodes, logs and rolls back.

* ``cdec-mira``: cdec's kbest_cut_mira, one pass for each iteration, with the settings of its mira.py. It decodes by
  itself while it learns, and has no seed: each run yields other weights.
* ``cdec-dpmert``: cdec's mr_dpmert_map and mr_dpmert_reduce, up to five steps per iteration as in its dpmert.pl, on
  hypergraphs from cdec. Random directions are lscfg's, since the program of cdec has no seed for them.
* ``moses-kbmira``, ``moses-mert``: Moses' kbmira and mert with the options of mert-moses.pl, on the k-best lists of all
  iterations, from any decoder.

Programs are looked for below ``CDEC_ROOT`` and ``MOSES_ROOT`` (source tree or build folder), else on PATH.
"""

from __future__ import annotations

import gzip
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lscfg.cdec_bridge.decoder import needed_cdec
from lscfg.errors import InputError, LscfgError, exit_reason, quote
from lscfg.formats.segments import numbered
from lscfg.formats.weights import read_weights, write_weights
from lscfg.log import progress
from lscfg.tuning.bleu import CORRECT, REFERENCE_LENGTH, TOTAL, corpus_bleu
from lscfg.tuning.optimisers import Learned, Learner, Step
from lscfg.tuning.pool import Pool

_FOLDERS = ("", "bin/**", "decoder", "training/*", "mert", "mert/bin/**")  # bjam names folders after its options
DPMERT_STEPS, DPMERT_DIRECTIONS, DPMERT_EPSILON = 5, 15, 1e-4
"""As in dpmert.pl: steps of an iteration, random directions, and the least gain that counts (BLEU and step)."""


def find_program(name: str, variable: str) -> Path:
    """A program below the folder that an environment variable names, else on PATH.

    Raises:
        InputError: the program is not installed.
    """
    root = os.environ.get(variable)
    if root:
        for folder in (Path(root), *sorted(child for child in Path(root).glob("*") if child.is_dir())):
            for place in _FOLDERS:
                for found in sorted(folder.glob(f"{place}/{name}".lstrip("/"))):
                    if found.is_file() and os.access(found, os.X_OK):
                        return found.resolve()
    elif found_on_path := shutil.which(name):
        return Path(found_on_path)
    raise InputError(f"no program {name} found; build it and put it on PATH or set {variable} to the tree it is in")


def host_optimiser(
    name: str, config: str | os.PathLike[str], sources: Sequence[str], references: Sequence[Sequence[str]], k: int
) -> Learner:
    """One of ``HOSTS``, for ``lscfg.tuning.tune.tune``.

    Args:
        config: cdec.ini for optimisers that decode by themselves.
        sources, references: the development set, as for ``tune``.
        k: size of the lists of cdec-mira.

    Raises:
        InputError: the optimiser is unknown, or a program is not installed.
    """
    if name not in _OPTIMISERS:
        raise InputError(f"unknown optimiser {quote(name)}; choose from {', '.join(HOSTS)}")
    return _OPTIMISERS[name](config, sources, references, k)


def _run(command: Sequence[object], folder: Path, text: str = "") -> str:
    """A program's standard output.

    Raises:
        LscfgError: it failed; its last lines are shown.
    """
    words = [str(word) for word in command]
    run = subprocess.run(words, input=text, capture_output=True, text=True, encoding="utf-8", cwd=folder, check=False)
    if run.returncode:
        last = " | ".join(run.stderr.strip().splitlines()[-3:])
        raise LscfgError(f"{words[0]} ended with {exit_reason(run.returncode)}: {last}")
    return run.stdout


def _result(step: Step, learned: Mapping[str, float], program: object) -> Learned:
    bad = [name for name, value in learned.items() if not math.isfinite(value)]
    if bad:
        raise LscfgError(f"{program} returned a weight that is not finite: {bad[0]}")
    weights = {**step.weights, **learned}
    named = {name: float(weights[name]) for name in sorted(weights)}
    return Learned(named, corpus_bleu(step.pool.best_stats(step.pool.vector(named))))


class _Cdec:
    """Base class of the optimisers of cdec, with segments and references of all sentences that are not empty."""

    def __init__(
        self, config: str | os.PathLike[str], sources: Sequence[str], references: Sequence[Sequence[str]], *names: str
    ):
        self._ini = Path(config).resolve()
        self._programs = [find_program(name, "CDEC_ROOT") for name in names]
        self._kept = [n for n, line in enumerate(sources) if line.strip()]
        numbered_lines = (pair for lines in references for pair in enumerate(lines, 1))
        if wrong := next((number for number, line in numbered_lines if "|||" in line.split()), 0):
            raise InputError(
                f"line {wrong} of the references contains the word |||, which separates references in cdec; "
                "write it in another way"
            )
        self._segments = "".join(numbered(sources[n], i) for i, n in enumerate(self._kept))
        self._references = "".join(" ||| ".join(lines[n] for lines in references) + "\n" for n in self._kept)

    def _prepare(self, folder: Path, weights: Mapping[str, float]) -> None:
        (folder / "references").write_text(self._references, encoding="utf-8")
        write_weights(folder / "weights", weights)


class _CdecMira(_Cdec):
    def __init__(
        self, config: str | os.PathLike[str], sources: Sequence[str], references: Sequence[Sequence[str]], k: int
    ):
        super().__init__(config, sources, references, "kbest_cut_mira")
        self._k = k

    def __call__(self, step: Step) -> Learned:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self._prepare(folder, step.weights)
            iteration = step.iteration - 1
            # From the second pass on, the pseudo-document begins with the translations of the previous pass.
            best = "".join(f"{step.lists[n][0].text if step.lists[n] else ''}\n" for n in self._kept)
            (folder / f"run.raw.{iteration - 1}.B").write_text(best, encoding="utf-8")
            options = ["-s", 1, "-o", 2, "-h", 1, "-f", 1, "-C", 0.001, "-u", "-e", "-S", 1, "-m", "IBM_BLEU"]
            sizes = ["-k", self._k, "-b", self._k, "-p", iteration]
            files = ["-c", self._ini, "-w", folder / "weights", "-r", folder / "references", "-O", folder, "-D", folder]
            _run([self._programs[0], *files, *options, *sizes], self._ini.parent, self._segments)
            learned = dict.fromkeys(step.weights, 0.0)  # cdec omits weights that are 0
            for path in folder.glob("weights.mira-pass*.*[0-9].gz"):
                plain = folder / "learned"
                plain.write_bytes(gzip.decompress(path.read_bytes()))
                learned.update(read_weights(plain))
                return _result(step, learned, self._programs[0])
        raise LscfgError(f"{self._programs[0]} wrote no weights")


class _CdecDpmert(_Cdec):
    def __init__(
        self, config: str | os.PathLike[str], sources: Sequence[str], references: Sequence[Sequence[str]], k: int
    ):
        super().__init__(config, sources, references, "mr_dpmert_map", "mr_dpmert_reduce")
        self._cdec = needed_cdec()

    def __call__(self, step: Step) -> Learned:
        weights = {name: step.weights.get(name, 0.0) for name in sorted({*step.weights, *step.pool.names})}
        random = np.random.default_rng(step.seed)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self._prepare(folder, weights)
            decode = [self._cdec, "-c", self._ini, "-w", folder / "weights", "-O", folder]
            _run(decode, self._ini.parent, self._segments)
            projected = -math.inf
            for _ in progress(range(DPMERT_STEPS), "dpmert", DPMERT_STEPS):
                found = self._search(folder, weights, random)
                direction, length, bleu = max(found, key=lambda line: line[2])
                if abs(length) < DPMERT_EPSILON or abs(bleu - projected) < DPMERT_EPSILON:
                    break
                projected = bleu
                weights = {name: value + length * direction.get(name, 0.0) for name, value in weights.items()}
        return _result(step, weights, self._programs[0])

    def _search(
        self, folder: Path, weights: Mapping[str, float], random: np.random.Generator
    ) -> list[tuple[dict[str, float], float, float]]:
        """Direction, step and BLEU (0 to 1) of a line search along each direction."""
        directions = [{name: 1.0} for name in weights]
        for row in random.standard_normal((DPMERT_DIRECTIONS, len(weights))):
            directions.append(dict(zip(weights, (row / np.linalg.norm(row)).tolist(), strict=True)))
        texts = {_vector(direction): direction for direction in directions}
        origin = _vector(weights)
        forests = [(i, folder / f"{i}.bin.gz") for i in range(len(self._kept))]
        found = [(i, path) for i, path in forests if path.exists()]  # cdec writes none without a parse
        if not found:
            raise LscfgError(f"{self._cdec} translates none of the sentences")
        agenda = "".join(f"{path.name} {i} {origin} {text}\n" for i, path in found for text in texts)
        mapper, reducer = self._programs
        mapped = _run([mapper, "-r", folder / "references", "-m", "ibm_bleu"], folder, agenda)
        ordered = "".join(sorted(mapped.splitlines(keepends=True), key=lambda line: line.split("\t", 1)[0]))
        steps = []
        for line in _run([reducer, "-m", "ibm_bleu"], folder, ordered).splitlines():
            key, length, bleu = line.split("|")
            steps.append((texts[key.split()[1]], float(length), float(bleu)))
        if not steps:
            raise LscfgError(f"{reducer} found nothing")
        return steps


def _vector(weights: Mapping[str, float]) -> str:
    return ";".join(f"{name}={value!r}" for name, value in weights.items())


class _Moses:
    def __init__(self, name: str, *_: object):
        """Finds the program; all further arguments are for optimisers that decode by themselves."""
        self._name = name
        self._program = find_program(name, "MOSES_ROOT")

    def __call__(self, step: Step) -> Learned:
        names = step.pool.names
        old = [float(step.weights.get(name, 0.0)) for name in names]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_moses_data(step.pool, folder / "features", folder / "scores")
            lines = [old, [-1.0] * len(names), [1.0] * len(names)]  # values, and ranges of random starts
            (folder / "init").write_text("".join(" ".join(map(repr, line)) + "\n" for line in lines), encoding="utf-8")
            seed = step.seed[0] * 1000 + step.seed[1]
            data = ["--scfile", "scores", "--ffile", "features"]
            if self._name == "mert":
                options = ["-d", len(names), "-n", 20, "-r", seed, "--sctype", "BLEU", "--ifile", "init"]
                _run([self._program, *data, *options], folder)
                values = _read(folder / "weights.txt", self._program).split()
            else:
                _run([self._program, *data, "-d", "init", "-r", seed, "-o", "learned"], folder)
                values = [line.split()[1] for line in _read(folder / "learned", self._program).splitlines()]
        if len(values) != len(names):
            raise LscfgError(f"{self._program} returned {len(values)} weights for {len(names)} features")
        return _result(step, dict(zip(names, map(float, values), strict=True)), self._program)


_OPTIMISERS: dict[str, Callable[[str | os.PathLike[str], Sequence[str], Sequence[Sequence[str]], int], Learner]] = {
    "cdec-mira": _CdecMira,
    "cdec-dpmert": _CdecDpmert,
    "moses-kbmira": partial(_Moses, "kbmira"),
    "moses-mert": partial(_Moses, "mert"),
}

HOSTS = tuple(_OPTIMISERS)
"""Names of the optimisers; the part before the hyphen is the decoder host of the program."""


def _read(path: Path, program: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise LscfgError(f"{program} wrote no weights") from error


def write_moses_data(pool: Pool, features: Path, scores: Path) -> None:
    """The pool as Moses' extractor would write it: feature values and BLEU statistics of each sentence's hypotheses.

    A sentence without hypotheses is left out, as in Moses.
    """
    names = " ".join(f"{name}_0" for name in pool.names)
    with open(features, "w", encoding="utf-8") as values, open(scores, "w", encoding="utf-8") as stats:
        for number, candidates in enumerate(pool.sentences):
            rows = np.zeros((len(candidates.stats), len(pool.names)), np.float32)
            if not len(rows):
                continue
            rows[:, candidates.numbers()] = candidates.features
            values.write(f"FEATURES_TXT_BEGIN_0 {number} {len(rows)} {len(pool.names)} {names}\n")
            values.writelines(" ".join(f"{value:.9g}" for value in row) + " \n" for row in rows.tolist())
            values.write("FEATURES_TXT_END_0\n")
            pairs = np.stack([candidates.stats[:, CORRECT], candidates.stats[:, TOTAL]], axis=2).reshape(len(rows), -1)
            counts = np.column_stack([pairs, candidates.stats[:, REFERENCE_LENGTH]])
            stats.write(f"SCORES_TXT_BEGIN_0 {number} {len(rows)} {counts.shape[1]} BLEU\n")
            stats.writelines(" ".join(map(str, row)) + " \n" for row in counts.tolist())
            stats.write("SCORES_TXT_END_0\n")
