"""Word alignment: a model of sil-thot in both directions, symmetrised; Pharaoh files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lscfg.errors import InputError, KernelError, WorkerError
from lscfg.io.text import read_lines
from lscfg.log import warn
from lscfg.parallel.engine import in_processes

if TYPE_CHECKING:
    from thot.common import WordAlignmentMatrix

LONGEST = 1024
"""Words of a sentence beyond which the aligner gives no links."""

MODELS = ("eflomal", "fast-align")
"""Gibbs sampling of lexical, HMM and fertility parameters with Dirichlet priors (Östling & Tiedemann 2016), and the
reparameterised IBM model 2 by variational EM (Dyer, Chahuneau & Smith 2013)."""

HEURISTICS = ("grow-diag-final-and", "grow-diag-final", "grow-diag", "intersect", "union")


@dataclass(frozen=True)
class AlignmentSettings:
    """How a corpus is aligned.

    A word without links becomes a terminal of whatever minimal rule covers it; union leaves the fewest such words.

    Raises:
        InputError: unknown model or heuristic, or a number out of its range.
    """

    model: str = "eflomal"
    """One of ``MODELS``."""
    heuristic: str = "union"
    """One of ``HEURISTICS``: how the two directions are joined."""
    iterations: int | None = None
    """At least 1, of each direction. Of fast-align: EM iterations, 5 if None. Of eflomal: sweeps of its last stage,
    with fertilities, while the two before it have a quarter as many each; if None, 5000 / sqrt(number of pairs)."""
    seed: int = 1
    """0 to 2^32 - 1; fast-align has no random choices."""

    def __post_init__(self) -> None:
        for name, value, known in (("model", self.model, MODELS), ("heuristic", self.heuristic, HEURISTICS)):
            if value not in known:
                raise InputError(f"unknown alignment {name} {value!r}; known are {', '.join(known)}")
        if self.iterations is not None and self.iterations < 1:
            raise InputError(f"alignment needs 1 iteration or more, got {self.iterations}")
        if not 0 <= self.seed < 2**32:
            raise InputError(f"the seed of the alignment must be 0 to {2**32 - 1}, not {self.seed}")


Links = list[tuple[int, int]]


@dataclass(frozen=True)
class BothWays:
    """Links of a corpus from either direction.

    Attributes:
        direct: of each pair (source, target position), at most one for each target word; inverse: (target, source
            position), at most one for each source word.
        shapes: of each pair its source and target words.
    """

    direct: Sequence[Links]
    inverse: Sequence[Links]
    shapes: Sequence[tuple[int, int]]

    def joined(self, heuristic: str) -> list[str]:
        """Pharaoh alignments ``i-j ...``, links in order of source, then target position; one of ``HEURISTICS``."""
        pairs = zip(self.direct, self.inverse, self.shapes, strict=True)
        return [_symmetrise(*pair, heuristic) for pair in pairs]


def align(
    src: Sequence[str], tgt: Sequence[str], settings: AlignmentSettings | None = None, jobs: int = 2
) -> list[str]:
    """Pharaoh alignments of a parallel corpus; see ``align_both_ways`` and ``BothWays.joined``."""
    settings = settings or AlignmentSettings()
    return align_both_ways(src, tgt, settings, jobs).joined(settings.heuristic)


def align_both_ways(src: Sequence[str], tgt: Sequence[str], settings: AlignmentSettings, jobs: int = 2) -> BothWays:
    """The links of a parallel corpus in either direction.

    The two directions are trained apart, each by a single thread, so that the result does not depend on ``jobs``. Pairs
    with an empty side, or one of more than ``LONGEST`` words, get no links.

    Args:
        src, tgt: sentences, words separated by blanks.
        settings: all but the heuristic.
        jobs: with 2 or more the directions run at the same time.
    """
    # words as lscfg derive counts them, where blanks may be doubled
    sides = (
        [[word for word in line.split(" ") if word] for line in src],
        [[word for word in line.split(" ") if word] for line in tgt],
    )
    if too_long := sum(max(map(len, pair)) > LONGEST for pair in zip(*sides, strict=True)):
        warn(f"{too_long} sentence pairs of more than {LONGEST} words stay without links")
    # Processes even if the directions run in turn: only there is the thread count ours to set. Sums over threads would
    # come out in another order each time.
    with in_processes(min(2, max(1, jobs)), {"OMP_NUM_THREADS": "1"}) as engine:
        try:
            direct, inverse = engine.map(_one_direction, [(*sides, settings), (*sides[::-1], settings)])
        except WorkerError as error:
            raise KernelError("the aligner's process died; is there enough memory for this corpus?") from error
    return BothWays(direct, inverse, list(zip(map(len, sides[0]), map(len, sides[1]), strict=True)))


Corpus = tuple[list[list[str]], list[list[str]], AlignmentSettings]


def _one_direction(corpus: Corpus) -> list[Links]:
    """Links of each pair as (source position, target position), at most one for each target word."""
    src, tgt, settings = corpus
    if settings.model == "eflomal":
        return _eflomal(src, tgt, settings.iterations, settings.seed)
    return _fast_align(src, tgt, settings.iterations or 5)


def _eflomal(src: list[list[str]], tgt: list[list[str]], iterations: int | None, seed: int) -> list[Links]:
    from thot.alignment import EflomalAlignmentModel

    model = EflomalAlignmentModel()
    model.seed = seed
    model.deterministic = True
    # Links from the samplers' last states; those that the trained parameters find from scratch are far worse.
    model.emit_training_alignments = True
    if iterations:
        quarter = max(1, iterations // 4)
        model.set_iterations(max(2, quarter), quarter, iterations)  # in proportion as the model's own
    for pair in zip(src, tgt, strict=True):
        model.add_sentence_pair(*pair)
    model.start_training()
    for _ in range(model.scheduled_iterations):
        model.train()
    model.end_training()
    return [_links(model.get_training_alignment(k)[1]) for k in range(len(src))]


def _fast_align(src: list[list[str]], tgt: list[list[str]], iterations: int) -> list[Links]:
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
        found += [_links(matrix) for _, matrix in model.get_best_alignments(src[batch], tgt[batch])]
    return found


def _links(matrix: WordAlignmentMatrix) -> Links:
    rows, columns = matrix.to_numpy().nonzero()
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _symmetrise(direct: Links, inverse: Links, shape: tuple[int, int], heuristic: str) -> str:
    from thot.common import WordAlignmentMatrix

    joint, other = WordAlignmentMatrix(*shape), WordAlignmentMatrix(*shape)
    for i, j in direct:
        joint.set(i, j)
    for j, i in inverse:
        other.set(i, j)
    getattr(joint, heuristic.replace("-", "_"))(other)
    return " ".join(f"{i}-{j}" for i, j in sorted(_links(joint)))


def read_alignments(path: str | os.PathLike[str], sentences: int) -> list[str]:
    """Lines of a Pharaoh alignment file, one for each sentence pair.

    Raises:
        InputError: the number of lines is not ``sentences``.
    """
    lines = read_lines(path)
    if len(lines) != sentences:
        raise InputError(f"{len(lines)} lines for {sentences} sentence pairs", path)
    return lines
