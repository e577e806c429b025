"""Experiment files: what is read, and every kind of bad one; bad corpora and hosts that are not there."""

import tomllib
from pathlib import Path

import pytest
from little_experiment import TOML

from lscfg.cdec_bridge.decoder import LIBRARY_VARIABLE
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.errors import InputError
from lscfg.estimate import clusters
from lscfg.kernel import LATENT_FEATURES, START_WEIGHTS, LatentOptions
from lscfg.tuning.experiment.checks import check_corpus
from lscfg.tuning.experiment.config import Overrides, read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.steps.agree import Agree
from lscfg.tuning.experiment.steps.latent import Latent

NONE = 'start = "none"'
"""The last line of the little experiment."""


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"data": "nowhere"}, "nowhere: no such folder; --data names the folder"),
        ({"runs": 0}, "--runs must be at least 1, not 0"),
        ({"decoder": "joshua"}, "--decoder must be one of cdec, embedded, moses, not 'joshua'"),
        ({"systems": ["MIN", "EM"]}, "--systems: no system 'EM'; systems are MIN, SPECTRAL"),
        ({"systems": []}, "no system; leave"),
    ],
)
def test_bad_overrides(corpus, overrides, message):
    found = Overrides(**(overrides | ({"data": Path(overrides["data"])} if "data" in overrides else {})))
    with pytest.raises(InputError, match=message):
        read_experiment(corpus / "e.toml", found)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("against", "kept", "baseline", "others"),
    [
        ("", ["SPECTRAL"], "SPECTRAL", ()),
        ("", ["SPECTRAL", "MLE"], "SPECTRAL", ()),
        ('against = ["MLE"]\n', ["SPECTRAL", "MLE"], "MLE", ()),
        ('against = ["MLE", "SPECTRAL"]\n', ["SPECTRAL", "MLE"], "MLE", ("SPECTRAL",)),
        ('against = ["MLE"]\n', ["MIN", "SPECTRAL"], "MIN", ()),
        ('against = ["MLE"]\n', ["MIN", "MLE"], "MIN", ("MLE",)),
    ],
)
def test_another_system_takes_the_place_of_a_missing_baseline(corpus, against, kept, baseline, others, capsys):
    text = TOML + '[systems.MLE]\nestimator = "mle"\nstart = "none"\n'
    assert "[evaluation]" not in text
    (corpus / "f.toml").write_text(text + f'[evaluation]\nbaseline = "MIN"\n{against}')
    found = read_experiment(corpus / "f.toml", Overrides(systems=kept)).evaluation
    assert (found.baseline, found.against) == (baseline, others)
    told = "--systems leaves out the baseline MIN; other systems are tested against " + baseline
    assert (told in capsys.readouterr().err) == ("MIN" not in kept and len(kept) > 1)


def test_data_folder_is_where_the_corpus_lies(corpus, tmp_path):
    (tmp_path / "e.toml").write_text(TOML)
    with pytest.raises(InputError, match=r"e\.toml:3: source: no file .*; name the folder of the corpus with --data"):
        read_experiment(tmp_path / "e.toml")
    experiment = read_experiment(tmp_path / "e.toml", Overrides(data=corpus))
    assert experiment.corpus.test_reference == [corpus / "test.en"]


