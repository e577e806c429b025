"""The embedded decoder against real cdec's results for the same ini, grammar and weights."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from reference import common_hypotheses

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.ini import read_ini
from lscfg.formats.kbest import Hypothesis, read_kbest
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.kernel import ParseOptions


@pytest.fixture(scope="module", params=["min", "hiero"])
def run(request: pytest.FixtureRequest, shared: Path) -> tuple[Path, str, list[str], EmbeddedDecoder]:
    folder = shared / "oracle" / "cdec"
    decoder = EmbeddedDecoder(read_ini(folder / f"{request.param}.ini"))
    return folder, request.param, read_lines(folder / "input.txt"), decoder


@pytest.fixture(scope="module")
def lists(run: tuple[Path, str, list[str], EmbeddedDecoder]) -> tuple[list[list[Hypothesis]], list[list[Hypothesis]]]:
    """Ours and cdec's, by sentence."""
    folder, name, lines, decoder = run
    theirs = read_kbest(folder / f"{name}.kbest.gz")
    ours = decoder.decode(lines, read_weights(folder / f"{name}.weights"), k=20)
    return ours, [theirs[i] for i in range(len(lines))]


def test_forests_have_the_same_size(run: tuple[Path, str, list[str], EmbeddedDecoder]) -> None:
    folder, name, lines, decoder = run
    config, grammar = decoder.config, decoder.grammar
    options = ParseOptions(config.max_span, config.glue, int(config.pass_through))
    for line, row in zip(lines, read_lines(folder / f"{name}.forest.tsv"), strict=True):
        forest = grammar.parse(grammar.vocab.add_line(line), options)
        assert forest is not None
        derivations = [0.0] * forest.n_nodes
        for e in range(forest.n_edges):
            tails = [derivations[q] for q in forest.edge_tail[e] if q >= 0]
            targets = float(forest.edge_apps[e + 1] - forest.edge_apps[e])
            derivations[forest.edge_head[e]] += targets * math.prod(tails)
        # cdec has one more node, for the goal, and one edge into it; it prints six digits of the number of paths
        _, nodes, edges, paths, _ = row.split("\t")
        assert (forest.n_nodes + 1, forest.n_apps + 1) == (int(nodes), int(edges)), line
        assert derivations[-1] == pytest.approx(float(paths), rel=1e-5), line


def test_best_translations_agree(lists: tuple[list[list[Hypothesis]], list[list[Hypothesis]]]) -> None:
    ours, theirs = lists
    assert [list_[0].text for list_ in ours] == [list_[0].text for list_ in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert a[0].score == pytest.approx(b[0].score, rel=1e-5)


def test_equal_derivations_score_alike(lists: tuple[list[list[Hypothesis]], list[list[Hypothesis]]]) -> None:
    ours, theirs = lists
    common = list(common_hypotheses(ours, theirs))
    for a, b in common:
        assert a.score == pytest.approx(b.score, rel=1e-5, abs=1e-4)
    total = sum(len(list_) for list_ in theirs)
    assert total > 1000
    assert len(common) >= 0.99 * total


def test_scores_are_weighted_features(
    run: tuple[Path, str, list[str], EmbeddedDecoder],
    lists: tuple[list[list[Hypothesis]], list[list[Hypothesis]]],
) -> None:
    folder, name, _, _ = run
    weights = read_weights(folder / f"{name}.weights")
    for hypothesis in [h for list_ in lists[0] for h in list_]:
        total = sum(weights[n] * value for n, value in hypothesis.features.items())
        assert hypothesis.score == pytest.approx(total, rel=1e-9)
