"""An experiment under way: its plan, and the files of the stages that are made."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from lscfg.io.text import read_lines
from lscfg.tuning.experiment.cache import StageCache
from lscfg.tuning.experiment.plan import Plan
from lscfg.tuning.experiment.schema import Experiment
from lscfg.tuning.experiment.stage import Input, Output
from lscfg.tuning.experiment.stages import decoding


@dataclass(frozen=True)
class Run:
    """An experiment with its plan and what was made of it."""

    experiment: Experiment
    plan: Plan
    cache: StageCache

    def json(self, output: Output) -> Any:
        """What a stage wrote."""
        return json.loads(self.cache.path(output).read_text(encoding="utf-8"))

    def lines(self, *files: Input) -> list[list[str]]:
        """The lines of texts."""
        named = {str(number): file for number, file in enumerate(files)}
        return [read_lines(path) for path in self.cache.inputs(named).values()]

    def outputs(self, system: str) -> list[list[str]]:
        """The translations of each run."""
        return [read_lines(self.cache.path(stage / decoding.OUTPUT)) for stage in self.plan.systems[system].decoded]

    def times(self, system: str) -> Times:
        """What a system took, had it been the only one; tuning and decoding are means over the runs."""
        stages = self.plan.systems[system]
        spent = {key: made.record["cpu_seconds"] for key, made in self.cache.made.items()}
        return Times(
            _total(spent[stage.key] for stage in stages.training()),
            statistics.fmean(self.json(stage / decoding.DEV)["seconds"] for stage in stages.tuned),
            _total((spent[stage.key] for stage in stages.translated()), len(stages.decoded)),
        )


class Times(NamedTuple):
    """Seconds of a system: CPU time of training, wall time of tuning, interrupted or not, CPU time of decoding.

    CPU times are none where an older lscfg made a stage.
    """

    training: float | None
    tuning: float
    decoding: float | None


def _total(seconds: Iterable[float | None], among: int = 1) -> float | None:
    """Their sum, or its share of one among several; none if one is not known."""
    known = [*seconds]
    return None if None in known else math.fsum(filter(None, known)) / among
