"""English word forms: plurals, agreement, conjugation and contractions, as far as the demo corpus needs them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from lscfg.demo.features import Features, words

PRONOUNS = {
    # subject: object, possessive, reflexive
    "i": "me my myself",
    "you": "you your yourself",
    "he": "him his himself",
    "she": "her her herself",
    "it": "it its itself",
    "we": "us our ourselves",
    "they": "them their themselves",
}
_AGREEING = {
    "the": "the",
    "a": "some",
    "this": "these",
    "that": "those",
    "another": "some more",
}
_PLURALS = {
    "knife": "knives",
    "scarf": "scarves",
}

# Past and participle (where it differs) of the verbs that do not just take -ed.
_IRREGULAR = {
    forms.split("/")[0]: forms.split("/")[1:]
    for forms in words(
        "be/was/been have/had do/did/done go/went/gone take/took/taken get/got see/saw/seen eat/ate/eaten "
        "drink/drank/drunk buy/bought lose/lost leave/left find/found meet/met forget/forgot/forgotten "
        "break/broke/broken steal/stole/stolen send/sent spend/spent put/put pay/paid wear/wore/worn "
        "bring/brought give/gave/given swim/swam/swum ride/rode/ridden speak/spoke/spoken sleep/slept "
        "come/came/come know/knew/known say/said tell/told think/thought feel/felt fall/fell/fallen cut/cut "
        "hurt/hurt begin/began/begun catch/caught read/read hear/heard write/wrote/written sit/sat run/ran/run "
        "drive/drove/driven make/made fly/flew/flown wake/woke/woken lend/lent let/let keep/kept rise/rose/risen "
        "sell/sold build/built burn/burnt hit/hit learn/learned choose/chose/chosen withdraw/withdrew/withdrawn "
        "set/set cost/cost sing/sang/sung"
    )
}
_DOUBLING = frozenset(words("swim get sit run stop plan shop put let cut forget hit travel begin cancel prefer set"))
_BE = {"i": ("am", "was"), "he": ("is", "was"), "she": ("is", "was"), "it": ("is", "was")}

_COMPARATIVES = {"good": "better", "bad": "worse", "far": "farther", "quiet": "quieter", "big": "bigger"}
_COMPARATIVES |= {"hot": "hotter", "thin": "thinner", "simple": "simpler"}
_SUPERLATIVES = {"good": "best", "bad": "worst"}
_LONG = frozenset(words("modern recent central"))

# Spoken contractions of subject and auxiliary; they need a word after them ("yes , i am .").
_CONTRACTIONS = {
    ("i", "am"): "'m",
    ("it", "is"): "'s",
    ("he", "is"): "'s",
    ("she", "is"): "'s",
    ("that", "is"): "'s",
    ("there", "is"): "'s",
    ("what", "is"): "'s",
    ("where", "is"): "'s",
    ("you", "are"): "'re",
    ("we", "are"): "'re",
    ("they", "are"): "'re",
    ("i", "would"): "'d",
    ("we", "would"): "'d",
    ("i", "will"): "'ll",
    ("we", "will"): "'ll",
    ("it", "will"): "'ll",
    ("he", "will"): "'ll",
    ("she", "will"): "'ll",
    ("they", "will"): "'ll",
}
_SPELT_VOWEL_SPOKEN_CONSONANT = ("uni", "use", "usu", "eu", "one", "once", "ur")


@cache
def plural(word: str) -> str:
    """The plural of a noun."""
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith(("s", "x", "ch", "sh")) or word in ("potato", "tomato"):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def noun(word: str, features: Features) -> str:
    """The noun in the number asked for; nouns that have only a plural are written as one in the lexicon."""
    return plural(word) if features.number == "p" else word


def adjective(word: str, form: str, features: Features) -> str:
    """The adjective, or its comparative (``er``) or superlative (``est``)."""
    return compare(word, form) if form else word


@cache
def compare(word: str, form: str) -> str:
    """quiet: quieter, quietest; comfortable: more comfortable, most comfortable."""
    special = {"er": _COMPARATIVES, "est": _SUPERLATIVES | {w: c[:-1] + "st" for w, c in _COMPARATIVES.items()}}[form]
    if word in ("good", "bad"):
        return (_COMPARATIVES if form == "er" else _SUPERLATIVES)[word]
    if word in special:
        return special[word]
    if " " in word or word in _LONG or (not word.endswith("y") and sum(letter in "aeiouy" for letter in word[:-1]) > 2):
        return {"er": "more ", "est": "most "}[form] + word
    if word.endswith("y"):
        return word[:-1] + "i" + form
    return word + (form[1:] if word.endswith("e") else form)


def agree(word: str, features: Features, owner: Features | None = None) -> str:
    """A pronoun or determiner that agrees: ``i``, ``me``, ``my``, ``myself`` of any person, it/them, this/these ..."""
    of = owner or features
    objective, possessive, reflexive = PRONOUNS[of.pronoun].split()
    special = {"i": of.pronoun, "me": objective, "it": objective, "my": possessive, "myself": reflexive}
    if word in special:
        return special[word]
    if word in _AGREEING:
        return _AGREEING[word] if features.number == "p" else word
    raise ValueError(f"{word!r} does not agree with anything in English")


@cache
def conjugate(lemma: str, form: str, subject: str) -> str:
    """A form of a verb for a subject pronoun: ``base``, ``ing``, ``part``, ``pres`` or ``past``."""
    if form in ("", "base"):
        return lemma
    if form == "ing":
        if lemma in _DOUBLING:
            return lemma + lemma[-1] + "ing"
        return (lemma[:-1] if lemma.endswith("e") and lemma not in ("be", "see") else lemma) + "ing"
    if form == "pres":
        if lemma == "be":
            return _BE.get(subject, ("are", "were"))[0]
        if subject not in ("he", "she", "it"):
            return lemma
        return "has" if lemma == "have" else "goes" if lemma == "go" else "does" if lemma == "do" else plural(lemma)
    if form not in ("past", "part"):
        raise ValueError(f"no English verb form {form!r}")
    if lemma == "be" and form == "past":
        return _BE.get(subject, ("are", "were"))[1]
    if lemma in _IRREGULAR:
        return _IRREGULAR[lemma][0 if form == "past" else -1]
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if lemma in _DOUBLING else "") + "ed"


def verb(word: str, form: str, features: Features) -> str:
    """The verb form for a subject; ``perf`` is the present perfect, contracted after a pronoun ('ve lost)."""
    if form != "perf":
        return conjugate(word, form, features.pronoun)
    third = features.pronoun in ("he", "she", "it")
    have = ("'s" if third else "'ve") if features.is_pronoun else ("has" if third else "have")
    return f"{have} {conjugate(word, 'part', features.pronoun)}"


def polish(sentence: list[str], contract: float) -> list[str]:
    """Applies what depends on the next word: "an" before a vowel sound and, if ``contract`` is below 0.8, i 'm ..."""
    out = list(sentence)
    for at, (word, after) in enumerate(pairwise(sentence)):
        if word == "a" and begins_with_vowel_sound(after):
            out[at] = "an"
        elif at and contract < 0.8 and after[0].isalpha():
            short = _CONTRACTIONS.get((sentence[at - 1], word))
            if short and (contract < 0.4 or sentence[at - 1] not in ("where", "what")):
                out[at] = short
    return out


def begins_with_vowel_sound(word: str) -> bool:
    """Whether the indefinite article before the word is "an"."""
    if word.startswith(("hour", "honest", "x-")):
        return True
    return word[0] in "aeiou" and not word.startswith(_SPELT_VOWEL_SPOKEN_CONSONANT)


_UNITS = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")


def number(n: int) -> str:
    """A number up to 999 in words."""
    if n < 20:
        return _UNITS[n]
    if n < 100:
        tens, units = divmod(n, 10)
        return _TENS[tens - 2] + (f"-{_UNITS[units]}" if units else "")
    hundreds, rest = divmod(n, 100)
    return f"{_UNITS[hundreds]} hundred" + (f" and {number(rest)}" if rest else "")
