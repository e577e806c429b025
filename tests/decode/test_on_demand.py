"""Decoding with an index instead of a grammar, and corrections that join its text."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from decoders import WEIGHTS, small_config

from lscfg import log
from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.inputs import check_inputs
from lscfg.decode.memory import open_memory
from lscfg.decode.names import FeatureNames
from lscfg.decode.parsing import read_grammar
from lscfg.errors import InputError
from lscfg.extract import on_demand
from lscfg.extract.hiero import extract_files
from lscfg.extract.hiero_settings import HieroSettings
from lscfg.extract.on_demand import RuleIndex, write_index
from lscfg.formats.ini import DecoderConfig, LatentFeature
from lscfg.formats.rule_index import SOURCE, TARGET
from lscfg.grammar.counts import FEATURES
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_grammar
from lscfg.io.write import write_lines
from lscfg.kernel import Grammar
from lscfg.kernel.forest import add_matching
from lscfg.parallel.choose import in_processes
from lscfg.prepare.numbers import NumberFormats

SENTENCES = ["a b c", "b a d e", "c c a new", ""]
TUNED = WEIGHTS | dict.fromkeys(FEATURES, -0.3) | {"Glue": -0.1, "PassThrough": -5.0}


def text(folder: Path, name: str, more: list[tuple[str, str, str]]) -> list[Path]:
    rng = random.Random(2)
    pairs = []
    for _ in range(40):
        source = [rng.choice("abcde") for _ in range(rng.randint(1, 6))]
        order = [*range(len(source))]
        if rng.random() < 0.5:
            order.reverse()
        links = " ".join(f"{i}-{j}" for j, i in enumerate(order) if rng.random() < 0.8)
        pairs.append((" ".join(source), " ".join(source[i].upper() for i in order), links))
    paths = [folder / f"{name}.{side}" for side in ("source", "target", "links")]
    for path, lines in zip(paths, zip(*(pairs + more), strict=True), strict=True):
        write_lines(path, lines)
    return paths


def configs(folder: Path, more: list[tuple[str, str, str]] | None = None) -> tuple[DecoderConfig, DecoderConfig]:
    """A configuration with a grammar of the text and of more pairs, and one with the index of the text."""
    config = small_config(folder)
    source, target, links = text(folder, "more", more or [])
    counted = extract_files(source, target, [links])
    write_grammar(folder / "hiero", counted, select_rules(counted))
    source, target, links = text(folder, "text", [])
    write_index(folder / "index", source, target, [links], HieroSettings(), 0)
    config = replace(config, max_span=6, pass_through=True, glue=True, latent=None)
    return tuple(replace(config, grammars=(folder / name,)) for name in ("hiero", "index"))  # type: ignore[return-value]


def lists(config: DecoderConfig, **options: object) -> list[list[tuple[str, float, dict[str, float]]]]:
    with EmbeddedDecoder(config) as decoder:
        found = decoder.translate(SENTENCES, TUNED, 20, **options)  # type: ignore[arg-type]
        return [[(one.text, one.score, dict(one.features)) for one in sentence.hypotheses] for sentence in found]


def test_translations_and_features_are_those_of_the_grammar(tmp_path: Path) -> None:
    whole, index = configs(tmp_path)
    found = lists(index)
    assert found == lists(whole) and len(found[0]) > 5 and found[-1][0][0] == ""
    assert {*FEATURES} <= {*FeatureNames.of(index).live}
    with in_processes(2) as engine, EmbeddedDecoder(index, engine=engine) as decoder:
        again = decoder.decode(SENTENCES, TUNED, 20)
    assert [[(one.text, one.score) for one in each] for each in again] == [
        [(text, score) for text, score, _ in each] for each in found
    ]


def test_further_rules_and_comparisons_use_the_rules_of_the_sentence(tmp_path: Path) -> None:
    whole, index = configs(tmp_path)
    rule = "[X] ||| new ||| NEW ||| EgivenF=0.1"
    assert lists(index, rules=[rule]) == lists(whole, rules=[rule])
    with EmbeddedDecoder(index) as decoder, EmbeddedDecoder(whole) as other:
        assert other.lists_rules and not decoder.lists_rules
        wanted = lists(whole)[0][3][0]
        assert decoder.why_not("a b c", wanted, TUNED) == other.why_not("a b c", wanted, TUNED)
        sides = [decoder.known_words(side) for side in (SOURCE, TARGET)]
        assert [{*map(decoder.grammar.vocab.word, words)} for words in sides] == [{*"abcde"}, {*"ABCDE"}]


def test_a_decoder_opens_its_index_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers ask for the words of the text, in this process as well as with workers."""
    _, index = configs(tmp_path)
    opened, opening = [], RuleIndex.__init__
    monkeypatch.setattr(RuleIndex, "__init__", lambda own, path: (opened.append(path), opening(own, path))[1])
    formats = NumberFormats.of("de", "en")
    for jobs in (1, 2):
        with in_processes(jobs) as engine, EmbeddedDecoder(index, engine=engine) as decoder:
            found = [one.hypotheses[0].text for one in decoder.translate(["a 1,5 c"], TUNED, numbers=formats)]
            assert "1.5" in found[0]
            assert decoder.known_words(SOURCE)
        assert len(opened) == jobs


