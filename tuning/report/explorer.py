"""The section in which a script shows any test sentence of any two systems, and the data that it reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from lscfg.tuning.report.buckets import Breakdown, Found
from lscfg.tuning.report.content import Content, TreeRecords

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
    ("trees", "with derivations"),
)
"""Values and names of what can be shown; the script has a function for each value."""


def explorer_data(content: Content, breakdown: Breakdown) -> dict[str, Any]:
    """What the script reads: texts, sentence BLEU in tenths, matched orders of the words, rows of the breakdown.

    Lists of systems are in the order of the table, lists of sentences in the order of the test set.
    """
    names = list(content.outputs)
    return {
        "systems": names,
        "baseline": names.index(content.results["baseline"]),
        "sources": _blanks(content.sources),
        "references": [_blanks(lines) for lines in content.references],
        "outputs": [_blanks(lines) for lines in content.outputs.values()],
        "bleu": [[round(10 * float(value)) for value in content.bleu[name]] for name in names],
        "orders": [content.orders[name] for name in names],
        "training": content.training,
        "sets": breakdown.sets(),
        "trees": trees_data(content.trees, names),
        "grams": [[_grams(breakdown.grams.get((one, other), [])) for other in names] for one in names],
    }


def _blanks(lines: Sequence[str]) -> list[str]:
    """Words with one blank between them, since languages disagree on what else is white."""
    return [" ".join(line.split()) for line in lines]


def _grams(found: list[Found]) -> list[list[Any]]:
    return [[one.gram, *one.matches, one.sentences] for one in found]


def trees_data(trees: TreeRecords, names: list[str]) -> dict[str, Any]:
    """Derivations as lists, which are shorter than records: see ``derivations.js``."""
    records = [record for found in trees.systems.values() for record in found if record]
    features = sorted({name for rules in records for rule in rules for name in rule["scores"]})
    number = {name: k for k, name in enumerate(features)}

    def short(rule: dict[str, Any]) -> list[Any]:
        scores = [[number[name], value] for name, value in rule["scores"].items()]
        head = [*rule["span"], rule["source"], rule["target"], rule["children"], rule["category"], scores]
        if "marginal" not in rule:
            return [*head, None]
        kept = ("span marginal", "states", "marginal", "given source", "gain", "context", "others")
        return [*head, [rule[key] for key in kept]]

    return {
        "sentences": trees.sentences,
        "features": features,
        "states": [trees.states.get(name, []) for name in names],
        "systems": [
            [None if record is None else [short(rule) for rule in record] for record in trees.systems.get(name, [])]
            for name in names
        ],
    }


def data_block(data: dict[str, Any]) -> str:
    """Data as an element that a script reads and that no text in it can end."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f'<script type="application/json" id="data">{text.replace("<", chr(92) + "u003c")}</script>'


def explorer_section(content: Content) -> str:
    """The controls, which the script fills with life, and a word to those who have none."""
    a, b = system_lists(content)
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
        f'{a}<button type="button" id="swap" aria-label="swap A and B">⇄</button>{b}'
        f"{_list('show', 'Show', SHOWN, 'all')}{_list('sort', 'Sort by', ORDERS, 'difference')}"
        '<label class="search">Search <input type="search" id="search" placeholder="words of any side" '
        'autocomplete="off" spellcheck="false"></label></form>'
        '<p class="found"><span id="count" role="status"></span> <button type="button" id="unset" hidden></button></p>'
        '<div id="list"></div><p><button type="button" id="more" hidden>show more</button></p></div>'
    )


def system_lists(content: Content, place: str = "") -> tuple[str, str]:
    """The lists that choose systems A and B; those of all places move together.

    Args:
        place: the beginning of the ids.
    """
    values = [(str(k), name) for k, name in enumerate(content.outputs)]
    names = list(content.outputs)
    a, b = (
        _list(letter, f"System {letter.upper()}", values, str(names.index(name)), place)
        for letter, name in zip("ab", content.pair, strict=True)
    )
    return a, b


def _list(name: str, label: str, values: Sequence[tuple[str, str]], chosen: str, place: str = "") -> str:
    options = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in values
    )
    marks = f'id="{place}{name}" data-state="{name}" autocomplete="off"'
    return f"<label>{label} <select {marks}>{options}</select></label>"
