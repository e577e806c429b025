"""chrF and its mean with BLEU as objectives of a tuning, against sacrebleu, brute force and a plain MIRA."""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from rerankers import SETTINGS, Reranker, run
from sacrebleu.metrics import BLEU, CHRF

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from lscfg.kernel.lists import line_search
from lscfg.tuning.mert import MertSettings, mert
from lscfg.tuning.metrics.tuned import TunedMetric
from lscfg.tuning.mira import BACKGROUND, MiraSettings, mira
from lscfg.tuning.objectives import OBJECTIVES, Objective, characters
from lscfg.tuning.pool import Pool
from lscfg.tuning.pro import pro

NAMES = ["chrf", "bleu+chrf"]
LETTERS = "abcde"


def sentence(draw: random.Random, least: int = 0) -> str:
    """A sentence of short words of few letters, so that n-grams match."""
    words = ("".join(draw.choices(LETTERS, k=draw.randint(1, 5))) for _ in range(draw.randint(least, 7)))
    return " ".join(words)


def lists_of(objective: Objective, seed: int) -> tuple[Pool, list[list[str]]]:
    """Random lists for eight sentences, of two features."""
    draw = random.Random(seed)
    pool = Pool([[sentence(draw, 1) for _ in range(8)]], objective)
    texts = [list(dict.fromkeys(sentence(draw) for _ in range(6))) for _ in range(8)]
    pool.add([[Hypothesis(text, {"f": draw.gauss(0, 1), "g": draw.gauss(0, 1)}, 0.0) for text in ts] for ts in texts])
    return pool, texts


@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_sacrebleu(name: str, references: int) -> None:
    draw, objective = random.Random(references), OBJECTIVES[name]
    documents = [[sentence(draw) for _ in range(60)] for _ in range(references)]
    output = [sentence(draw) for _ in range(60)]
    counters = [objective.references(lines) for lines in zip(*documents, strict=True)]
    rows = np.concatenate([c.stats([text.split()]) for c, text in zip(counters, output, strict=True)])
    expected = CHRF().corpus_score(output, documents).score
    single = [CHRF().sentence_score(text, [d[k] for d in documents]).score for k, text in enumerate(output)]
    if name == "bleu+chrf":
        expected = (expected + BLEU(tokenize="none", force=True).corpus_score(output, documents).score) / 2
    else:
        assert objective.sentence_scores(rows) == pytest.approx(np.array(single) / 100, abs=1e-9)
    assert objective.score(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)


def test_marks_of_words_do_not_count() -> None:
    assert characters(["▁ein", "▁ha", "us", "￭."]) == "einhaus."
    objective = OBJECTIVES["chrf"]
    row = objective.references(["▁ein ▁haus ￭."]).stats([["▁ein", "▁ha", "us", "."]])[0]
    assert objective.score(row) == pytest.approx(100)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_results_count_what_tuning_counts(name: str) -> None:
    """Of pieces and joined words, too."""
    draw = random.Random(1)
    output, reference = ([re.sub(r"\b(?=[ab])", "▁", sentence(draw, 4)) + " ￭." for _ in range(30)] for _ in "or")
    objective, metric = OBJECTIVES[name], TunedMetric(name)
    (sums,) = objective.totals([[line] for line in output], [[line] for line in reference])
    statistics = metric.statistics(output, [reference], (), metric.Settings())
    assert objective.score(sums) == pytest.approx(float(metric.score(statistics.sum(axis=0))), abs=1e-4)
    if name == "chrf":
        wanted = [[objective.references([other]).stats([one.split()])[0] for other in output] for one in output]
        assert metric.pairwise(output) == pytest.approx(objective.scores(np.array(wanted)))


@pytest.mark.kernel
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", NAMES)
def test_line_search_against_every_interval(name: str, seed: int) -> None:
    objective = OBJECTIVES[name]
    pool, _ = lists_of(objective, seed)
    lists = pool.packed()
    scores, slopes = lists.scores(np.array([1.0, 0.3])), lists.scores(np.array([0.2, -1.0]))
    step, found = line_search(lists.first, scores, slopes, lists.stats, lists.metric)
    crossings = {
        (scores[i] - scores[j]) / (slopes[j] - slopes[i])
        for begin, end in itertools.pairwise(lists.first.tolist())
        for i, j in itertools.combinations(range(begin, end), 2)
        if slopes[i] != slopes[j]
    }
    ends = [-1e9, *sorted(crossings), 1e9]
    tried = [(a + b) / 2 for a, b in itertools.pairwise(ends) if b - a > 1e-6]
    best = max(objective.score(lists.stats[lists.best(scores + x * slopes)].sum(axis=0)) for x in tried)
    assert found == pytest.approx(best, abs=1e-9)
    assert objective.score(lists.stats[lists.best(scores + step * slopes)].sum(axis=0)) == pytest.approx(found)


