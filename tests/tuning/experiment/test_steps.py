"""A new step of a system is one class, with its work, and one row in ``STEPS``: an experiment runs with it."""

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest
from little_experiment import CORPUS

from lscfg.errors import InputError
from lscfg.io.json_files import write_json
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.tuning.experiment import config, results
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.run import run_experiment
from lscfg.tuning.experiment.stage import Stage, version
from lscfg.tuning.experiment.stages.rules import GRAMMAR, SIZE, GivenFile
from lscfg.tuning.experiment.steps import STEPS
from lscfg.tuning.experiment.system import Fault, SystemStep

EXPERIMENT = (
    CORPUS
    + """[language_model]
order = 2
estimator = "lscfg"
[tuning]
iterations = 1
kbest = 5
[systems.MIN]
[systems.SHORT]
every = 2
"""
)


@dataclass(frozen=True)
class Every(SystemStep):
    """Keeps every n-th rule of a grammar."""

    NAME: ClassVar[str] = "every"
    KEYS: ClassVar[tuple[str, ...]] = ("every",)
    COLUMNS: ClassVar[dict[str, None]] = {"dropped": None}

    n: int

    @classmethod
    def read(cls, table, shared, keys, reader):
        n = reader.value(int, table.pop("every", 1), (*keys, "every"))
        return cls(n) if n != 1 else None

    def check(self, system, experiment, before):
        return None if self.n > 0 else Fault("every", "every must be more than 0")

    def extend(self, draft):
        draft.rules = Stage("grammar-every", every, self, GivenFile(draft.grammar / GRAMMAR))
        yield draft.rules

    def columns(self, plan, files):
        return {"dropped": files.json(plan.stage("grammar-every") / "dropped.json")}


@version(1)
def every(folder, settings, inputs, jobs):
    lines = read_lines(inputs.file)
    kept = [line for number, line in enumerate(lines) if number % settings.n == 0 or number == len(lines) - 1]
    write_lines(folder / GRAMMAR, kept)
    write_json(folder / SIZE, {"rules": len(kept)})
    write_json(folder / "dropped.json", len(lines) - len(kept))


@pytest.fixture
def experiment(corpus, monkeypatch):
    for module in (config, results):
        monkeypatch.setattr(module, "STEPS", (*STEPS[:-1], Every, STEPS[-1]))
    monkeypatch.setattr(config, "SYSTEM_KEYS", config.SYSTEM_KEYS | {"every"})
    path = corpus / "steps.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.slow
def test_an_experiment_runs_with_a_new_step(experiment, tmp_path):
    run_experiment(experiment, tmp_path, 1)
    plain, short = json.loads((tmp_path / "results.json").read_text())["systems"]
    assert plain["dropped"] is None and 0 < short["dropped"] < plain["rules"]
    assert short["rules"] + short["dropped"] == plain["rules"] + 1  # the line that begins a derivation


def test_its_settings_are_in_the_keys_of_its_system(experiment):
    keys = []
    for text in (EXPERIMENT, EXPERIMENT.replace("every = 2", "every = 3")):
        experiment.write_text(text)
        keys.append({name: plan.tuned[0].key for name, plan in make_plan(read_experiment(experiment)).systems.items()})
    assert keys[0]["MIN"] == keys[1]["MIN"] and keys[0]["SHORT"] != keys[1]["SHORT"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("every = -1", r"steps\.toml:\d+: every must be more than 0"),
        ('every = "x"', r"steps\.toml:\d+: every must be a whole number"),
        (
            "every = 2\nagree = ['MIN', 'MIN']",
            r"every does not apply to a system that chooses from others' translations",
        ),
    ],
)
def test_its_faults_have_file_and_line(experiment, line, message):
    experiment.write_text(EXPERIMENT.replace("every = 2", line))
    with pytest.raises(InputError, match=message):
        read_experiment(experiment)
