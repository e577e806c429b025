"""Data health for people: the section of the report, and the page of ``lscfg prepare corpus --check``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lscfg.study.markup import Markup, element, joined
from lscfg.study.page import page

COLUMNS = "fault", "pairs", "share", "done", "setting or cure"

_TEXT = 0, 3, 4
"""Columns of text."""

STYLE = """
body { line-height: 1.5; --ink: #1c2128; --muted: #59636e; --line: #d5dbe1; }
@media (prefers-color-scheme: dark) { body { --ink: #e4e8ed; --muted: #9da7b3; --line: #353d47; } }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; }
tbody th, th.text, td.text { text-align: left; white-space: normal; min-width: 6.5rem; }
td.wide { min-width: 12rem; }
.note, dt { color: var(--muted); font-size: .88rem; } h2 { font-size: 1.1rem; } h3 { font-size: 1rem; }
dl.text div { display: grid; grid-template-columns: minmax(5.5rem, 12rem) 1fr; gap: .1rem .8rem; }
dl.text dt, dl.text dd { overflow-wrap: anywhere; } dl.text dd { margin: 0; }
@media (max-width: 34rem) { dl.text div { grid-template-columns: 1fr; margin-bottom: .4rem; }
  table, thead, tbody { display: block; } tr { display: grid; grid-template-columns: 1fr 3.2rem 4.2rem 4.6rem;
  border-bottom: 1px solid var(--line); } th, td { border: 0; padding: .15rem .2rem; }
  tbody th { min-width: 0; } td.wide, th.text:last-child { grid-column: 1 / -1; min-width: 0; } }
"""

_LETTERS = (("ja", "[\u3040-\u30ff]"), ("ko", "[\uac00-\ud7af]"), ("zh", "[\u4e00-\u9fff]"))


def script_language(text: str) -> str | None:
    """The code of the language that the script of a text shows; None for scripts of several languages."""
    return next((language for language, letters in _LETTERS if re.search(letters, text)), None)


def health_html(facts: Mapping[str, Any], remark: str = "dropped.tsv lists all dropped pairs.") -> Markup:
    """A table of the faults with their treatments, and examples.

    Args:
        facts: content of ``health.json``.
        remark: end of the caption.
    """
    pairs, findings = facts["pairs"], facts["findings"]
    if not findings:
        return element("p", f"No fault was found in {pairs:,} pairs.")
    caption = (
        f"Pairs with faults among the {pairs:,} pairs of the raw text, and the setting of [prepare] that changes the"
        f" treatment, or a cure. {remark}"
    )
    head = [
        element("th", name, scope="col", class_="text" if number in _TEXT else None)
        for number, name in enumerate(COLUMNS)
    ]
    table = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *(_row(one, pairs) for one in findings)),
    )
    return joined(
        element("p", caption, class_="note"),
        element("div", table, class_="scroll", role="region", tabindex=0, aria_label=caption),
        element("details", element("summary", "Examples"), *map(_examples, findings)),
    )


def _row(one: Mapping[str, Any], pairs: int) -> Markup:
    return element(
        "tr",
        element("th", one["title"], scope="row"),
        element("td", f"{one['pairs']:,}"),
        element("td", f"{100 * one['pairs'] / (pairs or 1):.2f} %"),
        element("td", one["done"], class_="text"),
        element("td", one["setting"] or "–", class_="text wide"),
    )


def _examples(one: Mapping[str, Any]) -> Markup:
    rows = []
    for example in one["examples"]:
        texts = example["source"], example["target"]
        shown = joined(_sentence(texts[0]), " → ", _sentence(texts[1])) if any(texts) else Markup()
        name = f"{Path(example['path']).name}:{example['line']}"
        rows.append(element("div", element("dt", name), element("dd", shown or "–")))
    return joined(element("h3", one["title"]), element("dl", *rows, class_="text"))


def _sentence(text: str) -> Markup:
    return element("span", text or "–", lang=script_language(text), dir="auto")


def health_page(facts: Mapping[str, Any], files: str) -> str:
    """A page that needs no other file.

    Args:
        files: names of the files, for the heading.
    """
    return page(f"Data health of {files}", health_html(facts, "No corpus was made."), style=STYLE)
