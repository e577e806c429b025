"""Rescoring: utilities equal sacrebleu's, columns join by line, tuning finds what a new feature is worth."""

import math

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis, write_kbest
from lscfg.tuning.mbr import expected_utilities, posterior
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.metrics.pairwise import bleu_utility, chrf_utility
from lscfg.tuning.rescore import ListDecoder, agreed, distinct, ranked, ranked_by_risk, read_lists, tune_lists
from lscfg.tuning.tune import TuneSettings


def random_texts(n, seed, words="a b c dd e"):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words.split(), int(size))) for size in rng.integers(1, 12, n)]


@pytest.mark.parametrize("seed", [1, 2])
def test_utilities_are_those_of_sacrebleu(seed):
    texts = ["", "a", "ü b c", *random_texts(12, seed)]
    bleu, chrf = BLEU(tokenize="none", force=True, effective_order=True), CHRF()
    for found, metric in ((bleu_utility(texts), bleu), (chrf_utility(texts), chrf)):
        truth = [[metric.sentence_score(one, [other]).score for other in texts] for one in texts]
        truth[0][0] = 100.0  # the empty text equals itself
        np.testing.assert_allclose(found, truth, atol=1e-9)


def test_other_metrics_have_the_utility_of_their_statistics():
    """An error rate counts negatively; the score of each pair is that of the corpus of one sentence."""
    texts = ["a b c", "a c", "b c d e"]
    truth = [[-TER().corpus_score([one], [[other]]).score for other in texts] for one in texts]
    np.testing.assert_allclose(METRICS["ter"].pairwise(texts), truth)


def test_expected_utilities_are_sums_over_the_list():
    texts, scores = ["a b", "a c", "a b", "d"], [-1.0, -2.0, -1.5, -0.5]
    for name in ("bleu", "chrf", "ter"):
        utility = METRICS[name].pairwise
        p = np.exp(0.7 * np.array(scores))
        truth = [sum(p[k] * utility([one, other])[0, 1] for k, other in enumerate(texts)) / p.sum() for one in texts]
        np.testing.assert_allclose(expected_utilities(texts, posterior(scores, 0.7), name), truth)


def test_lists_of_two_texts_in_one_file_are_warned_of(tmp_path, caplog):
    lines = ["0 ||| a ||| LM=1 ||| 1", "0 ||| b ||| LM=1 ||| 1", "1 ||| c ||| LM=1 ||| 1"]
    (tmp_path / "lists").write_text("\n".join(lines) + "\n")
    read_lists(tmp_path / "lists", {})
    assert not caplog.text
    (tmp_path / "lists").write_text("\n".join([*lines, *lines]) + "\n")
    assert [len(one) for one in read_lists(tmp_path / "lists", {})] == [4, 2]
    assert caplog.text.count("lists:4: a sentence occurs again after others") == 1


def test_risk_chooses_what_is_like_the_others():
    one = [Hypothesis("x y", {}, 0.1), Hypothesis("a b c", {}, 0.0), Hypothesis("a b", {}, 0.0)]
    found = ranked_by_risk([one], "bleu", 1.0)
    assert found[-1].text == "x y" and found[0].text != "x y"
    assert ranked_by_risk([one], "chrf", 1000.0)[0].text == "x y"  # certain of the best
    assert ranked_by_risk([], "bleu", 1.0) == [] == ranked_by_risk([[], []], "bleu", 1.0)
    same = [Hypothesis("a", {"f": 1.0}, -1.0), Hypothesis("a", {"f": 2.0}, 0.0)]
    assert [h.features["f"] for h in ranked_by_risk([same], "bleu", 1.0)] == [2.0, 1.0]


def test_each_system_has_an_equal_share():
    """However many hypotheses a system has, and whatever its scores are."""
    many = [Hypothesis(text, {}, score) for text, score in (("a b c d", 70.0), ("a b c e", 70.0), ("a b", 69.0))]
    few, none = [Hypothesis("a b c e", {}, -3.0)], []
    for name in ("bleu", "chrf", "ter"):
        utility = METRICS[name].pairwise
        found = {one.text: one.score for one in ranked_by_risk([many, none, few], name, 1.0)}
        p = np.exp([0.0, 0.0, -1.0]) / (2 + np.exp(-1.0)) / 2
        weight = {"a b c d": p[0], "a b c e": p[1] + 0.5, "a b": p[2]}
        for text, value in found.items():
            assert value == pytest.approx(sum(w * utility([text, other])[0, 1] for other, w in weight.items()))
    assert ranked_by_risk([many, few], "bleu", 1.0)[0].text == "a b c e"


def test_what_systems_agree_on_is_first_by_risk_under_each_scale():
    rng = np.random.default_rng(3)
    systems = [
        [Hypothesis(text, {}, float(rng.normal())) for text in random_texts(9, seed, "a b c")] for seed in (1, 2)
    ]
    scales = (0.0, 0.3, 5.0)
    assert agreed([*systems, []], scales) == [ranked_by_risk(systems, "bleu", one)[0].text for one in scales]
    assert agreed([[], []], scales) == ["", "", ""]


