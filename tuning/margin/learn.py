"""Learning by hope and fear: weights move from bad translations of training pairs to good ones.

The objective is the margin of MIRA (Crammer et al. 2006; Chiang 2012) with the features of a synchronous grammar (Xiao
& Xiong 2013): hope is the translation with the highest sum of score and BLEU, fear the one with the highest difference.
If the score of hope exceeds that of fear by less than the difference of their BLEU, weights move along the difference
of their features. The weights of the decoder's own features stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from lscfg import log
from lscfg.decode.request import Sentence
from lscfg.errors import InputError
from lscfg.kernel.base import Vocab
from lscfg.kernel.search import KBest
from lscfg.parallel.engine import Engine
from lscfg.tuning.bleu import (
    CORRECT,
    HYPOTHESIS_LENGTH,
    REFERENCE_LENGTH,
    TOTAL,
    WIDTH,
    SentenceReferences,
    corpus_bleu,
)
from lscfg.tuning.margin.features import FeatureNumbers, border_keys
from lscfg.tuning.margin.folds import Fold, Pair
from lscfg.tuning.margin.settings import MarginSettings
from lscfg.tuning.margin.weights import AveragedWeights
from lscfg.tuning.mira import BACKGROUND, MiraSettings


@dataclass(frozen=True)
class LearnedWeights:
    """Weights of sparse features."""

    rules: np.ndarray
    """float64, by the numbers of ``FeatureNumbers``."""
    borders: np.ndarray
    """float64, by the numbers of border features."""
    number: Mapping[int, int]
    """Numbers of the keys of ``border_keys``; some may have been added later."""
    words: int
    """Size of the vocabulary of the keys."""

    def of_borders(self, keys: np.ndarray) -> np.ndarray:
        """Weights of keys, float64 in the shape of the keys; 0 for keys without a weight."""
        if not len(self.borders):
            return np.zeros(keys.shape)
        find = self.number.get
        numbers = np.array([find(key, -1) for key in keys.ravel().tolist()], np.int64).reshape(keys.shape)
        known = (numbers >= 0) & (numbers < len(self.borders))
        return np.where(known, self.borders[np.where(known, numbers, 0)], 0.0)

    def border_items(self) -> Iterator[tuple[int, float]]:
        """Keys with weights other than 0."""
        return ((key, weight) for key, weight in zip(self.number, self.borders.tolist(), strict=False) if weight)


@dataclass(frozen=True)
class Visit:
    """Results of translating a pair."""

    hope: np.ndarray
    """BLEU statistics, int [10]; also of ``fear`` and ``best``."""
    fear: np.ndarray
    best: np.ndarray
    loss: float
    """Amount by which the margin falls short."""
    rules: np.ndarray
    """Numbers of features of rules, each once."""
    rule_gradient: np.ndarray
    """Number of occurrences in hope minus those in fear."""
    borders: np.ndarray
    """Keys of border features, each once."""
    border_gradient: np.ndarray


class MarginLearner:
    """Learns from pairs. The results do not depend on the number of threads.

    Args:
        folds: decoders; features: of their grammars, in the same order.
        vocab: of all of them.
        engine: of threads, at most as many as the folds were made for.

    Attributes:
        trace: a record for each pass.
    """

    def __init__(
        self, folds: Sequence[Fold], features: FeatureNumbers, vocab: Vocab, settings: MarginSettings, engine: Engine
    ):
        self._folds, self._features, self._settings, self._engine = folds, features, settings, engine
        self._words = [vocab.word(number) for number in range(len(vocab))]
        self._rules, self._borders = AveragedWeights(len(features)), AveragedWeights(0)
        self._border_number: dict[int, int] = {}
        self._background = BACKGROUND.copy()
        self._batches = 0
        self.trace: list[dict[str, object]] = []

    def run(self, pairs: Sequence[Pair], held_out: Sequence[Pair] = ()) -> LearnedWeights:
        """Passes over the pairs until held-out BLEU stops improving; without held-out pairs, does all passes.

        Returns:
            The averages after the last pass that improved held-out BLEU; all 0 if none did.

        Raises:
            InputError: no pair has a parse.
        """
        s = self._settings
        chosen = self._learned(np.zeros(len(self._features)), np.empty(0))
        before = best = self._bleu(held_out, chosen) if held_out else 0.0
        for number in range(1, s.passes + 1):
            began = perf_counter()
            order = np.random.default_rng([s.seed, 2, number]).permutation(len(pairs))
            record = {"pass": number, **self._pass([pairs[k] for k in order], f"pass {number}")}
            average = self._average()
            if held_out:
                record |= {"held-out BLEU": self._bleu(held_out, average), "held-out BLEU without learning": before}
            self.trace.append(record | {"seconds": perf_counter() - began})
            log.table(self.trace[-1])
            if held_out and record["held-out BLEU"] <= best:
                break
            chosen, best = average, record.get("held-out BLEU", best)
        if held_out and best == before:
            cause = "no translation shares an n-gram with its reference" if not best else "no pass improved it"
            log.warning(f"all learned weights are 0: held-out BLEU is {best:.2f}, and {cause}")
        return chosen

    # ---- translation of a pair ----

    def _scores(self, pair: Pair, sentence: Sentence, learned: LearnedWeights) -> np.ndarray:
        """The score of each application with the learned weights, without the language model."""
        forest, fold = sentence.forest, self._folds[pair.fold]
        assert forest is not None
        rules, which = np.unique(forest.app_rule, return_inverse=True)
        features, lengths = self._features.rows(pair.fold, rules)
        rows = np.repeat(np.arange(len(rules)), lengths)
        sparse = np.bincount(rows, learned.rules[features], len(rules))
        scores = fold.scores(sentence) + sparse[which]
        nodes, keys = border_keys(forest, len(self._words))
        of_node = np.zeros(forest.n_nodes)
        of_node[nodes] = learned.of_borders(keys).sum(axis=1)
        return np.asarray(scores + of_node[forest.edge_head[forest.app_edge]])

    def _translate(self, pair: Pair, learned: LearnedWeights, k: int) -> tuple[Sentence, KBest, np.ndarray] | None:
        """The pair's forest and its k best translations with their statistics of BLEU; None without a parse."""
        fold = self._folds[pair.fold]
        sentence = fold.decoder.prepare(pair.number, pair.source)
        if sentence.forest is None:
            return None
        found = fold.search(sentence, self._scores(pair, sentence, learned), k)
        texts = [[self._words[word] for word in words] for words in found.word_lists()]
        return sentence, found, SentenceReferences([pair.target]).stats(texts)

    def _visit(self, pair: Pair, learned: LearnedWeights) -> Visit | None:
        found = self._translate(pair, learned, self._settings.kbest)
        if found is None:
            return None
        sentence, lists, stats = found
        gains = self._settings.scale * _gains(stats, self._background)
        hope, fear = int(np.argmax(lists.score + gains)), int(np.argmax(lists.score - gains))
        loss = max(0.0, float(gains[hope] - gains[fear] - (lists.score[hope] - lists.score[fear])))
        nothing = np.empty(0, np.int64)
        changes = (nothing, nothing, nothing, nothing)
        if loss > 0:
            apps = [lists.apps[lists.app_offsets[h] : lists.app_offsets[h + 1]] for h in (hope, fear)]
            changes = self._differences(pair, sentence, apps)
        return Visit(stats[hope], stats[fear], stats[0], loss, *changes)

    def _differences(self, pair: Pair, sentence: Sentence, apps: Sequence[np.ndarray]) -> Any:
        """Differences of feature counts between hope and fear; see ``Visit``."""
        forest = sentence.forest
        assert forest is not None
        nodes, keys = border_keys(forest, len(self._words))
        place = np.full(forest.n_nodes, -1)
        place[nodes] = np.arange(len(nodes))
        numbers, borders = [], []
        for own in apps:
            numbers.append(self._features.rows(pair.fold, forest.app_rule[own])[0])
            heads = place[forest.edge_head[forest.app_edge[own]]]
            borders.append(keys[heads[heads >= 0]].ravel())
        return (*_difference(*numbers), *_difference(*borders))

    # ---- weights ----

    def _pass(self, pairs: Sequence[Pair], title: str) -> dict[str, Any]:
        size, unparsed, loss, seen = self._settings.batch, 0, 0.0, 0
        sums = np.zeros((3, WIDTH), np.int64)
        for first in log.progress(range(0, len(pairs), size), title):
            now = self._learned(self._rules.value, self._borders.value)
            visits = list(self._engine.map(partial(self._visit, learned=now), pairs[first : first + size]))
            self._batches += 1
            for visit in visits:
                if visit is None:
                    unparsed += 1
                    continue
                seen, loss = seen + 1, loss + visit.loss
                sums += np.stack([visit.hope, visit.fear, visit.best])
                self._background = MiraSettings.decay * self._background + visit.hope
                self._follow(visit)
        if not seen:
            raise InputError("no sentence pair has a parse: its rules do not go with this text")
        hope, fear, best = map(corpus_bleu, sums)
        told = {"pairs": seen, "without a parse": unparsed, "loss": loss / seen}
        return told | {"BLEU of hope": hope, "BLEU of fear": fear, "BLEU of the best": best}

    def _follow(self, visit: Visit) -> None:
        rate, before = self._settings.rate, self._batches - 1
        self._rules.follow(visit.rules, visit.rule_gradient, rate, before)
        numbers = [self._border_number.setdefault(key, len(self._border_number)) for key in visit.borders.tolist()]
        self._borders.grow(len(self._border_number))
        self._borders.follow(np.array(numbers, np.int64), visit.border_gradient, rate, before)

    def _average(self) -> LearnedWeights:
        rules, borders = (weights.average(self._batches) for weights in (self._rules, self._borders))
        return self._learned(rules, borders[: len(self._border_number)])

    def _learned(self, rules: np.ndarray, borders: np.ndarray) -> LearnedWeights:
        return LearnedWeights(rules, borders, self._border_number, len(self._words))

    def _bleu(self, pairs: Sequence[Pair], learned: LearnedWeights) -> float:
        """BLEU of the best translations; a pair without a parse has no words."""
        best = self._engine.map(partial(self._best, learned=learned), pairs)
        return corpus_bleu(sum(best, np.zeros(WIDTH, np.int64)))

    def _best(self, pair: Pair, learned: LearnedWeights) -> np.ndarray:
        """BLEU statistics of the best translation, int [10]."""
        found = self._translate(pair, learned, 1)
        best: np.ndarray = (SentenceReferences([pair.target]).stats([()]) if found is None else found[2])[0]
        return best


def _gains(stats: np.ndarray, background: np.ndarray) -> np.ndarray:
    """BLEU (0 to 1) of each translation with the background, times the reference length of both, as in MIRA."""
    total = stats + background
    precision = np.log(total[:, CORRECT] / total[:, TOTAL]).mean(axis=1)
    brevity = np.minimum(0.0, 1.0 - total[:, REFERENCE_LENGTH] / total[:, HYPOTHESIS_LENGTH])
    gains: np.ndarray = np.exp(precision + brevity) * total[:, REFERENCE_LENGTH]
    return gains


def _difference(more: np.ndarray, less: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Items that one list contains more often than the other, and the differences."""
    values, which = np.unique(np.concatenate([more, less]), return_inverse=True)
    counts = np.bincount(which, np.repeat([1.0, -1.0], [len(more), len(less)]), len(values))
    return values[counts != 0], counts[counts != 0]
