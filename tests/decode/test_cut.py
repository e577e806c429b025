"""Marginals of the largest applications only: which are kept, what they are worth, and what they are not good for."""

import json

import numpy as np
import pytest
from forests import build

from lscfg.cli import main
from lscfg.commands.inspections import marginals
from lscfg.decode.analysis import Analyser, Cut
from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines

SENTENCES = ["a b a b", "", "b a c", "n a b c a b"]


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model with negative marginals, and text; the working folder."""
    build(tmp_path, 3, 11, True)
    monkeypatch.chdir(tmp_path)
    write_lines("text", SENTENCES)
    return "m"


def applications(line):
    """Of each node, its applications as (edge, target) with their values."""
    found = {}
    for edge in line.get("edges", ()):
        place = (tuple(edge["tails"]), edge["source"])
        found.setdefault(edge["node"], []).extend((place, target[0], tuple(target[1:])) for target in edge["targets"])
    return found


def marginal(application):
    return abs(application[2][0])


@pytest.mark.parametrize(("top", "least"), [(1, 0.0), (3, 0.0), (None, 0.01), (2, 0.05), (None, 1e9), (10**6, 0.0)])
def test_the_largest_of_each_node_are_kept_with_their_values(model, top, least):
    analyser = Analyser.from_model(model)
    for number, sentence in enumerate(SENTENCES):
        analysis = analyser(sentence)
        whole, part = (json.loads(analyser.json(number, analysis, cut)) for cut in (Cut(), Cut(top, least)))
        assert "cut" not in whole and ("cut" in part) == whole["parsed"]
        assert {k: v for k, v in part.items() if k not in ("cut", "edges")} == {
            k: v for k, v in whole.items() if k != "edges"
        }
        kept, every = applications(part), applications(whole)
        for node, all_of_node in every.items():
            some = kept.get(node, [])
            assert set(some) <= set(all_of_node)
            passing = [application for application in all_of_node if marginal(application) >= least * (1 + 1e-8)]
            assert len(some) == min(len(passing), top or len(passing))
            left = set(all_of_node) - set(some)
            if some and left and not least:
                assert min(map(marginal, some)) >= max(map(marginal, left)) * (1 - 1e-8)
        if whole["parsed"]:
            counts = [sum(map(len, found.values())) for found in (kept, every)]
            assert part["cut"] == {"top": top, "min_marginal": least, "kept": counts[0], "of": counts[1]}


def test_of_equal_ones_the_first_are_kept(model):
    forest = Analyser.from_model(model)("a b a b").forest
    keep = Cut(2).kept(forest, np.ones(forest.n_apps))
    heads = forest.edge_head[forest.app_edge]
    for node in range(forest.n_nodes):
        (own,) = np.nonzero(heads == node)
        assert np.flatnonzero(keep[own]).tolist() == list(range(min(2, len(own))))


def test_the_command_cuts_in_the_same_way_for_any_number_of_threads(model):
    for threads in ("1", "3"):
        line = ["inspect", "marginals", model, "text", "-o", f"out{threads}", "--top", "2", "--min-marginal", "0.01"]
        assert main([*line, "--jobs", threads, "--quiet"]) == 0
    assert read_lines("out1") == read_lines("out3")
    analyser = Analyser.from_model(model)
    assert read_lines("out1") == [
        analyser.json(n, analyser(sentence), Cut(2, 0.01)) for n, sentence in enumerate(SENTENCES)
    ]


def test_a_cut_forest_is_no_forest(model, capsys):
    assert main(["inspect", "marginals", model, "text", "-o", "cut", "--top", "1"]) == 0
    assert main(["inspect", "marginals", model, "cut", "--forests", "-o", "out"]) == 1
    told = capsys.readouterr().err
    assert "cut:1: lscfg inspect marginals kept only the largest marginals" in told
    assert "run it again without --top and --min-marginal" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--top", "0"], "--top must be at least 1, not 0"),
        (["--min-marginal", "-1"], "--min-marginal must be a finite number of at least 0"),
        (["--min-marginal", "nan"], "--min-marginal must be a finite number of at least 0"),
        (["--min-marginal", "inf"], "--min-marginal must be a finite number of at least 0"),
    ],
)
def test_limits_out_of_range(model, capsys, words, message):
    assert main(["inspect", "marginals", model, "text", "-o", "out", *words]) == 1
    assert message in capsys.readouterr().err
    with pytest.raises(InputError):
        Cut(-1)


def test_the_size_is_told(model, capsys):
    assert main(["inspect", "marginals", model, "text", "-o", "out.gz"]) == 0
    told = capsys.readouterr().err
    assert "4 sentences, 0.0 MB of JSON, " in told and "; compressed 0.0 MB" in told


@pytest.mark.parametrize("words", [[], ["--top", "1"]])
def test_large_output_is_foretold(model, capsys, monkeypatch, words):
    write_lines("text", ["a b c a b"] * 40)
    assert main(["inspect", "marginals", model, "text", "-o", "out"]) == 0
    size = len("".join(read_lines("out")))
    monkeypatch.setattr(marginals._Size, "LARGE", size - 100)
    assert main(["inspect", "marginals", model, "text", "-o", "out", *words]) == 0
    told = capsys.readouterr().err
    assert told.count("GB of JSON; --top 10 or --min-marginal 1e-4 writes only what matters") == (not words)
    monkeypatch.setattr(marginals._Size, "LARGE", size + 1000)
    assert main(["inspect", "marginals", model, "text", "-o", "out"]) == 0
    assert "GB of JSON" not in capsys.readouterr().err
