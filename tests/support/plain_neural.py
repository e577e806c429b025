"""The neural model in NumPy, in double precision: affiliation, values of rule applications, losses, gradients, Adam."""

from __future__ import annotations

import numpy as np

from lscfg.kernel.neural import (
    FERTILITIES,
    SOURCE_BEGIN,
    SOURCE_END,
    TARGET_BEGIN,
    TARGET_END,
    TARGET_NONE,
    TARGET_UNKNOWN,
    NeuralShape,
)

MASK = (1 << 64) - 1


def mix(x: int) -> int:
    """The hash of the kernel (base/common.h)."""
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & MASK
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def activation(x):
    x = np.clip(x, -5, 5)
    q = x * x
    return x * (135135 + q * (17325 + q * (378 + q))) / (135135 + q * (62370 + q * (3150 + q * 28)))


def activation_slope(x):
    q = x * x
    above, below = x * (135135 + 17325 * q + 378 * q**2 + q**3), 135135 + 62370 * q + 3150 * q**2 + 28 * q**3
    rise, fall = 135135 + 51975 * q + 1890 * q**2 + 7 * q**3, x * (124740 + 12600 * q + 168 * q**2)
    return np.where(abs(x) > 5, 0, (rise * below - above * fall) / below**2)


def dropout_mask(shape: NeuralShape, examples: int, noise: int) -> np.ndarray:
    """Factors of the hidden units, [examples, hidden]."""
    limit = int(shape.dropout * 65536)
    starts = [noise + k * shape.hidden + j for k in range(examples) for j in range(0, shape.hidden, 4)]
    bits = np.reshape([mix(start & MASK) >> 16 * i & 0xFFFF for start in starts for i in range(4)], (examples, -1))
    return np.where(bits[:, : shape.hidden] < limit, 0, 65536 / (65536 - limit))


def loss_and_gradients(shape, parameters, inputs, labels, words, mask):
    """The loss of a batch, and its gradients by the names of arrays."""
    parts = shape.split(parameters)
    gradients = shape.split(flat := np.zeros_like(parameters))
    vectors = np.concatenate(
        (parts["source"][inputs[:, : shape.window]], parts["target"][inputs[:, shape.window :]]), 1
    ).reshape(len(inputs), -1)
    z = vectors @ parts["hidden"].T + parts["hidden.bias"]
    units, back = activation(z) * mask, np.zeros_like(z)
    loss = 0.0
    for name, own, penalty, factor in (
        ("output", slice(0, words), shape.penalty, 1),
        ("fertility", slice(words, None), 0, shape.fertility),
    ):
        scores = units[own] @ parts[name].T + parts[f"{name}.bias"]
        log_z = np.log(np.exp(scores).sum(1))
        right = np.eye(len(parts[name]))[labels[own]]
        loss += factor / words * (log_z - (scores * right).sum(1) + penalty * log_z**2).sum()
        slope = factor / words * (np.exp(scores - log_z[:, None]) * (1 + 2 * penalty * log_z[:, None]) - right)
        gradients[name][:] = slope.T @ units[own]
        gradients[f"{name}.bias"][:] = slope.sum(0)
        back[own] = slope @ parts[name]
    back *= mask * activation_slope(z)
    gradients["hidden"][:] = back.T @ vectors
    gradients["hidden.bias"][:] = back.sum(0)
    below = (back @ parts["hidden"]).reshape(len(inputs), -1, shape.dims)
    np.add.at(gradients["source"], inputs[:, : shape.window], below[:, : shape.window])
    np.add.at(gradients["target"], inputs[:, shape.window :], below[:, shape.window :])
    return loss, flat


def adam(parameters, gradient, first, second, rate, step):
    """Takes a step in place."""
    first[:] = 0.9 * first + 0.1 * gradient
    second[:] = 0.999 * second + 0.001 * gradient**2
    parameters -= rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)


def affiliate(share, source, target, begin, tails):
    """Places of the target symbols, and the numbers of linked words of the source symbols.

    Args:
        share: dict of pairs of rows, the source row of no word -1; tails: spans.
    """
    at, places, gaps = begin, [], iter(tails)
    for symbol in source:
        places.append(at)
        at = at + 1 if symbol >= 0 else next(gaps)[1]
    own = [k for k, symbol in enumerate(source) if symbol >= 0]
    links = {}
    for x, word in enumerate(target):
        if word < 0:
            continue
        best = max(own, key=lambda k: (share.get((source[k], word), 0), -k), default=None)
        value = 0 if best is None else share.get((source[best], word), 0)
        if value > 0 and value >= share.get((-1, word), 0):
            links[x] = best
    found = []
    for x, word in enumerate(target):
        place = None
        if x in links:
            place = places[links[x]]
        elif word >= 0:
            for distance in range(1, len(target)):
                for other, edge in ((x + distance, 0), (x - distance, 1)):
                    if place is None and 0 <= other < len(target):
                        if other in links:
                            place = places[links[other]]
                        elif target[other] < 0:
                            place = tails[-1 - target[other]][edge] - edge
            if place is None:
                place = places[own[0]] if own else begin
        found.append(-1 if place is None else place)
    counts = [sum(link == k for link in links.values()) for k in range(len(source))]
    return found, counts


