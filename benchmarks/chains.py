"""Sampled grammars: log joint probability of chains of several seeds (Chung et al. 2014, Figures 5 and 6), and time.

    python benchmarks/chains.py train.ja train.en train.align [--sweeps 100] [--seeds 5]

Kinds are level by level (the default), all levels at once, all levels without the density factor, and whole trees by
Metropolis-Hastings; the last three also with the Dirichlet process of the paper's section 4, whose log joint is of
another scale. A row lists means and standard deviations over the seeds: CPU seconds of all sweeps, the log joint
probability after 10 sweeps and after the last one, and the mean over all sweeps but the first ten.
"""

from __future__ import annotations

import time

import numpy as np
import runs

from lscfg.extract.extractor import RuleInputs
from lscfg.induce.sampled.chain import ChainSettings
from lscfg.induce.sampled.text import SampledText, read_text
from lscfg.kernel.sample import TreeSampler

OMITTED = 10
PAPER = {"process": "dp", "alpha": 100.0, "level_sweeps": 0}
KINDS = {
    "level by level": {},
    "all levels": {"level_sweeps": 0},
    "all levels, no density factor": {"level_sweeps": 0, "offtree": "ignored"},
    "whole trees": {"level_sweeps": 0, "moves": "tree"},
    "all levels, Dirichlet": PAPER,
    "all levels, Dirichlet, no density factor": PAPER | {"offtree": "ignored"},
    "whole trees, Dirichlet": PAPER | {"moves": "tree"},
}


def chain(text: SampledText, settings: ChainSettings) -> tuple[float, list[float]]:
    """CPU seconds of a chain, and the log joint probability after each sweep."""
    sampler, joint = TreeSampler(text.forests, settings.options()), []
    began = time.process_time()
    for sweep in range(1, settings.sweeps + 1):
        sampler.sweep(sweep, settings.max_level(sweep))
        joint.append(sampler.state().log_joint)
    return time.process_time() - began, joint


def main() -> None:
    parser = runs.parser(__doc__)
    runs.add_aligned_text(parser)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    text = read_text(RuleInputs(args.source, args.target, tuple(args.alignment)), 7, 100)
    run = runs.Run(args)
    quantities = ("CPU s", f"after {OMITTED}", f"after {args.sweeps}", f"mean after {OMITTED}")
    run.table("chains", ["kind", *(title for name in quantities for title in (name, f"sd of {name}"))])
    for kind, values in KINDS.items():
        found = []
        for seed in range(1, args.seeds + 1):
            seconds, joint = chain(text, ChainSettings(sweeps=args.sweeps, seed=seed, **values))
            found.append([seconds, joint[OMITTED - 1], joint[-1], np.mean(joint[OMITTED:])])
        mean, deviation = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
        run.row(kind, *(float(value) for pair in zip(mean, deviation, strict=True) for value in pair))
    run.save()


if __name__ == "__main__":
    main()
