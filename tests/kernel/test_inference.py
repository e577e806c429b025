"""Tensor inside-outside: against enumeration of all derivations and of all hidden states, and its invariants."""

import gzip
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forests import RULES, Brute, build
from helpers import derivations, rule_table, save_model
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import join_file, split_file
from reference import FigureOne

from lscfg.errors import InputError
from lscfg.kernel import (
    LATENT_FEATURES,
    PAPER_FEATURES,
    Binding,
    BindingOptions,
    FeatureOptions,
    Forest,
    Grammar,
    Inference,
    Model,
    ParseOptions,
    S,
    X,
)
from lscfg.kernel.search import SearchOptions, search
from lscfg.model.parameters import Parameters


@pytest.mark.parametrize("glue", [False, True])
def test_parameters_that_hardly_are_numbers(tmp_path, glue):
    """Marginals are ratios; what they are ratios of may be as small as a double can be."""
    least, table = 5e-324, rule_table(["a ||| x", "b ||| x"])
    path = save_model(tmp_path / "m", table, [np.array([least, 0])] * 2, np.array([1e6 * least, 0]), np.ones(2))
    model = Model(path)
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("a b" if glue else "a"), ParseOptions(100, glue, 2, S if glue else X))
    result = Binding(model, grammar).infer(forest)
    assert np.abs(result.apps - 1).max() < 1e-5 and np.abs(result.nodes - 1).max() < 1e-5
    assert result.sign == 1 and np.isfinite(result.log_g)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("glue", [False, True])
def test_equals_enumeration(tmp_path, m, signed, glue):
    model, grammar, tensors, root = build(tmp_path, m, m, signed)
    binding = Binding(model, grammar)
    assert binding.known == len(grammar) == len(RULES)
    for sentence in ("a", "a b", "b a b", "a c b", "b a c a", "q a", "a q b"):
        options = ParseOptions(100, glue, 2, 1 if glue else X)
        forest = grammar.parse(grammar.vocab.add_line(sentence), options)
        assert forest is not None
        brute = Brute(forest, grammar, tensors, root)
        values = [(d, brute.value(d)) for d in derivations(forest)]
        g = sum(value for _, value in values)
        marginals = np.zeros(forest.n_apps)
        for apps, value in values:
            for app in apps:
                marginals[app] += value / g
        nodes = np.zeros(forest.n_nodes)
        np.add.at(nodes, forest.edge_head[forest.app_edge], marginals)
        result = binding.infer(forest)
        scale = max(1.0, np.abs(marginals).max())
        assert np.abs(result.apps - marginals).max() < 1e-10 * scale
        assert np.abs(result.nodes - nodes).max() < 1e-10 * scale
        assert result.sign == np.sign(g) and abs(result.log_g - np.log(abs(g))) < 1e-10
        assert result.negative == (marginals < 0).sum()
        assert abs(result.negative_mass + marginals[marginals < 0].sum() / np.abs(marginals).sum()) < 1e-10
        assert abs(result.nodes[-1] - 1) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_marginals_where_nodes_have_no_value_equal_enumeration(tmp_path, seed):
    """Some tensors are 0, so some nodes lack an inside or an outside value."""
    _, grammar, tensors, root = build(tmp_path, 2, seed, False)
    rng = np.random.default_rng(seed)
    tensors = {rule: tensor * (rng.random() < 0.6) for rule, tensor in tensors.items()}
    made = [tensors[rule] for rule in range(len(grammar))]
    model = Model(save_model(tmp_path / "zeros", rule_table(RULES), made, root, tensors[len(grammar) + 2]))
    binding, possible = Binding(model, grammar), 0
    for sentence in ("b a b", "a c b", "b a c a", "a b a b", "b c a c b"):
        forest = grammar.parse(grammar.vocab.add_line(sentence), ParseOptions(100, False, 2, X))
        brute, marginals = Brute(forest, grammar, tensors, root), np.zeros(forest.n_apps)
        for apps in derivations(forest):
            marginals[apps] += brute.value(apps)
        at_root = forest.edge_head[forest.app_edge] == forest.n_nodes - 1
        if marginals.any():
            possible += 1
            assert binding.infer(forest).apps == pytest.approx(marginals / marginals[at_root].sum(), abs=1e-12)
    assert possible > 0


