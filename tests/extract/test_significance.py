"""Significance of Hiero rules: enumeration of sentence pairs, and SciPy's test."""

import math
import random
import re

import numpy as np
import pytest
from helpers import rule_features
from hiero_pairs import extract_pairs
from scipy.stats import hypergeom

from lscfg.extract.extractor import RuleInputs
from lscfg.extract.hiero import Hiero
from lscfg.extract.hiero_settings import HieroSettings
from lscfg.extract.significance import significance, surprise
from lscfg.grammar.select import select_rules


def occurs(side: str, sentence: str) -> bool:
    """Finds the text of a rule's side in a sentence, with one word or more for each nonterminal."""
    words = [r"\S+(?: \S+)*" if re.fullmatch(r"\[(X,)?\d\]", word) else re.escape(word) for word in side.split()]
    return re.search(rf"(?:^| ){' '.join(words)}(?: |$)", sentence) is not None


def random_text(seed: int, pairs: int = 40) -> list[tuple[str, str, str]]:
    """Sentence pairs of few words, so that sides occur often, with monotone and crossing links."""
    draw = random.Random(seed)
    text = []
    for _ in range(pairs):
        source = [draw.choice("abcd") for _ in range(draw.randint(2, 7))]
        order = list(range(len(source)))
        draw.shuffle(order)
        target = [draw.choice([source[k].upper(), "Z"]) for k in order]
        links = " ".join(f"{k}-{place}" for place, k in enumerate(order))
        text.append((" ".join(source), " ".join(target), links))
    return text


@pytest.mark.parametrize("seed", range(4))
def test_significance_is_that_of_enumerated_sentence_pairs(seed):
    text = random_text(seed)
    found = extract_pairs(text)
    values = significance(found.rules, [pair[0] for pair in text], [pair[1] for pair in text])
    assert len(found.rules) > 200 and (found.rules.arity == 2).any()
    for rule in range(len(found.rules)):
        sides = found.rules.src_text(rule), found.rules.tgt_text(rule)
        sides = sides[0], re.sub(r"\[X,(\d)\]", r"[\1]", sides[1])
        there = [(occurs(sides[0], f), occurs(sides[1], e)) for f, e, _ in text]
        source, target, both = sum(f for f, _ in there), sum(e for _, e in there), sum(f and e for f, e in there)
        assert both >= 1  # the pair that the rule comes from
        probability = hypergeom.sf(both - 1, len(text), source, target)
        assert values[rule] == pytest.approx(-math.log(probability) - math.log(len(text)), abs=1e-9)


def test_surprise_is_that_of_the_hypergeometric_distribution():
    draw = random.Random(1)
    cases = []
    for pairs in (1, 2, 7, 30, 1000, 100_000):
        for _ in range(60):
            source, target = draw.randint(0, pairs), draw.randint(0, pairs)
            both = draw.randint(max(0, source + target - pairs), min(source, target))
            cases.append((pairs, source, target, both))
    for pairs in sorted({case[0] for case in cases}):
        source, target, both = np.array([case[1:] for case in cases if case[0] == pairs]).T
        expected = -hypergeom.logsf(both - 1, pairs, source, target)
        assert np.allclose(surprise(pairs, source, target, both), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("pairs", [10, 50_000, 10_000_000])
def test_sides_that_occur_once_and_together_have_significance_0(pairs):
    once = np.array([1])
    assert surprise(pairs, once, once, once)[0] == pytest.approx(math.log(pairs), abs=1e-7)
    assert surprise(pairs, 2 * once, 2 * once, 2 * once)[0] > math.log(pairs)


def test_pairs_without_anything_in_common_are_no_surprise():
    assert surprise(5, np.array([0, 2, 5]), np.array([0, 3, 5]), np.array([0, 0, 5])).tolist() == [0, 0, 0]


@pytest.mark.parametrize("filtered", [False, True])
def test_a_grammar_omits_rules_below_the_threshold_and_keeps_their_counts(tmp_path, filtered):
    text = random_text(9)
    paths = [tmp_path / name for name in "fea"]
    for path, column in zip(paths, zip(*text, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in column))
    wanted = [text[0][0], text[1][0]] if filtered else None
    inputs = RuleInputs(paths[0], paths[1], (paths[2],), wanted=wanted)
    every = Hiero().rules(inputs, HieroSettings())
    values = significance(every.rules, *([pair[side] for pair in text] for side in (0, 1)))
    sizes = []
    for least in (-1.0, 0.0, 0.001, 2.0):
        found = Hiero().rules(inputs, HieroSettings(significance=least))
        selection = select_rules(found, 0)
        assert selection.kept.tolist() == np.flatnonzero(values >= least - 1e-6).tolist()
        assert selection.dropped["not significant"] == len(values) - len(selection.kept)
        assert np.array_equal(rule_features(found), rule_features(every))
        sizes.append(len(selection.kept))
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1] > 0 and "not significant" not in every.barred()
