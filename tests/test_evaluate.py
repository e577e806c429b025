"""Scores and p-values of systems against sacrebleu and an independent bootstrap; refusals; the command's table."""

import argparse
import json
import os
import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from lscfg.errors import InputError
from lscfg.text import write_lines
from tuning.bleu import bleu, corpus_stats
from tuning.commands import evaluate as command
from tuning.evaluate import evaluate

WORDS = [f"w{n}" for n in range(25)]


def line(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(4, 12)))


def spoiled(lines: list[str], rate: float, draw: random.Random) -> list[str]:
    """The lines with words replaced at this rate, and now and then one dropped."""
    return [
        " ".join(draw.choice(WORDS) if draw.random() < rate else word for word in line.split() if draw.random() < 0.97)
        for line in lines
    ]


@pytest.fixture(scope="module")
def corpus() -> tuple[dict[str, list[str]], list[list[str]]]:
    """Three systems, the second far better than the first and the third about equal to it, and two references."""
    draw = random.Random(11)
    truth = [line(draw) for _ in range(150)]
    systems = {"base": spoiled(truth, 0.3, draw), "good": spoiled(truth, 0.15, draw), "like": spoiled(truth, 0.3, draw)}
    return systems, [truth, spoiled(truth, 0.2, draw)]


def test_scores_are_sacrebleus(corpus):
    systems, references = corpus
    scores = evaluate(systems, references, "base", samples=100, chrf=True)
    assert [score.name for score in scores] == ["base", "good", "like"]
    for score in scores:
        expected = BLEU(tokenize="none", force=True).corpus_score(systems[score.name], references)
        assert score.bleu == pytest.approx(expected.score, abs=1e-9)
        assert score.length_ratio == pytest.approx(expected.ratio) and score.length_ratio < 1
        assert score.brevity_penalty == pytest.approx(expected.bp)
        assert score.chrf == pytest.approx(CHRF().corpus_score(systems[score.name], references).score)
        for part in ("nrefs:2", "bs:100", "seed:12345", "tok:none", "smooth:exp"):
            assert part in score.signature.split("|")
        assert "nc:6" in score.chrf_signature


def test_bootstrap_against_an_independent_one(corpus):
    systems, references = corpus
    scores = evaluate(systems, references, "base", samples=200, seed=99)
    rows = np.random.default_rng(99).choice(150, size=(200, 150), replace=True)
    stats = {name: corpus_stats(lines, references) for name, lines in systems.items()}
    samples = {name: bleu(values[rows].sum(axis=1)) for name, values in stats.items()}
    for score in scores:
        mine = samples[score.name]
        ordered = np.sort(mine)
        assert score.bleu_mean == pytest.approx(mine.mean(), abs=1e-6)
        assert score.bleu_ci == pytest.approx((ordered[194] - ordered[5]) / 2, abs=1e-6)
        if score.name == "base":
            assert score.p_value is None
            continue
        difference = abs(score.bleu - scores[0].bleu)
        shifts = np.abs(mine - samples["base"])
        as_large = (shifts - shifts.mean() > difference).sum()
        assert score.p_value == pytest.approx((as_large + 1) / 201)
    assert scores[1].p_value < 0.01 < 0.05 < scores[2].p_value


def test_equal_systems_do_not_differ(corpus):
    systems, references = corpus
    scores = evaluate(
        {"base": systems["base"], "same": [f" {line}  " for line in systems["base"]]}, references, "base", 50, chrf=True
    )
    assert (scores[1].p_value, scores[1].chrf_p_value) == (1.0, 1.0)
    assert (scores[1].bleu, scores[1].bleu_mean) == (scores[0].bleu, scores[0].bleu_mean)


def test_without_baseline_only_the_p_values_are_missing(corpus):
    systems, references = corpus
    tested = evaluate(systems, references, "base", samples=50)
    alone = evaluate(systems, references, samples=50)
    for one, other in zip(tested, alone, strict=True):
        assert other.p_value is None
        assert (one.bleu, one.bleu_mean, one.bleu_ci) == (other.bleu, other.bleu_mean, other.bleu_ci)


