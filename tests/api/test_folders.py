"""Objects that a program opens by relative paths keep their files when the program changes its working directory."""

import os
import pickle
from pathlib import Path

import pytest
from forests import build

import lscfg
from lscfg.decode.confidence import BANDS, Band, Calibration, Confidence, weights_hash

WEIGHTS = {"F": 1.0, "PassThrough": -1.0}


@pytest.fixture
def leave(tmp_path, monkeypatch):
    """A function that moves from the folder ``here``, where a test begins, to ``there``."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return lambda: os.chdir(tmp_path / "there")


def write_grammar(path, target):
    Path(path).write_text(f"[X] ||| a ||| {target} ||| F=1\n")


def test_a_decoder_keeps_its_files(leave):
    Path("bundle").mkdir()
    write_grammar("bundle/grammar", "A")
    Path("bundle/cdec.ini").write_text("formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\n")
    Path("terms.tsv").write_text("source\ttarget\nb\tB\n")
    found = Calibration(0.0, {}, (), tuple(Band(least, 2, 1) for least in BANDS))
    Confidence(weights_hash(WEIGHTS), 20, found, found).write(Path("bundle/confidence.json"))
    decoder = lscfg.Decoder("bundle/cdec.ini", WEIGHTS, "terms.tsv", "cor")
    given = decoder.explain(["a"])[0].confidence
    first = Path("cor/corrections.jsonl").absolute()
    leave()
    decoder.correct("c c", "C C")
    assert not Path("cor").exists() and '"c c"' in first.read_text()
    for one in (decoder, pickle.loads(pickle.dumps(decoder))):
        assert one.explain(["a"])[0].confidence == given is not None
        assert one.translate(["a b", "c c"]) == ["A B", "C C"] and repr(one).startswith("<Decoder cdec.ini: ")


def test_a_decoder_reads_its_grammar_and_model_again_for_grammars_of_lines(leave):
    """The ini names its files as seen from the working directory; a line's grammar may also lie there."""
    Path("ini").mkdir()
    build(Path(), 2, 4, signed=False)
    write_grammar("grammar", "A")
    line = "feature_function=LSCFG model=m features=LatentEgivenF\n"
    Path("ini/cdec.ini").write_text(f"formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\n{line}")
    decoder = lscfg.Decoder("ini/cdec.ini", WEIGHTS)
    leave()
    write_grammar("more", "more")
    assert decoder.translate(["a"], grammar=["[X] ||| b ||| B ||| F=1"]) == ["A"]
    segment = '<seg grammar="more">a b</seg>'
    found = [one.text for one in decoder.translate([segment], 2)[0]]
    assert sorted(found) == ["A b", "more b"]
    os.chdir("../here")
    write_grammar("more", "other")
    assert sorted(one.text for one in decoder.translate([segment], 2)[0]) == ["A b", "other b"]


def test_a_model_keeps_its_file(leave):
    build(Path(), 2, 4, signed=False)
    Path("grammar").write_text("[X] ||| a ||| x ||| F=1\n")
    Path("cdec.ini").write_text("formalism=scfg\ngrammar=grammar\nfeature_function=LSCFG model=m\n")
    models = lscfg.load("m"), lscfg.load("cdec.ini")
    leave()
    for model in models:
        again = pickle.loads(pickle.dumps(model))
        assert repr(again) == repr(model) and again.analyse("a").log_g == model.analyse("a").log_g
    assert repr(models[0]).startswith("<LatentModel m: ")
