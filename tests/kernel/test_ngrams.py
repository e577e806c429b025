"""The kernel's n-gram models compared with KenLM: the same numbers to the last bit, and the same states."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from searches import LM_WEIGHT, OOV_WEIGHT, Case, random_arpa

from lscfg._kernel import ffi, lib
from lscfg.kernel import Forest, Grammar, ParseOptions, Vocab
from lscfg.kernel import lm as models
from lscfg.kernel.search import KBest, SearchOptions, search
from lscfg.lm.estimate import estimate_ngrams, write_arpa

OPTIONS = SearchOptions(30, 200, False, LM_WEIGHT, OOV_WEIGHT)


def is_kenlms(path: Path) -> bool:
    """Tells if KenLM must read the file."""
    return models._ngrams(path, Vocab()) is None


def both(
    grammar: Grammar, forest: Forest, path: Path, scores: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> tuple[KBest, KBest]:
    """The lists with the kernel's model and with KenLM's."""
    assert not is_kenlms(path)
    ours = search(forest, grammar, models.LanguageModel(path, grammar.vocab), scores, OPTIONS)
    monkeypatch.setattr(models, "_ngrams", lambda *_: None)
    theirs = search(forest, grammar, models.LanguageModel(path, grammar.vocab), scores, OPTIONS)
    return ours, theirs


def assert_same(ours: KBest, theirs: KBest) -> None:
    assert len(ours) > 10
    for name in ("score", "lm", "oov", "words", "apps"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", [1, 2])
def test_random_models(seed: int, order: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(seed, order, tmp_path)
    assert_same(*both(case.grammar, case.forest, case.path, case.app_scores, monkeypatch))


@pytest.mark.parametrize(("order", "prune"), [(2, ()), (4, ()), (4, (0, 0, 1))])
def test_estimated_models(order: int, prune: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over words of a text, and some that are not in it; contexts without a longer n-gram have weights of 0."""
    rng = random.Random(order)
    words = [f"w{i}" for i in range(40)]
    lines = [" ".join(rng.choices(words, [1 / (1 + i) for i in range(40)], k=rng.randint(3, 12))) for _ in range(400)]
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    write_arpa(estimate_ngrams(tmp_path / "text", order, prune, (0.5, 1, 1.5)), tmp_path / "arpa")
    grammar = Grammar()
    for source in "abcdef":
        for _ in range(12):
            target = " ".join(rng.choices([*words, "new", "<unk>", "<s>"], k=rng.randint(1, 4)))
            grammar.read_text(f"[X] ||| {source} ||| {target} ||| F=1\n")
    grammar.read_text("[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| F=1\n[X] ||| [X,1] [X,2] ||| [X,1] w1 [X,2] ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("a b c d e f a c"), ParseOptions())
    assert forest is not None
    scores = np.random.default_rng(order).normal(size=forest.n_apps)
    assert_same(*both(grammar, forest, tmp_path / "arpa", scores, monkeypatch))


def test_words_that_come_later(tmp_path: Path) -> None:
    """The vocabulary may have grown since the model was read."""
    path = random_arpa(tmp_path / "arpa", 3, random.Random(1))
    found = []
    for words_first in (True, False):
        grammar = Grammar()
        model = None if words_first else models.LanguageModel(path, grammar.vocab)
        grammar.read_text("[X] ||| x ||| a b ||| F=1\n[X] ||| x ||| later ||| F=1\n")
        grammar.finish()
        model = model or models.LanguageModel(path, grammar.vocab)
        forest = grammar.parse(grammar.vocab.add_line("x x"), ParseOptions())
        assert forest is not None
        found.append(search(forest, grammar, model, np.zeros(forest.n_apps), OPTIONS))
    assert np.array_equal(found[0].score, found[1].score)


USUAL = (
    "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-2\t<unk>\n-2\t<s>\t-0.5\n-1.5\t</s>\n-0.75\ta\t-0.25\n-1\tb\n\n"
    "\\2-grams:\n-0.5\t<s> a\n-0.6\ta b\n-0.7\tb </s>\n\n\\end\\\n"
)


@pytest.mark.parametrize(
    ("usual", "unusual"),
    [
        ("-0.6\ta b", "-0.6\ta <unk>"),
        ("-0.6\ta b", "-0.6\ta c"),
        ("-0.6\ta b", "-0.6\ta  b"),
        ("-0.6\ta b", "0.6\ta b"),
        ("-0.6\ta b", "-0.6 a b"),
        ("-0.6\ta b", "-0.6\ta b\t-1"),
        ("-0.6\ta b", "-0.6\t<s> a"),
        ("-0.6\ta b", "-0.6\ta b a"),
        ("-0.6\ta b", "-0.6\ta"),
        ("\\data\\\n", "data\n"),
        ("\\data\\\n", ""),
        ("-2\t<unk>", "-2\tc"),
        ("-2\t<s>", "-2\tc"),
        ("-1\tb\n", "-1\ta\n"),
        ("-1\tb\n", "-1\tb\r\n"),
        ("-1\tb\n", "-inf\tb\n"),
        ("ngram 2=3", "ngram 2=4"),
        ("ngram 2=3", "ngram 2=2"),
        ("ngram 2=3", "ngram 2=99999999999"),
        ("ngram 2=3", "ngram 3=3"),
        ("\\end\\\n", ""),
        ("\\end\\\n", "\\end\\\nmore\n"),
    ],
)
def test_unusual_models_are_left_to_kenlm(usual: str, unusual: str, tmp_path: Path) -> None:
    path = tmp_path / "arpa"
    path.write_text(USUAL, encoding="utf-8")
    assert not is_kenlms(path)
    assert USUAL.count(usual) == 1
    path.write_text(USUAL.replace(usual, unusual), encoding="utf-8", newline="")
    assert is_kenlms(path)


def test_context_matters_to_words_that_end_an_n_gram(tmp_path: Path) -> None:
    """The reach of a word is 1 if the model has an n-gram of a context and the word; no n-gram ends with ``<s>``."""
    (tmp_path / "arpa").write_text(USUAL, encoding="utf-8")
    vocab = Vocab()
    model, found = models._ngrams(tmp_path / "arpa", vocab), []
    log10p, following, reach = ffi.new("float *"), ffi.new("int32_t *"), ffi.new("int32_t *")
    for word in ("a", "b", "</s>", "<s>", "unknown"):
        assert lib.lscfg_ngrams_step(model, lib.LSCFG_LM_NULL, vocab.add(word), log10p, following, reach) == 0
        found.append(reach[0])
    assert found == [1, 1, 1, 0, lib.LSCFG_LM_UNKNOWN]


def test_a_suffix_that_is_missing_is_left_to_kenlm(tmp_path: Path) -> None:
    """KenLM makes such an n-gram itself."""
    path = tmp_path / "arpa"
    text = USUAL.replace("ngram 2=3\n", "ngram 2=3\nngram 3=1\n")
    for gram, missing in (("<s> a b", False), ("a b a", True)):
        path.write_text(text.replace("\\end\\", f"\\3-grams:\n-1\t{gram}\n\n\\end\\"), encoding="utf-8")
        assert is_kenlms(path) == missing
