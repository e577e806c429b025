"""Scores and p-values against sacrebleu and independent tests; sentences that differ; refusals; the command."""

import argparse
import dataclasses
import itertools
import json
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from helpers import example
from sacrebleu.metrics import BLEU, CHRF, TER

from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.tuning.bleu import bleu, corpus_stats
from lscfg.tuning.commands import scores as command
from lscfg.tuning.evaluate import MAX_SAMPLES, Evaluation
from lscfg.tuning.evaluate import evaluate as evaluate_runs
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.sentences import best_and_worst, differences, write_table

WORDS = [f"w{n}" for n in range(25)]

ALL = ("bleu", "chrf", "ter")

TITLES = ("BLEU", "chrF2", "TER")


def evaluate(systems: dict[str, list[str]], *arguments: object, **options: object) -> Evaluation:
    """One run of each system."""
    return evaluate_runs({name: [lines] for name, lines in systems.items()}, *arguments, **options)


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
    found = evaluate(systems, references, "base", samples=100, trials=100, metrics=ALL)
    assert [score.name for score in found.systems] == ["base", "good", "like"]
    for score in found.systems:
        expected = BLEU(tokenize="none", force=True).corpus_score(systems[score.name], references)
        assert score.metrics["BLEU"].score == pytest.approx(expected.score, abs=1e-9)
        *precisions, penalty, ratio = score.metrics["BLEU"].components.values()
        assert ratio == pytest.approx(expected.ratio) and ratio < 1
        assert penalty == pytest.approx(expected.bp)
        assert precisions == pytest.approx(expected.precisions)
        for name, metric in (("chrF2", CHRF()), ("TER", TER())):
            assert score.metrics[name].score == pytest.approx(
                metric.corpus_score(systems[score.name], references).score
            )
    for part in ("nrefs:2", "bs:100", "seed:12345", "tok:none", "smooth:exp"):
        assert part in found.signatures["BLEU"].split("|")
    assert "nc:6" in found.signatures["chrF2"] and "norm:no" in found.signatures["TER"]
    assert found.systems[1].metrics["TER"].score < found.systems[0].metrics["TER"].score


def test_bootstrap_against_an_independent_one(corpus):
    systems, references = corpus
    scores = evaluate(systems, references, "base", samples=200, seed=99, trials=10).systems
    rows = np.random.default_rng(99).choice(150, size=(200, 150), replace=True)
    stats = {name: corpus_stats(lines, references) for name, lines in systems.items()}
    samples = {name: bleu(values[rows].sum(axis=1)) for name, values in stats.items()}
    for score in scores:
        mine, theirs = samples[score.name], score.metrics["BLEU"]
        ordered = np.sort(mine)
        assert theirs.mean == pytest.approx(mine.mean(), abs=1e-6)
        assert theirs.ci == pytest.approx((ordered[194] - ordered[5]) / 2, abs=1e-6)
        if score.name == "base":
            assert theirs.p_bootstrap is None and theirs.p_randomised is None
            continue
        difference = abs(theirs.score - scores[0].metrics["BLEU"].score)
        shifts = np.abs(mine - samples["base"])
        as_large = (shifts - shifts.mean() > difference).sum()
        assert theirs.p_bootstrap == pytest.approx((as_large + 1) / 201)
    good, like = (score.metrics["BLEU"] for score in scores[1:])
    assert good.p_bootstrap < 0.01 < 0.05 < like.p_bootstrap


@pytest.mark.parametrize("title", TITLES)
def test_randomisation_against_an_independent_one(corpus, title):
    """Other random numbers, so the p-values agree within their standard errors."""
    systems, references = corpus
    metric = METRICS[dict(zip(TITLES, ALL, strict=True))[title]]
    scores = evaluate(systems, references, "base", samples=10, trials=500, seed=7, metrics=ALL).systems
    swap = np.random.default_rng(77).integers(2, size=(500, 150), dtype=bool)
    base, good, like = (
        metric.statistics(systems[name], references, (), metric.Settings()) for name in ("base", "good", "like")
    )
    for score, other in zip(scores[1:], (good, like), strict=True):
        distances = np.abs(metric.score(swap @ base + ~swap @ other) - metric.score(~swap @ base + swap @ other))
        observed = abs(score.metrics[title].score - scores[0].metrics[title].score)
        expected = ((distances >= observed - 1e-9).sum() + 1) / 501
        error = 4 * (2 * expected * (1 - expected) / 500) ** 0.5 + 1 / 501
        assert score.metrics[title].p_randomised == pytest.approx(expected, abs=error)
    assert scores[1].metrics[title].p_randomised < 0.02 < scores[2].metrics[title].p_randomised


