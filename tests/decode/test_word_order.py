"""Zones and walls, against all derivations of the sentence without tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import AppliedRule
from lscfg.formats.ini import DecoderConfig
from lscfg.formats.marked import read_marked

GRAMMAR = """[X] ||| a ||| A ||| P=1
[X] ||| b ||| B ||| P=1.5
[X] ||| c ||| C ||| P=1
[X] ||| d ||| D ||| P=1
[X] ||| b c ||| C- B- ||| P=2 ||| 0-1 1-0
[X] ||| [X,1] [X,2] ||| [1] [2] ||| P=0.5
[X] ||| [X,1] [X,2] ||| [2] [1] ||| P=0.75
[X] ||| a [X,1] ||| [1] A+ ||| P=1 ||| 0-1
[X] ||| [X,1] c [X,2] ||| [2] C* [1] ||| P=3 ||| 1-1
[S] ||| [X,1] ||| [1] |||
"""
LINES = [
    "a <zone>b c</zone> d",
    "<zone>a b</zone> <zone>c d</zone>",
    "<zone>a <zone>b c</zone></zone> d",
    "<zone>a b c</zone> d",
    "a <wall/> b c d",
    "a b <wall/> c d",
    "a b <wall/> c <wall/> d",
    "a <zone>b <wall/> c</zone> d",
    "<zone>a b <wall/> c</zone> <wall/> d",
    "<zone>a b c d</zone>",
]


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    (tmp_path / "grammar").write_text(GRAMMAR)
    return DecoderConfig(grammars=(tmp_path / "grammar",), glue=False, pop_limit=10**6)


def found(decoder: EmbeddedDecoder, line: str, mode: str) -> list[tuple[str, Sequence[AppliedRule]]]:
    weights = {"P": 1.0, "Glue": -1.0}
    translated = next(decoder.translate([line], weights, 10**5, derivations=True, xml_input=mode))
    return [(one.text, rules) for one, rules in zip(translated.hypotheses, translated.derivations, strict=True)]


def keeps(line: str, rules: Sequence[AppliedRule]) -> bool:
    """By the definition: zones are spans; no word from after a wall precedes one from before, in the whole text."""
    order = read_marked(line).order
    spans = {rule.span for rule in rules}
    sources: dict[int, list[int]] = {}
    for rule in rules:
        for i, j in rule.links:
            sources.setdefault(j, []).append(i)
    for place, (a, b) in order.walls:
        inside = [sources[j] for j in sorted(sources) if a <= min(sources[j]) < b]
        for n, one in enumerate(inside):
            if any(max(one) >= place > min(other) for other in inside[n + 1 :]):
                return False
    return all(zone in spans for zone in order.zones)


def shown(found: list[tuple[str, Sequence[AppliedRule]]]) -> Counter[str]:
    return Counter(f"{text} {[(rule.source, rule.target, rule.span) for rule in rules]}" for text, rules in found)


@pytest.mark.parametrize("line", LINES)
def test_derivations_are_those_that_keep_the_order(line: str, config: DecoderConfig) -> None:
    """Glue within zones adds further ones, which keep it, too."""
    with EmbeddedDecoder(config) as decoder:
        free = found(decoder, line, "ignore")
        kept = found(decoder, line, "exclusive")
    wanted = [one for one in free if keeps(line, one[1])]
    assert 0 < len(wanted) < len(free) or line == LINES[-1]
    glued = [one for one in kept if any(rule.features.get("Glue") for rule in one[1])]
    assert shown([one for one in kept if one not in glued]) == shown(wanted)
    assert all(keeps(line, rules) for _, rules in glued)
    assert bool(glued) == bool(read_marked(line).order.zones)


def test_glue_within_zones_makes_zones_possible(config: DecoderConfig, tmp_path: Path) -> None:
    """Of words that no rule joins, beyond the span limit, and with Hiero's glue around."""
    words = [line for line in GRAMMAR.splitlines(keepends=True) if re.match(r"\[X\] \|\|\| [a-d] \|", line)]
    (tmp_path / "grammar").write_text("".join(words))
    with EmbeddedDecoder(replace(config, glue=True, max_span=2)) as decoder:
        for line, spans in (("a <zone>b c d</zone>", {(1, 4)}), ("<zone>a b c</zone> <wall/> d", {(0, 3)})):
            kept = found(decoder, line, "inclusive")
            assert kept and {text for text, _ in kept} == {"A B C D"}
            assert all(spans <= {rule.span for rule in rules} for _, rules in kept)
    (tmp_path / "grammar").write_text(GRAMMAR)
    with EmbeddedDecoder(replace(config, glue=True, max_span=2)) as decoder:
        kept = found(decoder, "a <zone>b c d</zone>", "inclusive")
        wide = [rule for _, rules in kept for rule in rules if rule.span[1] - rule.span[0] > 2]
        assert {text for text, _ in kept} >= {"A C- B- D", "A C B D"}
        assert wide and all(rule.features.get("Glue") or rule.target == "[X,1]" for rule in wide)


def test_an_impossible_order_is_ignored_with_a_warning(
    config: DecoderConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "grammar").write_text("[X] ||| a b ||| A ||| P=1\n[X] ||| c ||| C ||| P=1\n")
    with EmbeddedDecoder(replace(config, glue=True)) as decoder:
        assert found(decoder, "a <zone>b c</zone>", "exclusive")[0][0] == "A C"
    assert "sentence 1 has no parse that keeps its zones and walls; they are ignored" in caplog.text
