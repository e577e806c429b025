"""cdec's k-best format: ``id ||| translation ||| Name=value ... ||| score``, best first within a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import overload

import numpy as np

from lscfg.errors import InputError, cut, quote
from lscfg.io.numbers import parse_number, parse_whole
from lscfg.io.read import read_lines, split_fields
from lscfg.io.write import atomic_write
from lscfg.kernel import refused_characters

_BLANKS = re.compile(f"[ {re.escape(''.join(filter(str.isspace, refused_characters())))}]+")


def translation_text(field: str) -> str:
    """A translation in a list; one blank replaces blanks and the spaces that text files cannot contain."""
    return _BLANKS.sub(" ", field).strip(" ")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One derivation of a decoder: its translation (words separated by a blank), features and model score."""

    text: str
    features: Mapping[str, float] = field(hash=False)
    score: float


@dataclass(frozen=True, eq=False)
class HypothesisList(Sequence[Hypothesis]):
    """The k-best list of a sentence as arrays: a sequence that creates hypotheses on demand."""

    names: Sequence[str]
    """Names of features, by column; hypotheses omit features that are 0."""
    texts: Sequence[str]
    """n translations."""
    values: np.ndarray
    """float64 [n, names]."""
    scores: np.ndarray
    """float64 [n]."""

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> Hypothesis: ...
    @overload
    def __getitem__(self, index: slice) -> list[Hypothesis]: ...
    def __getitem__(self, index: int | slice) -> Hypothesis | list[Hypothesis]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        row = self.values[index].tolist()
        features = {name: value for name, value in zip(self.names, row, strict=True) if value}
        return Hypothesis(self.texts[index], features, float(self.scores[index]))

    def __iter__(self) -> Iterator[Hypothesis]:
        names = self.names
        for text, row, score in zip(self.texts, self.values.tolist(), self.scores.tolist(), strict=True):
            yield Hypothesis(text, {name: value for name, value in zip(names, row, strict=True) if value}, score)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def format_hypothesis(sentence: int, hypothesis: Hypothesis) -> str:
    """Returns one line of the format, without a newline; zero-valued features are written too."""
    features = " ".join(f"{name}={value:.9g}" for name, value in hypothesis.features.items())
    return f"{sentence} ||| {hypothesis.text} ||| {features} ||| {hypothesis.score:.9g}"


def write_kbest(path: str | PathLike[str], lists: Iterable[Sequence[Hypothesis]]) -> None:
    """Writes one k-best list per sentence, sentences numbered from 0. Compression is fast, since few lists are kept."""
    with atomic_write(path, level=1) as file:
        for sentence, hypotheses in enumerate(lists):
            if isinstance(hypotheses, HypothesisList):
                file.writelines(_lines(sentence, hypotheses))
            else:
                file.writelines([format_hypothesis(sentence, hypothesis) + "\n" for hypothesis in hypotheses])


def _lines(sentence: int, found: HypothesisList) -> Iterator[str]:
    """Yields the output of ``format_hypothesis`` for each hypothesis, without creating the hypotheses."""
    labels = [f"{name}=" for name in found.names]
    for text, row, score in zip(found.texts, found.values.tolist(), found.scores.tolist(), strict=True):
        features = " ".join([f"{label}{value:.9g}" for label, value in zip(labels, row, strict=True) if value])
        yield f"{sentence} ||| {text} ||| {features} ||| {score:.9g}\n"


def parse_hypothesis(
    line: str, path: str | PathLike[str] | None = None, number: int | None = None
) -> tuple[int, Hypothesis]:
    """Returns the sentence id and the hypothesis of one line.

    Raises:
        InputError: the line is cut, a number in it is not a finite number, or a feature lacks its name or value or
            occurs twice; the cause of all but the first is a ValueError.
    """
    fields = _fields(line, path, number)
    try:
        features: dict[str, float] = {}
        for item in fields[2].split():
            name, _, value = item.rpartition("=")
            if name and not value:
                raise ValueError(
                    f"{quote(item)} has no value; only lscfg rescore reads lists of Moses, whose lines are all alike"
                )
            if not name:
                raise ValueError(f"a feature without a name: {quote(item)}")
            if name in features:
                raise ValueError(f"feature {cut(name)} is given twice")
            features[name] = parse_number(value)
        sentence, score = parse_whole(fields[0]), parse_number(fields[3])
    except ValueError as error:
        raise InputError(f"not a k-best line ({error})", path, number) from error
    return sentence, Hypothesis(translation_text(fields[1]), features, score)


def _fields(line: str, path: str | PathLike[str] | None, number: int | None) -> list[str]:
    fields = split_fields(line)
    if len(fields) != 4:
        raise InputError(f"expected 4 fields between |||, found {len(fields)}; the file may be cut off", path, number)
    return fields


def read_kbest(path: str | PathLike[str]) -> dict[int, list[Hypothesis]]:
    """Returns the k-best lists of a file by sentence id.

    Raises:
        InputError: a malformed line, named by file and line, or a last line without its newline, which may be cut.
    """
    lists: dict[int, list[Hypothesis]] = {}
    for number, line in enumerate(read_lines(path, closed=True), 1):
        sentence, hypothesis = parse_hypothesis(line, path, number)
        lists.setdefault(sentence, []).append(hypothesis)
    return lists


def read_translations(path: str | PathLike[str]) -> dict[int, list[str]]:
    """Returns only the translations in the k-best lists of a file, by sentence id; features and scores are ignored.

    Raises:
        InputError: as ``read_kbest``, except for bad features and scores.
    """
    lists: dict[int, list[str]] = {}
    for number, line in enumerate(read_lines(path, closed=True), 1):
        sentence, text, _, _ = _fields(line, path, number)
        try:
            lists.setdefault(parse_whole(sentence), []).append(translation_text(text))
        except ValueError as error:
            raise InputError(f"not a k-best line ({error})", path, number) from error
    return lists
