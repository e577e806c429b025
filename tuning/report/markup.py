"""Pieces of HTML that the sections of the report share; all text that comes from elsewhere is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from lscfg.tuning.report.content import SIGNIFICANT


def data_table(
    head: Sequence[str],
    rows: Iterable[str],
    caption: str,
    text: frozenset[int] = frozenset({0}),
    mark: str = "",
) -> str:
    """A table that scrolls by itself where it is wider than the page; cells of the head are HTML.

    Args:
        text: columns of text, whose heads stand on the left.
        mark: more attributes of the table, as HTML.
    """
    cells = "".join(f'<th scope="col"{" class=text" if k in text else ""}>{name}</th>' for k, name in enumerate(head))
    label = escape(re.sub(r"<[^>]*>", "", caption))
    return (
        f'<p class="note">{caption}</p><div class="scroll" role="region" tabindex="0" aria-label="{label}">'
        f"<table{mark}><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def data_row(name: str, cells: Iterable[str], kind: str = "", mark: str = "") -> str:
    """A row of cells that are HTML; numbers if they are no ``<td``."""
    tds = "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in cells)
    return f'<tr{f" class={kind}" if kind else ""}{mark}><th scope="row">{escape(name)}</th>{tds}</tr>'


def bar_cell(share: float) -> str:
    """A cell with a bar of that share of its width, in [0, 1]."""
    return f'<td class="bar"><span style="width:{100 * share:.1f}%"></span></td>'


def words_html(text: str) -> str:
    """A sentence with the language that its script tells, for fonts and screen readers."""
    return f'<span{language_mark(text)} dir="auto">{escape(text)}</span>'


def language_mark(text: str) -> str:
    """The attribute ``lang`` of a text, where its script tells the language."""
    for language, letters in (("ja", "[\u3040-\u30ff]"), ("ko", "[\uac00-\ud7af]"), ("zh", "[\u4e00-\u9fff]")):
        if re.search(letters, text):
            return f' lang="{language}"'
    return ""


def matched_html(output: str, orders: str) -> str:
    """An output whose words are shaded by the longest n-gram of a reference that they are in.

    Args:
        orders: a digit for each word, as of ``lscfg.tuning.report.matches``; words of order 0 are underlined.
    """
    words = [
        f'<span class="g{order}">{escape(word)}</span>' for word, order in zip(output.split(), orders, strict=True)
    ]
    return f'<span{language_mark(output)} dir="auto">{" ".join(words) or "<i>(empty)</i>"}</span>'


def definitions(lines: Iterable[tuple[str, str]]) -> str:
    """Names with what they stand for, which is HTML."""
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{text}</dd></div>" for name, text in lines)
    return f'<dl class="text">{rows}</dl>'


def decimal(value: float | None, digits: int = 2) -> str:
    """A number with its minus sign; a dash for none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    """A number that always has its sign, but 0."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def with_spread(value: float, deviation: float | None) -> str:
    """A mean with the deviation of several runs."""
    return decimal(value) + ("" if deviation is None else f' <span class="dev">({deviation:.2f})</span>')


def p_cell(value: float | None, trials: int) -> str:
    """A p-value, bold where it is significant; the smallest that the trials can give is a bound."""
    if value is None:
        return "–"
    least = 1 / (trials + 1)
    shown = f"≤ {least:.4f}" if value <= least else f"{value:.4f}"
    return f"<b>{shown}</b>" if value < SIGNIFICANT else shown
