"""The plan of an experiment: what each stage's key depends on, and what ``lscfg run --plan`` says of it."""

import re
from pathlib import Path

import pytest
from little_experiment import TOML, run_lscfg
from other_settings import BESIDE, other_value, toml_lines

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.corpus.aligner import ALIGNERS
from lscfg.errors import InputError
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import DECODE, EXTRACT, EXTRACTORS, SELECT
from lscfg.settings import settings_of
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import charted_systems, make_plan
from lscfg.tuning.experiment.stages.decoding import training
from lscfg.tuning.optimisers import OPTIMISERS

SYSTEMS = """
[systems.EM]
estimator = "em"
features = "paper"
start = "none"
[systems.FEATURES]
estimator = "em-features"
features = "paper"
start = "none"
[systems.CLUSTERS]
estimator = "clusters"
features = "paper"
start = "none"
[systems.NEURAL]
estimator = "neural"
features = "neural"
start = "none"
[systems.ORIENTATION]
estimator = "orientation"
features = "orientation"
start = "none"
[systems.HIERO]
grammar = "hiero"
[systems.SAMPLED]
grammar = "sampled"
[systems.INDUCED]
grammar = "biparsed"
[systems.CONTEXT]
grammar = "both"
estimator = "mle"
features = "context"
[systems.PHRASES]
grammar = "phrases"
estimator = "mle"
features = "ranks"
"""
SYSTEM_OF = {
    "mle": "CONTEXT",
    "spectral": "SPECTRAL",
    "em": "EM",
    "em-features": "FEATURES",
    "clusters": "CLUSTERS",
    "neural": "NEURAL",
    "orientation": "ORIENTATION",
}
CONTEXT = CONTEXT_MODELS["loglinear"]
STAGES = ("rules", "model", "tuned", "decoded")


@pytest.fixture
def planned(corpus):
    """The keys of an experiment's stages by system and stage, after changes of its text."""

    def keys(*changes, before=""):
        text = TOML + SYSTEMS
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (corpus / "plan.toml").write_text(before + text)
        found = {}
        for name, system in make_plan(read_experiment(corpus / "plan.toml")).systems.items():
            stages = (system.rules, system.model, system.tuned[0], system.decoded[0])
            found |= {(name, part): made.key for part, made in zip(STAGES, stages, strict=True) if made}
        return found

    return keys


def changed(one, other):
    """The systems and stages whose keys differ."""
    assert one.keys() == other.keys()
    return {place for place in one if one[place] != other[place]}


def after(system, part):
    """A stage of a system and those that read its files."""
    return {(system, name) for name in STAGES[STAGES.index(part) :] if (part, name) != ("rules", "model")}


@pytest.mark.parametrize("item", settings_of(CONTEXT.Settings), ids=lambda item: item.name)
def test_every_setting_of_the_context_model_is_in_the_key(planned, item):
    table = f"[context.loglinear]\n{toml_lines({item.name: other_value(item, 0)})}"
    assert changed(planned(), planned(before=table)) == after("CONTEXT", "model")


def test_a_context_model_of_a_system_is_in_its_key_alone(planned):
    shared = "[context.joint]\nk = 7\n"
    own = ('features = "context"\n', 'features = "context"\ncontext = { joint = { k = 7 } }\n')
    assert changed(planned(), planned(own)) == after("CONTEXT", "model")
    assert not changed(planned(before=shared), planned(own, before=shared))


@pytest.mark.parametrize(
    ("table", "systems"),
    [("", ()), ("[context.joint]", ("CONTEXT",)), ("[context.ls]", ("PHRASES",))],
)
def test_models_with_dense_values_of_words_depend_on_further_source_text(planned, corpus, table, systems):
    keys = []
    for content in ("a b\n", "a c\n"):
        (corpus / "more.ja").write_text(content)
        keys.append(planned(before=f'{table}\n[monolingual]\nsource = "more.ja"\n'))
    assert changed(*keys) == set().union(*(after(system, "model") for system in systems))


@pytest.mark.parametrize("name", ["residual"])
def test_every_setting_of_a_low_dimensional_context_model_is_in_the_key(planned, name):
    """The setting is in a table for all systems, or in the system's own table."""
    heading = f"[context.{name}]\n"
    present = planned(before=heading)
    for item in settings_of(CONTEXT_MODELS[name].Settings):
        lines = toml_lines({item.name: other_value(item, 0)})
        assert changed(present, planned(before=heading + lines)) == after("PHRASES", "model"), item.name
    own = ('features = "ranks"\n', f'features = "ranks"\ncontext.{name} = {{ window = 2 }}\n')
    assert changed(present, planned(own)) == after("PHRASES", "model")


