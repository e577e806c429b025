"""The tuning loop with a decoder that reranks fixed lists: progress, rollback, early stop, interruption, refusals."""

import contextlib
import gzip
import itertools
import json
import math
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import rerankers
from helpers import example
from rerankers import SETTINGS, START, Reranker, run
from sacrebleu.metrics import BLEU

from lscfg import log
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.host import decoder_identity
from lscfg.decode.names import FeatureNames
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig
from lscfg.formats.kbest import Hypothesis, read_kbest
from lscfg.formats.weights import read_weights, write_weights
from lscfg.parallel.choose import in_processes
from lscfg.parser import CommandParser
from lscfg.tuning import tune as tune_module
from lscfg.tuning.commands import weights as command
from lscfg.tuning.experiment.cache import locked
from lscfg.tuning.forest_mert import ForestMertSettings
from lscfg.tuning.mert import MertSettings
from lscfg.tuning.mira import mira
from lscfg.tuning.optimisers import HypergraphSettings
from lscfg.tuning.pool import Pool
from lscfg.tuning.pro import ProSettings
from lscfg.tuning.tune import HISTORY, Iteration, TuneSettings, tune


class Failing(Reranker):
    """Fails in one of its runs."""

    def __init__(self, run: int, **arguments):
        super().__init__(**arguments)
        self.run = run

    def decode(self, sentences, weights, k, unique=True):
        if len(self.calls) + 1 == self.run:
            raise OSError("decoder is gone")
        return super().decode(sentences, weights, k, unique)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, but for the times."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "seconds.json"}


def test_tuning_raises_bleu_and_rolls_back():
    decoder = Reranker()
    settings = replace(SETTINGS, iterations=6, patience=6)
    result = run(decoder, settings=settings)
    scores = [record.dev_bleu for record in result.history]
    assert len(scores) == 6 and result.stopped == "6 iterations done"
    assert max(scores) > scores[0] + 15
    assert scores[result.best_iteration - 1] == max(scores) and scores.index(max(scores)) == result.best_iteration - 1
    assert (
        result.weights
        == result.history[result.best_iteration - 1].weights
        == decoder.calls[result.best_iteration - 1][0]
    )
    assert [call[0] for call in decoder.calls] == [record.weights for record in result.history]
    assert {call[1:] for call in decoder.calls} == {(5, True)}
    for record in result.history:
        outputs = [lines[0].text for lines in decoder.decode(decoder.sources, record.weights, 1)]
        expected = BLEU(tokenize="none", force=True).corpus_score(outputs, decoder.references)
        assert record.dev_bleu == pytest.approx(expected.score, abs=1e-9)
        assert record.length_ratio == pytest.approx(expected.ratio, abs=1e-12)
        assert record.oracle_bleu >= record.dev_bleu
    sizes = [record.hypotheses for record in result.history]
    assert sizes == [sum(record.added for record in result.history[: n + 1]) for n in range(6)]
    assert sizes[0] == 75 and result.history[0].pool_bleu is None and result.history[0].weights == START


def test_worse_iterations_are_not_returned():
    """A decoder that gets worse whatever the weights: the start weights are the result."""

    class Worsening(Reranker):
        def decode(self, sentences, weights, k, unique=True):
            lists = super().decode(sentences, weights, k, unique)
            worse = 4 * (len(self.calls) - 1)
            return [[replace(h, text=" ".join(h.text.split()[worse:])) for h in hypotheses] for hypotheses in lists]

    result = run(Worsening())
    assert result.best_iteration == 1 and result.weights == {"rare": 0.0} | START


def test_a_feature_that_no_hypothesis_has_gets_a_weight():
    class Named(Reranker):
        names = FeatureNames((*START, "Unseen"), (*START, "Unseen"), ())

    result = run(Named())
    assert result.weights["Unseen"] == 0.0 and result.weights.keys() >= START.keys()


def test_a_feature_that_first_occurs_after_the_best_iteration_gets_a_weight():
    """Of such a decoder only the lists tell the names."""

    class Later(Reranker):
        def decode(self, sentences, weights, k, unique=True):
            lists = super().decode(sentences, weights, k, unique)
            if len(self.calls) == 1:
                return lists
            return [[replace(h, text="", features=h.features | {"Late": 1.0}) for h in own] for own in lists]

    result = run(Later())
    assert result.best_iteration == 1 and result.weights == {"Late": 0.0, "rare": 0.0} | START
    assert [*result.weights] == sorted(result.weights)


