"""``lscfg grammar``: a minimal, phrase or Hiero grammar with its features."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.grammar.counts import RuleCounts

FORMATS = "lscfg.grammar_formats"
"""Entry-point group of further formats: functions as ``lscfg.grammar.write.write_grammar``, by name."""

STATES = (1, 8, 16)
"""Numbers of hidden states in the table of sizes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from importlib.metadata import entry_points

    from lscfg.extract.hiero import HieroLimits
    from lscfg.io.arguments import InputFile, output_folder
    from lscfg.options import add_cluster, add_jobs, add_output
    from lscfg.settings import add_options

    parser.add_argument(
        "derivations",
        type=InputFile,
        metavar="DERIVATIONS",
        nargs="?",
        help="derivations of lscfg derive; their rules are the minimal grammar",
    )
    parser.add_argument(
        "--hiero",
        type=InputFile,
        nargs="+",
        metavar=("SOURCE", "TARGET ALIGNMENT"),
        help="extract Hiero rules from this corpus; with DERIVATIONS, write one grammar of both",
    )
    parser.add_argument(
        "--phrases",
        type=int,
        metavar="N",
        help="take the phrase pairs of up to N source words that DERIVATIONS have, in place of their rules",
    )
    add_output(parser, "grammar to write, .gz allowed")
    parser.add_argument(
        "--per-sentence",
        type=output_folder("segments.sgm", "grammar.*.gz"),
        metavar="DIR",
        help="folder for a grammar of each sentence of --filter, and for cdec's input",
    )
    parser.add_argument("--sizes", action="store_true", help="print a table of grammar sizes")
    parser.add_argument(
        "--filter",
        type=InputFile,
        metavar="TEXT",
        help="text to be translated; rules that match none of its lines are left out",
    )
    parser.add_argument(
        "--format",
        choices=["cdec", *sorted({point.name for point in entry_points(group=FORMATS)})],
        default="cdec",
        help="format of the output (default: %(default)s)",
    )
    parser.add_argument(
        "--max-targets",
        type=int,
        metavar="N",
        help="most frequent target sides kept of each source side; 0: all (default: 30, of phrases 20)",
    )
    parser.add_argument(
        "--memory",
        type=float,
        metavar="GIB",
        help="most memory for Hiero rules; what does not fit is extracted in parts, and these are merged on disk",
    )
    add_jobs(parser)
    add_cluster(parser)
    add_options(parser.add_argument_group("limits of Hiero rules"), HieroLimits)


def run(args: argparse.Namespace) -> None:
    """Writes the grammar, or prints the sizes.

    Raises:
        InputError: options that do not go together, or a file that cannot be read or written.
    """
    if args.cluster:
        from lscfg.parallel.jobs import run_there

        return run_there(run, args)

    from importlib.metadata import entry_points

    from lscfg import log
    from lscfg.corpus.parallel import check_sentences
    from lscfg.errors import InputError
    from lscfg.extract.hiero import HieroLimits
    from lscfg.grammar.write import write_grammar, write_union
    from lscfg.io.text import read_lines
    from lscfg.settings import given_options, option_names

    if not (args.output or args.per_sentence or args.sizes):
        raise InputError("nothing to do; name an output with -o or --per-sentence, or ask for --sizes")
    if not (args.derivations or args.hiero):
        raise InputError("no rules; give a derivation file, or a corpus with --hiero")
    if args.phrases is not None and not args.derivations:
        raise InputError("--phrases needs a derivation file, of which it takes the phrase pairs")
    if args.phrases is not None and args.phrases < 1:
        raise InputError(f"--phrases must be at least 1, not {args.phrases}")
    if args.hiero and len(args.hiero) < 3:
        raise InputError("--hiero needs three files or more: source, target and alignments")
    given = option_names(HieroLimits, given_options(HieroLimits, args))
    if given and not args.hiero:
        raise InputError(f"{', '.join(given)}: for Hiero rules, of which there are none without --hiero")
    both = args.derivations and args.hiero
    if both and (args.per_sentence or args.format != "cdec"):
        raise InputError(
            "a derivation file and --hiero are two grammars; they are joined by -o and in cdec's format only"
        )
    if args.per_sentence and (not args.filter or args.format != "cdec"):
        raise InputError("--per-sentence needs the sentences (--filter TEXT) and --format cdec")
    write = write_grammar
    if args.format != "cdec":
        write = next(point for point in entry_points(group=FORMATS) if point.name == args.format).load()
    sentences = None
    if args.filter:
        sentences = read_lines(args.filter)
        check_sentences(sentences, args.filter, allow_empty=True)

    if args.memory is not None:
        return _write_parts(args, sentences)
    grammars = read_rules(args, sentences)
    if both and args.output:
        with TemporaryDirectory() as folder:
            parts = [Path(folder, name) for name in grammars]
            for path, (name, counted) in zip(parts, grammars.items(), strict=True):
                log.info(f"{name}: {_write_one(args, counted, sentences, write, path)} rules")
            rules = write_union(args.output, *parts, threads=args.jobs)
        log.info(f"wrote {args.output}: {rules} rules")
    elif args.output or args.per_sentence:
        (counted,) = grammars.values()
        rules = _write_one(args, counted, sentences, write, args.output)
        if args.output:
            log.info(f"wrote {args.output}: {rules} rules")
    if args.sizes:
        print(size_table(grammars, sentences))