@pytest.mark.parametrize(("table", "system"), [("[context.joint]", "CONTEXT"), ("[context.ls]", "PHRASES")])
def test_word_vectors_are_in_the_key_by_their_content(planned, corpus, table, system):
    without, found = planned(before=f"{table}\n"), []
    for content in ("a 1\n", "a 2\n"):
        (corpus / "vectors").write_text(content)
        found.append(planned(before=f'{table}\nvectors = "vectors"\n'))
    assert changed(without, found[0]) == changed(*found) == after(system, "model")


SETTINGS = [(name, item) for name in ESTIMATORS.names() for item in settings_of(ESTIMATORS[name].Settings)]


@pytest.mark.parametrize(("name", "item"), SETTINGS, ids=[f"{name}-{item.name}" for name, item in SETTINGS])
def test_every_setting_of_an_estimator_is_in_the_key(planned, corpus, name, item):
    value = other_value(item, 0)
    if item.kind is Path:
        (corpus / value.name).write_text("one")
    without = ("\nm = 3\n", "\n")
    line = f'estimator = "{name}"\n'
    first, other = planned(without), planned(without, (line, line + toml_lines({item.name: value})))
    system = SYSTEM_OF[name]
    assert changed(first, other) == after(system, "model")
    if item.kind is Path:  # its content, not its name
        (corpus / value.name).write_text("two")
        third = planned(without, (line, line + toml_lines({item.name: value})))
        assert changed(other, third) == after(system, "model")


SETTINGS = [(name, item) for name in EXTRACTORS.names() for item in settings_of(EXTRACTORS[name].Settings)]


@pytest.mark.parametrize(("name", "item"), SETTINGS, ids=[f"{name}-{item.name}" for name, item in SETTINGS])
def test_settings_of_a_rule_source_are_in_the_keys_of_what_they_are_for(planned, corpus, name, item):
    """Rules and their places; the rules that are written; how they are decoded."""
    if item.kind is Path:
        (corpus / other_value(item, 0).name).write_text("one")
    table = f"[{name}]\n{toml_lines({item.name: other_value(item, 0), **BESIDE.get(item.name, {})})}"
    users = {
        "minimal": ("MIN", "SPECTRAL", "EM", "FEATURES", "CLUSTERS", "CONTEXT", "NEURAL", "ORIENTATION"),
        "hiero": ("HIERO", "CONTEXT"),
        "sampled": ("SAMPLED",),
        "phrases": ("PHRASES",),
        "biparsed": ("INDUCED",),
    }[name]
    expected = {place for system in users for place in after(system, "rules")}
    if item.part == EXTRACT:
        for system in {"CONTEXT", "PHRASES"}.intersection(users):
            expected |= after(system, "model")
    elif item.part == DECODE:  # the joined grammar is decoded as long as the minimal one
        expected = after(users[0], "tuned")
    else:
        assert item.part == SELECT
    present = planned()
    assert changed(present, planned(before=table)) == expected & present.keys()


@pytest.mark.parametrize("name", OPTIMISERS.names())
def test_every_setting_of_an_optimiser_is_in_the_key(planned, name):
    heading = f'[tuning]\noptimiser = "{name}"\n'
    present = planned(("[tuning]\n", heading))
    expected = {place for place in present if place[1] in ("tuned", "decoded")}
    for item in settings_of(OPTIMISERS[name].Settings):
        other = planned(("[tuning]\n", heading + toml_lines({item.name: other_value(item, 0)})))
        assert changed(present, other) == expected, item.name


@pytest.mark.parametrize("name", ALIGNERS.names())
def test_every_setting_of_an_aligner_is_in_the_key(planned, name):
    heading = f'[alignment]\nmodel = "{name}"\n'
    present = planned(before=heading)
    for item in settings_of(ALIGNERS[name].Settings):
        other = planned(before=heading + toml_lines({item.name: other_value(item, 0)}))
        assert changed(present, other) == {*present}, item.name


