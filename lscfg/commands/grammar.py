"""``lscfg grammar``: the rules of an extractor as a grammar with features."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from lscfg import log
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.commands.grammars import biparsed, fragments, hiero, sampled
from lscfg.commands.grammars.extraction import NO_LABELS, Extraction
from lscfg.corpus.parallel import check_plain_sentences
from lscfg.errors import InputError, counted
from lscfg.extract.extractor import EXTRACTORS, RuleInputs
from lscfg.extract.on_demand import MOST_PLACES
from lscfg.formats.rule_index import is_index
from lscfg.grammar.counts import RuleCounts, effective_size
from lscfg.grammar.select import Selection, check_max_targets, select_rules
from lscfg.grammar.write import unknown_words, write_grammar, write_sentence_grammars, write_union
from lscfg.io.arguments import InputFile, output_folder
from lscfg.io.columns import align_columns
from lscfg.io.read import read_blocks, read_lines
from lscfg.kernel import Grammar
from lscfg.kernel.compiled import is_compiled
from lscfg.kinds import group_rows
from lscfg.options import (
    add_checkpoint,
    add_cluster,
    add_jobs,
    add_kind,
    add_output,
    add_outputs,
    checkpoint_folder,
    further_outputs,
)
from lscfg.parallel.jobs import run_there
from lscfg.parser import CommandParser

INDEX = "index"
"""Format of rules on demand."""

FORMATS = "lscfg.grammar_formats"
"""Entry-point group of further formats: functions as ``lscfg.grammar.write.write_grammar``, by name."""

STATES = (1, 8, 16)
"""Numbers of hidden states in the table of sizes."""

SPECIAL = {"sampled": sampled, "biparsed": biparsed}
"""Extractors with additional inputs or outputs."""


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_kind(parser, "extractor", {name: EXTRACTORS[name].HELP for name in EXTRACTORS})
    parser.add_argument(
        "files",
        type=InputFile,
        nargs="+",
        metavar="FILE",
        help="DERIVATIONS for minimal and phrases; SOURCE TARGET ALIGNMENT... for the others; FORESTS for sampled, "
        "INDEX for hiero",
    )
    add_output(parser, "grammar to write, .gz allowed")
    parser.add_argument(
        "--per-sentence",
        type=output_folder("segments.sgm", "grammar.*.gz", new=True),
        metavar="DIR",
        help="folder for a grammar of each sentence of --filter, and for cdec's input",
    )
    parser.add_argument("--sizes", action="store_true", help="print a table of grammar sizes")
    parser.add_argument(
        "--filter", type=InputFile, metavar="TEXT", help="text to be translated; only rules that match it are kept"
    )
    parser.add_argument(
        "--oov",
        action="store_true",
        help="add pass-through rules of every label (derive --labels) for words of --filter without a rule",
    )
    parser.add_argument(
        "--format",
        choices=["cdec", INDEX, *sorted({point.name for point in group_rows(FORMATS)})],
        default="cdec",
        help="format of the grammar; index: text from which decoders extract rules (default: %(default)s)",
    )
    places = parser.add_argument(
        "--places",
        type=int,
        metavar="N",
        help=f"maximum places from which an index extracts the rules of a phrase; 0: all (default: {MOST_PLACES})",
    )
    parser.limit(places, "hiero")
    parser.add_argument(
        "--join",
        type=InputFile,
        nargs="+",
        default=[],
        metavar="GRAMMAR",
        help="grammars whose other rules are added; rules of both keep the features of this extraction",
    )
    parser.add_argument(
        "--max-targets",
        type=int,
        dest="most_targets",
        metavar="N",
        help="most frequent target sides kept of each source side; 0: all (default: setting max_targets)",
    )
    memory = parser.add_argument(
        "--memory", type=float, metavar="GIB", help="memory limit: extracts in parts, which are merged on disk"
    )
    parser.limit(memory, "hiero")
    held_out = parser.add_argument(
        "--held-out",
        type=InputFile,
        nargs=3,
        metavar=("SOURCE", "TARGET", "ALIGNMENT"),
        help="aligned text to measure: the log shows its log-likelihood for each target word",
    )
    start = parser.add_argument(
        "--start-from", type=InputFile, metavar="FILE", help="derivations of the same text to start with"
    )
    write = add_outputs(parser, fragments.OUTPUTS | sampled.OUTPUTS | biparsed.OUTPUTS)
    add_jobs(parser)
    cluster = add_cluster(parser)
    for action in (held_out, start, cluster):
        parser.limit(action, "sampled")
    for action in (*add_checkpoint(parser), write):
        parser.limit(action, *SPECIAL)
    add_settings(parser, *(Table(name, (EXTRACTORS[name].Settings,)) for name in EXTRACTORS), by_kind=True)


def run(args: argparse.Namespace) -> None:
    """Writes the grammar, or prints the sizes.

    Raises:
        InputError: options do not go together, or a file cannot be read or written.
    """
    if args.output and is_compiled(args.output):
        raise InputError("only lscfg pack writes compiled files; choose another ending for a grammar", args.output)
    given = GivenSettings(args, args.extractor)
    settings = given.build(args.extractor, EXTRACTORS[args.extractor].Settings, others=EXTRACTORS.settings())
    if args.extractor == "sampled" and len(args.files) == 1:
        return fragments.write_fragments(args, settings)
    if args.extractor == "hiero" and len(args.files) == 1 and is_index(args.files[0]):
        return hiero.write_demanded(args)
    if args.cluster and not sampled.shares(settings):
        return run_there(run, args)
    _check(args)
    inputs = _inputs(args)
    checkpoint = checkpoint_folder(args)
    if args.format == INDEX:
        return hiero.write_rule_index(args, inputs, settings)
    if args.memory is not None:
        return hiero.write_parts(args, inputs, settings)
    if args.extractor in SPECIAL:
        module = SPECIAL[args.extractor]
        found = module.extract(Extraction(args, inputs, settings, checkpoint, further_outputs(args, module.OUTPUTS)))
        found.write_others()
        if not (args.output or args.per_sentence or args.sizes):
            return
        rules = found.rules
        del found  # writing a grammar takes as much memory as alignments and derivations
    else:
        rules = EXTRACTORS[args.extractor].rules(inputs, settings)
    log.table(rules.statistics())
    most = settings.max_targets if args.most_targets is None else args.most_targets
    _write(args, rules, most, inputs)
    if args.sizes:
        print(size_table(args.extractor, rules, inputs))


def _check(args: argparse.Namespace) -> None:
    """Refuses options that do not go together."""
    if not (args.output or args.per_sentence or args.sizes or args.write):
        raise InputError("nothing to do; name an output with -o or --per-sentence, or ask for --sizes")
    if args.per_sentence and (not args.filter or args.format != "cdec"):
        raise InputError("--per-sentence needs the sentences (--filter TEXT) and --format cdec")
    if args.oov and (not args.output or not args.filter or args.format != "cdec"):
        raise InputError("--oov needs the text (--filter TEXT), an output (-o) and --format cdec")
    if args.join and (not args.output or args.format != "cdec"):
        raise InputError("--join needs an output (-o) in cdec's format")
    if args.per_sentence and (args.join or args.oov):
        raise InputError("--join and --oov add rules to the grammar of -o only; leave out --per-sentence")
    if args.format not in ("cdec", INDEX) and not args.output:
        raise InputError(f"--format {args.format} needs an output (-o)")
    if args.places is not None and args.format != INDEX:
        raise InputError(f"--places belongs to --format {INDEX}")
    if args.most_targets is not None:
        check_max_targets(args.most_targets)
    needs = EXTRACTORS[args.extractor].NEEDS
    if "text" in needs and len(args.files) < 3:
        raise InputError(f"{args.extractor} needs three files or more: source, target and alignments")
    if "text" not in needs and len(args.files) > 1:
        raise InputError(f"{args.extractor} needs one file: derivations of lscfg derive")
    for path in args.join or ():
        next(read_blocks(path, 1), None)  # refuses a compiled grammar,
        Grammar().read(path)  # and what is no grammar


def _inputs(args: argparse.Namespace) -> RuleInputs:
    sentences = None
    if args.filter:
        sentences = read_lines(args.filter)
        check_plain_sentences(sentences, args.filter)
    if "text" not in EXTRACTORS[args.extractor].NEEDS:
        return RuleInputs(derivations=Path(args.files[0]), wanted=sentences)
    source, target, *alignments = map(Path, args.files)
    return RuleInputs(source, target, tuple(alignments), wanted=sentences)


def _write(args: argparse.Namespace, rules: RuleCounts, most: int, inputs: RuleInputs) -> None:
    """Writes the selected rules to the outputs that the options name."""
    selection = select_rules(rules, most, inputs.wanted, bool(args.per_sentence))
    for reason, count in selection.dropped.items():
        if count:
            log.info(f"dropped {counted(count, 'rule')}: {reason}")
    written, unknown = len(selection.kept), _unknown(args, rules, selection, inputs)
    if args.output and args.join:
        with TemporaryDirectory() as folder:
            part = Path(folder, "grammar")
            write_grammar(part, rules, selection, args.jobs, **unknown)
            written = write_union(args.output, part, *args.join, threads=args.jobs)
    elif args.output:
        _writer(args.format)(args.output, rules, selection, args.jobs, **unknown)
    if args.output:
        log.info(f"wrote {args.output}: {counted(written, 'rule')}")
    if args.per_sentence:
        assert inputs.wanted is not None
        write_sentence_grammars(args.per_sentence, rules, selection, inputs.wanted, args.jobs)
        log.info(f"wrote {len(inputs.wanted)} grammars to {args.per_sentence}")


def _unknown(
    args: argparse.Namespace, rules: RuleCounts, selection: Selection, inputs: RuleInputs
) -> dict[str, list[str]]:
    """The words of --oov as an argument of ``write_grammar``; empty without the option."""
    if not args.oov:
        return {}
    if rules.rules.lhs is None:
        raise InputError(NO_LABELS)
    return {"unknown": unknown_words(rules.rules, selection.kept, inputs.wanted or [])}


def _writer(name: str) -> Callable[..., None]:
    if name == "cdec":
        return write_grammar
    write: Callable[..., None] = next(point for point in group_rows(FORMATS) if point.name == name).load()
    return write


def size_table(name: str, rules: RuleCounts, inputs: RuleInputs) -> str:
    """Rules by arity and in all; for a minimal grammar also the effective sizes with m hidden states."""
    kept = select_rules(rules, 0, inputs.wanted).kept
    arity = rules.rules.arity[kept]
    counts = [int((arity == k).sum()) for k in range(max(2, int(arity.max(initial=0))) + 1)]
    rows = [["grammar", *(f"arity {k}" for k in range(len(counts))), "size"]]
    rows.append(["MIN" if name == "minimal" else name.upper(), *map(str, counts), str(len(kept))])
    if name == "minimal":
        rows += [[f"LV m = {m}", *[""] * len(counts), str(effective_size(rules, m, kept))] for m in STATES]
    return "\n".join(align_columns(rows))
