"""Scores of whole translations by the neural model of target words, as columns for lscfg rescore.

    lscfg decode -c cdec.ini -w weights dev.ja -k 100 -r --derivations dev.json.gz -o dev.lists
    python experiments/target_words.py network.lscfg dev.json.gz -o dev
    lscfg rescore dev.lists --scores Joint=dev.2 -w weights --tuned tuned --reference dev.en

Column ``dev.h`` contains, for each translation, the sum of the scores of its words and of the end, given
the source words around each and the h target words before it (Devlin et al. 2014). ``dev.h.normalised`` contains log
probabilities: the scores less log Z. Several networks are averaged. Places of words come from the rules of the
derivation, as in the features ``neural``, so that history 0 is their NeuralSource and the end of the sentence.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.kernel.neural import (
    SOURCE_BEGIN,
    SOURCE_END,
    SOURCE_UNKNOWN,
    SOURCE_WORDS,
    TARGET_BEGIN,
    TARGET_END,
    TARGET_NONE,
    TARGET_UNKNOWN,
    TARGET_WORDS,
)
from lscfg.model.neural import NeuralModel
from lscfg.model.parameters import Parameters

BATCH = 4096
"""Contexts whose scores of all words are in memory together."""


def activation(x: np.ndarray) -> np.ndarray:
    """The kernel's approximation of tanh (plugin/neural/activation.h)."""
    x = np.clip(x, -5, 5)
    q = x * x
    return x * (135135 + q * (17325 + q * (378 + q))) / (135135 + q * (62370 + q * (3150 + q * 28)))


class Network:
    """A neural model in NumPy.

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

    def scores(
        self, sums: np.ndarray, places: np.ndarray, before: np.ndarray, words: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores of words, and log Z of each.

        Args:
            sums: float [places, hidden]; places: int [words]; before: int [words, history], the last word first;
            words: int [words], target rows.
        """
        contexts, number = np.unique(np.column_stack((places, before)), axis=0, return_inverse=True)
        number, found, log_z = number.ravel(), np.empty(len(words)), np.empty(len(contexts))
        order, ends = np.argsort(number, kind="stable"), np.searchsorted(np.sort(number), range(len(contexts) + 1))
        for begin in range(0, len(contexts), BATCH):
            part = contexts[begin : begin + BATCH]
            z = sums[part[:, 0]] + sum(table[part[:, 1 + h]] for h, table in enumerate(self.before))
            values = activation(z) @ self.parts["output"].T + self.parts["output.bias"]
            most = values.max(1)
            log_z[begin : begin + len(part)] = most + np.log(np.exp(values - most[:, None]).sum(1))
            own = order[ends[begin] : ends[begin + len(part)]]
            found[own] = values[number[own] - begin, words[own]]
        return found, log_z[number]

    def places(self, derivation: Mapping[str, Any], sentence: Sequence[str]) -> list[int]:
        """Places of the words of a translation (Devlin et al. 2014, section 2.1), by the lexicon of the model."""
        found = [-1] * len(derivation["translation"].split())
        rules = derivation["rules"]
        for rule in rules:
            if rule["target_words"]:
                for position, place in zip(rule["target_words"], self.rule_places(rule, rules, sentence), strict=True):
                    found[position] = place
        assert -1 not in found
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
    assert sum(not isinstance(symbol, int) for symbol in symbols) == words, side
    return symbols


def columns(network: Network, line: Mapping[str, Any]) -> np.ndarray:
    """Scores and log probabilities of the translations of a sentence, [translations, histories, 2].

    The one translation of a sentence without a parse gets 0.
    """
    if not line["derivations"]:
        return np.zeros((1, network.model.history + 1, 2))
    sums, history = network.place_sums(line["words"]), network.model.history
    places, before, words, owner = [], [], [], []
    for number, derivation in enumerate(line["derivations"]):
        rows = network.target(derivation["translation"].split())
        places += [*network.places(derivation, line["words"]), len(line["words"])]
        words += [*rows, TARGET_END]
        padded = [TARGET_BEGIN] * history + rows
        before += [padded[k : k + history][::-1] for k in range(len(rows) + 1)]
        owner += [number] * (len(rows) + 1)
    found = np.zeros((len(line["derivations"]), history + 1, 2))
    table = np.array(before, int).reshape(len(words), history)
    for h in range(history + 1):
        cut = np.where(np.arange(history) < h, table, TARGET_NONE)
        scores, log_z = network.scores(sums, np.array(places), cut, np.array(words))
        np.add.at(found[:, h, 0], owner, scores)
        np.add.at(found[:, h, 1], owner, scores - log_z)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the columns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="+", help="models with a network; several are averaged")
    parser.add_argument("derivations", type=Path, help="derivations of lscfg decode --derivations, .gz allowed")
    parser.add_argument("-o", "--output", required=True, help="start of the names of the columns")
    args = parser.parse_args(arguments)
    models = [Parameters.load(path).neural for path in args.model]
    if lacking := [str(path) for path, model in zip(args.model, models, strict=True) if model is None]:
        sys.exit(f"no network: {', '.join(lacking)}")
    networks = [Network(model) for model in models if model is not None]
    opened = gzip.open if args.derivations.suffix == ".gz" else open
    with opened(args.derivations, "rt", encoding="utf-8") as file:
        found = [np.mean([columns(network, line) for network in networks], axis=0) for line in map(json.loads, file)]
    table = np.concatenate(found)
    for h in range(table.shape[1]):
        for kind, ending in enumerate(("", ".normalised")):
            text = "".join(f"{value:.9g}\n" for value in table[:, h, kind])
            Path(f"{args.output}.{h}{ending}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
