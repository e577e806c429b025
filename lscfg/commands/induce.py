"""``lscfg induce``: grammars that are learned: sampled from all derivations, found by parsing both sides of sentence
pairs, or propagated over graphs of phrases."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lscfg.cli import add_action

if TYPE_CHECKING:
    from lscfg.grammar.counts import RuleCounts
    from lscfg.parallel.engine import Engine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the actions and their options."""
    from lscfg.induce.propagated.phrases import PhraseSettings
    from lscfg.induce.propagated.spaces import GraphSettings
    from lscfg.induce.propagated.spread import PropagationSettings
    from lscfg.io.arguments import InputFile, OutputFile
    from lscfg.options import add_cluster, add_jobs, add_output, add_text
    from lscfg.settings import add_options

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    phrases = add_action(actions, "phrases", "collect phrases with their translations and contexts")
    add_text(phrases)
    for side in ("source", "target"):
        phrases.add_argument(
            f"--mono-{side}", type=InputFile, metavar="TEXT", nargs="+", default=[], help=f"further text of the {side}"
        )
    phrases.add_argument(
        "--to-translate",
        type=InputFile,
        metavar="TEXT",
        nargs="+",
        default=[],
        help="text whose phrases are wanted",
    )
    phrases.add_argument("--wanted", type=OutputFile, metavar="FILE", help="write the phrases without translation here")
    add_output(phrases, "phrases to write", required=True)
    add_options(phrases, PhraseSettings)
    add_jobs(phrases)
    graph = add_action(actions, "graph", "join each source phrase to the phrases of the most similar contexts")
    graph.add_argument("phrases", type=InputFile, metavar="PHRASES", help="phrases of lscfg induce phrases")
    add_output(graph, "graph to write", required=True)
    add_options(graph, GraphSettings)
    add_jobs(graph)
    propagate = add_action(actions, "propagate", "spread translations over a graph and write them as rules")
    propagate.add_argument("phrases", type=InputFile, metavar="PHRASES", help="phrases of lscfg induce phrases")
    propagate.add_argument("graph", type=InputFile, metavar="GRAPH", help="graph of lscfg induce graph")
    propagate.add_argument("--nbest", type=InputFile, metavar="FILE", help="k-best lists of the phrases of --wanted")
    propagate.add_argument("--gold", type=InputFile, metavar="GRAMMAR", help="fuller grammar, for a diagnosis")
    propagate.add_argument("--coverage", type=InputFile, metavar="TEXT", help="text that is measured for unknown words")
    propagate.add_argument("--examples", type=OutputFile, metavar="FILE", help="write some candidates as JSON")
    propagate.add_argument("--statistics", type=OutputFile, metavar="FILE", help="write sizes and diagnosis as JSON")
    add_output(propagate, "grammar to write", required=True)
    add_options(propagate, PropagationSettings)
    add_jobs(propagate)
    states = add_action(actions, "states", "give hidden states of a model to the new rules")
    states.add_argument("rules", type=InputFile, metavar="RULES", help="rules of lscfg induce propagate")
    states.add_argument("model", type=InputFile, metavar="MODEL", help="model of lscfg estimate em or clusters")
    states.add_argument("phrases", type=InputFile, metavar="PHRASES", help="phrases of lscfg induce phrases")
    states.add_argument("graph", type=InputFile, metavar="GRAPH", help="graph of lscfg induce graph")
    add_output(states, "model to write", required=True)
    _add_sample(actions)
    _add_lexicon(actions)
    _add_biparse(actions)
    for action in actions.choices.values():
        add_cluster(action)


def run(args: argparse.Namespace) -> None:
    """Does the action.

    Raises:
        InputError: see the functions of ``lscfg.induce``.
    """
    parts = {"phrases": _phrases, "graph": _graph, "propagate": _propagate, "states": _states}
    part = (parts | {"sample": _sample, "lexicon": _lexicon, "biparse": _biparse})[args.action]
    if not args.cluster:
        return part(args)
    if args.action == "biparse" and getattr(args, "shards", 1) > 1:  # options that are not given are not there
        return _biparse_in_shards(args)
    if args.action == "sample" and getattr(args, "chains", 1) > 1:
        return _sample_in_chains(args)
    from lscfg.parallel.jobs import run_there

    run_there(run, args)


