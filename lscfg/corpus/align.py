"""Word alignment: a model of sil-thot in both directions, symmetrised; Pharaoh files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lscfg.corpus.aligner import ALIGNERS, Links
from lscfg.corpus.saved import DIRECTIONS, check_can_be_saved, save_aligner, unpack_aligner
from lscfg.corpus.thot import matrix_links
from lscfg.errors import InputError, KernelError, WorkerError, quote
from lscfg.log import no_progress, warning
from lscfg.parallel.choose import in_processes
from lscfg.settings import Declared, Limits, SettingError, setting

LONGEST = 1024
"""Words of a sentence beyond which the aligner gives no links."""

HEURISTICS = ("grow-diag-final-and", "grow-diag-final", "grow-diag", "intersect", "union")


@dataclass(frozen=True)
class AlignmentSettings(Declared):
    """Settings of word alignment.

    A word without links becomes a terminal of whatever minimal rule covers it; union leaves the fewest such words.

    Raises:
        InputError: unknown model or heuristic, or a number out of its range.
    """

    model: str = setting("eflomal", "aligner of each direction", option="aligner", common=True)
    heuristic: str = "union"
    """Symmetrisation of the two directions; no key of its table, since commands write several."""
    aligner: Declared | None = None
    """Settings of the aligner; None for its defaults."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model not in ALIGNERS:
            raise SettingError("model", f"must be one of {', '.join(ALIGNERS)}, not {quote(self.model)}")
        if requirement := Limits(choices=HEURISTICS).requirement(self.heuristic):
            raise SettingError("heuristic", requirement)
        if self.aligner is None:
            object.__setattr__(self, "aligner", ALIGNERS[self.model].Settings())


@dataclass(frozen=True)
class BothWays:
    """Links of a corpus from either direction.

    Attributes:
        direct: of each pair (source, target position), at most one for each target word; inverse: (target, source
            position), at most one for each source word.
        shapes: of each pair its source and target words.
        aligner: name of the aligner.
    """

    direct: Sequence[Links]
    inverse: Sequence[Links]
    shapes: Sequence[tuple[int, int]]
    aligner: str

    def joined(self, heuristic: str) -> list[str]:
        """Pharaoh alignments ``i-j ...``, links in order of source, then target position; one of ``HEURISTICS``.

        Warns of pairs of words on both sides that have no link.
        """
        pairs = zip(self.direct, self.inverse, self.shapes, strict=True)
        lines = [" ".join(f"{i}-{j}" for i, j in symmetrised(*pair, heuristic)) for pair in pairs]
        wanted = [min(shape) > 0 and max(shape) <= LONGEST for shape in self.shapes]
        full = [line for line, has_words in zip(lines, wanted, strict=True) if has_words]
        if without := full.count(""):
            few = 2 * without > len(full)
            cause = f"; the text may be too small or too uniform for {self.aligner}" if few else ""
            cure = ": try fast-align" if few and self.aligner == "eflomal" else ""
            warning(f"{without} of {len(full)} sentence pairs have no link by {heuristic}{cause}{cure}")
        return lines


def align(
    src: Sequence[str], tgt: Sequence[str], settings: AlignmentSettings | None = None, jobs: int = 2
) -> list[str]:
    """Pharaoh alignments of a parallel corpus; see ``align_both_ways`` and ``BothWays.joined``."""
    settings = settings or AlignmentSettings()
    return align_both_ways(src, tgt, settings, jobs).joined(settings.heuristic)


def align_both_ways(
    src: Sequence[str],
    tgt: Sequence[str],
    settings: AlignmentSettings,
    jobs: int = 2,
    save: str | os.PathLike[str] | None = None,
) -> BothWays:
    """The links of a parallel corpus in either direction.

    The two directions are trained apart, each by a single thread, so that the result does not depend on ``jobs``. Pairs
    with an empty side, or one of more than ``LONGEST`` words, get no links.

    Args:
        src, tgt: sentences, words separated by blanks.
        settings: all settings; the heuristic is ignored.
        jobs: with 2 or more the directions run at the same time.
        save: the file that gets the trained aligner, for ``align_with``.

    Raises:
        InputError: the aligner is to be saved, and is of a kind that cannot be.
    """
    if save is None:
        return _both_ways(src, tgt, settings, None, jobs)
    check_can_be_saved(settings.model)
    assert settings.aligner is not None
    with TemporaryDirectory(prefix="lscfg-") as name:
        for direction in DIRECTIONS:
            (Path(name) / direction).mkdir()
        links = _both_ways(src, tgt, settings, Path(name), jobs)
        save_aligner(save, settings.model, settings.aligner, Path(name))
    return links


