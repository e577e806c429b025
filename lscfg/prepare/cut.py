"""Pieces for a corpus that is prepared in whole words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.prepare.corpus import HELD_OUT_SETS, set_file
from lscfg.prepare.pieces import Cutting, WordCutter, train_cutter
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.sides import ModelFile

TRAIN = "train"


def cut_corpus(folder: Path, settings: PrepareSettings, cutting: Cutting | None) -> None:
    """Cuts the words of a side of all sets, so that the folder equals a preparation with these settings.

    Args:
        folder: a preparation in whole words of this side.
        settings: settings with the cutting, whose record replaces the present one.
        cutting: None: the words stay whole.

    Raises:
        InputError: sentencepiece or morfessor is missing, or the text is unsuitable for training a model.
    """
    record = Record.read(folder)
    sides = [*record.sides]
    if cutting:
        language = sides[cutting.side].language
        path = folder / f"pieces.{language}.model"
        train_cutter(read_lines(folder / set_file(TRAIN, language)), cutting, path)
        cutter = WordCutter(path)
        for text in set_files(folder, language, (TRAIN, *HELD_OUT_SETS)):
            write_lines(text, [cutter.cut(line) for line in read_lines(text)])
        sides[cutting.side] = replace(sides[cutting.side], piece_model=ModelFile.of(path))
    replace(record, settings=settings, sides=(sides[0], sides[1])).write(folder)


def set_files(folder: Path, language: str, names: Iterable[str]) -> Iterator[Path]:
    """The files of the words of a side of some sets."""
    for name in names:
        number = 1
        while (path := folder / set_file(name, language, number)).is_file():
            yield path
            number += 1
