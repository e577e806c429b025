"""Forests as lines of JSON: read back as they were written, and what is refused."""

import gzip
import json
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from forests import applications, build

from lscfg.cli import main
from lscfg.decode.analysis import Analyser
from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError
from lscfg.formats.forests import LONGEST, ForestFile
from lscfg.kernel import PAPER_FEATURES, FeatureOptions, ParseOptions, S, X

LINE = {
    "id": 3,
    "words": None,
    "parsed": True,
    "features": ["PassThrough", "LM"],
    "nodes": [["X", 0, 1], ["X", 1, 2], ["X", 0, 2], ["S", 0, 2], ["S", 0, 2], ["Goal", 0, 2]],
    "edges": [
        {"node": 0, "tails": [], "source": "a", "targets": [["x", 0, 0.5], ["y z", 0, -1]]},
        {"node": 1, "tails": [], "source": "q", "pass": True, "targets": [["q", 1, 0]]},
        {"node": 2, "tails": [0, 1], "source": "[X,1] [X,2]", "targets": [["[X,1] [X,2]", 0, 0]]},
        {"node": 3, "tails": [2], "source": "[X,1]", "targets": [["[X,1]", 0, 0]]},
        {"node": 4, "tails": [0, 1], "source": "[X,1] [X,2]", "targets": [["[X,1] [X,2]", 0, 0]]},
        {"node": 5, "tails": [3], "source": "[S,1]", "targets": [["[S,1]", 0, 0]]},
        {"node": 5, "tails": [4], "source": "[S,1]", "targets": [["[S,1]", 0, 0]]},
    ],
}


def written(tmp_path, *lines):
    path = tmp_path / "forests.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("glue", [False, True])
def test_what_marginals_writes_is_read_as_it_was(tmp_path, glue):
    model, grammar, _, _ = build(tmp_path, 3, 1, True)
    latent = LatentFeatures(model, grammar, FeatureOptions(log=False, names=PAPER_FEATURES), "zero")
    analyser = Analyser(grammar, latent, lambda n: [ParseOptions(n, glue, 2, S if glue else X)])
    sentences = ["a", "b a b", "", "a q b q", "b a c a b a"]
    analyses = [analyser(line) for line in sentences]
    path = tmp_path / "forests.jsonl.gz"
    with gzip.open(path, "wt") as out:
        out.writelines(analyser.json(n, analysis) + "\n" for n, analysis in enumerate(analyses))
    file = ForestFile(path)
    again = Analyser(
        file.grammar,
        LatentFeatures(model, file.grammar, FeatureOptions(log=False, names=PAPER_FEATURES), "zero"),
        lambda n: [],
    )
    for stored, analysis, line in zip(file, analyses, sentences, strict=True):
        assert stored.words == line.split() and (stored.forest is None) == (not line)
        if stored.forest is None:
            continue
        assert [stored.forest.n_nodes, stored.forest.n_edges] == [analysis.forest.n_nodes, analysis.forest.n_edges]
        assert (stored.forest.node_span == analysis.forest.node_span).all()
        assert np.allclose(stored.features, again.stored(stored).features, rtol=1e-8, atol=1e-8)
        texts = []
        for forest, numbered in ((stored.forest, file.grammar), (analysis.forest, grammar)):
            n = len(numbered)
            texts.append(
                sorted(
                    (head, tails, numbered.src(r) and Analyser.sides(again if forest is stored.forest else analyser, r))
                    for head, r, tails in applications(forest)
                    if r < n and forest.node_cat[head] == X
                )
            )
        assert texts[0] == texts[1]
        assert again.stored(stored).inference.log_g == pytest.approx(analysis.inference.log_g, abs=1e-9)
        assert sorted(again.stored(stored).inference.apps) == pytest.approx(sorted(analysis.inference.apps), abs=1e-9)


def test_pruned_forest_with_two_roots(tmp_path):
    model, *_ = build(tmp_path, 3, 1, False)
    file = ForestFile(written(tmp_path, LINE, {"id": 4, "words": None, "parsed": False}))
    first, second = file
    assert (first.number, first.words, first.names) == (3, ["a", "q"], ("PassThrough", "LM"))
    assert (second.number, second.forest) == (4, None)
    assert first.forest.n_apps == 8 and sorted(first.features[:, 1]) == [-1, 0, 0, 0, 0, 0, 0, 0.5]
    (passed,) = first.sides
    assert first.features[passed].tolist() == [1, 0] and first.sides[passed] == ("q", "q")
    result = LatentFeatures(model, file.grammar, FeatureOptions(names=PAPER_FEATURES), "zero").binding.infer(
        first.forest
    )
    at_roots = result.nodes[-3:]
    assert at_roots[2] == pytest.approx(1) and at_roots[0] + at_roots[1] == pytest.approx(1) and at_roots.min() > 0


