"""``lscfg propagate``: translations of unseen phrases, propagated over graphs of phrases in monolingual text."""

from __future__ import annotations

import argparse

from lscfg import log
from lscfg.cli import add_action
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError
from lscfg.induce.propagated.phrases import PhraseFile, PhraseSettings, collect, read_graph, write_graph
from lscfg.induce.propagated.rules import make_rules
from lscfg.induce.propagated.spaces import GraphSettings, source_graph
from lscfg.induce.propagated.spread import PropagationSettings
from lscfg.induce.propagated.states import read_rules, with_states
from lscfg.io.arguments import InputFile, OutputFile
from lscfg.io.json_files import write_json
from lscfg.io.tensors import check_model_output
from lscfg.io.write import write_lines
from lscfg.model.parameters import Parameters
from lscfg.options import add_jobs, add_output, add_outputs, add_text, further_outputs
from lscfg.parser import CommandParser
from lscfg.settings import Declared, settings_of
from lscfg.study.states import States

TABLE = "propagated"

PARTS: dict[str, type[Declared]] = {"phrases": PhraseSettings, "graph": GraphSettings, "rules": PropagationSettings}
"""The settings of the table that each action reads."""

OUTPUTS = {"statistics": "sizes and diagnosis as JSON", "examples": "some candidates as JSON"}


def add_arguments(parser: CommandParser) -> None:
    """Declares the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    phrases = add_action(actions, "phrases", "collect phrases with their translations and contexts")
    add_text(phrases)
    texts = (
        ("--mono-source", "further source text"),
        ("--mono-target", "further target text"),
        ("--to-translate", "text whose phrases are needed"),
    )
    for option, help_text in texts:
        phrases.add_argument(option, type=InputFile, metavar="TEXT", nargs="+", default=[], help=help_text)
    phrases.add_argument("--wanted", type=OutputFile, metavar="FILE", help="file for the phrases without translation")
    add_output(phrases, "phrases to write", required=True)
    graph = add_action(actions, "graph", "link each source phrase to the phrases with the most similar contexts")
    rules = add_action(actions, "rules", "propagate translations over a graph and write rules")
    states = add_action(actions, "states", "add the new rules to a model, with hidden states")
    states.add_argument("rules", type=InputFile, metavar="RULES", help="rules of lscfg propagate rules")
    states.add_argument("model", type=InputFile, metavar="MODEL", help="model of lscfg estimate em or clusters")
    for action in (graph, rules, states):
        action.add_argument("phrases", type=InputFile, metavar="PHRASES", help="phrases of lscfg propagate phrases")
    for action in (rules, states):
        action.add_argument("graph", type=InputFile, metavar="GRAPH", help="graph of lscfg propagate graph")
    add_output(graph, "graph to write", required=True)
    rules.add_argument("--nbest", type=InputFile, metavar="FILE", help="k-best lists of the phrases of --wanted")
    rules.add_argument("--gold", type=InputFile, metavar="GRAMMAR", help="fuller grammar, for a diagnosis")
    rules.add_argument("--coverage", type=InputFile, metavar="TEXT", help="text whose unknown words are counted")
    add_output(rules, "grammar to write", required=True)
    add_outputs(rules, OUTPUTS)
    add_output(states, "model to write", required=True)
    for name, action in (("phrases", phrases), ("graph", graph), ("rules", rules)):
        add_jobs(action)
        add_settings(action, Table(TABLE, (PARTS[name],)))


def run(args: argparse.Namespace) -> None:
    """Runs the action.

    Raises:
        InputError: see the functions of ``lscfg.induce.propagated``.
    """
    {"phrases": _phrases, "graph": _graph, "rules": _rules, "states": _states}[args.action](args)


def _settings(args: argparse.Namespace) -> Declared:
    """The settings of the action; the table also has keys of the other actions."""
    others = {item.name for name, cls in PARTS.items() if name != args.action for item in settings_of(cls)}
    made: Declared = GivenSettings(args, TABLE).build(TABLE, PARTS[args.action], ignore=others)
    return made


def _phrases(args: argparse.Namespace) -> None:
    settings = _settings(args)
    assert isinstance(settings, PhraseSettings)
    if not args.mono_source:
        raise InputError("no monolingual text: name source text with --mono-source, and target text with --mono-target")
    if not args.mono_target:
        log.warning("no monolingual target text: translations come from the parallel text alone")
    parallel, monolingual = (args.source, args.target), (args.mono_source, args.mono_target)
    found = collect(parallel, args.alignment, monolingual, args.to_translate, settings, args.jobs)
    log.table(found.statistics())
    if found.labelled.all():
        log.info("every phrase has a translation: there is nothing to propagate")
    found.write(args.output)
    if args.wanted:
        write_lines(args.wanted, found.unlabelled_texts())
    log.info(f"wrote {args.output}")


def _graph(args: argparse.Namespace) -> None:
    settings = _settings(args)
    assert isinstance(settings, GraphSettings)
    phrases = PhraseFile.read(args.phrases)
    graph = source_graph(phrases.source, phrases.words, settings, args.jobs)
    log.table({"phrases": graph.shape[0], "edges": graph.nnz, "without neighbours": int((graph.getnnz(1) == 0).sum())})
    write_graph(args.output, graph, phrases, settings.facts())
    log.info(f"wrote {args.output}")


def _rules(args: argparse.Namespace) -> None:
    settings, outputs = _settings(args), further_outputs(args, OUTPUTS)
    assert isinstance(settings, PropagationSettings)
    files = {name: getattr(args, name) for name in ("phrases", "graph", "nbest", "gold")} | {"text": args.coverage}
    made = make_rules({name: path for name, path in files.items() if path}, settings, args.jobs)
    log.table(made.figures)
    for name, path in outputs.items():
        write_json(path, {"statistics": made.figures, "examples": made.examples}[name])
    write_lines(args.output, made.lines)
    log.info(f"wrote {args.output}")


def _states(args: argparse.Namespace) -> None:
    check_model_output(args.output)
    model, phrases, rules = Parameters.load(args.model), PhraseFile.read(args.phrases), read_rules(args.rules)
    graph, _ = read_graph(args.graph, phrases)
    states = States.of(model)
    wider = with_states(model, states.share if states else None, phrases, graph, rules)
    log.info(f"{len(wider.rules) - len(model.rules)} new rules have states")
    wider.save(args.output)
    log.info(f"wrote {args.output}")
