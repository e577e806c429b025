"""The names of ``lscfg`` itself: what a notebook uses, and that asking for them is cheap."""

import doctest
import subprocess
import sys
import weakref

import numpy as np
import pytest
from forests import build

import lscfg
from lscfg.api import records
from lscfg.api.records import Records
from lscfg.errors import InputError
from lscfg.lm.estimate import DEFAULT_FALLBACK, estimate_ngrams, write_arpa


@pytest.fixture
def model(tmp_path):
    build(tmp_path, 3, 4, signed=False)
    return lscfg.load(tmp_path / "m")


def test_the_package_has_its_public_names():
    assert {*lscfg.__all__} <= {*dir(lscfg)} and all(getattr(lscfg, name) for name in lscfg.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Decodr'"):
        lscfg.Decodr  # noqa: B018


def test_importing_the_package_imports_nothing_else():
    code = "import sys, lscfg; print('numpy' in sys.modules, lscfg.InputError.__name__, 'numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "InputError", "False"]


def test_models_say_what_they_are(model):
    assert repr(model) == "<LatentModel m: 9 rules, m=3>" and (len(model), model.rank) == (9, 3)
    assert sum(state["share"] for state in model.states) == pytest.approx(1) and len(model.states) == 3


def test_analyses_are_records(model):
    found = model.analyse("b a c a", least=0)
    assert found.translation == found.explanation.translation and np.isfinite(found.log_g)
    assert repr(found).startswith("<SentenceAnalysis of 4 words: '") and "best derivation" in str(found)
    assert "<details" in found._repr_html_()
    best = found.best()
    assert best[0]["span"] == (0, 4) and all("features" not in rule for rule in best)
    assert {span["span"] for span in found.spans()} >= {rule["span"] for rule in best}
    rules = found.rules()
    for span in found.spans():
        total = sum(rule["marginal"] for rule in rules if rule["span"] == span["span"])
        assert total == pytest.approx(span["marginal"]) and span["of"] <= 10
    states = [state for state in found.states() if state["span"] == (0, 4)]
    assert sum(state["share"] for state in states) == pytest.approx(1)
    nothing = model.analyse("")
    assert nothing.translation is None and not nothing.rules() and "no parse" in repr(nothing)
    with pytest.raises(InputError, match="top must be 1 to"):
        model.analyse("a", top=0)


def test_signed_models_have_no_states(tmp_path):
    build(tmp_path, 3, 4, signed=True)
    model = lscfg.load(tmp_path / "m")
    assert model.states == [] and model.analyse("a b").states() == []


def test_records_are_tables(tmp_path):
    assert doctest.testmod(records).failed == 0 and doctest.testmod(records).attempted == 3
    found = Records([{"a": 1.23456789, "b": None, "c": "<x>"}])
    assert str(found).splitlines()[1].split() == ["1.235", "–", "<x>"]
    assert "&lt;x&gt;" in found._repr_html_() and "<x>" not in found._repr_html_()
    many = Records({"k": k} for k in range(100))._repr_html_()
    assert many.count("<tr>") == 61 and "and 40 more" in many
    assert str(Records()) == "no records" and Records()._repr_html_() == "<p>no records</p>"


def test_records_become_frames(model):
    frame = model.analyse("a b").rules().frame()
    assert list(frame.columns)[:3] == ["span", "source", "target"] and len(frame) > 2


def test_a_missing_pandas_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Records([{"a": 1}]).frame()


@pytest.fixture
def decoder(tmp_path):
    """A configuration with a language model."""
    (tmp_path / "t.en").write_text("x y\ny x\nz z\n")
    write_arpa(estimate_ngrams(tmp_path / "t.en", 2, discount_fallback=DEFAULT_FALLBACK), tmp_path / "lm.arpa")
    (tmp_path / "grammar").write_text("[X] ||| a ||| x ||| EgivenF=0.1\n[X] ||| a ||| y ||| EgivenF=0.2\n")
    (tmp_path / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=grammar\nfeature_function=KLanguageModel lm.arpa\nadd_pass_through_rules=true\n"
    )
    (tmp_path / "weights").write_text("EgivenF -1\nLanguageModel 0.1\nPassThrough -9\n")
    return tmp_path


def test_the_decoder_translates(decoder):
    with lscfg.Decoder(decoder / "cdec.ini", decoder / "weights") as found:
        assert repr(found).startswith("<Decoder cdec.ini: ")
        assert found.translate(["a", "", "a a"])[:2] == ["x", ""]
        lists = found.translate(iter(["a", "q"]), k=5)
        assert [one.text for one in lists[0]][:2] == ["x", "y"] and lists[1][0].text == "q"
        assert lists[0][0].score > lists[0][1].score and lists[0][0].features["EgivenF"] == pytest.approx(0.1)
        with pytest.raises(TypeError, match="one string"):
            found.translate("a")
        with pytest.raises(InputError, match="lines:2"):
            found.translate(["a", "b\x07"])
        (one, none) = found.explain(["a q", ""])
        assert [word.text for word in one.details] == ["x", "q"] and [word.links for word in one.details] == [
            (0,),
            (1,),
        ]
        assert one.details[0].alternatives[0].text == "y" and 0.5 < one.details[0].posterior < 1
        assert one.derivations[0][-1].source == "q" and none.details == ()
        assert found.translate(['<np translation="z">a</np> a'], xml_input="exclusive") == ["z x"]
        answer = found.why_not("a a", "x y")
        assert (answer.verdict, answer.chosen) == ("model", "x x") and answer.wanted_score < answer.chosen_score
        assert found.why_not("a", "z").missing[0].target == "z"
    assert found.translate(["a"]) == ["x"]
    other = lscfg.Decoder(str(decoder / "cdec.ini"), {"EgivenF": 1.0, "PassThrough": -9.0})
    assert other.translate(["a"]) == ["y"]
    other.close()
    with pytest.raises(InputError, match="no weights; give them"):
        lscfg.Decoder(decoder / "cdec.ini")


def test_a_closed_decoder_frees_its_files_and_opens_them_again(decoder, tmp_path):
    found = lscfg.Decoder(decoder / "cdec.ini", decoder / "weights", corrections=tmp_path / "cor")
    uses = {
        "translate": lambda: found.translate(["a q"], k=2),
        "explain": lambda: found.explain(["a"])[0].details,
        "why_not": lambda: found.why_not("a", "y").verdict,
        "translate with rules": lambda: found.translate(["a"], grammar=["[X] ||| a ||| z ||| EgivenF=-9"]),
        "correct": lambda: found.correct("a b", "x b"),
    }
    given = {name: use() for name, use in uses.items()}
    for name, use in uses.items():
        held = [weakref.ref(one) for one in (found._decoder._opened.here, found._decoder.grammar)]
        found.close()
        assert [one() for one in held] == [None, None]
        assert repr(found).startswith("<Decoder cdec.ini: ")
        assert use() == given[name]
    assert found.stored()[0].links == ((0, 0), (1, 1))
    found.close()
    found.close()
    (decoder / "grammar").write_text("[X] ||| a ||| z ||| EgivenF=0.1\n")
    for name, use in uses.items():
        with pytest.raises(InputError, match="grammar: was written after the object had opened it; open it again"):
            use()
        assert found._decoder.closed, name
