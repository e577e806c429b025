"""The section in which a script shows any test sentence of any two systems, and the data of the script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lscfg.tuning.report.buckets import Breakdown, Found
from lscfg.tuning.report.content import Content, TreeRecords
from lscfg.tuning.report.section import ReportData, ReportSection

# The script shows only values computed in Python. Texts and scores stand once in the page as JSON, which escapes < so
# that no sentence can end it; the script creates elements and text, never HTML from strings.

ORDERS = (
    ("difference", "difference, B ahead first"),
    ("loss", "difference, A ahead first"),
    ("size", "size of the difference"),
    ("number", "number in the test set"),
    ("length", "length of the source"),
    ("a", "BLEU of A, lowest first"),
    ("b", "BLEU of B, lowest first"),
)
"""Values and labels of the sort orders; the script has a function for each value."""

SHOWN = (
    ("all", "all"),
    ("better", "B is better"),
    ("worse", "A is better"),
    ("other", "translated differently"),
    ("same", "translated identically"),
    ("trees", "with derivations"),
)
"""Values and labels of the filters; the script has a function for each value."""


def explorer_data(content: Content, breakdown: Breakdown) -> dict[str, object]:
    """Input of the script: texts, sentence BLEU in tenths, matched orders of the words, rows of the breakdown.

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
    """Words with single blanks between them, since Python and JavaScript disagree on other white space."""
    return [" ".join(line.split()) for line in lines]


def _grams(found: list[Found]) -> list[list[object]]:
    return [[one.gram, *one.matches, one.sentences] for one in found]


def trees_data(trees: TreeRecords, names: list[str]) -> dict[str, object]:
    """Derivations as lists, which are shorter than records: see ``derivations.js``."""
    records = [record for found in trees.systems.values() for record in found if record]
    features = sorted({name for rules in records for rule in rules for name in rule["scores"]})
    number = {name: k for k, name in enumerate(features)}

    def short(rule: dict[str, Any]) -> list[object]:
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


class ExplorerSection(ReportSection):
    """Controls that the script operates, and a note for readers without script."""

    TITLE, POSITION = "Test sentences", 75
    TEMPLATE = """
<noscript><p>Enable JavaScript to see every test sentence here.</p></noscript>
<div id="explorer" hidden>
<p class="note">Every test sentence in any two systems, with sentence BLEU.
{%- if results.runs > 1 %} Translations are those of the first tuning.{% endif %}
 <span class="key">Words are shaded by the longest matching n-gram of a reference:
 <span class="g1">1</span> <span class="g2">2</span> <span class="g3">3</span> <span class="g4">4</span>;
 <span class="g0">none</span> is underlined.</span></p>
<form class="controls" id="controls">
{% set swap %}<button type="button" id="swap" aria-label="swap A and B">⇄</button>{% endset %}
{{ m.pair(content, between=swap) }}
{{ m.choices("show", "Show", shown, "all") }}{{ m.choices("sort", "Sort by", orders, "difference") }}
<label class="search">Search <input type="search" id="search" placeholder="words of any side" autocomplete="off"
 spellcheck="false"></label>
</form>
<p class="found"><span id="count" role="status"></span> <button type="button" id="unset" hidden></button></p>
<div id="list"></div><p><button type="button" id="more" hidden>show more</button></p></div>
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """The choices."""
        return {"shown": SHOWN, "orders": ORDERS}
