"""The report's plots as SVG in the page's own colours, and the heat maps of charts fit for standing in a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from lscfg.study.heatmap import draw


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


def curves(
    name: str, runs: Sequence[Sequence[float]], best: Sequence[int], reference: float, scale: tuple[float, float]
) -> str:
    """Dev BLEU by iteration of each run.

    Args:
        runs: BLEU of each iteration.
        best: the iteration (from 1) whose weights each run gave.
        reference: the baseline's dev BLEU, a dashed line.
        scale: lowest and highest BLEU of all plots.
    """
    width, height, left, right, top, bottom = 260, 150, 32, 8, 8, 130
    low, high = scale
    longest = max(2, *(len(run) for run in runs))

    def at(iteration: float, value: float) -> tuple[float, float]:
        x = left + (width - left - right) * (iteration - 1) / (longest - 1)
        return x, bottom - (bottom - top) * (value - low) / (high - low)

    parts = []
    for tick in ticks(low, high):
        level = _n(at(1, tick)[1])
        parts.append(f'<line class="axis" x1="{left}" x2="{width - right}" y1="{level}" y2="{level}"/>')
        parts.append(f'<text class="tick" x="{left - 5}" y="{level}" dy="3.5" text-anchor="end">{_label(tick)}</text>')
    for iteration in sorted({1, longest, *range(5, longest - 1, 5)}):
        across = _n(at(iteration, low)[0])
        parts.append(f'<text class="tick" x="{across}" y="{bottom + 14}" text-anchor="middle">{iteration}</text>')
    parts.append(_polyline([at(1, reference), at(longest, reference)], "line base"))
    for number, run in enumerate(runs):
        points = [at(k, value) for k, value in enumerate(run, 1)]
        parts.append(_polyline(points, "line" if number == 0 else "line more"))
    for run, chosen in zip(runs, best, strict=True):
        x, y = at(chosen, run[chosen - 1])
        parts.append(f'<circle class="dot" cx="{_n(x)}" cy="{_n(y)}" r="3.5"/>')
    reached = ", ".join(f"{run[chosen - 1]:.2f} in iteration {chosen}" for run, chosen in zip(runs, best, strict=True))
    return _svg(width, height, f"Dev BLEU of {name} by iteration: {reached}", parts)


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


def heat_map(words: Sequence[str], spans: Sequence[Sequence[float]], title: str, prefix: str) -> str:
    """The chart of a sentence as a part of a page: names of its own begin with ``prefix``, its style is the page's."""
    svg = draw(words, {(int(i), int(j)): value for i, j, value in spans})
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.S)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    head, rest = svg.split(">", 1)
    head = re.sub(r' (?:width|height|version|xmlns(?::xlink)?)="[^"]*"', "", head)
    head = f'{head} role="img" aria-label="{escape(title)}"'
    return f"{head}><title>{escape(title)}</title>{rest}".strip()
