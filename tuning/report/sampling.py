"""The section on sampled rules: how chains went, sweep by sweep, and how far they have got."""

from __future__ import annotations

from html import escape
from statistics import fmean
from typing import Any

from lscfg.tuning.report import plots
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.markup import data_row, data_table, decimal

SHOWN = {"log_joint": "log joint probability", "types": "rule types", "tokens": "rule tokens"}


def sampling_section(content: Content) -> str:
    """The section; empty where no rules were sampled."""
    found = content.results["sampling"]
    if not found:
        return ""
    note = (
        "Chains of one picture draw from the same distribution, so a higher log joint probability is a better one. "
        "Sweep 0 is the beginning, drawn at the edge where it lies beyond all other sweeps. Types are the different "
        "rules of all trees, tokens all rules."
    )
    panels: list[list[dict[str, Any]]] = []
    for item in found:
        alike = [panel for panel in panels if panel[0]["distribution"] == item["distribution"]]
        if alike:
            alike[0].append(item)
        else:
            panels.append([item])
    return f'<p class="note">{note}</p>' + "".join(_panel(content, panel) for panel in panels) + _table(found)


def _panel(content: Content, items: list[dict[str, Any]]) -> str:
    """Pictures of the chains that draw from one distribution; a beginning alone is no curve."""
    items = [item for item in items if len(item["chains"][0]["log_joint"]) > 1]
    if not items:
        return ""
    order = [row["system"] for row in content.results["systems"]]
    figures, legend = "", ""
    for name, title in SHOWN.items():
        curves = [
            plots.SweepCurve(", ".join(item["systems"]), order.index(item["systems"][0]), number, chain[name])
            for item in items
            for number, chain in enumerate(item["chains"], 1)
        ]
        figures += f'<figure class="plot">{plots.sweep_curves(title, curves)}<figcaption>{title}</figcaption></figure>'
    for item in items:
        colour = order.index(item["systems"][0]) % 8
        legend += (
            f'<li style="--line: var(--c{colour})"><span class="key"><span class="swatch"></span>'
            f"{escape(', '.join(item['systems']))}</span></li>"
        )
    return f'<div class="grid sweeps">{figures}</div><ul class="legend">{legend}</ul>'


def _table(found: list[dict[str, Any]]) -> str:
    measures = list(dict.fromkeys(name for item in found for name in item["convergence"]))
    lines = []
    for item in found:
        chains = item["chains"]
        last = [f"{fmean(chain[name][-1] for chain in chains):,.0f}".replace("-", "−") for name in SHOWN]
        told = [decimal(value, 1 if "samples" in name else 3) for name, value in _told(item, measures)]
        sweeps, kept = len(chains[0]["log_joint"]) - 1, len(item["kept"])
        lines.append(
            data_row(", ".join(item["systems"]), [str(len(chains)), str(sweeps), str(kept * len(chains)), *last, *told])
        )
    caption = "Chains after their last sweep, means over chains; samples are the sweeps whose rules are joined."
    if measures:
        caption += (
            " R-hat compares the halves of all chains after burn-in (Gelman et al., 2013): 1 where they agree. Chains "
            "whose nodes take part level by level have none, for they draw from another distribution in each sweep."
        )
    names = [escape(name).replace(" of ", " of<br>") for name in measures]
    return data_table(["systems", "chains", "sweeps", "samples", *SHOWN.values(), *names], lines, caption)


def _told(item: dict[str, Any], measures: list[str]) -> list[tuple[str, float | None]]:
    return [(name, item["convergence"].get(name)) for name in measures]
