"""A picture of the phrases of a sentence pair and of their decomposition (Chung et al. 2014, Figures 2 and 3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lscfg.extract.derive import Derivations
from lscfg.extract.yields import Yields
from lscfg.grammar.table import RuleTable
from lscfg.study.markup import Markup, element
from lscfg.study.svg import CELL, column_label, cut_label, label_width, row_label, standing_alone

STYLE = (
    "text { font: 11px sans-serif; fill: #1c2128; } rect, line { stroke: #57606a; } .paper { stroke: none; } "
    ".paper, .node { fill: #ffffff; } .phrase { fill: #0b62a8; fill-opacity: .1; stroke: #0b62a8; } "
    ".other { stroke-dasharray: 3 2; } circle, .words { fill: #57606a; }"
)
"""The picture stands alone, so the style sheet is part of the file."""

MARGIN, ROW = 20.0, 64.0
"""Units around the picture, and between the rows of the forest."""

COLUMN, WIDEST = 92.0, 280.0
"""Least and largest width of a source word in the forest; longer texts of rules are cut."""

CIRCLE = 14.0
"""Units between the circles of rules that rewrite one phrase, fewer if they are many."""

INSET = 2.0
"""Units between a box and the next larger one, up to a third of a cell in all."""

Phrase = tuple[int, int, int, int]
"""Source i, j and target i, j, half-open."""


@dataclass(frozen=True)
class PairRule:
    """A rule of a forest.

    Attributes:
        head: number of the phrase that it rewrites; tails: numbers of the phrases below it.
        text: the rule; words: both sides of a rule without nonterminals.
    """

    head: int
    tails: list[int]
    text: str
    words: str


@dataclass(frozen=True)
class PairForest:
    """The phrases of a sentence pair and the rules that connect them.

    Attributes:
        words: of the source and of the target side.
        phrases: the phrases, each before the phrases below it.
        rules: the rules; tree: phrases of the derivation tree.
    """

    words: tuple[list[str], list[str]]
    phrases: list[Phrase]
    rules: list[PairRule]
    tree: frozenset[Phrase]

    @classmethod
    def of(cls, derivations: Derivations, number: int) -> PairForest:
        """The forest of tree ``number``, counted from 0; the tree alone if the derivations have no forests."""
        first, last = derivations.trees[number : number + 2].tolist()
        yields, vocabulary = Yields.of(derivations), derivations.rules.words
        source, target = (
            [vocabulary[word] for word in yields.words[side][yields.begin[side][first] : yields.end[side][first]]]
            for side in (0, 1)
        )
        phrases, rules = _tree(derivations, first, last)
        tree = frozenset(phrases)
        if derivations.forests:
            phrases, rules = _forest(derivations, number)
        return cls((source, target), phrases, rules, tree)


def _tree(derivations: Derivations, first: int, last: int) -> tuple[list[Phrase], list[PairRule]]:
    below: list[list[int]] = [[] for _ in range(first, last)]
    for node in range(first + 1, last):
        below[int(derivations.parent[node]) - first].append(node - first)
    numbers = derivations.rule[first:last].tolist()
    rules = [_rule(derivations.rules, rule, k, below[k]) for k, rule in enumerate(numbers)]
    return [_phrase(span) for span in derivations.span[first:last].tolist()], rules


def _forest(derivations: Derivations, number: int) -> tuple[list[Phrase], list[PairRule]]:
    forests = derivations.forests
    assert forests is not None
    begin, end = forests.first[number : number + 2].tolist()
    rules = []
    for edge in range(*forests.edge[[begin, end]].tolist()):
        tails = forests.tail[slice(*forests.first_tail[edge : edge + 2])] - begin
        rules.append(_rule(forests.rules, int(forests.rule[edge]), int(forests.head[edge]) - begin, tails.tolist()))
    return [_phrase(span) for span in forests.span[begin:end].tolist()], rules


def _phrase(span: list[int]) -> Phrase:
    i, j, k, n = span
    return i, j, k, n


def _rule(table: RuleTable, rule: int, head: int, tails: list[int]) -> PairRule:
    words = "" if tails else f"{table.src_text(rule)} / {table.tgt_text(rule)}"
    return PairRule(head, tails, table.short_text(rule), words)


def draw_pair_forest(found: PairForest) -> str:
    """The picture as SVG: phrases as boxes between the two sentences, and the forest. Equal input gives equal bytes.

    Dashed boxes and nodes are in the forest only. On hover, boxes and nodes show their words, and rules their text.
    """
    left, top = label_width(found.words[1]) + MARGIN, label_width(found.words[0]) + MARGIN
    parts = [column_label(word, left + CELL * (k + 0.5), top) for k, word in enumerate(found.words[0])]
    parts += [row_label(word, left, top + CELL * (k + 0.5)) for k, word in enumerate(found.words[1])]
    parts += [element("g", *_boxes(found), transform=f"translate({left:.1f} {top:.1f})")]
    width, height = left + CELL * len(found.words[0]), top + CELL * len(found.words[1]) + MARGIN
    lengths = sorted({j - i for i, j, _, _ in found.phrases}, reverse=True)
    column = min(max(COLUMN, label_width([rule.words for rule in found.rules])), WIDEST)
    nodes = _nodes(found, lengths, column)
    parts += [element("g", *nodes, transform=f"translate({width + MARGIN:.1f} {MARGIN:.1f})")]
    width += column * len(found.words[0]) + 2 * MARGIN
    height = max(height, ROW * len(lengths) + 2 * MARGIN)
    sentences = " / ".join(" ".join(words) for words in found.words)
    return standing_alone(width, height, sentences, STYLE, parts)


def _boxes(found: PairForest) -> list[Markup]:
    """The phrases with words on both sides."""
    parts, depth = list[Markup](), dict[Phrase, int]()
    for i, j, k, n in sorted(found.phrases, key=lambda p: (p[0] - p[1] + p[2] - p[3], p)):
        if k == n:
            continue
        around = [depth[p] for p in depth if p[0] <= i and j <= p[1] and p[2] <= k and n <= p[3]]
        depth[i, j, k, n] = max(around, default=-1) + 1
        inset = min(INSET * (depth[i, j, k, n] + 1), CELL / 3)
        parts.append(
            element(
                "rect",
                element("title", _words(found, (i, j, k, n))),
                class_=_kind("phrase", found, (i, j, k, n)),
                x=CELL * i + inset,
                y=CELL * k + inset,
                width=CELL * (j - i) - 2 * inset,
                height=CELL * (n - k) - 2 * inset,
                rx=3,
            )
        )
    return parts


def _nodes(found: PairForest, lengths: list[int], column: float) -> list[Markup]:
    """Nodes in rows by the length of their source spans; a circle for each rule, with lines to the nodes below."""
    row = {length: k for k, length in enumerate(lengths)}
    places = [(column * (i + j) / 2, ROW * row[j - i] + MARGIN) for i, j, _, _ in found.phrases]
    several, seen = Counter(rule.head for rule in found.rules), Counter[int]()
    rules, lines, nodes = list[Markup](), list[Markup](), list[Markup]()
    for rule in found.rules:
        step = min(CIRCLE, column / several[rule.head])
        x = places[rule.head][0] + step * (seen[rule.head] - (several[rule.head] - 1) / 2)
        y = places[rule.head][1] + ROW / 3
        seen[rule.head] += 1
        ends = [places[rule.head], *(places[tail] for tail in rule.tails)]
        lines += [element("line", x1=x, y1=y, x2=end[0], y2=end[1]) for end in ends]
        rules.append(element("circle", element("title", rule.text), cx=x, cy=y, r=3))
        if rule.words:
            shown = cut_label(rule.words, column)
            rules.append(element("text", shown, class_="words", x=x, y=y + 16, text_anchor="middle"))
    for phrase, (x, y) in zip(found.phrases, places, strict=True):
        i, j, k, n = phrase
        box = element("rect", class_=_kind("node", found, phrase), x=x - 36, y=y - 9, width=72, height=18, rx=3)
        name = element("text", f"{i}–{j} {k}–{n}", x=x, y=y + 4, text_anchor="middle")
        nodes.append(element("g", element("title", _words(found, phrase)), box, name))
    return [*lines, *rules, *nodes]


def _words(found: PairForest, phrase: Phrase) -> str:
    i, j, k, n = phrase
    return f"{' '.join(found.words[0][i:j])} / {' '.join(found.words[1][k:n])}"


def _kind(name: str, found: PairForest, phrase: Phrase) -> str:
    return name if phrase in found.tree else f"{name} other"
