"""Plots of the report as SVG in the colours of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lscfg.study.markup import Markup, element
from lscfg.study.svg import picture, polyline, tick_label, ticks


def _text(content: str, x: float, y: float, anchor: str, **more: object) -> Markup:
    return element("text", content, x=x, y=y, **more, text_anchor=anchor)


def _tick(content: str, x: float, y: float, anchor: str = "middle", **more: object) -> Markup:
    return element("text", content, class_="tick", x=x, y=y, **more, text_anchor=anchor)


def intervals(rows: Sequence[Mapping[str, Any]], baseline: str) -> Markup:
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

    def upright(value: float, kind: str) -> Markup:
        return element("line", class_=kind, x1=x(value), x2=x(value), y1=top, y2=bottom)

    parts = []
    for tick in ticks(low, high):
        parts += [upright(tick, "axis"), _tick(tick_label(tick), x(tick), bottom + 13)]
    for k, (name, mean, left, right, runs) in enumerate(values):
        y = top + line * k
        if name == baseline:
            parts.append(upright(mean, "line base"))
        parts.append(element("rect", class_="ci", x=x(left), y=y + 17, width=x(right) - x(left), height=11, rx=2))
        if len(runs) > 1:
            parts += [element("circle", class_="dot run", cx=x(run), cy=y + 22.5, r=2.2) for run in runs]
        parts.append(element("circle", class_="dot", cx=x(mean), cy=y + 22.5, r=4))
        anchor, at = ("start", x(left)) if x(left) < width * 0.6 else ("end", x(right))
        parts.append(_text(f"{name} {mean:.2f}", at, y + 13, anchor))
    summary = ", ".join(f"{name} {mean:.2f} ({left:.2f} to {right:.2f})" for name, mean, left, right, _ in values)
    return picture(width, bottom + 18, f"Test BLEU with 95 % intervals: {summary}", parts)


@dataclass(frozen=True)
class TuningCurve:
    """Dev BLEU by iteration of one tuning of a system."""

    system: str
    run: int
    """Number among the tunings of the system, from 1."""
    values: Sequence[float]
    """BLEU of each iteration."""
    chosen: int
    """Iteration, from 1, whose weights were taken."""


def tuning_curves(systems: Sequence[str], curves: Sequence[TuningCurve], low: float, reference: float) -> Markup:
    """All tunings on one axis, those of the k-th system in class ``curve-k``; points show their values on hover.

    Args:
        low: lower end of the scale, where smaller values are drawn.
        reference: dev BLEU of the baseline, a dashed line.
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
        level = bottom - (bottom - top) * (tick - low) / (high - low)
        parts += _level(left, width - right, level, tick_label(tick))
    for iteration in sorted({1, longest, *range(5, longest - 1, 5)}):
        parts.append(_tick(str(iteration), at(iteration, low)[0], bottom + 16))
    parts.append(_tick("iteration", (left + width) // 2, height - 2))
    parts.append(polyline([at(1, reference), at(longest, reference)], "line base"))
    for k, system in enumerate(systems):
        own = [curve for curve in curves if curve.system == system]
        shapes = [shape for curve in own for shape in _curve(curve, len(own), at)]
        parts.append(element("g", *shapes, class_=f"curve-{k}"))
    reached = ", ".join(
        f"{curve.system} {curve.values[curve.chosen - 1]:.2f} in iteration {curve.chosen}" for curve in curves
    )
    return picture(width, height, f"Dev BLEU by iteration: {reached}", parts)


def _level(left: float, right: float, y: float, label: str) -> list[Markup]:
    """A horizontal line of the scale with its label."""
    line = element("line", class_="axis", x1=left, x2=right, y1=y, y2=y)
    return [line, _tick(label, left - 5, y, "end", dy=3.5)]


def _curve(curve: TuningCurve, runs: int, at: Callable[[float, float], tuple[float, float]]) -> list[Markup]:
    points = [at(iteration, value) for iteration, value in enumerate(curve.values, 1)]
    parts = [polyline(points, "line" if curve.run == 1 else "line more")]
    of = f" run {curve.run}" if runs > 1 else ""
    for iteration, ((x, y), value) in enumerate(zip(points, curve.values, strict=True), 1):
        title = element("title", f"{curve.system}{of}, iteration {iteration}: {value:.2f}")
        radius = 4.5 if iteration == curve.chosen else 2
        parts.append(element("circle", title, class_="dot", cx=x, cy=y, r=radius))
    return parts


def spectrum_bars(name: str, values: Sequence[float]) -> Markup:
    """Singular values, as bars from 0 to the largest."""
    width, height, left, right, top, bottom = 260, 120, 38, 6, 8, 100
    high = max(values)
    wide = (width - left - right) / len(values)
    parts = []
    for tick in ticks(0, high, 3):
        parts += _level(left, width - right, bottom - (bottom - top) * tick / high, tick_label(tick))
    for k, value in enumerate(values):
        tall = (bottom - top) * value / high
        title = element("title", f"{k + 1}: {value:.4g}")
        x, y = left + wide * (k + 0.12), bottom - tall
        parts.append(element("rect", title, class_="fill", x=x, y=y, width=wide * 0.76, height=tall))
    for k in sorted({1, len(values)}):
        parts.append(_tick(str(k), left + wide * (k - 0.5), bottom + 14))
    listed = " ".join(f"{value:.4g}" for value in values)
    return picture(width, height, f"Singular values of {name}: {listed}", parts)


@dataclass(frozen=True)
class SweepCurve:
    """A statistic of one chain by sweep."""

    name: str
    """Systems that use the rules of the chain."""
    colour: int
    """Number of the first of these systems."""
    chain: int
    """Number among their chains, from 1."""
    values: Sequence[float]
    """One for each sweep from 0 on; at least two."""


def sweep_curves(title: str, curves: Sequence[SweepCurve]) -> Markup:
    """All chains on one axis; an initial value outside the range of all sweeps is drawn at the edge."""
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
        parts += _level(left, width - right, at(0, tick)[1], f"{tick:,.0f}".replace("-", "−"))
    for sweep in ticks(0, longest):
        parts.append(_tick(f"{sweep:g}", at(int(sweep), low)[0], bottom + 15))
    parts.append(_tick("sweep", (left + width - right) // 2, height - 3))
    for curve in curves:
        line = polyline([at(*point) for point in enumerate(curve.values)], "line" if curve.chain == 1 else "line more")
        about = element("title", f"{curve.name}, chain {curve.chain}: {curve.values[-1]:,.0f}")
        parts.append(element("g", about, line, style=f"--line: var(--c{curve.colour % 8})"))
    ends = "; ".join(f"{curve.name} chain {curve.chain} ends at {curve.values[-1]:,.0f}" for curve in curves)
    return picture(width, height, f"{title} by sweep: {ends}", parts)
