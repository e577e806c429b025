"""Gain and cost of a Dask cluster: sampling and decoding compared with one process, and the time of a task.

    python benchmarks/cluster.py train.ja train.en train.align -c cdec.ini -w weights --dev dev.ja

Workers are processes of this machine with one thread, or one with two; the chains of ``grammar sampled`` and the blocks
of ``decode`` go to all. A decoder opens, decodes once, and then under other weights, as tuning does, with the forests
that it keeps. The program checks that outputs are equal before it prints a figure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in a process that the command line starts, and in workers

import dask
import runs
from distributed import LocalCluster

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.parallel.address import ClusterAddress
from lscfg.parallel.choose import in_processes
from lscfg.parallel.cluster import LOCAL, Cluster
from lscfg.parallel.engine import Engine, Serial

SIZES = {"1 worker": (1, 1), "2 workers": (2, 1), "1 worker of 2 threads": (1, 2)}
"""Workers, and threads of each."""


@contextmanager
def workers(size: tuple[int, int]) -> Iterator[ClusterAddress]:
    """A cluster of this machine, without TLS."""
    count, threads = size
    with (
        dask.config.set(LOCAL),
        LocalCluster(
            n_workers=count,
            threads_per_worker=threads,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            memory_limit=0,
        ) as cluster,
    ):
        yield ClusterAddress(cluster.scheduler_address)


def command(words: list[str], output: Path, more: list[str]) -> tuple[float, bytes]:
    """Wall seconds of a command, and what it wrote."""
    begin = time.perf_counter()
    program = [sys.executable, "-P", "-m", "lscfg", *words, "-o", str(output), "--quiet", *more]
    subprocess.run(program, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin, output.read_bytes()


def decode(engine: Engine, args: argparse.Namespace) -> tuple[list[float], bytes]:
    """Wall seconds of opening with the first pass, and of a pass under other weights; all lists, as bytes."""
    sources, weights, seconds, found = read_lines(args.dev), read_weights(args.weights), [], []
    begin = time.perf_counter()
    with EmbeddedDecoder.from_ini(os.path.abspath(args.config), engine) as decoder:
        for factor in (1.0, 0.9):
            lists = decoder.decode(sources, {name: factor * value for name, value in weights.items()}, args.kbest)
            found += [text for hypotheses in lists for text in hypotheses.texts]
            seconds.append(time.perf_counter() - begin)
            begin = time.perf_counter()
    return seconds, "\n".join(found).encode()


def measure(args: argparse.Namespace, folder: Path, engine: Engine, more: list[str]) -> tuple[list[float], list[bytes]]:
    """Seconds and outputs of all work, the best of so many times."""
    best, outputs = [float("inf")] * 3, []
    for _ in range(args.repeats):
        chains = ["--chains", "2", "--sweeps", "20", "--filter", args.dev]
        sample, rules = command(["grammar", "sampled", *args.corpus, *chains], folder / "rules", more)
        passes, texts = decode(engine, args)
        best = list(map(min, best, [sample, *passes]))
        outputs = [rules, texts]
    return best, outputs


def nothing(block: int) -> int:
    """The least of all tasks."""
    return block


def overhead(engine: Engine, blocks: int) -> float:
    """Milliseconds a block of a call whose work takes no time."""
    list(engine.map(nothing, range(100)))
    begin = time.perf_counter()
    assert list(engine.map(nothing, range(blocks))) == list(range(blocks))
    return (time.perf_counter() - begin) / blocks * 1000


def main() -> None:
    """Prints both tables."""
    parser = runs.parser(__doc__)
    parser.add_argument("corpus", nargs=3)
    parser.add_argument("-c", "--config", required=True)
    parser.add_argument("-w", "--weights", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("-k", "--kbest", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    args.corpus = [os.path.abspath(name) for name in args.corpus]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, expected = measure(args, folder, Serial(), ["--jobs", "1"])
        rows = {"one process": plain}
        with in_processes(2) as engine:
            rows["2 processes"], outputs = measure(args, folder, engine, ["--jobs", "2"])
            assert outputs == expected
            costs = {"2 processes": overhead(engine, 2000)}
        for size, numbers in SIZES.items():
            with workers(numbers) as place, Cluster(place) as engine:
                rows[size], outputs = measure(args, folder, engine, ["--cluster", place.address])
                assert outputs == expected, size
                costs[size] = overhead(engine, 2000)
                with Cluster(place, batch=1) as single:
                    costs[size + ", blocks sent singly"] = overhead(single, 2000)
    run = runs.Run(args)
    work = ["two chains", "opening and first pass", "next pass"]
    run.table("commands", ["workers", *(f"{name} s" for name in work)])
    for title, seconds in rows.items():
        run.row(title, *seconds)
    run.table("gain over one process", ["workers", *work])
    for title, seconds in rows.items():
        run.row(title, *(first / s for s, first in zip(seconds, plain, strict=True)))
    run.table("blocks without work", ["workers", "ms a block"])
    for title, cost in costs.items():
        run.row(title, cost)
    run.save()


if __name__ == "__main__":
    main()
