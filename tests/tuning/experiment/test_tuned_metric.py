"""A run that tunes for the mean of BLEU and chrF2 compares its systems by this mean, with BLEU besides."""

import json

import pytest
from little_experiment import TOML, run_lscfg
from sacrebleu.metrics import BLEU, CHRF

from lscfg.io.read import read_lines

TITLE = "(BLEU + chrF2) / 2"


def test_results_page_and_summary_follow_the_metric_of_tuning(corpus, tmp_path):
    systems = '[systems.MIN]\n[systems.HIERO]\ngrammar = "hiero"\n[systems.AGREED]\nagree = ["MIN", "HIERO"]\n'
    text = TOML[: TOML.index("[systems.MIN]")].replace("iterations = 3", 'iterations = 2\nmetric = "bleu+chrf"')
    (corpus / "links").write_text("0-0\n" * len(read_lines(corpus / "train.ja")))
    text = text.replace('target = "train.en"', 'target = "train.en"\nalignment = ["links"]')
    (corpus / "chrf.toml").write_text(f"{text}{systems}")
    made = run_lscfg("run", corpus / "chrf.toml", "-o", tmp_path, "--jobs", 1)
    assert made.returncode == 0, made.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    rows = {row["system"]: row for row in results["systems"]}
    assert results["tuned for"] == "bleu+chrf"
    references = [read_lines(corpus / "test.en")]
    for name, row in rows.items():
        lines = read_lines(tmp_path / "systems" / name / "test.output")
        scores = [metric.corpus_score(lines, references).score for metric in (BLEU(tokenize="none"), CHRF())]
        assert row["test_tuned"] == row["runs"][0]["test_tuned"] == pytest.approx(sum(scores) / 2)
        assert (row["p_tuned"] is None) == (name == "MIN") and row["test_tuned_ci"] > 0
        by_iteration = row["runs"][0]["dev_tuned_by_iteration"]
        assert row["dev_tuned"] == max(by_iteration) if by_iteration else row["dev_tuned"] > 0
    best = max(("MIN", "HIERO"), key=lambda name: rows[name]["dev_tuned"])
    summary = made.stdout.replace("\u00a0", " ")
    assert f"systems/{best}/cdec.ini" in summary and f"{TITLE} = " in summary and f"{TITLE}  95 % CI" in summary
    assert f"reaches {TITLE} = " in (tmp_path / "report.html").read_text()
