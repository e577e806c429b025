"""Sampled corpora have the model's probabilities, and the spectral estimate finds them again."""

from collections import Counter

import numpy as np
import pytest
from estimates import estimate_spectral
from helpers import node_children
from simulate import GrammarSettings, _Choices, random_model, sample, tree_values
from trees import expand

from lscfg.errors import InputError
from lscfg.estimate.spectral import SpectralSettings
from lscfg.extract.derive import Derivations
from lscfg.extract.minimal import MinimalRules
from lscfg.extract.yields import Yields
from lscfg.grammar.select import select_rules
from lscfg.grammar.table import RuleTable
from lscfg.grammar.write import write_grammar
from lscfg.kernel import Binding, Model, ParseOptions, X
from lscfg.model.parameters import Parameters

MODEL = random_model(GrammarSettings(rank=3), 1)


def test_random_models_are_proper_distributions():
    for seed in range(5):
        model = random_model(GrammarSettings(rank=4, lexical=3, unary=2, binary=5), seed)
        total = sum(t.sum(axis=tuple(k for k in range(t.ndim) if k != 1)) for t in model.tensors)
        assert np.allclose(total, 1) and np.isclose(model.root.sum(), 1)
        assert all((t >= 0).all() for t in model.tensors)


def test_samples_are_whole_derivations():
    derivations = sample(MODEL, 200, 3)
    yields = Yields.of(derivations)
    sides = [yields.sentences(derivations, side) for side in (0, 1)]
    for tree in range(len(derivations)):
        below = node_children(derivations, tree)
        root = int(derivations.trees[tree])
        assert [" ".join(words) for words in expand(derivations, below, root)] == [side[tree] for side in sides]
        for node, kids in below.items():
            assert len(kids) == derivations.rules.arity[derivations.rule[node]]
            for kid in kids:
                i, j, k, n = derivations.span[kid]
                a, b, c, d = derivations.span[node]
                assert a <= i < j <= b and c <= k < n <= d


def test_trees_come_as_often_as_their_probability_says():
    derivations = sample(MODEL, 60000, 5)
    values = tree_values(MODEL, derivations)
    keys = [derivations.rule[a:b].tobytes() for a, b in zip(derivations.trees[:-1], derivations.trees[1:], strict=True)]
    probability = dict(zip(keys, values.tolist(), strict=True))
    for key, count in Counter(keys).most_common(30):
        p = probability[key]
        assert abs(count / 60000 - p) < 4.5 * np.sqrt(p / 60000)


def test_rules_of_a_state_come_as_often_as_they_should():
    """With one state a node's rule does not depend on anything."""
    model = random_model(GrammarSettings(rank=1), 2)
    derivations = sample(model, 20000, 1)
    expected = np.concatenate([tensor.ravel() for tensor in model.tensors])
    n = len(derivations.rule)
    assert (np.abs(derivations.counts / n - expected) < 5 * np.sqrt(expected / n) + 1e-9).all()


def tree_error(sentences: int, rank: int) -> float:
    """Mean relative error of the tree probabilities of other trees of the model."""
    trees = sample(MODEL, 1000, 99)
    estimate = estimate_spectral(sample(MODEL, sentences, 7), SpectralSettings(rank))
    return float(np.abs(tree_values(estimate, trees) / tree_values(MODEL, trees) - 1).mean())


def test_tree_probabilities_converge_at_the_true_rank_and_not_below():
    sizes = [1000, 4000, 16000, 64000]
    errors = [tree_error(n, 3) for n in sizes]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope < -0.35 and errors[-1] < 0.06, (slope, errors)
    assert tree_error(64000, 2) > 0.25 and tree_error(64000, 1) > tree_error(64000, 2)


def marginals(model: Parameters, path, sentences: list[str]) -> list[dict[tuple, float]]:
    """Span and rule marginals of each sentence's forest."""
    model.save(path)
    kernel = Model(path)
    grammar = kernel.grammar()
    binding, found = Binding(kernel, grammar), []
    for sentence in sentences:
        forest = grammar.parse(grammar.vocab.add_line(sentence), ParseOptions(100, False, 0, X))
        result = binding.infer(forest)
        spans = forest.node_span.tolist()
        values = {tuple(span): value for span, value in zip(spans, result.nodes.tolist(), strict=True)}
        for app in range(forest.n_apps):
            edge, rule = int(forest.app_edge[app]), int(forest.app_rule[app])
            tails = tuple(tuple(spans[t]) for t in forest.edge_tail[edge].tolist() if t >= 0)
            texts = tuple(
                " ".join(map(str, map(side_word(grammar), side(rule)))) for side in (grammar.src, grammar.tgt)
            )
            values[(tuple(spans[forest.edge_head[edge]]), tails, texts)] = float(result.apps[app])
        found.append(values)
    return found


