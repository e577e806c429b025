"""Scores tokenised translations next to each other: the rows of a table of results.json.

python experiments/yardstick.py DIR/test2016.en HIERO=hiero.out NEURAL=neural.out --against HIERO NEURAL prints columns
and a row for each system: BLEU of the tokens, BLEU with the tokeniser 13a, chrF++, TER, p of approximate randomisation
for BLEU of the tokens, and the first digits of the output's SHA-256. Signatures go to standard error. --reference names
further references.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF, TER

from lscfg.io.read import read_lines
from lscfg.tuning.evaluate import evaluate

METRICS = {
    "BLEU": BLEU(tokenize="none", force=True),
    "BLEU 13a": BLEU(tokenize="13a"),
    "chrF++": CHRF(word_order=2),
    "TER": TER(),
}


def rows(
    outputs: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    against: Sequence[str],
    trials: int = 10000,
) -> list[list[str | float | None]]:
    """Scores of systems.

    Args:
        outputs: lines by system.
        references: lines of each reference.
        against: systems to test the others against.
        trials: of the randomisation.

    Returns:
        the columns, then a row for each system.

    Raises:
        InputError: an output has another number of lines than a reference, or an unknown system to test against.
    """
    runs = {name: [lines] for name, lines in outputs.items()}
    tested = evaluate(runs, references, against=against, samples=1, trials=trials)
    found: list[list[str | float | None]] = [["system", *METRICS, *(f"p against {name}" for name in against), "output"]]
    for system in tested.systems:
        lines, p = outputs[system.name], system.metrics["BLEU"].p_against
        scores = [round(metric.corpus_score(lines, references).score, 2) for metric in METRICS.values()]
        digest = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:12]
        found.append(
            [system.name, *scores, *(None if p[name] is None else round(p[name], 4) for name in against), digest]
        )
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
    parser.add_argument("outputs", metavar="NAME=FILE", nargs="+", help="tokenised translations")
    parser.add_argument("--against", metavar="NAME", nargs="*", default=[], help="systems to test the others against")
    parser.add_argument("--trials", type=int, default=10000, help="trials of the randomisation (default: 10000)")
    args = parser.parse_args()
    named = [one.split("=", 1) for one in args.outputs]
    if wrong := [one[0] for one in named if len(one) == 1]:
        parser.error(f"{wrong[0]}: give NAME=FILE")
    outputs = {name: read_lines(path) for name, path in named}
    references = [read_lines(path) for path in (args.reference, *args.more)]
    for row in rows(outputs, references, args.against, args.trials):
        print(json.dumps(row, ensure_ascii=False))
    for name, metric in METRICS.items():
        print(f"{name}: {metric.get_signature()}", file=sys.stderr)


if __name__ == "__main__":
    main()
