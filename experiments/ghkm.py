"""Minimal rules of parsed text (Galley et al. 2004) as derivations: tree-to-string and string-to-tree grammars.

    python experiments/ghkm.py train.parses train.ja train.en union gdfa -o train.deriv
    lscfg grammar minimal train.deriv -o grammar.gz

PARSES has the bracketed parse of one side of each pair, an empty line without one. A constituent becomes a node if no
word outside it is linked to the other side's words between its first and its last linked one. Rules are flat: a node's
rule rewrites its label into the words and the nodes directly below it. Rules with more than two nonterminals stay out
of grammars, so constituents of more than two parts are first binarised (Wang, Knight and Marcu 2007): VP of three parts
contains @VP of two. Unlinked words of the other side belong to the lowest node that covers them.

A source side of one nonterminal without words is no rule of lscfg; the rule of the node below then joins the one above.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.extract.derive import Derivations
from lscfg.extract.labels import ParseTree
from lscfg.grammar.table import X
from lscfg.io.read import read_lines

Span = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of a derivation.

    Attributes:
        label: of the constituent.
        parsed, other: words of each side.
        below: nodes below it, in the order of the parsed side.
    """

    label: str
    parsed: Span
    other: Span
    below: tuple[Node, ...]


def binarised(spans: dict[Span, str], words: int, right: bool) -> dict[Span, str]:
    """Spans of a tree with constituents of two parts; further ones are named after theirs, as ``@NP``.

    Args:
        spans: labels of constituents, which contain each other or are apart; words: number of leaves.
        right: all parts but the first become one constituent, instead of all but the last.
    """
    found = dict(spans)
    for (begin, end), label in spans.items():
        parts = parts_of(spans, (begin, end)) if end > begin + 1 else []
        for middle in parts[1:-1]:
            found[(middle[0], end) if right else (begin, middle[1])] = f"@{label}"
    return found


def parts_of(spans: dict[Span, str], span: Span) -> list[Span]:
    """The largest constituents inside of a span, and its other words, one by one."""
    found, at = [], span[0]
    while at < span[1]:
        end = next((e for e in range(span[1], at + 1, -1) if (at, e) in spans and (at, e) != span), at + 1)
        found.append((at, end))
        at = end
    return found


def derivation(spans: dict[Span, str], words: int, others: int, links: Iterable[tuple[int, int]], source: bool) -> Node:
    """The tree of minimal rules of a pair.

    Args:
        spans: labels of constituents; words: number of the parsed side's words; others: of the other side's.
        links: positions of linked words, the parsed side's first; source: True if the source side is parsed.
    """
    linked: list[list[int]] = [[] for _ in range(words)]
    back: list[list[int]] = [[] for _ in range(others)]
    for i, j in links:
        linked[i].append(j)
        back[j].append(i)

    def hull(span: Span) -> Span | None:
        """The other side of a constituent that can be a node."""
        ends = [j for i in range(*span) for j in linked[i]]
        if not ends or span not in spans:
            return None
        found = min(ends), max(ends) + 1
        return found if all(span[0] <= i < span[1] for j in range(*found) for i in back[j]) else None

    def highest(span: Span) -> list[tuple[Span, Span]]:
        """The highest nodes inside of a span."""
        found = []
        for part in parts_of(spans, span) if span[1] > span[0] + 1 else ():
            other = hull(part)
            if other:
                found.append((part, other))
            else:
                found += highest(part)
        return found

    def node(span: Span, other: Span) -> Node:
        below = highest(span)
        while not source and len(below) == 1 and below[0][1] == other:
            below = highest(below[0][0])
        return Node(spans.get(span, X), span, other, tuple(node(*places) for places in below))

    return node((0, words), (0, others))


def rule_lines(root: Node, texts: Sequence[Sequence[str]], source: bool, known: set[str]) -> list[str]:
    """The lines of a tree in the text format of lscfg, a rule each.

    Args:
        texts: words of the source and the target side; source: True if the source side is parsed.
        known: labels that are categories; others become X.
    """

    def side(number: int, node: Node, below: list[Node]) -> str:
        own = [(child.parsed if (number == 0) == source else child.other) for child in (node, *below)]
        symbols, at = [], own[0][0]
        for (begin, end), k in sorted((place, k) for k, place in enumerate(own[1:], 1)):
            symbols += [*texts[number][at:begin], f"[{name(below[k - 1])},{k}]"]
            at = end
        return " ".join([*symbols, *texts[number][at : own[0][1]]])

    def name(node: Node) -> str:
        return node.label if node.label in known else X

    lines, left = [], [root]
    while left:
        node = left.pop()
        below = sorted(node.below, key=lambda child: child.parsed if source else child.other)
        lines.append(f"[{name(node)}] ||| {side(0, node, below)} ||| {side(1, node, below)}")
        left += reversed(below)
    return lines


def labels_of(root: Node) -> Counter[str]:
    """Numbers of nodes by label."""
    found, left = Counter[str](), [root]
    while left:
        node = left.pop()
        found[node.label] += 1
        left += node.below
    return found


