"""Analyses of sentences: the same for any number of threads, and what is told of those without probability."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from categories import RULES, Enumerated, derivations, random_parameters, saved, table_of
from forests import build

import lscfg.decode.analysis
from lscfg.decode.analysis import Analyser
from lscfg.decode.latent import Improper, LatentFeatures
from lscfg.formats.forests import ForestFile
from lscfg.io.write import write_lines
from lscfg.kernel import FeatureOptions, Grammar, S
from lscfg.kernel.options import ImproperCounts
from lscfg.parallel.choose import in_threads


def test_analyses_do_not_depend_on_the_number_of_threads(tmp_path):
    build(tmp_path, 3, 11, True)
    sentences = [" ".join("abcn"[(k * 7 + n * n) % 4] for n in range(2 + k % 9)) for k in range(60)] + [""]
    texts = []
    for threads in (1, 2, 4):
        analyser = Analyser.from_model(tmp_path / "m")
        size = len(analyser.grammar.vocab)
        numbered = list(enumerate(sentences))
        with in_threads(threads) as engine:
            texts.append(list(engine.map(lambda item: analyser.json(item[0], analyser(item[1], item[0])), numbered)))  # noqa: B023
        assert len(analyser.grammar.vocab) == size
    assert texts[0] == texts[1] == texts[2] and len({*texts[0]}) == len(sentences)


@pytest.mark.usefixtures("terminal")
def test_what_workers_counted_is_told_as_one(capsys):
    signs = [1, -1, 0, 1, 1]
    found = [
        SimpleNamespace(sign=sign, negative=k > 2, log_g=0.0, negative_mass=k / 100) for k, sign in enumerate(signs)
    ]
    here, whole = Improper(), Improper()
    for inference in found:
        here.count(inference)
        worker = Improper()
        worker.count(inference)
        whole.add(worker.take())
        assert worker.take() == ImproperCounts()
    here.report(FeatureOptions())
    told = capsys.readouterr().err
    assert "of 5 sentences 2 have no positive sum" in told and "2 have negative marginals, 3.5%" in told
    whole.report(FeatureOptions())
    assert capsys.readouterr().err == told
    whole.report(FeatureOptions())
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("terminal")
def test_what_is_no_probability_is_told_once(tmp_path, capsys):
    build(tmp_path, 3, 11, True)
    analyser = Analyser.from_model(tmp_path / "m")
    analyses = [analyser(line) for line in ("b a b a c b", "a b c", "b b a", "a", "a a b a c a", "new")]
    signs = [analysis.inference.sign for analysis in analyses]
    negative = [a.inference.negative_mass for a in analyses if a.inference.sign > 0 and a.inference.negative]
    assert -1 in signs and negative
    analyser.latent.report()
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and f"g < 0: {signs.count(-1)}, g = 0: {signs.count(0)}" in told[0]
    assert f"{len(negative)} have negative marginals, {sum(negative) / len(negative):.1%}" in told[0]
    for analysis, sign in zip(analyses, signs, strict=True):
        assert analysis.features.any() == (sign > 0)
    analyser.latent.report()
    assert capsys.readouterr().err == ""


def test_a_forest_in_blocks_is_the_same_json(tmp_path, monkeypatch):
    build(tmp_path, 3, 11, True)
    analyser = Analyser.from_model(tmp_path / "m")
    analysis = analyser("b a n b a c b")
    whole = analyser.json(5, analysis)
    assert json.loads(whole)["id"] == 5
    monkeypatch.setattr(lscfg.decode.analysis, "BLOCK", 3)
    parts = list(analyser.json_parts(5, analysis))
    assert b"".join(parts).decode() == whole and len(parts) == 2 + math.ceil(analysis.forest.n_apps / 3) > 4


def test_a_span_of_several_nodes_has_their_sum(tmp_path):
    """cdec splits a node by the words that its language model sees."""
    build(tmp_path, 3, 11, False)
    nodes = [["X", 0, 1], ["X", 0, 1], ["X", 1, 2], ["X", 0, 2]]
    edges = [
        {"node": 0, "tails": [], "source": "a", "targets": [["x"]]},
        {"node": 1, "tails": [], "source": "a", "targets": [["y"]]},
        {"node": 2, "tails": [], "source": "b", "targets": [["x"]]},
        *(
            {"node": 3, "tails": [k, 2], "source": "[X,1] [X,2]", "targets": [["[X,1] [X,2]"], ["[X,2] x [X,1]"]]}
            for k in (0, 1)
        ),
    ]
    goal = {"node": 4, "tails": [3], "source": "[X,1]", "targets": [["[X,1]"]]}
    line = {"id": 0, "words": ["a", "b"], "parsed": True, "features": []}
    several = [
        json.dumps({**line, "nodes": nodes, "edges": edges}),
        json.dumps({**line, "nodes": [*nodes, ["Goal", 0, 2]], "edges": [*edges, goal]}),
    ]
    write_lines(tmp_path / "forests", several)
    forests = ForestFile(tmp_path / "forests")
    analyser = Analyser.from_model(tmp_path / "m", None, forests.grammar)
    for stored in forests:
        chart = analyser.stored(stored).chart()
        assert chart == pytest.approx({(0, 1): 1, (1, 2): 1, (0, 2): 1})


CHAIN = RULES.replace("[A] ||| u [B,1]", "[A] ||| [B,1] ||| [B,1]\n[A] ||| u [B,1]")
"""Rules that may place [A] above [B]."""


@pytest.mark.parametrize("rules", [RULES, CHAIN], ids=["without chains", "with chains"])
@pytest.mark.parametrize("sentence", ["a", "a a c", "u a c b", "a q c"])
def test_models_of_several_categories_parse_alone(tmp_path, rules, sentence):
    parameters = random_parameters(table_of(rules, ("A", "B")), (2, 3), 1)
    analyser = Analyser.from_model(saved(parameters, tmp_path / "m"))
    analysis = analyser(sentence)
    forest, found = analysis.forest, Enumerated(analysis.forest, analyser.grammar, parameters)
    assert np.exp(analysis.inference.log_g) == pytest.approx(found.g, rel=1e-12)
    chart = {}
    for apps in derivations(forest):
        heads = forest.edge_head[forest.app_edge[list(apps)]]
        inner = heads[forest.node_cat[heads] != S]
        for span in {*map(tuple, forest.node_span[inner].tolist())}:
            chart[span] = chart.get(span, 0.0) + found._whole(list(apps))[0] / found.g
    assert analysis.chart() == pytest.approx(chart) and chart[0, len(sentence.split())] == pytest.approx(1)
    assert {node[0] for node in json.loads(analyser.json(0, analysis))["nodes"]} <= {"A", "B", "S"}


@pytest.mark.usefixtures("terminal")
def test_a_sentence_of_too_large_a_forest_costs_itself_only(tmp_path, capsys):
    build(tmp_path, 3, 11, True)
    analyser = Analyser.from_model(tmp_path / "m")
    short = analyser.json(0, analyser("a b a"))
    long = analyser(" ".join(["a"] * 6000), 3)
    assert long.forest is None and json.loads(analyser.json(3, long))["parsed"] is False
    assert "sentence 4 of 6000 words has more than 33,554,432 rule applications or spans" in capsys.readouterr().err
    assert analyser.json(0, analyser("a b a")) == short


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("rule", "times"), [(None, 0), ("a ||| x", 0), ("strange ||| x", 1)])
def test_a_model_of_another_grammar_is_reported_once(tmp_path, capsys, rule, times):
    """Next to an index the grammar is empty, and each sentence binds the model to its own rules."""
    model, *_ = build(tmp_path, 3, 11, True)
    for _ in range(3):
        grammar = Grammar()
        grammar.read_text(f"[X] ||| {rule} |||\n" if rule else "")
        grammar.finish()
        LatentFeatures(model, grammar, FeatureOptions(names=("paper",)))
    assert capsys.readouterr().err.count("contains no rule of the grammar") == times
