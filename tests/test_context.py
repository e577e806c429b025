"""Context features: the kernel's against their definition, the estimate against its likelihood, and bad input."""

import dataclasses
import math

import numpy as np
import pytest
from helpers import random_context, rule_table
from hypothesis import given, settings
from hypothesis import strategies as st
from test_compose import MINIMAL

from lscfg.cli import main
from lscfg.derive import derive
from lscfg.errors import InputError
from lscfg.estimate.context import ContextSettings, add_context, estimate_context, read_source
from lscfg.estimate.examples import Examples
from lscfg.estimate.mle import estimate_mle
from lscfg.kernel import Binding, FeatureOptions, Model, ParseOptions, X, feature_names
from lscfg.parameters import CONTEXT_KINDS, OneState, Parameters
from lscfg.text import write_lines

RULES = [*MINIMAL, "[X,1] [X,2] ||| [X,1] x [X,2]"]
OPTIONS = FeatureOptions(names=("context",))


def items_of(words, span, children, wordy, vocabulary):
    """(kind, word or end) of every context item, by the definition."""

    def at(place):
        return "<" if place < 0 else ">" if place >= len(words) else words[place]

    i, j = span
    items = [(0, at(i - 1)), (1, at(i - 2)), (2, at(j)), (3, at(j + 1))]
    for k, (begin, end) in enumerate(children):
        items += [(4 + 2 * k, at(begin)), (5 + 2 * k, at(end - 1))]
    if wordy:
        items += [(8, word) for place, word in enumerate(words) if place < i - 2 or place >= j + 2]
    numbers = vocabulary | {"<": len(vocabulary), ">": len(vocabulary) + 1}
    return [kind * (len(vocabulary) + 2) + numbers[word] for kind, word in items if word in numbers]


def score(rules, weights, rule, items):
    """The sum of the weights of a rule and of the words of its target side."""
    total = 0.0
    for outcome in [rule, *(len(rules) + word for word in {*rules.tgt(rule).tolist()} if word >= 0)]:
        part = slice(weights.offsets[outcome], weights.offsets[outcome + 1])
        known = dict(zip(weights.items[part].tolist(), weights.weights[part].tolist(), strict=True))
        total += sum(known.get(item, 0.0) for item in items)
    return total


def expected(forest, words, rules, weights, one):
    """Columns ContextTarget0, ContextTargetBare, ContextTargetN of all applications; rules are the model's."""
    out = np.zeros((forest.n_apps, 3))
    vocabulary = {word: k for k, word in enumerate(rules.words)}
    if vocabulary.keys().isdisjoint(words):
        return out
    for edge in range(forest.n_edges):
        apps = range(forest.edge_apps[edge], forest.edge_apps[edge + 1])
        known = [a for a in apps if forest.app_rule[a] < len(rules) and one[forest.app_rule[a]] > 0]
        if len(known) < 2:
            continue
        head, tails = forest.edge_head[edge], [t for t in forest.edge_tail[edge] if t >= 0]
        rule = forest.app_rule[known[0]]
        wordy = rules.src_length[rule] > rules.arity[rule]
        items = items_of(words, forest.node_span[head], forest.node_span[tails], wordy, vocabulary)
        plain = np.array([math.log(one[forest.app_rule[a]]) for a in known])
        here = plain + [score(rules, weights, forest.app_rule[a], items) for a in known]
        values = (here - np.log(np.exp(here).sum())) - (plain - np.log(np.exp(plain).sum()))
        out[known, 0 if not tails else 2 if wordy else 1] = np.clip(values, -4, 4)
    return out


def random_model(folder, seed):
    """A model of RULES with random context weights, and its parts."""
    rng = np.random.default_rng(seed)
    rules = rule_table(RULES)
    weights = random_context(rules, seed)
    one = OneState(rng.uniform(0.01, 1, len(rules)), np.array([0.1]))
    one.rules[rng.random(len(rules)) < 0.1] = 0
    tensors = tuple(rng.uniform(0.1, 1, ((rules.arity == k).sum(), *[2] * (k + 1))) for k in range(3))
    path = folder / "m"
    Parameters(rules, tensors, np.ones(2), np.ones(2), {}, one, weights).save(path)
    return path, rules, weights, one.rules


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 7), glue=st.booleans())
def test_features_are_those_of_the_definition(tmp_path_factory, seed, length, glue):
    path, rules, weights, one = random_model(tmp_path_factory.mktemp("context"), seed)
    model = Model(path)
    grammar = model.grammar()
    sources = sorted({word for rule in RULES for word in rule.split("|||")[0].split() if word[0] != "["})
    words = np.random.default_rng(seed).choice([*sources, "other"], length).tolist()
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, glue, 1, X))
    if forest is None:
        return
    binding = Binding(model, grammar)
    features = binding.features(forest, binding.infer(forest), OPTIONS)
    assert features == pytest.approx(expected(forest, words, rules, weights, one), abs=1e-5)
    assert binding.features(forest, binding.infer(forest), FeatureOptions(names=OPTIONS.names[1:2])) == pytest.approx(
        features[:, 1:2]
    )


