"""Small models and slow reference computations for the tests."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest.mock import create_autospec

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.command_table import COMMANDS
from lscfg.extract.derive import Derivations
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.table import RuleTable
from lscfg.kernel import CONTEXT_EXTRA_WORDS, Forest
from lscfg.kernel.neural import FERTILITIES, SOURCE_WORDS, TARGET_WORDS
from lscfg.kinds import Kind
from lscfg.model.boundary import BoundaryModel
from lscfg.model.context import ContextModel, context_items
from lscfg.model.low_dimensional import LowDimensionalModel, end_of_items
from lscfg.model.neural import NeuralModel
from lscfg.model.orientation import OrientationModel
from lscfg.model.parameters import OneState, Parameters

SPANISH_RULES = (
    "una ||| a",
    "una ||| one",
    "casa ||| house",
    "casa ||| home",
    "blanca ||| white",
    "una casa ||| a house",
    "una [X,1] ||| a [X,1]",
    "[X,1] blanca ||| white [X,1]",
    "[X,1] [X,2] ||| [X,2] [X,1]",
    "[X,1] [X,2] ||| [X,1] [X,2]",
    "[X,1] y [X,2] ||| [X,2] and [X,1]",
)
"""For the hosts' decoders: some sentences have hundreds of derivations."""


def rule_table(rules: Iterable[str]) -> RuleTable:
    """A table of rules given as ``source ||| target`` in cdec's notation, sorted by arity (stable)."""
    words: dict[str, int] = {}

    def encode(side: str, source: bool) -> list[int]:
        symbols = []
        for token in side.split():
            if token.startswith("[X,"):
                symbols.append(-1 if source else -int(token[3:-1]))
            else:
                symbols.append(words.setdefault(token, len(words)))
        return symbols

    coded = []
    for rule in rules:
        src, tgt = rule.split("|||")
        coded.append((encode(src, True), encode(tgt, False)))
    coded.sort(key=lambda r: sum(s < 0 for s in r[0]))
    return RuleTable(
        list(words),
        np.array([s for src, tgt in coded for s in src + tgt], np.int32),
        np.cumsum([0] + [len(src) + len(tgt) for src, tgt in coded]).astype(np.int64),
        np.array([len(src) for src, _ in coded], np.int32),
        np.array([sum(s < 0 for s in src) for src, _ in coded], np.int32),
    )


def random_context(rules: RuleTable, seed: int, share: float = 0.3) -> ContextModel:
    """Of the rules, normal weights of a random part of all context items, at most the share."""
    rng = np.random.default_rng(seed)
    size, lists = context_items(len(rules.words)), []
    for _ in range(ContextModel.outcomes(rules)):
        lists.append(np.nonzero(rng.random(size) < rng.random() * share)[0])
    items = np.concatenate(lists).astype(np.int32)
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    weights = rng.normal(size=len(items)).astype(np.float32)
    return ContextModel(rules, rng.uniform(0.5, 9, len(rules)), offsets, items, weights)


def random_scorer(rules: RuleTable, seed: int) -> ContextModel:
    """``random_context`` with a scorer."""
    return dataclasses.replace(random_context(rules, seed), low_dimensional=random_low_dimensional(rules, seed))


def context_model(
    folder: Path, texts: list[str], seed: int, zeros: float = 0.0, **scorer: Any
) -> tuple[Path, Parameters]:
    """A model of rules with a random context of most of them and two others, and its parts as read.

    Args:
        zeros: share of the rules that have probability 0 in the model of one state.
        scorer: arguments of ``random_low_dimensional``; none: no scorer.
    """
    rng, rules = np.random.default_rng(seed), rule_table(texts)
    kept = [rule for rule in texts if rng.random() < 0.8]
    context = random_context(rule_table([*rng.permutation(kept), "b x ||| B", "b x ||| C"]), seed)
    if scorer:
        context = dataclasses.replace(context, low_dimensional=random_low_dimensional(context.rules, seed, **scorer))
    one = OneState(rng.uniform(0.01, 1, len(rules)), np.array([0.1]))
    if zeros:
        one.rules[rng.random(len(rules)) < zeros] = 0
    values = tuple(rng.uniform(0.1, 1, ((rules.arity == k).sum(), *[2] * (k + 1))) for k in range(3))
    Parameters(rules, values, np.ones(2), np.ones(2), {}, one, context).save(folder / "m")
    return folder / "m", Parameters.load(folder / "m")


