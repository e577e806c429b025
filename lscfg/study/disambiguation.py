"""Questions of phrase sense disambiguation: the translation of a source phrase in its sentence.

Saluja's thesis, section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.estimate.choice import Choices
from lscfg.extract.derive import Derivations
from lscfg.extract.phrases import MAX_WORDS, PHRASE_TARGETS, phrase_nodes, phrase_tokens
from lscfg.extract.yields import Yields, expand_ranges
from lscfg.grammar.select import most_frequent
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens, left_out
from lscfg.kernel.lm import PhraseScorer
from lscfg.settings import Declared, setting

MIN_COUNT = 2


@dataclass(frozen=True)
class InventorySettings(Declared):
    """Settings of the inventory: the phrase pairs that count as options."""

    max_words: int = setting(MAX_WORDS, "largest number of source words of a phrase pair", least=1)
    max_targets: int = setting(PHRASE_TARGETS, "most frequent target sides kept for each source phrase", least=1)
    min_count: int = setting(MIN_COUNT, "minimum number of tokens of a phrase pair", least=1)


@dataclass(frozen=True)
class Inventory:
    """The phrase pairs of a training text."""

    rules: RuleTable
    """All phrase pairs."""
    count: np.ndarray
    """int64 [rules], tokens of each rule."""
    kept: np.ndarray
    """int64, rules that are options, by source phrase."""
    begin: np.ndarray
    """int64 [source phrases + 1], first option of each source phrase in ``kept``, by ``rules.source_id``."""
    forward: np.ndarray
    backward: np.ndarray
    """float64 [rules], natural logarithms of the relative frequencies P(e|f) and P(f|e)."""

    @classmethod
    def of(cls, tokens: RuleTokens, settings: InventorySettings) -> Inventory:
        """The inventory of tokens."""
        rules, side = tokens.rules, tokens.rules.source_id
        count = np.bincount(tokens.places[:, 0], minlength=len(rules))
        kept = np.nonzero(most_frequent(side, count, settings.max_targets) & (count >= settings.min_count))[0]
        kept = kept[np.argsort(side[kept], kind="stable")]
        begin = np.searchsorted(side[kept], np.arange(side.max(initial=-1) + 2))
        shares = [
            np.log(np.maximum(count, 1)) - np.log(np.maximum(np.bincount(given, count)[given], 1))
            for given in (side, rules.target_id)
        ]
        return cls(rules, count, kept, begin, *shares)


@dataclass(frozen=True)
class Questions:
    """Tokens whose source phrase has several options, in the order of the text."""

    inventory: Inventory
    """Inventory of the options."""
    choices: Choices
    """The right option of each question."""
    rule: np.ndarray
    """int64 [options], rules of the inventory."""
    sentence: np.ndarray
    """int64 [questions], number of the sentence of each question in ``source`` and ``target``."""
    pair: np.ndarray
    """int64 [questions], sentence pair of each question: the trees of several alignments are sentences of one pair."""
    span: np.ndarray
    """int64 [questions, 4], source and target spans."""
    source: list[str]
    target: list[str]
    """The sentences, one for each tree."""
    trivial: int
    """Number of tokens of source phrases with a single option, which is right."""
    tokens: int
    """Number of tokens of phrase pairs, from which the questions were drawn."""

    @classmethod
    def held_out(cls, train: Derivations, held_out: Derivations, settings: InventorySettings) -> Questions:
        """Questions about the tokens of held-out sentences.

        Raises:
            InputError: no token is a question.
        """
        inventory = Inventory.of(phrase_tokens(train, settings.max_words), settings)
        tokens = phrase_tokens(held_out, settings.max_words)
        _, numbers = inventory.rules.with_those_of(tokens.rules)
        rule = numbers[tokens.places[:, 0]]
        return cls._of(inventory, held_out, phrase_nodes(held_out, settings.max_words), rule, len(rule))

    @classmethod
    def of_tokens(cls, train: Derivations, settings: InventorySettings, share: float) -> Questions:
        """Questions about a random share of the tokens, with options from the other tokens (thesis, section 4.2.1).

        Raises:
            InputError: no token is a question.
        """
        tokens = phrase_tokens(train, settings.max_words)
        asked = left_out(tokens.places, share)
        inventory = Inventory.of(RuleTokens(tokens.rules, tokens.places[~asked]), settings)
        nodes = phrase_nodes(train, settings.max_words)[asked]
        return cls._of(inventory, train, nodes, tokens.places[asked, 0].astype(np.int64), len(asked))

    @classmethod
    def _of(cls, inventory: Inventory, of: Derivations, nodes: np.ndarray, rule: np.ndarray, tokens: int) -> Questions:
        n, side = len(inventory.rules), inventory.rules.source_id
        position = np.full(n, -1)
        position[inventory.kept] = np.arange(len(inventory.kept))
        known = np.nonzero(rule < n)[0]
        known = known[position[rule[known]] >= 0]
        options = np.diff(inventory.begin)[side[rule[known]]]
        asked, options = known[options > 1], options[options > 1]
        if not len(asked):
            raise InputError("no token has a source phrase with two options: the texts have too little in common")
        own = rule[asked]
        first = inventory.begin[side[own]]
        begin = np.concatenate([[0], np.cumsum(options)])
        sentence = np.searchsorted(of.trees, nodes[asked], "right") - 1
        yields = Yields.of(of)
        return cls(
            inventory,
            Choices(begin, begin[:-1] + position[own] - first),
            inventory.kept[expand_ranges(first, options)],
            sentence,
            sentence % of.pairs,
            of.span[nodes[asked]].astype(np.int64),
            yields.sentences(of, 0),
            yields.sentences(of, 1),
            len(known) - len(asked),
            tokens,
        )

    def by_sentence(self) -> Iterator[tuple[int, range]]:
        """Yields each sentence with its questions."""
        sentences, first = np.unique(self.sentence, return_index=True)
        ends = [*first[1:].tolist(), len(self.sentence)]
        for sentence, begin, end in zip(sentences.tolist(), first.tolist(), ends, strict=True):
            yield sentence, range(begin, end)

    def target_lengths(self) -> np.ndarray:
        """float64 [options], number of target words."""
        rules = self.inventory.rules
        result: np.ndarray = (np.diff(rules.offsets) - rules.src_length)[self.rule].astype(np.float64)
        return result

    def language_scores(self, scorer: PhraseScorer) -> np.ndarray:
        """float64 [options, 2]: log10 probability among the reference's other words, and number of words."""
        rules, found = self.inventory.rules, np.empty((len(self.rule), 2))
        words: dict[int, list[str]] = {}
        for rule in np.unique(self.rule).tolist():
            words[rule] = [rules.words[symbol] for symbol in rules.tgt(rule).tolist()]
        for sentence, questions in self.by_sentence():
            target = self.target[sentence].split()
            for k in questions:
                begin, end = self.choices.begin[k : k + 2].tolist()
                i, j = self.span[k, 2:].tolist()
                phrases = [words[rule] for rule in self.rule[begin:end].tolist()]
                found[begin:end] = scorer.score(target[:i], phrases, target[j:])
        return found
