"""The pool of hypotheses and MIRA on problems with known answers."""

import functools
import math
import random

import numpy as np
import pytest
from pools import planted
from reference import PseudoCorpus

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from lscfg.kernel.lists import MiraState
from lscfg.tuning.bleu import bleu, corpus_bleu, corpus_stats
from lscfg.tuning.mira import BACKGROUND, MiraSettings, mira
from lscfg.tuning.pool import Pool


def hypothesis(text: str, **features: float) -> Hypothesis:
    """A hypothesis whose model score does not matter."""
    return Hypothesis(text, features, 0.0)


# The pool.


def test_pool_keeps_distinct_pairs_only():
    pool = Pool([["a b c", "d"]])
    first = [hypothesis("a b", f=1.0), hypothesis("a b", f=2.0), hypothesis("a  b ", f=1.0), hypothesis("a", f=1.0)]
    assert pool.add([first, [hypothesis("d", g=1.0)]]) == 4
    again = [hypothesis("a b", f=2.0, zero=0.0), hypothesis("a b", zero=-0.0, f=1.0), hypothesis("a b", f=1.0, g=1.0)]
    assert pool.add([again, []]) == 1
    assert len(pool) == 5
    assert pool.names == ["f", "g", "zero"]


def test_pool_features_and_stats():
    pool = Pool([["a b c", "d"]])
    pool.add([[hypothesis("a b", f=1.5)], [hypothesis("d", g=2.0)]])
    pool.add([[hypothesis("a c", h=-1.0, f=0.5), hypothesis("", f=1.0)], []])
    first, second = pool.sentences
    dense = np.zeros((3, 3))
    dense[:, first.numbers()] = first.features
    assert dense.tolist() == [[1.5, 0, 0], [0.5, 0, -1.0], [1.0, 0, 0]]
    assert (second.features.tolist(), second.numbers().tolist()) == ([[2.0]], [1])
    assert first.stats.tolist() == corpus_stats(["a b", "a c", ""], [["a b c"] * 3]).tolist()


def test_pool_best_stats():
    pool = Pool([["a b c", "d e"]])
    pool.add([[hypothesis("a b", f=1.0), hypothesis("a b c", f=2.0), hypothesis("a", f=2.0)], []])
    weights = pool.vector({"f": 1.0, "unknown": 3.0})
    assert pool.best_stats(weights).tolist() == corpus_stats(["a b c", ""], [["a b c", "d e"]]).sum(axis=0).tolist()
    assert pool.best_stats(-weights)[8] == 2


def test_pool_refuses_what_is_not_finite():
    pool = Pool([["a", "b"]])
    for value in (math.nan, math.inf, 1e39):
        with pytest.raises(InputError, match=r"sentence 2: feature f has value .*not finite"):
            pool.add([[hypothesis("a", f=1.0)], [hypothesis("b", g=1.0, f=value)]])
    assert len(pool) == 0 and pool.names == []
    with pytest.raises(InputError, match="1 k-best lists for 2 sentences"):
        pool.add([[]])


def test_oracle_against_all_choices():
    """No exchange of one hypothesis raises its BLEU."""
    draw = random.Random(4)
    found = []
    for _ in range(20):
        references = [" ".join(draw.choices("abcd", k=6)) for _ in range(6)]
        texts = [[" ".join(draw.choices("abcd", k=draw.randint(3, 8))) for _ in range(4)] for _ in references]
        pool = Pool([references])
        pool.add([[hypothesis(text) for text in sorted(set(line), key=line.index)] for line in texts])
        stats = [candidates.stats for candidates in pool.sentences]
        sums = functools.reduce(lambda some, more: some[..., None, :] + more, stats)
        scores = bleu(sums)  # an axis for each sentence
        cannot_rise = np.all([scores == scores.max(axis=s, keepdims=True) for s in range(6)], axis=0)
        oracle = pool.oracle_bleu()
        assert oracle >= scores[(0,) * 6] - 1e-9
        assert np.isclose(scores[cannot_rise], oracle, rtol=0, atol=1e-9).any()
        found.append(oracle > scores.max() - 1e-9)
    assert sum(found) >= 14  # greedy: most choices are the best, but not all


# The pseudo-corpus.


