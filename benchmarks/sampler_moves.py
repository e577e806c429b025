"""Sampled grammars: cost and gain of each kind of chain, compared with node by node.

    python benchmarks/sampler_moves.py train.ja train.en train.align [--sweeps 20] [--kinds local,blocked,type]

Each kind begins with the trees of the same seed. Before a figure is printed, the counts of each chain are compared with
its trees, and a chain in shards by one thread with the same by two. A row has

* CPU seconds of a sweep, the mean of the second half of the sweeps, and how often those of ``local`` they are;
* the first sweep whose log joint probability is that of ``local``, the mean of its second half, less its deviation; for
  kinds with the same distribution only;
* effective samples of the number of rule tokens in the second half of the sweeps, for each CPU second;
* how many proposals were accepted, where there are any;
* the log joint probability of the last sweep.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import runs

from lscfg.extract.extractor import RuleInputs
from lscfg.induce.sampled.convergence import effective_samples
from lscfg.induce.sampled.text import SampledText, read_text
from lscfg.kernel.sample import SamplerOptions, SampleState, TreeSampler
from lscfg.parallel.engine import part_bounds

LOCAL = SamplerOptions()
KINDS = {
    "local": LOCAL,
    "blocked": replace(LOCAL, moves="blocked"),
    "type": replace(LOCAL, moves="type"),
    "exact": replace(LOCAL, tables="exact"),
    "corrected": replace(LOCAL, corrected=True),
    "informed": replace(LOCAL, informed=True),
}
SHARDS = {"shards2": 2, "shards64": 64}
SAME = ("local", "blocked", "type", "informed", *SHARDS)
"""Kinds whose distribution is that of local, or nearly so."""


def sweeps(text: SampledText, kind: str, last: int, threads: int = 2) -> Iterator[tuple[float, TreeSampler]]:
    """CPU seconds of each sweep, and the sampler."""
    sampler = TreeSampler(text.forests, KINDS.get(kind, LOCAL))
    shards = SHARDS.get(kind, 1)
    bounds = part_bounds(text.pairs, shards)
    with ThreadPoolExecutor(threads) as pool:
        for number in range(1, last + 1):
            began = time.process_time()
            if shards > 1:
                sampler.sweep_in_shards(number, bounds, pool.map)
            else:
                sampler.sweep(number)
            if KINDS.get(kind, LOCAL).informed and number <= last // 2:
                sampler.adapt()
            yield time.process_time() - began, sampler


def check(sampler: TreeSampler) -> None:
    """Raises an error unless the counts are those of the trees."""
    copy = TreeSampler(sampler._forests, sampler.options)
    copy.restore(sampler.checkpoint())  # refuses counts that are not those of the trees
    assert copy.state().tokens == sampler.state().tokens


def report(
    kind: str, seconds: list[float], states: list[SampleState], local: tuple[float, float, float]
) -> list[runs.Cell]:
    """A row; local: its seconds, and mean and deviation of its log joint probability."""
    half = len(states) // 2
    mean = float(np.mean(seconds[half:]))
    joint = np.array([state.log_joint for state in states])
    there = np.flatnonzero(joint >= local[1] - local[2]) if kind in SAME else []
    worth = effective_samples(np.array([[state.tokens for state in states[half:]]], float)) / sum(seconds[half:])
    end = states[-1]
    drawn, moved = end.trees_drawn + end.types_drawn, end.trees_moved + end.types_moved
    first = int(there[0]) + 1 if len(there) else None
    return [kind, mean, mean / local[0], first, float(worth), moved / drawn if drawn else None, float(joint[-1])]


def main() -> None:
    parser = runs.parser(__doc__)
    runs.add_aligned_text(parser)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--kinds", default=",".join([*KINDS, *SHARDS]), help="the first one is local (default: all)")
    args = parser.parse_args()
    text = read_text(RuleInputs(args.source, args.target, tuple(args.alignment)), 7, 100)
    local: tuple[float, float, float] | None = None
    run = runs.Run(args)
    columns = ["kind", "CPU s of a sweep", "ratio to local", "first sweep as probable as local"]
    run.table("chains", [*columns, "effective samples a second", "accepted", "log joint"])
    for kind in args.kinds.split(","):
        seconds, states = [], []
        for spent, sampler in sweeps(text, kind, args.sweeps):
            seconds.append(spent)
            states.append(sampler.state())
        check(sampler)
        if kind in SHARDS:
            *_, (_, again) = sweeps(text, kind, args.sweeps, threads=1)
            ours, theirs = sampler.trees(), again.trees()
            assert all((ours[name] == theirs[name]).all() for name in ("edge", "cut", "rule"))
        if local is None:
            joint = np.array([state.log_joint for state in states[args.sweeps // 2 :]])
            local = float(np.mean(seconds[args.sweeps // 2 :])), float(joint.mean()), float(joint.std())
        run.row(*report(kind, seconds, states, local))
    run.save()


if __name__ == "__main__":
    main()
