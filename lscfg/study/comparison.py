"""Comparisons of a wanted translation with the decoder's translation, as text and as JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from lscfg.decode.why_not import LONGEST, WhyNot
from lscfg.io.columns import fit

SHOWN = 8
"""Features shown in a text."""

SMALLEST = 0.005
"""Smallest share of a feature that a text shows, since it shows two decimals."""


def comparison_text(found: WhyNot) -> str:
    """A comparison in lines of at most ``WIDTH`` columns."""
    lines = [fit(f"wanted     {found.wanted}"), fit(f"output     {found.chosen}"), f"verdict    {_verdict(found)}"]
    if found.first is not None:
        wanted, chosen = found.first
        lines += [
            "first rule that differs, by the words [i,j) that it covers",
            fit(f"  wanted     [{wanted.span[0]},{wanted.span[1]}) {wanted.source} → {wanted.target}"),
            fit(f"  output     [{chosen.span[0]},{chosen.span[1]}) {chosen.source} → {chosen.target}"),
        ]
    shown = [(name, share) for name, share in found.features if abs(share) >= SMALLEST][:SHOWN]
    if shown:
        lines.append("score of the wanted translation minus score of the output, by feature")
        lines += [f"  {share:+9.2f}  {name}" for name, share in shown]
    for rule in found.missing:
        i, j = rule.span
        lines += [fit(f"  [{i},{j}) {rule.source} → {rule.target}"), fit(f"         {rule.reason}")]
    return "\n".join(lines)


def _verdict(found: WhyNot) -> str:
    if found.verdict == "unreachable":
        count = len(found.missing)
        cure = (
            f"the smallest missing rule{'s' * (count > 1)}:"
            if count
            else f"rules of up to {LONGEST} words would not help"
        )
        return f"the grammar cannot derive the wanted translation; {cure}"
    scores = f"score {found.wanted_score:.2f}, output {found.chosen_score:.2f}"
    return {
        "same": "the output is the wanted translation",
        "model": f"{scores}: the model scores its own translation higher",
        "search": f"{scores}: the search missed the wanted translation; raise cubepruning_pop_limit",
    }[found.verdict]


def comparison_json(found: WhyNot) -> str:
    """A comparison as a JSON object in one line."""
    return json.dumps(comparison_object(found), ensure_ascii=False, allow_nan=False)


def comparison_object(found: WhyNot) -> dict[str, Any]:
    """A comparison as a JSON object; numbers have nine digits."""
    value = dataclasses.asdict(found)
    value["features"] = {name: float(f"{share:.9g}") for name, share in found.features}
    for key in ("wanted_score", "chosen_score"):
        value[key] = None if value[key] is None else float(f"{value[key]:.9g}")
    value["first"] = None if found.first is None else [_rule(rule) for rule in value["first"]]
    value["missing"] = [{**rule, "span": [*rule["span"]]} for rule in value["missing"]]
    return value


def _rule(rule: dict[str, object]) -> dict[str, object]:
    keys = ("category", "span", "source", "target", "source_words", "target_words")
    return {key: [*value] if isinstance(value := rule[key], tuple) else value for key in keys}
