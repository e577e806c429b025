"""Word translation probabilities from the links of alignments and from IBM model 1 (Brown et al. 1993)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lscfg import log
from lscfg.errors import InputError, quote
from lscfg.grammar.table import vocabulary_words
from lscfg.io.numbers import parse_number
from lscfg.io.read import stream_lines
from lscfg.io.write import write_lines
from lscfg.kernel.biparse import Bitexts

BLOCK = 2000
"""Sentence pairs whose cells are computed at a time."""

LEAST = 1e-7
"""Least probability of a pair of words, as in the kernel."""

LINKS_SHARE = 0.9
"""Share of the relative frequencies of links in a lexicon; IBM model 1 has the rest."""

MODEL1_ITERATIONS = 4
"""Iterations of IBM model 1."""


@dataclass(frozen=True)
class Lexicon:
    """Probabilities of pairs of words.

    Attributes:
        words: int32 [n, 2], source and target word, -1 for NULL, each pair once.
        probability: float64 [n, 2], p(target | source) and p(source | target).
    """

    words: np.ndarray
    probability: np.ndarray


NULL = "<NULL>"
"""Mark of "no word" in a file, where a backslash precedes the word <NULL> of a text, and one more its \\<NULL>."""

_LIKE_NULL = re.compile(rf"\\*{NULL}")


def _in_file(word: str) -> str:
    return f"\\{word}" if _LIKE_NULL.fullmatch(word) else word


def text_words(text: Bitexts) -> list[str]:
    """The words of a text by their numbers."""
    return vocabulary_words(text.arrays())


def write_lexicon(path: str | os.PathLike[str], lexicon: Lexicon, words: list[str]) -> None:
    """Writes ``source target p(target | source) p(source | target)`` for each pair (docs/reference/formats.md)."""
    pairs = zip(lexicon.words.tolist(), lexicon.probability.tolist(), strict=True)
    names = [*map(_in_file, words), NULL]  # -1 indexes the last entry
    write_lines(path, (f"{names[f]} {names[e]} {forth!r} {back!r}" for (f, e), (forth, back) in pairs))


def read_lexicon(path: str | os.PathLike[str], words: list[str]) -> Lexicon:
    """The entries of a lexicon file whose words occur in a text.

    Raises:
        InputError: a line does not consist of two words and two probabilities, or repeats a pair; or no pair belongs to
            the text.
    """
    numbers = {_in_file(word): number for number, word in enumerate(words)} | {NULL: -1}
    found: dict[tuple[int, int], tuple[float, float]] = {}
    others = 0
    for line_number, line in enumerate(stream_lines(path), 1):
        fields = line.split(" ")
        if len(fields) != 4:
            raise InputError("expected two words and two probabilities", path, line_number)
        forth, back = (_probability(field, path, line_number) for field in fields[2:])
        pair = numbers.get(fields[0]), numbers.get(fields[1])
        if pair[0] is None or pair[1] is None:
            others += 1
        elif (pair[0], pair[1]) in found:
            raise InputError(f"the pair {quote(' '.join(fields[:2]))} occurs twice", path, line_number)
        else:
            found[pair[0], pair[1]] = forth, back
    if not found:
        raise InputError("contains no pair of words from the text; use a lexicon of these languages", path)
    log.info(f"lexicon of {path}: {len(found)} word pairs; {others} contain words that the text lacks")
    if not any(-1 in pair for pair in found):
        log.warning(f"{path} has no {NULL}: words without a link are very unlikely")
    return Lexicon(np.array([*found], np.int32), np.array([*found.values()]))


def _probability(text: str, path: str | os.PathLike[str], line: int) -> float:
    try:
        value = parse_number(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(f"{quote(text)} is not a probability", path, line)
    return value


def make_lexicon(text: Bitexts, share: float = LINKS_SHARE, iterations: int = MODEL1_ITERATIONS) -> Lexicon:
    """The lexicon of a text with counted links.

    Args:
        share: weight of the relative frequencies of links, 0 to 1; IBM model 1 has the rest.
        iterations: iterations of EM for IBM model 1, on the parsed pairs.
    """
    arrays = text.arrays()
    n_words = len(arrays["vocab.offsets"]) - 1
    linked = arrays["lexicon.words"]
    keys, cells, offsets = _cells(arrays, n_words)
    of_links = (linked[:, 0].astype(np.int64) + 1) * (n_words + 1) + linked[:, 1] + 1
    all_keys = np.union1d(keys, of_links)
    place, place_of_links = np.searchsorted(all_keys, keys), np.searchsorted(all_keys, of_links)
    words = np.stack([all_keys // (n_words + 1) - 1, all_keys % (n_words + 1) - 1], 1).astype(np.int32)
    probability = np.zeros((len(all_keys), 2))
    count = arrays["lexicon.count"].astype(float)
    for way in range(2):
        given = linked[:, way] + 1
        probability[place_of_links, way] = share * count / np.bincount(given, count)[given]
        probability[place, way] += (1 - share) * _model1(keys, cells, offsets[way], n_words, way, iterations)
    kept = (probability >= LEAST).any(1)
    return Lexicon(words[kept], np.minimum(probability[kept], 1))


def _cells(arrays: dict[str, np.ndarray], n_words: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """All pairs of words that occur together, including NULL.

    Sentence pairs are processed in blocks, because intermediate arrays are several times as large as the result.

    Returns:
        Ascending keys; for each cell of each sentence pair, int32, its index among the keys; and the token of each cell
        on the target and on the source side, -1 for NULL.
    """
    found = []
    for block in _blocks(arrays):
        keys, cells = np.unique(_keys(arrays, block, n_words), return_inverse=True)
        found.append((keys, cells.astype(np.int32), [token.astype(np.int32) for token in block]))
    keys = np.unique(np.concatenate([block for block, _, _ in found]))
    cells = np.concatenate([np.searchsorted(keys, block).astype(np.int32)[cells] for block, cells, _ in found])
    source, target = (np.concatenate([tokens[side] for _, _, tokens in found]) for side in range(2))
    return keys, cells, [target, source]


def _blocks(arrays: dict[str, np.ndarray]) -> Iterator[list[np.ndarray]]:
    """The source and the target token of each cell of some sentence pairs; one of them may be -1, for NULL."""
    for begin in range(0, len(arrays["src.offsets"]) - 1, BLOCK):
        first = [arrays[f"{side}.offsets"][begin : begin + BLOCK + 1] for side in ("src", "tgt")]
        rows, columns = (np.diff(offsets) + 1 for offsets in first)
        pair = np.repeat(np.arange(len(rows)), rows * columns)
        at = np.arange(len(pair)) - (np.cumsum(rows * columns) - rows * columns)[pair]
        places = [at // columns[pair] - 1, at % columns[pair] - 1]
        tokens = [np.where(place >= 0, offsets[pair] + place, -1) for offsets, place in zip(first, places, strict=True)]
        there = (tokens[0] >= 0) | (tokens[1] >= 0)
        yield [token[there] for token in tokens]


def _keys(arrays: dict[str, np.ndarray], tokens: list[np.ndarray], n_words: int) -> np.ndarray:
    """The two words of each cell as one number."""
    source, target = (np.append(arrays[side], -1)[token] for side, token in zip(("src", "tgt"), tokens, strict=True))
    result: np.ndarray = (source.astype(np.int64) + 1) * (n_words + 1) + target + 1
    return result


def _model1(
    keys: np.ndarray, cells: np.ndarray, token: np.ndarray, n_words: int, way: int, iterations: int
) -> np.ndarray:
    """IBM model 1: float64 [keys], p(target | source) for way 0, p(source | target) for way 1.

    Args:
        token: the generated token of each cell, or -1.
    """
    given = keys // (n_words + 1) if way == 0 else keys % (n_words + 1)
    used = token >= 0
    cells, token = cells[used], token[used]
    if not len(cells):
        return np.zeros(len(keys))
    table = np.ones(len(keys))
    for _ in range(iterations):
        weight = table[cells]
        weight /= np.bincount(token, weight)[token]
        count = np.bincount(cells, weight, minlength=len(keys))
        table = count / np.maximum(np.bincount(given, count), 1e-300)[given]
    return table
