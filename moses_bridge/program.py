"""Moses with lscfg's feature function: built against the user's Moses, or as sources for its tree, and tested."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lscfg.adapter import (
    EXAMPLE_RULES,
    EXAMPLE_SENTENCE,
    compile_adapter,
    demangled,
    example_model,
    kernel_facts,
    link,
    run_example,
    sources,
)
from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError, LscfgError, exit_reason
from lscfg.formats.ini import DecoderConfig, LatentFeature
from lscfg.io.folders import make_folder
from lscfg.io.write import atomic_write, copy_file
from lscfg.kernel import Forest, Grammar, ParseOptions
from lscfg.moses_bridge.config import write_moses

PROGRAM = "moses_lscfg"

HEADERS = (
    "moses/FF/StatelessFeatureFunction.h",
    "moses/FF/Factory.h",
    "moses/ExportInterface.h",
    "moses/TranslationModel/PhraseDictionaryMemory.h",
    "util/string_piece.hh",
)

_PARTS = ("lm", "util", "search", "OnDiskPt", "probingpt", "moses/LM", "moses/TranslationModel", "phrase-extract")
"""Folders whose objects libmoses.a needs but does not contain."""

_BOOST = ("boost_thread", "boost_system", "boost_program_options", "boost_filesystem", "boost_iostreams")


@dataclass(frozen=True)
class MosesTree:
    """A built source tree of Moses."""

    root: Path
    """Folder of the tree."""
    library: Path
    """The library libmoses, shared or static."""
    definitions: tuple[str, ...]
    """Macros of its build that its classes depend on."""

    @classmethod
    def at(cls, root: str | os.PathLike[str]) -> MosesTree:
        """The tree at ``root``.

        Raises:
            InputError: a header of the feature function is missing, or Moses was not built.
        """
        path = Path(root).resolve()
        for header in HEADERS:
            if not (path / header).is_file():
                raise InputError(f"no {header}; give the source tree of Moses, the folder that holds moses/FF", root)
        built = [found for name in ("libmoses.so", "libmoses.a") for found in (path / "moses" / "bin").rglob(name)]
        if not built:
            raise InputError("no libmoses.so or libmoses.a below moses/bin; build Moses with bjam first", root)
        library = max(built, key=lambda found: found.stat().st_mtime)
        return cls(path, library, _definitions(path, library))

    @property
    def compiler_options(self) -> list[str]:
        """Include folder and definitions."""
        quiet = ["-Wno-deprecated", "-DBOOST_BIND_GLOBAL_PLACEHOLDERS"]
        return [*quiet, *(f"-D{definition}" for definition in self.definitions), "-isystem", str(self.root)]

    def linker_options(self, folder: Path) -> list[str]:
        """Linker arguments for a program; ``folder`` is for a temporary archive."""
        if self.library.suffix == ".so":
            variant = self.library.parent.relative_to(self.root / "moses" / "bin")
            folders = dict.fromkeys(path.parent for path in self.root.glob(f"*/bin/{variant}/lib*.so"))
            # an rpath, since libraries of libmoses are not searched for in the newer runpath
            return [str(self.library), "-Wl,--disable-new-dtags", *(f"-Wl,-rpath,{path}" for path in folders)]
        objects = [str(path) for path in self._objects()]
        archive = folder / "libothers.a"
        subprocess.run(["ar", "qcsP", str(archive), *objects], check=True, capture_output=True)
        shared = ["-Wl,--as-needed", *(f"-l{name}" for name in _BOOST), "-lz", "-lbz2", "-llzma", "-lrt", "-ldl"]
        return ["-Wl,--start-group", str(self.library), str(archive), "-Wl,--end-group", *shared]

    def _objects(self) -> Iterator[Path]:
        variant = self.library.parent.relative_to(self.root / "moses" / "bin")
        for part in _PARTS:
            for folder in sorted((self.root / part).rglob(f"bin/{variant}")):
                yield from sorted(path for path in folder.rglob("*.o") if not path.stem.endswith(("_main", "_test")))


def _definitions(root: Path, library: Path) -> tuple[str, ...]:
    """Traces of the build options: logs of values, and symbols in the library."""

    def log(path: str, pattern: str, default: str) -> str:
        file = root / path
        found = re.search(pattern, file.read_text(errors="replace")) if file.is_file() else None
        return found[1] if found else default

    names = library.read_bytes()
    found = [
        "MAX_NUM_FACTORS=" + log("moses/bin/factor.log", r"(\d+)", "4"),
        "KENLM_MAX_ORDER=" + log("lm/bin/order.log", r"KENLM_MAX_ORDER=(\d+)", "6"),
        "TRACE_ENABLE=1",
        "_FILE_OFFSET_BITS=64",
        "_LARGE_FILES",
    ]
    if "debug" not in library.parts:
        found.append("NDEBUG")
    if "threading-multi" in library.parts or b"shared_mutex" in names:
        found.append("WITH_THREADS")
    if b"PhraseDictionaryNodeMemory27GetOrCreateNonTerminalChildE" in names:
        found.append("UNLABELLED_SOURCE")
    if b"N11MosesServer6Server" in names:
        found.append("HAVE_XMLRPC_C")
    return tuple(found)


def build_program(tree: MosesTree, output: str | os.PathLike[str], options: Sequence[str] = ()) -> None:
    """Links Moses' decoder with the feature function and the kernel in it; the tree is not changed.

    Args:
        tree: Moses.
        output: the program, a moses_chart with the feature LatentSCFG.
        options: further options of compiler and linker, for example for a Boost in a special folder.

    Raises:
        InputError: no compiler, or it fails; the first error is shown.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        objects = compile_adapter("moses", [*tree.compiler_options, *options], folder)
        program = folder / PROGRAM
        link([*objects, *options, *tree.linker_options(folder), "-lpthread", "-lm"], program)
        with atomic_write(output, "wb") as file:
            file.write(program.read_bytes())
    Path(output).chmod(0o755)


