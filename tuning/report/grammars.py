"""The section on grammars and models: their sizes, and the spectra of spectral models."""

from __future__ import annotations

import numpy as np

from lscfg.tuning.report.plots import size_points, spectrum_bars
from lscfg.tuning.report.section import ReportData, ReportSection


class GrammarsSection(ReportSection):
    """Sizes of grammars and models."""

    TITLE, POSITION = "Grammars and models", 30
    TEMPLATE = """
{% set caption %}
Rules of the grammar, hidden states, and parameters of the model; bars are logarithmic.
{%- endset %}
{% call m.table(["system", "rules", "<i>m</i>" | safe, "parameters", "size"], caption, text=(0, 4)) %}
{% for row in results.systems %}
<tr><th scope="row">{{ row.system }}</th><td>{{ "{:,}".format(row.rules) }}</td><td>{{ row.states or "–" }}</td>
<td>{% if row.effective_rules %}{{ "{:,}".format(row.effective_rules) }}{% else %}–{% endif %}</td>
{{ m.bar(sizes[loop.index0]) }}</tr>
{% endfor %}
{% endcall %}
{% if by_size %}
<figure class="plot broad">{{ by_size }}<figcaption>Test BLEU by number of rules (logarithmic): mean (dot) and 95 %
 interval.</figcaption></figure>
{% endif %}
<details><summary>Words and derivations</summary>
{% call m.table(["count", "training corpus"], "Minimal derivation trees.") %}
{% for name, value in counts %}<tr><th scope="row">{{ name }}</th><td>{{ "{:,}".format(value) }}</td></tr>{% endfor %}
{% endcall %}
{% call m.table(["set", "sentences", "source words", "target words"], "Words; references are summed.") %}
{% for row in words %}<tr><th scope="row">{{ row["set"] }}</th>
{% for name in ("sentences", "source words", "target words") %}<td>{{ "{:,}".format(row[name]) }}</td>{% endfor %}</tr>
{% endfor %}
{% endcall %}
</details>
{% if spectra %}
<h3>Singular values</h3>
<p class="note">Singular values of the covariance of inside and outside features. If they fall fast, few states
 suffice.</p>
<div class="grid">
{% for name, values, plot in spectra %}
<figure class="plot">{{ plot }}<figcaption><b>{{ name }}</b>: {{ values | length }} values, condition
 {{ "%.1f" | format(values[0] / values[-1]) }}</figcaption></figure>
{% endfor %}
</div>
{% endif %}
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """Sizes as shares of the largest, counts of words and of the derivations, and spectra."""
        rows = report.results["systems"]
        widths = [float(np.log10(max(row["effective_rules"] or row["rules"], 1))) for row in rows]
        counts = report.results["derivations"].items()
        ruled = [row for row in rows if row["rules"]]
        return {
            "by_size": size_points(ruled) if len({row["rules"] for row in ruled}) > 2 else None,
            "sizes": [width / (max(widths) or 1) for width in widths],
            "words": report.results["words"],
            "counts": [(name, value) for name, value in counts if isinstance(value, int)],
            "spectra": [
                (row["system"], row["singular_values"], spectrum_bars(row["system"], row["singular_values"]))
                for row in rows
                if row["singular_values"]
            ],
        }
