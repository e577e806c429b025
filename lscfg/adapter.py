"""The feature functions for decoders: their sources, their compilation, and an example to test them.

The package ships their sources: the layers of the kernel that a decoder needs, ``adapter``, which all decoders share,
and a folder for each decoder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from lscfg.errors import InputError, exit_reason
from lscfg.grammar.table import RuleTable
from lscfg.json_text import parse_json
from lscfg.kernel.neural import FERTILITIES, SOURCE_WORDS, TARGET_WORDS
from lscfg.model.boundary import BoundaryModel
from lscfg.model.context import ContextModel, context_items
from lscfg.model.low_dimensional import LowDimensionalModel, end_of_items
from lscfg.model.neural import NeuralModel
from lscfg.model.orientation import OrientationModel
from lscfg.model.parameters import OneState, Parameters
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import available_cores

EXAMPLE_SENTENCE = "una casa blanca nueva"
"""Its words are known, unknown, in a rule with a gap and in a rule that swaps."""

EXAMPLE_RULES = (
    ("una", "a"),
    ("una", "one"),
    ("casa", "house"),
    ("blanca", "white"),
    ("una [X,1]", "a [X,1]"),
    ("[X,1] [X,2]", "[X,2] [X,1]"),
    ("[X,1] [X,2]", "[X,1] [X,2]"),
)


@contextlib.contextmanager
def sources() -> Iterator[Path]:
    """Yields the folder with ``include``, the kernel's layers, ``adapter`` and the decoders' folders."""
    with resources.as_file(resources.files("lscfg") / "sources") as folder:
        # in a checkout that is not installed they are next to the package
        yield folder if folder.is_dir() else Path(__file__).resolve().parents[1] / "plugin"


def kernel_facts(plugin: Path) -> dict[str, list[str]]:
    """Returns the ``layers`` of the kernel, lowest first, those of a ``decoder``, and ``flags`` of the C compiler."""
    facts: dict[str, list[str]] = parse_json((plugin / "include" / "kernel.json").read_bytes())
    return facts


def compile_adapter(decoder: str, options: Sequence[str], folder: Path) -> list[str]:
    """Compiles a decoder's adapter and the layers that it needs into objects in ``folder``.

    The environment variables ``CC`` and ``CXX`` select compilers.

    Args:
        decoder: name of the adapter's folder.
        options: additional options for the C++ compiler.

    Raises:
        InputError: no compiler, or the sources do not compile; shows the first error.
    """
    cc, cxx = _compiler("CC", "gcc"), _compiler("CXX", "g++")
    with sources() as plugin:
        includes = [f"-I{plugin / name}" for name in ("include", "adapter")]
        kernel = kernel_facts(plugin)
        c = [*cc, *kernel["flags"], "-O3", "-fPIC", f"-I{plugin}", f"-I{plugin / 'include'}"]
        cpp = [*cxx, "-std=c++14", "-O2", "-fPIC", "-fvisibility=hidden", *includes, *options]
        # as one unit: the decoder's headers take longer to compile than our sources
        parts = sorted(path for path in (plugin / decoder).iterdir() if path.suffix in (".cc", ".cpp"))
        adapter = folder / "adapter.cc"
        adapter.write_text("".join(f'#include "{path}"\n' for path in parts), encoding="utf-8")
        # and first, because faults of the decoder show there
        jobs = [[*cpp, "-c", str(adapter)]]
        jobs += [[*c, "-c", str(path)] for layer in kernel["decoder"] for path in sorted((plugin / layer).glob("*.c"))]
        made = [str(folder / f"{number}.o") for number in range(len(jobs))]
        with in_threads(available_cores()) as engine:
            for _ in engine.map(_run, [[*job, "-o", to] for job, to in zip(jobs, made, strict=True)]):
                pass
    return made


def link(arguments: Sequence[str], output: Path) -> None:
    """Links with ``CXX``.

    Raises:
        InputError: a symbol or library is missing; names it.
    """
    _run([*_compiler("CXX", "g++"), *arguments, "-o", str(output)])


def _compiler(variable: str, default: str) -> list[str]:
    command = shlex.split(os.environ.get(variable, default))
    if not command or shutil.which(command[0]) is None:
        raise InputError(f"no compiler {' '.join(command)}; install one or name it in {variable}")
    return command


_FAULT = re.compile(r"error:|undefined reference|cannot find|multiple definition")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        lines = done.stderr.splitlines()
        first = next(
            (line for line in lines if _FAULT.search(line)), lines[0] if lines else exit_reason(done.returncode)
        )
        raise InputError(f"cannot compile the feature function: {demangled(first.strip())}")


def demangled(text: str) -> str:
    """Demangles C++ names in the text, if c++filt is installed."""
    if shutil.which("c++filt") is None:
        return text
    done = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=False)
    return done.stdout.strip() or text


def example_model() -> Parameters:
    """Returns a model of the example: two states, some negative parameters, and all that a feature may need."""
    table = _rule_table(EXAMPLE_RULES)
    values = np.random.default_rng(1)
    tensors = [values.uniform(-0.1, 0.5, (int((table.arity == k).sum()), *[2] * (k + 1))) for k in range(3)]
    root, unk = np.array([0.6, 0.4]), np.array([0.05, 0.1])
    one = OneState(values.uniform(0.01, 0.2, len(EXAMPLE_RULES)), np.array([0.01]))
    outcomes, items = ContextModel.outcomes(table), context_items(len(table.words))
    weights = values.normal(size=outcomes * items).astype(np.float32)
    offsets, all_items = np.arange(outcomes + 1) * items, np.tile(np.arange(items, dtype=np.int32), outcomes)
    counts = values.uniform(1, 9, len(table))
    context = ContextModel(table, counts, offsets, all_items, weights, _example_scores(table, values))
    pairs = np.array([(a, b) for a in range(-1, len(table.words)) for b in range(-1, len(table.words))])
    boundary = BoundaryModel.of(table.words, *((pairs, values.normal(size=len(pairs))) for _ in range(2)))
    values_of = (tensors[0], tensors[1], tensors[2])
    neural = _example_network(list(table.words))
    parts = (boundary, neural, _example_orientations(neural))
    return Parameters(table, values_of, root, unk, {}, one, context, *parts)


def _example_network(words: list[str]) -> NeuralModel:
    """Returns a network over the same words on both sides, with links between all words."""
    values, reach, history, dims, hidden = np.random.default_rng(2), 1, 1, 2, 3
    target, links = len(words) + TARGET_WORDS, [(a, b) for a in range(len(words)) for b in range(len(words))]
    shapes = {
        "source": (len(words) + SOURCE_WORDS, dims),
        "target": (target, dims),
        "hidden": (hidden, (2 * reach + 1 + history) * dims),
        "hidden.bias": (hidden,),
        "output": (target, hidden),
        "output.bias": (target,),
        "fertility": (FERTILITIES, hidden),
        "fertility.bias": (FERTILITIES,),
    }
    arrays = {name: values.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    pairs = np.array(links, np.int32) + np.array([SOURCE_WORDS, TARGET_WORDS], np.int32)
    shares = values.uniform(size=len(pairs)).astype(np.float32)
    return NeuralModel(reach, history, (words, words), {**arrays, "links": pairs, "share": shares})


def _example_orientations(network: NeuralModel) -> OrientationModel:
    """Returns orientations with the words and links of the network."""
    values, rows = np.random.default_rng(3), len(network.words[0]) + SOURCE_WORDS
    weights, lengths = (values.normal(size=shape).astype(np.float32) for shape in ((2, 4, rows, 3), (2, 7, 3)))
    links, share = (network.parameters[name] for name in ("links", "share"))
    return OrientationModel(network.words, weights, lengths, links, share)


def _example_scores(table: RuleTable, values: np.random.Generator) -> LowDimensionalModel:
    """Returns context scores for all rules, with all items of two words on each side, of the sentence and of gaps."""
    m, rules = 4, len(table)
    items = np.arange(end_of_items(2, len(table.words)), dtype=np.int32)
    single = [values.normal(size=shape).astype(np.float32) for shape in ((len(items), m), m, (rules, m), rules)]
    rows = np.arange(rules, dtype=np.int32)
    return LowDimensionalModel(
        "dot", 2, False, items, single[0], single[1], rows, single[2], single[3], np.array([0.5, 1.0])
    )


def run_example(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a decoder on the example; missing symbols of a library are found when it is loaded."""
    environment = {**os.environ, "LD_BIND_NOW": "1"}
    text = EXAMPLE_SENTENCE + "\n"
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environment)


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