JAMFILE = """\
# latent features of lscfg
objects = ;
for local file in [ glob *.cpp LAYERS ]
{
  obj lscfg_$(file:B).o : $(file) ../..//headers
    : <include>. <include>include <include>$(TOP) <cflags>-ffp-contract=off ;
  objects += lscfg_$(file:B).o ;
}
alias lscfg : $(objects) ;
"""

STEPS = """\
1. in moses/FF/Factory.cpp, after the other lines of their kind:
     #include "moses/FF/LatentSCFG/LatentSCFG.h"
     MOSES_FNAME(LatentSCFG);
2. in moses/Jamfile, after the line FF_Factory.o in 'lib moses':
     FF/LatentSCFG//lscfg
3. build Moses as before
"""
"""The remaining steps for users who compile the sources in the tree of Moses."""


def write_sources(folder: str | os.PathLike[str]) -> Path:
    """Writes ``LatentSCFG/`` below ``folder``, which may be moses/FF: feature function, kernel, Jamfile and README.

    Raises:
        InputError: it already exists with other files.
    """
    target = Path(folder) / "LatentSCFG"
    if target.is_dir() and any(target.iterdir()) and not (target / "LatentSCFG.h").is_file():
        raise InputError("already exists with other content; remove it", target)
    make_folder(target)
    for path in sorted(target.rglob("*")):  # an older version may have had other files
        if path.suffix in (".h", ".c", ".cpp"):
            path.unlink()
    with sources() as plugin:
        layers = kernel_facts(plugin)["decoder"]
        places = {**{layer: layer for layer in [*layers, "include"]}, "adapter": ".", "moses": "."}
        for part, place in places.items():
            for path in sorted((plugin / part).rglob("*")):
                if path.suffix in (".h", ".c", ".cpp") and path.name != "main.cpp":
                    copy = target / place / path.relative_to(plugin / part)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy_file(path, copy)
    (target / "Jamfile").write_text(JAMFILE.replace("LAYERS", " ".join(f"{layer}/*.c" for layer in layers)))
    (target / "README").write_text(
        "Latent features of lscfg as a feature function of Moses' chart decoder.\n\n" + STEPS
    )
    return target


