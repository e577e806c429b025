"""An experiment as data: its stages, of which each is known by its key before anything runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lscfg import kernel
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACT, EXTRACTORS, TREES, with_boundary
from lscfg.grammar.select import MAX_TARGETS
from lscfg.induce.propagated.expansion import COUNTERPARTS
from lscfg.induce.propagated.phrases import LIMITS
from lscfg.induce.propagated.spread import GOLD
from lscfg.io.text import align_columns
from lscfg.kinds import ALIGNERS, CONTEXT_MODELS, OPTIMISERS, SENSE_MODELS, TEXT_SOURCES, TOKENISERS, kind
from lscfg.prepare.corpus import raw_reference, set_file
from lscfg.prepare.pairs import source_kind
from lscfg.prepare.record import RECORD
from lscfg.settings import Declared
from lscfg.tuning.evaluate import restored_tokens
from lscfg.tuning.experiment.schema import Experiment, RawCorpus, System
from lscfg.tuning.experiment.sources import RuleFiles, alignments_of, grammar_stages, trees_of
from lscfg.tuning.experiment.stage import KEY, Input, Output, Stage, Texts, numbered_inputs
from lscfg.tuning.experiment.stages import agreement, decoding, margin, model, monolingual, rules, text
from lscfg.tuning.metrics.metric import METRICS, further_metrics


@dataclass(frozen=True)
class SystemPlan:
    """The stages of one system; the lists have an element for each run of the tuning."""

    rules: Stage | None
    model: Stage | None
    decoder: Mapping[str, Any]
    """Settings of its decoder; inputs of it: ``decoder_inputs``."""
    decoder_inputs: Mapping[str, Input]
    members: Sequence[SystemPlan] = ()
    """Those whose translations it chooses from, without rules and a decoder of its own."""
    tuned: list[Stage] = field(default_factory=list)
    tried: list[list[Stage]] = field(default_factory=list)
    """What each of ``tuned`` chooses from: tunings, if there are several, or lists of the members."""
    decoded: list[Stage] = field(default_factory=list)
    scored: list[Stage] = field(default_factory=list)
    restored: list[Stage] = field(default_factory=list)
    """Empty where the text was not prepared."""
    expansion: list[Stage] = field(default_factory=list)
    """What its grammar and its model have of monolingual text; empty where they have nothing."""

    @property
    def grammars(self) -> list[Stage]:
        """Its rules, or those of its members, each once."""
        every = [self.rules, *(member.rules for member in self.members)]
        return list({stage.key: stage for stage in every if stage}.values())

    def add_run(self, texts: Texts, tried: list[Stage], tuned: Stage, decoded: Stage) -> None:
        """Notes the stages of a run, and those that score it."""
        output = {"output": decoded / decoding.OUTPUT}
        self.tried.append(tried)
        self.tuned.append(tuned)
        self.decoded.append(decoded)
        metrics = {name: METRICS[name].VERSION for name in further_metrics()}
        self.scored.append(Stage("score", decoding.score, {"metrics": metrics}, {**output, **texts.test_references}))
        if texts.restoring:
            facts, files = dict(texts.restoring[0]), dict(texts.restoring[1])
            self.restored.append(Stage("restore", text.restore, facts, {**output, **files}))

    def lists(self, name: str, run: int, wanted: Input) -> Stage:
        """The best translations of a text by one run."""
        files = {"wanted": wanted, "weights": self.tuned[run] / decoding.WEIGHTS}
        return Stage(name, decoding.nbest, {**self.decoder, "kbest": decoding.KBEST}, {**self.decoder_inputs, **files})

    def runs(self) -> Iterator[tuple[Stage, ...]]:
        """The stages of each run, in order."""
        parts = [self.tuned, self.decoded, self.scored, *([self.restored] if self.restored else [])]
        yield from zip(*parts, strict=True)

    def training(self) -> list[Stage]:
        """All that must be there before it can be tuned, whoever else needs it; tuned weights to begin with are not."""
        found: dict[str, Stage] = {}
        inputs = [part for plan in (self, *self.members) for part in plan.decoder_inputs.values()]
        open_ones = [part.stage for part in inputs if isinstance(part, Output)]
        while open_ones:
            stage = open_ones.pop()
            if stage.key not in found and stage.work not in (decoding.tune, decoding.choose):
                found[stage.key] = stage
                open_ones += stage.sources
        return [*found.values()]

    def translated(self) -> Iterator[Stage]:
        """All that decodes the test set, of each run; where it chooses, its members' lists too."""
        for stage in self.decoded:
            yield from (source for source in stage.sources if source.work is decoding.nbest)
            yield stage

    def stages(self) -> Iterator[Stage]:
        """Those of its own, in order."""
        yield from self.expansion
        for tried, run in zip(self.tried, self.runs(), strict=True):
            yield from tried
            yield from run


