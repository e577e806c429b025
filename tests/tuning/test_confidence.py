"""Learning and measuring confidence: the text that is judged, the command, and the stage of a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from little_experiment import run_lscfg
from services import little_system

from lscfg.bundle.system import open_system
from lscfg.decode.confidence import Confidence, weights_hash
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Translated, WordDetails
from lscfg.errors import InputError
from lscfg.tuning.confidence import judge, learn_confidence, measure


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = little_system(tmp_path_factory.mktemp("system"))
    source, target = ((folder / name).read_text().splitlines() for name in "fe")
    target = [line.replace("red", "green") if number % 3 else line for number, line in enumerate(target)]
    (folder / "s").write_text("\n".join([*source, "", "x y z", ""]))
    (folder / "t").write_text("\n".join([*target, "", "x y z", ""]))
    return folder


def words(text: str, known: bool = True) -> tuple[WordDetails, ...]:
    evidence = {"length": 0.0, "passed": 0.0, "posterior": 1.0} if known else {}
    return tuple(WordDetails(word, (), 1.0, (), evidence) for word in text.split())


def test_sentences_are_judged_by_their_edits() -> None:
    texts = ["a b c", "", "a b", "a b c d", "x", "y"]
    translated = [Translated("f g", [], details=words(text, text != "a b")) for text in texts]
    references = [["a b c", "", "a b", "a c b d", "", ""], ["", "", "a b", "q", "z", " "]]
    found = judge(translated, references)
    assert found.left_out == 3 and found.lengths.tolist() == [2, 2, 2]
    assert found.matched.tolist() == [1, 1, 1, 1, 1, 1, 1, 0]
    assert found.light.tolist() == [1, 1, 0]  # one shift among four words, one substitution of one
    assert found.owner.tolist() == [0, 0, 0, 1, 1, 1, 1, 2]
    assert [one["expected"] for one in found.translations(np.array([1, 0, 0.5, 0.25, 0.25, 0.25, 0.25, 0.1]))] == [
        0.5,
        0.25,
        0.1,
    ]


def test_too_few_sentences_are_refused() -> None:
    text = judge([Translated("f", [], details=words("a"))] * 19, [["a"] * 19])
    with pytest.raises(
        InputError, match="19 sentences with a parse, words and a reference; confidence needs 20 or more"
    ):
        learn_confidence(text, {})
    wrong = judge([Translated("f", [], details=words("a"))] * 20, [["b"] * 20])
    with pytest.raises(InputError, match="no word of the translations is in a reference"):
        learn_confidence(wrong, {})
    with pytest.raises(InputError, match="nothing can be measured"):
        measure(
            learn_confidence(judge([Translated("f", [], details=words("a"))] * 20, [["a"] * 20]), {}), judge([], [[]])
        )


def test_the_command_learns_and_measures(system: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(system, tmp_path / "copy")
    run = run_lscfg("evaluate", "confidence", copy, copy / "s", copy / "t")
    assert (
        run.returncode == 1
        and f"{copy}: has no confidence.json for these weights; learn one from another text, with -o" in run.stderr
    )
    run = run_lscfg("evaluate", "confidence", copy, copy / "s", copy / "t", "-o", copy / "confidence.json")
    assert run.returncode == 0, run.stderr
    assert "sentences left out, without words, a parse or a reference: 1 of 42" in run.stderr and run.stdout.startswith(
        "confidence "
    )
    learned = open_system(copy).confidence
    assert (
        learned is not None
        and learned.sentences == 41
        and learned.weights_sha256 == weights_hash(open_system(copy).weights)
    )
    assert sum(band.count for band in learned.translations.bands) == 41
    run = run_lscfg("evaluate", "confidence", copy, copy / "s", copy / "t")
    rows = dict(line.split("  ", 1) for line in run.stdout.splitlines() if line.strip())
    assert (
        run.returncode == 0 and rows["outputs"].split()[1] == "41" and {*rows} >= {"ECE", "AUC", "Brier", "base rate"}
    )
    (copy / "confidence.json").write_text("damaged")
    again = run_lscfg("evaluate", "confidence", copy, copy / "s", copy / "t", "-o", copy / "confidence.json")
    assert again.returncode == 0 and Confidence.read(copy / "confidence.json") == learned
    assert "without a wrong word" not in again.stderr
    with EmbeddedDecoder.from_ini(copy / "cdec.ini") as decoder:
        lines = (copy / "s").read_text().splitlines()
        output = [one[0].text for one in decoder.decode(lines, open_system(copy).weights, 1, True)]
    (copy / "output").write_text("\n".join(output) + "\n")
    copied = run_lscfg("evaluate", "confidence", copy, copy / "s", copy / "output", "-o", copy / "confidence.json")
    assert copied.returncode == 0 and f"{copy}/output: translations without a wrong word: 41 of 41" in copied.stderr
    short = run_lscfg("evaluate", "confidence", copy, copy / "s", copy / "weights")
    assert short.returncode == 1 and "weights" in short.stderr


def test_a_bundle_stays_as_it_was_packed(system: Path, tmp_path: Path) -> None:
    """Its manifest contains the hash of the confidence."""
    copy = shutil.copytree(system, tmp_path / "copy")
    words = ["evaluate", "confidence", copy, copy / "s", copy / "t", "-o"]
    for step in ([*words, copy / "confidence.json"], ["pack", copy, "-o", tmp_path / "bundle"]):
        done = run_lscfg(*step)
        assert done.returncode == 0, done.stderr
    learned = open_system(copy).confidence
    (tmp_path / "link").symlink_to("bundle")
    for folder in ("bundle", "link"):
        output = tmp_path / folder / "confidence.json"
        done = run_lscfg("evaluate", "confidence", tmp_path / "bundle", copy / "f", copy / "e", "-o", output)
        assert done.returncode == 1 and f"{output}: is in the bundle {tmp_path / 'bundle'}, whose" in done.stderr
        assert "learn the confidence of the system with -o SYSTEM/confidence.json, and pack" in done.stderr
    assert open_system(tmp_path / "bundle").confidence == learned is not None


@pytest.mark.parametrize("place", ["", "cdec.ini"])
@pytest.mark.parametrize("name", ["cdec.ini", "g.gz", "lm.arpa"])
@pytest.mark.parametrize("command", ["confidence", "corrections"])
def test_files_of_the_system_are_not_overwritten(system: Path, command: str, place: str, name: str) -> None:
    before = (system / name).read_bytes()
    (system.parent / "memory").mkdir(exist_ok=True)
    more = [system.parent / "memory"] if command == "corrections" else []
    words = ["evaluate", command, system / place, *more, system / "s", system / "t", "-w", system / "weights"]
    run = run_lscfg(*words, "-o", system / name)
    assert run.returncode == 1 and f"{name}: is also an input and would be overwritten" in run.stderr
    assert (system / name).read_bytes() == before
