"""The verdict: each sentence by the figures that choose it, and the figures themselves."""

import re
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from little_report import little_content, little_manifest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.lib_ter import BeamEditDistance

from lscfg.corpus.edits import word_edits
from lscfg.tuning.bleu import HYPOTHESIS_LENGTH, REFERENCE_LENGTH, WIDTH, length_ratio
from lscfg.tuning.metrics.tuned import TunedMetric
from lscfg.tuning.objectives import OBJECTIVES
from lscfg.tuning.report.content import headline
from lscfg.tuning.report.page import render
from lscfg.tuning.report.verdict import Comparison, Figures, length_error, needed_sentences, sentences, verdict
from lscfg.tuning.report.warnings import result_warnings

GOOD = Figures("LATENT", 31.4, 2.9, 300, 200_000, 1, 0.1, 0.2, 0.3, 0.5, 1.0, 1.0)
"""A result without a fault, of a single system."""

CLOSE = Comparison("LATENT", "MIN", 0.88, 0.24, 1e-4, 0.75)

MEANING = (
    "LATENT reaches BLEU 31.4 ± 2.9 on 300 test sentences: 10% of the translations equal a reference, 20% need one word"
    " changed, 30% more than half of the words."
)


def test_a_good_result_of_one_system():
    assert sentences(GOOD) == [
        f"{MEANING} They help to understand a text but are not ready to publish."
        " A difference from the reference need not be an error.",
        "The training text has 200,000 pairs. This run drew no learning curve (lscfg run --learning-curve), so the"
        " effect of more text is not known.",
        "Next: read the sentences with the largest losses in the report.",
    ]


def test_a_learning_curve_gives_the_effect_of_more_text():
    points = [{"sentence pairs": n, "test_bleu": bleu} for n, bleu in ((1000, 18.12), (2000, 21), (4000, 23.4))]
    twice = {"gain": 2.64, "low": 1.36, "high": 3.9}
    figures = replace(GOOD, training_pairs=4000, curve={"system": "MIN", "points": points, "twice the text": twice})
    text = (
        "The training text has 4,000 pairs. MIN trained on a quarter, a half and all of them reaches BLEU 18.1, 21.0"
        " and 23.4. If this trend continues, twice the text gains about +2.6 BLEU (+1.4 to +3.9)."
    )
    assert text in sentences(figures)
    assert sentences(figures)[-1] == "Next: add training text; on this curve each doubling still gains BLEU."
    flat = {"system": "MIN", "points": points, "twice the text": {"gain": 0.1, "low": -0.6, "high": 0.8}}
    assert "about +0.1 BLEU (−0.6 to +0.8)." in sentences(replace(figures, curve=flat))[1]
    assert sentences(replace(figures, curve=flat))[-1].startswith("Next: read the sentences")


def test_pieces_are_not_called_words():
    """In the verdict and in the warnings, of each side by itself."""
    content = replace(little_content(), units=("word", "piece"), unknown_words=[9, 0, 0])
    for row in content.results["systems"]:
        row["test_length_ratio"] = 1.3
    said = " ".join([*verdict(content), *result_warnings(content)])
    assert "need one piece changed" in said and "more than half of the pieces" in said
    assert said.count("times the pieces of the references") > 1 and "of the words in the test source" in said
    said = " ".join([*verdict(replace(content, units=("piece", "word"))), *result_warnings(content)])
    assert "need one word changed" in said and "without such pieces" in said


@pytest.mark.parametrize(
    ("changes", "use"),
    [(0.15, "little or no"), (0.16, "drafts"), (0.4, "drafts"), (0.41, "understand"), (0.66, "topic"), (3.0, "topic")],
)
def test_use_follows_the_share_of_words_to_change(changes, use):
    assert use in sentences(replace(GOOD, changes=changes))[0]


TUNED = replace(GOOD, metric="(BLEU + chrF2) / 2", bleu=1.2)
"""The good result of a run that tuned for another metric."""


def test_each_sentence_names_the_metric_of_tuning():
    points = [{"sentence pairs": n, "test_tuned": score} for n, score in ((1000, 18.12), (2000, 21), (4000, 23.4))]
    curve = {"system": "MIN", "points": points, "twice the text": {"gain": 2.64, "low": 1.36, "high": 3.9}}
    more = {"unknown": 0.02, "known_score": 35.0, "unknown_score": 20.0, "training_pairs": 4000, "curve": curve}
    found = sentences(replace(TUNED, comparison=CLOSE, **more))
    begin = "LATENT reaches (BLEU + chrF2) / 2 = 31.4 ± 2.9, the metric of tuning, and BLEU 1.2 on 300 test sentences:"
    assert found[0].startswith(begin)
    assert "the difference of 0.88 in (BLEU + chrF2) / 2 may be chance" in found[1]
    assert "; (BLEU + chrF2) / 2 is 35.0 on sentences without such words" in found[2]
    assert "reaches (BLEU + chrF2) / 2 = 18.1, 21.0 and 23.4." in found[3]
    assert "twice the text gains about +2.6 in (BLEU + chrF2) / 2 (" in found[3]
    assert found[4] == "Next: add training text; on this curve each doubling still gains (BLEU + chrF2) / 2."
    known = sentences(replace(TUNED, comparison=replace(CLOSE, p=0.0001)))[1]
    assert known.endswith("reliably shows differences of about 2.1 in (BLEU + chrF2) / 2 and more.")
    same = sentences(replace(TUNED, comparison=replace(CLOSE, gain=0.0, p=1.0)))[1]
    assert same == "LATENT and MIN reach the same (BLEU + chrF2) / 2."