def _add_selection(action: argparse.ArgumentParser) -> None:
    """Declares which of the rules are written; see ``_write_rules``."""
    from lscfg.grammar.select import MAX_TARGETS
    from lscfg.io.arguments import InputFile

    action.add_argument(
        "--filter",
        type=InputFile,
        metavar="TEXT",
        help="text to be translated; rules that match none of its lines are left out",
    )
    action.add_argument(
        "--max-targets",
        type=int,
        default=MAX_TARGETS,
        metavar="N",
        help="most frequent target sides kept of each source side; 0: all (default: %(default)s)",
    )


def _add_biparse(actions: Any) -> None:
    from lscfg.induce.biparsed.settings import BiparseSettings
    from lscfg.io.arguments import OutputFile
    from lscfg.options import add_jobs, add_output, add_text
    from lscfg.settings import add_options

    biparse = add_action(actions, "biparse", "find rules by parsing both sides of sentence pairs at once")
    add_text(biparse, "word alignments i-j, for the lexicon only")
    _add_selection(biparse)
    biparse.add_argument(
        "--best-links", type=OutputFile, metavar="FILE", help="write the links of the best derivations"
    )
    biparse.add_argument(
        "--likely-links", type=OutputFile, metavar="FILE", help="write the links of a probability of at least a half"
    )
    biparse.add_argument("--derivations", type=OutputFile, metavar="FILE", help="write the best derivations")
    biparse.add_argument(
        "--boundary-model",
        type=OutputFile,
        metavar="MODEL",
        help="write the learned weights of the words at borders of spans: a model without rules",
    )
    biparse.add_argument("--checkpoint", metavar="DIR", help="folder for where learning stands, after each pass")
    biparse.add_argument("--resume", action="store_true", help="continue the learning of --checkpoint")
    biparse.add_argument("--trace", type=OutputFile, metavar="FILE", help="write a JSON line for each pass")
    add_output(biparse, "grammar to write, .gz allowed", required=True)
    add_options(biparse, BiparseSettings)
    add_jobs(biparse)


def _add_lexicon(actions: Any) -> None:
    from lscfg.induce.biparsed.settings import BiparseSettings
    from lscfg.options import add_output, add_text
    from lscfg.settings import add_options, settings_of

    lexicon = add_action(actions, "lexicon", "make a lexicon, for biparsing a part of the text")
    add_text(lexicon)
    add_output(lexicon, "lexicon to write, .gz allowed", required=True)
    others = {item.name for item in settings_of(BiparseSettings)} - {"links_share", "model1_iterations", "max_words"}
    add_options(lexicon, BiparseSettings, leave=others)


def _add_sample(actions: Any) -> None:
    from lscfg.induce.sampled.rules import SamplingSettings
    from lscfg.io.arguments import InputFile, OutputFile
    from lscfg.options import add_jobs, add_output, add_text
    from lscfg.settings import add_options

    sample = add_action(actions, "sample", "sample rules of any size from all derivations of aligned text")
    add_text(sample)
    _add_selection(sample)
    sample.add_argument(
        "--held-out",
        type=InputFile,
        nargs=3,
        metavar=("SOURCE", "TARGET", "ALIGNMENT"),
        help="aligned text that is not sampled: its log-likelihood for each target word is told",
    )
    sample.add_argument(
        "--start-from",
        type=InputFile,
        metavar="FILE",
        help="derivations of the same text to begin with, in place of --start",
    )
    sample.add_argument("--checkpoint", metavar="DIR", help="folder for where the chains stand, twice a minute")
    sample.add_argument("--resume", action="store_true", help="continue the chains of --checkpoint")
    sample.add_argument(
        "--derivations",
        type=OutputFile,
        metavar="FILE",
        help="write the trees of all samples: derivations for lscfg estimate",
    )
    sample.add_argument("--trace", type=OutputFile, metavar="FILE", help="write a JSON line for each sweep")
    add_output(sample, "grammar to write, .gz allowed", required=True)
    add_options(sample, SamplingSettings)
    add_jobs(sample)


