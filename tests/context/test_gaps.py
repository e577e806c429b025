"""Scorers that see the words in gaps: views by hand, and what only these words can tell."""

import numpy as np
import pytest
from estimates import LOW_DIMENSIONAL, add_context_model, estimate_mle
from helpers import add_context

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.views import Look, Views, number_words
from lscfg.context.word_vectors import given_directions
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.io.write import write_lines
from lscfg.kernel import (
    CONTEXT_EXTRA_WORDS,
    CONTEXT_LENGTHS,
    CONTEXT_UNKNOWN,
    Binding,
    FeatureOptions,
    Model,
    ParseOptions,
    X,
)
from lscfg.model.parameters import Parameters

PLACES = np.array([[0, 0, 4, 1, 3, 3, 4], [0, 0, 1, -1, -1, -1, -1], [1, 0, 9, 0, 8, -1, -1]])
TEXT = ["a b c b", "c b b b b b b a a"]
SMALL = {"window": 1, "min_word": 1, "min_count": 1, "gaps": True}


def in_gaps(views, n_words):
    """The items of each token that are of gaps, as text."""
    first, base, found = 3 * (n_words + CONTEXT_EXTRA_WORDS), n_words + CONTEXT_EXTRA_WORDS, []
    for token in range(views.matrix.shape[0]):
        items = views.items[views.matrix[token].indices] - first
        items = items[items >= 0].tolist()
        slots = [
            f"{item // base}:{'abc'[item % base] if item % base < 3 else '?'}" for item in items if item < 4 * base
        ]
        found.append((slots, [divmod(item - 4 * base, CONTEXT_LENGTHS) for item in items if item >= 4 * base]))
    return found


def test_views_by_hand():
    """Words of a slot that are there once are one word; lengths are never rare, and from 7 on they are one."""
    words = number_words(TEXT, ["a", "b", "c"])
    assert in_gaps(Views.of(words, 3, PLACES, Look(1, False, 1, gaps=True)), 3) == [
        (["0:b", "1:c", "2:b", "3:b"], [(0, 1), (1, 0)]),
        ([], []),
        (["0:c", "1:a"], [(0, 6)]),
    ]
    views, plain = (Views.of(words, 3, PLACES, Look(1, False, 2, gaps=gaps)) for gaps in (True, False))
    assert in_gaps(views, 3)[0] == (["0:?", "1:?", "2:?", "3:?"], [(0, 1), (1, 0)])
    assert views.items[: views.outer].tolist() == plain.items.tolist() and plain.outer == len(plain.items)
    assert views.matrix[:, : views.outer].toarray().tolist() == plain.matrix.toarray().tolist()
    assert views.gaps.sum() == 9
    assert [side.shape[1] for side in views.sides] == [plain.split, plain.outer - plain.split]
    assert views.is_word(3).sum() == plain.is_word(3).sum()  # lengths are none, though their numbers are small
    other = views.matrix_of(number_words(["x c c"], ["a", "b", "c"]), 3, np.array([[0, 0, 3, 0, 2, -1, -1]]))
    items = views.items[other.indices] - 3 * (3 + CONTEXT_EXTRA_WORDS)
    assert items[items >= 0].tolist() == [3 + CONTEXT_UNKNOWN, 9 + CONTEXT_UNKNOWN, 4 * (3 + CONTEXT_EXTRA_WORDS) + 1]


def test_further_text_has_no_gaps():
    words = [
        Views.with_text(TEXT, more, ["a", "b", "c"], PLACES, Look(1, False, 1, gaps=True), 1) for more in ([], TEXT)
    ]
    inside = [(views.gaps.sum(), text.gaps.sum()) for views, text in words]
    assert inside == [(9, 9), (9, 9)] and words[1][1].matrix.shape[0] > 3 == words[1][0].matrix.shape[0]


def test_vectors_in_gaps_are_those_of_the_words(tmp_path):
    write_lines(tmp_path / "vectors", ["a 3 4", "c 0 2"])
    views = Views.of(number_words(TEXT, ["a", "b", "c"]), 3, PLACES, Look(1, False, 1, gaps=True))
    found = given_directions(tmp_path / "vectors", views, ["a", "b", "c"]).gaps
    names = [name for token in in_gaps(views, 3) for name in (*token[0], *token[1])]
    assert len(found) == len(set(names))
    words = (views.items[views.outer :] - 3 * (3 + CONTEXT_EXTRA_WORDS)) % (3 + CONTEXT_EXTRA_WORDS)
    lengths = views.items[views.outer :] >= 7 * (3 + CONTEXT_EXTRA_WORDS)
    expected = np.array([[0.6, 0.8], [0, 0], [0, 1]])[words] * ~lengths[:, None]
    assert found == pytest.approx(expected)