def test_equal_systems_do_not_differ(corpus):
    systems, references = corpus
    same = [f" {line}  " for line in systems["base"]]
    found = evaluate({"base": systems["base"], "same": same}, references, "base", samples=50, metrics=ALL, trials=50)
    one, other = (score.metrics for score in found.systems)
    for metric in TITLES:
        assert (other[metric].p_bootstrap, other[metric].p_randomised) == (1.0, 1.0)
        assert (other[metric].score, other[metric].mean) == (one[metric].score, one[metric].mean)


def test_what_a_metric_does_not_see_is_no_difference():
    """TER takes upper case for lower, and any wrong word for any other."""
    references, one = [["a b c d", "e f g h"] * 4], ["a b c x", "e f g h"] * 4
    other = ["A b c y", "e f g h"] * 4
    found = evaluate({"one": one, "other": other}, references, "one", samples=50, metrics=ALL, trials=50)
    found = found.systems[1].metrics
    assert (found["TER"].p_bootstrap, found["TER"].p_randomised) == (1.0, 1.0)
    assert found["BLEU"].p_bootstrap < 0.5


def test_without_baseline_only_the_p_values_are_missing(corpus):
    systems, references = corpus
    tested = evaluate(systems, references, "base", samples=50, trials=10)
    alone = evaluate(systems, references, samples=50)
    for one, other in zip(tested.systems, alone.systems, strict=True):
        one, other = one.metrics["BLEU"], other.metrics["BLEU"]
        assert other.p_bootstrap is None and other.p_randomised is None
        assert (one.score, one.mean, one.ci) == (other.score, other.mean, other.ci)


@pytest.mark.parametrize("variable", [None, "none", "77"])
def test_seed_is_the_arguments_and_the_environment_is_left_alone(corpus, monkeypatch, variable):
    systems, references = corpus
    expected = evaluate(systems, references, "base", samples=50, seed=5, trials=10)
    if variable is None:
        monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    else:
        monkeypatch.setenv("SACREBLEU_SEED", variable)
    assert evaluate(systems, references, "base", samples=50, seed=5, trials=10) == expected
    assert os.environ.get("SACREBLEU_SEED") == variable
    other = evaluate(systems, references, "base", samples=50, seed=6, trials=10)
    one, two = (found.systems[1].metrics["BLEU"].mean for found in (expected, other))
    assert one != two and "seed:6" in other.signatures["BLEU"]


def test_empty_lines_are_allowed(corpus):
    systems, references = corpus
    mixed = ["", "  ", *systems["good"][2:]]
    scores = evaluate({"mixed": mixed, "empty": [""] * 150}, references, "mixed", samples=50, trials=10).systems
    expected = BLEU(tokenize="none", force=True).corpus_score(mixed, references)
    assert scores[0].metrics["BLEU"].score == pytest.approx(expected.score, abs=1e-9)
    empty = scores[1].metrics["BLEU"]
    assert (empty.score, empty.components["length"], empty.components["BP"]) == (0.0, 0.0, 0.0)


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
    with pytest.raises(InputError, match="unknown metric 'meteor'; choose from bleu, chrf, comet, meteor-es"):
        evaluate(systems, references, metrics=["meteor"])


def test_differences_are_sorted_and_sum_to_what_sacrebleu_says(corpus):
    systems, references = corpus
    found = differences(systems["base"], systems["good"], references)
    assert sorted(item.sentence for item in found) == list(range(1, 151))
    assert all(one.difference >= other.difference for one, other in itertools.pairwise(found))
    metric = BLEU(tokenize="none", effective_order=True)
    for item in found[::20]:
        k = item.sentence - 1
        expected = metric.sentence_score(systems["good"][k], [document[k] for document in references]).score
        assert item.system_bleu == pytest.approx(expected) and item.system == systems["good"][k]
    gains, losses = best_and_worst(found, 3)
    assert gains == found[:3] and losses == found[:-4:-1] and losses[0].difference < 0
    assert best_and_worst(differences(["a b"], ["a b"], [["a c"]]), 3) == ([], [])


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(list(words))


@pytest.fixture
def files(corpus, tmp_path):
    """Files of the systems, as arguments, and of the references, as options."""
    systems, references = corpus
    for name, lines in systems.items():
        write_lines(tmp_path / name, lines)
    for number, lines in enumerate(references):
        write_lines(tmp_path / f"ref{number}.gz", lines)
    options = ["--reference", str(tmp_path / "ref0.gz"), "--reference", str(tmp_path / "ref1.gz"), "--samples", "50"]
    return [f"{name}={tmp_path / name}" for name in systems], [*options, "--trials", "60"]


