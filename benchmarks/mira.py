"""Time of MIRA's passes over k-best lists, against the same in NumPy and, where it is installed, Moses' kbmira.

    python benchmarks/mira.py --sentences 500 --hypotheses 100
    python benchmarks/mira.py --lists tuned/kbest.001.gz --reference dev.en

The lists are drawn at random, or those of a tuning. The NumPy version must give the same weights before a time is
printed. A pass is one step for each sentence; kbmira's is what 60 passes more take, so that reading does not count. All
times are of the processor, best of some repeats; only ratios mean something on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import runs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from reference import PseudoCorpus

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis, read_kbest
from lscfg.io.read import read_lines
from lscfg.kernel.lists import MiraState
from lscfg.tuning.hosts import find_program, write_moses_data
from lscfg.tuning.mira import BACKGROUND
from lscfg.tuning.pool import Pool

STEP_CAP, DECAY = 0.01, 0.999


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The lists to work on."""
    parser.add_argument("--sentences", type=int, default=500, help="of random lists (default: %(default)s)")
    parser.add_argument("--hypotheses", type=int, default=100, help="of each sentence (default: %(default)s)")
    parser.add_argument("--features", type=int, default=14, help="of each hypothesis (default: %(default)s)")
    parser.add_argument("--lists", nargs="+", metavar="KBEST", help="k-best lists instead of random ones")
    parser.add_argument("--reference", metavar="TEXT", help="reference of the lists")
    parser.add_argument("--repeats", type=int, default=5, help="runs, the best of which counts (default: %(default)s)")


def make_pool(args: argparse.Namespace) -> Pool:
    """The lists that the options name."""
    if args.lists:
        references = read_lines(args.reference)
        pool = Pool([references])
        for path in args.lists:
            lists = read_kbest(path)
            pool.add([lists.get(s, []) for s in range(len(references))])
        return pool
    draw = random.Random(1)
    vocabulary = [f"w{n}" for n in range(2000)]
    references = [" ".join(draw.choices(vocabulary, k=draw.randint(4, 30))) for _ in range(args.sentences)]
    pool = Pool([references])
    lists_ = []
    for reference in references:
        here = []
        for _ in range(args.hypotheses):
            words = reference.split()
            wrong = draw.sample(range(len(words)), draw.randint(0, len(words)))
            for place in wrong:
                words[place] = draw.choice(vocabulary)
            values = [draw.gauss(-len(wrong) / (f + 2), 2) for f in range(args.features)]
            here.append(Hypothesis(" ".join(words), {f"f{f}": value for f, value in enumerate(values)}, 0.0))
        lists_.append(here)
    pool.add(lists_)
    return pool


def plain_pass(pool: Pool, weights: np.ndarray, background: PseudoCorpus, order: np.ndarray) -> None:
    """One pass in NumPy; the weights change in place."""
    for s in order.tolist():
        candidates = pool.sentences[s]
        numbers, features = candidates.numbers(), candidates.features.astype(np.float64)
        stats = candidates.stats.T.astype(np.float64)
        model, gain = features @ weights[numbers], background.scores(stats)
        hope, fear = int((model + gain).argmax()), int((model - gain).argmax())
        difference = features[hope] - features[fear]
        loss, length = gain[hope] - gain[fear] - model[hope] + model[fear], difference @ difference
        if loss > 0 and length > 0:
            weights[numbers] += min(STEP_CAP, loss / length) * difference
        background.add(stats[:, hope])


def child_seconds(command: Sequence[object], folder: Path) -> float:
    """Processor time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([str(word) for word in command], cwd=folder, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def kbmira_seconds(pool: Pool) -> float | None:
    """A pass of Moses' kbmira, None where it is not installed."""
    try:
        program = find_program("kbmira", "MOSES_ROOT")
    except InputError as error:
        print(f"kbmira skipped: {error}")
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_moses_data(pool, folder / "features", folder / "scores")
        (folder / "init").write_text("".join(f"{name}= 0.1\n" for name in pool.names))
        command = [program, "--scfile", "scores", "--ffile", "features", "-d", "init", "-r", 1, "-o", "learned", "-J"]
        return (child_seconds([*command, 61], folder) - child_seconds([*command, 1], folder)) / 60


def main() -> None:
    """Checks, then prints times and ratios."""
    parser = runs.parser(__doc__)
    add_arguments(parser)
    args = parser.parse_args()
    pool = make_pool(args)
    lists = pool.packed()
    order = np.random.default_rng(1).permutation([s for s, c in enumerate(pool.sentences) if len(c.stats)])
    ours, plain = [], []
    for _ in range(args.repeats):
        state = MiraState(lists, np.full(len(pool.names), 0.1), BACKGROUND, STEP_CAP, DECAY)
        start = time.process_time()
        state.run(order)
        ours.append(time.process_time() - start)
        weights = np.full(len(pool.names), 0.1)
        start = time.process_time()
        plain_pass(pool, weights, PseudoCorpus(DECAY), order)
        plain.append(time.process_time() - start)
        assert np.allclose(weights, state.weights, rtol=1e-6, atol=1e-9), "the kernel's weights are others"
    run = runs.Run(args)
    run.table("lists", ["sentences", "hypotheses", "features"])
    run.row(len(lists), len(pool), len(pool.names))
    run.table("a pass", ["program", "CPU s", "ratio"])
    run.row("kernel", min(ours), 1.0)
    run.row("NumPy", min(plain), min(plain) / min(ours))
    if (theirs := kbmira_seconds(pool)) is not None:
        run.row("kbmira", theirs, theirs / min(ours))
    run.save()


if __name__ == "__main__":
    main()
