"""Numbers in the writing of a language: separators of decimals and thousands, from CLDR's table of symbols."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

from lscfg.prepare.languages import base_language

# fmt: off
_POINTS = frozenset((
    "am", "bn", "cy", "en", "ga", "gd", "gu", "ha", "he", "hi", "ig", "ja", "kn", "ko", "ml", "mr", "ms", "mt",
    "my", "ne", "pa", "si", "sw", "ta", "te", "th", "tl", "ur", "yo", "zh", "zu",
))
"""Languages that write 1,234.5."""
_COMMAS = frozenset((
    "az", "bs", "ca", "da", "de", "el", "es", "eu", "fo", "gl", "hr", "id", "is", "it", "jv", "kl", "lb", "mk",
    "nl", "pt", "ro", "sl", "sr", "su", "tr", "vi",
))
"""Languages that write 1.234,5."""
_BLANKS = frozenset((
    "be", "bg", "cs", "et", "fi", "fr", "hu", "hy", "ka", "kk", "ky", "lt", "lv", "nb", "nn", "no", "oc", "pl",
    "ru", "sk", "sq", "sv", "tk", "tt", "uk", "uz",
))
"""Languages that write 1 234,5."""
# fmt: on
_REGIONS = re.compile(r"(?i)[-_](?:ch|li|za|in|419|cr|do|gt|hn|mx|ni|pa|pe|pr|sv|us)$")
"""Regions that may write numbers in another way than the language elsewhere."""


_VERSION = re.compile(r"\d{1,3}\.\d{1,3}", re.ASCII)
# fmt: off
_NUMBERED = frozenset((
    "v", "v.", "ver", "ver.", "version", "versions", "release", "section", "chapter", "figure", "fig.", "table",
    "kapitel", "abschnitt", "abbildung", "abb.", "tabelle", "tab.", "absatz", "ziffer", "paragraph", "§",  # German
    "versión", "capítulo", "sección", "figura", "tabla", "versione", "capitolo", "sezione", "tabella",  # Romance
    "versão", "seção", "secção", "tabela", "versió", "capítol", "secció", "taula", "versiune", "capitolul",
    "versie", "hoofdstuk", "paragraaf", "figuur", "tabel", "afsnit", "figur",  # Dutch, Danish
    "έκδοση", "κεφάλαιο", "sürüm", "bölüm", "şekil", "tablo", "versi", "bab", "verzija", "poglavlje", "poglavje",
))
"""Words before numbers with points that count nothing."""
_MONEY = frozenset((
    "aud", "brl", "cad", "chf", "cny", "czk", "dkk", "dollar", "dollars", "eur", "euro", "euros", "fr", "fr.", "gbp",
    "hkd", "huf", "inr", "jpy", "kr", "krw", "mxn", "nok", "pln", "rs", "rs.", "rub", "sek", "sgd", "try", "usd",
    "yen", "zar",
))
_UNITS = frozenset((
    "km", "m", "dm", "cm", "mm", "µm", "nm", "kg", "g", "mg", "t", "l", "ml", "cl", "dl", "h", "s", "ms", "min",
    "kb", "mb", "gb", "tb", "hz", "khz", "mhz", "ghz", "w", "kw", "mw", "gw", "kwh", "v", "kv", "mv", "a", "ma",
    "mah", "j", "kj", "kcal", "pa", "hpa", "bar", "px", "pt", "km/h", "m/s", "m²", "m³", "km²", "cm²", "cm³",
    "°", "°c", "°f", "%", "€", "$", "£",
))
# fmt: on
_PLAIN = {True: str.maketrans("", "", ","), False: str.maketrans(",", ".", ".")}
"""Changes of numbers to those of Python, if the decimal sign is a point, and if it is none."""
_RANGE = re.compile(r"(?<=\d)([-–])(?=\d)")


def is_version(number: str, before: str, names: bool = True) -> bool:
    """True for a number such as 3.11 after a name (Python 3.11) or a word such as *version* or *section*.

    Prices, such as EUR 3.50, and numbers at the beginning of a sentence are not versions.

    Args:
        names: capitalised words count; not where 1.234 may be a thousand and more of something.
    """
    name, letters = before.lower(), before.replace("-", "").replace(".", "").isalnum()
    named = names and letters and before[0].isupper() and name not in _MONEY
    return bool(_VERSION.fullmatch(number)) and (named or name in _NUMBERED)


class _Separators(NamedTuple):
    """Separators of a language."""

    decimals: str
    thousands: str
    """Empty where blanks separate thousands, which would split a word."""

    @classmethod
    def of(cls, code: str) -> Self | None:
        """The separators of a language; None if they are not known."""
        base = base_language(code)
        if _REGIONS.search(code) and base != "en":
            return None
        if base in _POINTS:
            return cls(".", ",")
        return cls(",", "." if base in _COMMAS else "") if base in _COMMAS | _BLANKS else None

    def pattern(self) -> re.Pattern[str]:
        """Numbers with separators: the digits of their groups, and the decimals.

        Three separators without decimals are those of an address of the Internet.
        """
        point, group = re.escape(self.decimals), re.escape(self.thousands)
        grouped = (
            rf"[1-9]\d{{0,2}}(?:{group}\d{{3}}){{1,2}}(?:{point}\d+)?|[1-9]\d{{0,2}}(?:{group}\d{{3}}){{3,}}{point}\d+"
        )
        plain = rf"\d+{point}\d+"
        return re.compile(f"[-+]?(?:{grouped}|{plain})" if self.thousands else f"[-+]?{plain}", re.ASCII)


class NumberFormats:
    """Numbers of a language as another language writes them.

    Args:
        source, target: separators.
    """

    def __init__(self, source: _Separators, target: _Separators):
        self._pattern, self._points = source.pattern(), source.decimals == "."
        self._changes = str.maketrans({source.decimals: target.decimals, source.thousands or "\0": target.thousands})

    @classmethod
    def of(cls, source: str, target: str) -> Self | None:
        """The formats of two languages by their codes; None if they are equal or not known."""
        pair = _Separators.of(source), _Separators.of(target)
        return None if pair[0] is None or pair[1] is None or pair[0] == pair[1] else cls(pair[0], pair[1])

    def converted(self, word: str, before: str = "") -> str:
        """The number in the target language, also with a unit or as a range; other words, and versions, stay.

        Args:
            before: the word before, after which the number may be a version, see ``is_version``.
        """
        end = next((k for k in range(len(word), 0, -1) if word[k - 1].isdecimal()), 0)
        number, unit = word[:end], word[end:]
        if not (self._is_range(number) or self._pattern.fullmatch(number)) or not self._is_unit(unit):
            return word
        if is_version(number, before, names=self._points and not unit):
            return word
        return number.translate(self._changes) + unit

    def _is_unit(self, unit: str) -> bool:
        """True for a unit or nothing; a letter after a point is rather a part of a name, as in *802.11a*."""
        return not unit or (unit.lower() in _UNITS and not (self._points and len(unit) == 1 and unit.isalpha()))

    def _is_range(self, word: str) -> bool:
        """True for two numbers with a dash that are no times, dates, pages or parts of a longer number."""
        parts = _RANGE.split(word)[::2]
        if len(parts) != 2 or not all(part.isdecimal() or self._pattern.fullmatch(part) for part in parts):
            return False
        if any(part[0] == "0" and part[1:2].isdecimal() for part in parts):
            return False
        marks = [{*part} & {".", ","} for part in parts]
        large = any("," in found if self._points else "." in found for found in marks)
        first, second = (float(part.translate(_PLAIN[self._points])) for part in parts)
        return first < second and (large or (all(marks) and not self._points))
