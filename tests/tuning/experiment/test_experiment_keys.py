"""Every key reaches what it is for: what does the work is replaced by doubles that have its parameters."""

import dataclasses
import json
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import ANY, call

import pytest
from aligners import with_aligner
from helpers import class_path, double
from little_experiment import TOML
from other_settings import BESIDE, other_value, toml_lines

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.loglinear import LoglinearSettings
from lscfg.corpus.aligner import ALIGNERS
from lscfg.estimate.clusters import ClusterSettings
from lscfg.estimate.em import EMSettings
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.estimate.features_em import FeatureEMSettings
from lscfg.estimate.mle import MLESettings
from lscfg.estimate.neural import NeuralSettings
from lscfg.estimate.spectral import SpectralSettings
from lscfg.extract.extractor import EXTRACTORS
from lscfg.extract.hiero_settings import HieroSettings
from lscfg.extract.minimal import MinimalSettings
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.kernel import CONTEXT_FEATURES, DeriveOptions
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.settings import Declared, settings_of
from lscfg.tuning.evaluate import evaluate
from lscfg.tuning.experiment.cache import Costs, StageCache
from lscfg.tuning.experiment.config import PARTS, SYSTEM_KEYS, read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.run import run_experiment
from lscfg.tuning.experiment.schema import Alignment, Tuning
from lscfg.tuning.experiment.steps.latent import Latent
from lscfg.tuning.optimisers import OPTIMISERS
from lscfg.tuning.pro import ProSettings
from lscfg.tuning.tune import Iteration, TuneResult, TuneSettings

EVERY_KEY = """
[corpus]
source = "f"
target = "e"
dev_source = "dev.f"
dev_reference = ["dev.e1", "dev.e2"]
test_source = "test.f"
test_reference = ["test.e1", "test.e2"]
alignment = ["links1", "links2"]

[monolingual]
source = ["mono.f"]
target = ["mono.e"]
lm = false
gold_source = "gold.f"
gold_target = "gold.e"

[alignment]
model = "fast-align"
heuristics = ["intersect", "grow-diag"]
iterations = 3

[derive]
max_arity = 1
binarise = true
bracketing = "right"

[minimal]
max_targets = 7

[hiero]
max_phrase = 6
max_target_phrase = 8
max_symbols = 4
max_arity = 1
loose = true
min_hole = 2
no_singletons = true
significance = 0.5
max_targets = 9
max_span = 11

[phrases]
max_words = 4
max_targets = 18

[biparsed]
passes = 1
rate = 0.25
decay = 0.75
prior = "visit"
strength = 2.5
lexical_rate = 0.125
rule_weights = false
leave_one_out = false
counts = "learned"
folds = 2
held_out = 0.25
adagrad = false
batch = 8
rule_cache = 9
seed = 3
pops = 31
pops_per = "cube"
nodes = 11
word_items = 12
beam = 1.5
future = "whole"
root = "strict"
max_target = 13
neighbours = 51
max_words = 14
lexicon = "links.lex"
max_targets = 15
max_span = 16

[sampled]
process = "dp"
alpha = 2.5
discount = 0.25
tables = "exact"
resample = true
length = "geometric"
mean_length = 3.0
base = "uniform"
multiplicity = "corrected"
moves = "tree"
offtree = "informed"
start = "minimal"
alignments = "chosen"
max_cut = 6
max_words = 50
sweeps = 20
sample = "last"
keep_every = 2
burn_in = 4
level_sweeps = 3
start_temperature = 5.0
chains = 2
seed = 17
rule_filter = "scope"
max_phrase = 8
max_symbols = 4
max_targets = 10
max_span = 12

[language_model]
order = 2
file = "arpa"
estimator = "lmplz"
discount_fallback = true

[context.loglinear]
penalty = 3.5
min_count = 4
min_word = 5
max_targets = 12
max_tokens = 1000
passes = 2
batch = 64
rate = 0.25
seed = 13

[decoder]
name = "cdec"
plugin = "liblscfg_cdec.so"
max_span = 33
pop_limit = 44

[features]
log = false
floor = 0.001
negative = "clamp"
improper = "keep"
names = ["LatentSpan"]

[tuning]
optimiser = "pro"
iterations = 5
kbest = 21
patience = 2
seed = 6
runs = 2
unique = false
interpolation = 0.5
restart_below = 0.75
metric = "chrf"
latent_starts = [0.25]
samples = 1000
kept = 14
threshold = 0.125
regularisation = 1.5
weights = { Glue = 0.25, LatentSpan = 0.75 }

[evaluation]
baseline = "HIERO"
against = ["EM"]
samples = 50
trials = 60
seed = 70

[report]
charts = ["EM"]
sentences = [2]
examples = 1
derivations = 2

[systems.HIERO]
grammar = "hiero"

[systems.GIVEN]
grammar_file = "rules"
start = "HIERO"

[systems.MLE]
grammar = "both"
estimator = "mle"
max_targets = 3
features = ["context"]

[systems.SPECTRAL]
estimator = "spectral"
m = 2
seed = 3
inside = ["rule", "class"]
outside = ["parent", "real"]
min_count = 4
scaling = false
smoothing = 0.5
max_targets = 6
svd = "randomized"
src_classes = "classes.f"
tgt_classes = "classes.e"
rule_values = "values"

[systems.EM]
estimator = "em"
m = 4
seed = 5
iterations = 7
restarts = 2
init = "matsuzaki"
normalise = "arity"
shrink_source = 8.0
shrink_arity = 9.0
held_out = 0.25
patience = 8

[systems.FEATURES]
estimator = "em-features"
m = 5
seed = 6
iterations = 8
restarts = 3
shrink_source = 7.0
shrink_arity = 6.0
held_out = 0.125
patience = 9
direct = true

[systems.CLUSTERS]
estimator = "clusters"
m = 15

[systems.NEURAL]
estimator = "neural"
features = ["neural"]
hidden = 64
seed = 9

[systems.ORIENTATION]
estimator = "orientation"
features = ["orientation"]
"""
TUNED = ("HIERO", "GIVEN", "MLE", "SPECTRAL", "EM", "FEATURES", "CLUSTERS", "NEURAL", "ORIENTATION")
"""The systems with weights."""

