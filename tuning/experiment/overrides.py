"""What a command line says in place of an experiment file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from lscfg.decode.host import DECODER_HOSTS
from lscfg.errors import InputError, did_you_mean, quote
from lscfg.settings import SettingError
from lscfg.tuning.experiment.schema import Experiment


@dataclass(frozen=True)
class Overrides:
    """What a command line says in place of the experiment file; None: nothing."""

    data: Path | None = None
    """Folder from which relative paths of [corpus] count."""
    runs: int | None = None
    decoder: str | None = None
    systems: list[str] | None = None
    """Only these; where they lack one whose charts the file asks for, the charts are chosen as without it. Nothing is
    tested against a system that is not among them, but for the baseline, which has to be."""


def overridden(experiment: Experiment, overrides: Overrides) -> Experiment:
    """The experiment with what the command line says.

    Raises:
        InputError: an unknown decoder or system, or too few runs.
    """
    if overrides.runs is not None:
        try:
            tuning = dataclasses.replace(experiment.tuning, runs=overrides.runs)
        except SettingError as error:
            raise InputError(f"--{error}") from error
        experiment = dataclasses.replace(experiment, tuning=tuning)
    if overrides.decoder is not None:
        name, known = overrides.decoder, DECODER_HOSTS.names()
        if name not in known:
            near = did_you_mean(name, known)
            raise InputError(f"--decoder must be one of {', '.join(known)}, not {quote(name)}{near}")
        decoder = dataclasses.replace(experiment.decoder, name=overrides.decoder)
        experiment = dataclasses.replace(experiment, decoder=decoder)
    if overrides.systems is not None:
        for name in overrides.systems:
            if name not in experiment.systems:
                known = ", ".join(experiment.systems)
                near = did_you_mean(name, experiment.systems)
                raise InputError(f"--systems: no system {quote(name)}; there are {known}{near}")
        chosen = {name: item for name, item in experiment.systems.items() if name in overrides.systems}
        for name, system in chosen.items():
            if system.before and system.before not in chosen:
                raise InputError(f"--systems: {name} begins with the weights of {system.before}; give both")
            if absent := [member for member in system.agree if member not in chosen]:
                raise InputError(f"--systems: {name} chooses from translations of {', '.join(absent)}; give these, too")
        wanted = experiment.report.charts
        charts = wanted if all(name in chosen for name in wanted) else ()
        report = dataclasses.replace(experiment.report, charts=charts)
        against = tuple(name for name in experiment.evaluation.against if name in chosen)
        evaluation = dataclasses.replace(experiment.evaluation, against=against)
        experiment = dataclasses.replace(experiment, systems=chosen, report=report, evaluation=evaluation)
    return experiment
