"""Lattices of requests in the words of a system, and faults of sentences."""

from __future__ import annotations

from dataclasses import replace

from lscfg.decode.derivations import Translated, source_path, split_words
from lscfg.errors import InputError, LscfgError, quote
from lscfg.formats.plf import Arc, format_lattice, is_lattice, parse_lattice
from lscfg.prepare.sides import Side

MOST_ARCS = 3000
"""Maximum arcs of a lattice."""


class BadSentenceError(LscfgError, ValueError):
    """A sentence that cannot be translated and must be changed."""


class LongSentenceError(BadSentenceError):
    """A sentence with too many words."""


def lattice_words(text: str, most: int, side: Side | None) -> str:
    """The lattice of a text in words of a system, as ``lscfg decode`` reads it.

    Args:
        most: maximum words between the first state and the last.
        side: prepares the text of each arc, which must be one word then; None: arcs contain words.

    Raises:
        BadSentenceError: the text is not a lattice, no arc leaves its first state, or preparation does not turn an arc
            into one word.
        LongSentenceError: the lattice has too many states or arcs.
    """
    try:
        lattice = parse_lattice(text)
        if lattice.states - 1 > most:
            raise LongSentenceError(f"a lattice of {lattice.states} states; at most {most + 1} are translated")
        if len(lattice.arcs) > MOST_ARCS:
            raise LongSentenceError(f"a lattice of {len(lattice.arcs)} arcs; at most {MOST_ARCS} are translated")
        if side is not None:
            lattice = replace(lattice, arcs=tuple(_prepared(arc, side) for arc in lattice.arcs))
    except InputError as error:
        raise BadSentenceError(str(error)) from None
    found = format_lattice(lattice)
    if not is_lattice(found):
        raise BadSentenceError("a lattice without an arc from its first state; remove the state")
    return found


def _prepared(arc: Arc, side: Side) -> Arc:
    if arc.word is None:
        return arc
    words = side.encode(arc.word).split(" ")
    if len(words) != 1 or not words[0]:
        made = f"{len(words)} words" if words[0] else "no word"
        raise InputError(f"lattice: preparation turns {quote(arc.word)} into {made}; give words, and raw as false")
    return arc._replace(word=words[0])


def path_words(found: Translated) -> list[str]:
    """The words of a lattice that the best translation translates; without a parse, those that are passed through."""
    return source_path(found.derivations[0]) if found.derivations else split_words(found.hypotheses[0].text)
