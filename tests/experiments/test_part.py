"""experiments/part.py: parts of a corpus, with the other pairs as monolingual or noisy text."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "experiments" / "part.py"


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for side in ("de", "en"):
        (folder / f"train.{side}").write_text("".join(" ".join([f"{side}{k}"] * 8) + "\n" for k in range(200)))
        (folder / f"val.{side}").write_text("x\n")
    return folder


def part(corpus, *more):
    output = corpus.parent / "part"
    command = [sys.executable, str(PROGRAM), str(corpus), "50", "-o", str(output), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_text().splitlines() for path in sorted(output.iterdir())}


def test_a_part_keeps_pairs_and_their_order(corpus):
    files = part(corpus)
    assert set(files) == {"train.de", "train.en", "val.de", "val.en"} and files["val.de"] == ["x"]
    numbers = [int(line.split()[0][2:]) for line in files["train.de"]]
    assert numbers == sorted(set(numbers)) and len(numbers) == 50
    assert [line.replace("de", "en") for line in files["train.de"]] == files["train.en"]


def test_monolingual_text_is_shuffled(corpus):
    files = part(corpus, "--monolingual")
    assert len(files["mono.de"]) == 150 and len(files["all.de"]) == 200
    assert not set(files["mono.de"]) & set(files["train.de"])
    assert [line.replace("de", "en") for line in files["mono.de"]] != files["mono.en"]


def test_noisy_text_has_a_share_of_wrong_pairs(corpus):
    files = part(corpus, "--noisy", "0.3")
    pairs = list(zip(files["mono.de"], files["mono.en"], strict=True))
    assert len(pairs) == 150 and files["all.en"] == files["train.en"] + files["mono.en"]
    wrong = [k for k, (source, target) in enumerate(pairs) if source.split()[0][2:] != target.split()[0][2:]]
    assert len(wrong) == 45
    assert all(len(pairs[k][0].split()) == 8 for k in range(150) if k not in wrong)
    for side in (0, 1):
        assert 0.8 * 8 * 45 < sum(len(pairs[k][side].split()) for k in wrong) < 8 * 45
    assert part(corpus, "--noisy", "0.3") == files


def test_no_noisy_line_is_empty(corpus):
    for side in ("de", "en"):
        (corpus / f"train.{side}").write_text("a b\n" * 500)
    files = part(corpus, "--noisy", "1")
    assert "a" in files["mono.de"] and "" not in files["mono.de"] + files["mono.en"]


def test_noisy_and_monolingual_exclude_each_other(corpus):
    command = [sys.executable, str(PROGRAM), str(corpus), "5", "-o", str(corpus / "x"), "--noisy", "1", "--monolingual"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--noisy takes a share" in done.stderr


def test_a_part_of_a_part_has_monolingual_text_of_itself(corpus):
    for side in ("de", "en"):
        for name in ("mono", "all"):
            (corpus / f"{name}.{side}").write_text("old\n")
    for kind in (["--monolingual"], ["--noisy", "0.3"]):
        files = part(corpus, *kind)
        assert len(files["mono.de"]) == 150 and len(files["all.en"]) == 200 and "old" not in files["all.de"]


def test_a_last_line_without_an_end_stays_a_line(corpus):
    complete = part(corpus, "--monolingual")
    for side in ("de", "en"):
        (corpus / f"train.{side}").write_text((corpus / f"train.{side}").read_text().removesuffix("\n"))
    assert part(corpus, "--monolingual") == complete


def test_a_carriage_return_ends_no_line(corpus):
    lines = (corpus / "train.de").read_text().splitlines()
    (corpus / "train.de").write_bytes("".join(f"{line} a\rb\n" for line in lines).encode())
    part(corpus)
    found = (corpus.parent / "part" / "train.de").read_bytes().split(b"\n")[:-1]
    assert len(found) == 50 and all(line.endswith(b" a\rb") for line in found)


def test_a_part_does_not_replace_its_corpus(corpus):
    before = (corpus / "train.de").read_bytes()
    command = [sys.executable, str(PROGRAM), str(corpus), "5", "-o", str(corpus / ".." / corpus.name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "is the corpus; give another folder" in done.stderr
    assert (corpus / "train.de").read_bytes() == before
