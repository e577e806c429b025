"""Heat maps of the span marginals of a sentence's chart (paper, Fig. 3): first word of the span down, last word across.

Blue is positive, red negative, white 0 and grey a span that no node of the forest has. Colours are logarithmic above
0.001. A value outside [-1, 1], which no probability has but a spectral estimate may, stands in its cell as a number.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lscfg.errors import InputError
from lscfg.io.text import atomic_write
from lscfg.log import warn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Chart = np.ndarray | Mapping[tuple[int, int], float]
"""Span marginals of n words: float [n, n + 1], NaN where there is no node, or by span; a span is [i, j)."""

_LINEAR = 1e-3
_BEYOND = 1 + 1e-6
_INCHES = 0.27
_OPTIONS = {"svg.hashsalt": "lscfg", "svg.fonttype": "none", "font.size": 9.0, "text.parse_math": False}


def draw(words: Sequence[str], marginals: Chart, title: str = "", path: str | os.PathLike[str] | None = None) -> str:
    """The heat map of one chart; see ``draw_charts``."""
    return draw_charts(words, {title: marginals}, path=path)


def draw_charts(
    words: Sequence[str], charts: Mapping[str, Chart], title: str = "", path: str | os.PathLike[str] | None = None
) -> str:
    """Heat maps of several models' charts of one sentence, side by side in one scale.

    Equal input gives equal bytes where the fonts are the same.

    Args:
        words: the n words of the sentence, one at least.
        charts: chart of each model by its title.
        title: stands above all.
        path: write the picture there too; its ending, .svg, .png or .pdf, is the format. None: nowhere.

    Returns:
        The picture as SVG, in which text stays text, so that the viewer finds the fonts; empty where ``path`` ends in
        something else than .svg.

    Raises:
        InputError: the file cannot be written.
        ValueError: no words or no chart, a chart of another shape, or a span that is none of the sentence.
    """
    if not words or not charts:
        raise ValueError("a heat map needs a word and a chart at least")
    tables = {name: _table(chart, len(words)) for name, chart in charts.items()}
    kind = "svg" if path is None else Path(path).suffix.lower().removeprefix(".")
    if kind not in ("svg", "png", "pdf"):
        raise InputError("the name of a picture must end in .svg, .png or .pdf", path)
    import matplotlib

    options: Any = {**_OPTIONS, "font.family": ["DejaVu Sans", *_fallback("".join(words), kind)]}
    with matplotlib.rc_context(options), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # _fallback has said it, or it does not matter
        data = _render(words, tables, title, kind)
    if path is not None:
        with atomic_write(path, "wb") as file:
            file.write(data)
    return data.decode("utf-8") if kind == "svg" else ""


def _table(chart: Chart, n: int) -> np.ndarray:
    """float [n, n]: first word, last word; NaN where there is no node."""
    table = np.full((n, n + 1), np.nan)
    if isinstance(chart, Mapping):
        for (i, j), value in chart.items():
            if not 0 <= i < j <= n:
                raise ValueError(f"span [{i}, {j}) of {n} words")
            table[i, j] = value
    else:
        if chart.shape != table.shape:
            raise ValueError(f"a chart of shape {chart.shape} for {n} words, expected {table.shape}")
        rows, columns = np.indices(table.shape)
        table[rows < columns] = chart[rows < columns]
    return table[:, 1:]


def _render(words: Sequence[str], tables: Mapping[str, np.ndarray], title: str, kind: str) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure

    side = max(_INCHES * len(words), 1.6)
    figure = Figure(figsize=(len(tables) * (side + 0.3) + 1.8, side + 1.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(tables), squeeze=False)[0]
    norm = SymLogNorm(_LINEAR, vmin=-1, vmax=1, base=10)
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        _panel(axis, words, table, name, norm)
        axis.tick_params(labelleft=axis is axes[0])
    bar = figure.colorbar(ScalarMappable(norm, "RdBu"), ax=list(axes), shrink=0.9, aspect=25)
    bar.set_ticks([-1, -0.1, -0.01, 0, 0.01, 0.1, 1], labels=["−1", "−0.1", "−0.01", "0", "0.01", "0.1", "1"])
    bar.minorticks_off()
    if title:
        figure.suptitle(title)
    out = io.BytesIO()
    about = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
    figure.savefig(out, format=kind, dpi=120, metadata=about[kind])
    return out.getvalue()


def _panel(axis: Axes, words: Sequence[str], table: np.ndarray, name: str, norm: Any) -> None:
    """One chart."""
    n = len(words)
    inside = np.triu(np.ones((n, n), bool))
    colours = np.ma.masked_where(~inside | np.isnan(table), np.clip(np.nan_to_num(table), -1, 1))
    edges = np.arange(n + 1) - 0.5
    empty = np.ma.masked_where(~inside, np.full((n, n), 0.85))
    axis.pcolormesh(edges, edges, empty, cmap="gray", vmin=0, vmax=1, edgecolors="white", linewidth=0.4)
    axis.pcolormesh(edges, edges, colours, cmap="RdBu", norm=norm, edgecolors="white", linewidth=0.4)
    for i, j in np.argwhere(np.abs(np.nan_to_num(table)) > _BEYOND):
        value = f"{table[i, j]:.1f}" if abs(table[i, j]) < 9.95 else f"{table[i, j]:.0f}"
        value = value if len(value) < 5 else f"{table[i, j]:.0e}".replace("e+0", "e").replace("e+", "e")
        axis.text(j, i, value, color="white", ha="center", va="center", fontsize=6)
    axis.set_xticks(range(n), words, rotation=90)
    axis.set_yticks(range(n), words)
    axis.tick_params(length=0)
    axis.set_aspect("equal")
    axis.invert_yaxis()
    axis.spines[:].set_visible(False)
    axis.set_title(name, fontsize="medium")


@cache
def _charmaps() -> dict[str, frozenset[int]]:
    """The characters of each installed font family, in alphabetical order."""
    from matplotlib import font_manager, ft2font

    found: dict[str, frozenset[int]] = {}
    for font in sorted(font_manager.fontManager.ttflist, key=lambda f: (f.name, f.weight != 400, f.fname)):
        if font.name not in found and not font.name.startswith("Last Resort"):  # a box for every character
            try:
                found[font.name] = frozenset(ft2font.FT2Font(font.fname).get_charmap())
            except (OSError, RuntimeError):  # not a font that matplotlib can draw with
                continue
    return found


@cache
def _say_missing(kind: str) -> None:
    warn(f"no installed font has all characters of the sentences; {kind} shows boxes for them, svg does not")


def _fallback(text: str, kind: str) -> list[str]:
    """The installed font that has most of the characters that the usual one lacks; none for SVG, which names fonts."""
    if kind == "svg":
        return []
    fonts = _charmaps()
    lacking = {ord(c) for c in text} - fonts.get("DejaVu Sans", frozenset())
    if not lacking:
        return []
    best = max(fonts, key=lambda name: len(lacking & fonts[name]))
    if lacking - fonts[best]:
        _say_missing(kind)
    return [best] if lacking & fonts[best] else []
