"""Training of a pipeline: the stages of ``lscfg run`` for a single system, in this process."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lscfg import log
from lscfg.bundle.places import CONFIDENCE
from lscfg.bundle.system import INI, WEIGHTS
from lscfg.errors import InputError
from lscfg.estimate.estimator import DEFAULT_ESTIMATOR, ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS
from lscfg.formats.ini import write_ini
from lscfg.io.folders import make_folder
from lscfg.io.json_files import read_json
from lscfg.io.write import copy_file, write_lines
from lscfg.kernel import DEFAULT_FEATURES, FeatureOptions, feature_names
from lscfg.prepare.settings import PrepareSettings
from lscfg.tuning.experiment.cache import StageCache, locked
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.schema import Chosen, LanguageModelSettings, RawCorpus, Tuning
from lscfg.tuning.experiment.stage import Stage, with_files
from lscfg.tuning.experiment.stages.decoding import DEV, decoder_config
from lscfg.tuning.experiment.steps.latent import Latent
from lscfg.tuning.experiment.system import Experiment, System, SystemRules
from lscfg.tuning.pipeline.files import BUNDLE, Bundle

SYSTEM = "SYSTEM"
"""Name of the only system of the experiment."""


class TrainingSettings(NamedTuple):
    """The checked settings of a pipeline."""

    prepare: PrepareSettings
    rules: SystemRules
    states: int
    tuning: Tuning

    def experiment(self, source: Path, target: Path) -> Experiment:
        """The experiment of the only system, without a test set."""
        steps = {}
        if self.states:
            settings: Any = ESTIMATORS[DEFAULT_ESTIMATOR].Settings
            chosen = Chosen.of(ESTIMATORS[DEFAULT_ESTIMATOR], DEFAULT_ESTIMATOR, settings(m=self.states))
            steps[Latent.NAME] = Latent(chosen)
        return Experiment(
            RawCorpus([source], [target]),
            {SYSTEM: System(self.rules, steps)},
            {name: cls() for name, cls in EXTRACTORS.settings().items()},
            prepare=self.prepare,
            language_model=LanguageModelSettings(discount_fallback=True),  # small texts must suffice
            features=FeatureOptions(names=feature_names(DEFAULT_FEATURES.split(","))),
            tuning=self.tuning,
        )


def train_bundle(
    settings: TrainingSettings, texts: Mapping[str, Sequence[str]], work: str | None, jobs: int
) -> tuple[Bundle, float]:
    """Trains a system, and returns its bundle and its BLEU on the development set.

    Args:
        texts: source and target, by the names of the arguments.
        work: folder for finished stages and the bundle; None: temporary folders.

    Raises:
        InputError: the text is too small or faulty; messages name the arguments.
    """
    prepare = settings.prepare
    sides = dict(zip(texts, (prepare.source_language, prepare.target_language), strict=True))
    with _work_folder(work) as folder, _naming_arguments(folder, sides):
        files = [folder / f"{name}.txt" for name in texts]
        for path, lines in zip(files, texts.values(), strict=True):
            write_lines(path, lines)
        made = _trained(settings.experiment(files[0], files[1]), folder / "cache", jobs)
        kept = None if work is None else Path(work) / BUNDLE
        return Bundle.packed(made.folder, made.preparation, kept), made.dev_bleu


class _Trained(NamedTuple):
    """A trained system in a cache of stages.

    Attributes:
        folder: a folder with ``cdec.ini`` and ``weights``.
        preparation: the folder of the preparation.
    """

    folder: Path
    preparation: Path
    dev_bleu: float


def _trained(experiment: Experiment, cache_folder: Path, jobs: int) -> _Trained:
    """Makes the stages that the tuned system needs, and a folder with the system."""
    plan = make_plan(experiment)
    system, prepared = plan.systems[SYSTEM], plan.texts.prepared
    assert system.decoder and system.files and prepared
    cache = StageCache(cache_folder, apart=False)
    sure = plan.confidence.get(SYSTEM)
    for stage in _needed(sure or system.tuned[0]):
        log.info(f"stage {stage.name}")
        cache.make(stage, jobs)
    folder = make_folder(cache_folder.parent / "system")
    files = with_files(system.files, cache.resolved)
    write_ini(folder / INI, decoder_config(system.decoder, folder, files))
    copy_file(cache.path(system.tuned[0] / WEIGHTS), folder / WEIGHTS)
    (folder / CONFIDENCE).unlink(missing_ok=True)
    if sure and cache.path(sure / CONFIDENCE).is_file():
        copy_file(cache.path(sure / CONFIDENCE), folder / CONFIDENCE)
    summary = read_json(cache.path(system.tuned[0] / DEV))
    return _Trained(folder, cache.path(prepared), float(summary["bleu"]))


def _needed(stage: Stage) -> Iterator[Stage]:
    """Yields the stages whose files a stage reads, then the stage, each once."""
    done: set[str] = set()

    def before(one: Stage) -> Iterator[Stage]:
        for source in one.sources:
            if source.key not in done:
                yield from before(source)
        if one.key not in done:
            done.add(one.key)
            yield one

    yield from before(stage)


@contextmanager
def _work_folder(path: str | None) -> Iterator[Path]:
    """The folder of the stages: the given one, for one process at a time, or a temporary one."""
    if path is None:
        with tempfile.TemporaryDirectory(prefix="lscfg-") as name:
            yield Path(name)
    else:
        with locked(Path(path)):
            yield Path(path)


def _prepared(name: str, found: re.Match[str]) -> str:
    """The name of an argument instead of its prepared text, whose lines are other ones."""
    return f"{name} (line {found[1]} after preparation)" if found[1] else name


@contextmanager
def _naming_arguments(folder: Path, sides: Mapping[str, str]) -> Iterator[None]:
    """Makes errors in the texts name the arguments instead of files of the work folder and options of commands.

    Args:
        sides: language of each text, by the name of the argument.
    """
    try:
        yield
    except InputError as error:
        message = str(error)
        for found, cure in _CURES.items():
            message = re.sub(found, cure, message)
        for name, language in sides.items():
            message = message.replace(str(folder / f"{name}.txt"), name)
            prepared = rf"{re.escape(str(folder / 'cache'))}/[^/\s]+/\w+\.{re.escape(language)}(?![\w.])(?::(\d+))?"
            message = re.sub(prepared, partial(_prepared, name), message)
        if message == str(error):
            raise
        raise InputError(message) from error


_CURES = {
    r" \(\[prepare\], or --[^)]*\)": "",
    r"a smaller m$": "fewer states",
    r"so the context has nothing to choose$": r"\g<0>; use more text or states=0",
}
"""Ends of messages that name settings of files and options of commands, and those that a pipeline shows instead."""
