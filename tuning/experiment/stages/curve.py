"""The learning curve: a system trained on parts of the text, with the weights that were tuned on the whole text."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple

from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.tuning.experiment.stage import File, Input, Output, Stage, version
from lscfg.tuning.experiment.stages.decoding import WEIGHTS, TranslationFiles, decode, draft_decoder
from lscfg.tuning.experiment.stages.rules import (
    DERIVATIONS,
    align_stage,
    derive_stage,
    language_model_stage,
    plan_rules,
)
from lscfg.tuning.experiment.system import Draft, Experiment, RuleFiles, SystemPlan, Texts

DIVISORS = 4, 2
"""The parts of the text: a quarter and a half."""

SOURCE, TARGET, ALIGNMENT = "source", "target", "alignment.{}"


@dataclass(frozen=True)
class PartSettings:
    """Choice of a part of the text."""

    divisor: int
    seed: int = 1


@dataclass(frozen=True)
class PartFiles(Generic[File]):
    """Parallel text, and its word alignments if they are given."""

    source: File
    target: File
    alignments: tuple[File, ...] = ()


@version(1)
def part(folder: Path, settings: PartSettings, inputs: PartFiles[Path], jobs: int) -> None:
    """Writes a random part of a text in the order of the text; a larger part contains a smaller one."""
    texts = [read_lines(path) for path in (inputs.source, inputs.target, *inputs.alignments)]
    size = len(texts[0])
    chosen = sorted(random.Random(settings.seed).sample(range(size), size)[: size // settings.divisor])
    names = SOURCE, TARGET, *(ALIGNMENT.format(number) for number in range(len(inputs.alignments)))
    for name, lines in zip(names, texts, strict=True):
        write_lines(folder / name, [lines[number] for number in chosen])


class CurvePoint(NamedTuple):
    """Stages of the system on a part of the text."""

    derivations: Stage
    decoded: Stage


class LearningCurve(NamedTuple):
    """Stages of a learning curve.

    Attributes:
        system: the system whose learning is measured.
        points: from the smallest part on; the whole text is left to the system itself.
    """

    system: str
    points: tuple[CurvePoint, ...]
    stages: tuple[Stage, ...]


def rule_files(experiment: Experiment, texts: Texts) -> tuple[tuple[Input, ...], Stage, RuleFiles[Input]]:
    """The alignments of the text, its derivations, and all files that rules are extracted from."""
    alignments: tuple[Input, ...] = texts.alignment or align_stage(experiment, texts.source, texts.target)
    files = RuleFiles[Input](texts.source, texts.target, alignments)
    derivations = derive_stage(experiment, files)
    return alignments, derivations, dataclasses.replace(files, derivations=derivations / DERIVATIONS)


def plan_curve(experiment: Experiment, texts: Texts, systems: dict[str, SystemPlan]) -> LearningCurve:
    """Plans the learning curve of the first system without latent features whose rules come from the text.

    Raises:
        InputError: there is no such system.
    """
    plain = (
        name
        for name, system in experiment.systems.items()
        if system.rules and not system.rules.grammar_file and not system.steps
    )
    if (name := next(plain, None)) is None:
        raise InputError(
            "--learning-curve needs a system without latent features, such as MIN, whose rules come from the text"
        )
    points, stages = [], list[Stage]()
    for divisor in DIVISORS:
        point, made = _part_stages(experiment, texts, name, systems[name], divisor)
        points.append(point)
        stages += made
    return LearningCurve(name, tuple(points), tuple(stages))


def _part_stages(
    experiment: Experiment, texts: Texts, name: str, plan: SystemPlan, divisor: int
) -> tuple[CurvePoint, list[Stage]]:
    """The stages of a part, each after those whose files it reads."""
    cut = Stage("part", part, PartSettings(divisor), PartFiles[Input](texts.source, texts.target, texts.alignment))
    given = tuple(cut / ALIGNMENT.format(number) for number in range(len(texts.alignment)))
    own = dataclasses.replace(texts, source=cut / SOURCE, target=cut / TARGET, alignment=given)
    lm = language_model_stage(experiment, own)
    alignments, derivations, files = rule_files(experiment, own)
    system = experiment.systems[name]
    draft = Draft(experiment.of(system), system, own, lm, files, {})
    stages = [cut, lm, *(one.stage for one in alignments[:1] if isinstance(one, Output)), derivations]
    stages += plan_rules(draft)
    decoder, decoder_files = draft_decoder(draft)
    tested = TranslationFiles[Input](decoder_files, plan.tuned[0] / WEIGHTS, texts.test_source)
    decoded = Stage("decode", decode, decoder, tested)
    return CurvePoint(derivations, decoded), [*stages, decoded]
