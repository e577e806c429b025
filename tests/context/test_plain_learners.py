"""Each low-dimensional context model against a plain version of its learner: loops, dictionaries and dense matrices.

The bases come from ``correlate``, which ``test_cca.py`` compares with eigenvalue problems.
"""

from collections import Counter, defaultdict

import numpy as np
import pytest

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import Task
from lscfg.extract.derive import derive
from lscfg.extract.phrases import phrase_tokens


@pytest.fixture(scope="module")
def corpus():
    """b is B, C or D and d is D or E, by words on both sides, which do not decide alone."""
    rng = np.random.default_rng(5)
    source, target = [], []
    for _ in range(60):
        topic, middle = int(rng.integers(3)), str(rng.choice(["b", "d"]))
        other = topic if rng.random() < 0.8 else int(rng.integers(3))
        source.append(f"{'pqr'[topic]}{rng.integers(2)} {middle} {'pqr'[topic]}{rng.integers(3)}")
        word = "BCD"[other] if middle == "b" else "DE"[other > 0]
        left, _, right = source[-1].upper().split()
        target.append(f"{left} {word} {right}")
    return derive(source, target, ["0-0 1-1 2-2"] * 60), source


def learned(name, corpus, **settings):
    """The task, the settings and the fitted model of a learner."""
    derivations, source = corpus
    model = CONTEXT_MODELS[name]
    chosen = model.Settings(window=1, min_word=1, seed=7, **settings)
    task = Task.of(phrase_tokens(derivations), source, chosen)
    return task, chosen, model.fit(task, chosen)


def options_of(task):
    """The tokens with a choice, and the rows that each may have."""
    sides = defaultdict(list)
    for row, rule in enumerate(task.scored.tolist()):
        sides[int(task.tokens.rules.source_id[rule])].append(row)
    own = [int(task.row[rule]) for rule in task.tokens.places[:, 0]]
    side = [int(task.tokens.rules.source_id[rule]) for rule in task.tokens.places[:, 0]]
    asked = [token for token in range(len(own)) if own[token] >= 0 and len(sides[side[token]]) > 1]
    return asked, [sides[side[token]] for token in asked], [own[token] for token in asked]


def counts_of(task):
    """Counts of the tokens whose outcome is the row."""
    return Counter(int(task.row[rule]) for rule in task.tokens.places[:, 0])


def errors_of(loss, scores, counts, right):
    """The derivative of a loss by the score of each option."""
    if loss == "softmax":
        weights = np.exp(scores + np.log(counts))
        return weights / weights.sum() - right
    costs = np.where(right, 0, -(counts + 1) * len(counts) / counts[~right].sum())
    return scores - (right if loss == "indicators" else costs)


class Steps:
    """AdaGrad: each parameter divides its gradients by the root of the sum of their squares (Duchi et al. 2011)."""

    def __init__(self, rate):
        self.rate, self.squares = rate, defaultdict(float)

    def move(self, values, place, gradient, penalty):
        gradient = gradient + penalty * values[place]
        self.squares[id(values), place] += gradient**2
        values[place] = values[place] - self.rate * gradient / np.sqrt(self.squares[id(values), place] + 1e-8)


def by_steps(task, contexts, loss, settings, layer=None, spread=False):
    """One step for each token; returns weights of the rules and biases, and the hidden layer with its bias."""
    asked, options, own = options_of(task)
    counts, visits = counts_of(task), Counter(row for rows in options for row in rows)
    width = contexts.shape[1] if layer is None else len(layer)
    rules, bias = np.zeros((task.rows, width)), np.zeros(task.rows)
    layer_bias = None if layer is None else np.zeros(len(layer))
    steps, random = Steps(settings.rate), np.random.default_rng(settings.seed)
    for _ in range(settings.passes):
        for token in random.permutation(len(asked)).tolist():
            context, rows = contexts[token], options[token]
            values = context if layer is None else np.tanh(layer @ context + layer_bias)
            seen = np.array([max(counts[row], 0.5) for row in rows])
            errors = errors_of(loss, rules[rows] @ values + bias[rows], seen, np.array(rows) == own[token])
            below = errors @ rules[rows]
            for row, error in zip(rows, errors.tolist(), strict=True):
                penalty = settings.penalty / visits[row] if spread else settings.penalty
                for k in range(width):
                    steps.move(rules, (row, k), error * values[k], penalty)
                steps.move(bias, row, error, penalty)
            if layer is not None:
                below *= 1 - values**2
                for h in range(len(layer)):
                    for k in range(len(context)):
                        steps.move(layer, (h, k), below[h] * context[k], settings.penalty)
                    steps.move(layer_bias, h, below[h], settings.penalty)
    return rules, bias, layer, layer_bias


