"""Quality of confidence on fresh text, by the text that it was learned from.

    python benchmarks/confidence.py SYSTEM --learn dev.ja dev.en --learn own.ja own.en --measure test.ja test.en

Each ``--learn`` and each ``--measure`` names words of a text and of its reference. ``by chance`` is the mean expected
calibration error of labels drawn with the confidence as their probability: a perfectly calibrated confidence would show
this error on that many outputs. ``length`` is the AUC of the length of the sentence alone, ``base`` the Brier score
of the base rate.
"""

from __future__ import annotations

from pathlib import Path

import runs

from lscfg.bundle.system import open_system
from lscfg.io.read import read_lines
from lscfg.tuning.confidence import JudgedText, judge, learn_confidence, measure


def main() -> None:
    """Prints the figures and keeps them."""
    parser = runs.parser(__doc__)
    parser.add_argument("system", type=Path)
    for name in ("learn", "measure"):
        parser.add_argument(f"--{name}", nargs=2, type=Path, action="append", required=True, metavar=("TEXT", "WORDS"))
    args = parser.parse_args()
    run, system = runs.Run(args), open_system(args.system, confidence=False)
    columns = "ECE", "by chance", "AUC", "length", "Brier", "base"
    run.table("confidence", ["learned from", "measured on", "outputs", "number", *columns])
    judged: dict[Path, JudgedText] = {}
    with system.decoder() as decoder:
        for source, reference in (*args.learn, *args.measure):
            found = decoder.translate(read_lines(source), system.weights, details=True)
            judged[source] = judge(found, [read_lines(reference)])
    for source, _ in args.learn:
        made = learn_confidence(judged[source], system.weights)
        for other, _ in args.measure:
            for name, one in measure(made, judged[other])._asdict().items():
                values = one.ece[0], one.chance_ece, one.auc[0], one.length_auc, one.brier[0], one.rate_brier
                run.row(source.name, other.name, name, one.outputs, *(round(value, 4) for value in values))
    run.save()


if __name__ == "__main__":
    main()