def test_early_stop():
    class Deaf(Reranker):
        def decode(self, sentences, weights, k, unique=True):
            return super().decode(sentences, START, k, unique)

    decoder = Deaf()
    result = run(decoder, settings=replace(SETTINGS, iterations=15, patience=2))
    assert len(decoder.calls) == len(result.history) == 3
    assert result.stopped == "no better BLEU in 2 iterations"
    assert [record.added for record in result.history] == [75, 0, 0]


def test_seed_determines_the_result(tmp_path):
    settings = replace(SETTINGS, iterations=3)
    one, two, other = (run(Reranker(), settings=replace(settings, seed=seed)) for seed in (3, 3, 4))
    assert one == two
    assert one.history[1].weights != other.history[1].weights
    assert run(Reranker(), tmp_path / "kept", settings=replace(settings, seed=3)) == one


@pytest.mark.parametrize("failing_run", [1, 2, 4])
def test_a_failed_decoder_costs_one_iteration(tmp_path, failing_run):
    expected = run(Reranker(), tmp_path / "whole")
    with pytest.raises(OSError, match="decoder is gone"):
        run(Failing(failing_run), tmp_path / "parts")
    assert len(list(tmp_path.glob("parts/kbest.*.gz"))) == failing_run - 1
    decoder = Reranker()
    assert run(decoder, tmp_path / "parts", resume=True) == expected
    assert len(decoder.calls) == 4 - (failing_run - 1)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_a_resumed_tuning_knows_the_seconds_of_its_earlier_parts(tmp_path, monkeypatch):
    """With a clock that is a second later whenever it is read."""
    monkeypatch.setattr("lscfg.tuning.tune.time.perf_counter", itertools.count().__next__)
    whole = run(Reranker(), tmp_path / "whole")
    with pytest.raises(OSError, match="decoder is gone"):
        run(Failing(3), tmp_path / "parts")
    assert run(Reranker(), tmp_path / "parts", resume=True).seconds == whole.seconds == 8
    times = json.loads((tmp_path / "whole" / "seconds.json").read_text())
    assert times == {"learning": [1] * 4, "decoding": [1] * 4}
    assert (tmp_path / "parts" / "seconds.json").read_text() == (tmp_path / "whole" / "seconds.json").read_text()

    (tmp_path / "parts" / "seconds.json").unlink()  # nothing depends on it
    longer = replace(SETTINGS, iterations=5, patience=5)
    assert run(Reranker(), tmp_path / "parts", settings=longer, resume=True).seconds == 2


