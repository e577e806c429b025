"""Options of the commands reach what does the work: lines with all of them, and the settings that its functions get."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace
from unittest.mock import ANY, MagicMock, call

import helpers
import numpy as np
import pytest
from command_lines import CLUSTER, CONTEXT, EVERY_LINE, LINES, align_words, estimate_words, scorer_words, tune_words
from estimates import LOW_DIMENSIONAL
from other_settings import option_words, other_value, other_values

from lscfg.cli import build_parser, main
from lscfg.command_table import COMMANDS
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.corpus.align import AlignmentSettings
from lscfg.corpus.aligner import ALIGNERS
from lscfg.decode.analysis import Cut
from lscfg.errors import InputError
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS, RuleInputs
from lscfg.extract.hiero import HieroLimits
from lscfg.extract.hiero_parts import RULE_BYTES, Extraction, Written
from lscfg.io.text import read_lines
from lscfg.kernel import DeriveOptions, FeatureOptions
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.model.compress import CPSettings
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import available_cores
from lscfg.settings import settings_of
from lscfg.study.senses import InventorySettings
from lscfg.study.simulate import GrammarSettings
from lscfg.tuning.evaluate import Evaluation
from lscfg.tuning.experiment.config import Overrides
from lscfg.tuning.metrics.comet import CometSettings
from lscfg.tuning.optimisers import OPTIMISERS
from lscfg.tuning.tune import Iteration, TuneResult, TuneSettings


def options(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The options of a parser and of those below it, but for those with a single choice."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from options(below, (*path, name))
        elif (
            action.option_strings
            and action.dest not in ("help", "quiet", "version", "print_completion")
            and len(action.choices or "12") > 1
        ):
            yield path, action.dest


def test_no_option_is_missing():
    parser = build_parser(COMMANDS)
    given = set()
    for line in EVERY_LINE:
        path: tuple[str, ...] = ()
        values, found = vars(parser.parse_args(line)), parser
        while below := next((a for a in found._actions if isinstance(a, argparse._SubParsersAction)), None):
            path = (*path, values[below.dest])
            found = below.choices[values[below.dest]]
        given |= {(path, name) for name, value in values.items() if value != found.get_default(name)}
    assert {*options(parser)} <= given


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory, with what the lines name."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("f", "e", "e2", "a1", "text", "model", "library")):
        (tmp_path / name).write_text(f"a{number} b\nc{number}\n")
    (tmp_path / "weights").write_text("One 1\n")
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=text\nfeature_function=WordPenalty\n")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.fixture
def double(monkeypatch):
    """Doubles until the test ends."""
    return partial(helpers.double, monkeypatch)


def run(name: str) -> None:
    """Runs the line of that name."""
    run_words(shlex.split(LINES[name]))


def run_words(words: list[str]) -> None:
    """Runs a line."""
    assert main(words) == 0


@pytest.mark.parametrize("name", CLUSTER)
def test_clusters(name, monkeypatch, capsys):
    """What goes there as a whole, or opens its engine there."""

    def stop(*given: object) -> None:
        place = next(one for one in (getattr(item, "cluster", item) for item in given) if isinstance(one, str))
        raise InputError(f"there: {place}")

    monkeypatch.setattr("lscfg.parallel.jobs.run_there", stop)
    monkeypatch.setattr("lscfg.parallel.choose.on_cluster", stop)
    assert main(shlex.split(CLUSTER[name])) == 1
    assert capsys.readouterr().err.endswith("there: local:3\n")


@pytest.mark.parametrize("name", ALIGNERS.names())
def test_align(double, name):
    """Every setting of the aligner, each with a value of its own."""
    align = double("lscfg.corpus.align.align_both_ways", SimpleNamespace(joined=lambda heuristic: [heuristic]))
    run_words(align_words(name))
    own = other_values(ALIGNERS.settings()[name])
    settings = AlignmentSettings.with_aligner(model=name, heuristic="intersect", **own)
    assert own and settings.aligner == ALIGNERS.settings()[name](**own) != ALIGNERS.settings()[name]()
    align.assert_called_once_with(["a0 b", "c0"], ["a1 b", "c1"], settings, jobs=97, save="saved")
    assert read_lines("out") == ["intersect"]


def test_align_with_a_saved_aligner(double):
    align = double("lscfg.corpus.align.align_with", SimpleNamespace(joined=lambda heuristic: [heuristic]))
    run("align with a saved aligner")
    align.assert_called_once_with("model", ["a0 b", "c0"], ["a1 b", "c1"], jobs=97)
    assert [read_lines(f"out.{heuristic}") for heuristic in ("union", "grow-diag")] == [["union"], ["grow-diag"]]


@pytest.mark.parametrize(
    ("name", "links", "settings", "threads", "forests"),
    [
        ("derive", ["a1", "a2"], DeriveOptions(bracketing="right", max_arity=1, binarise=True, max_words=7), 97, False),
        ("derive the good", ["a1"], DeriveOptions(drop=True), available_cores(), True),
    ],
)
def test_derive(double, name, links, settings, threads, forests):
    derive_files = double("lscfg.extract.derive.derive_files", {})
    run(name)
    derive_files.assert_called_once_with("f", "e", links, "out", settings, threads, forests)


def test_grammar(double):
    counted, selection = MagicMock(), MagicMock()
    extract_files = double("lscfg.extract.hiero.extract_files", counted)
    select_rules = double("lscfg.grammar.select.select_rules", selection)
    write = double("lscfg.moses_bridge.rule_table.write_rule_table")
    run("grammar")
    limits = HieroLimits(max_phrase=6, max_target_phrase=8, max_symbols=4, max_arity=1)
    extract_files.assert_called_once_with("f", "e", ["a1", "a2"], limits, wanted=["a4 b", "c4"])
    select_rules.assert_called_once_with(counted, max_targets=7, sentences=["a4 b", "c4"], separately=False)
    write.assert_called_once_with("out", counted, selection, threads=97)


def test_grammars_of_sentences(double):
    counted, selection = MagicMock(), MagicMock()
    load = double("lscfg.extract.derive.Derivations.load", "trees")
    of = double("lscfg.extract.minimal.MinimalRules.of", counted)
    select_rules = double("lscfg.grammar.select.select_rules", selection)
    write = double("lscfg.grammar.write.write_sentence_grammars")
    table = double("lscfg.commands.grammar.size_table", "")
    run("grammars")
    assert (load.mock_calls, of.mock_calls) == ([call("deriv")], [call("trees")])
    select_rules.assert_called_once_with(counted, max_targets=7, sentences=["a4 b", "c4"], separately=True)
    write.assert_called_once_with("folder", counted, selection, ["a4 b", "c4"], threads=97)
    table.assert_called_once_with({"MIN": counted}, ["a4 b", "c4"])


def test_grammar_in_little_memory(double):
    write = double("lscfg.extract.hiero_parts.write_hiero", Written(3, {}, {}))
    run("grammar in little memory")
    corpus = Extraction("f", "e", ["a1"], HieroLimits(max_phrase=6))
    write.assert_called_once_with("out", corpus, 2**31 // RULE_BYTES, 7, 97)


def test_grammar_of_more_rules(double):
    extract_files = double("lscfg.extract.hiero.extract_files", MagicMock())
    double("lscfg.grammar.select.select_rules", MagicMock())
    double("lscfg.grammar.write.write_grammar")
    run("grammar of more rules")
    assert extract_files.call_args.args == ("f", "e", ["a1"], HieroLimits(loose=True, min_hole=2))


def test_grammar_of_phrases(double):
    counted = MagicMock(max_targets=20)
    double("lscfg.extract.derive.Derivations.load", "trees")
    of = double("lscfg.extract.phrases.PhraseRules.of", counted)
    select_rules = double("lscfg.grammar.select.select_rules", MagicMock())
    write = double("lscfg.grammar.write.write_grammar")
    run("grammar of phrases")
    of.assert_called_once_with("trees", 3)
    select_rules.assert_called_once_with(counted, max_targets=20, sentences=None, separately=False)
    assert write.call_args.args[:2] == ("out", counted)


def test_lm(double):
    build_lm = double("lscfg.lm.lmplz.build_lm", "lscfg")
    run("lm")
    build_lm.assert_called_once_with(
        "text", "out", order=2, prune=[0, 1], discount_fallback=DEFAULT_FALLBACK, estimator="lscfg", memory=0.5
    )


@pytest.fixture
def derivations(double):
    """What any file of derivations holds; the process's memory is left as it is."""
    double("lscfg.cli.keep_freed_memory")
    return double("lscfg.extract.derive.Derivations.load", MagicMock()).return_value


