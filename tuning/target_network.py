"""Scores of whole translations by the neural model of target words (Devlin et al. 2014).

A word's score depends on the source words around its place and on the target words before it, also those of other
rules, which the features ``neural`` do not see. Places come from the rules of the derivation, as in the kernel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from lscfg.errors import InputError, counted, quote
from lscfg.formats.kbest import Hypothesis
from lscfg.io.read import stream_lines
from lscfg.kernel.neural import (
    SOURCE_BEGIN,
    SOURCE_END,
    SOURCE_UNKNOWN,
    SOURCE_WORDS,
    TARGET_BEGIN,
    TARGET_END,
    TARGET_UNKNOWN,
    TARGET_WORDS,
)
from lscfg.model.neural import NeuralModel
from lscfg.model.parameters import Parameters

JOINT = "NeuralJoint"
"""The feature of lists."""


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
        links = map(tuple, self.parts["links"].tolist())
        self.share = dict(zip(links, self.parts["share"].tolist(), strict=True))
        layer = self.parts["hidden"].reshape(len(self.parts["hidden"]), -1, self.parts["source"].shape[1])
        window = 2 * model.reach + 1
        self.layer = layer[:, :window].reshape(len(layer), -1).T
        self.before = [self.parts["target"] @ layer[:, window + h].T for h in range(model.history)]

    def source(self, words: Sequence[str]) -> list[int]:
        """Rows of source words."""
        return [self.rows[0].get(word, SOURCE_UNKNOWN) for word in words]

    def target(self, words: Sequence[str]) -> list[int]:
        """Rows of target words."""
        return [self.rows[1].get(word, TARGET_UNKNOWN) for word in words]

    def place_sums(self, words: Sequence[str]) -> np.ndarray:
        """Sums of the hidden units without target words, [places, hidden]; the last place is the end."""
        reach = self.model.reach
        rows = [SOURCE_BEGIN] * reach + self.source(words) + [SOURCE_END] * (reach + 1)
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

    def places(self, derivation: Mapping[str, Any], sentence: Sequence[str]) -> list[int]:
        """Places of the words of a translation (Devlin et al. 2014, section 2.1), by the lexicon of the model."""
        found = [-1] * len(derivation["translation"].split())
        rules = derivation["rules"]
        for rule in rules:
            if rule["target_words"]:
                for position, place in zip(rule["target_words"], self.rule_places(rule, rules, sentence), strict=True):
                    found[position] = place
        if -1 in found:
            raise ValueError("a word of a translation comes from no rule")
        return found

    def rule_places(
        self, rule: Mapping[str, Any], rules: Sequence[Mapping[str, Any]], sentence: Sequence[str]
    ) -> list[int]:
        """Places of the words of one rule."""
        tails = [rules[child]["span"] for child in rule["children"]]
        own, symbols = rule["source_words"], symbols_of(rule["target"], len(rule["target_words"]), len(tails))
        source = self.source([sentence[k] for k in own])
        linked: list[int | None] = []
        for symbol in symbols:
            linked.append(None if isinstance(symbol, int) else self.link(source, own, symbol))
        if not tails and rule["source"] == rule["target"] and len(own) == 1:  # a word that is passed through
            return [own[0]]
        return [
            place if place is not None else self.near(linked, symbols, tails, k, own[0] if own else rule["span"][0])
            for k, (place, symbol) in enumerate(zip(linked, symbols, strict=True))
            if not isinstance(symbol, int)
        ]

    def link(self, source: Sequence[int], own: Sequence[int], word: str) -> int | None:
        """The place of the own source word with the greatest share of links, of equal ones the left one."""
        row = self.rows[1].get(word, TARGET_UNKNOWN)
        best, place = self.share.get((-1, row), 0.0), None
        for symbol, position in zip(source, own, strict=True):
            share = self.share.get((symbol, row), 0.0)
            if share > 0 and (share >= best if place is None else share > best):
                best, place = share, position
        return place

    @staticmethod
    def near(
        linked: Sequence[int | None],
        symbols: Sequence[str | int],
        tails: Sequence[Sequence[int]],
        at: int,
        otherwise: int,
    ) -> int:
        """The place that the nearest linked word or nonterminal gives to a word without a link, right before left."""
        for distance in range(1, len(symbols)):
            for other, edge in ((at + distance, 0), (at - distance, 1)):
                if 0 <= other < len(symbols):
                    symbol, place = symbols[other], linked[other]
                    if isinstance(symbol, int):
                        return tails[symbol][edge] - edge
                    if place is not None:
                        return place
        return otherwise


def symbols_of(side: str, words: int, tails: int) -> list[str | int]:
    """The words of a side, and the numbers of its nonterminals."""
    names = {f"{category},{k + 1}]": k for k in range(tails) for category in ("[X", "[S")}
    symbols: list[str | int] = [names.get(symbol, symbol) for symbol in side.split()]
    if sum(not isinstance(symbol, int) for symbol in symbols) != words:
        raise ValueError(f"the side {quote(side)} does not fit its words and children")
    return symbols


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


def contexts(network: Network, line: Mapping[str, Any]) -> Contexts:
    """Collects the words of a sentence's translations.

    Args:
        line: a sentence of ``lscfg decode --derivations`` (docs/reference/formats.md).

    Raises:
        ValueError, LookupError, TypeError, AttributeError or OverflowError: it is no such sentence.
    """
    history = network.model.history
    places, before, words, owner = [], [], [], []
    for number, derivation in enumerate(line["derivations"]):
        rows = network.target(derivation["translation"].split())
        places += [*network.places(derivation, line["words"]), len(line["words"])]
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
        ValueError, LookupError, TypeError, AttributeError or OverflowError: see ``contexts``.
    """
    if line["words"] is None:
        return [0.0] * len(line["derivations"])
    c = contexts(network, line)
    scores = network.scores(c.sums, c.places, c.before, c.words)
    found: list[float] = np.bincount(c.owner, scores, len(line["derivations"])).tolist()
    return found