def _phrases(args: argparse.Namespace) -> None:
    from lscfg import log
    from lscfg.errors import InputError
    from lscfg.induce.propagated.phrases import PhraseSettings, collect
    from lscfg.io.text import write_lines
    from lscfg.settings import from_options

    settings = from_options(PhraseSettings, args)
    if not args.mono_source:
        raise InputError("no monolingual text: name some with --mono-source, and its like with --mono-target")
    if not args.mono_target:
        log.warning("no monolingual target text: translations are those of the parallel text alone")
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
    from lscfg import log
    from lscfg.induce.propagated.phrases import PhraseFile, write_graph
    from lscfg.induce.propagated.spaces import GraphSettings, source_graph
    from lscfg.settings import from_options

    settings = from_options(GraphSettings, args)
    phrases = PhraseFile.read(args.phrases)
    graph = source_graph(phrases.source, phrases.words, settings, args.jobs)
    log.table({"phrases": graph.shape[0], "edges": graph.nnz, "without neighbours": int((graph.getnnz(1) == 0).sum())})
    write_graph(args.output, graph, phrases, settings.facts())
    log.info(f"wrote {args.output}")


def _propagate(args: argparse.Namespace) -> None:
    from lscfg import log
    from lscfg.induce.propagated.rules import make_rules
    from lscfg.induce.propagated.spread import PropagationSettings
    from lscfg.io.text import write_json, write_lines
    from lscfg.settings import from_options

    files = {name: getattr(args, name) for name in ("phrases", "graph", "nbest", "gold")} | {"text": args.coverage}
    settings = from_options(PropagationSettings, args)
    made = make_rules({name: path for name, path in files.items() if path}, settings, args.jobs)
    log.table(made.figures)
    if args.statistics:
        write_json(args.statistics, made.figures)
    if args.examples:
        write_json(args.examples, made.examples)
    write_lines(args.output, made.lines)
    log.info(f"wrote {args.output}")


def _states(args: argparse.Namespace) -> None:
    from lscfg import log
    from lscfg.induce.propagated.phrases import PhraseFile, read_graph
    from lscfg.induce.propagated.states import read_rules, with_states
    from lscfg.model.parameters import Parameters
    from lscfg.study.states import States

    model, phrases, rules = Parameters.load(args.model), PhraseFile.read(args.phrases), read_rules(args.rules)
    graph, _ = read_graph(args.graph, phrases)
    states = States.of(model)
    wider = with_states(model, states.share if states else None, phrases, graph, rules)
    log.info(f"{len(wider.rules) - len(model.rules)} new rules have states")
    wider.save(args.output)
    log.info(f"wrote {args.output}")


def _filter_text(args: argparse.Namespace) -> list[str] | None:
    """The sentences of --filter, None without it; checks --max-targets too."""
    from lscfg.corpus.parallel import check_sentences
    from lscfg.grammar.select import check_max_targets
    from lscfg.io.text import read_lines

    check_max_targets(args.max_targets)
    if not args.filter:
        return None
    sentences = read_lines(args.filter)
    check_sentences(sentences, args.filter, allow_empty=True)
    return sentences


def _checkpoint_folder(args: argparse.Namespace) -> Path | None:
    """The folder of --checkpoint.

    Raises:
        InputError: there is none, and --resume needs it.
    """
    from lscfg.errors import InputError

    if args.resume and not args.checkpoint:
        raise InputError("--resume needs --checkpoint DIR, the folder to continue from")
    return Path(args.checkpoint) if args.checkpoint else None


def _write_rules(
    args: argparse.Namespace, counted: RuleCounts, sentences: list[str] | None, trace: list[dict[str, Any]]
) -> None:
    """Writes the grammar, and a line for each record of --trace."""
    import json

    from lscfg import log
    from lscfg.grammar.select import select_rules
    from lscfg.grammar.write import write_grammar
    from lscfg.io.text import write_lines

    selection = select_rules(counted, args.max_targets, sentences)
    for reason, count in selection.dropped.items():
        if count:
            log.info(f"dropped {count} rules: {reason}")
    if args.trace:
        write_lines(args.trace, [json.dumps(record) for record in trace])
    write_grammar(args.output, counted, selection, args.jobs)
    log.info(f"wrote {args.output}: {len(selection.kept)} rules")


