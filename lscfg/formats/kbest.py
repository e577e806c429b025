"""cdec's k-best format: ``id ||| translation ||| Name=value ... ||| score``, best first within a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from lscfg.errors import InputError, cut, quote
from lscfg.io.text import atomic_write, read_lines, split_fields


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One derivation of a decoder: its translation (words separated by a blank), features and model score."""

    text: str
    features: Mapping[str, float]
    score: float


def format_hypothesis(sentence: int, hypothesis: Hypothesis) -> str:
    """One line of the format, without a newline; zero-valued features are written too."""
    features = " ".join(f"{name}={value:.9g}" for name, value in hypothesis.features.items())
    return f"{sentence} ||| {hypothesis.text} ||| {features} ||| {hypothesis.score:.9g}"


def write_kbest(path: str | PathLike[str], lists: Iterable[Sequence[Hypothesis]]) -> None:
    """Writes one k-best list per sentence, sentences numbered from 0. Compression is fast: few lists are kept."""
    with atomic_write(path, level=1) as file:
        for sentence, hypotheses in enumerate(lists):
            file.writelines([format_hypothesis(sentence, hypothesis) + "\n" for hypothesis in hypotheses])


def parse_hypothesis(
    line: str, path: str | PathLike[str] | None = None, number: int | None = None
) -> tuple[int, Hypothesis]:
    """Sentence id and hypothesis of one line.

    Raises:
        InputError: the line is cut, or a number in it is not a finite number.
    """
    fields = split_fields(line)
    if len(fields) != 4:
        raise InputError(
            f"a k-best line has 4 fields between |||, this one {len(fields)}; is the file cut?", path, number
        )
    try:
        features = {}
        for item in fields[2].split():
            name, _, value = item.rpartition("=")
            if not name:
                raise ValueError(f"a feature without a name: {quote(item)}")
            features[name] = float(value)
        sentence, score = int(fields[0]), float(fields[3])
    except ValueError as error:
        raise InputError(f"not a k-best line ({cut(error)})", path, number) from error
    if not all(value - value == 0 for value in (*features.values(), score)):
        raise InputError("a feature value or score is not finite", path, number)
    return sentence, Hypothesis(fields[1], features, score)


def read_kbest(path: str | PathLike[str]) -> dict[int, list[Hypothesis]]:
    """The k-best lists of a file by sentence id.

    Raises:
        InputError: a malformed line, named by file and line, or a last line without its newline: cut, it may still look
            whole.
    """
    lists: dict[int, list[Hypothesis]] = {}
    for number, line in enumerate(read_lines(path, closed=True), 1):
        sentence, hypothesis = parse_hypothesis(line, path, number)
        lists.setdefault(sentence, []).append(hypothesis)
    return lists
