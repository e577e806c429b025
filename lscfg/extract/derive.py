"""Minimal derivation trees of a word-aligned corpus (paper, section 3; Zhang, Gildea & Chiang 2008)."""

from __future__ import annotations

import dataclasses
import json
import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import overload

import numpy as np

from lscfg import log
from lscfg.corpus.parallel import check_length
from lscfg.errors import InputError
from lscfg.extract.forests import LAYOUT as FORESTS
from lscfg.extract.forests import Forests
from lscfg.extract.trees import TextTrees, check_not_text, has_trees, read_trees, tree_lines
from lscfg.grammar.table import MAX_TENSOR_ARITY, RuleTable, X, check_categories
from lscfg.io import tensors
from lscfg.io.compression import is_compressed
from lscfg.io.encoding import not_utf8
from lscfg.io.layout import check_layout, check_range
from lscfg.io.read import read_blocks
from lscfg.io.write import atomic_write
from lscfg.kernel import DeriveOptions, Deriver, LineError, Trees
from lscfg.parallel.choose import in_threads
from lscfg.settings import settings_of
from lscfg.version import __version__

# The corpus is read in blocks of lines, and nodes go to temporary files, because the header of the file needs their
# sizes; memory holds only the tables of rules and words. Threads fill a table per block, merged in order, so all
# numbers are the same as with one thread.

NODES = {
    "trees": "int64 [trees + 1]",
    "node.rule": "int32 [nodes]",
    "node.parent": "int32 [nodes]",
    "node.slot": "int32 [nodes]",
    "node.span": "int32 [nodes, 4]",
    "lexicon.words": "int32 [pairs, 2]",
    "lexicon.count": "int64 [pairs]",
}
"""The arrays of a derivation file besides those of its rules (docs/reference/formats.md)."""

SAMPLES = {"trees.sample": "int32 [trees]", "trees.weight": "float64 [trees]"}
"""The arrays of sampled trees."""

STATES = {"node.state": "int32 [nodes]"}
"""The array of trees whose nodes have hidden states."""

BLOCK = 2000
"""Sentence pairs that are read, derived and written at a time."""


SHOWN_TREES = 3
"""Trees that a notebook shows."""


