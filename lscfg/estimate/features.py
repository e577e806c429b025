"""Features of inside and outside trees as sparse matrices, a row for each node (paper, section 5.2)."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from lscfg.errors import InputError, cut, quote
from lscfg.estimate.occurrences import Incidence, Occurrences
from lscfg.extract.examples import DIGITS, Examples
from lscfg.extract.yields import Yields, expand_ranges
from lscfg.grammar.table import RuleTable
from lscfg.io.numbers import parse_number
from lscfg.io.read import read_lines, split_fields
from lscfg.log import warning

INSIDE = ("rule", "children")
"""Templates: the node's own rule; the rules of its children, left and right being distinct."""

OUTSIDE = ("parent", "sibling")
"""Templates: the rule of the parent; the rule of the sibling, if any, left and right being distinct."""

MORE = ("lexical", "class", "length", "arity", "real", "constant")
"""Templates of both sides. All distinguish source from target words, and the left child or sibling from the right.

lexical: words of the node's rule and first and last words of its children's spans; outside, words of the parent's rule
and first and last words of the sibling's span. class: the same with word classes. length: span lengths, in buckets, of
the tree and its children; of parent and sibling. arity: nonterminals of the node's (parent's) rule, and their order
on the target side. real: given values of the node's (parent's) rule. constant: 1."""

INSIDE_KNOWN = (*INSIDE, *MORE)
OUTSIDE_KNOWN = (*OUTSIDE, "slot", *MORE)
"""slot: the node's index among the children of its parent's rule."""

LENGTH_BUCKETS = (1, 2, 3, 4, 5, 6, 11, 21)
"""Least lengths of the buckets of span lengths."""


@dataclass(frozen=True)
class FeatureSources:
    """Files with features besides the trees.

    Attributes:
        src_classes, tgt_classes: files of word classes, one ``word class`` per line.
        rule_values: a file of real values of rules, one ``source ||| target ||| value value ...`` per line.
    """

    src_classes: str | os.PathLike[str] | None = None
    tgt_classes: str | os.PathLike[str] | None = None
    rule_values: str | os.PathLike[str] | None = None

    def check(self, templates: Iterable[str]) -> None:
        """Refuses templates without their files.

        Raises:
            InputError: names the first one.
        """
        for template in templates:
            if template == "class" and self.src_classes is None and self.tgt_classes is None:
                raise InputError("the feature template 'class' needs a file of word classes")
            if template == "real" and self.rule_values is None:
                raise InputError("the feature template 'real' needs a file of rule values")


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """A feature matrix and the templates of its columns.

    Attributes:
        matrix: float64 [nodes, columns]; over forests the means of the node's features.
        columns: number of columns of each template.
        squares: float64 [columns], over forests the expected sum of squares over all examples; else None.
    """

    matrix: sparse.csr_matrix
    columns: dict[str, int]
    squares: np.ndarray | None = None


