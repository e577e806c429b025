"""Tables of synchronous rules: words and nonterminals as integers, the sides of all rules in one array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from lscfg.kernel import Rules

MAX_ARITY = 2


@dataclass(frozen=True)
class RuleTable:
    """Rules of the one category [X].

    A symbol >= 0 is a word of ``words``; every nonterminal of a source side is -1, the k-th source nonterminal
    (k = 0, 1, ...) on the target side is -1-k.

    Attributes:
        words: the vocabulary of both sides.
        symbols: int32, source side then target side of each rule, one rule behind the other.
        offsets: int64 [rules + 1], where each rule begins in ``symbols``.
        src_length: int32 [rules], symbols of the source side.
        arity: int32 [rules], nonterminals.
    """

    words: list[str]
    symbols: np.ndarray
    offsets: np.ndarray
    src_length: np.ndarray
    arity: np.ndarray

    def __len__(self) -> int:
        return len(self.src_length)

    def __getstate__(self) -> dict[str, object]:
        # the kernel's view of the table is made anew wherever a copy goes
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
            texts.append(self.words[symbol] if symbol >= 0 else f"[X,{arity}]")
        return " ".join(texts)

    def tgt_text(self, rule: int) -> str:
        """The target side as cdec writes it, such as ``[X,2] of [X,1]``."""
        return " ".join(self.words[s] if s >= 0 else f"[X,{-s}]" for s in self.tgt(rule).tolist())

    def text(self, rule: int) -> str:
        """``[X] ||| source ||| target``."""
        return f"[X] ||| {self.src_text(rule)} ||| {self.tgt_text(rule)}"

    @cached_property
    def source_id(self) -> np.ndarray:
        """int64 [rules]: equal numbers for equal source sides, counted in order of first appearance."""
        return self._side_id(0)

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
        return Rules(self.arrays())

    def select(self, rules: np.ndarray) -> RuleTable:
        """The table of some rules, in the order given; the vocabulary stays whole."""
        lengths = np.diff(self.offsets)[rules]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        index = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[rules], lengths)
        return RuleTable(self.words, self.symbols[index], offsets, self.src_length[rules], self.arity[rules])

    def with_those_of(self, other: RuleTable) -> tuple[RuleTable, np.ndarray]:
        """The rules, each once, and behind them those of the other table that are not among them.

        Returns:
            The table; int64, the number in it of each rule of the other one.
        """
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
        """The table as named arrays, as in model and derivation files (docs/FORMATS.md)."""
        encoded = [word.encode("utf-8") for word in self.words]
        return {
            "rules.symbols": self.symbols.astype(np.int32),
            "rules.offsets": self.offsets.astype(np.int64),
            "rules.src_length": self.src_length.astype(np.int32),
            "rules.arity": self.arity.astype(np.int32),
            "vocab.bytes": np.frombuffer(b"".join(encoded), np.uint8),
            "vocab.offsets": np.concatenate([[0], np.cumsum([len(word) for word in encoded])]).astype(np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> RuleTable:
        """The inverse of ``arrays``."""
        data = arrays["vocab.bytes"].tobytes()
        ends = arrays["vocab.offsets"].tolist()
        words = [data[a:b].decode("utf-8") for a, b in pairwise(ends)]
        return cls(
            words,
            arrays["rules.symbols"],
            arrays["rules.offsets"],
            arrays["rules.src_length"],
            arrays["rules.arity"],
        )
