"""The section on tuning: curves of dev BLEU on one axis, and the weights that came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from statistics import fmean

import numpy as np

from lscfg.kernel import CONTEXT_FEATURES, LATENT_FEATURES
from lscfg.tuning.report import plots
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.markup import data_row, data_table, decimal, signed, with_spread


def tuning_section(content: Content) -> str:
    """Curves and weights."""
    return _curves(content) + _weights(content)


def _curves(content: Content) -> str:
    base = next(row for row in content.results["systems"] if row["system"] == content.results["baseline"])
    rows = [row for row in content.results["systems"] if row["runs"][0]["dev_bleu_by_iteration"]]  # what was tuned
    curves = [run["dev_bleu_by_iteration"] for row in rows for run in row["runs"]]
    # a collapse may fall far below all else: the scale then begins with what the tunings began with
    low = min(min(curve[0], float(np.median(curve))) for curve in curves)
    lines = [
        plots.TuningCurve(row["system"], number, run["dev_bleu_by_iteration"], run["tuning_iteration"])
        for row in rows
        for number, run in enumerate(row["runs"], 1)
    ]
    names = [row["system"] for row in rows]
    legend = "".join(
        f'<li><label class="curve-{k}"><input type="checkbox" id="curve-{k}" checked autocomplete="off">'
        f'<span class="swatch"></span><b>{escape(row["system"])}</b> '
        f"{with_spread(row['dev_bleu'], row['dev_bleu_deviation'])}</label></li>"
        for k, row in enumerate(rows)
    )
    style = "".join(
        f".curve-{k} {{ --line: var(--c{k % 8}); }} "
        f"figure:has(#curve-{k}:not(:checked)) svg .curve-{k} {{ display: none; }} "
        for k in range(len(rows))
    )
    note = (
        "Dev BLEU by iteration of the tuning; large dots are the iterations whose weights were taken, the dashed line "
        f"is the final dev BLEU of {escape(base['system'])}. Values below the scale are drawn at its lower end."
    )
    plot = plots.tuning_curves(names, lines, low, base["dev_bleu"])
    return (
        f'<style>{style}</style><p class="note">{note}</p><figure class="plot broad">{plot}'
        f'<figcaption><ul class="legend">{legend}</ul></figcaption></figure>'
    )


def weight_shares(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each weight over the sum of all absolute ones, in [-1, 1]; means over the runs."""
    names = dict.fromkeys(name for run in runs for name in run)
    totals = [sum(map(abs, run.values())) or 1.0 for run in runs]
    return {name: fmean(run.get(name, 0.0) / total for run, total in zip(runs, totals, strict=True)) for name in names}


def _weights(content: Content) -> str:
    if not content.weights:
        return ""
    shares = {name: weight_shares(runs) for name, runs in content.weights.items()}
    known = {name: sum(name in found for found in shares.values()) for found in shares.values() for name in found}
    added = {*LATENT_FEATURES, *CONTEXT_FEATURES}
    names = sorted(known, key=lambda name: (name in added, -known[name], name))
    largest = max((abs(value) for found in shares.values() for value in found.values()), default=0) or 1.0
    lines = [
        data_row(
            name,
            [
                _weight(found.get(name), largest, [run[name] for run in content.weights[system] if name in run])
                for system, found in shares.items()
            ],
            "added" if name in added else "",
        )
        for name in names
    ]
    if added.intersection(known):
        sums = (sum(abs(value) for name, value in found.items() if name in added) for found in shares.values())
        lines.append(
            data_row("latent and context features", [f"{100 * value:.1f}" if value else "–" for value in sums])
        )
    several = content.results["runs"] > 1
    caption = (
        "Weights with their signs, in percent of the sum of absolute weights of their system, for the scale of weights "
        "is free" + (", means over the tunings" if several else "") + ". The last row adds absolute values. Features "
        "have scales of their own, so a long bar is no proof of influence."
    )
    return "<h3>Weights</h3>" + data_table(["feature", *map(escape, shares)], lines, caption, mark=' class="weights"')


def _weight(share: float | None, largest: float, values: Sequence[float]) -> str:
    if share is None:
        return "<td>–</td>"
    kind, side = ("plus", "left") if share >= 0 else ("minus", "right")
    title = "weight " + ", ".join(decimal(value, 4) for value in values)
    return (
        f'<td title="{title}"><span class="sign"><span class="{kind}" style="{side}:50%;'
        f'width:{50 * abs(share) / largest:.1f}%"></span></span><span class="share">{signed(100 * share)}</span></td>'
    )
