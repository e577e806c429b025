"""Plan of an experiment: its stages, each known by its key before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lscfg.estimate.estimator import ESTIMATORS
from lscfg.io.columns import align_columns
from lscfg.tuning.experiment.stage import KEY, Output, Stage
from lscfg.tuning.experiment.stages.charts import chart_stage, sentences_stage, tree_stages
from lscfg.tuning.experiment.stages.confidence import confidence_stage
from lscfg.tuning.experiment.stages.curve import LearningCurve, plan_curve, rule_files
from lscfg.tuning.experiment.stages.decoding import tuned_plan
from lscfg.tuning.experiment.stages.pieces import plan_texts_with_pieces
from lscfg.tuning.experiment.stages.rules import given_stage, language_model_stage, plan_rules
from lscfg.tuning.experiment.stages.text import plan_texts
from lscfg.tuning.experiment.steps.latent import Latent
from lscfg.tuning.experiment.system import Draft, Experiment, SystemPlan, Texts


@dataclass(frozen=True)
class Plan:
    """All stages of an experiment."""

    texts: Texts
    derivations: Stage
    shared: list[Stage]
    """Stages that are made before all tunings, in the order of work."""
    systems: dict[str, SystemPlan]
    sentences: Stage
    """Choice of the sentences of the test set that have charts and derivations."""
    charts: dict[str, Stage]
    trees: dict[str, Stage]
    curve: LearningCurve | None = None
    confidence: dict[str, Stage] = field(default_factory=dict)

    def stages(self) -> list[Stage]:
        """Every stage once, after those whose files it reads.

        Faults of the text, or of given files, show in the first minutes; tuning comes late.
        """
        every = [*self.shared]
        for name, system in self.systems.items():
            every += [*system.stages(), *([self.confidence[name]] if name in self.confidence else [])]
        if self.charts or self.trees:
            every += [self.sentences, *self.charts.values(), *self.trees.values()]
        every += self.curve.stages if self.curve else ()
        every = [part for stage in every for part in (*stage.side_sources, stage)]
        return list({stage.key: stage for stage in every}.values())

    @property
    def hashes(self) -> dict[Path, str]:
        """Hashes of the files that no stage makes, as the keys have them."""
        return {path: digest for stage in self.stages() for path, digest in stage.hashes.items()}

    def users(self, stage: Stage) -> list[str]:
        """The systems (with their runs, if several) that need a stage; empty if all share it."""
        return self._users.get(stage.key, [])

    @cached_property
    def _users(self) -> dict[str, list[str]]:
        users: dict[str, dict[str, None]] = {}
        for name, system in self.systems.items():
            own = [
                stage for stage in (system.model, self.trees.get(name), self.confidence.get(name), *system.own) if stage
            ]
            for stage in own:
                users.setdefault(stage.key, {})[name] = None
            for run, (tried, made) in enumerate(zip(system.tried, system.runs(), strict=True), 1):
                for stage in (*tried, *made):
                    users.setdefault(stage.key, {})[f"{name} run {run}" if len(system.tuned) > 1 else name] = None
        for stage in self.texts.trials[1:]:
            users.setdefault(stage.key, {})["choice of pieces"] = None
        shared = {stage.key for stage in self.shared}
        for stage in self.curve.stages if self.curve else ():
            if stage.key not in shared and stage.key not in users:
                users[stage.key] = {"learning curve": None}
        return {key: [*names] for key, names in users.items()}


def make_plan(experiment: Experiment, learning_curve: bool = False) -> Plan:
    """Plans an experiment.

    Raises:
        InputError: no system can have a learning curve.
    """
    chosen = experiment.prepare.chosen_side is not None
    texts = plan_texts_with_pieces(experiment) if chosen else plan_texts(experiment)
    lm = language_model_stage(experiment, texts)
    alignments, derivations, files = rule_files(experiment, texts)
    systems: dict[str, SystemPlan] = {}
    drafts = {
        name: Draft(experiment.of(system), system, texts, lm, files, systems)
        for name, system in experiment.systems.items()
    }
    shared = [*texts.trials, *filter(None, (texts.prepared, texts.more)), lm]
    ruled = [draft for draft in drafts.values() if draft.system.rules]
    for draft in ruled:
        if draft.system.rules and draft.system.rules.grammar_file:
            draft.rules = given_stage(draft.system.rules.grammar_file)
            shared.append(draft.rules)
    shared += [*(part.stage for part in alignments[:1] if isinstance(part, Output)), derivations]
    for draft in ruled:
        shared += plan_rules(draft)
    for draft in ruled:
        for step in draft.system.steps.values():
            shared += step.train(draft)
    for name, draft in drafts.items():
        systems[name] = _system(draft)
    sentences = sentences_stage(experiment, texts, systems)
    charts = {name: chart_stage(systems[name], texts, sentences) for name in charted_systems(experiment)}
    trees = tree_stages(experiment, texts, systems, sentences)
    curve = plan_curve(experiment, texts, systems) if learning_curve else None
    sure = {name: confidence_stage(experiment, name, system, texts) for name, system in systems.items()}
    confidence = {name: stage for name, stage in sure.items() if stage}
    return Plan(texts, derivations, shared, systems, sentences, charts, trees, curve, confidence)


def _system(draft: Draft) -> SystemPlan:
    """The plan of one system after those before it."""
    for step in draft.system.steps.values():
        draft.own += step.extend(draft)
    chosen = (step.translations(draft) for step in draft.system.steps.values())
    return next((plan for plan in chosen if plan), None) or tuned_plan(draft)


def charted_systems(experiment: Experiment) -> list[str]:
    """Systems whose charts are drawn: those of [report], else for each estimator the one with the most states."""
    if experiment.report.charts:
        return list(experiment.report.charts)
    best: dict[str, tuple[int, str]] = {}
    for name, system in experiment.systems.items():
        if (latent := system.step(Latent)) and ESTIMATORS[latent.estimator.name].RULES:
            states = int(getattr(latent.estimator.settings, "m", 1))
            if states > best.get(latent.estimator.name, (0, ""))[0]:
                best[latent.estimator.name] = (states, name)
    chosen = {name for _, name in best.values()}
    return [name for name in experiment.systems if name in chosen]


def format_plan(plan: Plan, is_made: Callable[[Stage], bool]) -> str:
    """Formats the stages as a table: which are cached, which are still to be made."""
    rows = [["stage", "key", "version", "state", "systems"]]
    for stage in plan.stages():
        status = "cached" if is_made(stage) else "to do"
        rows.append([stage.name, stage.key[:KEY], str(stage.version), status, ", ".join(plan.users(stage)) or "all"])
    return "\n".join(align_columns(rows))
