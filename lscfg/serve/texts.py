"""Texts of several sentences: their sentences for translation, and the texts of the translations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from lscfg.prepare.languages import base_language, code_fault, is_unspaced, language_of
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

RIGHT_TO_LEFT = frozenset(["ar", "arz", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"])
RIGHT_TO_LEFT_SCRIPTS = frozenset(["arab", "hebr", "syrc", "thaa", "nkoo", "adlm"])


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
    rtl = language.script in RIGHT_TO_LEFT_SCRIPTS or (not language.script and language.base in RIGHT_TO_LEFT)
    return {
        "code": language.base,
        "name": private if is_private(code) else NAMES.get(language.base, language.base),
        "direction": "rtl" if rtl else "ltr",
    }


def pair_facts(pair: LanguagePair) -> tuple[dict[str, str] | None, dict[str, str] | None]:
    """The facts of both languages; see ``language_facts``."""
    return language_facts(pair.source, "source language"), language_facts(pair.target, "target language")


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
    """One for each sentence that was cut."""

    @classmethod
    def of(cls, text: str, pair: LanguagePair, raw: bool, most: int, whole: Undivided = NO_TERMS) -> SplitText:
        """The text in sentences of at most so many words, also after a tokeniser.

        Args:
            raw: lines may consist of several sentences; False: each line is one.
            whole: parts that stay in one sentence.
        """
        found, warnings = list[Stretch](), list[str]()
        for sentence, after in split_sentences(text, (pair.source or "en") if raw else "", whole):
            pieces = cut_long(sentence, most, whole) if raw else [Stretch(sentence, "")]
            found += [*pieces[:-1], Stretch(pieces[-1].sentence, pieces[-1].after + after)]
            if len(pieces) > 1:
                words = words_and_signs(sentence)
                long = f"has a sentence of {words:,} words, translated in {len(pieces)} pieces"
                warnings.append(f"{long}; end sentences by full stops or new lines")
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