def test_latent_features_of_each_system(corpus):
    (corpus / "f.toml").write_text(
        TOML.replace('features = "paper"\n', "").replace(
            "[systems.MIN]", '[features]\nnames = ["LatentSpan", "LatentTarget"]\n\n[systems.MIN]'
        )
        + '[systems.RATIOS]\nestimator = "mle"\nfeatures = "ratios"\n'
    )
    experiment = read_experiment(corpus / "f.toml")
    own = {name: experiment.of(system) for name, system in experiment.systems.items()}
    assert own["SPECTRAL"].features.names == ("LatentSpan", "LatentTarget")
    assert own["RATIOS"].features.names == LATENT_FEATURES[4:11]
    plan = make_plan(experiment)
    assert plan.systems["MIN"].decoder.features is None
    assert plan.systems["SPECTRAL"].decoder.features.names == ("LatentSpan", "LatentTarget")
    starts = {name: {key for key in found.tuning.weights if key in LATENT_FEATURES} for name, found in own.items()}
    assert starts == {"MIN": set(), "SPECTRAL": {"LatentTarget"}, "RATIOS": {*START_WEIGHTS}}
    (corpus / "default.toml").write_text(TOML[: TOML.index("[systems.MIN]")])
    default = read_experiment(corpus / "default.toml").systems
    assert list(default) == ["MIN", "HIERO", "LATENT", "HIERO+LATENT", "SAMPLED+LATENT", "AGREED"]
    text = (corpus / "f.toml").read_text()
    last = text.count("\n")
    for old, place, name in (
        ('features = "ratios"', last, "features"),
        ('"LatentSpan", "LatentTarget"', text[: text.index("names = ")].count("\n") + 1, "names"),
    ):
        (corpus / "bad.toml").write_text(text.replace(old, old.replace('"', '"no', 1)))
        with pytest.raises(InputError, match=rf"bad\.toml:{place}: {name} is invalid: unknown feature 'no"):
            read_experiment(corpus / "bad.toml")