@dataclass(frozen=True)
class Context:
    """The trees or forests as templates use them; values that several templates need are computed once.

    A view is a node together with one rule above or below it; each view has a row.
    """

    examples: Examples
    seen: Occurrences
    sources: FeatureSources = field(default_factory=FeatureSources)

    @cached_property
    def types(self) -> tuple[np.ndarray, int]:
        """Rule of each token, where all singletons form one more rule, and the number of rules."""
        examples = self.examples
        merged = np.arange(examples.n_types, dtype=np.int32)
        merged[: len(examples.rules)][examples.singletons()] = examples.n_types
        return merged[self.seen.type], examples.n_types + 1

    @cached_property
    def rules(self) -> sparse.csr_matrix:
        """float64 [nodes, rules]: probability that the rule rewrites the node."""
        types, n = self.types
        indptr = np.arange(len(types) + 1)
        return self.seen.below.mean(
            sparse.csr_matrix((np.ones(len(types)), types, indptr), (len(types), n)), self.nodes
        )

    @property
    def nodes(self) -> int:
        return len(self.seen.is_root)

    @cached_property
    def yields(self) -> Yields:
        return Yields.of(self.examples.derivations, self.seen.span, self.seen.tree)

    @cached_property
    def sibling(self) -> tuple[np.ndarray, np.ndarray]:
        """int [views]: the other child (first or second) of a parent of two or more, or -1; and its number."""
        token, slot = self.seen.above.token, self.seen.above.slot
        other = np.where(slot < 2, 1 - np.minimum(slot, 1), -1)
        sibling = np.full(len(token), -1, token.dtype)
        has_parent = (token >= 0) & (other >= 0)
        sibling[has_parent] = self.seen.children[token[has_parent], other[has_parent]]
        return sibling, np.maximum(other, 0)

    def views(self, inside: bool) -> Incidence:
        return self.seen.below if inside else self.seen.above

    def neighbours(self, inside: bool) -> list[tuple[np.ndarray, np.ndarray]]:
        """The nodes whose spans are visible: each as int [views], -1 where absent, and its side, 0 or 1."""
        if inside:
            children = self.seen.children  # the rules of nodes themselves are all rules, in order
            return [(children[:, k], np.full(len(children), k, np.int32)) for k in (0, 1)]
        return [self.sibling]

    def centre(self, inside: bool) -> np.ndarray:
        """int [views]: the token of the visible rule, at the node or above it, or -1."""
        return self.views(inside).token

    def rule(self, inside: bool) -> np.ndarray:
        """int [views]: the rule of that token in the derivations, or -1."""
        return _of(self.seen.rule, self.centre(inside))

    @cached_property
    def rule_words(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """For source and target, 0/1 [rules of the derivations, words]: the terminals of each rule."""
        rules = self.examples.derivations.rules
        middle = rules.offsets[:-1] + rules.src_length
        matrices = []
        for first, last in ((rules.offsets[:-1], middle), (middle, rules.offsets[1:])):
            lengths = last - first
            row, word = np.repeat(np.arange(len(rules)), lengths), rules.symbols[expand_ranges(first, lengths)]
            ones = np.ones(int((word >= 0).sum()))
            matrix = sparse.csr_matrix(
                (ones, (row[word >= 0], word[word >= 0])), (len(rules), max(len(rules.words), 1))
            )
            matrix.data[:] = 1  # a word that occurs twice in the rule counts once
            matrices.append(matrix)
        return matrices[0], matrices[1]

    @cached_property
    def classes(self) -> list[tuple[np.ndarray, int] | None]:
        """For source and target: the class of each word, or -1, and the number of classes."""
        self.sources.check(("class",))
        paths = (self.sources.src_classes, self.sources.tgt_classes)
        return [None if path is None else self._classes(path, side) for side, path in enumerate(paths)]

    def _classes(self, path: str | os.PathLike[str], side: int) -> tuple[np.ndarray, int]:
        given = read_classes(path)
        names = {name: k for k, name in enumerate(sorted(set(given.values())))}
        words = self.examples.derivations.rules.words
        number = np.array([names[given[w]] if w in given else -1 for w in words], np.int64)
        used = np.unique(self.yields.words[side])
        lacking = used[number[used] < 0]
        if len(lacking) == len(used):
            raise InputError("no word of the corpus has a class; is this the file of the other side?", path)
        if len(lacking):
            warning(f"{path}: {len(lacking)} of {len(used)} words have no class, such as {quote(words[lacking[0]])}")
        return number, len(names)

    @cached_property
    def rule_values(self) -> np.ndarray:
        """float64 [rules of the derivations, values]."""
        self.sources.check(("real",))
        assert self.sources.rule_values is not None
        return read_rule_values(self.sources.rule_values, self.examples.derivations.rules)


def read_classes(path: str | os.PathLike[str]) -> dict[str, str]:
    """Word classes from a file with one ``word class`` per line.

    Raises:
        InputError: a line of another form, or a word with two classes.
    """
    classes: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split()
        if len(fields) != 2:
            raise InputError(f"expected 'word class', found {quote(line)}", path, number)
        if classes.setdefault(*fields) != fields[1]:
            both = f"{cut(classes[fields[0]])} and {cut(fields[1])}"
            raise InputError(f"the word {quote(fields[0])} has the classes {both}", path, number)
    return classes


def read_rule_values(path: str | os.PathLike[str], rules: RuleTable) -> np.ndarray:
    """Real values of rules, float64 [rules, values], from lines ``source ||| target ||| value value ...``.

    Lines of other rules are skipped; missing rules of more than two nonterminals get zeros.

    Raises:
        InputError: a malformed line, a value that is not finite, or a rule of the corpus without values.
    """
    given: dict[str, list[float]] = {}
    width = None
    for number, line in enumerate(read_lines(path), 1):
        sides = [" ".join(part.split()) for part in split_fields(line)]
        if len(sides) != 3:
            raise InputError("expected 'source ||| target ||| value value ...'", path, number)
        try:
            values = [parse_number(value) for value in sides[2].split()]
        except ValueError as error:
            raise InputError(f"the values of a rule must be finite numbers: {error}", path, number) from error
        if not values:
            raise InputError("no values; the values of a rule must be finite numbers", path, number)
        width = len(values) if width is None else width
        if len(values) != width:
            raise InputError(f"{len(values)} values, but {width} on the first line", path, number)
        if given.setdefault(f"{sides[0]} ||| {sides[1]}", values) != values:
            raise InputError(f"the rule {sides[0]} ||| {sides[1]} has other values on an earlier line", path, number)
    table = np.zeros((len(rules), width or 0))
    lacking = []
    for rule in range(len(rules)):
        found = given.get(f"{rules.src_text(rule)} ||| {rules.tgt_text(rule)}")
        if found is not None:
            table[rule] = found
        elif rules.arity[rule] <= 2:
            lacking.append(rule)
    if lacking:
        text = rules.short_text(lacking[0])
        raise InputError(f"no values for {len(lacking)} of {len(rules)} rules, such as {cut(text)}", path)
    return table


def check_templates(templates: Iterable[str], inside: bool) -> None:
    """Refuses unknown templates.

    Raises:
        InputError: names the first one.
    """
    known = INSIDE_KNOWN if inside else OUTSIDE_KNOWN
    for template in templates:
        if template not in known:
            side = "inside" if inside else "outside"
            raise InputError(f"unknown {side} feature template {quote(template)}; choose from {', '.join(known)}")


def extract_features(
    examples: Examples,
    templates: Iterable[str],
    inside: bool,
    sources: FeatureSources | None = None,
    min_count: int = 1,
    seen: Occurrences | None = None,
) -> FeatureMatrix:
    """The features of all nodes; over forests, means over all derivations with the node.

    Rules that the OOV rule replaces share one column per rule template. No template looks further than a rule
    and the rule of one adjacent node, so the means are exact.

    Args:
        inside: True for phi(t) of the trees below the nodes, False for psi(o) of the trees outside, where a root has
            one special feature.
        min_count: least (over forests, expected) number of examples of a column; with 1, only impossible columns are
            dropped.
        seen: where the rules occur; None: in the trees of ``examples``.

    Raises:
        InputError: an unknown template, or files that do not fit the corpus.
    """
    templates = tuple(templates)
    check_templates(templates, inside)
    context = Context(examples, seen or Occurrences.of_trees(examples), sources or FeatureSources())
    views, blocks = context.views(inside), list[tuple[str, sparse.csr_matrix]]()
    if not inside:
        blocks.append(("root", _one_hot(np.where(context.seen.is_root[views.node], 0, -1), 1)))
    for template in dict.fromkeys(templates):
        blocks += [(template, block) for block in _TEMPLATES[template](context, inside)]
    columns = dict.fromkeys((template for template, _ in blocks), 0)
    names = [template for template, block in blocks for _ in range(block.shape[1])]
    matrix, squares = views.mean(sparse.hstack([block for _, block in blocks], "csr"), context.nodes), None
    if views.share is None:
        blocks.clear()  # as large as the matrix
        counted = np.repeat(context.seen.is_example, np.diff(matrix.indptr))
        count = np.bincount(matrix.indices[counted], minlength=matrix.shape[1])
    else:
        count, squares = _expected(context.seen, views, blocks)
    kept = count >= min_count if min_count > 1 else count > 0
    if not kept.any():
        side = "inside" if inside else "outside"
        raise InputError(f"no {side} feature occurs {min_count} times; lower min_count or use more text")
    columns |= Counter(itertools.compress(names, kept))
    return FeatureMatrix(of_columns(matrix, kept), columns, None if squares is None else squares[kept])


def _expected(
    seen: Occurrences, views: Incidence, blocks: list[tuple[str, sparse.csr_matrix]]
) -> tuple[np.ndarray, np.ndarray]:
    """Expected number of examples with each feature, and its expected sum of squares, float64 [columns].

    The probability of the adjacent node's rule in a view is also the mean of the feature's square.
    """
    assert views.share is not None and seen.node_weight is not None
    weight = views.share * (seen.node_weight * seen.is_example)[views.node]
    count, squares = [], []
    for template, block in blocks:
        values = template == "real"
        count.append((block != 0 if values else block).T @ weight)
        squares.append(block.power(2).T @ weight if values else count[-1])
    return np.round(np.concatenate(count), DIGITS), np.concatenate(squares)


def inside_features(
    examples: Examples, templates: tuple[str, ...] = INSIDE, seen: Occurrences | None = None
) -> sparse.csr_matrix:
    """phi(t), float64 [nodes, columns]; see ``extract_features``."""
    return extract_features(examples, templates, True, seen=seen).matrix


def outside_features(
    examples: Examples, templates: tuple[str, ...] = OUTSIDE, seen: Occurrences | None = None
) -> sparse.csr_matrix:
    """psi(o), float64 [nodes, columns]; see ``extract_features``."""
    return extract_features(examples, templates, False, seen=seen).matrix


def scale(
    features: sparse.csr_matrix,
    rows: np.ndarray,
    weight: np.ndarray | None = None,
    squares: np.ndarray | None = None,
) -> sparse.csr_matrix:
    """Scales each column by sqrt((N - 1) / (sum f^2 + 5)), sums over the N example rows (Cohen et al. 2013).

    A column that is zero in all examples becomes zero, since its scale is unknown.

    Args:
        rows: bool [nodes], the examples; weight: float64 [nodes], weight of each node, None: 1.
        squares: float64 [columns], the sums if rows are means over derivations; None: computed from the rows.
    """
    n = float(rows.sum() if weight is None else weight[rows].sum())
    if squares is None:
        chosen = of_rows(features, rows)
        values = chosen.data**2
        if weight is not None:
            values *= np.repeat(weight[rows], np.diff(chosen.indptr))
        squares = np.bincount(chosen.indices, values, minlength=features.shape[1])
    factors = np.where(squares > 0, np.sqrt(max(n - 1, 1) / (squares + 5)), 0.0)
    data = factors[features.indices]
    data *= features.data
    return sparse.csr_matrix((data, features.indices, features.indptr), features.shape)


def of_rows(matrix: sparse.csr_matrix, rows: np.ndarray) -> sparse.csr_matrix:
    """The selected rows, of bool [rows]; the matrix itself, not a copy, if they are all rows."""
    return matrix if rows.all() else matrix[rows]


def of_columns(matrix: sparse.csr_matrix, kept: np.ndarray) -> sparse.csr_matrix:
    """The kept columns, of bool [columns], in order; the matrix itself, not a copy, if they are all columns."""
    if kept.all():
        return matrix
    number = (np.cumsum(kept) - 1).astype(matrix.indices.dtype)
    keep = kept[matrix.indices]
    before = np.concatenate([[0], np.cumsum(keep)])[matrix.indptr]
    shape = (matrix.shape[0], int(kept.sum()))
    return sparse.csr_matrix((matrix.data[keep], number[matrix.indices[keep]], before), shape)


FeatureBlocks = Iterator[sparse.csr_matrix]


def _rule(context: Context, inside: bool) -> FeatureBlocks:
    yield _one_hot(*context.types)


def _children(context: Context, inside: bool) -> FeatureBlocks:
    for child, side in context.neighbours(True):
        yield _rules(context, child, side)


def _parent(context: Context, inside: bool) -> FeatureBlocks:
    types, n = context.types
    yield _one_hot(_of(types, context.centre(False)), n)


def _slot(context: Context, inside: bool) -> FeatureBlocks:
    types, n = context.types
    parent = _of(types, context.centre(False))
    yield _one_hot(np.where(parent >= 0, 2 * parent + np.minimum(context.seen.above.slot, 1), -1), 2 * n)


def _sibling(context: Context, inside: bool) -> FeatureBlocks:
    yield _rules(context, *context.sibling)


def _rules(context: Context, node: np.ndarray, place: np.ndarray) -> sparse.csr_matrix:
    """The rule of one node in each view, or -1, with its side."""
    types, n = context.types
    if context.seen.below.share is None:
        rule = _of(types, node)
        return _one_hot(np.where(rule >= 0, 2 * rule + place, -1), 2 * n)
    found = _rows(context.rules, node)
    columns = 2 * found.indices + np.repeat(place, np.diff(found.indptr))
    return sparse.csr_matrix((found.data, columns, found.indptr), (len(node), 2 * n))


def _lexical(context: Context, inside: bool) -> FeatureBlocks:
    n = max(len(context.examples.derivations.rules.words), 1)
    identity = np.arange(n)
    for side in (0, 1):
        yield from _words(context, inside, side, identity, n)


def _class(context: Context, inside: bool) -> FeatureBlocks:
    for side, classes in enumerate(context.classes):
        if classes is not None:
            yield from _words(context, inside, side, *classes)


def _words(context: Context, inside: bool, side: int, number: np.ndarray, n: int) -> FeatureBlocks:
    """Words of a rule and at the ends of adjacent spans, mapped to columns by ``number`` (-1: none)."""
    words = context.rule_words[side]
    classed = np.nonzero(number >= 0)[0]
    column_of = sparse.csr_matrix((np.ones(len(classed)), (classed, number[classed])), (len(number), n))
    by_rule = (words @ column_of).tocsr()
    by_rule.data[:] = 1
    yield _rows(by_rule, context.rule(inside))
    for node, place in context.neighbours(inside):
        for ends in (context.yields.first(side), context.yields.last(side)):
            column = _of(number, _of(ends, node))
            yield _one_hot(np.where(column >= 0, 2 * column + place, -1), 2 * n)


def _length(context: Context, inside: bool) -> FeatureBlocks:
    n = len(LENGTH_BUCKETS) + 1
    token, head = context.centre(inside), context.seen.head
    for side in (0, 1):
        bucket = np.searchsorted(LENGTH_BUCKETS, context.yields.length(side), "right")
        yield _one_hot(_of(bucket, _of(head, token)), n)
        for node, place in context.neighbours(inside):
            column = _of(bucket, node)
            yield _one_hot(np.where(column >= 0, 2 * column + place, -1), 2 * n)


def _arity(context: Context, inside: bool) -> FeatureBlocks:
    rules = context.examples.derivations.rules
    kind = np.minimum(rules.arity.astype(np.int64), 3)
    for rule in np.nonzero(rules.arity == 2)[0].tolist():
        nonterminals = [s for s in rules.tgt(rule).tolist() if s < 0]
        if nonterminals == sorted(nonterminals):  # -2 before -1
            kind[rule] = 4
    yield _one_hot(_of(kind, context.rule(inside)), 5)


def _real(context: Context, inside: bool) -> FeatureBlocks:
    values = sparse.csr_matrix(context.rule_values)
    yield _rows(values, context.rule(inside))


def _constant(context: Context, inside: bool) -> FeatureBlocks:
    yield sparse.csr_matrix(np.ones((len(context.views(inside).node), 1)))


_TEMPLATES: dict[str, Callable[[Context, bool], FeatureBlocks]] = {
    "rule": _rule,
    "children": _children,
    "parent": _parent,
    "slot": _slot,
    "sibling": _sibling,
    "lexical": _lexical,
    "class": _class,
    "length": _length,
    "arity": _arity,
    "real": _real,
    "constant": _constant,
}


def _of(values: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Returns values[nodes], -1 for missing nodes."""
    return np.where(nodes >= 0, values[np.maximum(nodes, 0)], -1)


def _rows(matrix: sparse.csr_matrix, rows: np.ndarray) -> sparse.csr_matrix:
    """Returns matrix[rows], an empty row for -1."""
    chosen = matrix[np.maximum(rows, 0)]
    lengths = np.where(rows >= 0, np.diff(chosen.indptr), 0)
    index = expand_ranges(chosen.indptr[:-1].astype(np.int64), lengths)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_matrix((chosen.data[index], chosen.indices[index], indptr), chosen.shape)


def _one_hot(columns: np.ndarray, width: int) -> sparse.csr_matrix:
    """A matrix with a 1 in the given column of each row, none for -1, without empty columns."""
    rows = columns >= 0
    used = np.bincount(columns[rows], minlength=width) > 0
    number = (np.cumsum(used) - 1).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(rows)])
    index = number[columns[rows]]
    return sparse.csr_matrix((np.ones(len(index)), index, indptr), (len(columns), int(used.sum())))