@pytest.mark.parametrize(("signed", "glue"), [(False, False), (False, True), (True, False)])
def test_states_of_nodes_equal_enumeration(tmp_path, signed, glue):
    model, grammar, tensors, root = build(tmp_path, 3, 3, signed)
    binding = Binding(model, grammar)
    for sentence in ("a", "b a b", "a c b", "a q b", "b a c a"):
        forest = grammar.parse(grammar.vocab.add_line(sentence), ParseOptions(100, glue, 2, S if glue else X))
        brute = Brute(forest, grammar, tensors, root)
        found = derivations(forest)
        g = sum(brute.value(apps) for apps in found)
        result, states = binding.infer_states(forest)
        assert states.shape == (forest.n_nodes, 3)
        for node in range(forest.n_nodes):
            if forest.node_cat[node] != X:
                assert not states[node].any()
                continue
            through = [apps for apps in found if node in forest.edge_head[forest.app_edge[apps]]]
            for state in range(3):
                brute.only = node, state
                expected = sum(brute.value(apps) for apps in through) / g
                assert abs(states[node, state] - expected) < 1e-10 * max(1, abs(expected))
        plain = binding.infer(forest)
        assert (plain.apps == result.apps).all() and (plain.nodes == result.nodes).all()


def test_states_of_composed_rules_add_up(tmp_path):
    """Infers with a grammar of composed rules, in a forest that inference expands."""
    model, *_ = build(tmp_path, 4, 7, signed=False)
    grammar = Grammar()
    grammar.read_text("".join(f"[X] ||| {rule} ||| \n" for rule in (*RULES, "a b [X,1] ||| x x [X,1]", "b a ||| x y")))
    grammar.finish()
    binding = Binding(model, grammar, BindingOptions(compose=True))
    forest = grammar.parse(grammar.vocab.add_line("a b a b a"), ParseOptions(100, False, 2, X))
    result, states = binding.infer_states(forest)
    assert np.allclose(states.sum(axis=1), result.nodes, atol=1e-12) and (states >= 0).all() and states[-1].any()


def in_other_basis(tensor, basis):
    """C^r after the change of basis G: G on the left-hand side, the inverse of G on each nonterminal."""
    inverse = np.linalg.inv(basis)
    tensor = np.tensordot(basis, tensor, (1, 0))
    for axis in range(1, tensor.ndim):
        tensor = np.moveaxis(np.tensordot(tensor, inverse, (axis, 0)), -1, axis)
    return tensor


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    signed=st.booleans(),
    glue=st.booleans(),
    spread=st.floats(0, 0.75),
    words=st.lists(st.sampled_from("abcq"), min_size=1, max_size=9),
)
def test_tree_probabilities_and_marginals_do_not_depend_on_the_latent_basis(m, seed, signed, glue, spread, words):
    """Theorem 1 of the thesis, for any invertible G of moderate condition: Q1 diag(10^d) Q2."""
    rng = np.random.default_rng(seed)
    table = rule_table(RULES)

    def draw(*shape):
        return rng.normal(size=shape) if signed else rng.uniform(size=shape)

    tensors, root, unk = [draw(*[m] * (a + 1)) for a in table.arity], draw(m), draw(m)
    left, right = (np.linalg.qr(rng.normal(size=(m, m)))[0] for _ in range(2))
    basis = left @ np.diag(10 ** rng.uniform(-spread, spread, size=m)) @ right
    changed = [in_other_basis(t, basis) for t in tensors]
    models = ((tensors, root, unk), (changed, root @ np.linalg.inv(basis), basis @ unk))
    results, values = [], []
    with tempfile.TemporaryDirectory() as folder:
        for ts, r, u in models:
            model = Model(save_model(Path(folder) / "m", table, ts, r, u))
            grammar = model.grammar()
            forest = grammar.parse(
                grammar.vocab.add_line(" ".join(words)), ParseOptions(100, glue, 2, 1 if glue else X)
            )
            results.append(Binding(model, grammar).infer(forest))
            by_rule = dict(enumerate(ts)) | {len(grammar) + 2: u}
            brute = Brute(forest, grammar, by_rule, r)
            some = derivations(forest) if len(words) <= 4 else []
            values.append(np.array([brute.value(apps) for apps in some]))
    # marginals are shares of g: where g is what is left of a cancellation, so are they of its digits
    if results[0].sign and np.abs(results[0].apps).max() < 100:
        scale = np.maximum(np.abs(results[0].apps), 1)
        assert (np.abs(results[0].apps - results[1].apps) < 1e-9 * scale).all()
        assert np.allclose(results[0].nodes, results[1].nodes, rtol=1e-9, atol=1e-9)
        assert results[0].sign == results[1].sign and abs(results[0].log_g - results[1].log_g) < 1e-9
    assert np.allclose(values[0], values[1], rtol=1e-9, atol=1e-9 * np.abs(values[0]).max(initial=0))