def plain_gain(name: str, counts: list[float]) -> float:
    """The score (0 to 1) of smooth counts, times the words of the reference."""
    parts = [counts[3 * n : 3 * n + 3] for n in range(6)]
    parts = [part for part in parts if part[0] > 0 and part[1] > 0]
    precision, recall = (sum(part[2] / part[side] for part in parts) / len(parts) for side in (0, 1))
    score = 5 * precision * recall / (4 * precision + recall)
    if name == "bleu+chrf":
        words = counts[18:]
        log_precision = sum(math.log(words[n] / words[n + 4]) for n in range(4)) / 4
        score = (score + math.exp(log_precision + min(0.0, 1 - words[9] / words[8]))) / 2
    return score * counts[-1]


@pytest.mark.kernel
@pytest.mark.parametrize("name", NAMES)
def test_mira_against_a_plain_one(name: str) -> None:
    pool, _ = lists_of(OBJECTIVES[name], 5)
    lists = [(candidates.features.astype(float), candidates.stats) for candidates in pool.sentences]
    weights, total, steps = np.array([0.5, -0.2]), np.zeros(2), 0
    background = np.concatenate([OBJECTIVES[name].background, BACKGROUND])
    order = np.random.default_rng(3)
    result = mira(pool, {"f": 0.5, "g": -0.2}, MiraSettings(0.05, 0.9, epochs=4), seed=3)
    averages = []
    for _ in range(4):
        for index in order.permutation(len(lists)):
            features, stats = lists[index]
            gains = np.array([plain_gain(name, (background + row).tolist()) for row in stats])
            model = features @ weights
            hope, fear = int((model + gains).argmax()), int((model - gains).argmax())
            loss, change = gains[hope] - gains[fear] - model[hope] + model[fear], features[hope] - features[fear]
            if loss > 0 and change.any():
                weights = weights + min(0.05, loss / (change @ change)) * change
            background = 0.9 * background + stats[hope]
            total, steps = total + weights, steps + 1
        averages.append(total / steps)
    assert result.weights == pytest.approx(dict(zip("fg", max(averages, key=pool.score), strict=True)), rel=1e-6)


@pytest.mark.parametrize("optimiser", ["mira", "mert", "pro"])
def test_lengths_follow_the_objective(optimiser: str) -> None:
    """Of synonyms of unequal length the weights of words and letters choose those of the reference."""
    draw = random.Random(1)
    references, lists = [], []
    for _ in range(40):
        long = ["".join(draw.choices(LETTERS, k=8)) for _ in range(6)]
        texts = [" ".join(word[: 8 - cut] for word in long) for cut in range(5)]
        references.append(" ".join(long))
        lists.append([Hypothesis(text, {"letters": len(text) / 8, "noise": draw.gauss(0, 1)}, 0.0) for text in texts])
    start = {"letters": -0.5, "noise": 0.1}
    pools = {name: Pool([references], objective) for name, objective in OBJECTIVES.items()}
    for pool in pools.values():
        pool.add(lists)
    learn = {"mira": mira, "mert": mert, "pro": pro}[optimiser]
    settings = {"mert": MertSettings(restarts=2)}.get(optimiser)
    for name in NAMES:
        pool = pools[name]
        found = learn(pool, start, settings, 1)
        assert pool.score(pool.vector(start)) < 80 < 99 < pool.score(pool.vector(found.weights))


@pytest.mark.parametrize("name", NAMES)
def test_a_tuning_chooses_by_its_metric(name: str, tmp_path) -> None:
    decoder, settings = Reranker(), replace(SETTINGS, metric=name, iterations=4, patience=4)
    result = run(decoder, tmp_path, settings=settings)
    scores = []
    for record in result.history:
        outputs = [lines[0].text for lines in decoder.decode(decoder.sources, record.weights, 1)]
        bleu = BLEU(tokenize="none", force=True).corpus_score(outputs, decoder.references).score
        chrf = CHRF().corpus_score(outputs, decoder.references).score
        scores.append(chrf if name == "chrf" else (bleu + chrf) / 2)
        assert record.dev_bleu == pytest.approx(bleu, abs=1e-9) and record.score == pytest.approx(scores[-1], abs=1e-9)
    assert result.best_iteration == scores.index(max(scores)) + 1
    again = run(Reranker(), tmp_path, resume=True, settings=replace(settings, iterations=5, patience=5))
    assert again.history[:4] == result.history


def test_other_optimisers_tune_for_bleu_only() -> None:
    with pytest.raises(InputError, match="other tunes for BLEU only; leave out metric = chrf"):
        run(Reranker(), settings=replace(SETTINGS, metric="chrf", optimiser="other"), learn=lambda step: step)
