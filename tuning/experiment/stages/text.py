"""Stages from raw text to words, and from translations back to text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from lscfg import log
from lscfg.io.json_files import write_json
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.parallel.choose import in_processes
from lscfg.prepare.corpus import HELD_OUT_SETS, RawFiles, prepare_corpus, prepare_monolingual, raw_reference, set_file
from lscfg.prepare.files import RECORD
from lscfg.prepare.reader import TEXT_READERS, reader_of
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.tuning.evaluate import restored_bleu, restored_tokens
from lscfg.tuning.experiment.schema import RawCorpus
from lscfg.tuning.experiment.stage import File, Input, Stage, version
from lscfg.tuning.experiment.system import Experiment, Texts

RESTORED, RESTORED_BLEU = "restored", "restored.json"
MORE_SOURCE, MORE_TARGET = "source", "target"


@dataclass(frozen=True)
class Preparation:
    """Settings of the preparation."""

    settings: PrepareSettings
    """Settings with both languages and the format filled in."""
    reader_version: int
    tokeniser_version: int


@dataclass(frozen=True)
class RawTextFiles(Generic[File]):
    """Raw text: source and target, or one file of pairs; sources and references of dev and test set, if given."""

    corpus: tuple[File, ...]
    dev: tuple[File, ...]
    test: tuple[File, ...]


@version(11)
def prepare(folder: Path, settings: Preparation, inputs: RawTextFiles[Path], jobs: int) -> None:
    """Makes a corpus with dev and test sets, and the models for new text; see ``lscfg.prepare.corpus``."""
    files = RawFiles(inputs.corpus, inputs.dev, inputs.test)
    with in_processes(jobs) as engine:
        record = prepare_corpus(files, settings.settings, folder, engine)
    for line in record.summary():
        log.info(line)


@dataclass(frozen=True)
class Restoring:
    """Settings of the restored output."""

    tokens: str
    """Tokeniser of BLEU."""


@dataclass(frozen=True)
class RestoredFiles(Generic[File]):
    """A translation, the record of the preparation, and references as people wrote them."""

    output: File
    record: File
    references: tuple[File, ...]


@version(3)
def restore(folder: Path, settings: Restoring, inputs: RestoredFiles[Path], jobs: int) -> None:
    """Writes one output as people would write it, and its BLEU against references as people wrote them."""
    side = Record.read(inputs.record.parent).sides[1].side()
    lines = [side.decode(line) for line in read_lines(inputs.output)]
    references = [read_lines(path) for path in inputs.references]
    bleu, signature = restored_bleu(lines, references, settings.tokens)
    write_lines(folder / RESTORED, lines)
    write_json(folder / RESTORED_BLEU, {"bleu": bleu, "signature": signature})


@dataclass(frozen=True)
class MonolingualFiles(Generic[File]):
    """Raw text of either side, the record of the preparation, and the table of rewrites of the target side, if any."""

    record: File
    source: tuple[File, ...]
    target: tuple[File, ...]
    orthography: File | None


@version(1)
def prepare_more(folder: Path, settings: None, inputs: MonolingualFiles[Path], jobs: int) -> None:
    """Prepares monolingual text like the parallel text; warns of references in the text."""
    source, target = Record.read(inputs.record.parent).sides
    with in_processes(jobs) as engine:
        made = prepare_monolingual(inputs.source, source, None, engine)
        more = prepare_monolingual(inputs.target, target, inputs.orthography, engine)
    for file, lines in ((MORE_SOURCE, made), (MORE_TARGET, more)):
        write_lines(folder / file, lines)
    log.info(f"monolingual: {len(made):,} source lines, {len(more):,} target lines")
    warn_of_known(more, (inputs.record.with_name(set_file(name, target.language)) for name in HELD_OUT_SETS))


def warn_of_known(monolingual: Iterable[str], references: Iterable[Path]) -> None:
    """Warns of references in monolingual text, which flatter the language model and new rules."""
    known = {*monolingual}
    for reference in references if known else ():
        lines = read_lines(reference)
        if count := sum(line in known for line in lines):
            log.warning(
                f"{reference}: the monolingual text contains {count} of {len(lines)} lines, which flatters results"
            )


def plan_texts(experiment: Experiment) -> Texts:
    """The text files of an experiment."""
    corpus, more = experiment.corpus, experiment.monolingual
    if isinstance(corpus, RawCorpus):
        return with_more(experiment, plan_prepared(experiment.prepare, corpus))
    return Texts(
        corpus.source,
        corpus.target,
        corpus.dev_source,
        tuple(corpus.dev_reference),
        corpus.test_source,
        tuple(corpus.test_reference),
        tuple(corpus.alignment),
        tuple(more.source),
        tuple(more.target),
    )


def with_more(experiment: Experiment, texts: Texts) -> Texts:
    """The texts of a preparation with monolingual text that is prepared likewise."""
    more = experiment.monolingual
    if not more.source and not more.target:
        return texts
    assert texts.prepared is not None
    files = MonolingualFiles(
        texts.prepared / RECORD, tuple(more.source), tuple(more.target), experiment.prepare.orthography
    )
    stage = Stage("monolingual", prepare_more, None, files)
    source, target = (
        (stage / file,) if given else () for file, given in ((MORE_SOURCE, more.source), (MORE_TARGET, more.target))
    )
    return dataclasses.replace(texts, more_source=source, more_target=target, more=stage)


def plan_prepared(settings: PrepareSettings, corpus: RawCorpus) -> Texts:
    """The files that the preparation makes."""
    source, target = settings.languages(corpus.files)
    reader = reader_of(corpus.files, settings.format)
    settings = dataclasses.replace(settings, source_language=source, target_language=target, format=reader)
    versions = TEXT_READERS[reader].VERSION, TOKENISERS[settings.tokeniser].VERSION
    files = RawTextFiles(corpus.files, corpus.held_out("dev"), corpus.held_out("test"))
    stage = Stage("prepare", prepare, Preparation(settings, *versions), files)

    def references(name: str, file: Callable[[str, str, int], str]) -> tuple[Input, ...]:
        count = max(1, len(corpus.held_out(name)) - 1)
        return tuple(stage / file(name, target, number) for number in range(1, count + 1))

    return Texts(
        stage / set_file("train", source),
        stage / set_file("train", target),
        stage / set_file("dev", source),
        references("dev", set_file),
        stage / set_file("test", source),
        references("test", set_file),
        prepared=stage,
        raw_references=references("test", raw_reference),
        raw_tokens=restored_tokens(target),
    )


def restore_stage(texts: Texts, output: Input) -> Stage | None:
    """The stage that restores an output; None unless the text was prepared."""
    if texts.prepared is None:
        return None
    files = RestoredFiles(output, texts.prepared / RECORD, texts.raw_references)
    return Stage("restore", restore, Restoring(texts.raw_tokens), files)
