"""The section on rules that monolingual text gave: what they cover, how good the lists are, and examples."""

from __future__ import annotations

from html import escape
from typing import Any

from lscfg.tuning.report.content import Content
from lscfg.tuning.report.markup import data_row, data_table, words_html


def monolingual_section(content: Content) -> str:
    """The section; empty where no system is expanded."""
    rows = [row for row in content.results["systems"] if row["expansion"]]
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row["expansion"]))
    lines = [data_row(name, [_cell(row["expansion"].get(name)) for row in rows]) for name in names]
    caption = (
        "Phrases of the dev and test text that parallel text does not translate. A translation is in the list if the "
        "most probable one of the fuller parallel text is among the candidates."
    )
    text = data_table(["", *(escape(row["system"]) for row in rows)], lines, caption)
    return text + "".join(_examples(row) for row in rows if row["candidates"])


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else escape(str(value))


def _examples(row: dict[str, Any]) -> str:
    """The candidates of some phrases; those that the fuller text knows are bold."""
    lines = []
    for found in row["candidates"]:
        shown = []
        for candidate in found["candidates"]:
            target = words_html(candidate["target"])
            target = f"<b>{target}</b>" if candidate["known"] else target
            origins = "".join(name[0].upper() for name in candidate["origins"])
            shown.append(f"{target} {candidate['probability']:.2f} <small>{origins}</small>")
        lines.append(data_row(found["phrase"], [f"{found['count']:,}", f'<td class="text">{"; ".join(shown)}</td>']))
    caption = (
        "Candidates by probability, with where they come from: labels of neighbours (N), the decoder (D), words of "
        "alike characters (C), the map of contexts (M), stems (S)."
    )
    table = data_table(["phrase", "count", "candidates"], lines, caption)
    return f"<details><summary>Examples of {escape(row['system'])}</summary>{table}</details>"
