"""Time and memory of counting n-grams and their contexts in a text, compared with keys sorted by NumPy.

    python benchmarks/contexts.py TEXT... [--copies 1,10] [--window 2] [--least 2] [--threads 1]

The n-grams are of one and two words. A separate process reads each number of copies of the text. Its peak
memory is shown before and after the counts; the text itself is in a temporary file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import runs
from scipy import sparse

from lscfg.induce.propagated.contexts import count_contexts
from lscfg.induce.propagated.ngrams import Finder, NGrams, count_ngrams
from lscfg.induce.propagated.text import BORDER, read_words


def peak() -> int:
    """The peak of this process so far, MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) // 1024


def by_sorted_keys(text: np.ndarray, phrases: NGrams, words: int, window: int) -> sparse.csr_matrix:
    """Equal counts from one sorted array of all phrases with a word of their windows."""
    keys, shape = [np.zeros(0, np.int64)], (len(phrases), 2 * words)
    for size, at, phrase in Finder(phrases).find(text):
        for side, step, edge in ((0, -1, at), (1, 1, at + size - 1)):
            reach, row = edge, phrase
            for _ in range(window):
                reach = reach + step
                kept = text[reach] != BORDER
                reach, row = reach[kept], row[kept]
                keys.append(row * shape[1] + side * words + text[reach])
    found, count = np.unique(np.concatenate(keys), return_counts=True)
    return sparse.csr_matrix((count.astype(np.int32), (found // shape[1], found % shape[1])), shape=shape)


def measure(args: argparse.Namespace) -> None:
    """Prints a row for one text."""
    numbers: dict[str, int] = {}
    begin = time.process_time()
    text = read_words(args.texts, numbers)
    words, read = int(text.counts(len(numbers)).sum()), time.process_time() - begin
    before, begin = peak(), time.process_time()
    phrases = NGrams.of(sorted(count_ngrams(text, (1, 2), args.least * args.times, args.threads)))
    middle, began = time.process_time(), time.perf_counter()
    counts = count_contexts(text, phrases, len(numbers), args.window, args.threads)
    wall, cpu, after = time.perf_counter() - began, time.process_time() - middle, peak()
    row = [words, len(phrases), int(counts.nnz), read, middle - begin, cpu, wall, words / cpu / 1e6]
    ratio = None
    if args.times == 1:
        begin = time.process_time()
        other = by_sorted_keys(text.array(), phrases, len(numbers), args.window)
        reference = time.process_time() - begin
        assert (counts != other).nnz == 0
        ratio = reference / cpu
    print(json.dumps([*row, ratio, before, after]))


def main() -> None:
    """A line for each number of copies."""
    parser = runs.parser(__doc__)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--copies", default="1,10")
    parser.add_argument("--window", type=int, default=2)
    parser.add_argument("--least", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--times", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.times:
        measure(args)
        return
    run = runs.Run(args)
    titles = [
        "words",
        "phrases",
        "entries",
        "read s",
        "n-grams s",
        "contexts s",
        "contexts wall s",
        "million words a second",
    ]
    run.table("contexts of phrases", [*titles, "sorted keys, ratio", "MiB before", "MiB after"])
    data = b"".join(Path(path).read_bytes() for path in args.texts)
    for copies in args.copies.split(","):
        with tempfile.NamedTemporaryFile() as file:
            for _ in range(int(copies)):
                file.write(data)
            file.flush()
            options = [f"--{name}={getattr(args, name)}" for name in ("window", "least", "threads")]
            command = [sys.executable, __file__, file.name, f"--times={copies}", *options]
            run.row(*json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
    run.save()


if __name__ == "__main__":
    main()