@pytest.mark.parametrize("name", ESTIMATORS.names())
def test_estimate(double, derivations, name):
    """Every setting of the estimator and of the context model, each with a value of its own."""
    model, hiero, phrases = MagicMock(), MagicMock(), MagicMock()
    double("lscfg.context.inputs.read_source", ["a0 b", "c0"])
    of_phrases = double("lscfg.extract.phrases.Phrases.tokens", phrases)
    of_hiero = double("lscfg.extract.hiero.Hiero.tokens", hiero)
    both = double("lscfg.grammar.tokens.RuleTokens.with_those_of", MagicMock())
    both.return_value.without.return_value = "tokens"
    found = ESTIMATORS[name]
    estimate = double(f"{helpers.class_path(found)}.estimate", "without context")
    add_context = double("lscfg.context.loglinear.Loglinear.add", model)
    run_words(estimate_words(name))
    settings = found.Settings(**other_values(found.Settings))
    folder, resume = (Path("folder"), True) if found.CHECKPOINTS else (None, False)
    estimate.assert_called_once_with(derivations, settings, 97, folder, resume)
    inputs = RuleInputs(Path("f"), Path("e"), (Path("a1"), Path("a2")), Path("deriv"))
    of_hiero.assert_called_once_with(inputs, EXTRACTORS["hiero"].Settings())
    of_phrases.assert_called_once_with(inputs, EXTRACTORS["phrases"].Settings())
    both.assert_called_once_with(hiero, phrases)
    both.return_value.without.assert_called_once_with(0.25)
    context = CONTEXT(**other_values(CONTEXT))
    add_context.assert_called_once_with("without context", "tokens", ["a0 b", "c0"], context, 97, ())
    model.save.assert_called_once_with("out", "float64")


