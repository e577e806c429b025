"""experiments/attention.py: information against its definition, weights that keep their number, and a planted word."""

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lscfg.context.low_dimensional import SentenceSettings, Task
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.kernel import CONTEXT_EXTRA_WORDS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
attention = import_module("attention")
sys.path.remove(str(ROOT / "experiments"))

SEEN = SentenceSettings(min_word=1, min_count=1, sentence=True, gaps=True)


@pytest.fixture(scope="module")
def task():
    """b is B or C by t0 or t1, seven words before it; other words have one translation."""
    rng = np.random.default_rng(4)
    source, target = [], []
    for _ in range(400):
        topic, words = int(rng.integers(2)), [f"x{number}" for number in rng.integers(0, 20, 6)]
        source.append(" ".join([f"t{topic}", *words, "b"]))
        target.append(" ".join([f"T{topic}", *(word.upper() for word in words), "BC"[topic]]))
    tokens = tokens_of(derive(source, target, [" ".join(f"{n}-{n}" for n in range(8))] * 400))
    return Task.of(tokens, source, SEEN)


def test_information_is_the_divergence_of_translations(task):
    found, prior = attention.information(task, 2.0).toarray(), 2.0
    words = task.views.matrix[:, attention.sentence_items(task)].toarray() > 0
    for side in np.unique(task.side):
        tokens = task.side == side
        plain = Counter(task.own[tokens & (task.own >= 0)].tolist())
        total = sum(plain.values())
        for item in range(words.shape[1]):
            seen = Counter(task.own[tokens & (task.own >= 0) & words[:, item]].tolist())
            if not seen:
                assert found[side, item] == 0
                continue
            expected = 0.0
            for row, count in plain.items():
                share = (seen[row] + prior * count / total) / (sum(seen.values()) + prior)
                expected += share * np.log(share * total / count)
            assert found[side, item] == pytest.approx(expected, abs=1e-12)
    assert (found >= -1e-12).all() and found.max() > 0.3


def test_weights_select_the_word_that_decides(task):
    even, all_words = attention.attended(task, 0, attention.informed(task, 5))
    assert (even.views.matrix != task.views.matrix).nnz == 0
    sharp, few = attention.attended(task, 30, attention.informed(task, 5))
    part = attention.sentence_items(task)
    sizes = [np.asarray(each.views.matrix[:, part].sum(axis=1)).ravel() for each in (task, sharp)]
    assert sizes[0] == pytest.approx(sizes[1]) and few < 1.1 < all_words
    heaviest = task.views.items[part][sharp.views.matrix[:, part].toarray().argmax(axis=1)]
    names = task.tokens.rules.words
    asked = [
        k for k, side in enumerate(task.side) if names[heaviest[k] % (len(names) + CONTEXT_EXTRA_WORDS)] in ("t0", "t1")
    ]
    assert len(asked) > 0.9 * len(task.side)
    outside = [*range(part.start), *range(part.stop, task.views.matrix.shape[1])]
    assert (sharp.views.matrix[:, outside] != task.views.matrix[:, outside]).nnz == 0


def test_attention_lowers_the_loss(task):
    rows = list(attention.rows(task, ["ls", "mlr"], [0, 30], 5, 6))
    assert [row[0] for row in rows] == [
        "P(e|f)",
        "ls, slope = 0",
        "mlr, slope = 0",
        "ls, slope = 30",
        "mlr, slope = 30",
    ]
    losses = [float(row[4]) for row in rows]
    assert losses[0] > 0.6 and losses[3] < losses[1] - 0.05 and max(losses[2], losses[4]) < 0.01
