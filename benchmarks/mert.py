"""Time of MERT's line searches on k-best lists, against Moses' mert on the same lists where it is installed.

    python benchmarks/mert.py --sentences 500 --hypotheses 100
    python benchmarks/mert.py --lists tuned/kbest.00*.gz --reference dev.en

The lists are drawn at random, or those of a tuning. That the step found is the best one is checked before a time is
printed: no point of a fine grid along the line may be better. Both programs search from 20 starting points, lscfg along
the axes and in random directions; Moses' along the axes, its reading of the lists taken off by a run without a search.
BLEU is that of the weights found, counted by lscfg for both. All times are of the processor; only ratios mean something
on a busy machine.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import runs
from mira import add_arguments, child_seconds, make_pool

from lscfg.errors import InputError
from lscfg.tuning.bleu import corpus_bleu
from lscfg.tuning.hosts import find_program, write_moses_data
from lscfg.tuning.mert import ListLine, MertSettings, mert
from lscfg.tuning.pool import Pool

STARTS = 20


def check(pool: Pool, line: ListLine) -> None:
    """The exact search is at least as good as 500 points of each of some lines."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        point, direction = rng.normal(size=(2, len(pool.names)))
        step, promised = line.search(point, direction)
        assert abs(line.score(point + step * direction) - promised) < 1e-9, "the step does not keep its promise"
        best = max(line.score(point + x * direction) for x in np.tan(np.linspace(-1.5, 1.5, 500)).tolist())
        assert promised >= best - 1e-9, "a better step was missed"


def moses(pool: Pool) -> tuple[float, float] | None:
    """Seconds of Moses' mert and BLEU of its weights, None where it is not installed."""
    try:
        program = find_program("mert", "MOSES_ROOT")
    except InputError as error:
        print(f"Moses' mert skipped: {error}")
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_moses_data(pool, folder / "features", folder / "scores")
        rows = [[0.1] * len(pool.names), [-1.0] * len(pool.names), [1.0] * len(pool.names)]
        (folder / "init").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
        command = [program, "--scfile", "scores", "--ffile", "features", "--ifile", "init", "-r", 1]
        command += ["-d", len(pool.names), "--sctype", "BLEU"]
        reading = child_seconds([*command, "-t", "random", "-n", 1], folder)  # one random point, no line search
        seconds = child_seconds([*command, "-n", STARTS], folder) - reading
        weights = np.array([float(value) for value in (folder / "weights.txt").read_text().split()])
        return seconds, corpus_bleu(pool.best_stats(weights))


def main() -> None:
    """Checks, then prints times and ratios."""
    parser = runs.parser(__doc__)
    add_arguments(parser)
    args = parser.parse_args()
    pool = make_pool(args)
    line = ListLine(pool.packed())
    check(pool, line)
    point, axes = np.full(len(pool.names), 0.1), np.eye(len(pool.names))
    line.score(point)
    start = time.process_time()
    for _ in range(args.repeats):
        for axis in axes:
            line.search(point, axis)
    one = (time.process_time() - start) / (args.repeats * len(axes))
    run = runs.Run(args)
    run.table("lists", ["sentences", "hypotheses", "features", "line search ms"])
    run.row(len(pool.sentences), len(pool), len(pool.names), 1000 * one)
    run.table(f"{STARTS} starts", ["program", "CPU s", "ratio", "BLEU"])
    ours = 0.0
    for name, directions in (("lscfg, axes", 0), ("lscfg, random as well", MertSettings().directions)):
        start = time.process_time()
        found = mert(pool, dict.fromkeys(pool.names, 0.1), MertSettings(STARTS - 1, directions), 1)
        seconds = time.process_time() - start
        ours = ours or seconds
        run.row(name, seconds, seconds / ours, found.bleu)
    if (theirs := moses(pool)) is not None:
        run.row("Moses, axes", theirs[0], theirs[0] / ours, theirs[1])
    run.save()


if __name__ == "__main__":
    main()
