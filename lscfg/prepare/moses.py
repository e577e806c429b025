"""Moses' rules for words and punctuation of a language, from sacremoses, for all scripts and without loss."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lscfg.errors import InputError
from lscfg.prepare.characters import FLAG, JOINERS, TONES, chosen, marks, ranges
from lscfg.prepare.languages import ELISIONS, base_language, is_unspaced, rule_languages
from lscfg.prepare.spacing import Spacing, is_wide, without_marks
from lscfg.prepare.tokeniser import Tokeniser
from lscfg.prepare.words import LearntWords, learn_words
from lscfg.settings import Declared

# Words are not escaped as in Moses, because only whole words ||| and [X] have a meaning in lscfg's grammars, and
# moses_lscfg refuses an escaped corpus.
#
# sacremoses pads every character that Perl's old Unicode does not call alphabetic: combining marks, joiners, letters of
# new scripts. Moses' Perl script also keeps the colon in Finnish and Swedish words, the middle dot in Catalan ones, and
# splits Irish and Catalan elisions as French ones; sacremoses lacks these rules. MosesRules gives sacremoses patterns
# that know all of them.

_INNER = "\u055a\u055b\u055c\u055e\u058a\u05be\u05f3\u05f4\u0f0b\u2010\u2011\u066b\u066c"
"""Signs that are part of a word between two of its letters: Armenian, Hebrew and Tibetan signs, hyphens, separators of
digits in Arabic."""
# fmt: off
_APOSTROPHE_LETTERS = frozenset((
    "uk", "be", "rue", "br", "uz", "kaa", "so", "sw", "gn", "ay", "qu", "ha", "haw", "sm", "to", "ty", "mi", "nv",
    "vro", "ts", "tn", "rn", "rw", "ln", "lg", "ki", "tdt", "tet",
))
# fmt: on
"""Languages whose words contain apostrophes that separate nothing, as most of those without an ISO 639-1 code do."""


@cache
def _rules_class() -> type:
    """sacremoses' tokeniser, with sets made once."""
    from sacremoses import MosesTokenizer

    class Rules(MosesTokenizer):  # type: ignore[misc]
        """sacremoses' tokeniser; the original makes a set of 100,000 letters for each full stop."""

        LOWER, ALPHABETIC = frozenset(MosesTokenizer.IsLower), frozenset(MosesTokenizer.IsAlpha)

        def islower(self, text: str) -> bool:
            return self.LOWER.issuperset(text)

        def isanyalpha(self, text: str) -> bool:
            return not self.ALPHABETIC.isdisjoint(text)

    return Rules


@cache
def _letters() -> str:
    """Letters and digits that sacremoses knows, those of newer Unicode, combining marks and joiners."""
    from sacremoses import MosesTokenizer

    known = {ord(character) for character in MosesTokenizer.IsAlnum}
    new = chosen(lambda category: category[0] == "L" or category == "Nd")
    known.update(code for code in new if not is_wide(chr(code)))
    return ranges(sorted(known)) + marks() + JOINERS


def _open_rules(language: str, abbreviations: str) -> Any:
    """sacremoses' tokeniser of a language, with patterns for all scripts."""
    rules = _rules_class()(abbreviations or language)
    letters, inner, colon = _letters() + _extra_letters(rules), _INNER, ""
    rules.lang = "fr" if language in ELISIONS else language
    small = len(language) == 3 and not abbreviations
    if language in _APOSTROPHE_LETTERS or (small and language not in ELISIONS):
        inner += "’"
        rules.NON_SPECIFIC_APOSTROPHE = re.compile(f"'(?<![{letters}]')|'(?![{letters}])"), " ' "
    elif language == "mt":
        rules.NON_SPECIFIC_APOSTROPHE = re.compile("'"), _maltese
    elif language in ("fi", "sv"):
        colon = ":"
    elif language == "ca":
        colon = "·"
    kept = f"[{inner}](?<=[{letters}].)(?=[{letters}])"
    if colon:
        kept += f"|{colon}(?<=[{letters}].)(?=[{_small()}])"
    tail = rf"[{marks()}{TONES}]*"
    sign = rf"[{FLAG}]{{2}}|[^{letters}\s.'`,\-]{tail}(?:\u200d[^{letters}\s.'`,\-]{tail})*"
    rules.PAD_NOT_ISALNUM = re.compile(f"(?!{kept})({sign})"), r" \1 "
    return rules


