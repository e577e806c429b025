"""Cleaning of text: one Unicode form, no characters that end words or lines in other programs, no reserved words.

Every cleaned line is accepted by the rest of lscfg (``lscfg.corpus.parallel``), or empty.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, cast

from lscfg.kernel import refused_characters
from lscfg.prepare.characters import stream_safe
from lscfg.prepare.repair import decode_entities

UNICODE_FORMS = ("nfc", "nfkc", "none")

_REFUSED = refused_characters()
_BLANKS = "".join(character for character in _REFUSED if character.isspace())
_INVISIBLE = "".join(character for character in _REFUSED if not character.isspace())
PIECE_MARK = "\u2581"
"""Marks a blank in the pieces of SentencePiece."""

_BLANK, _NOTHING = re.compile(f"[{_BLANKS}]"), re.compile(f"[{_INVISIBLE}]")
_ODD = re.compile(f"[{_BLANKS}{_INVISIBLE}]|  ")


def clean(line: str, form: str = "nfc") -> str:
    """The line in a Unicode form, its words separated by single blanks, its HTML entities decoded.

    Tabulators, line separators and all spaces become blanks. Other characters that no word may contain are left out:
    control characters, zero-width spaces, soft hyphens, marks of direction and annotation. U+2581 becomes ``_``.

    Args:
        form: one of ``UNICODE_FORMS``; ``none`` also keeps entities.
    """
    if form != "none":
        line = decode_entities(line)
    line = plain_spaces(line).replace(PIECE_MARK, "_")
    if form != "none" and not line.isascii():
        # spaces first, since characters around them might compose; then again, since nfkc creates blanks
        made = unicodedata.normalize(cast("Literal['NFC', 'NFKC']", form.upper()), stream_safe(line))
        line = plain_spaces(stream_safe(made))
    return line


def plain_spaces(line: str) -> str:
    """The line with single blanks as its only spaces, and without control characters."""
    if not _ODD.search(line):
        return line.strip(" ")
    line = _NOTHING.sub("", _BLANK.sub(" ", line))
    return " ".join(line.split())


# ---- words with a special meaning ----

_NAMES = {"&": "amp", "|": "vert", "[": "lbrack", "(": "lpar", "<": "lt"}
_CHARACTERS = {name: character for character, name in _NAMES.items()}
_NAMED = re.compile(f"&({'|'.join(_CHARACTERS)});")
_RESERVED = re.compile(
    r"(?<!\S)(?:\|\|\|(?!\S)|\[(?=\S+\](?!\S))|<(?=(?:/?s|unk|null)>(?!\S)))|<(?=/seg>)|^(?:\(\(\(|<seg)", re.IGNORECASE
)


def protect_words(line: str) -> str:
    """Replaces the first character of each token that has a special meaning by the character's name.

    Such tokens are ``|||`` and words like ``[X]``, which grammars use themselves, ``<s>``, ``</s>`` and ``<unk>`` of
    language models, ``<NULL>`` of lexicons, cdec's ``</seg>``, and, at the start of a line, cdec's lattices and
    segments. The names are those of HTML, but none that Moses needs. ``restore_words`` is the inverse.
    """
    if "&" in line:
        line = _NAMED.sub(r"&amp;\1;", line)
    return _RESERVED.sub(lambda found: f"&{_NAMES[found[0][0]]};{found[0][1:]}", line)


def restore_words(line: str) -> str:
    """Inverts ``protect_words``."""
    return _NAMED.sub(lambda found: _CHARACTERS[found[1]], line) if "&" in line else line
