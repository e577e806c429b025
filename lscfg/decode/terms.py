"""Terms: words of the source whose translation is given, and the part of a forest that obeys them.

A hard term holds wherever its words occur. A rule may translate an occurrence together with other words, if its target
side contains an allowed form; a rule that splits the occurrence is left out. A soft term adds a rule, and
adds the feature ``Terminology`` to every rule that a hard term would accept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.kernel import REST, Forest, Grammar
from lscfg.later import later

if TYPE_CHECKING:
    from lscfg.markup import document
    from lscfg.prepare import pieces as piece
    from lscfg.prepare import stems
else:
    document = later("lscfg.markup.document")
    piece = later("lscfg.prepare.pieces")
    stems = later("lscfg.prepare.stems")

MOST_WORDS = 200
"""Maximum words or pieces of a source; those of an address, in pieces, are many."""
MOST_FORMS = 16
MODES, MATCHES, FORMS = ("hard", "soft", "keep"), ("exact", "nocase", "stem"), ("listed", "auto")
EACH_FORM = "use exact or nocase, with a term for each form"
"""The cure where no stems can be compared."""


@dataclass(frozen=True)
class Term:
    """An entry of a glossary.

    Raises:
        InputError: a side is empty or too long, or mode or match are unknown.
    """

    source: str
    """Words, separated by blanks."""
    targets: tuple[str, ...]
    """Allowed translations."""
    mode: str = "hard"
    """``hard``: obeyed at each occurrence; ``soft``: preferred by the weight of Terminology; ``keep``: hard, translated
    by the words themselves."""
    match: str = "exact"
    """``exact``; ``nocase`` to ignore upper and lower case; ``stem`` to ignore case and endings, word by word."""
    language: str = ""
    """Code of the source's language, for ``stem``; preparation sets the code."""
    forms: str = "listed"
    """``listed``: the targets only; ``auto``: also their inflected forms, which preparation adds."""
    head: int = 0
    """Position of the word of each target that inflects, from 1; 0: the last word."""
    text: str = ""
    """Raw text that a kept term leaves unchanged in a sentence; preparation sets the text."""

    def __post_init__(self) -> None:
        choices = ("mode", self.mode, MODES), ("match", self.match, MATCHES), ("forms", self.forms, FORMS)
        for name, value, known in choices:
            if value not in known:
                raise InputError(f"{name} {quote(value)} is unknown; use {' or '.join(known)}")
        if not self.source.split():
            raise InputError("the source of a term is empty; give at least one word")
        if len(self.source.split()) > MOST_WORDS:
            raise InputError(
                f"the source of a term has {len(self.source.split())} words; at most {MOST_WORDS} are used"
            )
        if self.mode == "keep" and self.targets:
            raise InputError(
                f"the term {quote(self.source)} is kept and takes no target; remove the target or the mode"
            )
        if self.forms == "auto" and self.mode == "keep":
            raise InputError(f"the term {quote(self.source)} is kept and has no forms; remove the forms or the mode")
        if self.head and self.forms != "auto":
            raise InputError(f"the term {quote(self.source)} has a head, which only forms auto uses; remove the head")
        if self.mode != "keep" and not [target for target in self.targets if target.split()]:
            raise InputError(f"the term {quote(self.source)} has no target; give one, or the mode keep")
        if len(self.targets) > MOST_FORMS:
            raise InputError(f"the term {quote(self.source)} has {len(self.targets)} targets; at most {MOST_FORMS}")


class ChosenSpan(NamedTuple):
    """A translation chosen for a span of one sentence."""

    span: tuple[int, int]
    """Source words [i, j)."""
    target: str


class Occurrence(NamedTuple):
    """A term in a sentence."""

    span: tuple[int, int]
    forms: tuple[str, ...]
    """Allowed translations."""
    hard: bool
    bare: bool = False
    """True if no rule but that of the whole term may cover its words; the term is hard, too."""
    values: tuple[float, ...] = ()
    """Values of Terminology for the rule of each form of a soft term; empty: 1 for each rule that would obey it."""
    text: str = ""
    """Raw text of a kept term; a correction obeys the term if the correction contains this text."""


