"""Word alignment: FastAlign of sil-thot in both directions, symmetrised; Pharaoh files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from lscfg.errors import InputError
from lscfg.log import warn
from lscfg.text import read_lines

LONGEST = 1024
"""Words of a sentence beyond which the aligner gives no links."""

HEURISTICS = ("grow-diag-final-and", "grow-diag-final", "grow-diag", "intersect", "union")


def align(
    src: Sequence[str],
    tgt: Sequence[str],
    iterations: int = 5,
    heuristic: str = "grow-diag-final-and",
    jobs: int = 2,
) -> list[str]:
    """Pharaoh alignments ``i-j ...`` of a parallel corpus, links in order of source, then target position.

    The two directions are trained apart, each by a single thread, so that the result does not depend on ``jobs``.

    Args:
        src, tgt: sentences, words separated by blanks.
        iterations: EM iterations of each direction.
        heuristic: one of ``HEURISTICS``.
        jobs: with 2 or more the directions run at the same time.

    Raises:
        InputError: unknown heuristic or fewer than one iteration.
    """
    if heuristic not in HEURISTICS:
        raise InputError(f"unknown heuristic {heuristic!r}; known are {', '.join(HEURISTICS)}")
    if iterations < 1:
        raise InputError(f"alignment needs 1 iteration or more, got {iterations}")
    # words as lscfg derive counts them, where blanks may be doubled
    sides = (
        [[word for word in line.split(" ") if word] for line in src],
        [[word for word in line.split(" ") if word] for line in tgt],
    )
    if too_long := sum(max(map(len, pair)) > LONGEST for pair in zip(*sides, strict=True)):
        warn(f"{too_long} sentence pairs of more than {LONGEST} words stay without links")
    # A process of its own for each direction, even if they run in turn: only there is the thread count ours to set.
    with ProcessPoolExecutor(min(2, max(1, jobs)), get_context("spawn"), initializer=_single_thread) as pool:
        direct = pool.submit(_one_direction, *sides, iterations)
        inverse = pool.submit(_one_direction, *sides[::-1], iterations)
        links = zip(direct.result(), inverse.result(), strict=True)
        shapes = zip(map(len, sides[0]), map(len, sides[1]), strict=True)
        return [_symmetrise(*pair, shape, heuristic) for pair, shape in zip(links, shapes, strict=True)]


def _single_thread() -> None:
    # Sums over threads would come out in another order each time.
    os.environ["OMP_NUM_THREADS"] = "1"


Links = list[tuple[int, int]]


def _one_direction(src: list[list[str]], tgt: list[list[str]], iterations: int) -> list[Links]:
    """Best alignment of each pair as (source position, target position)."""
    from thot.alignment import FastAlignModel

    model = FastAlignModel()
    model.variational_bayes = True
    for pair in zip(src, tgt, strict=True):
        model.add_sentence_pair(*pair)
    model.start_training()
    for _ in range(iterations):
        model.train()
    model.end_training()
    found = []
    for begin in range(0, len(src), 1000):
        batch = slice(begin, begin + 1000)
        for _, matrix in model.get_best_alignments(src[batch], tgt[batch]):
            rows, columns = matrix.to_numpy().nonzero()
            found.append(list(zip(rows.tolist(), columns.tolist(), strict=True)))
    return found


def _symmetrise(direct: Links, inverse: Links, shape: tuple[int, int], heuristic: str) -> str:
    from thot.common import WordAlignmentMatrix

    joint, other = WordAlignmentMatrix(*shape), WordAlignmentMatrix(*shape)
    for i, j in direct:
        joint.set(i, j)
    for j, i in inverse:
        other.set(i, j)
    getattr(joint, heuristic.replace("-", "_"))(other)
    rows, columns = joint.to_numpy().nonzero()
    return " ".join(f"{i}-{j}" for i, j in sorted(zip(rows.tolist(), columns.tolist(), strict=True)))


def read_alignments(path: str | os.PathLike[str], sentences: int) -> list[str]:
    """Lines of a Pharaoh alignment file, one for each sentence pair.

    Raises:
        InputError: the number of lines is not ``sentences``.
    """
    lines = read_lines(path)
    if len(lines) != sentences:
        raise InputError(f"{len(lines)} lines for {sentences} sentence pairs", path)
    return lines
