"""Differences of two systems: sentence BLEU of each line, sorted by the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU

from lscfg.io.write import write_lines


@dataclass(frozen=True)
class Difference:
    """One sentence, as two systems translate it."""

    sentence: int
    """Counted from 1."""
    baseline_bleu: float
    system_bleu: float
    baseline: str
    system: str

    @property
    def difference(self) -> float:
        """Sentence BLEU of the system less that of the baseline."""
        return self.system_bleu - self.baseline_bleu


def sentence_bleu(lines: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """sacrebleu's sentence BLEU (0 to 100) of each line: smoothed ("exp"), orders longer than the line left out."""
    metric = BLEU(tokenize="none", force=True, effective_order=True)
    scores = [metric.sentence_score(line, list(group)).score for line, *group in zip(lines, *references, strict=True)]
    return np.array(scores, np.float64)


def differences(
    baseline: Sequence[str], system: Sequence[str], references: Sequence[Sequence[str]]
) -> list[Difference]:
    """All sentences, those in which the system gains most first; equal ones in their order."""
    scores = zip(sentence_bleu(baseline, references), sentence_bleu(system, references), strict=True)
    found = [
        Difference(number, float(before), float(after), one, other)
        for number, ((before, after), one, other) in enumerate(zip(scores, baseline, system, strict=True), 1)
    ]
    return sorted(found, key=lambda item: -item.difference)


def best_and_worst(found: Sequence[Difference], count: int) -> tuple[list[Difference], list[Difference]]:
    """The sentences with the largest gains and the largest losses (most first), at most ``count`` of each."""
    gains = [item for item in found if item.difference > 0][:count]
    losses = [item for item in reversed(found) if item.difference < 0][:count]
    return gains, losses


def write_table(
    path: str | PathLike[str],
    baseline: str,
    found: Mapping[str, Sequence[Difference]],
    references: Sequence[Sequence[str]],
    source: Sequence[str] | None = None,
) -> None:
    """Writes differences to a baseline by system, tab-separated with a header.

    Raises:
        InputError: the file cannot be written.
    """
    names = ["reference"] if len(references) == 1 else [f"reference {k}" for k in range(1, len(references) + 1)]
    rows = [["system", "baseline", "sentence", "difference", "system BLEU", "baseline BLEU"]]
    rows[0] += ["system output", "baseline output", *names, *(["source"] if source is not None else [])]
    for system, items in found.items():
        for item in items:
            k = item.sentence - 1
            texts = [item.system, item.baseline, *(document[k] for document in references)]
            texts += [source[k]] if source is not None else []
            numbers = [f"{x:.2f}" for x in (item.difference, item.system_bleu, item.baseline_bleu)]
            rows.append([system, baseline, str(item.sentence), *numbers, *(" ".join(text.split()) for text in texts)])
    write_lines(path, ["\t".join(row) for row in rows])


def format_differences(
    baseline: str,
    system: str,
    found: Sequence[Difference],
    count: int,
    references: Sequence[Sequence[str]],
    source: Sequence[str] | None = None,
) -> str:
    """The largest gains and losses as text for people."""
    width = max(len(baseline), len(system), len("reference"))
    lines = []
    for title, items in zip(("gains", "loses"), best_and_worst(found, count), strict=True):
        lines.append(f"{system} {title} against {baseline}:" + ("" if items else " nowhere"))
        for item in items:
            k = item.sentence - 1
            lines.append(f"  sentence {item.sentence}: {item.difference:+.1f}")
            shown = [("source", source[k])] if source is not None else []
            shown += [("reference", document[k]) for document in references]
            shown += [(f"{baseline}", f"{item.baseline}  ({item.baseline_bleu:.1f})")]
            shown += [(f"{system}", f"{item.system}  ({item.system_bleu:.1f})")]
            lines += [f"    {name:<{width}}  {text}" for name, text in shown]
    return "\n".join(lines)
