"""Sampled grammars: the log joint probability of power tables by the order of the rules.

    python benchmarks/sampler_order.py train.ja train.en train.align [--sweeps 20]

Tables that are powers of counts (Huang & Renals 2010) are not exchangeable, so that the product over all tokens, each
given the ones before it, depends on their order. The sampler takes rules in the order of their numbers, in which they
first came up. Before other orders are printed, that one is compared with the figure of the sampler.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import runs
from scipy.special import gammaln

from lscfg.extract.extractor import RuleInputs
from lscfg.grammar.table import RuleTable
from lscfg.induce.sampled.text import read_text
from lscfg.kernel.sample import SamplerOptions, TreeSampler

OPTIONS = SamplerOptions()


def log_joint(tokens: np.ndarray, lengths: np.ndarray) -> float:
    """Of tokens of rules in their order, by a process for each length of rules."""
    order = np.argsort(tokens, kind="stable")
    sizes = np.unique(tokens, return_counts=True)[1]
    before = np.empty(len(tokens))  # tokens of the same rule
    before[order] = np.arange(len(tokens)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    total = 0.0
    for length in np.unique(lengths):
        same = before[lengths[tokens] == length]
        tables = np.concatenate([[0], np.cumsum((same + 1) ** OPTIONS.discount - _powers(same))[:-1]])
        log_length = length * np.log(OPTIONS.mean_length) - OPTIONS.mean_length - gammaln(length + 1)
        share = (OPTIONS.discount * tables + OPTIONS.alpha) * np.exp(log_length)
        predicted = np.log(same - OPTIONS.discount * _powers(same) + share)
        total += (log_length + predicted - np.log(np.arange(len(same)) + OPTIONS.alpha)).sum()
    return float(total)


def _powers(counts: np.ndarray) -> np.ndarray:
    return np.where(counts > 0, counts, 0) ** OPTIONS.discount


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("files", nargs=3, type=Path, metavar="FILE")
    parser.add_argument("--sweeps", type=int, default=20)
    args = parser.parse_args()
    text = read_text(RuleInputs(args.files[0], args.files[1], (args.files[2],)), 7, 100)
    sampler = TreeSampler(text.forests, OPTIONS)
    for number in range(1, args.sweeps + 1):
        sampler.sweep(number)
    arrays = sampler.arrays()
    rules, counts = RuleTable.from_arrays(arrays), arrays["count"]
    lengths = np.diff(rules.offsets) - 2 * rules.arity + rules.scopes()[1]
    number = np.arange(len(counts))
    orders = {
        "of first appearance": number,
        "random": np.random.default_rng(1).permutation(number),
        "frequent rules first": np.argsort(-counts, kind="stable"),
        "rare rules first": np.argsort(counts, kind="stable"),
    }
    found = {name: log_joint(np.repeat(order, counts[order]), lengths) for name, order in orders.items()}
    found_by_sampler = sampler.state().log_joint
    if not np.isclose(found["of first appearance"], found_by_sampler, rtol=1e-9):
        raise SystemExit(f"the sampler has {found_by_sampler}, but it is {found['of first appearance']}")
    run = runs.Run(args)
    state = sampler.state()
    run.table(f"{state.tokens} tokens of {state.types} rules", ["order", "log joint"])
    for name, value in found.items():
        run.row(name, value)
    run.save()


if __name__ == "__main__":
    main()
