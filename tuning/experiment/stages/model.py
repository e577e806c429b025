"""The stage from derivations to a latent model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lscfg.io.text import write_json
from lscfg.settings import Declared
from lscfg.tuning.experiment.stages import Facts, Files, version
from lscfg.tuning.experiment.stages.rules import SIZE

MODEL = "model.lscfg"

VIEWS_TEXT = "views text"
"""Inputs with further source text, for context models that learn of it what words have in common."""


def files_of(part: str, settings: Declared) -> dict[str, Path]:
    """The files that settings of a part of the model name, by names that no other part has."""
    return {f"{part} {name}": path for name, path in settings.files().items()}


def _settings(part: str, declared: type[Declared], facts: Facts, inputs: Files) -> Any:
    files = {name.removeprefix(f"{part} "): path for name, path in inputs.items() if name.startswith(f"{part} ")}
    return declared.of(facts, files)


@version(1, growth=40)
def estimate(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The model of an estimator, with a context model of the grammar's rules if there is one among the settings.

    An estimator that iterates keeps its checkpoints in the folder, and goes on from them.
    """
    from lscfg.estimate.estimator import ESTIMATORS
    from lscfg.estimate.run import estimate_model
    from lscfg.extract.derive import Derivations
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs
    from lscfg.extract.minimal import MinimalRules
    from lscfg.grammar.counts import effective_size

    found = ESTIMATORS[settings["estimator"]]
    own = found.Settings.of(settings["settings"], inputs)
    trees = Derivations.load(inputs["derivations"])
    resume = any((folder / name).exists() for name in found.CHECKPOINTS[:1])
    model = estimate_model(trees, settings["estimator"], own, jobs, folder, resume, _context(settings, inputs))
    if spans := settings.get("boundary"):
        source = EXTRACTORS[spans["source"]]
        learned = source.boundary(
            RuleInputs.of(inputs), _settings(spans["source"], source.Settings, spans["settings"], inputs)
        )
        model = replace(model, boundary=learned)
    model.save(folder / MODEL)
    for name in found.CHECKPOINTS:
        (folder / name).unlink(missing_ok=True)
    size = effective_size(MinimalRules.of(trees), model.rank)
    write_json(folder / SIZE, {"states": model.rank, "effective": size})


def _context(settings: Facts, inputs: Files) -> Any:
    from lscfg.context.task import scorer_adder
    from lscfg.estimate.run import ContextInputs
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs
    from lscfg.kinds import CONTEXT_MODELS, DEFAULT_CONTEXT_MODEL, SENSE_MODELS, kind

    wanted = settings.get("context")
    if wanted is None:
        return None
    files = RuleInputs.of(inputs)
    sources = []
    for part in wanted["sources"]:
        source = EXTRACTORS[part["name"]]
        sources.append((source, _settings(part["name"], source.Settings, part["settings"], inputs)))
    declared = kind(CONTEXT_MODELS, wanted["model"] or DEFAULT_CONTEXT_MODEL).Settings
    own = _settings("context", declared, wanted["settings"], inputs)
    add_scorer, scorer = None, settings.get("scorer")
    if scorer:
        declared = kind(SENSE_MODELS, scorer["model"]).Settings
        add_scorer = scorer_adder(scorer["model"], _settings("scorer", declared, scorer["settings"], inputs))
    more = [path for name, path in sorted(inputs.items()) if name.startswith(VIEWS_TEXT)]
    return ContextInputs(wanted["model"], own, inputs["source"], files, tuple(sources), 0.0, add_scorer, more)