@pytest.mark.parametrize("m", [1, 8, 17, 32])
def test_equals_figure_one_in_numpy(tmp_path, m):
    """At sizes that enumeration does not reach: the paper's algorithm, edge by edge.

    In the last sentence the rule around ``c`` has fewer first tails than heads, and that of two phrases side by side
    more heads than a tile has rows.
    """
    rng = np.random.default_rng(m)
    table = rule_table(RULES)
    tensors = [rng.normal(size=[m] * (a + 1)) / m ** (a / 2) for a in table.arity]
    path = save_model(tmp_path / "m", table, tensors, rng.normal(size=m), rng.normal(size=m))
    model = Model(path)
    grammar = model.grammar()
    reference = FigureOne(Parameters.load(path), grammar)
    for sentence in ("b a b c a q", "a b a b a b c a b", "a b c a b a b a b"):
        forest = grammar.parse(grammar.vocab.add_line(sentence), ParseOptions(100, False, 2, X))
        mu, nodes, g = reference.marginals(forest)
        result = Binding(model, grammar).infer(forest)
        scale = np.abs(mu).max()
        assert np.abs(result.apps - mu).max() < 1e-10 * max(1, scale)
        assert np.abs(result.nodes - nodes).max() < 1e-10 * max(1, scale)
        assert np.isclose(result.sign * np.exp(result.log_g), g, rtol=1e-10)


def test_long_sentence_of_tiny_parameters_neither_vanishes_nor_overflows(tmp_path):
    for scale in (1e-12, 1e12):
        model, grammar, _, _ = build(tmp_path, 3, 7, False, scale)
        words = grammar.vocab.add_line(" ".join("ab" * 60))
        forest = grammar.parse(words, ParseOptions(100, True, 2))
        result = Binding(model, grammar).infer(forest)
        assert result.sign == 1 and np.isfinite(result.log_g) and abs(result.log_g) > 1000
        assert np.isfinite(result.apps).all() and abs(result.nodes[-1] - 1) < 1e-9
        sums = np.zeros(forest.n_nodes)
        np.add.at(sums, forest.edge_head[forest.app_edge], result.apps)
        assert np.allclose(sums, result.nodes, atol=1e-12)


def test_a_term_of_zero_hides_no_small_one(tmp_path):
    """The derivation without probability has a larger exponent than the one that counts."""
    rules = ["a ||| A", "b ||| B", "c ||| C", "[X,1] b c ||| [X,1] D", "[X,1] [X,2] ||| [X,1] [X,2]"]
    tensors = np.array([[1.0], [1e-200], [1e-200]]), np.zeros((1, 1, 1)), np.ones((1, 1, 1, 1))
    Parameters(rule_table(rules), tensors, np.ones(1), np.ones(1)).save(tmp_path / "m", np.float64)
    grammar = Model(tmp_path / "m").grammar()
    forest = grammar.parse(grammar.vocab.add_line("a b c"), ParseOptions(10, False, 0, X))
    found = Binding(Model(tmp_path / "m"), grammar).infer(forest)
    assert found.sign == 1 and found.log_g == pytest.approx(np.log(2e-200) + np.log(1e-200), rel=1e-12)
    forest = grammar.parse(grammar.vocab.add_line("a b c a b c"), ParseOptions(10, False, 0, X))
    found = Binding(Model(tmp_path / "m"), grammar).infer(forest)  # with such terms side by side
    assert found.log_g == pytest.approx(np.log(42) + 4 * np.log(1e-200), rel=1e-12)  # trees of six leaves


