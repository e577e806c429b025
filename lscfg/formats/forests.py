"""Forests as lines of JSON, from lscfg itself and from cdec's recorder (docs/reference/formats.md)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lscfg.errors import InputError, cut
from lscfg.io.read import stream_lines
from lscfg.json_text import parse_json
from lscfg.kernel import Forest, ForestBuilder, Grammar, X
from lscfg.kernel.extra_rules import PASS, PASS_KNOWN

_NONTERMINAL = re.compile(r"\[([^\[\],\s]+),([1-9]\d*)\]")

LONGEST = 1 << 20
"""Maximum number of words of a sentence with a forest; the end of a span determines the memory for a forest."""


@dataclass(frozen=True, eq=False)
class StoredForest:
    """One forest of a file."""

    number: int
    """The sentence's id."""
    words: list[str] | None
    """The words of the sentence; None if the forest is not that of a plain sentence."""
    forest: Forest | None = None
    """None if the sentence has no parse."""
    names: tuple[str, ...] = ()
    """Names of the features in the file."""
    features: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    """float64 [n_apps, len(names)], their values."""
    sides: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Source and target sides of applications whose rule is not in the grammar, by application."""


class ForestFile:
    """The forests of a file, which each iteration reads again.

    The attribute ``grammar`` is finished: the given grammar and all rules of the forests.

    Args:
        path: lines of JSON, .gz allowed.
        grammars: files of a grammar in cdec's format; missing rules of the forests are added.

    Raises:
        InputError: a line is not such a forest, or contains a span longer than ``LONGEST``, a rule of more than two
            nonterminals, or a root without a derivation.
    """

    def __init__(self, path: str | os.PathLike[str], grammars: Iterable[str | os.PathLike[str]] = ()):
        self.path = path
        self.grammar = Grammar()
        for grammar in grammars:
            self.grammar.read(grammar)
        self._rules: dict[tuple[str, str, str], int] = {}
        encoded = {}
        for number, line in self._lines():
            with _malformed(path, number):
                for node in line.get("nodes", ()):  # all at once: the grammar must not grow while threads read it
                    self.grammar.category(node[0])
                for rule in _rules(line):
                    if rule not in encoded:
                        encoded[rule] = self._encode(*rule)
                        self.grammar.add(*encoded[rule])
        self.grammar.finish()
        self._rules = {rule: self.grammar.find(*symbols) for rule, symbols in encoded.items()}

    def __iter__(self) -> Iterator[StoredForest]:
        for number, line in self._lines():
            with _malformed(self.path, number):
                stored = self._forest(line)
            yield stored

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, text in enumerate(stream_lines(self.path), 1):
            with _malformed(self.path, number):
                line = parse_json(text)
                if not (isinstance(line["id"], int) and isinstance(line["parsed"], bool)):
                    raise ValueError("id or parsed")
                if "cut" in line:
                    raise InputError(
                        "lscfg inspect marginals kept only the largest marginals, so derivations are missing; "
                        "run it again without --top and --min-marginal"
                    )
            yield number, line

    def _encode(self, category: str, source: str, target: str) -> tuple[int, list[int], list[int]]:
        """Returns the rule as symbols of the kernel."""
        src, order = [], []
        for token in source.split(" "):
            found = _NONTERMINAL.fullmatch(token)
            src.append(-1 - self.grammar.category(found[1]) if found else self.grammar.vocab.add(token))
            if found:
                order.append(token)
        tgt = [
            -1 - order.index(token) if _NONTERMINAL.fullmatch(token) else self.grammar.vocab.add(token)
            for token in target.split(" ")
            if target
        ]
        return self.grammar.category(category), src, tgt

    @cached_property
    def _translated(self) -> set[int]:
        """Returns the words that a rule [X] translates alone."""
        grammar, sources = self.grammar, (self.grammar.src(r) for r in range(len(self.grammar)))
        return {src[0] for r, src in enumerate(sources) if len(src) == 1 and src[0] >= 0 and grammar.lhs(r) == X}

    def _forest(self, line: dict[str, Any]) -> StoredForest:
        if not line["parsed"]:
            return StoredForest(line["id"], line["words"])
        grammar, nodes = self.grammar, line["nodes"]
        into: list[list[dict[str, Any]]] = [[] for _ in nodes]
        for edge in line["edges"]:
            if edge["node"] < 0:
                raise ValueError("node")
            into[edge["node"]].append(edge)
        words = line["words"] if line["words"] is not None else _words(nodes, line["edges"])
        if words is None:
            ids = np.full(_end(nodes) + 1, -1, np.int32)  # one beyond the root: a lattice
        else:
            ids = np.array([grammar.vocab.find(word) for word in words], np.int32)
        builder = ForestBuilder(ids)
        names = tuple(line["features"])
        values: list[list[float]] = []
        passed: dict[int, tuple[str, str]] = {}
        for node, edges in zip(nodes, into, strict=True):
            builder.add_node(grammar.category(node[0]), node[1], node[2])
            for edge in edges:
                if len(edge["tails"]) > 2:
                    raise InputError("a rule with more than two nonterminals; forest files allow at most two")
                for target, *row in edge["targets"]:
                    rule = self._rules.get((node[0], edge["source"], target), -1)
                    if edge.get("pass", False):
                        # a forest without words could not see that the word is known
                        known = words is None and grammar.vocab.find(target) in self._translated
                        rule = len(grammar) + (PASS_KNOWN if known else PASS)
                        passed[len(values)] = edge["source"], target
                    builder.add_application(rule, *edge["tails"])
                    if len(row) - len(names) not in (0, 1):  # a marginal stands before the features, or nothing
                        raise ValueError("features")
                    values.append(row[len(row) - len(names) :])
        forest, app_of = builder.finish(grammar)
        if forest is None:
            raise InputError("the root has no derivation")
        used = app_of >= 0
        features = np.zeros((forest.n_apps, len(names)))
        features[app_of[used]] = np.array(values, np.float64).reshape(len(values), len(names))[used]
        if not np.isfinite(features).all():
            raise InputError("features are not finite")
        sides = {int(app_of[k]): text for k, text in passed.items() if used[k]}
        return StoredForest(line["id"], words, forest, names, features, sides)


def _rules(line: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yields category, source side and target side of all applications except pass-through."""
    if not line["parsed"]:
        return
    categories = [node[0] for node in line["nodes"]]
    for edge in line["edges"]:
        if not edge.get("pass", False):
            for target in edge["targets"]:
                yield categories[edge["node"]], edge["source"], target[0]


