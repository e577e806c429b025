"""Context features: the kernel's against their definition, the estimate against its likelihood, and bad input."""

import dataclasses
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from composition import MINIMAL
from estimates import add_loglinear, estimate_mle, hiero_tokens
from helpers import context_model, random_context, rule_table
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.cli import main
from lscfg.context.inputs import read_source
from lscfg.context.loglinear import LoglinearSettings, batches, estimate_context, learn_context
from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.io.write import write_lines
from lscfg.kernel import (
    CONTEXT_FEATURES,
    Binding,
    DeriveOptions,
    FeatureOptions,
    Grammar,
    Model,
    ParseOptions,
    X,
    feature_names,
)
from lscfg.model.context import ContextModel, context_items
from lscfg.model.parameters import Parameters

RULES = [*MINIMAL, "[X,1] [X,2] ||| [X,1] x [X,2]"]
OPTIONS = FeatureOptions(names=(*CONTEXT_FEATURES, "ContextComposed"))


def items_of(words, span, children, wordy, vocabulary):
    """Every context item as (whether shapes have it, its number), by the definition."""

    def at(place):
        return "<" if place < 0 else ">" if place >= len(words) else words[place]

    i, j = span
    items = [(0, at(i - 1)), (1, at(i - 2)), (2, at(j)), (3, at(j + 1))]
    for k, (begin, end) in enumerate(children):
        items += [(4 + 2 * k, at(begin)), (5 + 2 * k, at(end - 1))]
    if wordy:
        items += [(8, word) for place, word in enumerate(words) if place < i - 2 or place >= j + 2]
    numbers = vocabulary | {"<": len(vocabulary), ">": len(vocabulary) + 1}
    base = len(vocabulary) + 2
    lengths = [(True, 9 * base + 7 * k + min(end - begin, 7) - 1) for k, (begin, end) in enumerate(children)]
    return [(kind != 8, kind * base + numbers[word]) for kind, word in items if word in numbers] + lengths


def shape_of(rules, rule):
    """Shape of the rule, None without nonterminals."""
    source, target = rules.src(rule).tolist(), rules.tgt(rule).tolist()
    arity = sum(s < 0 for s in source)
    if not arity:
        return None

    def places(side):
        return sum({1 << sum(t < 0 for t in side[:k]) for k, s in enumerate(side) if s >= 0})

    swapped = [s for s in target if s < 0] == [-2, -1]
    if arity == 1:
        return places(source) + 4 * places(target)
    return 16 + places(source) + 8 * places(target) + 64 * swapped


def outcomes_of(rules, rule, own=None):
    """(outcome, whether it is a shape) of a rule, in a context of its own rules or of other ones."""
    own, shape = own or rules, shape_of(rules, rule)
    known = [(k, False) for k in range(len(own)) if own.text(k) == rules.text(rule)]
    target = {rules.words[word] for word in rules.tgt(rule) if word >= 0}
    words = [(len(own) + k, False) for k, word in enumerate(own.words) if word in target]
    return known + words + ([] if shape is None else [(len(own) + len(own.words) + shape, True)])


def score(context, rules, rule, items):
    """The sum of the weights of a rule, of the words of its target side, and of its shape."""
    total = 0.0
    for outcome, is_shape in outcomes_of(rules, rule, context.rules):
        part = slice(context.offsets[outcome], context.offsets[outcome + 1])
        known = dict(zip(context.items[part].tolist(), context.weights[part].tolist(), strict=True))
        total += sum(known.get(item, 0.0) for near, item in items if near or not is_shape)
    return total


