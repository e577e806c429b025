"""Forests that a decoder builds: against the parser's, and what is refused."""

import numpy as np
import pytest
from forests import GLUE, GLUE_TOP, PASS, PASS_KNOWN, RULES, UNKNOWN, Brute, applications, build, paths, rebuilt
from helpers import derivations, rule_table, save_model
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lscfg.errors import InputError
from lscfg.kernel import (
    PAPER_FEATURES,
    Binding,
    BindingOptions,
    FeatureOptions,
    Forest,
    ForestBuilder,
    Grammar,
    GrammarLayer,
    Model,
    ParseOptions,
    S,
    X,
)
from lscfg.kernel.search import SearchOptions, search


@pytest.mark.parametrize("glue", [False, True])
def test_rebuilt_forest_equals_the_parser_s(tmp_path, glue):
    model, grammar, _, _ = build(tmp_path, 3, 1, True)
    binding = Binding(model, grammar)
    for sentence in ("a", "b a b", "b a c a b a", "q a b q"):
        options = ParseOptions(100, glue, 2, S if glue else X)
        forest = grammar.parse(grammar.vocab.add_line(sentence), options)
        made, app_of, pushed = rebuilt(forest, grammar, np.random.default_rng(0))
        assert (made.n_nodes, made.n_edges, made.n_apps) == (forest.n_nodes, forest.n_edges, forest.n_apps)
        assert sorted(app_of.tolist()) == list(range(forest.n_apps))
        assert (made.node_span == forest.node_span).all() and (made.node_cat == forest.node_cat).all()
        expected, result = binding.infer(forest), binding.infer(made)
        assert np.allclose(result.apps[app_of], expected.apps[pushed], rtol=1e-12, atol=1e-14)
        assert np.allclose(result.nodes, expected.nodes, rtol=1e-12, atol=1e-14)
        assert (result.sign, result.negative) == (expected.sign, expected.negative)
        assert np.isclose(result.log_g, expected.log_g) and np.isclose(result.negative_mass, expected.negative_mass)
        raw = FeatureOptions(log=False, names=PAPER_FEATURES)
        mine, theirs = binding.features(made, result, raw), binding.features(forest, expected, raw)
        assert np.allclose(mine[app_of], theirs[pushed], rtol=1e-9, atol=1e-12)
        found, wanted = (
            search(f, grammar, None, np.zeros(f.n_apps), SearchOptions(100, 1000, False, 0, 0)) for f in (made, forest)
        )
        assert len(found) == len(wanted) == min(len(derivations(forest)), 1000)


@settings(max_examples=40, deadline=None)
@given(
    m=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    glue=st.booleans(),
    keep=st.floats(0.3, 1),
    words=st.lists(st.sampled_from("abcq"), min_size=1, max_size=4),
)
def test_any_part_of_a_forest_equals_enumeration(tmp_path_factory, m, seed, glue, keep, words):
    """Edges that lack rules of their source side, nodes without derivations, and nodes twice."""
    model, grammar, tensors, root = build(tmp_path_factory.mktemp("m"), m, seed, False)
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, glue, 1, S if glue else X))
    rng = np.random.default_rng(seed)
    builder, copies, pushed = ForestBuilder(forest.words), {}, []
    apps = applications(forest)
    for q in range(forest.n_nodes):
        for _ in range(1 if q == forest.n_nodes - 1 else int(rng.integers(1, 3))):
            number = builder.add_node(int(forest.node_cat[q]), *forest.node_span[q].tolist())
            copies.setdefault(q, []).append(number)
            for _, rule, tails in (app for app in apps if app[0] == q):
                if rng.random() < keep:
                    for _ in range(int(rng.integers(1, 3))):
                        chosen = [int(rng.choice(copies[t])) for t in tails]
                        pushed.append((number, rule, tuple(chosen)))
                        assert builder.add_application(rule, *chosen) == len(pushed) - 1
    made, app_of = builder.finish(grammar)
    assert len(app_of) == len(pushed)
    assume(made is None or paths(made) <= 300)
    if made is None:
        assert (app_of == -1).all()
        return
    found = derivations(made)
    used = {app for apps in found for app in apps}
    assert used == set(range(made.n_apps)) == set(app_of.tolist()) - {-1}
    for k, app in enumerate(app_of):
        assert app < 0 or made.app_rule[app] == pushed[k][1]
    for e in range(made.n_edges):  # one source side over one choice of tails
        rules = made.app_rule[made.edge_apps[e] : made.edge_apps[e + 1]].tolist()
        assert len({tuple(grammar.src(r)) if r < len(grammar) else r for r in rules}) == 1
    for word in grammar.vocab.add_line("a b"):  # known words have no probability when they are passed through
        assert grammar.find(X, [int(word)], [grammar.vocab.find("x")]) >= 0
    values = []
    for apps in found:
        brute = Brute(made, grammar, tensors, root)
        known = all(
            made.app_rule[a] != len(grammar) + PASS
            or grammar.vocab.word(int(made.words[made.node_span[made.edge_head[made.app_edge[a]], 0]])) not in "ab"
            for a in apps
        )
        values.append(brute.value(apps) if known else 0.0)
    g = sum(values)
    result = Binding(model, grammar).infer(made)
    assert result.sign == (g > 0)
    if g == 0:
        return
    marginals = np.zeros(made.n_apps)
    for apps, value in zip(found, values, strict=True):
        for app in apps:
            marginals[app] += value / g
    assert np.abs(result.apps - marginals).max() < 1e-10 and abs(result.log_g - np.log(g)) < 1e-9