@dataclass(frozen=True)
class JointColumn:
    """The feature ``JOINT`` of lists: sentence by sentence the translations and their values."""

    path: str | PathLike[str]
    translations: list[list[str]]
    values: list[list[float]]

    def add_to(self, lists: Sequence[Sequence[Hypothesis]]) -> list[list[Hypothesis]]:
        """The lists with the feature; sentences without a parse have no derivation, and the value 0.

        Raises:
            InputError: the translations are not those of the lists, or the lists have the feature already.
        """
        if len(lists) != len(self.values):
            raise InputError(f"{counted(len(self.values), 'sentence')}, but the lists have {len(lists)}", self.path)
        found = []
        for number, (own, texts, values) in enumerate(zip(lists, self.translations, self.values, strict=True), 1):
            if texts and [one.text for one in own] != texts:
                cure = "write the lists and the derivations by the same lscfg decode"
                raise InputError(f"translations that differ from those of the lists; {cure}", self.path, number)
            if any(JOINT in one.features for one in own):
                raise InputError(f"the lists have a feature {JOINT} already", self.path, number)
            own_values = values or [0.0] * len(own)
            found.append(
                [
                    Hypothesis(one.text, {**one.features, JOINT: value}, one.score)
                    for one, value in zip(own, own_values, strict=True)
                ]
            )
        return found


def read_joint(model: str | PathLike[str], derivations: str | PathLike[str]) -> JointColumn:
    """Computes the feature from a model with a network and the derivations of lists.

    Raises:
        InputError: a file cannot be read, the model contains no network, or a line is not one of derivations.
    """
    neural = Parameters.load(model).neural
    if neural is None:
        raise InputError("no network; lscfg estimate neural learns one", model)
    network, column = Network(neural), JointColumn(derivations, [], [])
    for number, text in enumerate(stream_lines(derivations), 1):
        try:
            line = json.loads(text)
            column.translations.append([one["translation"] for one in line["derivations"]])
            column.values.append(joint_scores(network, line))
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            cure = "give the file of lscfg decode --derivations"
            raise InputError(f"no derivations ({error}); {cure}", derivations, number) from None
    return column
