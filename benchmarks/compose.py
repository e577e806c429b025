"""Composed rules: how many rules of a grammar a model can compose, and what inference over them costs.

    python benchmarks/compose.py MODEL [MODEL ...] --grammar hiero.gz --minimal min.gz --text devtest.ja

The reference is the minimal grammar, all of whose rules the model knows. Both grammars are parsed with glue and Hiero's
span limit. Before a time is printed the marginals of each forest are checked: those of the edges into the root add up
to one. "tensors MiB" is what the distinct composed rules of a sentence would need if their tensors were made. Columns
"bind MiB", "other rules MiB" and "inference MiB" contain the peak of memory in a step less the memory before the step.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import runs

from lscfg.io.read import read_lines
from lscfg.kernel import RULE_KINDS, Binding, BindingOptions, Forest, Grammar, Model, ParseOptions

COMPOSED = [RULE_KINDS.index(kind) for kind in ("composed", "composed with OOV parts")]


def fresh_peak() -> float:
    """Begins a new peak of memory, which Linux keeps for the process; returns the MiB in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """MiB that the process has needed at most since ``fresh_peak``."""
    found = re.search(r"^VmHWM:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.M)
    assert found
    return int(found[1]) / 1024


def parsed(path: str, lines: list[str], span: int) -> tuple[Grammar, list[Forest]]:
    """A grammar and the forests of the lines that have one."""
    grammar = Grammar.from_files([path])
    options = ParseOptions(span, True, 2)
    forests = [grammar.parse(grammar.vocab.add_line(line), options) for line in lines]
    return grammar, [forest for forest in forests if forest is not None]


def shares(counts: np.ndarray) -> str:
    """Each kind of rule with its share."""
    return ", ".join(f"{name} {n} ({n / counts.sum():.2%})" for name, n in zip(RULE_KINDS, counts, strict=True) if n)


def seconds_each(binding: Binding, forests: list[Forest], repeats: int = 3) -> float:
    """The least of the mean CPU seconds a forest."""
    for forest in forests:
        result = binding.infer(forest)
        top = forest.edge_head[forest.app_edge] == forest.n_nodes - 1
        assert result.sign == 0 or abs(result.apps[top].sum() - 1) < 1e-6, "the marginals do not add up"
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for forest in forests:
            binding.infer(forest)
        best = min(best, (time.process_time() - start) / len(forests))
    return best


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--grammar", required=True)
    parser.add_argument("--minimal", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--span", type=int, default=10)
    args = parser.parse_args()
    lines = read_lines(args.text)[: args.sentences]
    small, small_forests = parsed(args.minimal, lines, args.span)
    large, large_forests = parsed(args.grammar, lines, args.span)
    run = runs.Run(args)
    titles = ["m", "bind s", "bind MiB", "first inference ms", "other rules s", "other rules MiB"]
    titles += ["minimal applications", "minimal ms", "composed applications", "composed ms", "ratio", "inference MiB"]
    run.table("composed rules", [*titles, "mean tensors MiB", "largest tensors MiB", "rules", "applications"])
    for path in args.models:
        model = Model(path)
        reference = seconds_each(Binding(model, small), small_forests)
        before, start = fresh_peak(), time.process_time()
        binding = Binding(model, large, BindingOptions(compose=True))
        row = [model.rank, time.process_time() - start, peak() - before]
        start = time.process_time()
        for forest in large_forests:
            binding.infer(forest)
        row.append((time.process_time() - start) / len(large_forests) * 1e3)
        before, start = fresh_peak(), time.process_time()
        kinds = binding.kinds
        row += [time.process_time() - start, peak() - before]
        used = np.concatenate([forest.app_rule[forest.app_rule < len(large)] for forest in large_forests])
        sizes = []
        for forest in large_forests:
            rules = np.unique(forest.app_rule[forest.app_rule < len(large)])
            composed = rules[np.isin(kinds[rules], COMPOSED)].tolist()
            sizes.append(sum(8 * model.rank ** (large.arity(rule) + 1) for rule in composed) / 2**20)
        before = fresh_peak()
        taken = seconds_each(binding, large_forests)
        apps = [np.mean([forest.n_apps for forest in forests]) for forests in (small_forests, large_forests)]
        row += [apps[0], reference * 1e3, apps[1], taken * 1e3, taken / reference, peak() - before]
        found = (shares(np.bincount(which, minlength=len(RULE_KINDS))) for which in (kinds, kinds[used]))
        run.row(*row, np.mean(sizes), max(sizes), *found)
    run.save()


if __name__ == "__main__":
    main()
