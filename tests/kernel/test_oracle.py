"""The search for the translation closest to references, against the enumeration of all derivations."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from searches import EVERYTHING, WORDS, derivations, random_grammar

from lscfg.errors import InputError
from lscfg.kernel import Forest, Grammar, ParseOptions
from lscfg.kernel.search import KBest, OracleOptions, SearchOptions, oracle, search

EXACT = OracleOptions(EVERYTHING, EVERYTHING)


def grams(text: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))


@cache
def most_of(references: tuple[tuple[int, ...], ...], n: int) -> Counter[tuple[int, ...]]:
    """The largest count of each n-gram in a reference."""
    most: Counter[tuple[int, ...]] = Counter()
    for reference in references:
        most |= grams(reference, n)
    return most


def smoothed_bleu(words: Sequence[int], references: Sequence[Sequence[int]], add: float = 0.1) -> float:
    """BLEU of a sentence by its definition; the shortest reference counts for the brevity penalty."""
    if not words:
        return 0.0
    total = 0.0
    for n in range(1, 5):
        most, mine = most_of(tuple(map(tuple, references)), n), grams(words, n)
        total += math.log(((mine & most).total() + add) / (mine.total() + add))
    shortest = min(len(reference) for reference in references)
    return math.exp(total / 4 + min(0.0, 1 - shortest / len(words)))


class Case:
    """A sentence under a random grammar, with all its translations, and references that share words with them."""

    def __init__(self, seed: int):
        rng = random.Random(seed)
        self.grammar: Grammar = random_grammar(rng)
        options = ParseOptions(max_span=10, glue=seed % 2 == 0, pass_through=1, goal=int(seed % 2 == 0))
        sentence = " ".join(rng.choices("xyz" if seed % 2 == 0 else "xy", k=3 + seed % 2))
        forest = self.grammar.parse(self.grammar.vocab.add_line(sentence), options)
        assert forest is not None
        self.forest: Forest = forest
        self.derivations = [(tuple(words), tuple(sorted(apps))) for words, apps in derivations(forest, self.grammar)]
        self.all = [words for words, _ in self.derivations]
        self.references = [list(rng.choice(self.all)) + self.ids(rng.choices(WORDS, k=rng.randint(0, 2)))]
        for _ in range(seed % 3):
            self.references.append(self.ids(rng.choices(WORDS, k=rng.randint(1, 7))))

    def ids(self, words: Sequence[str]) -> list[int]:
        return [self.grammar.vocab.add(word) for word in words]

    def oracle(self, options: OracleOptions = EXACT) -> KBest:
        references = [np.array(reference, np.int32) for reference in self.references]
        return oracle(self.forest, self.grammar, references, options)


def texts(found: KBest) -> list[tuple[int, ...]]:
    bounds = found.word_offsets
    return [tuple(found.words[bounds[h] : bounds[h + 1]].tolist()) for h in range(len(found))]


@pytest.fixture(scope="module")
def cases() -> Callable[[int], Case]:
    """Cases by their seeds, each made once."""
    return cache(Case)


@pytest.fixture(scope="module", params=range(9))
def case(request: pytest.FixtureRequest, cases: Callable[[int], Case]) -> Case:
    return cases(request.param)


def test_without_limits_every_state_has_a_translation_and_the_best_is_first(case: Case) -> None:
    found = case.oracle()
    scores = {words: smoothed_bleu(words, case.references) for words in {*case.all}}
    assert found.score[0] == pytest.approx(max(scores.values()), rel=1e-12)
    for words, score in zip(texts(found), found.score, strict=True):
        assert score == pytest.approx(scores[words], rel=1e-12)
    assert len(set(texts(found))) == len(found)
    # what is left out has an equal in the list
    assert {round(s, 10) for s in scores.values()} == {round(s, 10) for s in found.score.tolist()}


def test_derivations_give_their_translations(case: Case) -> None:
    found = case.oracle()
    known = {*case.derivations}
    for h, words in enumerate(texts(found)):
        apps = found.apps[found.app_offsets[h] : found.app_offsets[h + 1]].tolist()
        assert (words, tuple(sorted(apps))) in known


def test_no_choice_of_a_decoder_is_better_and_narrower_searches_are_not_either(case: Case) -> None:
    best = case.oracle().score[0]
    scores = np.random.default_rng(1).normal(size=case.forest.n_apps)
    for words in texts(search(case.forest, case.grammar, None, scores, SearchOptions(EVERYTHING, 50))):
        assert smoothed_bleu(words, case.references) <= best + 1e-12
    for limits in (OracleOptions(1, 1), OracleOptions(20, 3)):
        assert case.oracle(limits).score[0] <= best + 1e-12


def test_default_limits_find_most_of_it(cases: Callable[[int], Case]) -> None:
    found = [case.oracle(OracleOptions()).score[0] / case.oracle().score[0] for case in map(cases, range(9))]
    assert np.mean(found) > 0.99


@pytest.mark.parametrize(("order", "reference"), [("[1] [2]", "a b"), ("[2] [1]", "b a")])
def test_what_is_at_a_border_keeps_translations_apart(order: str, reference: str) -> None:
    """Two translations of x that differ only in the place of a word of the reference."""
    grammar = Grammar()
    grammar.read_text("[X] ||| x ||| z a z ||| F=1\n[X] ||| x ||| z z a ||| F=1\n[X] ||| x ||| a z z ||| F=1\n")
    grammar.read_text(f"[X] ||| y ||| b ||| F=1\n[X] ||| [X,1] [X,2] ||| {order} ||| F=1\n")
    grammar.finish()
    options = ParseOptions(max_span=10, glue=False, pass_through=0, goal=0)
    forest = grammar.parse(grammar.vocab.add_line("x y"), options)
    assert forest is not None
    found = oracle(forest, grammar, [grammar.vocab.add_line(reference)], EXACT)
    best = grammar.vocab.add_line("z z a b" if reference == "a b" else "b a z z").tolist()
    assert texts(found)[0] == tuple(best)


def test_three_tails_of_a_rule_count_together() -> None:
    grammar = Grammar()
    grammar.read_text(
        "[X] ||| x ||| a ||| F=1\n[X] ||| x ||| b ||| F=1\n[X] ||| y ||| c ||| F=1\n"
        "[X] ||| [X,1] u [X,2] v [X,3] ||| [3] [1] [2] ||| F=1\n"
    )
    grammar.finish()
    forest = grammar.parse(
        grammar.vocab.add_line("x u y v x"), ParseOptions(max_span=10, glue=False, pass_through=0, goal=0)
    )
    assert forest is not None
    reference = grammar.vocab.add_line("b a c")
    found = oracle(forest, grammar, [reference], EXACT)
    assert texts(found)[0] == tuple(reference.tolist()) and found.score[0] == 1.0
    assert len(found) == 4


def test_bad_arguments() -> None:
    case = Case(1)
    with pytest.raises(InputError, match="at least one reference"):
        oracle(case.forest, case.grammar, [], EXACT)
    with pytest.raises(InputError, match="more than 255 times"):
        oracle(case.forest, case.grammar, [np.zeros(256, np.int32)], EXACT)
    for limits in (OracleOptions(0, 1), OracleOptions(1, 0), OracleOptions(1, 1, 0.0), OracleOptions(1, 1, math.nan)):
        with pytest.raises(InputError):
            case.oracle(limits)
    empty = oracle(case.forest, case.grammar, [np.empty(0, np.int32)], EXACT)
    assert len(empty)
