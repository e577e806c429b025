"""SVG pictures: frames, scales, lines and heat maps. Pictures in a page use its style sheet; files contain one."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np

from lscfg.io.columns import fit
from lscfg.study.markup import Markup, element

CELL = 26
"""Side of a cell of a heat map or of the picture of a pair, in units of the picture."""

LETTER = 7.3
"""Width of a letter of a label; Chinese, Japanese and Korean letters have double width."""

LABEL_GAP = 6
"""Units between a label and its cells."""

LEAST = 5e-4
"""Values that are 0 in three digits are not coloured."""

Marginals = Mapping[tuple[int, int], float]
"""Span marginals by span [i, j); spans without a node are missing."""


def picture(width: float, height: float, title: str, parts: Sequence[str], style: str | None = None) -> Markup:
    """An SVG element with a title for screen readers.

    Args:
        style: CSS properties of the element itself.
    """
    box = f"0 0 {_place(width)} {_place(height)}"
    return element("svg", element("title", title), *parts, viewBox=box, style=style, role="img", aria_label=title)


def standing_alone(width: float, height: float, title: str, style: str, parts: Sequence[str]) -> Markup:
    """An SVG file with a white background.

    Args:
        style: style sheet of the file, which defines the class ``paper``.
    """
    return element(
        "svg",
        element("title", title),
        element("style", Markup(style)),
        element("rect", class_="paper", width=width, height=height),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=float(width),
        height=float(height),
        viewBox=f"0 0 {width:.1f} {height:.1f}",
        role="img",
    )


def polyline(points: Sequence[tuple[float, float]], kind: str) -> Markup:
    """A line through points, of a class of the style sheet."""
    path = " ".join(f"{_place(x)},{_place(y)}" for x, y in points)
    return element("polyline", class_=kind, points=path)


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers in [low, high], about ``count`` of them."""
    if not high > low:
        return [low]
    step = 10 ** np.floor(np.log10((high - low) / count))
    step *= min((1, 2, 5, 10), key=lambda factor: abs((high - low) / (factor * step) - count))
    first = np.ceil(low / step - 1e-9)
    return [float(k * step) + 0.0 for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def tick_label(value: float) -> str:
    """A number at an axis."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) < 10 else f"{value:g}"


def heat_map(words: Sequence[str], values: Marginals, title: str, change: bool = False) -> Markup:
    """The chart of a sentence: first word of a span down, last word across, and in each cell a span with its value.

    Positive values are blue, negative ones red, and the colour grows with the square root. A value outside [-1, 1],
    which a spectral estimate may have, is written into its cell.

    Args:
        change: values are differences and are shown with their signs.
    """
    side, parts = heat_map_parts(words, values, change)
    return picture(side, side, title, parts, style=f"max-width:{_place(1.4 * side)}px")


def heat_map_parts(
    words: Sequence[str], values: Marginals, change: bool = False, rows_named: bool = True
) -> tuple[float, list[Markup]]:
    """Side and elements of a heat map; without ``rows_named`` only the columns have the words as labels."""
    left = label_width(words)
    parts = []
    for k, word in enumerate(words):
        middle = left + CELL * (k + 0.5)
        parts += [row_label(word, left, middle)] if rows_named else []
        parts.append(column_label(word, middle, left))
    for (i, j), value in sorted(values.items()):
        shade = min(1.0, math.sqrt(abs(value))) if abs(value) >= LEAST else 0.0
        shown = _signed(value) if change else f"{value:.3f}".replace("-", "−")
        cell = element(
            "rect",
            element("title", f"{' '.join(words[i:j])}: {shown}"),
            class_="minus" if value < 0 else "plus",
            x=left + CELL * (j - 1),
            y=left + CELL * i,
            width=CELL - 2,
            height=CELL - 2,
            fill_opacity=f"{shade:.2f}",
        )
        parts.append(cell)
        if abs(value) > 1 + 1e-6:
            x, y = left + CELL * (j - 0.5) - 1, left + CELL * (i + 0.5) + 2
            parts.append(element("text", _short(value), class_="beyond", x=x, y=y, text_anchor="middle"))
    return left + CELL * len(words), parts


def label_width(words: Sequence[str]) -> float:
    """Units that the labels of rows or columns need."""
    return max(map(_width, words), default=0.0) + LABEL_GAP


def cut_label(word: str, width: float) -> str:
    """The beginning of a label that fits a width."""
    return fit(word, math.floor((width - LABEL_GAP) / LETTER + 1e-9))


def row_label(word: str, edge: float, middle: float) -> Markup:
    """A word at the left edge of a row of cells."""
    return element("text", word, x=edge - 5, y=middle + 3.5, text_anchor="end")


def column_label(word: str, middle: float, edge: float) -> Markup:
    """A word at the upper edge of a column of cells."""
    if _is_wide(word):  # letters of Chinese, Japanese and Korean stand upright, one below the other
        return element("text", word, x=middle - 1, y=edge - 5, writing_mode="vertical-rl", text_anchor="end")
    return element("text", word, transform=f"translate({_place(middle + 3.5)} {_place(edge - 5)}) rotate(-90)")


def _short(value: float) -> str:
    """A value in a cell."""
    number = f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return number.replace("-", "−")


def _signed(value: float) -> str:
    text = f"{value:+.3f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def _width(word: str) -> float:
    return LETTER * sum(2 if _is_wide(letter) else 1 for letter in word)


def _is_wide(text: str) -> bool:
    """True if all letters have double width."""
    return all(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def _place(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
