"""Questions of phrase-sense disambiguation and their measures, by hand and on planted text."""

import dataclasses
import json
import math

import kenlm
import numpy as np
import pytest
from categories import RULES, random_parameters, saved, table_of
from estimates import add_loglinear, estimate_mle

from lscfg.cli import main
from lscfg.context.loglinear import LoglinearSettings
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.extract.phrases import phrase_tokens
from lscfg.grammar.tokens import left_out
from lscfg.io.write import write_lines
from lscfg.kernel.lm import PhraseScorer
from lscfg.model.parameters import Parameters
from lscfg.study.disambiguation import InventorySettings, Questions
from lscfg.study.mrr import Candidate, ScoreEvaluator, measure_scores

TRAIN = [("b", "B")] * 3 + [("b", "C")] * 2 + [("b", "D"), ("a", "A"), ("a", "A"), ("c", "B"), ("c", "B")]
HELD = [("b", "C"), ("b", "B"), ("b", "D"), ("a", "A"), ("a", "E"), ("b", "B")]
"""Of these b-D is no option, being a singleton; a has one option; a-E was never seen."""


def words(pairs):
    return derive([f for f, _ in pairs], [e for _, e in pairs], ["0-0"] * len(pairs))


def questions():
    return Questions.held_out(words(TRAIN), words(HELD), InventorySettings())


def test_questions_by_hand():
    asked = questions()
    assert len(asked.choices) == 3 and asked.trivial == 1 and asked.sentence.tolist() == [0, 1, 5]
    texts = [asked.inventory.rules.tgt_text(rule) for rule in asked.rule.tolist()]
    assert texts == ["B", "C"] * 3 and asked.choices.right.tolist() == [1, 2, 4]
    assert asked.target_lengths().tolist() == [1] * 6
    base = ScoreEvaluator(asked).base()
    assert base["P(e|f)"][:2] == pytest.approx(np.log([3 / 6, 2 / 6]))
    assert base["P(f|e)"][:2] == pytest.approx(np.log([3 / 5, 1]))


def test_mean_reciprocal_rank_by_hand():
    evaluator, trivial = ScoreEvaluator(questions()), ScoreEvaluator(questions(), trivial=1)
    assert evaluator.mean_rank(evaluator.base()["P(e|f)"]) == (pytest.approx((1 / 2 + 1 + 1) / 3), pytest.approx(2 / 3))
    assert trivial.mean_rank(evaluator.base()["P(e|f)"])[0] == pytest.approx((1 / 2 + 1 + 1 + 1) / 4)
    assert evaluator.mean_rank(np.zeros(6)) == (pytest.approx(1 / 1.5), 0)  # all equal: the middle rank


def test_no_question():
    with pytest.raises(InputError, match="no token has a source phrase with two options"):
        Questions.held_out(words(TRAIN), words([("a", "A")]), InventorySettings())
    with pytest.raises(InputError, match="only in even or only in odd sentences"):
        measure_scores(ScoreEvaluator(Questions.held_out(words(TRAIN), words(HELD[:1]), InventorySettings())), [])


def test_models_of_several_categories_are_refused(tmp_path):
    path = saved(random_parameters(table_of(RULES, ("A", "B")), (2, 3), 1), tmp_path / "m")
    with pytest.raises(InputError, match="m: has several categories"):
        ScoreEvaluator(questions()).candidates(path)


def test_tokens_of_the_training_text():
    train = words(TRAIN * 40)
    asked = Questions.of_tokens(train, InventorySettings(), 0.25)
    out = left_out(phrase_tokens(train).places, 0.25)
    assert 0.15 < out.mean() < 0.35 and asked.inventory.count.sum() == (~out).sum()
    assert {*asked.sentence.tolist()} <= {*np.nonzero(out)[0].tolist()}


