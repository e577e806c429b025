"""Code inside HTML that a server replaces: of PHP, ERB, JSP, Jinja, Handlebars and similar languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_OPENING = re.compile(
    r"<\?(?:php(?=\s|\Z)|=|\s)?|<%(?:--)?|\{\{!--|\{\{\{|\{\{|\{%|\{#|(?P<tag><[a-z/!]|>)", re.IGNORECASE
)
_CLOSINGS = {
    "<?": "?>", "<%": "%>", "<%--": "--%>", "{{": "}}", "{{{": "}}}", "{{!--": "--}}", "{%": "%}", "{#": "#}",
}  # fmt: skip

_CONTROL = ("block", "define", "each", "else", "end", "if", "range", "unless", "with")
_RUBY = ("begin", "case", "else", "elsif", "end", "ensure", "for", "if", "rescue", "unless", "until", "when", "while")
_PRINTED = ("_ex?", "echo", r"esc_\w+_e", "print", r"the_\w+")
_DJANGO = ("csrf_token", "now", "static", "url")
_VALUE = re.compile(
    r"<\?(?!php\b|\s)|<%(?:[=:#]|--)|\{#"
    rf"|<%-(?!\s*(?:{'|'.join(_RUBY)})\b)"
    rf"|\{{%[-+]?\s*(?:(?:{'|'.join(_DJANGO)})\b|trans(?:late)?\s+[\"'])"  # without a text, {% trans %} begins a block
    rf"|\{{\{{(?![-~]?\s*(?:[#^/]|(?:{'|'.join(_CONTROL)})\b(?![.-]\w)))"
    rf"|<\?(?:php)?\s+(?:{'|'.join(_PRINTED)})\b[^;{{}}]*+(?:;\s*+\?>)?(?<=\?>)\Z",
    re.IGNORECASE,
)
"""Code that becomes a value, or nothing."""
_BLOCK = re.compile(r"\bdo(?:\s*\|[^|]*\|)?\s*-?%>\Z")
"""End of code of ERB before a block."""

_LITERAL = re.compile(
    r"""\\.
    |(?:(?<!\w)|(?<=\becho)|(?<=\bprint)|(?<=\breturn))"(?:[^"\\]|\\.)*+(?:"|(?P<quoted>\Z))
    |(?:(?<!\w)|(?<=\becho)|(?<=\bprint)|(?<=\breturn))'(?:[^'\\]|\\.)*+(?:'|(?P<primed>\Z))
    |`(?:[^`\\]|\\.)*+(?:`|(?P<template>\Z))
    |/\*.*?(?:\*/|(?P<remark>\Z))
    |(?<!\S)(?://|\#)[^\n]*
    |<<[<~-][ \t]*["']?(\w{1,40})\b[^\n]*\n.*?(?:\n[ \t]*\5\b|(?P<here>\Z))
    """,
    re.DOTALL | re.VERBOSE,
)
"""A string or comment of code. A quotation mark after another word closes an attribute, or is an apostrophe."""

_TAG = re.compile(r"</[a-z]|<[a-z][\w-]*(?:\s*/?>|\s+[\w-]+\s*=)", re.IGNORECASE)
_END_TAG = re.compile(r"</[a-z]", re.IGNORECASE)
_ENDS = re.compile(r"</(?:script|style)", re.IGNORECASE)
"""Ends of what contains a text, even where the text looks like a string of code."""
_END_OF_SAMPLE = re.compile(r"</(?:body|code|html|kbd|pre|samp|textarea|title)", re.IGNORECASE)
"""Ends of elements that show code, and of the whole document."""

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
    end, in_tag, in_comment = 0, False, False
    last = text.rfind("<?")
    for opening in _OPENING.finditer(text):
        if (begin := opening.start()) < end:
            continue
        if opening["tag"]:
            if in_comment:
                in_comment = opening[0] != ">" or not text.endswith("--", 0, begin)
            else:
                in_comment = text.startswith("<!--", begin)
                in_tag = opening[0] != ">" and not in_comment
            continue
        closing = _CLOSINGS[opening[0] if opening[0] in _CLOSINGS else "<?"]
        if 0 <= closings.get(closing, 0) < begin + 2:
            closings[closing] = text.find(closing, begin + 2)
        stop = closings[closing]
        if stop < 0 and (begin < last or opening[0].lower() != "<?php"):
            continue
        until = stop if stop >= 0 else len(text)
        if in_comment and text.find("-->", begin, until) >= 0:
            continue
        if not _is_code(text, opening[0], begin, until, in_tag):
            continue
        end = stop + len(closing) if stop >= 0 else len(text)
        found.append(TemplateSpan(begin, end, _is_value(text[begin:end])))
    return found


def _is_value(code: str) -> bool:
    return _VALUE.match(code) is not None and not (code.startswith("<%") and _BLOCK.search(code))


def _is_code(text: str, opening: str, begin: int, stop: int, in_tag: bool) -> bool:
    """True unless an opening is a pair of signs that only happens to precede a closing elsewhere in the document."""
    inner = begin + len(opening)
    if opening == "<?":  # an instruction of XML
        return text.find("<", inner, stop) < 0
    if opening[0] == "{":
        return all(text.find(sign, inner, stop) < 0 for sign in (opening[:2], "</", "-->"))
    if text.find(opening if opening == "<%--" else opening[:2], inner, stop) >= 0:
        return False
    code = text[inner:stop]
    if _leaves(code, _ENDS):
        return False
    if opening == "<%--" or code.startswith("#"):  # a comment, often of markup
        return not _leaves(code, _END_OF_SAMPLE)
    return not (_TAG.search(code) if in_tag else _END_TAG.search(code) and _END_TAG.search(_without_literals(code)))


def _leaves(code: str, ends: re.Pattern[str]) -> bool:
    """True if code contains an end without its beginning; of each kind, the first one counts."""
    lowered = code.lower()
    first = {found[0]: found.start() for found in reversed([*ends.finditer(lowered)])}
    return any(lowered.find(f"<{end[2:]}", 0, place) < 0 for end, place in first.items())


def _without_literals(code: str) -> str:
    """Code without strings and comments; one without an end becomes an end tag, because code has none."""
    return _LITERAL.sub(lambda found: "</x" if found.lastgroup else " ", code)


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
