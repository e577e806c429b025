"""Parsing of sentence pairs on both sides: milliseconds a pair, how good the search is, and memory.

    python benchmarks/biparse.py train.ja train.en train.align [--pairs 2000] [--wide 300]

Pairs are parsed by cube pruning with the pops of a span, without and with the neighbour hypergraph of learning, and the
first ``--wide`` of them with as many pops for each cube, which is the reference. That no pair is likelier than 1, and
that the search with more pops has no lower mean score, is checked before a figure is printed. Times are CPU seconds of
one thread.
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace

import numpy as np
import runs

from lscfg.extract.extractor import RuleInputs
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.induce.biparsed.text import read_bitexts
from lscfg.kernel.biparse import NEIGHBOURS, Beams, BiparseModel, Bitexts, Visits


def timed(text: Bitexts, beams: Beams, pairs: np.ndarray, what: int = 0) -> tuple[float, np.ndarray]:
    """CPU milliseconds a pair, and the kernel's records."""
    model, visits = BiparseModel(text, beams), Visits()
    began = time.process_time()
    model.visit(visits, pairs, what)
    return 1000 * (time.process_time() - began) / len(pairs), visits.results()


def main() -> None:
    """Prints a row for each way to parse."""
    parser = runs.parser(__doc__)
    runs.add_aligned_text(parser)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--wide", type=int, default=300)
    args = parser.parse_args()
    text = read_bitexts(RuleInputs(args.source, args.target, tuple(args.alignment)), BiparseSettings())
    there = np.flatnonzero(np.diff(text.arrays()["src.offsets"]) > 0)
    pairs, few = there[: args.pairs], there[: args.wide]
    beams = BiparseSettings().beams
    rows = {
        "pops of a span": timed(text, beams, pairs),
        "with neighbours": timed(text, beams, pairs, NEIGHBOURS),
        f"first {len(few)}": timed(text, beams, few),
        f"first {len(few)}, pops of each cube": timed(text, replace(beams, each_cube=True), few),
    }
    learned = rows["with neighbours"][1]
    assert (learned["log_pair"] <= learned["log_source"] + 1e-9)[learned["tries"] > 0].all(), (
        "a pair is likelier than 1"
    )
    *_, (narrow_time, narrow), (wide_time, wide) = rows.values()
    both = (narrow["tries"] > 0) & (wide["tries"] > 0)
    gap = float((wide["viterbi"] - narrow["viterbi"])[both].mean())
    assert gap >= 0, "more pops found worse derivations"
    run = runs.Run(args)
    run.table("sentence pairs", ["pops", "ms a pair", "edges", "kept", "without a parse", "tried again"])
    for name, (milliseconds, records) in rows.items():
        parsed = records[records["tries"] > 0]
        unparsed, again = (records["tries"] < 0).sum(), (np.abs(records["tries"]) > 1).sum()
        edges, kept = parsed["edges"].mean(), parsed["kept"].mean()
        run.row(name, milliseconds, edges, kept, unparsed, again)
    run.table("more pops", ["lower mean best score with fewer pops", "times as long", "peak MiB"])
    run.row(gap, wide_time / narrow_time, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    run.save()


if __name__ == "__main__":
    main()
