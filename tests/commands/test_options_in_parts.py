"""Options that change an object or need a decoder reach the work: each such command has its own test."""

import shlex
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace
from unittest.mock import ANY, MagicMock, call

import helpers
import pytest

from lscfg.cli import main
from lscfg.decode.analysis import Cut
from lscfg.errors import InputError
from lscfg.formats.ini import read_ini
from lscfg.io.read import read_lines
from lscfg.kernel import PAPER_FEATURES, FeatureOptions
from lscfg.parallel.choose import in_threads

pytestmark = pytest.mark.usefixtures("command_files")
TEXT_F, TEXT_E, TEXT_E2, TEXT_A, TEXT = (["a0 b", "c0"], ["a1 b", "c1"], ["a2 b", "c2"], ["a3 b", "c3"], ["a4 b", "c4"])
"""The lines of the files ``f``, ``e``, ``e2``, ``a1`` and ``text``."""


def test_precision_of_a_model(double):
    double("lscfg.extract.derive.Derivations.load", "trees")
    estimate = double("lscfg.estimate.mle.RelativeFrequencies.estimate", MagicMock())
    for words, precision in (([], "float32"), (["--precision", "double"], "float64")):
        assert main(["estimate", "mle", "f", "-o", "out", *words]) == 0
        estimate.return_value.save.assert_called_with("out", precision)


@pytest.mark.parametrize(
    "line",
    [
        "grammar sampled f e a1 -o out",
        "grammar sampled f e a1 -o out --chains 2",
        "decode text -c cdec.ini -w weights -o out",
        "tune weights --config cdec.ini --source f --reference e --weights weights -o folder",
    ],
)
def test_clusters(line, monkeypatch, capsys):
    """Commands that run on a cluster as a whole, or open an engine there."""

    def stop(*given: object) -> None:
        place = next(one for one in (getattr(item, "cluster", item) for item in given) if isinstance(one, str))
        raise InputError(f"there: {place}")

    for name in ("lscfg.parallel.jobs.run_there", "lscfg.parallel.choose.on_cluster"):
        helpers.double(monkeypatch, name, does=stop)
    assert main([*shlex.split(line), "--cluster", "local:3"]) == 1
    assert capsys.readouterr().err.endswith("there: local:3\n")


def test_marginals(double):
    analyser = MagicMock(**{"json_parts.return_value": [b""]})
    from_model = double("lscfg.decode.analysis.Analyser.from_model", analyser)
    from_ini = double("lscfg.decode.analysis.Analyser.from_ini", analyser)
    double("lscfg.parallel.choose.in_threads", does=in_threads)
    forests = double("lscfg.formats.forests.ForestFile", MagicMock())
    grammars = double("lscfg.decode.sentence_grammars.SentenceGrammars", MagicMock())
    line = "inspect marginals model text -o out --set log=false --set floor=0.01 --jobs 97 --top 7 --min-marginal 0.25"
    assert main(line.split()) == 0
    features = FeatureOptions(log=False, floor=0.01, names=PAPER_FEATURES)
    from_model.assert_called_once_with("model", features, None)
    resolve_name("lscfg.parallel.choose.in_threads").assert_called_once_with(97)
    expected = [call("a4 b", 0), call.json_parts(0, analyser.return_value, Cut(7, 0.25))]
    assert [done for done in analyser.mock_calls if done in expected] == expected  # another thread's may lie between
    assert main(["inspect", "marginals", "cdec.ini", "text", "--forests"]) == 0
    forests.assert_called_once_with("text", (Path("text"),))
    from_ini.assert_called_once_with("cdec.ini", forests.return_value.grammar, needed=True)
    assert main(["inspect", "marginals", "cdec.ini", "text", "--per-sentence-grammars", "folder"]) == 0
    assert from_ini.call_args.kwargs == {"needed": False}
    grammars.assert_called_once_with("folder", analyser, TEXT)
    assert grammars.return_value.write.mock_calls == [call(n, analyser.return_value) for n in range(2)]


