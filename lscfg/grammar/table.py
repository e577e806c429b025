"""Tables of synchronous rules: words and nonterminals as integers, the sides of all rules in one array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from lscfg.io.layout import check_layout, check_offsets, check_range
from lscfg.kernel import Rules, words_fault

MAX_ARITY = 9
"""Most nonterminals of a rule of a grammar, as in the kernel."""

MAX_TENSOR_ARITY = 2
"""Most nonterminals of a rule with a tensor in a model."""

BLOCK = 100_000
"""Rules that are checked at a time, because intermediate arrays are several times their size."""

LAYOUT = {
    "rules.symbols": "int32 [symbols]",
    "rules.src_length": "int32 [rules]",
    "rules.offsets": "int64 [rules + 1]",
    "rules.arity": "int32 [rules]",
    "vocab.bytes": "uint8 [bytes]",
    "vocab.offsets": "int64 [words + 1]",
}
"""The arrays of a table in a file (docs/reference/formats.md)."""

CATEGORIES = {
    "rules.lhs": "int32 [rules]",
    "categories.bytes": "uint8 [category bytes]",
    "categories.offsets": "int64 [categories + 1]",
}
"""Further arrays of a table with several categories."""

X, GOAL = "X", "S"
"""The only category of most tables, and the category of whole sentences, which no rule of a table carries."""

MAX_CATEGORIES = 1024
"""Maximum number of categories of a table, as in the kernel."""


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rules of the category [X] alone, or of several categories.

    A symbol >= 0 is a word of ``words``; a nonterminal of category c on a source side is -1-c, thus -1 for [X] alone;
    the k-th source nonterminal (k = 0, 1, ...) on the target side is -1-k.

    Attributes:
        words: the vocabulary of both sides.
        symbols: int32, source side and then target side of each rule, one rule after the other.
        offsets: int64 [rules + 1], begin of each rule in ``symbols``.
        src_length: int32 [rules], symbols of the source side.
        arity: int32 [rules], nonterminals.
        lhs: int32 [rules], category of the left-hand side; None if [X] is the only category.
        categories: names of the categories.
    """

    words: list[str]
    symbols: np.ndarray
    offsets: np.ndarray
    src_length: np.ndarray
    arity: np.ndarray
    lhs: np.ndarray | None = None
    categories: tuple[str, ...] = (X,)

    @classmethod
    def empty(cls) -> RuleTable:
        """A table without rules and words."""
        none = np.zeros(0, np.int32)
        return cls([], none, np.zeros(1, np.int64), none, none)

    def __len__(self) -> int:
        return len(self.src_length)

    def __getstate__(self) -> dict[str, object]:
        # each copy makes a new view of the table for the kernel
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}

    def src(self, rule: int) -> np.ndarray:
        """Symbols of the rule's source side."""
        begin = self.offsets[rule]
        return self.symbols[begin : begin + self.src_length[rule]]

    def tgt(self, rule: int) -> np.ndarray:
        """Symbols of the rule's target side."""
        return self.symbols[self.offsets[rule] + self.src_length[rule] : self.offsets[rule + 1]]

    def src_text(self, rule: int) -> str:
        """The source side as cdec writes it, such as ``[X,1] の [X,2]``."""
        texts, arity = [], 0
        for symbol in self.src(rule).tolist():
            arity += symbol < 0
            texts.append(self.words[symbol] if symbol >= 0 else f"[{self.categories[-1 - symbol]},{arity}]")
        return " ".join(texts)

    def tgt_text(self, rule: int) -> str:
        """The target side as cdec writes it, such as ``[X,2] of [X,1]``."""
        names = [self.categories[-1 - symbol] for symbol in self.src(rule).tolist() if symbol < 0]
        return " ".join(self.words[s] if s >= 0 else f"[{names[-1 - s]},{-s}]" for s in self.tgt(rule).tolist())

    def text(self, rule: int) -> str:
        """``[X] ||| source ||| target``, with the rule's category instead of X."""
        return f"[{self.categories[self.category[rule]]}] ||| {self.src_text(rule)} ||| {self.tgt_text(rule)}"

    def short_text(self, rule: int) -> str:
        """``source ||| target``, after the rule's category unless it is X."""
        return self.text(rule).removeprefix(f"[{X}] ||| ")

    @property
    def category(self) -> np.ndarray:
        """int32 [rules], category of each left-hand side."""
        return np.zeros(len(self), np.int32) if self.lhs is None else self.lhs

    @cached_property
    def below(self) -> np.ndarray:
        """int32 [rules, 2], categories of the first two nonterminals of the source side; -1: none."""
        found = np.full((len(self), 2), -1, np.int32)
        for slot in (0, 1):
            has = np.flatnonzero(self.arity > slot)
            found[has, slot] = self.gaps[self.first_gap[has] + slot]
        return found

    @cached_property
    def gaps(self) -> np.ndarray:
        """int32 [nonterminals of all rules], categories of the nonterminals of source sides."""
        _, on_source = self.on_source()
        result: np.ndarray = -1 - self.symbols[on_source & (self.symbols < 0)]
        return result

    @cached_property
    def first_gap(self) -> np.ndarray:
        """int64 [rules + 1], first of each rule in ``gaps``."""
        return np.concatenate([[0], np.cumsum(self.arity, dtype=np.int64)])

    def with_categories(self, rule: np.ndarray, lhs: np.ndarray, gaps: np.ndarray, names: tuple[str, ...]) -> RuleTable:
        """Rules of this table with categories.

        Args:
            rule: int64 [new rules], number of each rule in this table; lhs: int32 [new rules], its category.
            gaps: int32, categories of the source nonterminals of all new rules; names: names of the categories.
        """
        chosen = self.select(rule)
        _, on_source = chosen.on_source()
        symbols = chosen.symbols.copy()
        symbols[on_source & (symbols < 0)] = -1 - gaps
        return replace(chosen, symbols=symbols, lhs=lhs.astype(np.int32), categories=names)

    @cached_property
    def shape_id(self) -> np.ndarray:
        """int64 [rules]: equal numbers for equal categories of the left-hand side and the first two nonterminals."""
        n = len(self.categories) + 1
        found: np.ndarray = (self.category.astype(np.int64) * n + self.below[:, 0] + 1) * n + self.below[:, 1] + 1
        return found

    def without_categories(self) -> RuleTable:
        """The table with [X] for all categories; a rule may occur several times."""
        _, on_source = self.on_source()
        symbols = np.where(on_source, np.maximum(self.symbols, -1), self.symbols).astype(np.int32)
        return RuleTable(self.words, symbols, self.offsets, self.src_length, self.arity)

    @cached_property
    def source_id(self) -> np.ndarray:
        """int64 [rules]: equal numbers for equal source sides and categories, counted in order of first appearance."""
        found = self._side_id(0)
        if self.lhs is None:
            return found
        _, first, number = np.unique(found * len(self.categories) + self.lhs, return_index=True, return_inverse=True)
        order = np.empty(len(first), np.int64)
        order[np.argsort(first)] = np.arange(len(first))
        result: np.ndarray = order[number]
        return result

    @cached_property
    def target_id(self) -> np.ndarray:
        """int64 [rules]: equal numbers for equal target sides, counted in order of first appearance."""
        return self._side_id(1)

    def _side_id(self, side: int) -> np.ndarray:
        return self.kernel.number(side).astype(np.int64)

    @cached_property
    def kernel(self) -> Rules:
        """The table as the kernel sees it.

        Raises:
            ValueError: arrays that do not fit together.
        """
        return Rules(self._named(copy=False))

    def on_source(self) -> tuple[np.ndarray, np.ndarray]:
        """The rule of each symbol, int64 [symbols], and bool [symbols], True on the source side."""
        rule = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        return rule, np.arange(len(rule)) - self.offsets[:-1][rule] < self.src_length[rule]

    def scopes(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 [rules], adjacent nonterminals on the source side; the same with nonterminals at its ends."""
        rule, on_source = self.on_source()
        first, gap = self.offsets[:-1], self.symbols < 0
        gap_there = gap & on_source
        pairs = gap_there[1:] & gap_there[:-1] & (rule[1:] == rule[:-1])
        adjacent = np.bincount(rule[1:][pairs], minlength=len(self))
        ends = gap[first].astype(np.int64) + gap[first + self.src_length - 1]
        return adjacent, adjacent + ends

    def select(self, rules: np.ndarray) -> RuleTable:
        """The table of selected rules, in the given order, with the whole vocabulary."""
        lengths = np.diff(self.offsets)[rules]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        index = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[rules], lengths)
        lhs = None if self.lhs is None else self.lhs[rules]
        sides = self.symbols[index], offsets, self.src_length[rules], self.arity[rules]
        return RuleTable(self.words, *sides, lhs, self.categories)

    def with_those_of(self, other: RuleTable) -> tuple[RuleTable, np.ndarray]:
        """The rules, each once, followed by the other table's new rules.

        Returns:
            The table, and the number of each rule of the other table in it, int64.

        Raises:
            ValueError: a table has several categories.
        """
        if self.lhs is not None or other.lhs is not None:
            raise ValueError("tables of several categories cannot be joined")
        numbers = {word: k for k, word in enumerate(self.words)}
        words = self.words + [word for word in other.words if word not in numbers]
        numbers |= {word: k for k, word in enumerate(words[len(self.words) :], len(self.words))}
        ours = np.array([numbers[word] for word in other.words] or [0])
        symbols = np.where(other.symbols >= 0, ours[np.maximum(other.symbols, 0)], other.symbols)
        both = RuleTable(
            words,
            np.concatenate([self.symbols, symbols.astype(np.int32)]),
            np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
            np.concatenate([self.src_length, other.src_length]),
            np.concatenate([self.arity, other.arity]),
        )
        sides = np.column_stack([both.source_id, both.target_id])
        _, first, which = np.unique(sides, axis=0, return_index=True, return_inverse=True)
        kept = np.sort(first)
        return both.select(kept), np.searchsorted(kept, first)[which.ravel()][len(self) :]

    def arrays(self) -> dict[str, np.ndarray]:
        """The table as named arrays, as in model and derivation files (docs/reference/formats.md), as copies."""
        return self._named(copy=True)

    def _named(self, copy: bool) -> dict[str, np.ndarray]:
        more = {}
        if self.lhs is not None:
            more = {"rules.lhs": self.lhs.astype(np.int32, copy=copy), **_encoded("categories", self.categories)}
        return more | {
            "rules.symbols": self.symbols.astype(np.int32, copy=copy),
            "rules.offsets": self.offsets.astype(np.int64, copy=copy),
            "rules.src_length": self.src_length.astype(np.int32, copy=copy),
            "rules.arity": self.arity.astype(np.int32, copy=copy),
            **_encoded("vocab", self.words),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> RuleTable:
        """The inverse of ``arrays``.

        Raises:
            ValueError: names an array that is missing or malformed.
        """
        lhs: np.ndarray | None = None
        categories: tuple[str, ...] = (X,)
        several = "rules.lhs" in arrays
        sizes = check_layout(arrays, {**LAYOUT, **(CATEGORIES if several else {})})
        if several:
            lhs, categories = arrays["rules.lhs"], category_names(arrays)
            check_range("rules.lhs", lhs, 0, len(categories))
        symbols, offsets = arrays["rules.symbols"], arrays["rules.offsets"]
        src_length, arity = arrays["rules.src_length"], arrays["rules.arity"]
        check_offsets("rules.offsets", offsets, len(symbols))
        check_range("rules.symbols", symbols, -len(symbols), sizes["words"])
        for begin in range(0, len(arity), BLOCK):
            part = slice(begin, begin + BLOCK)
            bounds = offsets[begin : begin + BLOCK + 1]
            own = symbols[bounds[0] : bounds[-1]]
            _check_sides(own, bounds - bounds[0], src_length[part], arity[part], begin, len(categories))
        return cls(vocabulary_words(arrays), symbols, offsets, src_length, arity, lhs, categories)

    def check_distinct(self) -> None:
        """Refuses a table that has a rule twice.

        Raises:
            ValueError: two rules are equal.
        """
        sides = np.sort(self.source_id * len(self) + self.target_id)
        if (sides[1:] == sides[:-1]).any():
            raise ValueError("two rules are the same")


def _encoded(name: str, words: Sequence[str]) -> dict[str, np.ndarray]:
    encoded = [word.encode("utf-8") for word in words]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {f"{name}.bytes": np.frombuffer(b"".join(encoded), np.uint8), f"{name}.offsets": ends}


def vocabulary_words(arrays: Mapping[str, np.ndarray]) -> list[str]:
    """The vocabulary: distinct words that a grammar can contain.

    Raises:
        ValueError: a word is malformed or occurs twice.
    """
    data, offsets = arrays["vocab.bytes"].tobytes(), arrays["vocab.offsets"]
    check_offsets("vocab.offsets", offsets, len(data))
    try:
        words = [data[a:b].decode("utf-8") for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError as error:
        raise ValueError("array 'vocab.bytes' holds a word that is not UTF-8") from error
    if fault := words_fault(" ".join(words)):
        raise ValueError(f"array 'vocab.bytes': {fault}")
    if b" " in data or len(set(words)) < len(words) or "" in words:
        raise ValueError("array 'vocab.bytes' holds an empty word, a blank, or a word twice")
    return words


def category_names(arrays: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """The names of a table's categories.

    Raises:
        ValueError: a name is malformed, reserved or occurs twice, or there are too many.
    """
    data, offsets = arrays["categories.bytes"].tobytes(), arrays["categories.offsets"]
    check_offsets("categories.offsets", offsets, len(data))
    try:
        names = tuple(data[a:b].decode("utf-8") for a, b in pairwise(offsets.tolist()))
    except UnicodeDecodeError as error:
        raise ValueError("array 'categories.bytes' holds a name that is not UTF-8") from error
    check_categories(names)
    return names


def check_categories(names: Sequence[str]) -> None:
    """Refuses names that no grammar can contain.

    Raises:
        ValueError: a name is malformed, reserved or occurs twice, or there are too many.
    """
    if not 1 <= len(names) <= MAX_CATEGORIES:
        raise ValueError(f"{len(names)} categories; 1 to {MAX_CATEGORIES} are possible")
    for name in names:
        if not name or name == GOAL or any(c in "[],|" or c.isspace() or not c.isprintable() for c in name):
            raise ValueError(f"{name!r:.40} cannot name a category")
    if len(set(names)) < len(names):
        raise ValueError("a category occurs twice")


def _check_sides(
    symbols: np.ndarray, offsets: np.ndarray, src_length: np.ndarray, arity: np.ndarray, begin: int, categories: int
) -> None:
    """Refuses rules without a source side, and rules whose sides do not have as many nonterminals as their arity.

    Args:
        begin: number of the first of these rules; categories: number of categories.

    Raises:
        ValueError: the first such rule.
    """
    lengths = np.diff(offsets)
    _refuse("source side", (src_length < 1) | (src_length > lengths), begin)
    rule = np.repeat(np.arange(len(arity)), lengths)
    nonterminal = np.nonzero(symbols < 0)[0]
    rule, index = rule[nonterminal], -1 - symbols[nonterminal].astype(np.int64)
    source = nonterminal < offsets[rule] + src_length[rule]
    found = np.bincount(rule[source], minlength=len(arity))
    wrong = found != arity
    wrong[rule[source & (index >= categories)]] = True
    _refuse("source side", wrong | ((src_length == 1) & (arity == 1)), begin)
    rule, index = rule[~source], index[~source]
    wrong = np.bincount(rule, minlength=len(arity)) != arity
    wrong[rule[index >= arity[rule]]] = True
    _refuse("target side", wrong, begin)
    first = np.cumsum(arity, dtype=np.int64) - arity
    times = np.bincount(first[rule] + index, minlength=len(rule))
    wrong[rule[times[first[rule] + index] != 1]] = True
    _refuse("target side", wrong, begin)


def _refuse(what: str, wrong: np.ndarray, begin: int) -> None:
    if wrong.any():
        raise ValueError(f"rule {begin + int(wrong.argmax())} has an impossible {what}")
