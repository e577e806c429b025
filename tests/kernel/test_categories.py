"""Models of several categories: inference against enumeration, and invariances."""

import numpy as np
import pytest
from categories import RULES, Enumerated, grammar_of, permuted, random_parameters, saved, table_of

from lscfg.errors import InputError
from lscfg.io import tensors
from lscfg.kernel import Binding, BindingOptions, FeatureOptions, Model, ParseOptions
from lscfg.kernel.inference import RULE_KINDS
from lscfg.model.parameters import OneState, Parameters

NAMES, RANKS = ("A", "B"), (2, 3)
SENTENCES = ["a", "a c", "a a c", "u a c b", "a c a u", "a a a c"]
OPTIONS = ParseOptions(glue=False, pass_through=0)
NODES_AGREE = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture
def table():
    return table_of(RULES, NAMES)


def inferred(parameters, grammar, sentence, path, options=None):
    """The forest of a sentence and the kernel's inference over it."""
    binding = Binding(Model(saved(parameters, path)), grammar, options)
    forest = grammar.parse(grammar.vocab.add_line(sentence), OPTIONS)
    return binding, forest, binding.infer(forest)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_two_categories_agree_with_enumeration(table, tmp_path, sentence):
    parameters, grammar = random_parameters(table, RANKS, 1), grammar_of(table)
    _, forest, found = inferred(parameters, grammar, sentence, tmp_path / "m")
    wanted = Enumerated(forest, grammar, parameters)
    assert np.exp(found.log_g) == pytest.approx(wanted.g, rel=1e-12)
    np.testing.assert_allclose(found.apps, wanted.apps, **NODES_AGREE)
    np.testing.assert_allclose(found.nodes, wanted.nodes, **NODES_AGREE)


