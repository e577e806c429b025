"""The section of results: the main table, test scores as a plot, and the components of BLEU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lscfg.study.markup import element, joined
from lscfg.tuning.metrics.metric import scored_metrics
from lscfg.tuning.metrics.tuned import deciding_metric
from lscfg.tuning.report.plots import intervals
from lscfg.tuning.report.section import ReportData, ReportSection


class ResultsSection(ReportSection):
    """Scores of all systems."""

    TITLE, POSITION = "Results", 10
    TEMPLATE = """
{% macro cell(row, key, deviation=none) %}
<td{% if row[key] is not none and row[key] == best[key] %} class="best"{% endif %}>
{#- #}{{ m.spread(row[key], row[deviation] if deviation else none) }}</td>
{% endmacro %}
{% set runs, trials = results.runs, results["randomisation trials"] %}
{% set caption %}
{% if runs > 1 %}Means of {{ runs }} independent tunings, with sample standard deviations in parentheses. {% endif %}
Tests are against {{ results.baseline }}. Best values are bold, and so is <i>p</i> below {{ SIGNIFICANT }}.
{%- endset %}
{% set own = [] if tuned == "BLEU" else ["test " ~ tuned, "95 % CI", "<i>p</i>" | safe] %}
{% set ahead = ["system"] + own + ["test BLEU", "95 % CI"] %}
{% set details = ["dev BLEU", "rules", "<i>m</i>" | safe] %}
{% set tests = ["<i>p</i> randomised" | safe, "<i>p</i> bootstrap" | safe] %}
{% set restored = ["restored BLEU"] if results.restored_signature else [] %}
{% call m.table(ahead + restored + tests + against + columns.values() | list + details, caption) %}
{% for row in results.systems %}
<tr{% if row.system == results.baseline %} class=baseline{% endif %}><th scope="row">{{ row.system }}</th>
{% if own %}
{{ cell(row, "test_tuned", "test_tuned_deviation") }}
<td>± {{ "%.2f" | format(row.test_tuned_ci) }}</td><td>{{ m.p(row.p_tuned, trials) }}</td>
{% endif %}
{{ cell(row, "test_bleu", "test_bleu_deviation") }}
<td>± {{ "%.2f" | format(row.test_bleu_ci) }}</td>
{% for _ in restored %}<td>{{ row.restored_bleu | decimal }}</td>{% endfor %}
<td>{{ m.p(row.p_value, trials) }}</td><td>{{ row.p_bootstrap | decimal(4) }}</td>
{% for value in row.p_against.values() %}<td>{{ m.p(value, trials) }}</td>{% endfor %}
{% for key in columns %}{{ cell(row, key) }}{% endfor %}
{{ cell(row, "dev_bleu", "dev_bleu_deviation") }}
<td>{{ "{:,}".format(row.rules) }}</td><td>{{ row.states or "–" }}</td>
</tr>
{% endfor %}
{% endcall %}
<p class="note">BLEU: <code>{{ results.signature }}</code>. The interval is a bootstrap over sentences. <i>p</i>
 randomised:
 {{ "{:,}".format(trials) }} trials of approximate randomisation
{%- if runs > 1 %}, which exchanges a sentence's translations of all runs together{% endif %}.
{% if restored %}
Restored BLEU, of text with case and punctuation as usual: <code>{{ results.restored_signature }}</code>.
{% endif %}
</p>
<div class="grid pair scores">
<figure class="plot wide">{{ plot }}
<figcaption>Test {{ tuned }}: mean (dot) and 95 % interval (band){% if runs > 1 %}, single runs (small dots){% endif %};
 the dashed line is {{ results.baseline }}.</figcaption></figure>
<div>
{% set caption %}
Components of test BLEU: n-gram precision in percent, brevity penalty, length relative to the references.
{%- endset %}
{% call m.table(["system", "1-gram", "2-gram", "3-gram", "4-gram", "BP", "length"], caption) %}
{% for row in results.systems %}
<tr><th scope="row">{{ row.system }}</th>
{% for value in row.test_precisions %}<td>{{ "%.1f" | format(value) }}</td>{% endfor %}
<td>{{ row.brevity_penalty | decimal(3) }}</td><td>{{ row.test_length_ratio | decimal(3) }}</td></tr>
{% endfor %}
{% endcall %}
</div></div>
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """The best values, the columns of further metrics, and the plot."""
        rows = report.results["systems"]
        metrics = scored_metrics(rows[0])
        choices: dict[str, Callable[[Any], float]] = {
            key: min if metric.ERROR else max for key, metric in metrics.items()
        }
        metric, name = deciding_metric(report.results)
        choices |= {"dev_bleu": max, "test_bleu": max, f"test_{name}": max}
        return {
            "tuned": metric.TITLE,
            "best": {key: _best([row[key] for row in rows], choose) for key, choose in choices.items()},
            "columns": {key: metric.TITLE for key, metric in metrics.items()},
            "against": [joined(element("i", "p"), f" against {name}") for name in report.results["against"]],
            "plot": intervals(rows, report.results["baseline"], metric.TITLE, f"test_{name}"),
        }


def _best(values: Sequence[float], choose: Callable[[Any], float]) -> float | None:
    """The best value; None if all are equal, so that nothing stands out."""
    return choose(values) if min(values) < max(values) else None
