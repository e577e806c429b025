"""The verdict: a few sentences on what the scores mean, chosen by figures, and the section that shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from lscfg.corpus.edits import word_edits
from lscfg.errors import counted
from lscfg.tuning.bleu import HYPOTHESIS_LENGTH, REFERENCE_LENGTH, Stats, corpus_stats
from lscfg.tuning.metrics.tuned import deciding_metric
from lscfg.tuning.report.content import P_VALUES, SIGNIFICANT, Content
from lscfg.tuning.report.section import ReportData, ReportSection
from lscfg.tuning.report.text import p_equation, signed
from lscfg.tuning.report.warnings import LENGTHS, MOST_UNKNOWN
from lscfg.tuning.significance import bootstrap, compact

POWER = 0.8
"""Probability with which a test set of the size that the verdict names shows a difference."""

_FACTOR = NormalDist().inv_cdf(1 - SIGNIFICANT / 2) + NormalDist().inv_cdf(POWER)
"""Standard deviations that a difference must measure, to be found at 5 % with that probability."""

SAMPLES, SEED = 500, 12345

PRACTICAL = 100_000
"""Test sentences beyond which the verdict names no size."""

FEW_PAIRS = 100_000
"""Training pairs up to which more text is the first advice, without a learning curve."""

WORTH = 0.5
"""Minimum score gained by twice the text, at the lower end of the interval, for more text as the first advice."""

USES = (
    (0.15, "Most translations need little or no correction."),
    (0.4, "They are drafts that a person can correct; read them before publishing."),
    (0.65, "They help to understand a text but are not ready to publish."),
    (math.inf, "They show the topic of a text at most; do not rely on their content."),
)
"""Greatest share of words to change, and the use of such translations."""


class VerdictSection(ReportSection):
    """The verdict, before all other sections."""

    TITLE, POSITION = "Verdict", 1
    TEMPLATE = """
<ul>
{% for text in verdict %}<li>{{ text }}</li>
{% endfor %}
</ul>
{% if curve %}
{% set caption %}
{{ metric }} of {{ curve.system }} by training text, with the weights tuned on the whole text, and the gain from each
 doubling: the slope of the score over the logarithm of the size, with its 95 % bootstrap interval over test sentences.
{%- endset %}
{% call m.table(["training pairs", "test " ~ metric], caption) %}
{% for point in curve.points %}
<tr><th scope="row">{{ "{:,}".format(point["sentence pairs"]) }}</th>
<td>{{ "%.2f" | format(point[column]) }}</td></tr>
{% endfor %}
{% set twice = curve["twice the text"] %}
<tr><th scope="row">twice the text</th>
<td>{{ twice.gain | signed }} ({{ twice.low | signed }} to {{ twice.high | signed }})</td></tr>
{% endcall %}
{% endif %}
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """The sentences."""
        metric, name = deciding_metric(report.results)
        curve = report.results.get("learning curve")
        return {"verdict": verdict(report.content), "curve": curve, "metric": metric.TITLE, "column": f"test_{name}"}


@dataclass(frozen=True)
class Comparison:
    """The best system other than the baseline, against the baseline."""

    better: str
    worse: str
    gain: float
    """Score of the better system less that of the other, at least 0."""
    p: float
    """By approximate randomisation."""
    least_p: float
    """The smallest p-value that the trials can give."""
    deviation: float
    """Standard deviation of the difference over bootstrap samples of the test set."""