def _lexicon(args: argparse.Namespace) -> None:
    from lscfg import log
    from lscfg.extract.extractor import RuleInputs
    from lscfg.induce.biparsed.lexicon import make_lexicon, text_words, write_lexicon
    from lscfg.induce.biparsed.settings import BiparseSettings
    from lscfg.induce.biparsed.text import read_pairs_and_links
    from lscfg.settings import from_options

    settings = from_options(BiparseSettings, args)
    text = read_pairs_and_links(RuleInputs(args.source, args.target, tuple(args.alignment)), settings)
    lexicon = make_lexicon(text, settings.links_share, settings.model1_iterations)
    write_lexicon(args.output, lexicon, text_words(text))
    log.info(f"wrote {args.output}: {len(lexicon.words)} pairs of words")


def _biparse(args: argparse.Namespace) -> None:
    from lscfg import log
    from lscfg.errors import InputError
    from lscfg.extract.extractor import RuleInputs
    from lscfg.induce.biparsed.rules import induce, induced_trees
    from lscfg.induce.biparsed.settings import BiparseSettings
    from lscfg.io.text import write_lines
    from lscfg.model.parameters import Parameters
    from lscfg.settings import from_options

    settings = from_options(BiparseSettings, args)
    if args.boundary_model and not settings.passes:
        raise InputError("--boundary-model writes what is learned; ask for some --passes")
    sentences, folder = _filter_text(args), _checkpoint_folder(args)
    inputs = RuleInputs(args.source, args.target, tuple(args.alignment), wanted=sentences)
    found = induce(inputs, settings, args.jobs, folder, args.resume)
    log.table(found.rules.statistics())
    for path, links in ((args.best_links, found.best_links), (args.likely_links, found.likely_links)):
        if path:
            write_lines(path, found.link_lines(links))
    if args.derivations:
        induced_trees(found).save(args.derivations)
    if args.boundary_model:
        Parameters.without_rules(found.boundary).save(args.boundary_model)
    rules, trace = found.rules, found.trace
    del found  # the writing of a grammar takes as much memory as links and derivations
    _write_rules(args, rules, sentences, trace)


def _biparse_in_shards(args: argparse.Namespace) -> None:
    """The workers of the cluster learn, and all else is done here."""
    from lscfg.errors import InputError
    from lscfg.parallel.choose import on_cluster

    if not args.checkpoint:
        raise InputError("--shards on a --cluster need --checkpoint DIR, a folder that all workers see")
    with on_cluster(args.cluster):
        _biparse(args)


def _sample_in_chains(args: argparse.Namespace) -> None:
    """Each chain is run by a worker of the cluster, and all else is done here."""
    from lscfg.parallel.choose import in_processes, on_cluster

    with on_cluster(args.cluster), in_processes(args.chains, large=True) as engine:
        _sample(args, engine)


def _sample(args: argparse.Namespace, engine: Engine | None = None) -> None:
    from lscfg import log
    from lscfg.extract.extractor import RuleInputs
    from lscfg.induce.sampled.convergence import FAR
    from lscfg.induce.sampled.rules import SamplingSettings, sample_rules
    from lscfg.settings import from_options

    settings = from_options(SamplingSettings, args)
    sentences, folder = _filter_text(args), _checkpoint_folder(args)
    inputs = RuleInputs(args.source, args.target, tuple(args.alignment))
    held_out = RuleInputs(args.held_out[0], args.held_out[1], (args.held_out[2],)) if args.held_out else None
    places = bool(args.derivations)
    init = Path(args.start_from) if args.start_from else None
    found = sample_rules(inputs, settings, args.jobs, places, folder, args.resume, held_out, init, engine)
    log.table(found.rules.statistics())
    if args.derivations:
        from lscfg.induce.sampled.trees import sampled_trees

        sampled_trees(found).save(args.derivations)
        log.info(f"wrote {args.derivations}")
    if told := [record["held_out"] for record in found.trace if "held_out" in record]:
        log.table({"held-out log-likelihood of a target word": round(sum(told) / len(told), 4)})
    if measures := found.rules.history["convergence"]:
        log.table(measures)
        if max(value for name, value in measures.items() if name.startswith("R-hat")) > FAR:
            log.info(f"R-hat above {FAR}: the chains are still on their way; give more burn-in or sweeps")
    _write_rules(args, found.rules, sentences, found.trace)