@pytest.mark.parametrize("scorer", LOW_DIMENSIONAL)
def test_each_setting_of_a_scorer(double, derivations, scorer):
    """A scorer without weights, of minimal tokens, gets all of its settings."""
    double("lscfg.context.inputs.read_source", ["text"])
    double("lscfg.extract.minimal.Minimal.tokens", "tokens")
    double("lscfg.estimate.mle.RelativeFrequencies.estimate", "model")
    add_context = double("lscfg.context.loglinear.Loglinear.add")
    add = double(f"{helpers.class_path(CONTEXT_MODELS[scorer])}.add", MagicMock())
    run_words(scorer_words("mle", scorer))
    declared = CONTEXT_MODELS[scorer].Settings
    settings = declared(**other_values(declared))
    assert settings != declared() and not add_context.called
    add.assert_called_once_with("model", "tokens", ["text"], settings, available_cores(), ANY)


@pytest.mark.parametrize(
    ("name", "item"), [(name, item) for name in ESTIMATORS.names() for item in settings_of(ESTIMATORS[name].Settings)]
)
def test_each_setting_of_an_estimator_alone(double, derivations, name, item):
    found = ESTIMATORS[name]
    estimate = double(f"{helpers.class_path(found)}.estimate", MagicMock())
    value = {item.name: other_value(item, 0)}
    run_words(["estimate", name, "deriv", "-o", "out", *option_words(found.Settings, value)])
    settings = found.Settings(**value)
    assert settings != found.Settings()
    estimate.assert_called_once_with(derivations, settings, available_cores(), None, False)
    estimate.return_value.save.assert_called_once_with("out", "float32")


@pytest.mark.parametrize(("given", "name"), [("--context", "minimal"), ("--hiero-context", "hiero")])
@pytest.mark.parametrize("item", settings_of(CONTEXT), ids=lambda item: item.name)
def test_each_setting_of_the_context_model_alone(double, derivations, given, name, item):
    double("lscfg.context.inputs.read_source", ["text"])
    tokens = double(f"{helpers.class_path(EXTRACTORS[name])}.tokens", "tokens")
    double("lscfg.estimate.mle.RelativeFrequencies.estimate", "model")
    add_context = double("lscfg.context.loglinear.Loglinear.add", MagicMock())
    value = {item.name: other_value(item, 0)}
    files = ["f"] if name == "minimal" else ["f", "e", "a1"]
    words = ["estimate", "mle", "deriv", "-o", "out", given, *files]
    run_words([*words, *option_words(CONTEXT, value, "loglinear")])
    assert tokens.call_count == 1
    add_context.assert_called_once_with("model", "tokens", ["text"], CONTEXT(**value), available_cores(), ())