@dataclass(frozen=True)
class Figures:
    """Figures that choose the sentences; those of translations are of the first tuning of the best system."""

    system: str
    score: float
    """In the metric of tuning."""
    interval: float
    """Half the width of the 95 % interval of the score."""
    sentences: int
    training_pairs: int
    tunings: int
    equal: float
    """Share of the test sentences whose translation equals a reference."""
    one_word: float
    """Share whose translation needs one word changed."""
    over_half: float
    """Share with more changes than half of the words of the reference."""
    changes: float
    """Words to change, over words of the references."""
    length: float
    """Length of the translations over that of the references."""
    dev_length: float
    """Length ratio of the development set after tuning."""
    length_error: float = 0.0
    """Standard error of the difference of the two length ratios."""
    unknown: float = 0.0
    """Share of the words of the test source that do not occur in the training text."""
    known_score: float | None = None
    """Score of the sentences without such words; None: unknown."""
    unknown_score: float | None = None
    """Score of the sentences with such words."""
    comparison: Comparison | None = None
    """None: a single system."""
    curve: Mapping[str, Any] | None = None
    """The learning curve in results.json; None: the run drew none."""
    metric: str = "BLEU"
    """Title of the metric of tuning."""
    bleu: float | None = None
    """BLEU, if the score is that of another metric; else None."""
    units: tuple[str, str] = ("word", "word")
    """See ``Content``; all words above are of these."""

    def amount(self, value: str) -> str:
        """A difference of scores in words.

        Args:
            value: its digits.
        """
        return f"{value} BLEU" if self.bleu is None else f"{value} in {self.metric}"

    def reached(self, value: str) -> str:
        """A score in words.

        Args:
            value: its digits.
        """
        return f"BLEU {value}" if self.bleu is None else f"{self.metric} = {value}"

    @classmethod
    def of(cls, content: Content) -> Figures:
        """The figures of an experiment."""
        results = content.results
        metric, name = deciding_metric(results)
        best = max(results["systems"], key=lambda row: row[f"test_{name}"])
        lines, groups = content.outputs[best["system"]], list(zip(*content.references, strict=True))
        edits = [_closest(line, group) for line, group in zip(lines, groups, strict=True)]
        counts = np.array([count for count, _ in edits])
        lengths = np.array([length for _, length in edits])
        unknown = np.array(content.unknown_words, dtype=bool)
        stats = corpus_stats(lines, content.references)
        source_words = sum(len(line.split()) for line in content.sources)
        own = metric.statistics(lines, content.references, content.sources, metric.Settings())
        parts = (own[~unknown], own[unknown]) if unknown.any() and not unknown.all() else ()
        dev_lengths = [run["dev_length_ratio"] for run in best["runs"]]
        return cls(
            system=best["system"],
            score=best[f"test_{name}"],
            interval=best[f"test_{name}_ci"],
            sentences=results["test sentences"],
            training_pairs=results["derivations"]["sentence pairs"],
            tunings=results["runs"],
            equal=float((counts == 0).mean()),
            one_word=float((counts == 1).mean()),
            over_half=float((2 * counts > lengths).mean()),
            changes=float(counts.sum() / max(lengths.sum(), 1)),
            length=best["test_length_ratio"],
            dev_length=sum(dev_lengths) / len(dev_lengths),
            length_error=length_error(stats, content.dev_sentences),
            unknown=sum(content.unknown_words) / max(source_words, 1),
            known_score=float(metric.score(parts[0].sum(axis=0))) if parts else None,
            unknown_score=float(metric.score(parts[1].sum(axis=0))) if parts else None,
            comparison=_compared(content),
            curve=results.get("learning curve"),
            metric=metric.TITLE,
            bleu=None if name == "bleu" else best["test_bleu"],
            units=content.units,
        )


def verdict(content: Content) -> list[str]:
    """Describes the results in sentences, one item each: meaning, comparison, faults, and the next step."""
    return sentences(Figures.of(content))


def sentences(figures: Figures) -> list[str]:
    """Chooses the sentences by the figures."""
    return [text for rule in RULES if (text := rule(figures))]


# ---- the table of sentences ----


def _meaning(figures: Figures) -> str:
    use = next(text for most, text in USES if figures.changes <= most)
    unit = figures.units[1]
    bleu = "" if figures.bleu is None else f", the metric of tuning, and BLEU {figures.bleu:.1f}"
    return (
        f"{figures.system} reaches {figures.reached(f'{figures.score:.1f} ± {figures.interval:.1f}')}{bleu} on"
        f" {counted(figures.sentences, 'test sentence')}: {figures.equal:.0%} of the translations equal a reference,"
        f" {figures.one_word:.0%} need one {unit} changed, {figures.over_half:.0%} more than half of the {unit}s. {use}"
        " A difference from the reference need not be an error."
    )


def _told_apart(figures: Figures) -> str:
    found = figures.comparison
    if found is None:
        return ""
    if found.p < SIGNIFICANT:
        return (
            f"{found.better} is better than {found.worse} ({p_equation(found.p, found.least_p)}); this test set"
            f" reliably shows differences of about {figures.amount(f'{_FACTOR * found.deviation:.1f}')} and more."
        )
    if found.gain == 0:
        return f"{found.better} and {found.worse} reach the same {figures.metric}."
    apart = (
        f"This test set cannot tell {found.better} and {found.worse} apart: the difference of"
        f" {figures.amount(f'{found.gain:.2f}')} may be chance ({p_equation(found.p, found.least_p)})."
    )
    wanted = needed_sentences(figures.sentences, found.gain, found.deviation)
    if wanted > PRACTICAL:
        return f"{apart} So small a difference would need more than {PRACTICAL:,} sentences; treat them as equal."
    if wanted <= figures.sentences:
        return f"{apart} Another test set of this size would probably decide."
    return f"{apart} If the difference is real, about {wanted:,} test sentences would show it."


def _length(figures: Figures) -> str:
    if LENGTHS[0] <= figures.length <= LENGTHS[1]:
        return ""
    kind = "short" if figures.length < 1 else "long"
    text = f"Translations are too {kind}: {figures.length:.2f} times the {figures.units[1]}s of the references"
    # two standard errors, about a 95 % interval: two sets of one origin differ less in 19 of 20 cases
    differ = abs(figures.length - figures.dev_length) > 2 * figures.length_error
    if differ and LENGTHS[0] <= figures.dev_length <= LENGTHS[1]:
        return f"{text}, but {figures.dev_length:.2f} in the development set: the two sets differ in style or origin."
    causes = ["overlong, untranslated or empty lines" if kind == "short" else "overlong or loosely translated lines"]
    if figures.unknown > MOST_UNKNOWN:
        causes.append(f"the many unknown {figures.units[0]}s")
    return f"{text} and {figures.dev_length:.2f} in the development set. Look there for {', or '.join(causes)}."


