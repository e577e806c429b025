"""Forms of romanised Japanese verbs and adjectives, for the demo corpus.

The last word of a phrase is inflected. A verb is written as its stem before -masu and, after a slash, the stem before
-te and -ta if it differs: ``tabe``, ``kai/kat``. A final ``-`` means de and da: ``nomi/non-``. An
adjective is written without its -i.
"""

from collections.abc import Sequence

FORMS = ("masu", "te", "ta", "i", "ku", "katta")


def formed(words: list[str], form: str, owner: Sequence[str] = ()) -> list[str]:
    """The phrase in one of ``FORMS``: a verb's stem (``masu``), with te or ta, an adjective with its ending."""
    *before, last = words
    if form in ("i", "ku", "katta"):
        return [*before, last + form]
    first, _, second = last.partition("/")
    if form == "masu":
        return [*before, first]
    stem = second or first
    return [*before, stem.removesuffix("-"), form.replace("t", "d") if stem.endswith("-") else form]
