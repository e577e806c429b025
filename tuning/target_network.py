"""Scores of whole translations by the neural model of target words (Devlin et al. 2014).

A word's score depends on the source words around its place and on the target words before it, also those of other
rules, which the features ``neural`` do not see. The rules of the derivation give the places, as in the kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from lscfg import log
from lscfg.decode.derivations import nonterminal_number, split_words
from lscfg.errors import InputError, counted, quote
from lscfg.formats.kbest import Hypothesis
from lscfg.io.read import stream_lines
from lscfg.json_text import parse_json
from lscfg.kernel.neural import (
    SOURCE_BEGIN,
    SOURCE_END,
    SOURCE_UNKNOWN,
    SOURCE_WORDS,
    TARGET_BEGIN,
    TARGET_END,
    TARGET_UNKNOWN,
    TARGET_WORDS,
    WordLinks,
)
from lscfg.model.neural import NeuralModel
from lscfg.model.parameters import Parameters
from lscfg.tuning.rescore import Lists

FEATURE = "NeuralJoint"
"""The feature of lists."""

BOTH = "give both files of one run of lscfg decode -k K --derivations FILE"


def activation(x: np.ndarray) -> np.ndarray:
    """The kernel's approximation of tanh (plugin/neural/activation.h)."""
    x = np.clip(x, -5, 5)
    q = x * x
    found: np.ndarray = x * (135135 + q * (17325 + q * (378 + q))) / (135135 + q * (62370 + q * (3150 + q * 28)))
    return found


