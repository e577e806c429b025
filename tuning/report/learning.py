"""The section on tuning: curves of dev scores on one axis, and the tuned weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from lscfg.kernel import CONTEXT_FEATURES, LATENT_FEATURES
from lscfg.tuning.metrics.tuned import deciding_metric
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.plots import TuningCurve, tuning_curves
from lscfg.tuning.report.section import ReportData, ReportSection
from lscfg.tuning.report.text import decimal

ADDED = frozenset({*LATENT_FEATURES, *CONTEXT_FEATURES})
"""Features that lscfg adds to those of a plain system."""


class TuningSection(ReportSection):
    """Curves and weights."""

    TITLE, POSITION = "Tuning", 20
    TEMPLATE = """
<style>
{% for row in rows %}
{% set k = loop.index0 %}
.curve-{{ k }} { --line: var(--c{{ k % 8 }}); }
figure:has(#curve-{{ k }}:not(:checked)) svg .curve-{{ k }} { display: none; }
{% endfor %}
</style>
<p class="note">Dev {{ metric }} by tuning iteration. Large dots mark the iterations whose weights were taken
{%- if reference is not none %}; the dashed line is the final dev {{ metric }} of {{ results.baseline }}{% endif
 %}. Values below the scale are drawn at its lower end.</p>
<figure class="plot broad">{{ plot }}
<figcaption><ul class="legend">
{% for row in rows %}
{% set k = loop.index0 %}
<li><label class="curve-{{ k }}"><input type="checkbox" id="curve-{{ k }}" checked autocomplete="off">
<span class="swatch"></span><b>{{ row.system }}</b>
{{ m.spread(row["dev_" ~ name], row["dev_" ~ name ~ "_deviation"]) }}</label></li>
{% endfor %}
</ul></figcaption></figure>
{% if weights %}
<h3>Weights</h3>
{% set caption %}
Signed weights in percent of the sum of the system's absolute weights, since the scale of weights is arbitrary
{%- if results.runs > 1 %}; means over the tunings{% endif
 %}. The last row sums absolute values. Features differ in scale, so a long bar does not prove influence.
{%- endset %}
{% call m.table(["feature"] + weights.systems, caption, kind="weights") %}
{% for name, added, cells in weights.rows %}
<tr{% if added %} class=added{% endif %}><th scope="row">{{ name }}</th>
{% for cell in cells %}
{% if cell is none %}<td>–</td>{% else %}
{% set kind, side = ("plus", "left") if cell.share >= 0 else ("minus", "right") %}
{% set width = "%.1f" | format(50 * cell.share | abs / weights.largest) %}
<td title="weight {{ cell.title }}"><span class="sign">
{#- #}<span class="{{ kind }}" style="{{ side }}:50%;width:{{ width }}%"></span></span>
{#- #}<span class="share">{{ (100 * cell.share) | signed }}</span></td>
{% endif %}
{% endfor %}
</tr>
{% endfor %}
{% if weights.sums %}
<tr><th scope="row">latent and context features</th>
{% for value in weights.sums %}
<td>{% if value %}{{ "%.1f" | format(100 * value) }}{% else %}–{% endif %}</td>
{% endfor %}
</tr>
{% endif %}
{% endcall %}
{% endif %}
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """The tuned systems, the plot of their curves, and the table of weights."""
        systems = report.results["systems"]
        rows = [row for row in systems if row["runs"][0]["dev_bleu_by_iteration"]]  # an agreeing system is not tuned
        metric, name = deciding_metric(report.results)
        base = next(row for row in systems if row["system"] == report.results["baseline"])
        curves = [
            TuningCurve(row["system"], number, run[f"dev_{name}_by_iteration"], run["tuning_iteration"])
            for row in rows
            for number, run in enumerate(row["runs"], 1)
        ]
        # A collapse may fall far below all else, so the scale begins where the tunings began.
        low = min(min(curve.values[0], float(np.median(curve.values))) for curve in curves)
        reference = base[f"dev_{name}"]  # None for an agreeing system, unless BLEU is the metric
        plot = tuning_curves([row["system"] for row in rows], curves, low, reference, metric.TITLE)
        values = {"rows": rows, "plot": plot, "weights": _weights(report.content)}
        return {**values, "metric": metric.TITLE, "name": name, "reference": reference}


def weight_shares(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each weight over the sum of all absolute ones, in [-1, 1]; means over the runs."""
    names = dict.fromkeys(name for run in runs for name in run)
    totals = [sum(map(abs, run.values())) or 1.0 for run in runs]
    return {name: fmean(run.get(name, 0.0) / total for run, total in zip(runs, totals, strict=True)) for name in names}


def _weights(content: Content) -> dict[str, object] | None:
    """The table of weights: rows of cells, and for each system the share of the features that lscfg adds."""
    if not content.weights:
        return None
    shares = {name: weight_shares(runs) for name, runs in content.weights.items()}
    known = {name: sum(name in found for found in shares.values()) for found in shares.values() for name in found}
    names = sorted(known, key=lambda name: (name in ADDED, -known[name], name))

    def cell(system: str, name: str) -> dict[str, object] | None:
        if name not in shares[system]:
            return None
        values = [run[name] for run in content.weights[system] if name in run]
        return {"share": shares[system][name], "title": ", ".join(decimal(value, 4) for value in values)}

    sums = [sum(abs(value) for name, value in found.items() if name in ADDED) for found in shares.values()]
    return {
        "systems": list(shares),
        "rows": [(name, name in ADDED, [cell(system, name) for system in shares]) for name in names],
        "sums": sums if ADDED.intersection(known) else [],
        "largest": max((abs(value) for found in shares.values() for value in found.values()), default=0) or 1.0,
    }
