"""Instructions of a request: a glossary, words to keep, and translations chosen for spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from lscfg.corpus.parallel import plain_fault
from lscfg.decode.glossary import COLUMNS
from lscfg.decode.inflected import CURE
from lscfg.decode.prepared_terms import empty_side
from lscfg.decode.terms import EACH_FORM, FORMS, MATCHES, MODES, MOST_FORMS, MOST_WORDS, ChosenSpan, Term
from lscfg.errors import InputError, did_you_mean, quote
from lscfg.json_text import parse_json
from lscfg.kernel import words_fault
from lscfg.serve.refusal import RefusalError
from lscfg.serve.translator import TranslationOptions

INSTRUCTIONS = ("glossary", "keep", "choices")
"""Keys of a request."""

MOST_TERMS, MOST_CHOICES, LONGEST = 1000, 1000, 200
"""Maximum entries of a glossary with the words to keep, choices of a request, and characters of a text in them."""

CHOICE_KEYS = ("span", "target", "sentence")

Forms = tuple[str, str]
"""The Unicode form in which a system prepares each side."""


@dataclass(frozen=True)
class Instructions:
    """Terms and choices that the translations of a request obey."""

    terms: tuple[Term, ...] = ()
    choices: Mapping[int, tuple[ChosenSpan, ...]] = field(default_factory=dict)
    """By number of the sentence."""

    def options(self, options: TranslationOptions, number: int) -> TranslationOptions:
        """The options of a sentence with that number."""
        chosen = self.choices.get(number, ())
        return replace(options, terms=self.terms, choices=chosen) if self.terms or chosen else options

    def refuse_missing(self, sentences: int) -> None:
        """Refuses choices for sentences that the request does not contain.

        Raises:
            RefusalError: the sentence of a choice does not exist.
        """
        for number in self.choices:
            if number >= sentences:
                raise RefusalError(400, f"choices: no sentence {number}; the request contains {sentences}, from 0")


def read_instructions(found: Mapping[str, Any], forms: Forms | None) -> Instructions:
    """The instructions of a request.

    Args:
        found: keys and values of the request; in a form, values are JSON.
        forms: of the system's preparation; None: terms are words.

    Raises:
        RefusalError: an entry is malformed, or too many or too long.
    """
    terms = [
        *(_term(f"glossary[{k}]", entry, forms) for k, entry in enumerate(_entries(found, "glossary", MOST_TERMS))),
        *(_kept(f"keep[{k}]", entry, forms) for k, entry in enumerate(_entries(found, "keep", MOST_TERMS))),
    ]
    if len(terms) > MOST_TERMS:
        raise RefusalError(413, f"{len(terms)} entries of glossary and keep; at most {MOST_TERMS} are allowed")
    chosen: dict[int, list[tuple[ChosenSpan, str]]] = {}
    for k, entry in enumerate(_entries(found, "choices", MOST_CHOICES)):
        number, choice = _choice(f"choices[{k}]", entry)
        if forms is None:
            _refuse_no_words(f"choices[{k}].target", choice.target)
        chosen.setdefault(number, []).append((choice, f"choices[{k}]"))
    for own in chosen.values():
        for (first, _), (second, name) in pairwise(sorted(own)):
            if second.span[0] < first.span[1]:
                raise RefusalError(400, f"{name}: the span {[*second.span]} overlaps the span {[*first.span]}")
    return Instructions(tuple(terms), {number: tuple(one for one, _ in own) for number, own in chosen.items()})


def _entries(found: Mapping[str, Any], key: str, most: int) -> list[Any]:
    entries = found.get(key, [])
    if isinstance(entries, str):
        try:
            entries = parse_json(entries) if entries.strip() else []
        except ValueError:
            entries = None
    if not isinstance(entries, list):
        raise RefusalError(400, f"{key} must be a list")
    if len(entries) > most:
        raise RefusalError(413, f"{key} has {len(entries)} entries; at most {most} are allowed")
    return entries


def _object(name: str, entry: Any, keys: Sequence[str], example: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise RefusalError(400, f"{name} must be an object such as {example}")
    for key in entry:
        if key not in keys:
            raise RefusalError(400, f"{name}: no key {quote(key)}{did_you_mean(key, keys)}; keys are {', '.join(keys)}")
    return entry


def refuse_text(name: str, text: Any, longest: int) -> str:
    """Returns a text of one line with at most ``longest`` characters.

    Raises:
        RefusalError: the value is something else.
    """
    if not isinstance(text, str):
        raise RefusalError(400, f"{name} must be a text")
    if len(text) > longest:
        raise RefusalError(400, f"{name} has {len(text)} characters; at most {longest} are allowed")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusalError(400, f"{name} contains half of a surrogate pair, which is not a character") from None
    if any(sign in text for sign in "\0\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        raise RefusalError(400, f"{name} contains a NUL character or a line break; remove it")
    return text


def _text(name: str, text: Any) -> str:
    return refuse_text(name, text, LONGEST)


def _word(name: str, entry: Mapping[str, Any], key: str, known: Sequence[str]) -> str:
    value = entry.get(key, known[0])
    if not isinstance(value, str) or value not in known:
        raise RefusalError(400, f"{name}.{key} must be {' or '.join(known)}")
    return value


def _term(name: str, entry: Any, forms: Forms | None) -> Term:
    found = _object(name, entry, COLUMNS, '{"source": "casa", "target": ["house"]}')
    source = _text(f"{name}.source", found.get("source"))
    target = found.get("target", [])
    listed = target if isinstance(target, list) else [target]
    if len(listed) > MOST_FORMS:
        raise RefusalError(400, f"{name}.target has {len(listed)} texts; at most {MOST_FORMS} are allowed")
    targets = [_text(f"{name}.target" + (f"[{k}]" if listed is target else ""), one) for k, one in enumerate(listed)]
    mode, match, inflected = (_word(name, found, *of) for of in (("mode", MODES), ("match", MATCHES), ("forms", FORMS)))
    head = found.get("head", 0)
    if "head" in found and not (type(head) is int and 1 <= head <= MOST_WORDS):
        raise RefusalError(400, f"{name}.head must be the number of a word of the target, from 1 to {MOST_WORDS}")
    return _checked(name, lambda: Term(source, tuple(targets), mode, match, forms=inflected, head=head), forms)


def _kept(name: str, entry: Any, forms: Forms | None) -> Term:
    source = _text(name, entry)
    return _checked(name, lambda: Term(source, (), "keep"), forms)


def _checked(name: str, make: Callable[[], Term], forms: Forms | None) -> Term:
    try:
        term = make()
    except InputError as error:
        raise RefusalError(400, f"{name}: {error}") from None
    if fault := empty_side(term, forms or ("none", "none")):
        raise RefusalError(400, f"{name}: {fault}")
    if forms is None:
        if term.match == "stem":
            raise RefusalError(400, f"{name}: match stem needs raw text, which a bundle prepares; {EACH_FORM}")
        if term.forms == "auto":
            raise RefusalError(400, f"{name}: forms auto needs raw text, which a bundle prepares; {CURE}")
        for text in (term.source, *term.targets):
            _refuse_no_words(name, text)
    return term


def _refuse_no_words(name: str, text: str) -> None:
    if fault := plain_fault(text) or words_fault(text):
        raise RefusalError(400, f"{name}: {quote(text)} {fault}")


def _choice(name: str, entry: Any) -> tuple[int, ChosenSpan]:
    """The number of the sentence, and the choice."""
    found = _object(name, entry, CHOICE_KEYS, '{"span": [0, 2], "target": "the house"}')
    span = found.get("span")
    if not (isinstance(span, list) and len(span) == 2 and all(type(k) is int for k in span) and 0 <= span[0] < span[1]):
        raise RefusalError(400, f"{name}.span must be the first word and the one after the last, such as [0, 2]")
    number = found.get("sentence", 0)
    if type(number) is not int or number < 0:
        raise RefusalError(400, f"{name}.sentence must be a whole number from 0")
    target = _text(f"{name}.target", found.get("target"))
    if not target.strip():
        raise RefusalError(400, f"{name}.target is empty; give at least one word")
    return number, ChosenSpan((span[0], span[1]), target)
