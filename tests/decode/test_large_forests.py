"""Latent features in parts: the same bytes as for the whole forest, in the kernel and in the decoder."""

import itertools

import numpy as np
import pytest
from composition import MINIMAL
from helpers import context_model

from lscfg.decode import columns, provided
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError
from lscfg.io.write import write_lines
from lscfg.kernel import Binding, FeatureOptions, FeaturePass, Model, ParseOptions, X, inference

RULES = [*MINIMAL, "[X,1] [X,2] ||| [X,1] x [X,2]"]
ALL = FeatureOptions(names=("paper", "LatentSpan", "ratios", "context", "composed"))


@pytest.mark.parametrize("seed", range(4))
def test_parts_are_those_of_the_whole(tmp_path, seed):
    path, _ = context_model(tmp_path, RULES, seed)
    model = Model(path)
    grammar = model.grammar()
    words = np.random.default_rng(seed).choice(["a", "b", "other"], 7).tolist()
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, True, 1, X))
    binding = Binding(model, grammar)
    inference = binding.infer(forest)
    whole = binding.features(forest, inference, ALL)
    made = FeaturePass(binding, forest, inference, ALL)
    cuts = [*range(0, forest.n_nodes, 3), forest.n_nodes]
    parts = [made.of_nodes(first, end) for first, end in itertools.pairwise(cuts)]
    assert np.array_equal(np.concatenate(parts), whole) and whole.any(axis=0).sum() > 8
    last = forest.n_nodes - 1
    assert np.array_equal(made.of_nodes(last, last + 1), whole[made.starts[last] :])  # again, in any order
    assert made.of_nodes(2, 2).shape == (0, len(ALL.names))
    for first, end in ((-1, 1), (2, 1)):
        with pytest.raises(InputError, match="no nodes"):
            made.of_nodes(first, end, np.empty((1, len(ALL.names))))


@pytest.mark.parametrize("rows", [1, 5, 1000])
def test_the_decoder_computes_large_forests_in_parts(tmp_path, monkeypatch, rows):
    context_model(tmp_path, RULES, 1)
    write_lines(tmp_path / "g", [f"[X] ||| {rule} ||| P={k % 7}" for k, rule in enumerate(RULES)])
    line = "feature_function=LSCFG model=m features=ratios,context"
    write_lines(tmp_path / "cdec.ini", ["formalism=scfg", "grammar=g", "add_pass_through_rules=true", line])
    text = ["a b a b a", "b other a", "q", "b b a b a a"]
    with EmbeddedDecoder.from_ini(tmp_path / "cdec.ini", cached=0) as decoder:
        weights = {name: 0.3 + 0.1 * k for k, name in enumerate(decoder.feature_names)}
        whole = [*decoder.translate(text, weights, 20)]
        monkeypatch.setattr(provided, "LARGE", 1)
        monkeypatch.setattr(inference, "TOGETHER", rows)
        monkeypatch.setattr(columns, "WHOLE", 4)
        assert [*decoder.translate(text, weights, 20)] == whole
        here = decoder._opened.here
        assert here is not None and isinstance(here.prepare(0, text[0]).extra, columns.ComputedRows)
        monkeypatch.setattr(columns.FeaturePass, "of_nodes", lambda one, first, end, out: np.full((1, 10), np.inf))
        with pytest.raises(InputError, match="sentence 1 has latent features that are not finite: 'a b a b a'"):
            [*decoder.translate(text, weights, 20)]


def test_rows_of_single_applications(tmp_path):
    path, _ = context_model(tmp_path, RULES, 2)
    model = Model(path)
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("a b a b"), ParseOptions(100, True, 1, X))
    binding = Binding(model, grammar)
    inference = binding.infer(forest)
    whole = binding.features(forest, inference, ALL)
    rows = columns.ComputedRows(FeaturePass(binding, forest, inference, ALL), "")
    apps = np.array([3, 0, forest.n_apps - 1, 3])
    assert np.array_equal(rows[apps], whole[apps]) and np.array_equal(rows[:], whole)
    assert rows[apps[:0]].shape == (0, len(ALL.names)) and rows.nbytes == 16 * forest.n_apps
    weights = np.linspace(-1, 1, len(ALL.names))
    assert np.array_equal(rows @ weights, whole @ weights)