@pytest.mark.parametrize("variable", [None, "none", "77"])
def test_seed_is_the_arguments_and_the_environment_is_left_alone(corpus, monkeypatch, variable):
    systems, references = corpus
    expected = evaluate(systems, references, "base", samples=50, seed=5)
    if variable is None:
        monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    else:
        monkeypatch.setenv("SACREBLEU_SEED", variable)
    assert evaluate(systems, references, "base", samples=50, seed=5) == expected
    assert os.environ.get("SACREBLEU_SEED") == variable
    other = evaluate(systems, references, "base", samples=50, seed=6)
    assert other[1].bleu_mean != expected[1].bleu_mean and "seed:6" in other[1].signature


def test_empty_lines_are_allowed(corpus):
    systems, references = corpus
    mixed = ["", "  ", *systems["good"][2:]]
    scores = evaluate({"mixed": mixed, "empty": [""] * 150}, references, "mixed", samples=50)
    expected = BLEU(tokenize="none", force=True).corpus_score(mixed, references)
    assert scores[0].bleu == pytest.approx(expected.score, abs=1e-9)
    assert (scores[1].bleu, scores[1].length_ratio, scores[1].brevity_penalty) == (0.0, 0.0, 0.0)


def test_bad_input_is_refused(corpus):
    systems, references = corpus
    short = {"base": systems["base"], "cut": systems["good"][:-1]}
    with pytest.raises(InputError, match="system cut has 149 lines, the references have 150"):
        evaluate(short, references, "base")
    with pytest.raises(InputError, match="of 150, 3 lines"):
        evaluate(systems, [references[0], ["a", "b", "c"]])
    with pytest.raises(InputError, match="baseline nobody is not among the systems: base, good, like"):
        evaluate(systems, references, "nobody")
    with pytest.raises(InputError, match="no system"):
        evaluate({}, references)
    with pytest.raises(InputError, match="at least one set of references"):
        evaluate(systems, [])
    with pytest.raises(InputError, match="references are empty"):
        evaluate({"base": []}, [[]])
    with pytest.raises(InputError, match="samples must be at least 1, not 0"):
        evaluate(systems, references, samples=0)
    with pytest.raises(InputError, match="seed must be at least 1, not 0"):
        evaluate(systems, references, seed=0)


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(list(words))


def test_command(corpus, tmp_path, capsys):
    systems, references = corpus
    for name, lines in systems.items():
        write_lines(tmp_path / name, lines)
    for number, lines in enumerate(references):
        write_lines(tmp_path / f"ref{number}.gz", lines)
    files = [f"{name}={tmp_path / name}" for name in systems]
    options = ["--reference", str(tmp_path / "ref0.gz"), "--reference", str(tmp_path / "ref1.gz"), "--samples", "50"]
    command.run(parse(*options, "--baseline", "base", "--chrf", "--json", str(tmp_path / "out.json"), *files))
    table = capsys.readouterr().out.splitlines()
    scores = evaluate(systems, references, "base", samples=50, chrf=True)
    assert [row.split()[0] for row in table] == ["system", "base", "good", "like", "BLEU:", "chrF2:"]
    assert table[2].split() == [
        "good",
        f"{scores[1].bleu:.2f}",
        f"{scores[1].bleu_mean:.2f}",
        "±",
        f"{scores[1].bleu_ci:.2f}",
        f"{scores[1].p_value:.4f}",
        f"{scores[1].length_ratio:.3f}",
        f"{scores[1].brevity_penalty:.3f}",
        f"{scores[1].chrf:.2f}",
        f"{scores[1].chrf_p_value:.4f}",
    ]
    assert table[1].split()[5] == "-" and len({len(row) for row in table[:4]}) == 1
    assert table[4] == f"BLEU: {scores[0].signature}"
    written = json.loads((tmp_path / "out.json").read_text())
    assert [(row["name"], row["bleu"], row["p_value"]) for row in written] == [
        (score.name, score.bleu, score.p_value) for score in scores
    ]


def test_command_example_and_refusals(tmp_path):
    assert parse(*command.EXAMPLE.split()[2:]).systems == ["MIN=min.out", "SPECTRAL=spectral.out"]
    write_lines(tmp_path / "a", ["x"])
    for item in ("a", "=a", "name="):
        with pytest.raises(InputError, match="expected NAME=FILE, found"):
            command.run(parse("--reference", str(tmp_path / "a"), item))
    with pytest.raises(InputError, match="system A is given twice"):
        command.run(parse("--reference", str(tmp_path / "a"), f"A={tmp_path / 'a'}", f"A={tmp_path / 'a'}"))
