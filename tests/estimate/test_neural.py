"""Learning of the neural model: gradients, steps, threads, instructions, resumed runs, held-out text, bad input."""

import dataclasses
import math

import numpy as np
import pytest
from helpers import random_network, rule_table
from plain_neural import PlainNeural, activation, activation_slope, adam, affiliate, dropout_mask, loss_and_gradients

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.estimate import neural
from lscfg.estimate.neural import CHECKPOINT, Design, NeuralEstimator, NeuralSettings, NeuralText
from lscfg.extract.derive import Derivations, derive, derive_files
from lscfg.io import tensors
from lscfg.kernel import Binding, FeatureOptions, Model, ParseOptions, Rules, S, X
from lscfg.kernel.neural import NeuralShape, NeuralTrainer, WordLinks, affiliate_trees
from lscfg.model.neural import NeuralModel
from lscfg.model.parameters import Parameters
from lscfg.parallel.choose import in_threads

SHAPE = NeuralShape(3, 2, 32, 32, 9, 11, dropout=0.25, penalty=0.3, fertility=0.5)
SMALL = Design(dims=32, reach=1, epochs=3)
SETTINGS = NeuralSettings(hidden=32)


class Small(NeuralEstimator):
    """The estimator with another design."""

    def __init__(self, **changes):
        self.DESIGN = dataclasses.replace(SMALL, **changes)


def batch(seed, words=150, examples=230, shape=SHAPE):
    random = np.random.default_rng(seed)
    inputs = random.integers(0, shape.sources, (examples, shape.window + shape.history)).astype(np.int32)
    labels = np.concatenate((random.integers(0, shape.targets, words), random.integers(0, 4, examples - words)))
    return inputs, labels.astype(np.int32), words


def start(shape=SHAPE, seed=1):
    return np.random.default_rng(seed).normal(0, 0.3, shape.parameters).astype(np.float32)


def test_gradients_are_central_differences():
    shape = NeuralShape(3, 2, 3, 4, 5, 5, dropout=0.25, penalty=0.3, fertility=0.5)
    parameters = np.random.default_rng(3).normal(0, 0.5, 2 * 15 + 4 * 15 + 4 + 24 + 1 + 20)
    inputs, labels, words = batch(2, 6, 9, shape)
    mask = dropout_mask(shape, 9, 77)
    assert 0 < (mask == 0).mean() < 0.6

    def loss(values):
        return loss_and_gradients(shape, values, inputs, labels, words, mask)[0]

    found = loss_and_gradients(shape, parameters, inputs, labels, words, mask)[1]
    for k in range(len(parameters)):
        step = np.eye(len(parameters))[k] * 1e-5
        assert abs((loss(parameters + step) - loss(parameters - step)) / 2e-5 - found[k]) < 1e-6


def test_the_activation_is_nearly_tanh():
    x = np.linspace(-6, 6, 1001)
    assert abs(activation(x) - np.tanh(x)).max() < 2e-3
    inner = x[abs(x) < 4.9]
    numeric = (activation(inner + 1e-6) - activation(inner - 1e-6)) / 2e-6
    assert abs(numeric - activation_slope(inner)).max() < 1e-6


def learned(threads=1, steps=10, instructions=None):
    parameters = start()
    moments = np.zeros_like(parameters), np.zeros_like(parameters)
    losses = []
    with in_threads(threads) as engine:
        trainer = NeuralTrainer(SHAPE, parameters, *moments, engine, instructions)
        for step in range(1, steps + 1):
            losses.append(trainer.learn(*batch(step), noise=2**63 + step, rate=0.01, step=step))
    return parameters, losses


def test_ten_steps_are_those_of_numpy():
    found, losses = learned()
    parameters = start().astype(np.float64)
    first, second = np.zeros_like(parameters), np.zeros_like(parameters)
    for step in range(1, 11):
        inputs, labels, words = batch(step)
        mask = dropout_mask(SHAPE, len(labels), 2**63 + step)
        loss, gradient = loss_and_gradients(SHAPE, parameters, inputs, labels, words, mask)
        own = losses[step - 1]
        total = (own.words + SHAPE.penalty * own.squares + SHAPE.fertility * own.fertilities) / words
        assert total == pytest.approx(loss, rel=1e-5)
        adam(parameters, gradient, first, second, 0.01, step)
    assert abs(found - parameters).max() < 1e-3 and abs(found - parameters).mean() < 1e-5


def test_threads_do_not_change_a_bit():
    one = learned()
    for threads in (2, 3, 8):
        other = learned(threads)
        assert one[0].tobytes() == other[0].tobytes() and one[1] == other[1]


