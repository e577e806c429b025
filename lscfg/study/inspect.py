"""Descriptions of model and derivation files for people."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.extract.derive import Derivations
from lscfg.grammar.table import MAX_TENSOR_ARITY
from lscfg.io.columns import align_columns, fit
from lscfg.io.read import split_fields
from lscfg.model.parameters import Parameters
from lscfg.model.shared import stored
from lscfg.study.pair_picture import PairForest, draw_pair_forest
from lscfg.study.states import States


def _table(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {value}" for name, value in rows]


BAR = 40
"""Characters of the longest bar of a spectrum."""

NOISE = 1e-9
"""Tensors smaller than this share of the largest are rounding errors."""

TRIPLES = 10
"""Values shown of a tensor of two nonterminals."""

COLUMNS = 14
"""Largest number of states in a table, which must fit a terminal."""

HEAVIEST = 1000
"""Number of most frequent rules that describe directions; the direction of a rare rule is noise."""

MORE_OF_MODEL = (
    "more: --states (rules of each hidden state), --nearest 'SRC ||| TGT' (similar rules), --rule 'SRC ||| TGT'",
    "  lscfg inspect sentence MODEL 'WORDS' explains a translation",
)
MORE_OF_DERIVATIONS = "more: --tree N (the tree of pair N)"

_NOT_SETTINGS = ("singular values", "features by template", "condition", "method")


def describe_model(path: str | os.PathLike[str], n_rules: int) -> str:
    """Sizes, rules of greatest weight by arity, signs, spectrum and origin of a model, and options that show more."""
    parameters = Parameters.load(path)
    about = dict(parameters.about)
    made = [("method", str(about.get("method", "unknown")))]
    made += [(name, _plain(value)) for name, value in about.items() if name not in _NOT_SETTINGS]
    for side, columns in about.get("features by template", {}).items():
        made.append((f"{side} features", ", ".join(f"{name} {n}" for name, n in columns.items())))
    sizes = [("states (m)", str(parameters.rank))]
    sizes += [(f"rules of arity {k}", str(len(parameters.tensors[k]))) for k in range(MAX_TENSOR_ARITY + 1)]
    shared = sum(_is_oov(parameters, 0).tolist())
    sizes.append(("rules left to the OOV rule", str(shared)))
    values = sum(tensor.size for tensor in parameters.tensors)
    sizes += [
        ("words", str(len(parameters.rules.words))),
        ("parameters", f"{values:,} (the file has {os.path.getsize(path) / 2**20:.1f} MiB)"),
    ]
    lines = ["sizes", *_indent(_table(sizes)), *_heaviest(parameters, n_rules)]
    if about.get("singular values"):
        lines += ["", "singular values", *_indent(spectrum_text(about["singular values"]))]
        if "condition" in about:
            lines.append(f"  condition {about['condition']:.4g}")
    lines += ["", "signs", *_indent(_signs(parameters))]
    names = [""] if parameters.rules.lhs is None else [f"[{name}] " for name in parameters.rules.categories]
    lines += ["", "root vector C^S"]
    for name, root in zip(names, np.atleast_2d(parameters.root), strict=True):
        lines.append(f"  {name}" + " ".join(f"{value:.4g}" for value in root))
    lines += ["", "made from", *_indent(_table(made)), "", *MORE_OF_MODEL]
    return "\n".join(lines)


def _heaviest(parameters: Parameters, n_rules: int) -> list[str]:
    """The rules with the largest entries of their tensors, by arity."""
    lines, first = [], 0
    for k, tensor in enumerate(parameters.tensors):
        different, index = stored(tensor)
        weight = np.abs(different).max(axis=1, initial=0)[index]
        if len(tensor) and n_rules > 0:
            lines += ["", f"rules of arity {k} with the largest parameters:"]
        for rule in np.argsort(-weight, kind="stable")[: max(n_rules, 0)].tolist():
            lines.append(f"  {weight[rule]:.3e}  {parameters.rules.text(first + rule)}")
        first += len(tensor)
    return lines


def _plain(value: object) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(_rounded(value), ensure_ascii=False)


def _rounded(value: object) -> object:
    """Six digits of numbers, also those in lists."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _indent(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def spectrum_text(sigma: list[float]) -> list[str]:
    """A line for each singular value: number, value, cumulative share of the sum of squares, and a bar."""
    energy = np.cumsum(np.square(sigma)) / np.square(sigma).sum()
    return [
        f"{k + 1:3d}  {value:9.4f}  {100 * share:5.1f} %  {'█' * max(round(BAR * value / sigma[0]), 1)}"
        for k, (value, share) in enumerate(zip(sigma, energy.tolist(), strict=True))
    ]