def test_equal_translations_of_systems_stay_in_the_order_of_the_systems():
    """Sums of floats in another order would otherwise decide."""
    texts = ["e e b c a d a", "e e b c c d f", "e e b c e d f"]
    one, two, three = ([Hypothesis(text, {}, -1.0)] for text in texts)
    assert ranked_by_risk([one, two, three], "bleu", 1.0)[0].text == texts[1]
    assert ranked_by_risk([one, three, two], "bleu", 1.0)[0].text == texts[2]


@pytest.fixture
def lists(tmp_path):
    """Three sentences; the score of every hypothesis is wrong, and a column knows the right one."""
    references, found, column = random_texts(30, 5, "u v w x y z"), [], []
    rng = np.random.default_rng(1)
    for reference in references:
        texts = [reference, *random_texts(4, int(rng.integers(1000)), "u v w x y z")]
        order = rng.permutation(len(texts)).tolist()
        found.append([Hypothesis(texts[k], {"Old": float(k), "Same": 1.0}, float(k)) for k in order])
        column += [1.0 if k == 0 else 0.0 for k in order]
    write_kbest(tmp_path / "lists.gz", found)
    (tmp_path / "column").write_text("".join(f"{value}\n" for value in column))
    (tmp_path / "reference").write_text("".join(f"{line}\n" for line in references))
    (tmp_path / "weights").write_text("Old 1\n")
    return tmp_path


def test_columns_are_features_of_their_lines(lists):
    found = read_lists(lists / "lists.gz", {"New": lists / "column"})
    references = (lists / "reference").read_text().splitlines()
    assert len(found) == 30
    for one, reference in zip(found, references, strict=True):
        assert [h.features["New"] for h in one] == [float(h.text == reference and not h.features["Old"]) for h in one]
        assert ranked(one, {"New": 1.0})[0].text == reference
        assert ranked(one, {"Old": 2.0})[0].score == 8.0


def test_tuning_finds_the_new_feature(lists):
    found = read_lists(lists / "lists.gz", {"New": lists / "column"})
    references = [(lists / "reference").read_text().splitlines()]
    result = tune_lists(found, references, {"Old": 1.0}, TuneSettings(kbest=5))
    assert result.history[0].dev_bleu < 60 and result.history[result.best_iteration - 1].dev_bleu > 99
    assert result.weights["New"] > 0


def test_a_decoder_of_lists_keeps_the_contract():
    one = [Hypothesis("a", {"f": 1.0}, 0.0), Hypothesis("b", {"f": 3.0}, 0.0), Hypothesis("a", {"f": 2.0}, 0.0)]
    decoder = ListDecoder([one, []])
    found = decoder.decode(["", ""], {"f": 1.0}, 2)
    assert [(h.text, h.score) for h in found[0]] == [("b", 3.0), ("a", 2.0)] and found[1] == []
    assert [h.text for h in decoder.decode(["", ""], {"f": 1.0}, 3, unique=True)[0]] == ["b", "a"]
    assert [h.features["f"] for h in distinct(one)] == [1.0, 3.0]


def run(folder, *words):
    return main(["rescore", str(folder / "lists.gz"), *map(str, words), "--quiet"])


def test_the_command_tunes_and_applies(lists, capsys):
    column, tuned, out = f"New={lists / 'column'}", lists / "tuned", lists / "out"
    common = ("--scores", column, "-w")
    assert run(lists, *common, lists / "weights", "--reference", lists / "reference", "--tuned", tuned) == 0
    assert capsys.readouterr().out == ""
    tuning = ("--reference", lists / "reference", "--tuned", tuned)
    assert run(lists, *common, lists / "weights", *tuning, "-k", 1) == 0
    assert [line.split(" ||| ")[1] for line in capsys.readouterr().out.splitlines()] == [
        *(lists / "reference").read_text().splitlines()
    ]
    assert run(lists, *common, tuned, "-o", out) == 0
    assert out.read_text() == (lists / "reference").read_text()
    assert run(lists, *common, tuned, "-o", out, "-k", 2, "--unique", "--mbr", "chrf", "--scale", 0.5) == 0
    again = read_lists(out, {})
    assert len(again) == 30 and all(len({h.text for h in one}) == len(one) <= 2 for one in again)
    assert "New" in again[0][0].features
    assert run(lists, "--mbr", "bleu") == 0
    assert len(capsys.readouterr().out.splitlines()) == 30


