"""Moses' tags in the sentence of a request, in text or in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import NamedTuple

from lscfg.decode.prepared_terms import prepared_choices
from lscfg.decode.terms import ChosenSpan
from lscfg.errors import InputError, quote
from lscfg.formats.marked import MarkedLine, MarkedSpan, Wall, WordOrder, blank_tags, read_marked
from lscfg.formats.segments import is_segment
from lscfg.kernel import words_fault
from lscfg.prepare.offsets import Range, word_ranges
from lscfg.serve.shown import Sides


class Tags(NamedTuple):
    """The tags of a sentence, in words."""

    line: MarkedLine
    typed: dict[str, str]
    """The text that a person gave for a translation in words."""


def untagged(
    text: str, mode: str | None, sides: Sides | None, words_of: Callable[[str], str]
) -> tuple[str, str, Tags | None]:
    """The text without tags, whose characters keep their places, its words, and the tags, if they count.

    Args:
        mode: see ``marked_terms``; None: tags are text.
        sides: of the preparation; None: the text consists of words.
        words_of: the checked words of a text.

    Raises:
        InputError: a tag is malformed, or does not fit the words.
    """
    if mode is None:
        return text, words_of(text), None
    if is_segment(text):
        raise InputError("<seg> at the beginning may name files, which a request must not do; remove the tag")
    line, plain = read_marked(text), blank_tags(text)
    if sides is None:
        return plain, words_of(line.text), tags_of_words(line)
    tags = tags_of_text(MarkedLine(line.text, ()) if mode == "ignore" else line, plain, words_of(plain), sides)
    return plain, tags.line.text, tags


def tags_of_words(line: MarkedLine) -> Tags:
    """The tags of a sentence of words.

    Raises:
        InputError: a translation contains what no word may contain.
    """
    for translation in (one for span in line.spans for one in span.translations):
        if fault := words_fault(translation):
            raise InputError(fault)
    return Tags(line, {})


def tags_of_text(line: MarkedLine, plain: str, words: str, sides: Sides) -> Tags:
    """The tags of a sentence of raw text, around the words of its preparation.

    Args:
        plain: the text with blanks instead of tags.
        words: of that text.

    Raises:
        InputError: a tag is inside a word of the preparation, or preparation leaves nothing of its words or of a
            translation.
    """
    listed = words.split()
    places = [found.span() for found in re.finditer("[^ ]+", plain)]
    ranges = word_ranges(listed, plain)

    def moved(span: tuple[int, int]) -> tuple[int, int]:
        begin, end = places[span[0]][0], places[span[1] - 1][1]
        found = _words_before(ranges, begin), _words_before(ranges, end)
        if found[0] == found[1] or any(i < place < j for i, j in ranges for place in (begin, end)):
            raise InputError(f"preparation does not keep {quote(plain[begin:end])} as words; move its tag")
        return found

    typed: dict[str, str] = {}
    spans = []
    for one in line.spans:
        chosen, texts = prepared_choices(
            [ChosenSpan(one.span, unescape(given)) for given in one.translations], sides[1]
        )
        likely: dict[str, float] = {}
        for choice, probability in zip(chosen, one.probabilities, strict=True):
            likely.setdefault(choice.target, probability)  # texts that preparation makes equal count once
        typed = {**texts, **typed}
        spans.append(MarkedSpan(moved(one.span), tuple(likely), tuple(likely.values())))
    walls = (Wall(moved((wall.place, wall.scope[1]))[0], moved(wall.scope)) for wall in line.order.walls)
    kept = tuple(wall for wall in walls if wall.scope[0] < wall.place < wall.scope[1])
    order = WordOrder(tuple(moved(zone) for zone in line.order.zones), kept)
    return Tags(MarkedLine(" ".join(listed), tuple(spans), order), typed)


def _words_before(ranges: list[Range], place: int) -> int:
    return sum(end <= place for _, end in ranges)