def _signs(parameters: Parameters) -> list[str]:
    """Share of negative parameters by arity, in number and in absolute mass."""
    rows = []
    for k, tensor in enumerate(parameters.tensors):
        if tensor.size:
            different, index = stored(tensor)
            rules = np.bincount(index, minlength=len(different)).astype(np.float64)
            below = np.minimum(different, 0)
            number = rules @ (below < 0).sum(axis=1)
            mass = rules @ np.abs(different).sum(axis=1, dtype=np.float64)
            share = -(rules @ below.sum(axis=1, dtype=np.float64)) / mass if mass else 0.0
            rows.append((f"arity {k}", f"{100 * number / tensor.size:5.1f} % negative, {100 * share:5.1f} % of mass"))
    return _table(rows)


def _is_oov(parameters: Parameters, arity: int) -> np.ndarray:
    """bool [rules of the arity]: True for rules with the tensor of the OOV rule of their category."""
    if arity > 0:
        return np.zeros(len(parameters.tensors[arity]), bool)
    tensor = parameters.tensors[0]
    # a file stores rules in its own precision, and the OOV rule in double
    unknown = np.atleast_2d(parameters.unk)[parameters.rules.category[: len(tensor)]]
    return np.asarray((tensor == unknown.astype(tensor.dtype)).all(axis=1))


def _find_rule(parameters: Parameters, text: str, path: str | os.PathLike[str]) -> int:
    """Number of the rule given as ``source ||| target``, with or without its category and ``|||`` before it.

    Raises:
        InputError: the model has no such rule.
    """
    wanted = " ||| ".join(" ".join(side.split()) for side in split_fields(text))
    found = []
    for rule in range(len(parameters.rules)):
        if wanted in ((whole := parameters.rules.text(rule)), whole.split(" ||| ", 1)[1]):
            found.append(rule)
    if len(found) > 1:
        names = ", ".join(parameters.rules.text(rule).split(" ||| ")[0] for rule in found)
        raise InputError(f"the model has {quote(wanted)} for {names}; put one of these and ||| before the rule", path)
    if found:
        return found[0]
    raise InputError(
        f"the model has no rule {quote(wanted)}; sides are separated by |||, nonterminals are [X,1] [X,2]", path
    )


def show_rule(path: str | os.PathLike[str], text: str) -> str:
    """The tensor of one rule, given as ``source ||| target``, as a table; of two nonterminals also its largest values.

    Raises:
        InputError: the model has no such rule.
    """
    parameters = Parameters.load(path)
    rule = _find_rule(parameters, text, path)
    tensor = parameters.tensor(rule).astype(np.float64)
    largest = float(np.abs(tensor).max())
    lines = [fit(parameters.rules.text(rule)), f"largest value {largest:.4g}; numbers below are percent of it", ""]
    shown = 100 * tensor / (largest or 1)
    if tensor.ndim == 1:
        return "\n".join([*lines, *_matrix(shown[:, None], "state", [""])])
    if tensor.ndim == 2:
        return "\n".join([*lines, "state of the left-hand side down, of the nonterminal across", *_matrix(shown)])
    order = np.argsort(-np.abs(tensor), axis=None, kind="stable")[:TRIPLES].tolist()
    places = [np.unravel_index(k, tensor.shape) for k in order]
    rows = [["left-hand side", "[X,1]", "[X,2]", "percent"]]
    rows += [[*map(str, map(int, place)), f"{shown[place]:.1f}"] for place in places if tensor[place]]
    lines += [f"the {len(rows) - 1} largest of {tensor.size:,}:", *_indent(align_columns(rows)), ""]
    sums = tensor.sum(axis=0)
    lines.append("state of [X,1] down, of [X,2] across, sums over the left-hand side in percent of the largest")
    lines += _matrix(100 * sums / (float(np.abs(sums).max()) or 1))
    return "\n".join(lines)


