"""Recovery of a known L-SCFG: errors of spectral estimates from ever larger samples of it, by rank.

    python benchmarks/recovery.py -m 3
    python benchmarks/recovery.py --ranks 2 3 2 --doublings 6

The error is the mean of |estimated / true - 1| over the probabilities of trees that the model was not estimated from.
At the true rank and above it falls as the sample's square root (slope -0.5 of the logarithms); below, it stays. With
--ranks, the grammar has categories of so many states each; estimates have up to m states of each category.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import runs

from lscfg.estimate.spectral import MethodOfMoments, SpectralSettings
from lscfg.extract.derive import Derivations
from lscfg.model.parameters import Parameters

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from categories import in_blocks, known_grammar, with_true_categories
from simulate import GrammarSettings, random_model, sample, tree_values

Drawn = tuple[Parameters, Callable[[Derivations], Derivations], Callable[[Parameters], Parameters]]
"""A known model of one category; the categories of a sample of it; an estimate as a model of one category."""


def drawn(args: argparse.Namespace) -> Drawn:
    """The grammar that the options describe."""
    if not args.ranks:
        return random_model(GrammarSettings(args.m), args.grammar_seed), lambda trees: trees, lambda found: found
    known = known_grammar(tuple(args.ranks), args.grammar_seed)

    def flat(found: Parameters) -> Parameters:
        states = found.about["states by category"]
        return in_blocks(found, tuple(states[name] for name in found.rules.categories))

    return in_blocks(known, tuple(args.ranks)), lambda trees: with_true_categories(trees, known), flat


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("-m", type=int, default=3, help="hidden states of the known model")
    parser.add_argument("--least", type=int, default=1000, help="sentence pairs of the smallest sample")
    parser.add_argument("--doublings", type=int, default=8, help="samples, each twice the one before")
    parser.add_argument("--seeds", type=int, default=3, help="samples of each size")
    parser.add_argument("--grammar-seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, nargs="+", default=[], help="states of each category instead of -m")
    args = parser.parse_args()
    model, labelled, flat = drawn(args)
    states = max(args.ranks, default=args.m)
    trees = sample(model, 2000, 10**6)
    true = tree_values(model, trees)
    sizes = [args.least * 2**k for k in range(args.doublings + 1)]
    ranks = [r for r in (states - 1, states, states + 1) if r]
    errors: dict[int, list[float]] = {rank: [] for rank in ranks}
    run = runs.Run(args)
    run.table("mean relative error of tree probabilities", ["pairs", *(f"m = {rank}" for rank in ranks), "wall s"])
    for size in sizes:
        begin = time.perf_counter()
        samples = [labelled(sample(model, size, seed)) for seed in range(args.seeds)]
        for rank in ranks:
            found = (MethodOfMoments().estimate(s, SpectralSettings(rank)).parameters() for s in samples)
            estimates = [tree_values(flat(parameters), trees) for parameters in found]
            errors[rank].append(float(np.mean([np.abs(e / true - 1).mean() for e in estimates])))
        run.row(size, *(errors[rank][-1] for rank in ranks), time.perf_counter() - begin)
    run.table("slopes of the logarithms", [f"m = {rank}" for rank in ranks])
    run.row(*(float(np.polyfit(np.log(sizes), np.log(errors[rank]), 1)[0]) for rank in ranks))
    run.save()


if __name__ == "__main__":
    main()
