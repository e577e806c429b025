"""Composed rules: against tensors contracted by hand, over all derivations, which are found by generating them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from composition import COMPOSE, MINIMAL, composed_system
from forests import Brute, paths, rebuilt
from helpers import derivations, rule_table, save_model
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lscfg.kernel import RULE_KINDS, Binding, BindingOptions, Grammar, Model, ParseOptions, S, X


@settings(max_examples=25, deadline=None)
@given(
    m=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    glue=st.booleans(),
    words=st.lists(st.sampled_from("aabcq"), min_size=1, max_size=5),
)
def test_equals_composed_tensors_over_all_derivations(tmp_path_factory, m, seed, glue, words):
    _, grammar, binding, tensors, root = composed_system(tmp_path_factory.mktemp("m"), m, seed, 60)
    kinds = binding.counts()
    assert kinds["known"] == binding.known and kinds["known"] + kinds["composed"] == len(grammar)
    options = ParseOptions(100, glue, 2, S if glue else X)
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), options)
    assume(forest is not None and paths(forest) <= 400)
    check_against_tensors(forest, grammar, binding, tensors, root)
    made, app_of, pushed = rebuilt(forest, grammar, np.random.default_rng(seed))
    assert np.allclose(binding.infer(made).apps[app_of], binding.infer(forest).apps[pushed])
    made, _, _ = rebuilt(forest, grammar, np.random.default_rng(seed), 0.7)
    if made is not None:
        check_against_tensors(made, grammar, binding, tensors, root)


def test_what_was_composed_before_makes_no_difference(tmp_path):
    model, grammar, _, _, _ = composed_system(tmp_path, 3, 5, 60)
    lines = [" ".join(np.random.default_rng(k).choice(list("aabc"), 6)) for k in range(40)]
    parsed = [grammar.parse(grammar.vocab.add_line(line), ParseOptions(100, True, 2)) for line in lines]
    forests = [forest for forest in parsed if forest is not None]
    alone = [Binding(model, grammar, COMPOSE).infer(forest) for forest in forests]
    whole, backwards, at_once = (Binding(model, grammar, COMPOSE) for _ in range(3))
    counts = whole.counts()
    assert counts["composed"] > 10 and len(forests) > 10
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(at_once.infer, forests))
    reverse = [backwards.infer(forest) for forest in reversed(forests)][::-1]
    for results in ([whole.infer(forest) for forest in forests], reverse, together):
        for one, other in zip(alone, results, strict=True):
            assert one.apps.tobytes() == other.apps.tobytes() and one.log_g == other.log_g
    assert at_once.counts() == backwards.counts() == counts


def check_against_tensors(forest, grammar, binding, tensors, root):
    brute = Brute(forest, grammar, tensors, root)
    values = [(d, brute.value(d)) for d in derivations(forest)]
    g = sum(value for _, value in values)
    result = binding.infer(forest)
    biggest = max(abs(value) for _, value in values)
    if abs(g) < 1e-6 * biggest or g == 0:  # nothing is left of it but rounding
        return
    marginals = np.zeros(forest.n_apps)
    for apps, value in values:
        for app in apps:
            marginals[app] += value / g
    nodes = np.zeros(forest.n_nodes)
    np.add.at(nodes, forest.edge_head[forest.app_edge], marginals)
    tolerance = 1e-9 * max(1, biggest / abs(g))
    assert np.abs(result.apps - marginals).max() < tolerance and np.abs(result.nodes - nodes).max() < tolerance
    assert result.sign == np.sign(g) and abs(result.log_g - np.log(abs(g))) < tolerance
    assert abs(result.negative - (marginals < 0).sum()) <= (np.abs(marginals) < tolerance).sum()


def test_marginal_of_a_composed_rule_is_that_of_its_minimal_derivations(tmp_path):
    rules = ["a ||| x", "b a c ||| w", "b [X,1] ||| [X,1] y", "[X,1] c ||| z [X,1]"]
    rng, m = np.random.default_rng(0), 4
    table = rule_table(rules)
    tensors = [rng.uniform(size=[m] * (a + 1)) for a in table.arity]
    model = Model(save_model(tmp_path / "m", table, tensors, rng.uniform(size=m), np.ones(m)))
    minimal, options = model.grammar(), ParseOptions(9, False, 0, X)
    forest = minimal.parse(minimal.vocab.add_line("b a c"), options)
    expected = Binding(model, minimal).infer(forest)
    top = forest.edge_head[forest.app_edge] == forest.n_nodes - 1
    direct = expected.apps[forest.app_rule == 1]
    assert top.sum() == 3 and len(direct) == 1  # (b a) c, b (a c), and the rule of all three words
    for composed in ("b [X,1] c ||| z [X,1] y\n[X] ||| a ||| x", "b a c ||| z x y"):
        grammar = Grammar()
        grammar.read_text(f"[X] ||| b a c ||| w\n[X] ||| {composed}\n")
        grammar.finish()
        forest = grammar.parse(grammar.vocab.add_line("b a c"), options)
        result = Binding(model, grammar, COMPOSE).infer(forest)
        assert np.isclose(result.log_g, expected.log_g)
        assert np.isclose(result.apps[forest.app_rule == 1], 1 - direct).all()
        assert np.isclose(result.apps[forest.app_rule == 0], direct).all()


def test_kinds_of_rules(tmp_path):
    rules = {
        "[X] ||| a ||| x": "known",
        "[X] ||| b a ||| x x": "composed",
        "[X] ||| a [X,1] a ||| x [1] x": "composed",
        "[X] ||| b [X,1] a [X,2] ||| [1] x x [2]": "composed",
        "[X] ||| b q ||| n x": "composed with OOV parts",
        "[X] ||| [X,1] q r ||| [1] n n": "composed with OOV parts",
        "[X] ||| a ||| n": "OOV",
        "[X] ||| q ||| n": "OOV",
        "[X] ||| a q ||| n n n": "OOV",
        "[X] ||| a |||": "OOV",
        "[X] ||| a [X,1] ||| n m [1]": "zero",
        "[X] ||| a [X,1] q ||| n m [1]": "zero",
        "[X] ||| a [Y,1] ||| x [1]": "zero",
        "[Y] ||| a ||| x": "stateless",
        "[S] ||| a [X,1] ||| [1] x": "stateless",
        f"[X] ||| {' '.join('a' * 12)} ||| {' '.join('x' * 12)}": "OOV",  # too long to be looked at
    }
    table = rule_table(MINIMAL)
    model = Model(
        save_model(tmp_path / "m", table, [np.ones([2] * (a + 1)) for a in table.arity], np.ones(2), np.ones(2))
    )
    grammar = Grammar()
    grammar.read_text("\n".join(rules))
    grammar.finish()

    def kinds(options: BindingOptions) -> list[str]:
        return [RULE_KINDS[k] for k in Binding(model, grammar, options).kinds]

    expected = list(rules.values())
    assert kinds(BindingOptions(True, True, True)) == expected
    assert kinds(BindingOptions(True, False, True)) == ["zero" if kind == "OOV" else kind for kind in expected]
    assert kinds(COMPOSE) == ["zero" if "OOV" in kind else kind for kind in expected]
    plain = Binding(model, grammar)
    assert kinds(BindingOptions()) == [kind if kind in ("known", "stateless") else "zero" for kind in expected]
    assert plain.known == plain.counts()["known"] == 1
    assert Binding(model, grammar, BindingOptions(oov=True)).counts()["OOV"] == 7


def test_oov_parts_are_the_fewest(tmp_path):
    """b q: b has a translation and q has none, so x translates b although n could be an OOV part as well."""
    table = rule_table(MINIMAL)
    rng = np.random.default_rng(1)
    tensors = [rng.uniform(size=[3] * (a + 1)) for a in table.arity]
    by_rule = {f"{table.src_text(r)} ||| {table.tgt_text(r)}": t for r, t in enumerate(tensors)}
    root, unk = rng.uniform(size=3), rng.uniform(size=3)
    model = Model(save_model(tmp_path / "m", table, tensors, root, unk))
    grammar = Grammar()
    grammar.read_text("[X] ||| b q ||| n x\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("b q"), ParseOptions(9, False, 0, X))
    result = Binding(model, grammar, BindingOptions(True, False, True)).infer(forest)
    value = by_rule["b [X,1] ||| [X,1] x"] @ unk  # [X,1] x over q -> n; no other derivation has one OOV part
    assert np.isclose(np.exp(result.log_g), root @ value)


def test_oov_rules_count_in_the_sum_of_their_source_side(tmp_path):
    table = rule_table(["a ||| x", "b ||| x"])
    model = Model(save_model(tmp_path / "m", table, [np.array([0.5])] * 2, np.ones(1), np.array([0.25])))
    grammar = Grammar()
    grammar.read_text("[X] ||| a ||| x\n[X] ||| a ||| n\n[X] ||| a ||| m\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("a"), ParseOptions(9, False, 0, X))
    assert np.allclose(Binding(model, grammar, BindingOptions(oov=True)).infer(forest).apps, [0.5, 0.25, 0.25])


@pytest.mark.parametrize("options", [COMPOSE, BindingOptions(True, True, True)])
def test_grammar_without_known_rules(tmp_path, options):
    model = composed_system(tmp_path, 2, 0, 5)[0]
    grammar = Grammar()
    grammar.read_text("[X] ||| q [X,1] ||| [1] n\n")
    grammar.finish()
    binding = Binding(model, grammar, options)
    assert binding.counts()["zero"] == 1
    forest = grammar.parse(grammar.vocab.add_line("q r"), ParseOptions(9, False, 1, X))
    assert binding.infer(forest).sign == 0
    empty = Grammar()
    empty.finish()
    assert Binding(model, empty, options).kinds.shape == (0,)