def test_tokens_of_a_place_are_left_out_under_all_alignments():
    """A token that remains would give away the translation of the one that is asked for."""
    once, twice = words(TRAIN * 40), dataclasses.replace(words(TRAIN * 80), alignments=2)
    out, both = (left_out(phrase_tokens(train).places, 0.25) for train in (once, twice))
    assert np.array_equal(both, np.tile(out, 2)) and 0.15 < out.mean() < 0.35
    asked = Questions.of_tokens(twice, InventorySettings(), 0.25)
    kept = phrase_tokens(twice).without(0.25).places
    places = {(pair, *span) for pair, span in zip(asked.pair.tolist(), asked.span[:, :2].tolist(), strict=True)}
    assert not places & {*map(tuple, kept[:, 1:4].tolist())}
    assert phrase_tokens(once).without(0.25).places.tolist() == phrase_tokens(once).places[~out].tolist()


def test_language_scores_are_kenlms(tmp_path):
    text = ["a b c d", "a c b", "b c d a", "d c"] * 3
    write_lines(tmp_path / "t", text)
    assert main(["lm", str(tmp_path / "t"), "-o", str(tmp_path / "lm"), "--order", "3", "--discount-fallback"]) == 0
    scorer, model = PhraseScorer(tmp_path / "lm"), kenlm.Model(str(tmp_path / "lm"))
    for line in ("a b c d a b", "x c", "d"):
        sentence = line.split()
        full = [score for score, _, _ in model.full_scores(line)]
        for i in range(len(sentence)):
            for j in range(i + 1, len(sentence) + 1):
                (found,) = scorer.score(sentence[:i], [sentence[i:j]], sentence[j:])
                end = min(j + 2, len(sentence) + 1)
                assert found == pytest.approx([sum(full[i:end]), end - i], abs=1e-5)


