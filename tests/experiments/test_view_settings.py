"""experiments/view_settings.py: the decoder's scores, views of all tokens, and several views against dense matrices."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from estimates import add_context_model, estimate_mle

from lscfg.cli import main
from lscfg.context.correlation import correlate_all
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import SentenceSettings, Task, ViewSettings
from lscfg.context.softmax import SoftmaxSettings
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.io.write import write_lines
from lscfg.kernel import CONTEXT_BEGIN, CONTEXT_END, CONTEXT_EXTRA_WORDS, CONTEXT_UNKNOWN

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
view_settings = import_module("view_settings")
sys.path.remove(str(ROOT / "experiments"))

SEEN = SentenceSettings(min_word=1, min_count=1, sentence=True, gaps=True)
FOUR = view_settings.VIEWS
SMALL = {
    "cca": {"k": 3, "m": 3},
    "cca-mm": {"k": 3, "m": 3, "hidden": 4},
    "ls": {"k": 3},
    "mlp": {"k": 3, "hidden": 4},
    "sg": {"dims": 4},
    "softmax": {"k": 3},
}


def planted(n, seed):
    """b and d around a gap are B or C, seldom D, by words in it and before it; other words have one translation."""
    rng = np.random.default_rng(seed)
    source, target = [], []
    for _ in range(n):
        topic, flip = int(rng.random() < 0.3), int(rng.random() < 0.1)
        word = "BC"[topic ^ flip] if rng.random() > 0.02 else f"D{rng.integers(3)}"
        words = [f"{'pq'[topic]}{rng.integers(3)}" for _ in range(2)]
        ends = int(rng.integers(3)), int(rng.integers(5))
        first, last = f"e{topic}{ends[0]}", f"f{ends[1]}"
        source.append(" ".join([first, "b", *words, "d", "g", last]))
        target.append(" ".join([f"E{ends[0]}", *(word.upper() for word in words), word, "G", last.upper()]))
    return source, target, ["0-0 1-3 2-1 3-2 4-3 5-4 6-5"] * n


def single(n, seed):
    """b is B or C by the word before it, and follows g; other words have one translation."""
    source, target, _ = planted(n, seed)
    lines = [[line.split() for line in side] for side in (source, target)]
    source = [" ".join([words[0], "b", words[5], words[6]]) for words in lines[0]]
    target = [" ".join([words[0], words[4], words[3], words[5]]) for words in lines[1]]
    return source, target, ["0-0 1-2 2-1 3-3"] * n


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The source side, derivations of both texts, and a language model."""
    folder = tmp_path_factory.mktemp("views")
    train = single(200, 1)
    derive(*train).save(folder / "train")
    derive(*single(80, 2)).save(folder / "held")
    write_lines(folder / "f", train[0])
    write_lines(folder / "e", train[1])
    assert main(["lm", str(folder / "e"), "-o", str(folder / "lm"), "--order", "2", "--discount-fallback"]) == 0
    return folder


@pytest.fixture(scope="module")
def asked(files):
    train, held = derive(*single(200, 1)), derive(*single(80, 2))
    return view_settings.PhraseQuestions(train, held, str(files / "lm"))


@pytest.fixture(scope="module")
def gapped():
    """Rules with gaps, and a task that sees all views."""
    text = planted(120, 3)
    tokens = tokens_of(derive(*text))
    return tokens, text[0], Task.of(tokens, text[0], SEEN)


@pytest.mark.parametrize("name", SMALL)
def test_scores_are_those_of_a_model_file(asked, tmp_path, name):
    learner, source = CONTEXT_MODELS[name], single(200, 1)[0]
    settings = learner.Settings(**SMALL[name])
    add_context_model(name, settings, estimate_mle(derive(*single(200, 1))), asked.tokens, source).save(tmp_path / "m")
    task = Task.of(asked.tokens, source, settings)
    fitted = learner.fit(task, settings)
    found, _ = asked.measure(name, task, fitted)
    family = "m sense" if name == "softmax" else "m score"
    (expected,) = (each for each in asked.evaluator.candidates(tmp_path / "m") if each.name == family)
    if name != "softmax":  # whose ratios include a calibration
        assert asked.scores(task, fitted) == pytest.approx(expected.values, abs=1e-4)
    figures = asked.evaluator.measure(expected, asked._base)
    for key, error in (("mrr", 0.01), ("loss", 1e-4), ("adds", 1e-4)):
        assert found[key] == pytest.approx(figures[key], abs=error)


