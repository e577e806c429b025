"""Times the exact neighbours of phrases by context, beside sparse_dot_topn where that is installed.

    python benchmarks/neighbours.py TEXT... [--least 2] [-k 100]

The phrases are the 1-grams to 3-grams of all texts. Neighbours of 100 rows are first compared with a dense product.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy import sparse

from lscfg.induce.propagate.contexts import count_contexts, frequent_columns, unit_rows, weighted
from lscfg.induce.propagate.neighbours import nearest_rows
from lscfg.induce.propagate.ngrams import NGrams, count_ngrams, read_words


def check(matrix: sparse.csr_matrix, graph: sparse.csr_matrix, apart: np.ndarray, k: int) -> None:
    """Compares rows with a dense product in double precision."""
    pattern = (matrix != 0).astype(float).tolil()
    pattern[:, apart] = 0
    pattern = pattern.tocsr()
    for row in np.linspace(0, matrix.shape[0] - 1, 100).astype(int):
        shared = (pattern @ pattern[row].T).toarray().ravel() > 0
        product = np.where(shared, (matrix @ matrix[row].T).toarray().ravel(), 0)
        product[row] = 0
        best = np.sort(product[product > 1e-6])[::-1][:k]
        found = np.sort(graph[row].data)[::-1][: len(best)]
        assert np.allclose(found, best, atol=1e-5), row


def main() -> None:
    """Prints a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--least", type=int, default=2)
    parser.add_argument("-k", type=int, default=100)
    args = parser.parse_args()
    numbers: dict[str, int] = {}
    text = read_words(args.texts, numbers)
    phrases = NGrams.of(sorted(count_ngrams(text, (1, 2, 3), args.least)))
    begin = time.process_time()
    counts = count_contexts(text, phrases, len(numbers), 2)
    words = int((text >= 0).sum())
    print(f"{len(phrases)} phrases, {counts.nnz} entries of {words} words: {time.process_time() - begin:.1f} CPU s")
    matrix, apart = unit_rows(weighted(counts)), frequent_columns(text, len(numbers), 25)
    for threads in (1, 2):
        wall, begin = time.perf_counter(), time.process_time()
        graph = nearest_rows(matrix, args.k, apart, threads)
        wall, cpu = time.perf_counter() - wall, time.process_time() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"lscfg, {threads} threads: {wall:.1f} s, {cpu:.1f} CPU s, peak {memory:.0f} MiB", flush=True)
    check(matrix, graph, apart, args.k)
    try:
        from sparse_dot_topn import sp_matmul_topn
    except ImportError:
        return
    single, begin = matrix.astype(np.float32), time.process_time()
    sp_matmul_topn(single, single.T.tocsr(), args.k, n_threads=1)
    print(f"sparse_dot_topn, 1 thread: {time.process_time() - begin:.1f} CPU s")


if __name__ == "__main__":
    main()