@dataclass(frozen=True)
class Plan:
    """All stages of an experiment.

    Attributes:
        shared: what systems have in common, in the order of work.
        sentences: which of the test set have charts and derivations; charts, trees: by system.
    """

    texts: Texts
    derivations: Stage
    shared: list[Stage]
    systems: dict[str, SystemPlan]
    sentences: Stage
    charts: dict[str, Stage]
    trees: dict[str, Stage]

    def stages(self) -> list[Stage]:
        """Every stage once, after those that it needs.

        What may be wrong with the text, or with files that are given, shows in the first minutes; tuning comes late.
        """
        every = [*self.shared, *(stage for system in self.systems.values() for stage in system.stages())]
        if self.charts or self.trees:
            every += [self.sentences, *self.charts.values(), *self.trees.values()]
        every = [part for stage in every for part in (*(aside.stage for aside in stage.aside.values()), stage)]
        return list({stage.key: stage for stage in every}.values())

    def users(self, stage: Stage) -> list[str]:
        """The systems, and their runs if there are several, that a stage was made for; none if all share it."""
        users = []
        for name, system in self.systems.items():
            if stage.key in [own.key for own in (system.model, self.trees.get(name), *system.expansion) if own]:
                users.append(name)
            for run, (tried, made) in enumerate(zip(system.tried, system.runs(), strict=True), 1):
                if stage.key in [own.key for own in (*tried, *made)]:
                    users.append(f"{name} run {run}" if len(system.tuned) > 1 else name)
        return users


def make_plan(experiment: Experiment) -> Plan:
    """The stages of an experiment."""
    texts = _texts(experiment)
    lm = _language_model(experiment, texts)
    shared = [texts.prepared, lm] if texts.prepared else [lm]
    with_rules = {name: system for name, system in experiment.systems.items() if not system.agree}
    given = {
        name: Stage("grammar-given", rules.given_grammar, {}, {"file": system.grammar_file})
        for name, system in with_rules.items()
        if system.grammar_file
    }
    alignments = _alignments(experiment, texts)
    derivations = _derivations(experiment, texts, alignments)
    shared += [*given.values(), *(part.stage for part in alignments[:1] if isinstance(part, Output)), derivations]
    inputs = RuleFiles(texts.source, texts.target, alignments, derivations / rules.DERIVATIONS)
    grammars = dict(given)
    files_of = dict.fromkeys(with_rules, inputs)
    for name, system in with_rules.items():
        if system.alignment:
            links = alignments_of(system.alignment, experiment.of(system), inputs)
            shared += [links[0].stage, _derivations(experiment, texts, links)]
            files_of[name] = replace(inputs, alignments=links, derivations=shared[-1] / rules.DERIVATIONS)
        if system.trees != TREES:
            shared.append(trees_of(system.trees, experiment.of(system), files_of[name]))
            files_of[name] = replace(files_of[name], derivations=shared[-1] / rules.DERIVATIONS)
        if name not in given:
            made = list(grammar_stages(experiment.of(system), texts, system, files_of[name]))
            shared += made
            grammars[name] = made[-1]
    models = {}
    for name, system in with_rules.items():
        learned_from = files_of[name]
        if system.over_forests:
            shared.append(_derivations(experiment, texts, learned_from.alignments, forests=True))
            learned_from = replace(learned_from, derivations=shared[-1] / rules.DERIVATIONS)
        models[name] = _model(experiment.of(system), system, learned_from)
    shared += [stage for stage in models.values() if stage]
    systems: dict[str, SystemPlan] = {}
    for name, system in experiment.systems.items():
        if system.agree:
            systems[name] = _agreed(experiment, texts, [systems[member] for member in system.agree])
            continue
        own, more = experiment.of(system), _expansion(experiment, texts, name, files_of[name], systems)
        latent, made = models[name], [*more.values()]
        if more:
            files = {"grammar 001": grammars[name] / rules.GRAMMAR, "grammar 002": more["propagate"] / rules.GRAMMAR}
            grammars[name] = Stage("grammar-expanded", rules.union, {}, files)
            made.append(grammars[name])
            if system.states and latent:
                files = {part: more[part] / part for part in (monolingual.PHRASES, monolingual.GRAPH)}
                files |= {"model": latent / model.MODEL, "size": latent / rules.SIZE}
                files["rules"] = more["propagate"] / rules.GRAMMAR
                latent = Stage("states", monolingual.states, {}, files)
                made.append(latent)
        learned = _margin(own, system, grammars[name], lm, files_of[name], systems) if system.margin else None
        if learned:
            grammars[name] = learned
            made.append(learned)
        systems[name] = _system(own, texts, system, grammars[name], lm, latent, systems, made, learned)
    sentences = _sentences(experiment, texts, systems)
    charts, trees = (make(experiment, texts, systems, sentences) for make in (_charts, _trees))
    return Plan(texts, derivations, shared, systems, sentences, charts, trees)