def _matrix(values: np.ndarray, corner: str = "", columns: Sequence[str] | None = None) -> list[str]:
    """Rows and columns by state; of many states those with the largest sums of absolute values."""
    kept = [np.sort(np.argsort(-np.abs(values).sum(axis=1 - k), kind="stable")[:COLUMNS]) for k in (0, 1)]
    names = [str(k) for k in kept[1].tolist()] if columns is None else list(columns)
    rows = [[corner, *names]]
    rows += [
        [str(k), *(f"{value:.1f}" if abs(value) >= 0.05 else "·" for value in values[k, kept[1]].tolist())]
        for k in kept[0].tolist()
    ]
    width = max((len(cell) for row in rows for cell in row[1:]), default=1)
    lines = [f"  {row[0]:>5}" + "".join(f"{cell:>{max(width + 1, 5)}}" for cell in row[1:]) for row in rows]
    left = [size - len(part) for size, part in zip(values.shape, kept, strict=True)]
    return lines + ([f"  without the {max(left)} states with the smallest values"] if any(left) else [])


def show_nearest(path: str | os.PathLike[str], text: str, n_rules: int) -> str:
    """The rules of the same arity whose tensors have the largest cosines with that of the given rule, and the smallest.

    Rules left to the OOV rule share its tensor and are skipped.

    Raises:
        InputError: the model has no such rule.
    """
    parameters = Parameters.load(path)
    rule = _find_rule(parameters, text, path)
    arity = int(parameters.rules.arity[rule])
    first = int(np.searchsorted(parameters.rules.arity, arity))
    different, index = stored(parameters.tensors[arity])
    norm = np.linalg.norm(different, axis=1)[index]
    here = rule - first
    oov = _is_oov(parameters, arity)
    cosine = (different @ different[index[here]])[index] / np.maximum(norm * norm[here], np.finfo(float).tiny)
    lines = [parameters.rules.text(rule), f"  norm {norm[here]:.3e}"]
    if oov[here]:
        lines.append(f"  shares the tensor of the OOV rule with {oov.sum() - 1} others, because it was seen once")
    candidates = np.nonzero(~oov & (norm > NOISE * norm.max()) & (np.arange(len(index)) != here))[0]
    order = candidates[np.argsort(-cosine[candidates], kind="stable")]
    lines += ["", f"nearest of {len(order)} rules of arity {arity} (cosine, norm):"]
    lines += [_near(parameters, first + k, cosine[k], norm[k]) for k in order[:n_rules].tolist()]
    lines += ["", "farthest:"]
    lines += [_near(parameters, first + k, cosine[k], norm[k]) for k in order[::-1][:n_rules].tolist()]
    return "\n".join(lines)


def _near(parameters: Parameters, rule: int, cosine: float, norm: float) -> str:
    return f"  {cosine:+.4f}  {norm:.3e}  {parameters.rules.text(rule)}"


def show_states(path: str | os.PathLike[str], n_rules: int) -> str:
    """A description of each state.

    If no parameter is negative: the states by use, each with typical target sides, its share in the nodes of sampled
    trees, the entropy of its rules, the most probable of these by arity, and the states of the nonterminals of binary
    rules. Otherwise states are directions without a sign, described by the rules without nonterminals with the largest
    and smallest cosines.

    Raises:
        InputError: as ``Parameters.load``; the model has several categories.
    """
    parameters = Parameters.load(path)
    if parameters.rules.lhs is not None:
        raise InputError(
            "the model has several categories, each with separate states; --rule shows those of a rule", path
        )
    states = States.of(parameters)
    if states is None:
        return _directions(parameters, n_rules)
    lines = []
    for state in states.order:
        named = states.name(state)
        lines += [
            "",
            fit(f"state {state}" + (f": {named}" if named else "")),
            f"  share {100 * states.share[state]:.1f} %, root {100 * states.root[state]:.1f} %, OOV "
            f"{100 * states.unknown[state]:.2f} %, entropy {states.entropy[state]:.2f} bits",
        ]
        for arity in range(MAX_TENSOR_ARITY + 1):
            of_arity = states.rules[parameters.rules.arity == arity, state]
            lines.append(f"  arity {arity}, {100 * of_arity.sum():.1f} %")
            for rule in states.best_rules(state, arity, n_rules):
                text = parameters.rules.short_text(rule)
                lines.append(fit(f"    {100 * states.rules[rule, state]:6.2f} %  {text}"))
        shares = states.pairs[state].ravel()
        best = [k for k in np.argsort(-shares, kind="stable")[:n_rules].tolist() if shares[k] > 0]
        if best:
            m = parameters.rank
            pairs = ", ".join(f"{k // m} {k % m} ({100 * shares[k]:.1f} %)" for k in best)
            lines.append(fit(f"  nonterminals {pairs}"))
    return "\n".join(lines[1:])