def test_a_new_version_of_a_kind_gives_other_keys(planned, monkeypatch):
    present = planned()
    every = {place for place in present if place[1] in ("tuned", "decoded")}
    minimal = {
        place
        for name in ("MIN", "SPECTRAL", "EM", "FEATURES", "CLUSTERS", "CONTEXT", "NEURAL", "ORIENTATION")
        for place in after(name, "rules")
    }
    expected = {
        CONTEXT: after("CONTEXT", "model"),
        EXTRACTORS["minimal"]: minimal | after("CONTEXT", "model"),
        EXTRACTORS["hiero"]: after("HIERO", "rules") | after("CONTEXT", "rules") | after("CONTEXT", "model"),
        OPTIMISERS["mira"]: every,
        OPTIMISERS["mert"]: set(),
        ALIGNERS["eflomal"]: {*present},
        ALIGNERS["fast-align"]: set(),
    }
    expected |= {ESTIMATORS[name]: after(system, "model") for name, system in SYSTEM_OF.items()}
    expected[ESTIMATORS["mle"]] |= after("PHRASES", "model")
    for module, places in expected.items():
        with monkeypatch.context() as patch:
            patch.setattr(module, "VERSION", module.VERSION + 1)
            assert changed(present, planned()) == places & present.keys(), module


def test_choice_of_charts(corpus):
    (corpus / "plan.toml").write_text(TOML + SYSTEMS + '[systems.MORE]\nestimator = "spectral"\nm = 4\n')
    experiment = read_experiment(corpus / "plan.toml")
    assert charted_systems(experiment) == ["EM", "FEATURES", "CLUSTERS", "CONTEXT", "MORE"]
    (corpus / "plan.toml").write_text(TOML + SYSTEMS + '[report]\ncharts = ["SPECTRAL", "EM"]\n')
    assert charted_systems(read_experiment(corpus / "plan.toml")) == ["SPECTRAL", "EM"]


def states(experiment, folder):
    """Output of ``lscfg run --plan``: (stage, systems) in order, and the stages to make."""
    run = run_lscfg("run", experiment, "-o", folder, "--plan")
    assert run.returncode == 0 and run.stderr == "", run.stderr
    heading, *lines = (re.split(" {2,}", line.strip()) for line in run.stdout.splitlines())
    assert heading == ["stage", "key", "version", "state", "systems"]
    assert {state for *_, state, _ in lines} <= {"cached", "to do"}
    rows = [(name, systems) for name, *_, systems in lines]
    return rows, [row for row, (*_, state, _) in zip(rows, lines, strict=True) if state == "to do"]


def test_a_system_has_settings_of_its_own_for_its_rules(planned):
    """Settings missing in its table are those for all systems."""
    shared = "[hiero]\nmax_phrase = 3\n"
    plain = planned(before=shared)
    own = ('grammar = "hiero"\n', 'grammar = "hiero"\n[systems.HIERO.hiero]\nmax_arity = 1\n')
    assert changed(plain, planned(own, before=shared)) == after("HIERO", "rules")
    same = ('grammar = "hiero"\n', 'grammar = "hiero"\n[systems.HIERO.hiero]\nmax_phrase = 3\n')
    assert not changed(plain, planned(same, before=shared))
    whole = planned(own, before=shared)
    assert all(system == "CONTEXT" for system, _ in changed(whole, planned(before=shared + "max_arity = 1\n")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[systems.HIERO.hiero]\nmax_arity = 3", r"plan\.toml:\d+: .*max_arity"),
        ("[systems.HIERO.hiero]\nmax_words = 3", r"plan\.toml:\d+: .*max_words"),
        (
            "[systems.HIERO.sampled]\nseed = 3",
            r"plan\.toml:\d+: sampled is for rules that are not in",
        ),
        ("hiero = 3", r"plan\.toml:\d+: hiero must be a table"),
    ],
)
def test_bad_settings_of_a_system_for_its_rules(planned, text, message):
    with pytest.raises(InputError, match=message):
        planned(('grammar = "hiero"\n', f'grammar = "hiero"\n{text}\n'))


def test_forests_are_made_for_those_that_want_them(planned, corpus):
    before, after = planned(), planned(('estimator = "em"\n', 'estimator = "em"\nforests = true\n'))
    assert {name for name in before if before[name] != after[name]} == {("EM", part) for part in STAGES[1:]}
    made = [stage for stage in make_plan(read_experiment(corpus / "plan.toml")).stages() if stage.name == "derive"]
    assert [stage.settings.forests for stage in made] == [False, True]
    with pytest.raises(InputError, match=r"plan\.toml:\d+: forests need all minimal rules: set binarise = false"):
        planned(('estimator = "em"\n', 'estimator = "em"\nforests = true\n'), before="[derive]\nbinarise = true\n")


