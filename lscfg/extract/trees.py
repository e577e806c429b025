"""Derivation trees as text for other programs: a rule a line in preorder (docs/reference/formats.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from lscfg import log
from lscfg.errors import InputError, quote
from lscfg.extract.derive import Derivations
from lscfg.grammar.table import RuleTable
from lscfg.io.text import atomic_write, split_fields, stream_lines
from lscfg.kernel import words_fault

NO_TREE = "-"
"""The line of a pair without a tree."""

_NONTERMINAL = re.compile(r"\[X,([1-9][0-9]{0,5})\]")


def read_trees(path: str | os.PathLike[str]) -> Derivations:
    """Derivations whose trees a text file has; nothing is known of word links, nor of what was dropped and why.

    Raises:
        InputError: a line is no rule, a tree lacks children or has too many, or there is no tree.
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
        raise InputError("no tree in it; give a rule a line, and an empty line behind each tree", path)
    return found.derivations()


def write_trees(path: str | os.PathLike[str], derivations: Derivations) -> None:
    """Writes the trees as ``read_trees`` reads them, indented by depth."""
    with atomic_write(path) as file:
        for line in tree_lines(derivations):
            file.write(line + "\n")


def tree_lines(derivations: Derivations) -> Iterator[str]:
    """The lines of the format, without newlines."""
    rules = derivations.rules
    texts = [f"{rules.src_text(r)} ||| {rules.tgt_text(r)}".strip() for r in range(len(rules))]
    rule, parent, trees = (array.tolist() for array in (derivations.rule, derivations.parent, derivations.trees))
    for first, end in pairwise(trees):
        if first == end:
            yield NO_TREE
        depth = {-1: -1}
        for node in range(first, end):
            depth[node] = depth[parent[node]] + 1
            yield "  " * depth[node] + texts[rule[node]]
        yield ""


class _Trees:
    """Trees while their lines come. All raise ValueError for a line that does not fit."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.numbers: dict[str, int] = {}  # of the lines that were met
        self.known: dict[tuple[str, ...], int] = {}  # of the rules
        self.sides: list[tuple[list[int], list[int]]] = []
        self.arity: list[int] = []
        self.starts = [0]
        self.rule: list[int] = []
        self.parent: list[int] = []
        self.slot: list[int] = []
        self.open: list[tuple[int, int]] = []  # nodes that wait for children: node, the next child's slot
        self.empty = 0

    def add(self, line: str) -> None:
        """The next line, without blanks around it."""
        if not line:
            self.end()
        elif line == NO_TREE:
            if len(self.rule) > self.starts[-1]:
                raise ValueError(f"{NO_TREE} says that there is no tree, and this one has begun; put an empty line")
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
            raise ValueError(f"the tree ends, and {missing} of its nodes are missing, first {wanted}")
        if len(self.rule) > self.starts[-1]:
            self.starts.append(len(self.rule))

    def _add_node(self, rule: int) -> None:
        parent = slot = 0
        if len(self.rule) == self.starts[-1]:
            parent = -1
        elif self.open:
            parent, slot = self.open.pop()
            if slot + 1 < self.arity[self.rule[parent]]:
                self.open.append((parent, slot + 1))
        else:
            raise ValueError("the tree has all its nodes already; put an empty line between trees")
        if self.arity[rule]:
            self.open.append((len(self.rule), 0))
        self.rule.append(rule)
        self.parent.append(parent)
        self.slot.append(slot)

    def _number(self, line: str) -> int:
        """The number of the rule that a line has."""
        found = self.numbers.get(line)
        if found is None:
            fields = split_fields(line)
            if fields[0] == "[X]":
                del fields[0]
            if len(fields) != 2:
                raise ValueError(f"not a rule: {quote(line)}; write SOURCE ||| TARGET, nonterminals [X,1] [X,2]")
            key = tuple(" ".join(field.split()) for field in fields)
            found = self.known.get(key)
            if found is None:
                found = self.known[key] = self._new(*key)
            self.numbers[line] = found
        return found

    def _new(self, source: str, target: str) -> int:
        src, tgt = source.split(), target.split()
        if fault := words_fault(" ".join(word for word in (*src, *tgt) if not _NONTERMINAL.fullmatch(word))):
            raise ValueError(f"a {fault}")
        gaps = [int(match[1]) for word in src if (match := _NONTERMINAL.fullmatch(word))]
        if gaps != [*range(1, len(gaps) + 1)]:
            raise ValueError("the nonterminals of a source side are [X,1] [X,2] ... in this order")
        if sorted(int(match[1]) for word in tgt if (match := _NONTERMINAL.fullmatch(word))) != gaps:
            raise ValueError("the target side needs each nonterminal of the source side once")
        if not src or len(src) == len(gaps) == 1:
            raise ValueError("a source side needs a word, or two nonterminals")
        self.sides.append((self._symbols(src, True), self._symbols(tgt, False)))
        self.arity.append(len(gaps))
        return len(self.arity) - 1

    def _symbols(self, words: list[str], source: bool) -> list[int]:
        found = []
        for word in words:
            if match := _NONTERMINAL.fullmatch(word):
                found.append(-1 if source else -int(match[1]))
            else:
                found.append(self.words.setdefault(word, len(self.words)))
        return found

    def _text(self, node: int) -> str:
        rule = self.rule[node]
        return " ||| ".join(next(key for key, number in self.known.items() if number == rule))

    def derivations(self) -> Derivations:
        """All trees that were given."""
        lengths = [(len(src), len(tgt)) for src, tgt in self.sides]
        table = RuleTable(
            [*self.words],
            np.array([symbol for src, tgt in self.sides for symbol in (*src, *tgt)], np.int32),
            np.cumsum([0, *(n + k for n, k in lengths)], dtype=np.int64),
            np.array([n for n, _ in lengths], np.int32),
            np.array(self.arity, np.int32),
        )
        return Derivations(
            table,
            np.array(self.starts, np.int64),
            np.array(self.rule, np.int32),
            np.array(self.parent, np.int32),
            np.array(self.slot, np.int32),
            self._spans(),
            np.empty((0, 2), np.int32),
            np.empty(0, np.int64),
            dropped={"no tree": self.empty} if self.empty else {},
        )

    def _spans(self) -> np.ndarray:
        """int32 [nodes, 4]: where each node is in the words that the trees spell."""
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
        """Where the children begin, if the node's own places are known."""
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