def test_names():
    assert feature_names(["context"]) == ("ContextTarget0", "ContextTargetBare", "ContextTargetN")


def test_lattices_have_no_context(tmp_path):
    path, rules, _, _ = random_model(tmp_path, 1)
    model = Model(path)
    grammar = model.grammar()
    word = grammar.vocab.add_line(" ".join(rules.words[:1]))[0]
    arcs = np.array([[0, 1, word], [0, 1, word], [1, 2, word]], np.int32)
    forest = grammar.parse_lattice(arcs, 3, ParseOptions(9, False, 1, X))
    binding = Binding(model, grammar)
    assert forest is not None and not binding.features(forest, binding.infer(forest), OPTIONS).any()


def ambiguous(seed, pairs=300):
    """Source and target sentences where b becomes B after a and C after d; and their links."""
    rng = np.random.default_rng(seed)
    source, target, links = [], [], []
    for _ in range(pairs):
        first = str(rng.choice(["a", "d"]))
        last = str(rng.choice(["x", "y"]))
        source.append(f"{first} b {last}")
        target.append(f"{first.upper()} {'B' if first == 'a' else 'C'} {last.upper()}")
        links.append("0-0 1-1 2-2")
    return source, target, links


def test_context_decides_between_translations(tmp_path):
    source, target, links = ambiguous(0)
    derivations = derive(source, target, links)
    add_context(estimate_mle(derivations), derivations, source).save(tmp_path / "m")
    model = Model(tmp_path / "m")
    grammar = model.grammar()
    binding = Binding(model, grammar)
    found = {}
    for text in ("a b x", "d b y"):
        forest = grammar.parse(grammar.vocab.add_line(text), ParseOptions(100, False, 1, X))
        features = binding.features(forest, binding.infer(forest), OPTIONS)[:, 0]
        for app in range(forest.n_apps):
            rule = int(forest.app_rule[app])
            if rule >= len(grammar):
                continue
            words = [grammar.vocab.word(symbol) for symbol in grammar.tgt(rule) if symbol >= 0]
            if words in (["B"], ["C"]):
                found[text, words[0]] = features[app]
    assert found["a b x", "B"] > 0.4 > -1 > found["a b x", "C"]
    assert found["d b y", "C"] > 0.4 > -1 > found["d b y", "B"]


def test_source_of_several_alignments(tmp_path):
    source, target, links = ambiguous(0, 40)
    write_lines(tmp_path / "f", source)
    one, two = derive(source, target, links), derive(source * 2, target * 2, links * 2)
    two = dataclasses.replace(two, alignments=2)
    assert read_source(tmp_path / "f", one) == source and read_source(tmp_path / "f", two) == source * 2
    write_lines(tmp_path / "f", [*source[:7], "a b", *source[8:]])
    with pytest.raises(InputError, match="f:8: is shorter"):
        read_source(tmp_path / "f", two)
    write_lines(tmp_path / "f", source * 2)
    with pytest.raises(InputError, match="80 source sentences, but derivations of 40"):
        read_source(tmp_path / "f", two)


def test_weights_are_the_most_likely_ones():
    source, target, links = ambiguous(3, 60)
    examples = Examples.of(derive(source, target, links))
    made = ContextSettings(min_count=1, min_word=1, iterations=500)
    weights = estimate_context(examples, source, made)
    rules, derivations = examples.rules, examples.derivations
    vocabulary = {word: k for k, word in enumerate(rules.words)}

    def loss(values):
        changed = dataclasses.replace(weights, weights=values)
        total = made.penalty / 2 * float(values.astype(float) @ values)
        for tree in range(len(derivations)):
            for node in range(*derivations.trees[tree : tree + 2]):
                rule = examples.type[node]
                choices = np.nonzero(rules.source_id == rules.source_id[rule])[0]
                spans = derivations.span[:, :2]
                children = [spans[child] for child in examples.children[node] if child >= 0]
                wordy = rules.src_length[rule] > rules.arity[rule]
                items = items_of(source[tree].split(), spans[node], children, wordy, vocabulary)
                scores = [score(rules, changed, c, items) + math.log(examples.counts[c]) for c in choices]
                total -= scores[list(choices).index(rule)] - math.log(sum(map(math.exp, scores)))
        return total

    best = loss(weights.weights)
    assert best < loss(np.zeros_like(weights.weights)) - 5
    rng = np.random.default_rng(0)
    for k in rng.permutation(len(weights.weights))[:12]:  # no step along an axis makes it better
        for step in (-0.05, 0.05):
            changed = weights.weights.copy()
            changed[k] += step
            assert loss(changed) > best