def side_word(grammar):
    return lambda symbol: grammar.vocab.word(symbol) if symbol >= 0 else symbol


def test_marginals_converge(tmp_path):
    trees = sample(MODEL, 60, 42)
    sentences = [s for s in Yields.of(trees).sentences(trees, 0) if 3 <= len(s.split()) <= 12]
    assert len(sentences) > 10
    true = marginals(MODEL, tmp_path / "true", sentences)
    errors = []
    for n, rank in ((2000, 3), (64000, 3), (64000, 1)):
        found = marginals(estimate_spectral(sample(MODEL, n, 7), SpectralSettings(rank)), tmp_path / "found", sentences)
        assert all(a.keys() == b.keys() for a, b in zip(true, found, strict=True))
        errors.append(np.mean([abs(a[key] - b[key]) for a, b in zip(true, found, strict=True) for key in a]))
    assert errors[1] < errors[0] / 2 and errors[1] < 0.01 and errors[2] > 5 * errors[1], errors


def test_same_seed_same_bytes(tmp_path):
    for name in ("a", "b"):
        sample(random_model(GrammarSettings(), 3), 50, 4).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert len(Derivations.load(tmp_path / "a")) == 50
    assert not np.array_equal(sample(MODEL, 50, 4).rule[:50], sample(MODEL, 50, 5).rule[:50])


def test_rare_choices_of_a_model_in_single_precision_stay_rare(tmp_path):
    """2^20 rules of 2^-27 behind one of nearly all mass: a sum of 32 bits would lose them all."""
    n = 1 << 20
    words = ["a", *(f"w{k}" for k in range(n))]
    symbols = np.repeat(np.arange(n + 1), 2).astype(np.int32)
    rules = RuleTable(words, symbols, np.arange(0, 2 * n + 3, 2), np.ones(n + 1, np.int32), np.zeros(n + 1, np.int32))
    p = np.full(n + 1, 2.0**-27, np.float32)
    p[0] = 1
    none = [np.zeros((0, *[1] * k), np.float32) for k in (2, 3)]
    choices = _Choices(Parameters(rules, (p[:, None], none[0], none[1]), np.ones(1), np.zeros(1)))
    drawn = choices.draw(np.zeros(200_000, np.int64), np.random.default_rng(1))
    assert (drawn == n).mean() < 1e-4 and (drawn > 0).mean() == pytest.approx(2.0**-7, rel=0.2)


def test_rules_that_were_not_drawn_are_not_in_the_sample(tmp_path):
    sampled = sample(random_model(GrammarSettings(3), 1), 50, 1)
    assert np.array_equal(np.unique(sampled.rule), np.arange(len(sampled.rules)))
    counted = MinimalRules.of(sampled)
    write_grammar(tmp_path / "grammar", counted, select_rules(counted))
    assert "nan" not in (tmp_path / "grammar").read_text() and "inf" not in (tmp_path / "grammar").read_text()


def test_models_that_cannot_be_sampled():
    with pytest.raises(InputError, match="do not give finite trees"):
        GrammarSettings(shares=(0.3, 0.1, 0.6))
    with pytest.raises(InputError, match="rank must be at least 1"):
        GrammarSettings(rank=0)
    with pytest.raises(InputError, match="at least 1"):
        sample(MODEL, 0, 1)
    with pytest.raises(InputError, match="without negative"):
        tensors = (-MODEL.tensors[0], *MODEL.tensors[1:])
        sample(Parameters(MODEL.rules, tensors, MODEL.root, MODEL.unk), 5, 1)
    endless = (MODEL.tensors[0] * 0.01, *MODEL.tensors[1:])
    with pytest.raises(InputError, match="are infinite"):
        sample(Parameters(MODEL.rules, endless, MODEL.root, MODEL.unk), 5, 1)


def test_a_seed_below_zero_is_refused():
    with pytest.raises(InputError, match="the seed must be at least 0, not -2"):
        sample(random_model(GrammarSettings(), 1), 5, -2)
    with pytest.raises(InputError, match="the seed must be at least 0, not -1"):
        random_model(GrammarSettings(), -1)