def check_program(program: str | os.PathLike[str]) -> str:
    """Runs the program on a small grammar and model and compares the features of all rule applications with lscfg's.

    Returns:
        The successful checks, in words.

    Raises:
        InputError: the program does not run; the message names the missing library, symbol or feature.
        LscfgError: its features differ.
    """
    if not (os.path.isfile(program) and os.access(program, os.X_OK)):
        raise InputError("no such program; make it with lscfg moses build", program)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [f"[X] ||| {src} ||| {tgt} ||| Rule={n % 3}" for n, (src, tgt) in enumerate(EXAMPLE_RULES)]
        (folder / "grammar").write_text("\n".join([*lines, "[S] ||| [X,1] ||| [1] |||", ""]))
        example_model().save(folder / "model.lscfg")
        latent = LatentFeature({"model": str(folder / "model.lscfg"), "trace": str(folder / "trace")})
        config = DecoderConfig((folder / "grammar",), max_span=20, pass_through=True, glue=False, latent=latent)
        ini = write_moses(folder / "moses", config)
        done = run_example([str(Path(program).resolve()), "-f", str(ini), "-v", "0", "-n-best-list", "-", "1000"])
        if done.returncode:
            raise InputError(_diagnosis(done.stderr, done.returncode), program)
        if not (folder / "trace").is_file():
            raise LscfgError(f"{program} did not print its features")
        theirs = read_trace(folder / "trace").get(0, {})
        grammar = Grammar()
        grammar.read(folder / "grammar")
        grammar.finish()
        ours = expected_trace(grammar, LatentFeatures(folder / "model.lscfg", grammar), EXAMPLE_SENTENCE)
    if theirs.keys() != ours.keys():
        raise LscfgError(
            f"{program} applies {len(theirs)} rules where lscfg applies {len(ours)}; was it built against the headers "
            "of its libmoses?"
        )
    if not all(np.allclose(theirs[key], ours[key], rtol=0, atol=1e-9) for key in ours):
        raise LscfgError(f"{program} runs, but its features differ from those of lscfg")
    count = len(done.stdout.splitlines())
    return (
        f"{program} translates with latent features; all {len(ours)} rule applications, of {count} derivations, have "
        "those that lscfg computes itself"
    )


Application = tuple[tuple[int, ...], str, str]
"""Span and spans of the tails, source side, target side."""


def read_trace(path: str | os.PathLike[str]) -> dict[int, dict[Application, list[float]]]:
    """Features by sentence and rule application, as ``trace=FILE`` writes them."""
    found: dict[int, dict[Application, list[float]]] = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        where, _, src, tgt, values = (field.strip() for field in line.split(" |||"))
        sentence, *spans = (int(number) for number in where.split())
        features = [float(value.rpartition("=")[2]) for value in values.split()]
        found.setdefault(sentence, {})[tuple(spans), src, tgt] = features
    return found


def expected_trace(grammar: Grammar, latent: LatentFeatures, sentence: str) -> dict[Application, list[float]]:
    """Computes the features with lscfg, for a grammar with its own glue; every word passes through."""
    words = sentence.split()
    ids = np.array([grammar.vocab.find(word) for word in words], np.int32)
    forest = grammar.parse(ids, ParseOptions(max_span=2**31 - 1, glue=False, pass_through=1))
    if forest is None:
        return {}
    values = latent.features(forest)
    found = {}
    for a in range(forest.n_apps):
        e = forest.app_edge[a]
        if forest.node_cat[forest.edge_head[e]]:
            continue
        nodes = [forest.edge_head[e], *(t for t in forest.edge_tail[e] if t >= 0)]
        spans = tuple(int(k) for node in nodes for k in forest.node_span[node])
        sides = _sides(grammar, forest, a) or (words[spans[0]],) * 2
        found[spans, *sides] = values[a].tolist()
    return found


def _sides(grammar: Grammar, forest: Forest, application: int) -> tuple[str, str] | None:
    rule = int(forest.app_rule[application])
    if rule >= len(grammar):
        return None
    gaps = iter(range(1, 3))
    word = grammar.vocab.word
    src = " ".join(word(s) if s >= 0 else f"[X,{next(gaps)}]" for s in grammar.src(rule))
    return src, " ".join(word(s) if s >= 0 else f"[{-s}]" for s in grammar.tgt(rule))


def _diagnosis(stderr: str, status: int) -> str:
    """The line with the reason."""
    symbol = re.search(r"(?:undefined symbol|symbol lookup error): .*?(\S+)$", stderr, re.MULTILINE)
    if symbol:
        return f"its libmoses does not have {demangled(symbol[1])}; it was built for another version"
    if "Feature name LatentSCFG is not registered" in stderr:
        return "it lacks the feature LatentSCFG; make one that has it with lscfg moses build"
    for line in stderr.splitlines():
        if "[lscfg]" in line or "cannot open shared object" in line or "Exception" in line:
            return line.strip()
    last = " | ".join(stderr.strip().splitlines()[-2:])
    return f"ended with {exit_reason(status)}: {last}"