@pytest.mark.parametrize("seed", range(20))
def test_invertible_matrices_of_each_category_change_no_marginal(table, tmp_path, seed):
    """Theorem 1 of the thesis with two categories of ranks 2 and 3."""
    rng, grammar = np.random.default_rng(seed), grammar_of(table)
    parameters, sentence = random_parameters(table, RANKS, seed), " ".join(rng.choice(list("abc"), 5))
    g = [np.eye(3), np.eye(3)]
    for matrix, rank in zip(g, RANKS, strict=True):
        matrix[:rank, :rank] = rng.normal(size=(rank, rank)) + 2 * np.eye(rank)
    inverse = [np.linalg.inv(matrix) for matrix in g]
    groups = [[], [], []]
    for rule in range(len(table)):
        tensor = np.tensordot(inverse[table.category[rule]], parameters.tensor(rule), 1)
        for axis, category in enumerate(table.below[rule][table.below[rule] >= 0], 1):
            tensor = np.moveaxis(np.tensordot(tensor, g[category], (axis, 0)), -1, axis)
        groups[table.arity[rule]].append(tensor)
    root = np.stack([parameters.root[c] @ g[c] for c in range(2)])
    unk = np.stack([inverse[c] @ parameters.unk[c] for c in range(2)])
    changed = Parameters(table, tuple(map(np.array, groups)), root, unk)
    _, _, one = inferred(parameters, grammar, sentence, tmp_path / "one")
    _, _, other = inferred(changed, grammar, sentence, tmp_path / "other")
    assert other.log_g == pytest.approx(one.log_g, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(other.apps, one.apps, rtol=0, atol=1e-10)
    np.testing.assert_allclose(other.nodes, one.nodes, rtol=0, atol=1e-10)


def test_order_of_categories_is_irrelevant(table, tmp_path):
    parameters, grammar = random_parameters(table, RANKS, 3), grammar_of(table)
    other = Parameters(permuted(table, [1, 0]), parameters.tensors, parameters.root[::-1], parameters.unk[::-1])
    _, _, one = inferred(parameters, grammar, "u a c b", tmp_path / "one")
    _, _, two = inferred(other, grammar, "u a c b", tmp_path / "two")
    assert one.log_g == two.log_g
    assert (one.apps == two.apps).all()


def test_unknown_rules_of_words_have_the_oov_tensor_of_their_category(table, tmp_path):
    more = "[A] ||| q ||| q\n[B] ||| q ||| q\n[C] ||| q ||| q\n[S] ||| [C,1] ||| [1]\n"
    grammar, options = grammar_of(table, more), BindingOptions(oov=True)
    # the grammar's first rules are those of the table; then come glue, and the new ones
    parameters = random_parameters(table, RANKS, 4)
    binding, forest, found = inferred(parameters, grammar, "a q c", tmp_path / "m", options)
    wanted = Enumerated(forest, grammar, parameters)
    np.testing.assert_allclose(found.apps, wanted.apps, **NODES_AGREE)
    kinds = [RULE_KINDS[kind] for kind in binding.kinds]
    assert kinds[-4:] == ["OOV", "OOV", "stateless", "stateless"]


def test_unknown_words_pass_into_categories_of_the_model(table, tmp_path):
    parameters = random_parameters(table, RANKS, 4)
    parameters.unk[1] = 0
    model = Model(saved(parameters, tmp_path / "m"))
    assert Binding(model, grammar_of(table)).passed == (grammar_of(table).category("A"),)
    parameters = random_parameters(table, RANKS, 4)
    grammar, written = grammar_of(table), grammar_of(table, "[A] ||| q ||| q\n[B] ||| q ||| q\n")
    binding = Binding(Model(saved(parameters, tmp_path / "m")), grammar)
    passed = ParseOptions(glue=False, pass_through=2, passed=binding.passed)
    forest = grammar.parse(grammar.vocab.add_line("a q c"), passed)
    found, wanted = binding.infer(forest), Enumerated(forest, grammar, parameters)
    assert np.exp(found.log_g) == pytest.approx(wanted.g, rel=1e-12)
    np.testing.assert_allclose(found.apps, wanted.apps, **NODES_AGREE)
    # a grammar may pass the word by rules, as cdec and Moses need it
    _, _, by_rules = inferred(parameters, written, "a q c", tmp_path / "m")
    assert by_rules.log_g == pytest.approx(found.log_g, rel=1e-12)
    names = [grammar.category_name(c) for c, i in zip(forest.node_cat, forest.node_span[:, 0], strict=True) if i == 1]
    assert {"A", "B"} <= set(names)
    known = grammar.parse(grammar.vocab.add_line("a b c"), passed)
    assert (known.app_rule < len(grammar)).all()


def test_ratios_to_one_state_are_zero_for_a_model_of_one_state(table, tmp_path):
    """All features leave the floor where g > 0, and equal models have no gain."""
    parameters = random_parameters(table, (1, 1), 5)
    rules = np.concatenate([tensor.reshape(-1) for tensor in parameters.tensors])
    one = OneState(rules, parameters.unk[:, 0], parameters.root[:, 0])
    parameters = Parameters(table, parameters.tensors, parameters.root, parameters.unk, one=one)
    grammar = grammar_of(table)
    binding, forest, found = inferred(parameters, grammar, "a a c", tmp_path / "m")
    names = ("LatentMarginal", "LatentTarget", "LatentSource0", "LatentSourceBare", "LatentSpan")
    values = binding.features(forest, found, FeatureOptions(names=names))
    stateful = found.nodes[forest.edge_head[forest.app_edge]] > 0
    stateful &= np.isin(forest.node_cat[forest.edge_head[forest.app_edge]], [grammar.category(n) for n in NAMES])
    assert (values[:, 1:4] == 0).all()
    certain = np.isclose(found.apps, 1)
    assert (values[stateful & ~certain, 0] != 0).all()
    assert (values[~stateful] == 0).all()


def test_one_category_by_name_equals_a_model_of_x(tmp_path):
    lines = RULES.replace("B", "A").replace("A", "X").splitlines()
    several = table_of("\n".join(dict.fromkeys(lines)), ("X",))
    plain = several.without_categories()
    parameters = random_parameters(several, (3,), 6)
    alone = Parameters(plain, parameters.tensors, parameters.root[0], parameters.unk[0])
    grammar = grammar_of(several)
    _, _, one = inferred(parameters, grammar, "u a c b", tmp_path / "one")
    _, _, two = inferred(alone, grammar, "u a c b", tmp_path / "two")
    assert one.log_g == two.log_g
    assert (one.apps == two.apps).all()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rules.lhs", lambda a: np.where(np.arange(len(a)) == 2, 2, a).astype(np.int32)),
        ("rules.lhs", lambda a: a[:-1]),
        ("CS", lambda a: a[:1]),
        ("unk", lambda a: a[0]),
        ("rules.symbols", lambda a: np.where(a == -2, -4, a)),
        ("categories.offsets", lambda a: a[:-1]),
    ],
)
def test_damaged_categories_are_refused_by_both_readers(table, tmp_path, name, change):
    path = saved(random_parameters(table, RANKS, 7), tmp_path / "m")
    arrays, metadata = tensors.load(path, "model")
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    tensors.save(path, arrays, {k: v for k, v in metadata.items() if k != "checksum"})
    for read in (Model, Parameters.load):
        with pytest.raises(InputError, match=str(path)):
            read(path)


def test_files_keep_categories(table, tmp_path):
    parameters = random_parameters(table, RANKS, 8)
    read = Parameters.load(saved(parameters, tmp_path / "m"))
    assert read.rules.categories == NAMES
    assert [read.rules.text(k) for k in range(len(table))] == [table.text(k) for k in range(len(table))]
    assert (read.root == parameters.root).all()
    grammar = Model(tmp_path / "m").grammar()
    assert grammar.categories() == ["X", "S", *NAMES]
