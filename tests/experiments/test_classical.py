"""The script that makes corpora of classical and modern Chinese."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments" / "classical.py"


def run(*arguments):
    done = subprocess.run([sys.executable, "-P", SCRIPT, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Chapters of three sentences, of which one is in all of them and one is too long."""
    root = tmp_path_factory.mktemp("corpus")
    for number in range(320):
        folder = root / f"book{number % 7}" / str(number)
        folder.mkdir(parents=True)
        (folder / "source.txt").write_text(f"子曰{number}。\n同。\n{'長' * 41}\n")
        (folder / "target.txt").write_text(f"孔子\u200b 说{number}。\n一样。\n长。\n")
    return root


def test_chapters_are_held_out_and_sentences_of_the_training_text_left_out(corpus, tmp_path):
    status, out, _ = run(corpus, "-o", tmp_path / "all")
    counts = json.loads(out)
    assert status == 0 and counts["chapters"] == 320 and counts["train"] == 2 * 20
    assert counts["dev"] == counts["test"] == 150 and counts["dev, known"] == counts["test, known"] == 1
    texts = {name: (tmp_path / "all" / f"{name}.old").read_text().splitlines() for name in ("train", "dev", "test")}
    assert not {*texts["train"]} & {*texts["dev"]} and not {*texts["train"], *texts["dev"]} & {*texts["test"]}
    assert {*texts["dev"], *texts["test"], *texts["train"]} == {
        " ".join(line) for line in ["同。", *(f"子曰{number}。" for number in range(320))]
    }
    new = (tmp_path / "all" / "train.new").read_text().splitlines()
    assert all(
        one == other.replace("孔 子 说", "子 曰") or other == "一 样 。"
        for one, other in zip(texts["train"], new, strict=True)
    )
    status, _, _ = run(corpus, "--pairs", "15", "-o", tmp_path / "part")
    assert status == 0 and (tmp_path / "part" / "train.old").read_text().splitlines() == texts["train"][:15]
    for name in ("dev.old", "dev.new", "test.old", "test.new"):
        assert (tmp_path / "part" / name).read_bytes() == (tmp_path / "all" / name).read_bytes()


def test_sides_of_different_lengths_and_few_chapters_are_refused(corpus, tmp_path):
    status, _, error = run(next(corpus.iterdir()), "-o", tmp_path / "few")
    assert status == 2 and "more than 300 are needed" in error
    bad = sorted(corpus.rglob("target.txt"))[0]
    kept = bad.read_text()
    bad.write_text("一\n")
    try:
        status, _, error = run(corpus, "-o", tmp_path / "bad")
    finally:
        bad.write_text(kept)
    assert status == 1 and error.splitlines()[-1].endswith(f"{bad.parent}: 3 and 1 lines")
