"""Stored sources: the sentences of a raw text, and the text of stored words."""

from __future__ import annotations

from collections.abc import Iterator

from lscfg.prepare.sentences import NO_TERMS, Undivided
from lscfg.prepare.sides import Side
from lscfg.serve.texts import split_cells


def sentence_count(text: str, side: Side, whole: Undivided = NO_TERMS) -> int:
    """Number of sentences in a raw text, which may begin and end with blanks and line ends.

    Args:
        whole: see ``split_cells``.
    """
    return sum(bool(stretch.sentence) for stretch in split_cells(text, side.recipe.language, whole))


def stored_source(words: str, side: Side, whole: Undivided = NO_TERMS) -> str:
    """The text of a stored source that stores the same words again; the restored text if none is found.

    Restoring raises words after an inner ``!`` or ``?``, where a sentence would then end, and words without a known
    form, which would stay raised.

    Raises:
        InputError: the words are too long, see ``Side.decode``.
    """
    wanted = "".join(words.split())  # the last full stop may be apart
    for text in _texts(words, side):
        if sentence_count(text, side, whole) == 1 and "".join(side.encode(text).split()) == wanted:
            return text
    return side.decode(words)


def _texts(words: str, side: Side) -> Iterator[str]:
    """The restored text; the text with the first raised letter only; and the text without raised letters."""
    raised, plain = side.decode(words), side.join(words)
    yield raised
    pairs = enumerate(zip(raised, plain, strict=False), 1)
    first = next((end for end, (one, other) in pairs if one != other), 0)
    yield raised[:first] + plain[first:]
    yield plain
