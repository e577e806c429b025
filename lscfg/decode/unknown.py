"""Words without a translation: substitutes among the known words."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lscfg.functions.rows import FewRows
from lscfg.kernel import Forest, Grammar, GrammarLayer, X

# A word without a one-word rule borrows the rules of a known word: the same letters but for capitals and accents, else
# another ending of the same stem, else the most similar word. Endings come from the grammar itself: known words that
# share a stem, and how often their translations begin with equal letters. Equal translations would be too rare: of
# 1,500 words that occur once in the training text, 2 % (Spanish-Aymara) to 10 % (Spanish-Shipibo) have an aligned word
# in common with any known word of equal first letters. The word may still be copied; tuning weights the choices.

FORM, ENDING, SIMILAR = "form", "ending", "similar"
"""Kinds of substitutes."""
SUBSTITUTES = ("SubstituteForm", "SubstituteEnding", "SubstituteSimilar", "SubstituteSimilarity")
"""Features of a rule of a substitute: 1 by kind, and the logarithm of the similarity."""
START_WEIGHTS = {"SubstituteEnding": -1.2, "SubstituteSimilar": -2.5, "SubstituteSimilarity": 1.0}
"""Weights before tuning: a copied word keeps a name or a loan, so only a good substitute beats a copy."""
_NAMES = dict(zip((FORM, ENDING, SIMILAR), SUBSTITUTES, strict=False))

STEM = 4
"""Minimum letters that two forms of a word share; also the letters with which related translations begin."""
LONGEST_ENDING = 6
PRIOR_PAIRS = 5
"""Number of pairs of known words that the share of all changes of endings counts as, for each change."""
LEAST_SHARE = 0.1
"""Minimum share of the pairs with a change of endings that have related translations, times the share of equal letters
at the beginning."""
LEAST_SIMILARITY = 0.5
"""Minimum cosine of the character n-grams of a similar word."""
ORDERS = (2, 3, 4)
"""Lengths of these n-grams."""
MOST_WORDS, MOST_TARGETS = 3, 5
"""Maximum substitutes of a word, and translations of a substitute, the most probable ones."""
MOST_FOUND = 1 << 16
"""Maximum number of words whose borrowed rules are kept; a full cache is emptied."""
_MOST_FAMILY = 60
"""Maximum words of one stem that are compared; more indicate no family."""
_MOST_COMMON = 2000
"""Maximum number of known words with an n-gram; more frequent n-grams are ignored."""


class Substitute(NamedTuple):
    """A known word instead of an unknown one."""

    word: str
    kind: str
    similarity: float
    """Above 0, at most 1."""


class BorrowedRule(NamedTuple):
    """A translation of a substitute, for the unknown word."""

    rule: int
    """Number of the substitute's rule in the grammar."""
    target: tuple[int, ...]
    substitute: Substitute


class SubstituteFinder:
    """Finds known words that may replace an unknown one.

    Args:
        translations: the words of the translations of each known word.
    """

    def __init__(self, translations: Mapping[str, Iterable[str]]):
        self._by_form: dict[str, list[str]] = defaultdict(list)
        beginnings: dict[str, set[str]] = defaultdict(set)
        for word in sorted(word for word in translations if _is_word(word)):
            form = plain_form(word)
            self._by_form[form].append(word)
            beginnings[form].update(one[:STEM].lower() for one in translations[word] if len(one) >= STEM)
        self._families: dict[str, list[str]] = defaultdict(list)
        for form in self._by_form:
            if len(form) >= STEM:
                self._families[form[:STEM]].append(form)
        self._usual, self._endings = _learn_endings(self._families.values(), beginnings)
        self._grams = {form: _ngrams(form) for form in self._by_form}
        self._with_gram: dict[str, list[str]] = defaultdict(list)
        for form, grams in self._grams.items():
            for gram in grams:
                self._with_gram[gram].append(form)
        total = len(self._grams) + 1
        self._rarity = {gram: math.log(total / len(forms)) for gram, forms in self._with_gram.items()}
        self._unseen = math.log(total)
        self._norms = {form: self._norm(grams) for form, grams in self._grams.items()}

    def find(self, word: str) -> list[Substitute]:
        """The substitutes of an unknown word, the best first; none if the word is a number or a sign."""
        if not _is_word(word):
            return []
        form = plain_form(word)
        if form in self._by_form:
            return [Substitute(known, FORM, 1.0) for known in self._by_form[form][:MOST_WORDS]]
        found: dict[str, Substitute] = {}
        for substitutes in (self._by_ending(form), self._similar(form)):
            for one in sorted(substitutes, key=lambda one: (-one.similarity, one.word)):
                found.setdefault(one.word, one)
        return [*found.values()][:MOST_WORDS]

    def _by_ending(self, form: str) -> Iterable[Substitute]:
        for other in self._families.get(form[:STEM], ()):
            endings = _endings(form, other)
            if endings is None:
                continue
            pairs, related = self._endings.get(endings, (0, 0))
            share = (related + PRIOR_PAIRS * self._usual) / (pairs + PRIOR_PAIRS)
            share *= (len(form) - len(endings[0])) / max(len(form), len(other))
            if share >= LEAST_SHARE:
                yield from (Substitute(known, ENDING, share) for known in self._by_form[other])

    def _similar(self, form: str) -> Iterable[Substitute]:
        grams = _ngrams(form)
        products = Counter[str]()
        for gram in grams:
            forms = self._with_gram.get(gram, ())
            if len(forms) <= _MOST_COMMON:
                for other in forms:
                    products[other] += self._rarity[gram] ** 2  # type: ignore[assignment]
        norm = self._norm(grams)
        near = [(product / (norm * self._norms[other]), other) for other, product in products.items()]
        ranked = sorted(((c, other) for c, other in near if c >= LEAST_SIMILARITY), key=lambda one: (-one[0], one[1]))
        return [
            Substitute(known, SIMILAR, min(1.0, cosine))
            for cosine, other in ranked[:MOST_WORDS]
            for known in self._by_form[other]
        ]

    def _norm(self, grams: Iterable[str]) -> float:
        return math.sqrt(sum(self._rarity.get(gram, self._unseen) ** 2 for gram in grams)) or 1.0


