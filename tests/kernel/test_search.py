"""Cube pruning and k-best extraction against the enumeration of all derivations on small random grammars."""

from __future__ import annotations

import gzip
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from searches import EVERYTHING, LM_WEIGHT, OOV_WEIGHT, Case, kept, random_arpa

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError
from lscfg.kernel import EXTRA_RULES, Grammar, ParseOptions, Vocab
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import KBest, SearchOptions, search


def rows(found: KBest) -> Iterator[tuple[list[int], list[int]]]:
    for h in range(len(found)):
        yield (
            found.words[found.word_offsets[h] : found.word_offsets[h + 1]].tolist(),
            found.apps[found.app_offsets[h] : found.app_offsets[h + 1]].tolist(),
        )


@pytest.fixture(scope="module", params=list(itertools.product(range(6), [2, 3, 4])), ids=lambda p: f"{p[0]}-{p[1]}")
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    seed, order = request.param
    return Case(seed, order, tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def one_case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(0, 3, tmp_path_factory.mktemp("case"))


def test_without_pruning_every_derivation_is_found(case: Case) -> None:
    found = case.search(len(case.all) + 10)
    assert len(found) == len(case.all) > 20
    expected = {tuple(sorted(apps)): i for i, (_, apps) in enumerate(case.all)}
    # the same applications in another tree cannot happen: each is tied to its span
    assert len(expected) == len(case.all)
    for h, (words, apps) in enumerate(rows(found)):
        i = expected.pop(tuple(sorted(apps)))
        assert words == case.all[i][0]
        assert found.score[h] == pytest.approx(case.score[i], abs=1e-4)
        assert found.lm[h] == pytest.approx(case.lm[i], abs=1e-4)
        assert found.oov[h] == case.oov[i]


def test_lists_are_sorted_and_nested(case: Case) -> None:
    long = case.search(200)
    assert (np.diff(long.score) <= 1e-9).all()
    assert long.score == pytest.approx(sorted(case.score, reverse=True)[:200], abs=1e-4)
    short = case.search(7)
    assert np.array_equal(short.score, long.score[:7])
    assert np.array_equal(short.words, long.words[: short.word_offsets[-1]])


def test_unique_keeps_the_best_of_each_string(case: Case) -> None:
    best: dict[tuple[int, ...], float] = {}
    for (words, _), score in zip(case.all, case.score, strict=True):
        best[tuple(words)] = max(score, best.get(tuple(words), -np.inf))
    found = case.search(len(best) + 10, unique=True)
    strings = [tuple(words) for words, _ in rows(found)]
    assert len(set(strings)) == len(strings) == len(best)
    assert [best[s] for s in strings] == pytest.approx(list(found.score), abs=1e-4)


def test_unique_lists_where_nearly_all_derivations_repeat_the_best() -> None:
    """2^40 of them, all better than the second string."""
    grammar, n = Grammar(), 40
    grammar.read_text("[X] ||| x ||| a ||| F=1\n[X] ||| x ||| a ||| F=1\n[X] ||| x ||| b ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("x " * n), ParseOptions(pass_through=0))
    assert forest is not None
    place = forest.node_span[forest.edge_head[forest.app_edge], 0]
    by_rule = np.array([0, -0.001, -1, 0, 0])
    scores = by_rule[forest.app_rule] - 0.1 * place * (forest.app_rule == 2)
    found = search(forest, grammar, None, scores, SearchOptions(k=3, unique=True))
    texts = ["".join(map(grammar.vocab.word, words)) for words, _ in rows(found)]
    assert texts == ["a" * n, "b" + "a" * (n - 1), "ab" + "a" * (n - 2)]
    assert found.score == pytest.approx([0, -1, -1.1])


@pytest.mark.parametrize(("repeats", "texts"), [(1059, ["a", "b"]), (1060, ["a"])])
def test_unique_lists_end_after_1000_derivations_and_20_more_for_each_wanted(repeats: int, texts: list[str]) -> None:
    """An item with many repeats is given up."""
    grammar = Grammar()
    grammar.read_text("[X] ||| x ||| a ||| F=1\n" * repeats + "[X] ||| x ||| b ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("x"), ParseOptions(pass_through=0))
    assert forest is not None
    scores = -1.0 * forest.app_rule
    found = search(forest, grammar, None, scores, SearchOptions(pop_limit=EVERYTHING, k=3, unique=True))
    assert ["".join(map(grammar.vocab.word, words)) for words, _ in rows(found)] == texts


def test_items_are_sorted_where_the_language_model_reverses_the_order_of_rules(tmp_path: Path) -> None:
    """Of the 200 sums over the inner items, the best 100 are found, as many as there are pops."""
    n = 100
    words = [f"a{i:02}" for i in range(n)]
    unigrams = "".join(f"-1\t{word}\t0\n" for word in ["<unk>", "<s>", "</s>", "b", "c", "d", *words])
    bigrams = "".join(f"{0.04 * i - 5:.2f}\tb {word}\n-2\t{word} c\n" for i, word in enumerate(words))
    arpa = tmp_path / "lm.arpa"
    arpa.write_text(
        f"\\data\\\nngram 1={n + 6}\nngram 2={2 * n}\n\n\\1-grams:\n{unigrams}\n\\2-grams:\n{bigrams}\n\\end\\\n"
    )
    grammar = Grammar()
    outer = "".join(f"[X] ||| {source} [X,1] ||| {target} [X,1] ||| F=1\n" for source, target in ("yb", "zc", "zd"))
    grammar.read_text("".join(f"[X] ||| x ||| {word} ||| F=1\n" for word in words) + outer)
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("z y x"), ParseOptions(pass_through=0))
    assert forest is not None
    by_rule = np.array([*(-0.01 * i for i in range(n)), 0, 0, -0.5, *[0] * EXTRA_RULES])
    options = SearchOptions(pop_limit=n, k=2 * n, lm_weight=1.0)
    found = search(forest, grammar, LanguageModel(arpa, grammar.vocab), by_rule[forest.app_rule], options)
    sums = [0.03 * i - 5 - 3 - d for i in range(n) for d in (0, 0.5)]
    assert found.score == pytest.approx(sorted(sums, reverse=True)[:n], abs=1e-5)


def test_pruned_search_is_sound_and_repeatable(case: Case) -> None:
    first, second = case.search(50, pop_limit=3), case.search(50, pop_limit=3)
    expected = {tuple(sorted(apps)): score for (_, apps), score in zip(case.all, case.score, strict=True)}
    for name in ("score", "lm", "oov", "words", "apps"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    assert (np.diff(first.score) <= 1e-9).all()
    for score, (_, apps) in zip(first.score, rows(first), strict=True):
        assert score == pytest.approx(expected[tuple(sorted(apps))], abs=1e-4)


def test_pop_limit_one_is_greedy() -> None:
    grammar = Grammar()
    grammar.read_text("[X] ||| x ||| a ||| F=1\n[X] ||| x ||| b ||| F=1\n[S] ||| [X,1] ||| [X,1] c ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("x"), ParseOptions(glue=False, pass_through=0))
    assert forest is not None
    scores = np.where(forest.app_rule == 1, 2.0, 1.0)
    found = search(forest, grammar, None, scores, SearchOptions(pop_limit=1, k=5))
    assert list(found.score) == [3.0]
    both = search(forest, grammar, None, scores, SearchOptions(pop_limit=2, k=5))
    assert list(both.score) == [3.0, 2.0]
    assert (both.lm == 0).all() and (both.oov == 0).all()


def test_sums_without_model(case: Case) -> None:
    found = search(case.forest, case.grammar, None, case.app_scores, SearchOptions(EVERYTHING, len(case.all)))
    expected = sorted((case.app_scores[apps].sum() for _, apps in case.all), reverse=True)
    assert found.score == pytest.approx(expected, abs=1e-9)


def test_ties_keep_a_fixed_order() -> None:
    grammar = Grammar()
    grammar.read_text("".join(f"[X] ||| x ||| w{i} ||| F=1\n" for i in range(30)))
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("x x"), ParseOptions(pass_through=0))
    assert forest is not None
    options = SearchOptions(pop_limit=1000, k=900, unique=True)
    lists = [search(forest, grammar, None, np.zeros(forest.n_apps), options).words for _ in range(2)]
    assert len(lists[0]) == 2 * 900
    assert np.array_equal(*lists)


def test_long_sentence_needs_no_deep_stack(tmp_path: Path) -> None:
    grammar = Grammar()
    grammar.read_text("[X] ||| x ||| a ||| F=1\n[X] ||| x ||| b c ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("x " * 2000), ParseOptions(max_span=1))
    assert forest is not None
    model = LanguageModel(random_arpa(tmp_path / "arpa", 3, random.Random(1)), grammar.vocab)
    scores = np.linspace(0, 1, forest.n_apps)
    found = search(forest, grammar, model, scores, SearchOptions(pop_limit=20, k=100, unique=True, lm_weight=1))
    assert len(found) == 100
    assert len(next(rows(found))[1]) == 4000


def test_error_of_the_model_comes_back(one_case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lscfg.kernel.lm._ngrams", lambda *_: None)  # KenLM is asked, through Python

    class Broken(Vocab):
        def word(self, index: int) -> str:
            raise ZeroDivisionError("no such word")

    broken = Broken()
    grammar = Grammar(broken)
    grammar.read_text("[X] ||| x ||| a b ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("x x"), ParseOptions())
    assert forest is not None
    model = LanguageModel(one_case.path, broken)
    for _ in range(2):  # the model can be used again after a failure
        with pytest.raises(ZeroDivisionError, match="no such word"):
            search(forest, grammar, model, np.zeros(forest.n_apps), SearchOptions())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(one_case: Case, bad: float) -> None:
    scores = one_case.app_scores.copy()
    scores[1] = bad
    with pytest.raises(InputError, match="application 1"):
        search(one_case.forest, one_case.grammar, None, scores, SearchOptions())
    with pytest.raises(InputError, match="weight"):
        search(one_case.forest, one_case.grammar, None, one_case.app_scores, SearchOptions(lm_weight=bad))


def test_limits_are_checked(one_case: Case) -> None:
    for options in (SearchOptions(pop_limit=0), SearchOptions(k=0)):
        with pytest.raises(InputError, match="1 or more"):
            search(one_case.forest, one_case.grammar, None, one_case.app_scores, options)
    with pytest.raises(ValueError, match="application scores"):
        search(one_case.forest, one_case.grammar, None, one_case.app_scores[1:], SearchOptions())


def test_a_number_of_edges_may_exceed_32_bits(one_case: Case) -> None:
    whole, most = kept(one_case, EVERYTHING), kept(one_case, 2**40)
    assert np.array_equal(whole.app, most.app) and np.array_equal(whole.tail, most.tail)


def test_a_language_model_needs_an_order_an_end_and_a_step() -> None:
    step = ffi.addressof(lib, "lscfg_ngrams_step")
    assert step != ffi.NULL
    for order, end, function in ((0, 0, step), (100, 0, step), (3, -1, step), (3, 0, ffi.NULL)):
        assert lib.lscfg_lm_new(order, end, function, ffi.NULL) == ffi.NULL


def test_not_a_language_model(tmp_path: Path) -> None:
    path = tmp_path / "lm"
    path.write_text("hello\n")
    with pytest.raises(InputError, match="not an ARPA file"):
        LanguageModel(path, Vocab())
    with pytest.raises(InputError, match="No such file"):
        LanguageModel(tmp_path / "missing", Vocab())


def test_models_that_would_end_the_process(one_case: Case, tmp_path: Path) -> None:
    """KenLM takes a negative count for a size of memory, and repeats bytes of the file in its messages."""
    text = one_case.path.read_bytes()
    path = tmp_path / "lm"
    for damaged, message in (
        (text.replace(b"ngram 2=", b"ngram 2=-"), "lm:3: damaged ARPA header"),
        (text.replace(b"\\2-grams:\n-", b"\\2-grams:\n\xff"), "not a language model that KenLM can read"),
        (b"\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<s>\n-1\t</s>\n-1\t<unk>\n\n\\end\\\n", "unigram models"),
    ):
        assert damaged != text
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=message):
            LanguageModel(path, Vocab())


def test_what_can_be_extended_only_joins_states(one_case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the list of n-grams that end longer ones the scores are the same."""
    monkeypatch.setattr("lscfg.kernel.lm._ngrams", lambda *_: None)
    expected = one_case.search(len(one_case.all))
    monkeypatch.setattr("lscfg.kernel.lm.MOST_EXTENSIONS", 0)
    found = one_case.search(len(one_case.all))
    assert found.score == pytest.approx(expected.score, abs=1e-4)


def test_compressed_model_is_the_same(one_case: Case, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "lm.gz", "wb") as file:
        file.write(one_case.path.read_bytes())
    model = LanguageModel(tmp_path / "lm.gz", one_case.grammar.vocab)
    options = SearchOptions(10, 20, False, LM_WEIGHT, OOV_WEIGHT)
    found = search(one_case.forest, one_case.grammar, model, one_case.app_scores, options)
    assert np.array_equal(found.score, one_case.search(20, pop_limit=10).score)