def expected(forest, words, grammar, context):
    """Columns ContextTarget0, ContextTargetBare, ContextTargetN, ContextComposed of all applications."""
    out = np.zeros((forest.n_apps, 4))
    rules = context.rules
    vocabulary = {word: k for k, word in enumerate(rules.words)}
    if vocabulary.keys().isdisjoint(words):
        return out
    number = {rules.text(k): k for k in range(len(rules))}
    own = [number.get(grammar.rules.text(k), -1) for k in range(len(grammar.rules))]
    for edge in range(forest.n_edges):
        apps = [a for a in range(*forest.edge_apps[edge : edge + 2]) if forest.app_rule[a] < len(own)]
        known = [a for a in apps if own[forest.app_rule[a]] >= 0]
        head, tails = forest.edge_head[edge], [t for t in forest.edge_tail[edge] if t >= 0]
        if len(apps) < 2 or forest.node_cat[head] != X:
            continue
        numbers = forest.app_rule[apps]
        wordy = grammar.rules.src_length[numbers[0]] > grammar.rules.arity[numbers[0]]
        items = items_of(words, forest.node_span[head], forest.node_span[tails], wordy, vocabulary)
        plain = np.array([np.log(context.counts[own[k]]) if own[k] >= 0 else 0 for k in numbers])
        here = plain + [score(context, grammar.rules, rule, items) for rule in numbers]
        of_known = np.isin(apps, known)
        for column, which in ((0 if not tails else 2 if wordy else 1, of_known), (3, np.ones(len(apps), bool))):
            if which.sum() < 2:
                continue
            shares = [part[which] - np.log(np.exp(part[which]).sum()) for part in (here, plain)]
            wanted = of_known[which] if column < 3 else ~of_known
            out[np.array(apps)[which][wanted], column] = np.clip((shares[0] - shares[1])[wanted], -4, 4)
    return out


def random_model(folder, seed):
    return context_model(folder, RULES, seed, zeros=0.1)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 7), glue=st.booleans())
def test_features_are_those_of_the_definition(tmp_path_factory, seed, length, glue):
    path, parameters = random_model(tmp_path_factory.mktemp("context"), seed)
    model = Model(path)
    grammar = model.grammar()
    sources = sorted({word for rule in RULES for word in rule.split("|||")[0].split() if word[0] != "["})
    words = np.random.default_rng(seed).choice([*sources, "other"], length).tolist()
    forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, glue, 1, X))
    if forest is None:
        return
    binding = Binding(model, grammar)
    features = binding.features(forest, binding.infer(forest), OPTIONS)
    assert features == pytest.approx(expected(forest, words, parameters, parameters.context), abs=1e-5)
    some = FeatureOptions(names=OPTIONS.names[1:2])
    assert binding.features(forest, binding.infer(forest), some) == pytest.approx(features[:, 1:2])
    both = binding.features(forest, binding.infer(forest), FeatureOptions(names=("ratios", "context")))
    assert np.array_equal(both[:, -3:], features[:, :3])
    assert np.array_equal(binding.features(forest, None, OPTIONS), features)
    one = binding.features(forest, None, FeatureOptions(names=("composed",)))
    assert np.array_equal(one, features[:, 3:])
    with pytest.raises(ValueError, match="LatentSpan need marginals"):
        binding.features(forest, None, FeatureOptions(names=("LatentSpan",)))


@pytest.mark.parametrize("seed", range(3))
def test_outcomes_of_many_weights(tmp_path, seed):
    """More than there can be items of a sentence: what is in it is looked up."""
    names = [f"w{k}" for k in range(60)]
    table = rule_table([*RULES, *(f"{name} ||| {name.upper()}" for name in names)])
    context = random_context(table, seed, share=3)
    tensors = tuple(np.ones((int((table.arity == k).sum()), *[1] * (k + 1))) for k in range(3))
    parameters = Parameters(table, tensors, np.ones(1), np.ones(1), context=context)
    parameters.save(tmp_path / "m")
    model = Model(tmp_path / "m")
    grammar = model.grammar()
    binding = Binding(model, grammar)
    for words in (["w3", "a", "w59"], ["b", "other", "w0"], ["a", "b", "a"]):
        forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, True, 1, X))
        features = binding.features(forest, None, OPTIONS)
        assert features.any() and features == pytest.approx(expected(forest, words, parameters, context), abs=1e-5)