def test_a_lattice_has_no_words(tmp_path):
    """The pass-through rule of a known word is not in the model; that of another word is the OOV rule."""
    nodes = [["X", 0, 2]]
    edges = [{"node": 0, "tails": [], "source": w, "pass": True, "targets": [[w]]} for w in ("a", "q")]
    edges.append({"node": 0, "tails": [], "source": "a", "targets": [["x"]]})
    line = {"id": 0, "words": None, "parsed": True, "features": [], "nodes": nodes, "edges": edges}
    model, _, tensors, root = build(tmp_path, 3, 1, False)
    path = written(tmp_path, line)
    file = ForestFile(path)
    (stored,) = file
    assert stored.words is None and stored.forest.words.tolist() == [-1, -1, -1] and stored.features.shape == (3, 0)
    result = LatentFeatures(model, file.grammar, FeatureOptions(names=PAPER_FEATURES), "zero").binding.infer(
        stored.forest
    )
    marginal = {sides[0]: result.apps[a] for a, sides in stored.sides.items()}
    known = next(t for r, t in tensors.items() if r == 0)
    oov = tensors[max(tensors)] @ root
    assert marginal["a"] == 0 and marginal["q"] == pytest.approx(oov / (oov + known @ root))
    output = tmp_path / "out"
    assert main(["inspect", "marginals", str(tmp_path / "m"), str(path), "--forests", "-o", str(output)]) == 0
    record = json.loads(output.read_text())
    assert record["words"] is None and [edge["source"] for edge in record["edges"]] == ["a", "a", "q"]
    assert [edge.get("pass", False) for edge in record["edges"]] == [False, True, True]


def test_marginals_of_forests_are_those_of_sentences(tmp_path):
    build(tmp_path, 3, 1, True)
    (tmp_path / "text").write_text("a\nb a b\n\na q b q\n")
    made, again = tmp_path / "made.jsonl", tmp_path / "again.jsonl"
    model = str(tmp_path / "m")
    assert main(["inspect", "marginals", model, str(tmp_path / "text"), "-o", str(made)]) == 0
    assert main(["inspect", "marginals", model, str(made), "--forests", "--jobs", "2", "-o", str(again)]) == 0
    for a, b in zip(made.read_text().splitlines(), again.read_text().splitlines(), strict=True):
        a, b = json.loads(a), json.loads(b)
        assert [a["words"], a.get("nodes")] == [b["words"], b.get("nodes")]
        assert sorted(map(str, a.get("edges", []))) == sorted(map(str, b.get("edges", [])))


def test_forests_with_a_decoder_s_configuration(tmp_path):
    """Its options count; the forests may have rules that its grammar lacks."""
    build(tmp_path, 3, 1, False)
    (tmp_path / "g").write_text("[X] ||| a ||| x\n[X] ||| [X,1] [X,2] ||| [2] [1]\n[X] ||| a ||| x\n")
    (tmp_path / "cdec.ini").write_text(
        f"formalism=scfg\ngrammar={tmp_path}/g\n"
        f"feature_function=LSCFG model={tmp_path}/m log=false features=paper unknown=zero\n"
    )
    text, lines = written(tmp_path, LINE), []
    for model in (tmp_path / "m", tmp_path / "cdec.ini"):
        options = ["--set", "log=false"] if model.name == "m" else []
        output = tmp_path / "out"
        assert main(["inspect", "marginals", str(model), str(text), "--forests", *options, "-o", str(output)]) == 0
        lines.append(json.loads(output.read_text()))
    assert lines[0]["nodes"] == lines[1]["nodes"] and lines[0]["nodes"][-1][0] == "Goal"
    assert sorted(map(str, lines[0]["edges"])) == sorted(map(str, lines[1]["edges"]))
    assert ForestFile(text, [tmp_path / "g"]).grammar.lhs(0) == X and len(ForestFile(text).grammar) < len(
        ForestFile(text, [tmp_path / "g"]).grammar
    )


def changed(**values):
    return {**LINE, **values}


