"""Time of the exact neighbours of phrases by context, compared with sparse_dot_topn if it is installed.

    python benchmarks/neighbours.py TEXT... [--least 2] [-k 100] [--rows N] [--dense]

The phrases are the 1-grams to 3-grams of all texts, in random order. Neighbours of 100 rows are compared with a dense
product. With --rows, neighbours of the first N phrases alone are found, and CPU seconds extrapolated.
With --dense, exact and approximate neighbours in the 200 dimensions of an SVD are compared instead; exact ones are
found of 1,000 phrases.
"""

from __future__ import annotations

import resource
import time

import numpy as np
import runs
from scipy import sparse

from lscfg.induce.propagated.approximate import nearly_nearest_dense_rows
from lscfg.induce.propagated.contexts import count_contexts, frequent_columns, unit_rows, weighted
from lscfg.induce.propagated.neighbours import nearest_dense_to, nearest_rows
from lscfg.induce.propagated.ngrams import NGrams, count_ngrams
from lscfg.induce.propagated.phrases import PhraseSide
from lscfg.induce.propagated.spaces import GraphSettings, dense_rows
from lscfg.induce.propagated.text import read_words


def check(matrix: sparse.csr_matrix, graph: sparse.csr_matrix, apart: np.ndarray, k: int, rows: int) -> None:
    """Compares rows with a dense product in double precision."""
    pattern = (matrix != 0).astype(float).tolil()
    pattern[:, apart] = 0
    pattern = pattern.tocsr()
    for row in np.linspace(0, rows - 1, 100).astype(int):
        shared = (pattern @ pattern[row].T).toarray().ravel() > 0
        product = np.where(shared, (matrix @ matrix[row].T).toarray().ravel(), 0)
        product[row] = 0
        best = np.sort(product[product > 1e-6])[::-1][:k]
        found = np.sort(graph[row].data)[::-1][: len(best)]
        assert np.allclose(found, best, atol=1e-5), row


def compare_dense(run: runs.Run, counts: sparse.csr_matrix, k: int) -> None:
    """Exact and approximate search; CPU seconds of all threads."""
    phrases = PhraseSide(NGrams.of([]), np.zeros(counts.shape[0]), counts, np.zeros(0, np.int64))
    rows = dense_rows(phrases, [], GraphSettings(space="svd"))
    sample = np.arange(min(1000, len(rows)))
    begin = time.process_time()
    nearest_dense_to(rows, sample, k)
    exact = (time.process_time() - begin) * len(rows) / len(sample)
    begin = time.process_time()
    nearly_nearest_dense_rows(rows, k)
    run.table("dense rows", ["exact CPU s", "approximate CPU s"])
    run.row(exact, time.process_time() - begin)


def main() -> None:
    """Prints a line for each way."""
    parser = runs.parser(__doc__)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--least", type=int, default=2)
    parser.add_argument("-k", type=int, default=100)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--dense", action="store_true")
    args = parser.parse_args()
    numbers: dict[str, int] = {}
    text = read_words(args.texts, numbers)
    found = sorted(count_ngrams(text, (1, 2, 3), args.least))
    phrases = NGrams.of([found[k] for k in np.random.default_rng(1).permutation(len(found))])
    rows = min(args.rows or len(found), len(found))
    scale = len(found) / rows
    begin = time.process_time()
    counts = count_contexts(text, phrases, len(numbers), 2)
    often = text.counts(len(numbers))
    words = int(often.sum())
    run = runs.Run(args)
    run.table("contexts", ["phrases", "entries", "words", "CPU s"])
    run.row(len(phrases), int(counts.nnz), words, time.process_time() - begin)
    if args.dense:
        compare_dense(run, counts, args.k)
        run.save()
        return
    run.table("neighbours", ["program", "threads", "wall s", "CPU s", "peak MiB"])
    matrix, apart = unit_rows(weighted(counts)), frequent_columns(often, 25)
    begin = time.process_time()
    nearest_rows(matrix, args.k, apart, 1, 1)
    once = time.process_time() - begin  # what does not depend on the number of rows
    for threads in (1, 2):
        wall, begin = time.perf_counter(), time.process_time()
        graph = nearest_rows(matrix, args.k, apart, threads, rows)
        wall, cpu = time.perf_counter() - wall, time.process_time() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cpu = once + max(cpu - once, 0) * scale
        run.row("lscfg", threads, wall, cpu, memory)
    check(matrix, graph, apart, args.k, rows)
    try:
        from sparse_dot_topn import sp_matmul_topn
    except ImportError:
        run.save()
        return
    single = matrix.astype(np.float32)
    turned, begin = single.T.tocsr(), time.process_time()
    sp_matmul_topn(single[:rows], turned, args.k, n_threads=1)
    run.row("sparse_dot_topn", 1, None, (time.process_time() - begin) * scale, None)
    run.save()


if __name__ == "__main__":
    main()
