"""cdec as a decoder: programs that answer like it, and the real one where it is installed."""

import os

import pytest

from lscfg.cdec_bridge.decoder import CdecDecoder, find_cdec
from lscfg.errors import InputError, LscfgError


@pytest.fixture
def ini(tmp_path):
    (tmp_path / "g").write_text("[X] ||| a ||| x ||| A=1\n[X] ||| a ||| y ||| A=2\n")
    (tmp_path / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=g\nadd_pass_through_rules=true\nfeature_function=WordPenalty\n"
    )
    return tmp_path / "cdec.ini"


def fake_cdec(folder, script):
    program = folder / "cdec"
    program.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(program, 0o755)
    return program


def test_output_is_matched_to_sentences_by_id(ini):
    program = fake_cdec(ini.parent, 'cat >/dev/null; echo "2 ||| x ||| A=1 ||| -1"; echo "0 ||| y ||| A=2 ||| -2"')
    lists = CdecDecoder(ini, program).decode(["a", "", "a"], {}, 1)
    assert [hypotheses[0].text for hypotheses in lists] == ["y", "", "x"]


def test_failure_shows_the_last_words(ini):
    program = fake_cdec(ini.parent, "echo no such grammar >&2; exit 134")
    with pytest.raises(LscfgError, match="status 134: no such grammar"):
        CdecDecoder(ini, program).decode(["a"], {}, 1)


def test_no_cdec_says_how_to_name_one(ini, monkeypatch, tmp_path):
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="CDEC_ROOT"):
        CdecDecoder(ini)


def test_cdec_root_is_searched_one_level_deep(tmp_path, monkeypatch):
    (tmp_path / "build" / "decoder").mkdir(parents=True)
    program = fake_cdec(tmp_path / "build" / "decoder", "exit 0")
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    assert find_cdec() == program


def test_real_cdec(ini):
    if find_cdec() is None:
        pytest.skip("no cdec: not on PATH and CDEC_ROOT is not set")
    lists = CdecDecoder(ini).decode(["a", "", "a z"], {"A": 1.0, "WordPenalty": -1.0}, 5)
    assert [hypothesis.text for hypothesis in lists[0]] == ["y", "x", "a"]
    assert lists[1][0].text == "" and lists[2][0].text == "y z"
