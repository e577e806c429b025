"""The library of lscfg's feature function for cdec: compiled against the user's cdec, and tested in it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.adapter import EXAMPLE_RULES, EXAMPLE_SENTENCE, compile_adapter, demangled, example_model, link, run_example
from lscfg.cdec_bridge.decoder import program_below
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError, LscfgError, exit_reason
from lscfg.formats.ini import DecoderConfig, LatentFeature, write_ini
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.formats.weights import write_weights
from lscfg.io.write import atomic_write
from lscfg.kernel import LATENT_FEATURES

LIBRARY = "liblscfg_cdec.so"

LINKING = ("-Wl,-undefined,dynamic_lookup",) if sys.platform == "darwin" else ("-Wl,-z,nodelete",)
"""The program defines the undefined symbols. cdec closes the library while objects of its classes live: nodelete."""

HEADERS = ("decoder/ff.h", "decoder/hg.h", "decoder/sentence_metadata.h", "utils/fdict.h", "utils/filelib.h")


@dataclass(frozen=True)
class CdecTree:
    """A built source tree of cdec."""

    root: Path
    """Folder of the tree."""
    build: Path | None
    """Folder of ``config.h``, None if cdec was built without one."""
    program: Path | None
    """The decoder, None if it was not found."""

    @classmethod
    def at(cls, root: str | os.PathLike[str]) -> CdecTree:
        """The tree at ``root``.

        Raises:
            InputError: a header of the feature function is missing.
        """
        path = Path(root).resolve()
        for header in HEADERS:
            if not (path / header).is_file():
                cure = "give the source tree in which cdec was built, the folder that holds decoder/"
                raise InputError(f"no {header}; {cure}", root)
        configs = [*path.glob("config.h"), *sorted(path.glob("*/config.h"))]
        return cls(path, configs[0].parent if configs else None, program_below(path))

    @property
    def compiler_options(self) -> list[str]:
        """Include folders and definitions of the build of cdec."""
        folders = [self.root, *([self.build] if self.build else []), self.root / "utils", self.root / "decoder"]
        options = [part for folder in folders for part in ("-isystem", str(folder))]
        return (["-DHAVE_CONFIG_H"] if self.build else []) + options


def build_library(tree: CdecTree, output: str | os.PathLike[str]) -> None:
    """Compiles feature function and kernel, with ``CC`` and ``CXX`` if set, into a shared library.

    The library does not link cdec: the program exports all symbols, and a second copy of its dictionaries would break
    it.

    Raises:
        InputError: no compiler, or the sources do not compile; the first error is shown.
    """
    # Newer releases of Boost do not include split_member.hpp by themselves, as cdec expects.
    options = ["-Wno-invalid-offsetof", *tree.compiler_options, "-include", "boost/serialization/split_member.hpp"]
    with tempfile.TemporaryDirectory() as folder:
        objects = compile_adapter("cdec", options, Path(folder))
        library = Path(folder) / LIBRARY
        link(["-shared", *LINKING, *objects, "-lpthread", "-lm"], library)
        with atomic_write(output, "wb") as file:
            file.write(library.read_bytes())


def check_library(tree: CdecTree, library: str | os.PathLike[str]) -> str:
    """Loads the library into the decoder of the tree and compares all features with those of lscfg.

    Grammar and model are small.

    Returns:
        The successful checks, in words.

    Raises:
        InputError: the decoder is missing, or does not load the library; the message names the missing symbol.
        LscfgError: cdec failed, or its features differ.
    """
    if tree.program is None:
        raise InputError("no decoder/cdec in it or its build folders; build cdec first", tree.root)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        config, weights = _write_example(place)
        options = {"model": str(place / "model.lscfg"), "features": ",".join(LATENT_FEATURES)}
        latent = LatentFeature(options, str(Path(library).resolve()))
        write_ini(place / "cdec.ini", _with(config, latent))
        write_ini(place / "ours.ini", _with(config, LatentFeature(latent.options)))
        write_ini(place / "plain.ini", config)
        plain, done = (
            run_example([str(tree.program), "-c", str(place / name), "-w", str(place / "weights"), "-k", "1000"])
            for name in ("plain.ini", "cdec.ini")
        )
        if plain.returncode or not plain.stdout.startswith("0 ||| "):
            raise InputError(f"this cdec does not work: without the library, {_end(plain)}", tree.program)
        if done.returncode:
            raise _diagnosis(done, tree.program, library)
        theirs = [parse_hypothesis(line, tree.program)[1] for line in done.stdout.splitlines()]
        with EmbeddedDecoder.from_ini(place / "ours.ini") as decoder:
            ours = decoder.decode([EXAMPLE_SENTENCE], weights, 1000)[0]
    if not _same(_ordered(theirs), _ordered(ours)):
        raise LscfgError(
            f"{tree.program}: the library is loaded, but the features of {len(theirs)} derivations differ from those "
            "of lscfg; was it built against the headers of this program?"
        )
    unmatched = re.search(r"(\d+) unmatched", done.stderr)
    if unmatched is None or unmatched[1] != "0":
        raise LscfgError(f"{tree.program}: rules of the decoder's forest do not match those of the grammar")
    return f"{tree.program} loads {library}; {len(theirs)} derivations have the features that lscfg computes itself"


def _with(config: DecoderConfig, latent: LatentFeature) -> DecoderConfig:
    return DecoderConfig(**{**config.__dict__, "latent": latent})


def _ordered(hypotheses: Sequence[Hypothesis]) -> list[tuple[list[tuple[str, float]], list[float]]]:
    """Counts of rules and then latent features of each derivation, sorted."""
    found = []
    for hypothesis in hypotheses:
        counts = sorted((name, value) for name, value in hypothesis.features.items() if name not in LATENT_FEATURES)
        found.append((counts, [hypothesis.features.get(name, 0.0) for name in LATENT_FEATURES]))
    return sorted(found)


def _same(theirs: list[tuple[list[Any], list[float]]], ours: list[tuple[list[Any], list[float]]]) -> bool:
    """Equality in the six digits that cdec prints."""
    return len(theirs) == len(ours) and all(
        a[0] == b[0] and np.allclose(a[1], b[1], rtol=1e-4, atol=1e-4) for a, b in zip(theirs, ours, strict=True)
    )


def _write_example(folder: Path) -> tuple[DecoderConfig, dict[str, float]]:
    """Grammar, model and weights; the model has two states and some negative parameters."""
    lines = [f"[X] ||| {src} ||| {tgt} ||| Rule{n}=1" for n, (src, tgt) in enumerate(EXAMPLE_RULES)]
    (folder / "grammar").write_text("\n".join([*lines, "[S] ||| [X,1] ||| [1] |||", ""]))
    example_model().save(folder / "model.lscfg")
    weights = {"LatentMarginal": 0.5, "LatentEgivenF": 0.25, "LatentFgivenE": 0.125, "PassThrough": -1.0}
    weights |= {f"Rule{n}": 0.01 * n for n in range(len(EXAMPLE_RULES))}
    write_weights(folder / "weights", weights)
    config = DecoderConfig((folder / "grammar",), max_span=20, pop_limit=10000, pass_through=True, glue=False)
    return config, weights


def _diagnosis(done: subprocess.CompletedProcess[str], program: Path, library: str | os.PathLike[str]) -> InputError:
    """The reason why cdec failed with the library."""
    symbol = re.search(r"undefined symbol: (\S+)", done.stderr)
    if symbol and symbol[1] == "create_ff":
        return InputError("lacks create_ff, cdec's entry point; build the library with lscfg cdec build", library)
    if symbol:
        name = demangled(symbol[1])
        cause = f"does not export {name}; the library was built for another version, or cdec without -rdynamic"
        return InputError(f"this cdec {cause}", program)
    for line in done.stderr.splitlines():
        if "[lscfg]" in line or "dlopen reports" in line or "GLIBC" in line:
            return InputError(line.strip(), program)
    if done.returncode == -signal.SIGBUS:  # pages after the end of a mapped file
        return InputError("is truncated, so cdec cannot map it; build it again", library)
    return InputError(f"with the library, {_end(done)}", program)


def _end(done: subprocess.CompletedProcess[str]) -> str:
    words = " | ".join(done.stderr.strip().splitlines()[-2:]) or "no word on stderr"
    return f"it ends with {exit_reason(done.returncode)}: {words}"
