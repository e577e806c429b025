"""10,000 generated documents: tags and texts after the translation, by other parsers."""

from __future__ import annotations

import html.parser
import random
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from lscfg.markup.document import UnitPiece, WordAlignment
from lscfg.markup.formats import FORMATS

DOCUMENTS = 10_000

VOID = ("br", "img", "wbr")
PAIRS = ("b", "i", "a", "span", "em")

Tree = list[tuple[str, str | None]]
"""Tags by their ids, in order, each with the id of the tag around it."""


class Content:
    """Random inline content with tags whose ids are unique."""

    def __init__(self, draw: random.Random, xml: bool):
        self._draw, self._xml, self.tags, self.tree = draw, xml, 0, Tree()
        self.text = self._content(0, None)

    def _content(self, depth: int, above: str | None) -> str:
        draw, parts = self._draw, list[str]()
        for _ in range(draw.randint(1, 4)):
            kind = draw.random()
            if kind < 0.5 or depth == 4 or self.tags > 12:
                parts.append(draw.choice(("la casa ", "roja", " y ", "n&amp;m", ", ", "sol. ", "une maison")))
                continue
            self.tags += 1
            number = f"t{self.tags}"
            self.tree.append((number, above))
            if kind < 0.6:
                parts.append(f'<x id="{number}"/>' if self._xml else f'<{draw.choice(VOID)} id="{number}">')
            else:
                name = "g" if self._xml else draw.choice(PAIRS)
                parts.append(f'<{name} id="{number}">{self._content(depth + 1, number)}</{name}>')
        return "".join(parts)


class HtmlTags(html.parser.HTMLParser):
    """Tags and text of HTML; fails where a tag closes another one."""

    def __init__(self, text: str):
        super().__init__()
        self.tree, self.text, self._open = Tree(), "", list[tuple[str, str]]()
        self.feed(text)
        self.close()
        assert not self._open, text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        number = dict(attrs).get("id")
        if number is None:
            return
        self.tree.append((number, self._open[-1][1] if self._open else None))
        if tag not in VOID:
            self._open.append((tag, number))

    def handle_endtag(self, tag: str) -> None:
        if tag != "p":
            assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def html_of(content: str) -> str:
    return f"<p>{content}</p>"


def xliff_of(content: str) -> str:
    return f"<xliff version='1.2'><trans-unit><source>{content}</source></trans-unit></xliff>"


def html_tags(text: str) -> tuple[Tree, str]:
    found = HtmlTags(text)
    return found.tree, found.text


def xliff_tags(text: str) -> tuple[Tree, str]:
    target = ElementTree.fromstring(text).find(".//target")
    assert target is not None
    tree = Tree()

    def walk(node: ElementTree.Element, above: str | None) -> None:
        for child in node:
            tree.append((child.attrib["id"], above))
            walk(child, child.attrib["id"])

    walk(target, None)
    return tree, "".join(target.itertext())


def translated(draw: random.Random, text: str) -> UnitPiece:
    """A sentence with a translation of random words and links."""
    source = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]
    words = [draw.choice(("the", "red", "house", "&", "sun", "<", "and")) for _ in range(draw.randint(0, 12))]
    links = [draw.sample(range(len(source)), draw.randint(0, min(2, len(source)))) for _ in words]
    target = [found.span() for found in re.finditer(r"\S+", " ".join(words))]
    return UnitPiece(text, "", " ".join(words), "", WordAlignment(source, target, links))


@pytest.mark.parametrize(
    ("ending", "document_of", "tags_of"),
    [(".html", html_of, html_tags), (".xlf", xliff_of, xliff_tags)],
    ids=["html", "xliff"],
)
def test_tags_come_once_well_nested_and_the_text_stays(
    ending: str, document_of: Callable[[str], str], tags_of: Callable[[str], tuple[Tree, str]]
) -> None:
    """Every tag appears exactly once in the tag that it was in, and the text without tags is the translation."""
    draw, units = random.Random(12), 0
    for _ in range(DOCUMENTS // 2):
        content = Content(draw, ending == ".xlf")
        data = document_of(content.text).encode()
        document = FORMATS[ending].read(data)
        pieces = [[translated(draw, unit.text)] for unit in document.units]
        filled = document.filled(pieces).decode()
        if not pieces:
            continue
        units += len(pieces)
        tree, text = tags_of(filled)
        assert sorted(tree) == sorted(content.tree), data
        expected = "".join(one.translation for own in pieces for one in own)
        assert "".join(text.split()) == "".join(expected.split()), data  # blanks between units are of the document
    assert units > DOCUMENTS / 4
