"""Low-dimensional context models, as in model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lscfg.io.layout import arrays_below, check_layout, check_offsets, check_range, named_from
from lscfg.kernel import CONTEXT_EXTRA_WORDS, CONTEXT_LENGTHS, SCORE_FUNCTIONS

LAYOUT = {
    "window": "int32 [2]",
    "items": "int32 [items]",
    "row": "int32 [rules]",
    "bias": "float32 [rows]",
    "calibration": "float64 [2]",
}
VECTORS = {"vectors": "float32 [items, m]", "shift": "float32 [m]", "rules": "float32 [rows, width]"}
HIDDEN = {"hidden": "float32 [h, m]", "hidden_bias": "float32 [h]", "out": "float32 [h]"}
WEIGHTS = {"offsets": "int64 [rows + 1]", "columns": "int32 [weights]", "weights": "float32 [weights]"}
"""The arrays of a scorer in a file, without ``sense.`` (docs/reference/formats.md)."""


def first_gap_item(window: int, words: int) -> int:
    """The first item of words in gaps; each word of the vocabulary has four."""
    return (2 * window + 1) * (words + CONTEXT_EXTRA_WORDS)


def first_length_item(window: int, words: int) -> int:
    """The first item of the lengths of gaps, which follow all items of words."""
    return (2 * window + 5) * (words + CONTEXT_EXTRA_WORDS)


def end_of_items(window: int, words: int) -> int:
    """The number of possible items."""
    return first_length_item(window, words) + 2 * CONTEXT_LENGTHS


@dataclass(frozen=True, eq=False)
class LowDimensionalModel:
    """A low-dimensional context model (plugin/inference/scores.h).

    Attributes:
        kind: one of ``SCORE_FUNCTIONS``, the comparison of surrounding words and rules.
        window: words on each side; bag: True if their distance is ignored.
        items: int32 [items], ascending; vectors: float32 [items, m]; shift: float32 [m], added to the sum of vectors.
        row: int32 [rules], row of each rule of the context model, or -1; rules: float32 [rows, width]; bias: float32
            [rows].
        calibration: float64 [2], weights of the logarithm of a rule's count and of its score in ln P(e|f, context).
        hidden: for kinds with a hidden layer, float32 [h, m], [h] and [h].
        weights: for the kind ``sparse``, whose vectors have m = 0: int64 [rows + 1], first weight of each row; int32
            [weights], index of each weight's item, ascending in a row; float32 [weights].
    """

    kind: str
    window: int
    bag: bool
    items: np.ndarray
    vectors: np.ndarray
    shift: np.ndarray
    row: np.ndarray
    rules: np.ndarray
    bias: np.ndarray
    calibration: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0]))
    hidden: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    weights: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by their names in model files."""
        names = LAYOUT if self.weights else LAYOUT | VECTORS
        own = {name: getattr(self, name) for name in names if name != "window"}
        own["window"] = np.array([self.window, self.bag])
        if self.hidden:
            own |= dict(zip(HIDDEN, self.hidden, strict=True))
        if self.weights:
            own |= dict(zip(WEIGHTS, self.weights, strict=True))
        return {f"sense.{name}": array.astype(_type(name)) for name, array in own.items()}

    def with_more(self, words: int, new_words: int, new_rules: int) -> LowDimensionalModel:
        """The model for a context model with additional words and rules, which have no scores."""
        slot, word = np.divmod(self.items.astype(np.int64), words + CONTEXT_EXTRA_WORDS)
        moved = slot * (words + new_words + CONTEXT_EXTRA_WORDS) + word + np.where(word >= words, new_words, 0)
        behind = first_length_item(self.window, words)
        lengths = self.items - behind + first_length_item(self.window, words + new_words)
        moved = np.where(self.items >= behind, lengths, moved)
        row = np.concatenate([self.row, np.full(new_rules, -1, self.row.dtype)])
        return replace(self, items=moved.astype(np.int32), row=row)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], kind: str, rules: int, words: int) -> LowDimensionalModel:
        """The inverse of ``arrays``.

        Args:
            rules, words: sizes of the context model.

        Raises:
            ValueError: names an array that is missing or wrong.
        """
        own = arrays_below("sense.", arrays)
        if kind not in SCORE_FUNCTIONS:
            raise ValueError(f"unknown score function {kind!r:.30}")
        hidden, weighted = "hidden" in own, "weights" in own
        parts = (WEIGHTS if weighted else VECTORS) | (HIDDEN if hidden else {})
        with named_from("sense."):
            sizes = check_layout(own, LAYOUT | parts)
        window, bag = own["window"].tolist()
        check_range("sense.window", own["window"][:1], 1, 1001)
        check_range("sense.items", own["items"], 0, end_of_items(window, words))
        check_range("sense.row", own["row"], -1, sizes["rows"])
        if (np.diff(own["items"]) <= 0).any():
            raise ValueError("array 'sense.items' does not ascend")
        if weighted:
            _check_weights(own, sizes)
            own |= {
                "vectors": np.zeros((sizes["items"], 0)),
                "shift": np.zeros(0),
                "rules": np.zeros((sizes["rows"], 0)),
            }
        elif sizes["width"] != (sizes["h"] if hidden else sizes["m"]):
            raise ValueError("array 'sense.rules' does not fit the model's dimensions")
        if sizes["rules"] != rules:
            raise ValueError("array 'sense.row' does not fit the context's rules")
        for name, array in own.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"array 'sense.{name}' holds a value that is not finite")
        layer = (own["hidden"], own["hidden_bias"], own["out"]) if hidden else None
        weights = (own["offsets"], own["columns"], own["weights"]) if weighted else None
        values = {name: own[name] for name in LAYOUT | VECTORS if name != "window"}
        return cls(kind, window, bool(bag), **values, hidden=layer, weights=weights)


def _check_weights(own: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> None:
    """Refuses weights that do not fit rows and items.

    Raises:
        ValueError: names the wrong array.
    """
    check_offsets("sense.offsets", own["offsets"], sizes["weights"])
    check_range("sense.columns", own["columns"], 0, sizes["items"])
    falls = np.nonzero(np.diff(own["columns"]) <= 0)[0] + 1
    if not np.isin(falls, own["offsets"]).all():
        raise ValueError("array 'sense.columns' does not ascend within a row")


def _type(name: str) -> str:
    return (LAYOUT | VECTORS | HIDDEN | WEIGHTS)[name].split(" ")[0]
