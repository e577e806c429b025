"""Edges of metrics, risk and tests: empty texts, ties, one sentence, and numbers at the ends of their range."""

import itertools
import warnings

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.moses_bridge.config import read_moses_weights
from lscfg.tuning.evaluate import evaluate
from lscfg.tuning.mbr import expected_utilities, posterior
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.rescore import ranked, ranked_by_risk, tune_lists
from lscfg.tuning.tune import TuneSettings

TEXTS = ["", "a", "a b", "a b c d e f", "ü", "。"]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_a_text_is_the_best_hypothesis_for_itself(name):
    """All equal texts have one utility, an empty text included, and no other text has more."""
    table = METRICS[name].pairwise(TEXTS)
    assert np.isfinite(table).all() and len({*np.diag(table).round(9).tolist()}) == 1
    assert (table <= np.diag(table) + 1e-9).all()
    assert not np.signbit(table[table == 0]).any()


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_a_certain_hypothesis_is_chosen_though_it_is_empty(name):
    for best, other in itertools.permutations(TEXTS, 2):
        lists = [[Hypothesis(other, {}, -50.0), Hypothesis(best, {}, 0.0)]]
        found = ranked_by_risk(lists, name, 1.0)
        assert found[0].text == best or found[0].score == pytest.approx(found[1].score, abs=1e-9)


EXTREME = [1e308, -1e308, 1.7976931348623157e308, 5e-324, -0.0, 0.0, 1.0]


@pytest.mark.parametrize("scale", [0.0, 5e-324, 0.3, 1.0, 1e6])
def test_scores_at_the_ends_of_their_range(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scores in itertools.permutations(EXTREME, 3):
            found = posterior(scores, scale)
            assert found.sum() == pytest.approx(1) and (found >= 0).all()
            assert found.argmax() == int(np.argmax(scores)) or found.max() == pytest.approx(found[np.argmax(scores)])
        ranked_by_risk([[Hypothesis("a b", {}, 1e308), Hypothesis("a c", {}, -1e308)]], "chrf", scale)


@pytest.mark.parametrize("scale", [-1.0, 1.1e6, 1e308, float("inf"), float("nan")])
def test_a_scale_out_of_range_is_refused(scale):
    with pytest.raises(InputError, match="scale of scores must be 0 to 1,000,000"):
        posterior([0.0, 1.0], scale)


def test_scores_that_are_no_numbers_are_refused():
    for bad in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(InputError, match="not finite"):
            posterior([0.0, bad], 1.0)
    for values in ({"f": 1e308, "g": 1e308}, {"f": 1e308, "g": -1e308}):
        with pytest.raises(InputError, match="the score of 'a' is not finite; give smaller weights"):
            ranked([Hypothesis("a", values, 0.0)], {"f": 1e308, "g": 1e308})


def test_a_utility_that_is_no_number_is_refused(monkeypatch):
    monkeypatch.setattr(type(METRICS["bleu"]), "pairwise", lambda self, texts: np.full((len(texts),) * 2, np.nan))
    with pytest.raises(InputError, match="BLEU of two of the translations is not finite"):
        expected_utilities(["a", "b"], np.array([0.5, 0.5]), "bleu")


# ---- ties of permutation tests ----


@pytest.mark.parametrize("differ", [1, 2, 3])
def test_systems_that_differ_in_few_sentences_are_not_significant(differ):
    """All deals are as far apart for one sentence; with n sentences of one sign, 2 of 2^n deals are."""
    reference = [f"{n}a {n}b {n}c {n}d {n}e" for n in range(40)]
    other = ["x x x x x"] * differ + reference[differ:]
    found = evaluate({"A": [reference], "B": [other]}, [reference], "A", metrics=["bleu", "chrf", "ter"], trials=999)
    for score in found.systems[1].metrics.values():
        assert score.p_randomised == pytest.approx(2 / 2**differ if differ > 1 else 1.0, abs=0.05)
        assert score.p_bootstrap > 0.03


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_equal_scores_of_different_outputs(metric):
    """Each output gains a line and loses one: no difference, so the least significant p-values."""
    reference = ["a b c d e", "f g h i j"]
    outputs = {"A": [["x x x x x", "f g h i j"]], "B": [["a b c d e", "x x x x x"]]}
    score = evaluate(outputs, [reference], "A", metrics=[metric]).systems[1].metrics[METRICS[metric].TITLE]
    assert score.p_randomised == 1.0 and score.p_bootstrap > 0.3


def test_one_sentence_is_never_significant():
    found = evaluate({"A": [["a b c d"]], "B": [["a x y z"]]}, [["a b c d"]], "A", metrics=["bleu", "chrf", "ter"])
    for score in found.systems[1].metrics.values():
        assert (score.p_bootstrap, score.p_randomised) == (1.0, 1.0)


# ---- k-best lists with a name twice, and numbers ----


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 ||| a ||| A=1 A=2 ||| 1", "feature A is given twice"),
        ("0 ||| a ||| A=1_0 ||| 1", "'1_0' is not a number"),
        ("0 ||| a ||| A=٣ ||| 1", "is not a number"),
        ("0 ||| a ||| A=nan ||| 1", "'nan' is not finite"),
        ("0 ||| a ||| A=1e999 ||| 1", "'1e999' is not finite"),
        ("0 ||| a ||| A=1 ||| -inf", "'-inf' is not finite"),
        ("0_0 ||| a ||| A=1 ||| 1", "'0_0' is not a whole number"),
        (f"{'9' * 5000} ||| a ||| A=1 ||| 1", "is not a whole number"),
    ],
)
def test_bad_lines_of_lists(line, message, tmp_path, capsys):
    (tmp_path / "k").write_text(f"0 ||| b ||| A=1 ||| 2\n{line}\n")
    assert main(["rescore", str(tmp_path / "k")]) == 1
    said = capsys.readouterr().err
    assert "k:2: " in said and message in said and said.count("\n") == 1


