"""Stages from text to rules: alignment, derivations, grammars, language model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic

from lscfg import log
from lscfg.corpus.align import align_both_ways
from lscfg.corpus.aligner import ALIGNERS
from lscfg.corpus.parallel import read_parallel
from lscfg.decode.parsing import read_grammar
from lscfg.extract.derive import derive_files
from lscfg.extract.extractor import EXTRACT, EXTRACTORS, SELECT, TREES
from lscfg.formats.ini import DecoderConfig
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_grammar, write_union
from lscfg.io.json_files import write_json
from lscfg.io.read import read_lines, stream_lines
from lscfg.io.write import copy_text, write_lines
from lscfg.kernel import DeriveOptions, TreeOptions
from lscfg.kernel.lm import check_language_model
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.lm.lmplz import build_lm
from lscfg.tuning.experiment.schema import Alignment, Chosen, LanguageModelSettings
from lscfg.tuning.experiment.stage import File, Input, Output, Stage, version
from lscfg.tuning.experiment.system import Draft, Experiment, RuleFiles, Texts

DERIVATIONS, GRAMMAR, LM, SIZE, STATISTICS = "derivations", "grammar.gz", "lm.arpa", "size.json", "statistics.json"
FOUND, LEARNED = "found.json", "learned"
TEXT = "text"


# ---- word alignment and derivations ----


@dataclass(frozen=True)
class AlignSettings:
    """Settings of the word alignment."""

    alignment: Alignment
    aligner_version: int


@dataclass(frozen=True)
class TextPair(Generic[File]):
    """Parallel text."""

    source: File
    target: File


@version(1)
def align(folder: Path, settings: AlignSettings, inputs: TextPair[Path], jobs: int) -> None:
    """Writes a file of links for each heuristic, all from the same links of both directions."""
    src, tgt = read_parallel(inputs.source, inputs.target)
    wanted = settings.alignment
    links = align_both_ways(src, tgt, wanted.joined_by(wanted.heuristics[0]), jobs)
    for heuristic in wanted.heuristics:
        write_lines(folder / heuristic, links.joined(heuristic))


def align_stage(experiment: Experiment, source: Input, target: Input) -> tuple[Output, ...]:
    """The alignments of a parallel text, one for each heuristic."""
    wanted = experiment.alignment
    settings = AlignSettings(wanted, ALIGNERS[wanted.model].VERSION)
    stage = Stage("align", align, settings, TextPair(source, target))
    return tuple(stage / heuristic for heuristic in wanted.heuristics)


@dataclass(frozen=True)
class DeriveSettings:
    """Settings of the derivations."""

    trees: TreeOptions
    forests: bool = False
    """True: all minimal derivations of each pair."""


@version(1)
def derive(folder: Path, settings: DeriveSettings, inputs: RuleFiles[Path], jobs: int) -> None:
    """Writes minimal derivation trees, for each pair as many as there are alignments, or forests."""
    assert inputs.source is not None and inputs.target is not None
    options = DeriveOptions.of(settings.trees.facts())
    sizes = derive_files(
        inputs.source,
        inputs.target,
        [*inputs.alignments],
        folder / DERIVATIONS,
        options,
        jobs,
        settings.forests,
    )
    write_json(folder / STATISTICS, sizes)


def derive_stage(experiment: Experiment, files: RuleFiles[Input], forests: bool = False) -> Stage:
    """The derivations of the text under its alignments."""
    return Stage("derive", derive, DeriveSettings(experiment.derive, forests), files.needed("text"))


# ---- rule extractors ----


@version(1)
def learn(folder: Path, settings: Chosen, inputs: RuleFiles[Path], jobs: int) -> None:
    """Writes the results of a rule extractor's learning; a killed run continues with the files in the folder."""
    EXTRACTORS[settings.name].learn(inputs.inputs(), settings.settings, folder / LEARNED, jobs)