def align_with(path: str | os.PathLike[str], src: Sequence[str], tgt: Sequence[str], jobs: int = 2) -> BothWays:
    """The links that a saved aligner finds, pair by pair; nothing is trained.

    Args:
        path: a file of ``align_both_ways``.
        src, tgt, jobs: see ``align_both_ways``.

    Raises:
        InputError: the file cannot be read, is not an aligner, or is damaged.
    """
    with TemporaryDirectory(prefix="lscfg-") as name:
        aligner = unpack_aligner(path, Path(name))
        try:
            return _both_ways(src, tgt, aligner, Path(name), jobs)
        except KernelError as error:
            raise InputError(f"{error}; train it again with this version of sil-thot", path) from error


def _both_ways(
    src: Sequence[str], tgt: Sequence[str], aligner: AlignmentSettings | str, folder: Path | None, jobs: int
) -> BothWays:
    """Trains with settings and saves into the folder, if given; or uses the model of a named aligner there."""
    # words as lscfg derive counts them, where blanks may be doubled
    sides = (
        [[word for word in line.split(" ") if word] for line in src],
        [[word for word in line.split(" ") if word] for line in tgt],
    )
    if too_long := sum(max(map(len, pair)) > LONGEST for pair in zip(*sides, strict=True)):
        warning(f"{too_long} sentence pairs of more than {LONGEST} words stay without links")
    folders = [None if folder is None else folder / direction for direction in DIRECTIONS]
    tasks = [
        _Direction(*sides, aligner, folders[0], True),
        _Direction(*sides[::-1], aligner, folders[1], jobs < 2),
    ]
    # Processes even if the directions run in turn, because only a process lets us set its thread count. Sums over
    # threads would come out in another order each time.
    with in_processes(min(2, max(1, jobs)), {"OMP_NUM_THREADS": "1"}) as engine:
        try:
            direct, inverse = engine.map(_one_direction, tasks)
        except WorkerError as error:
            raise KernelError("the aligner's process died; is there enough memory for this corpus?") from error
    shapes = list(zip(map(len, sides[0]), map(len, sides[1]), strict=True))
    return BothWays(direct, inverse, shapes, aligner if isinstance(aligner, str) else aligner.model)


class _Direction(NamedTuple):
    """The input of a worker that aligns one direction."""

    src: list[list[str]]
    tgt: list[list[str]]
    aligner: (
        AlignmentSettings | str
    )  # settings to train with, or the name of the aligner whose model the folder contains
    folder: Path | None
    shown: bool  # progress: of two directions at a time, one is enough


def _one_direction(task: _Direction) -> list[Links]:
    """Links of each pair as (source position, target position), at most one for each target word."""
    src, tgt, aligner, folder, shown = task
    with nullcontext() if shown else no_progress():
        if isinstance(aligner, AlignmentSettings):
            assert aligner.aligner is not None
            return ALIGNERS[aligner.model].align_corpus(src, tgt, aligner.aligner, folder)
        assert folder is not None
        found = ALIGNERS[aligner].align_text(src, tgt, folder)
        assert found is not None  # ``unpack_aligner`` has checked it
        return found


def symmetrised(direct: Links, inverse: Links, shape: tuple[int, int], heuristic: str) -> Links:
    """Joins the links of both directions, see ``BothWays``; in order of source, then target position."""
    from thot.common import WordAlignmentMatrix

    joint, other = WordAlignmentMatrix(*shape), WordAlignmentMatrix(*shape)
    for i, j in direct:
        joint.set(i, j)
    for j, i in inverse:
        other.set(i, j)
    getattr(joint, heuristic.replace("-", "_"))(other)
    return sorted(matrix_links(joint))