def test_rules_that_were_left_out_take_their_weights_with_them(tmp_path):
    source, target, links = ambiguous(1)
    derivations = derive(source, target, links)
    every = add_context(estimate_mle(derivations), derivations, source)
    some = add_context(estimate_mle(derivations, 1), derivations, source)
    assert len(some.rules) < len(every.rules)
    texts = [every.rules.text(rule) for rule in range(len(every.rules))]
    for outcome in range(len(some.rules) + len(some.rules.words)):
        inside = outcome < len(some.rules)
        other = texts.index(some.rules.text(outcome)) if inside else outcome - len(some.rules) + len(every.rules)
        for name in ("items", "weights"):
            one, two = (
                getattr(context, name)[context.offsets[k] : context.offsets[k + 1]]
                for context, k in ((some.context, outcome), (every.context, other))
            )
            assert one.tolist() == two.tolist()
    some.save(tmp_path / "m")
    again = Parameters.load(tmp_path / "m").context
    assert again is not None
    assert all(np.array_equal(getattr(again, name), getattr(some.context, name)) for name in vars(again))
    assert Model(tmp_path / "m").rank == 1


def test_command(tmp_path, capsys):
    source, target, links = ambiguous(2)
    derivations = derive(source, target, links)
    derivations.save(tmp_path / "d")
    write_lines(tmp_path / "source", source)
    write_lines(tmp_path / "short", source[:-1])
    write_lines(tmp_path / "cut", [*source[:-1], "a"])
    arguments = ["estimate", "clusters", str(tmp_path / "d"), "-m", "2", "-o", str(tmp_path / "m"), "--context"]
    assert main([*arguments, str(tmp_path / "short")]) == 1
    assert "short: 299 source sentences, but derivations of 300" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "cut")]) == 1
    assert "cut:300: is shorter than the sentence of its derivation" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "none")]) == 1 and not (tmp_path / "m").exists()
    assert main([*arguments, str(tmp_path / "source"), "--quiet"]) == 0
    first = (tmp_path / "m").read_bytes()
    assert main([*arguments, str(tmp_path / "source"), "--quiet", "--threads", "2"]) == 0
    assert (tmp_path / "m").read_bytes() == first
    Model(tmp_path / "m").check_features(OPTIONS)


def test_models_without_context_and_broken_ones_are_refused(tmp_path):
    path, rules, weights, _ = random_model(tmp_path, 0)
    parameters = Parameters.load(path)
    dataclasses.replace(parameters, context=None).save(tmp_path / "without")
    with pytest.raises(
        InputError, match=r"without context weights, which ContextTarget0 needs; estimate it with --context"
    ):
        Model(tmp_path / "without").check_features(OPTIONS)
    dataclasses.replace(parameters, one=None).save(tmp_path / "without")
    with pytest.raises(InputError, match=r"without one\.rules and one.unk, which ContextTarget0 needs"):
        Model(tmp_path / "without").check_features(OPTIONS)
    for change, message in (
        ({"items": weights.items + CONTEXT_KINDS * (len(rules.words) + 2)}, "'context.items' holds"),
        ({"weights": weights.weights * np.float32("inf")}, "not finite"),
        ({"offsets": weights.offsets[:-1]}, "do not fit the model's rules and words"),
        ({"offsets": weights.offsets[::-1].copy()}, "'context.offsets'"),
        ({"items": weights.items[:-1]}, "do not fit"),
    ):
        broken = dataclasses.replace(weights, **change)
        dataclasses.replace(parameters, context=broken).save(tmp_path / "broken")
        with pytest.raises(InputError, match=message):
            Model(tmp_path / "broken")


def test_text_without_a_choice():
    derivations = derive(["a b"], ["A B"], ["0-0 1-1"])
    with pytest.raises(InputError, match="no source side has two target sides"):
        estimate_context(Examples.of(derivations), ["a b"], ContextSettings())