_WARNING = re.compile(r"\[lscfg\] (?:warning: (.*)|(.* unmatched.*(?<!, 0 unmatched))$)")
_MATCHED = re.compile(r"\d+ (?:edges|rule applications) with latent features, (0 unmatched; )?")


def untranslated(decoder: str, missing: Sequence[int], total: int) -> str:
    """The warning of sentences, numbered from 0, without a translation."""
    return (
        f"{decoder} translates {len(missing)} of {total} sentences into nothing, first sentence {missing[0] + 1}; can "
        "its grammar parse them?"
    )


def told_warnings(stderr: Iterable[bytes]) -> Iterator[str]:
    """Yields the warnings of a feature function among a decoder's messages, and its counts if rules are unmatched."""
    for raw in stderr:
        if found := _WARNING.match(raw.decode("utf-8", "replace").rstrip("\n")):
            # without the number of edges, which depends on the weights: one warning per tuning
            yield found[1] or _MATCHED.sub("", found[2])


def source_tree(given: str | None, option: str, variable: str, other: str = "") -> str:
    """The source tree of a decoder: the given folder, else the one that an environment variable names.

    Args:
        option: that gives the folder.
        other: another way, for the message.

    Raises:
        InputError: neither names one.
    """
    if found := given or os.environ.get(variable):
        return found
    raise InputError(f"name the source tree with {option} or {variable}{other}")
