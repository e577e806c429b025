"""Plots of the report as SVG in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lscfg.study.markup import Markup, element
from lscfg.study.svg import LETTER, picture, polyline, tick_label, ticks


def _text(content: str, x: float, y: float, anchor: str, **more: object) -> Markup:
    return element("text", content, x=x, y=y, **more, text_anchor=anchor)


def _tick(content: str, x: float, y: float, anchor: str = "middle", **more: object) -> Markup:
    return element("text", content, class_="tick", x=x, y=y, **more, text_anchor=anchor)


def intervals(
    rows: Sequence[Mapping[str, Any]], baseline: str, metric: str = "BLEU", column: str = "test_bleu"
) -> Markup:
    """Test scores of all systems: mean, 95 % interval, and a dot for each run.

    Args:
        metric: title of the metric.
        column: its column in the rows.
    """
    values: list[tuple[str, float, float, float, list[float]]] = []
    for row in rows:
        mean, half, middle = (row[key] for key in (column, f"{column}_ci", f"{column}_mean"))
        runs = [run[column] for run in row["runs"]]
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
    return picture(width, bottom + 18, f"Test {metric} with 95 % intervals: {summary}", parts)


def size_points(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Test BLEU of systems by the number of their rules, on a logarithmic axis: a dot with its 95 % interval.

    Args:
        rows: results of systems that have rules.
    """
    width, height, left, right, top, bottom = 640, 300, 44, 16, 10, 262
    values: list[tuple[str, int, float, float]] = [
        (row["system"], row["rules"], row["test_bleu_mean"], row["test_bleu_ci"]) for row in rows
    ]
    low, high = min(bleu - half for *_, bleu, half in values), max(bleu + half for *_, bleu, half in values)
    low, high = (low - 0.5, high + 0.5) if high - low < 1 else (low, high)
    first, last = (math.log10(f(rules for _, rules, *_ in values)) for f in (min, max))
    first, last = first - 0.05 * (last - first) - 0.02, last + 0.05 * (last - first) + 0.02

    def x(rules: float) -> float:
        return left + (width - left - right) * (math.log10(rules) - first) / (last - first)

    def y(bleu: float) -> float:
        return bottom - (bottom - top) * (bleu - low) / (high - low)

    parts = []
    for tick in ticks(low, high):
        parts += _level(left, width - right, y(tick), tick_label(tick))
    marks = [digit * 10**power for power in range(math.floor(first), math.ceil(last) + 1) for digit in (1, 2, 5)]
    parts += [_tick(f"{mark:,}", x(mark), bottom + 16) for mark in marks if first <= math.log10(mark) <= last]
    parts.append(_tick("rules", (left + width) // 2, height - 2))
    taken: list[tuple[float, float, float, float]] = [(x(rules) - 5, y(b) - 5, 10, 10) for _, rules, b, _ in values]
    for name, rules, bleu, half in values:
        at = x(rules), y(bleu)
        title = element("title", f"{name}: {rules:,} rules, {bleu:.2f} ± {half:.2f}")
        parts.append(element("line", class_="axis", x1=at[0], x2=at[0], y1=y(bleu - half), y2=y(bleu + half)))
        parts.append(element("circle", title, class_="dot", cx=at[0], cy=at[1], r=4))
        parts.append(_text(name, *_free_place(name, at, (left, width - right), taken)))
    summary = ", ".join(f"{name} {rules:,} rules {bleu:.2f}" for name, rules, bleu, _ in values)
    return picture(width, height, f"Test BLEU by number of rules: {summary}", parts)


def _free_place(
    name: str, at: tuple[float, float], sides: tuple[float, float], taken: list[tuple[float, float, float, float]]
) -> tuple[float, float, str]:
    """Anchor of a label next to a dot that overlaps no other label; the last candidate if all do.

    Args:
        sides: ends of the axis; taken: boxes (x, y, width, height) of dots and labels, to which the label's is added.
    """
    wide, tall = LETTER * len(name), 13.0
    for step in range(8):
        for anchor, x in (("start", at[0] + 8), ("end", at[0] - 8)):
            y = at[1] + 4 + (step + 1) // 2 * (tall if step % 2 else -tall)
            box = (x if anchor == "start" else x - wide, y - 11, wide, tall)
            inside = box[0] >= sides[0] and box[0] + wide <= sides[1]
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                return x, y, anchor
    return at[0] + 8, at[1] + 4, "start"


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return all(one[k] < other[k] + other[k + 2] and other[k] < one[k] + one[k + 2] for k in (0, 1))


@dataclass(frozen=True)
class TuningCurve:
    """Dev scores by iteration of one tuning of a system."""

    system: str
    run: int
    """Number among the tunings of the system, from 1."""
    values: Sequence[float]
    """Score of each iteration."""
    chosen: int
    """Iteration, from 1, whose weights were taken."""


def tuning_curves(
    systems: Sequence[str], curves: Sequence[TuningCurve], low: float, reference: float | None, metric: str = "BLEU"
) -> Markup:
    """All tunings on one axis, those of the k-th system in class ``curve-k``; points show their values on hover.

    Args:
        low: lower end of the scale, where smaller values are drawn.
        reference: dev score of the baseline, a dashed line; None: unknown.
        metric: title of the metric.
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
    if reference is not None:
        parts.append(polyline([at(1, reference), at(longest, reference)], "line base"))
    for k, system in enumerate(systems):
        own = [curve for curve in curves if curve.system == system]
        shapes = [shape for curve in own for shape in _curve(curve, len(own), at)]
        parts.append(element("g", *shapes, class_=f"curve-{k}"))
    reached = ", ".join(
        f"{curve.system} {curve.values[curve.chosen - 1]:.2f} in iteration {curve.chosen}" for curve in curves
    )
    return picture(width, height, f"Dev {metric} by iteration: {reached}", parts)


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
