"""Placement of tags against all placements of small input."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from xml.dom import minidom

import pytest
from limits import time_limit

from lscfg.markup import project
from lscfg.markup.document import UnitPiece, WordAlignment
from lscfg.markup.formats import FORMATS
from lscfg.markup.project import PlacedTag, TagNode, placed_tags

Interval = tuple[int, int]


def flat(nodes: Sequence[TagNode]) -> list[TagNode]:
    return [one for node in nodes for one in (node, *flat(node.children))]


def key(placed: dict[int, Interval], nodes: Sequence[TagNode], links: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    """Cost, length and sum of beginnings by the definition."""
    cost = 0
    for node in flat(nodes):
        begin, stop = placed[node.tag]
        into = [any(node.begin <= i < node.stop for i in own) for own in links]
        if node.end is None or not any(into):
            cost += sum((i < node.begin) != (j < begin) for j, own in enumerate(links) for i in own)
            continue
        for j, own in enumerate(links):
            inside = begin <= j < stop
            cost += into[j] if not inside else bool(own) and not into[j]
    return cost, sum(j - i for i, j in placed.values()), sum(i for i, _ in placed.values())


def every_placement(
    nodes: Sequence[TagNode], low: int, high: int, links: Sequence[Sequence[int]]
) -> Iterator[dict[int, Interval]]:
    """All placements of siblings in an interval."""
    options = []
    for node in nodes:
        empty = node.end is None or not any(node.begin <= i < node.stop for own in links for i in own)
        whole = [(i, j) for i in range(low, high + 1) for j in range(i, (i if empty else high) + 1)]
        options.append(whole)
    for intervals in itertools.product(*options):
        if any(
            (a[1] > b[0] and b[1] > a[0]) or a[0] < b[0] < a[1] or b[0] < a[0] < b[1]
            for a, b in itertools.combinations(intervals, 2)
        ):
            continue
        inner = [[*every_placement(n.children, *place, links)] for n, place in zip(nodes, intervals, strict=True)]
        for below in itertools.product(*inner):
            yield {n.tag: place for n, place in zip(nodes, intervals, strict=True)} | {
                k: v for one in below for k, v in one.items()
            }


def intervals_of(placed: Sequence[PlacedTag], nodes: Sequence[TagNode]) -> dict[int, Interval]:
    at = {one.tag: one.word for one in placed}
    return {node.tag: (at[node.tag], at[node.tag if node.end is None else node.end]) for node in flat(nodes)}


def some_nodes(draw: random.Random, low: int, high: int, left: list[int], depth: int = 0) -> list[TagNode]:
    nodes, at = [], low
    while left[0] and draw.random() < 0.75:
        left[0] -= 1
        tag = left[1]
        left[1] += 2
        begin = draw.randint(at, high)
        if draw.random() < 0.3:
            nodes.append(TagNode(tag, begin))
            at = begin
        else:
            stop = draw.randint(begin, high)
            nodes.append(TagNode(tag, begin, tag + 1, stop, some_nodes(draw, begin, stop, left, depth + 1)))
            at = stop
    return nodes


def well_nested(placed: Sequence[PlacedTag], nodes: Sequence[TagNode]) -> bool:
    ends = {node.end: node.tag for node in flat(nodes) if node.end is not None}
    singles = {node.tag for node in flat(nodes) if node.end is None}
    stack: list[int] = []
    for one in placed:
        if one.tag in ends:
            if not stack or stack.pop() != ends[one.tag]:
                return False
        elif one.tag not in singles:
            stack.append(one.tag)
    words = [one.word for one in placed]
    return not stack and words == sorted(words)


def parents(placed: Sequence[PlacedTag], nodes: Sequence[TagNode]) -> dict[int, int | None]:
    ends = {node.end for node in flat(nodes) if node.end is not None}
    singles = {node.tag for node in flat(nodes) if node.end is None}
    stack: list[int] = []
    found: dict[int, int | None] = {}
    for one in placed:
        if one.tag in ends:
            stack.pop()
            continue
        found[one.tag] = stack[-1] if stack else None
        if one.tag not in singles:
            stack.append(one.tag)
    return found


def true_parents(nodes: Sequence[TagNode], above: int | None = None) -> dict[int, int | None]:
    return {node.tag: above for node in nodes} | {
        k: v for node in nodes for k, v in true_parents(node.children, node.tag).items()
    }


def test_the_placement_is_the_best_of_all() -> None:
    draw = random.Random(5)
    for trial in range(150):
        source, target = draw.randint(1, 6), draw.randint(0, 5)
        links = [sorted(draw.sample(range(source), min(source, draw.choice((0, 1, 1, 2))))) for _ in range(target)]
        nodes = some_nodes(draw, 0, source, [3, 0])
        placed = placed_tags(nodes, links)
        assert well_nested(placed, nodes) and parents(placed, nodes) == true_parents(nodes)
        best = min((key(one, nodes, links) for one in every_placement(nodes, 0, target, links)), default=(0, 0, 0))
        assert key(intervals_of(placed, nodes), nodes, links) == best, trial


@pytest.mark.parametrize("budget", [0, 2000, project.BUDGET])
def test_every_tag_comes_once_well_nested_whatever_the_budget(monkeypatch: pytest.MonkeyPatch, budget: int) -> None:
    monkeypatch.setattr(project, "BUDGET", budget)
    draw = random.Random(6)
    for _ in range(60):
        source, target = draw.randint(0, 12), draw.randint(0, 12)
        links = [draw.sample(range(source), min(source, draw.randint(0, 2))) for _ in range(target)]
        nodes = some_nodes(draw, 0, source, [7, 0])
        placed = placed_tags(nodes, links)
        tags = sorted(tag for node in flat(nodes) for tag in (node.tag, node.end) if tag is not None)
        assert sorted(one.tag for one in placed) == tags
        assert well_nested(placed, nodes) and parents(placed, nodes) == true_parents(nodes)
        assert all(0 <= one.word <= target for one in placed)


def test_reordered_words_take_their_tags_along() -> None:
    """``la <b>casa</b> <i>roja</i>``: the red house."""
    nodes = [TagNode(0, 1, 1, 2), TagNode(2, 2, 3, 3)]
    assert placed_tags(nodes, [[0], [2], [1]]) == [
        PlacedTag(2, 1), PlacedTag(3, 2), PlacedTag(0, 2), PlacedTag(1, 3),
    ]  # fmt: skip


def test_long_texts_with_many_tags_end_soon() -> None:
    words = 150
    nodes = [TagNode(2 * k, 2 * k, 2 * k + 1, 2 * k + 1) for k in range(50)]
    with time_limit():
        placed = placed_tags(nodes, [[j] for j in range(words)])
    assert placed[:2] == [PlacedTag(0, 0), PlacedTag(1, 1)] and placed[-1] == PlacedTag(99, 99)
    deep = TagNode(0, 0, 1, words)
    for k in range(1, 20):
        deep = TagNode(2 * k, 0, 2 * k + 1, words, [deep])
    with time_limit():
        assert len(placed_tags([deep], [[j] for j in range(words)])) == 40


def filled(data: str, translation: str, links: list[list[int]], ending: str = ".html") -> str:
    """A document of one unit with a translation, all of whose words blanks separate."""
    document = FORMATS[ending].read(data.encode())
    (unit,) = document.units
    source, target = (
        [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)] for text in (unit.text, translation)
    )
    return document.filled([[UnitPiece(unit.text, "", translation, "", WordAlignment(source, target, links))]]).decode()


@pytest.mark.parametrize(
    ("data", "translation", "links", "wanted"),
    [
        ("la <b>casa</b> <i>roja</i>", "the red house", [[0], [2], [1]], "the <i>red</i> <b>house</b>"),
        ("<b>casa</b> roja", "red house", [[1], [0]], "red <b>house</b>"),
        ("<p>la <b>casa</b></p>", "the house", [[0], [1]], "<p>the <b>house</b></p>"),
        ("<b>a <i>b</i></b> c", "C B A", [[2], [1], [0]], "C <b><i>B</i> A</b>"),
        ("a <img>b", "A B", [[0], [1]], "A <img>B"),
        ("a b <img>.", "A B.", [[0], [1], [2]], "A B <img>."),
        ("a b <img> c.", "A B.", [[0], [1], [3]], "A B <img>."),
        ("a b <i><img> <wbr>!</i>", "A B!", [[0], [1], [2]], "A B <i><img> <wbr>!</i>"),
        ("a b <img> c", "\u6211\u5011\u3002", [[0, 1], [2]], "\u6211\u5011<img> \u3002"),
        ("a b<img>, c", "C, A B", [[3], [2], [0], [1]], "<img>C, A B"),
        ("a <b>b</b>.", "B a.", [[1], [0], [2]], "<b>B</b> a."),
        ("a <b>b", "B A", [[1], [0]], "<b>B A"),
        ("<i>a</b> b</i>", "B A", [[1], [0]], "<i></b>B A</i>"),
        ("c<b>as</b>a", "HOUSE", [[0]], "<b>HOUSE</b>"),
        ("<a><b> x </b> y</a>", "Y X", [[1], [0]], "<a>Y <b> X</b></a>"),
        ("a <b></b>b", "B A", [[1], [0]], "<b></b>B A"),
        ("a <b>b</b>", "", [], "<b></b>"),
    ],
)
def test_tags_follow_words(data: str, translation: str, links: list[list[int]], wanted: str) -> None:
    found = filled(data, translation, links)
    assert re.sub(r"\s+", " ", found) == wanted or found == wanted


def test_the_text_stays_and_tags_stay_balanced() -> None:
    draw = random.Random(8)

    def content(depth: int) -> str:
        parts = []
        for _ in range(draw.randint(1, 3)):
            kind = draw.random()
            if kind < 0.5 or depth == 3:
                parts.append(draw.choice(("la casa", "roja ", " y", "n&amp;")))
            elif kind < 0.6:
                parts.append("<x id='1'/>")
            else:
                parts.append(f"<g id='1'>{content(depth + 1)}</g>")
        return "".join(parts)

    for _ in range(400):
        data = f"<xliff version='1.2'><trans-unit id='1'><source>{content(0)}</source></trans-unit></xliff>"
        document = FORMATS[".xlf"].read(data.encode())
        pieces = []
        for unit in document.units:
            source = [found.span() for found in re.finditer(r"\S+", unit.text)]
            words = [f"w{k}" for k in range(draw.randint(0, 6))]
            links = [draw.sample(range(len(source)), draw.randint(0, min(2, len(source)))) for _ in words]
            text = " ".join(words)
            target = [found.span() for found in re.finditer(r"\S+", text)]
            pieces.append([UnitPiece(unit.text, "", text, "", WordAlignment(source, target, links))])
        found = document.filled(pieces).decode()
        root = minidom.parseString(found)
        sides = [root.getElementsByTagName(name) for name in ("source", "target")]
        if not document.units:
            continue
        tags = [sorted(node.tagName for node in side[0].getElementsByTagName("*")) for side in sides]
        assert tags[0] == tags[1]
        assert re.sub(r"<[^>]*>", "", sides[1][0].toxml()).split() == pieces[0][0].translation.split()


HALVES = [
    ("<bpt id='1'>&lt;b></bpt>", "<ept id='1'>&lt;/b></ept>"),
    ("<bpt id='1' rid='7'/>", "<ept id='2' rid='7'/>"),
    ("<bx id='1' rid='7'/>", "<ex id='2' rid='7'/>"),
    ("<sc id='1'/>", "<ec startRef='1'/>"),
    ("<sm id='1'/>", "<em startRef='1'/>"),
    ("<x id='START_BOLD_TEXT'/>", "<x id='CLOSE_BOLD_TEXT'/>"),
    ("<x id='START_LINK_1'/>", "<x id='CLOSE_LINK'/>"),
]


@pytest.mark.parametrize(("begin", "end"), HALVES)
def test_halves_of_a_pair_follow_their_words(begin: str, end: str) -> None:
    source = f"la {begin}casa{end} <g id='9'>roja</g>"
    data = f"<xliff version='1.2'><trans-unit><source>{source}</source></trans-unit></xliff>"
    found = filled(data, "the red house", [[0], [2], [1]], ".xlf")
    assert f">the <g id='9'>red</g> {begin}house{end}</target>" in found


@pytest.mark.parametrize(("begin", "end"), HALVES)
def test_half_a_pair_is_a_single_tag(begin: str, end: str) -> None:
    """Its other half is missing, or between them another pair begins or ends; other tags follow their words."""
    for source in (
        f"la {begin}casa <g id='9'>roja</g>",
        f"la casa{end} <g id='9'>roja</g>",
        f"la <g id='8'>{begin}casa</g>{end} <g id='9'>roja</g>",
        f"{end}la casa{begin} <g id='9'>roja</g>",
    ):
        data = f"<xliff version='1.2'><trans-unit><source>{source}</source></trans-unit></xliff>"
        found = filled(data, "the red house", [[0], [2], [1]], ".xlf")
        assert "<g id='9'>red</g>" in found
        minidom.parseString(found)


def test_pairs_that_cross_are_filled() -> None:
    source = "<bx id='1'/>la <bx id='2'/>casa<ex id='1'/> roja<ex id='2'/>"
    data = f"<xliff version='1.2'><trans-unit><source>{source}</source></trans-unit></xliff>"
    found = filled(data, "the red house", [[0], [2], [1]], ".xlf")
    target = found.partition("<target")[2]
    assert all(target.count(tag) == 1 for tag in ("<bx id='1'/>", "<bx id='2'/>", "<ex id='1'/>", "<ex id='2'/>"))


def test_line_breaks_follow_words() -> None:
    data = "<xliff version='1.2'><trans-unit><source>{}</source></trans-unit></xliff>"
    source = "eins<x id='1' ctype='lb'/>zwei <g id='2'>drei</g>"
    found = filled(data.format(source), "one two three", [[0], [1], [2]], ".xlf")
    assert ">one<x id='1' ctype='lb'/>two <g id='2'>three</g></target>" in found
    source = "eins <x id='START_P' equiv-text='&lt;p>'/>zwei<x id='CLOSE_P' equiv-text='&lt;/p>'/>drei"
    found = filled(data.format(source), "two one three", [[1], [0], [2]], ".xlf")
    paragraph = "<x id='START_P' equiv-text='&lt;p>'/>two<x id='CLOSE_P' equiv-text='&lt;/p>'/>"
    assert f">{paragraph}one three</target>" in found


def test_tags_of_huge_units_keep_their_relative_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of all pairs of places of each tag would fill the memory."""
    monkeypatch.setattr("lscfg.markup.document.placed_tags", lambda *_: pytest.fail("makes tables"))
    words = 1500
    found = filled("x " * words + "<b>a</b>", "y " * words + "b", [[k] for k in range(words + 1)])
    assert found.endswith(" <b>b</b>")
    words, tags = 400, 150
    found = filled("x " * words + "<img>a " * tags, "y " * (words + tags), [[k] for k in range(words + tags)])
    assert found.count("<img>") == tags