def test_views_of_all_places(asked):
    source = single(200, 1)[0]
    task = Task.of(asked.tokens, source, ViewSettings())
    every = view_settings.from_all_places(task, asked.tokens, source, ViewSettings().look)
    assert every.text.matrix.shape[0] == len(asked.tokens.places) > task.views.matrix.shape[0] == len(every.own)
    assert len(every.views.items) > len(task.views.items) and every.views.matrix.shape[1] == len(every.text.items)
    plain, wide = (
        [{*views.items[row.indices].tolist()} for row in views.matrix] for views in (task.views, every.views)
    )
    assert plain == wide  # no word is rare enough here for further tokens to change its item
    few = [view.shape[0] for view in every.text.sides]
    assert few == [len(asked.tokens.places)] * 2


@pytest.mark.parametrize("names", [FOUR[:2], FOUR[:3], ("left", "right", "gaps"), FOUR])
def test_coordinates_are_the_eigenvectors_of_all_rows(gapped, names):
    """Views are found by the meaning of items, not by their order, and gamma belongs to each view."""
    tokens, _, task = gapped
    n_words, settings = len(tokens.rules.words), SoftmaxSettings(k=4, gamma=0.5)
    basis = view_settings.together(task, names).basis(settings)
    slot = task.views.items // (n_words + CONTEXT_EXTRA_WORDS)
    view = np.select([slot < 5, slot < 10, slot < 11], FOUR[:3], FOUR[3])
    dense, total = task.views.matrix.toarray(), 0
    for name in names:
        x = dense[:, view == name]
        total = total + x @ np.linalg.solve(x.T @ x + 0.5 * np.eye(x.shape[1]), x.T)
    vectors = np.linalg.eigh(total)[1][:, ::-1][:, :4]
    found = task.views.matrix @ basis
    assert np.abs(found.T @ vectors) == pytest.approx(np.eye(4), abs=1e-8)
    assert not basis[~np.isin(view, names)].any() and all(basis[view == name].any() for name in names)


