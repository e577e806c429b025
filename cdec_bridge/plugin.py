"""The library of lscfg's feature function for cdec: compiled against the user's cdec, and tried out in it."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from cdec_bridge.decoder import program_below
from lscfg.decode import EmbeddedDecoder
from lscfg.errors import InputError, LscfgError
from lscfg.formats.ini import DecoderConfig, LatentFeature, write_ini
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.formats.weights import write_weights
from lscfg.kernel import LATENT_FEATURES
from lscfg.parameters import Parameters
from lscfg.rules import RuleTable
from lscfg.text import atomic_write

LIBRARY = "liblscfg_cdec.so"

HEADERS = ("decoder/ff.h", "decoder/hg.h", "decoder/sentence_metadata.h", "utils/fdict.h", "utils/filelib.h")


@dataclass(frozen=True)
class CdecTree:
    """A source tree of cdec that was built.

    Attributes:
        root: the tree.
        build: folder of ``config.h``, None where cdec was built without one.
        program: the decoder, None if it was not found.
    """

    root: Path
    build: Path | None
    program: Path | None

    @classmethod
    def at(cls, root: str | os.PathLike[str]) -> CdecTree:
        """The tree at ``root``.

        Raises:
            InputError: a header that the feature function includes is not there.
        """
        path = Path(root).resolve()
        for header in HEADERS:
            if not (path / header).is_file():
                raise InputError(f"no {header}; give the source tree of cdec, the folder that holds decoder/", root)
        configs = [*path.glob("config.h"), *sorted(path.glob("*/config.h"))]
        return cls(path, configs[0].parent if configs else None, program_below(path))

    @property
    def compiler_options(self) -> list[str]:
        """Include folders and definitions, those that cdec itself was compiled with."""
        folders = [self.root, *([self.build] if self.build else []), self.root / "utils", self.root / "decoder"]
        options = [part for folder in folders for part in ("-isystem", str(folder))]
        return (["-DHAVE_CONFIG_H"] if self.build else []) + options


def build_library(tree: CdecTree, output: str | os.PathLike[str]) -> None:
    """Compiles feature function and kernel, with ``CC`` and ``CXX`` if they are set, into a shared library.

    Nothing of cdec is linked in: the program exports what is needed, and a second copy of its dictionaries would break
    it.

    Raises:
        InputError: there is no compiler, or the sources do not compile; the first error is shown.
    """
    cc, cxx = (_compiler(variable, default) for variable, default in (("CC", "gcc"), ("CXX", "g++")))
    with contextlib.ExitStack() as stack:
        plugin = stack.enter_context(resources.as_file(resources.files("lscfg") / "plugin"))
        objects = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        common = ["-fPIC", "-fvisibility=hidden", f"-I{plugin / 'include'}"]
        c = [*cc, "-std=c11", "-O3", "-ffp-contract=off", *common, f"-I{plugin / 'src'}"]
        # Newer releases of Boost do not include split_member.hpp by themselves, as cdec expects.
        cpp = [*cxx, "-std=c++14", "-O2", "-Wno-invalid-offsetof", *common, *tree.compiler_options]
        cpp += ["-include", "boost/serialization/split_member.hpp"]
        # the adapter first: what is wrong with cdec shows there
        jobs = [[*cpp, "-c", str(path)] for path in sorted((plugin / "cdec").glob("*.cc"))]
        jobs += [[*c, "-c", str(path)] for path in sorted((plugin / "src").glob("*.c"))]
        made = [str(objects / f"{number}.o") for number in range(len(jobs))]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in [pool.submit(_compile, [*job, "-o", to]) for job, to in zip(jobs, made, strict=True)]:
                done.result()
        with atomic_write(output, "wb") as file:
            library = str(objects / LIBRARY)
            # nodelete: cdec closes the library while objects of its classes are still alive
            _compile([*cxx, "-shared", "-Wl,-z,nodelete", *made, "-lm", "-o", library])
            file.write(Path(library).read_bytes())


def _compiler(variable: str, default: str) -> list[str]:
    command = shlex.split(os.environ.get(variable, default))
    if not command or shutil.which(command[0]) is None:
        raise InputError(f"no compiler {' '.join(command)}; install one or name it in {variable}")
    return command


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        lines = done.stderr.splitlines()
        first = next((line for line in lines if "error:" in line), lines[0] if lines else f"status {done.returncode}")
        raise InputError(f"the compiler refuses the feature function: {first.strip()}")


# A sentence whose words are known, unknown, in a rule with a gap and in one that swaps.
_SENTENCE = "una casa blanca nueva"
_RULES = (
    ("una", "a"),
    ("una", "one"),
    ("casa", "house"),
    ("blanca", "white"),
    ("una [X,1]", "a [X,1]"),
    ("[X,1] [X,2]", "[X,2] [X,1]"),
    ("[X,1] [X,2]", "[X,1] [X,2]"),
)


def check_library(tree: CdecTree, library: str | os.PathLike[str]) -> str:
    """Loads the library into the tree's decoder, on a small grammar and model, and compares all features with ours.

    Returns:
        What was found to be well, in words.

    Raises:
        InputError: there is no decoder, or it does not load the library: the missing symbol is named.
        LscfgError: cdec failed, or its features are others.
    """
    if tree.program is None:
        raise InputError("no decoder/cdec in it or its build folders; build cdec first", tree.root)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        config, weights = _write_example(place)
        latent = LatentFeature({"model": str(place / "model.lscfg")}, str(Path(library).resolve()))
        write_ini(place / "cdec.ini", _with(config, latent))
        write_ini(place / "ours.ini", _with(config, LatentFeature(latent.options)))
        done = subprocess.run(
            [str(tree.program), "-c", str(place / "cdec.ini"), "-w", str(place / "weights"), "-k", "1000"],
            input=_SENTENCE + "\n",
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LD_BIND_NOW": "1"},
        )
        if done.returncode:
            raise InputError(_diagnosis(done.stderr, done.returncode), tree.program)
        theirs = [parse_hypothesis(line, tree.program)[1] for line in done.stdout.splitlines()]
        with EmbeddedDecoder.from_ini(place / "ours.ini") as decoder:
            ours = decoder.decode([_SENTENCE], weights, 1000)[0]
    if not _same(_ordered(theirs), _ordered(ours)):
        raise LscfgError(
            f"{tree.program}: the library is loaded, but the features of {len(theirs)} derivations are not those of "
            "lscfg itself; was it built against the headers of this program?"
        )
    unmatched = re.search(r"(\d+) unmatched", done.stderr)
    if unmatched is None or unmatched[1] != "0":
        raise LscfgError(f"{tree.program}: rules of the decoder's forest were not found again")
    return f"{tree.program} loads {library}; {len(theirs)} derivations have the features that lscfg computes itself"


def _with(config: DecoderConfig, latent: LatentFeature) -> DecoderConfig:
    return DecoderConfig(**{**config.__dict__, "latent": latent})


def _ordered(hypotheses: list[Hypothesis]) -> list[tuple[list[tuple[str, float]], list[float]]]:
    """Counts of rules and then latent features of each derivation, sorted."""
    found = []
    for hypothesis in hypotheses:
        counts = sorted((name, value) for name, value in hypothesis.features.items() if name not in LATENT_FEATURES)
        found.append((counts, [hypothesis.features.get(name, 0.0) for name in LATENT_FEATURES]))
    return sorted(found)


def _same(theirs: list[tuple[list, list[float]]], ours: list[tuple[list, list[float]]]) -> bool:
    """Equal but for the six digits that cdec prints."""
    return len(theirs) == len(ours) and all(
        a[0] == b[0] and np.allclose(a[1], b[1], rtol=1e-4, atol=1e-4) for a, b in zip(theirs, ours, strict=True)
    )


def _write_example(folder: Path) -> tuple[DecoderConfig, dict[str, float]]:
    """Grammar, model and weights; the model has two states and some negative parameters."""
    lines = [f"[X] ||| {src} ||| {tgt} ||| Rule{n}=1" for n, (src, tgt) in enumerate(_RULES)]
    (folder / "grammar").write_text("\n".join([*lines, "[S] ||| [X,1] ||| [1] |||", ""]))
    table = _rule_table(_RULES)
    values = np.random.default_rng(1)
    tensors = tuple(values.uniform(-0.1, 0.5, (int((table.arity == k).sum()), *[2] * (k + 1))) for k in range(3))
    Parameters(table, tensors, np.array([0.6, 0.4]), np.array([0.05, 0.1])).save(folder / "model.lscfg")  # type: ignore[arg-type]
    weights = {"LatentMarginal": 0.5, "LatentEgivenF": 0.25, "LatentFgivenE": 0.125, "PassThrough": -1.0}
    weights |= {f"Rule{n}": 0.01 * n for n in range(len(_RULES))}
    write_weights(folder / "weights", weights)
    config = DecoderConfig((folder / "grammar",), max_span=20, pop_limit=10000, pass_through=True, glue=False)
    return config, weights


def _rule_table(rules: Iterable[tuple[str, str]]) -> RuleTable:
    words: dict[str, int] = {}

    def symbol(token: str, source: bool) -> int:
        gap = re.fullmatch(r"\[X,(\d)\]", token)
        return words.setdefault(token, len(words)) if not gap else -1 if source else -int(gap[1])

    coded = [([symbol(t, True) for t in src.split()], [symbol(t, False) for t in tgt.split()]) for src, tgt in rules]
    sides = [np.array(src + tgt, np.int32) for src, tgt in coded]
    return RuleTable(
        list(words),
        np.concatenate(sides),
        np.cumsum([0, *map(len, sides)]).astype(np.int64),
        np.array([len(src) for src, _ in coded], np.int32),
        np.array([sum(s < 0 for s in src) for src, _ in coded], np.int32),
    )


def _diagnosis(stderr: str, status: int) -> str:
    symbol = re.search(r"undefined symbol: (\S+)", stderr)
    if symbol:
        name = _demangled(symbol[1])
        return f"this cdec does not export {name}; the library was built for another version, or cdec without -rdynamic"
    for line in stderr.splitlines():
        if "[lscfg]" in line or "dlopen reports" in line or "GLIBC" in line:
            return line.strip()
    last = " | ".join(stderr.strip().splitlines()[-2:])
    return f"ended with status {status} with the library loaded: {last}"


def _demangled(symbol: str) -> str:
    if shutil.which("c++filt") is None:
        return symbol
    return subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=False).stdout.strip() or symbol
