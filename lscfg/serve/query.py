"""Requests for translation: their content, and the limits that need no work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from itertools import accumulate
from typing import Any

from lscfg.errors import cut, did_you_mean, quote
from lscfg.formats.marked import MODES, blank_tags
from lscfg.json_text import parse_json
from lscfg.serve.instructions import INSTRUCTIONS, Forms, Instructions, read_instructions, refuse_text
from lscfg.serve.refusal import RefusalError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.translator import TranslationOptions

KEYS = ("source", "kbest", "derivations", "details", "raw", "xml_input", "input", "grammar", *INSTRUCTIONS)

INPUTS = ("text", "plf")
"""Forms of sentences: text or words, and lattices."""

MOST_RULES, LONGEST_RULE = 10_000, 2000
"""Maximum rules of a request, and characters of each."""

TYPES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")

DEPTH = 32
"""Most lists and objects inside one another."""


@dataclass(frozen=True)
class Query:
    """The texts and options of a request for translation."""

    texts: list[str]
    options: TranslationOptions
    instructions: Instructions


def content_type(headers: Mapping[str, str]) -> str:
    """The type of the content, checked before the content is read.

    Raises:
        RefusalError: the content is neither JSON nor a form in UTF-8, or is compressed.
    """
    given = Message()
    given["content-type"] = headers.get("content-type", "application/octet-stream")
    charset = given.get_param("charset", "utf-8")
    found = given.get_content_type()
    if found not in TYPES or not isinstance(charset, str) or charset.strip().lower() not in ("utf-8", "utf8"):
        raise RefusalError(415, "the content must be JSON in UTF-8; send Content-Type: application/json")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusalError(415, "the content must not be compressed")
    return found


def read_query(found: Mapping[str, Any], settings: ServeSettings, forms: Forms | None) -> Query:
    """The query of a request. Limits come in the order of their costs.

    Args:
        found: keys and values of the request.
        forms: Unicode forms of both sides of the system's preparation; None: the system has none.

    Raises:
        RefusalError: the request is not a query, or one of its limits is exceeded.
    """
    for key in found:
        if key not in KEYS:
            raise RefusalError(400, f"no key {quote(key)}{did_you_mean(key, KEYS)}; keys are {', '.join(KEYS)}")
    if "source" not in found:
        raise RefusalError(400, 'the key "source" is missing; give a sentence or a list of sentences')
    source = found["source"]
    texts = [source] if isinstance(source, str) else source
    if not isinstance(texts, list):
        raise RefusalError(400, "source must be a text or a list of texts")
    if not texts:
        raise RefusalError(400, "source is an empty list; give at least one sentence")
    if len(texts) > (most := settings.max_sentences):
        raise RefusalError(413, f"{len(texts)} sentences; at most {most} are allowed in a request")
    xml_input = read_xml_input(found)
    lattices = _lattices(found)
    for number, text in enumerate(texts):
        refuse_no_text(f"source[{number}]", text)
        if lattices:
            continue  # a worker reads them
        plain = text if xml_input is None else blank_tags(text)
        refuse_long_sentence(f"source[{number}]", plain, settings)
    options = TranslationOptions(
        _kbest(found.get("kbest"), len(texts), settings.max_translations),
        switch(found, "derivations", False),
        switch(found, "raw", forms is not None),
        settings.max_words,
        switch(found, "details", False),
        xml_input=xml_input,
        lattice=lattices,
        rules=_rules(found),
    )
    if options.raw and forms is None:
        raise RefusalError(400, "raw: the system has no preparation of raw text; send words that blanks separate")
    instructions = read_instructions(found, forms if options.raw else None)
    instructions.refuse_missing(len(texts))
    return Query(texts, options, instructions)


def read_xml_input(found: Mapping[str, Any]) -> str | None:
    """The use of Moses' tags in a request, see ``marked_terms``; None: tags are text.

    Raises:
        RefusalError: the use is unknown.
    """
    mode = found.get("xml_input")
    if "xml_input" in found and mode not in MODES:
        raise RefusalError(400, f"xml_input must be {' or '.join(MODES)}")
    return mode


def _lattices(found: Mapping[str, Any]) -> bool:
    """True if the sentences of a request are lattices, to which some keys do not apply."""
    form = found.get("input", INPUTS[0])
    if form not in INPUTS:
        raise RefusalError(400, f"input must be {' or '.join(INPUTS)}")
    if form == INPUTS[0]:
        return False
    for key in ("xml_input", "details", *INSTRUCTIONS):
        if found.get(key):
            raise RefusalError(400, f"{key} does not apply to lattices; remove the key")
    return True


def _rules(found: Mapping[str, Any]) -> tuple[str, ...]:
    """The rules of a request, of which a worker reads the content."""
    rules = found.get("grammar", [])
    if not isinstance(rules, list):
        raise RefusalError(400, 'grammar must be a list of rules such as "[X] ||| casa ||| house ||| P=1"')
    if len(rules) > MOST_RULES:
        raise RefusalError(413, f"grammar has {len(rules)} rules; at most {MOST_RULES} are allowed")
    for number, rule in enumerate(rules):
        refuse_text(f"grammar[{number}]", rule, LONGEST_RULE)
    return tuple(rules)


def json_object(body: bytes) -> dict[str, Any]:
    """The keys and values of JSON.

    Raises:
        RefusalError: the body is not an object in JSON.
    """
    if _too_deep(body):
        raise RefusalError(400, f"the content is nested too deeply; at most {DEPTH} levels are read")
    try:
        found = parse_json(body.decode("utf-8"), halves=True)
    except UnicodeDecodeError as error:
        raise RefusalError(400, f"the content is not UTF-8, from byte {error.start + 1} on") from None
    except ValueError as error:
        raise RefusalError(400, f"the content is not JSON: {cut(error)}") from None
    if not isinstance(found, dict):
        raise RefusalError(400, 'the content must be an object such as {"source": ["a sentence"]}')
    return found


def _too_deep(body: bytes) -> bool:
    """True if the brackets outside strings nest deeper than ``DEPTH``, in time linear in the length."""
    if body.count(b"[") + body.count(b"{") <= DEPTH:
        return False
    brackets = re.sub(rb'"(?:[^"\\]++|\\.)*+"?|[^][{}"]++', b"", body, flags=re.DOTALL)
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) > DEPTH


def refuse_no_text(name: str, text: Any) -> None:
    """Refuses what is not a text.

    Args:
        name: of the text, for the message.

    Raises:
        RefusalError: the value is not a text of whole characters.
    """
    if not isinstance(text, str):
        raise RefusalError(400, f"{name} must be a text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusalError(400, f"{name} contains half of a surrogate pair, which is not a character") from None


def refuse_long_sentence(name: str, text: str, settings: ServeSettings) -> None:
    """Refuses a sentence above the limits.

    Raises:
        RefusalError: the sentence has too many characters or words.
    """
    if len(text) > (most := settings.max_characters):
        raise RefusalError(413, f"{name}: has {len(text)} characters; at most {most} are translated")
    if (words := len(text.split())) > (most := settings.max_words):  # again after a preparation, which splits words
        raise RefusalError(413, f"{name}: has {words} words; at most {most} are translated")


def _kbest(kbest: Any, sentences: int, most: int) -> int | None:
    if kbest is None:
        return None
    if type(kbest) is not int or kbest < 1:
        raise RefusalError(400, "kbest must be a whole number of at least 1")
    if kbest * sentences > most:
        raise RefusalError(413, f"{sentences} sentences with {cut(kbest)} translations each; at most {most} are listed")
    return kbest


def switch(found: Mapping[str, Any], key: str, default: bool) -> bool:
    """The value of a key that is true or false.

    Raises:
        RefusalError: the value is something else.
    """
    value = found.get(key, default)
    if not isinstance(value, bool):
        raise RefusalError(400, f"{key} must be true or false")
    return value