class Network:
    """A neural model in NumPy, for whole translations.

    Args:
        model: model as in a file.
    """

    def __init__(self, model: NeuralModel):
        self.model, self.parts = model, model.parameters
        self.rows = [
            {word: first + k for k, word in enumerate(words)}
            for words, first in zip(model.words, (SOURCE_WORDS, TARGET_WORDS), strict=True)
        ]
        self._links = WordLinks(self.parts["links"], self.parts["share"])
        layer = self.parts["hidden"].reshape(len(self.parts["hidden"]), -1, self.parts["source"].shape[1])
        window = 2 * model.reach + 1
        self.layer = layer[:, :window].reshape(len(layer), -1).T
        self.before = [self.parts["target"] @ layer[:, window + h].T for h in range(model.history)]

    def source_rows(self, words: Sequence[str]) -> list[int]:
        """Rows of source words."""
        return [self.rows[0].get(word, SOURCE_UNKNOWN) for word in words]

    def target_rows(self, words: Sequence[str]) -> list[int]:
        """Rows of target words."""
        return [self.rows[1].get(word, TARGET_UNKNOWN) for word in words]

    def place_sums(self, words: Sequence[str]) -> np.ndarray:
        """Sums of the hidden units without target words, [places, hidden]; the last place is the end."""
        reach = self.model.reach
        rows = [SOURCE_BEGIN] * reach + self.source_rows(words) + [SOURCE_END] * (reach + 1)
        windows = np.lib.stride_tricks.sliding_window_view(np.array(rows), 2 * reach + 1)
        return self.window_sums(windows)

    def window_sums(self, rows: np.ndarray) -> np.ndarray:
        """Sums of the hidden units of source words, [windows, hidden], by their rows, int [windows, words]."""
        sums: np.ndarray = self.parts["source"][rows].reshape(len(rows), -1) @ self.layer + self.parts["hidden.bias"]
        return sums

    def hidden(self, sums: np.ndarray, places: np.ndarray, before: np.ndarray) -> np.ndarray:
        """The hidden layer, [words, hidden].

        Args:
            sums: float [places, hidden]; places: int [words]; before: int [words, history], the last word first.
        """
        return activation(sums[places] + sum(table[before[:, h]] for h, table in enumerate(self.before)))

    def scores(self, sums: np.ndarray, places: np.ndarray, before: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Scores of words, [words], which are log probabilities but for log Z.

        Args:
            words: int [words], target rows; the others as in ``hidden``.
        """
        output: np.ndarray = self.parts["output"][words]
        found: np.ndarray = (self.hidden(sums, places, before) * output).sum(1) + self.parts["output.bias"][words]
        return found

    def rule_places(
        self, source: str, target: str, begin: int, tails: Sequence[tuple[int, int]]
    ) -> list[tuple[str, int]]:
        """The target words of a rule with their places.

        Args:
            source, target: both sides as in derivations; begin: first word of the rule's span; tails: spans of the
                nonterminals.

        Raises:
            ValueError: the sides do not contain each nonterminal once.
        """
        sides = split_words(source), split_words(target)
        numbers = [[nonterminal_number(symbol) if tails else -1 for symbol in side] for side in sides]
        for found in numbers:
            if sorted(k for k in found if k >= 0) != list(range(len(tails))):
                raise ValueError(f"the sides {quote(source)} and {quote(target)} do not fit {len(tails)} children")
        symbols = [
            [-1 - number if number >= 0 else row for number, row in zip(own, rows, strict=True)]
            for own, rows in zip(numbers, (self.source_rows(sides[0]), self.target_rows(sides[1])), strict=True)
        ]
        places = self._links.places(symbols[0], symbols[1], begin, tails)
        return [(word, place) for word, place, number in zip(sides[1], places, numbers[1], strict=True) if number < 0]


@dataclass(frozen=True)
class Contexts:
    """The words of all translations of a sentence, and the end of each, with what predicts them.

    Attributes:
        sums: float [places, hidden], see ``Network.place_sums``.
        places: int [words]; before: int [words, history], rows of target words, the last word first.
        words: int [words], rows; owner: int [words], numbers of translations.
    """

    sums: np.ndarray
    places: np.ndarray
    before: np.ndarray
    words: np.ndarray
    owner: np.ndarray


class _Places:
    """Places of the words of a sentence's translations; derivations share most of their rules."""

    def __init__(self, network: Network, words: Sequence[str]):
        self._network, self._words = network, words
        self._of_rules: dict[tuple[object, ...], list[tuple[str, int]]] = {}

    def of(self, derivation: Mapping[str, Any], translation: Sequence[str]) -> list[int]:
        """The place of each word of a translation.

        Raises:
            ValueError: a rule does not fit the translation or the sentence.
        """
        found, rules = [-1] * len(translation), derivation["rules"]
        for rule in rules:
            if not rule["target_words"]:
                continue
            tails = tuple(tuple(rules[child]["span"]) for child in rule["children"])
            key = rule["source"], rule["target"], rule["span"][0], tails
            if key not in self._of_rules:
                self._of_rules[key] = self._network.rule_places(*key)
            for position, (word, place) in zip(rule["target_words"], self._of_rules[key], strict=True):
                if translation[position] != word or not 0 <= place < len(self._words):
                    raise ValueError(f"the rule of {quote(rule['target'])} does not fit the translation")
                found[position] = place
        if -1 in found:
            raise ValueError("a word of a translation comes from no rule")
        return found


def contexts(network: Network, line: Mapping[str, Any]) -> Contexts:
    """Collects the words of a sentence's translations.

    Args:
        line: a sentence of ``lscfg decode --derivations`` (docs/reference/formats.md), no lattice.

    Raises:
        ValueError: a rule does not fit its translation or the sentence.
    """
    history, places_of = network.model.history, _Places(network, line["words"])
    places, before, words, owner = [], [], [], []
    for number, derivation in enumerate(line["derivations"]):
        translation = split_words(derivation["translation"])
        rows = network.target_rows(translation)
        places += [*places_of.of(derivation, translation), len(line["words"])]
        words += [*rows, TARGET_END]
        padded = [TARGET_BEGIN] * history + rows
        before += [padded[k : k + history][::-1] for k in range(len(rows) + 1)]
        owner += [number] * (len(rows) + 1)
    return Contexts(
        network.place_sums(line["words"]),
        np.array(places, int),
        np.array(before, int).reshape(len(words), history),
        np.array(words, int),
        np.array(owner, int),
    )


def joint_scores(network: Network, line: Mapping[str, Any]) -> list[float]:
    """The sum of the scores of all words and the end, for each translation of a sentence; 0 for a lattice's.

    Raises:
        ValueError: see ``contexts``.
    """
    if line["words"] is None:
        return [0.0] * len(line["derivations"])
    c = contexts(network, line)
    scores = network.scores(c.sums, c.places, c.before, c.words)
    found: list[float] = np.bincount(c.owner, scores, len(line["derivations"])).tolist()
    return found


def with_joint_scores(
    lists: Lists, model: str | PathLike[str], derivations: str | PathLike[str], added: Collection[str] = ()
) -> Lists:
    """The lists with the feature ``FEATURE``, 0 for sentences without a parse.

    Args:
        model: file with a network; derivations: those of the lists, from ``lscfg decode --derivations``.
        added: features of the lists that did not come from the decoder.

    Raises:
        InputError: a file cannot be read, the model contains no network, a line is not one of derivations, or the
            derivations are not those of the lists.
    """
    neural = Parameters.load(model).neural
    if neural is None:
        raise InputError("no network; lscfg estimate neural learns one", model)
    network, found = Network(neural), [*lists]
    left = {number for number, own in enumerate(lists) if own}
    lines = log.progress(enumerate(stream_lines(derivations), 1), "network", len(lists))
    for number, text in lines:
        line = _parsed(text, derivations, number)
        sentence = line["id"]
        if sentence not in left and (line["derivations"] or sentence < 0):
            raise InputError(f"sentence {sentence} is not in the lists, or comes twice; {BOTH}", derivations, number)
        left.discard(sentence)
        own = lists[sentence] if sentence < len(lists) else []
        if not _same(own, line["derivations"], added):
            raise InputError(f"derivations that are not those of the lists; {BOTH}", derivations, number)
        try:
            values = joint_scores(network, line) if line["derivations"] else [0.0] * len(own)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            raise InputError(f"damaged derivations ({error})", derivations, number) from None
        if own:
            found[sentence] = [
                Hypothesis(one.text, {**one.features, FEATURE: value}, one.score)
                for one, value in zip(own, values, strict=True)
            ]
    if left:
        raise InputError(
            f"lacks {counted(len(left), 'sentence')} of the lists, such as {min(left)}; {BOTH}", derivations
        )
    return found


def _parsed(text: str, path: str | PathLike[str], number: int) -> Mapping[str, Any]:
    """A line of derivations, of which only what identifies it is checked."""
    try:
        line = parse_json(text)
        good = isinstance(line["id"], int) and (line["words"] is None or isinstance(line["words"], list))
        good = good and all(isinstance(one["translation"], str) for one in line["derivations"])
    except (ValueError, LookupError, TypeError):
        good = False
    if not good:
        raise InputError("not a line of lscfg decode --derivations", path, number)
    found: Mapping[str, Any] = line
    return found


def _same(own: Sequence[Hypothesis], derivations: Sequence[Mapping[str, Any]], added: Collection[str]) -> bool:
    """True if a list has these derivations; a sentence without a parse has none, and no features but added ones."""
    if not derivations:
        return len(own) <= 1 and not any(one.features.keys() - {*added} for one in own)
    return len(own) == len(derivations) and all(
        one.text == derivation["translation"]
        and all(one.features.get(name) == value for name, value in derivation["features"].items())
        for one, derivation in zip(own, derivations, strict=True)
    )