def test_instructions_agree():
    found = {}
    for name in ("avx512", "avx2", "baseline"):
        try:
            found[name] = learned(instructions=name)[0]
        except InputError:
            assert name != "baseline"
    for name in found.keys() & {"avx2"} if "avx512" in found else ():
        assert found["avx512"].tobytes() == found[name].tobytes()
    assert all(abs(values - found["baseline"]).max() < 2e-3 for values in found.values())


def test_rows_out_of_range_never_reach_the_kernel():
    trainer = NeuralTrainer(SHAPE, start(), start(), start(), in_threads(1))
    for column, value in ((0, SHAPE.sources), (4, SHAPE.targets), (0, -1)):
        inputs, labels, words = batch(1)
        inputs[5, column] = value
        with pytest.raises(ValueError, match="out of range"):
            trainer.losses(inputs, labels, words)
    with pytest.raises(InputError, match="multiples of 32"):
        bad = dataclasses.replace(SHAPE, hidden=40)
        NeuralTrainer(bad, *(np.zeros(bad.parameters, np.float32) for _ in range(3)), in_threads(1))


def corpus(pairs=120, seed=5):
    """Word for word; the second of two target words depends on the first, and q is seldom aligned."""
    random = np.random.default_rng(seed)
    source, target, links = [], [], []
    for _ in range(pairs):
        words = random.integers(0, 6, random.integers(2, 7))
        own = [f"{'AB'[k % 2]}{word}" for k, word in enumerate(words)]
        extra = ["q"] if random.random() < 0.3 else []
        source.append(" ".join(f"a{word}" for word in words))
        target.append(" ".join(own + extra))
        links.append(" ".join(f"{k}-{k}" for k in range(len(words))))
    return source, target, links


@pytest.fixture(scope="module")
def model(trees):
    return Small(epochs=1).estimate(trees, SETTINGS)


@pytest.fixture(scope="module")
def trees():
    return derive(*corpus())


def test_places_are_those_of_plain_affiliation(trees):
    text = NeuralText(trees, SMALL)
    share = dict(zip(map(tuple, text.links[0].tolist()), text.links[1].tolist(), strict=True))
    rows = [{word: first + k for k, word in enumerate(text.words[s])} for s, first in ((0, 3), (1, 4))]
    rules, tokens = trees.rules, 0
    for tree in range(len(trees)):
        first, end = trees.trees[tree : tree + 2].tolist()
        for node in range(first, end):
            rule = int(trees.rule[node])
            symbols = rules.symbols[rules.offsets[rule] : rules.offsets[rule + 1]].tolist()
            n, span = int(rules.src_length[rule]), trees.span[node].tolist()
            children = [k for k in range(first, end) if trees.parent[k] == node]
            tails, ends = (trees.span[children][:, pair].tolist() for pair in ([0, 1], [2, 3]))
            sides = [
                [s if s < 0 else rows[side].get(rules.words[s], 0) for s in part]
                for side, part in enumerate((symbols[:n], symbols[n:]))
            ]
            places, counts = affiliate(share, *sides, span[0], tails)
            at = span[2]
            for symbol, place in zip(sides[1], places, strict=True):
                if symbol >= 0:
                    assert text.place[text.starts[tree, 1] + at] == place
                    tokens += 1
                at = at + 1 if symbol >= 0 else ends[-1 - symbol][1]
            at, gaps = span[0], iter(tails)
            for symbol, count in zip(sides[0], counts, strict=True):
                if symbol >= 0:
                    assert text.fertility[text.starts[tree, 0] + at] == count
                at = at + 1 if symbol >= 0 else next(gaps)[1]
    assert tokens == len(text.place) > 400


def test_random_rules_are_affiliated_as_in_plain_python():
    random = np.random.default_rng(1)
    for _ in range(300):
        arity = int(random.integers(0, 4))
        source = [int(word) for word in random.integers(3, 7, random.integers(1, 5))]
        target = [int(word) for word in random.integers(4, 8, random.integers(1, 5))]
        for k in range(arity):
            source.insert(int(random.integers(0, len(source) + 1)), -1)
            target.insert(int(random.integers(0, len(target) + 1)), -1 - k)
        drawn = zip(random.choice([-1, 3, 4, 5], 8), random.integers(4, 8, 8), strict=True)
        pairs = sorted({(int(a), int(b)) for a, b in drawn})
        share = [float(np.float32(x)) for x in random.choice([0.1, 0.3, 0.5], len(pairs))]
        at, tails, node_spans = 2, [], []
        for symbol in source:
            size = 1 if symbol >= 0 else int(random.integers(1, 4))
            if symbol < 0:
                tails.append([at, at + size])
            at += size
        # one node with its children, as a tree that begins at word 2
        t, tgt_spans = 1, {}
        for symbol in target:
            if symbol < 0:
                tgt_spans[-1 - symbol] = [t, t + 1]
            t += 1
        node_spans = [[2, at, 1, t], *([*tails[k], *tgt_spans[k]] for k in range(arity))]
        found = one_node(pairs, share, source, target, node_spans)
        places, counts = affiliate(dict(zip(pairs, share, strict=True)), source, target, 2, tails)
        assert found[0] == [p for p, symbol in zip(places, target, strict=True) if symbol >= 0]
        assert found[1] == [c for c, symbol in zip(counts, source, strict=True) if symbol >= 0]


