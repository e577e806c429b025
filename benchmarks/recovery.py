"""Recovery of a known L-SCFG: errors of spectral estimates from ever larger samples of it, by rank.

    python benchmarks/recovery.py -m 3 -o recovery

The error is the mean of |estimated / true - 1| over the probabilities of trees that the model was not estimated from.
At the true rank and above it falls as the sample's square root (slope -0.5 of the logarithms); below, it stays.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from lscfg.estimate.spectral import MethodOfMoments, SpectralSettings
from lscfg.study.simulate import GrammarSettings, random_model, sample, tree_values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", type=int, default=3, help="hidden states of the known model")
    parser.add_argument("--least", type=int, default=1000, help="sentence pairs of the smallest sample")
    parser.add_argument("--doublings", type=int, default=8, help="samples, each twice the one before")
    parser.add_argument("--seeds", type=int, default=3, help="samples of each size")
    parser.add_argument("--grammar-seed", type=int, default=1)
    parser.add_argument(
        "-o", "--output", metavar="NAME", help="write NAME.json, and NAME.png where matplotlib is found"
    )
    args = parser.parse_args()
    model = random_model(GrammarSettings(args.m), args.grammar_seed)
    trees = sample(model, 2000, 10**6)
    true = tree_values(model, trees)
    sizes = [args.least * 2**k for k in range(args.doublings + 1)]
    ranks = [r for r in (args.m - 1, args.m, args.m + 1) if r]
    errors: dict[int, list[float]] = {rank: [] for rank in ranks}
    print(f"{'pairs':>8} " + " ".join(f"{'m = ' + str(rank):>9}" for rank in ranks) + f" {'seconds':>8}")
    for size in sizes:
        begin = time.perf_counter()
        samples = [sample(model, size, seed) for seed in range(args.seeds)]
        for rank in ranks:
            found = (MethodOfMoments().estimate(s, SpectralSettings(rank)).parameters() for s in samples)
            estimates = [tree_values(parameters, trees) for parameters in found]
            errors[rank].append(float(np.mean([np.abs(e / true - 1).mean() for e in estimates])))
        line = " ".join(f"{errors[rank][-1]:9.4f}" for rank in ranks)
        print(f"{size:8d} {line} {time.perf_counter() - begin:8.1f}")
    slopes = {rank: float(np.polyfit(np.log(sizes), np.log(errors[rank]), 1)[0]) for rank in ranks}
    print(f"{'slope':>8} " + " ".join(f"{slopes[rank]:9.2f}" for rank in ranks))
    if args.output:
        facts = {"true rank": args.m, "pairs": sizes, "errors": errors, "slopes": slopes}
        Path(f"{args.output}.json").write_text(json.dumps(facts, indent=1) + "\n")
        plot(sizes, errors, args.m, args.output)


def plot(sizes: list[int], errors: dict[int, list[float]], true_rank: int, output: str) -> None:
    """Errors over sample sizes."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(5, 3.5))
    for rank, values in errors.items():
        axis.loglog(sizes, values, "o-", label=f"m = {rank}" + (" (true)" if rank == true_rank else ""))
    axis.set(xlabel="sentence pairs", ylabel="mean relative error of tree probabilities")
    axis.legend()
    figure.tight_layout()
    figure.savefig(f"{output}.png", dpi=120)


if __name__ == "__main__":
    main()
