"""Scorers of target sides by the source words around a rule, in few dimensions, as model files have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lscfg.io.layout import check_layout, check_range
from lscfg.kernel import SENSE_KINDS, SENSE_WORDS

LAYOUT = {
    "window": "int32 [2]",
    "items": "int32 [items]",
    "vectors": "float32 [items, m]",
    "shift": "float32 [m]",
    "row": "int32 [rules]",
    "rules": "float32 [rows, width]",
    "bias": "float32 [rows]",
    "calibration": "float64 [2]",
}
HIDDEN = {"hidden": "float32 [h, m]", "hidden_bias": "float32 [h]", "out": "float32 [h]"}
"""The arrays of a scorer in a file, without ``sense.`` (docs/FORMATS.md)."""


@dataclass(frozen=True)
class SenseModel:
    """A scorer of the rules of a context model (plugin/inference/scorer.h).

    Attributes:
        kind: one of ``SENSE_KINDS``, how words around and rules are compared.
        window: words on each side; bag: whether their distance counts for nothing.
        items: int32 [items], ascending; vectors: float32 [items, m] of them; shift: float32 [m], added to their sum.
        row: int32 [rules], of the context model, -1: none; rules: float32 [rows, width]; bias: float32 [rows].
        calibration: float64 [2], weights of the logarithm of a rule's count and of its score in ln P(e|f, context).
        hidden: of kinds with a hidden layer: float32 [h, m], [h] and [h].
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

    def arrays(self) -> dict[str, np.ndarray]:
        """By their names in model files."""
        own = {name: getattr(self, name) for name in LAYOUT if name != "window"}
        own["window"] = np.array([self.window, self.bag])
        if self.hidden:
            own |= dict(zip(HIDDEN, self.hidden, strict=True))
        return {f"sense.{name}": array.astype(_type(name)) for name, array in own.items()}

    def with_more(self, words: int, new_words: int, new_rules: int) -> SenseModel:
        """The scorer of a context model with more words behind its own, and more rules, which it does not know."""
        slot, word = np.divmod(self.items.astype(np.int64), words + SENSE_WORDS)
        moved = slot * (words + new_words + SENSE_WORDS) + word + np.where(word >= words, new_words, 0)
        row = np.concatenate([self.row, np.full(new_rules, -1, self.row.dtype)])
        return replace(self, items=moved.astype(np.int32), row=row)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], kind: str, rules: int, words: int) -> SenseModel:
        """The inverse of ``arrays``.

        Args:
            rules, words: how many the context model has.

        Raises:
            ValueError: something is missing or wrong; the array is named.
        """
        own = {name.removeprefix("sense."): array for name, array in arrays.items() if name.startswith("sense.")}
        if kind not in SENSE_KINDS:
            raise ValueError(f"no scorer of target sides is of the kind {kind!r:.30}")
        hidden = "hidden" in own
        sizes = check_layout(own, LAYOUT | (HIDDEN if hidden else {}))
        window, bag = own["window"].tolist()
        check_range("sense.window", own["window"][:1], 1, 1001)
        check_range("sense.items", own["items"], 0, 2 * window * (words + SENSE_WORDS))
        check_range("sense.row", own["row"], -1, sizes["rows"])
        if (np.diff(own["items"]) <= 0).any():
            raise ValueError("array 'sense.items' does not ascend")
        if sizes["rules"] != rules or sizes["width"] != (sizes["h"] if hidden else sizes["m"]):
            raise ValueError("array 'sense.rules' or 'sense.row' is not of the context's rules")
        for name, array in own.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"array 'sense.{name}' holds a value that is not finite")
        layer = (own["hidden"], own["hidden_bias"], own["out"]) if hidden else None
        values = {name: own[name] for name in LAYOUT if name != "window"}
        return cls(kind, window, bool(bag), **values, hidden=layer)


def _type(name: str) -> str:
    return (LAYOUT | HIDDEN)[name].split(" ")[0]