def test_an_interrupted_mira_costs_no_decoding(tmp_path, monkeypatch):
    run(Reranker(), tmp_path / "whole")

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("lscfg.tuning.mira.mira", interrupted)
        run(Reranker(), tmp_path / "parts")
    decoder = Reranker()
    run(decoder, tmp_path / "parts", resume=True)
    assert len(decoder.calls) == 3
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_interruption_between_lists_and_history(tmp_path, monkeypatch):
    """The lists of the third run are saved but the history does not know of them yet."""
    run(Reranker(), tmp_path / "whole")
    finish = tune_module._Checkpoint.finish

    def interrupted(self, history, stopped):
        if len(history) == 3:
            raise KeyboardInterrupt
        finish(self, history, stopped)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(tune_module._Checkpoint, "finish", interrupted)
        run(Reranker(), tmp_path / "parts")
    assert (tmp_path / "parts" / "kbest.003.gz").exists()
    run(Reranker(), tmp_path / "parts", resume=True)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_a_killed_process_goes_on(tmp_path):
    """SIGKILL in the third run, in a process of its own."""
    program = (
        "import os, sys\n"
        "sys.path[:0] = sys.argv[2:]\n"
        "import rerankers\n"
        "class Killed(rerankers.Reranker):\n"
        "    def decode(self, sentences, weights, k, unique=True):\n"
        "        if len(self.calls) == 2:\n"
        "            os.kill(os.getpid(), 9)\n"
        "        return super().decode(sentences, weights, k, unique)\n"
        "rerankers.run(Killed(), sys.argv[1])\n"
    )
    folder = str(Path(rerankers.__file__).parent)
    command_line = [sys.executable, "-P", "-c", program, str(tmp_path / "parts"), folder]
    killed = subprocess.run(command_line, capture_output=True, cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    decoder = Reranker()
    assert run(decoder, tmp_path / "parts", resume=True) == run(Reranker(), tmp_path / "whole")
    assert len(decoder.calls) == 2
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_a_finished_tuning_can_be_prolonged(tmp_path):
    expected = run(Reranker(), tmp_path / "whole")
    run(Reranker(), tmp_path / "parts", settings=replace(SETTINGS, iterations=2, patience=1))
    decoder = Reranker()
    assert run(decoder, tmp_path / "parts", resume=True) == expected
    assert len(decoder.calls) == 2
    assert run(decoder, tmp_path / "parts", resume=True) == expected
    assert len(decoder.calls) == 2
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_checkpoint_holds_history_and_lists(tmp_path):
    result = run(Reranker(), tmp_path)
    content = json.loads((tmp_path / HISTORY).read_text())
    assert content["history"] == [record.facts() for record in result.history]
    assert (content["best_iteration"], content["stopped"]) == (result.best_iteration, result.stopped)
    assert content["settings"]["learner"] == {"step_cap": 0.01, "decay": 0.999, "epochs": 5}
    lists = read_kbest(tmp_path / "kbest.002.gz")
    decoder = Reranker()
    expected = decoder.decode(decoder.sources, result.history[1].weights, 5)
    assert [[h.text for h in lists[n]] for n in range(15)] == [[h.text for h in line] for line in expected]
    assert lists[0][0].features == pytest.approx(expected[0][0].features, rel=1e-6)


def test_empty_lists_are_allowed(tmp_path):
    class Silent(Reranker):
        def decode(self, sentences, weights, k, unique=True):
            lists = super().decode(sentences, weights, k, unique)
            return [[], [replace(h, text="") for h in lists[1]], *lists[2:]]

    settings = replace(SETTINGS, iterations=2)
    one = run(Silent(), tmp_path / "parts", settings=settings)
    assert one.history[1].dev_bleu > 0 and one.history[0].hypotheses <= 70
    decoder = Silent()
    expected = BLEU(tokenize="none", force=True).corpus_score(
        [lines[0].text if lines else "" for lines in decoder.decode(decoder.sources, START, 1)], decoder.references
    )
    assert one.history[0].dev_bleu == pytest.approx(expected.score, abs=1e-9)
    assert run(Silent(), tmp_path / "parts", resume=True) == run(Silent())


def test_interpolation_goes_part_of_the_way():
    settings = replace(SETTINGS, iterations=2)
    whole = run(Reranker(), settings=settings).history[1].weights
    half = run(Reranker(), settings=replace(settings, interpolation=0.5)).history[1].weights
    assert half == pytest.approx({name: (START.get(name, 0.0) + whole[name]) / 2 for name in whole})
    assert "rare" in whole and abs(whole["lm"] - START["lm"]) > 1e-3


@pytest.mark.parametrize(("restart_below", "origin"), [(0.9, 0), (0.0, 1)])
def test_learning_restarts_from_the_best_after_a_collapse(restart_below, origin):
    class Collapsing(Reranker):
        def decode(self, sentences, weights, k, unique=True):
            lists = super().decode(sentences, weights, k, unique)
            self.lists = [*getattr(self, "lists", []), lists]
            if len(self.calls) == 2:
                lists = [[replace(h, text="x") for h in hypotheses] for hypotheses in lists]
                self.lists[-1] = lists
            return lists

    decoder = Collapsing()
    result = run(decoder, settings=replace(SETTINGS, iterations=3, restart_below=restart_below))
    assert result.history[1].dev_bleu == 0
    pool = Pool(decoder.references)
    pool.add(decoder.lists[0])
    pool.add(decoder.lists[1])
    assert result.history[2].weights == mira(pool, result.history[origin].weights, SETTINGS.learner, (1, 2)).weights


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    decoder = Reranker()
    run(decoder, tmp_path, settings=replace(SETTINGS, iterations=1))
    with pytest.raises(InputError, match=r"history\.json: already contains a tuning"):
        run(decoder, tmp_path)
    other = replace(SETTINGS, seed=9)
    for attempt in (
        lambda: run(Reranker(seed=2), tmp_path, resume=True),
        lambda: run(decoder, tmp_path, settings=other, resume=True),
        lambda: run(decoder, tmp_path, resume=True, decoder_id="another"),
        lambda: tune(decoder, decoder.sources, decoder.references, {}, SETTINGS, tmp_path, resume=True),
    ):
        with pytest.raises(InputError, match="other data, start weights, decoder or settings"):
            attempt()
    with pytest.raises(InputError, match="needs a checkpoint folder"):
        run(decoder, None, resume=True)


def damaged_json(folder: Path) -> None:
    (folder / HISTORY).write_bytes((folder / HISTORY).read_bytes()[:-20])


def foreign_json(folder: Path) -> None:
    (folder / HISTORY).write_text('{"identity": "", "history": [{"iteration": 1}]}')


def missing_lists(folder: Path) -> None:
    (folder / "kbest.001.gz").unlink()


def cut_lists(folder: Path) -> None:
    path = folder / "kbest.001.gz"
    path.write_bytes(path.read_bytes()[:-30])


def shortened_lists(folder: Path) -> None:
    path = folder / "kbest.001.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))


def longer_lists(folder: Path) -> None:
    path = folder / "kbest.001.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"15 ||| a ||| f=1 ||| 0\n"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damaged_json, "not the history of a tuning"),
        (foreign_json, "not the history of a tuning"),
        (missing_lists, r"kbest\.001\.gz: is missing, so the tuning cannot continue"),
        (cut_lists, r"kbest\.001\.gz: compressed file is cut off"),
        (shortened_lists, "lists of iteration 1 are not those of its history"),
        (longer_lists, r"kbest\.001\.gz: has a sentence outside 0 to 14"),
    ],
)
def test_damaged_checkpoints_are_refused(tmp_path, damage, message):
    run(Reranker(), tmp_path, settings=replace(SETTINGS, iterations=1))
    damage(tmp_path)
    with pytest.raises(InputError, match=message):
        run(Reranker(), tmp_path, resume=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lists: lists[:-1], "14 k-best lists for 15 sentences"),
        (lambda lists: [[], [Hypothesis("a ||| b", {}, 0.0)], *lists[2:]], r"sentence 2: \|\|\| in the translation"),
        (
            lambda lists: [[Hypothesis("a", {"f": 1.0}, math.nan)], *lists[1:]],
            "sentence 1: model score nan .* not finite",
        ),
        (lambda lists: [[Hypothesis("a", {"f g": 1.0}, 0.0)], *lists[1:]], "sentence 1: bad feature name 'f g'"),
        (lambda lists: [[Hypothesis("a", {"f": math.inf}, 0.0)], *lists[1:]], "sentence 1: feature f .*not finite"),
        (lambda lists: [[]] * len(lists), "every k-best list is empty"),
    ],
)
def test_lists_that_break_the_contract_are_refused(change, message):
    class Broken(Reranker):
        def decode(self, sentences, weights, k, unique=True):
            return change(super().decode(sentences, weights, k, unique))

    with pytest.raises(InputError, match=message):
        run(Broken())