@pytest.fixture
def analyser(double):
    """What analyses, of a model or of an ini."""
    made = MagicMock(**{"json_parts.return_value": [b""]})
    double("lscfg.decode.analysis.Analyser.from_model", made)
    double("lscfg.decode.analysis.Analyser.from_ini", made)
    return made


def test_marginals(double, analyser):
    double("lscfg.parallel.choose.in_threads", does=in_threads)
    run("marginals")
    names = ("LatentSpan", "LatentTarget")
    features = FeatureOptions(log=False, floor=0.01, negative="clamp", names=names)
    resolve_name("lscfg.decode.analysis.Analyser.from_model").assert_called_once_with("model", features, grammar=None)
    resolve_name("lscfg.parallel.choose.in_threads").assert_called_once_with(97)
    assert analyser.mock_calls[:2] == [call("a4 b", 0), call.json_parts(0, analyser.return_value, Cut(7, 0.25))]
    assert Path("out").exists()


def test_marginals_of_forests(double, analyser):
    forests = double("lscfg.formats.forests.ForestFile", MagicMock())
    run("marginals of forests")
    forests.assert_called_once_with("text", (Path("text"),))
    from_ini = resolve_name("lscfg.decode.analysis.Analyser.from_ini")
    from_ini.assert_called_once_with("cdec.ini", forests.return_value.grammar)


def test_marginals_as_grammars(double, analyser):
    grammars = double("lscfg.decode.sentence_grammars.SentenceGrammars", MagicMock())
    run("marginals as grammars")
    grammars.assert_called_once_with("folder", analyser, ["a4 b", "c4"])
    assert grammars.return_value.write.mock_calls == [call(n, analyser.return_value) for n in range(2)]


def test_heatmap(double, analyser):
    analyser.return_value.inference = None
    double("lscfg.parallel.choose.in_threads", does=in_threads)
    draw = double("lscfg.study.heatmap.draw_charts")
    run("heatmap")
    resolve_name("lscfg.decode.analysis.Analyser.from_model").assert_called_once_with("one")
    resolve_name("lscfg.decode.analysis.Analyser.from_ini").assert_called_once_with("cdec.ini")
    resolve_name("lscfg.parallel.choose.in_threads").assert_called_once_with(97)
    chart = analyser.return_value.chart.return_value
    charts = {"A, no parse": chart, "cdec, no parse": chart}
    first, second = (Path("folder") / f"sentence.{n}.svg" for n in (2, 1))
    assert draw.mock_calls == [
        call(["c4"], charts, "sentence 2", first),
        call(["a4", "b"], charts, "sentence 1", second),
    ]


def test_diagnose(double):
    load = double("lscfg.extract.derive.Derivations.load", does=lambda path: f"trees of {path}")
    diagnosis = double("lscfg.study.diagnose.Diagnosis", MagicMock())
    double("lscfg.study.diagnose.report", {"all": "figures"})
    double("lscfg.study.diagnose.format_diagnosis", "")
    run("diagnose")
    assert load.call_count == 2
    diagnosis.assert_called_once_with("trees of deriv", "trees of dev", 7, 0.01, "clamp", True)
    assert diagnosis.return_value.measure_all.mock_calls == [call("one"), call("two")]
    assert "figures" in Path("out").read_text()


@pytest.mark.parametrize(
    ("name", "share", "trivial", "models"),
    [("mrr", 0.0, True, ["one", "two"]), ("mrr as in the thesis", 0.25, False, ["one"])],
)
def test_mrr(double, name, share, trivial, models):
    double("lscfg.extract.derive.Derivations.load", does=lambda path: f"trees of {path}")
    held_out = double("lscfg.study.senses.Questions.held_out", "questions")
    of_tokens = double("lscfg.study.senses.Questions.of_tokens", "questions")
    ruler = double("lscfg.study.mrr.Ruler.of", "ruler")
    measure = double("lscfg.study.mrr.measure_scores", {"all": "figures"})
    double("lscfg.study.mrr.format_scores", "")
    run(name)
    if share:
        of_tokens.assert_called_once_with("trees of deriv", InventorySettings(), share)
        ruler.assert_called_once_with("questions", None, trivial, share)
    else:
        held_out.assert_called_once_with("trees of deriv", "trees of dev", InventorySettings(3, 7, 4))
        ruler.assert_called_once_with("questions", "text", trivial, share)
        assert "figures" in Path("out").read_text()
    measure.assert_called_once_with("ruler", models)


