"""Details of translations: posteriors and alternatives are those of an enumeration of all derivations."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from decoders import GRAMMAR, SENTENCES, WEIGHTS, Provider, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Alternative, AppliedRule, Translated
from lscfg.decode.details import graph_posteriors, log_sum, sentence_posterior
from lscfg.decode.links import joined_links
from lscfg.kernel.search import Hypergraph

MORE = """[X] ||| la casa ||| the building ||| P=1
[X] ||| [X,1] y [X,2] z [X,3] ||| [3] and [1] and [2] ||| P=0.5
[X] ||| casa ||| building ||| P=0.75
[X] ||| y ||| ||| P=0.75
"""


def translated(folder: Path, sentences: list[str], k: int, glue: float = -0.5) -> list[Translated]:
    config = small_config(folder)
    (folder / "grammar").write_text(GRAMMAR + MORE)
    with EmbeddedDecoder(config, Provider) as decoder:
        return [*decoder.translate(sentences, WEIGHTS | {"Glue": glue}, k, derivations=True, details=True)]


def test_posteriors_by_enumeration(tmp_path: Path) -> None:
    sentences = [*SENTENCES, "la y casa z verde", "la casa verde y la casa z otra"]
    for found in translated(tmp_path, sentences, 20000):
        assert 1 <= len(found.hypotheses) < 20000  # all derivations
        shares = np.exp([h.score - found.hypotheses[0].score for h in found.hypotheses])
        shares /= shares.sum()
        words: dict[tuple[str, tuple[int, ...]], float] = {}
        rules: dict[tuple[tuple[int, int], str], float] = {}
        for share, hypothesis, derivation in zip(shares, found.hypotheses, found.derivations, strict=True):
            texts = hypothesis.text.split()
            for key in zip(texts, joined_links(derivation, len(texts)), strict=True):
                words[key] = words.get(key, 0) + share
            for rule in derivation:
                if not rule.children and rule.target and "PassThrough" not in rule.features:
                    rules[rule.span, rule.target] = rules.get((rule.span, rule.target), 0) + share
        assert [word.text for word in found.details] == found.hypotheses[0].text.split()
        for word in found.details:
            assert word.posterior == pytest.approx(min(1, words[word.text, word.links]), abs=1e-9)
            for one in word.alternatives:
                assert one.posterior == pytest.approx(rules[one.span, one.text], abs=1e-9)
                check_reasons(found, one, WEIGHTS | {"Glue": -0.5})
            assert [a.posterior for a in word.alternatives] == sorted(a.posterior for a in word.alternatives)[::-1]
        mean = math.exp(np.mean([math.log(word.posterior) for word in found.details]))
        assert sentence_posterior(found.details) == pytest.approx(mean)


def check_reasons(found: Translated, one: Alternative, weights: dict[str, float]) -> None:
    """By the features of the rules of all derivations, which contain no language model."""

    def score(rule: AppliedRule) -> float:
        return sum(weights.get(name, 0) * value for name, value in rule.features.items())

    every = [rule for derivation in found.derivations for rule in derivation]
    best = max(score(r) for r in every if r.span == one.span and r.target == one.text and not r.children)
    spans = [rule.span for rule in found.derivations[0]]
    if one.span not in spans:
        assert one.difference is None and one.reasons == ()
        return
    begin, end = one.span
    now = sum(score(r) for r in found.derivations[0] if begin <= r.span[0] and r.span[1] <= end)
    assert one.difference == pytest.approx(best - now)
    assert [abs(part) for _, part in one.reasons] == sorted((abs(part) for _, part in one.reasons), reverse=True)
    if len(one.reasons) < 3:
        assert sum(part for _, part in one.reasons) == pytest.approx(one.difference)


def test_alternatives_of_a_word_and_of_its_rule(tmp_path: Path) -> None:
    (found,) = translated(tmp_path, ["la casa"], 1, -9)
    assert found.hypotheses[0].text == "the house"
    the, house = found.details
    assert the.links == (0,) and house.links == (1,)
    assert {(one.span, one.text) for one in the.alternatives} == {((0, 2), "the building")}  # instead of both words
    assert {(one.span, one.text) for one in house.alternatives} == {((0, 2), "the building"), ((1, 2), "building")}


def test_words_that_are_passed_through_have_no_posterior(tmp_path: Path) -> None:
    config = small_config(tmp_path)
    (tmp_path / "grammar").write_text("[Y] ||| a ||| b |||\n")
    with EmbeddedDecoder(config) as decoder:
        empty, found = decoder.translate(["", "x y"], WEIGHTS, details=True)
    assert empty.details == () and sentence_posterior(empty.details) == 1
    assert [(w.text, w.links) for w in found.details] == [("x", (0,)), ("y", (1,))]


def test_a_search_without_details_computes_none(tmp_path: Path) -> None:
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        assert [found.details for found in decoder.translate(SENTENCES, WEIGHTS)] == [()] * len(SENTENCES)


def test_posteriors_of_large_scores() -> None:
    graph = Hypergraph(
        np.array([0, 2, 3]),
        np.array([[-1, -1], [-1, -1], [0, -1]]),
        np.zeros(4, int),
        np.zeros(0, int),
        np.zeros(3, int),
        np.zeros(3),
        np.zeros(3, int),
    )
    found = graph_posteriors(graph, np.array([2000.0, 2000 + math.log(3), -5000.0]))
    assert found == pytest.approx([0.25, 0.75, 1.0])
    assert log_sum([]) == -math.inf == log_sum([-math.inf])
