"""Descriptions of model and derivation files for people."""

from __future__ import annotations

import json
import os

import numpy as np

from lscfg.derive import Derivations
from lscfg.errors import InputError
from lscfg.parameters import MAX_ARITY, Parameters


def _table(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows]


def effective_size(parameters: Parameters) -> int:
    """Rules counted once for each assignment of states to their nonterminals, as in the paper's Table 2."""
    m = parameters.rank
    return int(sum(len(tensor) * m ** (k + 1) for k, tensor in enumerate(parameters.tensors))) + m


def describe_model(path: str | os.PathLike[str], n_rules: int) -> str:
    """Settings, sizes, and the rules of greatest weight by arity."""
    parameters = Parameters.load(path)
    rows = [("states (m)", str(parameters.rank))]
    rows += [(f"rules of arity {k}", str(len(parameters.tensors[k]))) for k in range(MAX_ARITY + 1)]
    rows.append(("effective grammar size", str(effective_size(parameters))))
    for name, value in parameters.about.items():
        rows.append((name, json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value))
    rows.append(("C^S", " ".join(f"{value:.4g}" for value in parameters.root)))
    lines = _table(rows)
    first = 0
    for k, tensor in enumerate(parameters.tensors):
        weight = np.abs(tensor).reshape(len(tensor), -1).max(axis=1) if len(tensor) else np.empty(0)
        if len(tensor) and n_rules > 0:
            lines += ["", f"largest tensors of arity {k}:"]
        for rule in np.argsort(-weight, kind="stable")[: max(n_rules, 0)].tolist():
            lines.append(f"  {weight[rule]:.3e}  {parameters.rules.text(first + rule)}")
        first += len(tensor)
    return "\n".join(lines)


def show_rule(path: str | os.PathLike[str], text: str) -> str:
    """The tensor of one rule, given as ``source ||| target``.

    Raises:
        InputError: the model has no such rule.
    """
    parameters = Parameters.load(path)
    wanted = " ||| ".join(" ".join(side.split()) for side in text.split("|||"))
    for rule in range(len(parameters.rules)):
        if f"{parameters.rules.src_text(rule)} ||| {parameters.rules.tgt_text(rule)}" == wanted:
            values = np.array2string(parameters.tensor(rule), precision=4, max_line_width=120)
            return f"{parameters.rules.text(rule)}\n{values}"
    raise InputError(
        f"the model has no rule {wanted!r}; sides are separated by |||, nonterminals are [X,1] [X,2]", path
    )


def describe_derivations(path: str | os.PathLike[str], n_rules: int) -> str:
    """Sizes and the most frequent rules."""
    derivations = Derivations.load(path)
    lines = _table([(name, str(value)) for name, value in derivations.statistics().items()])
    counts = derivations.counts
    lines += ["", "most frequent rules:"] if n_rules > 0 else []
    for rule in np.argsort(-counts, kind="stable")[: max(n_rules, 0)].tolist():
        lines.append(f"  {counts[rule]:8d}  {derivations.rules.text(rule)}")
    return "\n".join(lines)


def show_tree(path: str | os.PathLike[str], number: int) -> str:
    """The derivation tree of a sentence pair (counted from 1), a node a line, indented by depth.

    Raises:
        InputError: there is no such pair, or it has no tree.
    """
    derivations = Derivations.load(path)
    if not 1 <= number <= len(derivations):
        raise InputError(f"sentence pair {number} of {len(derivations)}", path)
    first, last = derivations.trees[number - 1 : number + 1].tolist()
    if first == last:
        raise InputError(f"sentence pair {number} was dropped when the trees were made", path)
    depth: dict[int, int] = {-1: -1}
    lines = []
    for node in range(first, last):
        depth[node] = depth[int(derivations.parent[node])] + 1
        i, j, k, n = derivations.span[node].tolist()
        rule = derivations.rules.text(int(derivations.rule[node])).removeprefix("[X] ||| ")
        lines.append(f"{'  ' * depth[node]}[{i},{j}) [{k},{n})  {rule}")
    return "\n".join(lines)
