"""Files of experiments/small: experiments, tables of spelling, and scripts."""

import json
import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from sacrebleu.metrics import CHRF

from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.prepare.orthography import read_orthography
from lscfg.tuning.experiment.config import Overrides, read_experiment

SMALL = Path(__file__).parents[3] / "experiments" / "small"
LANGUAGES = sorted(path.stem.partition("-")[2] for path in SMALL.glob("*.toml"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_experiment_can_be_read(tmp_path, language):
    for name in ("train", "dev.1", "dev.2"):
        for side in ("es", language):
            (tmp_path / f"{name}.{side}").write_text("a b c\n")
    found = read_experiment(SMALL / f"es-{language}.toml", Overrides(data=tmp_path))
    assert found.prepare.target_language == language and found.prepare.orthography == SMALL / f"{language}.tsv"
    assert [line.name for line in found.decoder.lines] == ["Letters", "Copies"]


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("shp", "Jahuéquia riqui chichó nocon", "Jawekia riki chicho nokon"),
        ("gn", "Ko’ãg̃a ñeẽ oguahëta", "Ko'âĝa ñeê oguahêta"),
        ("aym", "jach’a ch´ama", "jach'a ch'ama"),
        ("nah", "yn kali niwikas sekij ynic iuki", "in cali nihuicaz cequih inic iuqui"),
    ],
)
def test_spellings(language, old, new):
    assert read_orthography(SMALL / f"{language}.tsv").apply(old) == new


