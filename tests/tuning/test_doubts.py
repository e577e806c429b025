"""Tunings and tests that cannot have worked end with a warning of the cause."""

import random

import pytest

from lscfg.cli import main
from lscfg.decode.memory import Memory
from lscfg.formats.kbest import Hypothesis
from lscfg.tuning.doubts import doubts, uneven_references
from lscfg.tuning.evaluate import evaluate
from lscfg.tuning.rescore import ListDecoder, tune_lists
from lscfg.tuning.tune import TuneSettings, tune

WORDS = [f"w{n}" for n in range(30)]


def text(lines=12, seed=1, words=9):
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=words)) for _ in range(lines)]


@pytest.mark.parametrize(
    ("texts", "references", "figures", "message"),
    [
        (text(), text(), (100.0, 1.0), ""),
        (["xqz xqz x x"] * 4, ["a b", "b c", "c d", "d e"], (0.0, 1.0, 0.0), "no list has a translation that shares"),
        (["xqz xqz x x"] * 4, ["a b", "b c", "c d", "d e"], (0.0, 1.0), "no translation shares an n-gram"),
        (["a b c"] * 4, ["a b c"] * 4, (0.0, 1.0), "no translation has as many; chrF suits short text"),
        (["a b c"] * 4, ["a b c d e"] * 4, (0.0, 0.6), "no translation has as many"),
        ([""] * 4, ["a b c d e"] * 4, (0.0, 0.0), "all translations are empty"),
        (["a"] * 4, ["", " ", "", ""], (0.0, 0.0, 0.0), "all references are empty"),
        (text(), text(seed=2), (2.0, 1.0, 30.0), "no closer to their references"),
        (text(), text()[1:] + text()[:1], (2.0, 1.0, 30.0), "no closer to their references"),
        (text(), text(), (70.0, 0.89), "0.89 times as long"),
        (text(), text(), (70.0, 1.2), "1.20 times as long"),
        (text(4), text(4, seed=2), (2.0, 1.0), ""),  # too few lines for a verdict
        (["a b c d e f"] * 9, ["a b c d e g"] * 9, (50.0, 1.0), ""),  # equal references are no other lines
        (["é b c d e"] * 9, ["e\u0301 b c d e"] * 9, (50.0, 1.0), "100% of the lines of the references are not"),
        (["か\u3099 b c d e"] * 9, ["が b c d e"] * 9, (50.0, 1.0), "100% of the lines of the translations are not"),
        (["é b c d e"] * 99, ["é b c d e"] * 98 + ["\u2126 b c d e"], (98.0, 1.0), ""),  # the old sign for ohm
        (["e\u0301 b c d e"] * 9, ["e\u0301 b c d e"] * 9, (100.0, 1.0), ""),
    ],
)
def test_each_cause(texts, references, figures, message):
    bleu, ratio, *oracle = figures
    found = doubts(texts, [references], bleu, ratio, *oracle)
    assert len(found) == bool(message) and all(message in one for one in found)


@pytest.mark.parametrize(
    ("references", "found"),
    [
        ([["a b", "c"]], ""),
        ([["a b", ""]], ""),
        ([["a b", ""], ["a", " "]], ""),  # empty in both: the right translation is empty
        (
            [["a b", "c", "d"], ["a", "", " "]],
            "2 of 3 lines have an empty reference next to another one (first line 2)",
        ),
        ([["", "c"], ["", "c"], ["a", "c"]], "1 of 2 lines have an empty reference next to another one (first line 1)"),
    ],
)
def test_references_that_are_missing_in_some_lines(references, found):
    assert uneven_references(references).startswith(found) and bool(found) == bool(uneven_references(references))


