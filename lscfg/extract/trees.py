"""Derivation trees as text for other programs, one rule per line in preorder (docs/reference/formats.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lscfg import log
from lscfg.errors import InputError, quote
from lscfg.grammar.table import RuleTable, X, check_categories
from lscfg.io.compression import plain_name
from lscfg.io.read import split_fields, stream_lines
from lscfg.kernel import words_fault

NO_TREE = "-"
"""The line of a pair without a tree."""

_NONTERMINAL = re.compile(r"\[([^\s\[\],|]+),([1-9][0-9]{0,5})\]")
_CATEGORY = re.compile(r"\[([^\s\[\],|]+)\]")


@dataclass(frozen=True, eq=False)
class TextTrees:
    """Trees of a text file, with the fields of ``Derivations``."""

    rules: RuleTable
    trees: np.ndarray
    rule: np.ndarray
    parent: np.ndarray
    slot: np.ndarray
    span: np.ndarray
    empty: int
    """Number of pairs without a tree."""


def has_trees(path: str | os.PathLike[str]) -> bool:
    """True if the file name marks trees as text."""
    return plain_name(os.fspath(path)).endswith(".trees")


def check_not_text(path: str | os.PathLike[str]) -> None:
    """Refuses the name of trees as text for a derivation file, which ``has_trees`` would mistake for text.

    Raises:
        InputError: the file name marks trees as text.
    """
    if has_trees(path):
        raise InputError("only trees as text may end in .trees; choose another name for a derivation file", path)


def read_trees(path: str | os.PathLike[str]) -> TextTrees:
    """Reads the trees of a text file.

    Raises:
        InputError: a line is not a rule, a tree lacks children or has too many, or the file contains no tree.
    """
    found = _Trees()
    number = 0
    for number, line in enumerate(log.progress(stream_lines(path), "read trees"), 1):
        try:
            found.add(line.strip())
        except ValueError as error:
            raise InputError(str(error), path, number) from None
    try:
        found.end()
    except ValueError as error:
        raise InputError(str(error), path, number) from None
    if not found.rule:
        raise InputError("the file contains no tree; write one rule per line and an empty line after each tree", path)
    return found.trees()


def tree_lines(rules: RuleTable, rule_of: np.ndarray, parent_of: np.ndarray, first_of: np.ndarray) -> Iterator[str]:
    """The lines of trees that ``read_trees`` reads, indented by depth, without newlines.

    Args:
        rule_of, parent_of: int32 [nodes]; first_of: int64 [trees + 1], first node of each tree.
    """
    several = rules.lhs is not None
    texts = {
        r: (rules.text(r) if several else f"{rules.src_text(r)} ||| {rules.tgt_text(r)}").strip()
        for r in np.unique(rule_of).tolist()
    }
    rule, parent = rule_of.tolist(), parent_of.tolist()
    for first, end in pairwise(first_of.tolist()):
        if first == end:
            yield NO_TREE
        depth = {-1: -1}
        for node in range(first, end):
            depth[node] = depth[parent[node]] + 1
            yield "  " * depth[node] + texts[rule[node]]
        yield ""


class _Trees:
    """Collects trees line by line. All methods raise ValueError for a line that does not fit."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.numbers: dict[str, int] = {}  # by their lines
        self.known: dict[tuple[str, ...], int] = {}  # of the rules
        self.categories: dict[str, int] = {}
        self.lhs: list[int] = []
        self.below: list[list[int]] = []  # categories of the nonterminals of each rule
        self.sides: list[tuple[list[int], list[int]]] = []
        self.arity: list[int] = []
        self.starts = [0]
        self.rule: list[int] = []
        self.parent: list[int] = []
        self.slot: list[int] = []
        self.open: list[tuple[int, int]] = []  # nodes without all their children: node, slot of the next child
        self.empty = 0

    def add(self, line: str) -> None:
        """The next line, without blanks around it."""
        if not line:
            self.end()
        elif line == NO_TREE:
            if len(self.rule) > self.starts[-1]:
                raise ValueError(f"{NO_TREE} marks a pair without a tree, but a tree has begun; insert an empty line")
            self.starts.append(len(self.rule))
            self.empty += 1
        else:
            self._add_node(self._number(line))

    def end(self) -> None:
        """The end of a tree, if one has begun."""
        if self.open:
            node, slot = self.open[-1]
            missing = sum(self.arity[self.rule[node]] - slot for node, slot in self.open)
            wanted = f"child {slot + 1} of {quote(self._text(node))}"
            raise ValueError(f"the tree ends, but {missing} of its nodes are missing, first {wanted}")
        if len(self.rule) > self.starts[-1]:
            self.starts.append(len(self.rule))

    def _add_node(self, rule: int) -> None:
        parent = slot = 0
        if len(self.rule) == self.starts[-1]:
            parent = -1
        elif self.open:
            parent, slot = self.open.pop()
            if self.lhs[rule] != (wanted := self.below[self.rule[parent]][slot]):
                names = list(self.categories)
                raise ValueError(f"a rule of [{names[self.lhs[rule]]}]; the rule above requires [{names[wanted]}] here")
            if slot + 1 < self.arity[self.rule[parent]]:
                self.open.append((parent, slot + 1))
        else:
            raise ValueError("the tree is complete; insert an empty line between trees")
        if self.arity[rule]:
            self.open.append((len(self.rule), 0))
        self.rule.append(rule)
        self.parent.append(parent)
        self.slot.append(slot)

    def _number(self, line: str) -> int:
        """The number of the rule on a line."""
        found = self.numbers.get(line)
        if found is None:
            fields = split_fields(line)
            lhs = X
            if match := _CATEGORY.fullmatch(fields[0].strip()):
                lhs = match[1]
                del fields[0]
            if len(fields) != 2:
                raise ValueError(f"not a rule: {quote(line)}; write SOURCE ||| TARGET, nonterminals [X,1] [X,2]")
            key = lhs, *(" ".join(filter(None, field.split(" "))) for field in fields)
            found = self.known.get(key)
            if found is None:
                found = self.known[key] = self._new(*key)
            self.numbers[line] = found
        return found

    def _new(self, lhs: str, source: str, target: str) -> int:
        src, tgt = (side.split(" ") if side else [] for side in (source, target))
        if fault := words_fault(" ".join(word for word in (*src, *tgt) if not _NONTERMINAL.fullmatch(word))):
            raise ValueError(fault)
        found = [match for word in src if (match := _NONTERMINAL.fullmatch(word))]
        gaps = [int(match[2]) for match in found]
        if gaps != [*range(1, len(gaps) + 1)]:
            raise ValueError("the source side must have the nonterminals [X,1] [X,2] ... in this order")
        others = [match for word in tgt if (match := _NONTERMINAL.fullmatch(word))]
        if sorted(int(match[2]) for match in others) != gaps:
            raise ValueError("the target side needs each nonterminal of the source side once")
        if any(match[1] != found[int(match[2]) - 1][1] for match in others):
            raise ValueError("a nonterminal has two categories")
        names = [lhs, *(match[1] for match in found)]
        if new := sorted({*names} - self.categories.keys()):
            check_categories([*self.categories, *new])
        numbers = [self.categories.setdefault(name, len(self.categories)) for name in names]
        self.lhs.append(numbers[0])
        self.below.append(numbers[1:])
        if not src or len(src) == len(gaps) == 1:
            raise ValueError("a source side needs a word, or two nonterminals")
        self.sides.append((self._symbols(src, True), self._symbols(tgt, False)))
        self.arity.append(len(gaps))
        return len(self.arity) - 1

    def _symbols(self, words: list[str], source: bool) -> list[int]:
        found = []
        for word in words:
            if match := _NONTERMINAL.fullmatch(word):
                found.append(-1 - self.categories[match[1]] if source else -int(match[2]))
            else:
                found.append(self.words.setdefault(word, len(self.words)))
        return found

    def _text(self, node: int) -> str:
        rule = self.rule[node]
        return " ||| ".join(next(key[1:] for key, number in self.known.items() if number == rule))

    def trees(self) -> TextTrees:
        """All added trees."""
        lengths, several = [(len(src), len(tgt)) for src, tgt in self.sides], list(self.categories)
        table = RuleTable(
            [*self.words],
            np.array([symbol for src, tgt in self.sides for symbol in (*src, *tgt)], np.int32),
            np.cumsum([0, *(n + k for n, k in lengths)], dtype=np.int64),
            np.array([n for n, _ in lengths], np.int32),
            np.array(self.arity, np.int32),
            *(() if several == [X] else (np.array(self.lhs, np.int32), tuple(several))),
        )
        return TextTrees(
            table,
            np.array(self.starts, np.int64),
            np.array(self.rule, np.int32),
            np.array(self.parent, np.int32),
            np.array(self.slot, np.int32),
            self._spans(),
            self.empty,
        )

    def _spans(self) -> np.ndarray:
        """int32 [nodes, 4]: span of each node in the words of the trees."""
        below: list[list[int]] = [[] for _ in self.rule]
        for node, parent in enumerate(self.parent):
            if parent >= 0:
                below[parent].append(node)
        sizes = [[0, 0] for _ in self.rule]
        for node in range(len(self.rule) - 1, -1, -1):
            for side, symbols in enumerate(self.sides[self.rule[node]]):
                sizes[node][side] = len(symbols) - len(below[node]) + sum(sizes[child][side] for child in below[node])
        begins = [[0, 0] for _ in self.rule]
        for node, children in enumerate(below):
            if children:
                self._place(node, children, begins, sizes)
        return np.array([[i, i + n, j, j + k] for (i, j), (n, k) in zip(begins, sizes, strict=True)], np.int32)

    def _place(self, node: int, children: list[int], begins: list[list[int]], sizes: list[list[int]]) -> None:
        """Records where the children begin, if the node's own positions are known."""
        for side, symbols in enumerate(self.sides[self.rule[node]]):
            at, gap = begins[node][side], 0
            for symbol in symbols:
                if symbol >= 0:
                    at += 1
                    continue
                child = children[-1 - symbol if side else gap]
                gap += 1
                begins[child][side] = at
                at += sizes[child][side]
