"""The rules of sentence pairs with expected counts, as a grammar."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import RuleInputs
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.biparsed.checkpoint import LearnerCheckpoint
from lscfg.induce.biparsed.learn import Learner
from lscfg.induce.biparsed.lexicon import text_words
from lscfg.induce.biparsed.passes import Visitor, summary
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.induce.biparsed.shards import in_shards
from lscfg.induce.biparsed.text import read_bitexts
from lscfg.io.read import file_hash
from lscfg.kernel.biparse import LINKS, TREE, BiparseModel, Bitexts, ExpectedRules, Visits
from lscfg.model.boundary import BoundaryModel
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import available_cores

SUMMARY = ("RuleWeight", "WordPairs")
"""Features of a grammar with learned weights: the weight of the rule, and of its linked words."""

BATCH = 64
"""Pairs that are counted at a time; each piece keeps the memory of its largest pair."""


@dataclass(frozen=True)
class InducedRules(RuleCounts):
    """Rules with expected counts, over all their links.

    Attributes:
        bare: bool [rules], True without words on a side, or with adjacent nonterminals.
        weights: float64 [rules, 2], learned weights of the rule and of its linked words, means over its uses; None
            without learning.
        pairs: number of sentence pairs; parsed: number of pairs with a derivation.
    """

    bare: np.ndarray
    weights: np.ndarray | None
    pairs: int
    parsed: int

    @property
    def features(self) -> tuple[str, ...]:
        """Adds the learned weights."""
        return super().features + (SUMMARY if self.weights is not None else ())

    def own_columns(self, which: np.ndarray) -> list[np.ndarray]:
        """Learned weights."""
        return [] if self.weights is None else list(self.weights[which].T)

    def barred(self) -> dict[str, np.ndarray]:
        """Adds rules that no decoder accepts."""
        return super().barred() | {"without a word on a side, or with nonterminals side by side": self.bare}

    def statistics(self) -> dict[str, int]:
        """Adds the number of pairs with a derivation."""
        return {"sentences": self.pairs, "sentences with a derivation": self.parsed} | super().statistics()


@dataclass(frozen=True)
class Induced:
    """Result of inducing rules from a text.

    Attributes:
        rules: rules with their counts; trace: a record for each pass of each fold.
        best_links, likely_links: int32 [links, 3], pair, source and target word of links in the best derivations, and
            of links with a probability of at least 1/2; pair by pair.
        edges: edges of the best derivations, see ``ExpectedRules``; pair by pair.
        text: the pairs.
        boundary: learned weights of words at the borders of source spans, means over the folds.
    """

    rules: InducedRules
    trace: list[dict[str, object]]
    best_links: np.ndarray
    likely_links: np.ndarray
    edges: np.ndarray
    text: Bitexts
    boundary: BoundaryModel

    def link_lines(self, links: np.ndarray) -> list[str]:
        """A line of links ``i-j`` for each pair."""
        bounds = np.searchsorted(links[:, 0], np.arange(self.rules.pairs + 1)).tolist()
        words = [f"{i}-{j}" for _, i, j in links.tolist()]
        return [" ".join(words[a:b]) for a, b in pairwise(bounds)]


def induce(
    inputs: RuleInputs,
    settings: BiparseSettings,
    jobs: int | None = None,
    folder: Path | None = None,
    resume: bool = False,
) -> Induced:
    """Learns weights, and counts rules under them.

    Args:
        jobs: number of threads, and of processes for shards; results do not depend on it; None: one for each core.
        folder: folder for a checkpoint after each pass; with ``resume`` learning continues from it.

    Raises:
        InputError: see ``read_bitexts``; fewer pairs than folds or shards; weights diverge; no pair has a
            parse.
    """
    text = read_bitexts(inputs, settings)
    with in_threads(jobs or available_cores()) as engine:
        visitor = Visitor(engine)
        learned = _learn(text, inputs, settings, visitor, jobs, folder, resume)
        return _count(text, learned, settings, visitor, inputs)


def learn(
    inputs: RuleInputs,
    settings: BiparseSettings,
    jobs: int | None = None,
    folder: Path | None = None,
    resume: bool = False,
) -> BoundaryModel:
    """Learns weights only; ``induce`` with the same folder resumes from the result.

    Returns:
        The weights of the words at the borders of source spans.

    Raises:
        InputError: see ``induce``.
    """
    text = read_bitexts(inputs, settings)
    with in_threads(jobs or available_cores()) as engine:
        learned = _learn(text, inputs, settings, Visitor(engine), jobs, folder, resume)
    return _boundary(text_words(text), [_spans(model) for model in learned.models])


FREE = ("counts", "max_targets", "max_span")
"""Settings that do not affect learned weights."""


def _fingerprint(inputs: RuleInputs, settings: BiparseSettings) -> str:
    """A digest of everything that learning depends on, except the number of passes."""
    facts = {name: value for name, value in settings.facts().items() if name not in ("passes", *FREE)}
    files = (*inputs.parallel, *inputs.alignments, *settings.files().values())
    hashes = [file_hash(path) for path in files]
    return hashlib.sha256(json.dumps([facts, hashes], sort_keys=True).encode()).hexdigest()


def _fold_of(text: Bitexts, settings: BiparseSettings) -> np.ndarray:
    """int64 [pairs]: fold whose model counts the pair; equal pairs are in one fold."""
    result: np.ndarray = np.random.default_rng([settings.seed, 1, 0]).integers(settings.folds, size=len(text))[
        text.arrays()["same"]
    ]
    return result


@dataclass(frozen=True)
class _Learned:
    """Settled models, fold by fold, with a record for each of their passes."""

    models: list[BiparseModel]
    trace: list[dict[str, object]]


def _there(text: Bitexts) -> np.ndarray:
    """int32: the pairs that are not too long."""
    return np.flatnonzero(np.diff(text.arrays()["src.offsets"]) > 0).astype(np.int32)


def _learn(
    text: Bitexts,
    inputs: RuleInputs,
    settings: BiparseSettings,
    visitor: Visitor,
    jobs: int | None,
    folder: Path | None,
    resume: bool,
) -> _Learned:
    there, folds = _there(text), _fold_of(text, settings)
    if settings.folds > len(there):
        raise InputError(f"{len(there)} pairs cannot form {settings.folds} folds; ask for fewer", inputs.source)
    if len(used := np.unique(folds[there])) < settings.folds:  # equal pairs are in one fold
        few = f"only {len(used)} of {settings.folds} folds contain pairs, since equal pairs are in one"
        raise InputError(f"{few}; ask for fewer, or try another seed", inputs.source)
    made_from = _fingerprint(inputs, settings) if folder or settings.shards > 1 else ""
    learned = _Learned([], [])
    with in_shards(inputs, settings, text, jobs or available_cores(), folder, made_from) as shards:
        place = shards.folder if shards else folder
        for fold in range(settings.folds):
            name = f"fold {fold + 1}, " if settings.folds > 1 else ""
            pairs = there[folds[there] != fold] if settings.folds > 1 else there
            checkpoint = LearnerCheckpoint(place, fold, made_from, resume)
            learner = Learner(text, settings, visitor, pairs, name, checkpoint, shards)
            learned.models.append(learner.run())
            learned.models[-1].settle()
            learned.trace.extend(record | {"fold": fold} for record in learner.trace)
    return learned


class _Collected:
    """Links collected from visits."""

    def __init__(self) -> None:
        self._best: list[np.ndarray] = []
        self._likely: list[np.ndarray] = []

    def take(self, visits: Visits) -> None:
        links = visits.links()
        pairs = visits.results()["pair"][links["visit"]]
        triples = np.column_stack([pairs, links["source"], links["target"]])
        self._best.append(triples[links["best"] > 0])
        self._likely.append(triples[links["probability"] >= 0.5])

    def links(self) -> tuple[np.ndarray, np.ndarray]:
        """The best and the likely links, pair by pair."""
        best, likely = (np.concatenate(parts) for parts in (self._best, self._likely))
        return best[np.argsort(best[:, 0], kind="stable")], likely[np.argsort(likely[:, 0], kind="stable")]


def _in_order(edges: np.ndarray) -> np.ndarray:
    """Edges of trees, pair by pair."""
    order = np.argsort(edges["visit"], kind="stable")
    place = np.empty(len(order) + 1, np.int32)
    place[order], place[-1] = np.arange(len(order)), -1
    sorted_edges = edges[order]
    sorted_edges["parent"] = place[sorted_edges["parent"]]
    return sorted_edges


def _count(
    text: Bitexts,
    learned: _Learned,
    settings: BiparseSettings,
    visitor: Visitor,
    inputs: RuleInputs,
) -> Induced:
    """Empties the list of models, because the final arrays take as much memory as the models."""
    there, folds = _there(text), _fold_of(text, settings)
    counts = ExpectedRules(text, None if inputs.wanted is None else _numbered(text, inputs.wanted))
    found = _Collected()
    records, spans = [], []

    def visit(model: BiparseModel, pairs: np.ndarray) -> None:
        def take(visits: Visits) -> None:
            counts.add(visits, model if settings.passes else None)
            found.take(visits)

        guide = model if settings.counts == "learned" else BiparseModel(text, settings.beams)
        records.append(visitor.in_batches(guide, pairs, BATCH, LINKS | TREE, take, "counts"))
        visitor.forget()
        spans.append(_spans(model))

    for fold in range(settings.folds):
        visit(learned.models.pop(0), there[folds[there] == fold] if settings.folds > 1 else there)
    told = np.concatenate(records)
    log.table(summary(told))
    if not (told["tries"] > 0).any():
        raise InputError("no sentence pair has a parse; use alignments of this text, or wider beams", inputs.source)
    arrays = counts.arrays()
    rules = _rules(arrays, len(text), int((told["tries"] > 0).sum()), settings.passes > 0)
    boundary = _boundary(rules.rules.words, spans)
    return Induced(rules, learned.trace, *found.links(), _in_order(arrays["edges"]), text, boundary)


def _spans(model: BiparseModel) -> dict[str, np.ndarray]:
    """Learned weights of a model for the borders of spans."""
    return {name: array for name, array in model.arrays().items() if name.startswith(("ends", "sides"))}


def _boundary(words: list[str], spans: Sequence[dict[str, np.ndarray]]) -> BoundaryModel:
    given = []
    for kind in ("ends", "sides"):
        pairs = np.concatenate([arrays[f"{kind}.words"] for arrays in spans])
        weights = np.concatenate([arrays[f"{kind}.weight"] for arrays in spans])
        given.append((pairs, weights / len(spans)))
    return BoundaryModel.of(words, *given)


def _numbered(text: Bitexts, sentences: Sequence[str]) -> Iterator[np.ndarray]:
    """Words of sentences as numbers, -1 for words outside the text."""
    arrays = text.arrays()
    data, offsets = arrays["vocab.bytes"].tobytes(), arrays["vocab.offsets"].tolist()
    numbers = {data[a:b]: k for k, (a, b) in enumerate(pairwise(offsets))}
    for line in sentences:
        yield np.array([numbers.get(word, -1) for word in line.encode().split(b" ") if word], np.int32)


def _of_target(rules: RuleTable, each: np.ndarray) -> np.ndarray:
    """Sums over target sides of values of rules."""
    found = np.zeros(int(rules.target_id.max(initial=-1)) + 1)
    found[rules.target_id] = each
    return found


def _rules(arrays: dict[str, np.ndarray], pairs: int, parsed: int, learned: bool) -> InducedRules:
    rules = RuleTable.from_arrays(arrays)
    weights = arrays["sums"] / np.maximum(arrays["expected"], 1e-300)[:, None] if learned else None
    return InducedRules(
        rules,
        arrays["expected"],
        arrays["pairs"].astype(np.int64),
        arrays["lexicon.words"],
        arrays["linked"],
        arrays["bare"].astype(bool),
        weights,
        pairs,
        parsed,
        target_count=_of_target(rules, arrays["of_target"]) if "of_target" in arrays else None,
    )


def induced_tokens(found: Induced) -> RuleTokens:
    """Tokens in the best derivations of rules that a grammar may contain."""
    rules, edges = found.rules, found.edges
    good = ~np.logical_or.reduce(list(rules.barred().values()))
    places = np.column_stack([edges["rule"], edges["visit"], edges["span"][:, :2], edges["tails"].reshape(-1, 4)])
    places = places[good[edges["rule"]]]
    used, places[:, 0] = np.unique(places[:, 0], return_inverse=True)
    return RuleTokens(rules.rules.select(used), places.astype(np.int32))


def induced_trees(found: Induced) -> Derivations:
    """The best derivations, one tree for each pair; a pair without one has a tree without nodes."""
    edges, n = found.edges, found.rules.pairs
    words, counts = _linked_words(found)
    used, rule = np.unique(edges["rule"], return_inverse=True)
    return Derivations(
        found.rules.rules.select(used),
        np.searchsorted(edges["visit"], np.arange(n + 1)).astype(np.int64),
        rule.astype(np.int32),
        edges["parent"].copy(),
        edges["slot"].copy(),
        edges["span"].copy(),
        words,
        counts,
        dropped={"without a derivation": n - found.rules.parsed} if found.rules.parsed < n else {},
    )


def _linked_words(found: Induced) -> tuple[np.ndarray, np.ndarray]:
    """Words that the best derivations link, -1 for none, and the number of links."""
    arrays = found.text.arrays()
    pair, source, target = found.best_links.T
    at = [arrays["src.offsets"][pair] + source, arrays["tgt.offsets"][pair] + target]
    linked = [np.column_stack([arrays["src"][at[0]], arrays["tgt"][at[1]]])]
    parsed = np.unique(found.edges["visit"])
    for side, name in enumerate(("src", "tgt")):
        alone = np.isin(np.repeat(np.arange(found.rules.pairs), np.diff(arrays[f"{name}.offsets"])), parsed)
        alone[at[side]] = False
        none = np.full(int(alone.sum()), -1)
        linked.append(np.column_stack([arrays[name][alone], none] if side == 0 else [none, arrays[name][alone]]))
    words, counts = np.unique(np.concatenate(linked), axis=0, return_counts=True)
    return words.astype(np.int32), counts.astype(np.int64)
