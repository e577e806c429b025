"""Scorers of target sides: least squares and gradients against references, planted truth, and bad input."""

import dataclasses
import json

import numpy as np
import pytest
from estimates import LOW_DIMENSIONAL, add_context_model, add_loglinear, estimate_mle
from helpers import add_context
from scipy import linalg

from lscfg.cli import main
from lscfg.context import ls
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import Task, ViewSettings
from lscfg.context.views import Look, Views, number_words
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.extract.phrases import phrase_tokens
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.write import write_lines
from lscfg.kernel import (
    CONTEXT_BEGIN,
    CONTEXT_END,
    CONTEXT_EXTRA_WORDS,
    CONTEXT_UNKNOWN,
    Binding,
    FeatureOptions,
    Grammar,
    Model,
    X,
)
from lscfg.kernel import ParseOptions as Parsing
from lscfg.kernel.context import ScoreTrainer, WeightsTrainer, skip_grams
from lscfg.model.parameters import Parameters

TOPICS = ("p", "q")


def topical(n, seed, words=4):
    """b is B or C by a hidden topic, which the words on both sides are of."""
    rng = np.random.default_rng(seed)
    source, target = [], []
    for _ in range(n):
        topic = int(rng.integers(2))
        left, right = (f"{TOPICS[topic]}{rng.integers(words)}" for _ in range(2))
        source.append(f"{left} b {right}")
        target.append(f"{left.upper()} {'BC'[topic]} {right.upper()}")
    return source, target, ["0-0 1-1 2-2"] * n


@pytest.fixture(scope="module")
def planted():
    text = topical(300, 1)
    return derive(*text), text[0]


SMALL = {"window": 1, "min_word": 1}


def task_of(planted, settings=None):
    derivations, source = planted
    return Task.of(phrase_tokens(derivations), source, settings or ViewSettings(**SMALL))