def test_latent_features_are_those_of_the_grammar(tmp_path: Path) -> None:
    """The model is read once, and bound to the rules of each sentence."""
    both = configs(tmp_path)
    deriv, model = str(tmp_path / "deriv"), str(tmp_path / "model")
    assert (
        main(["derive", *(str(tmp_path / f"text.{name}") for name in ("source", "target", "links")), "-o", deriv]) == 0
    )
    assert main(["estimate", "em", deriv, "-m", "2", "--iterations", "1", "-o", model]) == 0
    feature = LatentFeature({"model": model, "features": "ratios"})
    whole, index = (replace(one, latent=feature, path=tmp_path / "cdec.ini") for one in both)
    weights, found = TUNED | {"LatentTarget": 0.5, "LatentSource": 0.3}, []
    for config in (whole, index):
        with EmbeddedDecoder.from_config(config) as decoder:
            lists = [one.hypotheses for one in decoder.translate(SENTENCES, weights, 20)]
            found.append([(one.text, one.score, dict(one.features)) for each in lists for one in each])
    assert found[0] == found[1] and any("LatentTarget" in features for *_, features in found[0])


def test_corrections_join_the_text(tmp_path: Path) -> None:
    """After corrections, rules and features are those of the longer text; after their removal, those from before."""
    pairs = [("a new", "A NEW", "0-0 1-1"), ("b new c", "B C NEW", "0-0 1-2 2-1")]
    whole, index = configs(tmp_path, pairs)
    plain = {name: weight for name, weight in TUNED.items() if name != "Correction"} | {"Correction": 0.0}
    sentence = "c c a new"

    def best(decoder: EmbeddedDecoder, memory: object) -> list[tuple[str, float]]:
        (found,) = decoder.translate([sentence], plain, 50, memory=memory)  # type: ignore[arg-type]
        return [(one.text, one.score) for one in found.hypotheses]

    with EmbeddedDecoder(index) as decoder, EmbeddedDecoder(whole) as other:
        links = {source: [tuple(map(int, link.split("-"))) for link in text.split()] for source, _, text in pairs}
        memory = open_memory(tmp_path / "memory", lambda source, target: links[" ".join(source)])
        before = best(decoder, memory)
        numbers = [memory.add(source, target)[0].id for source, target, _ in pairs]
        assert best(decoder, memory) == best(other, memory) != before
        memory.undo(*numbers)
        assert best(decoder, memory) == before


def test_an_index_works_next_to_a_grammar(tmp_path: Path) -> None:
    """The grammar is read once; each sentence copies the rules that it may use, with their features and links."""
    whole, index = configs(tmp_path)
    other = tmp_path / "other"
    lines = [
        "[X] ||| a [X,1] ||| [1] OTHER ||| Own=0.5 EgivenF=0.25 ||| 0-1",
        "[Y] ||| d ||| DD ||| Own=1",
        "[X] ||| [Y,1] e ||| E [1] ||| Own=-1.5",
        "[X] ||| z ||| Z ||| Never=1",
        "[X] ||| b ||| BB OTHER ||| Own=2 ||| 0-0",
    ]
    write_lines(other, lines)
    both = [replace(one, grammars=(other, *one.grammars)) for one in (whole, index)]
    weighted = TUNED | {"Own": 0.7, "Never": 1.0}

    def found(config: DecoderConfig) -> list[list[tuple[str, float, dict[str, float]]]]:
        with EmbeddedDecoder(config) as decoder:
            other.rename(tmp_path / "moved")  # nothing reads the file again
            lists = [list(one.hypotheses) for one in decoder.translate(SENTENCES, weighted, 30, derivations=True)]
            (tmp_path / "moved").rename(other)
        return [[(one.text, one.score, dict(one.features)) for one in each] for each in lists]

    assert found(both[0]) == found(both[1])
    assert any("Own" in features for _, _, features in found(both[1])[1])


def test_rules_of_another_vocabulary_are_not_copied() -> None:
    with pytest.raises(InputError, match="another vocabulary"):
        add_matching(Grammar(), Grammar(), np.zeros(1, np.int32))
    own = Grammar()
    with pytest.raises(InputError, match="rules of the grammar itself"):
        add_matching(own, own, np.zeros(1, np.int32))


def test_corrections_that_leave_the_memory_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_demand, "MOST_TAUGHT", 2)
    monkeypatch.setattr(on_demand, "FORGOTTEN", 1)
    _, index = configs(tmp_path)
    memory = open_memory(tmp_path / "memory", lambda source, target: [(0, 0)])
    with EmbeddedDecoder(index) as decoder, log.held_back() as warnings:
        for k in range(4):
            memory.add(f"a {k}", f"A {k}")
            list(decoder.translate(["a"], TUNED, memory=memory))
    assert [str(one).split("lacks ")[1] for one in warnings] == [
        f"the rules of the oldest {k} of {k + 2} corrections; make the index again from text that contains them"
        for k in (1, 2)
    ]


def test_what_needs_all_rules_is_refused(tmp_path: Path) -> None:
    _, index = configs(tmp_path)
    with pytest.raises(InputError, match="an index does not list its rules; write a grammar"):
        read_grammar(index)
    with pytest.raises(InputError, match="a decoder uses one index, not 2"):
        EmbeddedDecoder(replace(index, grammars=index.grammars * 2))
    with pytest.raises(InputError, match="unknown_words=similar needs all rules"):
        EmbeddedDecoder(replace(index, substitutes=True))
    lattice = "((('a',0.5,1),('b',0.5,1),),)"
    with EmbeddedDecoder(index) as decoder, pytest.raises(InputError, match="an index gives no rules for lattices"):
        decoder.decode([lattice], TUNED)
    with pytest.raises(InputError, match="text:2: an index gives no rules for lattices"):
        check_inputs(["a b", lattice], "text", index)
