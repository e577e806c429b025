"""The section on sampled rules: each chain by sweep, and its convergence."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from lscfg.study.markup import Markup
from lscfg.tuning.report.plots import SweepCurve, sweep_curves
from lscfg.tuning.report.section import ReportData, ReportSection
from lscfg.tuning.report.text import decimal

SHOWN = {"log_joint": "log joint probability", "types": "rule types", "tokens": "rule tokens"}


class SamplingSection(ReportSection):
    """Chains of sampled rules; left out where no rules were sampled."""

    TITLE, POSITION = "Sampled rules", 40
    TEMPLATE = """
<p class="note">The chains of one plot sample from the same distribution, so a higher log joint probability is better.
 Sweep 0
 is the initial state, drawn at the edge if it lies outside the range of all other sweeps. Types are the distinct rules
 of all trees, tokens all rules.</p>
{% for panel in panels %}
<div class="grid sweeps">
{% for title, plot in panel.plots %}
<figure class="plot">{{ plot }}<figcaption>{{ title }}</figcaption></figure>
{% endfor %}
</div>
<ul class="legend">
{% for name, colour in panel.legend %}
<li style="--line: var(--c{{ colour }})"><span class="key"><span class="swatch"></span>{{ name }}</span></li>
{% endfor %}
</ul>
{% endfor %}
{% set caption %}
Chains after their last sweep, as means over chains. Samples are the sweeps whose rules are joined.
{%- if measures %}
 R-hat compares the halves of all chains after burn-in (Gelman et al., 2013) and is 1 if they agree. Chains that add
 nodes level by level have no R-hat, since each sweep samples from another distribution.
{%- endif %}
{% endset %}
{% set broken = measures | map("replace", " of ", " of<br>" | safe) | list %}
{% call m.table(["systems", "chains", "sweeps", "samples"] + shown + broken, caption) %}
{% for name, cells in rows %}
<tr><th scope="row">{{ name }}</th>{% for cell in cells %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}
{% endcall %}
"""

    def values(self, report: ReportData) -> dict[str, object] | None:
        """A panel of plots for each distribution, and rows of the table."""
        found = report.results["sampling"]
        if not found:
            return None
        measures = list(dict.fromkeys(name for item in found for name in item["convergence"]))
        order = [row["system"] for row in report.results["systems"]]
        return {
            "panels": [_panel(order, items) for items in _panels(found)],
            "measures": measures,
            "shown": list(SHOWN.values()),
            "rows": [(", ".join(item["systems"]), _cells(item, measures)) for item in found],
        }


def _panels(found: list[dict[str, Any]]) -> list[list[dict[str, object]]]:
    """Chains by distribution, without those that have an initial state only, which is not a curve."""
    panels: list[list[dict[str, object]]] = []
    for item in found:
        if len(item["chains"][0]["log_joint"]) > 1:
            same = [panel for panel in panels if panel[0]["distribution"] == item["distribution"]]
            if same:
                same[0].append(item)
            else:
                panels.append([item])
    return panels


def _panel(order: list[str], items: list[dict[str, Any]]) -> dict[str, object]:
    plots: list[tuple[str, Markup]] = []
    for name, title in SHOWN.items():
        curves = [
            SweepCurve(", ".join(item["systems"]), order.index(item["systems"][0]), number, chain[name])
            for item in items
            for number, chain in enumerate(item["chains"], 1)
        ]
        plots.append((title, sweep_curves(title, curves)))
    legend = [(", ".join(item["systems"]), order.index(item["systems"][0]) % 8) for item in items]
    return {"plots": plots, "legend": legend}


def _cells(item: dict[str, Any], measures: list[str]) -> list[str]:
    chains = item["chains"]
    last = [f"{fmean(chain[name][-1] for chain in chains):,.0f}".replace("-", "−") for name in SHOWN]
    sweeps, samples = len(chains[0]["log_joint"]) - 1, len(item["kept"]) * len(chains)
    measured = [decimal(item["convergence"].get(name), 1 if "samples" in name else 3) for name in measures]
    return [str(len(chains)), str(sweeps), str(samples), *last, *measured]