def one_node(pairs, share, source, target, spans):
    """Places and fertilities of the first node by the kernel; words are their own rows."""
    rules = [(source, target), ([3], [4])]
    symbols = np.array([s for rule in rules for side in rule for s in side], np.int32)
    arrays = {
        "rules.symbols": symbols,
        "rules.offsets": np.cumsum([0, *(len(a) + len(b) for a, b in rules)]).astype(np.int64),
        "rules.src_length": np.array([len(a) for a, _ in rules], np.int32),
        "vocab.bytes": np.frombuffer(b"abcdefgh", np.uint8),
        "vocab.offsets": np.arange(9, dtype=np.int64),
    }
    n = len(spans)
    rows = np.repeat(np.arange(8, dtype=np.int32), 2).reshape(8, 2)
    nodes = (
        np.array([0, n], np.int64),
        np.array([0, *[1] * (n - 1)], np.int32),
        np.array([-1, *[0] * (n - 1)], np.int32),
        np.array(spans, np.int32),
    )
    links = np.array(pairs, np.int32).reshape(-1, 2), np.array(share, np.float32)
    place, fertility = affiliate_trees(WordLinks(*links), Rules(arrays), nodes, rows)
    at, gaps, own = spans[0][0], iter(spans[1:]), []
    for symbol in source:
        own += [at] if symbol >= 0 else []
        at = at + 1 if symbol >= 0 else next(gaps)[1]
    where = [spans[0][2] + x for x, symbol in enumerate(target) if symbol >= 0]
    return place[where].tolist(), fertility[own].tolist()


def test_held_out_text_is_learned(trees):
    model = Small(epochs=12, dropout=0.0).estimate(derive(*corpus(400)), SETTINGS)
    given = model.about["held-out perplexity"]
    # six words at one of two parities, which only the word before shows, and q or not at the end
    assert len(given) == 3 and given[0] > given[1] + 0.4 and given[2] < 2.6
    assert model.about["log Z"] < 1


def drawn(network, pairs, seed):
    """Text of a network whose word at each place is drawn given the source words around and the words before.

    Returns:
        Source, target and links, and the negative log probability of each target side, whose length is known.
    """
    random, plain, known = np.random.default_rng(seed), PlainNeural(network), {}
    sources, targets = (np.arange(len(words)) + first for words, first in zip(network.words, (3, 4), strict=True))
    found = []
    for _ in range(pairs):
        rows = random.choice(sources, random.integers(2, 7)).tolist()
        padded, made, loss = [1, *rows, 2], [2], 0.0
        for place in range(len(rows)):
            key = (*padded[place : place + 3], made[-1])
            if key not in known:
                scores = [plain.score(rows, place, made[-1:], word) for word in targets]
                known[key] = np.exp(scores) / np.exp(scores).sum()
            made.append(int(random.choice(targets, p=known[key])))
            loss -= math.log(known[key][made[-1] - 4])
        sides = [network.words[0][row - 3] for row in rows], [network.words[1][row - 4] for row in made[1:]]
        found.append((*map(" ".join, sides), " ".join(f"{k}-{k}" for k in range(len(rows))), loss))
    return [*zip(*found, strict=True)]


def test_text_of_a_known_network_is_learned_to_its_entropy():
    """Within .02 nats a word; the bare source words, or one epoch, are further away."""
    network = random_network((list("abcde"), list("ABCDEF")), 1, 1, 1)
    *text, losses = drawn(network, 14_000, 1)
    trees, design = derive(*map(list, text)), {"history": 1, "dropout": 0.0}
    held_out = NeuralText(trees, dataclasses.replace(SMALL, **design)).held_out.tolist()
    entropy = sum(losses[pair] for pair in held_out) / sum(len(text[1][pair].split()) + 1 for pair in held_out)
    one, eight = (Small(epochs=epochs, **design).estimate(trees, SETTINGS).about for epochs in (1, 8))
    bare, whole = (math.log(found) - entropy for found in eight["held-out perplexity"])
    assert -0.005 < whole < 0.02 < bare
    assert math.log(one["held-out perplexity"][1]) - entropy > 0.02