def test_bad_arguments_are_refused():
    decoder = Reranker()
    with pytest.raises(InputError, match="of 15 lines for 14 sentences"):
        tune(decoder, decoder.sources[:-1], decoder.references, START)
    with pytest.raises(InputError, match="development set is empty"):
        tune(decoder, [], [[]], START)
    with pytest.raises(InputError, match="start weight of lm is inf"):
        tune(decoder, decoder.sources, decoder.references, {"lm": math.inf})
    for name, value in {
        "iterations": 0,
        "kbest": 0,
        "patience": 0,
        "seed": -1,
        "interpolation": 0.0,
        "restart_below": 1.5,
    }.items():
        with pytest.raises(InputError, match=name):
            TuneSettings(**{name: value})
    assert decoder.calls == []


def test_equal_scores_keep_the_earliest():
    def record(iteration, dev_bleu):
        return Iteration(iteration, dev_bleu, 1.0, 50.0, None, 1, 1, {})

    assert tune_module._best([record(1, 10.0), record(2, 20.0), record(3, 20.0)]).iteration == 2


@pytest.mark.usefixtures("terminal")
def test_command(tmp_path, monkeypatch, capsys):
    decoder = Reranker()
    made = []

    def from_ini(path, engine, cached, needed):
        made.append((path, engine.workers))
        return contextlib.nullcontext(decoder)

    monkeypatch.setattr(EmbeddedDecoder, "from_ini", from_ini)
    (tmp_path / "dev.ja").write_text("".join(line + "\n" for line in decoder.sources))
    (tmp_path / "dev.en").write_text("".join(line + "\n" for line in decoder.references[0]))
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=g\n")
    (tmp_path / "g").write_text("one")
    write_weights(tmp_path / "start", START)
    parser = CommandParser()
    command.add_arguments(parser)
    assert command._settings(parser.parse_args(example("tune")[1:])) == TuneSettings()
    options = ["--config", "cdec.ini", "--source", "dev.ja", "--reference", "dev.en", "--weights", "start", "-o", "out"]
    monkeypatch.chdir(tmp_path)
    short = ["--iterations", "2", "--kbest", "5", "--jobs", "2", "--seed", "7"]
    with log.shown(log.Display()):
        command.run(parser.parse_args(options + short))
    history = json.loads((tmp_path / "out" / HISTORY).read_text())
    assert made == [("cdec.ini", 2)]
    assert history["settings"]["seed"] == 7 and len(history["history"]) == 2
    assert read_weights(tmp_path / "out" / "weights") == history["history"][history["best_iteration"] - 1]["weights"]
    shown = capsys.readouterr()
    assert shown.out == ""
    for expected in (
        "sentences  15\n",
        "seed       7\n",
        "iteration 1: BLEU",
        "iteration 2: BLEU",
        "2 iterations done",
    ):
        assert shown.err.count(expected) == 1
    with pytest.raises(InputError, match="already"):
        command.run(parser.parse_args(options + short))
    command.run(
        parser.parse_args([*options[:-1], "other", *short, "--optimiser", "mert", "--set", "interpolation=0.5"])
    )
    other = json.loads((tmp_path / "other" / HISTORY).read_text())["settings"]
    assert (other["optimiser"], other["interpolation"]) == ("mert", 0.5)
    decoder.calls[2:] = []
    monkeypatch.setenv("MOSES_ROOT", str(tmp_path))
    with pytest.raises(InputError, match="no program kbmira found"):
        command.run(parser.parse_args([*options[:-1], "third", *short, "--optimiser", "moses-kbmira"]))
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    with pytest.raises(InputError, match="no cdec program found"):
        command.run(parser.parse_args([*options[:-1], "third", *short, "--decoder", "cdec"]))
    with locked(Path("out")), pytest.raises(InputError, match="out: another run is at work in this folder"):
        command.run(parser.parse_args([*options, *short, "--resume", "--iterations", "3"]))
    command.run(parser.parse_args([*options, *short, "--resume", "--iterations", "3"]))
    assert len(decoder.calls) == 3
    (tmp_path / "g").write_text("another")
    with pytest.raises(InputError, match="other data, start weights, decoder"):
        command.run(parser.parse_args([*options, *short, "--resume"]))
    (tmp_path / "g").write_text("one")
    command.run(parser.parse_args([*options, *short, "--resume"]))
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=g\nk_best=3\n")
    with pytest.raises(InputError, match="other data, start weights, decoder"):
        command.run(parser.parse_args([*options, *short, "--resume"]))