class UsedTerm(NamedTuple):
    """A hard term in a translation."""

    source: tuple[int, int]
    target: tuple[int, int]
    """Words [i, j) of both sides."""
    form: str


class Overlap(NamedTuple):
    """A term in a sentence that a better occurrence overlaps, so that the term does not count there."""

    term: int
    """Number of the term, as in ``FoundTerms.numbers``."""
    span: tuple[int, int]
    winner: tuple[int, int]
    """Source words [i, j) of the better occurrence."""


class FoundTerms(NamedTuple):
    """Terms in a sentence."""

    occurrences: tuple[Occurrence, ...] = ()
    """Without overlaps, in the order of the sentence."""
    numbers: tuple[int, ...] = ()
    """Number of each occurrence's term in its index; -1 for a choice."""
    overlaps: tuple[Overlap, ...] = ()
    """Further occurrences, the longest first, then the leftmost."""


NO_TERMS = FoundTerms()


def inside_word(pieces: Sequence[str], span: tuple[int, int], subwords: bool = True) -> bool:
    """True if a span of pieces begins or ends within a longer word; scripts without blanks have no such words.

    Args:
        subwords: True for pieces of a tokeniser; False for words and pieces, of which those that continue a word begin
            with ``MARK``.
    """
    return any(
        0 < k < len(pieces)
        and (document.one_word(pieces[k - 1][-1:] + pieces[k][:1]) if subwords else pieces[k].startswith(piece.MARK))
        for k in span
    )


_ONE_I = str.maketrans("İı", "ii")  # Turkish and Azeri pair these with letters that others pair differently
_CAPITALS = "capitals"
"""A way in which ``nocase`` matches: in capitals, where ``STRASSE`` is ``Straße``."""


def without_case(text: str) -> str:
    """The text without case; words are equal that differ in capitals, and also ``Maße`` and ``Masse``."""
    return text.translate(_ONE_I).casefold()


class WordMatch(NamedTuple):
    """A way in which the source of a term equals words of a sentence."""

    match: str
    language: str = ""

    @classmethod
    def of(cls, term: Term) -> WordMatch:
        """That of a term.

        Raises:
            InputError: stems of an unknown language.
        """
        if term.match != "stem":
            return cls(term.match)
        if not term.language:
            raise InputError(f"the term {quote(term.source)}: stems need the language of the source; {EACH_FORM}")
        return cls(term.match, term.language)

    def rank(self) -> tuple[int, str]:
        """The order in which ways count, the narrowest first."""
        return ("exact", "nocase", _CAPITALS, "stem").index(self.match), self.language

    def keys(self, words: Iterable[str]) -> tuple[str, ...]:
        """The words, their small letters, their capitals or their stems, whichever are compared.

        Raises:
            InputError: the language has no stemmer.
        """
        if self.match == "stem":
            return tuple(stems.word_stem(self.language, word) for word in words)
        if self.match == _CAPITALS:
            return tuple(word.upper() for word in words)
        return tuple(map(_small, words)) if self.match == "nocase" else tuple(words)


def _small(word: str) -> str:
    return word.replace("İ", "i").lower()


def _differ_in_case(one: str, other: str) -> bool:
    """True for words with equal capitals, unless both are in small letters where they differ, as Maße and Masse."""
    if _small(one) == _small(other) or one.isupper() or other.isupper():
        return True
    first = one[:1].upper() == other[:1].upper() and (one[:1].isupper() or other[:1].isupper())
    return first and _small(one[1:]) == _small(other[1:])