def test_find_gives_the_first_rule_of_equal_sides():
    grammar = Grammar()
    grammar.read_text("[X] ||| a ||| b\n[S] ||| a ||| b\n[X] ||| a ||| b\n[X] ||| a [X,1] ||| [1]\n[X] ||| a |||\n")
    assert grammar.find(X, grammar.src(0), grammar.tgt(0)) == -1  # not finished
    grammar.finish()
    assert [grammar.find(grammar.lhs(r), grammar.src(r), grammar.tgt(r)) for r in range(5)] == [0, 1, 0, 3, 4]
    assert grammar.find(X, [7], [8]) == grammar.find(X, [], []) == grammar.find(5, grammar.src(0), grammar.tgt(0)) == -1


def test_duplicate_rules_are_separate_applications(tmp_path):
    model, _, _, _ = build(tmp_path, 2, 1, False)
    grammar = Grammar()
    grammar.read_text("[X] ||| a ||| x\n[X] ||| a ||| x\n[X] ||| a ||| y\n")
    grammar.finish()
    words = grammar.vocab.add_line("a")
    forest = grammar.parse(words, ParseOptions(10, False, 0, X))
    builder = ForestBuilder(words)
    builder.add_node(X, 0, 1)
    for rule in (2, 0, 0):
        builder.add_application(rule)
    made, app_of = builder.finish(grammar)
    assert made.n_edges == 1 and app_of.tolist() == [2, 0, 1]
    binding = Binding(model, grammar)
    expected = binding.infer(forest)
    assert np.allclose(binding.infer(made).apps, expected.apps)
    raw = FeatureOptions(log=False, names=PAPER_FEATURES)
    assert np.allclose(binding.features(made, expected, raw), binding.features(forest, expected, raw))


@pytest.mark.parametrize("oov", [False, True])
def test_rules_that_the_grammar_has_not(tmp_path, oov):
    table = rule_table(["a ||| x", "[X,1] [X,2] ||| [X,1] [X,2]"])
    tensors = [np.array([0.5, 0.25]), np.full((2, 2, 2), 0.1)]
    model = Model(save_model(tmp_path / "m", table, tensors, np.ones(2), np.array([0.25, 0.125])))
    grammar = model.grammar()
    size = len(grammar)
    builder = ForestBuilder(grammar.vocab.add_line("a z"))
    left, right = builder.add_node(X, 0, 1), -1
    builder.add_application(0)
    builder.add_application(size + UNKNOWN)
    builder.add_application(size + UNKNOWN)
    right = builder.add_node(X, 1, 2)
    builder.add_application(size + PASS)
    top = builder.add_node(X, 0, 2)
    builder.add_application(1, left, right)
    builder.add_application(size + UNKNOWN, left, right)
    builder.add_node(S, 0, 2)
    builder.add_application(size + UNKNOWN, top)
    made, app_of = builder.finish(grammar)
    assert made.n_apps == 7 and made.n_edges == 7 and sorted(app_of.tolist()) == list(range(7))
    apps = Binding(model, grammar, BindingOptions(oov=oov)).infer(made).apps[app_of]
    expected = [0.5, 0.25, 0.25, 1, 1, 0, 1] if oov else [1, 0, 0, 1, 1, 0, 1]
    assert np.allclose(apps, expected)
    with pytest.raises(InputError, match="its target side is unknown"):
        search(made, grammar, None, np.zeros(7), SearchOptions(10, 1, False, 0, 0))


@pytest.mark.parametrize("options", [BindingOptions(), BindingOptions(oov=True), BindingOptions(compose=True)])
def test_words_passed_through_that_the_grammar_translates(tmp_path, options):
    """They have no probability, even with a policy for unknown rules; and each word has its own target side."""
    table = rule_table(["a ||| x"])
    model = Model(save_model(tmp_path / "m", table, [np.array([0.5, 0.25])], np.ones(2), np.array([0.25, 0.125])))
    grammar = model.grammar()
    builder = ForestBuilder(np.array([-1], np.int32))
    builder.add_node(X, 0, 1)
    for rule in (PASS, PASS, PASS_KNOWN):
        builder.add_application(len(grammar) + rule)
    forest, app_of = builder.finish(grammar)
    binding = Binding(model, grammar, options)
    inference = binding.infer(forest)
    assert inference.apps[app_of] == pytest.approx([0.5, 0.5, 0])
    features = binding.features(forest, inference, FeatureOptions(log=False, names=("LatentFgivenE",)))[app_of]
    assert features[:, 0] == pytest.approx([1, 1, 0])