@pytest.mark.parametrize("name", ["embedded", "cdec"])
def test_identity_covers_the_files_that_the_decoder_reads(tmp_path, monkeypatch, name):
    """cdec is run in the folder of its configuration; the others look in the working directory first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    (tmp_path / "conf" / "m=8").mkdir(parents=True)
    (tmp_path / "conf" / "cdec.ini").write_text(
        f"# {'x' * 300}\ngrammar = g\ngrammar= my g\nfeature_function=LSCFG model=m=8/model\nweights=w\n"
    )
    for path in ("g", "conf/g", "conf/my g", "conf/m=8/model", "conf/w"):
        (tmp_path / path).write_text("one")
    ini = "conf/cdec.ini"
    if name == "embedded":
        (tmp_path / "conf" / "g").write_text("other")
        with pytest.raises(InputError, match="g is a file here and another one next to this file"):
            decoder_identity(name, ini)
        (tmp_path / "conf" / "g").unlink()
    before = decoder_identity(name, ini)
    read = "conf/g" if name == "cdec" else "g"
    for path, is_read in ((read, True), ("conf/my g", True), ("conf/m=8/model", True), ("conf/w", False)):
        (tmp_path / path).write_text("another")
        assert (decoder_identity(name, ini) != before) == is_read, path
        (tmp_path / path).write_text("one")
    assert decoder_identity(name, ini) == before
    (tmp_path / "conf" / "own").write_text("grammar of a sentence")
    found = decoder_identity(name, ini, ["a b", '<seg id="0" grammar="own">a b</seg>'])
    assert found != before


def test_input_of_cdec_is_refused_by_other_decoders(tmp_path, monkeypatch):
    """The embedded decoder names what its line lacks."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("dev.ja", '<seg id="0">a</seg>\n'), ("dev.en", "a\n"), ("cdec.ini", "formalism=scfg\n"), ("start", "A 1\n")
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    parser = CommandParser()
    command.add_arguments(parser)
    options = ["--config", "cdec.ini", "--source", "dev.ja", "--reference", "dev.en", "--weights", "start", "-o", "out"]
    with pytest.raises(InputError, match=r"dev\.ja:1: a segment of cdec's, not words"):
        command.run(parser.parse_args([*options, "--decoder", "moses"]))
    with pytest.raises(InputError, match=r"dev\.ja:1: no grammar; name one in the line"):
        command.run(parser.parse_args(options))


