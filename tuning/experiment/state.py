"""A run of an experiment: its plan, and the files of finished stages."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lscfg.io.json_files import read_json
from lscfg.io.read import read_lines
from lscfg.tuning.experiment.cache import StageCache
from lscfg.tuning.experiment.plan import Plan
from lscfg.tuning.experiment.stage import Input, Output
from lscfg.tuning.experiment.stages.decoding import DEV, OUTPUT, training, translated
from lscfg.tuning.experiment.system import Experiment, StageFiles


@dataclass(frozen=True)
class Run(StageFiles):
    """An experiment with its plan and its finished stages."""

    experiment: Experiment
    plan: Plan
    cache: StageCache

    def path(self, output: Output) -> Path:
        return self.cache.path(output)

    def json(self, output: Output) -> Any:
        return read_json(self.path(output))

    def lines(self, *files: Input) -> list[list[str]]:
        """The lines of texts."""
        return [read_lines(self.cache.resolved(file)) for file in files]

    def outputs(self, system: str) -> list[list[str]]:
        """The translations of each run."""
        return [read_lines(self.path(stage / OUTPUT)) for stage in self.plan.systems[system].decoded]

    def times(self, system: str) -> Times:
        """Times of a system as if it had been the only one; for tuning and decoding, means over the runs."""
        plan = self.plan.systems[system]
        spent = {key: result.record["cpu_seconds"] for key, result in self.cache.made.items()}
        return Times(
            _total(spent[stage.key] for stage in training(plan)),
            statistics.fmean(self.json(stage / DEV)["seconds"] for stage in plan.tuned),
            _total((spent[stage.key] for stage in translated(plan)), len(plan.decoded)),
        )


class Times(NamedTuple):
    """Seconds of a system: CPU time of training, wall time of tuning, interrupted or not, CPU time of decoding.

    CPU times are none where an older lscfg made a stage.
    """

    training: float | None
    tuning: float
    decoding: float | None


def _total(seconds: Iterable[float | None], among: int = 1) -> float | None:
    """The sum of times, divided by a number of sharers; None if a time is unknown."""
    known = [*seconds]
    return None if None in known else math.fsum(filter(None, known)) / among