def test_what_an_experiment_leaves_out_is_the_recommended_setting(corpus):
    """Clusters with 16 states and 10 iterations, ratios and context, and tuning from the plain grammar's weights."""
    text = TOML[: TOML.index("[systems.MIN]")]
    (corpus / "default.toml").write_text(text)
    without = read_experiment(corpus / "default.toml")
    (corpus / "default.toml").write_text(
        text + '[systems.HIERO]\ngrammar = "hiero"\n[systems.MIN]\n[systems.LATENT]\nfeatures = ["ratios", "context"]\n'
        '[systems.OTHER]\nestimator = "clusters"\n[systems.BOTH]\nestimator = "mle"\ngrammar = "both"\n'
        '[systems.PAPER]\nestimator = "spectral"\nfeatures = "paper"\nstart = "none"\n'
    )
    experiment = read_experiment(corpus / "default.toml")
    options = LatentOptions.of([("model", "clusters16.lscfg")])
    for made, name in ((without, "LATENT"), (experiment, "LATENT"), (experiment, "OTHER")):
        system = made.systems[name]
        assert made.of(system).features == options.features and options.features.names == LATENT_FEATURES[4:14]
        estimator = system.step(Latent).estimator
        assert estimator.name == "clusters" and system.start == "MIN"
        assert estimator.settings == clusters.ClusterSettings(m=16, iterations=10)
    assert experiment.systems["BOTH"].start == experiment.systems["PAPER"].start == ""
    assert without.systems["HIERO+LATENT"].start == without.systems["SAMPLED+LATENT"].start == "LATENT"
    assert without.systems["AGREED"].step(Agree).members == ("HIERO+LATENT", "SAMPLED+LATENT")
    assert experiment.of(experiment.systems["PAPER"]).features.names == LATENT_FEATURES[:3]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder for the files of every experiment of a language pair: a few lines under the names that it gives."""

    def write(name):
        folder = tmp_path_factory.getbasetemp() / f"data-{name}"
        folder.mkdir(exist_ok=True)
        path = Path(__file__).parents[3] / "experiments" / name / "experiment.toml"
        for value in tomllib.loads(path.read_text("utf-8"))["corpus"].values():
            for file in value if isinstance(value, list) else [value]:
                (folder / file).write_text("".join(f"a {file} b {k}\n" for k in range(20)))
        return folder

    return write


@pytest.mark.parametrize("name", ["ja-en", "de-en"])
def test_experiments_of_table_3(data, name):
    path = Path(__file__).parents[3] / "experiments" / name / "experiment.toml"
    experiment = read_experiment(path, Overrides(data=data(name)))
    part = read_experiment(path, Overrides(data=data(name), systems=["MIN", "EM-8-SMOOTHED"]))
    assert list(part.systems) == ["MIN", "EM-8-SMOOTHED"] and part.report.charts == () != experiment.report.charts
    assert experiment.tuning.runs == 3 and experiment.evaluation.baseline == "MIN"
    chosen = [step.estimator for system in experiment.systems.values() if (step := system.step(Latent))]
    estimators = [(found.name, found.settings.facts().get("m")) for found in chosen]
    assert [m for kind, m in estimators if kind == "em"] == [8, 16] and ("spectral", 32) in estimators
    assert experiment.of(experiment.systems["SPECTRAL-16"]).features.names == LATENT_FEATURES[:3]
    assert not experiment.systems["SPECTRAL-16"].start and not experiment.systems["CLUSTERS-16"].start
    ratios = experiment.of(experiment.systems["LATENT-16"])
    assert tuple(ratios.features.names) == LATENT_FEATURES[4:14]
    experiment.check_decoder()
    check_corpus(experiment)


@pytest.mark.parametrize("name", ["ja-en", "de-en"])
def test_experiments_of_phrase_disambiguation(data, name):
    path = Path(__file__).parents[3] / "experiments" / f"{name}-context" / "experiment.toml"
    experiment = read_experiment(path, Overrides(data=data(name)))
    steps = {name: system.step(Latent) for name, system in experiment.systems.items()}
    models = {name: step.context_models(experiment) if step else () for name, step in steps.items()}
    assert models["LS"][-1].name == "ls" and models["CCA+MM"][-1].settings.hidden == 25
    assert [one.name for one in models["CONTEXT"]] == ["loglinear"]
    used = {one.name for found in models.values() for one in found}
    assert {*CONTEXT_MODELS} - used == {"joint", "mlp", "softmax"}


@pytest.mark.parametrize("name", ["ja-en", "de-en"])
def test_experiments_of_sampled_rules(data, name):
    path = Path(__file__).parents[3] / "experiments" / f"{name}-sampled" / "experiment.toml"
    experiment = read_experiment(path, Overrides(data=data(name)))
    settings = {
        system: experiment.of(made).extractors["sampled"]
        for system, made in experiment.systems.items()
        if made.rules and "sampled" in made.rules.extractors
    }
    assert settings["SAMPLED"].sample == settings["SAMPLED+LATENT-16"].sample == "average"
    assert [settings[f"SAMPLED-{sweep}"].kept() for sweep in (0, 100)] == [(0,), (100,)]
    assert settings["SAMPLED-DP"].discount == 0
    assert {name for name, made in settings.items() if made.rule_filter == "scope"} >= {"SAMPLED-SCOPE"}
    without = experiment.of(experiment.systems["NO-SINGLETONS"]).extractors["hiero"]
    assert without.no_singletons and not experiment.extractors["hiero"].no_singletons
    assert experiment.systems["SAMPLED-UNTUNED"].weights_of == "HIERO"
    check_corpus(experiment)


def test_hosts_that_are_not_there(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    monkeypatch.delenv("LSCFG_MOSES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="no Moses found"):
        read_experiment(corpus / "e.toml", Overrides(decoder="moses")).check_decoder()
    with pytest.raises(InputError, match="no cdec program found"):
        read_experiment(corpus / "e.toml", Overrides(decoder="cdec")).check_decoder()
    (tmp_path / "cdec").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "cdec").chmod(0o755)
    with pytest.raises(InputError, match=r"SPECTRAL: in cdec latent features need lscfg's plug-in"):
        read_experiment(corpus / "e.toml", Overrides(decoder="cdec")).check_decoder()
    read_experiment(corpus / "e.toml", Overrides(decoder="cdec", systems=["MIN"])).check_decoder()
    monkeypatch.setenv(LIBRARY_VARIABLE, str(tmp_path / "none.so"))
    with pytest.raises(InputError, match=r"none\.so: no such file; correct the environment variable"):
        read_experiment(corpus / "e.toml", Overrides(decoder="cdec")).check_decoder()
    (tmp_path / "none.so").touch()
    settings = read_experiment(corpus / "e.toml", Overrides(decoder="cdec")).decoder
    assert settings.programs(latent=True) == {"cdec": tmp_path / "cdec", "plug-in": tmp_path / "none.so"}
    assert read_experiment(corpus / "e.toml").decoder.programs(latent=True) == {}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[tuning]", "[tunning]", r"unknown key 'tunning'; .* \(did you mean tuning\?\)"),
        (
            "kbest = 20",
            "kbset = 20",
            r"e\.toml:16: unknown key 'kbset'; known keys: optimiser, .*, kbest, .*, step_cap.*mean kbest\?",
        ),
        ("kbest = 20", 'kbest = "20"', r"e\.toml:16: kbest must be a whole number"),
        ("kbest = 20", "kbest = 0", r"e\.toml:16: kbest must be at least 1"),
        ("iterations = 3", "iterations = 3.5", "must be a whole number"),
        ('"train.ja"', '"none.ja"', r"e\.toml:3: source: no file"),
        ('target = "train.en"\n', "", "corpus.target is missing"),
        ('dev_reference = "dev.en"', "dev_reference = []", r"e\.toml:6: dev_reference must be one value or more"),
        ('["test.en"]', "[]", r"e\.toml:8: test_reference must be one value or more"),
        ('"spectral"', '"spectal"', r"e\.toml:21: estimator must be one of .*'spectal' \(did you mean spectral\?\)"),
        ('"spectral"\nm = 3', '"em"\nheld_out = 1.5', r"e\.toml:22: held_out must be less than 1, not 1.5"),
        ('"spectral"\nm = 3', '"em"\ninit = "best"', r"e\.toml:22: init must be one of random, .*, not 'best'"),
        ("[systems.MIN]", "[systems.BASE]", "baseline must be one of the systems"),
        ("kbest = 20", "runs = 0", r"e\.toml:16: runs must be at least 1"),
        ("[tuning]", '[decoder]\nname = "joshua"\n[tuning]', r"e\.toml:15: name must be one of cdec, embedded, moses"),
        (
            "[tuning]",
            '[report]\ncharts = ["MIN"]\n[tuning]',
            r"e\.toml:15: charts: 'MIN' is not a system with an estim",
        ),
        (
            "[tuning]",
            '[report]\ncharts = ["N"]\n[systems.N]\nestimator = "neural"\nfeatures = ["neural"]\n[tuning]',
            r"e\.toml:15: charts: 'N' is not a system with an estimator of rules",
        ),
        (
            "kbest = 20",
            'optimiser = "sgd"',
            r"e\.toml:16: optimiser must be one of forest-mert, forest-risk, mert, mira, pro",
        ),
        (
            "[tuning]",
            '[decoder]\nname = "cdec"\n[tuning]\noptimiser = "forest-mert"',
            r"e\.toml:17: forest-mert needs the hypergraphs of the embedded decoder",
        ),
        (
            "kbest = 20",
            'optimiser = "forest-risk"\nmetric = "chrf"',
            r"e\.toml:17: forest-risk tunes for BLEU only; leave out metric",
        ),
        ("[tuning]", "[report]\nsentences = [0]\n[tuning]", r"e\.toml:15: sentences must be at least 1, not 0"),
        ("[tuning]", "[report]\nexamples = -1\n[tuning]", r"e\.toml:15: examples must be at least 0"),
        ("[tuning]", "[evaluation]\ntrials = 0\n[tuning]", r"e\.toml:15: trials must be at least 1"),
        ("[tuning]", '[evaluation]\nagainst = ["EM"]\n[tuning]', r"e\.toml:15: against: 'EM' is not a system"),
        ("[tuning]", '[evaluation]\nagainst = ["MIN"]\n[tuning]', r"e\.toml:15: against: 'MIN' is not a system"),
        (
            "[tuning]",
            '[evaluation]\nagainst = ["SPECTRAL", "SPECTRAL"]\n[tuning]',
            "15: against must not name .SPECTRAL. twice",
        ),
        ("[tuning]", "[tuning", r"e\.toml:14: not TOML"),
        ('start = "none"', 'start = "HIERO"', r"e\.toml:24: start: 'HIERO' is not an earlier system"),
        ('start = "none"', 'start = "MINI"', r"'MINI' is not an earlier system \(did you mean MIN\?\)"),
        ('start = "none"', 'weights_of = "HIERO"', r"e\.toml:24: weights_of: 'HIERO' is not an earlier system"),
        (
            'start = "none"',
            'start = "MIN"\nweights_of = "MIN"',
            r"e\.toml:24: start needs a tuning, but a system with",
        ),
        (
            "[systems.MIN]",
            '[systems.A]\nagree = ["MIN", "X"]\n[systems.MIN]',
            r"agree: 'MIN' is not an earlier system with its own rules",
        ),
        (NONE, NONE + '\n[systems.A]\nagree = ["MIN"]', r"agree must name two systems or more, each once"),
        (NONE, NONE + '\n[systems.A]\nagree = ["MIN", "MIN"]', r"agree must name two systems or more, each once"),
        (
            NONE,
            NONE + '\n[systems.A]\nagree = ["MIN", "SPECTRAL"]\nstart = "MIN"',
            r"start does not apply to a system that chooses",
        ),
        (
            NONE,
            NONE + '\n[systems.A]\nagree = ["MIN", "SPECTRAL"]\n[systems.B]\nstart = "A"',
            r"start: A chooses from others, and has no weights",
        ),
        (
            NONE,
            NONE + '\n[systems.A]\nagree = ["MIN", "SPECTRAL"]\n[systems.B]\nagree = ["MIN", "A"]',
            r"agree: 'A' is not an earlier system with its own rules",
        ),
        ("[tuning]", '[alignment]\nmodel = "giza"\n[tuning]', r"e\.toml:15: model must be one of eflomal, fast-align"),
        ("[tuning]", "[alignment]\niterations = 0\n[tuning]", r"e\.toml:15: iterations must be at least 1, not 0"),
        ("[tuning]", "[alignment]\nseeds = 0\n[tuning]", r"e\.toml:15: unknown key 'seeds'; known keys: model"),
        ("[tuning]", "[derive]\nmax_arity = 3\n[tuning]", r"e\.toml:15: max_arity must be at most 2"),
        ("[tuning]", "[derive]\nmax_arity = -1\n[tuning]", r"e\.toml:15: max_arity must be at least 0"),
        (
            "[tuning]",
            '[alignment]\nheuristics = "x"\n[tuning]',
            r"e\.toml:15: heuristics must be one of grow-diag-final-and, .*, not 'x'",
        ),
        ("[tuning]", "[alignment]\nheuristics = []\n[tuning]", r"e\.toml:15: heuristics must name one or more"),
        (
            "[tuning]",
            '[alignment]\nheuristics = ["union", "union"]\n[tuning]',
            r"e\.toml:15: heuristics must not name .union. twice",
        ),
        ("[tuning]", '[features]\nnegative = "flop"\n[tuning]', r"e\.toml:15: negative must be one of flip, clamp"),
        ("[tuning]", "[features]\nfloor = -1.0\n[tuning]", r"e\.toml:15: floor must be more than 0, not -1.0"),
        ("order = 3", "order = 9", r"e\.toml:11: order must be at most 6, not 9"),
        ('"lscfg"', '"ken"', r"e\.toml:12: estimator must be one of lscfg, lmplz, not 'ken'"),
        ("kbest = 20", "weights.Glue = inf", r"e\.toml:16: weights must be finite numbers; that of Glue is inf"),
        ("m = 3", 'm = 3\ninside = ["rul"]', r"e\.toml:23: inside must be one of rule, .*, not 'rul'"),
        ("m = 3", "m = 3\nsmoothing = -3.0", r"e\.toml:23: smoothing must be at least 0, not -3.0"),
        ("m = 3", 'm = 3\ninside = ["class"]', r"e\.toml:20: the feature template 'class' needs a file"),
        ("m = 3", 'm = 3\noutside = ["real"]', r"e\.toml:20: the feature template 'real' needs a file"),
        ('"spectral"\nm = 3', '"mle"\nmax_targets = -1', r"e\.toml:22: max_targets must be at least 0"),
        ("m = 3", "m = 3\niterations = 5", r"e\.toml:23: iterations does not apply to the estimator spectral"),
        (
            "[systems.MIN]",
            '[systems.MIN]\nestimator = "none"\nfeatures = ["ratios"]',
            r"features needs a system with an estimator",
        ),
        ("[tuning]", "[hiero]\nmax_phrase = 5000\n[tuning]", r"e\.toml:15: max_phrase must be at most 1000, not 5000"),
        ("kbest = 20", "kbest = 2147483648", r"e\.toml:16: kbest must be at most 2147483647"),
        ("kbest = 20", "epochs = 0", r"e\.toml:16: epochs must be at least 1, not 0"),
        ("kbest = 20", "restarts = 3", r"e\.toml:16: unknown key 'restarts'; known keys: optimiser, .*, epochs"),
        ("[tuning]", "[context.loglinear]\npenalty = 0\n[tuning]", r"e\.toml:15: penalty must be more than 0, not 0.0"),
        ("[tuning]", "[context.x]\n[tuning]", r"e\.toml:14: unknown key 'x'; known keys: cca, cca-mm, joint, .*"),
        ("[tuning]", '[context]\nmodel = "ls"\n[tuning]', r"e\.toml:15: context models have a table each: \[context.N"),
        ("[tuning]", "[context]\nls = 3\n[tuning]", r"e\.toml:15: ls must be a table, as in \[context\.ls\]"),
        (
            "[tuning]",
            "[context.joint]\n[context.loglinear]\n[tuning]",
            r"e\.toml:15: loglinear and joint give the same features: leave out one of them",
        ),
        (
            "[systems.MIN]",
            "[systems.MIN]\ncontext = { x = {} }",
            r"e\.toml:\d+: unknown key 'x'; known keys: cca, cca-mm, joint, ",
        ),
        (
            "[systems.MIN]",
            "[systems.MIN]\ncontext.joint = {}",
            r"e\.toml:\d+: context is for a system with an estimator and features of it",
        ),
        (
            "[systems.MIN]",
            '[systems.MIN]\nestimator = "mle"\nfeatures = ["paper"]\ncontext.ls = {}',
            r"e\.toml:\d+: ls is for a system with an estimator and features of it",
        ),
        ("[tuning]", "[context.ls]\nm = 3\n[tuning]", r"e\.toml:15: unknown key 'm'; known keys: min_word, "),
        ("[tuning]", '[derive]\nbracketing = "up"\n[tuning]', r"e\.toml:15: bracketing must be one of normal, left"),
    ],
)
def test_bad_experiment_file(corpus, tmp_path, old, new, message):
    for name in ("train.ja", "train.en", "dev.ja", "dev.en", "test.ja", "test.en"):
        (tmp_path / name).write_bytes((corpus / name).read_bytes())
    (tmp_path / "e.toml").write_text(TOML.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_experiment(tmp_path / "e.toml")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("train.en", lambda t: t.split("\n", 1)[1], r"train\.en: 1,199 lines"),
        ("train.ja", lambda t: "\n" + t.split("\n", 1)[1], r"train\.ja:1: empty line"),
        ("dev.en", lambda t: t + "more\n", r"dev\.en: 41 lines"),
        ("dev.ja", lambda t: t.replace("\n", "\n\n", 1), r"dev\.ja:2: empty line"),
        ("test.ja", lambda t: "<seg id='1'>" + t, r"test\.ja:1: a segment of cdec's"),
    ],
)
def test_bad_corpus(corpus, tmp_path, name, change, message):
    for part in ("train.ja", "train.en", "dev.ja", "dev.en", "test.ja", "test.en"):
        text = (corpus / part).read_text()
        (tmp_path / part).write_text(change(text) if part == name else text)
    (tmp_path / "e.toml").write_text(TOML)
    with pytest.raises(InputError, match=message):
        check_corpus(read_experiment(tmp_path / "e.toml"))


@pytest.mark.parametrize(
    ("part", "source", "other", "told"),
    [("dev", "x", "", True), ("test", "x", "", True), ("test", "", "", False), ("dev", "x", "y", False)],
)
def test_sentences_without_a_reference_are_told(corpus, tmp_path, caplog, part, source, other, told):
    """An empty source has an empty translation, and another reference may be enough."""
    for name in ("train.ja", "train.en", "dev.ja", "dev.en", "test.ja", "test.en"):
        (tmp_path / name).write_bytes((corpus / name).read_bytes())
    for name, line in ((f"{part}.ja", source), (f"{part}.en", ""), ("other", other)):
        (tmp_path / name).write_text(f"x\n{line}\n")
    text = TOML.replace('["test.en"]', '"test.en"').replace(f'"{part}.en"', f'["{part}.en", "other"]')
    (tmp_path / "e.toml").write_text(text)
    check_corpus(read_experiment(tmp_path / "e.toml"))
    message = f"{part}.en: 1 of 2 lines have no reference (first line 2), so every translation there counts as wrong"
    assert (message in caplog.text) == told == bool(caplog.text)


def test_chart_of_a_line_that_is_not_there(corpus):
    (corpus / "far.toml").write_text(TOML + "[report]\nsentences = [40, 41]\n")
    with pytest.raises(InputError, match=r"test\.ja: has 40 lines; \[report\] asks for a chart of line 41"):
        check_corpus(read_experiment(corpus / "far.toml"))


@pytest.mark.parametrize(
    ("line", "key"), [('unknown = "similar"', "unknown"), ('functions = ["Letters", "ArityPenalty 3"]', "functions")]
)
def test_features_of_words_are_for_the_embedded_decoder(corpus, line, key):
    text = TOML.replace("[systems.MIN]", f"[decoder]\n{line}\n\n[systems.MIN]", 1)
    assert "[decoder]" not in TOML
    (corpus / "f.toml").write_text(text)
    plan = make_plan(read_experiment(corpus / "f.toml"))
    weights = plan.systems["MIN"].tuned[0].settings.weights
    lines = [str(line) for line in plan.systems["MIN"].decoder.decoder.lines]
    assert lines == (["Letters", "ArityPenalty 3"] if key == "functions" else [])
    assert ("SubstituteSimilar" in weights) == (key == "unknown")
    for change in ({"decoder": "moses"}, {}):
        (corpus / "f.toml").write_text(text.replace("[decoder]", '[decoder]\nname = "moses"') if not change else text)
        with pytest.raises(InputError, match=f"{key} is for the embedded decoder, not for moses"):
            read_experiment(corpus / "f.toml", Overrides(**change))


@pytest.mark.parametrize(
    ("function", "message"),
    [("Leters", "functions must be from ArityPenalty, .*, not 'Leters'"), ("ArityPenalty x", "most cannot be 'x'")],
)
def test_bad_feature_functions_are_refused(corpus, function, message):
    (corpus / "f.toml").write_text(
        TOML.replace("[systems.MIN]", f'[decoder]\nfunctions = "{function}"\n\n[systems.MIN]', 1)
    )
    with pytest.raises(InputError, match=message):
        read_experiment(corpus / "f.toml")