def _texts(experiment: Experiment) -> Texts:
    corpus = experiment.corpus
    if isinstance(corpus, RawCorpus):
        return _prepared(experiment, corpus)
    return Texts(
        corpus.source,
        corpus.target,
        corpus.dev_source,
        [*corpus.dev_reference],
        corpus.test_source,
        [*corpus.test_reference],
        corpus.alignment,
    )


def _prepared(experiment: Experiment, corpus: RawCorpus) -> Texts:
    """What the preparation stage makes."""
    settings = experiment.prepare
    source, target = settings.languages(corpus.files)
    reader = source_kind(corpus.files, settings.format)
    facts = settings.facts() | {"source_language": source, "target_language": target, "format": reader}
    facts |= {"reading": settings_facts(settings.reading), "reading version": kind(TEXT_SOURCES, reader).VERSION}
    facts |= {"tokenisation": settings_facts(settings.tokenisation)}
    facts |= {"tokeniser version": kind(TOKENISERS, settings.tokeniser).VERSION}
    files = numbered_inputs("corpus", corpus.files) | dict(
        settings.tokenisation.files() if settings.tokenisation else {}
    )
    for name in ("dev", "test"):
        files |= numbered_inputs(f"{name} file", corpus.held_out(name))
    stage = Stage("prepare", text.prepare, facts, files)

    def references(name: str, file: Callable[[str, str, int], str]) -> list[Input]:
        count = max(1, len(corpus.held_out(name)) - 1)
        return [stage / file(name, target, number) for number in range(1, count + 1)]

    raw = numbered_inputs("test reference", references("test", raw_reference))
    return Texts(
        stage / set_file("train", source),
        stage / set_file("train", target),
        stage / set_file("dev", source),
        references("dev", set_file),
        stage / set_file("test", source),
        references("test", set_file),
        prepared=stage,
        restoring=({"tokens": restored_tokens(target)}, {"record": stage / RECORD, **raw}),
    )


def _language_model(experiment: Experiment, texts: Texts) -> Stage:
    """The stage of the language model."""
    from lscfg.lm.lmplz import chosen_estimator

    settings = experiment.language_model
    if settings.file:  # nothing depends on what is installed
        return Stage("lm", rules.language_model, {"order": settings.order}, {"file": settings.file})
    facts = settings.facts() | {"estimator": chosen_estimator(settings.estimator)}
    files: dict[str, Input] = {"text": texts.target}
    if experiment.monolingual.lm:
        files |= numbered_inputs("monolingual", experiment.monolingual.target)
    return Stage("lm", rules.language_model, facts, files)


def _alignments(experiment: Experiment, texts: Texts) -> list[Input]:
    if texts.alignment:
        return [*texts.alignment]
    inputs = {"source": texts.source, "target": texts.target}
    stage = Stage("align", rules.align, _alignment_facts(experiment), inputs)
    return [stage / heuristic for heuristic in experiment.alignment.heuristics]


def _alignment_facts(experiment: Experiment) -> dict[str, Any]:
    wanted = experiment.alignment
    aligner = {"aligner": settings_facts(wanted.aligner), "aligner version": kind(ALIGNERS, wanted.model).VERSION}
    return wanted.facts() | aligner


def _derivations(experiment: Experiment, texts: Texts, alignments: Sequence[Input], forests: bool = False) -> Stage:
    inputs: dict[str, Input] = {"source": texts.source, "target": texts.target}
    inputs |= numbered_inputs("alignments", alignments)
    facts = experiment.derive.facts() | ({"forests": True} if forests else {})
    return Stage("derive", rules.derive, facts, inputs)


