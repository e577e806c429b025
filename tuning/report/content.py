"""Content of the report, and the choice of the sentences with charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lscfg.tuning.metrics.tuned import deciding_metric
from lscfg.tuning.report.matches import matched_orders
from lscfg.tuning.report.text import p_equation
from lscfg.tuning.sentences import sentence_bleu

CHARTED_SENTENCES = 2
CHARTED_WORDS = range(5, 10)
"""Preferred lengths of sentences with charts: neither trivial nor too large to read."""


Spans = list[list[float]]
"""The spans of a sentence with their marginals, [i, j, value]; none without a parse."""


@dataclass(frozen=True)
class Charts:
    """Charts of a model, one for each sentence with charts."""

    model: list[Spans]
    one_state: list[Spans] | None = None
    """Charts under the same rules with one state, if known."""


@dataclass(frozen=True)
class TreeRecords:
    """Derivations of translations."""

    sentences: list[int] = field(default_factory=list)
    """Sentences with derivations, from 0."""
    states: dict[str, list[str]] = field(default_factory=dict)
    """By system, a name for each state of its model; empty if the states have no names."""
    systems: dict[str, list[list[dict[str, Any]] | None]] = field(default_factory=dict)
    """By system, a record of each of these sentences (``lscfg.tuning.report.trees``), None without a parse."""


@dataclass(frozen=True)
class Content:
    """The results of an experiment and their texts."""

    title: str
    results: dict[str, Any]
    """Content of results.json."""
    sources: list[str]
    references: list[list[str]]
    """One document per reference set."""
    outputs: dict[str, list[str]]
    """One output of each system."""
    charted: list[int]
    """Sentences with charts, counted from 0."""
    charts: dict[str, Charts]
    """By system."""
    examples: int
    """Number of gains, and of losses, shown for each system."""
    weights: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    """By system, of each tuning."""
    training: dict[str, int] = field(default_factory=dict)
    """Frequencies in the training text of the words of references and outputs; empty if unknown."""
    trees: TreeRecords = field(default_factory=TreeRecords)
    unknown_words: list[int] = field(default_factory=list)
    """Words of each test sentence that do not occur in the source side of the training text; empty if unknown."""
    languages: tuple[str, str] | None = None
    """Codes of source and target language; None: unknown."""
    corpus: tuple[str, ...] = ()
    """Names of the files of the training text."""
    dev_sentences: int = 0
    """Size of the development set; 0: unknown."""
    health: dict[str, Any] | None = None
    """Content of health.json; None unless the text was prepared."""
    units: tuple[str, str] = ("word", "word")
    """Units between blanks in source and target: words, or pieces of words."""

    @property
    def name(self) -> str:
        """The language pair if it is known, else the title."""
        return " → ".join(self.languages) if self.languages else self.title

    @property
    def pair(self) -> tuple[str, str]:
        """The systems that are compared first: the baseline, and the best other system by the metric of tuning."""
        baseline = self.results["baseline"]
        others = [row for row in self.results["systems"] if row["system"] != baseline]
        column = f"test_{deciding_metric(self.results)[1]}"
        best = max(others, key=lambda row: row[column])["system"] if others else baseline
        return baseline, best

    @cached_property
    def bleu(self) -> dict[str, NDArray[np.float64]]:
        """Sentence BLEU of each output, by system."""
        return {name: sentence_bleu(lines, self.references) for name, lines in self.outputs.items()}

    @cached_property
    def orders(self) -> dict[str, list[str]]:
        """By system, the matched orders of the words of each output."""
        references = [[line.split() for line in group] for group in zip(*self.references, strict=True)]
        return {
            name: [matched_orders(line.split(), group) for line, group in zip(lines, references, strict=True)]
            for name, lines in self.outputs.items()
        }


SIGNIFICANT = 0.05

P_VALUES = {"bleu": "p_value", "tuned": "p_tuned"}
"""Columns of p against the baseline, by the metric's word in names of columns."""


def headline(results: dict[str, Any]) -> str:
    """The result in a sentence: the best system against the baseline.

    Its name comes first unless it is the baseline.
    """
    metric, name = deciding_metric(results)
    rows, score, title = results["systems"], f"test_{name}", metric.TITLE
    best = max(rows, key=lambda row: row[score])
    base = next(row for row in rows if row["system"] == results["baseline"])
    if len(rows) == 1:
        return f"{best['system']} has a test {title} of {best[score]:.2f}."
    if best is base:
        return f"No system has a better test {title} than the baseline {base['system']} ({base[score]:.2f})."
    gain, p_value = best[score] - base[score], best[P_VALUES[name]]
    sure = "significant" if p_value < SIGNIFICANT else "not significant"
    p = p_equation(p_value, 1 / (results["randomisation trials"] + 1))
    return (
        f"{best['system']} has the best test {title}, {best[score]:.2f}: {gain:+.2f} against "
        f"{base['system']} ({base[score]:.2f}), {sure} ({p})."
    )


def different_sentences(outputs: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]]) -> list[int]:
    """The sentences, counted from 0, whose BLEU differs between systems, largest difference first."""
    scores = np.stack([sentence_bleu(lines, references) for lines in outputs.values()])
    spread = scores.max(axis=0) - scores.min(axis=0)
    return [int(k) for k in np.argsort(-spread, kind="stable") if spread[k] > 0]


def charted_sentences(
    sources: Sequence[str], outputs: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]]
) -> list[int]:
    """The sentences whose BLEU differs most between systems, counted from 0; short ones if possible."""
    scores = np.stack([sentence_bleu(lines, references) for lines in outputs.values()])
    spread = scores.max(axis=0) - scores.min(axis=0)
    length = np.array([len(line.split()) for line in sources])
    fits = (length >= CHARTED_WORDS.start) & (length < CHARTED_WORDS.stop)
    order = np.lexsort((np.arange(len(sources)), -spread, ~fits, length == 0))
    return sorted(order[:CHARTED_SENTENCES].tolist())