def test_forest_of_another_grammar_is_refused(tmp_path):
    """Refuses a forest even if its rule numbers exist in this grammar."""
    rules = ["a ||| A", "b ||| B", "[X,1] [X,2] ||| [X,1] [X,2]"]
    tensors = np.ones((2, 1)), np.zeros((0, 1, 1)), np.ones((1, 1, 1, 1))
    Parameters(rule_table(rules), tensors, np.ones(1), np.ones(1)).save(tmp_path / "m", np.float64)
    model, g = Model(tmp_path / "m"), Grammar()
    g.read_text("[X] ||| [X,1] [X,2] ||| [1] [2]\n[X] ||| a ||| A\n[X] ||| b ||| B\n")
    g.finish()
    binding, (own, other) = Binding(model, g), (h.parse(h.vocab.add_line("a b"), ParseOptions(10, False, 0, X))
                                               for h in (g, model.grammar()))  # fmt: skip
    before = binding.infer(own).log_g
    with pytest.raises(InputError, match="not one of this grammar: it has a rule 0 of another number of nonterminals"):
        binding.infer(other)
    nothing = Inference(np.zeros(other.n_apps), np.zeros(other.n_nodes), 1, 0.0, 0, 0.0)
    with pytest.raises(InputError, match="not one of this grammar: it has a rule 0 of another number of nonterminals"):
        binding.features(other, nothing, FeatureOptions(names=PAPER_FEATURES))
    larger = Grammar()
    larger.read_text("".join(f"[X] ||| c ||| C{k}\n" for k in range(9)) + "[X] ||| a b ||| AB\n")
    larger.finish()
    with pytest.raises(InputError, match=r"not one of this grammar: it has a rule 9$"):
        binding.infer(larger.parse(larger.vocab.add_line("a b"), ParseOptions(10, False, 0, X)))
    with pytest.raises(InputError, match="not one of this grammar: rule 0 has more nonterminals"):
        search(other, g, None, np.zeros(len(other.app_rule)), SearchOptions())
    assert binding.infer(own).log_g == before


def test_no_probability_gives_zero_marginals(tmp_path):
    table = rule_table(["a ||| x"])
    model = Model(save_model(tmp_path / "m", table, [np.zeros(2)], np.ones(2), np.zeros(2)))
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("a"), ParseOptions(10, False, 0, X))
    binding = Binding(model, grammar)
    result = binding.infer(forest)
    assert result.sign == 0 and result.apps.tolist() == [0]
    for log in (False, True):
        assert not binding.features(forest, result, FeatureOptions(log, names=LATENT_FEATURES[:4])).any()


@pytest.mark.parametrize("goal", [X, S])
@pytest.mark.parametrize("negative", ["flip", "clamp"])
@pytest.mark.parametrize("log", [False, True])
def test_features_by_their_definition(tmp_path, goal, negative, log):
    model, grammar, _, _ = build(tmp_path, 3, 11, True)
    forest = grammar.parse(grammar.vocab.add_line("b a b a c b new"), ParseOptions(100, goal == S, 2, goal))
    binding = Binding(model, grammar)
    result = replace(binding.infer(forest), sign=1)
    value = np.abs if negative == "flip" else lambda marginals: np.maximum(marginals, 0)
    apps, nodes, floor = value(result.apps), value(result.nodes), 0.05
    heads = forest.edge_head[forest.app_edge]
    targets = [tuple(grammar.tgt(int(r))) if r < len(grammar) else "pass" for r in forest.app_rule]
    latent = forest.node_cat[heads] == X
    assert latent.all() == (goal == X)
    expected = np.zeros((forest.n_apps, 4))
    for a in np.nonzero(latent)[0]:
        same_edge = forest.app_edge == forest.app_edge[a]
        same_target = np.array([h == heads[a] and t == targets[a] for h, t in zip(heads, targets, strict=True)])
        shares = [apps[a] / max(apps[same].sum(), 1e-300) for same in (same_edge, same_target)]
        expected[a] = [apps[a], *shares, nodes[heads[a]]]
    # else neither the policy nor the floor would be seen
    assert (result.apps[latent] < 0).any() and (result.nodes[heads[latent]] < 0).any()
    assert (expected[latent] < floor).any(axis=0).all() and (expected[latent] > floor).any(axis=0).all()
    if log:
        expected[latent] = np.log(np.maximum(expected[latent], floor))
    found = binding.features(forest, result, FeatureOptions(log, floor, negative, LATENT_FEATURES[:4]))
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_features_come_in_the_order_asked_and_not_of_a_negative_g(tmp_path):
    model, grammar, _, _ = build(tmp_path, 3, 11, True)
    forest = grammar.parse(grammar.vocab.add_line("b a b a c b new"), ParseOptions(100, False, 2, X))
    binding = Binding(model, grammar)
    result = replace(binding.infer(forest), sign=1)
    raw = binding.features(forest, result, FeatureOptions(log=False, names=LATENT_FEATURES[:4]))
    chosen = binding.features(forest, result, FeatureOptions(log=False, names=("LatentSpan", "LatentMarginal")))
    assert raw.all() and np.array_equal(chosen, raw[:, [3, 0]])
    below = binding.features(forest, replace(result, sign=-1), FeatureOptions(names=PAPER_FEATURES))
    assert below.shape == (forest.n_apps, 3) and not below.any()
    # unless they are kept: the marginals divided by g have the same meaning
    keep, families = replace(result, sign=-1), ("paper", "span")
    assert np.array_equal(
        binding.features(forest, keep, FeatureOptions(names=families, improper="keep")),
        binding.features(forest, result, FeatureOptions(names=families)),
    )
    nothing = binding.features(forest, replace(result, sign=0), FeatureOptions(names=families, improper="keep"))
    assert not nothing.any()