class TermIndex:
    """A glossary, by the words of its sources.

    Args:
        terms: of equal sources ``exact`` counts before ``nocase``, ``nocase`` before ``stem``, then the first term.
        subwords: words are pieces of words; a term that ends or begins within a longer word does not occur there.

    Raises:
        InputError: a term needs stems, and its language is unknown or has no stemmer; a term still lacks its forms.
    """

    def __init__(self, terms: Iterable[Term] = (), subwords: bool = False):
        self.terms, self._subwords = tuple(terms), subwords
        tables: dict[WordMatch, dict[tuple[str, ...], int]] = {}
        for number, term in enumerate(self.terms):
            if term.forms == "auto":
                raise InputError(f"the term {quote(term.source)}: forms auto needs a system that prepares raw text")
            way = WordMatch.of(term)
            for one in (way, WordMatch(_CAPITALS)) if way.match == "nocase" else (way,):
                tables.setdefault(one, {}).setdefault(one.keys(term.source.split()), number)
        tables = {way: tables[way] for way in sorted(tables, key=WordMatch.rank)}
        self._tables = [(0, tables)]  # each with the number of its first term
        self._lengths = sorted({len(source) for table in tables.values() for source in table}, reverse=True)

    def before(self, other: TermIndex) -> TermIndex:
        """The terms of both, those of this index first; of equal sources the first counts."""
        made = TermIndex((), self._subwords or other._subwords)
        made.terms = self.terms + other.terms
        made._tables = self._tables + [(n + len(self.terms), tables) for n, tables in other._tables]
        made._lengths = sorted({*self._lengths, *other._lengths}, reverse=True)
        return made

    def _number(self, words: Sequence[str], keys: Mapping[WordMatch, tuple[str, ...]], span: tuple[int, int]) -> int:
        """The term of a span of a sentence, -1 if there is none; ``keys``: the words in each way."""
        for first, tables in self._tables:
            for way, table in tables.items():  # the narrowest first
                number = table.get(keys[way][slice(*span)])
                if number is None:
                    continue
                own = self.terms[first + number].source
                if way.match != _CAPITALS or all(map(_differ_in_case, own.split(), words[slice(*span)])):
                    return first + number
        return -1

    def find(
        self, words: Sequence[str], choices: Iterable[ChosenSpan] = (), marked: Iterable[Occurrence] = ()
    ) -> FoundTerms:
        """The terms in a sentence: choices and marked spans first, then the longest, then the leftmost.

        Args:
            marked: spans of the sentence, whose translations the sentence itself gives, without overlaps.

        Raises:
            InputError: a choice is not a span of the sentence, or has no target.
        """
        found: list[tuple[Occurrence, int]] = [(one, -1) for one in marked]
        owner: list[tuple[int, int] | None] = [None] * len(words)  # of each word, the occurrence that counts
        for one, _ in found:
            owner[slice(*one.span)] = [one.span] * (one.span[1] - one.span[0])
        for span, target in choices:
            if not 0 <= span[0] < span[1] <= len(words):
                raise InputError(f"the choice {[*span]} is not a span of the sentence's {len(words)} words")
            if not target.split():
                raise InputError(f"the choice {[*span]} has no target; give at least one word")
            if other := next(filter(None, owner[slice(*span)]), None):
                raise InputError(f"the choices {[*other]} and {[*span]} overlap; leave one out")
            span = (span[0], span[1])
            owner[slice(*span)] = [span] * (span[1] - span[0])
            found.append((Occurrence(span, (" ".join(target.split()),), True), -1))
        overlaps: list[Overlap] = []
        keys = {way: way.keys(words) for _, tables in self._tables for way in tables}
        for length in self._lengths:
            for i in range(len(words) - length + 1):
                span = (i, i + length)
                number = self._number(words, keys, span)
                if number < 0 or inside_word(words, span, self._subwords):
                    continue
                if winner := next(filter(None, owner[slice(*span)]), None):
                    overlaps.append(Overlap(number, span, winner))
                    continue
                owner[slice(*span)] = [span] * length
                term = self.terms[number]
                kept = " ".join(words[slice(*span)])
                forms = [kept] if term.mode == "keep" else [" ".join(t.split()) for t in term.targets if t.split()]
                hard = term.mode != "soft"
                found.append((Occurrence(span, tuple(dict.fromkeys(forms)), hard, text=term.text), number))
        found.sort()
        return FoundTerms(tuple(one for one, _ in found), tuple(number for _, number in found), tuple(overlaps))