def standardised(task, basis):
    """Contexts of the tokens with a choice; over all tokens each dimension has mean 0 and variance 1."""
    every = task.views.matrix.toarray() @ basis
    return ((every - every.mean(axis=0)) / every.std(axis=0))[options_of(task)[0]]


def scores_of(task, fitted):
    """The scores of the fitted model for all options of all tokens."""
    asked, options, _ = options_of(task)
    tokens = np.repeat(asked, [len(rows) for rows in options])
    return fitted.scores(task.views.matrix[tokens], np.concatenate(options))


def plain_scores(task, contexts, rules, bias, layer=None, layer_bias=None):
    values = contexts if layer is None else np.tanh(contexts @ layer.T + layer_bias)
    rows_of = options_of(task)[1]
    return np.concatenate([rules[rows] @ value + bias[rows] for value, rows in zip(values, rows_of, strict=True)])


def glorot(shape, seed):
    """Start weights of tanh units (Glorot and Bengio 2010)."""
    limit = np.sqrt(6 / sum(shape))
    return np.random.default_rng(seed).uniform(-limit, limit, shape)


@pytest.mark.parametrize("costs", ["uniform", "frequency"])
@pytest.mark.parametrize("name", ["ls-online", "mlp"])
def test_squared_losses(corpus, name, costs):
    hidden = {"hidden": 3} if name == "mlp" else {}
    task, settings, fitted = learned(name, corpus, k=2, passes=3, rate=0.05, penalty=1e-3, costs=costs, **hidden)
    contexts = standardised(task, task.basis(settings))
    layer = glorot((3, contexts.shape[1]), 7) if hidden else None
    found = by_steps(task, contexts, "indicators" if costs == "uniform" else "costs", settings, layer)
    assert scores_of(task, fitted) == pytest.approx(plain_scores(task, contexts, *found), abs=1e-9)
    assert np.abs(found[0]).max() > 0.05


def test_softmax(corpus):
    task, settings, fitted = learned("softmax", corpus, k=2, passes=3, rate=0.1, penalty=20.0)
    contexts = standardised(task, task.basis(settings))
    found = by_steps(task, contexts, "softmax", settings, spread=True)
    assert scores_of(task, fitted) == pytest.approx(plain_scores(task, contexts, *found), abs=1e-9)
    assert np.abs(found[0]).max() > 0.05


def test_residual(corpus):
    """The directions are singular vectors of a dense matrix, token by token and option by option."""
    task, settings, fitted = learned("residual", corpus, k=3, passes=2, rate=0.1, penalty=20.0, smoothing=5.0)
    asked, options, own = options_of(task)
    counts, residuals = counts_of(task), np.zeros((len(asked), task.rows))
    for token, rows in enumerate(options):
        total = sum(counts[row] for row in rows)
        for row in rows:
            residuals[token, row] = (row == own[token]) - counts[row] / total
    items = task.views.matrix.toarray()[asked]
    scales = [1 / np.sqrt((matrix**2).sum(axis=0) + 5.0) for matrix in (items, residuals)]
    cross = scales[0][:, None] * (items.T @ residuals) * scales[1]
    basis = scales[0][:, None] * np.linalg.svd(cross)[0][:, :3]
    contexts = standardised(task, basis)
    found = by_steps(task, contexts, "softmax", settings, spread=True)
    assert scores_of(task, fitted) == pytest.approx(plain_scores(task, contexts, *found), abs=1e-6)


def shared_space(task, settings):
    """Directions of D_c^-1/2 C'Z D_z^-1/2 from dense matrices: values of the tokens, and of the rules."""
    contexts = task.views.matrix.toarray() @ task.basis(settings)
    indicators = np.zeros((len(contexts), task.rows))
    for token, rule in enumerate(task.tokens.places[:, 0].tolist()):
        if task.row[rule] >= 0:
            indicators[token, task.row[rule]] = 1
    scales = [1 / np.sqrt((matrix**2).sum(axis=0) + settings.ridge) for matrix in (contexts, indicators)]
    u, _, vt = np.linalg.svd(scales[0][:, None] * (contexts.T @ indicators) * scales[1], full_matrices=False)
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])[: settings.m]
    left, right = u[:, : settings.m] * signs, vt[: settings.m].T * signs
    vectors = task.basis(settings) @ (scales[0][:, None] * left)
    return task.views.matrix @ vectors, scales[1][:, None] * right


