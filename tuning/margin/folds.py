"""The training text in folds, each with a decoder whose rules and language model come from all other folds.

A pair must not be translated by its own rules: long rules that occur once would always be right. Held-out pairs belong
to no fold; their decoder has the rules of all folds, like the decoder of new text. Holding out a fold instead would
fail, since its decoder would lack rules that the learned weights are about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from lscfg import log
from lscfg.corpus.parallel import check_length, check_sentences
from lscfg.decode.request import Sentence
from lscfg.decode.sentence import SentenceDecoder
from lscfg.errors import InputError
from lscfg.extract.extractor import RuleExtractor, RuleInputs
from lscfg.formats.ini import DecoderConfig
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_grammar
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.kernel.base import Vocab
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import KBest, search
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.lm.lmplz import build_lm
from lscfg.tuning.margin.settings import MarginSettings


@dataclass(frozen=True)
class FoldRules:
    """Settings of the rules and language models of folds."""

    source: RuleExtractor[Any]
    """An extractor that needs text alone."""
    settings: Any
    """Settings of the extractor."""
    order: int
    """Order of the language models."""


@dataclass(frozen=True)
class Pair:
    """A sentence pair: its number in the text from 0, its fold, and its words separated by blanks."""

    number: int
    fold: int
    source: str
    target: str


@dataclass(frozen=True)
class FoldedText:
    """A parallel text with its alignments, line by line, in folds.

    Attributes:
        fold: int64 [pairs], ``held_out`` for those in none; equal pairs are in one.
        held_out: the number of folds.
    """

    source: list[str]
    target: list[str]
    alignments: list[list[str]]
    fold: np.ndarray
    held_out: int

    @classmethod
    def read(cls, inputs: RuleInputs, settings: MarginSettings) -> FoldedText:
        """Reads the text.

        Raises:
            InputError: files differ in length, a sentence is malformed, or folds outnumber different pairs.
        """
        texts = inputs.parallel
        source, target = map(read_lines, texts)
        check_length(len(target), texts[1], len(source), texts[0])
        for lines, path in zip((source, target), texts, strict=True):
            check_sentences(lines, path)
        alignments = [read_lines(path) for path in inputs.alignments]
        for lines, path in zip(alignments, inputs.alignments, strict=True):
            check_length(len(lines), path, len(source), texts[0])
        first: dict[tuple[str, str], int] = {}
        same = [first.setdefault(pair, len(first)) for pair in zip(source, target, strict=True)]
        n = round(settings.held_out * len(first))
        if settings.held_out:
            n = max(1, n)
        if len(first) - n < settings.folds:
            raise InputError(f"{len(first) - n} different pairs cannot form {settings.folds} folds", inputs.source)
        drawn = np.random.default_rng([settings.seed, 0]).permutation(len(first))
        fold = np.where(drawn < n, settings.folds, drawn % settings.folds)
        return cls(source, target, alignments, fold[same], settings.folds)

    def pairs(self, settings: MarginSettings) -> tuple[list[Pair], list[Pair]]:
        """The pairs to learn from, and the held-out pairs, in the order of the text."""
        is_held_out = self.fold == self.held_out
        learned, held_out = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
        if settings.pairs:
            random, share = np.random.default_rng([settings.seed, 1]), settings.held_out / (1 - settings.held_out)
            learned = np.sort(random.permutation(learned)[: settings.pairs])
            held_out = np.sort(random.permutation(held_out)[: max(1, round(share * settings.pairs))])
        return self._chosen(learned), self._chosen(held_out)

    def _chosen(self, numbers: np.ndarray) -> list[Pair]:
        return [Pair(n, int(self.fold[n]), self.source[n], self.target[n]) for n in numbers.tolist()]

    def write_others(self, fold: int, folder: Path) -> RuleInputs:
        """Writes all folds but one as files, without the held-out pairs."""
        kept = np.flatnonzero((self.fold != fold) & (self.fold != self.held_out)).tolist()
        names = ["source", "target", *(f"alignment.{n}" for n in range(len(self.alignments)))]
        for name, lines in zip(names, (self.source, self.target, *self.alignments), strict=True):
            write_lines(folder / name, (lines[n] for n in kept))
        return RuleInputs(folder / names[0], folder / names[1], tuple(folder / name for name in names[2:]))


class Fold:
    """The decoder of a fold. Threads may use it at the same time.

    Attributes:
        decoder: for sentences of a forest; weights: by its columns.
    """

    def __init__(self, config: DecoderConfig, weights: Mapping[str, float], vocab: Vocab, threads: int):
        self.decoder = SentenceDecoder(config, None, 0, vocab, needed=False)
        self.weights = np.array([float(weights.get(name, 0.0)) for name in self.decoder.feature_names])
        self._rule_scores = self.decoder.rule_scores(self.weights)
        self._models: SimpleQueue[LanguageModel | None] = SimpleQueue()
        for _ in range(threads):  # a search has one for itself
            path = config.language_model
            self._models.put(None if path is None else LanguageModel(path, vocab))

    def scores(self, sentence: Sentence) -> np.ndarray:
        """The score of each application under the weights, without the language model."""
        return self.decoder.scores(sentence, self._rule_scores, self.weights)

    def search(self, sentence: Sentence, scores: np.ndarray, k: int) -> KBest:
        """The k best translations of a sentence with a forest, no two with equal words."""
        assert sentence.forest is not None
        model = self._models.get()
        try:
            options = self.decoder.search_options(self.weights, k, True)
            return search(sentence.forest, self.decoder.grammar, model, scores, options)
        finally:
            self._models.put(model)


Lexicon = Counter[tuple[str | None, str | None]]
"""Counts of linked words; None instead of a word: no link."""


def make_folds(
    text: FoldedText,
    pairs: Sequence[Pair],
    rules: FoldRules,
    config: DecoderConfig,
    weights: Mapping[str, float],
    folder: Path,
    vocab: Vocab,
    jobs: int,
) -> tuple[list[Fold], Lexicon]:
    """Makes a decoder for each fold, one for held-out pairs if the text has any, and the links of the whole text.

    Args:
        pairs: all that will be translated.
        config: settings of the decoder, apart from its files; folder: for files of each fold.
        vocab: receives the words of all pairs, so that it does not grow while threads read it.

    Raises:
        InputError: see the rule extractor, and ``lscfg.lm.lmplz.build_lm``.
    """
    for pair in pairs:
        vocab.add_line(pair.source)
        vocab.add_line(pair.target)
    found, lexicon = [], Lexicon()
    for number in range(max(pair.fold for pair in pairs) + 1):
        name = f"fold {number + 1} of {text.held_out}" if number < text.held_out else "held-out pairs"
        log.info(f"rules and language model for {name}")
        place = folder / f"fold.{number}"
        place.mkdir()
        inputs = text.write_others(number, place)
        wanted = [pair.source for pair in pairs if pair.fold == number]
        counted = rules.source.rules(replace(inputs, wanted=wanted), rules.settings)
        lexicon.update(dict(_links(counted)))
        own = replace(config, grammars=(), language_model=None)  # of a fold that translates nothing
        if wanted:
            grammar, lm = place / "grammar", place / "lm.arpa"
            write_grammar(grammar, counted, select_rules(counted, rules.settings.max_targets, wanted), jobs)
            build_lm(inputs.parallel[1], lm, rules.order, (), DEFAULT_FALLBACK, "lscfg")
            own = replace(config, grammars=(grammar,), language_model=lm)
        del counted
        found.append(Fold(own, weights, vocab, jobs))
    return found, lexicon


def _links(counted: RuleCounts) -> Iterator[tuple[tuple[str | None, str | None], int]]:
    words = [*counted.rules.words, None]  # -1 means None
    for (source, target), count in zip(counted.lexicon.tolist(), counted.lexicon_count.tolist(), strict=True):
        yield (words[source], words[target]), count