def test_model_files_keep_the_network(trees, tmp_path):
    model = Small(history=1, epochs=1).estimate(trees, SETTINGS)
    model.save(tmp_path / "a")
    again = Parameters.load(tmp_path / "a")
    assert again.neural.words == model.neural.words and again.neural.reach == 1 and again.neural.history == 1
    for name, array in model.neural.parameters.items():
        assert array.tobytes() == again.neural.parameters[name].tobytes()
    assert again.about["held-out perplexity"] == model.about["held-out perplexity"]


def test_a_resumed_run_gives_the_same_bytes(trees, tmp_path):
    whole, *others = (Small().estimate(trees, SETTINGS, threads) for threads in (2, 1, 3, 8))
    saved = tmp_path / "folder"
    saved.mkdir()
    Small().estimate(trees, SETTINGS, 1, saved)
    states = (saved / CHECKPOINT).read_bytes()
    count = 0
    save = neural._Learning._save

    def stop(self, state):
        nonlocal count
        save(self, state)
        count += 1
        if count == 2:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neural._Learning, "_save", stop)
        with pytest.raises(KeyboardInterrupt):
            Small().estimate(trees, SETTINGS, 1, saved)
    assert (saved / CHECKPOINT).read_bytes() != states
    for again in (*others, Small().estimate(trees, SETTINGS, 3, saved, True)):
        assert again.about == whole.about
        for name, array in whole.neural.parameters.items():
            assert array.tobytes() == again.neural.parameters[name].tobytes()
    with pytest.raises(InputError, match="belongs to other settings"):
        Small().estimate(trees, dataclasses.replace(SETTINGS, seed=2), 1, saved, True)
    with pytest.raises(InputError, match="--resume"):
        Small().estimate(trees, SETTINGS, 1, None, True)
    with pytest.raises(InputError, match=r"no checkpoint is there .*; run without --resume$"):
        Small().estimate(trees, SETTINGS, 1, tmp_path / "none", True)


def test_alignments_take_turns(tmp_path):
    source, target, links = corpus(60)
    for name, lines in (("f", source), ("e", target), ("a", links), ("b", [line.split()[0] for line in links])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    derive_files(*(tmp_path / name for name in "fe"), [tmp_path / "a", tmp_path / "b"], tmp_path / "deriv")
    text = NeuralText(Derivations.load(tmp_path / "deriv"), SMALL)
    pairs = text.train[:3]
    assert pairs.tolist() == [1, 2, 3]
    assert text.trees(pairs, 0).tolist() == [61, 2, 63]
    assert text.trees(pairs, 1).tolist() == [1, 62, 3]


def test_equal_pairs_are_held_out_together(trees):
    source, target, links = corpus(99)
    source, target, links = ([*lines, lines[0]] for lines in (source, target, links))
    text = NeuralText(derive(source, target, links), SMALL)
    assert 0 in text.held_out and 99 not in text.train


def test_bad_input_is_refused(trees):
    with pytest.raises(InputError, match="hidden must be a multiple of 32, not 40"):
        Small().estimate(trees, dataclasses.replace(SETTINGS, hidden=40))
    with pytest.raises(InputError, match="fewer than two different pairs"):
        Small().estimate(derive(["a"], ["A"], ["0-0"]), SETTINGS)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("neural.links", lambda a: np.full_like(a, 1000)),
        ("neural.share", lambda a: a + 2),
        ("neural.shape", lambda a: a + 1),
        ("neural.source", lambda a: a[:-1]),
        ("neural.output", lambda a: a * math.nan),
        ("neural.hidden", lambda a: a[:, 1:]),
    ],
)
def test_damaged_arrays_are_refused_by_python_and_kernel(model, tmp_path, name, change):
    model.save(tmp_path / "a")
    arrays, metadata = tensors.load(tmp_path / "a", "model")
    with pytest.raises(ValueError, match="neural"):
        NeuralModel.from_arrays(arrays | {name: change(arrays[name])})
    del metadata["checksum"]
    tensors.save(tmp_path / "b", arrays | {name: change(arrays[name])}, metadata)
    with pytest.raises(InputError, match="neural"):
        Model(tmp_path / "b")
    missing = dict(arrays)
    del missing[name]
    tensors.save(tmp_path / "c", missing, metadata)
    if name != "neural.shape":
        with pytest.raises(InputError, match="neural"):
            Model(tmp_path / "c")