def unit(values):
    """Rows of length 1; those of zeros stay."""
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-300)


def test_cca(corpus):
    task, settings, fitted = learned("cca", corpus, k=2, m=2, ridge=0.5)
    contexts, rules = map(unit, shared_space(task, settings))
    asked, options, _ = options_of(task)
    expected = [float(contexts[token] @ rules[row]) for token, rows in zip(asked, options, strict=True) for row in rows]
    assert scores_of(task, fitted) == pytest.approx(expected, abs=1e-9)


def test_cca_mm(corpus):
    """Sixteen tokens make a step; the right rule counts as often as there are others."""
    task, settings, fitted = learned("cca-mm", corpus, k=2, m=2, hidden=3, passes=2, rate=0.05, penalty=1e-3)
    every, rules = map(unit, shared_space(task, settings))
    asked, options, own = options_of(task)
    contexts = every[asked]
    values = {"hidden": glorot((3, 2), 7), "other": glorot((3, 2), 8), "out": glorot((1, 3), 9)[0]}
    values |= {"hidden_bias": np.zeros(3), "bias": np.zeros(1)}
    squares = {name: np.zeros_like(value) for name, value in values.items()}
    random = np.random.default_rng(7)

    def layer_of(context, row):
        return np.tanh(values["hidden"] @ context + values["other"] @ rules[row] + values["hidden_bias"])

    for _ in range(settings.passes):
        order = random.permutation(len(asked)).tolist()
        for begin in range(0, len(order), 16):
            gradient = {name: np.zeros_like(value) for name, value in values.items()}
            for token in order[begin : begin + 16]:
                for row in options[token]:
                    right = row == own[token]
                    layer = layer_of(contexts[token], row)
                    share = 1 / (1 + np.exp(-(layer @ values["out"] + values["bias"][0])))
                    along = (len(options[token]) - 1 if right else 1) * (share - right)
                    below = along * values["out"] * (1 - layer**2)
                    gradient["out"] += along * layer
                    gradient["bias"] += along
                    gradient["hidden_bias"] += below
                    gradient["hidden"] += np.outer(below, contexts[token])
                    gradient["other"] += np.outer(below, rules[row])
            for name, value in values.items():
                visited = gradient[name] != 0  # contexts of unknown words are zeros
                along = gradient[name] + settings.penalty * value * visited
                squares[name] += along**2
                value -= settings.rate * along / np.sqrt(squares[name] + 1e-8)
    expected = [
        float(layer_of(context, row) @ values["out"] + values["bias"][0])
        for context, rows in zip(contexts, options, strict=True)
        for row in rows
    ]
    assert scores_of(task, fitted) == pytest.approx(expected, abs=1e-7)
    assert np.ptp(expected) > 0.05


@pytest.mark.parametrize("costs", ["uniform", "frequency"])
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("sentence", [False, True])
def test_mlr(corpus, norm, costs, sentence):
    """A weight for each rule and word, visited for each repetition; the penalty of sizes stops at 0."""
    more = {"norm": norm, "costs": costs, "sentence": sentence}
    task, settings, fitted = learned("mlr", corpus, passes=3, rate=0.1, penalty=1e-2, **more)
    asked, options, own = options_of(task)
    counts, items = counts_of(task), task.views.matrix[asked]
    assert items.data.max() == 1 + sentence
    around = [
        [*np.repeat(one.indices, one.data.astype(int)).tolist(), "bias"]
        for one in (items[token] for token in range(len(asked)))
    ]
    weights, squares = defaultdict(float), defaultdict(float)
    random = np.random.default_rng(7)
    for _ in range(settings.passes):
        for token in random.permutation(len(asked)).tolist():  # source sides share nothing: their order does not matter
            rows = options[token]
            scores = np.array([sum(weights[row, item] for item in around[token]) for row in rows])
            seen = np.array([max(counts[row], 0.5) for row in rows])
            loss = "indicators" if costs == "uniform" else "costs"
            errors = errors_of(loss, scores, seen, np.array(rows) == own[token])
            for row, error in zip(rows, errors.tolist(), strict=True):
                for item in around[token] if abs(error) > 1e-6 else ():
                    along = error + (settings.penalty * weights[row, item] if norm == "l2" else 0)
                    squares[row, item] += along**2
                    rate = settings.rate / np.sqrt(squares[row, item] + 1e-8)
                    weights[row, item] -= rate * along
                    if norm == "l1":
                        size = abs(weights[row, item]) - rate * settings.penalty
                        weights[row, item] = max(size, 0.0) * np.sign(weights[row, item])
    expected = [sum(weights[row, item] for item in around[token]) for token, rows in enumerate(options) for row in rows]
    assert scores_of(task, fitted) == pytest.approx(expected, abs=1e-9)


