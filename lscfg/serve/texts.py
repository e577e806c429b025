"""Texts of several sentences: their sentences for translation, and the texts of the translations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

from lscfg.errors import quote
from lscfg.prepare.languages import base_language, code_fault, is_unspaced, language_of, rule_languages
from lscfg.prepare.sentences import NO_TERMS, Stretch, Undivided, cut_long, split_sentences, words_and_signs

Found = TypeVar("Found")

NAMES = {
    code: name
    for code, _, name in (
        row.partition(" ")
        for row in """af Afrikaans;am Amharic;ar Arabic;az Azerbaijani;be Belarusian;bg Bulgarian;bn Bengali;bs Bosnian
ca Catalan;cs Czech;cy Welsh;da Danish;de German;el Greek;en English;eo Esperanto;es Spanish;et Estonian;eu Basque
fa Persian;fi Finnish;fr French;ga Irish;gl Galician;gu Gujarati;he Hebrew;hi Hindi;hr Croatian;hu Hungarian;hy Armenian
id Indonesian;is Icelandic;it Italian;ja Japanese;ka Georgian;kk Kazakh;km Khmer;kn Kannada;ko Korean;ku Kurdish
lo Lao;lt Lithuanian;lv Latvian;mk Macedonian;ml Malayalam;mn Mongolian;mr Marathi;ms Malay;mt Maltese;my Burmese
nb Norwegian Bokmål;ne Nepali;nl Dutch;nn Norwegian Nynorsk;no Norwegian;pa Punjabi;pl Polish;ps Pashto;pt Portuguese
ro Romanian;ru Russian;si Sinhala;sk Slovak;sl Slovenian;sq Albanian;sr Serbian;sv Swedish;sw Swahili;ta Tamil
te Telugu;th Thai;tl Filipino;tr Turkish;uk Ukrainian;ur Urdu;uz Uzbek;vi Vietnamese;yi Yiddish;zh Chinese
zu Zulu""".replace("\n", ";").split(";")
    )
}
"""English names of languages; other languages are named by their codes."""

# fmt: off
RIGHT_TO_LEFT = frozenset((
    "ar", "aao", "abh", "abv", "acw", "acx", "adf", "aec", "apd", "arq", "auz", "avl", "ayh", "ayn", "ayp", "shu",
    "ssh", "fa", "bal", "bgn", "bqi", "brh", "ckb", "glk", "haz", "lrc", "luz", "mzn", "sdh", "azb", "ota", "ug", "uzs",
    "bft", "hnd", "hno", "khw", "ks", "pnb", "ps", "sd", "skr", "trw", "ur",
    "dv", "nqo", "he", "hbo", "jpr", "yi", "aii", "arc", "cld", "mid", "sam", "syc", "syr",
))
RIGHT_TO_LEFT_SCRIPTS = frozenset((
    "arab", "aran", "hebr", "syrc", "syre", "syrj", "syrn", "thaa", "nkoo", "adlm", "rohg", "mand", "samr", "yezi",
))
# fmt: on
"""Languages whose usual script runs from right to left, besides those with such a relative, and the scripts."""


class LanguagePair(NamedTuple):
    """Codes of the languages of a system, which are empty where the system does not contain them."""

    source: str = ""
    target: str = ""

    @classmethod
    def parse(cls, text: str) -> LanguagePair:
        """The languages of a text such as ``de,en``.

        Raises:
            ValueError: the text is not two codes.
        """
        codes = [code.strip() for code in text.split(",")]
        if len(codes) != 2:
            raise ValueError(f"{text!r} is not two language codes such as de,en")
        for code in codes:
            if fault := code_fault(code):
                raise ValueError(f"{code!r} {fault}")
        if codes[0] == codes[1]:
            raise ValueError(f"source and target are both {codes[0]}")
        return cls(*codes)


NO_LANGUAGES = LanguagePair()
"""Of a system that does not name its languages."""


def is_private(code: str) -> bool:
    """True for a code of private use, qaa to qtz, which names a language whose code is unknown."""
    return re.fullmatch("q[a-t][a-z]", base_language(code)) is not None


def language_facts(code: str, private: str = "unknown language") -> dict[str, str] | None:
    """Code, English name and direction of writing of a language; None for an empty code.

    Args:
        private: name of a language with a code of private use.
    """
    if not code:
        return None
    language = language_of(code)
    if language.script:
        rtl = language.script in RIGHT_TO_LEFT_SCRIPTS
    else:
        rtl = not RIGHT_TO_LEFT.isdisjoint(rule_languages(code))
    return {
        "code": language.base,
        "name": private if is_private(code) else NAMES.get(language.base, language.base),
        "direction": "rtl" if rtl else "ltr",
    }


def pair_facts(pair: LanguagePair) -> tuple[dict[str, str] | None, dict[str, str] | None]:
    """The facts of both languages; see ``language_facts``."""
    return language_facts(pair.source, "source language"), language_facts(pair.target, "target language")


_CELL = re.compile(r"\S(?:[^\t]*\S)?")


def split_cells(text: str, language: str, whole: Undivided = NO_TERMS) -> list[Stretch]:
    """The sentences of a text, see ``split_sentences``; a tab ends a sentence, too, since it separates cells."""
    found = list[Stretch]()
    for sentence, after in split_sentences(text, language, whole):
        begins = [cell.start() for cell in _CELL.finditer(sentence)][1:]
        for begin, end in pairwise((0, *begins, len(sentence))):
            cell = sentence[begin:end].rstrip()
            found.append(Stretch(cell, sentence[begin + len(cell) : end]))
        found[-1] = Stretch(found[-1].sentence, found[-1].after + after)
    return found


class TextPiece(NamedTuple):
    """A sentence, its translation, and the text after the translation."""

    source: str
    translation: str
    after: str


@dataclass(frozen=True)
class SplitText:
    """A text in stretches; only those with a sentence are translated."""

    stretches: tuple[Stretch, ...]
    pair: LanguagePair
    warnings: tuple[str, ...] = ()
    """One for each sentence that was cut, and for each part that is too long to translate."""

    @classmethod
    def of(
        cls,
        text: str,
        pair: LanguagePair,
        raw: bool,
        most: int,
        whole: Undivided = NO_TERMS,
        count: Callable[[str], int] = words_and_signs,
    ) -> SplitText:
        """The text in sentences of at most so many words, also after a tokeniser.

        Args:
            raw: lines may consist of several sentences; False: each line is one.
            whole: parts that stay in one sentence.
            count: see ``cut_long``.
        """
        found, warnings = list[Stretch](), list[str]()
        language = pair.source or "en"
        for sentence, after in split_cells(text, language, whole) if raw else split_sentences(text, "", whole):
            pieces = cut_long(sentence, most, whole, count) if raw else [Stretch(sentence, "")]
            found += [*pieces[:-1], Stretch(pieces[-1].sentence, pieces[-1].after + after)]
            translated = [piece.sentence for piece in pieces if piece.sentence]
            kept = [piece.after.strip() for piece in pieces if not piece.sentence and piece.after]
            words = sum(map(count, translated))
            if len(translated) > 1 and (words > most or not kept):
                long = f"has a sentence of {words:,} words, translated in {len(translated)} pieces"
                warnings.append(f"{long}; end sentences by full stops or new lines")
            for word in kept:
                long = f"keeps {quote(word)} untranslated, more than {most:,} words without a blank"
                warnings.append(f"{long}; separate them by blanks")
        return cls(tuple(found), pair, tuple(warnings))

    @property
    def sentences(self) -> list[str]:
        """The sentences to translate."""
        return [stretch.sentence for stretch in self.stretches if stretch.sentence]

    def pieces(self, translations: Iterable[str]) -> list[TextPiece]:
        """The translated stretches, given a translation for each sentence."""
        rest = iter(translations)
        found = []
        for number, (sentence, after) in enumerate(self.stretches):
            last = number + 1 == len(self.stretches)
            between = after if last or not sentence else _separator(after, self.pair)
            found.append(TextPiece(sentence, next(rest) if sentence else "", between))
        return found

    def joined(self, translations: Iterable[str]) -> str:
        """The text of the translations."""
        return "".join(piece.translation + piece.after for piece in self.pieces(translations))


def _separator(after: str, pair: LanguagePair) -> str:
    """The text between two sentences as the target language writes it."""
    unspaced = bool(pair.target) and is_unspaced(pair.target)
    if after == "" and not unspaced:
        return " "
    return "" if after == " " and unspaced else after


def by_text(texts: Sequence[SplitText], found: Iterable[Found]) -> list[list[Found]]:
    """The results of all sentences, in a list for each text."""
    rest = iter(found)
    return [[next(rest) for _ in text.sentences] for text in texts]