def test_what_is_refused(tmp_path):
    model, grammar, _, _ = build(tmp_path, 2, 1, False)
    size = len(grammar)
    words = grammar.vocab.add_line("a b c")
    pair = RULES.index("[X,1] [X,2] ||| [X,1] [X,2]")

    def builder() -> ForestBuilder:
        made = ForestBuilder(words)
        made.add_node(X, 0, 1)
        made.add_application(0)
        made.add_node(X, 1, 2)
        made.add_application(0)
        return made

    for bad in ((-1, 0, 1), (X, -1, 1), (X, 1, 1), (X, 2, 1), (X, 0, 4)):
        with pytest.raises(InputError, match="a node of category"):
            builder().add_node(*bad)
    with pytest.raises(InputError, match="add a node before its applications"):
        ForestBuilder(words).add_application(0)
    with pytest.raises(InputError, match="no rule -1"):
        builder().add_application(-1)
    for tails in ((1,), (-2,), (-1, 0), (0, 1), (0, 7), (2**31 - 1,)):
        with pytest.raises(InputError, match="must be nodes added before it"):
            builder().add_application(pair, *tails)
    for category, span, rule, tails, message in (
        (X, (0, 2), pair, (0,), "has 2 nonterminals, not 1"),
        (X, (0, 2), 0, (0,), "has 0 nonterminals, not 1"),
        (X, (0, 2), size + 5, (0, 1), "the grammar has no rule"),
        (X, (0, 2), size + 6, (0, 1), "the grammar has no rule"),
        (X, (0, 2), 2**31 - 1, (0, 1), "the grammar has no rule"),
        (S, (0, 2), pair, (0, 1), "is not of category 1"),
        (X, (0, 2), pair, (1, 0), "are not adjacent"),
        (X, (0, 2), pair, (0, 0), "are not adjacent"),
        (X, (0, 1), pair, (0, 1), "are not adjacent"),
        (7, (0, 2), pair, (0, 1), "the grammar has no category 7"),
        (S, (0, 1), size + PASS, (), "is not of category 1"),
        (S, (0, 2), size + GLUE, (0, 1), "tail 0 is of category 0, the rule wants 1"),
        (S, (0, 2), size + GLUE_TOP, (), "has 1 nonterminals, not 0"),
        (X, (0, 1), RULES.index("a b ||| z"), (), "has no room for the words of rule 3"),
        (X, (0, 1), RULES.index("b [X,1] ||| [X,1] x"), (0,), "has no room for the words of rule 4"),
        (X, (0, 2), RULES.index("[X,1] c [X,2] ||| [X,2] [X,1]"), (0, 1), "has no room for the words of rule 6"),
        (
            X,
            (0, 2),
            RULES.index("b [X,1] ||| [X,1] x"),
            (0,),
            "has no room for the words of rule 4",
        ),  # the word is behind
    ):
        made = builder()
        made.add_node(category, *span)
        made.add_application(rule, *tails)
        with pytest.raises(InputError, match=message):
            made.finish(grammar)
    with pytest.raises(InputError, match="has no nodes"):
        ForestBuilder(words).finish(grammar)
    with pytest.raises(InputError, match="the grammar is not finished; call finish after"):
        builder().finish(Grammar())
    layer = GrammarLayer(grammar)
    layer.finish()
    with pytest.raises(InputError, match="is a layer of rules; give its base"):
        builder().finish(layer)
    with pytest.raises(InputError, match="is a layer of rules; give its base"):
        Binding(model, layer)
    made = builder()
    forest, _ = made.finish(grammar)
    assert forest.n_nodes == 1
    for again in (lambda: made.add_node(X, 0, 1), lambda: made.add_application(0), lambda: made.finish(grammar)):
        with pytest.raises(InputError, match="is finished"):
            again()
    unfinished = Forest(ForestBuilder(words)._pointer)
    assert unfinished.n_nodes == unfinished.n_apps == 0
    with pytest.raises(InputError, match="has no nodes, or is not finished"):
        Binding(model, grammar).infer(unfinished)


def test_root_without_a_derivation(tmp_path):
    _, grammar, _, _ = build(tmp_path, 2, 1, False)
    pair = RULES.index("[X,1] [X,2] ||| [X,1] [X,2]")
    builder = ForestBuilder(grammar.vocab.add_line("a b"))
    builder.add_node(X, 0, 1)
    builder.add_application(0)
    builder.add_node(X, 1, 2)
    builder.add_node(X, 0, 2)
    builder.add_application(pair, 0, 1)
    forest, app_of = builder.finish(grammar)
    assert forest is None and app_of.tolist() == [-1, -1]