def gain(earlier: list[tuple[str, str]], reference: str, one: str, other: str, decay: float, times: int = 1) -> float:
    """Words that the kernel counts for one translation beyond those for another.

    Args:
        earlier: translations, each with its reference, that the background has seen so many times.
    """
    pool = Pool([[*(truth for _, truth in earlier), reference]])
    pool.add([*([hypothesis(text)] for text, _ in earlier), [hypothesis(one, f=1.0), hypothesis(other)]])
    state = MiraState(pool.packed(), np.zeros(1), BACKGROUND, math.inf, decay)
    state.run(np.array([*range(len(earlier))] * times + [len(earlier)]))
    return float(state.weights[0])  # without a cap one step makes up for the whole loss


def by_hand(background: np.ndarray, stats: np.ndarray) -> float:
    counts = background + stats
    precision = math.prod(counts[n] / counts[4 + n] for n in range(4)) ** 0.25
    return precision * min(1.0, math.exp(1 - counts[9] / counts[8])) * counts[9]


def test_pseudo_corpus_follows_its_formula():
    truth = "a b c d e f"
    good, short, bad = truth, "a b c", "a x c x e x"
    rows = dict(zip((good, short, bad), corpus_stats([good, short, bad], [[truth] * 3]), strict=True))
    background, earlier = np.array([4, 3, 2, 1, 4, 3, 2, 1, 4, 4], dtype=float), []
    for added in (bad, good, short):
        for one, other in ((good, short), (good, bad), (bad, short)):
            expected = by_hand(background, rows[one]) - by_hand(background, rows[other])
            assert gain(earlier, truth, one, other, 0.5) == pytest.approx(expected, rel=1e-9)
        assert by_hand(background, rows[good]) > max(by_hand(background, rows[text]) for text in (short, bad))
        earlier.append((added, truth))
        background = 0.5 * background + rows[added]


def test_pseudo_corpus_measures_in_words():
    """Within a long perfect background, missing the whole sentence costs about as many words as it has."""
    truth = "a b c d e f g h i j"
    found = gain([(truth, truth)], truth, truth, "x x x x x x x x x x", 0.999, times=5000)
    assert found == pytest.approx(10, rel=0.05)


def test_pseudo_corpus_survives_never_matching():
    """A background of nothing but zeros would know no BLEU of a short sentence."""
    twin, (missed,) = PseudoCorpus(decay=0.5), corpus_stats(["x"], [["a"]])
    for _ in range(3000):
        twin.add(missed)
    good, bad = twin.scores(corpus_stats(["a b", "x y"], [["a b"] * 2]).T)
    assert good - bad > 1
    assert gain([("x", "a")], "a b", "a b", "x y", 0.5, times=3000) == pytest.approx(good - bad, rel=1e-9)


# MIRA.


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mira_finds_the_planted_weights(seed):
    pool, truth = planted(sentences=60, hypotheses=40, seed=seed)
    start = {"lm": 0.1, "tm": -0.1, "words": 0.2, "noise": 0.3}
    before = corpus_bleu(pool.best_stats(pool.vector(start)))
    optimum = corpus_bleu(pool.best_stats(pool.vector(truth)))
    result = mira(pool, start, seed=seed)
    assert optimum == pytest.approx(100) and before < 50
    assert result.bleu > 97
    length = math.hypot(*result.weights.values())
    assert sum(truth[name] * result.weights[name] for name in truth) / length > 0.95


def plain_mira(sentences, weights, cap, decay, epochs, seed):
    """The algorithm on dictionaries and lists: (features, statistics) per hypothesis; the average of all steps."""
    weights, total, steps = dict(weights), dict.fromkeys(weights, 0.0), 0
    background = [4.0, 3.0, 2.0, 1.0, 4.0, 3.0, 2.0, 1.0, 4.0, 4.0]
    order = np.random.default_rng(seed)

    def gain(stats):
        counts = [a + b for a, b in zip(background, stats, strict=True)]
        log_precision = sum(math.log(counts[n] / counts[n + 4]) for n in range(4)) / 4
        return math.exp(log_precision + min(0.0, 1 - counts[9] / counts[8])) * counts[9]

    def model(features):
        return sum(weights[name] * value for name, value in features.items())

    for _ in range(epochs):
        for index in order.permutation(len(sentences)):
            hope, fear = (
                max(sentences[index], key=lambda h, sign=sign: model(h[0]) + sign * gain(h[1])) for sign in (1, -1)
            )
            loss = gain(hope[1]) - gain(fear[1]) - model(hope[0]) + model(fear[0])
            difference = {name: hope[0][name] - fear[0][name] for name in weights}
            length = sum(value**2 for value in difference.values())
            if loss > 0 and length > 0:
                for name, value in difference.items():
                    weights[name] += min(cap, loss / length) * value
            background = [decay * a + b for a, b in zip(background, hope[1], strict=True)]
            total = {name: total[name] + weights[name] for name in weights}
            steps += 1
    return {name: value / steps for name, value in total.items()}


