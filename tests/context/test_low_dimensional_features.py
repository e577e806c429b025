"""Features of scorers: the kernel's against their definition, for each kind, and files that hold none."""

import dataclasses

import numpy as np
import pytest
from composition import MINIMAL
from helpers import context_model, rule_table
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.io import tensors
from lscfg.kernel import (
    CONTEXT_BEGIN,
    CONTEXT_END,
    CONTEXT_FEATURES,
    CONTEXT_UNKNOWN,
    SCORE_FUNCTIONS,
    SENSE_FEATURES,
    Binding,
    FeatureOptions,
    Model,
    ParseOptions,
    X,
    feature_names,
)
from lscfg.model.context import ContextModel
from lscfg.model.parameters import Parameters

RULES = [*MINIMAL, "[X,1] [X,2] ||| [X,1] x [X,2]"]
OPTIONS = FeatureOptions(names=SENSE_FEATURES)
COLUMN = {name: k for k, name in enumerate(SENSE_FEATURES)}


def around(sense, vocabulary, words, span, gaps):
    """Counts of the items around a span and in its gaps, None without an item."""
    (i, j), unknown_word = span, len(vocabulary) + CONTEXT_UNKNOWN
    base, numbers = len(vocabulary) + 3, {int(item): k for k, item in enumerate(sense.items)}
    found = np.zeros(len(numbers))
    for side, places in enumerate((range(i - 1, i - 1 - sense.window, -1), range(j, j + sense.window))):
        for distance, place in enumerate(places):
            slot = side * sense.window + (0 if sense.bag else distance)
            unknown = slot * base + len(vocabulary) + CONTEXT_UNKNOWN
            if not 0 <= place < len(words):
                end = len(vocabulary) + (CONTEXT_END if side else CONTEXT_BEGIN)
                items = [side * sense.window * base + end]
            else:
                items = [slot * base + vocabulary.get(words[place], len(vocabulary) + CONTEXT_UNKNOWN), unknown]
            known = [numbers[item] for item in items if item in numbers]
            if known:
                found[known[0]] += 1
            if not 0 <= place < len(words):
                break
    for word in words:
        whole = 2 * sense.window * base
        items = [
            whole + vocabulary.get(word, len(vocabulary) + CONTEXT_UNKNOWN),
            whole + len(vocabulary) + CONTEXT_UNKNOWN,
        ]
        known = [numbers[item] for item in items if item in numbers]
        if known:
            found[known[0]] += 1
    for g, (begin, end) in enumerate(gaps):
        for last, word in enumerate((words[begin], words[end - 1])):
            slot = (2 * sense.window + 1 + 2 * g + last) * base
            known = [numbers[slot + k] for k in (vocabulary.get(word, -slot - 1), unknown_word) if slot + k in numbers]
            if known:
                found[known[0]] += 1
        length = (2 * sense.window + 5) * base + 7 * g + min(end - begin, 7) - 1
        if length in numbers:
            found[numbers[length]] += 1
    return found if found.any() else None


def score(sense, items, row):
    rule, bias = sense.rules[row].astype(float), float(sense.bias[row])
    if sense.kind == "sparse":
        offsets, columns, weights = sense.weights
        own = slice(*offsets[row : row + 2])
        return items[columns[own]] @ weights[own] + bias
    vector = items @ sense.vectors + sense.shift
    length = np.linalg.norm(vector)
    if sense.kind == "cosine":
        return vector @ rule / length
    if sense.kind in ("dot", "joint"):
        return vector @ rule + bias
    hidden, hidden_bias, out = (array.astype(float) for array in sense.hidden)
    if sense.kind == "mlp":
        return np.tanh(hidden @ vector + hidden_bias) @ rule + bias
    return np.tanh(hidden @ vector / length + hidden_bias + rule) @ out + bias


def expected(forest, words, grammar, context):
    """All features of a scorer of all applications."""
    out, sense = np.zeros((forest.n_apps, len(SENSE_FEATURES))), context.low_dimensional
    rules = context.rules
    vocabulary = {word: k for k, word in enumerate(rules.words)}
    number = {rules.text(k): k for k in range(len(rules))}
    own = [number.get(grammar.rules.text(k), -1) for k in range(len(grammar.rules))]
    for edge in range(forest.n_edges):
        head, tails = forest.edge_head[edge], [t for t in forest.edge_tail[edge] if t >= 0]
        if forest.node_cat[head] != X:
            continue
        apps = [a for a in range(*forest.edge_apps[edge : edge + 2]) if forest.app_rule[a] < len(own)]
        scored = [a for a in apps if own[forest.app_rule[a]] >= 0 and sense.row[own[forest.app_rule[a]]] >= 0]
        bare = len(tails) == 2 and all(grammar.rules.src_length[forest.app_rule[a]] == 2 for a in apps)
        for a in apps:
            if a in scored or not bare:
                out[a, COLUMN["SenseOn" if a in scored else "SenseOff"]] = 1
        items = around(sense, vocabulary, words, forest.node_span[head], forest.node_span[tails])
        if items is None or not scored:
            continue
        numbers = [own[forest.app_rule[a]] for a in scored]
        scores = np.array([score(sense, items, sense.row[rule]) for rule in numbers])
        order = np.argsort(-scores, kind="stable")
        out[np.array(scored)[order], COLUMN["SenseRank"]] = 1 / (1 + np.arange(len(order)))
        out[scored[order[0]], COLUMN["SenseBest"]] = 1
        out[scored, COLUMN["SenseLogit"]] = 1 / (1 + np.exp(-scores))
        out[scored, COLUMN["SenseScore"]] = scores
        if len(scored) > 1:
            plain = np.log(context.counts[numbers])
            here = sense.calibration[0] * plain + sense.calibration[1] * scores
            values = (here - np.log(np.exp(here).sum())) - (plain - np.log(np.exp(plain).sum()))
            name = "SenseTargetBare" if bare else "SenseTargetN" if tails else "SenseTarget0"
            out[scored, COLUMN[name]] = np.clip(values, -4, 4)
    return out