class Philox:
    """Uniform numbers of a seed (Salmon et al. 2011), as in ``plugin/base/random.h``."""

    def __init__(self, seed):
        self.key, self.counter, self.left = (seed & 0xFFFFFFFF, seed >> 32), 0, []

    def _block(self):
        (k0, k1), (c0, c1, c2, c3) = self.key, (self.counter & 0xFFFFFFFF, self.counter >> 32, 0, 0)
        for _ in range(10):
            a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
            c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & 0xFFFFFFFF, (a >> 32) ^ c3 ^ k1, a & 0xFFFFFFFF
            k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
        self.counter += 1
        return [c1 << 32 | c0, c3 << 32 | c2]

    def uniform(self):
        self.left = self.left or self._block()
        return (self.left.pop(0) >> 11) * 2.0**-53


@pytest.mark.parametrize(("score", "sample"), [("cosine", 0.0), ("dot", 0.1)])
def test_skip_grams(corpus, score, sample):
    """Skip-grams with negative samples (Mikolov et al. 2013), pair by pair, with the kernel's random numbers."""
    more = {"dims": 3, "passes": 2, "rate": 0.5, "negatives": 2, "score": score, "sample": sample}
    task, settings, fitted = learned("sg", corpus, **more)
    vocabulary = len(task.tokens.rules.words)
    words = (task.views.items % (vocabulary + 3)).tolist()  # with a beginning, an end and an unknown word
    plain = [word < vocabulary for word in words]
    names = sorted({word for word, is_word in zip(words, plain, strict=True) if is_word})
    tokens = [
        (int(task.row[rule]), [names.index(words[item]) for item in task.views.matrix[k].indices if plain[item]])
        for k, rule in enumerate(task.tokens.places[:, 0].tolist())
        if task.row[rule] >= 0
    ]
    counts = np.array([sum(around.count(word) for _, around in tokens) for word in range(len(names))], float)
    keep = np.minimum(1, np.sqrt(sample * counts.sum() / counts) + sample * counts.sum() / counts) if sample else None
    cumulative = np.cumsum(counts**0.75) / (counts**0.75).sum()
    random = np.random.default_rng(7)
    rules = random.uniform(-0.5, 0.5, (task.rows, 3)) / 3
    vectors = np.zeros((len(names), 3))
    for number in range(2):
        first, last = (settings.rate * (1 - (1 - 1e-4) * k / 2) for k in (number, number + 1))
        draws = Philox(7 + number)
        for place, token in enumerate(random.permutation(len(tokens)).tolist()):
            row, around = tokens[token]
            rate = first + (last - first) * place / len(tokens)
            for word in around:
                if keep is not None and keep[word] < 1 and draws.uniform() >= keep[word]:
                    continue
                move = np.zeros(3)
                for k in range(3):
                    other = word if k == 0 else int(np.searchsorted(cumulative[:-1], draws.uniform(), side="right"))
                    if k and other == word:
                        continue
                    along = rate * ((k == 0) - 1 / (1 + np.exp(-vectors[other] @ rules[row])))
                    move += along * vectors[other]
                    vectors[other] += along * rules[row]
                rules[row] += move
    by_word = {word: unit(vectors)[k] if score == "cosine" else vectors[k] for k, word in enumerate(names)}
    asked, options, _ = options_of(task)
    expected = []
    for token, rows in zip(asked, options, strict=True):
        around = sum(by_word[words[item]] for item in task.views.matrix[token].indices if plain[item])
        for row in rows:
            rule = rules[row] / np.linalg.norm(rules[row]) if score == "cosine" else rules[row]
            expected.append(float(around @ rule) / (np.linalg.norm(around) if score == "cosine" else 1))
    assert scores_of(task, fitted) == pytest.approx(expected, abs=1e-9)