def test_decode(double):
    decoder = MagicMock()
    translate = decoder.__enter__.return_value.translate
    translate.return_value = []
    from_ini = double("lscfg.decode.decoder.EmbeddedDecoder.from_ini", decoder)
    run("decode")
    from_ini.assert_called_once_with("cdec.ini", ANY, cached=0)
    assert from_ini.call_args.args[1].workers == 97
    translate.assert_called_once_with(ANY, {"One": 1}, 5, True, True, None)
    assert [*translate.call_args.args[0]] == ["a4 b", "c4"]
    assert Path("out").exists() and Path("other").exists()


@pytest.mark.parametrize(
    ("name", "kind", "function", "arguments"),
    [
        ("inspect a model", "model", "describe_model", ("model", 3)),
        ("inspect a rule", "model", "show_rule", ("model", "a ||| b")),
        ("inspect rules nearby", "model", "show_nearest", ("model", "a ||| b", 3)),
        ("inspect states", "model", "show_states", ("model", 3)),
        ("inspect a tree", "derivations", "show_tree", ("deriv", 4)),
    ],
)
def test_inspect(double, name, kind, function, arguments):
    double("lscfg.io.tensors.file_kind", kind)
    show = double(f"lscfg.study.inspect.{function}", "")
    run(name)
    show.assert_called_once_with(*arguments)


def test_compress(double):
    def compress(path, output, settings):
        Path(output).touch()
        return SimpleNamespace(ranks=np.ones(1), error=np.zeros(1), components=[1])

    made = double("lscfg.model.compress.compress", does=compress)
    run("compress")
    made.assert_called_once_with("model", "out", CPSettings(rank=4, tolerance=0.25, threads=97))


@pytest.mark.parametrize("name", ["simulate", "simulate a model"])
def test_simulate(double, name):
    model = MagicMock()
    random_model = double("lscfg.study.simulate.random_model", model)
    load = double("lscfg.model.parameters.Parameters.load", model)
    sample = double("lscfg.study.simulate.sample", MagicMock())
    double("lscfg.extract.yields.Yields.of", MagicMock())
    run(name)
    settings = GrammarSettings(rank=5, lexical=7, unary=8, binary=9, concentration=0.5)
    made = name == "simulate"
    assert random_model.mock_calls == [call(settings, 6)] * made
    assert load.mock_calls == [call("model")] * (not made)
    assert model.save.mock_calls == [call(Path("folder/model.lscfg"))] * made
    sample.assert_called_once_with(model, n=50, seed=6)
    sample.return_value.save.assert_called_once_with(Path("folder/train.deriv"))


@pytest.fixture
def tuning(double):
    """The tuning, and what opens its decoder."""
    first = Iteration(1, 20.0, 1.0, 30.0, None, 9, 9, {"One": 2.0})
    tune = double("lscfg.tuning.tune.tune", TuneResult({"One": 2.0}, 1, (first,), "done", 0.5))
    double("lscfg.decode.host.decoder_identity", "identity")
    double("lscfg.cdec_bridge.host.find_library", Path("library"))
    hosts = {"cdec": "lscfg.cdec_bridge.host.Cdec", "embedded": "lscfg.decode.embedded.Embedded"}
    return tune, {name: double(f"{host}.open", nullcontext("decoder")) for name, host in hosts.items()}


@pytest.mark.parametrize("name", OPTIMISERS.names())
def test_tune(tuning, name):
    """Every setting of the tuning and of its optimiser, each with a value of its own."""
    tune, opened = tuning
    run_words(tune_words(name))
    opened["cdec"].assert_called_once_with("cdec.ini", 97, library=Path("library"))
    learner = OPTIMISERS[name].Settings
    settings = TuneSettings(
        **other_values(TuneSettings) | {"optimiser": name}, learner=learner(**other_values(learner))
    )
    references = [["a1 b", "c1"], ["a2 b", "c2"]]
    arguments = ["decoder", ["a0 b", "c0"], references, {"One": 1.0}, settings, "folder"]
    tune.assert_called_once_with(*arguments, resume=True, decoder_id="identity", learn=None)
    assert Path("folder/weights").read_text().split() == ["One", "2.0"]


