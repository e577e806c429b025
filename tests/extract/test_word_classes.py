"""Word classes by exchange."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.extract.word_classes import exchange


def planted(n=800):
    """Sentences of words a0 ... c9, whose first letters follow a chain."""
    rng, chain = np.random.default_rng(0), np.array([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])
    found = []
    for _ in range(n):
        state, line = rng.integers(3), []
        for _ in range(8):
            line.append(f"{'abc'[state]}{rng.integers(10)}")
            state = rng.choice(3, p=chain[state])
        found.append(line)
    return found


def objective(sentences, of):
    """F by its definition, from counts of class bigrams."""
    pairs = Counter()
    for line in sentences:
        classes = ["end", *(of[word] for word in line), "end"]
        pairs.update(itertools.pairwise(classes))
    first, second = Counter(), Counter()
    for (a, b), n in pairs.items():
        first[a] += n
        second[b] += n
    signed = ((pairs, 1), (first, -1), (second, -1))
    return sum(sign * n * math.log(n) for counts, sign in signed for n in counts.values())


def test_planted_classes_are_found():
    found = exchange(planted(), 3).by_word()
    assert len({(word[0], name) for word, name in found.items()}) == 3


def skewed(n=60):
    """Short sentences of a few frequent and some rare words, many of which follow words of their own class."""
    draw = random.Random(3)
    return [[f"w{int(draw.paretovariate(0.7)) % 20}" for _ in range(draw.randint(1, 8))] for _ in range(n)]


@pytest.mark.parametrize("sentences", [[*planted(100), ["a0", "a0", "b1"], ["b1"]], skewed()])
def test_every_sweep_raises_the_objective(sentences):
    found = exchange(sentences, 4, sweeps=5)
    assert found.objective == sorted(found.objective)
    assert found.objective[-1] == pytest.approx(objective(sentences, found.by_word()), rel=1e-12)


@pytest.mark.parametrize("sentences", [planted(60), skewed()])
def test_no_single_move_is_better(sentences):
    found = exchange(sentences, 3, sweeps=50)
    of = found.by_word()
    best = objective(sentences, of)
    for word in found.words[:10]:
        for name in ("C0", "C1", "C2"):
            assert objective(sentences, of | {word: name}) <= best + 1e-6


def test_too_few_words_or_classes_are_refused():
    with pytest.raises(InputError, match="5 classes of 2 different words"):
        exchange([["a", "b"]], 5)
    with pytest.raises(InputError, match="at least 2 word classes are needed, not 1"):
        exchange([["a", "b"]], 1)