def edge(**values):
    return changed(
        edges=[*LINE["edges"], {"node": 5, "tails": [4], "source": "[S,1]", "targets": [["[S,1]", 0, 0]]} | values]
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 0, "parsed"', "not JSON"),
        ("[1]", "not a forest"),
        ("{}", "not a forest"),
        (changed(parsed=1), "not a forest"),
        ({"id": 0, "parsed": True}, "not a forest"),
        (changed(nodes=[]), "not a forest"),
        (changed(nodes=[["X", 0]]), "not a forest"),
        (changed(words=["a"]), "node of category"),
        (changed(words=[1, 2]), "not a forest"),
        (changed(edges=LINE["edges"][:2]), "the root has no derivation"),
        (changed(features=["LM"] * 4), "not a forest"),
        (edge(node=6), "not a forest"),
        (edge(node=-1), "not a forest"),
        (edge(tails=[5]), "must be nodes added before it"),
        (edge(tails=[0]), "tail 0 is of category 0"),
        (edge(tails=[]), "not a forest"),
        ({**edge(tails=[]), "words": ["a", "q"]}, "has 1 nonterminals, not 0"),
        (edge(tails=[1.5]), "not a forest"),
        (edge(tails=[0, 0, 0]), "more than two nonterminals"),
        (edge(source="[S,1] [S,2] [S,3]"), "3 nonterminals"),
        (edge(targets=[["[X,1]", 0, 0]]), "not a forest"),
        (edge(targets=[["[S,1]", 0, "x"]]), "not a forest"),
        (edge(targets=[["[S,1]", 0, None]]), "not finite"),
        (edge(targets=[["[S,1]", 0]]), "not a forest"),
        (edge(targets=[[]]), "not a forest"),
        (changed(nodes=[*LINE["nodes"], ["X", 0, 300_000_000]]), "a span ends at 300000000; the longest sentence has"),
        (changed(nodes=[*LINE["nodes"], ["X", 0, 10**12]]), "a span ends at 1000000000000; the longest"),
        (changed(nodes=[*LINE["nodes"], ["X", 0, 1e400]]), "Infinity is not a number in JSON"),
        (changed(nodes=[["X", 0, -1]]), "not a forest"),
        ('{"id": 0, "parsed": true, "words": null, "edges": ' + "[" * 3000, "not a forest|not JSON"),
        ('{"id": 0, "parsed": true, "nodes": [["X", 0, ' + "9" * 5000 + "]]}", "not a forest"),
        (edge(targets=[["[S,1]", 0, "x" * 100_000]]), "not a forest .{0,100}…"),
    ],
)
def test_malformed(tmp_path, line, message):
    path = written(tmp_path, {"id": 0, "words": None, "parsed": False}, line)
    with pytest.raises(InputError, match=r"forests\.jsonl:2: .*" + message):
        list(ForestFile(path))


def test_the_longest_lattice_needs_little_memory(tmp_path):
    edges = [{"node": 0, "tails": [], "source": "a", "targets": [["x"]]}]
    line = {"id": 0, "words": None, "parsed": True, "features": [], "nodes": [["X", 0, LONGEST]], "edges": edges}
    tracemalloc.start()
    (stored,) = ForestFile(written(tmp_path, line))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(stored.forest.words) == LONGEST + 1 and peak < 8 * LONGEST


def test_marginals_that_are_not_finite_are_never_written(tmp_path):
    model, grammar, _, _ = build(tmp_path, 2, 1, False)
    analyser = Analyser(
        grammar,
        LatentFeatures(model, grammar, FeatureOptions(names=PAPER_FEATURES)),
        lambda n: [ParseOptions(n, False, 2, X)],
    )
    analysis = analyser("a")
    for features in (np.full_like(analysis.features, np.inf), np.full_like(analysis.features, np.nan)):
        with pytest.raises(InputError, match="sentence 3 has values that are not finite"):
            analyser.json(2, replace(analysis, features=features))
    with pytest.raises(InputError, match="floor must be a finite number"):
        FeatureOptions(floor=math.inf)


def test_options_that_do_not_go_together(tmp_path, capsys):
    build(tmp_path, 2, 1, False)
    path = written(tmp_path, LINE)
    assert (
        main(["inspect", "marginals", str(tmp_path / "m"), str(path), "--forests", "--per-sentence-grammars", "g"]) == 1
    )
    assert "--per-sentence-grammars needs sentences that are parsed here, not --forests" in capsys.readouterr().err