def ambiguous(n, seed):
    """b is B or C by the word before it, now and then the other way."""
    rng = np.random.default_rng(seed)
    source, target = [], []
    for _ in range(n):
        first, flip = rng.choice(["x", "y"]), rng.random() < 0.1
        source.append(f"{first} b z")
        target.append(f"X {'B' if (first == 'x') != flip else 'C'} Z")
    return source, target, ["0-0 1-1 2-2"] * n


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Derivations, a model with the context of all tokens, one without some, and a language model, as files."""
    folder = tmp_path_factory.mktemp("mrr")
    train, held = derive(*ambiguous(300, 1)), derive(*ambiguous(100, 2))
    train.save(folder / "train")
    held.save(folder / "held")
    tokens, source = phrase_tokens(train), ambiguous(300, 1)[0]
    for name, share in (("all", 0.0), ("less", 0.25)):
        model = add_loglinear(estimate_mle(train), tokens.without(share), source, LoglinearSettings(min_word=1))
        model.about.update({"left out": share} if share else {})
        model.save(folder / name)
    write_lines(folder / "t", ambiguous(300, 1)[1])
    assert main(["lm", str(folder / "t"), "-o", str(folder / "lm"), "--order", "2", "--discount-fallback"]) == 0
    return folder


def figures(*words):
    assert main(["inspect", "choices", "--measure", "translations", *map(str, words)]) == 0


def test_planted_context_adds(planted, tmp_path, capsys):
    options = ("--train", planted / "train", "--held-out", planted / "held", "--lm", planted / "lm")
    figures(planted / "all", *options, "-o", tmp_path / "f")
    content = json.loads((tmp_path / "f").read_text())
    scores = {score["name"]: score for score in content["scores"]}
    assert content["questions"] == 100 and content["base"]["features"] == ["LM", "length", "P(e|f)", "P(f|e)"]
    context = scores["all context"]
    assert context["mrr"] > 0.9 > scores["P(e|f)"]["mrr"] and context["adds"] > 0.2 > 2 * context["error"]
    assert context["loss"] < 0.45 and scores["P(e|f)"]["loss"] == pytest.approx(math.log(2), abs=0.05)
    assert "all context" in capsys.readouterr().out


def test_thesis_protocol(planted, tmp_path, capsys):
    options = ("--train", planted / "train", "--set", "leave_out=0.25")
    figures(planted / "less", *options, "--set", "trivial=true", "-o", tmp_path / "f")
    content = json.loads((tmp_path / "f").read_text())
    assert content["protocol"] == "thesis" and content["trivial"] > 0 and 50 < content["questions"] < 110
    assert main(["inspect", "choices", "--measure", "translations", str(planted / "all"), *map(str, options)]) == 1
    assert "all: the context model was learned without 0 % of the tokens, not 25 %; learn it with --leave-out 0.25" in (
        capsys.readouterr().err
    )
    model = Parameters.load(planted / "less")
    model.about["left out of"] = 7
    model.save(tmp_path / "others")
    assert main(["inspect", "choices", "--measure", "translations", str(tmp_path / "others"), *map(str, options)]) == 1
    said = capsys.readouterr().err
    assert "others: the context model left out a share of 7 tokens, not of the 900 tested; learn it with" in said


def test_trees_of_several_alignments_are_one_pair():
    """In the halves and in the standard error."""
    train, text, found = derive(*ambiguous(300, 1)), ambiguous(101, 2), []
    for copies in (1, 2):
        held = dataclasses.replace(derive(*[lines * copies for lines in text]), alignments=copies)
        evaluator = ScoreEvaluator(Questions.held_out(train, held, InventorySettings()))
        drawn = np.tile(np.random.default_rng(3).random(len(evaluator.questions.rule) // copies), copies)
        made = evaluator.measure(Candidate("", drawn, drawn), evaluator.losses([*evaluator.base().values()]))
        found.append([made[name] for name in ("mrr", "first", "loss", "adds", "error")])
    assert found[0] == pytest.approx(found[1], rel=1e-6) and found[0][-1] > 0


def test_copies_and_oracles(planted):
    from lscfg.extract.derive import Derivations

    train, held = (Derivations.load(planted / name) for name in ("train", "held"))
    evaluator = ScoreEvaluator.of(Questions.held_out(train, held, InventorySettings()), planted / "lm")
    losses = evaluator.losses([*evaluator.base().values()])
    copy = evaluator.measure(Candidate("copy", evaluator.base()["LM"], evaluator.base()["LM"]), losses)
    assert abs(copy["adds"]) < 1e-3
    told = np.zeros(len(evaluator.questions.rule))
    told[evaluator.choices.right] = 1
    oracle = evaluator.measure(Candidate("oracle", told, told), losses)
    assert oracle["adds"] == pytest.approx(losses.mean(), abs=1e-2) and oracle["mrr"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--measure", "rules", "m"], "--held-out is missing"),
        (["--measure", "rules", "--held-out", "{held}"], "no models"),
        (["--held-out", "{held}", "--set", "leave_out=0.1"], "leave_out selects tokens of --train"),
        (["--set", "leave_out=1"], "--set leave_out: leave_out must be less than 1, not 1"),
        (["--held-out", "{held}", "--set", "min_count=0"], "--set min_count: min_count must be at least 1"),
        (["--held-out", "{held}", "--lm", "{held}"], "held: not text but a safetensors file"),
    ],
)
def test_bad_options(planted, capsys, options, message):
    words = [option.format(held=planted / "held") for option in options]
    assert main(["inspect", "choices", "--measure", "translations", "--train", str(planted / "train"), *words]) == 1
    assert message in capsys.readouterr().err


def test_a_model_without_context(planted, tmp_path, capsys):
    estimate_mle(derive(*ambiguous(9, 1))).save(tmp_path / "m")
    assert (
        main(
            [
                "inspect",
                "choices",
                "--measure",
                "translations",
                str(tmp_path / "m"),
                "--train",
                str(planted / "train"),
                "--held-out",
                str(planted / "held"),
            ]
        )
        == 1
    )
    assert "m: the model has no context model; add one with lscfg context" in capsys.readouterr().err