def test_command(corpus, files, tmp_path, capsys):
    systems, references = corpus
    names, options = files
    chosen = ["--baseline", "base", "--metrics", "ter,chrf", "-o", str(tmp_path / "out.json")]
    command.run(parse(*options, *chosen, *names))
    table = capsys.readouterr().out.splitlines()
    found = evaluate(systems, references, "base", samples=50, metrics=ALL, trials=60)
    assert table[0].split() == [
        *("system", "BLEU", "mean", "±", "95", "%", "CI", "p", "bootstrap", "p", "randomised"),
        *("1-gram", "2-gram", "3-gram", "4-gram", "BP", "length"),
    ]
    score = found.systems[1].metrics["BLEU"]
    *precisions, penalty, ratio = score.components.values()
    assert table[2].split() == [
        *("good", f"{score.score:.2f}", f"{score.mean:.2f}", "±", f"{score.ci:.2f}"),
        *(f"{score.p_bootstrap:.4f}", f"{score.p_randomised:.4f}", *(f"{value:.1f}" for value in precisions)),
        *(f"{penalty:.3f}", f"{ratio:.3f}"),
    ]
    assert table[1].split()[5:7] == ["-", "-"] and len({len(row) for row in table[:4]}) == 1
    assert table[4] == f"BLEU: {found.signatures['BLEU']}"
    assert [row.split()[0] for row in table if row][5:] == [
        *("system", "base", "good", "like", "TER:", "system", "base", "good", "like", "chrF2:", "p")
    ]
    written = json.loads((tmp_path / "out.json").read_text())
    assert written == json.loads(json.dumps(dataclasses.asdict(found)))


def test_command_over_several_runs(corpus, files, capsys):
    systems, references = corpus
    names, options = files
    base, good, like = names
    twice = [base, like.replace("like=", "base="), good, good]
    command.run(parse(*options, "--baseline", "base", *twice))
    table = capsys.readouterr().out.splitlines()
    runs = {"base": [systems["base"], systems["like"]], "good": [systems["good"]] * 2}
    expected = evaluate_runs(runs, references, "base", samples=50, trials=60)
    base_score, good_score = (one.metrics["BLEU"] for one in expected.systems)
    assert table[1].split()[:4] == ["base", "2", f"{base_score.score:.2f}", f"{base_score.deviation:.2f}"]
    assert table[2].split()[:4] == ["good", "2", f"{good_score.score:.2f}", "0.00"]
    assert table[2].split()[8] == f"{good_score.p_randomised:.4f}"
    with pytest.raises(InputError, match=r"same number of outputs \(runs\), one at least: base has 1, good has 2"):
        command.run(parse(*options, base, good, good))
    command.run(parse(*options, "--metrics", "ter", *twice))
    (ter,) = (
        row
        for row in capsys.readouterr().out.splitlines()
        if row.startswith("base") and "1-gram" not in row and row not in table
    )
    scores = [TER().corpus_score(lines, references).score for lines in runs["base"]]
    assert float(ter.split()[2]) == pytest.approx(np.mean(scores), abs=0.005)


def test_command_shows_where_systems_differ(corpus, files, tmp_path, capsys, caplog):
    systems, references = corpus
    names, options = files
    write_lines(tmp_path / "source", [f"s{k}" for k in range(1, 151)])
    chosen = ["--baseline", "base", "--source", str(tmp_path / "source"), "--sentence-table", str(tmp_path / "all.tsv")]
    command.run(parse(*options, *chosen, "--differences", "2", *names))
    printed = capsys.readouterr().out
    found = differences(systems["base"], systems["good"], references)
    assert f"sentence {found[0].sentence}: {found[0].difference:+.1f}" in printed
    assert f"s{found[0].sentence}\n" in printed and "good loses against base:" in printed
    rows = [line.split("\t") for line in (tmp_path / "all.tsv").read_text().splitlines()]
    assert len(rows) == 301 and {len(row) for row in rows} == {11} and rows[0][-1] == "source"
    assert [int(row[2]) for row in rows[1:151]] == [item.sentence for item in found]
    assert rows[1][6] == systems["good"][found[0].sentence - 1] and rows[1][10] == f"s{found[0].sentence}"
    assert "first run" not in caplog.text
    command.run(parse(*options, "--baseline", "base", "--differences", "2", *names, *names))
    assert "differences and the table of sentences show the first run of each system only" in caplog.text