def test_rules_that_the_model_does_not_know_are_at_the_floor(tmp_path):
    model, _, _, _ = build(tmp_path, 2, 5, False)
    grammar = Grammar()
    grammar.read_text("[X] ||| a ||| x ||| A=1\n[X] ||| a ||| unheard ||| A=1\n[X] ||| c ||| w ||| A=1\n")
    grammar.finish()
    binding = Binding(model, grammar)
    for word, options, expected in (
        ("a", FeatureOptions(names=PAPER_FEATURES), [[0, 0, 0], [np.log(1e-6)] * 3]),
        ("a", FeatureOptions(log=False, names=PAPER_FEATURES), [[1, 1, 1], [0, 0, 0]]),
        ("new", FeatureOptions(names=PAPER_FEATURES), [[0, 0, 0]]),
        ("c", FeatureOptions(names=PAPER_FEATURES), [[0, 0, 0]]),  # no derivation has a probability: nothing is known
    ):
        forest = grammar.parse(grammar.vocab.add_line(word), ParseOptions(10, False, 2, X))
        found = binding.features(forest, binding.infer(forest), options)
        unheard = [grammar.tgt(int(r)) == [grammar.vocab.find("unheard")] if r < 3 else False for r in forest.app_rule]
        assert np.allclose(found[np.argsort(unheard, kind="stable")], expected)


@pytest.mark.parametrize("names", [(), ("LatentSpan", "LatentSpan"), ("Latent",)])
def test_features_that_there_are_not(names):
    with pytest.raises(
        InputError,
        match=r"names (is invalid: unknown feature 'Latent';|must name one or more|must not name 'LatentSpan' twice)",
    ):
        FeatureOptions(names=names)


def test_reference_marginals(shared, tmp_path):
    """g, node and edge marginals, P(e|f) and P(f|e) of 20 sentences computed by another program (rank 4)."""
    with gzip.open(shared / "oracle" / "params_r4.json.gz", "rt") as file:
        data = json.load(file)
    unk = np.array(data["params"].pop("[X] ||| <unk> ||| <unk>"))
    texts = [rule.split(" ||| ", 1)[1] for rule in data["params"]]
    by_text = dict(zip(texts, (np.array(v) for v in data["params"].values()), strict=True))
    table = rule_table(texts)
    tensors = [by_text[f"{table.src_text(r)} ||| {table.tgt_text(r)}"] for r in range(len(table))]
    model = Model(save_model(tmp_path / "m", table, tensors, np.array(data["Pi"]), unk))
    grammar = model.grammar()
    binding = Binding(model, grammar)
    with gzip.open(shared / "oracle" / "forests_r4.jsonl.gz", "rt") as file:
        sentences = [json.loads(line) for line in file]
    assert len(sentences) == 20
    for expected in sentences:
        words = grammar.vocab.add_line(" ".join(expected["words"]))
        forest = grammar.parse(words, ParseOptions(1000, False, 2, X))
        result = binding.infer(forest)
        assert forest.n_nodes == len(expected["nodes"]) and forest.n_edges == len(expected["edges"])
        # one sentence's g is a difference of numbers 10^13 times as large: nothing of it is left in double precision
        cancelled = abs(expected["g"]) < 1e-28
        if not cancelled:
            assert abs(result.sign * np.exp(result.log_g) / expected["g"] - 1) < 1e-9
        tolerance = 1e-3 if cancelled else 1e-9
        spans = {(i, j): signed for i, j, _, signed in expected["node_marginals"]}
        for span, value in zip(forest.node_span.tolist(), result.nodes, strict=True):
            assert abs(value - spans[tuple(span)]) < tolerance * max(1, abs(value))
        # the other program divides by a negative g as by any other
        features = binding.features(forest, replace(result, sign=1), FeatureOptions(log=False, names=PAPER_FEATURES))
        assert len(expected["edge_marginals"]) == forest.n_apps
        for app in range(forest.n_apps):
            key = decorated(forest, grammar, app)
            _, signed, e_given_f, f_given_e = expected["edge_marginals"][key]
            assert abs(result.apps[app] - signed) < tolerance * max(1, abs(signed))
            assert abs(features[app, 1] - e_given_f) < tolerance
            if f_given_e != 0.999:  # how the other program writes 1
                assert abs(features[app, 2] - f_given_e) < tolerance
            else:
                assert abs(features[app, 2] - 1) < 1e-12


