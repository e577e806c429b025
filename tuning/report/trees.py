"""Derivations of translations, with figures of a model for each rule, as records for the page."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.decode.derivations import AppliedRule, Translated
from lscfg.study.explain import Choice, Explainer, SpanChoices

OTHERS = 3
"""Largest number of rules shown besides the chosen one, and of hidden states of a span."""

LARGE = 2.0
"""A marginal above all probabilities, which excludes spans outside the derivation."""


def tree_record(
    translated: Translated, weights: Mapping[str, float], explainer: Explainer | None
) -> list[dict[str, object]] | None:
    """The rules of the best translation's derivation, each before its children; None without a parse.

    Keys of a rule: ``category``, ``span``, ``source``, ``target`` and ``children`` as for ``AppliedRule``; ``scores``,
    its features times their weights; with an explainer, and for a rule of [X], ``span marginal``, ``states``
    ([state, share], the most probable first), ``marginal``, ``given source``, ``gain`` and ``context`` as for
    ``Choice``, and ``others`` ([source, target, marginal]). Numbers have four digits.
    """
    if not translated.derivations:
        return None
    rules = translated.derivations[0]
    spans: dict[tuple[int, int], SpanChoices] = {}
    if explainer is not None:
        explanation = explainer(translated.sentence, OTHERS, LARGE, rules)
        spans = {one.span: one for one in explanation.spans if one.depth is not None}
    return [_rule(rule, weights, spans.get(rule.span) if rule.category == "X" else None) for rule in rules]


def _rule(rule: AppliedRule, weights: Mapping[str, float], span: SpanChoices | None) -> dict[str, object]:
    scores = {name: value * weights.get(name, 0.0) for name, value in rule.features.items()}
    record: dict[str, object] = {
        "category": rule.category,
        "span": list(rule.span),
        "source": rule.source,
        "target": rule.target,
        "children": list(rule.children),
        "scores": {name: _short(value) for name, value in scores.items() if value},
    }
    if span is None:
        return record
    chosen = next(choice for choice in span.choices if choice.chosen)
    others = [choice for choice in span.choices if not choice.chosen][:OTHERS]
    return record | {
        "span marginal": _short(span.marginal),
        "states": [[state.state, _short(state.share)] for state in span.states],
        **_choice(chosen),
        "others": [[choice.source, choice.target, _short(choice.marginal)] for choice in others],
    }


def _choice(choice: Choice) -> dict[str, float | None]:
    numbers = {
        "marginal": choice.marginal,
        "given source": choice.given_source,
        "gain": choice.gain,
        "context": choice.context,
    }
    return {name: None if value is None else _short(value) for name, value in numbers.items()}


def _short(value: float) -> float:
    return float(f"{value:.4g}")