@version(1)
def source_trees(folder: Path, settings: Chosen, inputs: RuleFiles[Path], jobs: int) -> None:
    """Writes the derivation trees of a rule extractor."""
    trees = EXTRACTORS[settings.name].trees(inputs.inputs(), settings.settings)
    assert trees is not None
    trees.save(folder / DERIVATIONS)


@version(1)
def source_alignments(folder: Path, settings: Chosen, inputs: RuleFiles[Path], jobs: int) -> None:
    """Writes the word alignments of a rule extractor."""
    alignments = EXTRACTORS[settings.name].alignments(inputs.inputs(), settings.settings)
    assert alignments is not None
    for name, lines in alignments.items():
        write_lines(folder / name, lines)


@dataclass(frozen=True)
class GrammarFiles(Generic[File]):
    """Files that a grammar is extracted from, and the texts that it will translate, if it has rules for these only."""

    rules: RuleFiles[File]
    wanted: tuple[File, ...] = ()


@version(1)
def grammar(folder: Path, settings: Chosen, inputs: GrammarFiles[Path], jobs: int) -> None:
    """Writes the grammar of one rule extractor."""
    source, own = EXTRACTORS[settings.name], settings.settings
    sentences = [line for text in inputs.wanted for line in read_lines(text)] if source.FILTERED else None
    counted = source.rules(inputs.rules.inputs(sentences), own)
    selection = select_rules(counted, own.facts()["max_targets"], sentences)
    write_grammar(folder / GRAMMAR, counted, selection, jobs)
    write_json(folder / SIZE, {"rules": len(selection.kept)})
    write_json(folder / STATISTICS, counted.statistics() | {"dropped": selection.dropped})
    if counted.history:  # for the report only: no other stage reads it
        write_json(folder / FOUND, counted.history)


@dataclass(frozen=True)
class UnionFiles(Generic[File]):
    """Grammars to join."""

    grammars: tuple[File, ...]


@version(1)
def union(folder: Path, settings: None, inputs: UnionFiles[Path], jobs: int) -> None:
    """Joins grammars; a rule of several has the features of the first."""
    rules = write_union(folder / GRAMMAR, *inputs.grammars, threads=jobs)
    write_json(folder / SIZE, {"rules": rules})


def union_stage(name: str, grammars: Sequence[Stage]) -> Stage:
    """One grammar of several."""
    return Stage(f"grammar-{name}", union, None, UnionFiles(tuple(stage / GRAMMAR for stage in grammars)))


@dataclass(frozen=True)
class GivenFile(Generic[File]):
    """A file of the user."""

    file: File


@version(1)
def given_grammar(folder: Path, settings: None, inputs: GivenFile[Path], jobs: int) -> None:
    """Copies a grammar, after a check."""
    rules = len(read_grammar(DecoderConfig(grammars=(inputs.file,))))
    copy_text(inputs.file, folder / GRAMMAR)
    write_json(folder / SIZE, {"rules": rules})


def given_stage(file: Path) -> Stage:
    """The grammar of a file."""
    return Stage("grammar-given", given_grammar, None, GivenFile(file))


def learned_files(files: RuleFiles[Input], extractor: Chosen) -> dict[str, Output]:
    """The folder with the results of an extractor's learning, by name of the extractor; most learn nothing."""
    source, settings = EXTRACTORS[extractor.name], extractor.settings
    wanted = source.learning(settings)
    if not wanted:
        return {}
    own = dataclasses.replace(extractor, settings=type(settings).of(wanted, settings.files()))
    return {extractor.name: Stage(f"learn-{extractor.name}", learn, own, files.needed(*source.NEEDS)) / LEARNED}


def extractor_stage(
    name: str, work: Callable[[Path, Any, Any, int], None], files: RuleFiles[Input], extractor: Chosen
) -> Stage:
    """Work of a rule extractor that depends on its rules alone, not on their selection or decoding."""
    return Stage(f"{name}-{extractor.name}", work, extractor.only(EXTRACT), extractor_files(files, extractor))


