"""Stems of words, from a Snowball stemmer or a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType

from lscfg.errors import InputError, counted, quote
from lscfg.extras import cure
from lscfg.io.read import stream_lines
from lscfg.prepare.languages import rule_languages


def read_stems(path: str | os.PathLike[str]) -> dict[str, str]:
    """Stems by word, from a file with one ``word stem`` per line; a word alone is its own stem.

    Raises:
        InputError: a line has no word or more than two.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(stream_lines(path), 1):
        fields = line.split()
        if not 1 <= len(fields) <= 2:
            raise InputError(f"expected a word and its stem, found {counted(len(fields), 'word')}", path, number)
        found[fields[0]] = fields[-1]
    return found


# fmt: off
SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}
# fmt: on
"""Snowball's names of languages."""


def stemmer(language: str, path: Path | None) -> Callable[[str], str]:
    """The stem of a word, from a file or a Snowball stemmer; without a language, the word itself.

    A stem without letters is the word itself.

    Raises:
        InputError: see ``read_stems``; the language has no stemmer, or snowballstemmer is not installed.
    """
    if path:
        stems = read_stems(path)
        return lambda word: stems.get(word, word)
    if not language:
        return lambda word: word
    snowball = _snowball()
    language = next((SNOWBALL[code] for code in rule_languages(language) if code in SNOWBALL), language)
    if language not in (known := sorted(snowball.algorithms())):
        raise InputError(f"no stemmer for {quote(language)}; choose one of {', '.join(known)}, or a file of stems")
    own = snowball.stemmer(language)
    return lambda word: own.stemWord(word) or word


def has_stemmer(code: str) -> bool:
    """True if the language of a code has a Snowball stemmer.

    Raises:
        InputError: snowballstemmer is not installed.
    """
    known = _snowball().algorithms()
    return any(SNOWBALL.get(language) in known for language in rule_languages(code))


def _snowball() -> ModuleType:
    try:
        import snowballstemmer
    except ImportError as error:
        raise InputError(cure(error) or f"snowballstemmer cannot be loaded: {error}") from error
    found: ModuleType = snowballstemmer
    return found


@lru_cache(1 << 16)
def word_stem(language: str, word: str) -> str:
    """The stem of a word in any case, by the Snowball stemmer of a language's code.

    Raises:
        InputError: see ``stemmer``.
    """
    return _stemmer(language)(word.lower())


DERIVING = {
    "en": ("ly", "ness", "ful", "ity", "al", "ment"),
    "de": ("lich", "ig", "isch", "ung", "heit", "keit"),
    "es": ("mente", "dad"),
    "fr": ("ment", "ité"),
    "it": ("mente", "ità"),
    "pt": ("mente", "dade"),
}
"""Endings that derive another part of speech, and that the stemmer removes, too."""


def deriving_ending(language: str, word: str) -> str:
    """The ending of ``DERIVING`` that a word can lose without change to its stem; empty if there is none.

    Words of one stem with different such endings, as ``surely`` and ``sure``, are not forms of each other.

    Raises:
        InputError: see ``stemmer``.
    """
    word = word.lower()
    endings = next((DERIVING[code] for code in rule_languages(language) if code in DERIVING), ())
    for ending in endings:
        rest = word.removesuffix(ending)
        if rest not in ("", word) and word_stem(language, rest) == word_stem(language, word):
            return ending
    return ""


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    return stemmer(language, None)