def _model(experiment: Experiment, system: System, inputs: RuleFiles) -> Stage | None:
    if not system.estimator:
        return None
    name, settings = system.estimator.name, system.estimator.settings
    facts: dict[str, Any] = {"estimator": name, "estimator version": ESTIMATORS[name].VERSION}
    facts["settings"] = settings.facts()
    files: dict[str, Input] = {"derivations": inputs.derivations, **settings.files()}
    aside: dict[str, Output] = {}
    context, scorer = experiment.context_model(system), experiment.scorer(system)
    if context or scorer:
        facts["context"] = {
            "model": context.name if context else "",
            "version": kind(CONTEXT_MODELS, context.name).VERSION if context else 0,
            "settings": context.settings.facts() if context else {},
            "sources": [
                {
                    "name": name,
                    "version": EXTRACTORS[name].VERSION,
                    "settings": experiment.sources[name].facts(EXTRACT),
                }
                for name in system.sources
            ],
        }
        if scorer:
            version = kind(SENSE_MODELS, scorer.name).VERSION
            facts["scorer"] = {"model": scorer.name, "version": version, "settings": scorer.settings.facts()}
            files |= model.files_of("scorer", scorer.settings)
        if context:
            files |= model.files_of("context", context.settings)
        if any(getattr(chosen.settings, "takes_text", False) for chosen in (context, scorer) if chosen):
            files |= numbered_inputs(model.VIEWS_TEXT, experiment.monolingual.source)
        files["source"] = inputs.source
        for source in system.sources:
            files |= inputs.of(EXTRACTORS[source].NEEDS) | model.files_of(source, experiment.sources[source])
            aside |= inputs.learned(source, experiment.sources[source])
    if experiment.needs_boundary(system):
        own = with_boundary(system.sources)
        learned, chosen = EXTRACTORS[own], experiment.sources[own]
        facts["boundary"] = {"source": own, "version": learned.VERSION, "settings": chosen.facts(EXTRACT)}
        files |= inputs.of(learned.NEEDS) | model.files_of(own, chosen)
        aside |= inputs.learned(own, chosen)
    return Stage("estimate", model.estimate, facts, files, aside)


def _margin(
    experiment: Experiment,
    system: System,
    grammar: Stage,
    lm: Stage,
    inputs: RuleFiles,
    before: Mapping[str, SystemPlan],
) -> Stage:
    """The stage that learns weights of rules and words, beside the weights of the first run of its start."""
    assert system.margin is not None
    (name,) = system.sources
    source, settings = EXTRACTORS[name], experiment.sources[name]
    facts = {"source": name, "source version": source.VERSION, "settings": settings.facts()}
    facts |= {"margin": system.margin.facts(), "decoder": experiment.decoder.facts()}
    facts["decoding"] = experiment.decoding(system).facts()
    files = {**inputs.of(source.NEEDS), **settings.files(), "rules": grammar / rules.GRAMMAR, "lm": lm / rules.LM}
    files |= {"size": grammar / rules.SIZE, "start": before[system.start].tuned[0] / decoding.WEIGHTS}
    return Stage("margin", margin.margin, facts, files)


def _expansion(
    experiment: Experiment, texts: Texts, name: str, inputs: RuleFiles, before: Mapping[str, SystemPlan]
) -> dict[str, Stage]:
    """The stages that find rules for phrases of no parallel text, by name; none for a system without such rules."""
    system, mono = experiment.systems[name], experiment.monolingual
    if not system.propagation:
        return {}
    own = system.propagation
    files = inputs.of(("text",)) | numbered_inputs("monolingual source", mono.source)
    files |= numbered_inputs("monolingual target", mono.target)
    files |= {"text 001": texts.dev_source, "text 002": texts.test_source}
    made = {"phrases": Stage("phrases", monolingual.phrases, own.phrases.facts(), files)}
    files = {"phrases": made["phrases"] / monolingual.PHRASES}
    made["graph"] = Stage("graph", monolingual.graph, own.graph.facts(), {**files, **own.graph.files()})
    files |= {"graph": made["graph"] / monolingual.GRAPH, "text": texts.test_source, **own.rules.files()}
    if mono.gold_source and mono.gold_target:
        gold = _gold(experiment, texts, mono.gold_source, mono.gold_target)
        made |= {stage.name: stage for stage in gold}
        files["gold"] = gold[-1] / rules.GRAMMAR
    if "decoder" in own.rules.candidates and own.rules.method != GOLD:
        made["nbest"] = before[system.before].lists("nbest", 0, made["phrases"] / monolingual.WANTED)
        files["nbest"] = made["nbest"] / decoding.NBEST
    made["propagate"] = Stage("propagate", monolingual.propagate, own.rules.facts(), files)
    return made


