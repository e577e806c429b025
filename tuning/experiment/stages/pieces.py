"""The choice of pieces by the development set: a short tuning of minimal rules for each candidate."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple

from lscfg import log
from lscfg.io.json_files import write_json
from lscfg.io.read import read_lines
from lscfg.io.sides import SIDES
from lscfg.io.write import copy_file, write_lines
from lscfg.prepare.corpus import set_file
from lscfg.prepare.cut import cut_corpus, set_files
from lscfg.prepare.files import PIECES_CHOICE, RECORD
from lscfg.prepare.pieces import Cutting, join_pieces
from lscfg.tuning.bleu import WIDTH, corpus_bleu
from lscfg.tuning.experiment.cache import RECORD as STAGE_RECORD
from lscfg.tuning.experiment.schema import RawCorpus
from lscfg.tuning.experiment.stage import File, Input, Output, Stage, version
from lscfg.tuning.experiment.stages.curve import rule_files
from lscfg.tuning.experiment.stages.decoding import OUTPUT, WEIGHTS, tuned_plan
from lscfg.tuning.experiment.stages.rules import language_model_stage, plan_rules
from lscfg.tuning.experiment.stages.text import Preparation, plan_prepared, with_more
from lscfg.tuning.experiment.system import Draft, Experiment, System, Texts
from lscfg.tuning.objectives import OBJECTIVES

# The candidates begin with the tuned weights of whole words, since two tunings from the start differ by more than two
# ways of cutting. Each translates the second half of dev, and their words are compared, not their pieces, which BLEU
# would count differently.

MODELS = "unigram:2000", "unigram:4000", "morfessor"
"""Cuttings of the side that are tried next to whole words."""

FIRST, LATER = 4, 3
"""Iterations of a first tuning with whole words, and of the tunings of all candidates, which begin with its weights."""

TUNE, CHECK = "tune", "check"
"""Names of the halves of dev that tune and compare."""


@dataclass(frozen=True)
class CutSettings:
    """A candidate."""

    preparation: Preparation
    """Settings of the preparation with the cutting of the candidate."""
    cutting: str
    """A value of ``pieces``; empty: whole words."""


@dataclass(frozen=True)
class CutFiles(Generic[File]):
    """A preparation without the cutting."""

    record: File


@version(1)
def cut(folder: Path, settings: CutSettings, inputs: CutFiles[Path], jobs: int) -> None:
    """Writes the preparation with the cutting, and halves of its development set by alternate lines."""
    for file in inputs.record.parent.iterdir():
        if file.name != STAGE_RECORD:
            copy_file(file, folder / file.name)
    prepare = settings.preparation.settings
    cut_corpus(folder, prepare, Cutting.read(settings.cutting) if settings.cutting else None)
    source = read_lines(folder / set_file("dev", prepare.source_language))
    references = [read_lines(path) for path in set_files(folder, prepare.target_language, ("dev",))]
    for name, half in ((TUNE, 0), (CHECK, 1)):
        write_lines(folder / set_file(name, SIDES[0]), source[half::2])
        for number, lines in enumerate(references, 1):
            write_lines(folder / set_file(name, SIDES[1], number), lines[half::2])


@dataclass(frozen=True)
class PieceChoice:
    """Settings of the choice."""

    cuttings: tuple[str, ...]
    """Candidates, as values of ``pieces``; empty: whole words."""
    metric: str


@dataclass(frozen=True)
class CandidateFiles(Generic[File]):
    """Of each candidate the preparation, the translation of the second half of dev, and references."""

    records: tuple[File, ...]
    outputs: tuple[File, ...]
    references: tuple[tuple[File, ...], ...]


@version(1)
def choose_pieces(folder: Path, settings: PieceChoice, inputs: CandidateFiles[Path], jobs: int) -> None:
    """Writes the preparation of the candidate with the best score of words, the first of equal ones; lists all."""
    scores = [
        _score(settings.metric, output, references)
        for output, references in zip(inputs.outputs, inputs.references, strict=True)
    ]
    best = max(range(len(scores)), key=lambda k: scores[k].score)
    title = OBJECTIVES[settings.metric].title
    tried = [
        {"pieces": cutting, "score": own.score, "bleu": own.bleu}
        for cutting, own in zip(settings.cuttings, scores, strict=True)
    ]
    for cutting, own in zip(settings.cuttings, scores, strict=True):
        log.info(f"pieces: {cutting or 'whole words'}: {title} {own.score:.2f}, BLEU {own.bleu:.2f}")
    log.finding(f"pieces: {settings.cuttings[best] or 'whole words'} chosen by {title} on half of dev")
    for file in inputs.records[best].parent.iterdir():
        if file.name != STAGE_RECORD and not file.name.startswith((f"{TUNE}.", f"{CHECK}.")):
            copy_file(file, folder / file.name)
    write_json(folder / PIECES_CHOICE, {"metric": settings.metric, "chosen": settings.cuttings[best], "tried": tried})


class _Score(NamedTuple):
    score: float
    bleu: float


def _score(metric: str, output: Path, references: Sequence[Path]) -> _Score:
    """The score of words."""
    objective = OBJECTIVES[metric]
    found, *wanted = ([join_pieces(line) for line in read_lines(path)] for path in (output, *references))
    total = objective.totals(zip(found, strict=True), zip(*wanted, strict=True))[0]
    return _Score(objective.score(total), corpus_bleu(total[-WIDTH:]))


def plan_texts_with_pieces(experiment: Experiment) -> Texts:
    """The texts of an experiment whose pieces are chosen; the stages of all trials come before the preparation."""
    settings, side, corpus = experiment.prepare, experiment.prepare.chosen_side, experiment.corpus
    assert side is not None and isinstance(corpus, RawCorpus)
    base = plan_prepared(settings.with_pieces(side, ""), corpus)
    assert base.prepared is not None
    cuttings = "", *(f"{SIDES[side]}:{model}" for model in MODELS)
    first = _plan_trial(experiment, base, side, "", None)
    trials = [_plan_trial(experiment, base, side, cutting, first.weights) for cutting in cuttings]
    files = CandidateFiles[Input](
        tuple(trial.cut / RECORD for trial in trials),
        tuple(trial.output for trial in trials),
        tuple(trial.references for trial in trials),
    )
    chosen = Stage("pieces", choose_pieces, PieceChoice(cuttings, experiment.tuning.metric), files)
    stages = base.prepared, *(stage for trial in (first, *trials) for stage in trial.stages)
    return with_more(experiment, dataclasses.replace(base.moved(chosen), trials=stages))


class _Trial(NamedTuple):
    """Stages of a candidate, and what is read of them."""

    cut: Stage
    stages: list[Stage]
    weights: Output
    output: Output
    references: tuple[Output, ...]


def _plan_trial(experiment: Experiment, base: Texts, side: int, cutting: str, start: Output | None) -> _Trial:
    """The stages of a candidate, each after those whose files it reads.

    Args:
        start: weights of another trial; None: those of [tuning].
    """
    assert base.prepared is not None
    preparation: Preparation = base.prepared.settings
    own = dataclasses.replace(preparation, settings=preparation.settings.with_pieces(side, cutting))
    name = cutting.partition(":")[2].replace(":", "-") or "words"
    made = Stage(f"cut-{name}", cut, CutSettings(own, cutting), CutFiles(base.prepared / RECORD))
    numbers = range(1, len(base.dev_references) + 1)
    tuned, compared = (tuple(made / set_file(part, SIDES[1], number) for number in numbers) for part in (TUNE, CHECK))
    texts = with_more(experiment, base.moved(made))
    more = texts.more
    texts = dataclasses.replace(
        texts,
        dev_source=made / set_file(TUNE, SIDES[0]),
        dev_references=tuned,
        test_source=made / set_file(CHECK, SIDES[0]),
        test_references=compared,
        prepared=None,
        more=None,
    )
    tuning = dataclasses.replace(experiment.tuning, iterations=LATER if start else FIRST, runs=1)
    system = System()
    trial = dataclasses.replace(experiment, systems={name: system}, tuning=tuning)
    lm = language_model_stage(trial, texts)
    alignments, derivations, files = rule_files(trial, texts)
    draft = Draft(trial.of(system), system, texts, lm, files, {}, start=start)
    stages = [made, *([more] if more else []), lm]
    stages += [*(one.stage for one in alignments[:1] if isinstance(one, Output)), derivations, *plan_rules(draft)]
    plan = tuned_plan(draft)
    stages += [plan.tuned[0], *(plan.decoded if start else ())]
    return _Trial(made, stages, plan.tuned[0] / WEIGHTS, plan.decoded[0] / OUTPUT, compared)
