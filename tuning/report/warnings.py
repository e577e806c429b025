"""The section of warnings: signs that a result is misleading; omitted without signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lscfg.errors import counted
from lscfg.tuning.objectives import characters
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.section import ReportData, ReportSection

LENGTHS = 0.95, 1.05
"""Ratios of the length of translations to that of references without a warning."""

LETTERS = 0.9, 1.1
"""Ratios of letters without a warning; chrF follows the number of letters."""

MOST_UNKNOWN = 0.05
"""Share of unknown words in the test source without a warning."""

LEAST_WORDS = 3
"""Words of a sentence that counts as untranslated: a shorter one may be a name."""


class WarningsSection(ReportSection):
    """Warnings before all results."""

    TITLE, POSITION = "Warnings", 5
    TEMPLATE = """
<ul>
{% for text in found %}<li>{{ text }}</li>
{% endfor %}
</ul>
"""

    def values(self, report: ReportData) -> dict[str, object] | None:
        """The warnings; None without any."""
        found = result_warnings(report.content)
        return {"found": found} if found else None


def result_warnings(content: Content) -> list[str]:
    """Describes lengths unlike the references', sentences left untranslated and many unknown words, one item each."""
    found = [_length(row, content.units[1]) for row in content.results["systems"]]
    found += [_letters(name, lines, content.references) for name, lines in content.outputs.items()]
    found += [_untranslated(name, lines, content) for name, lines in content.outputs.items()]
    return [text for text in [*found, _unknown(content)] if text]


def _length(row: dict[str, Any], unit: str) -> str:
    ratio = row["test_length_ratio"]
    if LENGTHS[0] <= ratio <= LENGTHS[1]:
        return ""
    if ratio > 1:
        return f"{row['system']} translates too long: {ratio:.3f} times the {unit}s of the references."
    return (
        f"{row['system']} translates too short: {ratio:.3f} times the {unit}s of the references, so that the brevity"
        f" penalty multiplies BLEU by {row['brevity_penalty']:.3f}. Look for development sentences that are overlong,"
        " left untranslated or unlike the test set."
    )


def _letters(system: str, lines: Sequence[str], references: Sequence[Sequence[str]]) -> str:
    """The warning of too many or too few letters; several references count by their mean."""
    wanted = sum(map(letters, references)) / len(references)
    ratio = letters(lines) / wanted if wanted else 1.0
    if LETTERS[0] <= ratio <= LETTERS[1]:
        return ""
    length, effect = (
        ("long", "chrF rewards this, BLEU does not") if ratio > 1 else ("short", "chrF suffers more than BLEU")
    )
    return f"{system} translates too {length}: {ratio:.3f} times the letters of the references; {effect}."


def letters(lines: Sequence[str]) -> int:
    """The letters and signs of lines of words, without the marks of joined words."""
    return sum(len(characters(line.split())) for line in lines)


def _untranslated(system: str, lines: Sequence[str], content: Content) -> str:
    """The warning of sentences that equal their source, which no reference does."""
    references = [set(group) for group in zip(*content.references, strict=True)]
    same = [
        number
        for number, (line, source) in enumerate(zip(lines, content.sources, strict=True))
        if line == source and len(line.split()) >= LEAST_WORDS and line not in references[number]
    ]
    if not same:
        return ""
    shown = ", ".join(str(number + 1) for number in same[:5]) + (", …" if len(same) > 5 else "")
    return f"{system} leaves {counted(len(same), 'test sentence')} untranslated: {shown}."


def _unknown(content: Content) -> str:
    units = f"{content.units[0]}s"
    counts, words = content.unknown_words, sum(len(line.split()) for line in content.sources)
    if sum(counts) <= MOST_UNKNOWN * words:
        return ""
    return (
        f"{sum(counts) / words:.1%} of the {units} in the test source do not occur in the training text;"
        f" {counted(sum(map(bool, counts)), 'sentence')} of {len(counts):,} contain such {units}."
    )