APART = (
    "This test set cannot tell LATENT and MIN apart: the difference of 0.88 BLEU may be chance (p\u00a0=\u00a00.2400)."
)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {"p": 0.0001},
            "LATENT is better than MIN (p\u00a0≤\u00a00.0001); this test set reliably shows differences of about 2.1"
            " BLEU and more.",
        ),
        ({}, f"{APART} If the difference is real, about 1,800 test sentences would show it."),
        ({"deviation": 0.2}, f"{APART} Another test set of this size would probably decide."),
        (
            {"deviation": 9.0},
            f"{APART} So small a difference would need more than 100,000 sentences; treat them as equal.",
        ),
        ({"gain": 0.0, "p": 1.0}, "LATENT and MIN reach the same BLEU."),
    ],
)
def test_whether_systems_can_be_told_apart(changed, text):
    assert sentences(replace(GOOD, comparison=replace(CLOSE, **changed)))[1] == text


@pytest.mark.parametrize(
    ("length", "dev_length", "text"),
    [
        (
            0.9,
            1.0,
            "Translations are too short: 0.90 times the words of the references, but 1.00 in",
        ),
        (0.9, 0.91, "and 0.91 in the development set. Look there for overlong, untranslated or empty lines."),
        (1.2, 1.2, "Translations are too long: 1.20 times the words of the references and 1.20 in"),
    ],
)
def test_length_with_its_reason(length, dev_length, text):
    found = sentences(replace(GOOD, length=length, dev_length=dev_length))
    assert text in found[1] and found[-1] == "Next: check the development set, then run again."


def test_a_difference_of_lengths_by_chance_is_no_difference_of_sets():
    found = replace(GOOD, length=0.949, dev_length=0.96, length_error=0.006)
    assert "and 0.96 in the development set. Look there for" in sentences(found)[1]
    assert "the two sets differ" in sentences(replace(found, length_error=0.005))[1]


def test_the_error_of_lengths_is_that_of_samples():
    """Of pairs of sets drawn from the sentences, against the deviation of the difference of their ratios."""
    rng = np.random.default_rng(3)
    stats = np.zeros((400, WIDTH), dtype=np.int64)
    stats[:, REFERENCE_LENGTH] = rng.integers(3, 30, 400)
    stats[:, HYPOTHESIS_LENGTH] = np.maximum(stats[:, REFERENCE_LENGTH] + rng.integers(-4, 3, 400), 1)
    for others in (100, 400):
        drawn = [[length_ratio(stats[rng.integers(0, 400, n)].sum(axis=0)) for n in (400, others)] for _ in range(2000)]
        assert length_error(stats, others) == pytest.approx(np.std([one - other for one, other in drawn]), rel=0.1)
    assert length_error(stats, 0) == length_error(stats, 400)


def test_unknown_words_may_explain_the_length():
    found = sentences(replace(GOOD, length=0.9, dev_length=0.89, unknown=0.156))
    assert found[1].endswith("Look there for overlong, untranslated or empty lines, or the many unknown words.")
    assert found[-1].startswith("Next: add text that contains the unknown words")


def test_unknown_words():
    text = "2.0% of the words in the test source do not occur in the training text"
    assert sentences(replace(GOOD, unknown=0.02))[1] == f"{text}."
    found = sentences(replace(GOOD, unknown=0.02, known_score=35.0, unknown_score=20.0))
    assert found[1] == f"{text}; BLEU is 35.0 on sentences without such words and 20.0 on the others."


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"unknown": 0.06}, "add text that contains the unknown words"),
        ({"training_pairs": 5000}, "add training text"),
        ({"comparison": CLOSE}, "enlarge the test set, or tune several times (--runs 3)."),
        ({"comparison": CLOSE, "tunings": 3}, "enlarge the test set."),
    ],
)
def test_the_next_step(changed, text):
    assert sentences(replace(GOOD, **changed))[-1].startswith(f"Next: {text}")


def test_the_named_size_shows_the_difference():
    """Simulates tests on sets of that size: about 80 % of them find a true difference."""
    rng = np.random.default_rng(1)
    size, gain, spread = 300, 0.5, 8.0
    wanted = needed_sentences(size, gain, spread / sqrt(size))
    found = rng.normal(gain, spread, (2000, wanted)).mean(axis=1) * sqrt(wanted) / spread
    assert (abs(found) > 1.96).mean() == pytest.approx(0.8, abs=0.03)