def test_decode(double):
    decoder = MagicMock()
    translate = decoder.__enter__.return_value.translate
    translate.return_value = []
    from_config = double("lscfg.decode.decoder.EmbeddedDecoder.from_config", decoder)
    line = "decode text -c cdec.ini -w weights -o out -k 5 --unique --jobs 1 --derivations other --xml-input ignore"
    assert main(line.split()) == 0
    from_config.assert_called_once_with(read_ini("cdec.ini"), ANY, cached=0, needed=False)
    assert from_config.call_args.args[1].workers == 1
    translate.assert_called_once_with(
        ANY, {"One": 1}, 5, True, True, None, terms=ANY, memory=None, xml_input="ignore", numbers=None, details=False
    )
    assert [*translate.call_args.args[0]] == TEXT
    assert Path("out").exists() and Path("other").exists()


def test_evaluate(double):
    evaluate = double("lscfg.tuning.evaluate.evaluate", MagicMock())
    double("lscfg.tuning.commands.scores.format_scores", "")
    double("lscfg.tuning.commands.scores.asdict", {"all": "figures"})
    found = double("lscfg.tuning.sentences.differences", ["difference"])
    table = double("lscfg.tuning.sentences.write_table")
    show = double("lscfg.tuning.sentences.format_differences", "")
    line = (
        "evaluate scores A=e B=e2 --reference f --reference text --baseline A --metrics ter,chrf --samples 50 "
        "--trials 60 --seed 70 -o out --source a1 --comet model --differences 3 --sentence-table table"
    )
    assert main(line.split()) == 0
    (systems, references, baseline), given = evaluate.call_args
    assert (systems, references, baseline) == ({"A": [TEXT_E], "B": [TEXT_E2]}, [TEXT_F, TEXT], "A")
    assert (given["samples"], given["trials"], given["seed"], given["source"]) == (50, 60, 70, TEXT_A)
    assert given["metrics"] == ["bleu", "ter", "chrf", "comet"] and given["settings"]["comet"].model == Path("model")
    found.assert_called_once_with(TEXT_E, TEXT_E2, [TEXT_F, TEXT])
    table.assert_called_once_with("table", "A", {"B": ["difference"]}, [TEXT_F, TEXT], TEXT_A)
    show.assert_called_once_with("A", "B", ["difference"], 3, [TEXT_F, TEXT], TEXT_A)
    assert "figures" in Path("out").read_text()


def test_demo(double):
    corpus = SimpleNamespace(train=[], dev=[], test=[])
    generate = double("lscfg.demo.generate", corpus)
    write = double("lscfg.demo.write")
    for name in ("HIERO", "MIN", "LATENT"):
        Path("folder/systems", name).mkdir(parents=True)
        Path("folder/systems", name, "test.output").touch()
    run_experiment = double("lscfg.tuning.experiment.run.run_experiment", "")
    assert main(["demo", "-o", "folder", "--seed", "4", "--jobs", "97"]) == 0
    generate.assert_called_once_with(seed=4)
    write.assert_called_once_with(corpus, Path("folder/corpus"))
    run_experiment.assert_called_once_with(Path("folder/demo.toml"), Path("folder"), 97, held=True)


def test_cdec_pack(double):
    packed = SimpleNamespace(features=(), lines=[], weights=lambda weights: weights)
    pack_ini = double("lscfg.cdec_bridge.packing.pack_ini", packed)
    assert (
        main(["cdec", "pack", "-c", "cdec.ini", "-w", "weights", "-o", "folder", "--library", "library", "--no-unpack"])
        == 0
    )
    pack_ini.assert_called_once_with("cdec.ini", False, "library")
    assert sorted(path.name for path in Path("folder").iterdir()) == ["cdec.ini", "weights"]


def test_moses_weights(double):
    double("lscfg.decode.parsing.read_grammar", MagicMock())
    read = double("lscfg.moses_bridge.config.read_moses_weights", {"theirs": 3.0})
    conventions = MagicMock(**{"weights_from_moses.return_value": {"ours": 3.0}})
    double("lscfg.moses_bridge.config.Conventions.of_grammar", conventions)
    assert main(["moses", "weights", "moses.ini", "-c", "cdec.ini", "-o", "out"]) == 0
    read.assert_called_once_with("moses.ini")
    conventions.weights_from_moses.assert_called_once_with({"theirs": 3.0}, "moses.ini")
    assert read_lines("out") == ["ours 3.0"]
