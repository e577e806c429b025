"""Heat maps of the span marginals of a sentence as SVG files (paper, Figure 3), several models side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lscfg.errors import InputError
from lscfg.io.folders import make_folder
from lscfg.io.write import atomic_write
from lscfg.study.markup import Markup, element
from lscfg.study.page import page
from lscfg.study.svg import Marginals, heat_map_parts, standing_alone

Chart = np.ndarray | Marginals
"""Span marginals of n words: float [n, n + 1], NaN where the forest has no node, or by span [i, j)."""

STYLE = (
    "text { font: 11px sans-serif; fill: #1c2128; } .name { font-size: 13px; font-weight: 600; } "
    ".beyond { fill: #ffffff; font-size: 8px; } rect { stroke: #d5dbe1; } "
    ".plus { fill: #0b62a8; } .minus { fill: #b3421d; } .paper { fill: #ffffff; stroke: none; }"
)
"""The picture stands alone, so the style sheet is part of the file."""

GAP, HEAD, LINE = 24, 14, 22
"""Units between charts and around the picture, above the first line, and of a line of text."""

RAMP = 11
"""Squares of the scale from -1 to 1."""


def draw_charts(
    words: Sequence[str], charts: Mapping[str, Chart], title: str = "", path: str | os.PathLike[str] | None = None
) -> str:
    """Heat maps of several models' charts of one sentence, side by side in one scale. Equal input gives equal bytes.

    Args:
        words: the n words of the sentence, at least one.
        charts: the chart of each model, by its title.
        title: line above all charts.
        path: file to write, ending in .svg; None: no file.

    Returns:
        The picture as SVG.

    Raises:
        InputError: the file cannot be written, or its name does not end in .svg.
        ValueError: no words, no chart, a chart of a wrong shape, or a span outside the sentence.
    """
    if not words or not charts:
        raise ValueError("a heat map needs at least one word and one chart")
    tables = {name: _by_span(chart, len(words)) for name, chart in charts.items()}
    if path is not None and Path(path).suffix.lower() != ".svg":
        raise InputError("the name of a picture must end in .svg", path)
    svg = _drawing(words, tables, title)
    if path is not None:
        with atomic_write(path) as file:
            file.write(svg)
    return svg


INDEX = "index.html"

_INDEX_STYLE = """
ol { list-style: none; padding: 0; display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(20rem,
  100%), 1fr)); } li { overflow-wrap: anywhere; } img { display: block; max-width: 100%; max-height: 24rem; }
a { color: inherit; } p { max-width: 62rem; }
"""

_INDEX_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:"


class HeatMapFolder:
    """A heat map of each sentence of a text, and a page with all of them.

    Raises:
        InputError: the folder cannot be made.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = make_folder(folder)
        self._items: list[Markup] = []

    def add(self, number: int, words: Sequence[str], marginals: Chart) -> None:
        """Writes ``NUMBER.svg``, whose cells show values on hover; lattices and sentences without spans have none.

        Args:
            number: number of the sentence, from 0.

        Raises:
            InputError: the file cannot be written.
        """
        sentence = " ".join(words)
        label = f"{number + 1} {sentence}".strip()
        if not words or not len(marginals):
            reason = "lattice; no picture" if len(marginals) else "no parse"
            self._items.append(element("li", f"{label} ({reason})"))
            return
        name = f"{number + 1}.svg"
        draw_charts(words, {"": marginals}, f"sentence {number + 1}", self.folder / name)
        picture = element("img", src=name, alt="", loading="lazy")
        self._items.append(element("li", element("a", label, picture, href=name)))

    def finish(self, model: str) -> Path:
        """Writes the page, and returns its path."""
        note = (
            "Marginal probability that a span of the sentence is a phrase: first word down, last word across. A picture"
            " opens at full size and shows the value of the cell under the pointer."
        )
        text = page(
            f"Span marginals under {model}",
            element("p", note),
            element("ol", *self._items),
            style=_INDEX_STYLE,
            policy=_INDEX_POLICY,
        )
        path = self.folder / INDEX
        with atomic_write(path) as file:
            file.write(text)
        return path


def _by_span(chart: Chart, n: int) -> Marginals:
    if isinstance(chart, Mapping):
        for i, j in chart:
            if not 0 <= i < j <= n:
                raise ValueError(f"span [{i}, {j}) of {n} words")
        return chart
    if chart.shape != (n, n + 1):
        raise ValueError(f"a chart of shape {chart.shape} for {n} words, expected {(n, n + 1)}")
    return {(int(i), int(j)): float(chart[i, j]) for i, j in np.argwhere(~np.isnan(chart)) if i < j}


def _drawing(words: Sequence[str], charts: Mapping[str, Marginals], title: str) -> str:
    parts: list[Markup] = []
    top = HEAD
    if title:
        parts.append(element("text", title, class_="name", x=GAP, y=top + 6))
        top += LINE
    x, height = float(GAP), 0.0
    for number, (name, values) in enumerate(charts.items()):
        side, chart = heat_map_parts(words, values, rows_named=number == 0)
        heading = element("text", name, class_="name", x=4, y=6) if name else Markup()
        parts.append(element("g", heading, element("g", *chart, transform=f"translate(0 {LINE})"), **_at(x, top)))
        x, height = x + side + GAP, max(height, side + LINE)
    bottom = top + height + GAP
    parts.append(element("g", *_scale(), **_at(GAP, bottom)))
    width, height = max(x, 2 * GAP + 22 * (RAMP + 4)), bottom + 2 * LINE
    about = title or ", ".join(filter(None, charts)) or "span marginals"
    return standing_alone(width, height, about, STYLE, parts)


def _at(x: float, y: float) -> dict[str, str]:
    return {"transform": f"translate({x:.1f} {y:.1f})"}


def _scale() -> list[Markup]:
    """The colours of values from -1 to 1."""
    parts = [element("text", "−1", x=0, y=12), element("text", "1", x=22 * (RAMP + 1) + 4, y=12)]
    for k, value in enumerate(np.linspace(-1, 1, RAMP).tolist()):
        shade = f"{abs(value) ** 0.5:.2f}"
        kind = "minus" if value < 0 else "plus"
        tip = element("title", f"{value:.1f}".replace("-", "−"))
        parts.append(element("rect", tip, class_=kind, x=22 * (k + 1), y=0, width=20, height=16, fill_opacity=shade))
    return parts