def _directions(parameters: Parameters, n_rules: int) -> str:
    """For each latent dimension, the rules without nonterminals at both of its ends."""
    flat = parameters.tensors[0]
    norm = np.linalg.norm(flat, axis=1)
    weight = np.where(_is_oov(parameters, 0) | (norm <= NOISE * norm.max(initial=0)), 0, norm)
    seen = np.argsort(-weight, kind="stable")[: min(HEAVIEST, int((weight > 0).sum()))]
    cosine = flat[seen] / norm[seen, None]
    lines = [
        f"parameters are signed: of the {len(seen)} heaviest rules without nonterminals, those at both ends of each",
        "latent dimension (cosine with its axis, norm)",
    ]
    for state in range(parameters.rank):
        order = np.argsort(-cosine[:, state], kind="stable")
        for end, picked in (("+", order[:n_rules]), ("-", order[::-1][:n_rules])):
            lines += ["", f"dimension {state} {end}"]
            lines += [_near(parameters, int(seen[k]), cosine[k, state], norm[seen[k]]) for k in picked.tolist()]
    return "\n".join(lines)


def describe_derivations(path: str | os.PathLike[str], n_rules: int) -> str:
    """Sizes and the most frequent rules."""
    derivations = Derivations.load(path)
    lines = _table([(name, str(value)) for name, value in derivations.statistics().items()])
    counts = derivations.counts
    lines += ["", "most frequent rules:"] if n_rules > 0 else []
    for rule in np.argsort(-counts, kind="stable")[: max(n_rules, 0)].tolist():
        lines.append(f"  {counts[rule]:8d}  {derivations.rules.text(rule)}")
    lines += ["", MORE_OF_DERIVATIONS]
    return "\n".join(lines)


def show_tree(path: str | os.PathLike[str], number: int) -> str:
    """The N-th derivation tree (counted from 1; see ``Derivations``), one node per line, indented by depth.

    Raises:
        InputError: the tree does not exist, or its pair was dropped.
    """
    derivations = _with_tree(path, number)
    first, last = derivations.trees[number - 1 : number + 1].tolist()
    depth: dict[int, int] = {-1: -1}
    lines = []
    for node in range(first, last):
        depth[node] = depth[int(derivations.parent[node])] + 1
        i, j, k, n = derivations.span[node].tolist()
        rule = derivations.rules.short_text(int(derivations.rule[node]))
        lines.append(f"{'  ' * depth[node]}[{i},{j}) [{k},{n})  {rule}")
    return "\n".join(lines)


def draw_tree(path: str | os.PathLike[str], number: int) -> str:
    """The phrases and the forest around the N-th tree (counted from 1) as SVG; see ``draw_pair_forest``.

    Raises:
        InputError: the tree does not exist, or its pair was dropped.
    """
    return draw_pair_forest(PairForest.of(_with_tree(path, number), number - 1))


def _with_tree(path: str | os.PathLike[str], number: int) -> Derivations:
    """The derivations of a file, which contain tree ``number``."""
    derivations = Derivations.load(path)
    if not 1 <= number <= len(derivations):
        raise InputError(f"has no tree {number}; trees are counted from 1 to {len(derivations)}", path)
    if derivations.trees[number - 1] == derivations.trees[number]:
        raise InputError(f"the pair of tree {number} was dropped when trees were made", path)
    return derivations
