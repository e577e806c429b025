"""The stage that learns weights of rules and words on the training text."""

from __future__ import annotations

from pathlib import Path

from lscfg.io.text import copy_text
from lscfg.tuning.experiment.stages import Facts, Files, version
from lscfg.tuning.experiment.stages.decoding import decoder_config
from lscfg.tuning.experiment.stages.rules import SIZE
from lscfg.tuning.margin.system import INI, MODEL, START

__all__ = ["MODEL", "START", "margin"]


@version(1, spare=(INI,))
def margin(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """A grammar and a model of span borders with weights that were learned beside those of a tuning."""
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs
    from lscfg.formats.weights import read_weights
    from lscfg.tuning.margin.folds import FoldRules
    from lscfg.tuning.margin.settings import MarginSettings
    from lscfg.tuning.margin.system import learn_system

    source, own = EXTRACTORS[settings["source"]], MarginSettings.of(settings["margin"])
    rules = FoldRules(source, source.Settings.of(settings["settings"], inputs), own.order)
    config = decoder_config({**settings, "features": None}, Path.cwd(), inputs)
    weights = read_weights(inputs["start"])
    learn_system(RuleInputs.of(inputs), rules, config, weights, own, folder, jobs)
    copy_text(inputs["size"], folder / SIZE)