def test_a_missing_reference_is_warned_of_where_scores_are_made(caplog, tmp_path):
    lines, full = text(), [f"{line} {line}" for line in text()]
    half = [line if n % 2 else "" for n, line in enumerate(full)]
    alone, both = (
        evaluate({"A": [lines]}, documents, samples=1, trials=1).systems[0].metrics["BLEU"].components["BP"]
        for documents in ([full], [full, half])
    )
    assert alone < both  # as sacrebleu has it
    assert caplog.text.count("6 of 12 lines have an empty reference next to another one (first line 1)") == 1
    caplog.clear()
    tune_lists(lists_of(lines), [full, half], {"f": 1.0}, TuneSettings(iterations=2))
    assert caplog.text.count("tuning: 6 of 12 lines have an empty reference") == 1
    caplog.clear()
    files = {"out": lines, "one": full, "two": half}
    for name, content in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in content))
    out, one, two = (str(tmp_path / name) for name in files)
    main(["evaluate", "scores", f"A={out}", f"B={out}", "--reference", one, "--reference", two, "--trials", "1"])
    assert caplog.text.count("references: 6 of 12 lines have an empty reference") == 1
    (tmp_path / "grammar").write_text("[X] ||| w0 ||| w1 ||| Rule=1\n")
    (tmp_path / "cdec.ini").write_text(f"formalism=scfg\ngrammar={tmp_path / 'grammar'}\nadd_pass_through_rules=true\n")
    (tmp_path / "weights").write_text("Rule 1\n")
    memory = Memory(tmp_path / "corrections", lambda source, target: [(k, k) for k in range(len(source))])
    memory.add(lines[0], full[0])  # warnings count the lines of the files, also of stored sentences
    system, corrections = str(tmp_path / "cdec.ini"), str(tmp_path / "corrections")
    for command in (
        ["evaluate", "oracle", f"A={system}", "-s", out, "--reference", one, "--reference", two],
        ["evaluate", "corrections", system, corrections, out, one, two, "-w", str(tmp_path / "weights")],
    ):
        caplog.clear()
        assert main(command) == 0
        assert caplog.text.count(f"{one}, {two}: 6 of 12 lines have an empty reference") == 1, command


def lists_of(lines):
    return [[Hypothesis(line, {"f": 1.0}, 0.0), Hypothesis(f"{line} w1", {"f": 2.0}, 0.0)] for line in lines]


@pytest.mark.parametrize("optimiser", ["mira", "mert", "pro"])
@pytest.mark.parametrize(
    ("references", "start", "message"),
    [
        (["xqz xqz"] * 12, 1.0, "BLEU is 0: no list has"),
        (text(seed=3), 1.0, "no closer to their references"),
        ([f"{line} {line}" for line in text()], 1.0, "times as long as their references"),
        (text(), 0.0, "all start weights are 0"),
    ],
)
def test_a_tuning_that_cannot_have_worked_ends_with_a_warning(optimiser, references, start, message, caplog):
    settings = TuneSettings(iterations=2, optimiser=optimiser)
    tune_lists(lists_of(text()), [references], {"f": start}, settings)
    assert message in caplog.text


@pytest.mark.parametrize("optimiser", ["mira", "mert", "pro"])
def test_a_good_tuning_is_silent(optimiser, caplog):
    tune_lists(lists_of(text()), [text()], {"f": -1.0}, TuneSettings(iterations=2, optimiser=optimiser))
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_a_resumed_tuning_warns_as_the_whole_one(tmp_path, caplog):
    """The translations of the best iteration come from its saved lists."""
    lists = lists_of(text())
    for _ in range(2):
        caplog.clear()
        resume = (tmp_path / "history.json").exists()
        settings = TuneSettings(iterations=2)
        tune(ListDecoder(lists), [""] * 12, [text(seed=3)], {"f": 1.0}, settings, tmp_path, resume)
        assert "no closer to their references" in caplog.text


def test_evaluation_warns_by_system(tmp_path, caplog, capsys):
    for name, lines in (("reference", text()), ("good", text()), ("other", text(seed=5))):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    good, other, reference = (str(tmp_path / name) for name in ("good", "other", "reference"))
    words = ["evaluate", "scores", "--samples", "9", "--trials", "9", "--reference", reference]
    assert main([*words, f"GOOD={good}", f"OTHER={other}", f"GOOD={good}", f"OTHER={reference}"]) == 0
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [one.split(":")[0] for one in said] == ["GOOD", "OTHER"]
    assert "equal output" in said[0] and "no closer" in said[1]
    assert "BLEU" in capsys.readouterr().out
