"""Text that a system translates worse than the sets of its experiment is warned of."""

import json

import pytest
from little_experiment import run_lscfg
from services import little_preparation

from lscfg import log
from lscfg.bundle.new_text import FIRST_LINES, warn_of_filtered_rules, warned_of_raw_text
from lscfg.kernel import Grammar

FILTERED = "the rules of LITTLE were filtered by the development and test sets of its experiment"


@pytest.fixture
def said(monkeypatch):
    """The warnings."""
    found = []
    monkeypatch.setattr(log, "warning", found.append)
    return found


def write_manifest(system, grammar, prepare=None, **corpus):
    systems = {"LITTLE": {"rules": {"grammar": grammar}}, "CONSENSUS": {"rules": None}}
    manifest = {"settings": {"corpus": corpus, "systems": systems} | ({"prepare": prepare} if prepare else {})}
    (system.parents[1] / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("grammar", ["hiero", "both", "minimal+sampled", "biparsed", "minimal"])
def test_rules_for_the_sets_of_an_experiment(system, said, grammar):
    write_manifest(system, grammar, dev_source=None)
    for place in (system, system / "cdec.ini"):
        warn_of_filtered_rules(place)
    assert [FILTERED in line for line in said] == [True] * 2 * (grammar != "minimal")


def test_the_sets_themselves_are_not_warned_of(system, said, tmp_path):
    (tmp_path / "dev").write_text("una casa\n")
    write_manifest(system, "hiero", dev_source=str(tmp_path / "dev"), test_source=str(tmp_path / "none"))
    warn_of_filtered_rules(system, ["una casa"])
    assert said == []
    warn_of_filtered_rules(system, ["una flor"])
    assert len(said) == 1


def test_the_sets_of_raw_text_are_those_in_the_folder_of_the_preparation(system, said):
    write_manifest(system, "hiero", dev_source=None, prepare={"source_language": "es"})
    (system.parents[1] / "prepare").mkdir()
    (system.parents[1] / "prepare" / "test.es").write_text("una casa\n")
    warn_of_filtered_rules(system, ["una casa"])
    assert said == []
    warn_of_filtered_rules(system, ["una flor"])
    assert len(said) == 1


@pytest.mark.parametrize("content", [None, "{", "[]", "{}", '{"settings": {"systems": []}}'])
def test_a_manifest_of_another_version_stops_nobody(system, said, content):
    if content is not None:
        (system.parents[1] / "manifest.json").write_text(content)
    warn_of_filtered_rules(system)
    warn_of_filtered_rules(system / "elsewhere.ini")
    assert said == []


@pytest.mark.parametrize("lines", [1, FIRST_LINES, 3 * FIRST_LINES])
def test_text_that_is_not_prepared(system, said, lines, tmp_path):
    little_preparation(system.parents[1])
    (tmp_path / "rules").write_text("[X] ||| la casa ||| the house ||| A=1\n[X] ||| roja ||| red ||| A=1\n")

    def grammar():
        return Grammar.from_files([tmp_path / "rules"])

    for text, warnings in ((["la casa roja"] * lines, 0), (["La casa roja", ""] * lines, 1), (["zzz"] * lines, 0)):
        said.clear()
        assert list(warned_of_raw_text(text, system, grammar, "new.es")) == text
        assert len(said) == warnings
    segments = [f'<seg id="{number}">la casa</seg>' for number in range(lines)]
    tags = ['<np translation="a house">la casa</np> <wall/> roja'] * lines
    for text, warnings in ((segments, 0), (["<seg>La casa roja</seg>"] * lines, 1), (["<seg id=5>la casa"] * lines, 0)):
        said.clear()
        assert list(warned_of_raw_text(text, system, grammar, "new.es")) == text and len(said) == warnings
    said.clear()
    assert list(warned_of_raw_text(tags, system, grammar, "new.es", tagged=True)) == tags and said == []
    assert list(warned_of_raw_text(["La casa roja"], tmp_path, grammar, "new.es")) == ["La casa roja"] and said == []


def test_commands_warn(system, tmp_path):
    write_manifest(system, "hiero")
    little_preparation(system.parents[1])
    (tmp_path / "text").write_text("Una casa\n")
    run = run_lscfg("decode", tmp_path / "text", "-c", system / "cdec.ini", "-w", system / "weights")
    assert run.returncode == 0 and run.stderr.count(FILTERED) == 1
    assert (
        "unknown, and 0% after preparation; if the text is raw, decode the output of lscfg prepare apply" in run.stderr
    )
    run = run_lscfg("pack", system, "-o", tmp_path / "bundle")
    assert run.returncode == 0 and run.stderr.count(FILTERED) == 1
