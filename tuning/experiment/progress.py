"""Progress of a run: the number of a stage, the time that it took, and an estimate for the rest."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from lscfg.io.json_files import read_json
from lscfg.tuning.experiment.plan import Plan
from lscfg.tuning.experiment.stage import Stage

Duration = tuple[str, tuple[str, ...], float]
"""The name of a stage, the systems that it was made for, and the seconds that it took."""


class Progress:
    """The stages of a plan, in order.

    Args:
        earlier: durations of an earlier run in the same folder.
    """

    def __init__(self, plan: Plan, earlier: Iterable[Duration] = ()):
        self._plan, self._stages = plan, plan.stages()
        self._number = {stage.key: number for number, stage in enumerate(self._stages, 1)}
        self._done: set[str] = set()
        self.at_once = 1
        """Number of stages that are made at the same time."""
        self._same: dict[tuple[str, tuple[str, ...]], float] = {}
        self._similar: dict[str, list[float]] = defaultdict(list)
        self._earlier: dict[str, list[float]] = defaultdict(list)
        for name, users, seconds in earlier:
            self._same[name, users] = seconds
            self._earlier[name].append(seconds)

    def title(self, stage: Stage) -> str:
        """The stage among all, with the systems that it is made for."""
        users = self._plan.users(stage)
        systems = f" ({', '.join(users)})" if users else ""
        return f"stage {self._number[stage.key]}/{len(self._stages)} {stage.name}{systems}"

    def finish(self, stage: Stage, seconds: float) -> None:
        """Marks a stage as finished, now or in an earlier run, after so many seconds."""
        self._done.add(stage.key)
        self._similar[stage.name].append(seconds)

    def left(self) -> str:
        """Estimates the time for the rest, as a part of a sentence; empty without earlier durations.

        The estimate for a stage is its duration for the same systems in an earlier run, else the mean of stages with
        the same name. Stages without an estimate are named.
        """
        rest = [stage for stage in self._stages if stage.key not in self._done]
        expected = {stage: self._expected(stage) for stage in rest}
        known = [
            seconds / (self.at_once if stage.growth else 1)
            for stage, seconds in expected.items()
            if seconds is not None
        ]
        if not known or sum(known) < 1:
            return ""
        unknown = list(dict.fromkeys(stage.name for stage, seconds in expected.items() if seconds is None))
        return f"about {rough_duration(sum(known))} left" + (f", without {', '.join(unknown)}" if unknown else "")

    def _expected(self, stage: Stage) -> float | None:
        same = self._same.get((stage.name, tuple(self._plan.users(stage))))
        similar = self._similar.get(stage.name) or self._earlier.get(stage.name)
        return same if same is not None else statistics.fmean(similar) if similar else None


def durations(manifest: Path) -> list[Duration]:
    """Reads durations of stages from a manifest; a missing or foreign file gives none, as they only serve estimates."""
    try:
        stages = read_json(manifest)["stages"]
        return [(str(stage["name"]), tuple(stage["systems"]), float(stage["seconds"])) for stage in stages]
    except (ValueError, KeyError, TypeError):
        return []


def duration(seconds: float) -> str:
    """Formats a time: 8.3 s, 42 s, 3 min 20 s, 1 h 12 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def rough_duration(seconds: float) -> str:
    """Formats an estimate: to ten seconds, or to a minute from two minutes on."""
    step = 10 if seconds < 120 else 60
    return duration(max(step, step * round(seconds / step)))
