"""Guesses of the language and the encoding of a text, by py3langid and charset-normalizer where they are installed."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from lscfg.io.encoding import guess_encoding
from lscfg.prepare.encoded import ENCODINGS
from lscfg.prepare.languages import base_language
from lscfg.prepare.suspects import scripts_of

CHUNKS, LINES = 30, 8
"""Number of votes on the language of a text, and lines of each."""

BLOCKS, BLOCK = 12, 20
"""Number of votes on the encoding of a text, and lines of each."""

SURE = 0.6
"""Share of the votes from which on a language counts as known."""

DETECTOR = "py3langid"
"""Name of the package that identifies languages of one script."""

_SCRIPTS = {
    "GREEK": "el", "HEBREW": "he", "HANGUL": "ko", "THAI": "th", "ARMENIAN": "hy", "GEORGIAN": "ka", "TAMIL": "ta",
    "TELUGU": "te", "KANNADA": "kn", "MALAYALAM": "ml", "GUJARATI": "gu", "GURMUKHI": "pa", "SINHALA": "si",
    "KHMER": "km", "LAO": "lo", "MYANMAR": "my",
}  # fmt: skip
"""Scripts that one language uses mostly."""

_KANA = re.compile("[\u3040-\u30ff]")

_LATIN = {
    "cp1250": frozenset(("pl", "cs", "sk", "hu", "sl", "hr", "ro", "bs")),
    "cp1254": frozenset(("tr", "az")),
    "cp1257": frozenset(("lt", "lv", "et")),
    "cp1258": frozenset(("vi",)),
    "cp1252": frozenset(
        ("is", "fo", "pt", "fr", "de", "es", "it", "ca", "gl", "da", "nb", "nn", "no", "sv", "fi", "nl")
    ),
}
"""Languages of a code page for Latin letters; others have cp1252."""

_WESTERN = frozenset((*_LATIN, "mac-roman", "cp437", "cp850", "iso-8859-1", "iso-8859-15", "iso-8859-2"))
"""Codecs for Latin letters, which differ in few bytes."""

_COMMON = frozenset("áéíóúàèâêîôäöüßçñãõåæøąęłśćżźčšžřěýůőűčėįųāēīğşıățșðþ")
"""Small letters that are frequent in some language."""

_SIGNS = frozenset("«»‹›“”„‚‘’–—…•·¿¡°§€£¥¢©®™†‡‰×±¹²³½¼¾µ´ªº\xa0")
"""Signs of text; of them, only an apostrophe and a middle dot stand between letters."""

_OWN = {
    "Windows-1252": "cp1252", "Latin-1": "cp1252", "Shift_JIS": "cp932", "EUC-JP": "euc-jp", "UTF-16LE": "utf-16-le",
    "UTF-16BE": "utf-16-be", "UTF-16": "utf-16", "UTF-32": "utf-32",
}  # fmt: skip
"""Names of ``guess_encoding`` as codecs."""


class HeardLanguage(NamedTuple):
    """A guess of the language of a text.

    Attributes:
        code: empty if the language is unknown; share: share of the votes for it; means: what voted.
    """

    code: str
    share: float
    means: str


@cache
def _identifier() -> Any:
    """The identifier of py3langid; None if the package is missing."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        return None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def language_of_text(lines: Sequence[str]) -> HeardLanguage:
    """Guesses the language of lines of text: by the script where it suffices, else by py3langid."""
    lines = [line for line in lines if any(map(str.isalpha, line))]
    if not lines:
        return HeardLanguage("", 0.0, "no letters")
    scripts = Counter(script for line in lines[:500] for script in scripts_of(line))
    script, count = scripts.most_common(1)[0] if scripts else ("", 0)
    if script in _SCRIPTS:
        return HeardLanguage(_SCRIPTS[script], count / len(lines[:500]), f"{script.capitalize()} letters")
    if script == "CJK":
        kana = sum(bool(_KANA.search(line)) for line in lines[:500]) / len(lines[:500])
        return HeardLanguage("ja" if kana > 0.3 else "zh", max(kana, 1 - kana), "Chinese characters and kana")
    identifier = _identifier()
    if identifier is None:
        return HeardLanguage("", 0.0, "py3langid is missing: pip install 'lscfg[quick]'")
    step = max(1, len(lines) // CHUNKS)
    chunks = [" ".join(lines[begin : begin + min(step, LINES)]) for begin in range(0, len(lines), step)][:CHUNKS]
    votes = Counter(base_language(identifier.classify(chunk)[0]) for chunk in chunks)
    code, count = votes.most_common(1)[0]
    return HeardLanguage(code if count >= SURE * len(chunks) else "", count / len(chunks), DETECTOR)


def detects(code: str) -> bool:
    """True if py3langid is installed and detects the language."""
    identifier = _identifier()
    return identifier is not None and base_language(code) in {base_language(str(one)) for one in identifier.nb_classes}


def encoding_of_text(data: bytes) -> tuple[str | None, str]:
    """Guesses the encoding of bytes that are not UTF-8.

    Returns:
        The codec, one of ``ENCODINGS``, or None if nothing fits, and what found it.
    """
    name = guess_encoding(data[: 1 << 16])[0]
    if name.startswith("UTF"):
        return _OWN[name], "zero bytes"
    lines = [line for line in data[: 1 << 18].split(b"\n") if not line.isascii()]
    found = Counter[tuple[str, str]]()
    for begin in range(0, min(len(lines), BLOCKS * BLOCK), BLOCK):  # a damaged line spoils one vote only
        if (guess := _codec(b"\n".join(lines[begin : begin + BLOCK]))) is not None:
            found[guess] += 1
    if not found:
        return None, "the frequent bytes"
    codec, means = found.most_common(1)[0][0]
    if codec in _WESTERN:
        codec = _latin(b"\n".join(lines[: BLOCKS * BLOCK]))
    return codec, means


def _codec(data: bytes) -> tuple[str, str] | None:
    """The codec of some lines, and what found it; None if nothing fits."""
    own = _OWN.get(guess_encoding(data)[0])
    try:
        import charset_normalizer
    except ImportError:
        return None if own is None else (own, "the frequent bytes")
    best = charset_normalizer.from_bytes(data, cp_isolation=[name for name in ENCODINGS if name[:3] != "utf"]).best()
    known = {codecs.lookup(name).name: name for name in ENCODINGS}
    found = known.get(codecs.lookup(best.encoding).name) if best else None
    return (found, "charset-normalizer") if found else None if own is None else (own, "the frequent bytes")


def _latin(data: bytes) -> str:
    """The code page of text with Latin letters, by what its other bytes than ASCII are in their words, and by language.

    Code pages of Windows and ISO have letters at the same bytes; those of the Macintosh and of DOS, at others.
    """
    words = [word for word in data.split() if not word.isascii()]
    windows = max(_fit(words, codec) for codec in _LATIN)
    fit, codec = max((_fit(words, codec), codec) for codec in ("mac-roman", "cp850"))
    if fit > windows + 0.1:
        return codec
    identifier, found = _identifier(), [(0.0, "cp1252")]
    text = b" ".join([word for word in words if _has_letter(word.decode("cp1252", "replace"))][:300])
    for codec, languages in _LATIN.items() if identifier and text else ():
        language, probability = identifier.classify(text.decode(codec, "replace"))
        if language in languages:
            found.append((float(probability), codec))
    return max(found)[1]


def _has_letter(word: str) -> bool:
    """True if a word of cp1252 contains more than signs beyond ASCII; a sign before a letter may be a letter."""
    pairs = zip(word, f"{word[1:]} ", strict=True)
    return any(
        not one.isascii() and (one not in _SIGNS or (one in "£¥ª³¹º¼¾" and after.isalpha())) for one, after in pairs
    )


def _fit(words: Sequence[bytes], codec: str) -> float:
    """The mean, from 0 to 1, of how usual in its word each character beyond ASCII is."""
    found = []
    for word in words[:3000]:
        text = f" {word.decode(codec, 'replace')} "
        for before, character, after in zip(text, text[1:], text[2:], strict=False):
            if character.isascii():
                continue
            if character in _SIGNS:
                inside = before.isalpha() and after.isalpha()
                fits = 1.0 if inside and character == "’" else 0.9 * (not inside or character == "·")
            elif character.islower():
                fits = 1.0 if character in _COMMON else 0.5
                fits *= after.islower() or (before.isalpha() and not (before.isupper() and after.isalpha()))
            elif character.isupper():
                fits = 0.8 * (before.isupper() or (after.isalpha() and not before.isalpha()))
            else:
                fits = 0.0
            found.append(fits)
    return sum(found) / len(found) if found else 0.0