def test_a_single_reference_has_no_number(tmp_path):
    found = {"B": differences(["a b"], ["a c"], [["a c"]])}
    for references, names in (([["a c"]], ["reference"]), ([["a c"], ["a"]], ["reference 1", "reference 2"])):
        write_table(tmp_path / "table", "A", found, references)
        assert read_lines(tmp_path / "table")[0].split("\t")[8:] == names


def test_command_example_and_refusals(files, tmp_path):
    assert parse(*example("evaluate")[1:]).systems == ["MIN=min.out", "LATENT=latent.out"]
    write_lines(tmp_path / "a", ["x"])
    for item in ("a", "=a", "name="):
        with pytest.raises(InputError, match="expected NAME=FILE, found"):
            command.run(parse("--reference", str(tmp_path / "a"), item))
    for name in ("A\tx", "A\nx", "A\u2028x"):
        with pytest.raises(InputError, match="contains a tab, a line end or another control character"):
            command.run(parse("--reference", str(tmp_path / "a"), f"{name}={tmp_path / 'a'}"))
    names, options = files
    for extra in (["--source", str(tmp_path / "a")], [f"A={tmp_path / 'a'}"], ["--reference", str(tmp_path / "a")]):
        with pytest.raises(InputError, match=r"a: 1 line, but .*ref0\.gz has 150"):
            command.run(parse(*options, names[0], *extra))
    for extra, message in (
        (["--metrics", "meteor"], "'meteor' is not one of bleu, chrf, comet, meteor-es, ribes, ter"),
        (["--differences", "3"], "differences need --baseline"),
        (["--sentence-table", "x"], "differences need --baseline"),
        (["--differences", "-1"], "must not be negative"),
        (["--trials", "0"], "trials must be at least 1"),
    ):
        with pytest.raises(InputError, match=message):
            command.run(parse(*options, names[0], *extra))


@pytest.mark.parametrize("references", [1, 3])
def test_the_signature_is_sacrebleus(references):
    documents = [["a b c"]] * references
    signed = evaluate({"": ["a"]}, documents, None, samples=17, trials=1, seed=9).signatures["BLEU"]
    expected = BLEU(tokenize="none", force=True)
    expected.corpus_score(["a"], documents)
    signature = expected.get_signature()
    signature.update("seed", "9")
    signature.update("bs", 17)
    assert signed == str(signature) and f"nrefs:{references}|bs:17|seed:9" in signed


@pytest.mark.parametrize("name", ["samples", "trials"])
def test_more_samples_than_any_memory_holds_are_refused(name):
    with pytest.raises(InputError, match=f"{name} must be at most {MAX_SAMPLES}, not 99999999999"):
        evaluate({"A": ["a"]}, [["a"]], **{name: 99999999999})


@pytest.mark.parametrize(
    ("outputs", "references", "message"),
    [
        (
            {"A": ["a b", "c d"]},
            [["a b", "c d"]],
            'outputs of system A must be a list of lists of lines; give {"A": [l',
        ),
        ({"A": ["ab"]}, [["x", "y"]], "outputs of system A must be a list of lists"),  # as many characters as lines
        ({"A": "ab"}, [["x", "y"]], "outputs of system A must be a list of lists"),
        ({"A": [["a b", "c d"]]}, ["a b", "c d"], "references must be a list of lists of lines; give [lines]"),
        ({"A": [["a"]]}, ["a"], "references must be a list of lists"),
        ({"A": [["a b"]]}, "a b", "references must be a list of lists"),
        ({"A": [["a b"]]}, [["a b"], None], "references must be a list of lists"),
        ({"A": [["a", None]]}, [["a", "b"]], "lines of the outputs of system A must be strings"),
        ({"A": [[b"a b"]]}, [["a b"]], "lines of the outputs of system A must be strings"),
        ({"A": [["a b"]]}, [["a b"], [b"a b"]], "lines of the references must be strings"),
    ],
)
def test_a_text_is_no_list_of_lines(outputs, references, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        evaluate_runs(outputs, references)


def test_the_guide_calls_evaluate_as_it_is():
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "python.md").read_text()
    (call,) = re.findall(r"import evaluate; (evaluate\(.*?\))`", guide)
    names = {"evaluate": evaluate_runs, "lines": ["a b c d", "e f g h"], "reference": ["a b c d", "e f g h"]}
    assert eval(call, names).systems[0].metrics["BLEU"].score == pytest.approx(100)
