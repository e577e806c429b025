"""The choice of pieces by the development set: order of the stages, scores of words, and a whole run."""

import json
import re

import pytest
from little_experiment import run_lscfg
from sacrebleu.metrics import BLEU, CHRF

from lscfg.demo import generate
from lscfg.io.json_files import read_json
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.prepare.files import PIECES_CHOICE
from lscfg.prepare.pieces import MARK, join_pieces
from lscfg.prepare.record import Record
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.stages.pieces import (
    CHECK,
    MODELS,
    TUNE,
    CandidateFiles,
    PieceChoice,
    choose_pieces,
)

TITLE = "(BLEU + chrF2) / 2"

TEXT = """
[corpus]
raw = true
source = "raw.es"
target = "raw.en"
[prepare]
tokeniser = "words"
pieces = ["target:auto", "source:bpe:40"]
dev = 24
test = 10
[alignment]
model = "fast-align"
[language_model]
order = 3
estimator = "lscfg"
[tuning]
iterations = 2
kbest = 10
metric = "bleu+chrf"
[systems.MIN]
"""


@pytest.fixture
def experiment(tmp_path):
    pairs = generate(3).train[:300]
    for side, language in enumerate(("es", "en")):
        write_lines(tmp_path / f"raw.{language}", [pair[side] for pair in pairs])
    (tmp_path / "e.toml").write_text(TEXT)
    return tmp_path / "e.toml"


def test_trials_come_first_and_share_what_does_not_depend_on_pieces(experiment):
    plan = make_plan(read_experiment(experiment))
    stages = plan.stages()
    place = {stage.key: number for number, stage in enumerate(stages)}
    assert all(place[source.key] < place[stage.key] for stage in stages for source in stage.sources)
    names = [stage.name for stage in stages[: place[plan.texts.prepared.key] + 1]]
    trials = 1 + len(MODELS)
    assert names[0] == "prepare" and names[-1] == "pieces"
    counts = {name: names.count(name) for name in ("prepare", "align", "lm", "tune", "decode")}
    assert counts == {"prepare": 1, "align": trials, "lm": trials, "tune": trials + 1, "decode": trials}
    assert plan.users(stages[0]) == [] and plan.users(stages[1]) == ["choice of pieces"]
    assert stages[0].settings.settings.pieces == ("source:bpe:40",)
    plain = experiment.with_name("plain.toml")
    plain.write_text(TEXT.replace('"target:auto", ', ""))
    assert make_plan(read_experiment(plain)).texts.prepared.key == stages[0].key


@pytest.mark.parametrize(("metric", "chosen"), [("bleu", 0), ("chrf", 1)])
def test_scores_are_those_of_words(tmp_path, metric, chosen):
    """More words are right in the first translation, more letters in the second, whose pieces are joined."""
    reference = "the cats sat on the long mats today"
    outputs = ["the cats sat on the house by you"]
    outputs.append(f"thecats {MARK}saton {MARK}thelong {MARK}mats {MARK}today")
    cut = reference.replace("mats", f"ma {MARK}ts")
    for number, output in enumerate(outputs):
        (tmp_path / f"p{number}").mkdir()
        for name in ("prepare.json", "train.en", f"{TUNE}.target", f"{CHECK}.source"):
            (tmp_path / f"p{number}" / name).write_text(f"{name} {number}\n")
        write_lines(tmp_path / f"o{number}", [output])
        write_lines(tmp_path / f"r{number}", [cut if number else reference])
    files = CandidateFiles(
        tuple(tmp_path / f"p{number}" / "prepare.json" for number in range(2)),
        tuple(tmp_path / f"o{number}" for number in range(2)),
        tuple((tmp_path / f"r{number}",) for number in range(2)),
    )
    (tmp_path / "out").mkdir()
    choose_pieces(tmp_path / "out", PieceChoice(("", "target:unigram:2000"), metric), files, 1)
    found = read_json(tmp_path / "out" / PIECES_CHOICE)
    scorer = BLEU(tokenize="none", force=True) if metric == "bleu" else CHRF()
    truth = [scorer.corpus_score([join_pieces(line)], [[reference]]).score for line in outputs]
    assert [one["score"] for one in found["tried"]] == [pytest.approx(score) for score in truth]
    assert found["chosen"] == ["", "target:unigram:2000"][chosen]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [PIECES_CHOICE, "prepare.json", "train.en"]
    assert (tmp_path / "out" / "train.en").read_text() == f"train.en {chosen}\n"


def test_a_run_tries_all_tells_and_uses_the_best(experiment, tmp_path):
    pytest.importorskip("sentencepiece")
    pytest.importorskip("morfessor")
    made = run_lscfg("run", experiment, "-o", tmp_path / "out", "--jobs", 1, timeout=None)
    assert made.returncode == 0, made.stderr
    choice = json.loads((tmp_path / "out" / "prepare" / PIECES_CHOICE).read_text())
    assert [one["pieces"] for one in choice["tried"]] == ["", *(f"target:{model}" for model in MODELS)]
    assert choice["chosen"] == max(choice["tried"], key=lambda one: one["score"])["pieces"]
    told = [
        line.partition("pieces: ")[2]
        for line in made.stderr.splitlines()
        if re.search("^(?!.* stage ).*pieces: ", line)
    ]
    scores = [f"{one['pieces'] or 'whole words'}: {TITLE} {one['score']:.2f}" for one in choice["tried"]]
    assert [line.partition(", BLEU")[0] for line in told[: len(scores)]] == scores
    assert {*told[len(scores) :]} == {f"{choice['chosen'] or 'whole words'} chosen by {TITLE} on half of dev"}
    record = Record.read(tmp_path / "out" / "prepare")
    assert record.settings.pieces == tuple(filter(None, ("source:bpe:40", choice["chosen"])))
    (output,) = (tmp_path / "out" / "systems" / "MIN").glob("test.restored")
    assert len(read_lines(output)) == 10 and MARK not in output.read_text()
    again = run_lscfg("run", experiment, "-o", tmp_path / "out", "--jobs", 1)
    assert again.returncode == 0 and "stages are already finished" in again.stderr