@pytest.mark.parametrize(
    ("name", "item"),
    [(name, item) for name in OPTIMISERS.names() for item in settings_of(OPTIMISERS[name].Settings)],
)
def test_each_setting_of_an_optimiser_alone(tuning, name, item):
    tune, _ = tuning
    learner, value = OPTIMISERS[name].Settings, {item.name: other_value(item, 0)}
    line = "tune --config cdec.ini --source f --reference e --weights weights -o folder --optimiser"
    run_words([*line.split(), name, *option_words(learner, value, name)])
    (settings,) = (argument for argument in tune.call_args.args if isinstance(argument, TuneSettings))
    assert settings == TuneSettings(optimiser=name, learner=learner(**value)) and learner(**value) != learner()


def test_settings_of_another_optimiser_are_refused(capsys):
    assert main([*shlex.split(LINES["tune"]), "--mira-epochs", "3", "--mert-restarts", "2"]) == 1
    assert "--mert-restarts: for --optimiser mert only" in capsys.readouterr().err


def test_tune_with_a_host(double, tuning):
    tune, opened = tuning
    host = double("lscfg.tuning.hosts.host_optimiser", "learner")
    run("tune with a host")
    host.assert_called_once_with("moses-mert", "cdec.ini", ["a0 b", "c0"], [["a1 b", "c1"]], k=7)
    opened["embedded"].assert_called_once_with("cdec.ini", available_cores(), library=None)
    settings = TuneSettings(kbest=7, optimiser="moses-mert")
    arguments = ["decoder", ["a0 b", "c0"], [["a1 b", "c1"]], {"One": 1.0}, settings, "folder"]
    tune.assert_called_once_with(*arguments, resume=False, decoder_id="identity", learn="learner")


def test_evaluate(double):
    evaluate = double("lscfg.tuning.evaluate.evaluate", Evaluation([], {"BLEU": "signature"}, 50, 60, 70))
    differences = double("lscfg.tuning.sentences.differences", ["difference"])
    write_table = double("lscfg.tuning.sentences.write_table")
    show = double("lscfg.tuning.sentences.format_differences", "")
    run("evaluate")
    one, other, references, source = ["a1 b", "c1"], ["a2 b", "c2"], [["a0 b", "c0"], ["a4 b", "c4"]], ["a3 b", "c3"]
    evaluate.assert_called_once_with(
        {"A": [one], "B": [other]},
        references,
        "A",
        metrics=["bleu", "ter", "chrf", "comet"],
        settings={"comet": CometSettings(model=Path("model"))},
        source=source,
        samples=50,
        trials=60,
        seed=70,
    )
    differences.assert_called_once_with(one, other, references)
    write_table.assert_called_once_with("table", "A", {"B": ["difference"]}, references, source)
    show.assert_called_once_with("A", "B", ["difference"], 3, references, source)
    assert "signature" in Path("out").read_text()


def test_evaluate_runs(double):
    evaluate = double("lscfg.tuning.evaluate.evaluate", Evaluation([], {}, 50, 60, 70))
    run("evaluate runs")
    outputs = {"A": [["a1 b", "c1"], ["a2 b", "c2"]]}
    numbers = {"samples": 50, "trials": 60, "seed": 70}
    evaluate.assert_called_once_with(
        outputs, [["a0 b", "c0"]], "A", metrics=["bleu"], settings={}, source=[], **numbers
    )


def test_run(double):
    run_experiment = double("lscfg.tuning.experiment.run.run_experiment", "")
    run("run")
    overrides = Overrides(data=Path("data"), runs=2, decoder="moses", systems=["A", "B"])
    run_experiment.assert_called_once_with("e.toml", "folder", jobs=97, overrides=overrides, cluster="local:3")
    show_plan = double("lscfg.tuning.experiment.run.show_plan", "")
    run("run nothing")
    show_plan.assert_called_once_with("e.toml", "folder", overrides)
    assert run_experiment.call_count == 1


def test_demo(double):
    corpus = SimpleNamespace(train=[], dev=[], test=[])
    generate = double("lscfg.demo.generate", corpus)
    write = double("lscfg.demo.write")
    for name in ("HIERO", "MIN", "LATENT"):
        Path("folder/systems", name).mkdir(parents=True)
        Path("folder/systems", name, "test.output").touch()
    run_experiment = double("lscfg.tuning.experiment.run.run_experiment", "")
    run("demo")
    generate.assert_called_once_with(seed=4)
    write.assert_called_once_with(corpus, Path("folder/corpus"))
    run_experiment.assert_called_once_with(Path("folder/demo.toml"), Path("folder"), jobs=97)