def find_terms(
    words: Sequence[str],
    terms: Iterable[Term],
    choices: Iterable[ChosenSpan] = (),
    marked: Iterable[Occurrence] = (),
) -> tuple[Occurrence, ...]:
    """The occurrences of terms in one sentence; see ``TermIndex.find``."""
    return TermIndex(terms).find(words, choices, marked).occurrences


def obeying(forest: Forest, grammar: Grammar, occurrences: Sequence[Occurrence]) -> np.ndarray:
    """Applications that obey the hard terms, bool [n_apps].

    Args:
        forest: of a sentence, parsed with the forms as rules.
        grammar: of the forest, or its layer.
        occurrences: without overlaps; soft ones are ignored.
    """
    keep, owners = owned_terms(forest, [occurrence for occurrence in occurrences if occurrence.hard])
    apps: np.ndarray = keep[forest.app_edge]
    for edge, own in owners.items():
        spans = [one.span for one in own if one.bare]
        alone = spans in ([], [tuple(forest.node_span[forest.edge_head[edge]].tolist())])
        for app in range(int(forest.edge_apps[edge]), int(forest.edge_apps[edge + 1])):
            target = target_words(forest, grammar, app)
            if spans:
                apps[app] &= alone and " ".join(target) in own[0].forms
            apps[app] &= form_places(target, [[form.split() for form in one.forms] for one in own]) is not None
    return apps


def soft_terms_in(forest: Forest, grammar: Grammar, occurrences: Sequence[Occurrence]) -> dict[int, int]:
    """Number of soft terms that an application itself translates by an allowed form, where there are some.

    Args:
        forest: of a sentence, parsed with the forms as rules.
        grammar: of the forest, or its layer.
        occurrences: without overlaps; hard ones, and soft ones with values for their forms, are ignored.
    """
    found: Counter[int] = Counter()
    for occurrence in occurrences:
        if occurrence.hard or occurrence.values:
            continue
        forms = [form.split() for form in occurrence.forms]
        for edge in owned_terms(forest, [occurrence])[1]:
            for app in range(int(forest.edge_apps[edge]), int(forest.edge_apps[edge + 1])):
                found[app] += form_places(target_words(forest, grammar, app), [forms]) is not None
    return {app: count for app, count in sorted(found.items()) if count}


def owned_terms(forest: Forest, hard: Sequence[Occurrence]) -> tuple[np.ndarray, dict[int, list[Occurrence]]]:
    """Edges that split no term, bool [n_edges], and the terms that the rules of an edge themselves cover."""
    keep = np.ones(forest.n_edges, bool)
    owners: dict[int, list[Occurrence]] = {}
    begin, end = forest.node_span[forest.edge_head].T
    rest = forest.node_cat[forest.edge_head] == REST
    for occurrence in hard:
        a, b = occurrence.span
        for edge in np.flatnonzero((begin < b) & (end > a) & ~rest).tolist():
            tails = [forest.node_span[tail].tolist() for tail in forest.tails(edge)]
            if any(i <= a and b <= j for i, j in tails):
                continue
            if begin[edge] <= a and b <= end[edge] and all(j <= a or b <= i for i, j in tails):
                owners.setdefault(edge, []).append(occurrence)
            else:
                keep[edge] = False
    return keep, {edge: own for edge, own in owners.items() if keep[edge]}


def target_words(forest: Forest, grammar: Grammar, app: int) -> list[str]:
    """The target side of an application, nonterminals as empty texts."""
    rule = int(forest.app_rule[app])
    first = len(grammar)
    try:
        symbols = grammar.tgt(rule)
    except IndexError:  # an extra rule: glue has no words, and another one passes its word through
        head = int(forest.edge_head[forest.app_edge[app]])
        glue = forest.tails(int(forest.app_edge[app]))
        symbols = [-1] * len(glue) if glue or rule < first else [int(forest.words[forest.node_span[head, 0]])]
    return [grammar.vocab.word(symbol) if symbol >= 0 else "" for symbol in symbols]


