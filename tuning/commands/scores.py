"""``lscfg evaluate scores``: scores of system outputs, tests of their differences, and where they differ."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from lscfg import log
from lscfg.corpus.parallel import check_length, read_scored_lines
from lscfg.errors import InputError, quote
from lscfg.io.arguments import InputFile, NamedFile, OutputFile
from lscfg.io.columns import align_columns
from lscfg.io.json_files import write_json
from lscfg.io.read import read_lines
from lscfg.options import add_output, add_reference, add_seed, add_source
from lscfg.parser import CommandParser
from lscfg.tuning.bleu import corpus_bleu, corpus_stats, length_ratio
from lscfg.tuning.commands import check_system
from lscfg.tuning.doubts import doubts
from lscfg.tuning.evaluate import Evaluation, MetricScore, evaluate
from lscfg.tuning.metrics.comet import CometSettings
from lscfg.tuning.metrics.metric import METRICS, PRIMARY
from lscfg.tuning.sentences import differences, format_differences, write_table

HELP = "score translations and test their differences"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "systems",
        type=NamedFile,
        metavar="NAME=FILE",
        nargs="+",
        help="tokenised output of a system; repeat NAME for several tunings",
    )
    add_reference(parser)
    parser.add_argument("--baseline", metavar="NAME", help="system to test the others against (default: no test)")
    parser.add_argument(
        "--metrics",
        metavar="LIST",
        default=PRIMARY,
        help=f"metrics besides BLEU: {', '.join(name for name in METRICS.names() if name != PRIMARY)} (default: none)",
    )
    parser.add_argument(
        "--comet",
        type=InputFile,
        metavar="MODEL",
        help="checkpoint of COMET; adds COMET scores, and needs --source and the package unbabel-comet",
    )
    parser.add_argument(
        "--samples", type=int, default=1000, metavar="N", help="samples of the paired bootstrap (default: %(default)s)"
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=10000,
        metavar="N",
        help="trials of the approximate randomisation (default: %(default)s)",
    )
    add_seed(parser, 12345, "both tests")
    add_output(parser, "file for all figures, as JSON (default: none)")
    add_source(parser, "source text, shown with the differences")
    parser.add_argument(
        "--differences",
        metavar="N",
        type=int,
        default=0,
        help="show the N largest gains and losses of each system against the baseline (default: 0)",
    )
    parser.add_argument(
        "--sentence-table",
        type=OutputFile,
        metavar="FILE",
        help="file for all sentences, sorted by the gain against the baseline (tab-separated)",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the tables of scores and, on request, the sentences that differ.

    Raises:
        InputError: an argument is not NAME=FILE, files differ in length, or see ``lscfg.tuning.evaluate.evaluate``.
    """
    metrics = [PRIMARY]
    for name in (part.strip().lower() for part in args.metrics.split(",")):
        if name not in METRICS:
            raise InputError(f"--metrics: {quote(name)} is not one of {', '.join(METRICS.names())}")
        metrics += [name] if name not in metrics else []
    metrics += ["comet"] if args.comet and "comet" not in metrics else []
    if args.differences < 0:
        raise InputError(f"--differences must not be negative, but is {args.differences}")
    if (args.differences or args.sentence_table) and args.baseline is None:
        raise InputError("differences need --baseline, the system to compare the others with")
    if args.comet and not args.source:
        raise InputError("COMET reads the source, too; name it with --source")
    references = [read_scored_lines(args.reference[0])]
    lines = len(references[0]), args.reference[0]
    references += [read_scored_lines(path, *lines) for path in args.reference[1:]]
    systems: dict[str, list[list[str]]] = {}
    for item in args.systems:
        if not item.name or item.endswith("="):
            raise InputError(f"expected NAME=FILE, found {quote(item)}")
        check_system(item.name)
        systems.setdefault(item.name, []).append(read_scored_lines(item.path, *lines))
    source = read_lines(args.source) if args.source else None
    if source is not None:
        check_length(len(source), args.source, *lines)
    found = evaluate(
        systems,
        references,
        args.baseline,
        metrics=metrics,
        settings={"comet": CometSettings(model=Path(args.comet))} if args.comet else {},
        source=source or [],
        samples=args.samples,
        trials=args.trials,
        seed=args.seed,
    )
    print(format_scores(found))
    _warn_of_outputs(systems, references)
    if args.output:
        write_json(args.output, asdict(found))
    if args.differences or args.sentence_table:
        _show_differences(args, systems, references, source)


def _warn_of_outputs(systems: dict[str, list[list[str]]], references: list[list[str]]) -> None:
    """Warns of runs given twice, and of outputs that cannot be translations of the references' text."""
    for name, runs in systems.items():
        if len({tuple(lines) for lines in runs}) < len(runs):
            log.warning(f"{name}: runs have equal output, and the deviation counts each as a tuning; name each once")
        for lines in runs:
            total = corpus_stats(lines, references).sum(axis=0)
            for doubt in doubts(lines, references, corpus_bleu(total), length_ratio(total)):
                log.warning(f"{name}: {doubt}")


def _show_differences(
    args: argparse.Namespace,
    systems: dict[str, list[list[str]]],
    references: list[list[str]],
    source: list[str] | None,
) -> None:
    """The first run of each system against that of the baseline."""
    if any(len(runs) > 1 for runs in systems.values()):
        log.warning("differences and the table of sentences show the first run of each system only")
    found = {
        name: differences(systems[args.baseline][0], runs[0], references)
        for name, runs in systems.items()
        if name != args.baseline
    }
    if args.sentence_table:
        write_table(args.sentence_table, args.baseline, found, references, source)
    if args.differences:
        for name, items in found.items():
            print("\n" + format_differences(args.baseline, name, items, args.differences, references, source))


def format_scores(evaluation: Evaluation) -> str:
    """The scores as a table of aligned columns for each metric, with its signature."""
    several = any(len(score.runs) > 1 for system in evaluation.systems for score in system.metrics.values())
    lines = []
    for title, signature in evaluation.signatures.items():
        scores = {system.name: system.metrics[title] for system in evaluation.systems}
        components = next(iter(scores.values())).components if scores else {}
        rows = [["system", *(["runs"] if several else []), title, *(["deviation"] if several else [])]]
        rows[0] += ["mean ± 95 % CI", "p bootstrap", "p randomised", *components]
        for name, score in scores.items():
            deviation = [_number(score.deviation, 2)] if several else []
            row = [name, *([str(len(score.runs))] if several else []), f"{score.score:.2f}", *deviation]
            row += [f"{score.mean:.2f} ± {score.ci:.2f}", _number(score.p_bootstrap, 4)]
            rows.append([*row, _number(score.p_randomised, 4), *_components(score)])
        lines += [*align_columns(rows), f"{title}: {signature}", ""]
    note = f"p randomised: {evaluation.trials} trials, seed {evaluation.seed}"
    return "\n".join([*lines, note + ("; scores are means over the runs" if several else "")])


def _components(score: MetricScore) -> list[str]:
    """Ratios have three digits, percentages one."""
    return [f"{value:.1f}" if name.endswith("gram") else f"{value:.3f}" for name, value in score.components.items()]


def _number(value: float | None, digits: int) -> str:
    """A number for the table; a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"