# The optimisers.

SMALL = {"mira": SETTINGS.learner, "mert": MertSettings(restarts=2, directions=2), "pro": ProSettings(samples=200)}


@pytest.mark.parametrize("name", ["mira", "mert", "pro"])
def test_every_optimiser_raises_bleu_and_resumes(tmp_path, name):
    settings = replace(SETTINGS, optimiser=name, interpolation=None, iterations=4, learner=SMALL[name])
    result = run(Reranker(), tmp_path / "whole", settings=settings)
    scores = [record.dev_bleu for record in result.history]
    assert max(scores) > scores[0] + (1 if name == "pro" else 15)
    with pytest.raises(OSError, match="decoder is gone"):
        run(Failing(3), tmp_path / "parts", settings=settings)
    decoder = Reranker()
    assert run(decoder, tmp_path / "parts", settings=settings, resume=True) == result
    assert len(decoder.calls) == 2
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    another = "mert" if name == "mira" else "mira"
    changes = {"mira": {"epochs": 6}, "mert": {"restarts": 3}, "pro": {"samples": 201}}
    for other in (
        replace(settings, optimiser=another, learner=SMALL[another]),
        replace(settings, learner=replace(SMALL[name], **changes[name])),
    ):
        with pytest.raises(InputError, match="other data, start weights, decoder or settings"):
            run(Reranker(), tmp_path / "parts", settings=other, resume=True)


@pytest.mark.parametrize("name", ["mira", "mert", "pro"])
def test_references_that_differ_in_number_of_lines_are_refused(name):
    decoder = Reranker()
    references = [decoder.references[0], decoder.references[0][:-1]]
    with pytest.raises(InputError, match="reference sets of 15, 14 lines"):
        tune(decoder, decoder.sources, references, START, replace(SETTINGS, optimiser=name, learner=SMALL[name]))


def test_defaults_of_interpolation():
    assert [TuneSettings(optimiser=name).step() for name in ("mira", "mert", "forest-mert", "pro")] == [1, 1, 1, 0.1]
    assert TuneSettings(optimiser="pro", interpolation=0.5).step() == 0.5


def test_unknown_optimisers_and_decoders_without_graphs_are_refused():
    with pytest.raises(
        InputError, match="unknown optimiser 'simplex'; choose from forest-mert, forest-risk, mert, mira, pro"
    ):
        run(Reranker(), settings=replace(SETTINGS, optimiser="simplex", learner=None))
    with pytest.raises(InputError, match="forest-mert needs hypergraphs"):
        run(Reranker(), settings=replace(SETTINGS, optimiser="forest-mert", learner=None))
    with pytest.raises(InputError, match="forest-risk tunes for BLEU only; leave out metric = chrf"):
        run(Reranker(), settings=replace(SETTINGS, optimiser="forest-risk", learner=None, metric="chrf"))
    with pytest.raises(InputError, match="give this one another name"):
        run(Reranker(), learn=lambda step: None)


