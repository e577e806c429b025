"""Tensor inside-outside per sentence: the kernel against the NumPy reference of the tests, on one thread.

    python benchmarks/inside_outside.py MODEL [MODEL ...] --text dev.ja [--sentences 100] [--reference 2]

Each model (of lscfg estimate or lscfg compress) is one row of each table. The forests are those of the model's own
rules, at most --targets of a source side, so that they are the decoder's. The reference is slow: it runs on the first
--reference sentences only, and its marginals are compared with the kernel's there before any time is printed. Times are
the least of --repeats passes over all sentences.

The second table holds the time against what the machine can do: the floating-point operations of the algorithm (see
`operations`) at the rate of a large matrix product in double precision, which is that of the sums, and the bytes of the
tensors that a sentence touches, each counted once, at the rate of copying. Then two threads against one, and the
memory that inference takes per edge for the first four and the first eight sentences as one.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import runs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from reference import FigureOne

from lscfg.io import tensors
from lscfg.io.read import read_lines
from lscfg.kernel import Binding, Forest, Grammar, Model, ParseOptions, S, X
from lscfg.model.parameters import Parameters, save_low_rank


def pruned(model: str, targets: int, path: Path) -> tuple[Parameters, Path, np.ndarray | None]:
    """The model with the first ``targets`` rules of each source side, its file, and its numbers of components."""
    parameters = Parameters.load(model)
    source = parameters.rules.source_id
    order = np.argsort(source, kind="stable")
    rank = np.arange(len(order)) - np.searchsorted(source[order], source[order])
    kept = np.sort(order[rank < targets])
    arity = parameters.rules.arity
    chosen = [np.isin(np.nonzero(arity == k)[0], kept) for k in range(3)]
    first, second, third = (t[which] for t, which in zip(parameters.tensors, chosen, strict=True))
    small = Parameters(parameters.rules.select(kept), (first, second, third), parameters.root, parameters.unk)
    arrays, _ = tensors.load(model, "model")
    if "C2.components" not in arrays:
        small.save(path, third.dtype)
        return small, path, None
    components = np.diff(arrays["C2.components"])
    rows = np.repeat(chosen[2], components)
    kept_components = components[chosen[2]]
    save_low_rank(path, small, np.concatenate([[0], np.cumsum(kept_components)]), arrays["C2.factors"][rows], {})
    return small, path, kept_components


def operations(forest: Forest, m: int) -> tuple[float, int, int, int]:
    """Floating-point operations of inside-outside with full tensors, values read, and products of tensors and vectors.

    The products are those of a rule's tensor of two nonterminals with a vector, as they are and with one for each head.

    A tensor of two nonterminals is contracted with one vector in 2 m^3 operations. That is done twice for each node and
    source side with rules there, in the inside and in the outside pass, with the sum of the tensors. For the marginals
    it is done for each rule and each head or first tail of its source side, whichever are fewer. An edge adds the outer
    product of its tails to the former (2 m^2) and takes what its tails get from the latter (4 m^2), and each
    application takes its marginal (2 m^2). Rules of one nonterminal have m^2 and m instead of m^3 and m^2.
    """
    arity = (forest.edge_tail.reshape(-1, 2) >= 0).sum(axis=1)
    first = forest.app_rule[forest.edge_apps[:-1]]
    n_rules = np.diff(forest.edge_apps)
    total, values, by_heads, products = 0.0, 0, 0, 0
    for k in (1, 2):
        for source in np.unique(first[arity == k]):  # rules of one source side stand together
            edges = np.nonzero((arity == k) & (first == source))[0]
            heads, tails = (len(np.unique(each[edges])) for each in (forest.edge_head, forest.edge_tail[:, 0]))
            rules = int(n_rules[edges[0]])
            fewer = min(heads, tails) if k == 2 else heads
            total += 2 * m ** (k + 1) * (2 * heads + rules * fewer) + 2 * m**k * len(edges) * (3 + rules)
            values += rules * m ** (k + 1)
            if k == 2:
                by_heads += rules * heads
                products += rules * fewer
    return total, values, products, by_heads


def least(work, items: list, repeats: int) -> float:
    """Seconds of the fastest of some passes over all items."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for item in items:
            work(item)
        times.append(time.perf_counter() - start)
    return min(times)