def _maltese(found: re.Match[str]) -> str:
    """An apostrophe after a letter ends the word: ``ta' Malta``, ``x'inhu``."""
    return "' " if found.start() and found.string[found.start() - 1].isalpha() else " ' "


def _extra_letters(tokenizer: Any) -> str:
    """Ideographs, kana and Hangul where they are letters of the language."""
    return ranges(sorted(set(map(ord, tokenizer.IsAlnum)) - set(map(ord, type(tokenizer).IsAlnum))))


@cache
def _small() -> str:
    return ranges(chosen(lambda category: category == "Ll"))


def _abbreviations(language: str) -> str:
    """The language whose abbreviations are taken; empty if there are none for the language or a relative."""
    from sacremoses.corpus import NonbreakingPrefixes

    known = set(NonbreakingPrefixes().available_langs.values())
    return next((code for code in rule_languages(language) if code in known), "")


class MosesRules:
    """The tokeniser and the detokeniser of a language; English abbreviations for a language without specific ones."""

    def __init__(self, language: str):
        self._rules = _open_rules(base_language(language), _abbreviations(language))
        self._spacing = Spacing(language)

    def encode(self, line: str) -> list[str]:
        """The words of a clean line, with marks where ``decode`` could not infer the blanks."""
        line = " ".join(line.split())
        words: list[str] = self._rules.tokenize(line, escape=False)
        if "".join(words) != line.replace(" ", ""):  # the text contains a name that sacremoses uses itself
            words = line.split()
        return self._spacing.encode(words, line)

    def decode(self, words: list[str]) -> str:
        """The text; blanks next to quotation marks and the like are guessed unless a word is marked."""
        return self._spacing.decode(words)


_SAMPLE = 2000
"""Lines that are looked at for words that would split."""
_SPLIT = 0.01
"""Share of words beyond which the split words are warned of."""


def _refuse_unspaced(language: str) -> None:
    if is_unspaced(language):
        raise InputError(f"the tokeniser moses cannot split {language} into words; use spm, or split the words first")


class MosesTokeniser(Tokeniser[Declared]):
    """Moses' rules, as sacremoses has them."""

    HELP = "Moses' rules for words and punctuation (sacremoses)"
    VERSION = 2
    MARKED = True
    Settings = Declared

    def remark(self, language: str) -> str:
        """See ``Tokeniser.remark``."""
        _refuse_unspaced(language)
        rules = _abbreviations(language)
        if rules == base_language(language):
            return ""
        taken = f"those of the related language {rules}" if rules else "English ones and general rules for punctuation"
        return f"Moses knows no abbreviations of the language {language}; {taken} are used"

    def damage(self, language: str, lines: Sequence[str]) -> str:
        """See ``Tokeniser.damage``: words that split at a sign which the text shows to be a part of words."""
        if _abbreviations(language) == base_language(language):
            return ""
        lines = lines[:: max(1, len(lines) // _SAMPLE)]
        learnt, rules = LearntWords(learn_words(lines)), MosesRules(language)
        count, split = 0, []
        for line in lines:
            words = without_marks(" ".join(learnt.encode(line))).split()
            count += len(words)
            if with_sign := [word for word in words if len(word) > 1 and not word.isalnum() and word[0].isalpha()]:
                kept = set(without_marks(" ".join(rules.encode(line))).split())
                split += [word for word in with_sign if word not in kept]
        if len(split) < _SPLIT * count or not split:
            return ""
        return (
            f"moses splits {len(split) / count:.1%} of the words at signs, such as {split[0]};"
            ' tokeniser = "words" (--tokeniser words) keeps such words whole'
        )

    def open(self, language: str, settings: Declared, model: Path | None) -> MosesRules:
        """The tokeniser.

        Raises:
            InputError: sacremoses is missing, or the language has no blanks between words.
        """
        _refuse_unspaced(language)
        try:
            import sacremoses  # noqa: F401
        except ImportError as error:
            raise InputError("the tokeniser moses needs sacremoses: pip install 'lscfg[train]'") from error
        return MosesRules(language)