@dataclass(frozen=True, repr=False, eq=False)
class Derivations:
    """The s-trees of a corpus, one for each sentence pair and alignment, and their rules.

    Nodes are in preorder, children in source order, trees one after the other; rules of every arity are kept. A dropped
    pair has a tree without nodes. Trees of a second alignment follow those of the first.

    Attributes:
        rules: the rule types.
        trees: int64 [alignments * pairs + 1], first node of each tree.
        rule: int32 [nodes]; parent: int32 [nodes], -1 at roots.
        slot: int32 [nodes], index of the node among its parent's children, in source order.
        span: int32 [nodes, 4], source i, j and target i, j, half-open.
        lexicon: int32 [pairs, 2], linked words (source, target); -1 next to a word without a link.
        lexicon_count: int64 [pairs], number of links.
        options: options of the derivation.
        dropped: numbers of dropped pairs by reason.
        alignments: trees of each pair.
        forests: all minimal derivations of the same pairs; None if not requested.
        sample: int32 [trees], sample of each sampled tree; None for other trees.
        weight: float64 [trees], weight of each rule token of the tree; None: 1.
        state: int32 [nodes], hidden states of the nonterminals that the nodes rewrite; None without states.
    """

    rules: RuleTable
    trees: np.ndarray
    rule: np.ndarray
    parent: np.ndarray
    slot: np.ndarray
    span: np.ndarray
    lexicon: np.ndarray
    lexicon_count: np.ndarray
    options: DeriveOptions = field(default_factory=DeriveOptions)
    dropped: Mapping[str, int] = field(default_factory=dict)
    alignments: int = 1
    forests: Forests | None = None
    sample: np.ndarray | None = None
    weight: np.ndarray | None = None
    state: np.ndarray | None = None

    def __len__(self) -> int:
        """The number of trees, including trees without nodes."""
        return len(self.trees) - 1

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        """A tree as text: one rule a line in preorder, indented by depth; ``-`` for a dropped pair.

        Raises:
            IndexError: there is no such tree.
            TypeError: the number is not a whole one.
        """
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        k = range(len(self))[operator.index(number)]
        first, end = self.trees[k : k + 2].tolist()
        parts = self.rule[first:end], self.parent[first:end], np.array([0, end - first])
        parent = np.where(parts[1] < 0, -1, parts[1] - first)
        return "\n".join([*tree_lines(self.rules, parts[0], parent, parts[2])][:-1])

    def __iter__(self) -> Iterator[str]:
        """The trees as text, see ``trees[0]``."""
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<Derivations: {len(self):,} trees, {len(self.rule):,} nodes, {len(self.rules):,} rules>"

    def _repr_html_(self) -> str:
        """The sizes, and the first trees, which a click opens."""
        trees = "".join(
            f"<details{' open' if k == 0 else ''}><summary>tree {k + 1}</summary><pre>{escape(self[k])}</pre></details>"
            for k in range(min(len(self), SHOWN_TREES))
        )
        return f"<p>{escape(repr(self)[1:-1])}</p>{trees}"

    def __getstate__(self) -> dict[str, object]:
        # each copy makes a new kernel's view of the trees
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}

    @property
    def category(self) -> np.ndarray:
        """int32 [nodes], category of each node."""
        result: np.ndarray = self.rules.category[self.rule]
        return result

    def with_categories(
        self, names: Sequence[str], category: np.ndarray, of_forests: np.ndarray | None = None
    ) -> Derivations:
        """Returns the derivations with categories of their nodes; rules also differ by them, and keep their order.

        Args:
            names: names of the categories; [X] alone makes derivations without categories.
            category: int32 [nodes], category of each node; of_forests: the same of the nodes of forests.

        Raises:
            ValueError: a name is malformed, or forests lack categories.
        """
        return _with_categories(self, tuple(names), category, of_forests)

    def without_categories(self) -> Derivations:
        """Returns the derivations with [X] for all nodes."""
        if self.rules.lhs is None:
            return self
        nodes = len(self.forests.span) if self.forests else 0
        return self.with_categories((X,), np.zeros(len(self.rule), np.int32), np.zeros(nodes, np.int32))

    @property
    def pairs(self) -> int:
        """The number of sentence pairs."""
        return len(self) // self.alignments

    @property
    def counts(self) -> np.ndarray:
        """int64 [rules], tokens of each rule."""
        return np.bincount(self.rule, minlength=len(self.rules))

    @property
    def node_weight(self) -> np.ndarray | None:
        """float64 [nodes], weight of each node's token; None: 1."""
        return None if self.weight is None else np.repeat(self.weight, np.diff(self.trees))

    @property
    def kept(self) -> np.ndarray:
        """bool [rules]: True for rules with few enough nonterminals for parameters and a grammar."""
        return self.rules.arity <= self.options.max_arity

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the derivation file (docs/reference/formats.md).

        Raises:
            InputError: the file name marks trees as text, or the file cannot be written.
        """
        check_not_text(path)
        nodes = (self.trees, self.rule, self.parent, self.slot, self.span, self.lexicon, self.lexicon_count)
        arrays = {**dict(zip(NODES, nodes, strict=True)), **(self.forests or self).rules.arrays()}
        arrays |= self.forests.arrays() if self.forests else {}
        samples = zip(SAMPLES | STATES, (self.sample, self.weight, self.state), strict=True)
        arrays |= {name: array for name, array in samples if array is not None}
        tensors.save(path, arrays, _metadata(self.options, self.dropped, self.alignments))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Derivations:
        """Reads and checks a derivation file, or trees as text (``has_trees``).

        Raises:
            InputError: the file is missing, cut off, damaged or of another kind.
        """
        if has_trees(path):
            return cls._of_text(read_trees(path))
        arrays, metadata = tensors.load(path, "derivations")
        try:
            options, dropped = (tensors.metadata_json(metadata, key, {}) for key in ("options", "dropped"))
            made = cls._of(arrays, _read_options(options), dropped, int(metadata.get("alignments", "1")))
            made._check()
        except ValueError as error:
            raise InputError(
                f"damaged, or written by another version: {error}; create the file again with lscfg derive", path
            ) from error
        return made

    @classmethod
    def _of_text(cls, found: TextTrees) -> Derivations:
        """The derivations of trees as text, without word links and reasons of dropped pairs."""
        dropped = {"no tree": found.empty} if found.empty else {}
        lexicon, count = np.empty((0, 2), np.int32), np.empty(0, np.int64)
        arrays = (found.trees, found.rule, found.parent, found.slot, found.span)
        return cls(found.rules, *arrays, lexicon, count, dropped=dropped)

    def text_lines(self) -> Iterator[str]:
        """The trees as text (``lscfg.extract.trees``), line by line."""
        return tree_lines(self.rules, self.rule, self.parent, self.trees)

    def write_text(self, path: str | os.PathLike[str]) -> None:
        """Writes the trees as text."""
        with atomic_write(path) as file:
            file.writelines(line + "\n" for line in self.text_lines())

    @classmethod
    def _of(
        cls, arrays: Mapping[str, np.ndarray], options: DeriveOptions, dropped: Mapping[str, int], alignments: int = 1
    ) -> Derivations:
        parts = [names for names in (FORESTS, SAMPLES, STATES) if not names.keys().isdisjoint(arrays)]
        has_forests = FORESTS in parts
        check_layout(arrays, {**NODES, **{name: kind for names in parts for name, kind in names.items()}})
        trees, rule, parent, slot, span, lexicon, count = (arrays[name] for name in NODES)
        rules, forests = RuleTable.from_arrays(arrays), None
        if has_forests:  # rules that only forests contain follow all others
            check_range("node.rule", rule, 0, len(rules))
            alone = np.bincount(rule, minlength=len(rules)) == 0
            order = np.argsort(alone, kind="stable")
            number = np.empty_like(order)
            number[order] = np.arange(len(order))
            forests = Forests.of(arrays, rules.select(order), number)
            rules, rule = rules.select(order[: int((~alone).sum())]), number[rule].astype(np.int32)
        sample, weight, state = (arrays.get(name) for name in SAMPLES | STATES)
        facts = options, dropped, alignments, forests, sample, weight, state
        return cls(rules, trees, rule, parent, slot, span, lexicon, count, *facts)

    @cached_property
    def kernel(self) -> Trees:
        """The trees as the kernel sees them.

        Raises:
            ValueError: arrays that do not fit together.
        """
        return Trees(self.trees, self.rule, self.parent, self.slot, self.span, self.rules.kernel)

    def _check(self) -> None:
        """Refuses contents that no derivation file can have.

        Raises:
            ValueError: the array, node or fact that is wrong.
        """
        self.kernel.check()
        (self.forests or self).rules.check_distinct()
        _check_node_categories(self)
        if self.forests:
            self.forests.check(self.trees, self.span)
        if self.sample is not None and self.weight is not None:
            check_range("trees.sample", self.sample, 0, np.inf)
            check_range("trees.weight", self.weight, np.finfo(np.float64).tiny, np.inf)
        if self.state is not None:
            check_range("node.state", self.state, 0, 255)
        check_range("lexicon.words", self.lexicon, -1, len(self.rules.words))
        check_range("lexicon.count", self.lexicon_count, 1, 2**53)  # a double has room for each
        if (self.lexicon.max(axis=1, initial=-1) < 0).any():
            raise ValueError("array 'lexicon.words' contains a link without words")
        if self.alignments < 1 or len(self) % self.alignments:
            raise ValueError(f"{len(self)} trees of {self.alignments} alignments")
        empty = int((np.diff(self.trees) == 0).sum())
        if not all(type(n) is int and n >= 0 for n in self.dropped.values()) or sum(self.dropped.values()) != empty:
            raise ValueError(f"{empty} trees have no nodes, and its metadata 'dropped' names another number")

    def statistics(self) -> dict[str, int]:
        """Sizes for the log: pairs, trees, dropped pairs by reason, tokens and types of rules by arity."""
        above = np.nonzero(~self.kept[self.rule])[0]
        n_above = len(np.unique(np.searchsorted(self.trees, above, "right")))
        return _statistics(
            len(self), self.alignments, self.rules.arity, self.counts, self.options, n_above, self.dropped
        )


def _check_node_categories(d: Derivations) -> None:
    """Refuses nodes of another category than the rule above requires."""
    if d.rules.lhs is None:
        return
    inner = np.flatnonzero(d.parent >= 0)
    wanted = d.rules.gaps[d.rules.first_gap[d.rule[d.parent[inner]]] + d.slot[inner]]
    wrong = inner[wanted != d.category[inner]]
    if len(wrong):
        raise ValueError(f"node {wrong[0]} is of another category than the rule above it requires")
    if d.forests:
        d.forests.check_categories()


def _with_categories(
    d: Derivations, names: tuple[str, ...], category: np.ndarray, of_forests: np.ndarray | None
) -> Derivations:
    check_categories(names)
    below = np.argsort(d.parent * np.int64(2**32) + d.slot, kind="stable")
    parts = [(d.rule, category, category[below[d.parent[below] >= 0]])]
    if d.forests:
        if of_forests is None:
            raise ValueError("the nodes of forests need categories, too")
        parts.append((d.forests.rule, of_forests[d.forests.head], of_forests[d.forests.tail]))
    rules = (d.forests or d).rules.without_categories()
    made, numbers = _retyped(rules, parts, names)
    rule = numbers[0].astype(np.int32)
    if not d.forests:
        return dataclasses.replace(d, rules=made, rule=rule)
    own = made.select(np.arange(int(rule.max(initial=-1)) + 1))
    forests = dataclasses.replace(d.forests, rules=made, rule=numbers[1].astype(np.int32))
    return dataclasses.replace(d, rules=own, rule=rule, forests=forests)


def _retyped(
    rules: RuleTable, parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], names: tuple[str, ...]
) -> tuple[RuleTable, list[np.ndarray]]:
    """The table of rules that are distinct also by categories, and the numbers of all tokens in it.

    Args:
        rules: rules without categories, some of them perhaps equal.
        parts: of trees, and of forests: the rule of each token, its category, and those of its nonterminals, int32 [all
            nonterminals]. Rules of the second part alone follow those of the first.
    """
    same = np.unique(
        np.column_stack([rules.source_id, rules.target_id]), axis=0, return_index=True, return_inverse=True
    )
    rule = np.concatenate([same[1][same[2].ravel()][part[0]] for part in parts])  # the first of equal rules
    lhs, below = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    arity = rules.arity[rule]
    first = np.concatenate([[0], np.cumsum(arity, dtype=np.int64)])
    key = rule * len(names) + lhs
    for slot in range(int(arity.max(initial=0))):
        has = np.flatnonzero(arity > slot)
        further = np.zeros(len(rule), np.int64)
        further[has] = below[first[has] + slot] + 1
        key = np.unique(key, return_inverse=True)[1].ravel() * (len(names) + 1) + further
    tokens = len(parts[0][0])
    _, token, number = np.unique(key, return_index=True, return_inverse=True)
    # in the order of the old rules; rules of forests alone are last, as in a file
    alone = token >= tokens
    order = np.lexsort((np.arange(len(token)), rule[token], alone))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    chosen = token[order]
    if names == (X,):
        made = rules.select(rule[chosen])
    else:
        ends = np.cumsum(arity[chosen])
        gaps = below[np.repeat(first[chosen] - ends + arity[chosen], arity[chosen]) + np.arange(ends[-1:].sum())]
        made = rules.with_categories(rule[chosen], lhs[chosen], gaps, names)
    numbers = place[number.ravel()]
    return made, [numbers[:tokens], numbers[tokens:]]


def _read_options(facts: Mapping[str, object]) -> DeriveOptions:
    """The options in a file.

    Raises:
        ValueError: an option is unknown, of another type, or out of its range.
    """
    types = {item.name: item.kind for item in settings_of(DeriveOptions)}
    for name, value in facts.items():
        if type(value) is not types.get(name):
            raise ValueError(f"its metadata 'options' has {name} = {value!r:.40}")
    return DeriveOptions(**facts)  # type: ignore[arg-type]


def _metadata(options: DeriveOptions, dropped: Mapping[str, int], alignments: int) -> dict[str, str]:
    return {
        "lscfg": "derivations",
        "version": __version__,
        "options": json.dumps(dataclasses.asdict(options), sort_keys=True),
        "dropped": json.dumps(dict(dropped), sort_keys=True),
        "alignments": str(alignments),
    }


def _statistics(
    lines: int,
    alignments: int,
    arity: np.ndarray,
    counts: np.ndarray,
    options: DeriveOptions,
    trees_above: int,
    dropped: Mapping[str, int],
) -> dict[str, int]:
    sizes = {"sentence pairs": lines // alignments, "trees": lines - sum(dropped.values())}
    sizes |= {f"dropped, {reason}": count for reason, count in dropped.items()}
    sizes |= {"rule tokens": int(counts.sum()), "rule types": len(arity)}
    for k in (0, 1, 2):
        sizes[f"types of arity {k}"] = int((arity == k).sum())
        sizes[f"tokens of arity {k}"] = int(counts[arity == k].sum())
    sizes["types of arity > 2"] = int((arity > 2).sum())
    sizes["tokens of arity > 2"] = int(counts[arity > 2].sum())
    sizes[f"trees with a rule of arity > {options.max_arity}"] = trees_above
    return sizes


def derive(
    src: Sequence[str],
    tgt: Sequence[str],
    links: Sequence[str],
    path: str | os.PathLike[str] | None = None,
    options: DeriveOptions | None = None,
    forests: bool = False,
) -> Derivations:
    """The minimal derivation tree of each sentence pair.

    Words without a link are terminals of the rule of the lowest node that covers them.

    Args:
        src, tgt: sentences, words separated by blanks.
        links: alignments ``i-j ...`` counted from 0, source position first.
        path: the alignment file, for error messages.
        options: bracketing, arity, and conditions for dropping pairs.
        forests: also return all minimal derivations of each pair.

    Raises:
        InputError: a malformed or out-of-range link, an empty sentence, a word that cannot appear in a grammar, unequal
            numbers of lines, or forests with options that exclude minimal rules.
    """
    options = _checked(options, forests)
    if not len(src) == len(tgt) == len(links):
        raise InputError(f"{len(links)} alignment lines for {len(src)} sentence pairs", path)
    deriver = Deriver(options, forests)
    for number, pair in enumerate(log.progress(zip(src, tgt, links, strict=True), "derive", len(src)), 1):
        try:
            deriver.add(*pair)
        except LineError as error:
            raise error.at(number, path) from None
    return Derivations._of(deriver.arrays(), deriver.options, deriver.counts().dropped)


def _checked(options: DeriveOptions | None, forests: bool) -> DeriveOptions:
    """The options, which must keep all minimal rules if forests are requested.

    Raises:
        InputError: they exclude some.
    """
    options = options or DeriveOptions()
    if forests and (options.binarise or options.max_arity < MAX_TENSOR_ARITY):
        raise InputError("forests need all minimal rules: leave out binarise, and use max_arity = 2")
    return options


Paths = tuple[str | os.PathLike[str], str | os.PathLike[str], str | os.PathLike[str]]


@dataclass(frozen=True)
class _Block:
    """Corresponding lines of source, target and an alignment."""

    paths: Paths
    first: int  # number of the first line, from 0
    lines: int
    texts: tuple[bytes, ...]


def _blocks(corpora: Sequence[Paths]) -> Iterator[_Block]:
    """The corpora, one after the other, in blocks of ``BLOCK`` pairs; see ``_blocks_of``."""
    for paths in corpora:
        yield from _blocks_of(paths)


def _blocks_of(paths: Paths) -> Iterator[_Block]:
    """A corpus in blocks of ``BLOCK`` pairs.

    Raises:
        InputError: a file cannot be read or is not UTF-8, the files differ in length or are empty.
    """
    first = 0
    for blocks in zip_longest(*(read_blocks(path, BLOCK) for path in paths), fillvalue=(b"", 0)):
        sizes = [lines for _, lines in blocks]
        if len(set(sizes)) > 1:
            _complain_of_lengths(paths)
        for path, (text, _) in zip(paths, blocks, strict=True):
            try:
                text.decode("utf-8")
            except UnicodeDecodeError as error:
                line = first + text.count(b"\n", 0, error.start) + 1
                raise not_utf8(text[error.start :], path, line, not text[: error.start].isascii()) from error
        yield _Block(paths, first, sizes[0], tuple(text for text, _ in blocks))
        first += sizes[0]
    if not first:
        raise InputError("the corpus is empty", paths[0])


def _complain_of_lengths(paths: Paths) -> None:
    src, tgt, links = (sum(lines for _, lines in read_blocks(path, BLOCK)) for path in paths)
    check_length(tgt, paths[1], src, paths[0])
    raise InputError(f"{links} lines for {src} sentence pairs", paths[2])


def _derive_block(deriver: Deriver, block: _Block) -> tuple[Deriver, _Block]:
    try:
        deriver.add_lines(block.texts, block.lines)
    except LineError as error:
        raise InputError(str(error), block.paths[error.stream], block.first + error.pair) from None
    return deriver, block


def derive_files(
    src: str | os.PathLike[str],
    tgt: str | os.PathLike[str],
    links: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: DeriveOptions | None = None,
    threads: int = 1,
    forests: bool = False,
) -> dict[str, int]:
    """Derives a corpus from file to file and returns ``Derivations.statistics``.

    Memory holds the tables of rules, words and word translations and a few blocks of the corpus; nodes go to temporary
    files in the output's folder. The output is the same for any number of threads.

    Args:
        src, tgt, links: text and alignments, line by line; compressed files are decompressed. Of several files of
            alignments each gives every pair a tree.
        output: the derivation file; forests: also write all minimal derivations of each pair.

    Raises:
        InputError: fewer than one thread, files of unequal length, a bad line, or forests with options that exclude
            minimal rules.
    """
    if threads < 1:
        raise InputError(f"threads must be 1 or more, got {threads}")
    options = _checked(options, forests)
    corpora = [(src, tgt, path) for path in ([links] if isinstance(links, (str, os.PathLike)) else links)]
    folder = Path(output).parent
    spools = {
        "trees": tensors.Spool(folder, np.int64),
        "node.rule": tensors.Spool(folder, np.int32),
        "node.parent": tensors.Spool(folder, np.int32),
        "node.slot": tensors.Spool(folder, np.int32),
        "node.span": tensors.Spool(folder, np.int32, (4,)),
    }
    if forests:
        spools["forest.node"] = tensors.Spool(folder, np.int64)
        spools["forest.edge"] = tensors.Spool(folder, np.int64)
        spools["forest.rule"] = tensors.Spool(folder, np.int32)
        spools["forest.tail"] = tensors.Spool(folder, np.int32)
        spools["forest.span"] = tensors.Spool(folder, np.int32, (4,))
    total = None if is_compressed(src) or not Path(src).is_file() else len(corpora) * Path(src).stat().st_size
    lines = 0
    deriver = Deriver(options, forests)
    try:
        with log.meter("derive", total) as bar, in_threads(threads, ahead=2) as engine:

            def work(block: _Block) -> tuple[Deriver, _Block]:
                return _derive_block(deriver if threads == 1 else Deriver(options, forests), block)

            for part, block in engine.map(work, _blocks(corpora)):
                if part is not deriver:  # tables merged in block order have the numbers of a single table
                    deriver.merge(part)
                nodes, above = deriver.nodes(), deriver.forests()
                pieces = [nodes.trees, nodes.rule, nodes.parent, nodes.slot, nodes.span]
                pieces += [above.first, above.edge, above.rule, above.tail, above.span] if forests else []
                for spool, piece in zip(spools.values(), pieces, strict=True):
                    spool.append(piece)
                deriver.flush()
                lines += block.lines
                bar.update(len(block.texts[0]))
        spools["trees"].append(np.array([deriver.nodes().end], np.int64))
        ends = deriver.forests().ends
        for name, end in zip(("forest.node", "forest.edge"), ends, strict=True):
            if forests:
                spools[name].append(np.array([end], np.int64))
        tables, counts = deriver.tables(), deriver.counts()
        tensors.save(output, {**spools, **tables}, _metadata(options, counts.dropped, len(corpora)))
    finally:
        for spool in spools.values():
            spool.close()
    seen = counts.rules > 0  # only forests contain the others
    rules = tables["rules.arity"][seen], counts.rules[seen]
    sizes = _statistics(lines, len(corpora), *rules, options, counts.trees_above, counts.dropped)
    return sizes | ({"nodes of forests": ends[0], "edges of forests": ends[1]} if forests else {})
