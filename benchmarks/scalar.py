"""Scalar inside-outside per sentence: the kernel against a straightforward program in NumPy, and the tensors at m = 1.

    python benchmarks/scalar.py MODEL --text dev.ja [--sentences 100] [--reference 20] [--samples 1000]

MODEL has one hidden state (lscfg estimate mle). The forests use the model's rules, at most --targets of a source
side. Weights are the model's parameters, so all three programs compute the same sums and marginals. They are compared
before any time is printed. Samples are compared with the marginals: each application's count must lie within six
standard deviations. Times are the least of --repeats passes over all sentences, on one thread.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import runs

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from inside_outside import pruned
from samples import sample_derivations

from lscfg.io.read import read_lines
from lscfg.kernel import PASS, Binding, Forest, Grammar, Model, ParseOptions, S, X, scalar
from lscfg.model.parameters import Parameters


def log_weights(forest: Forest, grammar: Grammar, parameters: Parameters) -> np.ndarray:
    """Of each application: its rule's parameter, and the root's for each independent tree below a glue rule."""
    by_rule = np.zeros(len(grammar) + 5)
    for k in range(3):
        by_rule[np.nonzero(parameters.rules.arity == k)[0]] = np.asarray(parameters.tensors[k]).reshape(-1)
    by_rule[len(grammar) : len(grammar) + 2] = 1
    by_rule[len(grammar) + PASS] = parameters.unk[0]
    is_tree = (forest.edge_tail >= 0) & (forest.node_cat[forest.edge_tail] == X)
    trees = is_tree.sum(axis=1) * (forest.node_cat[forest.edge_head] == S)
    with np.errstate(divide="ignore"):
        return np.log(by_rule)[forest.app_rule] + np.log(parameters.root[0]) * trees[forest.app_edge]


def reference(forest: Forest, log_weight: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """log g, marginals of applications and of nodes: node by node, the applications of a node at once."""
    inside, nodes = np.empty(forest.n_nodes), np.zeros(forest.n_nodes)
    share, apps = np.empty(forest.n_apps), np.empty(forest.n_apps)
    bounds = forest.edge_apps[forest.node_edges].tolist()
    first, second = forest.edge_tail[forest.app_edge].T
    for q in range(forest.n_nodes):
        here = slice(bounds[q], bounds[q + 1])
        left, right = first[here], second[here]
        terms = log_weight[here] + np.where(left >= 0, inside[left], 0) + np.where(right >= 0, inside[right], 0)
        largest = terms.max()
        if largest == -np.inf:
            inside[q], share[here] = -np.inf, 0
            continue
        parts = np.exp(terms - largest)
        inside[q] = largest + np.log(parts.sum())
        share[here] = parts / parts.sum()
    nodes[-1] = 1
    for q in range(forest.n_nodes - 1, -1, -1):
        here = slice(bounds[q], bounds[q + 1])
        apps[here] = nodes[q] * share[here]
        for tail in (first[here], second[here]):
            np.add.at(nodes, tail[tail >= 0], apps[here][tail >= 0])
    return float(inside[-1]), apps, nodes


def compare(forest: Forest, log_weight: np.ndarray, binding: Binding, slow: bool, samples: int) -> None:
    found, tensor = scalar.expect(forest, log_weight), binding.infer(forest)
    assert np.isclose(found.log_g, tensor.log_g, rtol=1e-10), "the sums differ from those of the tensors"
    assert np.allclose(found.apps, tensor.apps, rtol=1e-8, atol=1e-12), "marginals differ from those of the tensors"
    assert np.allclose(found.nodes, tensor.nodes, rtol=1e-8, atol=1e-12)
    if slow:
        log_g, apps, nodes = reference(forest, log_weight)
        assert np.isclose(found.log_g, log_g, rtol=1e-12) and np.allclose(found.apps, apps, rtol=1e-10, atol=1e-14)
        assert np.allclose(found.nodes, nodes, rtol=1e-10, atol=1e-14)
    drawn = sample_derivations(forest, scalar.inside(forest, log_weight).share, samples, 1)
    counts = np.bincount(drawn.apps, minlength=forest.n_apps)
    deviation = np.sqrt(samples * found.apps * (1 - found.apps).clip(0))
    assert (np.abs(counts - samples * found.apps) < 6 * deviation + 6).all(), "samples do not fit the marginals"
    best = scalar.viterbi(forest, log_weight)
    assert best is not None and np.isclose(log_weight[best.apps].sum(), best.score) and best.score <= found.log_g


def least(work: Callable[..., object], items: list[tuple], repeats: int) -> float:
    """Seconds an item."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for item in items:
            work(*item)
        times.append(time.perf_counter() - begin)
    return min(times) / len(items)


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("model", help="model file with one hidden state")
    parser.add_argument("--text", required=True, help="sentences to parse, one a line")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--reference", type=int, default=20, help="sentences for the program in NumPy (default: 20)")
    parser.add_argument("--samples", type=int, default=1000, help="derivations drawn of each sentence (default: 1000)")
    parser.add_argument("--targets", type=int, default=20, help="target sides of a source side (default: 20)")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parameters, path, _ = pruned(args.model, args.targets, Path(folder) / "model")
        if len(parameters.root) != 1:
            parser.error(f"{args.model} has {len(parameters.root)} hidden states; give a model of lscfg estimate mle")
        model = Model(path)
        grammar = model.grammar()
        binding = Binding(model, grammar)
        parsed = (
            grammar.parse(grammar.vocab.add_line(line), ParseOptions(100, True, 2, S))
            for line in read_lines(args.text)[: args.sentences]
        )
        items = [(f, log_weights(f, grammar, parameters)) for f in parsed if f is not None]
        for k, (forest, weights) in enumerate(items):
            compare(forest, weights, binding, k < args.reference, args.samples)
        shares = [(f, scalar.inside(f, w).share) for f, w in items]
        values = [(f, share, np.ones(f.n_apps)) for f, share in shares]
        some = items[: args.reference]
        tensor = least(binding.infer, [(f,) for f, _ in items], args.repeats)
        kernel = least(scalar.expect, items, args.repeats)
        numpy, short = least(reference, some, 1), least(scalar.expect, some, args.repeats)
        rows = [
            ("sums and marginals", kernel),
            ("tensors at m = 1", tensor),
            ("best derivation", least(scalar.viterbi, items, args.repeats)),
            ("covariances", least(scalar.covariance, values, args.repeats)),
        ]
        draw = least(lambda f, s: sample_derivations(f, s, args.samples, 1), shares, args.repeats)
        drawn = np.mean([len(sample_derivations(f, s, 10, 1).apps) / 10 for f, s in shares])
        rows.append((f"{args.samples} samples", draw))
    edges, apps = (np.mean([getattr(f, what) for f, _ in items]) for what in ("n_edges", "n_apps"))
    run = runs.Run(args)
    run.table("sizes", ["sentences", "mean edges", "mean applications"])
    run.row(len(items), edges, apps)
    run.table("a sentence", ["computation", "us"])
    for name, seconds in rows:
        run.row(name, seconds * 1e6)
    run.table("ratios of sums and marginals", ["to tensors", "to NumPy"])
    run.row(tensor / kernel, numpy / short)
    run.table("an application in nanoseconds", ["sums and marginals", "samples"])
    run.row(kernel / apps * 1e9, draw / args.samples / drawn * 1e9)
    run.save()


if __name__ == "__main__":
    main()