def test_the_command_joins_lists_of_several_systems(lists, capsys):
    right = read_lists(lists / "lists.gz", {"New": lists / "column"})
    write_kbest(lists / "sure", [[max(one, key=lambda h: h.features["New"])] for one in right])
    words = ["rescore", str(lists / "lists.gz"), str(lists / "sure"), str(lists / "sure"), "--quiet"]
    assert main([*words, "--mbr", "bleu", "-o", str(lists / "out")]) == 0
    assert (lists / "out").read_text() == (lists / "reference").read_text()
    assert main(words) == 1 and "use --mbr" in capsys.readouterr().err
    assert main([*words, "--mbr", "bleu", "-w", str(lists / "weights")]) == 1
    assert "leave out -w" in capsys.readouterr().err
    (lists / "short").write_text("0 ||| x ||| Old=1 ||| 1\n")
    assert main(["rescore", str(lists / "lists.gz"), str(lists / "short"), "--mbr", "bleu", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "short: lists of 1 sentence," in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ((), ["good"]),
        (("-k", 1), ["good"]),
        (("-k", 9), ["good", "bad", "bad"]),
        (("-k", 9, "--unique"), ["good", "bad"]),
    ],
)
def test_without_weights_the_scores_of_the_lists_rank(lists, words, texts):
    """Other programs write lists in any order."""
    scored = [("bad", -5.0), ("good", -1.0), ("bad", -2.0)]
    write_kbest(lists / "lists.gz", [[Hypothesis(text, {"Old": 1.0}, score) for text, score in scored]])
    assert run(lists, *words, "-o", lists / "out") == 0
    lines = (lists / "out").read_text().splitlines()
    assert [line.split(" ||| ")[1] if words else line for line in lines] == texts


def test_sentences_without_a_list_stay_empty(lists, capsys):
    (lists / "few").write_text("1 ||| x ||| Old=1 ||| 1\n")
    assert main(["rescore", str(lists / "few")]) == 0
    said = capsys.readouterr()
    assert said.out == "\nx\n" and "1 of 2 sentences have no hypothesis" in said.err


@pytest.mark.parametrize(
    ("column", "words", "message"),
    [
        ("1\n2\n", (), "2 scores for 150 hypotheses"),
        ("x\n" * 150, (), "column:1: 'x' is not a number"),
        ("nan\n" * 150, (), "column:1: 'nan' is not finite"),
        ("1\n" * 149 + "1", (), "column"),
        (None, ("--tuned", "x"), "--tuned and --reference go together"),
        (None, ("-k", "0"), "--kbest must be 1"),
        (None, ("-r",), "-r has no effect without -k; give both, or neither"),
        (None, ("--scale", "-1"), "the scale of scores must be 0 to 1,000,000, not -1"),
        (None, ("--scale", "1e308"), "the scale of scores must be 0 to 1,000,000, not 1e+308"),
        (None, ("--scale", "3"), "--scale needs --mbr"),
        (None, ("--seed", "7"), "--optimiser and --seed need --tuned"),
        (None, ("--optimiser", "pro"), "--optimiser and --seed need --tuned"),
        (None, ("--tuned", "x", "--reference", "empty"), "empty: is empty; give a reference for each sentence"),
        ("1e100\n" * 150, ("--tuned", "x", "--reference", "reference"), "too large for 32 bits (3.4e38); scale it"),
        (None, ("--scores", "Old={column}"), "have a feature Old already"),
        (None, ("--scores", "New={column}"), "names 'New' twice"),
        (None, ("--scores", "{column}"), "NAME=FILE"),
        (None, ("--scores", "a|||b={column}"), "cannot be named"),
    ],
)
def test_bad_input_is_one_clear_error(lists, capsys, column, words, message):
    if column is not None:
        (lists / "column").write_text(column)
    (lists / "empty").write_text("")
    files = {name: str(lists / name) for name in ("empty", "reference")}
    words = [files.get(word, word.format(column=lists / "column")) for word in words]
    assert run(lists, "--scores", f"New={lists / 'column'}", "-w", lists / "weights", *words) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def test_new_features_need_weights(lists, capsys):
    assert run(lists, "--scores", f"New={lists / 'column'}") == 1
    assert "find those of new features with --tuned" in capsys.readouterr().err
    assert (
        main(["rescore", str(lists / "lists.gz"), "--scores", f"New={lists / 'column'}", "-w", str(lists / "weights")])
        == 0
    )
    assert "lists without a weight, which count as 0: New, Same" in capsys.readouterr().err
    (lists / "far").write_text("7000000000 ||| x ||| Old=1 ||| 1\n")
    with pytest.raises(InputError, match="hypotheses; are lines missing"):
        read_lists(lists / "far", {})
    (lists / "far").write_text("-1 ||| x ||| Old=1 ||| 1\n")
    with pytest.raises(InputError, match="sentence -1: numbers of sentences begin at 0"):
        read_lists(lists / "far", {})
    with pytest.raises(InputError, match="no k-best list in it"):
        (lists / "far").write_text("")
        read_lists(lists / "far", {})
    assert math.isfinite(read_lists(lists / "lists.gz", {}, 40)[0][0].score)