def random_boundary(rules: RuleTable, seed: int) -> BoundaryModel:
    """Normal weights of all pairs of words."""
    rng, n = np.random.default_rng(seed), len(rules.words)
    pairs = np.array([(left, right) for left in range(-1, n) for right in range(-1, n)])
    return BoundaryModel.of(rules.words, *((pairs, rng.normal(size=len(pairs))) for _ in range(2)))


def random_links(words: tuple[list[str], list[str]], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Links of about half of the pairs of a source word, or none, and a target word; and their shares."""
    pairs = np.argwhere(rng.random((len(words[0]) + 1, len(words[1]))) < 0.5)
    pairs += np.array([SOURCE_WORDS - 1, TARGET_WORDS])
    pairs[pairs[:, 0] < SOURCE_WORDS, 0] = -1
    return pairs.astype(np.int32), rng.uniform(size=len(pairs)).astype(np.float32)


def random_orientation(words: tuple[list[str], list[str]], seed: int) -> OrientationModel:
    """Normal weights of all source words and lengths, and links of a part of the pairs."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(2, 4, len(words[0]) + SOURCE_WORDS, 3)).astype(np.float32)
    lengths = rng.normal(size=(2, 7, 3)).astype(np.float32)
    return OrientationModel(words, weights, lengths, *random_links(words, rng))


def random_network(words: tuple[list[str], list[str]], seed: int, history: int = 2, reach: int = 1) -> NeuralModel:
    """A network over the source and the target words with normal parameters, and links of a part of their pairs."""
    rng, (sources, targets), dims, hidden = np.random.default_rng(seed), map(len, words), 3, 4
    shapes = {
        "source": (sources + SOURCE_WORDS, dims),
        "target": (targets + TARGET_WORDS, dims),
        "hidden": (hidden, (2 * reach + 1 + history) * dims),
        "hidden.bias": (hidden,),
        "output": (targets + TARGET_WORDS, hidden),
        "output.bias": (targets + TARGET_WORDS,),
        "fertility": (FERTILITIES, hidden),
        "fertility.bias": (FERTILITIES,),
    }
    arrays = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    links = dict(zip(("links", "share"), random_links(words, rng), strict=True))
    return NeuralModel(reach, history, words, arrays | links)


def random_low_dimensional(
    rules: RuleTable, seed: int, kind: str = "dot", window: int = 2, bag: bool = False
) -> LowDimensionalModel:
    """A scorer of a random part of the rules and of words around them; of some seeds of the sentence and of gaps."""
    rng = np.random.default_rng(seed)
    base, m, h = len(rules.words) + CONTEXT_EXTRA_WORDS, 5, 3
    size = (2 * window * base, (2 * window + 1) * base, end_of_items(window, len(rules.words)))[seed // 3 % 3]
    items = np.nonzero(rng.random(size) < rng.random())[0]
    row = np.where(rng.random(len(rules)) < 0.8, 0, -1)
    row[row == 0] = rng.permutation((row == 0).sum())
    hidden = kind in ("mlp", "match")
    vectors, scored = rng.normal(size=(len(items), m)), rng.normal(size=(row.max(initial=-1) + 1, h if hidden else m))
    if kind == "cosine":
        scored /= np.linalg.norm(scored, axis=1, keepdims=True)
    layer = (rng.normal(size=(h, m)), rng.normal(size=h), rng.normal(size=h))
    weights = None
    if kind == "sparse":
        matrix = np.where(rng.random((len(scored), len(items))) < 0.6, rng.normal(size=(len(scored), len(items))), 0)
        rows, columns = np.nonzero(matrix)
        offsets = np.searchsorted(rows, np.arange(len(scored) + 1))
        weights = (offsets.astype(np.int64), columns.astype(np.int32), matrix[rows, columns].astype(np.float32))
        vectors, m, scored = vectors[:, :0], 0, scored[:, :0]
    single = [array.astype(np.float32) for array in (vectors, rng.normal(size=m), scored, rng.normal(size=len(scored)))]
    return LowDimensionalModel(
        kind,
        window,
        bag,
        items.astype(np.int32),
        *single[:2],
        row.astype(np.int32),
        *single[2:],
        np.array([0.8, 1.5]),
        tuple(array.astype(np.float32) for array in layer) if hidden else None,  # type: ignore[arg-type]
        weights,
    )


def save_model(
    path: Path,
    rules: RuleTable,
    tensors: list[np.ndarray],
    root: np.ndarray,
    unk: np.ndarray,
    one: OneState | None = None,
    context: ContextModel | None = None,
    boundary: BoundaryModel | None = None,
    orientation: OrientationModel | None = None,
    neural: NeuralModel | None = None,
) -> Path:
    """Writes a model whose tensors are given rule by rule."""
    m = len(root)
    stacked = tuple(
        np.array([t for t, a in zip(tensors, rules.arity, strict=True) if a == k]).reshape(-1, *[m] * (k + 1))
        for k in range(3)
    )
    parts = {"one": one, "context": context, "boundary": boundary, "orientation": orientation, "neural": neural}
    made = Parameters(rules, stacked, root, unk, **parts)  # type: ignore[arg-type]
    made.save(path, np.float64)
    return path


def save_random_system_model(path: Path, rules: RuleTable, least: float, more_words: Iterable[str] = ()) -> None:
    """Writes a model of three states with every part.

    Args:
        least: smallest number in a tensor; more_words: words that network and orientations know, and no rule has.
    """
    rng = np.random.default_rng(7)
    tensors = [rng.uniform(least, 0.4, (3,) * (int(a) + 1)) for a in rules.arity]
    one = OneState(rng.uniform(0.01, 0.2, len(rules)), np.array([0.01]))
    root, unk, words = np.array([0.5, 0.3, 0.2]), np.array([0.01, 0.02, 0.03]), [*rules.words, *more_words]
    parts = (random_scorer(rules, 1), random_boundary(rules, 1), random_orientation((words, words), 1))
    save_model(path, rules, tensors, root, unk, one, *parts, random_network((words, words), 1))


def derivations(forest: Forest, node: int | None = None) -> list[list[int]]:
    """All derivations of a node (the root if None) as lists of applications."""
    node = forest.n_nodes - 1 if node is None else node
    found = []
    for edge in range(forest.node_edges[node], forest.node_edges[node + 1]):
        tails = [derivations(forest, t) for t in forest.edge_tail[edge] if t >= 0]
        for app in range(forest.edge_apps[edge], forest.edge_apps[edge + 1]):
            found += [[app, *itertools.chain(*choice)] for choice in itertools.product(*tails)]
    return found


def sampled_pairs(n: int, seed: int) -> tuple[list[str], list[str], list[str], dict[str, float]]:
    """Pairs of two words of an L-SCFG whose hidden states decide which words come, (a, b) or (c, d), and their order.

    Returns:
        Source, target, links, and the probability of each tree by ``first second swapped`` (source words; a bool).
    """
    rng = np.random.default_rng(seed)
    lexicon, p_swap = ("ab", "cd"), (0.2, 0.9)
    src, tgt, links = [], [], []
    for _ in range(n):
        state = int(rng.random() < 0.4)
        first, second = (lexicon[state][int(rng.random() < 0.3)] for _ in range(2))
        swapped = rng.random() < p_swap[state]
        src.append(f"{first} {second}")
        tgt.append(f"{second} {first}".upper() if swapped else f"{first} {second}".upper())
        links.append("0-1 1-0" if swapped else "0-0 1-1")
    truth = {}
    for state, p_state in enumerate((0.6, 0.4)):
        for (i, p_i), (j, p_j) in itertools.product(enumerate((0.7, 0.3)), repeat=2):
            for swapped in (False, True):
                p = p_state * p_i * p_j * (p_swap[state] if swapped else 1 - p_swap[state])
                truth[f"{lexicon[state][i]} {lexicon[state][j]} {swapped}"] = p
    return src, tgt, links, truth


def node_children(derivations: Derivations, tree: int) -> dict[int, list[int]]:
    """Nodes of a tree with their children in source order; the first node is the root."""
    first, last = derivations.trees[tree : tree + 2].tolist()
    found: dict[int, list[int]] = {node: [] for node in range(first, last)}
    for node in range(first + 1, last):
        assert derivations.slot[node] == len(found[int(derivations.parent[node])])
        found[int(derivations.parent[node])].append(node)
    return found


def reduced_tree(
    derivations: Derivations, below: dict[int, list[int]], node: int, kept_src: int, kept_tgt: set[int]
) -> dict:
    """The tree below a node without target words outside kept_tgt and source words after kept_src."""
    rules, rule = derivations.rules, int(derivations.rule[node])
    kids = below[node]
    src, position, arity = [], derivations.span[node, 0], 0
    for symbol in rules.src(rule).tolist():
        if symbol < 0:
            src.append(f"[X,{arity + 1}]")
            position = derivations.span[kids[arity], 1]
            arity += 1
        else:
            src += [rules.words[symbol]] * int(position <= kept_src)
            position += 1
    tgt, position = [], derivations.span[node, 2]
    for symbol in rules.tgt(rule).tolist():
        if symbol < 0:
            tgt.append(f"[X,{-symbol}]")
            position = derivations.span[kids[-1 - symbol], 3]
        else:
            tgt += [rules.words[symbol]] * int(position in kept_tgt)
            position += 1
    below_here = [reduced_tree(derivations, below, kid, kept_src, kept_tgt) for kid in kids]
    return {"rule": f"[X] ||| {' '.join(src)} ||| {' '.join(tgt)}", "children": below_here}


def derivations_of(trees: list[dict]) -> Derivations:
    """Trees of ``{"rule": "[X] ||| source ||| target", "children": [...]}`` as derivations; spans are left at zero."""
    numbers: dict[str, int] = {}
    rule, parent, slot, starts = [], [], [], [0]

    def add(tree: dict, above: int, place: int) -> None:
        node = len(rule)
        rule.append(numbers.setdefault(tree["rule"].split(" ||| ", 1)[1], len(numbers)))
        parent.append(above)
        slot.append(place)
        for k, child in enumerate(tree["children"]):
            add(child, node, k)

    for tree in trees:
        add(tree, -1, 0)
        starts.append(len(rule))
    table = rule_table(numbers)
    number_of = {f"{table.src_text(r)} ||| {table.tgt_text(r)}": r for r in range(len(table))}
    renumbered = np.array([number_of[text.strip()] for text in numbers], np.int32)
    return Derivations(
        table,
        np.array(starts),
        renumbered[rule],
        np.array(parent, np.int32),
        np.array(slot, np.int32),
        np.zeros((len(rule), 4), np.int32),
        np.empty((0, 2), np.int32),
        np.empty(0, np.int64),
    )


def double(patch: pytest.MonkeyPatch, name: str, result: Any = None, does: Any = None) -> Any:
    """Replaces a function or class by something with the same parameters, wherever it is imported, and returns it."""
    for command in COMMANDS:
        command.load()
    import_module("lscfg.serve.service")  # its command loads it late
    owner, attribute = resolve_name(name.rpartition(".")[0]), name.rpartition(".")[2]
    method_of_kind = isinstance(owner, type) and issubclass(owner, Kind)
    original = getattr(owner, attribute)
    made = create_autospec(getattr(owner() if method_of_kind else owner, attribute), side_effect=does)
    made.return_value = result
    patch.setattr(owner, attribute, staticmethod(made) if method_of_kind else made)
    for module in [module for key, module in sys.modules.items() if key.startswith("lscfg.")]:
        for other in [other for other, value in vars(module).items() if value is original]:
            patch.setattr(module, other, made)
    return made


def example(name: str) -> list[str]:
    """The words that follow the name of a command in its example."""
    return next(command.example for command in COMMANDS if command.name == name).split()[2:]


def class_path(kind: Kind[Any]) -> str:
    """The dotted name of the class of a kind."""
    return f"{type(kind).__module__}.{type(kind).__qualname__}"


def add_context(folder: Path, *words: str) -> int:
    """The status of ``lscfg context`` on the relative frequencies of ``d`` and the source ``f``; it writes ``m``."""
    plain = folder / "plain"
    if not plain.exists():
        assert main(["estimate", "mle", str(folder / "d"), "-o", str(plain), "--quiet"]) == 0
    files = [str(plain), str(folder / "f"), "--derivations", str(folder / "d"), "-o", str(folder / "m")]
    return main(["context", *files, *words, "--quiet"])


def rule_features(counted: RuleCounts) -> np.ndarray:
    """The values of ``counted.features`` for every rule type, float64 [rules, features]."""
    return RuleFeatures(counted)(np.arange(len(counted.rules)))