def _gold(experiment: Experiment, texts: Texts, source: Path, target: Path) -> list[Stage]:
    """The stages from a fuller parallel text to its phrase pairs, as the labels are."""
    own: dict[str, Input] = {"source": source, "target": target}
    aligned = Stage("align", rules.align, _alignment_facts(experiment), own)
    links = [aligned / heuristic for heuristic in experiment.alignment.heuristics]
    own = {**own, **numbered_inputs("alignments", links), "text 001": texts.dev_source, "text 002": texts.test_source}
    hiero = EXTRACTORS["hiero"]
    settings = {**dataclasses.asdict(LIMITS), "max_targets": MAX_TARGETS}
    facts = {"source": "hiero", "source version": hiero.VERSION, "settings": settings}
    return [aligned, Stage("grammar-gold", rules.grammar, facts, own)]


def _system(
    experiment: Experiment,
    texts: Texts,
    system: System,
    grammar: Stage,
    lm: Stage,
    latent: Stage | None,
    before: Mapping[str, SystemPlan],
    expansion: list[Stage],
    learned: Stage | None = None,
) -> SystemPlan:
    """The stages of a system whose own experiment this is.

    Args:
        learned: has learned weights of rules and words, if the system has some.
    """
    tuning = experiment.tuning
    held = latent / model.MODEL if latent else learned / margin.MODEL if learned else None
    settings = {
        "decoder": experiment.decoder.facts(),
        "decoding": experiment.decoding(system).facts(),
        "features": experiment.features.facts() if held else None,
    }
    inputs: dict[str, Input] = {"rules": grammar / rules.GRAMMAR, "lm": lm / rules.LM}
    inputs |= experiment.decoder.programs(held is not None)
    if held:
        inputs["model"] = held
    plan = SystemPlan(grammar, latent, settings, inputs, expansion=expansion)
    learner = settings_facts(tuning.learner)
    shares = _latent_starts(experiment, system, before)
    for run in range(tuning.runs):
        start = before[system.before].tuned[run] if system.before else None
        facts = tuning.facts() | {"seed": tuning.seed + run}
        if system.weights_of:
            facts["iterations"] = 1  # the development set is translated once, for its BLEU
        del facts["runs"], facts["latent_starts"]  # each is a stage of its own
        optimiser = {"learner": learner, "learner version": kind(OPTIMISERS, tuning.optimiser).VERSION}
        weights: dict[str, Any] = {} if start else {"weights": tuning.weights}
        weights |= {"counterparts": COUNTERPARTS} if start and expansion else {}
        files: dict[str, Input] = {"dev source": texts.dev_source, **texts.dev_references}
        if start:
            files["start"] = learned / margin.START if learned else start / decoding.WEIGHTS
        facts = {**settings, "tuning": facts, **optimiser, **weights}
        tunings = [Stage("tune", decoding.tune, facts | share, {**inputs, **files}) for share in shares]
        tuned = tunings[0] if len(tunings) == 1 else _best(tunings)
        files = {"weights": tuned / decoding.WEIGHTS, "test source": texts.test_source}
        decoded = Stage("decode", decoding.decode, settings, {**inputs, **files})
        plan.add_run(texts, tunings if len(tunings) > 1 else [], tuned, decoded)
    return plan


def _agreed(experiment: Experiment, texts: Texts, members: Sequence[SystemPlan]) -> SystemPlan:
    """The stages of a system that chooses from the translations of others; each run from those of the same run."""
    plan = SystemPlan(None, None, {}, {}, members)
    for run in range(experiment.tuning.runs):
        dev, test = (
            [one.lists("lists", run, each) for one in members] for each in (texts.dev_source, texts.test_source)
        )
        files = numbered_inputs("lists", [stage / decoding.NBEST for stage in dev]) | texts.dev_references
        tuned = Stage("agree", agreement.agree, {"scales": list(agreement.SCALES)}, files)
        files = numbered_inputs("lists", [stage / decoding.NBEST for stage in test])
        files |= {"dev": tuned / decoding.DEV, "test source": texts.test_source}
        plan.add_run(texts, [*dev, *test], tuned, Stage("together", agreement.together, {}, files))
    return plan


