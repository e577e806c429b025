"""Code inside HTML that a server replaces: of PHP, ERB, JSP, Jinja, Handlebars and similar languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_OPENING = re.compile(r"<\?(?:php\b|=|\s)|<\?|<%--|<%|\{\{!--|\{\{\{|\{\{|\{%|\{#", re.IGNORECASE)
_CLOSINGS = {
    "<?": "?>", "<%": "%>", "<%--": "--%>", "{{": "}}", "{{{": "}}}", "{{!--": "--}}", "{%": "%}", "{#": "#}",
}  # fmt: skip
_CONTROL = ("block", "define", "each", "else", "end", "if", "range", "unless", "with")
_VALUE = re.compile(
    r"<\?(?!php\b|\s)|<%(?:=|--|#)|\{#"
    rf"|\{{\{{(?![-~]?\s*(?:[#^/]|(?:{'|'.join(_CONTROL)})\b))"
    r"|<\?(?:php)?\s+(?:echo|print|the_\w+)\b[^;{}]*;?\s*\?>\Z",
    re.IGNORECASE,
)
"""Code that becomes a value, or nothing."""
_REST_OF_TAG = re.compile(r"[^<>]*>")
_IN_A_LINE = re.compile(r"[^\n]")


class TemplateSpan(NamedTuple):
    """Characters [begin, end) of code."""

    begin: int
    end: int
    inline: bool
    """The code is a value in a sentence, not a condition or a loop, into or out of which no word may move."""


def template_spans(text: str) -> list[TemplateSpan]:
    """The code in a text, in order; PHP may end with the text."""
    found: list[TemplateSpan] = []
    closings: dict[str, int] = {}  # the next one of each kind, so that each is looked for once
    end = 0
    for opening in _OPENING.finditer(text):
        if (begin := opening.start()) < end:
            continue
        closing = _CLOSINGS[opening[0] if opening[0] in _CLOSINGS else "<?"]
        if 0 <= closings.get(closing, 0) < begin + 2:
            closings[closing] = text.find(closing, begin + 2)
        stop = closings[closing]
        php = opening[0].lower() in ("<?php", "<?=")
        if not (_is_code(text, opening[0], begin, stop) if stop >= 0 else php):
            continue
        end = stop + len(closing) if stop >= 0 else len(text)
        found.append(TemplateSpan(begin, end, _VALUE.match(text, begin, end) is not None))
    return found


def _is_code(text: str, opening: str, begin: int, stop: int) -> bool:
    """True unless an opening is a pair of signs that only happens to precede a closing elsewhere in the document."""
    if opening == "<?":  # an instruction of XML
        return text.find("<", begin + 2, stop) < 0
    if opening[0] == "{":
        return all(text.find(sign, begin + len(opening), stop) < 0 for sign in (opening[:2], "</", "-->"))
    return True


def without_templates(text: str, spans: Sequence[TemplateSpan], mark: str) -> str:
    """The text with marks for all code; offsets and line ends stay.

    The marks follow a blank, as an attribute does, or a letter where code is the name of an element.

    Args:
        mark: a character without meaning.
    """
    parts, place = list[str](), 0
    for begin, end, _ in spans:
        named = text.endswith(("<", "</"), max(0, begin - 2), begin) and _REST_OF_TAG.match(text, end)
        parts += [text[place:begin], "x" if named else " ", _IN_A_LINE.sub(mark, text[begin + 1 : end])]
        place = end
    return "".join((*parts, text[place:]))