def test_context_needs_no_marginals(tmp_path):
    """They need no positive sum of derivations, and nothing else is asked for."""
    path, parameters = random_model(tmp_path, 3)
    values = [-tensor if k == 0 else tensor for k, tensor in enumerate(parameters.tensors)]
    dataclasses.replace(parameters, tensors=tuple(values)).save(path)
    grammar = Grammar()
    for rule in [*RULES, "a b ||| x x"]:
        grammar.read_text(f"[X] ||| {rule}\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("a"), ParseOptions(100, False, 1, X))
    latent, alone = LatentFeatures(path, grammar, OPTIONS), LatentFeatures(path, grammar, OPTIONS, marginals=False)
    inference, features = latent.infer(forest)
    assert inference.sign < 0 and features.any() and np.array_equal(alone.features(forest), features)
    assert latent.binding.counts()["composed"]
    with pytest.raises(ValueError, match="made without marginals"):
        alone.infer(forest)


def test_names():
    assert feature_names(["context"]) == CONTEXT_FEATURES == ("ContextTarget0", "ContextTargetBare", "ContextTargetN")


def test_lattices_have_no_context(tmp_path):
    path, parameters = random_model(tmp_path, 1)
    model = Model(path)
    grammar = model.grammar()
    word = grammar.vocab.add_line(" ".join(parameters.rules.words[:1]))[0]
    binding = Binding(model, grammar)
    # with as many arcs as steps from the first state to the last, too
    for arcs, states in (([[0, 1], [0, 1], [1, 2]], 3), ([[0, 1], [0, 1], [1, 3]], 4), ([[1, 2], [0, 1]], 3)):
        labelled = np.array([[*arc, word] for arc in arcs], np.int32)
        forest = grammar.parse_lattice(labelled, states, ParseOptions(9, False, 1, X))
        assert forest is not None and not binding.features(forest, binding.infer(forest), OPTIONS).any()


def test_words_without_a_rule_are_context_whenever_they_were_met(tmp_path):
    """Words enter the vocabulary before the binding is made, or with the sentence."""
    table = rule_table(["a ||| A", "a ||| B", "z ||| Z"])
    offsets = np.minimum(np.arange(ContextModel.outcomes(table) + 1), 1)
    item = np.array([table.words.index("z")], np.int32)  # the word before
    context = ContextModel(table, np.array([5.0, 5.0, 1.0]), offsets, item, np.array([2.0], np.float32))
    tensors = (np.ones((3, 1)), np.ones((0, 1, 1)), np.ones((0, 1, 1, 1)))
    Parameters(table, tensors, np.ones(1), np.ones(1), context=context).save(tmp_path / "m")
    model = Model(tmp_path / "m")
    found = []
    for rules in ("", "[X] ||| z ||| Z\n"):
        grammar = Grammar()
        grammar.read_text("[X] ||| a ||| A\n[X] ||| a ||| B\n" + rules)
        grammar.finish()
        for _ in range(2):
            binding = Binding(model, grammar)
            forest = grammar.parse(grammar.vocab.add_line("z a"), ParseOptions())
            features = binding.features(forest, None, OPTIONS)[:, 0]
            found.append({int(rule): features[forest.app_rule == rule].tolist() for rule in (0, 1)})
    assert found[0][0][0] > 0.5 > -1 > found[0][1][0] and found == found[:1] * 4


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
    add_loglinear(estimate_mle(derivations), tokens_of(derivations), source).save(tmp_path / "m")
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


def test_source_of_dropped_pairs_is_not_compared(tmp_path):
    source = ["a b", "", "b a"]
    options = DeriveOptions(drop=True)
    derivations = derive(source, ["A B", "x", "A B"], ["0-0 1-1", "", "0-1 1-0"], options=options)
    for dropped in source:
        write_lines(tmp_path / "f", [source[0], dropped, source[2]])
        assert read_source(tmp_path / "f", derivations) == [source[0], dropped, source[2]]
    write_lines(tmp_path / "f", [source[0], "", "b b"])
    with pytest.raises(InputError, match="f:3: differs from the words"):
        read_source(tmp_path / "f", derivations)


def test_source_of_several_alignments(tmp_path):
    source, target, links = ambiguous(0, 40)
    write_lines(tmp_path / "f", source)
    one, two = derive(source, target, links), derive(source * 2, target * 2, links * 2)
    two = dataclasses.replace(two, alignments=2)
    assert read_source(tmp_path / "f", one) == source == read_source(tmp_path / "f", two)
    once, twice = (tokens_of(derivations).places.tolist() for derivations in (one, two))
    assert sorted(twice) == sorted(once * 2)
    write_lines(tmp_path / "f", [*source[:7], "a b", *source[8:]])
    with pytest.raises(InputError, match="f:8: is not as long as its derivation: 2, not 3 words"):
        read_source(tmp_path / "f", two)
    # as many words, but others; one that no rule has, and two in another order
    for other in (source[7].replace(source[7].split()[0], "zzz", 1), " ".join(source[7].split()[::-1])):
        assert other != source[7]
        write_lines(tmp_path / "f", [*source[:7], other, *source[8:]])
        for derivations in (one, two):
            with pytest.raises(InputError, match="f:8: differs from the words of its derivation; give the source"):
                read_source(tmp_path / "f", derivations)
    write_lines(tmp_path / "f", source * 2)
    with pytest.raises(InputError, match="80 source sentences, but derivations of 40"):
        read_source(tmp_path / "f", two)


def learned(tokens, source, made, dense=None):
    """The weights by (outcome, item), and those of dense values by outcome, learned step by step as the method says."""
    left, right, dense_penalty = dense or (np.zeros((10**5, 0)),) * 2 + (1.0,)
    rules, places = tokens.rules, tokens.places.tolist()
    counts = np.bincount(tokens.places[:, 0], minlength=len(rules))
    vocabulary = {word: k for k, word in enumerate(rules.words)}
    sentences = [line.split() for line in source]
    often = Counter(word for words in sentences for word in words)
    seen = [[word if often[word] >= made.min_word else None for word in words] for words in sentences]
    sides = [rules.src(rule).tolist() for rule in range(len(rules))]
    choices = [[other for other in range(len(rules)) if sides[other] == side] for side in sides]
    choices = [sorted(options, key=lambda other: -counts[other])[: made.max_targets] for options in choices]
    examples = []
    for rule, pair, i, j, *gaps in places:
        if len(choices[rule]) > 1 and rule in choices[rule]:
            children = [gap for gap in (gaps[:2], gaps[2:]) if gap[0] >= 0]
            wordy = rules.src_length[rule] > rules.arity[rule]
            own_words = j - i - sum(end - begin for begin, end in children)
            start = sum(map(len, sentences[:pair])) + pair
            values = np.concatenate([left[start + i], right[start + j]])
            examples.append((rule, items_of(seen[pair], (i, j), children, wordy, vocabulary), values, own_words))

    if len(examples) > made.max_tokens:
        chosen = np.random.default_rng(made.seed).choice(len(examples), made.max_tokens, replace=False)
        examples = [examples[k] for k in sorted(chosen)]
    penalty = max(made.penalty, sum(own for *_, own in examples) / sum(map(len, sentences)))
    examples = [example[:3] for example in examples]

    def keys_of(outcomes, items):
        return [(o, item) for o, is_shape in outcomes for near, item in items if near or not is_shape]

    own = Counter(key for rule, items, _ in examples for key in keys_of(outcomes_of(rules, rule), items))
    sets = [[outcomes_of(rules, other) for other in options] for options in choices]  # of the choices of a rule
    met = [list(dict.fromkeys(outcome for outcomes in options for outcome in outcomes)) for options in sets]
    visits = Counter(key for rule, items, _ in examples for key in keys_of(met[rule], items))
    weights = dict.fromkeys((key for key, n in own.items() if n >= made.min_count), 0.0)
    squares = dict.fromkeys(weights, 0.0)
    known = {outcome for outcome, _ in weights}
    dense_visits = Counter(outcome for rule, _, _ in examples for outcome, _ in met[rule])
    dense_weights = {outcome: np.zeros(2 * left.shape[1]) for outcome in known}
    dense_squares = {outcome: np.zeros(2 * left.shape[1]) for outcome in known}

    def gradients_of(rule, items, values):
        """By outcome: the shares of the choices that have it, less 1 where the right one has it."""
        sums = {outcome: sum(weights.get(key, 0) for key in keys_of([outcome], items)) for outcome in met[rule]}
        for outcome in met[rule]:
            if outcome[0] in known:
                sums[outcome] += dense_weights[outcome[0]] @ values
        scores = [
            math.log(counts[other]) + sum(map(sums.get, outcomes))
            for other, outcomes in zip(choices[rule], sets[rule], strict=True)
        ]
        total = math.log(sum(map(math.exp, scores)))
        found = dict.fromkeys(met[rule], 0.0)
        for other, outcomes, value in zip(choices[rule], sets[rule], scores, strict=True):
            for outcome in outcomes:
                found[outcome] += math.exp(value - total) - (other == rule)
        return found

    random = np.random.default_rng(made.seed)
    # the tokens are permuted in the order of their rules, and those of a batch come in the order of their source sides
    examples.sort(key=lambda example: example[0])
    for number in range(made.passes):
        order = random.permutation(len(examples))
        for part in batches(len(examples), number * len(examples), made.batch):
            batch = sorted((examples[k] for k in order[part]), key=lambda example: rules.source_id[example[0]])
            gradients = [gradients_of(*example) for example in batch]
            for (_, items, values), gradient in zip(batch, gradients, strict=True):
                for outcome, value in gradient.items():
                    if outcome[0] in known and abs(value) > 1e-4:
                        own_weights, own_squares = dense_weights[outcome[0]], dense_squares[outcome[0]]
                        along = value * values + dense_penalty / dense_visits[outcome[0]] * own_weights
                        own_squares += along**2
                        own_weights -= made.rate * along / np.sqrt(own_squares + 1e-4)
                    for key in keys_of([outcome], items) if abs(value) > 1e-4 else []:
                        if key in weights:
                            along = value + penalty * weights[key] / visits[key]
                            squares[key] += along**2
                            weights[key] -= made.rate * along / math.sqrt(squares[key] + 1e-4)
    return {key: weight for key, weight in weights.items() if weight}, dense_weights


@pytest.mark.parametrize(
    "changes",
    [{}, {"max_tokens": 120}, {"penalty": 0.01}, {"max_targets": 2, "min_word": 3}, {"min_count": 4}, {"batch": 1}],
)
def test_learning_is_what_the_method_says(changes):
    source, target, links = ambiguous(3, 50)
    source += ["a b c", "c b a", "b a", "a c b"] * 3
    target += ["C A B", "A C B", "A B", "A B B C"] * 3
    links += ["0-1 1-2 2-0", "0-1 1-2 2-0", "0-1 1-0", "0-0 2-1 2-2 1-3"] * 3
    # a third translation of b, next to words that are too rare to be items and one that is not
    source += ["a b rare", "d b rare", "often b y", "often b x", "often b x", "d b x", "d b y"]
    target += ["A B RARE", "D B RARE", "OFTEN B Y", "OFTEN B X", "OFTEN C X", "D D X", "D D Y"]
    links += ["0-0 1-1 2-2"] * 7
    tokens = tokens_of(derive(source, target, links))
    made = dataclasses.replace(LoglinearSettings(min_word=1, passes=2), **changes)
    assert check_learned(tokens, source, made) > 80


def check_learned(tokens, source, made, threads=1):
    """Compares the weights with those of the method; returns how many there are."""
    context = estimate_context(tokens, source, made, threads)
    numbers = {tokens.rules.text(rule): rule for rule in range(len(tokens.rules))}
    found, (reference, _) = {}, learned(tokens, source, made)
    for outcome, (begin, end) in enumerate(pairwise(context.offsets)):
        rules = len(context.rules)
        same = numbers[context.rules.text(outcome)] if outcome < rules else outcome - rules + len(tokens.rules)
        part = zip(context.items[begin:end].tolist(), context.weights[begin:end].tolist(), strict=True)
        found |= {(same, item): weight for item, weight in part}
    assert found.keys() == reference.keys()
    assert [found[key] for key in reference] == pytest.approx([*reference.values()], rel=1e-3, abs=1e-4)
    return len(found)


@pytest.mark.parametrize("threads", [1, 2])
def test_learning_with_dense_values(threads):
    """The sums of what each outcome of a rule has for dense values, and the other weights beside them."""
    source, target, links = ambiguous(4, 40)
    tokens = tokens_of(derive(source, target, links)).with_choice()
    rng, boundaries = np.random.default_rng(2), sum(len(line.split()) + 1 for line in source)
    dense = rng.normal(size=(boundaries, 9)), rng.normal(size=(boundaries, 9)), 3.0
    made = LoglinearSettings(min_word=1, passes=2, batch=32)
    context, sums = learn_context(tokens, source, made, threads, dense)
    weights, own = learned(tokens, source, made, dense)
    rules = context.rules
    for rule in range(len(rules)):
        expected_sum = sum(own.get(outcome, 0) for outcome, _ in outcomes_of(rules, rule))
        assert sums[rule] == pytest.approx(np.zeros(18) + expected_sum, rel=1e-3, abs=1e-4)
    assert np.abs(sums).max() > 0.1
    assert len(weights) == len(context.weights)
    outcome = np.repeat(np.arange(len(context.offsets) - 1), np.diff(context.offsets))
    found = dict(zip(zip(outcome.tolist(), context.items.tolist(), strict=True), context.weights, strict=True))
    assert [found[key] for key in weights] == pytest.approx([*weights.values()], rel=1e-3, abs=1e-4)
    with pytest.raises(ValueError, match="dense values are not of the boundaries"):
        learn_context(tokens, source, made, threads, (dense[0][1:], dense[1][1:], 3.0))


def test_batches_grow_and_have_all_tokens():
    for n, seen, most in ((0, 0, 5), (31, 0, 4096), (10_000, 0, 100), (10_000, 10_000, 100), (3, 10**9, 1)):
        found = batches(n, seen, most)
        sizes = [part.stop - part.start for part in found]
        assert [k for part in found for k in range(n)[part]] == [*range(n)]
        limits = [min(most, max(32, (seen + part.start) // 64)) for part in found]
        assert all(0 < size <= limit for size, limit in zip(sizes, limits, strict=True))
        assert sizes[:-1] == sorted(sizes[:-1])
    assert len(batches(10_000, 0, 100)) > len(batches(10_000, 10_000, 100)) == 100


def test_many_weights_of_an_outcome():
    """So many that buckets are full, and that items of a bucket have the same mark."""
    rng = np.random.default_rng(1)
    names = np.array([f"w{k}" for k in range(3000)])
    source = [" ".join(["b", *rng.choice(names, 60)]) for _ in range(300)]
    target = [str(rng.choice(["B", "C"])) for _ in source]
    tokens = tokens_of(derive(source, target, ["0-0"] * len(source)))
    made = LoglinearSettings(min_word=1, min_count=1, passes=1, batch=64)
    one, three = (estimate_context(tokens, source, made, threads) for threads in (1, 3))
    for name in ("offsets", "items", "weights"):
        assert getattr(one, name).tobytes() == getattr(three, name).tobytes()
    assert check_learned(tokens, source, made) > 10_000


def test_hiero_rules_have_the_places_of_their_spans(tmp_path):
    for name, lines in (("f", ["a b c d"]), ("e", ["A C B D"]), ("a", ["0-0 1-2 2-1 3-3"])):
        write_lines(tmp_path / name, lines)
    tokens = hiero_tokens(*(tmp_path / name for name in "fe"), [tmp_path / "a"] * 2)
    assert {*tokens.places[:, 1].tolist()} == {0} and len(tokens.places) == 2 * len(np.unique(tokens.places, axis=0))
    for rule, _, i, j, *gaps in tokens.places.tolist():
        words = ["a", "b", "c", "d"][i:j]
        for number, (begin, end) in reversed([*enumerate((gaps[:2], gaps[2:]), 1)]):
            if begin >= 0:
                words[begin - i : end - i] = [f"[X,{number}]"]
        assert tokens.rules.src_text(rule) == " ".join(words)


def test_a_model_knows_other_rules_in_context_than_in_tensors(tmp_path):
    source, target, links = ambiguous(1)
    for name, lines in (("f", source), ("e", target), ("a", links)):
        write_lines(tmp_path / name, lines)
    tokens = hiero_tokens(tmp_path / "f", tmp_path / "e", [tmp_path / "a"])
    made = add_loglinear(estimate_mle(derive(source, target, links)), tokens, source)
    texts = {made.context.rules.text(rule) for rule in range(len(made.context.rules))}
    assert "[X] ||| b [X,1] ||| B [X,1]" in texts and not texts & {made.rules.text(0), "[X] ||| a ||| A"}
    made.save(tmp_path / "m")
    again = Parameters.load(tmp_path / "m").context
    for name in ("counts", "offsets", "items", "weights"):
        assert np.array_equal(getattr(again, name), getattr(made.context, name))
    assert [again.rules.text(k) for k in range(len(again.rules))] == [
        made.context.rules.text(k) for k in range(len(again.rules))
    ]
    assert again.rules.arity.tolist() == made.context.rules.arity.tolist()
    assert Model(tmp_path / "m").rank == 1


def test_command(tmp_path, capsys):
    source, target, links = ambiguous(2)
    derivations = derive(source, target, links)
    derivations.save(tmp_path / "d")
    write_lines(tmp_path / "source", source)
    write_lines(tmp_path / "short", source[:-1])
    write_lines(tmp_path / "cut", [*source[:-1], "a"])
    plain = str(tmp_path / "plain")
    assert main(["estimate", "clusters", str(tmp_path / "d"), "-m", "2", "-o", plain, "--quiet"]) == 0
    arguments = ["context", "--derivations", str(tmp_path / "d"), "-o", str(tmp_path / "m"), plain]
    assert main([*arguments, str(tmp_path / "short")]) == 1
    assert "short: 299 source sentences, but derivations of 300" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "cut")]) == 1
    assert "cut:300: is not as long as its derivation: 1, not 3 words" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "none")]) == 1 and not (tmp_path / "m").exists()
    assert main([*arguments, str(tmp_path / "source"), "--quiet"]) == 0
    first = (tmp_path / "m").read_bytes()
    assert main([*arguments, str(tmp_path / "source"), "--quiet", "--jobs", "2"]) == 0
    assert (tmp_path / "m").read_bytes() == first
    Model(tmp_path / "m").check_features(OPTIONS)
    write_lines(tmp_path / "target", target)
    write_lines(tmp_path / "links", links)
    corpus = [str(tmp_path / name) for name in ("source", "target", "links")]
    assert main([*arguments, *corpus, "--rules", "hiero", "--quiet"]) == 0
    of_hiero = Parameters.load(tmp_path / "m").context
    assert len(of_hiero.rules) > 4
    assert main([*arguments, *corpus[:2], "--rules", "hiero"]) == 1
    assert "hiero rules need SOURCE TARGET ALIGNMENT..., not SOURCE alone" in capsys.readouterr().err
    assert main([*arguments, *corpus, "--rules", "hiero+minimal", "--quiet"]) == 0
    of_both = Parameters.load(tmp_path / "m").context
    found = {of_both.rules.text(k): count for k, count in enumerate(of_both.counts.tolist())}
    of_hiero = {of_hiero.rules.text(k): count for k, count in enumerate(of_hiero.counts.tolist())}
    minimal = tokens_of(derivations).with_choice()
    times = np.bincount(minimal.places[:, 0]).tolist()
    of_minimal = {minimal.rules.text(k): count for k, count in enumerate(times)}
    assert {*of_hiero, *of_minimal} <= {*found} and len(found) == len(of_both.rules)
    assert all(found[rule] == of_hiero.get(rule, 0) + of_minimal.get(rule, 0) for rule in {*of_hiero} & {*of_minimal})