def _unknown_words(figures: Figures) -> str:
    if not figures.unknown:
        return ""
    units = f"{figures.units[0]}s"
    text = f"{figures.unknown:.1%} of the {units} in the test source do not occur in the training text"
    if figures.known_score is None or figures.unknown_score is None:
        return f"{text}."
    return (
        f"{text}; {figures.metric} is {figures.known_score:.1f} on sentences without such {units} and"
        f" {figures.unknown_score:.1f} on the others."
    )


def _more_text(figures: Figures) -> str:
    size = f"The training text has {counted(figures.training_pairs, 'pair')}."
    curve = figures.curve
    if curve is None:
        how = "lscfg run --learning-curve"
        return f"{size} This run drew no learning curve ({how}), so the effect of more text is not known."
    column = "test_bleu" if figures.bleu is None else "test_tuned"
    *parts, whole = (f"{point[column]:.1f}" for point in curve["points"])
    reached = figures.reached(f"{', '.join(parts)} and {whole}")
    found = curve["twice the text"]
    gain, low, high = (signed(found[key]) for key in ("gain", "low", "high"))
    return (
        f"{size} {curve['system']} trained on a quarter, a half and all of them reaches {reached}. If this"
        f" trend continues, twice the text gains about {figures.amount(gain)} ({low} to {high})."
    )


def _next(figures: Figures) -> str:
    found = figures.comparison
    if figures.unknown > MOST_UNKNOWN:
        return "Next: add text that contains the unknown words, or a glossary of them."
    if not LENGTHS[0] <= figures.length <= LENGTHS[1]:
        return "Next: check the development set, then run again."
    if figures.training_pairs < FEW_PAIRS and figures.curve is None:
        return "Next: add training text; with little text it helps more than any setting."
    if figures.curve is not None and figures.curve["twice the text"]["low"] >= WORTH:
        return f"Next: add training text; on this curve each doubling still gains {figures.metric}."
    if found is not None and found.p >= SIGNIFICANT:
        return "Next: enlarge the test set" + (", or tune several times (--runs 3)." if figures.tunings == 1 else ".")
    return "Next: read the sentences with the largest losses in the report."


RULES: Sequence[Callable[[Figures], str]] = (_meaning, _told_apart, _length, _unknown_words, _more_text, _next)
"""Each makes a sentence of the verdict, or none."""


# ---- figures ----


def needed_sentences(sentences: int, gain: float, deviation: float) -> int:
    """Size of a test set that shows a difference at 5 % with 80 % power, by the normal approximation.

    The variance of a difference of corpus scores falls with the number of sentences. Rounded up to two digits.

    Args:
        sentences: size of the present test set.
        gain: the difference, above 0, taken as the true one.
        deviation: its standard deviation on the present test set.
    """
    wanted = sentences * (_FACTOR * deviation / gain) ** 2
    unit: int = 10 ** max(0, math.floor(math.log10(max(wanted, 1))) - 1)
    return math.ceil(wanted / unit) * unit


def length_error(stats: Stats, others: int) -> float:
    """Standard error of the difference of the length ratios of two sets, as for ratios of means.

    Args:
        stats: of the sentences of one set, [sentences, WIDTH].
        others: sentences of the other set, whose lengths are taken to vary as much; 0: as many.
    """
    output, reference = stats[:, HYPOTHESIS_LENGTH], stats[:, REFERENCE_LENGTH]
    size, words = len(stats), max(reference.sum(), 1)
    spread = np.square(output - output.sum() / words * reference).sum()
    return float(np.sqrt(spread * (1 + size / (others or size)))) / float(words)


def _compared(content: Content) -> Comparison | None:
    baseline, other = content.pair
    if baseline == other:
        return None
    rows = {row["system"]: row for row in content.results["systems"]}
    metric, name = deciding_metric(content.results)
    gain = rows[other][f"test_{name}"] - rows[baseline][f"test_{name}"]
    stats = {
        system: compact(metric.statistics(content.outputs[system], content.references, (), metric.Settings())[None])
        for system in (baseline, other)
    }
    sampled = bootstrap(metric, stats, SAMPLES, SEED)
    better, worse = (other, baseline) if gain >= 0 else (baseline, other)
    return Comparison(
        better,
        worse,
        abs(gain),
        rows[other][P_VALUES[name]],
        1 / (content.results["randomisation trials"] + 1),
        float(np.std(sampled[other] - sampled[baseline], ddof=1)),
    )


def _closest(line: str, references: Sequence[str]) -> tuple[int, int]:
    """Words to change toward the closest reference, and the length of that reference."""
    words = line.split()
    return min((word_edits(words, reference.split()), len(reference.split())) for reference in references)