def random_model(folder, seed, kind, bag=False):
    return context_model(folder, RULES, seed, kind=kind, window=1 + seed % 3, bag=bag)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    length=st.integers(1, 7),
    glue=st.booleans(),
    kind=st.sampled_from(SCORE_FUNCTIONS),
    bag=st.booleans(),
)
def test_features_are_those_of_the_definition(tmp_path_factory, seed, length, glue, kind, bag):
    path, parameters = random_model(tmp_path_factory.mktemp("sense"), seed, kind, bag)
    model = Model(path)
    grammar = model.grammar()
    sources = sorted({word for rule in RULES for word in rule.split("|||")[0].split() if word[0] != "["})
    words = np.random.default_rng(seed).choice([*sources, "other"], length).tolist()
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, glue, 1, X))
    if forest is None:
        return
    binding = Binding(model, grammar)
    features = binding.features(forest, None, OPTIONS)
    assert features == pytest.approx(expected(forest, words, parameters, parameters.context), abs=2e-5)
    for name in ("SenseRank", "SenseScore", "SenseTargetN"):
        one = binding.features(forest, None, FeatureOptions(names=(name,)))
        assert np.array_equal(one[:, 0], features[:, COLUMN[name]])
    both = binding.features(forest, None, FeatureOptions(names=("context", "ranks")))
    assert np.array_equal(both[:, 3:], features[:, 3:6])
    assert np.array_equal(both[:, :3], binding.features(forest, None, FeatureOptions(names=CONTEXT_FEATURES)))


def test_names():
    assert feature_names(["sense"]) == ("SenseTarget0", "SenseTargetBare", "SenseTargetN")
    assert feature_names(["ranks"]) == ("SenseRank", "SenseOn", "SenseOff")
    assert not FeatureOptions(names=("sense", "ranks", "context")).need_inference


def test_nothing_is_known_around(tmp_path):
    """Lattices, and sentences of which the scorer knows nothing: neutral, never NaN."""
    path, parameters = random_model(tmp_path, 2, "cosine")
    sense = dataclasses.replace(
        parameters.context.low_dimensional, items=np.zeros(0, np.int32), vectors=np.zeros((0, 5), np.float32)
    )
    context = dataclasses.replace(parameters.context, low_dimensional=sense)
    dataclasses.replace(parameters, context=context).save(tmp_path / "n")
    for file, lattice in ((path, True), (tmp_path / "n", False)):
        model = Model(file)
        grammar = model.grammar()
        binding = Binding(model, grammar)
        ids = grammar.vocab.add_line("a b a other")
        arcs = np.array([[k, k + 1, word] for k, word in enumerate(ids)], np.int32)
        options = ParseOptions(9, False, 1, X)
        forest = grammar.parse_lattice(arcs, 5, options) if lattice else grammar.parse(ids, options)
        assert forest is not None
        features = binding.features(forest, None, OPTIONS)
        features[:, [COLUMN["SenseOn"], COLUMN["SenseOff"]]] = 0
        assert not features.any()


def test_a_scorer_alone(tmp_path):
    """A file with a scorer and no weights has no features of weights."""
    _, parameters = random_model(tmp_path, 4, "dot")
    context = parameters.context
    alone = ContextModel.without_weights(context.rules, context.counts, context.low_dimensional)
    dataclasses.replace(parameters, context=alone).save(tmp_path / "a")
    dataclasses.replace(parameters, context=dataclasses.replace(context, low_dimensional=None)).save(tmp_path / "b")
    loaded = Parameters.load(tmp_path / "a").context.low_dimensional
    assert loaded.kind == "dot" and np.array_equal(loaded.rules, context.low_dimensional.rules)
    Model(tmp_path / "a").check_features(OPTIONS)
    with pytest.raises(InputError, match="no log-linear context weights, which ContextTarget0 needs"):
        Model(tmp_path / "a").check_features(FeatureOptions(names=("context",)))
    with pytest.raises(InputError, match="no context scores, which SenseTarget0 needs"):
        Model(tmp_path / "b").check_features(FeatureOptions(names=("sense",)))