def machine() -> tuple[float, float]:
    """Floating-point operations a second of a matrix product on one thread, and bytes a second of copying."""
    a = np.random.default_rng(0).random((1024, 1024))
    b, large = a.copy(), np.ones(1 << 25)
    copy = np.empty_like(large)
    return (
        2 * 1024**3 / least(lambda _: a @ b, [0], 20),
        2 * large.nbytes / least(lambda _: np.copyto(copy, large), [0], 5),
    )


def two_threads(binding: Binding, forests: list[Forest], repeats: int) -> float:
    """Time on one thread over time on two, for the same work."""
    with ThreadPoolExecutor(2) as pool:
        one = least(lambda _: [binding.infer(forest) for forest in forests], [0], repeats)
        both = least(lambda _: list(pool.map(binding.infer, forests)), [0], repeats)
    return one / both


def peak_bytes(binding: Binding, forest: Forest) -> int:
    """By how much inference raises the peak of resident memory above what was in use; Linux only."""
    ctypes.CDLL(None).malloc_trim(0)  # what is free goes back, so that it counts when it is taken again
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    binding.infer(forest)
    return _status("VmHWM") - before


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return 1024 * int(line.split()[1])
    raise KeyError(key)


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--text", required=True)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--reference", type=int, default=2, help="sentences for the reference; 0: none")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--targets", type=int, default=30)
    args = parser.parse_args()
    run = runs.Run(args)
    lines = read_lines(args.text)[: args.sentences]
    options = ParseOptions(1000, False, 2, X)
    rate, copying = machine()
    rows = []
    titles = ["m", "components", "edges", "applications", "parse ms", "kernel ms", "NumPy ms", "ratio"]
    run.table("a sentence", titles)
    for name in args.models:
        parameters, path, components = pruned(name, args.targets, Path(f"{name}.pruned"))
        model = Model(path)
        grammar: Grammar = model.grammar()
        words = [grammar.vocab.add_line(line) for line in lines]
        forests = [forest for ids in words if (forest := grammar.parse(ids, options)) is not None]
        parsing = least(lambda ids, g=grammar: g.parse(ids, options), words, args.repeats) / len(words)
        binding = Binding(model, grammar)
        kernel = least(binding.infer, forests, args.repeats) / len(forests)
        slow = ratio = None
        if args.reference:
            reference, some = FigureOne(parameters, grammar), forests[: args.reference]
            for forest in some:
                mu, found = reference.marginals(forest)[0], binding.infer(forest).apps
                scale = max(1.0, float(np.abs(mu).max()))
                assert np.allclose(mu, found, rtol=1e-5, atol=1e-6 * scale), "the two do not agree"
            slow = least(reference.marginals, some, 1) / len(some)
            ratio = slow / (least(binding.infer, some, args.repeats) / len(some))
        edges, apps = (np.mean([getattr(f, what) for f in forests]) for what in ("n_edges", "n_apps"))
        rank = "full" if components is None else f"{components.mean():.2f}"
        numpy_ms = None if slow is None else slow * 1e3
        run.row(model.rank, rank, edges, apps, parsing * 1e3, kernel * 1e3, numpy_ms, ratio)
        needed = np.mean([operations(forest, model.rank) for forest in forests], axis=0)
        threads = two_threads(binding, forests, args.repeats)
        joined = [" ".join(lines[:k]) for k in (4, 8)]
        long = [grammar.parse(grammar.vocab.add_line(line), ParseOptions(100, True, 2, S)) for line in joined]
        memory = [peak_bytes(binding, forest) / forest.n_edges for forest in long if forest is not None]
        rows.append((model.rank, rank, kernel, needed[0], needed[1] * 4, needed[2:], threads, memory))
        path.unlink()
    run.table("the machine", ["matrix product Gflop/s", "copying GB/s", "instructions"])
    run.row(rate / 1e9, copying / 1e9, binding.instructions)
    titles = ["m", "components", "Mflop", "Gflop/s", "share of the matrix product", "megabytes read", "product ms"]
    titles += ["copy ms", "products", "by heads", "gain of 2 threads", "bytes an edge", "bytes an edge, longer"]
    run.table("against the machine", titles)
    for m, rank, seconds, flops, read, (products, by_heads), threads, memory in rows:
        row = [m, rank, flops / 1e6, flops / seconds / 1e9, flops / seconds / rate, read / 1e6]
        row += [flops / rate * 1e3, read / copying * 1e3, products, by_heads, threads]
        run.row(*row, *[*memory, None, None][:2])
    run.save()


if __name__ == "__main__":
    main()
