"""RIBES, METEOR-ES and TER as metrics and as objectives: against enumeration, figures by hand and sacrebleu."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, TER

from lscfg._kernel import lib
from lscfg.formats.kbest import Hypothesis
from lscfg.kernel.lists import line_search
from lscfg.tuning.evaluate import corpus_score
from lscfg.tuning.mert import MertSettings, mert
from lscfg.tuning.meteor import meteor, statistics
from lscfg.tuning.metrics.metric import further_metrics, scored_metrics
from lscfg.tuning.mira import mira
from lscfg.tuning.objectives import OBJECTIVES, OWN
from lscfg.tuning.pool import Pool
from lscfg.tuning.pro import pro
from lscfg.tuning.ribes import matches, ribes

NEW = ["ter", "ribes", "meteor-es"]
WORDS = ["walk", "walks", "walked", "house", "houses", "a"]


def sentence(draw: random.Random, least: int = 0, most: int = 6) -> str:
    """A sentence of few kinds of words, some of equal stems."""
    return " ".join(draw.choices(WORDS, k=draw.randint(least, most)))


def stem(word: str) -> str:
    return word.removesuffix("s").removesuffix("ed")


def enumerated(hypothesis: list[str], reference: list[str]) -> tuple[int, int, int]:
    """Exact matches, matches of stems and chunks of the best of all matchings."""
    best = (0, 0, 0)
    options = [[None, *(k for k, other in enumerate(reference) if stem(word) == stem(other))] for word in hypothesis]
    for chosen in itertools.product(*options):
        used = [k for k in chosen if k is not None]
        if not used or len({*used}) < len(used):
            continue
        exact = sum(k is not None and reference[k] == word for word, k in zip(hypothesis, chosen, strict=True))
        follows = sum(None not in pair and pair[1] == pair[0] + 1 for pair in itertools.pairwise(chosen))
        best = max(best, (len(used), exact, follows - len(used)))
    return best[1], best[0] - best[1], -best[2]


@pytest.mark.parametrize("seed", range(4))
def test_matchings_are_the_best_of_all(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        hypothesis, reference = sentence(draw, most=5).split(), sentence(draw).split()
        found = statistics(hypothesis, reference, stem)
        assert found == [*enumerated(hypothesis, reference), len(hypothesis), len(reference)]


def test_meteor_by_hand() -> None:
    # five of six words match, in two chunks: P = 5/6, R = 5/5
    row = np.array(statistics(["on", "the", "mat", "sat", "a", "cat"], ["a", "cat", "on", "the", "mat"], stem))
    assert row.tolist() == [5, 0, 2, 6, 5]
    mean = 10 * (5 / 6) / (1 + 9 * 5 / 6)
    assert meteor(row) == pytest.approx(100 * mean * (1 - 0.5 * (2 / 5) ** 3), abs=1e-9)
    assert meteor(np.zeros(5)) == 0


def plain_ribes(hypothesis: list[str], reference: list[str]) -> float:
    """RIBES from all contexts of each word, listed by length, left ones first."""
    if not hypothesis or not reference:
        return float(hypothesis == reference)
    text, other = ["<h>", *hypothesis, "</h>"], ["<r>", *reference, "</r>"]  # ends match nothing
    ranks = []
    for i in range(1, len(text) - 1):
        for window in range(len(text)):
            found = []
            for begin, end in ((i - window, i + 1), (i, i + window + 1)):
                gram = text[begin:end] if begin > 0 and end < len(text) else None
                both = [[k for k in range(len(one)) if one[k : k + window + 1] == gram] for one in (text, other)]
                if gram and all(len(places) == 1 for places in both):
                    found.append(both[1][0] + i - begin)
            if found:
                ranks.append(found[0])
                break
    penalty = min(1.0, math.exp(1 - len(reference) / len(hypothesis))) ** 0.1
    share = (len(ranks) / len(hypothesis)) ** 0.25
    if len(ranks) < 2:
        return penalty * share if len(ranks) == len(reference) == 1 else 0.0
    pairs = [a < b for a, b in itertools.combinations(ranks, 2)]
    return sum(pairs) / len(pairs) * share * penalty


@pytest.mark.parametrize("seed", range(4))
def test_ribes_of_all_contexts(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(100):
        hypothesis, reference = sentence(draw).split(), sentence(draw).split()
        assert ribes(hypothesis, reference) == pytest.approx(plain_ribes(hypothesis, reference), abs=1e-12)


def test_ribes_by_hand() -> None:
    assert ribes(["a", "b", "c", "d"], ["a", "b", "c", "d"]) == 1
    assert ribes(["d", "c", "b", "a"], ["a", "b", "c", "d"]) == 0
    assert matches(["the", "cat", "the", "dog"], ["the", "dog", "the", "cat"]) == [2, 3, 0, 1]
    assert ribes(["b", "c", "a", "x"], ["a", "b", "c"]) == pytest.approx(1 / 3 * 0.75**0.25)
    assert ribes(["a", "b"], ["a", "b", "c"]) == pytest.approx(math.exp(-0.5) ** 0.1)


@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("mixed", [False, True])
def test_objectives_are_the_metrics(name: str, references: int, mixed: bool) -> None:
    draw, objective = random.Random(references), OBJECTIVES[f"bleu+{name}" if mixed else name]
    documents = [[sentence(draw, 1) for _ in range(50)] for _ in range(references)]
    output = [sentence(draw) for _ in range(50)]
    counters = [objective.references(lines) for lines in zip(*documents, strict=True)]
    rows = np.concatenate([c.stats([text.split()]) for c, text in zip(counters, output, strict=True)])
    if name == "ter":
        expected, error = 100 - TER().corpus_score(output, documents).score, 1e-9
    else:
        expected, error = corpus_score(name, output, documents), 1e-4 if name == "ribes" else 1e-9
    if mixed:
        expected = (expected + BLEU(tokenize="none", force=True).corpus_score(output, documents).score) / 2
    assert objective.score(rows.sum(axis=0)) == pytest.approx(expected, abs=error)
    order = draw.sample(range(50), 50)
    assert objective.score(rows[order].sum(axis=0)) == objective.score(rows.sum(axis=0))


@pytest.mark.kernel
@pytest.mark.parametrize("name", [name for name in OBJECTIVES if "chrf" not in name])
def test_the_kernel_scores_as_python_does(name: str) -> None:
    """A search along a direction without slopes returns the score of the first hypotheses."""
    draw, objective = random.Random(1), OBJECTIVES[name]
    pool = Pool([[sentence(draw, 1) for _ in range(30)]], objective)
    stats = np.concatenate([one.references.stats([sentence(draw).split()]) for one in pool.sentences])
    first, zeros = np.arange(31), np.zeros(30)
    _, found = line_search(first, zeros, zeros, stats, objective.kernel)
    assert found == pytest.approx(objective.score(stats.sum(axis=0)), abs=1e-9)
    assert stats.shape[1] == objective.width == lib.lscfg_stats_width(objective.kernel)


@pytest.mark.parametrize("optimiser", [mira, mert, pro])
@pytest.mark.parametrize("name", ["ter", "ribes", "meteor-es", "bleu+ribes"])
def test_optimisers_find_the_order_of_the_reference(name: str, optimiser) -> None:
    """Of two orders of words, one feature tells the right one."""
    draw = random.Random(2)
    references, found = [], []
    for _ in range(30):
        words = draw.sample("abcdefghij", 6)
        wrong = words[::-1]
        references.append(" ".join(words))
        noise = draw.gauss(0, 1)
        texts = {" ".join(wrong): 0.0, " ".join(words): 1.0}
        found.append([Hypothesis(text, {"right": right, "noise": noise}, 0.0) for text, right in texts.items()])
    pool = Pool([references], OBJECTIVES[name])
    pool.add(found)
    start = {"right": -0.5, "noise": 0.1}
    settings = {mert: MertSettings(restarts=2)}.get(optimiser)
    learned = optimiser(pool, start, settings, 1)
    assert pool.score(pool.vector(start)) < 90 < 99 < pool.score(pool.vector(learned.weights))


def test_metrics_of_an_experiment() -> None:
    assert further_metrics() == ["chrf", "ter"]
    assert {*further_metrics("bleu+ribes")} == {"chrf", "ter", "ribes"}
    assert "meteor-es" in further_metrics("meteor-es") and {*OWN} == {"chrf", "ter", "ribes", "meteor-es"}
    assert [*scored_metrics({"test_RIBES": 1.0, "test_bleu": 2.0})] == ["test_RIBES"]
