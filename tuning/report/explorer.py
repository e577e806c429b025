"""The section in which a script shows any test sentence of any two systems, and the data that it reads."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from lscfg.tuning.report.content import Content

ORDERS = (
    ("difference", "difference, B ahead first"),
    ("loss", "difference, A ahead first"),
    ("size", "size of the difference"),
    ("number", "number in the test set"),
    ("length", "length of the source"),
    ("a", "BLEU of A, lowest first"),
    ("b", "BLEU of B, lowest first"),
)
"""Values and names of the ways to sort; the script has a function for each value."""

SHOWN = (
    ("all", "all"),
    ("better", "B is better"),
    ("worse", "A is better"),
    ("other", "translated differently"),
    ("same", "translated alike"),
)
"""Values and names of what can be shown; the script has a function for each value."""


def explorer_data(content: Content) -> dict[str, Any]:
    """What the script reads: texts, sentence BLEU in tenths, and the matched orders of the words.

    Lists of systems are in the order of the table, lists of sentences in the order of the test set.
    """
    names = list(content.outputs)
    return {
        "systems": names,
        "baseline": names.index(content.results["baseline"]),
        "sources": content.sources,
        "references": content.references,
        "outputs": list(content.outputs.values()),
        "bleu": [[round(10 * float(value)) for value in content.bleu[name]] for name in names],
        "orders": [content.orders[name] for name in names],
    }


def data_block(data: dict[str, Any]) -> str:
    """Data as an element that a script reads and that no text in it can end."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f'<script type="application/json" id="data">{text.replace("<", chr(92) + "u003c")}</script>'


def explorer_section(content: Content) -> str:
    """The controls, which the script fills with life, and a word to those who have none."""
    names = list(content.outputs)
    baseline = names.index(content.results["baseline"])
    best = max(range(len(names)), key=lambda k: content.results["systems"][k]["test_bleu"])
    other = best if best != baseline else (baseline + 1) % len(names)
    runs = " Of several tunings, the first." if content.results["runs"] > 1 else ""
    return (
        "<noscript><p>The script of this page is switched off. With it, this section shows every test sentence."
        "</p></noscript>"
        '<div id="explorer" hidden>'
        f'<p class="note">Every test sentence, in any two systems, with sentence BLEU.{runs} '
        '<span class="key">Words are shaded by the longest n-gram of a reference that they are in: '
        '<span class="g1">1</span> <span class="g2">2</span> <span class="g3">3</span> <span class="g4">4</span>; '
        '<span class="g0">none</span> is underlined.</span></p>'
        '<form class="controls" id="controls">'
        f"{_list('a', 'System A', [(str(k), name) for k, name in enumerate(names)], str(baseline))}"
        '<button type="button" id="swap" aria-label="swap A and B">⇄</button>'
        f"{_list('b', 'System B', [(str(k), name) for k, name in enumerate(names)], str(other))}"
        f"{_list('show', 'Show', SHOWN, 'all')}{_list('sort', 'Sort by', ORDERS, 'difference')}"
        '<label class="search">Search <input type="search" id="search" placeholder="words of any side" '
        'autocomplete="off" spellcheck="false"></label></form>'
        '<p class="found"><span id="count" role="status"></span> <button type="button" id="unset" hidden></button></p>'
        '<div id="list"></div><p><button type="button" id="more" hidden>show more</button></p></div>'
    )


def _list(name: str, label: str, values: tuple[tuple[str, str], ...] | list[tuple[str, str]], chosen: str) -> str:
    options = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in values
    )
    return f'<label>{label} <select id="{name}" autocomplete="off">{options}</select></label>'