def test_an_optimiser_of_ones_own():
    steps = []

    def learn(step):
        steps.append(step)
        return mira(step.pool, step.weights, SETTINGS.learner, step.seed)

    result = run(Reranker(), settings=replace(SETTINGS, optimiser="mine", learner=None), learn=learn)
    assert result == run(Reranker())
    assert [step.iteration for step in steps] == [1, 2, 3]
    assert [h[0].text for h in steps[0].lists] == [h[0].text for h in Reranker().decode(Reranker().sources, START, 1)]


@pytest.mark.usefixtures("terminal")
def test_start_weights_of_unknown_features_are_kept_with_a_warning(capsys):
    decoder = Reranker()
    start = {**START, "Misspelt": 0.5, "Zero": 0.0}
    settings = replace(SETTINGS, iterations=2)
    result = tune(decoder, decoder.sources, decoder.references, start, settings, log=lambda _: None)
    assert [record.weights["Misspelt"] for record in result.history] == [0.5, 0.5]
    warnings = capsys.readouterr().err
    assert warnings.count("start weights without a feature in any hypothesis, kept unchanged: 'Misspelt'") == 1


def test_the_log_shows_weights_and_whose_time_it_was():
    lines = []
    decoder = Reranker()
    settings = replace(SETTINGS, iterations=2)
    tune(decoder, decoder.sources, decoder.references, START, settings, log=lines.append)
    assert "learning" in lines[0] and "decoding" in lines[0] and "oracle" in lines[0]
    assert lines[1] == "  weights: lm=0.1 tm=0.2 words=0.9"
    assert lines[-1].startswith("decoding took ") and lines[-1].endswith("of both)")
    assert tune_module._describe_weights({f"w{n:02d}": n for n in range(40)}).endswith("w39=39 and 32 smaller ones")


@pytest.fixture
def travel(tmp_path):
    """A decoder of few words whose start weights prefer the wrong order."""
    (tmp_path / "grammar").write_text(
        "[X] ||| la ||| the ||| P=1\n[X] ||| casa ||| house ||| P=1\n[X] ||| verde ||| green ||| P=1\n"
        "[X] ||| [X,1] verde ||| [X,1] green ||| Keep=1\n[X] ||| [X,1] verde ||| green [X,1] ||| Swap=1\n"
        "[X] ||| [X,1] casa ||| [X,1] house ||| Glued=1\n[X] ||| casa ||| home ||| Other=1\n"
    )
    config = DecoderConfig(grammars=(tmp_path / "grammar",), word_penalty=True, pass_through=True, pop_limit=20)
    sources = ["la casa verde la casa verde", "casa verde la casa", "la casa"]
    return config, sources, [["the green house the green house", "green house the house", "the house"]]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("name", "small"),
    [("forest-mert", ForestMertSettings(restarts=1, directions=2)), ("forest-risk", HypergraphSettings())],
)
def test_optimisers_of_hypergraphs(tmp_path, travel, jobs, name, small):
    config, sources, references = travel
    start = {"Keep": 1.0, "Other": 0.5, "P": 0.1}
    settings = TuneSettings(optimiser=name, kbest=2, iterations=4, patience=4, learner=small)

    def once(folder, jobs=1, **changes):
        with in_processes(jobs) as engine, EmbeddedDecoder(config, None, engine) as decoder:
            return tune(
                decoder, sources, references, start, replace(settings, **changes), folder, "resume" in folder.name
            )

    result = once(tmp_path / "whole", jobs)
    scores = [record.dev_bleu for record in result.history]
    assert max(scores) > scores[0]
    assert once(tmp_path / "other") == result and contents(tmp_path / "other") == contents(tmp_path / "whole")
    once(tmp_path / "resumed", iterations=2)
    assert once(tmp_path / "resumed") == result
    assert contents(tmp_path / "resumed") == contents(tmp_path / "whole")


def test_settings_have_defaults():
    decoder = Reranker()
    result = tune(decoder, decoder.sources, decoder.references, START, log=lambda _: None)
    assert {call[1:] for call in decoder.calls} == {(100, True)} and len(result.history) <= 15