def test_edits_are_those_of_sacrebleu():
    rng = np.random.default_rng(2)
    for _ in range(200):
        one, other = (rng.choice(list("abcd"), rng.integers(0, 9)).tolist() for _ in range(2))
        expected = BeamEditDistance(other)(one)[0] if one and other else max(len(one), len(other))
        assert word_edits(one, other) == expected


def test_figures_of_translations():
    content = little_content()
    content = replace(content, unknown_words=[0, 2, 0])
    content.outputs["SPECTRAL-16"] = ["she goes to <b> school .", "this is & a pencil", "no word is right"]
    found = Figures.of(content)
    assert (found.equal, found.one_word, found.over_half) == (1 / 3, 1 / 3, 1 / 3)
    assert found.changes == 5 / 12 and (found.system, found.sentences, found.tunings) == ("SPECTRAL-16", 3, 2)
    assert found.unknown == 2 / sum(len(line.split()) for line in content.sources)
    for score, kept in ((found.known_score, [0, 2]), (found.unknown_score, [1])):
        parts = [[document[k] for k in kept] for document in (content.outputs["SPECTRAL-16"], *content.references)]
        assert score == pytest.approx(BLEU(tokenize="none", force=True).corpus_score(parts[0], parts[1:]).score)
    assert (found.comparison.better, found.comparison.worse, found.comparison.gain) == ("SPECTRAL-16", "MIN", 1.75)


def test_a_baseline_that_leads_is_the_better_one():
    content = little_content()
    content.results["systems"][0] |= {"test_bleu": 30.0}
    found = Figures.of(content).comparison
    assert (found.better, found.worse, found.gain) == ("MIN", "SPECTRAL-16", 4.75)


def tuned_content():
    """The little content, as if tuned for the mean of BLEU and chrF2, by which MLE is the best."""
    content = little_content()
    content.results["tuned for"] = "bleu+chrf"
    for score, item in zip((30.0, 34.0, 32.0, 31.0), content.results["systems"], strict=True):
        item |= {"dev_tuned": score, "dev_tuned_deviation": 0.5, "test_tuned": score, "test_tuned_deviation": 0.5}
        item |= {"test_tuned_mean": score, "test_tuned_ci": 2.5, "p_tuned": None if score == 30.0 else 0.03}
        for run in item["runs"]:
            run |= {"test_tuned": score, "dev_tuned": score, "dev_tuned_by_iteration": [20.0, 3.0, score, 29.0]}
    return content


def test_figures_and_the_page_follow_the_metric_of_tuning():
    content = replace(tuned_content(), unknown_words=[0, 2, 0])
    found, lines = Figures.of(content), content.outputs["MLE"]
    assert (found.system, found.score, found.interval, found.bleu) == ("MLE", 34.0, 2.5, 23.5)
    compared = found.comparison
    assert (compared.better, compared.worse, compared.gain, compared.p) == ("MLE", "MIN", 4.0, 0.03)
    kept = [lines[0], lines[2]], [[document[0], document[2]] for document in content.references]
    parts = [metric.corpus_score(*kept).score for metric in (BLEU(tokenize="none", force=True), CHRF())]
    assert found.known_score == pytest.approx(sum(parts) / 2)
    title = "(BLEU + chrF2) / 2"
    assert headline(content.results) == (
        f"MLE has the best test {title}, 34.00: +4.00 against MIN (30.00), significant (p\u00a0=\u00a00.0300)."
    )
    page = render(content, little_manifest())
    for text in (f"<th>test {title}</th>", f"Test {title}: mean (dot)", f"Dev {title} by tuning iteration", "34.00"):
        assert text in page.replace('<th scope="col">', "<th>"), text


@pytest.mark.parametrize(
    ("name", "title", "parts"),
    [
        ("chrf", "chrF2", [CHRF()]),
        ("ter", "100 - TER", [TER()]),
        ("bleu+ter", "(BLEU + 100 - TER) / 2", [BLEU(tokenize="none", force=True), TER()]),
        ("bleu+chrf", "(BLEU + chrF2) / 2", [BLEU(tokenize="none", force=True), CHRF()]),
    ],
)
def test_the_metric_of_tuning_is_the_mean_of_those_of_sacrebleu(name, title, parts):
    content = little_content()
    metric, lines = TunedMetric(name), content.outputs["MIN"]
    stats = metric.statistics(lines, content.references, (), metric.Settings())
    scores = [one.corpus_score(lines, content.references).score for one in parts]
    wanted = [100 - score if isinstance(one, TER) else score for one, score in zip(parts, scores, strict=True)]
    sums = np.stack([stats.sum(axis=0)] * 2)
    assert (metric.TITLE, metric.score(sums).tolist()) == (title, pytest.approx([np.mean(wanted)] * 2))


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if name != "bleu"])
def test_each_objective_of_tuning_can_be_compared(name):
    assert OBJECTIVES[name].title == TunedMetric(name).TITLE


def test_report_begins_with_the_verdict():
    content = little_content()
    page = render(content, little_manifest())
    assert page.index('id="verdict"') < page.index('id="results"')
    for text in verdict(content):
        assert text in page
    assert len(re.findall("<li>Next: ", page)) == 1
