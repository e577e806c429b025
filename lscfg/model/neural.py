"""The neural model of target words, as in model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lscfg.grammar.table import vocabulary_words
from lscfg.io.layout import arrays_below, check_layout, check_range, named_from
from lscfg.io.sides import SIDES
from lscfg.kernel.compiled import word_arrays
from lscfg.kernel.neural import FERTILITIES, MAX_HISTORY, SOURCE_WORDS, TARGET_WORDS

PREFIX = "neural."

LAYOUT = {
    "shape": "int32 [2]",
    "source.vocab.bytes": "uint8 [source bytes]",
    "source.vocab.offsets": "int64 [source words + 1]",
    "target.vocab.bytes": "uint8 [target bytes]",
    "target.vocab.offsets": "int64 [target words + 1]",
    "source": f"float32 [source words + {SOURCE_WORDS}, dims]",
    "target": f"float32 [target words + {TARGET_WORDS}, dims]",
    "hidden": "float32 [hidden, inputs]",
    "hidden.bias": "float32 [hidden]",
    "output": f"float32 [target words + {TARGET_WORDS}, hidden]",
    "output.bias": f"float32 [target words + {TARGET_WORDS}]",
    "fertility": f"float32 [{FERTILITIES}, hidden]",
    "fertility.bias": f"float32 [{FERTILITIES}]",
    "links": "int32 [links, 2]",
    "share": "float32 [links]",
}
"""The arrays in a file, without ``neural.`` (docs/reference/features.md)."""

MOST_REACH, MOST_UNITS, MOST_WORDS = 100, 4096, 1 << 16
"""Most source words on each side of a place, units of a layer, and words of a vocabulary, as in the kernel."""

MOST_WEIGHT = np.float32(1e15)
"""Largest absolute value of a parameter, as in the kernel: sums of products are finite in single precision."""


@dataclass(frozen=True, eq=False)
class NeuralModel:
    """A network of one hidden layer that scores target words (Devlin et al. 2014).

    Attributes:
        reach: source words on each side of a word's place.
        history: target words before the word.
        words: the source and the target vocabulary.
        parameters: the other arrays of ``LAYOUT``. Rows of both tables begin with words that no text contains: unknown
            words and ends of sentences, and on the target side a word that is not known yet.
    """

    reach: int
    history: int
    words: tuple[list[str], list[str]]
    parameters: Mapping[str, np.ndarray]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by their names in model files."""
        found = {PREFIX + name: array for name, array in self.parameters.items()}
        found[PREFIX + "shape"] = np.array([self.reach, self.history], np.int32)
        return found | side_arrays(PREFIX, self.words)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> NeuralModel:
        """The inverse of ``arrays``.

        Raises:
            ValueError: names an array that is missing or wrong.
        """
        sizes = check_layout(arrays, {PREFIX + name: declared for name, declared in LAYOUT.items()})
        own = arrays_below(PREFIX, arrays)
        reach, history = own["shape"].tolist()
        if not (0 <= reach <= MOST_REACH and 0 <= history <= MAX_HISTORY):
            raise ValueError("array 'neural.shape' holds impossible numbers of words")
        layers, words_of = (sizes["dims"], sizes["hidden"]), (sizes["source words"], sizes["target words"])
        if min(layers) < 1 or max(layers) > MOST_UNITS or max(words_of) > MOST_WORDS:
            raise ValueError("the arrays 'neural.*' have impossible sizes")
        if sizes["inputs"] != (2 * reach + 1 + history) * sizes["dims"]:
            raise ValueError("array 'neural.hidden' does not fit 'neural.shape'")
        parameters = {name: array for name, array in own.items() if name in LAYOUT and "vocab" not in name}
        del parameters["shape"]
        _check_values(parameters, sizes)
        return cls(reach, history, side_words(PREFIX, own), parameters)


def side_arrays(prefix: str, words: tuple[list[str], list[str]]) -> dict[str, np.ndarray]:
    """The arrays of the source and the target vocabulary by their names in model files."""
    found: dict[str, np.ndarray] = {}
    for side, own in zip(SIDES, words, strict=True):
        encoded = word_arrays(own)
        found |= {f"{prefix}{side}.vocab.{name}": encoded[k] for k, name in enumerate(("bytes", "offsets"))}
    return found


def side_words(prefix: str, arrays: Mapping[str, np.ndarray]) -> tuple[list[str], list[str]]:
    """The source and the target vocabulary of arrays by their names without the prefix.

    Raises:
        ValueError: names an array that is no part of a vocabulary.
    """
    found = []
    for side in SIDES:
        with named_from(f"{prefix}{side}."):
            own = {f"vocab.{name}": arrays[f"{side}.vocab.{name}"] for name in ("bytes", "offsets")}
            found.append(vocabulary_words(own))
    return found[0], found[1]


def check_links(prefix: str, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> None:
    """Checks the links and their shares.

    Args:
        arrays: by names without the prefix; sizes: numbers of words, as for ``check_layout``.

    Raises:
        ValueError: a row or share is out of its range, or the links do not ascend.
    """
    source, target = arrays["links"].T.astype(np.int64)
    targets = sizes["target words"] + TARGET_WORDS
    check_range(f"{prefix}links", source, -1, sizes["source words"] + SOURCE_WORDS)
    check_range(f"{prefix}links", target, 0, targets)
    check_range(f"{prefix}share", arrays["share"], 0, np.nextafter(1, 2))
    if (np.diff(source * targets + target) <= 0).any():
        raise ValueError(f"array '{prefix}links' does not ascend")


def _check_values(arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> None:
    for name, array in arrays.items():
        if array.dtype == np.float32 and not (np.abs(array) <= MOST_WEIGHT).all():
            raise ValueError(f"array 'neural.{name}' holds a value that is not finite or beyond {MOST_WEIGHT:g}")
    check_links(PREFIX, arrays, sizes)