def lexicon_of(words: Sequence[str], pairs: Counter[tuple[str, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Arrays ``lexicon`` and ``lexicon_count`` of derivations from numbers of links; "": no word."""
    number = {word: k for k, word in enumerate(words)} | {"": -1}
    kept = sorted((number[f], number[e], n) for (f, e), n in pairs.items() if f in number and e in number)
    table = np.array(kept, np.int64).reshape(-1, 3)
    return table[:, :2].astype(np.int32), table[:, 2]


def derive_parsed(
    parses: Sequence[str],
    texts: tuple[Sequence[str], Sequence[str]],
    alignments: Sequence[Sequence[str]],
    right: bool = True,
    most: int = 32,
) -> Derivations:
    """The derivations of minimal rules of parsed text, with word links.

    Args:
        parses: bracketed trees of one side, or empty lines; texts: source and target side.
        alignments: links ``i-j`` of each pair, source position first; each alignment gives a pair a tree.
        right: see ``binarised``; most: number of labels that become categories, the most frequent ones.

    Raises:
        InputError: a parse or an alignment is malformed or belongs to another pair.
    """
    words = [[line.split() for line in side] for side in texts]
    found = [read_parse(number, parse) for number, parse in enumerate(parses, 1)]
    source = next((tree.words == f for tree, f, e in zip(found, *words, strict=True) if tree and f != e), False)
    for number, (tree, sentence) in enumerate(zip(found, words[0 if source else 1], strict=True), 1):
        if tree and tree.words != sentence:
            side = "source" if source else "target"
            raise InputError(f"pair {number}: the words of the parse tree are not those of the {side} side")
    trees: list[tuple[Node | None, list[str], list[str]]] = []
    links_of, named = Counter[tuple[str, str]](), Counter[str]()
    for alignment in alignments:
        for number, (tree, f, e, line) in enumerate(zip(found, *words, alignment, strict=True), 1):
            links = read_links(number, line, len(f), len(e))
            count_links(links, f, e, links_of)
            root = None
            if tree and links:
                sizes, ordered = (len(f), len(e)), links
                if not source:
                    sizes, ordered = (len(e), len(f)), [(j, i) for i, j in links]
                root = derivation(binarised(tree.spans, sizes[0], right), *sizes, ordered, source)
                named += labels_of(root)
            trees.append((root, f, e))
    known = {label for label, _ in named.most_common(most)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.trees"
        with path.open("w", encoding="utf-8") as file:
            for root, f, e in trees:
                file.writelines(line + "\n" for line in (rule_lines(root, (f, e), source, known) if root else "-"))
                file.write("\n")
        made = Derivations.load(path)
    lexicon, numbers = lexicon_of(made.rules.words, links_of)
    return dataclasses.replace(made, lexicon=lexicon, lexicon_count=numbers, alignments=len(alignments))


def read_parse(number: int, parse: str) -> ParseTree | None:
    """The parse tree of a pair; None for an empty line."""
    try:
        return ParseTree.of(parse) if parse.strip() else None
    except ValueError as error:
        raise InputError(f"pair {number}: not a parse tree: {error}") from None


def read_links(number: int, line: str, f: int, e: int) -> list[tuple[int, int]]:
    """Links of a pair of f and e words."""
    try:
        links = sorted({(int(i), int(j)) for i, j in (link.split("-") for link in line.split())})
    except ValueError:
        raise InputError(f"pair {number}: expected links i-j, found {quote(line)}") from None
    if any(not (0 <= i < f and 0 <= j < e) for i, j in links):
        raise InputError(f"pair {number}: a link outside of its {f} source and {e} target words")
    return links


def count_links(
    links: Iterable[tuple[int, int]], f: Sequence[str], e: Sequence[str], counts: Counter[tuple[str, str]]
) -> None:
    """Adds the links of a pair, and its words without a link as linked to ""."""
    for i, j in links:
        counts[f[i], e[j]] += 1
    for i in {*range(len(f))} - {i for i, _ in links}:
        counts[f[i], ""] += 1
    for j in {*range(len(e))} - {j for _, j in links}:
        counts["", e[j]] += 1


def main() -> None:
    """Writes the derivations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parses", type=Path, metavar="PARSES")
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument("target", type=Path, metavar="TARGET")
    parser.add_argument("alignment", type=Path, nargs="+", metavar="ALIGNMENT")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True)
    parser.add_argument("--left", action="store_true", help="binarise from the left")
    parser.add_argument("--most", type=int, default=32, metavar="N", help="labels that become categories")
    args = parser.parse_args()
    parses, *texts = (read_lines(path) for path in (args.parses, args.source, args.target))
    alignments = [read_lines(path) for path in args.alignment]
    if len({len(lines) for lines in (parses, *texts, *alignments)}) > 1:
        parser.error("the files are of different numbers of lines")
    try:
        found = derive_parsed(parses, (texts[0], texts[1]), alignments, not args.left, args.most)
    except InputError as error:
        parser.error(str(error))
    found.save(args.output)
    for name, number in found.statistics().items():
        print(f"{name}: {number:,}")


if __name__ == "__main__":
    main()