class UnknownWords:
    """Rules for words without a one-word rule.

    Args:
        grammar: a finished grammar.
        cost: cost of a rule as a translation; lower is better.
    """

    def __init__(self, grammar: Grammar, cost: Callable[[int], float]):
        self._grammar = grammar
        rules: dict[int, list[int]] = defaultdict(list)
        for rule in range(len(grammar)):
            source = grammar.src(rule)
            if len(source) == 1 and source[0] >= 0 and grammar.lhs(rule) == X:
                rules[source[0]].append(rule)
        word = grammar.vocab.word
        self._rules = {word(number): sorted(own, key=lambda rule: (cost(rule), rule)) for number, own in rules.items()}
        targets = {
            known: [word(one) for rule in own[:MOST_TARGETS] for one in grammar.tgt(rule) if one >= 0]
            for known, own in self._rules.items()
        }
        self._finder = SubstituteFinder(targets)
        self._found: dict[str, list[BorrowedRule]] = {}

    def rules(self, word: str) -> list[BorrowedRule]:
        """The rules that a word borrows; none if the grammar translates the word."""
        found = self._found.get(word)
        if found is None:
            if len(self._found) >= MOST_FOUND:
                self._found.clear()
            found = self._found[word] = [] if word in self._rules else self._borrowed(word)
        return found

    def _borrowed(self, word: str) -> list[BorrowedRule]:
        found: dict[tuple[int, ...], BorrowedRule] = {}
        for one in self._finder.find(word):
            for rule in self._rules[one.word][:MOST_TARGETS]:
                target = tuple(self._grammar.tgt(rule))
                found.setdefault(target, BorrowedRule(rule, target, one))
        return [*found.values()]

    def knows_substitutes(self, words: np.ndarray) -> bool:
        """True if a word of a sentence borrows rules."""
        return any(self.rules(self._grammar.vocab.word(number)) for number in words.tolist())

    def add_rules(self, layer: GrammarLayer, words: np.ndarray) -> dict[int, BorrowedRule]:
        """Adds the borrowed rules of the words of a sentence to an unfinished layer; returns them by their numbers."""
        found = {}
        for number in dict.fromkeys(words.tolist()):
            for one in self.rules(self._grammar.vocab.word(number)):
                found[layer.add(X, [number], one.target)] = one
        return found


def borrowed_features(forest: Forest, borrowed: Mapping[int, BorrowedRule], apps: Sequence[int]) -> FewRows:
    """``SUBSTITUTES`` of applications of borrowed rules, ascending.

    Args:
        borrowed: by the number of their rule in the layer of the forest.
    """
    values = np.zeros((len(apps), len(SUBSTITUTES)))
    for row, app in zip(values, apps, strict=True):
        substitute = borrowed[int(forest.app_rule[app])].substitute
        row[SUBSTITUTES.index(_NAMES[substitute.kind])] = 1.0
        row[-1] = math.log(substitute.similarity)
    return FewRows(SUBSTITUTES, np.array(apps, np.int64), values)


def plain_form(word: str) -> str:
    """The word without capitals and accents."""
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _is_word(word: str) -> bool:
    return _LETTERS.search(word) is not None and _DIGIT.search(word) is None


_LETTERS, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")


def _endings(one: str, other: str) -> tuple[str, str] | None:
    """The endings after the common letters of two forms; None if they are equal, too long, or share no stem."""
    shorter, common = min(len(one), len(other)), 0
    while common < shorter and one[common] == other[common]:
        common += 1
    endings = one[common:], other[common:]
    return None if one == other or common < STEM or max(map(len, endings)) > LONGEST_ENDING else endings


def _learn_endings(
    families: Iterable[Sequence[str]], beginnings: Mapping[str, set[str]]
) -> tuple[float, dict[tuple[str, str], tuple[int, int]]]:
    """Counts changes of endings between known forms whose translations are known.

    Args:
        families: forms with equal first letters.
        beginnings: the first letters of the translations of each form.

    Returns:
        The share of all pairs whose translations are related, and by endings the numbers of pairs and of related ones.
    """
    pairs, related = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for family in families:
        known = [form for form in family if beginnings[form]]
        if len(known) > _MOST_FAMILY:
            continue
        for one in known:
            for other in known:
                endings = _endings(one, other)
                if endings is not None:
                    pairs[endings] += 1
                    related[endings] += not beginnings[one].isdisjoint(beginnings[other])
    usual = related.total() / max(1, pairs.total())
    return usual, {endings: (count, related[endings]) for endings, count in pairs.items()}


def _ngrams(form: str) -> list[str]:
    """The distinct n-grams, in an order that repeats, as sums of floats depend on it."""
    text = f"<{form}>"
    return [*dict.fromkeys(text[i : i + n] for n in ORDERS for i in range(len(text) - n + 1))]