def test_cdec_build_and_check(double):
    at = double("lscfg.cdec_bridge.library.CdecTree.at", "tree")
    build, check = (
        double("lscfg.cdec_bridge.library.build_library"),
        double("lscfg.cdec_bridge.library.check_library", "good"),
    )
    run("cdec build")
    build.assert_called_once_with("tree", "out")
    run("cdec check")
    check.assert_called_once_with("tree", "library")
    assert at.mock_calls == [call("tree")] * 2 and build.call_count == 1


def test_cdec_fold(double):
    folded = SimpleNamespace(features=(), lines=[], weights=lambda weights: weights)
    pack_ini = double("lscfg.cdec_bridge.packing.pack_ini", folded)
    run("cdec pack")
    pack_ini.assert_called_once_with("cdec.ini", unpack=False, library="library")
    assert sorted(path.name for path in Path("folder").iterdir()) == ["cdec.ini", "weights"]


def test_cdec_decode(double):
    below = double("lscfg.cdec_bridge.decoder.program_below", Path("cdec"))
    processes = double("lscfg.cdec_bridge.processes.CdecProcesses", MagicMock(**{"decode.return_value": [["x"], []]}))
    run("cdec decode")
    below.assert_called_once_with("tree")
    options = ["-w", str(Path("weights").resolve()), "-r"]
    processes.assert_called_once_with(Path("cdec"), "cdec.ini", options, k=5, jobs=97)
    processes.return_value.decode.assert_called_once_with(["a4 b", "c4"])
    assert Path("out").read_text() == "x\n"


def test_cdec_forest(double):
    below = double("lscfg.cdec_bridge.decoder.program_below", Path("cdec"))
    record = double("lscfg.cdec_bridge.forests.record", ["{}"])
    run("cdec forest")
    below.assert_called_once_with("tree")
    options = ["-w", str(Path("weights").resolve())]
    arguments = [Path("cdec"), "library", "cdec.ini", ["a4 b", "c4"]]
    record.assert_called_once_with(*arguments, options=options, jobs=97, folder=None, binary="folder")
    assert Path("out").read_text() == "{}\n"


def test_cdec_forest_of_files(double):
    double("lscfg.cdec_bridge.decoder.find_cdec", Path("cdec"))
    inputs = double("lscfg.cdec_bridge.forests.binary_inputs", ["one"])
    record = double("lscfg.cdec_bridge.forests.record", [])
    run("cdec forest of files")
    inputs.assert_called_once_with("folder")
    arguments = [Path("cdec"), "liblscfg_cdec.so", None, ["one"]]
    record.assert_called_once_with(*arguments, options=[], jobs=available_cores(), folder=Path("folder"), binary=None)


def test_moses_build_and_check(double):
    at = double("lscfg.moses_bridge.program.MosesTree.at", "tree")
    build, check = (
        double("lscfg.moses_bridge.program.build_program"),
        double("lscfg.moses_bridge.program.check_program", "good"),
    )
    write = double("lscfg.moses_bridge.program.write_sources", Path("folder"))
    run("moses build")
    build.assert_called_once_with("tree", "out", ["-Ione", "-Ltwo"])
    run("moses build of sources")
    write.assert_called_once_with("folder")
    run("moses check")
    build.assert_called_with("tree", ANY, ["-Ione"])
    run("moses check of a program")
    assert check.mock_calls == [call(build.call_args.args[1]), call("program")]
    assert at.mock_calls == [call("tree")] * 2 and build.call_count == 2


def test_moses_convert(double):
    read_ini = double("lscfg.formats.ini.read_ini", SimpleNamespace(weights=None))
    write = double("lscfg.moses_bridge.config.write_moses", Path("folder/moses.ini"))
    run("moses convert")
    read_ini.assert_called_once_with("cdec.ini")
    write.assert_called_once_with("folder", read_ini.return_value, {"One": 1.0}, ini="cdec.ini")


def test_moses_weights(double):
    double("lscfg.decode.parsing.read_grammar", MagicMock())
    read = double("lscfg.moses_bridge.config.read_moses_weights", {"theirs": 3.0})
    conventions = MagicMock(**{"weights_from_moses.return_value": {"ours": 3.0}})
    double("lscfg.moses_bridge.config.Conventions.of", conventions)
    run("moses weights")
    read.assert_called_once_with("moses.ini")
    conventions.weights_from_moses.assert_called_once_with({"theirs": 3.0})
    assert Path("out").read_text().split() == ["ours", "3.0"]
