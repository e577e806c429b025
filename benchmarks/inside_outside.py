"""Tensor inside-outside per sentence: the kernel against the NumPy reference of the tests, on one thread.

    python benchmarks/inside_outside.py MODEL [MODEL ...] --text dev.ja [--sentences 50] [--reference 2]

Each model (of lscfg estimate) is one row. The forests are those of the model's own rules, at most --targets of a source
side, so that they are the decoder's. The reference is slow: it runs on the first --reference sentences only, and its
marginals are compared with the kernel's there before any time is printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from reference import FigureOne

from lscfg.kernel import Binding, Forest, Grammar, Model, ParseOptions, X
from lscfg.parameters import Parameters
from lscfg.text import read_lines


def pruned(model: str, targets: int) -> tuple[Parameters, Path]:
    """The model with the first ``targets`` rules of each source side, and its file."""
    parameters = Parameters.load(model)
    source = parameters.rules.source_id
    order = np.argsort(source, kind="stable")
    rank = np.arange(len(order)) - np.searchsorted(source[order], source[order])
    kept = np.sort(order[rank < targets])
    arity = parameters.rules.arity
    tensors = tuple(t[np.isin(np.nonzero(arity == k)[0], kept)] for k, t in enumerate(parameters.tensors))
    rules = parameters.rules.select(kept)
    small = Parameters(rules, (tensors[0], tensors[1], tensors[2]), parameters.root, parameters.unk)
    path = Path(f"{model}.pruned")
    small.save(path)
    return small, path


def seconds_each(work, forests: list[Forest], repeats: int) -> tuple[float, float]:
    """Mean and spread (largest - smallest) over repeats of the seconds a forest takes."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for forest in forests:
            work(forest)
        times.append((time.perf_counter() - start) / len(forests))
    return float(np.mean(times)), max(times) - min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--text", required=True)
    parser.add_argument("--sentences", type=int, default=50)
    parser.add_argument("--reference", type=int, default=2)
    parser.add_argument("--targets", type=int, default=30)
    args = parser.parse_args()
    print(f"# {platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    widths = {"m": 3, "edges": 8, "apps": 9, "parse ms": 10, "kernel ms": 11, "spread": 8, "NumPy ms": 10, "ratio": 8}
    print("".join(f"{name:>{width}}" for name, width in widths.items()))
    lines = read_lines(args.text)[: args.sentences]
    for name in args.models:
        parameters, path = pruned(name, args.targets)
        model = Model(path)
        grammar: Grammar = model.grammar()
        words = [grammar.vocab.add_line(line) for line in lines]
        options = ParseOptions(1000, False, 2, X)
        start = time.perf_counter()
        forests = [grammar.parse(ids, options) for ids in words]
        parsing = (time.perf_counter() - start) / len(words)
        kept = [forest for forest in forests if forest is not None]
        binding = Binding(model, grammar)
        reference = FigureOne(parameters, grammar)
        for forest in kept[: args.reference]:
            mu, _, _ = reference.marginals(forest)
            assert np.allclose(mu, binding.infer(forest).apps, rtol=1e-6, atol=1e-9), "the two do not agree"
        kernel, spread = seconds_each(binding.infer, kept, 3)
        slow, _ = seconds_each(reference.marginals, kept[: args.reference], 1)
        fast, _ = seconds_each(binding.infer, kept[: args.reference], 3)
        edges, apps = (np.mean([getattr(f, what) for f in kept]) for what in ("n_edges", "n_apps"))
        print(
            f"{model.rank:3} {edges:7.0f} {apps:8.0f} {parsing * 1e3:9.3f} {kernel * 1e3:10.3f} {spread * 1e3:7.3f} "
            f"{slow * 1e3:9.1f} {slow / fast:7.1f}",
            flush=True,
        )
        path.unlink()


if __name__ == "__main__":
    main()