def run(script: str, *arguments: object) -> None:
    """Runs a script in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", [script, *map(str, arguments)])
        runpy.run_path(str(SMALL / script), run_name="__main__")


def test_halves_take_lines_by_turns(tmp_path):
    (tmp_path / "dev.es").write_text("1\n2\n3\n")
    shutil.copy(tmp_path / "dev.es", tmp_path / "dev.shp")
    run("halves.py", tmp_path / "dev.es", tmp_path / "dev.shp")
    assert read_lines(tmp_path / "dev.1.shp") == ["1", "3"] and read_lines(tmp_path / "dev.2.es") == ["2"]
    (tmp_path / "dev.shp").write_text("1\n")
    with pytest.raises(InputError, match=r"1 line, but .* has 3"):
        run("halves.py", tmp_path / "dev.es", tmp_path / "dev.shp")


def test_the_table_counts_lengths_and_copies(tmp_path, capsys):
    texts = {"s": "una casa\ndos\n", "r": "abcd ef\ngh\n", "o": "abcd casa\ngh dos\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    run("table.py", tmp_path / "s", tmp_path / "r", f"mine={tmp_path / 'o'}")
    head, _, copied, mine = capsys.readouterr().out.splitlines()
    assert head == "| system | chrF | chrF++ | BLEU | letters | words | copied % | deviation |"
    assert copied.endswith(" | 1.25 | 1.0 | 100.0 |  |") and mine.startswith("| mine | ")
    assert mine.endswith(" | 1.625 | 1.333 | 50.0 |  |")
    (tmp_path / "o").write_text("abcd\n")
    with pytest.raises(InputError, match="1 line, but the reference has 2"):
        run("table.py", tmp_path / "s", tmp_path / "r", f"mine={tmp_path / 'o'}")


def test_rows_of_several_tunings_go_into_the_results(tmp_path):
    """Means and deviation of both outputs; the row of the same name is replaced, another one follows its language."""
    texts = {"s": "una casa\ndos\n", "r": "abcd ef\ngh\n", "o": "abcd casa\ngh dos\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    module = runpy.run_path(str(SMALL / "table.py"))
    lines = {name: read_lines(tmp_path / name) for name in texts}
    found, deviation = module["row"]("x", [lines["o"], lines["r"]], lines["s"], lines["r"])
    chrf = [CHRF().corpus_score(lines[name], [lines["r"]]).score for name in "or"]
    assert found[1] == round(sum(chrf) / 2, 2) and deviation == round(abs(chrf[0] - chrf[1]) / 2**0.5, 2)
    shutil.copy(SMALL / "results.json", tmp_path / "results.json")
    before = json.loads((tmp_path / "results.json").read_text())
    old = before["sections"][0]["tables"][0]["rows"]
    module["write_rows"](
        "Shipibo", [(found, deviation), (["copied source", *found[1:]], None)], tmp_path / "results.json"
    )
    rows = json.loads((tmp_path / "results.json").read_text())["sections"][0]["tables"][0]["rows"]
    own = [row for row in rows if row[0] == "Shipibo"]
    assert own[-1] == ["Shipibo", *found, deviation] and own[0] == ["Shipibo", "copied source", *found[1:], None]
    assert [row for row in rows if row not in own] == [row for row in old if row[0] != "Shipibo"]
    with pytest.raises(InputError, match="no row of Klingon"):
        module["write_rows"]("Klingon", [(found, None)], tmp_path / "results.json")


def test_planted_faults_are_counted_one_each():
    """One output for each kind, and none for a faithful one."""
    source = "El 8 Ana Paz dijo sí: vive en Texas."
    planted = {
        "a word in capitals within the sentence that the source lacks": "El 8 Ana Paz dijo en Washington: Texas.",
        "a name of the source missing": "El 8 Ana Paz dijo: vive.",
        "a repeated word": "El 8 Ana Paz dijo: vive vive en Texas.",
        "figures missing (also as words)": "El ocho Ana Paz dijo: vive en Texas.",
        "figures added": "El 8 Ana Paz dijo 3: vive en Texas.",
        "another final mark": "El 8 Ana Paz dijo: vive en Texas",
        "a mark at the beginning": ", El 8 Ana Paz dijo: vive en Texas.",
        "four full stops or more": "El 8 Ana Paz.... vive en Texas.",
        "blanks between dashes": "El 8 Ana Paz - - vive en Texas.",
        "a dash at one side of a word": "El 8 Ana Paz -vive en Texas.",
        "brackets or quotation marks added": "El 8 “Ana Paz” vive en Texas.",
        "a capital letter within an abbreviation": "El 8 p.M. Ana Paz vive en Texas.",
        "a small letter at the beginning": "el 8 Ana Paz vive en Texas.",
        "marks of preparation": "El 8 Ana Paz ￭ vive en Texas.",
        "twice the letters of the source": f"El 8 Ana Paz vive {'mucho y ' * 10} en Texas.",
    }
    count = runpy.run_path(str(SMALL / "faults.py"))["count_faults"]
    assert not any(count([source], [source]).values())
    for fault, output in planted.items():
        found = {name for name, number in count([source], [output]).items() if number}
        assert found == {fault}, output
    assert count([source, ""], ["", ""])["nothing"] == 1


def test_a_joint_model_learns_regular_spellings():
    """Of 40 words with c for k, two hold an ending; the model writes k for c in a new word, and keeps other letters."""
    spelling = SimpleNamespace(**runpy.run_path(str(SMALL / "spelling.py")))
    plain = lambda one: float(one[0] != one[1])  # noqa: E731
    assert spelling.align("casa", "kasani", plain) == [("c", "k"), ("a", "a"), ("s", "s"), ("a", "ani")]
    stems = [a + b + c for a in ("ca", "co", "to") for b in ("ra", "mi", "ce") for c in ("na", "lu")]
    pairs = [(stem, stem.replace("c", "k")) for stem in stems]
    model = spelling.Joint(pairs)
    word, share = model.best("tocemi")
    assert word == "tokemi" and 0.5 < share <= 1
    source, reference = ["El tocemi cora"], ["Tokemi nahi kora"]
    rows = [*spelling.measure({"el", "cora"}, source, reference, model)]
    assert [row[:3] for row in rows[:3]] == [("kept, of 1", 0, 0), ("oracle", 1, 1), ("model, 0.0", 1, 1)]
    assert rows[0][3] == 0 and rows[1][3] == rows[2][3] > 0
    found = spelling.similar_pairs([("la cocina", "ri kocina"), ("otra vez", "nada igual")])
    assert found == {("cocina", "kocina"): 1}
