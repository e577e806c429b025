"""Stages from text to rules: alignment, derivations, grammars, language model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lscfg import log
from lscfg.formats.ini import DecoderConfig
from lscfg.io.text import copy_text, read_lines, stream_lines, write_json, write_lines
from lscfg.tuning.experiment.stages import Facts, Files, several, version

DERIVATIONS, GRAMMAR, LM, SIZE, STATISTICS = "derivations", "grammar.gz", "lm.arpa", "size.json", "statistics.json"
FOUND, LEARNED = "found.json", "learned"
TEXT = "text"


@version(1)
def align(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """A file of links for each heuristic, all from the same links of both directions."""
    from lscfg.corpus.align import AlignmentSettings, align_both_ways
    from lscfg.corpus.parallel import read_parallel
    from lscfg.kinds import ALIGNERS, kind

    src, tgt = read_parallel(inputs["source"], inputs["target"])
    heuristics = settings["heuristics"]
    aligner = kind(ALIGNERS, settings["model"]).Settings.of(settings["aligner"])
    links = align_both_ways(src, tgt, AlignmentSettings(settings["model"], heuristics[0], aligner), jobs)
    for heuristic in heuristics:
        write_lines(folder / heuristic, links.joined(heuristic))


@version(1)
def derive(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """Minimal derivation trees, for each pair as many as there are alignments, and forests where they are wanted."""
    from lscfg.extract.derive import derive_files
    from lscfg.kernel import DeriveOptions

    alignments = [inputs[name] for name in several("alignments", inputs)]
    options = DeriveOptions.of({name: value for name, value in settings.items() if name != "forests"})
    texts, forests = (inputs["source"], inputs["target"]), "forests" in settings
    sizes = derive_files(*texts, alignments, folder / DERIVATIONS, options, jobs, forests)
    write_json(folder / STATISTICS, sizes)


@version(1)
def learn(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """What a source of rules learns before all else; killed, it goes on with what is in the folder."""
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs

    source = EXTRACTORS[settings["source"]]
    own = source.Settings.of(settings["settings"], inputs)
    source.learn(RuleInputs.of(inputs), own, folder / LEARNED, jobs)


@version(1)
def source_trees(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The derivation trees of a source of rules that has some."""
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs

    source = EXTRACTORS[settings["source"]]
    source.trees(RuleInputs.of(inputs), source.Settings.of(settings["settings"], inputs)).save(folder / DERIVATIONS)


@version(1)
def source_alignments(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The files of links of a source of rules that has some."""
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs

    source = EXTRACTORS[settings["source"]]
    own = source.Settings.of(settings["settings"], inputs)
    for name, lines in source.alignments(RuleInputs.of(inputs), own).items():
        write_lines(folder / name, lines)


@version(1)
def grammar(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The grammar of one source of rules; of a filtered one, the rules that some text to be translated can use."""
    from lscfg.extract.extractor import EXTRACTORS, RuleInputs
    from lscfg.grammar.select import select_rules
    from lscfg.grammar.write import write_grammar

    source = EXTRACTORS[settings["source"]]
    own = source.Settings.of(settings["settings"], inputs)
    texts = [inputs[name] for name in several("text", inputs)]
    sentences = [line for text in texts for line in read_lines(text)] if source.FILTERED else None
    counted = source.rules(replace(RuleInputs.of(inputs), wanted=sentences), own)
    selection = select_rules(counted, settings["settings"]["max_targets"], sentences)
    write_grammar(folder / GRAMMAR, counted, selection, jobs)
    write_json(folder / SIZE, {"rules": len(selection.kept)})
    write_json(folder / STATISTICS, counted.statistics() | {"dropped": selection.dropped})
    if counted.history:  # for the report alone: no output of other stages hangs on it
        write_json(folder / FOUND, counted.history)


@version(1)
def union(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """One grammar of several; a rule that is in some of them has the features of the first."""
    from lscfg.grammar.write import write_union

    rules = write_union(folder / GRAMMAR, *(inputs[name] for name in several("grammar", inputs)), threads=jobs)
    write_json(folder / SIZE, {"rules": rules})


@version(1)
def given_grammar(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The grammar of a file."""
    from lscfg.decode.parsing import read_grammar

    rules = len(read_grammar(DecoderConfig(grammars=(inputs["file"],))))
    copy_text(inputs["file"], folder / GRAMMAR)
    write_json(folder / SIZE, {"rules": rules})


@version(1, spare=(TEXT,))
def language_model(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The n-gram model of the target side: the one that is given, or estimated from parallel and monolingual text."""
    from lscfg.io.arpa import check_arpa
    from lscfg.lm.estimate import DEFAULT_FALLBACK
    from lscfg.lm.lmplz import build_lm

    if "file" in inputs:
        check_arpa(inputs["file"], settings["order"])
        copy_text(inputs["file"], folder / LM)
        return
    fallback = DEFAULT_FALLBACK if settings["discount_fallback"] else None
    text, more = inputs["text"], several("monolingual", inputs)
    if more:
        files = [text, *(inputs[name] for name in more)]
        text = folder / TEXT
        write_lines(text, (line for path in files for line in stream_lines(path)))
    build_lm(text, folder / LM, settings["order"], (), fallback, settings["estimator"])
    log.info(f"language model of order {settings['order']} estimated by {settings['estimator']}")