def _latent_starts(experiment: Experiment, system: System, before: Mapping[str, SystemPlan]) -> list[dict[str, Any]]:
    """What each tuning of a run knows of its start: one of the shares, where some latent feature begins at it.

    A feature that the tuning before had begins with the weight that it has got there.
    """
    names = {*experiment.features.names} & {*kernel.START_WEIGHTS} if system.estimator else set()
    known = before[system.before].decoder["features"] if system.before else None
    names -= {*known["names"]} if known else set()
    if not system.start or not names:
        return [{}]
    return [{"latent start": share} if share else {} for share in experiment.tuning.latent_starts]


def _best(tunings: Sequence[Stage]) -> Stage:
    """The choice between the tunings of a run."""
    files = {
        **numbered_inputs("weights", [stage / decoding.WEIGHTS for stage in tunings]),
        **numbered_inputs("history", [stage / decoding.HISTORY for stage in tunings]),
        **numbered_inputs("dev", [stage / decoding.DEV for stage in tunings]),
    }
    shares = [stage.settings.get("latent start", 0.0) for stage in tunings]
    return Stage("choose", decoding.choose, {"latent starts": shares}, files)


def settings_facts(chosen: Declared | None) -> dict[str, Any]:
    """The settings of what was chosen, as JSON has them."""
    return chosen.facts() if chosen else {}


def charted_systems(experiment: Experiment) -> list[str]:
    """The systems whose charts are drawn: those asked for, else of each estimator the one with the most states."""
    if experiment.report.charts:
        return list(experiment.report.charts)
    best: dict[str, tuple[int, str]] = {}
    for name, system in experiment.systems.items():
        if system.estimator:
            states = int(system.estimator.settings.facts().get("m", 1))
            if states > best.get(system.estimator.name, (0, ""))[0]:
                best[system.estimator.name] = (states, name)
    chosen = {name for _, name in best.values()}
    return [name for name in experiment.systems if name in chosen]


def _shown_derivations(experiment: Experiment) -> int:
    """The number of sentences with derivations, which not every decoder shows."""
    return experiment.report.derivations if experiment.decoder.host.DERIVATIONS else 0


def _sentences(experiment: Experiment, texts: Texts, systems: Mapping[str, SystemPlan]) -> Stage:
    """The choice of the sentences that have charts and derivations."""
    settings = {"sentences": list(experiment.report.sentences), "trees": _shown_derivations(experiment)}
    outputs = {f"output {name}": system.decoded[0] / decoding.OUTPUT for name, system in systems.items()}
    files = {"test source": texts.test_source, **outputs, **texts.test_references}
    return Stage("sentences", decoding.sentences, settings, files)


def _charts(
    experiment: Experiment, texts: Texts, systems: Mapping[str, SystemPlan], sentences: Stage
) -> dict[str, Stage]:
    found = {}
    for name in charted_systems(experiment):
        system = systems[name]
        assert system.model is not None and system.rules is not None  # it has an estimator
        files = {
            "rules": system.rules / rules.GRAMMAR,
            "model": system.model / model.MODEL,
            "sentences": sentences / decoding.SENTENCES,
            "test source": texts.test_source,
        }
        unknown = system.decoder["decoding"].get("unknown", "")
        found[name] = Stage("charts", decoding.charts, {"unknown": unknown}, files)
    return found


def _trees(
    experiment: Experiment, texts: Texts, systems: Mapping[str, SystemPlan], sentences: Stage
) -> dict[str, Stage]:
    """Derivations of the first run's translations."""
    if not _shown_derivations(experiment):
        return {}
    found = {}
    for name, system in systems.items():
        if system.members:
            continue
        files = {
            "weights": system.tuned[0] / decoding.WEIGHTS,
            "test source": texts.test_source,
            "sentences": sentences / decoding.SENTENCES,
        }
        found[name] = Stage("trees", decoding.trees, system.decoder, {**system.decoder_inputs, **files})
    return found


def format_plan(plan: Plan, is_made: Callable[[Stage], bool]) -> str:
    """A table of the stages that a person reads: which are there, which are still to be made."""
    rows = [["stage", "key", "version", "state", "systems"]]
    for stage in plan.stages():
        state = "cached" if is_made(stage) else "to do"
        rows.append([stage.name, stage.key[:KEY], str(stage.version), state, ", ".join(plan.users(stage)) or "all"])
    return "\n".join(align_columns(rows))