def rule_rows(rule, rows):
    """Rows of both sides of a rule as in the JSON of derivations; nonterminals as -1, -2 on the target side.

    Args:
        rows: of the words of each side.
    """

    def of(side, side_rows, words):
        symbols = [-int(s[-2]) if s[0] == "[" and s[-3:-2] == "," else side_rows.get(s, 0) for s in side.split()]
        assert sum(symbol >= 0 for symbol in symbols) == len(words)
        return symbols

    return [of(rule[side], rows[k], rule[f"{side}_words"]) for k, side in enumerate(("source", "target"))]


def plain_places(plain, rows, rule, rules):
    """Places of the words of a rule of a derivation."""
    tails = [tuple(rules[child]["span"]) for child in rule["children"]]
    if rule["source"] == rule["target"] and not tails:
        return rule["source_words"]
    source, target = rule_rows(rule, rows)
    places, _ = affiliate(plain.share, source, target, rule["span"][0], tails)
    return [place for place, symbol in zip(places, target, strict=True) if symbol >= 0]


def plain_contexts(plain, rows, sentence, derivation):
    """Place, rows of all target words before, the last one first, and row of each word of a translation and its end."""
    target = [rows[1].get(word, TARGET_UNKNOWN) for word in derivation["translation"].split()]
    places = [*[0] * len(target), len(sentence)]
    for rule in derivation["rules"]:
        for at, place in zip(rule["target_words"], plain_places(plain, rows, rule, derivation["rules"]), strict=True):
            places[at] = place
    for k, word in enumerate([*target, TARGET_END]):
        yield places[k], [*target[:k][::-1], *[TARGET_BEGIN] * plain.model.history], word


class PlainNeural:
    """Values of rule applications by a ``NeuralModel``."""

    def __init__(self, model):
        self.model, arrays = model, model.parameters
        self.parts = {name: array.astype(np.float64) for name, array in arrays.items() if array.dtype == np.float32}
        self.share = dict(zip(map(tuple, arrays["links"].tolist()), arrays["share"].tolist(), strict=True))

    def units(self, sentence, place, before):
        """Hidden units, given the source rows of a sentence and the target rows before, the last word first."""
        m, n = self.model, len(sentence)
        window = [
            SOURCE_BEGIN if k < 0 else SOURCE_END if k >= n else sentence[k]
            for k in range(place - m.reach, place + m.reach + 1)
        ]
        before = [*before, *[TARGET_NONE] * m.history][: m.history]
        vectors = [*self.parts["source"][window], *self.parts["target"][before]]
        return activation(self.parts["hidden"] @ np.concatenate(vectors) + self.parts["hidden.bias"])

    def score(self, sentence, place, before, word):
        return self.parts["output"][word] @ self.units(sentence, place, before) + self.parts["output.bias"][word]

    def passed(self, sentence, place, word):
        """The three features of a word that is passed through, and linked to itself."""
        scores = self.parts["fertility"] @ self.units(sentence, place, []) + self.parts["fertility.bias"]
        value = self.score(sentence, place, [], word)
        return value, value, scores[1] - np.log(np.exp(scores).sum())

    def application(self, sentence, source, target, begin, tails):
        """The three features of an application, for rows of both sides."""
        places, counts = affiliate(self.share, source, target, begin, tails)
        alone = after = linked = 0.0
        before = []
        for word, place in zip(target, places, strict=True):
            if word < 0:
                before = []
                continue
            alone += self.score(sentence, place, [], word)
            after += self.score(sentence, place, before, word)
            before = [word, *before]
        at, gaps = begin, iter(tails)
        for symbol, count in zip(source, counts, strict=True):
            if symbol < 0:
                at = next(gaps)[1]
                continue
            scores = self.parts["fertility"] @ self.units(sentence, at, []) + self.parts["fertility.bias"]
            linked += scores[min(count, FERTILITIES - 1)] - np.log(np.exp(scores).sum())
            at += 1
        return alone, after, linked