OWN_RUNS = {"weights_of", "expand", "states", "trees", "alignment", "agree"}
"""Keys of systems that test_experiment and test_monolingual_run try."""

EMBEDDED_ONLY = {("decoder", "unknown"), ("decoder", "functions")}
"""Keys that cdec, the decoder of this experiment, refuses."""

EXCLUDED = {"shards", "forests", "states"}
"""Settings that do not go with others here: with exact tables, with trees of few nonterminals, with several chains."""

JOBS = 3


class Doubles:
    """Doubles of functions by their last names, and the experiment that they have run."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch):
        self.folder, self._patch = folder, patch

    def put(self, name: str, result=None, does=None):
        setattr(self, name.rpartition(".")[2], double(self._patch, name, result, does))


def touch(path, *_, **__):
    Path(path).touch()
    return 4


def tuned(decoder, sources, references, weights, settings, folder, **_):
    (folder / "history.json").write_text('{"history": [{"dev_bleu": 20}]}')
    first = Iteration(1, 20.0, 1.0, 30.0, None, 9, 9, dict(weights))
    return TuneResult({**weights, "Seed": settings.seed}, 1, (first,), "done", 0.5)


def charted(folder, settings, inputs, jobs):
    (folder / "charts.json").write_text('{"model": [], "one state": null}')


@pytest.fixture(scope="module")
def doubles(tmp_path_factory):
    """After a run of the experiment with every key, whose files are all small."""
    folder = tmp_path_factory.mktemp("keys")
    for name in re.findall(r'"([a-z0-9_.]+)"', EVERY_KEY):
        (folder / name).write_text(f"{name} one\n{name} two\n")
    (folder / "e.toml").write_text(EVERY_KEY)
    model = SimpleNamespace(rank=3, save=touch)
    decoder = SimpleNamespace(decode=lambda lines, weights, k: [[Hypothesis(line, {}, 0.0)] * k for line in lines])
    with pytest.MonkeyPatch.context() as patch:
        found = Doubles(folder, patch)
        patch.setattr("lscfg.tuning.experiment.cache.measured", lambda work: (work(), Costs(0.0, 0.0, 0.0))[1])
        found.put("lscfg.cdec_bridge.host.needed_cdec", folder / "e.toml")
        found.put("lscfg.cdec_bridge.host.find_cdec", folder / "e.toml")
        found.put(
            "lscfg.tuning.experiment.stages.rules.align_both_ways",
            SimpleNamespace(joined=lambda heuristic: [heuristic]),
        )
        found.put("lscfg.tuning.experiment.stages.rules.check_language_model")
        found.put("lscfg.tuning.experiment.stages.rules.build_lm")
        found.put("lscfg.tuning.experiment.stages.rules.read_grammar", [])
        found.put("lscfg.tuning.experiment.stages.rules.derive_files", {"sentence pairs": 2})
        found.put("lscfg.extract.derive.Derivations.load", "trees")
        found.put("lscfg.extract.minimal.MinimalRules.of", SimpleNamespace(statistics=dict, history={}))
        found.put("lscfg.extract.hiero.extract_files", SimpleNamespace(statistics=dict, history={}))
        found.put("lscfg.extract.hiero.mark_insignificant", does=lambda rules, *_: rules)
        found.put("lscfg.tuning.experiment.stages.rules.select_rules", SimpleNamespace(kept=[], dropped={}))
        found.put("lscfg.tuning.experiment.stages.rules.write_grammar", does=touch)
        found.put("lscfg.tuning.experiment.stages.rules.write_union", does=touch)
        found.put("lscfg.tuning.experiment.steps.latent.effective_size", 5)
        found.estimates = {
            name: double(patch, f"{class_path(ESTIMATORS[name])}.estimate", model) for name in ESTIMATORS.names()
        }
        found.put("lscfg.context.inputs.read_source", ["text"])
        found.tokens = {
            name: double(patch, f"{class_path(EXTRACTORS[name])}.tokens", f"places of {name}")
            for name in ("minimal", "hiero")
        }
        found.put("lscfg.grammar.tokens.RuleTokens.with_those_of", "places")
        found.add_context = double(patch, "lscfg.context.loglinear.Loglinear.add", model)
        found.put("lscfg.tuning.experiment.steps.latent._singular_values")
        found.put("lscfg.cdec_bridge.host.Cdec.open", does=lambda *_, **__: nullcontext(decoder))
        found.put("lscfg.tuning.experiment.stages.decoding.tune_weights", does=tuned)
        found.put("lscfg.tuning.experiment.results.evaluate", does=evaluate)
        found.put("lscfg.tuning.experiment.stages.charts.charts", does=charted)
        found.charts.version = 1
        found.put("lscfg.tuning.experiment.run.render", "page")
        run_experiment(folder / "e.toml", folder / "out", JOBS)
        yield found


def paths(doubles, *names):
    return [doubles.folder / name for name in names]


def test_every_key_has_another_value(doubles):
    """Covers keys of all tables and kinds, except kinds that the experiment does not choose."""
    experiment = read_experiment(doubles.folder / "e.toml")
    sections = {name: [getattr(experiment, name)] for name in (*PARTS, "alignment", "tuning")}
    sections["systems"] = list(experiment.systems.values())
    sections["rules"] = [system.rules for system in experiment.systems.values()]
    for name, given in sections.items():
        for key in dataclasses.fields(given[0]):
            if name in ("systems", "rules") and key.name not in SYSTEM_KEYS - OWN_RUNS:
                continue
            if (name, key.name) in EMBEDDED_ONLY:
                continue
            default = key.default if key.default_factory is dataclasses.MISSING else key.default_factory()
            assert any(getattr(section, key.name) != default for section in given), (name, key.name)
    chosen = [*experiment.extractors.values(), experiment.contexts[0].settings, experiment.tuning.learner]
    chosen.append(experiment.alignment.aligner)
    steps = [step for system in experiment.systems.values() if (step := system.step(Latent))]
    assert any(step.own_features for step in steps)
    estimators = {step.estimator.name: step.estimator.settings for step in steps}
    chosen += [settings for name, settings in estimators.items() if name != "clusters"]
    assert {*estimators} == {*ESTIMATORS.names()} and {*experiment.extractors} == {*EXTRACTORS.names()}
    for settings in chosen:
        for item in settings_of(type(settings)):
            assert getattr(settings, item.name) != item.default or item.name in EXCLUDED, item.name


def tables():
    """Every table of settings: its name, the class, the lines around its keys, where an experiment has it."""
    for name, cls in PARTS.items():
        if name != "corpus":  # its keys have no defaults
            yield name, cls, f"[{name}]\n", (lambda experiment, name=name: getattr(experiment, name))
    yield "tuning", Tuning, "[tuning]\n", lambda experiment: experiment.tuning
    yield "alignment", Alignment, "[alignment]\n", lambda experiment: experiment.alignment
    for name in ALIGNERS.names():
        heading = f'[alignment]\nmodel = "{name}"\n'
        yield name, ALIGNERS[name].Settings, heading, lambda experiment: experiment.alignment.aligner
    for name in EXTRACTORS.names():
        source = EXTRACTORS[name]
        yield name, source.Settings, f"[{name}]\n", (lambda experiment, name=name: experiment.extractors[name])
    for name in CONTEXT_MODELS.names():
        heading = f"[context.{name}]\n"
        yield name, CONTEXT_MODELS[name].Settings, heading, lambda experiment: experiment.contexts[0].settings
    for name in OPTIMISERS:
        heading = f'[tuning]\noptimiser = "{name}"\n'
        yield name, OPTIMISERS[name].Settings, heading, lambda experiment: experiment.tuning.learner
    for name in ESTIMATORS.names():
        heading = f'[systems.NEW]\nestimator = "{name}"\n'
        yield (
            name,
            ESTIMATORS[name].Settings,
            heading,
            lambda found: found.systems["NEW"].step(Latent).estimator.settings,
        )


VALUES = {
    "names": ("LatentSpan", "LatentTarget"),
    "optimiser": "pro",
    "model": "fast-align",
    "baseline": "NEW",
    "against": ("SPECTRAL",),
    "charts": ("SPECTRAL",),
    "sentences": (2,),
}
"""Of settings whose range is not among their limits."""


@pytest.mark.parametrize(
    ("cls", "heading", "found", "item"),
    [(cls, *rest, item) for name, cls, *rest in tables() for item in settings_of(cls)],
    ids=[f"{name}-{item.name}" for name, cls, *_ in tables() for item in settings_of(cls)],
)
def test_each_key_of_a_table_alone(corpus, cls, heading, found, item):
    """The settings that a kind gets have the value of the key, all others being the default."""
    value = VALUES.get(item.name, other_value(item, 0))
    beside = BESIDE.get(item.name, {})
    lines = toml_lines({item.name: value, **beside})
    if item.kind is Path:
        (corpus / value.name).touch()
        value = corpus / value
    text = TOML.replace("[tuning]\niterations = 3\nkbest = 20\n", "")
    if heading.startswith("[language_model]"):
        text = text.replace('[language_model]\norder = 3\nestimator = "lscfg"\n', "")
    new = "" if heading.startswith("[systems.NEW]") else "[systems.NEW]\n"
    (corpus / "one.toml").write_text(f"{text}{heading}{lines}{new}")
    settings = found(read_experiment(corpus / "one.toml"))
    chosen = {"optimiser": "learner", "model": "aligner"}.get(item.name)
    others = {chosen: getattr(settings, chosen)} if chosen else {}
    assert settings == cls(**{item.name: value}, **beside, **others) != cls(**beside)


def test_keys_of_alignments_and_language_model(doubles):
    """Keys of given files reach the run; without files, keys of the stages that make them do."""
    doubles.check_language_model.assert_called_once_with(doubles.folder / "arpa", 2)
    assert not doubles.align_both_ways.called and not doubles.build_lm.called
    experiment, cache = read_experiment(doubles.folder / "e.toml"), StageCache(doubles.folder / "cache")
    corpus = dataclasses.replace(experiment.corpus, alignment=[])
    lm = dataclasses.replace(experiment.language_model, file=None)
    made, aligned = (
        stage
        for stage in make_plan(dataclasses.replace(experiment, corpus=corpus, language_model=lm)).shared
        if stage.name in ("lm", "align")
    )
    links = cache.make(aligned, JOBS).path
    assert sorted(path.name for path in links.iterdir()) == ["grow-diag", "intersect", "stage.json"]
    settings = with_aligner(model="fast-align", heuristic="intersect", iterations=3)
    doubles.align_both_ways.assert_called_once_with(["f one", "f two"], ["e one", "e two"], settings, jobs=JOBS)
    cache.make(made, JOBS)
    doubles.build_lm.assert_called_once_with(
        doubles.folder / "e", ANY, order=2, prune=(), discount_fallback=DEFAULT_FALLBACK, estimator="lmplz"
    )


def test_keys_of_rules(doubles):
    text, links = paths(doubles, "f", "e"), paths(doubles, "links1", "links2")
    settings = DeriveOptions(bracketing="right", max_arity=1, binarise=True)
    doubles.derive_files.assert_called_once_with(*text, links, ANY, settings, JOBS, False)
    hiero = HieroSettings(
        max_phrase=6,
        max_target_phrase=8,
        max_symbols=4,
        max_arity=1,
        loose=True,
        min_hole=2,
        no_singletons=True,
        significance=0.5,
        max_targets=9,
        max_span=HieroSettings.max_span,
    )
    sentences = ["dev.f one", "dev.f two", "test.f one", "test.f two"]
    doubles.extract_files.assert_called_once_with(*text, tuple(links), hiero, wanted=sentences)
    doubles.mark_insignificant.assert_called_once_with(doubles.extract_files.return_value, *text, hiero)
    minimal = call(doubles.of.return_value, max_targets=7, sentences=None)
    found = call(doubles.extract_files.return_value, max_targets=9, sentences=sentences)
    doubles.select_rules.assert_has_calls([minimal, found], any_order=True)
    assert doubles.select_rules.call_count == 2
    doubles.read_grammar.assert_called_once_with(DecoderConfig(grammars=(doubles.folder / "rules",)))


def test_keys_of_context(doubles):
    """Only what the places of rules depend on is among the settings of the sources."""
    text, links = paths(doubles, "f", "e"), paths(doubles, "links1", "links2")
    limits = {"max_phrase": 6, "max_target_phrase": 8, "max_symbols": 4, "max_arity": 1}
    limits |= {"loose": True, "min_hole": 2, "no_singletons": True}
    for name, settings in (("hiero", HieroSettings(**limits)), ("minimal", MinimalSettings())):
        doubles.tokens[name].assert_called_once()
        inputs, found = doubles.tokens[name].call_args.args
        assert (inputs.source, inputs.target, inputs.alignments) == (*text, tuple(links)) and found == settings
        assert inputs.derivations.name == "derivations"
    doubles.with_those_of.assert_called_once_with("places of hiero", "places of minimal")
    settings = LoglinearSettings(
        penalty=3.5, min_count=4, min_word=5, max_targets=12, max_tokens=1000, passes=2, batch=64, rate=0.25, seed=13
    )
    doubles.add_context.assert_called_once_with(ANY, "places", ["text"], settings, ANY, ())


def test_keys_of_estimators(doubles):
    src_classes, tgt_classes, rule_values = paths(doubles, "classes.f", "classes.e", "values")
    expected = {
        "mle": MLESettings(max_targets=3),
        "spectral": SpectralSettings(
            m=2,
            inside=("rule", "class"),
            outside=("parent", "real"),
            seed=3,
            min_count=4,
            scaling=False,
            smoothing=0.5,
            max_targets=6,
            svd="randomized",
            src_classes=src_classes,
            tgt_classes=tgt_classes,
            rule_values=rule_values,
        ),
        "em": EMSettings(
            m=4,
            iterations=7,
            restarts=2,
            seed=5,
            init="matsuzaki",
            normalise="arity",
            shrink_source=8,
            shrink_arity=9,
            held_out=0.25,
            patience=8,
        ),
        "em-features": FeatureEMSettings(
            m=5,
            iterations=8,
            restarts=3,
            seed=6,
            shrink_source=7,
            shrink_arity=6,
            held_out=0.125,
            patience=9,
            direct=True,
        ),
        "clusters": ClusterSettings(m=15, iterations=10),
        "neural": NeuralSettings(hidden=64, seed=9),
        "orientation": Declared(),
    }
    for name, settings in expected.items():
        doubles.estimates[name].assert_called_once_with("trees", settings, JOBS, ANY, False)
        folder = doubles.estimates[name].call_args.args[3]
        assert folder.name.startswith("estimate-") and folder.name.endswith(".unfinished")


def test_keys_of_decoders(doubles):
    configs = {
        path.parent.name: read_ini(path) for path in sorted((doubles.folder / "out" / "systems").glob("*/cdec.ini"))
    }
    assert {name: config.max_span for name, config in configs.items()} == {**dict.fromkeys(configs, 33), "HIERO": 11}
    assert all(config.pop_limit == 44 and config.language_model for config in configs.values())
    assert configs["HIERO"].latent is configs["GIVEN"].latent is None
    options = {"log": "false", "floor": "0.001", "negative": "clamp", "improper": "keep"}
    for name, features in {"MLE": CONTEXT_FEATURES, "EM": ["LatentSpan"], "CLUSTERS": ["LatentSpan"]}.items():
        latent = configs[name].latent
        assert latent.library == str(doubles.folder / "liblscfg_cdec.so")
        assert latent.options.items() >= {**options, "features": ",".join(features)}.items()
    library = doubles.folder / "liblscfg_cdec.so"
    tunings = [call(ANY, JOBS, library=library)] * (2 * len(TUNED))
    decodings = [call(ANY, JOBS, once=True, library=library)] * (2 * len(TUNED))
    doubles.open.assert_has_calls(tunings + decodings, any_order=True)
    assert doubles.open.call_count == 4 * len(TUNED)


def test_keys_of_tuning(doubles):
    sources = ["dev.f one", "dev.f two"]
    references = [["dev.e1 one", "dev.e1 two"], ["dev.e2 one", "dev.e2 two"]]
    calls = []
    for name in TUNED:
        for seed in (6, 7):
            settings = TuneSettings(
                optimiser="pro",
                iterations=5,
                kbest=21,
                patience=2,
                seed=seed,
                unique=False,
                interpolation=0.5,
                restart_below=0.75,
                metric="chrf",
                learner=ProSettings(samples=1000, kept=14, threshold=0.125, regularisation=1.5),
            )
            more = {"HIERO": {}, "GIVEN": {"Seed": seed}, "MLE": {}, "NEURAL": {}, "ORIENTATION": {}}.get(
                name, {"LatentSpan": 0.75}
            )
            calls.append(call(ANY, sources, references, {"Glue": 0.25, **more}, settings, ANY, resume=False))
    doubles.tune_weights.assert_has_calls(calls)
    assert doubles.tune_weights.call_count == 2 * len(TUNED)


def test_keys_of_evaluation_and_report(doubles):
    references = [["test.e1 one", "test.e1 two"], ["test.e2 one", "test.e2 two"]]
    numbers = {"samples": 50, "trials": 60, "seed": 70}
    metrics = ["bleu", ANY]
    doubles.evaluate.assert_called_once_with(ANY, references, "HIERO", metrics=metrics, **numbers, against=["EM"])
    assert doubles.evaluate.call_args.kwargs["metrics"][1].name == "chrf"
    content = doubles.render.call_args.args[0]
    assert (list(content.charts), content.charted, content.examples) == (["EM"], [1], 1)
    (made,) = (call.args for call in doubles.charts.mock_calls)
    assert made[2].test_source == doubles.folder / "test.f"
    assert json.loads(made[2].sentences.read_text()) == {"charts": [1], "trees": []}
    assert content.trees.sentences == [] and content.trees.systems == {}  # of cdec
    assert content.results["against"] == ["EM"] and content.results["runs"] == 2
    assert {name: len(runs) for name, runs in content.weights.items()} == dict.fromkeys(TUNED, 2)
