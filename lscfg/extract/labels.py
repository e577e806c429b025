"""Categories of the nodes of derivations, from parse trees or from word classes.

Parse trees label spans as in syntax-augmented translation (Zollmann and Venugopal 2006); word classes need no parser
(Zollmann and Vogel 2011).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from lscfg.errors import InputError, counted, cut, quote
from lscfg.extract.derive import Derivations
from lscfg.extract.word_classes import FEWEST, exchange
from lscfg.extract.yields import Yields
from lscfg.grammar.table import GOAL, MAX_CATEGORIES, X
from lscfg.io.read import read_lines, stream_lines
from lscfg.io.sides import SIDES

LEAST = 100
"""Minimum number of nodes of a label that becomes a category; nodes of other labels stay [X]."""

MOST = 32
"""Default maximum number of labels that become categories."""

Labeller = Callable[[int, int], str]
"""Returns the label of words begin ... end - 1 of a sentence; ``X`` for none."""

_ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
"""Brackets as treebanks write them."""

_BRACKETS = re.compile(r"\(|\)|[^\s()]+")


@dataclass(frozen=True)
class Labelled:
    """Derivations with categories.

    Attributes:
        derivations: the derivations.
        side: 0 or 1, side of the labelled text: source or target.
        labels: number of different labels, besides X.
        nodes: by name, the nodes of each category, the most frequent first; X, if any node has it, is last.
    """

    derivations: Derivations
    side: int
    labels: int
    nodes: dict[str, int]

    def statistics(self) -> dict[str, object]:
        """Sizes for the log."""
        total = sum(self.nodes.values())
        shown = ", ".join(f"{name} {100 * n / total:.1f} %" for name, n in islice(self.nodes.items(), 8))
        return {
            "labelled side": SIDES[self.side],
            "labels": self.labels,
            "categories": len(self.nodes),
            "nodes of [X]": f"{100 * self.nodes.get(X, 0) / total:.1f} %",
            "most frequent": shown,
        }


def label(
    derivations: Derivations, source: str | os.PathLike[str] | int, most: int = MOST, least: int = LEAST
) -> Labelled:
    """Gives the nodes of derivations labels as categories.

    Args:
        source: a file with a bracketed parse tree per sentence pair, or with a ``word class`` per line. It labels the
            side whose words are the leaves, or the side with the larger share of words that have a class; the target
            side if both fit. A number: this many classes of the target words, by exchange.
        most: maximum number of labels that become categories, the most frequent ones.
        least: minimum number of nodes of a label that becomes a category.

    Raises:
        InputError: the file is malformed or belongs to another text, or no label is frequent enough.
    """
    if not 1 <= most < MAX_CATEGORIES:
        raise InputError(f"1 to {MAX_CATEGORIES - 1} labels can become categories, not {most}")
    sentences, path = [_sentences(derivations, side) for side in (0, 1)], None
    if isinstance(source, int):
        side, labellers = 1, _by_classes(exchange(sentences[1], source).by_word(), sentences[1])
    else:
        path, lines = source, read_lines(source)
        side, labellers = (_parsed if _are_trees(lines) else _classed)(lines, sentences, path)
    places = derivations.span[:, 2 * side : 2 * side + 2]
    tree = np.repeat(np.arange(len(derivations)), np.diff(derivations.trees)) % derivations.pairs
    of_nodes = _labels(labellers, tree, places)
    of_forests: list[str] = []
    if derivations.forests:
        forests = derivations.forests
        tree = np.repeat(np.arange(len(derivations)), np.diff(forests.first)) % derivations.pairs
        of_forests = _labels(labellers, tree, forests.span[:, 2 * side : 2 * side + 2])
    counts = Counter(of_nodes)
    labels = len(counts.keys() - {X})
    ranked = sorted((name for name in counts if name != X), key=lambda name: (-counts[name], name))
    names = [name for name in ranked[:most] if counts[name] >= least]
    if not names:
        raise InputError(
            f"no label has {least} nodes of the derivations; the most frequent of {labels} is "
            f"{quote(ranked[0])} with {counts[ranked[0]]}; use more text or fewer labels"
            if ranked
            else "no node of the derivations has a label",
            path,
        )
    if not counts.keys() | set(of_forests) <= set(names):
        names.append(X)
    number = {name: k for k, name in enumerate(names)}
    category, category_of_forests = (
        np.array([number.get(name, len(names) - 1) for name in found], np.int32) for found in (of_nodes, of_forests)
    )
    made = derivations.with_categories(names, category, category_of_forests if derivations.forests else None)
    sizes = np.bincount(category, minlength=len(names))
    nodes = {name: int(sizes[k]) for name, k in number.items()}
    return Labelled(made, side, labels, nodes)


def check_labels(labels: str | os.PathLike[str] | int, most: int, source: str | os.PathLike[str]) -> None:
    """Refuses what ``label`` would refuse after the whole text is derived; words of parse trees are checked there.

    Args:
        labels, most: as for ``label``; source: text of one side.

    Raises:
        InputError: a number is too small or too large, or the file is malformed or has another number of trees.
    """
    if not 1 <= most < MAX_CATEGORIES:
        raise InputError(f"1 to {MAX_CATEGORIES - 1} labels can become categories, not {most}")
    if isinstance(labels, int):
        if labels < FEWEST:
            raise InputError(f"at least {FEWEST} word classes are needed, not {labels}")
        return
    lines = read_lines(labels)
    if _are_trees(lines):
        _check_number(lines, sum(1 for _ in stream_lines(source)), labels)
    else:
        _read_classes(lines, labels)


def label_file(
    path: str | os.PathLike[str], output: str | os.PathLike[str], source: str | os.PathLike[str] | int, most: int = MOST
) -> dict[str, object]:
    """Labels a derivation file, writes another, and returns ``Labelled.statistics``; see ``label``."""
    labelled = label(Derivations.load(path), source, most)
    labelled.derivations.save(output)
    return labelled.statistics()


def _sentences(derivations: Derivations, side: int) -> list[list[str]]:
    """Words of each sentence; none for pairs that were dropped in all alignments."""
    found: list[list[str]] = [[] for _ in range(derivations.pairs)]
    for k, text in enumerate(Yields.of(derivations).sentences(derivations, side)):
        found[k % derivations.pairs] = found[k % derivations.pairs] or text.split()
    return found


def _labels(labellers: list[Labeller | None], tree: np.ndarray, places: np.ndarray) -> list[str]:
    found = []
    for k, (begin, end) in zip(tree.tolist(), places.tolist(), strict=True):
        labeller = labellers[k]
        found.append(labeller(begin, end) if labeller and begin < end else X)
    return found


def _are_trees(lines: list[str]) -> bool:
    first = next((line.strip() for line in lines if line.strip()), "")
    return first.startswith("(") and first.endswith(")")


# ---- parse trees ----


@dataclass(frozen=True)
class ParseTree:
    """The constituents of a sentence.

    Attributes:
        words: the leaves.
        spans: by begin and end, the label of the highest constituent over these words.
    """

    words: list[str]
    spans: dict[tuple[int, int], str]

    @classmethod
    def of(cls, text: str) -> ParseTree:
        """Reads a bracketed tree, such as ``(S (NP (PRP he)) (VP (VBZ sleeps)))``.

        Raises:
            ValueError: brackets do not match, or a bracket contains neither a constituent nor a word.
        """
        words: list[str] = []
        spans: dict[tuple[int, int], str] = {}
        opened: list[tuple[str, int]] = []
        tokens = _BRACKETS.findall(text)
        closed = False
        for k, token in enumerate(tokens):
            if closed:
                raise ValueError(f"{quote(token)} follows the end of the tree")
            if token == "(":
                named = k + 1 < len(tokens) and tokens[k + 1] not in "()"
                opened.append((tokens[k + 1] if named else "", len(words)))
            elif token == ")":
                if not opened:
                    raise ValueError("a closing bracket without an opening one")
                name, begin = opened.pop()
                if begin == len(words):
                    raise ValueError(f"the constituent {quote(name)} has no words")
                if name:
                    spans[begin, len(words)] = _clean(name)
                closed = not opened
            elif not opened:
                raise ValueError(f"{quote(token)} precedes the tree")
            elif tokens[k - 1] != "(":
                words.append(_ESCAPED.get(token, token))
        if opened or not words:
            raise ValueError("the tree does not end" if opened else "no tree")
        return cls(words, spans)

    def label(self, begin: int, end: int) -> str:
        """The first of these labels that fits.

        A constituent, C; two in sequence, C1+C2; C1 without the constituent C2 at its right, C1/C2, or at its left,
        C2, a backslash and C1; X.
        """
        spans, n = self.spans, len(self.words)
        if found := spans.get((begin, end)):
            return found
        for middle in range(begin + 1, end):
            if (begin, middle) in spans and (middle, end) in spans:
                return f"{spans[begin, middle]}+{spans[middle, end]}"
        for right in range(end + 1, n + 1):
            if (begin, right) in spans and (end, right) in spans:
                return f"{spans[begin, right]}/{spans[end, right]}"
        for left in range(begin - 1, -1, -1):
            if (left, end) in spans and (left, begin) in spans:
                return f"{spans[left, begin]}\\{spans[left, end]}"
        return X


def _visible(name: str) -> str:
    """A name with ``_`` instead of each invisible character, such as a joiner, which no category can contain."""
    return "".join(character if character.isprintable() else "_" for character in name)


def _clean(name: str) -> str:
    """A label without function tags, and without characters that grammars reserve or refuse."""
    base = re.split(r"(?<=.)[-=|]", name)[0] if not name.startswith("-") else name.strip("-")
    for character, word in ((",", "COMMA"), ("[", "LSB"), ("]", "RSB"), ("|", "BAR")):
        base = base.replace(character, word)
    base = _visible(base)
    return f"{base}^" if base in (GOAL, X) else base or "DASH"


def _check_number(trees: list[str], pairs: int, path: str | os.PathLike[str]) -> None:
    if len(trees) != pairs:
        found = f"{counted(len(trees), 'parse tree')} for {counted(pairs, 'sentence pair')}"
        raise InputError(f"{found}; write a line for each pair, an empty one without a tree", path)


def _parsed(
    lines: list[str], sentences: list[list[list[str]]], path: str | os.PathLike[str]
) -> tuple[int, list[Labeller | None]]:
    """The side of the trees, and a labeller for each sentence; None for sentences without a tree or words."""
    _check_number(lines, len(sentences[0]), path)
    sides, found = {1, 0}, list[Labeller | None]()
    for number, line in enumerate(lines, 1):
        given = [texts[number - 1] for texts in sentences]
        tree = read_parse(line, number, path) if given[0] or given[1] else None
        if tree is None:
            found.append(None)
            continue
        fits = {side for side in sides if same_words(tree.words, given[side])}
        if not fits:
            what = "either side of" if len(sides) > 1 else "this side of"
            raise InputError(f"the words of the parse tree are not those of {what} the sentence pair", path, number)
        sides = fits
        found.append(tree.label)
    return (max(sides) if any(found) else 0), found


def read_parse(line: str, number: int, path: str | os.PathLike[str] | None = None) -> ParseTree | None:
    """The parse tree on a line; None for an empty line and for ``(())``.

    Args:
        number: of the line; path: its file.

    Raises:
        InputError: no tree.
    """
    if not line.strip() or line.split() == ["(())"]:
        return None
    try:
        return ParseTree.of(line)
    except ValueError as error:
        raise InputError(f"not a parse tree: {error}", path, number) from None


def same_words(leaves: list[str], words: list[str]) -> bool:
    """True if the leaves of a parse tree are these words, brackets as treebanks write them."""
    return len(leaves) == len(words) and all(
        leaf == word or _ESCAPED.get(word) == leaf for leaf, word in zip(leaves, words, strict=True)
    )


# ---- word classes ----


def _read_classes(lines: list[str], path: str | os.PathLike[str]) -> dict[str, str]:
    classes: dict[str, str] = {}
    written: dict[str, str] = {}
    if not lines:
        raise InputError("the file is empty; write lines 'word class', or a parse tree for each sentence pair", path)
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != 2:
            raise InputError(f"expected 'word class' or a bracketed parse tree, found {quote(line)}", path, number)
        name = _clean_class(fields[1])
        if (other := written.setdefault(name, fields[1])) != fields[1]:
            both = f"the classes {quote(cut(other))} and {quote(cut(fields[1]))}"
            raise InputError(f"{both} would both be the category [{cut(name)}]; rename one of them", path, number)
        if classes.setdefault(fields[0], name) != name:
            raise InputError(f"a second class of {quote(cut(fields[0]))}; keep one of the two", path, number)
    return classes


def _classed(
    lines: list[str], sentences: list[list[list[str]]], path: str | os.PathLike[str]
) -> tuple[int, list[Labeller | None]]:
    """The side with more words that have a class, and a labeller for each sentence."""
    classes = _read_classes(lines, path)
    known = [sum(word in classes for words in texts for word in words) for texts in sentences]
    total = [sum(map(len, texts)) for texts in sentences]
    side = int(known[1] * max(total[0], 1) >= known[0] * max(total[1], 1))
    if not known[side]:
        raise InputError("no word of the corpus has a class; is this the file of another text?", path)

    return side, _by_classes(classes, sentences[side])


def _by_classes(classes: Mapping[str, str], sentences: list[list[str]]) -> list[Labeller | None]:
    """Labels by the classes of the first and the last word: c, c+d of two words, c..d of more."""

    def labeller(words: list[str]) -> Labeller:
        def of_span(begin: int, end: int) -> str:
            first, last = classes.get(words[begin]), classes.get(words[end - 1])
            if first is None or last is None:
                return X
            return first if end == begin + 1 else f"{first}{'+' if end == begin + 2 else '..'}{last}"

        return of_span

    return [labeller(words) if words else None for words in sentences]


def _clean_class(name: str) -> str:
    for character in "[],|":
        name = name.replace(character, "_")
    name = _visible(name)
    return f"{name}^" if name in (GOAL, X) else name