def _write_parts(args: argparse.Namespace, sentences: list[str] | None) -> None:
    """Writes a Hiero grammar whose rules need no more memory than the options say."""
    from lscfg import log
    from lscfg.errors import InputError
    from lscfg.extract.hiero import HieroLimits
    from lscfg.extract.hiero_parts import RULE_BYTES, Extraction, write_hiero
    from lscfg.grammar.select import MAX_TARGETS
    from lscfg.settings import from_options

    others = args.derivations or args.per_sentence or args.sizes or args.format != "cdec"
    if not (args.hiero and args.output) or others:
        raise InputError("--memory is for --hiero with -o alone, in cdec's format: all else needs all rules at once")
    if not args.memory > 0:
        raise InputError(f"--memory must be above 0, not {args.memory:g}")
    source, target, *alignments = args.hiero
    limits = from_options(HieroLimits, args)
    if limits.no_singletons:
        raise InputError("--no-singletons needs all rules at once; leave out --memory")
    corpus = Extraction(source, target, alignments, limits, sentences)
    most = int(args.memory * 2**30 / RULE_BYTES)
    targets = MAX_TARGETS if args.max_targets is None else args.max_targets
    written = write_hiero(args.output, corpus, most, targets, args.jobs)
    log.table(written.statistics)
    for reason, count in written.dropped.items():
        if count:
            log.info(f"dropped {count} rules: {reason}")
    log.info(f"wrote {args.output}: {written.rules} rules")


def _write_one(
    args: argparse.Namespace,
    counted: RuleCounts,
    sentences: list[str] | None,
    write: Callable[..., None],
    path: str | Path | None,
) -> int:
    """Writes what the options ask for of one kind of rules, the grammar to the path; returns how many are selected."""
    from lscfg import log
    from lscfg.grammar.select import select_rules
    from lscfg.grammar.write import write_sentence_grammars

    log.table(counted.statistics())
    targets = counted.max_targets if args.max_targets is None else args.max_targets
    selection = select_rules(counted, targets, sentences, bool(args.per_sentence))
    for reason, count in selection.dropped.items():
        if count:
            log.info(f"dropped {count} rules: {reason}")
    if path:
        write(path, counted, selection, args.jobs)
    if args.per_sentence:
        assert sentences is not None
        write_sentence_grammars(args.per_sentence, counted, selection, sentences, args.jobs)
        log.info(f"wrote {len(sentences)} grammars to {args.per_sentence}")
    return len(selection.kept)


def read_rules(args: argparse.Namespace, sentences: list[str] | None) -> dict[str, RuleCounts]:
    """The rules that the options name, by the name of the grammar in the table of sizes.

    Args:
        sentences: the text of --filter; Hiero rules that can match no part of it may be left out.
    """
    from lscfg.extract.derive import Derivations
    from lscfg.extract.hiero import HieroLimits, extract_files
    from lscfg.extract.minimal import MinimalRules
    from lscfg.extract.phrases import PhraseRules
    from lscfg.settings import from_options

    grammars: dict[str, RuleCounts] = {}
    if args.hiero:
        limits = from_options(HieroLimits, args)
        src, tgt, *alignments = args.hiero
        grammars["HIERO"] = extract_files(src, tgt, alignments, limits, wanted=sentences)
    if args.phrases:
        grammars["PHRASES"] = PhraseRules.of(Derivations.load(args.derivations), args.phrases)
    elif args.derivations:
        grammars["MIN"] = MinimalRules.of(Derivations.load(args.derivations))
    return grammars


def size_table(grammars: dict[str, RuleCounts], sentences: list[str] | None) -> str:
    """Rules by arity and in all; for a minimal grammar the effective sizes with m hidden states too."""
    from lscfg.grammar.counts import effective_size
    from lscfg.grammar.select import select_rules
    from lscfg.io.text import align_columns

    rows = [["grammar", "arity 0", "arity 1", "arity 2", "size"]]
    for name, counted in grammars.items():
        kept = select_rules(counted, 0, sentences).kept
        arity = counted.rules.arity[kept]
        counts = [int((arity == k).sum()) for k in range(3)]
        rows.append([name, *map(str, counts), str(sum(counts))])
        if name == "MIN":
            rows += [[f"LV m = {m}", "", "", "", str(effective_size(counted, m, kept))] for m in STATES]
    return "\n".join(align_columns(rows))