def test_views_by_hand():
    """a x b c over two sentences; the word x is rare at its distance."""
    source, target, links = (
        ["a b c", "b a", "x a c"],
        ["A B C", "B A2", "X A C"],
        ["0-0 1-1 2-2", "0-0 1-1", "0-0 1-1 2-2"],
    )
    tokens = phrase_tokens(derive(source, target, links))
    task = Task.of(tokens, source, ViewSettings(window=2, min_word=2, min_count=1))
    vocabulary = task.tokens.rules.words
    names = {
        len(vocabulary) + k: name
        for k, name in ((CONTEXT_BEGIN, "<s>"), (CONTEXT_END, "</s>"), (CONTEXT_UNKNOWN, "<unk>"))
    }
    base, found = len(vocabulary) + CONTEXT_EXTRA_WORDS, []
    for token in range(len(task.tokens.places)):
        items = task.views.items[task.views.matrix[token].indices]
        found.append(
            {
                ("LR"[item // (2 * base)], int(item // base % 2) + 1, names.get(item % base) or vocabulary[item % base])
                for item in items.tolist()
            }
        )
    assert {task.tokens.rules.src_text(rule) for rule in task.tokens.places[:, 0]} == {"a"}
    assert found[0] == {("L", 1, "<s>"), ("R", 1, "<unk>"), ("R", 2, "<unk>")}
    assert found[1] == {("L", 1, "<unk>"), ("L", 1, "<s>"), ("R", 1, "</s>")}
    assert found[2] == {("L", 1, "<unk>"), ("L", 1, "<s>"), ("R", 1, "<unk>"), ("R", 1, "</s>")}
    assert task.views.split == sum(item < 2 * base for item in task.views.items)


def test_words_of_the_sentence_by_hand():
    """Of a sentence's words c is too rare; each place has them all, as often as they are there."""
    words = number_words(["a b a", "b a c"], ["a", "b", "c"])
    places = np.array([[0, 0, 1], [1, 1, 2]])
    plain, views = (Views.of(words, 3, places, Look(1, False, 2, sentence)) for sentence in (False, True))
    n = len(plain.items)
    assert views.items[:n].tolist() == plain.items.tolist() and views.split == plain.split
    assert (views.items[n:] - 2 * (3 + CONTEXT_EXTRA_WORDS)).tolist() == [0, 1, 3 + CONTEXT_UNKNOWN]
    assert views.matrix[:, :n].toarray().tolist() == plain.matrix.toarray().tolist()
    assert views.matrix[:, n:].toarray().tolist() == [[2, 1, 0], [1, 1, 1]]
    other = views.matrix_of(number_words(["c b d", "a"], ["a", "b", "c"]), 3, np.array([[0, 2, 3], [1, 0, 1]]))
    assert other[:, n:].toarray().tolist() == [[0, 1, 2], [1, 0, 0]]


@pytest.mark.parametrize("name", ["residual", "mlr"])
def test_scorers_of_the_sentence_see_what_the_window_does_not(name):
    """The topic of b is three words away."""
    source, target, links = topical(300, 2)
    source = [f"{line.split()[0]} x x b" for line in source]
    target = [f"{line.split()[0]} X X {line.split()[1]}" for line in target]
    derivations = derive(source, target, ["0-0 1-1 2-2 3-3"] * len(links))
    tokens, learner = phrase_tokens(derivations, 1), CONTEXT_MODELS[name]
    more = {"k": 1} if name == "residual" else {}
    first = []
    for sentence in (False, True):
        settings = learner.Settings(**SMALL, sentence=sentence, **more)
        task = Task.of(tokens, source, settings)
        asked = task.asked(task.used)
        choices, rows = task.choices(asked)
        fitted = learner.fit(task, settings)
        scores = fitted.scores(task.views.matrix[np.repeat(asked, choices.sizes)], rows)
        first.append((choices.ranks(scores) == 1).mean())
    assert first[0] < 0.7 and first[1] > 0.95


def test_least_squares_is_the_augmented_system(planted):
    settings = ls.LSSettings(**SMALL, k=3, ridge=0.7)
    task = task_of(planted)
    fitted = ls.LeastSquares().fit(task, settings)
    contexts = np.column_stack([task.contexts(settings), np.ones(len(task.own))])
    indicators = np.zeros((len(task.own), task.rows))
    indicators[np.nonzero(task.own >= 0)[0], task.own[task.own >= 0]] = 1
    system = np.vstack([contexts, np.sqrt(0.7) * np.eye(7)])
    beta = np.linalg.lstsq(system, np.vstack([indicators, np.zeros((7, task.rows))]), rcond=None)[0]
    assert np.column_stack([fitted.rules, fitted.bias]) == pytest.approx(beta.T, abs=1e-8)


def test_least_squares_are_correlations_times_counts():
    """beta = Phi_c Sigma Phi_z' (Z'Z + gamma I) with the contexts whitened exactly: why LS repeats frequencies."""
    rng = np.random.default_rng(3)
    contexts, indicators = rng.normal(size=(50, 4)), np.eye(3)[rng.integers(3, size=50)]
    gram, counts = contexts.T @ contexts + 0.5 * np.eye(4), indicators.T @ indicators + 0.2 * np.eye(3)
    beta = np.linalg.solve(gram, contexts.T @ indicators)
    half, scale = np.linalg.cholesky(gram), 1 / np.sqrt(np.diag(counts))
    u, sigma, vt = np.linalg.svd(linalg.solve_triangular(half, contexts.T @ indicators, lower=True) * scale, False)
    phi_c, phi_z = linalg.solve_triangular(half, u, lower=True, trans="T"), scale[:, None] * vt.T
    assert phi_c * sigma @ phi_z.T @ counts == pytest.approx(beta, abs=1e-12)


@pytest.mark.parametrize("loss", ["softmax", "indicators", "costs", "match"])
@pytest.mark.parametrize("hidden", [0, 3])
def test_gradients_are_those_of_the_losses(loss, hidden):
    if loss == "match" and not hidden:
        return
    rng = np.random.default_rng(5)
    first, size = np.array([0, 0, 3, 3]), np.array([3, 3, 2, 2])
    vectors = rng.normal(size=(5, 4)) if loss == "match" else None
    trainer = ScoreTrainer(
        loss,
        rng.normal(size=(4, 4)),
        np.array([0, 2, 3, 4]),
        first,
        size,
        rng.uniform(1, 9, 5),
        hidden,
        vectors=vectors,
    )
    trainer.parameters[:] = rng.normal(size=len(trainer.parameters))
    order = np.array([3, 0, 2, 1])
    total, gradient = trainer.gradient(order)
    assert total == pytest.approx(reference_loss(trainer, loss, hidden, vectors))
    for k in range(len(gradient)):
        values = []
        for step in (1e-5, -2e-5):
            trainer.parameters[k] += step
            values.append(trainer.gradient(order)[0])
        trainer.parameters[k] += 1e-5
        assert gradient[k] == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-5, abs=1e-6), k


def reference_loss(trainer, loss, hidden, vectors):
    parts, total = trainer.parts(), 0.0
    for token, context in enumerate(trainer.contexts):
        rows = np.arange(trainer.first[token], trainer.first[token] + trainer.size[token])
        right, counts = rows == trainer.own[token], trainer.counts[rows]
        if loss == "match":
            layer = np.tanh(parts["hidden"] @ context + vectors[rows] @ parts["other"].T + parts["hidden_bias"])
            scores = layer @ parts["out"] + parts["bias"][0]
            weights = np.where(right, len(rows) - 1, 1)
            total += (weights * np.log1p(np.exp(np.where(right, -scores, scores)))).sum()
            continue
        layer = np.tanh(parts["hidden"] @ context + parts["hidden_bias"]) if hidden else context
        scores = parts["rules"][rows] @ layer + parts["bias"][rows]
        if loss == "softmax":
            scores = scores + np.log(counts)
            total += np.log(np.exp(scores).sum()) - scores[right][0]
        else:
            costs = np.where(right, 0, -(counts + 1) * len(rows) / counts[~right].sum())
            total += ((scores - (right if loss == "indicators" else costs)) ** 2).sum() / 2
    return total


def weights_trainer(loss="indicators", **more):
    """Four tokens of two source sides with three and two rules, and two and three items."""
    items, begin = np.array([0, 1, 1, 0, 2, 2, 1]), np.array([0, 2, 3, 5, 7])
    first, size, own = np.array([0, 0, 3, 3]), np.array([3, 3, 2, 2]), np.array([0, 2, 3, 4])
    offsets = np.array([0, 2, 4, 6, 9, 12])
    return WeightsTrainer(loss, begin, items, own, first, size, np.arange(1.0, 6), offsets, **more)


@pytest.mark.parametrize("loss", ["softmax", "indicators", "costs"])
def test_gradients_of_weights_are_those_of_the_losses(loss):
    """A weight for each item is a linear score of contexts that count the items."""
    rng, trainer = np.random.default_rng(4), weights_trainer(loss)
    trainer.parameters[:] = rng.normal(size=12)
    dense = np.zeros((4, 3))
    for token in range(4):
        np.add.at(dense[token], trainer.items[slice(*trainer.begin[token : token + 2])], 1)
    reference = ScoreTrainer(loss, dense, trainer.own, trainer.first, trainer.size, trainer.counts)
    for row in range(5):
        own = trainer.parameters[slice(*trainer.offsets[row : row + 2])]
        reference.parts()["rules"][row, : len(own)] = own
    order = np.array([3, 0, 2, 1])
    total, gradient = trainer.gradient(order)
    expected, expected_gradient = reference.gradient(order)
    assert total == pytest.approx(expected) == pytest.approx(reference_loss(reference, loss, 0, None))
    rows = expected_gradient[:15].reshape(5, 3)
    assert gradient == pytest.approx(np.concatenate([rows[:3, :2].ravel(), rows[3:].ravel()]), abs=1e-9)


def test_steps_of_weights():
    """AdaGrad's first step has the length of the rate; a penalty of sizes ends at 0, one of squares before it."""
    order = np.arange(4)
    for absolute in (False, True):
        trainer = weights_trainer(absolute=absolute, penalty=1e-3)
        trainer.learn(order[:1])
        assert trainer.parameters[:6] == pytest.approx([0.1, 0.1, 0, 0, 0, 0], abs=2e-4)
    kept = []
    for absolute in (False, True):
        trainer = weights_trainer(absolute=absolute, penalty=1.0)
        for _ in range(20):
            trainer.learn(order)
        kept.append(np.count_nonzero(trainer.parameters))
    assert kept == [10, 0]  # the two weights of a row that is never right stay where they are


def test_bad_weights():
    fine = weights_trainer()
    wanted = {"begin": fine.begin[:-1], "items": fine.items + 2, "own": fine.own + 5, "offsets": fine.offsets[:-1]}
    wanted |= {"counts": fine.counts[:-1], "size": fine.size + 1}
    for name, value in wanted.items():
        with pytest.raises(ValueError, match=r"fit|beyond"):
            dataclasses.replace(fine, **{name: value})


def test_online_least_squares_tend_to_least_squares():
    """Of one source side with all rules as options, the rate falling."""
    rng = np.random.default_rng(6)
    contexts, own = rng.normal(size=(200, 3)), rng.integers(4, size=200)
    trainer = ScoreTrainer("indicators", contexts, own, np.zeros(200, int), np.full(200, 4), np.ones(4), 0, 0.1)
    for number in range(300):
        trainer.learn(rng.permutation(200))
        trainer._problem.rate = 0.1 / (1 + number)
    expected = np.linalg.lstsq(np.column_stack([contexts, np.ones(200)]), np.eye(4)[own], rcond=None)[0].T
    assert trainer.parts()["rules"] == pytest.approx(expected[:, :3], abs=5e-3)
    assert trainer.parts()["bias"] == pytest.approx(expected[:, 3], abs=5e-3)


def test_skip_grams_converge_to_mutual_information():
    """v_c . v_p = log(n n_pc / (n_p n_c)) - ln 5 where the dimensions suffice (Levy & Goldberg 2014)."""
    rng = np.random.default_rng(7)
    counts = np.array([[30, 10, 20], [5, 25, 10]])
    pairs_ = np.repeat([(p, c) for p in range(2) for c in range(3)], counts.ravel(), axis=0)
    vectors = rng.uniform(-0.1, 0.1, (2, 4)), np.zeros((3, 4))
    keep, wrong = np.ones(3), counts.sum(axis=0).astype(float)
    means = np.zeros((2, 3))
    for number in range(900):
        order = rng.permutation(len(pairs_))
        rate = 0.02 if number < 300 else 0.004
        begin = np.arange(len(pairs_) + 1)
        skip_grams(pairs_[order, 0], begin, pairs_[order, 1], keep, wrong, vectors, (rate, rate), 5, number)
        means += vectors[0] @ vectors[1].T / 400 if number >= 500 else 0
    # a wrong word that is the right one is passed over: of 5 samples the share of other words counts
    chance = np.outer(counts.sum(axis=1), wrong) / counts.sum()
    expected = np.log(counts / (5 * (chance - counts * wrong / counts.sum())))
    assert means == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize(
    ("name", "whiten"), [*((name, "diag") for name in LOW_DIMENSIONAL), ("cca", "gcca"), ("softmax", "gcca")]
)
def test_each_kind_finds_the_topic(tmp_path, planted, name, whiten):
    """Of one dimension a side, and as the kernel has it; the same bytes with one thread and with two.

    Generalised correlation finds one dimension for each topic; of the other topic's words each is 0 up to rounding.
    """
    derivations, source = planted
    cls = CONTEXT_MODELS[name].Settings
    own = {field.name for field in dataclasses.fields(cls)}
    wanted = {**SMALL, "k": 1, "m": 1, "dims": 2, "passes": 12 if name == "sg" else 8, "hidden": 4, "rate": 0.1}
    wanted |= {"whiten": whiten} | ({"k": 2, "m": 2} if whiten == "gcca" else {})
    settings = cls(**{key: value for key, value in wanted.items() if key in own})
    for threads, file in enumerate(("one", "two"), 1):
        model = add_context_model(
            name, settings, estimate_mle(derivations), phrase_tokens(derivations), source, threads
        )
        model.save(tmp_path / file)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert model.about["sense"]["model"] == name
    loaded, text = Model(tmp_path / "one"), topical(100, 2)
    grammar = Grammar()
    grammar.read_text("[X] ||| b ||| B\n[X] ||| b ||| C\n[X] ||| [X,1] [X,2] ||| [X,1] [X,2]\n")
    grammar.finish()
    binding, ranks = Binding(loaded, grammar), []
    for line, target in zip(text[0], text[1], strict=True):
        forest = grammar.parse(grammar.vocab.add_line(line), Parsing(9, False, 1, X))
        features = binding.features(forest, None, FeatureOptions(names=("SenseRank", "SenseTarget0")))
        right = np.nonzero(forest.app_rule == (0 if " B " in target else 1))[0][0]
        ranks.append((features[right, 0], features[right, 1] > 0))
    assert np.mean(ranks, axis=0) == pytest.approx([1, 1], abs=0.03)


@pytest.mark.parametrize("name", ["cca-mm", "mlr"])
def test_scores_in_python_are_the_kernels(tmp_path, planted, name):
    """Calibration and decoding use equal scores."""
    derivations, source = planted
    cls = CONTEXT_MODELS[name].Settings
    settings = cls(**SMALL, k=2, m=2, hidden=3) if name == "cca-mm" else cls(**SMALL)
    task = task_of(planted, settings)
    fitted = CONTEXT_MODELS[name].fit(task, settings)
    asked = task.asked(task.used)[:20]
    choices, rows = task.choices(asked)
    found = fitted.scores(task.views.matrix[np.repeat(asked, choices.sizes)], rows)
    add_context_model(name, settings, estimate_mle(derivations), phrase_tokens(derivations), source).save(
        tmp_path / "m"
    )
    grammar = Grammar()
    grammar.read_text("[X] ||| b ||| B\n[X] ||| b ||| C\n[X] ||| [X,1] [X,2] ||| [X,1] [X,2]\n")
    grammar.finish()
    binding = Binding(Model(tmp_path / "m"), grammar)
    for k, token in enumerate(asked.tolist()):
        forest = grammar.parse(grammar.vocab.add_line(source[task.tokens.places[token, 1]]), Parsing(9, False, 1, X))
        scores = binding.features(forest, None, FeatureOptions(names=("SenseScore",)))[:, 0]
        by_rule = {
            task.tokens.rules.tgt_text(task.scored[row]): found[choices.begin[k] + i]
            for i, row in enumerate(rows[choices.begin[k] : choices.begin[k + 1]].tolist())
        }
        for rule, target in enumerate("BC"):
            assert scores[forest.app_rule == rule] == pytest.approx([by_rule[target]], abs=1e-4)


def options(folder, planted, *words):
    derivations, source = planted
    derivations.save(folder / "d")
    write_lines(folder / "f", source)
    return add_context(folder, "--rules", "phrases", *words)


def test_command(tmp_path, planted, capsys):
    words = ("--model", "cca", "--set", "k=2", "--set", "m=3", "--set", "min_word=1")
    assert options(tmp_path, planted, *words) == 0
    model = Parameters.load(tmp_path / "m")
    assert (
        model.about["sense"]["m"] == 3
        and not len(model.context.weights)
        and model.context.low_dimensional.vectors.shape[1] == 2
    )
    assert options(tmp_path, planted, "--leave-out", "0.1") == 0
    (tmp_path / "m").rename(tmp_path / "plain")
    assert options(tmp_path, planted, "--model", "ls", "--set", "k=2", "--leave-out", "0.1") == 0
    model = Parameters.load(tmp_path / "m")
    assert len(model.context.weights) and model.context.low_dimensional.kind == "dot" and model.about["left out"] == 0.1
    assert model.about["left out of"] == len(phrase_tokens(planted[0]).places)
    assert json.dumps(model.about)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ls m=3", "--set m: m is a setting of cca, cca-mm only"),
        ("cca k=2 m=5", "m = 5 exceeds the"),
        ("ls k=0", "--set k: k must be at least 1, not 0"),
        ("ls k=99", "99 dimensions for views of"),
        ("ls window=0", "--set window: window must be at least 1"),
        ("ls gamma=-1", "--set gamma: gamma must be at least 0"),
        ("residual k=999", "999 dimensions for"),
        ("ls min_count=999", "no source side has two frequent target"),
        ("ls-online k=2 rate=1e200", "diverged"),
    ],
)
def test_bad_options(tmp_path, planted, capsys, words, message):
    model, *settings = words.split()
    given = [word for setting in settings for word in ("--set", setting)]
    assert options(tmp_path, planted, "--model", model, *given) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_bad_arrays():
    one = np.array([0])
    with pytest.raises(ValueError, match="do not fit"):
        ScoreTrainer("softmax", np.ones((1, 2)), np.array([3]), one, one + 1, np.ones(4))
    with pytest.raises(ValueError, match="beyond the rows"):
        ScoreTrainer("softmax", np.ones((1, 2)), one, one, one + 5, np.ones(4))
    with pytest.raises(ValueError, match="vectors"):
        ScoreTrainer("match", np.ones((1, 2)), one, one, one + 1, np.ones(4), 2)
    with pytest.raises(ValueError, match="rule out of range"):
        skip_grams(
            one + 9, np.array([0, 1]), one, np.ones(1), np.ones(1), (np.ones((1, 2)), np.ones((1, 2))), (0.1, 0.1), 1, 1
        )
    tokens = RuleTokens(phrase_tokens(derive(["a"], ["A"], ["0-0"])).rules, np.zeros((0, 8), np.int32))
    with pytest.raises(InputError, match="no source side has two frequent target sides"):
        Task.of(tokens, ["a"], ViewSettings())


def test_explanations_know_a_scorer_without_weights(tmp_path, planted, capsys):
    assert options(tmp_path, planted, "--model", "ls", "--set", "k=2") == 0
    assert main(["inspect", "sentence", str(tmp_path / "m"), planted[1][0], "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["parsed"]


def test_two_context_models_are_added_in_any_order(tmp_path, planted):
    derivations, source = planted[:2]
    tokens, settings = phrase_tokens(derivations, 1), ls.LSSettings(**SMALL, k=2)
    plain = estimate_mle(derivations)
    first = add_context_model("ls", settings, add_loglinear(plain, tokens, source), tokens, source)
    second = add_loglinear(add_context_model("ls", settings, plain, tokens, source), tokens, source)
    first.save(tmp_path / "first")
    second.save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    with pytest.raises(InputError, match="context model of other rules"):
        other = ["b x", "b y", "b x", "b z"]
        trees = derive(other, ["B X", "C Y", "B X", "D Z"], ["0-0 1-1"] * 4)
        add_loglinear(add_context_model("ls", settings, plain, tokens, source), phrase_tokens(trees), other)
