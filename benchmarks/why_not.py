"""CPU seconds that a system takes to explain why it does not choose the reference, by length of the sentence.

    python benchmarks/why_not.py SYSTEM test.de test.en

The first sentences of each band of lengths count, with at most 60 words on both sides.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import runs

from lscfg.bundle.system import open_system
from lscfg.decode.why_not import MAX_WORDS
from lscfg.io.read import read_lines

BANDS = (8, 14), (18, 22), (26, 31), (40, 60)


def main() -> None:
    """Prints the times and keeps them."""
    parser = runs.parser(__doc__)
    parser.add_argument("system")
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--sentences", type=int, default=8, help="maximum sentences of a band (default: %(default)s)")
    args = parser.parse_args()
    run, system = runs.Run(args), open_system(args.system)
    pairs = [*zip(read_lines(args.source), read_lines(args.reference), strict=True)]
    run.table("why not", ["words", "sentences", "unreachable", "s, mean", "s, most"])
    with system.decoder() as decoder:
        for least, most in BANDS:
            fits = [(s, r) for s, r in pairs if least <= len(s.split()) <= most and 1 <= len(r.split()) <= MAX_WORDS]
            seconds, unreachable = [], 0
            for source, reference in fits[: args.sentences]:
                start = time.process_time()
                unreachable += decoder.why_not(source, reference, system.weights).verdict == "unreachable"
                seconds.append(time.process_time() - start)
            if seconds:
                run.row(f"{least} to {most}", len(seconds), unreachable, float(np.mean(seconds)), max(seconds))
    run.save()


if __name__ == "__main__":
    main()
