"""The section on rules from monolingual text: coverage, quality of the candidate lists, and examples."""

from __future__ import annotations

from lscfg.tuning.report.section import ReportData, ReportSection


class MonolingualSection(ReportSection):
    """Rules from monolingual text; left out where no system is expanded."""

    TITLE, POSITION = "Monolingual text", 50
    TEMPLATE = """
{% set caption %}
Phrases of the dev and test sets without a translation in the parallel text. A translation is in the list if the most
 probable translation in the fuller parallel text is among the candidates.
{%- endset %}
{% call m.table([""] + rows | map(attribute="system") | list, caption) %}
{% for name in names %}
<tr><th scope="row">{{ name }}</th>
{% for row in rows %}
{% set value = row.expansion.get(name) %}
<td>{% if value is none %}–{% elif value is integer %}{{ "{:,}".format(value) }}{% else %}{{ value }}{% endif %}</td>
{% endfor %}
</tr>
{% endfor %}
{% endcall %}
{% set caption %}
Candidates by probability, with their origins: labels of neighbours (N), the decoder (D), words of similar characters
 (C), the map of contexts (M), stems (S). Those that the fuller parallel text confirms are bold.
{%- endset %}
{% for row in rows if row.candidates %}
<details><summary>Examples of {{ row.system }}</summary>
{% call m.table(["phrase", "count", "candidates"], caption) %}
{% for found in row.candidates %}
<tr><th scope="row">{{ found.phrase }}</th><td>{{ "{:,}".format(found.count) }}</td><td class="text">
{%- for candidate in found.candidates -%}
{%- set target = m.sentence(candidate.target) -%}
{%- if candidate.known %}<b>{{ target }}</b>{% else %}{{ target }}{% endif %}
 {{ "%.2f" | format(candidate.probability) }}
 <small>{% for name in candidate.origins %}{{ name[0] | upper }}{% endfor %}</small>
{%- if not loop.last %}; {% endif %}
{%- endfor -%}
</td></tr>
{% endfor %}
{% endcall %}
</details>
{% endfor %}
"""

    def values(self, report: ReportData) -> dict[str, object] | None:
        """The expanded systems, and the names of their statistics."""
        rows = [row for row in report.results["systems"] if row["expansion"]]
        if not rows:
            return None
        return {"rows": rows, "names": list(dict.fromkeys(name for row in rows for name in row["expansion"]))}