def _words(nodes: list[list[Any]], edges: list[dict[str, Any]]) -> list[str] | None:
    """Returns the sentence that the rules of a forest cover; None for a lattice."""
    end = _end(nodes)
    if end > sum(not _NONTERMINAL.fullmatch(token) for edge in edges for token in edge["source"].split(" ")):
        return None  # a word of a lattice may cover several places
    words: list[str | None] = [None] * end
    for edge in edges:
        _, position, end = nodes[edge["node"]][:3]
        tails = iter(edge["tails"])
        for token in edge["source"].split(" "):
            if _NONTERMINAL.fullmatch(token):
                position = nodes[next(tails)][2]
                continue
            if position >= end or words[position] not in (None, token):
                return None
            words[position] = token
            position += 1
        if position != end:
            return None
    found = [word for word in words if word is not None]
    return found if len(found) == len(words) else None


def _end(nodes: list[list[Any]]) -> int:
    """Returns the end of the last span.

    Raises:
        InputError: the end exceeds the longest sentence.
    """
    end: int = max(node[2] for node in nodes)
    if end > LONGEST:
        raise InputError(f"a span ends at {cut(end)}; the longest sentence has {LONGEST} words")
    return end


@contextmanager
def _malformed(path: str | os.PathLike[str], number: int) -> Iterator[None]:
    """Converts any error in a line to one that names the line."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}; the file may be cut off; create it again", path, number) from error
    except InputError as error:
        raise InputError(str(error), path, number) from error
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        RecursionError,
        StopIteration,
    ) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else cut(error) or repr(error)
        raise InputError(
            f"not a forest ({what}); expected a line of lscfg inspect marginals or lscfg cdec forest", path, number
        ) from error