def gapped(n, seed):
    """b and d around a gap are B or C by a topic that the words in the gap are of; those around tell nothing of it."""
    rng = np.random.default_rng(seed)
    source, target = [], []
    for _ in range(n):
        topic, side = int(rng.integers(2)), int(rng.integers(4))
        first, last = (f"{'pq'[topic]}{rng.integers(3)}" for _ in range(2))
        source.append(f"e{side} b {first} {last} d f{side}")
        target.append(f"E{side} {first.upper()} {last.upper()} {'BC'[topic]} F{side}")
    return source, target, ["0-0 1-3 2-1 3-2 4-3 5-4"] * n


@pytest.fixture(scope="module")
def planted():
    text = gapped(150, 1)
    return derive(*text), text[0]


def ratio(path, line, target):
    """Score of the rule of b, a gap and d with the target word, less the score of the other rule."""
    model = Model(path)
    grammar, rules = model.grammar(), Parameters.load(path).rules
    forest = grammar.parse(grammar.vocab.add_line(line), ParseOptions(99, True, 1, X))
    values = Binding(model, grammar).features(forest, None, FeatureOptions(names=("SenseTargetN",)))[:, 0]
    texts = [rules.tgt_text(int(rule)) if rule < len(rules) else "" for rule in forest.app_rule]
    found = [values[texts.index(f"[X,1] {word}")] for word in (target, "BC".replace(target, ""))]
    return found[0] - found[1]


MORE = {
    "residual": {"k": 1},
    "cca": {"m": 2},
    "cca-mm": {"m": 2, "hidden": 5, "passes": 5},
    "sg": {"dims": 5},
    "mlp": {"hidden": 3},
}


@pytest.mark.parametrize("name", LOW_DIMENSIONAL)
def test_every_kind_learns_what_only_gaps_tell(tmp_path, planted, name):
    derivations, source = planted
    learner = CONTEXT_MODELS[name]
    more = ({"k": 2} if name not in ("mlr", "sg") else {}) | MORE.get(name, {})
    found = []
    for gaps in (True, False):
        settings = learner.Settings(**SMALL | {"gaps": gaps}, **more)
        model = add_context_model(name, settings, estimate_mle(derivations), tokens_of(derivations), source)
        model.save(tmp_path / "m")
        lines = [(f"e1 b {t}0 {t}1 d f1", word) for t, word in zip("pq", "BC", strict=True)]
        found.append(min(ratio(tmp_path / "m", line, word) for line, word in lines))
    assert found[0] > 0.5 > found[1]


def test_more_words_leave_gaps_as_they_are(tmp_path, planted):
    derivations, source = planted
    settings = CONTEXT_MODELS["residual"].Settings(**SMALL, k=1)
    made = add_context_model("residual", settings, estimate_mle(derivations), tokens_of(derivations), source)
    words, sense = len(made.context.rules.words), made.context.low_dimensional
    more = sense.with_more(words, 3, 0)
    found = []
    for items, n in ((sense.items, words), (more.items, words + 3)):
        slot, word = np.divmod(items, n + CONTEXT_EXTRA_WORDS)
        found.append(list(zip(slot.tolist(), (word - np.where(word >= n, n, 0)).tolist(), strict=True)))
    assert found[0] == found[1] and found[0][-1] == (7, 1)  # a gap of two words


def test_command(tmp_path, planted):
    planted[0].save(tmp_path / "d")
    write_lines(tmp_path / "f", planted[1])
    options = ["--model", "residual", "--set", "k=1", "--set", "window=1"]
    ends = []
    for more in ([], ["--set", "gaps=true"]):
        assert add_context(tmp_path, *options, *more) == 0
        made = Parameters.load(tmp_path / "m")
        ends.append(made.context.low_dimensional.items[-1] // (len(made.context.rules.words) + CONTEXT_EXTRA_WORDS))
        assert made.about["sense"]["gaps"] == bool(more)
    assert ends == [1, 7]
