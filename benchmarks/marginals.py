"""Time of ``lscfg inspect marginals`` by step: parse, inference, features and JSON, with one thread and with two.

    python benchmarks/marginals.py MODEL [MODEL ...] --text dev.ja [--sentences 20] [--threads 1 2]

MODEL is a model file or a cdec.ini with an LSCFG line; a model's own rules are not pruned, so that its forests are many
times as large as a decoder's. Before any time is printed, the JSON of all numbers of threads is compared. Ratios are to
one thread, and for stages to the whole, within this run.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import runs

from lscfg.decode.analysis import Analyser, Analysis
from lscfg.io.read import read_lines
from lscfg.parallel.choose import in_threads


def seconds(work: Callable[[Any], Any], items: Sequence[Any], threads: int, repeats: int) -> tuple[float, list[Any]]:
    """The shortest of some repeats of the work on all items, and its results."""
    best, results = float("inf"), []
    for _ in range(repeats):
        start = time.perf_counter()
        with in_threads(threads) as engine:
            results = list(engine.map(work, items))
        best = min(best, time.perf_counter() - start)
    return best, results


def stages(analyser: Analyser, lines: list[str], threads: int, repeats: int) -> tuple[dict[str, float], list[int]]:
    """Seconds of each stage over all sentences, each begun when the one before is done, and checksums of the JSON."""

    def json(analysis: Analysis) -> int:
        return zlib.crc32(analyser.json(0, analysis).encode())

    binding, options = analyser.latent.binding, analyser.latent.options
    found: dict[str, float] = {}
    sentences = [line.split() for line in lines]
    found["parse"], forests = seconds(analyser.parse, sentences, threads, repeats)
    parsed = [(words, forest) for words, forest in zip(sentences, forests, strict=True) if forest is not None]
    found["inference"], inferred = seconds(lambda item: binding.infer(item[1]), parsed, threads, repeats)
    both = [(*item, inference) for item, inference in zip(parsed, inferred, strict=True)]
    found["features"], rows = seconds(lambda item: binding.features(item[1], item[2], options), both, threads, repeats)
    analyses = [Analysis(*item, values) for item, values in zip(both, rows, strict=True)]
    found["JSON"], texts = seconds(json, analyses, threads, repeats)
    whole, again = seconds(lambda line: json(analyser(line, 0)), lines, threads, repeats)
    assert len(parsed) < len(lines) or texts == again
    return found | {"all, sentence by sentence": whole}, again


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("models", metavar="MODEL", nargs="+")
    parser.add_argument("--text", required=True)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    lines = [line for line in read_lines(args.text) if line][: args.sentences]
    run = runs.Run(args)
    for model in args.models:
        analyser = Analyser.from_ini(model) if model.endswith(".ini") else Analyser.from_model(model)
        results = {threads: stages(analyser, lines, threads, args.repeats) for threads in args.threads}
        first = args.threads[0]
        for threads, (_, texts) in results.items():
            if texts != results[first][1]:
                raise SystemExit(f"{model}: {threads} threads give other results than {first}")
        forests = [analyser.parse(line.split()) for line in lines]
        applications = sum(forest.n_apps for forest in forests if forest) / len(lines)
        title = f"{model}: m = {analyser.latent.model.rank}, {applications:.0f} applications a sentence"
        columns = ["stage", "threads", "ms a sentence", "share of the whole with the first number of threads"]
        run.table(title, [*columns, "gain over the first number of threads"])
        total = results[first][0]["all, sentence by sentence"]
        for stage, once in results[first][0].items():
            for threads in args.threads:
                taken = results[threads][0][stage]
                run.row(stage, threads, 1000 * taken / len(lines), taken / total, once / taken)
    run.save()


if __name__ == "__main__":
    main()