@pytest.mark.parametrize("name", ["biparsed", "sampled"])
def test_a_system_names_the_trees_of_its_model_and_minimal_rules(planned, corpus, name):
    """They hang on the settings of their source, those of the system alone too, but not on which rules are written."""
    table, line = name, 'estimator = "clusters"\n'
    trees = (line, f'{line}trees = "{name}"\n')
    plain, named = planned(), planned(trees)
    assert changed(plain, named) == after("CLUSTERS", "rules") | after("CLUSTERS", "model")
    made = make_plan(read_experiment(corpus / "plan.toml"))
    assert [stage.name for stage in made.stages() if stage.work.__name__ == "source_trees"] == [f"derive-{name}"]
    assert made.systems["CLUSTERS"].model.inputs.derivations.stage.name == f"derive-{name}"
    own = (line, f'{line}trees = "{name}"\n{table} = {{ seed = 9 }}\n')
    assert changed(named, planned(own)) == after("CLUSTERS", "rules") | after("CLUSTERS", "model")
    more = planned(trees, before=f"[{table}]\nmax_targets = 3\n")
    assert not {place for place in changed(named, more) if place[0] == "CLUSTERS"}


def test_a_system_names_the_links_of_its_rules_and_model(planned, corpus):
    """They hang on the settings of their source, which sees the links of the experiment."""
    line = 'grammar = "hiero"\n'
    before, named = planned(), planned((line, f'{line}alignment = "biparsed"\n'))
    assert changed(before, named) == after("HIERO", "rules")
    plan = make_plan(read_experiment(corpus / "plan.toml"))
    links = plan.systems["HIERO"].rules.inputs.rules.alignments
    stage = links[0].stage
    assert [file.name for file in links] == ["best", "likely"]
    assert stage.name == "align-biparsed" and stage.inputs.alignments[0].stage.name == "align"
    assert plan.stages().index(stage) < plan.stages().index(plan.systems["HIERO"].rules)
    own = (line, f'{line}alignment = "biparsed"\nbiparsed = {{ seed = 9 }}\n')
    assert changed(named, planned(own)) == after("HIERO", "rules")
    em = ('estimator = "em"\n', 'estimator = "em"\nforests = true\nalignment = "biparsed"\n')
    assert changed(before, planned(em)) == after("EM", "rules") | after("EM", "model")


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ('grammar = "hiero"\nalignment = "hiero"\n', r"plan\.toml:\d+: alignment must be one of biparsed, or left out"),
        (
            'grammar = "hiero+biparsed"\nalignment = "biparsed"\n',
            r"alignment does not go with rules and trees of biparsed",
        ),
        ('trees = "biparsed"\nalignment = "biparsed"\n', r"alignment does not go with rules and trees of biparsed"),
    ],
)
def test_bad_links_are_refused(planned, system, message):
    with pytest.raises(InputError, match=message):
        planned(('grammar = "hiero"\n', system))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('trees = "hiero"', r"plan\.toml:\d+: trees must be one of minimal, biparsed, sampled"),
        ('trees = "biparsed"\nforests = true', r"plan\.toml:\d+: trees cannot be combined with forests"),
    ],
)
def test_bad_trees_are_refused(planned, line, message):
    with pytest.raises(InputError, match=message):
        planned(('estimator = "em"\n', f'estimator = "em"\n{line}\n'))


def test_weights_of_spans_are_learned_with_the_rules(planned):
    """By a model whose features need them alone, with the settings of the source."""
    line, table = 'grammar = "biparsed"\n', "[biparsed]\npasses = 2\n"
    model = 'grammar = "biparsed+minimal"\nestimator = "mle"\n'
    without, needed = (planned((line, f'{model}features = "{name}"\n'), before=table) for name in ("paper", "boundary"))
    assert changed(without, needed) == after("INDUCED", "model")
    other = planned((line, f'{model}features = "boundary"\n'), before=table + "rate = 0.1\n")
    assert changed(needed, other) == after("INDUCED", "rules") | after("INDUCED", "model")
    never_learned = (line, f'{model}features = "boundary"\n')
    with pytest.raises(InputError, match=r"plan\.toml:\d+: SpanBoundary needs biparsed rules"):
        planned(never_learned)
    not_induced = ('features = "paper"', 'features = "boundary"')
    with pytest.raises(InputError, match=r"plan\.toml:\d+: SpanBoundary needs biparsed rules"):
        planned(not_induced, before=table)


