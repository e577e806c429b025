"""experiments/yardstick.py: scores of sacrebleu itself, p of both directions, hashes of the files."""

import hashlib
import json
import statistics
import sys
from importlib import import_module
from pathlib import Path

import pytest
import sacrebleu

from lscfg.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
yardstick = import_module("yardstick")
sys.path.remove(str(ROOT / "experiments"))

REFERENCE = ["a man 's hat , red .", "two dogs run on the grass .", "a girl sits .", "the boy plays ball ."] * 5
GOOD = [line.replace("red", "blue") for line in REFERENCE]
BAD = ["the man has hat .", *REFERENCE[1:3], "one ball plays a boy"] * 5


def run(folder, monkeypatch, *arguments):
    for name, lines in (("reference", REFERENCE), ("good", GOOD), ("bad", BAD)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    monkeypatch.setattr(sys, "argv", ["yardstick.py", str(folder / "reference"), *arguments])
    yardstick.main()


def test_rows_are_the_scores_of_sacrebleu(tmp_path, monkeypatch, capsys):
    files = [f"{name}={tmp_path / name}" for name in ("good", "bad")]
    run(tmp_path, monkeypatch, *files, f"same={tmp_path / 'good'}", "--against", "good", "--trials", "99")
    out, err = capsys.readouterr()
    columns, good, bad, same = map(json.loads, out.splitlines())
    assert columns == ["system", "BLEU", "BLEU 13a", "chrF++", "TER", "p against good", "output"]
    for name, row, lines in (("good", good, GOOD), ("bad", bad, BAD)):
        expected = [
            sacrebleu.corpus_bleu(lines, [REFERENCE], tokenize="none", force=True),
            sacrebleu.corpus_bleu(lines, [REFERENCE]),
            sacrebleu.corpus_chrf(lines, [REFERENCE], word_order=2),
            sacrebleu.corpus_ter(lines, [REFERENCE]),
        ]
        assert row[:5] == [name, *(round(found.score, 2) for found in expected)]
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest().startswith(row[6])
    assert (good[5], bad[5], same[5]) == (None, 0.01, 1.0) and same[1:5] == good[1:5]
    assert "BLEU: nrefs:1|case:mixed|eff:no|tok:none|smooth:exp" in err


def test_rows_with_two_references(tmp_path, monkeypatch, capsys):
    other = [line.replace("two dogs", "dogs") for line in GOOD]
    (tmp_path / "other").write_text("".join(f"{line}\n" for line in other))
    run(tmp_path, monkeypatch, f"bad={tmp_path / 'bad'}", "--reference", str(tmp_path / "other"))
    out, err = capsys.readouterr()
    expected = [
        sacrebleu.corpus_bleu(BAD, [REFERENCE, other], tokenize="none", force=True),
        sacrebleu.corpus_bleu(BAD, [REFERENCE, other]),
        sacrebleu.corpus_chrf(BAD, [REFERENCE, other], word_order=2),
        sacrebleu.corpus_ter(BAD, [REFERENCE, other]),
    ]
    assert json.loads(out.splitlines()[1])[1:5] == [round(found.score, 2) for found in expected]
    assert "BLEU: nrefs:2|" in err


def test_rows_of_several_runs_are_means(tmp_path, monkeypatch, capsys):
    good, bad = tmp_path / "good", tmp_path / "bad"
    systems = [f"mixed={good},{bad},{bad}", f"good={good},{good},{good}"]
    run(tmp_path, monkeypatch, *systems, "--against", "mixed", "--trials", "999")
    columns, mixed, same = map(json.loads, capsys.readouterr().out.splitlines())
    assert columns == ["system", "BLEU", "deviation", "BLEU 13a", "chrF++", "TER", "p against mixed", "output"]
    scores = [
        sacrebleu.corpus_bleu(lines, [REFERENCE], tokenize="none", force=True).score for lines in (GOOD, BAD, BAD)
    ]
    assert mixed[1:3] == [round(statistics.mean(scores), 2), round(statistics.stdev(scores), 2)]
    assert same[2] == 0.0 and 0 < same[6] < 0.05 and mixed[6] is None
    every = b"".join(path.read_bytes() for path in (good, bad, bad))
    assert mixed[7] == hashlib.sha256(every).hexdigest()[:12]


def test_errors_name_the_system(tmp_path, monkeypatch, capsys):
    (tmp_path / "short").write_text("a\n")
    with pytest.raises(InputError, match="system short has 1 line, the references have 20"):
        run(tmp_path, monkeypatch, f"short={tmp_path / 'short'}")
    with pytest.raises(InputError, match="baseline better is not among the systems: good"):
        run(tmp_path, monkeypatch, f"good={tmp_path / 'good'}", "--against", "better")
    with pytest.raises(InputError, match="runs"):
        run(tmp_path, monkeypatch, f"one={tmp_path / 'good'}", f"two={tmp_path / 'good'},{tmp_path / 'bad'}")
    with pytest.raises(SystemExit):
        run(tmp_path, monkeypatch, "good")
    assert "good: give NAME=FILE" in capsys.readouterr().err
