"""Explanations of a sentence for people and programs: text for a terminal, JSON, HTML."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence

from lscfg.decode.derivations import AppliedRule
from lscfg.io.columns import WIDTH, fit
from lscfg.study.explain import Choice, Explanation, SpanChoices
from lscfg.study.markup import Markup, element, joined
from lscfg.study.page import page

_Key = tuple[str, str, tuple[tuple[int, int], ...]]
"""A rule and its spans, which identify a choice across models."""


def explanations_json(explanations: Sequence[Explanation]) -> str:
    """A list of one JSON object for each model (docs/reference/formats.md), in one line; numbers have nine digits."""
    return json.dumps([_rounded(_object(one)) for one in explanations], ensure_ascii=False, allow_nan=False)


def _object(explanation: Explanation) -> dict[str, object]:
    found = dataclasses.asdict(explanation) | {"parsed": explanation.translation is not None}
    for rule in found["best"]:
        del rule["features"]
    return found


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, (list, tuple)) else value


LEGEND = {
    "μ": "probability of the span, or of the rule at the span, given the sentence",
    "P(e|f)": "share of the target side among those of the same source side at these spans",
    "freq.": "relative frequency of the target side in the training text",
    "gain": "ln(P(e|f) / freq.), the effect of the hidden states, in nats",
    "context": "effect of the surrounding source words, in nats; – without a context model",
    "states": "numbers of hidden states, their probability at the span, and typical words",
}
"""Meanings of the columns."""

ORDER = "Rules are sorted by μ, after the context has moved probability among target sides."


def _unknown_text(one: Explanation) -> str:
    """A remark on the words without a rule; empty if there are none."""
    if not one.unknown:
        return ""
    return f"{len(one.unknown)} of {len(one.words)} words unknown: {' '.join(one.unknown)}"


# ---- text ----


def explanations_text(explanations: Sequence[Explanation]) -> str:
    """Explanations of one sentence by models, side by side, in lines of at most ``WIDTH`` columns."""
    lines = [fit(f"sentence  {' '.join(explanations[0].words)}")]
    letters = [""] if len(explanations) == 1 else [f"{chr(ord('A') + k)}  " for k in range(len(explanations))]
    for letter, one in zip(letters, explanations, strict=True):
        lines += [fit(f"{letter}model     {one.model}, m = {one.rank}")]
        if remark := _unknown_text(one):
            lines.append(fit(f"{letter}unknown   {remark}"))
        if one.translation is None:
            lines.append(f"{letter}no parse")
            continue
        lines.append(fit(f"{letter}best      {one.translation}"))
        if one.negative_mass:
            lines.append(f"{letter}negative marginals are {100 * one.negative_mass:.1f} % of the mass")
    for letter, one in zip(letters, explanations, strict=True):
        if one.best:
            lines += ["", f"best derivation{' of ' + letter.strip() if letter else ''}"]
            lines += [fit(f"  {'  ' * depth}{_place(rule.span)} {_rule(rule)}") for depth, rule in _tree(one.best)]
    spans = _spans(explanations)
    if spans:
        lines += ["", "spans [i,j) of words i to j; * marks the rules of the best derivation"]
    for found in spans:
        lines += ["", *_span_lines(found, letters)]
    if spans:
        lines += ["", "legend", *(f"  {name:<7}  {text}" for name, text in LEGEND.items()), f"  {ORDER}"]
    return "\n".join(lines)


def _span_lines(found: Sequence[SpanChoices | None], letters: Sequence[str]) -> list[str]:
    any_span = next(one for one in found if one is not None)
    marginals = "  ".join(
        f"{letter.strip()} μ {one.marginal:.3f}".strip()
        for letter, one in zip(letters, found, strict=True)
        if one is not None
    )
    place = f"{_category(any_span)}{_place(any_span.span)} {any_span.words}"
    lines = [f"{fit(place, WIDTH - len(marginals) - 2)}  {marginals}"]
    for letter, one in zip(letters, found, strict=True):
        if one is not None and one.states:
            lines.append(fit(f"  {letter}states {_states_text(one)}"))
    several = len(found) > 1
    head = ["μ", "P(e|f)", "gain", "ctx."] if several else ["μ", "P(e|f)", "freq.", "gain", "context"]
    titles = "".join(f"{f'{letter.strip()} {name}'.strip():>9}" for letter in letters for name in head)
    lines.append(f"   {titles}  rule")
    for key, choices in _joined(found).items():
        marks = "".join("*" if choice is not None and choice.chosen else " " for choice in choices)
        cells = "".join(f"{cell:>9}" for choice in choices for cell in _cells(choice, several))
        source, target, tails = key
        where = "".join(f" {_place(tail)}" for tail in tails)
        lines.append(fit(f" {marks:<2}{cells}  {source} → {target}{'  ' + where.strip() if where else ''}"))
    most = max(one.n_choices for one in found if one is not None)
    if most > len(_joined(found)):
        lines.append(f"   of {most:,} choices")
    return lines


def _cells(choice: Choice | None, several: bool) -> list[str]:
    if choice is None:
        return [""] * (4 if several else 5)
    frequency = "–" if choice.frequency is None else f"{choice.frequency:.3f}"
    gain = "–" if choice.gain is None else f"{choice.gain:+.2f}"
    context = "–" if choice.context is None else f"{choice.context:+.2f}"
    shares = [f"{choice.marginal:.3f}", f"{choice.given_source:.3f}"]
    return [*shares, *([] if several else [frequency]), gain, context]


def _category(one: SpanChoices) -> str:
    """The category before the span of a model with other categories than [X]."""
    return "" if one.category == "X" else f"[{one.category}] "


def _place(span: tuple[int, int]) -> str:
    return f"[{span[0]},{span[1]})"


def _rule(rule: AppliedRule) -> str:
    return f"{rule.source} → {rule.target}"


def _tree(best: Sequence[AppliedRule]) -> list[tuple[int, AppliedRule]]:
    """The rules with their depths."""
    depth = [0] * len(best)
    for number, rule in enumerate(best):
        for child in rule.children:
            depth[child] = depth[number] + 1
    return list(zip(depth, best, strict=True))


def _spans(explanations: Sequence[Explanation]) -> list[list[SpanChoices | None]]:
    """The spans of all models by category, those of the first in its order, then others."""
    by_span = [{(one.category, one.span): one for one in explanation.spans} for explanation in explanations]
    order = dict.fromkeys(span for found in by_span for span in found)
    return [[found.get(span) for found in by_span] for span in order]


def _joined(found: Sequence[SpanChoices | None]) -> dict[_Key, list[Choice | None]]:
    """The choices of a span by rule, for each model that shows it."""
    keyed = [{(c.source, c.target, c.spans): c for c in one.choices} if one else {} for one in found]
    order = dict.fromkeys(key for choices in keyed for key in choices)
    return {key: [choices.get(key) for choices in keyed] for key in order}


# ---- HTML ----

STYLE = """
.lscfg-explanation { --ink: #1c2128; --muted: #59636e; --card: #f5f7f9; --line: #d5dbe1; --accent: #0b62a8;
  --bad: #b3421d; color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; }
@media (prefers-color-scheme: dark) { .lscfg-explanation { --ink: #e4e8ed; --muted: #9da7b3; --card: #1d232a;
  --line: #353d47; --accent: #62aef0; --bad: #f0906a; } }
.lscfg-explanation table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
.lscfg-explanation th, .lscfg-explanation td { padding: .25rem .5rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
.lscfg-explanation thead th { font-weight: 600; border-bottom: 2px solid var(--line); }
.lscfg-explanation .rule { text-align: left; white-space: normal; min-width: 9rem; overflow-wrap: anywhere; }
.lscfg-explanation tr.chosen { font-weight: 700; } .lscfg-explanation .chosen .rule { color: var(--accent); }
.lscfg-explanation details { background: var(--card); border-radius: .5rem; margin: .3rem 0; padding: .3rem .7rem; }
.lscfg-explanation summary { cursor: pointer; } .lscfg-explanation .scroll { overflow-x: auto; }
.lscfg-explanation .tree { list-style: none; margin: .2rem 0; padding-left: 1rem; border-left: 2px solid var(--line); }
.lscfg-explanation .note { color: var(--muted); font-size: .88rem; } .lscfg-explanation .unknown { color: var(--bad); }
.lscfg-explanation dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .3rem 0; }
.lscfg-explanation dt { font-weight: 600; } .lscfg-explanation dd { margin: 0; }
@media (max-width: 30rem) { .lscfg-explanation .one, .lscfg-explanation .one thead, .lscfg-explanation .one tbody
  { display: block; } .lscfg-explanation .one tr { display: grid; grid-template-columns: repeat(5, 1fr);
  border-bottom: 1px solid var(--line); } .lscfg-explanation .one .rule { grid-column: 1 / -1; }
  .lscfg-explanation .one th, .lscfg-explanation .one td { border: 0; padding: .15rem .1rem; font-size: .82rem; } }
""".strip()


def explanations_page(explanations: Sequence[Explanation]) -> str:
    """A page that needs no other file."""
    return page(" ".join(explanations[0].words), explanations_html(explanations))


def explanations_html(explanations: Sequence[Explanation]) -> Markup:
    """A part of a page, as a notebook shows it: translations, trees, a legend, then each span, which a click opens."""
    names = _names(explanations)
    parts = []
    for name, one in zip(names, explanations, strict=True):
        said = "no parse" if one.translation is None else element("b", one.translation)
        parts.append(element("p", f"{name}, ", element("i", "m"), f" = {one.rank}: ", said))
        if remark := _unknown_text(one):
            parts.append(element("p", remark, class_="unknown"))
        if one.best:
            tree = tree_html([(_rule(rule), rule.children) for rule in one.best])
            parts.append(element("details", element("summary", "Best derivation"), tree))
    spans = _spans(explanations)
    if spans:
        terms = joined(*(joined(element("dt", name), element("dd", text)) for name, text in _marked(LEGEND)))
        parts.append(element("details", element("summary", "Legend"), element("dl", terms)))
        parts.append(element("p", f"{ORDER} Bold rules belong to the best derivation.", class_="note"))
    parts += [_span_html(found, names) for found in spans]
    return joined(element("style", Markup(STYLE)), element("div", *parts, class_="lscfg-explanation"))


def _marked(legend: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name.replace("freq.", "frequency"), text.replace("freq.", "frequency")) for name, text in legend.items()]


def tree_html(nodes: Sequence[tuple[str, Sequence[int]]]) -> Markup:
    """A tree as nested lists.

    Args:
        nodes: the text of each node and the numbers of its children; the root first, each node before its children.
    """
    made: list[Markup] = [Markup()] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        text, children = nodes[number]
        below = element("ul", *(made[child] for child in children), class_="tree") if children else Markup()
        made[number] = element("li", text, below)
    return element("ul", made[0], class_="tree") if made else Markup()


def _names(explanations: Sequence[Explanation]) -> list[str]:
    return [one.model.replace("\\", "/").rsplit("/", 1)[-1] for one in explanations]


def _span_html(found: Sequence[SpanChoices | None], names: Sequence[str]) -> Markup:
    any_span = next(one for one in found if one is not None)
    depth = next((one.depth for one in found if one is not None and one.depth is not None), None)
    marginals = ", ".join(f"{one.marginal:.3f}" for one in found if one is not None)
    states = [
        element("p", f"{name}: states {_states_text(one)}")
        for name, one in zip(names, found, strict=True)
        if one is not None and one.states
    ]
    return element(
        "details",
        element("summary", f"{_category(any_span)}{any_span.words} · μ {marginals}"),
        *states,
        element(
            "div", _choices_html(found, names), class_="scroll", role="region", tabindex=0, aria_label=any_span.words
        ),
        style=f"margin-left: {min(depth or 0, 6) / 2:g}rem",
        open="" if depth is not None and depth <= 1 else None,
    )


def _states_text(one: SpanChoices) -> str:
    """The states of a span with their shares."""
    return "; ".join(f"{s.state} {100 * s.share:.0f} % ({s.name})" for s in one.states if s.share >= 0.01)


def _choices_html(found: Sequence[SpanChoices | None], names: Sequence[str]) -> Markup:
    """The table of the rules of a span."""
    several = len(found) > 1
    titles = ["μ", "P(e|f)", *([] if several else ["frequency"]), "gain", "context"]
    head = [element("th", title, scope="col") for _ in names for title in titles]
    lines = [element("tr", element("th", "rule", scope="col", class_="rule"), *head)]
    if several:
        owners = [element("th", name, scope="colgroup", colspan=len(titles)) for name in names]
        lines.insert(0, element("tr", element("td", ""), *owners))
    rows = []
    for (source, target, _), choices in _joined(found).items():
        cells = [element("td", cell) for choice in choices for cell in _cells(choice, several)]
        chosen = any(choice is not None and choice.chosen for choice in choices)
        rule = element("td", f"{source} → {target}", class_="rule")
        rows.append(element("tr", rule, *cells, class_="chosen" if chosen else None))
    return element(
        "table", element("thead", *lines), element("tbody", joined(*rows)), class_=None if several else "one"
    )