def test_weights_are_learned_once_for_all_that_begin_with_them(planned, corpus):
    """Other counts, and the weights of spans, need no learning of their own; without passes there is none."""
    line = 'grammar = "biparsed"\n'
    latent = '[systems.LATENT]\ngrammar = "biparsed+minimal"\ntrees = "biparsed"\nfeatures = ["context", "boundary"]\n'
    other = '[systems.OTHER]\ngrammar = "biparsed"\nbiparsed = { counts = "learned" }\n'
    planned((line, f"{line}{latent}{other}"), before="[biparsed]\npasses = 2\n")
    plan = make_plan(read_experiment(corpus / "plan.toml"))
    stages = plan.stages()
    (learned,) = [stage for stage in stages if stage.name == "learn-biparsed"]
    users = [stage for stage in stages if [*stage.side_sources]]
    assert {stage.name for stage in users} == {"grammar-biparsed", "derive-biparsed", "estimate"}
    assert len(users) == 4 and all(learned.key in {source.key for source in stage.sources} for stage in users)
    assert all(stages.index(learned) < stages.index(stage) for stage in users)
    planned()
    assert "learn-biparsed" not in {stage.name for stage in make_plan(read_experiment(corpus / "plan.toml")).stages()}


def test_the_plan_says_what_is_made(corpus, tmp_path):
    """Nothing at first, all after a run, all but what depends on a changed setting after the change."""
    rows, missing = states(corpus / "e.toml", tmp_path / "out")
    own = ["tune", "decode", "score", "confidence"]
    shared = [(name, "all") for name in ("lm", "align", "derive", "grammar-minimal")]
    model = ("estimate", "SPECTRAL")
    charts = [("sentences", "all"), ("charts", "all"), ("trees", "MIN"), ("trees", "SPECTRAL")]
    systems = {system: [(name, system) for name in own] for system in ("MIN", "SPECTRAL")}
    assert rows == missing == [*shared, model, *systems["MIN"], *systems["SPECTRAL"], *charts]
    assert not (tmp_path / "out").exists()
    run = run_lscfg("run", corpus / "e.toml", "-o", tmp_path / "out", "--jobs", 2)
    assert run.returncode == 0, run.stderr
    assert states(corpus / "e.toml", tmp_path / "out") == (rows, [])
    for old, new, expected in (
        ("m = 3", "m = 2", [model, *systems["SPECTRAL"], *charts]),
        ("kbest = 20", "kbest = 21", [*systems["MIN"], *systems["SPECTRAL"], *charts]),
        ("[tuning]", "[hiero]\nmax_phrase = 3\n[tuning]", []),
    ):
        (corpus / "plan.toml").write_text(TOML.replace(old, new))
        assert states(corpus / "plan.toml", tmp_path / "out") == (rows, expected)
    assert states(corpus / "e.toml", tmp_path / "out") == (rows, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('grammar = "hiero"\n[systems.HIERO.sampling]\nseed = 3\n', "the table sampling is now called sampled"),
        ('grammar = "hiero"\ninduce = {seed = 3}\n', "the table induce is now called biparsed"),
        ('grammar = "hiero"\nsense = {model = "ls"}\n', "the table sense is now called context"),
        ('grammar = "hiero+induced"\n', "grammar: induced is now called biparsed"),
        ('grammar = "hiero"\ntrees = "induced"\n', "trees: induced is now called biparsed"),
    ],
)
def test_old_names_end_with_the_new_one(planned, text, message):
    with pytest.raises(InputError, match=rf"plan\.toml:\d+: {re.escape(message)}$"):
        planned(('grammar = "hiero"\n', text))
    with pytest.raises(InputError, match=r"plan\.toml:\d+: the table grammar is now called minimal$"):
        planned(before="[grammar]\nmax_targets = 3\n")


def test_users_of_several_runs_are_numbered(corpus):
    (corpus / "plan.toml").write_text(TOML.replace("kbest = 20", "kbest = 20\nruns = 2"))
    plan = make_plan(read_experiment(corpus / "plan.toml"))
    assert [plan.users(stage) for stage in plan.systems["MIN"].tuned] == [["MIN run 1"], ["MIN run 2"]]


def test_training_is_what_precedes_tuning(corpus):
    (corpus / "plan.toml").write_text(TOML + SYSTEMS)
    plan = make_plan(read_experiment(corpus / "plan.toml"))
    for name, system in plan.systems.items():
        keys = {stage.key for stage in training(system)}
        assert {stage.key for stage in (system.rules, system.model) if stage} <= keys, name
        assert system.tuned[0].key not in keys
