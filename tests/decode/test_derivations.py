"""Derivations of translations: yields, spans, words and features are those of the k-best list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from decoders import SENTENCES, WEIGHTS, Provider, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Translated, derivations_json
from lscfg.formats.ini import DecoderConfig
from lscfg.parallel.choose import in_processes

LM = ("LanguageModel", "LanguageModel_OOV")


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    return small_config(tmp_path)


def translated(config: DecoderConfig, sentences: list[str], k: int = 50, jobs: int = 1) -> list[Translated]:
    with in_processes(jobs) as engine, EmbeddedDecoder(config, Provider, engine, cached=0) as decoder:
        return [*decoder.translate(sentences, WEIGHTS, k, derivations=True)]


def words_of(rules: list[dict[str, Any]], number: int, side: str) -> list[str]:
    """The words of a rule and of all below it, by its text alone."""
    rule, found = rules[number], []
    for symbol in rule[side].split():
        if symbol.startswith("["):
            child = rule["children"][int(symbol[:-1].split(",")[1]) - 1]
            found += words_of(rules, child, side)
        else:
            found.append(symbol)
    return found


def test_yields_spans_and_features_are_those_of_the_list(config: DecoderConfig) -> None:
    count = 0
    for number, sentence in enumerate(translated(config, SENTENCES)):
        found = json.loads(derivations_json(number, sentence))
        assert found["id"] == number and found["parsed"] and found["words"] == SENTENCES[number].split()
        assert [d["translation"] for d in found["derivations"]] == [h.text for h in sentence.hypotheses]
        for hypothesis, derivation in zip(sentence.hypotheses, found["derivations"], strict=True):
            count += 1
            rules = derivation["rules"]
            assert words_of(rules, 0, "source") == found["words"]
            assert words_of(rules, 0, "target") == hypothesis.text.split()
            sums = {name: derivation["features"][name] for name in LM if name in derivation["features"]}
            for place, rule in enumerate(rules):
                for side, span, whole in (
                    ("source", rule["span"], found["words"]),
                    ("target", rule["target_span"], hypothesis.text.split()),
                ):
                    assert words_of(rules, place, side) == whole[span[0] : span[1]]
                    own = [symbol for symbol in rule[side].split() if not symbol.startswith("[")]
                    assert [whole[position] for position in rule[f"{side}_words"]] == own
                assert not set(LM) & rule["features"].keys()
                for name, value in rule["features"].items():
                    sums[name] = sums.get(name, 0) + value
            assert sums == pytest.approx(dict(hypothesis.features))
            assert derivation["features"] == pytest.approx(dict(hypothesis.features))
            assert derivation["score"] == pytest.approx(hypothesis.score)
    assert count > 40


def test_a_known_derivation(config: DecoderConfig) -> None:
    (sentence,) = translated(config, ["la casa verde"], 1000)
    rules = next(
        derivation
        for hypothesis, derivation in zip(sentence.hypotheses, sentence.derivations, strict=True)
        if hypothesis.text == "green the house" and "Glue" not in hypothesis.features
    )
    assert [rule.source for rule in rules] == ["[X,1]", "[X,1] verde", "la casa"]
    assert [rule.target for rule in rules] == ["[X,1]", "green [X,1]", "the house"]
    assert [rule.category for rule in rules] == ["S", "X", "X"]
    assert [rule.span for rule in rules] == [(0, 3), (0, 3), (0, 2)]
    assert [rule.target_span for rule in rules] == [(0, 3), (0, 3), (1, 3)]
    assert [rule.source_words for rule in rules] == [(), (2,), (0, 1)]
    assert [rule.target_words for rule in rules] == [(), (0,), (1, 2)]
    assert [rule.children for rule in rules] == [(1,), (2,), ()]
    assert rules[2].features["P"] == 1.5


def test_processes_describe_the_same(config: DecoderConfig) -> None:
    one, two = (
        [derivations_json(n, sentence) for n, sentence in enumerate(translated(config, SENTENCES, jobs=jobs))]
        for jobs in (1, 2)
    )
    assert one == two


def test_a_sentence_without_a_parse_has_none(config: DecoderConfig) -> None:
    empty, other = translated(config, ["", "casa"], 1)
    assert json.loads(derivations_json(0, empty)) == {"id": 0, "words": [], "parsed": False, "derivations": []}
    assert len(other.derivations) == 1
    with EmbeddedDecoder(config) as decoder:
        assert [sentence.derivations for sentence in decoder.translate(["casa"], WEIGHTS)] == [()]


def test_a_rule_of_three_nonterminals_is_one_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = small_config(tmp_path)
    rules = ["a [X,1] b [X,2] c [X,3] ||| the [3] of [1] and [2] ||| P=1", "w ||| house ||| P=2", "w ||| green ||| P=1"]
    (tmp_path / "grammar").write_text("".join(f"[X] ||| {rule}\n" for rule in rules))
    (sentence,) = translated(config, ["a w b w c w"])
    found = json.loads(derivations_json(0, sentence))["derivations"]
    found = [d for d in found if "PassThrough" not in d["features"]]
    whole = [d for d in found if any(rule["source"].count("[X,") == 3 for rule in d["rules"])]
    assert len(whole) == 8 == len({d["translation"] for d in whole})
    for derivation in whole:
        top, long, *words = derivation["rules"]
        assert (top["source"], top["children"]) == ("[X,1]", [1])
        assert (long["source"], long["target"]) == ("a [X,1] b [X,2] c [X,3]", "the [X,3] of [X,1] and [X,2]")
        assert long["children"] == [2, 3, 4] and long["source_words"] == [0, 2, 4] and long["span"] == [0, 6]
        assert [rule["span"] for rule in words] == [[1, 2], [3, 4], [5, 6]]
        sums = sum(rule["features"].get("P", 0) for rule in derivation["rules"])
        assert derivation["features"]["P"] == pytest.approx(sums) and long["features"]["P"] >= 1
        assert words_of(derivation["rules"], 0, "target") == derivation["translation"].split()
    assert "scope" not in capsys.readouterr().err


@pytest.mark.usefixtures("terminal")
def test_rules_of_a_large_scope_get_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = small_config(tmp_path)
    (tmp_path / "grammar").write_text("[X] ||| [X,1] [X,2] [X,3] ||| [3] [2] [1] |||\n[X] ||| w ||| house |||\n")
    assert translated(config, ["w w w"])[0].hypotheses[0].text == "house house house"
    assert "rules of more than two nonterminals with a scope above 2, up to 4: 1;" in capsys.readouterr().err