# ---- lists of Moses ----

MOSES = (
    "0 ||| a ||| LM0= -1 TM= 1 2 ||| -1 ||| 0-0\n0 ||| b ||| LM0= -2 TM= 1 3 ||| -2 ||| 0-0\n2 ||| c ||| LM0= 0 ||| 0\n"
)


def test_lists_of_moses_are_read(tmp_path, capsys):
    """A feature of several values is Name_0, Name_1 and so on."""
    (tmp_path / "k").write_text(MOSES)
    (tmp_path / "w").write_text("LM0 -1\nTM_0 1\nTM_1 1\n")
    assert main(["rescore", str(tmp_path / "k"), "-w", str(tmp_path / "w"), "-k", "1", "--quiet"]) == 0
    assert capsys.readouterr().out == "0 ||| b ||| LM0=-2 TM_0=1 TM_1=3 ||| 6\n2 ||| c ||| LM0=0 ||| 0\n"
    assert main(["rescore", str(tmp_path / "k"), "--mbr", "bleu", "--quiet"]) == 0
    assert capsys.readouterr().out == "a\n\nc\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 ||| a ||| LM0= x ||| 1", "'x' is not a number"),
        ("0 ||| a ||| LM0= 1 LM0= 2 ||| 1", "feature LM0 is given twice"),
        ("0 ||| a ||| TM= 1 2 TM_1= 2 ||| 1", "feature TM_1 is given twice"),
        ("0 ||| a ||| LM0= ||| 1", "feature LM0 without a value"),
        ("0 ||| a ||| LM0=1 ||| 1", "value 'LM0=1' without a name"),
    ],
)
def test_bad_lines_of_moses(line, message, tmp_path, capsys):
    (tmp_path / "k").write_text(f"{MOSES}{line}\n")
    assert main(["rescore", str(tmp_path / "k")]) == 1
    said = capsys.readouterr().err
    assert "k:4: not an n-best line" in said and message in said


def test_other_readers_tell_a_list_of_moses():
    with pytest.raises(InputError, match="'LM0=' has no value; only lscfg rescore reads lists of Moses"):
        parse_hypothesis(MOSES.splitlines()[0].rpartition(" |||")[0])


def test_a_name_twice_in_weights_of_moses(tmp_path):
    (tmp_path / "moses.ini").write_text("[weight]\nLM0= 1\nTM= 1 2\nLM0= 2\n")
    with pytest.raises(InputError, match=r"moses\.ini:4: weight LM0 is given twice"):
        read_moses_weights(tmp_path / "moses.ini")