def decorated(forest: Forest, grammar: Grammar, app: int) -> str:
    """The application in the reference's notation: spans on the left-hand side and on the source nonterminals."""
    edge, rule = forest.app_edge[app], int(forest.app_rule[app])
    i, j = forest.node_span[forest.edge_head[edge]]
    word = grammar.vocab.word
    if rule >= len(grammar):
        return f"[X_{i}_{j}] ||| <unk> ||| {word(int(forest.words[i]))}"
    spans = [forest.node_span[t] for t in forest.edge_tail[edge] if t >= 0]
    src, k = [], 0
    for symbol in grammar.src(rule):
        if symbol >= 0:
            src.append(word(symbol))
        else:
            src.append(f"[X_{spans[k][0]}_{spans[k][1]}]")
            k += 1
    tgt = [word(s) if s >= 0 else f"[{-s}]" for s in grammar.tgt(rule)]
    return f"[X_{i}_{j}] ||| {' '.join(src)} ||| {' '.join(tgt)}"


def test_instruction_sets_agree(tmp_path):
    """The two with fused multiply-add to the bit; all of them also where a vector has a rest."""
    rng = np.random.default_rng(5)
    for m in (1, 3, 8, 13, 24):
        table = rule_table(RULES)
        tensors = [rng.normal(size=[m] * (a + 1)) / m ** (a / 2) for a in table.arity]
        model = Model(save_model(tmp_path / "m", table, tensors, rng.normal(size=m), rng.normal(size=m)))
        grammar = model.grammar()
        forest = grammar.parse(grammar.vocab.add_line("a b c a q b a b c"), ParseOptions(100, False, 2, X))
        binding = Binding(model, grammar)
        found = {}
        for name in ("avx512", "avx2", "baseline"):
            try:
                binding.instructions = name
            except InputError as error:
                assert name in str(error)  # noqa: PT017 (a machine may lack the instructions)
                continue
            assert binding.instructions == name
            found[name] = binding.infer(forest)
        for other in found.values():
            assert np.allclose(other.apps, found["baseline"].apps, rtol=1e-9, atol=1e-9)
        if "avx512" in found:
            assert (found["avx512"].apps == found["avx2"].apps).all()


@pytest.mark.parametrize("m", [5, 16, 20])
def test_single_precision_is_that_of_the_rounded_values(tmp_path, m):
    rng = np.random.default_rng(6)
    table = rule_table(RULES)
    tensors = [rng.normal(size=[m] * (a + 1)).astype(np.float32).astype(float) for a in table.arity]
    root, unk = rng.normal(size=m), rng.normal(size=m)
    save_model(tmp_path / "double", table, tensors, root, unk)
    Parameters.load(tmp_path / "double").save(tmp_path / "single")
    assert (tmp_path / "single").stat().st_size < (tmp_path / "double").stat().st_size
    results = []
    for name in ("double", "single"):
        model = Model(tmp_path / name)
        grammar = model.grammar()
        forest = grammar.parse(grammar.vocab.add_line("a b c a b"), ParseOptions(100, False, 2, X))
        results.append(Binding(model, grammar).infer(forest))
    assert (results[0].apps == results[1].apps).all()


def test_a_tensor_that_is_not_finite_is_told_when_it_is_needed(tmp_path):
    table = rule_table(RULES)
    tensors = [np.full([2] * (a + 1), 0.1) for a in table.arity]
    path = save_model(tmp_path / "m", table, tensors, np.ones(2), np.ones(2))
    metadata, arrays = split_file(path.read_bytes())
    arrays["C2"][2] = np.full(len(arrays["C2"][2]) // 8, np.nan).tobytes()
    path.write_bytes(join_file(metadata, arrays))
    model = Model(path)
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("a b c"), ParseOptions(100, False, 2, X))
    with pytest.raises(InputError, match="not finite"):
        Binding(model, grammar).infer(forest)
