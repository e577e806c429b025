"""Posterior pruning: what stays, by its definition and by enumeration of all derivations; features stay the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from composition import MINIMAL
from forests import build
from helpers import context_model

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.latent import LEAST_OF_NODE
from lscfg.decode.sentence import SentenceDecoder
from lscfg.decode.terms import Term
from lscfg.errors import InputError
from lscfg.formats.ini import read_ini
from lscfg.io.write import write_lines
from lscfg.kernel import REST, Binding, FeatureOptions, FeaturePass, Forest, Grammar, Model, ParseOptions, X
from lscfg.kernel.search import SearchOptions, search

RULES = [*MINIMAL, "[X,1] [X,2] ||| [X,1] x [X,2]"]
ALL = FeatureOptions(names=("paper", "LatentSpan", "ratios", "context", "composed"))
LONG = """[X] ||| a ||| x |||
[X] ||| b ||| y |||
[X] ||| a b ||| x y |||
[X] ||| [X,1] b ||| y [X,1] |||
[X] ||| a [X,1] b [X,2] a [X,3] ||| [X,3] y [X,1] x [X,2] |||
[X] ||| [X,1] [X,2] ||| [X,2] [X,1] |||
"""


def head(forest: Forest, app: int) -> int:
    return int(forest.edge_head[forest.app_edge[app]])


def best_derivation(forest: Forest, marginals: np.ndarray, node: int) -> set[int]:
    """The derivation of a node that takes the first application of the largest absolute marginal at each node."""
    own = [app for app in range(forest.n_apps) if head(forest, app) == node]
    best = max(own, key=lambda app: (abs(marginals[app]), -app))
    tails = [int(tail) for tail in forest.edge_tail[forest.app_edge[best]] if tail >= 0]
    return {best}.union(*(best_derivation(forest, marginals, tail) for tail in tails))


def defined(forest: Forest, apps: np.ndarray, nodes: np.ndarray, least: float, least_of_node: float) -> set[int]:
    """The applications that the definition keeps."""
    kept = best_derivation(forest, apps, forest.n_nodes - 1)
    for app, marginal in enumerate(apps.tolist()):
        at = head(forest, app)
        if abs(marginal) >= least if marginal else abs(nodes[at]) >= least_of_node or forest.node_cat[at] == REST:
            kept.add(app)
    return kept


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sentence", ["a", "a b a b", "a b b a a", "b a b"])
def test_kept_applications_and_their_derivations_by_enumeration(sentence: str, seed: int) -> None:
    grammar = Grammar()
    grammar.vocab.add_line("a b x y")
    grammar.read_text(LONG)
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line(sentence), ParseOptions())
    assert forest is not None
    rng, options = np.random.default_rng(seed), SearchOptions(pop_limit=10000, k=5000)
    scores = -rng.random(forest.n_apps)
    every = search(forest, grammar, None, scores, options)
    assert len(every) < options.k  # all derivations
    for least in (1e-9, 0.01, 0.5, 0.999):
        apps = rng.choice([-1, 1], forest.n_apps) * 10.0 ** rng.uniform(-3, 0, forest.n_apps)
        apps[rng.random(forest.n_apps) < 0.3] = 0
        nodes = rng.random(forest.n_nodes) * rng.choice([-1, 0, 1], forest.n_nodes)
        keep = forest.kept(apps, nodes, least, 0.4)
        kept = defined(forest, apps, nodes, least, 0.4)
        assert set(np.flatnonzero(keep).tolist()) == kept
        part, app_of = forest.restricted(keep)
        assert part is not None
        found = search(part, grammar, None, scores[app_of], options)
        derivations = [every.apps[i:j].tolist() for i, j in itertools.pairwise(every.app_offsets.tolist())]
        expected = sorted(apps for apps in derivations if kept.issuperset(apps))
        bounds = itertools.pairwise(found.app_offsets.tolist())
        assert sorted(app_of[found.apps[i:j]].tolist() for i, j in bounds) == expected != []


def test_marginals_of_another_forest_are_refused(tmp_path: Path) -> None:
    _, grammar, *_ = build(tmp_path, 2, 1, False)
    forest = grammar.parse(grammar.vocab.add_line("a b"), ParseOptions())
    assert forest is not None
    with pytest.raises(ValueError, match="applications"):
        forest.kept(np.zeros(1), np.zeros(forest.n_nodes), 0.1, 0.1)


@pytest.mark.parametrize("seed", range(4))
def test_features_of_what_stays_are_those_of_the_whole_forest(tmp_path: Path, seed: int) -> None:
    path, _ = context_model(tmp_path, RULES, seed)
    model = Model(path)
    grammar, rng = model.grammar(), np.random.default_rng(seed)
    forest = grammar.parse(grammar.vocab.add_line(" ".join(rng.choice(["a", "b"], 7))), ParseOptions(100, True, 1, X))
    assert forest is not None
    binding = Binding(model, grammar)
    inference = binding.infer(forest)
    whole = binding.features(forest, inference, ALL)
    made = FeaturePass(binding, forest, inference, ALL)
    for share in (0.0, 0.01, 0.3, 1.0):
        apps = np.flatnonzero(rng.random(forest.n_apps) < share)
        assert np.array_equal(made.of_apps(apps), whole[apps])
        assert np.array_equal(made.of_nodes(0, forest.n_nodes), whole)  # nothing is left out afterwards


def decoder_of(folder: Path, options: str, rules: list[str] = RULES) -> Path:
    """A configuration with a model of ``RULES``."""
    context_model(folder, RULES, 1)
    write_lines(folder / "g", [f"[X] ||| {rule} ||| P={k % 7}" for k, rule in enumerate(rules)])
    line = f"feature_function=LSCFG model=m features=ratios,context {options}"
    write_lines(folder / "cdec.ini", ["formalism=scfg", "grammar=g", "add_pass_through_rules=true", line])
    return folder / "cdec.ini"


def opened(ini: Path) -> SentenceDecoder:
    decoder = EmbeddedDecoder.from_ini(ini)
    assert decoder._opened.here is not None
    return decoder._opened.here


TEXT = ["a b a b a", "b other a", "q", "b b a b a a", "a d b a"]
UNKNOWN_TO_THE_MODEL = ["d ||| x y", "b a ||| y z", "a [X,1] a ||| [X,1]", "d [X,1] ||| x [X,1]"]


@pytest.mark.parametrize("unknown", ["zero", "compose"])
@pytest.mark.parametrize("least", ["1e-6", "0.003", "0.1", "0.9999"])
def test_the_decoder_searches_the_part_by_its_marginals(tmp_path: Path, least: str, unknown: str) -> None:
    ini = decoder_of(tmp_path, f"prune={least} unknown={unknown}", RULES + UNKNOWN_TO_THE_MODEL)
    decoder, smaller = opened(ini), 0
    assert decoder.provided.latent is not None
    for text in TEXT:
        whole, part = decoder.prepare(0, text, prune=False), decoder.prepare(0, text)
        assert whole.forest is not None and part.forest is not None
        inference = decoder.provided.latent.binding.infer(whole.forest)
        kept = sorted(defined(whole.forest, inference.apps, inference.nodes, float(least), LEAST_OF_NODE))
        keep = np.isin(np.arange(whole.forest.n_apps), kept)
        if inference.sign == 0:  # no marginals, so nothing is dropped
            keep[:] = True
        expected, app_of = whole.forest.restricted(keep)
        assert expected is not None and isinstance(whole.extra, np.ndarray) and isinstance(part.extra, np.ndarray)
        assert np.array_equal(expected.app_rule, part.forest.app_rule)
        assert np.array_equal(part.extra, whole.extra[app_of]) and np.array_equal(part.rows, whole.rows[app_of])
        smaller += len(app_of) < whole.forest.n_apps
    assert smaller or least == "1e-6"


def test_without_a_threshold_everything_is_the_same(tmp_path: Path) -> None:
    found = []
    for options in ("", "prune=0", "prune=0.9"):
        with EmbeddedDecoder.from_ini(decoder_of(tmp_path, options)) as decoder:
            weights = {name: 0.3 + 0.1 * k for k, name in enumerate(decoder.feature_names)}
            found.append([*decoder.translate(TEXT, weights, 50, derivations=True)])
    assert found[0] == found[1] != found[2]


def test_why_not_compares_with_the_whole_forest(tmp_path: Path) -> None:
    with EmbeddedDecoder.from_ini(decoder_of(tmp_path, "prune=0.9999")) as decoder:
        weights = dict.fromkeys(decoder.feature_names, 0.1)
        lists = {one.text for one in decoder.decode(["a b a"], weights, 1000)[0]}
        with EmbeddedDecoder.from_ini(decoder_of(tmp_path, "prune=0")) as whole:
            others = {one.text for one in whole.decode(["a b a"], weights, 1000)[0]} - lists
        assert others and all(decoder.why_not("a b a", other, weights).verdict != "unreachable" for other in others)


def test_a_threshold_out_of_range_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cdec.ini:4: feature function LSCFG: prune=1: expected a number of at least"):
        read_ini(decoder_of(tmp_path, "prune=1"))


@pytest.mark.parametrize("mode", ["hard", "soft"])
def test_added_rules_leave_the_whole_forest(tmp_path: Path, mode: str) -> None:
    """Marginals without the rule of the term would leave little for it to combine with."""
    found = []
    for options in ("prune=0", "prune=0.9999"):
        with EmbeddedDecoder.from_ini(decoder_of(tmp_path, options)) as decoder:
            weights = {name: 0.3 + 0.1 * k for k, name in enumerate(decoder.feature_names)}
            found.append([*decoder.translate(["b a b a"], weights, 1000, terms=[Term("a b", ("z y",), mode)])])
    (whole,), (part,) = found
    assert whole == part and len(whole.hypotheses) > 10