def test_tables_of_rules_are_joined():
    corpora = (["b c", "a b"], ["B C", "A B"]), (["a b", "d"], ["A B", "D"])
    tables = [tokens_of(derive(*sides, ["0-0 1-1", "0-0"])).rules for sides in corpora]
    tables[1] = tables[1].select(np.random.default_rng(1).permutation(len(tables[1])))
    both, numbers = tables[0].with_those_of(tables[1])
    texts = [[table.text(rule) for rule in range(len(table))] for table in (*tables, both)]
    assert {*texts[0]} - {*texts[1]} and {*texts[1]} - {*texts[0]} and {*texts[0]} & {*texts[1]}
    assert texts[2] == list(dict.fromkeys(texts[0] + texts[1]))
    assert [texts[2][number] for number in numbers] == texts[1]
    none, numbers = both.with_those_of(both.select(np.empty(0, np.int64)))
    assert len(none) == len(both) and len(numbers) == 0


def test_models_without_context_and_broken_ones_are_refused(tmp_path):
    _, parameters = random_model(tmp_path, 0)
    weights = parameters.context
    twice = weights.rules.select(np.maximum(np.arange(len(weights.rules)) - 1, 0))
    dataclasses.replace(parameters, context=None).save(tmp_path / "without")
    with pytest.raises(
        InputError,
        match=r"no log-linear context weights, which ContextTarget0 needs; add them with lscfg context, or choose",
    ):
        Model(tmp_path / "without").check_features(OPTIONS)
    Model(tmp_path / "without").check_features(FeatureOptions(names=("ratios", "paper")))
    dataclasses.replace(parameters, one=None).save(tmp_path / "without")
    Model(tmp_path / "without").check_features(OPTIONS)
    for change, message in (
        ({"items": weights.items + context_items(len(weights.rules.words))}, "'context.items' holds"),
        ({"counts": -weights.counts}, "'context.counts' holds -"),
        ({"counts": weights.counts[:-1]}, "do not fit its rules and words"),
        ({"rules": twice}, "rules 0 and 1 of the context"),
        ({"weights": weights.weights * np.float32("inf")}, "not finite"),
        ({"offsets": weights.offsets[:-1]}, "do not fit its rules and words"),
        ({"offsets": weights.offsets[::-1].copy()}, "'context.offsets'"),
        ({"items": weights.items[:-1]}, "do not fit"),
        ({"items": weights.items[::-1].copy()}, "do not ascend"),
    ):
        broken = dataclasses.replace(weights, **change)
        dataclasses.replace(parameters, context=broken).save(tmp_path / "broken")
        with pytest.raises(InputError, match=message):
            Model(tmp_path / "broken")
    with pytest.raises(ValueError, match=r"'context\.items' does not ascend within an outcome"):
        ContextModel.from_arrays(dataclasses.replace(weights, items=weights.items[::-1].copy()).arrays())