def _put(name, place, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def _cut(name):
    def change(arrays):
        arrays[name] = arrays[name][:-1]

    return change


@pytest.mark.parametrize(
    ("kind", "change", "name"),
    [
        ("dot", _put("sense.vectors", (0, 0), np.nan), "sense.vectors"),
        ("dot", _put("sense.rules", (0, 0), np.inf), "sense.rules"),
        ("dot", _put("sense.row", 0, 10**6), "sense.row"),
        ("dot", _put("sense.row", 0, -2), "sense.row"),
        ("dot", _put("sense.items", 0, -1), "sense.items"),
        ("dot", _put("sense.items", -1, 10**8), "sense.items"),
        ("dot", _put("sense.items", 1, 0), "sense.items"),
        ("dot", _put("sense.window", 0, 0), "sense.window"),
        ("dot", _put("sense.calibration", 0, np.nan), "sense.calibration"),
        ("dot", _cut("sense.bias"), "bias|rules|row"),
        ("cosine", _cut("sense.shift"), "array|sense.shift"),
        ("mlp", _cut("sense.hidden_bias"), "array|sense.hidden_bias"),
        ("sparse", _put("sense.columns", 1, 0), "sense.columns"),
        ("sparse", _put("sense.columns", 0, 10**6), "sense.columns"),
        ("sparse", _put("sense.weights", 0, np.nan), "sense.weights"),
        ("sparse", _put("sense.offsets", -1, 0), "sense.offsets"),
        ("sparse", _put("sense.offsets", 1, 10**6), "sense.offsets"),
        ("sparse", _cut("sense.columns"), "array|sense.columns"),
        ("match", _cut("sense.out"), "array|sense.out"),
        ("match", lambda arrays: arrays.pop("sense.out"), "out"),
    ],
)
def test_damaged_scorers(tmp_path, kind, change, name):
    """The kernel and Python both refuse what is wrong, by its name."""
    path, _ = random_model(tmp_path, 8, kind)
    arrays, metadata = tensors.load(path, "model")
    arrays = dict(arrays)
    change(arrays)
    tensors.save(tmp_path / "d", arrays, metadata)
    for read in (Model, Parameters.load):
        with pytest.raises(InputError, match=name):
            read(tmp_path / "d")


@pytest.mark.parametrize("kind", ["mlp", "match"])
def test_one_hidden_unit_is_a_layer(tmp_path, kind):
    path, _ = random_model(tmp_path, 8, kind)
    arrays, metadata = tensors.load(path, "model")
    arrays |= {f"sense.{name}": arrays[f"sense.{name}"][:1] for name in ("hidden", "hidden_bias", "out")}
    arrays["sense.rules"] = np.ascontiguousarray(arrays["sense.rules"][:, :1])
    tensors.save(tmp_path / "d", arrays, metadata)
    assert len(Model(tmp_path / "d")) == len(Parameters.load(tmp_path / "d").rules)


def test_unknown_kind(tmp_path):
    path, _ = random_model(tmp_path, 8, "dot")
    arrays, metadata = tensors.load(path, "model")
    tensors.save(tmp_path / "d", arrays, metadata | {"sense": "oracle"})
    for read in (Model, Parameters.load):
        with pytest.raises(InputError, match="unknown score function"):
            read(tmp_path / "d")


def test_decoder_line_without_a_scorer(tmp_path, capsys):
    _, parameters = random_model(tmp_path, 8, "dot")
    dataclasses.replace(parameters, context=dataclasses.replace(parameters.context, low_dimensional=None)).save(
        tmp_path / "b"
    )
    (tmp_path / "t").write_text("a b\n")
    assert main(
        [
            "inspect",
            "marginals",
            str(tmp_path / "b"),
            str(tmp_path / "t"),
            "--set",
            "names=sense",
            "-o",
            str(tmp_path / "o"),
        ]
    )
    assert "add them with lscfg context" in capsys.readouterr().err


def test_more_words_and_rules_change_nothing(tmp_path):
    """An expanded grammar adds words after the others, and rules that the scorer does not know."""
    path, parameters = random_model(tmp_path, 6, "dot")
    context = parameters.context
    longer = rule_table(
        [context.rules.text(k).removeprefix("[X] ||| ") for k in range(len(context.rules))] + ["n ||| N"]
    )
    assert longer.words[: len(context.rules.words)] == context.rules.words
    sense = context.low_dimensional.with_more(len(context.rules.words), 2, 1)
    counts = np.append(context.counts[np.argsort(context.rules.arity, kind="stable")], 1.0)
    order = np.argsort(np.append(context.rules.arity, 0), kind="stable")
    sense = dataclasses.replace(sense, row=sense.row[order])
    counts = np.append(context.counts, 1.0)[order]
    more = ContextModel.without_weights(longer, counts, sense)
    dataclasses.replace(parameters, context=more).save(tmp_path / "more")
    found = []
    for file in (path, tmp_path / "more"):
        model = Model(file)
        grammar = model.grammar()
        forest = grammar.parse(grammar.vocab.add_line("b a b b a"), ParseOptions(9, False, 1, X))
        found.append(Binding(model, grammar).features(forest, None, OPTIONS))
    assert found[0].any() and found[0] == pytest.approx(found[1], abs=1e-6)