# ---- numbers of grammars and weights ----

NOT_NUMBERS = ("nan", "inf", "-inf", "1e999", "1_0", "٣", "0x10", "", "1,5", "--1", "e5")
NUMBERS = {
    ".5": 0.5,
    "5.": 5.0,
    "-0.0": 0.0,
    "1e-400": 0.0,
    "5e-324": 5e-324,
    "+2": 2.0,
    "9" * 30: 1e30,
    "-1e300": -1e300,
}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "ini").write_text("formalism=scfg\ngrammar=g\n")
    (tmp_path / "g").write_text("[X] ||| x ||| a ||| A=1 B=1\n")
    (tmp_path / "w").write_text("A 1\nB 1\n")
    (tmp_path / "s").write_text("x\n")
    return tmp_path


def decoded(files):
    return main(["decode", str(files / "s"), "-c", str(files / "ini"), "-w", str(files / "w"), "-k", "1"])


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_what_is_no_number_is_refused_by_line(text, files, capsys):
    (files / "w").write_text(f"B 1\nA {text}\n")
    assert decoded(files) == 1
    assert "w:2: expected 'name value', found" in capsys.readouterr().err
    (files / "w").write_text("A 1\nB 1\n")
    (files / "g").write_text(f"[X] ||| y ||| b ||| A=1\n[X] ||| x ||| a ||| B=1 A={text}\n")
    assert decoded(files) == 1
    assert "g:2: 'A=" in capsys.readouterr().err


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_at_the_ends_of_their_range_are_right(text, files, capsys):
    (files / "g").write_text(f"[X] ||| x ||| a ||| B=1 A={text}\n")
    assert decoded(files) == 0
    assert float(capsys.readouterr().out.split(" ||| ")[-1]) == pytest.approx(1 + NUMBERS[text])
    (files / "g").write_text("[X] ||| x ||| a ||| A=1 B=1\n")
    (files / "w").write_text(f"A {text}\nB 1\n")
    assert decoded(files) == 0
    assert float(capsys.readouterr().out.split(" ||| ")[-1]) == pytest.approx(1 + NUMBERS[text])


def test_scores_that_overflow_are_refused(files, capsys):
    (files / "g").write_text("[X] ||| x ||| a ||| A=1e200 B=1e308\n")
    (files / "w").write_text("A 1e200\nB 1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decoded(files) == 1
    assert "a rule for 'x' has a score that is not finite; give smaller weights" in capsys.readouterr().err


@pytest.mark.parametrize("features", ["A=1 A=2", "B=1 A=1 C=3 A=1", "1 PhraseModel_0=2", "A=1 B=2 B=2"])
def test_a_rule_names_each_feature_once(features, files, capsys):
    """cdec keeps the last value, and weights files and lists refuse a name that comes twice."""
    (files / "g").write_text(f"[X] ||| y ||| b ||| A=1 B=1\n[X] ||| x ||| a ||| {features}\n")
    assert decoded(files) == 1
    assert "g:2: the rule names the feature '" in capsys.readouterr().err


@pytest.mark.parametrize("optimiser", ["mira", "mert", "pro"])
@pytest.mark.parametrize("value", [1e308, 1e38, 1e-310, -0.0, 1e-45])
def test_optimisers_take_or_refuse_features_and_weights(optimiser, value):
    """Never a weight that is not finite, nor a warning of NumPy."""
    texts = [f"w{n} a b c d" for n in range(8)]
    lists = [
        [Hypothesis(one, {"f": value, "g": 1.0}, 0.0), Hypothesis("w1 x", {"f": -1.0, "g": -value}, 0.0)]
        for one in texts
    ]
    for weight in (1.0, 1e308, 1e-308, -0.0, 1e90):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                found = tune_lists(lists, [texts], {"f": weight}, TuneSettings(iterations=2, optimiser=optimiser))
            except InputError:
                found = None
        assert (found is None) == (1e308 in (value, weight))
        assert found is None or np.isfinite([*found.weights.values()]).all()
