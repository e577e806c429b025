"""Models of bundles: all arrays in as few bytes as keep their values, and on request without small parameters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lscfg.io import tensors
from lscfg.io.narrow import narrowed
from lscfg.kernel import Grammar
from lscfg.kernel.forest import find_rules
from lscfg.model.compress import make_sparse
from lscfg.model.context import ContextModel

SHARE = 1e-4
"""Entries of a tensor below this share of its sum are dropped from small models."""

LEAST_WEIGHT = 0.05
"""Context weights whose absolute values are less are dropped from small models."""

LEVELS = 128
"""Absolute values of the context weights of small models, equally far apart as logarithms."""


def write_packed(
    model: str | os.PathLike[str], output: str | os.PathLike[str], small: bool = False, grammars: Sequence[Path] = ()
) -> None:
    """Writes a model for a bundle.

    Args:
        small: make its tensors sparse (``lscfg.model.sparse``), unless they are, drop small context weights and round
            the others to 8 bits.
        grammars: all grammars of the system; a small model lacks the contexts of other rules.

    Raises:
        InputError: the model cannot be read; for a small model, also if it has negative parameters.
    """
    arrays, metadata = tensors.load(model, "model")
    if small:
        if not {"C2.positions", "C2.components"} & arrays.keys():
            make_sparse(model, output, SHARE)
            arrays, metadata = tensors.load(output, "model")
        if grammars and "context.weights" in arrays and not {"sense.items", "rules.lhs"} & arrays.keys():
            arrays |= few_rules(ContextModel.from_arrays(arrays), Grammar.from_files(grammars)).arrays()
        arrays |= few_weights(arrays) if "context.weights" in arrays else {}
    metadata.pop(tensors.CHECKSUM, None)
    tensors.save(output, narrowed(arrays), metadata | {"format": tensors.NARROW})


def few_rules(context: ContextModel, grammar: Grammar) -> ContextModel:
    """The context model of those of its rules that are in a grammar; scores of these rules stay the same."""
    rules, nothing = context.rules, len(grammar.vocab)
    numbers = [grammar.vocab.find(word) for word in rules.words]
    words = np.array([number if number >= 0 else nothing for number in numbers] or [nothing], np.int32)
    symbols = np.where(rules.symbols < 0, rules.symbols, words[np.maximum(rules.symbols, 0)])
    places = np.column_stack([rules.offsets[:-1], rules.offsets[:-1] + rules.src_length]).reshape(-1)
    found = find_rules(grammar, 0, symbols, [*places.tolist(), int(rules.offsets[-1])])
    kept = np.array(found, np.int64) >= 0
    outcomes = np.concatenate([kept, np.ones(len(context.offsets) - 1 - len(kept), bool)])
    lengths = np.diff(context.offsets)
    weights = np.repeat(outcomes, lengths)
    return ContextModel(
        rules.select(np.flatnonzero(kept)),
        context.counts[kept],
        np.concatenate([[0], np.cumsum(lengths[outcomes])]).astype(np.int64),
        context.items[weights],
        context.weights[weights],
    )


def few_weights(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The weights of a context model without the small ones, the others rounded, with their items and offsets."""
    weights = arrays["context.weights"]
    kept = np.abs(weights) >= LEAST_WEIGHT
    before = np.concatenate([[0], np.cumsum(kept)])
    found = {
        "context.items": arrays["context.items"][kept],
        "context.offsets": before[arrays["context.offsets"]].astype(np.int64),
    }
    return found | {"context.weights": rounded_weights(weights[kept])}


def rounded_weights(weights: np.ndarray) -> np.ndarray:
    """Weights, none of them 0, whose absolute values are rounded to one of 128."""
    if not weights.size:
        return weights
    logs = np.log(np.abs(weights).astype(np.float64))
    least, step = logs.min(), max(float(np.ptp(logs)), 1e-9) / (LEVELS - 1)
    level: np.ndarray = np.exp(least + step * np.rint((logs - least) / step))
    found: np.ndarray = (np.sign(weights) * level).astype(np.float32)
    return found
