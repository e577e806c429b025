"""Lattices in the decoder: against sentences, against all their paths, and costs computed by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from decoders import WEIGHTS, small_config
from helpers import SPANISH_RULES, rule_table, save_random_system_model
from lattices import EMPTY, Arcs, random_lattice

import lscfg
from lscfg.cli import main
from lscfg.corpus.tolerant import tolerated
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.inputs import input_fault
from lscfg.decode.terms import Term
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, write_ini
from lscfg.functions.function import FunctionLine
from lscfg.kernel import FEATURE_FAMILIES

COSTS = WEIGHTS | {"LatticeCost_0": -0.7, "Own": 0.3}


def plf(arcs: Arcs, costs: list[float]) -> str:
    """The lattice, with each cost once by its place and once in a dictionary."""
    nodes: dict[int, list[str]] = {i: [] for i in range(max(j for _, j, _ in arcs))}
    for (i, j, word), cost in zip(arcs, costs, strict=True):
        escaped = word.replace("\\", "\\\\").replace("'", "\\'")
        shown = f"{cost!r}" if i % 2 else f"{{'LatticeCost_0':{cost!r},'Own':1}}"
        nodes[i].append(f"('{escaped}',{shown},{j - i}),")
    return "(" + "".join(f"({''.join(node)})," for node in nodes.values()) + ")"


def all_paths(arcs: Arcs, last: int, state: int = 0) -> list[list[int]]:
    if state == last:
        return [[]]
    return [[k, *rest] for k, (i, j, _) in enumerate(arcs) if i == state for rest in all_paths(arcs, last, j)]


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    return replace(small_config(tmp_path), max_span=100, pop_limit=100_000)


@pytest.mark.parametrize("sentence", ["la casa verde", "verde casa", "otra casa", "casa"])
def test_a_lattice_of_one_path_is_the_sentence(config: DecoderConfig, sentence: str) -> None:
    functions = tuple(map(FunctionLine, ("RuleIdentityFeatures", "SpanFeatures", "SourceSpanSizeFeatures")))
    words = sentence.split()
    line = "(" + "".join(f"(('{word}',1),)," for word in words) + ")"
    with EmbeddedDecoder(replace(config, functions=functions)) as decoder:
        plain, lattice = decoder.decode([sentence, line], WEIGHTS, k=100)
        assert [(h.text, dict(h.features), h.score) for h in lattice] == [
            (h.text, dict(h.features), h.score) for h in plain
        ]
        both = [next(decoder.translate([one], WEIGHTS, 20, derivations=True)) for one in (sentence, line)]
        assert both[0].derivations and [
            [replace(rule, features={}) for rule in derivation] for derivation in both[0].derivations
        ] == [[replace(rule, features={}) for rule in derivation] for derivation in both[1].derivations]


@pytest.mark.parametrize("seed", range(25))
def test_a_lattice_equals_the_best_of_its_paths(config: DecoderConfig, seed: int) -> None:
    """With words of no rule, quotes in words, arcs over several states and, in every other lattice, empty arcs."""
    rng = np.random.default_rng(seed)
    words = ["la", "casa", "verde", "l'o", "\\"]
    arcs = random_lattice(rng, rng.choice(words, 3).tolist(), words, 0.3 * (seed % 2))
    costs = rng.normal(size=len(arcs)).round(3).tolist()
    with EmbeddedDecoder(config) as decoder:
        found = decoder.decode([plf(arcs, costs)], COSTS, k=1)[0][0]
        best = []
        for path in all_paths(arcs, 3):
            text = " ".join(arcs[k][2] for k in path if arcs[k][2] != EMPTY)
            if not text:
                continue
            one = decoder.decode([text], COSTS)[0][0]
            own = sum(COSTS["LatticeCost_0"] * costs[k] + COSTS["Own"] * (arcs[k][0] % 2 == 0) for k in path)
            best.append(one.score + own)
        assert found.score == pytest.approx(max(best), abs=1e-5)
        assert found.score == pytest.approx(sum(COSTS.get(name, 0) * value for name, value in found.features.items()))


def test_costs_and_places_of_a_derivation(config: DecoderConfig) -> None:
    line = "((('la',0.5,1),('el',0.25,1)),(('casa',1.5,1),('*EPS*',3,1)),(('verde',0.125,1)))"
    with EmbeddedDecoder(config) as decoder:
        weights = WEIGHTS | {"LatticeCost_0": -1.0}
        found = next(decoder.translate([line], weights, 1, derivations=True, details=True))
        assert found.hypotheses[0].features["LatticeCost_0"] == pytest.approx(0.5 + 1.5 + 0.125)
        rules = {rule.source: rule for rule in found.derivations[0]}
        assert rules["la casa"].source_words == (0, 1) and rules["[X,1] verde"].source_words == (2,)
        assert rules["la casa"].features["LatticeCost_0"] == 2.0
        assert found.details == ()
        lists, graphs = decoder.decode_graphs([line], weights, 5, False, 50)
        assert graphs[0] is not None and "LatticeCost_0" in graphs[0].names and lists[0][0].text


def test_a_lattice_without_a_parse_passes_its_first_path_through(config: DecoderConfig) -> None:
    line = "((('q',1),('r',1)),(('*EPS*',1)),(('s',1)))"
    with EmbeddedDecoder(replace(config, pass_through=False)) as decoder:
        assert decoder.decode([line], WEIGHTS)[0][0].text == "q s"


def test_glossaries_and_corrections_are_refused(config: DecoderConfig) -> None:
    with EmbeddedDecoder(config) as decoder, pytest.raises(InputError, match="sentence 2 is a lattice, to which gloss"):
        list(decoder.translate(["casa", "((('casa',1),),)"], WEIGHTS, terms=[Term("casa", ("home",))]))


# ---- command and library ----


@pytest.fixture
def ini(config: DecoderConfig, tmp_path: Path) -> Path:
    write_ini(tmp_path / "cdec.ini", config)
    (tmp_path / "weights").write_text("".join(f"{name} {value}\n" for name, value in COSTS.items() if name != "Latent"))
    return tmp_path / "cdec.ini"


def test_the_command_decodes_lattices_next_to_sentences(
    ini: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text"
    text.write_text("la casa\n((('la',0.5,1),('casa',2,2)),(('casa',0.5,1)))\n\n")
    arguments = ["decode", "-c", str(ini), "-w", str(tmp_path / "weights"), str(text), "--quiet"]
    assert main([*arguments, "--derivations", str(tmp_path / "json")]) == 0
    assert capsys.readouterr().out == "the house\nthe house\n\n"
    rows = [json.loads(line) for line in (tmp_path / "json").read_text().splitlines()]
    assert [row["words"] for row in rows] == [["la", "casa"], None, []]
    text.write_text("la casa\n((('la',0.5,2)))\n")
    assert main(arguments) == 1
    assert f"{text}:2: lattice, state 1 of 1: the arc 'la' leads 2 states on" in capsys.readouterr().err


def test_a_bad_lattice_of_a_stream_counts_as_an_empty_line(caplog: pytest.LogCaptureFixture) -> None:
    lines = [b"((('a'", b"((('a',1)))", b"a", b'<seg id="1">a']
    fault = partial(input_fault, config=DecoderConfig(grammars=(Path("g"),)))
    assert list(tolerated(lines, fault=fault)) == ["", "((('a',1)))", "a", ""]
    assert "1: lattice, column 7: expected ,, found the end of the line; it counts as an empty line" in caplog.text


def test_lattices_are_refused_before_a_glossary_translates_the_other_lines(
    ini: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    text, glossary = tmp_path / "text", tmp_path / "glossary"
    text.write_text("la casa\n((('la',1)))\ncasa\n")
    glossary.write_text("source\ttarget\ncasa\thut\n")
    arguments = ["decode", "-c", str(ini), "-w", str(tmp_path / "weights"), "--glossary", str(glossary)]
    assert main([*arguments, str(text)]) == 1
    found = capsys.readouterr()
    assert f"{text}:2: a lattice, to which glossaries and corrections do not apply" in found.err and not found.out
    decoder = lscfg.Decoder(ini, tmp_path / "weights", glossary)
    with decoder, pytest.raises(InputError, match="lines:2: a lattice, to which"):
        decoder.translate(text.read_text().splitlines())
    fault = partial(input_fault, config=DecoderConfig(grammars=(Path("g"),)), taught=True)
    assert list(tolerated(text.read_bytes().splitlines(), fault=fault)) == ["la casa", "", "casa"]
    assert "2: a lattice, to which glossaries" in caplog.text


def test_names_of_costs_are_no_unknown_weights(
    ini: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("((('la',{'Own':1,'Cost':2},1)))\n")
    (tmp_path / "weights").write_text("Own 1\nOther 1\nLatticeCost_3 1\n")
    arguments = ["decode", "-c", str(ini), "-w", str(tmp_path / "weights"), str(tmp_path / "text")]
    assert main(arguments) == 0
    assert "without a feature in the decoder: 'Other'" in caplog.text and "Own" not in caplog.text
    assert capsys.readouterr().out


def test_the_library_decodes_and_tunes_on_lattices(ini: Path, tmp_path: Path) -> None:
    line = "((('la',0.5,1),('casa',2,2)),(('casa',0.5,1)))"
    with lscfg.Decoder(ini, tmp_path / "weights") as decoder:
        assert decoder.translate([line]) == ["the house"]
        with pytest.raises(InputError, match="lines:1: lattice, column 8: expected ,, found 'x'"):
            decoder.translate(["((('a' x"])
    sources = [f"((('la',{x},1),('casa',2,2)),(('casa',0.5,1)),(('verde',1,1)),(('verde',1,1)))" for x in (1, 2, 3)]
    weights = lscfg.tune(ini, sources, ["green the house green"] * 3, dict(WEIGHTS), iterations=2, kbest=5)
    assert "LatticeCost_0" in weights


# ---- latent features ----

LINES = [("a b", "A B", "0-0 1-1"), ("b a", "B A", "0-0 1-1"), ("a", "A", "0-0"), ("b", "C", "0-0"), ("a c", "A D", "")]
LATENT = {"LatentMarginal": 1.0, "LatentEgivenF": 0.5, "LanguageModel": 0.5}


@pytest.fixture
def latent(tmp_path: Path) -> Path:
    """A system with features of the paper."""
    for number, name in enumerate(("f", "e", "links")):
        (tmp_path / name).write_text("".join(f"{line[number]}\n" for line in LINES * 3))
    f, e, links, deriv = (str(tmp_path / name) for name in ("f", "e", "links", "deriv"))
    for words in (
        ["derive", f, e, links, "-o", deriv],
        ["grammar", "minimal", deriv, "-o", str(tmp_path / "g")],
        ["estimate", "mle", deriv, "-o", str(tmp_path / "model")],
        ["lm", e, "-o", str(tmp_path / "lm"), "--order", "2", "--discount-fallback"],
    ):
        assert main([*words, "--quiet"]) == 0
    (tmp_path / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=g\nfeature_function=WordPenalty\nfeature_function=KLanguageModel lm\n"
        "feature_function=LSCFG model=model features=paper\nscfg_no_hiero_glue_grammar=true\n"
        "add_pass_through_rules=true\n"
    )
    return tmp_path / "cdec.ini"


def test_latent_features_work_on_lattices(latent: Path) -> None:
    with EmbeddedDecoder.from_ini(latent) as decoder:
        plain, line, wide = decoder.decode(
            ["a b", "((('a',1)),(('b',1)))", "((('a',1),('b',1)),(('b',1),('a',1)))"], LATENT, k=500
        )
        assert {name for h in plain for name in h.features} >= {"LatentMarginal", "LatentEgivenF"}
        assert line[0].text == plain[0].text and line[0].score == pytest.approx(plain[0].score)
        assert dict(line[0].features) == pytest.approx(dict(plain[0].features))
        assert {h.text for h in wide} > {h.text for h in plain}


OF_MARGINALS = ("paper", "span", "ratios")


@pytest.mark.parametrize("family", FEATURE_FAMILIES)
def test_context_features_are_0_in_lattices(family: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As are the features of all other families without marginals; the decoder says so once."""
    save_random_system_model(tmp_path / "model", rule_table(SPANISH_RULES), 0.05)
    rules = (*SPANISH_RULES, "una casa ||| one house")  # the context model lacks the last one
    (tmp_path / "g").write_text("".join(f"[X] ||| {rule} |||\n" for rule in rules))
    (tmp_path / "cdec.ini").write_text(
        f"formalism=scfg\ngrammar=g\nfeature_function=LSCFG model=model features={family},\n"
    )
    sentence = "una casa blanca una"
    line = "(" + "".join(f"(('{word}',1),)," for word in sentence.split()) + ")"
    with EmbeddedDecoder.from_ini(tmp_path / "cdec.ini") as decoder:
        lists = decoder.decode([sentence, line, line], {"Glue": -1.0}, k=300)
    plain, first, second = ({name for h in list_ for name in h.features} - {"Glue"} for list_ in lists)
    assert plain and plain <= {*FEATURE_FAMILIES[family]}
    assert first == second == (plain if family in OF_MARGINALS else set())
    assert [record.message for record in caplog.records] == (
        []
        if family in OF_MARGINALS
        else [f"the features {family} are 0 in lattices, whose spans have no certain words around them"]
    )
