"""The section of charts: span marginals of some sentences as heat maps, and what hidden states change in them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from html import escape

from lscfg.tuning.report.content import Content, Spans
from lscfg.tuning.report.markup import definitions, matched_html, signed, words_html

CELL = 26
"""Side of a cell, in units of the picture."""

LETTER = 7.3
"""Width of a letter of a label; Chinese, Japanese and Korean ones have two."""

LEAST = 5e-4
"""What is 0 in three digits has no colour."""

Marginals = Mapping[tuple[int, int], float]


def charts_section(content: Content) -> str:
    """Each sentence with the charts of all systems that have some."""
    if not content.charts:
        return "<p>No system has a model.</p>"
    text = (
        '<p class="note">Marginal probability of each span of the source sentence being one phrase (paper, Figure 3): '
        "first word down, last word across. Point at a cell for its value. The colour goes with the square root of the "
        'value: <span class="scale"><span class="mark">−1</span><span class="ramp"></span><span class="mark">1</span>'
        "</span>; spans without a cell have no node. Below, the translation, with sentence BLEU; the darker a word, "
        "the longer the n-gram of the reference that it is in; words that the reference lacks are underlined.</p>"
    )
    for position, k in enumerate(content.charted):
        source = content.sources[k]
        lines = [("source", words_html(source))]
        lines += [("reference", words_html(document[k])) for document in content.references]
        figures = "".join(_figures(content, name, position, k) for name in content.charts)
        text += f'<h3>Sentence {k + 1}</h3>{definitions(lines)}<div class="grid heat">{figures}</div>'
    return text


def _figures(content: Content, name: str, position: int, k: int) -> str:
    """The chart of a system, and its difference to the one of one state."""
    words, charts = content.sources[k].split(), content.charts[name]
    score = f'<span class="score">BLEU {content.bleu[name][k]:.1f}</span>'
    tree = _tree(content, name, k)
    said = f"{score}<br>{matched_html(content.outputs[name][k], content.orders[name][k])}"
    spans = charts.model[position]
    if not spans or not words:
        return f"<figure><p>No parse.</p><figcaption><b>{escape(name)}</b> {said}</figcaption></figure>"
    model = _marginals(spans)
    readout = '<p class="note scripted" role="status" hidden></p>'
    picture = readout + heat_map(words, model, f"Span marginals of sentence {k + 1} under {name}")
    found = f"<figure>{picture}<figcaption><b>{escape(name)}</b> {said}{tree}</figcaption></figure>"
    if charts.one_state is not None:
        alone = _marginals(charts.one_state[position])
        change = {span: value - alone.get(span, 0.0) for span, value in model.items()}
        title = f"Span marginals of sentence {k + 1}: {name} less one state"
        most = max(change, key=lambda span: (abs(change[span]), span))
        said = f"largest change: {signed(change[most], 3)} at “{escape(' '.join(words[slice(*most)]))}”"
        found += (
            f"<figure>{readout}{heat_map(words, change, title, True)}<figcaption><b>{escape(name)} − one state</b><br>"
            f"What hidden states change: the difference to the same rules with one state (MLE); {said}."
            "</figcaption></figure>"
        )
    return found


def _tree(content: Content, name: str, k: int) -> str:
    """The derivation of the system's translation as lists in lists, for readers without script too."""
    trees = content.trees
    rules = trees.systems[name][trees.sentences.index(k)] if name in trees.systems else None
    if not rules:
        return ""

    def item(number: int) -> str:
        rule = rules[number]
        below = "".join(map(item, rule["children"]))
        said = f"{escape(rule['source'])} → {escape(rule['target'])}"
        known = f' <span class="score">μ {rule["marginal"]:.3f}</span>' if "marginal" in rule else ""
        return f"<li>{said}{known}{f'<ul>{below}</ul>' if below else ''}</li>"

    return f'<details><summary>derivation</summary><ul class="tree" tabindex="0">{item(0)}</ul></details>'


def _marginals(spans: Spans) -> dict[tuple[int, int], float]:
    return {(int(i), int(j)): value for i, j, value in spans}


def heat_map(words: Sequence[str], values: Marginals, title: str, change: bool = False) -> str:
    """A chart in the page's colours, each cell with its span and value; blue is positive, red negative.

    A value outside [-1, 1], which no probability has but a spectral estimate may, stands in its cell as a number.

    Args:
        values: by span [i, j) of the n words; spans without a node are not there.
        change: values are differences, which have signs.
    """
    n = len(words)
    left = max(map(_width, words)) + 6
    parts = []
    edge = _place(left - 5)
    for k, word in enumerate(words):
        middle, shown = _place(left + CELL * (k + 0.5) + 3.5), escape(word)
        parts.append(f'<text x="{edge}" y="{middle}" text-anchor="end">{shown}</text>')
        parts.append(f'<text transform="translate({middle} {edge}) rotate(-90)">{shown}</text>')
    for (i, j), value in sorted(values.items()):
        x, y = _place(left + CELL * (j - 1)), _place(left + CELL * i)
        kind = "minus" if value < 0 else "plus"
        shade = min(1.0, math.sqrt(abs(value))) if abs(value) >= LEAST else 0.0
        shown = signed(value, 3) if change else f"{value:.3f}".replace("-", "−")
        parts.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" fill-opacity="{shade:.2f}">'
            f"<title>{escape(' '.join(words[i:j]))}: {shown}</title></rect>"
        )
        if abs(value) > 1 + 1e-6:
            number = f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
            middle = f'x="{_place(left + CELL * (j - 0.5) - 1)}" y="{_place(left + CELL * (i + 0.5) + 2)}"'
            parts.append(f'<text class="beyond" {middle} text-anchor="middle">{number.replace("-", "−")}</text>')
    side, most = _place(left + CELL * n), _place(1.4 * (left + CELL * n))
    return (
        f'<svg viewBox="0 0 {side} {side}" style="max-width:{most}px" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _width(word: str) -> float:
    return LETTER * sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in word)


def _place(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
