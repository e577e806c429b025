"""Minimal rules of parsed text (Galley et al. 2004) as derivations: tree-to-string and string-to-tree grammars.

    python experiments/ghkm.py train.parses train.ja train.en union gdfa -o train.deriv
    lscfg grammar minimal train.deriv -o grammar.gz

PARSES contains the bracketed parse of one side of each pair; the line of a pair without a parse is empty. A constituent
becomes a node if its words have links and no word outside is linked to the other side's words from its first to its
last linked word. Rules are flat: a node's rule rewrites its label into the words and the nodes directly below it. Rules
with more than two nonterminals stay out of grammars, so constituents of more than two parts are first binarised (Wang,
Knight and Marcu 2007): VP of three parts contains @VP of two. Unlinked words of the other side belong to the lowest
node that covers them.

In lscfg no source side is a single nonterminal; such a rule and the rule below form one rule.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.extract.derive import Derivations
from lscfg.extract.labels import MOST, ParseTree, read_parse, same_words
from lscfg.extract.trees import NO_TREE
from lscfg.grammar.table import MAX_CATEGORIES, X
from lscfg.io.read import read_lines
from lscfg.kernel import words_fault

Span = tuple[int, int]

_LINK = re.compile(r"[0-9]+-[0-9]+")


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


def binarised(spans: dict[Span, str], right: bool) -> dict[Span, str]:
    """The spans of a tree whose constituents have at most two parts; new ones are named after the one around, ``@NP``.

    Args:
        spans: labels of constituents, nested or disjoint.
        right: all parts but the first become one constituent, instead of all but the last.
    """
    found = dict(spans)
    for (begin, end), label in spans.items():
        parts = parts_of(spans, (begin, end)) if end > begin + 1 else []
        for middle in parts[1:-1]:
            found[(middle[0], end) if right else (begin, middle[1])] = f"@{label}"
    return found


def parts_of(spans: dict[Span, str], span: Span) -> list[Span]:
    """The largest constituents inside a span, and its other words, one by one."""
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
        """The highest nodes inside a span, and their other sides."""
        found, left = [], [span]
        while left:
            parts = parts_of(spans, last) if (last := left.pop())[1] > last[0] + 1 else []
            for part in parts:
                other = hull(part)
                if other:
                    found.append((part, other))
                else:
                    left.append(part)
        return sorted(found)

    def below(span: Span, other: Span) -> list[tuple[Span, Span]]:
        """The nodes directly below a node."""
        found = highest(span)
        while not source and len(found) == 1 and found[0][1] == other:
            found = highest(found[0][0])
        return found

    # a tree may be as deep as the sentence is long
    places, order, of_place = [((0, words), (0, others))], list[tuple[Span, Span]](), dict[Span, list[Span]]()
    while places:
        place = places.pop()
        order.append(place)
        inner = below(*place)
        of_place[place[0]] = [span for span, _ in inner]
        places += inner
    made: dict[Span, Node] = {}
    for span, other in reversed(order):
        made[span] = Node(spans.get(span, X), span, other, tuple(made[child] for child in of_place[span]))
    return made[0, words]


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
    most: int = MOST,
) -> Derivations:
    """The derivations of minimal rules of parsed text, with word links.

    Args:
        parses: bracketed trees of one side, or empty lines; texts: source and target side.
        alignments: links ``i-j`` of each pair, source position first; each alignment gives a pair a tree.
        right: see ``binarised``; most: number of labels that become categories, the most frequent ones.

    Raises:
        InputError: a parse or an alignment is malformed or belongs to another pair.
    """
    if not 1 <= most < MAX_CATEGORIES:
        raise InputError(f"1 to {MAX_CATEGORIES - 1} labels can become categories, not {most}")
    words = [[line.split() for line in side] for side in texts]
    found = [parse_of(number, line) for number, line in enumerate(parses, 1)]
    fits = [
        [tree is not None and same_words(tree.words, sentence) for tree, sentence in zip(found, side, strict=True)]
        for side in words
    ]
    source = next((fit for fit, other in zip(*fits, strict=True) if fit != other), False)
    for number, (tree, fit, f, e) in enumerate(zip(found, fits[0 if source else 1], *words, strict=True), 1):
        if tree and not fit:
            side = "the source" if source else "the target"
            if not any(fit[number - 1] for fit in fits):
                side = "either"
            raise InputError(f"pair {number}: the words of the parse tree are not those of {side} side")
        if fault := words_fault(" ".join([*f, *e])):
            raise InputError(f"pair {number}: {fault}")
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
                spans = {(0, sizes[0]): X, **tree.spans}
                root = derivation(binarised(spans, right), *sizes, ordered, source)
                named += labels_of(root)
            trees.append((root, f, e))
    if not named:
        raise InputError("no pair has a parse and a link")
    known = {label for label, _ in named.most_common(most)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.trees"
        with path.open("w", encoding="utf-8") as file:
            for root, f, e in trees:
                file.writelines(
                    line + "\n" for line in (rule_lines(root, (f, e), source, known) if root else [NO_TREE])
                )
                file.write("\n")
        made = Derivations.load(path)
    lexicon, numbers = lexicon_of(made.rules.words, links_of)
    return dataclasses.replace(made, lexicon=lexicon, lexicon_count=numbers, alignments=len(alignments))


def parse_of(number: int, line: str) -> ParseTree | None:
    """The parse tree of a pair; None without one."""
    try:
        return read_parse(line, number)
    except InputError as error:
        raise InputError(f"pair {number}: {error}") from None


def read_links(number: int, line: str, f: int, e: int) -> list[tuple[int, int]]:
    """Links of a pair of f and e words."""
    if wrong := [link for link in line.split() if not _LINK.fullmatch(link)]:
        raise InputError(f"pair {number}: expected links i-j, found {quote(wrong[0])}")
    links = sorted({(int(i), int(j)) for i, j in (link.split("-") for link in line.split())})
    if any(i >= f or j >= e for i, j in links):
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
    parser.add_argument(
        "--most", type=int, default=MOST, metavar="N", help="maximum number of labels that become categories"
    )
    args = parser.parse_args()
    try:
        parses, *texts = (read_lines(path) for path in (args.parses, args.source, args.target))
        alignments = [read_lines(path) for path in args.alignment]
        if len({len(lines) for lines in (parses, *texts, *alignments)}) > 1:
            parser.error("the files differ in their number of lines")
        found = derive_parsed(parses, (texts[0], texts[1]), alignments, not args.left, args.most)
    except InputError as error:
        parser.error(str(error))
    found.save(args.output)
    for name, number in found.statistics().items():
        print(f"{name}: {number:,}")


if __name__ == "__main__":
    main()
