"""The report's plots as SVG in the page's own colours, and the heat maps of charts fit for standing in a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers in [low, high], about ``count`` of them."""
    if not high > low:
        return [low]
    step = 10 ** np.floor(np.log10((high - low) / count))
    step *= min((1, 2, 5, 10), key=lambda factor: abs((high - low) / (factor * step) - count))
    first = np.ceil(low / step - 1e-9)
    return [float(k * step) + 0.0 for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def _n(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")


def _label(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) < 10 else f"{value:g}"


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _polyline(points: Sequence[tuple[float, float]], kind: str) -> str:
    path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    return f'<polyline class="{kind}" points="{path}"/>'


def intervals(rows: Sequence[Mapping[str, Any]], baseline: str) -> str:
    """Test BLEU of all systems: mean, 95 % interval, and a dot for each run."""
    values: list[tuple[str, float, float, float, list[float]]] = []
    for row in rows:
        mean, half, middle = (row[key] for key in ("test_bleu", "test_bleu_ci", "test_bleu_mean"))
        runs = [run["test_bleu"] for run in row["runs"]]
        values.append((row["system"], mean, middle - half, middle + half, runs))
    low, high = min(v[2] for v in values), max(v[3] for v in values)
    low, high = (low - 0.5, high + 0.5) if high - low < 1 else (low, high)
    width, line, top = 360, 34, 4
    bottom = top + line * len(values)

    def x(value: float) -> float:
        return 8 + (width - 16) * (value - low) / (high - low)

    parts = []
    for tick in ticks(low, high):
        parts.append(f'<line class="axis" x1="{_n(x(tick))}" x2="{_n(x(tick))}" y1="{top}" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick" x="{_n(x(tick))}" y="{bottom + 13}" text-anchor="middle">{_label(tick)}</text>'
        )
    for k, (name, mean, left, right, runs) in enumerate(values):
        y = top + line * k
        if name == baseline:
            parts.append(f'<line class="line base" x1="{_n(x(mean))}" x2="{_n(x(mean))}" y1="{top}" y2="{bottom}"/>')
        parts.append(
            f'<rect class="ci" x="{_n(x(left))}" y="{y + 17}" width="{_n(x(right) - x(left))}" height="11" rx="2"/>'
        )
        if len(runs) > 1:
            parts += [f'<circle class="dot run" cx="{_n(x(run))}" cy="{_n(y + 22.5)}" r="2.2"/>' for run in runs]
        parts.append(f'<circle class="dot" cx="{_n(x(mean))}" cy="{_n(y + 22.5)}" r="4"/>')
        anchor, at = ("start", x(left)) if x(left) < width * 0.6 else ("end", x(right))
        parts.append(f'<text x="{_n(at)}" y="{y + 13}" text-anchor="{anchor}">{escape(name)} {mean:.2f}</text>')
    summary = ", ".join(f"{name} {mean:.2f} ({left:.2f} to {right:.2f})" for name, mean, left, right, _ in values)
    return _svg(width, bottom + 18, f"Test BLEU with 95 % intervals: {summary}", parts)


@dataclass(frozen=True)
class TuningCurve:
    """Dev BLEU by iteration of one tuning of a system.

    Attributes:
        run: its number among the tunings of the system, from 1.
        values: BLEU of each iteration.
        chosen: the iteration, from 1, whose weights were taken.
    """

    system: str
    run: int
    values: Sequence[float]
    chosen: int


def tuning_curves(systems: Sequence[str], curves: Sequence[TuningCurve], low: float, reference: float) -> str:
    """All tunings on one axis, of the k-th system in class ``curve-k``; points tell their values.

    Args:
        low: what lies below is drawn there.
        reference: the baseline's dev BLEU, a dashed line.
    """
    width, height, left, right, top, bottom = 640, 300, 44, 10, 8, 262
    high = max(max(curve.values) for curve in curves)
    low = min(low, high)
    pad = 0.05 * (high - low) or 0.5
    low, high = low - pad, high + pad
    longest = max(2, *(len(curve.values) for curve in curves))

    def at(iteration: float, value: float) -> tuple[float, float]:
        x = left + (width - left - right) * (iteration - 1) / (longest - 1)
        return x, bottom - (bottom - top) * (max(value, low + pad) - low) / (high - low)

    parts = []
    for tick in ticks(low, high):
        level = _n(bottom - (bottom - top) * (tick - low) / (high - low))
        parts.append(f'<line class="axis" x1="{left}" x2="{width - right}" y1="{level}" y2="{level}"/>')
        parts.append(f'<text class="tick" x="{left - 5}" y="{level}" dy="3.5" text-anchor="end">{_label(tick)}</text>')
    for iteration in sorted({1, longest, *range(5, longest - 1, 5)}):
        across = _n(at(iteration, low)[0])
        parts.append(f'<text class="tick" x="{across}" y="{bottom + 16}" text-anchor="middle">{iteration}</text>')
    parts.append(f'<text class="tick" x="{(left + width) // 2}" y="{height - 2}" text-anchor="middle">iteration</text>')
    parts.append(_polyline([at(1, reference), at(longest, reference)], "line base"))
    for k, system in enumerate(systems):
        own = [curve for curve in curves if curve.system == system]
        parts.append(f'<g class="curve-{k}">{"".join(_curve(curve, len(own), at) for curve in own)}</g>')
    reached = ", ".join(
        f"{curve.system} {curve.values[curve.chosen - 1]:.2f} in iteration {curve.chosen}" for curve in curves
    )
    return _svg(width, height, f"Dev BLEU by iteration: {reached}", parts)


def _curve(curve: TuningCurve, runs: int, at: Callable[[float, float], tuple[float, float]]) -> str:
    points = [at(iteration, value) for iteration, value in enumerate(curve.values, 1)]
    parts = [_polyline(points, "line" if curve.run == 1 else "line more")]
    of = f" run {curve.run}" if runs > 1 else ""
    for iteration, ((x, y), value) in enumerate(zip(points, curve.values, strict=True), 1):
        title = f"{escape(curve.system)}{of}, iteration {iteration}: {value:.2f}"
        radius = 4.5 if iteration == curve.chosen else 2
        parts.append(f'<circle class="dot" cx="{_n(x)}" cy="{_n(y)}" r="{radius}"><title>{title}</title></circle>')
    return "".join(parts)


def spectrum_bars(name: str, values: Sequence[float]) -> str:
    """Singular values, as bars from 0 to the largest."""
    width, height, left, right, top, bottom = 260, 120, 38, 6, 8, 100
    high = max(values)
    wide = (width - left - right) / len(values)
    parts = []
    for tick in ticks(0, high, 3):
        y = _n(bottom - (bottom - top) * tick / high)
        parts.append(f'<line class="axis" x1="{left}" x2="{width - right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="{left - 5}" y="{y}" dy="3.5" text-anchor="end">{_label(tick)}</text>')
    for k, value in enumerate(values):
        tall = (bottom - top) * value / high
        parts.append(
            f'<rect class="fill" x="{_n(left + wide * (k + 0.12))}" y="{_n(bottom - tall)}" '
            f'width="{_n(wide * 0.76)}" height="{_n(tall)}"><title>{k + 1}: {value:.4g}</title></rect>'
        )
    for k in sorted({1, len(values)}):
        x = _n(left + wide * (k - 0.5))
        parts.append(f'<text class="tick" x="{x}" y="{bottom + 14}" text-anchor="middle">{k}</text>')
    listed = " ".join(f"{value:.4g}" for value in values)
    return _svg(width, height, f"Singular values of {name}: {listed}", parts)


@dataclass(frozen=True)
class SweepCurve:
    """A figure of one chain by sweep.

    Attributes:
        name: the systems that have the chain's rules; colour: the number of the first of them.
        chain: its number among theirs, from 1.
        values: of each sweep, from 0 on; two or more.
    """

    name: str
    colour: int
    chain: int
    values: Sequence[float]


def sweep_curves(title: str, curves: Sequence[SweepCurve]) -> str:
    """All chains on one axis; a beginning that lies beyond all sweeps is drawn at the edge."""
    width, height, left, right, top, bottom = 340, 220, 74, 8, 8, 186
    later = [value for curve in curves for value in curve.values[1:]]
    low, high = min(later), max(later)
    pad = 0.05 * (high - low) or 0.5
    low, high = low - pad, high + pad
    longest = max(len(curve.values) - 1 for curve in curves)

    def at(sweep: int, value: float) -> tuple[float, float]:
        x = left + (width - left - right) * sweep / longest
        return x, bottom - (bottom - top) * (min(max(value, low), high) - low) / (high - low)

    parts = []
    for tick in ticks(low, high):
        level, label = _n(at(0, tick)[1]), f"{tick:,.0f}".replace("-", "−")
        parts.append(f'<line class="axis" x1="{left}" x2="{width - right}" y1="{level}" y2="{level}"/>')
        parts.append(f'<text class="tick" x="{left - 5}" y="{level}" dy="3.5" text-anchor="end">{label}</text>')
    for sweep in ticks(0, longest):
        across = _n(at(int(sweep), low)[0])
        parts.append(f'<text class="tick" x="{across}" y="{bottom + 15}" text-anchor="middle">{sweep:g}</text>')
    middle = (left + width - right) // 2
    parts.append(f'<text class="tick" x="{middle}" y="{height - 3}" text-anchor="middle">sweep</text>')
    for curve in curves:
        line = _polyline([at(*point) for point in enumerate(curve.values)], "line" if curve.chain == 1 else "line more")
        told = f"{curve.name}, chain {curve.chain}: {curve.values[-1]:,.0f}"
        parts.append(f'<g style="--line: var(--c{curve.colour % 8})"><title>{escape(told)}</title>{line}</g>')
    ends = "; ".join(f"{curve.name} chain {curve.chain} ends at {curve.values[-1]:,.0f}" for curve in curves)
    return _svg(width, height, f"{title} by sweep: {ends}", parts)
