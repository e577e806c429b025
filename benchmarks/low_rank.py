"""Models of low rank against the full model: error, speed and size by the number of components.

    python benchmarks/low_rank.py MODEL --text dev.ja [--ranks 1 2 4 8 16] [--sentences 100]

MODEL is one of lscfg estimate with full tensors. "tensors" is the relative error of a tensor, the mean over rules and
"by norm" the mean weighted by the tensors' norms; "marginals" the mean absolute difference to the full model's over
rule applications above 0.001 there; "ln P(e|f)" the same of the feature LatentEgivenF. Speed is that of inference on
one thread. Choose --targets as for the decoder's grammar: rules beyond them are left out.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import runs
from inside_outside import pruned

from lscfg.io.read import read_lines
from lscfg.kernel import Binding, FeatureOptions, Model, ParseOptions, X
from lscfg.model.compress import CPSettings, compress
from lscfg.model.parameters import Parameters


def analyse(path: str | Path, lines: list[str], repeats: int) -> tuple[float, list[np.ndarray], list[np.ndarray]]:
    """Seconds a sentence, marginals and ln P(e|f) of each sentence's applications."""
    model = Model(path)
    grammar = model.grammar()
    parsed = [grammar.parse(grammar.vocab.add_line(line), ParseOptions(1000, False, 2, X)) for line in lines]
    forests = [forest for forest in parsed if forest is not None]
    binding = Binding(model, grammar)
    found = [binding.infer(forest) for forest in forests]
    options = FeatureOptions(names=("LatentEgivenF",))
    features = [binding.features(f, inference, options)[:, 0] for f, inference in zip(forests, found, strict=True)]
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for forest in forests:
            binding.infer(forest)
        times.append((time.perf_counter() - start) / len(forests))
    return min(times), [inference.apps for inference in found], features


def difference(full: list[np.ndarray], found: list[np.ndarray], chosen: list[np.ndarray]) -> float:
    """Mean absolute difference over the chosen applications."""
    pairs = zip(full, found, chosen, strict=True)
    return float(np.concatenate([np.abs(a - b)[which] for a, b, which in pairs]).mean())


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("model")
    parser.add_argument("--text", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--targets", type=int, default=30)
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    lines = read_lines(args.text)[: args.sentences]
    with tempfile.TemporaryDirectory() as folder:
        _, full, _ = pruned(args.model, args.targets, Path(folder) / "full")
        seconds, marginals, features = analyse(full, lines, args.repeats)
        chosen = [values > 1e-3 for values in marginals]
        norm = np.linalg.norm(np.asarray(Parameters.load(full).tensors[2]).reshape(-1, Model(full).rank ** 3), axis=1)
        size = os.path.getsize(full) / 1e6
        run = runs.Run(args)
        columns = ["at most", "components", "tensors", "by norm", "marginals", "ln P(e\\|f)"]
        run.table("models of low rank", [*columns, "ms a sentence", "ratio", "size MB", "made in s"])
        run.row("full", None, 0, 0, 0, 0, seconds * 1e3, 1, size, None)
        for rank in args.ranks:
            path = Path(folder) / "low"
            start = time.perf_counter()
            low = compress(full, path, CPSettings(rank, args.tolerance))
            made = time.perf_counter() - start
            each, apps, logs = analyse(path, lines, args.repeats)
            by_norm = np.average(low.error, weights=norm)
            errors = [
                low.error.mean(),
                by_norm,
                difference(marginals, apps, chosen),
                difference(features, logs, chosen),
            ]
            speed = [each * 1e3, seconds / each, os.path.getsize(path) / 1e6, made]
            run.row(str(rank), low.ranks.mean(), *errors, *speed)
    run.save()


if __name__ == "__main__":
    main()