RULES = [
    "a1 ||| A1",
    "a1 ||| B1 q",
    "a2 ||| A2",
    "a3 ||| B3",
    "a2 a1 ||| A1 other B2",
    "[X,1] a1 ||| q A1 [X,1]",
    "[X,1] a2 [X,2] ||| [X,2] A2 [X,1] A1",
    "[X,1] [X,2] ||| [X,2] [X,1]",
    "a3 [X,1] ||| [X,1] q q",
    "new [X,1] ||| [X,1]",
]


@pytest.mark.parametrize("history", range(4))
def test_features_are_those_of_the_definition(trees, tmp_path, history):
    found = Small(history=history, epochs=2, min_word=1).estimate(trees, SETTINGS)
    table = rule_table(RULES)
    values = tuple(np.ones(((table.arity == k).sum(), *[1] * (k + 1))) for k in range(3))
    Parameters(table, values, np.ones(1), np.ones(1), neural=found.neural).save(tmp_path / "m")
    model = Model(tmp_path / "m")
    grammar, plain = model.grammar(), PlainNeural(found.neural)
    rows = [{word: first + k for k, word in enumerate(found.neural.words[s])} for s, first in ((0, 3), (1, 4))]
    options, applications, seen = FeatureOptions(names=("neural",)), 0, set()
    assert not options.need_inference
    for seed in range(6):
        words = np.random.default_rng(seed).choice(["a1", "a2", "a3", "new", "unseen"], 5).tolist()
        forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, True, 1, S))
        values = Binding(model, grammar).features(forest, None, options)
        sentence = [rows[0].get(word, 0) for word in words]
        for edge in range(forest.n_edges):
            head, tails = forest.edge_head[edge], [t for t in forest.edge_tail[edge].tolist() if t >= 0]
            begin, spans = int(forest.node_span[head][0]), forest.node_span[tails].tolist()
            for application in range(*forest.edge_apps[edge : edge + 2]):
                rule = int(forest.app_rule[application])
                seen.add(min(rule, len(grammar)))
                if forest.node_cat[head] != X:
                    expected = (0, 0, 0)
                elif rule < len(grammar):
                    sides = [
                        [s if s < 0 else rows[k].get(grammar.vocab.word(s), 0) for s in side]
                        for k, side in enumerate((grammar.src(rule), grammar.tgt(rule)))
                    ]
                    expected = plain.application(sentence, *sides, begin, spans)
                else:  # passed through, and linked to itself
                    word = rows[1].get(words[begin], 0)
                    expected = plain.passed(sentence, begin, word)
                assert values[application] == pytest.approx(expected, abs=1e-4)
                applications += 1
    assert applications > 150 and len(seen) == len(RULES) + 1


def test_lattices_have_no_places(model, tmp_path):
    table = rule_table(RULES)
    values = tuple(np.ones(((table.arity == k).sum(), *[1] * (k + 1))) for k in range(3))
    Parameters(table, values, np.ones(1), np.ones(1), neural=model.neural).save(tmp_path / "m")
    bound = Model(tmp_path / "m")
    grammar = bound.grammar()
    arcs = np.array([[k, k + 1, word] for k, word in enumerate(grammar.vocab.add_line("a1 a2 a1"))], np.int32)
    forest = grammar.parse_lattice(arcs, 4, ParseOptions(9, False, 1, X))
    assert not Binding(bound, grammar).features(forest, None, FeatureOptions(names=("neural",))).any()


def test_models_without_a_network_are_refused(tmp_path):
    Parameters.without_rules().save(tmp_path / "m")
    with pytest.raises(
        InputError, match="no neural network, which NeuralSource needs; estimate the model with --neural"
    ):
        Model(tmp_path / "m").check_features(FeatureOptions(names=("neural",)))


def test_the_command_copies_a_network(trees, model, tmp_path, capsys):
    trees.save(tmp_path / "deriv")
    model.save(tmp_path / "neural")
    line = [
        "estimate",
        "clusters",
        str(tmp_path / "deriv"),
        "-m",
        "2",
        "--iterations",
        "1",
        "-o",
        str(tmp_path / "both"),
    ]
    assert main([*line, "--neural", str(tmp_path / "neural")]) == 0
    both = Parameters.load(tmp_path / "both")
    assert both.rank == 2 and both.neural.words == model.neural.words
    Parameters.without_rules().save(tmp_path / "none")
    assert main([*line, "--neural", str(tmp_path / "none")]) == 1
    assert "no neural network; name a model of lscfg estimate neural" in capsys.readouterr().err
