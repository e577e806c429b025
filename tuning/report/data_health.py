"""The section on data health: faults of the raw text, with examples and what was done."""

from __future__ import annotations

from pathlib import Path

from lscfg.tuning.report.section import ReportData, ReportSection


class HealthSection(ReportSection):
    """Faults of the raw text; left out where the text was not prepared here."""

    TITLE, POSITION = "Data health", 15
    TEMPLATE = """
{% if not findings %}
<p>No fault was found in {{ "{:,}".format(pairs) }} pairs.</p>
{% else %}
{% set caption %}
Pairs with faults among the {{ "{:,}".format(pairs) }} pairs of the raw text, and the setting of [prepare] that changes
 the treatment, or a cure. dropped.tsv lists all dropped pairs.
{%- endset %}
{% call m.table(["fault", "pairs", "share", "done", "setting or cure"], caption, text=(0, 3, 4)) %}
{% for one in findings %}
<tr><th scope="row">{{ one.title }}</th><td>{{ "{:,}".format(one.pairs) }}</td>
<td>{{ "%.2f" | format(100 * one.pairs / (pairs or 1)) }} %</td><td class="text">{{ one.done }}</td>
<td class="text wide">{{ one.setting }}</td></tr>
{% endfor %}
{% endcall %}
<details><summary>Examples</summary>
{% for one in findings %}
<h3>{{ one.title }}</h3>
<dl class="text">
{% for example in one.examples %}
{% call m.definition(names[example.path] ~ ":" ~ example.line) %}
{% if example.source or example.target %}{{ m.sentence(example.source) }} → {{ m.sentence(example.target) }}{% endif %}
{% endcall %}
{% endfor %}
</dl>
{% endfor %}
</details>
{% endif %}
"""

    def values(self, report: ReportData) -> dict[str, object] | None:
        """Content of health.json, and the short names of its files."""
        health = report.content.health
        if health is None:
            return None
        paths = {example["path"] for one in health["findings"] for example in one["examples"]}
        return {
            "findings": health["findings"],
            "pairs": health["pairs"],
            "names": {path: Path(path).name for path in paths},
        }
