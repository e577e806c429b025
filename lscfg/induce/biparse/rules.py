"""The rules that sentence pairs are expected to have, as a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lscfg import log
from lscfg.corpus.parallel import stream_aligned
from lscfg.errors import InputError
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.source import RuleInputs
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.biparse.learn import Learner, Visitor, summary
from lscfg.induce.biparse.lexicon import make_lexicon
from lscfg.induce.biparse.settings import BiparseSettings
from lscfg.kernel import LineError
from lscfg.kernel.biparse import LINKS, TREE, BiparseModel, Bitexts, ExpectedRules, Visits
from lscfg.parallel.engine import available_cores, in_threads

BATCH = 512
"""Pairs that are counted at a time."""


@dataclass(frozen=True)
class InducedRules(RuleCounts):
    """Rules with expected counts, over all their links.

    Attributes:
        bare: bool [rules], without a word on a side, or with nonterminals side by side.
        weights: float64 [rules, 2], the learned weight of the rule, and of its linked words, as a mean over its uses.
        pairs: sentence pairs; parsed: those that have a derivation.
    """

    bare: np.ndarray
    weights: np.ndarray
    pairs: int
    parsed: int

    def barred(self) -> dict[str, np.ndarray]:
        """Adds rules that no decoder takes."""
        return super().barred() | {"without a word on a side, or with nonterminals side by side": self.bare}

    def statistics(self) -> dict[str, int]:
        """Adds how many pairs have a derivation."""
        return {"sentences": self.pairs, "sentences with a derivation": self.parsed} | super().statistics()


@dataclass(frozen=True)
class Induced:
    """What was found of a text.

    Attributes:
        rules: with their counts; models: one for each fold; trace: a record for each pass of each.
        links: for each pair its links of the best derivation, and those of a probability of at least a half.
        edges: of the best derivations, see ``ExpectedRules``.
    """

    rules: InducedRules
    models: list[BiparseModel]
    trace: list[dict[str, Any]]
    best_links: list[str]
    likely_links: list[str]
    edges: np.ndarray


def read_text(inputs: RuleInputs, settings: BiparseSettings) -> Bitexts:
    """The pairs of a corpus, with the lexicon of its alignments.

    Raises:
        InputError: see ``lscfg.corpus.parallel.stream_aligned``; a malformed link; every pair is too long.
    """
    text = Bitexts(settings.max_words)
    for first, path in enumerate(inputs.alignments):
        pairs = stream_aligned(inputs.source, inputs.target, path)
        for number, (src, tgt, links) in enumerate(log.progress(pairs, "links"), 1):
            try:
                if not first:
                    text.add(src, tgt)
                text.add_links(src, tgt, links)
            except LineError as error:
                raise error.at(number, path) from None
    if text.left_out == len(text):
        raise InputError(f"every pair is longer than {settings.max_words} words a side; raise max_words", inputs.source)
    if text.left_out:
        log.warn(f"{text.left_out} of {len(text)} pairs are left out: longer than {settings.max_words} words a side")
    lexicon = make_lexicon(text, settings.links_share, settings.model1_iterations)
    text.set_lexicon(lexicon.words, lexicon.probability)
    return text


def induce(inputs: RuleInputs, settings: BiparseSettings, jobs: int | None = None) -> Induced:
    """Learns weights, and counts rules under them.

    Args:
        jobs: threads, which change no result; None: one for each core.

    Raises:
        InputError: see ``read_text``; fewer pairs than folds; weights grow without end; no pair has a parse.
    """
    text = read_text(inputs, settings)
    arrays = text.arrays()
    there = np.flatnonzero(np.diff(arrays["src.offsets"]) > 0).astype(np.int32)
    if settings.folds > len(there):
        raise InputError(f"{len(there)} pairs cannot be {settings.folds} folds; ask for fewer", inputs.source)
    with in_threads(jobs or available_cores()) as engine:
        visitor = Visitor(engine)
        return _count(text, there, _learn(text, there, settings, visitor), settings, visitor, inputs)


def _fold_of(text: Bitexts, settings: BiparseSettings) -> np.ndarray:
    """int64 [pairs]: which model counts a pair; equal pairs are in one fold."""
    return np.random.default_rng([settings.seed, 1, 0]).integers(settings.folds, size=len(text))[text.arrays()["same"]]


def _learn(text: Bitexts, there: np.ndarray, settings: BiparseSettings, visitor: Visitor) -> list[Learner]:
    """The learner of each fold, when it has learned all it can."""
    folds = _fold_of(text, settings)
    learners = []
    for fold in range(settings.folds):
        name = f"fold {fold + 1}, " if settings.folds > 1 else ""
        pairs = there[folds[there] != fold] if settings.folds > 1 else there
        learner = Learner(text, settings, visitor, pairs, name)
        learner.model = learner.run()
        learners.append(learner)
    return learners


class _Collected:
    """What visits say of links and trees, pair by pair."""

    def __init__(self, n_pairs: int):
        self.best, self.likely = [""] * n_pairs, [""] * n_pairs

    def take(self, visits: Visits) -> None:
        pairs = visits.results()["pair"]
        links = visits.links()
        for texts, chosen in ((self.best, links["best"] > 0), (self.likely, links["probability"] >= 0.5)):
            some = links[chosen]
            bounds = np.searchsorted(some["visit"], np.arange(len(pairs) + 1))
            words = [f"{i}-{j}" for i, j in zip(some["source"].tolist(), some["target"].tolist(), strict=True)]
            for k, pair in enumerate(pairs.tolist()):
                texts[pair] = " ".join(words[bounds[k] : bounds[k + 1]])


def _count(
    text: Bitexts,
    there: np.ndarray,
    learners: Sequence[Learner],
    settings: BiparseSettings,
    visitor: Visitor,
    inputs: RuleInputs,
) -> Induced:
    folds = _fold_of(text, settings)
    counts = ExpectedRules(text)
    found = _Collected(len(text))
    records = []

    def take(visits: Visits) -> None:
        counts.add(visits)
        found.take(visits)

    for fold, learner in enumerate(learners):
        pairs = there[folds[there] == fold] if settings.folds > 1 else there
        records.append(visitor.in_batches(learner.model, pairs, BATCH, LINKS | TREE, take, "counts"))
    told = np.concatenate(records)
    log.table(summary(told))
    if not (told["tries"] > 0).any():
        raise InputError("no sentence pair has a parse: give alignments of this text, or wider beams", inputs.source)
    arrays = counts.arrays()
    rules = _rules(arrays, len(text), int((told["tries"] > 0).sum()))
    trace = [record | {"fold": fold} for fold, learner in enumerate(learners) for record in learner.trace]
    return Induced(rules, [learner.model for learner in learners], trace, found.best, found.likely, arrays["edges"])


def _rules(arrays: dict[str, np.ndarray], pairs: int, parsed: int) -> InducedRules:
    rules = RuleTable.from_arrays(arrays)
    return InducedRules(
        rules,
        arrays["expected"],
        arrays["pairs"],
        arrays["lexicon.words"],
        arrays["linked"],
        _bare(rules),
        arrays["sums"][:, 2:] / np.maximum(arrays["expected"], 1e-300)[:, None],
        pairs,
        parsed,
    )


def _bare(rules: RuleTable) -> np.ndarray:
    """bool [rules]: no word on a side, or nonterminals side by side on the source side."""
    rule = np.repeat(np.arange(len(rules)), np.diff(rules.offsets))
    on_source = np.arange(len(rule)) - rules.offsets[:-1][rule] < rules.src_length[rule]
    word = rules.symbols >= 0
    n_source = np.bincount(rule[word & on_source], minlength=len(rules))
    n_target = np.bincount(rule[word & ~on_source], minlength=len(rules))
    gap = ~word & on_source
    beside = gap[1:] & gap[:-1] & (rule[1:] == rule[:-1])
    adjacent = np.bincount(rule[1:][beside], minlength=len(rules))
    return (n_source == 0) | (n_target == 0) | (adjacent > 0)


def induced_tokens(found: Induced) -> RuleTokens:
    """Where the best derivations have the rules that a grammar may have."""
    rules, edges = found.rules, found.edges
    good = ~np.logical_or.reduce(list(rules.barred().values()))
    places = np.column_stack([edges["rule"], edges["visit"], edges["span"][:, :2], edges["tails"].reshape(-1, 4)])
    places = places[good[edges["rule"]]]
    places[:, 0] = (np.cumsum(good) - 1)[places[:, 0]]
    return RuleTokens(rules.rules.select(np.flatnonzero(good)), places.astype(np.int32))
