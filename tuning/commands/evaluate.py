"""``lscfg evaluate``: scores of system outputs, tests of their differences, and where they differ."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lscfg.io.text import align_columns

if TYPE_CHECKING:
    from lscfg.tuning.evaluate import Evaluation
    from lscfg.tuning.replication import ReplicatedScore

_METRICS = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, NamedFile, OutputFile
    from lscfg.options import add_old_name, add_output, add_reference, add_seed, add_source

    parser.add_argument(
        "systems",
        type=NamedFile,
        metavar="NAME=FILE",
        nargs="+",
        help="tokenized output of a system; repeat NAME for several tunings (BLEU only)",
    )
    add_reference(parser)
    parser.add_argument("--baseline", metavar="NAME", help="system to test the others against (default: no test)")
    parser.add_argument(
        "--metrics", metavar="LIST", default="bleu", help="metrics beside BLEU: chrf, ter (default: none)"
    )
    parser.add_argument(
        "--comet",
        type=InputFile,
        metavar="MODEL",
        help="checkpoint of COMET, which scores as well; needs --source and the package unbabel-comet",
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
    add_old_name(parser, "--json", add_output(parser, "file for all figures, as JSON (default: none)"))
    add_source(parser, "source text, shown with the differences")
    parser.add_argument(
        "--differences",
        metavar="N",
        type=int,
        default=0,
        help="show the N largest gains and losses of each system against the baseline (default: 0)",
    )
    table = parser.add_argument(
        "--sentence-table",
        type=OutputFile,
        metavar="FILE",
        help="file for all sentences, sorted by the gain against the baseline (tab-separated)",
    )
    add_old_name(parser, "--sentences", table)


def run(args: argparse.Namespace) -> None:
    """Prints the tables of scores and, on request, the sentences that differ.

    Raises:
        InputError: an argument is not NAME=FILE, files differ in length, or see ``lscfg.tuning.evaluate.evaluate``.
    """
    from dataclasses import asdict

    from lscfg.corpus.parallel import check_length
    from lscfg.errors import InputError, quote
    from lscfg.io.text import read_lines, write_json
    from lscfg.tuning.commands import check_names
    from lscfg.tuning.evaluate import evaluate
    from lscfg.tuning.replication import compare_runs

    metrics = ["BLEU"]
    for name in args.metrics.split(","):
        if name.strip().lower() not in _METRICS:
            raise InputError(f"--metrics: {quote(name)} is none of {', '.join(_METRICS)}")
        if _METRICS[name.strip().lower()] not in metrics:
            metrics.append(_METRICS[name.strip().lower()])
    if args.differences < 0:
        raise InputError(f"--differences must not be negative, but is {args.differences}")
    if (args.differences or args.sentence_table) and args.baseline is None:
        raise InputError("differences need --baseline, the system to compare the others with")
    if args.comet and not args.source:
        raise InputError("COMET reads the source, too; name it with --source")
    references = [read_lines(path) for path in args.reference]
    lines = len(references[0])

    def read_checked(path: str) -> list[str]:
        found = read_lines(path)
        check_length(len(found), path, lines, args.reference[0])
        return found

    for path in args.reference[1:]:
        read_checked(path)
    systems: dict[str, list[list[str]]] = {}
    for item in args.systems:
        if not item.name or item.endswith("="):
            raise InputError(f"expected NAME=FILE, found {quote(item)}")
        check_names(item.name)
        systems.setdefault(item.name, []).append(read_checked(item.path))
    source = read_checked(args.source) if args.source else None
    if all(len(runs) == 1 for runs in systems.values()):
        single = {name: runs[0] for name, runs in systems.items()}
        scores = evaluate(single, references, args.baseline, args.samples, args.seed, metrics, args.trials)
        if args.comet:
            _add_comet(args, scores, single, references, source)
        text, record = format_scores(scores), asdict(scores)
    elif len(metrics) > 1 or args.comet:
        raise InputError("with several outputs of a system the test is that of BLEU: leave --metrics and --comet out")
    else:
        replicated = compare_runs(systems, references, args.baseline, args.samples, args.trials, args.seed)
        text = format_runs(replicated, args.samples, args.trials, args.seed)
        record = {"systems": [asdict(score) for score in replicated]}
        record |= {"samples": args.samples, "trials": args.trials, "seed": args.seed}
    print(text)
    if args.output:
        write_json(args.output, record)
    if args.differences or args.sentence_table:
        _show_differences(args, systems, references, source)


def _add_comet(
    args: argparse.Namespace,
    scores: Evaluation,
    systems: dict[str, list[str]],
    references: list[list[str]],
    source: list[str] | None,
) -> None:
    from pathlib import Path

    from lscfg.extras import installed_versions
    from lscfg.tuning.neural import comet_scores, compare_means

    found = comet_scores(args.comet, source or [], systems, references)
    means = compare_means(found, args.baseline, args.samples, args.trials, args.seed)
    for system in scores.systems:
        system.metrics["COMET"] = means[system.name]
    scores.signatures["COMET"] = f"{Path(args.comet).name}, times 100" + "".join(
        f", {package} {version}" for package, version in installed_versions(["unbabel-comet"]).items()
    )


def _show_differences(
    args: argparse.Namespace,
    systems: dict[str, list[list[str]]],
    references: list[list[str]],
    source: list[str] | None,
) -> None:
    """The first run of each system against that of the baseline."""
    from lscfg.tuning.sentences import differences, format_differences, write_table

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
    """The scores as tables of aligned columns, then the metrics' signatures."""
    lines = []
    for metric, signature in evaluation.signatures.items():
        head = ["system", metric, "mean ± 95 % CI", "p bootstrap", "p randomised"]
        rows = [head + (["1-gram", "2-gram", "3-gram", "4-gram", "BP", "length"] if metric == "BLEU" else [])]
        for system in evaluation.systems:
            score = system.metrics[metric]
            row = [system.name, f"{score.score:.2f}", f"{score.mean:.2f} ± {score.ci:.2f}"]
            row += [_number(score.p_bootstrap, 4), _number(score.p_randomised, 4)]
            if metric == "BLEU":
                row += _breakdown(system.precisions, system.brevity_penalty, system.length_ratio)
            rows.append(row)
        lines += [*align_columns(rows), f"{metric}: {signature}", ""]
    if any(system.metrics["BLEU"].p_randomised is not None for system in evaluation.systems):
        lines.append(f"p randomised: {evaluation.trials} trials, seed {evaluation.seed}")
    return "\n".join(lines).rstrip()


def format_runs(scores: Sequence[ReplicatedScore], samples: int, trials: int, seed: int) -> str:
    """The scores over several runs as a table of aligned columns."""
    rows = [["system", "runs", "BLEU", "deviation", "95 % CI", "p bootstrap", "p randomised"]]
    rows[0] += ["1-gram", "2-gram", "3-gram", "4-gram", "BP", "length"]
    for score in scores:
        row = [score.name, str(len(score.runs)), f"{score.bleu:.2f}", _number(score.deviation, 2)]
        row += [f"± {score.bleu_ci:.2f}", _number(score.p_bootstrap, 4), _number(score.p_randomised, 4)]
        rows.append([*row, *_breakdown(score.precisions, score.brevity_penalty, score.length_ratio)])
    note = f"means over the runs; {samples} bootstrap samples, {trials} trials of stratified randomisation, seed {seed}"
    return "\n".join([*align_columns(rows), note])


def _breakdown(precisions: Sequence[float], brevity_penalty: float, length_ratio: float) -> list[str]:
    return [*(f"{value:.1f}" for value in precisions), f"{brevity_penalty:.3f}", f"{length_ratio:.3f}"]


def _number(value: float | None, digits: int) -> str:
    """A number for the table; a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"
