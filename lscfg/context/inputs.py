"""Inputs of context models: one way from files to a model with context models, for commands, stages and the API."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from pathlib import Path

import numpy as np

from lscfg import log
from lscfg.context.learner import CONTEXT_MODELS, AnyModel
from lscfg.errors import InputError, counted
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import EXTRACTORS, RuleInputs
from lscfg.extract.yields import expand_ranges
from lscfg.grammar.tokens import LEFT_OUT, LEFT_OUT_OF, RuleTokens, check_share
from lscfg.io.read import read_lines
from lscfg.kernel import words_fault
from lscfg.settings import Declared


@dataclass(frozen=True)
class ContextInputs:
    """The data that context models are learned from."""

    models: Mapping[str, Declared]
    """Settings of each context model, in the order of learning."""
    text: Path
    """Source side of the corpus."""
    rules: RuleInputs
    """Files of the rule extractors."""
    extractors: Mapping[str, Declared]
    """Settings of each rule extractor whose rules the context models are for."""
    left_out: float = 0.0
    """Random share of the tokens to leave out."""
    more_texts: Sequence[Path] = ()
    """Further source text, without translations."""

    def read(self, derivations: Derivations) -> ContextData:
        """Reads the files, so that a fault shows before an estimate that may take hours.

        Raises:
            InputError: a file cannot be read or does not fit the others, or no context model takes further text.
        """
        check_share(self.left_out)
        if self.more_texts and not any(CONTEXT_MODELS[name].TAKES_TEXT for name in self.models):
            takes = [name for name in CONTEXT_MODELS if CONTEXT_MODELS[name].TAKES_TEXT]
            raise InputError(f"further source text is for the context models {', '.join(takes)}")
        source = read_source(self.text, derivations)
        more = [line for path in self.more_texts for line in read_lines(path)]
        found = [EXTRACTORS[name].tokens(self.rules, settings) for name, settings in self.extractors.items()]
        tokens = reduce(RuleTokens.with_those_of, found)
        every = 0
        if self.left_out:
            every, tokens = len(tokens.places), tokens.without(self.left_out)
        tokens = tokens.with_words(_possible_words(more)) if more else tokens
        return ContextData(self.models, tokens, source, more, self.left_out, every)


def _possible_words(lines: Sequence[str]) -> list[str]:
    """The words of further text that a grammar, and so a sentence to translate, can contain; warns of others."""
    words = [*dict.fromkeys(word for line in lines for word in line.split())]
    if not words_fault(" ".join(words)):
        return words
    faults = {word: fault for word in words if (fault := words_fault(word))}
    log.warning(f"further text: {counted(len(faults), 'word')} left out, the first since {next(iter(faults.values()))}")
    return [word for word in words if word not in faults]


@dataclass(frozen=True, eq=False)
class ContextData:
    """The data that ``ContextInputs`` read."""

    models: Mapping[str, Declared]
    tokens: RuleTokens
    source: list[str]
    more: list[str]
    left_out: float = 0.0
    every: int = 0
    """Number of tokens from which the share was left out."""

    def add(self, model: AnyModel, threads: int = 1) -> AnyModel:
        """Returns the model with all context models.

        Raises:
            InputError: see ``ContextLearner.add``.
        """
        for name, settings in self.models.items():
            learner = CONTEXT_MODELS[name]
            more = self.more if learner.TAKES_TEXT else ()
            model = learner.add(model, self.tokens, self.source, settings, threads, more)
        if self.left_out:
            model.about.update({LEFT_OUT: self.left_out, LEFT_OUT_OF: self.every})
        return model


def read_source(path: str | os.PathLike[str], derivations: Derivations) -> list[str]:
    """The source sentence of each sentence pair of the derivations.

    Raises:
        InputError: the file cannot be read, or does not contain the sentences of the derivations.
    """
    return check_source(read_lines(path), derivations, path)


def check_source(lines: list[str], derivations: Derivations, path: str | os.PathLike[str]) -> list[str]:
    """The lines, which must be the source sentences of the derivations.

    Args:
        path: the name of the text in messages.

    Raises:
        InputError: the text has not the sentences of the derivations.
    """
    if len(lines) != derivations.pairs:
        raise InputError(f"{len(lines)} source sentences, but derivations of {derivations.pairs}", path)
    numbers = {word: k for k, word in enumerate(derivations.rules.words)}
    split = [line.split() for line in lines]
    lengths = np.array([len(words) for words in split], np.int64)
    ids = np.array([numbers.get(word, -1) for word in chain.from_iterable(split)], np.int32)
    tree = np.nonzero(np.diff(derivations.trees))[0]  # a dropped pair has a tree without nodes
    pair, expected = tree % derivations.pairs, derivations.span[derivations.trees[tree], 1]
    if len(wrong := np.nonzero(lengths[pair] != expected)[0]):
        first = wrong[pair[wrong].argmin()]
        raise _other_text(
            f"is not as long as its derivation: {lengths[pair[first]]}, not {expected[first]} words", path, pair[first]
        )
    found = ids[expand_ranges((np.cumsum(lengths) - lengths)[pair], lengths[pair])]
    if len(wrong := np.nonzero(found != derivations.kernel.words()[0])[0]):
        pairs = pair[np.searchsorted(np.cumsum(expected), wrong, "right")]
        raise _other_text("differs from the words of its derivation", path, pairs.min())
    return lines


def _other_text(what: str, path: str | os.PathLike[str], pair: int) -> InputError:
    return InputError(f"{what}; give the source text that lscfg derive read", path, int(pair) + 1)