@pytest.mark.parametrize(("cap", "decay"), [(0.01, 0.999), (0.5, 0.9)])
def test_mira_against_a_plain_one(cap, decay):
    pool, truth = planted(sentences=30, hypotheses=8, seed=6)
    start = {"lm": 0.1, "tm": -0.1, "words": 0.2, "noise": 0.3}
    sentences = []
    for candidates in pool.sentences:
        names = [pool.names[number] for number in candidates.numbers()]
        features = [dict(zip(names, row, strict=True)) for row in candidates.features.tolist()]
        sentences.append(list(zip(features, candidates.stats.tolist(), strict=True)))
    result = mira(pool, start, MiraSettings(cap, decay, epochs=3), seed=8)
    averages = [plain_mira(sentences, start, cap, decay, epochs, seed=8) for epochs in (1, 2, 3)]
    expected = max(averages, key=lambda average: corpus_bleu(pool.best_stats(pool.vector(average))))
    assert result.weights == pytest.approx(expected, rel=1e-6)
    assert set(expected) == set(truth)


def test_mira_result_is_what_it_says():
    pool, _ = planted(sentences=20, hypotheses=10, seed=4)
    result = mira(pool, {"lm": 0.1, "other": 0.25}, MiraSettings(epochs=7), seed=1)
    assert result.bleu == corpus_bleu(pool.best_stats(pool.vector(result.weights)))
    assert list(result.weights) == ["lm", "noise", "other", "tm", "words"]
    assert result.weights["other"] == 0.25
    longer = mira(pool, {"lm": 0.1, "other": 0.25}, MiraSettings(epochs=20), seed=1)
    assert longer.bleu >= result.bleu


def test_mira_is_determined_by_its_seed():
    pool, _ = planted(sentences=20, hypotheses=10, seed=5)
    start = {"lm": 0.1}
    settings = MiraSettings(epochs=3)
    assert mira(pool, start, settings, (1, 2)) == mira(pool, start, settings, (1, 2))
    assert mira(pool, start, settings, (1, 2)).weights != mira(pool, start, settings, (1, 3)).weights


@pytest.mark.parametrize("cap", [0.01, 10.0])
def test_one_step(cap):
    """One sentence, one epoch: the average is the start plus one step."""
    pool = Pool([["a b c d e"]])
    pool.add([[hypothesis("a b c d e", f=1.0, g=2.0), hypothesis("a b x y z", f=3.0, g=1.0)]])
    start = {"f": 0.5, "g": 0.25}
    gain = PseudoCorpus().scores(pool.sentences[0].stats.T.astype(float))
    loss = (gain[0] - gain[1]) - (1.0 - 1.75)
    step = min(cap, loss / 5)
    assert (step == cap) == (cap < 1)
    result = mira(pool, start, MiraSettings(step_cap=cap, epochs=1))
    assert result.weights == pytest.approx({"f": 0.5 - 2 * step, "g": 0.25 + step})
    assert (result.bleu == pytest.approx(100)) == (cap > 1)


def test_the_average_counts_not_the_last_weights():
    pool = Pool([["a b c d e"]])
    pool.add([[hypothesis("a b x y z", f=1.0), hypothesis("a b c d e", f=0.0)]])
    # Steps of 0.01: the weights are 0.002, -0.008, -0.018 and so on, the averages 0.002, -0.003, -0.008.
    result = mira(pool, {"f": 0.012}, MiraSettings(epochs=4))
    assert result.bleu == pytest.approx(100)
    assert result.weights["f"] == pytest.approx(-0.003)


def test_nothing_to_learn_keeps_the_weights():
    pool = Pool([["a b c", "d e"]])
    pool.add([[hypothesis("a b c", f=1.0), hypothesis("a", f=1.0)], [hypothesis("x", f=2.0)]])
    assert mira(pool, {"f": 0.3}, MiraSettings(epochs=2)).weights == pytest.approx({"f": 0.3})


def test_mira_refuses_bad_arguments():
    pool = Pool([["a"]])
    with pytest.raises(InputError, match="no hypotheses"):
        mira(pool, {})
    with pytest.raises(InputError, match="start weight of f is nan"):
        mira(pool, {"f": math.nan})
    for bad in ({"step_cap": 0.0}, {"step_cap": math.inf}, {"decay": 1.1}, {"epochs": 0}):
        with pytest.raises(InputError, match=f"{next(iter(bad))} must be"):
            MiraSettings(**bad)