def form_places(
    target: Sequence[str], wanted: Sequence[Sequence[Sequence[str]]]
) -> tuple[tuple[int, Sequence[str]], ...] | None:
    """A place and a form in the target side for each term, without overlaps; None if there are none.

    Args:
        target: words, and empty texts where no form can be.
        wanted: the forms of each term, in words.
    """
    places = [
        [(i, form) for form in forms for i in range(len(target)) if [*target[i : i + len(form)]] == [*form]]
        for forms in wanted
    ]

    def place(number: int, taken: frozenset[int]) -> tuple[tuple[int, Sequence[str]], ...] | None:
        if number == len(places):
            return ()
        free = [[one for one in own if taken.isdisjoint(_positions(*one))] for own in places[number:]]
        if not _have_representatives([[i for i, _ in own] for own in free]):
            return None
        for i, form in free[0]:
            if (rest := place(number + 1, taken.union(_positions(i, form)))) is not None:
                return ((i, form), *rest)
        return None

    return place(0, frozenset())


def _positions(begin: int, form: Sequence[str]) -> range:
    return range(begin, begin + len(form))


def _have_representatives(sets: Sequence[Sequence[int]]) -> bool:
    """True if each set can give a member that no other set gives (Hall 1935), by augmenting paths.

    Without this test, the search for places tries all orders of equal terms.
    """
    giver: dict[int, int] = {}  # the set that gives a member

    def give(number: int, tried: set[int]) -> bool:
        for member in sorted(sets[number], key=giver.__contains__):  # first those that no set gives
            if member not in tried:
                tried.add(member)
                if member not in giver or give(giver[member], tried):
                    giver[member] = number
                    return True
        return False

    return all(give(number, set()) for number in range(len(sets)))


def used_terms(
    rules: Iterable[tuple[Sequence[int], Sequence[int]]], words: Sequence[str], occurrences: Iterable[Occurrence]
) -> tuple[UsedTerm, ...]:
    """Places of the hard terms in a translation, in the order of the source.

    Args:
        rules: positions of the source words and of the target words of each rule of the derivation.
        words: of the translation.
    """
    hard = [occurrence for occurrence in occurrences if occurrence.hard]
    found: list[UsedTerm] = []
    for source, target in rules:
        own = [occurrence for occurrence in hard if occurrence.span[0] in source]
        if not own:
            continue
        side, at = [""] * (max(target, default=-1) + 1), {*target}
        for position in at:
            side[position] = words[position]
        places = form_places(side, [[form.split() for form in one.forms] for one in own]) or ()
        for occurrence, (i, form) in zip(own, places, strict=False):
            found.append(UsedTerm(occurrence.span, (i, i + len(form)), " ".join(form)))
    return tuple(sorted(found))


class ReplacedWords(NamedTuple):
    """The words of a sentence with the first form of each hard term instead of the term."""

    words: list[str]
    links: list[tuple[int, ...]]
    """Positions of the source words of each word."""
    used: tuple[UsedTerm, ...]


def replaced_words(words: Sequence[str], occurrences: Iterable[Occurrence]) -> ReplacedWords:
    """See ``ReplacedWords``."""
    hard = {one.span[0]: one for one in occurrences if one.hard}
    found = ReplacedWords([], [], ())
    used, position = [], 0
    while position < len(words):
        one = hard.get(position)
        span, form = ((position, position + 1), [words[position]]) if one is None else (one.span, one.forms[0].split())
        if one is not None:
            used.append(UsedTerm(span, (len(found.words), len(found.words) + len(form)), one.forms[0]))
        found.words.extend(form)
        found.links.extend([tuple(range(*span))] * len(form))
        position = span[1]
    return found._replace(used=tuple(used))
