"""Scores tokenised translations next to each other: the rows of a table of results.json.

python experiments/yardstick.py DIR/test2016.en HIERO=hiero.out NEURAL=neural.out --against HIERO NEURAL prints columns
and a row for each system: BLEU of the tokens, BLEU with the tokeniser 13a, chrF++, TER, p of approximate randomisation
for BLEU of the tokens, and the first digits of the SHA-256 of the outputs. Signatures go to standard error. --reference
names further references. With several outputs of each system, NAME=run1.out,run2.out, scores are means, a column has
the standard deviation of BLEU, and p concerns all outputs together.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF, TER

from lscfg.io.read import read_lines
from lscfg.tuning.evaluate import evaluate

METRICS = {
    "BLEU": BLEU(tokenize="none", force=True),
    "BLEU 13a": BLEU(tokenize="13a", force=True),
    "chrF++": CHRF(word_order=2),
    "TER": TER(),
}


def rows(
    outputs: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[Sequence[str]],
    against: Sequence[str],
    trials: int = 10000,
) -> list[list[str | float | None]]:
    """Scores of systems.

    Args:
        outputs: lines of each run by system; all systems have equally many runs.
        references: lines of each reference.
        against: systems to test the others against.
        trials: of the randomisation.

    Returns:
        the columns, then a row for each system.

    Raises:
        InputError: numbers of runs or of lines differ, or an unknown system to test against.
    """
    tested = evaluate(outputs, references, against=against, samples=1, trials=trials)
    several = max(map(len, outputs.values())) > 1
    columns = ["system", *METRICS, *(f"p against {name}" for name in against), "output"]
    if several:
        columns.insert(2, "deviation")
    found: list[list[str | float | None]] = [[*columns]]
    for system in tested.systems:
        runs, p = outputs[system.name], system.metrics["BLEU"].p_against
        scores = [[metric.corpus_score(lines, references).score for lines in runs] for metric in METRICS.values()]
        means = [round(statistics.fmean(values), 2) for values in scores]
        if several:
            means.insert(1, round(statistics.stdev(scores[0]), 2))
        tests = [None if p[name] is None else round(p[name], 4) for name in against]
        digest = hashlib.sha256("".join(f"{line}\n" for lines in runs for line in lines).encode()).hexdigest()[:12]
        found.append([system.name, *means, *tests, digest])
    return found


def main() -> None:
    """Prints the rows.

    Raises:
        InputError: a file cannot be read, or the lines of `rows` do not fit together.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference", type=Path, help="tokenised reference")
    parser.add_argument(
        "--reference", dest="more", type=Path, metavar="FILE", action="append", default=[], help="further reference"
    )
    parser.add_argument("outputs", metavar="NAME=FILE[,FILE]", nargs="+", help="tokenised translations")
    parser.add_argument("--against", metavar="NAME", nargs="*", default=[], help="systems to test the others against")
    parser.add_argument("--trials", type=int, default=10000, help="trials of the randomisation (default: 10000)")
    args = parser.parse_args()
    named = [one.split("=", 1) for one in args.outputs]
    if wrong := [one[0] for one in named if len(one) == 1]:
        parser.error(f"{wrong[0]}: give NAME=FILE")
    outputs = {name: [read_lines(path) for path in paths.split(",")] for name, paths in named}
    references = [read_lines(path) for path in (args.reference, *args.more)]
    for row in rows(outputs, references, args.against, args.trials):
        print(json.dumps(row, ensure_ascii=False))
    for name, metric in METRICS.items():
        print(f"{name}: {metric.get_signature()}", file=sys.stderr)


if __name__ == "__main__":
    main()
