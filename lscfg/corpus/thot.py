"""Base of the aligners of sil-thot: training, links of a text, and files of a trained model."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lscfg.corpus.aligner import Links
from lscfg.errors import InputError, KernelError
from lscfg.log import progress

if TYPE_CHECKING:
    from thot.common import WordAlignmentMatrix

_PREFIX = "model"
_ROOM = 1 << 20
"""Bytes that must be left after all files are written, since sil-thot does not notice that its writes fail."""
_OF_TRAINING = ("aligns", "anji", "src", "srctrgc", "trg")
"""Files of a model that hold its training text or links, which new text does not need."""
_REQUIRED = ("src", "trg")
"""Files among these that sil-thot requires, though empty."""


def matrix_links(matrix: WordAlignmentMatrix) -> Links:
    """The links of one pair."""
    rows, columns = matrix.to_numpy().nonzero()
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def train(model: Any, src: Sequence[list[str]], tgt: Sequence[list[str]], iterations: int | None = None) -> None:
    """Trains a model of sil-thot, with a progress bar.

    Args:
        iterations: number of iterations; None: as the model schedules.
    """
    for pair in zip(src, tgt, strict=True):
        model.add_sentence_pair(*pair)
    model.start_training()
    for _ in progress(range(iterations or model.scheduled_iterations), "aligning"):
        model.train()
    model.end_training()


def best_links(model: Any, src: Sequence[list[str]], tgt: Sequence[list[str]]) -> list[Links]:
    """The links that a trained model finds for each pair; they depend on that pair alone."""
    found = []
    for begin in range(0, len(src), 1000):
        batch = slice(begin, begin + 1000)
        found += [matrix_links(matrix) for _, matrix in model.get_best_alignments(src[batch], tgt[batch])]
    return found


def write_model(model: Any, folder: Path) -> None:
    """Writes the files of a trained model, which ``written_files`` checks.

    Raises:
        KernelError: sil-thot cannot.
    """
    if not model.print(str(folder / _PREFIX)):
        raise KernelError(f"{folder}: sil-thot cannot write the aligner there; is the disk full?")


def written_files(folder: Path) -> list[Path]:
    """The files of a trained model in a folder, without those of the text that it was trained on.

    Raises:
        InputError: the folder has no room left, or a file reached the limit of its size, so that files may be cut.
    """
    files = sorted(folder.iterdir())
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and any(file.stat().st_size + _ROOM > limit for file in files):
        raise InputError(f"files may have {limit} bytes, too few for an aligner; raise the limit (ulimit -f)", folder)
    probe = folder / "room"
    try:
        probe.write_bytes(bytes(_ROOM))
    except OSError as error:
        cure = "free some, or set TMPDIR to a folder with more"
        raise InputError(f"no room for the files of an aligner ({error.strerror}); {cure}", folder) from None
    finally:
        probe.unlink(missing_ok=True)
    return [file for file in files if file.suffix.removeprefix(".") not in _OF_TRAINING]


def read_model(model: Any, folder: Path) -> object:
    """The model in the files of a folder.

    Raises:
        KernelError: sil-thot cannot read them.
    """
    for name in _REQUIRED:
        (folder / f"{_PREFIX}.{name}").touch()
    if not model.load(str(folder / _PREFIX)):
        raise KernelError("sil-thot cannot read the aligner")
    return model