def extractor_files(files: RuleFiles[Input], extractor: Chosen) -> RuleFiles[Input]:
    """The files that an extractor reads, with what it has learned."""
    needed = files.needed(*EXTRACTORS[extractor.name].NEEDS)
    return replace(needed, learned=learned_files(files, extractor))


def plan_rules(draft: Draft) -> Iterator[Stage]:
    """The stages of a system's rules: its own alignment and trees, then its grammar, if the draft has none yet."""
    chosen, files = draft.system.rules, draft.files
    assert chosen is not None
    if chosen.alignment:
        extractor = draft.settings_of(chosen.alignment)
        stage = extractor_stage("align", source_alignments, files, extractor)
        files = replace(files, alignments=tuple(stage / name for name in EXTRACTORS[extractor.name].ALIGNMENTS))
        derivations = derive_stage(draft.experiment, files)
        yield from (stage, derivations)
        files = replace(files, derivations=derivations / DERIVATIONS)
    if chosen.trees != TREES:
        trees = extractor_stage("derive", source_trees, files, draft.settings_of(chosen.trees))
        yield trees
        files = replace(files, derivations=trees / DERIVATIONS)
    draft.files = files
    if draft.rules is None:
        parts = [_grammar_stage(draft, draft.settings_of(name)) for name in chosen.extractors]
        draft.rules = parts[0] if len(parts) == 1 else union_stage("+".join(chosen.extractors), parts)
        yield from (*parts, draft.rules)


def _grammar_stage(draft: Draft, extractor: Chosen) -> Stage:
    texts = (draft.texts.dev_source, draft.texts.test_source) if EXTRACTORS[extractor.name].FILTERED else ()
    files = GrammarFiles(extractor_files(draft.files, extractor), texts)
    return Stage(f"grammar-{extractor.name}", grammar, extractor.only(EXTRACT, SELECT), files)


# ---- language model ----


@dataclass(frozen=True)
class LanguageModelFiles(Generic[File]):
    """Texts of the target side; none where the model is given."""

    text: File | None = None
    monolingual: tuple[File, ...] = ()


@version(1, spare=(TEXT,))
def language_model(folder: Path, settings: LanguageModelSettings, inputs: LanguageModelFiles[Path], jobs: int) -> None:
    """Copies the n-gram model of the target side, or estimates it from parallel and monolingual text."""
    if settings.file:
        check_language_model(settings.file, settings.order)
        copy_text(settings.file, folder / LM)
        return
    assert inputs.text is not None
    text, fallback = inputs.text, DEFAULT_FALLBACK if settings.discount_fallback else None
    if inputs.monolingual:
        text = folder / TEXT
        write_lines(text, (line for path in (inputs.text, *inputs.monolingual) for line in stream_lines(path)))
    order = _possible_order(settings, text)
    build_lm(text, folder / LM, order, (), fallback, settings.estimator)
    log.info(f"language model of order {order} estimated by {settings.estimator}")


def _possible_order(settings: LanguageModelSettings, text: Path) -> int:
    """The order of the settings; with default discounts for small text, at most the length of the longest sentence."""
    if not settings.discount_fallback:
        return settings.order
    longest = 2 + max((sum(map(bool, line.split(" "))) for line in stream_lines(text)), default=0)
    if longest >= settings.order:
        return settings.order
    log.info(
        f"language model: order {longest} instead of {settings.order}, because the longest sentence has {longest} "
        "words with <s> and </s>"
    )
    return longest


def language_model_stage(experiment: Experiment, texts: Texts) -> Stage:
    """The language model; a given one depends on its file alone, not on what is installed."""
    settings, more = experiment.language_model, experiment.monolingual
    if settings.file:
        own = LanguageModelSettings(order=settings.order, file=settings.file)
        return Stage("lm", language_model, own, LanguageModelFiles())
    return Stage("lm", language_model, settings, LanguageModelFiles(texts.target, texts.more_target if more.lm else ()))