def test_classes_are_a_further_view(gapped):
    tokens, source, task = gapped
    words = {word for line in source for word in line.split()}
    classes = {word: "-" if word[0] == "f" else word[0] for word in words if word != "g"}
    found = view_settings.with_classes(task, source, classes)
    n_words, old = len(tokens.rules.words), len(task.views.items)
    assert (found.views.matrix[:, :old] != task.views.matrix).nnz == 0
    part = view_settings.parts_of(found.views, n_words)[-1]
    assert (part.start, part.stop) == (old, len(found.views.items))
    names = dict(enumerate(sorted({*classes.values()})))
    n = len(names)
    names |= {n + CONTEXT_UNKNOWN: "?", n + CONTEXT_BEGIN: "(", n + CONTEXT_END: ")"}
    first = view_settings.end_of_items(task.views.look.window, n_words)
    for token, row in zip(found.tokens.places.tolist(), found.views.matrix[:, old:], strict=True):
        line, (begin, end) = [classes.get(word, "?") for word in source[token[1]].split()], token[2:4]
        wanted = [(d, line[begin - 1 - d]) for d in range(min(2, begin))]
        wanted += [(2 + d, line[end + d]) for d in range(min(2, len(line) - end))]
        wanted += [(0, "(")] * (begin < 2) + [(2, ")")] * (len(line) - end < 2)
        items = (found.views.items[old:][row.indices] - first).tolist()
        shown = [(item // (n + CONTEXT_EXTRA_WORDS), names[item % (n + CONTEXT_EXTRA_WORDS)]) for item in items]
        assert sorted(shown) == sorted(wanted)
    basis = view_settings.together(found, ("left", "classes")).basis(SoftmaxSettings(k=3))
    assert basis[part].any() and not basis[view_settings.parts_of(found.views, n_words)[1]].any()


def test_the_order_of_views_changes_nothing_and_two_are_those_of_lscfg(gapped):
    _, _, task = gapped
    settings = SoftmaxSettings(k=4)
    one, other = (view_settings.together(task, names).basis(settings) for names in (FOUR, FOUR[::-1]))
    assert one == pytest.approx(other, abs=1e-8)
    plain = Task.of(gapped[0], gapped[1], ViewSettings(min_word=1, min_count=1))
    both = correlate_all(plain.views.sides, 4, settings.gamma).basis()
    assert view_settings.together(plain, FOUR[:2]).basis(settings) == pytest.approx(both, abs=1e-8)


def test_losses_of_frequencies_and_the_gain_of_gaps_by_hand(gapped):
    task = gapped[2]
    found = view_settings.held_out_losses(task, "softmax", SoftmaxSettings(k=4))
    out = task.tokens.places[:, 1] % 10 == 0
    rules = task.tokens.places[:, 0]
    counts, expected = np.bincount(rules[~out], minlength=len(task.row)), []
    for rule in rules[out]:
        options = np.flatnonzero(task.tokens.rules.source_id == task.tokens.rules.source_id[rule])
        shares = np.maximum(counts[options], 0.5)
        expected += [-np.log(max(counts[rule], 0.5) / shares.sum())]
    assert found.plain == pytest.approx(expected)
    assert found.means(found.plain)[2] == f"{np.mean(expected):.3f}"
    sentences = np.array([0, 0, 1])
    assert view_settings.gain(sentences, np.array([0.5, 0.1, 0.3])) == "+0.3000 ± 0.0000"
    assert found.losses.mean() < found.plain.mean() - 0.1


def test_tables(files, monkeypatch, capsys):
    monkeypatch.setattr(view_settings, "TABLES", {"ls": ({"k": 2}, {"k": 3, "whiten": "identity"})})
    words = [str(files / "f"), str(files / "train")]
    phrases = ["--lm", str(files / "lm")]
    monkeypatch.setattr(view_settings, "PAIRED_K", (2, 3))
    for arguments, rows in (
        (["places", *words, *phrases, "--held-out", str(files / "held")], 3),
        (["places", *words, *phrases], 3),
        (["views", *words, *phrases, "--held-out", str(files / "held"), "--models", "ls", "--dims", "3"], 4),
    ):
        monkeypatch.setattr(sys, "argv", ["view_settings.py", *arguments])
        view_settings.main()
        table = capsys.readouterr().out.split("\n\n")[-1].strip().splitlines()
        assert len(table) == rows + 1 and table[0].split()[-1] == "CPU" and " ± " in table[-1]


def test_tables_of_rules(gapped, tmp_path, monkeypatch, capsys):
    text = planted(120, 3)
    derive(*text).save(tmp_path / "train")
    write_lines(tmp_path / "f", text[0])
    monkeypatch.setattr(view_settings, "PAIRED_K", (1,))
    words = ["views", str(tmp_path / "f"), str(tmp_path / "train")]
    monkeypatch.setattr(
        sys, "argv", ["view_settings.py", *words, "--models", "ls,residual", "--dims", "3", "--pairs", "100"]
    )
    view_settings.main()
    table = capsys.readouterr().out.split("\n\n")[-1].strip().splitlines()
    assert [line.split("  ")[0] for line in table[2:4]] == [
        "ls, pairs: left, right, gaps, k = 1",
        "ls, pairs: left, right, k = 1",
    ]
    assert (
        len(table) == 13 and table[1].startswith("P(e|f)") and "items: left, right, sentence, gaps, k = 1" in table[-1]
    )
    monkeypatch.setattr(sys, "argv", ["view_settings.py", "places", *words[1:]])
    with pytest.raises(SystemExit):
        view_settings.main()
    assert "need --lm" in capsys.readouterr().err
