"""The section of tables that divide the test set by words, lengths and n-grams."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.tuning.report.buckets import Bucket, bounds_name, times
from lscfg.tuning.report.section import ReportData, ReportSection
from lscfg.tuning.report.text import decimal


class BreakdownSection(ReportSection):
    """Tables by frequency and length for all systems, and the n-grams of the first two systems to compare."""

    TITLE, POSITION = "Where systems differ", 70
    TEMPLATE = """
{% macro buckets(kind, head, unit, rows, caption) %}
{% call m.table([head, unit] + content.outputs | list, caption) %}
{% for row in rows %}
<tr data-set="{{ kind }}-{{ loop.index0 }}"><th scope="row">{{ row.title }}</th><td>{{ "{:,}".format(row.size) }}</td>
{% for score in row.scores %}<td{% if score == row.best %} class="best"{% endif %}>{{ score }}</td>{% endfor %}</tr>
{% endfor %}
{% endcall %}
{% endmacro %}
{% macro grams(one, other) %}
{% set caption %}More frequent in {{ other }} than in {{ one }}.{% endset %}
<div>{% call m.table(["n-gram", one, other], caption) %}
{% for item in breakdown.grams[one, other] %}
<tr><th scope="row">{{ item.gram }}</th>{% for count in item.matches %}<td>{{ count }}</td>{% endfor %}</tr>
{% endfor %}
{% endcall %}</div>
{% endmacro %}
{% set reference = "first reference" if content.references | length > 1 else "reference" %}
<p class="note scripted" hidden>Open a row to list its sentences below.</p>
{% if frequency %}
<h3>By word frequency</h3>
{% set caption %}
F1 of the words of the {{ reference }}, by their frequency in the training text. The best system of each row is bold.
{%- endset %}
{{ buckets("frequency", "seen", "words", frequency, caption) }}
{% endif %}
<h3>By sentence length</h3>
{{ buckets("length", "length", "sentences", length, "BLEU of the sentences, by words of the " ~ reference ~ ".") }}
{% set one, other = content.pair %}
{% if one != other %}
<h3>By n-gram</h3>
<p class="note">Reference n-grams that one system matches more often than the other, counted as in BLEU and sorted by
 (<i>b</i> + 1) / (<i>a</i> + <i>b</i> + 2), where <i>a</i> and <i>b</i> are the matches of the two systems. An n-gram
 inside a longer one with the same matches is omitted.</p>
<div class="controls scripted" hidden>{{ m.pair(content, "grams-") }}</div>
<div id="grams" class="grid pair">{{ grams(one, other) }}{{ grams(other, one) }}</div>
{% endif %}
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """Rows of both tables by bucket, and the n-grams."""
        breakdown = report.breakdown
        return {
            "breakdown": breakdown,
            "frequency": [_Row.of(times(one.bounds), one) for one in breakdown.frequency],
            "length": [_Row.of(f"{bounds_name(one.bounds)} words", one) for one in breakdown.length],
        }


@dataclass(frozen=True)
class _Row:
    """A bucket as text."""

    title: str
    size: int
    scores: list[str]
    """Of all systems."""
    best: str
    """The largest score; empty if all scores are equal."""

    @classmethod
    def of(cls, title: str, bucket: Bucket) -> _Row:
        """The row of a bucket."""
        scores = [*bucket.scores.values()]
        shown = [decimal(score, 1) for score in scores]
        best = max((score for score in scores if score is not None), default=None)
        return cls(title, bucket.size, shown, decimal(best, 1) if len(set(shown)) > 1 else "")
