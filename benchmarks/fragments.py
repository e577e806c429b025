"""Fragments of given forests: sweeps a second, next to rules of the phrase-decomposition forests of the same text.

    python benchmarks/fragments.py train.ja train.en train.align [--sweeps 10]

The given forests hold all minimal derivations of the pairs. ``ratio`` is the speed in nodes a second of the forests by
that of text, each the best of three turns; .3 were asked.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import runs

from lscfg.extract.derive import derive_files
from lscfg.extract.extractor import RuleInputs
from lscfg.induce.sampled.chain import ChainSettings
from lscfg.induce.sampled.productions import read_productions
from lscfg.induce.sampled.text import read_text
from lscfg.kernel.sample import PhraseForests, TreeSampler

TURNS = 3
MAX_CUT, MAX_WORDS = 7, 100


def seconds_of_a_sweep(forests: PhraseForests, sweeps: int) -> float:
    """Mean CPU seconds of the sweeps of a new chain."""
    sampler = TreeSampler(forests, ChainSettings(sweeps=sweeps).options())
    began = time.process_time()
    for number in range(1, sweeps + 1):
        sampler.sweep(number)
    return (time.process_time() - began) / sweeps


def main() -> None:
    parser = runs.parser(__doc__)
    runs.add_aligned_text(parser)
    parser.add_argument("--sweeps", type=int, default=10)
    args = parser.parse_args()
    run = runs.Run(args)
    text = read_text(RuleInputs(args.source, args.target, tuple(args.alignment)), MAX_CUT, MAX_WORDS).forests
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "derivations"
        derive_files(args.source, args.target, args.alignment, path, forests=True)
        given = read_productions(path, MAX_WORDS)
    forests = given.kernel(MAX_CUT, pcfg=False)
    run.table("fragments", ["forests", "nodes", "CPU s of a sweep", "nodes per CPU s", "ratio"])
    kinds = {"of text": text, "given": forests}
    turns = [[seconds_of_a_sweep(one, args.sweeps) for one in kinds.values()] for _ in range(TURNS)]
    best = dict(zip(kinds, map(min, *turns), strict=True))
    speed = {name: kinds[name].sizes().nodes / seconds for name, seconds in best.items()}
    for name, one in kinds.items():
        run.row(name, one.sizes().nodes, best[name], speed[name], speed[name] / speed["of text"])
    run.save()


if __name__ == "__main__":
    main()
