"""Consensus: a system that chooses from the translations of others, whatever their rules."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, Self

from lscfg.errors import quote
from lscfg.io.json_files import read_json, write_json
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.parallel.choose import in_processes
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.bleu import WIDTH, corpus_bleu, length_ratio
from lscfg.tuning.experiment.stage import File, Stage, version
from lscfg.tuning.experiment.stages.decoding import DEV, NBEST, OUTPUT, add_run, lists_stage
from lscfg.tuning.experiment.system import Draft, Experiment, Fault, StageFiles, System, SystemPlan, SystemStep
from lscfg.tuning.metrics.metric import PRIMARY
from lscfg.tuning.metrics.tuned import quick_utility
from lscfg.tuning.objectives import OBJECTIVES
from lscfg.tuning.rescore import agreed, read_lists

SCALES = (0.1, 0.2, 0.3, 0.5, 1.0)
"""Tried factors of scores before scores become probabilities."""


@dataclass(frozen=True)
class Agree(SystemStep):
    """The translations of other systems with the greatest agreement among these systems."""

    NAME: ClassVar[str] = "agree"
    KEYS: ClassVar[tuple[str, ...]] = ("agree",)
    COLUMNS: ClassVar[Mapping[str, object]] = {"agree": []}
    CHOOSES: ClassVar[bool] = True

    members: tuple[str, ...]
    """Systems before this one."""

    @classmethod
    def read(cls, table: dict[str, object], shared: Mapping[str, object], keys: Keys, reader: Reader) -> Self | None:
        members = reader.value(tuple[str, ...], table.pop("agree", []), (*keys, "agree"))
        if not members:
            return None
        if other := next(iter(table), ""):
            raise reader.error(
                (*keys, other), f"{other} does not apply to a system that chooses from others' translations"
            )
        return cls(members)

    def check(self, system: System, experiment: Experiment, before: Collection[str]) -> Fault | None:
        for member in self.members:
            if member not in before or not experiment.systems[member].tuned:
                return Fault("agree", f"agree: {quote(member)} is not an earlier system with its own rules")
        if len(self.members) == 1 or len({*self.members}) < len(self.members):
            return Fault("agree", "agree must name two systems or more, each once")
        return None

    def translations(self, draft: Draft) -> SystemPlan | None:
        """Each run chooses from the translations of the same run of its members."""
        members, texts = [draft.before[member] for member in self.members], draft.texts
        plan = SystemPlan(None, None, None, None, members)
        for run in range(draft.experiment.tuning.runs):
            dev, test = (
                [lists_stage("lists", one, run, wanted) for one in members]
                for wanted in (texts.dev_source, texts.test_source)
            )
            dev_lists, test_lists = (tuple(stage / NBEST for stage in stages) for stages in (dev, test))
            settings = AgreeSettings(draft.experiment.tuning.metric)
            tuned = Stage("agree", agree, settings, AgreeFiles(dev_lists, texts.dev_references))
            files = TogetherFiles(test_lists, tuned / DEV, texts.test_source)
            add_run(plan, draft, [*dev, *test], tuned, Stage("together", together, settings, files))
        return plan

    def columns(self, plan: SystemPlan, files: StageFiles) -> dict[str, object]:
        return {"agree": list(self.members)}


@dataclass(frozen=True)
class AgreeSettings:
    """Settings of a choice."""

    metric: str = PRIMARY
    """The metric of tuning."""
    scales: tuple[float, ...] = SCALES


@dataclass(frozen=True)
class AgreeFiles(Generic[File]):
    """Lists of translations of the development set by the members, and references."""

    lists: tuple[File, ...]
    references: tuple[File, ...]


@version(3)
def agree(folder: Path, settings: AgreeSettings, inputs: AgreeFiles[Path], jobs: int) -> None:
    """Writes the scale with the best development score in the metric of tuning, the first of equal ones."""
    began = time.monotonic()
    references = [read_lines(path) for path in inputs.references]
    chosen = _agreed(inputs.lists, len(references[0]), settings, jobs)
    objective = OBJECTIVES[settings.metric]
    stats = objective.totals(chosen, zip(*references, strict=True))
    scores = [objective.score(one) for one in stats]
    best = max(range(len(scores)), key=scores.__getitem__)
    own = {} if settings.metric == PRIMARY else {"score": scores[best]}
    summary = {
        "bleu": corpus_bleu(stats[best][-WIDTH:]),
        **own,
        "length_ratio": length_ratio(stats[best][-WIDTH:]),
        "scale": settings.scales[best],
        "score_by_scale": {str(scale): score for scale, score in zip(settings.scales, scores, strict=True)},
        "seconds": time.monotonic() - began,
    }
    write_json(folder / DEV, summary)


@dataclass(frozen=True)
class TogetherFiles(Generic[File]):
    """Lists of translations of the test set by the members, and the chosen scale."""

    lists: tuple[File, ...]
    dev: File
    test_source: File


@version(3)
def together(folder: Path, settings: AgreeSettings, inputs: TogetherFiles[Path], jobs: int) -> None:
    """Writes the translations of the test set that the systems agree on most."""
    chosen = replace(settings, scales=(read_json(inputs.dev)["scale"],))
    lines = _agreed(inputs.lists, len(read_lines(inputs.test_source)), chosen, jobs)
    write_lines(folder / OUTPUT, [one[0] for one in lines])


def _agreed(lists: Sequence[Path], sentences: int, settings: AgreeSettings, jobs: int) -> list[list[str]]:
    """The translation of each sentence under each scale."""
    utility = quick_utility(settings.metric)
    systems = [read_lists(path, {}, sentences) for path in lists]
    with in_processes(jobs) as engine:
        return list(
            engine.map(partial(agreed, scales=settings.scales, utility=utility), list(zip(*systems, strict=True)))
        )
