"""Stages from monolingual text to rules: phrases, a graph of them, translations by a decoder, propagation, states."""

from __future__ import annotations

import json
from pathlib import Path

from lscfg.io.text import write_json, write_lines
from lscfg.tuning.experiment.stages import Facts, Files, several, version
from lscfg.tuning.experiment.stages.rules import GRAMMAR, SIZE, STATISTICS

PHRASES, WANTED, GRAPH, EXAMPLES = "phrases", "wanted", "graph", "examples.json"


@version(3)
def phrases(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """Phrases of both sides; those of the dev and test text without a translation are to be translated."""
    from lscfg.induce.propagated.phrases import PhraseSettings, collect

    alignments, source, target, texts = (
        [inputs[name] for name in several(kind, inputs)]
        for kind in ("alignments", "monolingual source", "monolingual target", "text")
    )
    parallel = inputs["source"], inputs["target"]
    found = collect(parallel, alignments, (source, target), texts, PhraseSettings.of(settings), jobs)
    found.write(folder / PHRASES)
    write_lines(folder / WANTED, found.unlabelled_texts())
    write_json(folder / STATISTICS, found.statistics())


@version(3)
def graph(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The most similar phrases of each source phrase."""
    from lscfg.induce.propagated.phrases import PhraseFile, write_graph
    from lscfg.induce.propagated.spaces import GraphSettings, source_graph

    own, found = GraphSettings.of(settings, inputs), PhraseFile.read(inputs["phrases"])
    write_graph(folder / GRAPH, source_graph(found.source, found.words, own, jobs), found, own.facts())


@version(2, growth=40)
def propagate(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """Rules for phrases without a translation, what they cover of the test text, and how good they are."""
    from lscfg.induce.propagated.rules import make_rules
    from lscfg.induce.propagated.spread import PropagationSettings

    made = make_rules(inputs, PropagationSettings.of(settings, inputs), jobs)
    write_lines(folder / GRAMMAR, made.lines)
    write_json(folder / SIZE, {"rules": len(made.lines)})
    write_json(folder / STATISTICS, made.figures)
    write_json(folder / EXAMPLES, made.examples)


@version(1, growth=40)
def states(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """A model that knows the hidden states of new rules, too."""
    from lscfg.induce.propagated.phrases import PhraseFile, read_graph
    from lscfg.induce.propagated.states import read_rules, with_states
    from lscfg.model.parameters import Parameters
    from lscfg.study.states import States
    from lscfg.tuning.experiment.stages.model import MODEL

    found = PhraseFile.read(inputs["phrases"])
    similarities, _ = read_graph(inputs["graph"], found)
    model = Parameters.load(inputs["model"])
    states = States.of(model)
    wider = with_states(model, states.share if states else None, found, similarities, read_rules(inputs["rules"]))
    wider.save(folder / MODEL)
    write_json(folder / SIZE, json.loads(inputs["size"].read_text(encoding="utf-8")))