def test_text_without_a_choice():
    derivations = derive(["a b"], ["A B"], ["0-0 1-1"])
    with pytest.raises(InputError, match="no source side has two target sides"):
        estimate_context(tokens_of(derivations), ["a b"], LoglinearSettings())


def test_the_command_reads_tables_of_extractors(tmp_path):
    """Settings of the rules, in a table of their own."""
    source, target, links = ["a b", "a c", "a b"] * 5, ["A B", "X C", "A B"] * 5, ["0-0 1-1"] * 15
    derive(source, target, links).save(tmp_path / "d")
    for name, lines in (("f", source), ("e", target), ("a", links)):
        write_lines(tmp_path / name, lines)
    assert main(["estimate", "mle", str(tmp_path / "d"), "-o", str(tmp_path / "plain"), "--quiet"]) == 0
    words = ["context", *(str(tmp_path / name) for name in ("plain", "f", "e", "a")), "--derivations", tmp_path / "d"]
    words += ["--rules", "hiero", "--set", "min_word=1", "-o", tmp_path / "m", "--quiet"]
    arities = []
    for more in ([], ["--set", "hiero.max_arity=0"]):
        assert main([*map(str, words), *more]) == 0
        arities.append(Parameters.load(tmp_path / "m").context.rules.arity.max())
    assert arities == [1, 0]
