"""From phrases and a graph to rules: candidates, propagation, features (thesis, section 5.1.5), and a diagnosis."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg.errors import InputError, quote
from lscfg.formats.kbest import Hypothesis
from lscfg.induce.propagate.candidates import (
    ORDERS,
    ORIGINS,
    CandidateLists,
    from_decoder,
    from_neighbours,
    from_spelling,
    make_lists,
)
from lscfg.induce.propagate.contexts import unit_rows, weighted
from lscfg.induce.propagate.neighbours import nearest_rows, transitions
from lscfg.induce.propagate.phrases import PhraseFile, PhraseSide
from lscfg.induce.propagate.propagation import METHODS, SOLVERS, TARGETS, Solution, make_step, solve
from lscfg.io.text import stream_lines
from lscfg.settings import Declared, setting

LEAST = 1e-9
"""Rules of a smaller probability are not written."""


@dataclass(frozen=True)
class PropagationSettings(Declared):
    """How translations spread over the graph."""

    method: str = setting("slp", "propagation: structured (slp) or plain (lp)", choices=METHODS)
    shares: str = setting("list", "what similarities of targets are shared out over", choices=TARGETS)
    solver: str = setting("linear", "solver: the unique solution, or sweeps as in the thesis", choices=SOLVERS)
    candidates: tuple[str, ...] = setting(ORIGINS, "sources of candidates", choices=ORIGINS)
    list_order: str = setting("ranks", "order of the candidates", choices=ORDERS)
    r: int = setting(20, "most candidates of a phrase", least=1, option="list-size")
    k: int = setting(100, "most similar targets of a target", least=1, option="target-neighbours")
    sweeps: int = setting(200, "most sweeps", least=1)
    max_targets: int = setting(5, "most rules of a phrase", least=1)
    min_probability: float = setting(0.001, "least probability of a rule", least=LEAST, most=1)


@dataclass(frozen=True)
class Expansion:
    """New rules.

    Attributes:
        candidates: all lists; solution: of the unlabelled phrases' pairs.
        row, column: int64 [rules], source and target phrase; features: float64 [rules, ``FEATURES``].
        capped: rules whose P(f|e) came out above 1.
    """

    candidates: CandidateLists
    solution: Solution
    row: np.ndarray
    column: np.ndarray
    features: np.ndarray
    capped: int

    def statistics(self) -> dict[str, object]:
        """Sizes for the log and the report."""
        with_list = len(np.unique(self.solution_rows))
        bits = self.candidates.origin
        origins = {f"candidates from {name}": int((bits >> k & 1).sum()) for k, name in enumerate(ORIGINS)}
        return {
            "phrases with candidates": with_list,
            **origins,
            "phrases reached by a label": int(self.solution.reached.sum()),
            "phrases not at rest": len(self.solution.unsettled),
            "sweeps": len(self.solution.residuals),
            "last change": f"{self.solution.residuals[-1]:.2g}" if self.solution.residuals else "none",
            "rules": len(self.row),
            "phrases with a rule": len(np.unique(self.row)),
            "P(f|e) above 1, set to 1": self.capped,
        }

    @property
    def solution_rows(self) -> np.ndarray:
        """int64, the source phrase of each pair."""
        lists = self.candidates.lists
        rows = np.repeat(np.arange(lists.shape[0]), np.diff(lists.indptr))
        return rows[self.candidates.origin > 0]


FEATURES = ("GraphEgivenF", "GraphFgivenE", "GraphLexEgivenF", "GraphLexFgivenE", "Graph")
"""Features of new rules: -log10 of the propagated P(e|f), of P(f|e) by Bayes' rule, and of the lexical weights; 1."""


def similar_phrases(
    side: PhraseSide, k: int, chosen: np.ndarray | None = None, weighting: str = "pmi", threads: int = 1
) -> sparse.csr_matrix:
    """The k most similar phrases of each phrase by context.

    Args:
        chosen: int64, phrases that alone are compared; None: all. Others have no neighbours.
    """
    counts = side.contexts if chosen is None else side.contexts[chosen]
    graph = nearest_rows(unit_rows(weighted(counts, weighting)), k, side.frequent, threads)
    if chosen is None:
        return graph
    place = sparse.csr_matrix(
        (np.ones(len(chosen)), (chosen, np.arange(len(chosen)))), shape=(len(side.count), len(chosen))
    )
    return (place @ graph @ place.T).tocsr()


def expand(
    phrases: PhraseFile,
    graph: sparse.csr_matrix,
    nbest: tuple[Mapping[int, Sequence[Hypothesis]], str] | None,
    settings: PropagationSettings,
    threads: int = 1,
) -> Expansion:
    """Rules for unlabelled phrases.

    Args:
        graph: similarities of source phrases; nbest: k-best lists of the unlabelled ones and the name of their file.

    Raises:
        InputError: see ``from_decoder``.
    """
    walk = transitions(graph)
    sources = {}
    if "neighbours" in settings.candidates:
        sources["neighbours"] = from_neighbours(walk, phrases.labels)
    if "decoder" in settings.candidates and nbest is not None:
        sources["decoder"] = from_decoder(nbest[0], phrases, nbest[1])
    if "characters" in settings.candidates:
        sources["characters"] = from_spelling(phrases.source.phrases.texts(phrases.words), phrases.labels)
    made = make_lists(phrases, sources, settings.r, settings.list_order)
    size = len(phrases.target.count)
    similar = sparse.identity(size, format="csr")
    if settings.method == "slp":
        used = np.unique(made.lists.indices)
        similar = (similar + similar_phrases(phrases.target, settings.k, used, threads=threads)).tocsr()
    labelled = phrases.labelled
    step = make_step(walk, made.lists, labelled, similar, settings.shares)
    chosen = made.origin > 0
    solution = solve(step, made.lists.data[chosen], settings.solver, settings.sweeps)
    lists = made.lists
    row = np.repeat(np.arange(lists.shape[0]), np.diff(lists.indptr))[chosen]
    column, lexical = lists.indices[chosen].astype(np.int64), made.lexical[chosen]
    return _rules(phrases, made, solution, (row, column, lexical), settings)


def _rules(
    phrases: PhraseFile,
    made: CandidateLists,
    solution: Solution,
    pairs: tuple[np.ndarray, np.ndarray, np.ndarray],
    settings: PropagationSettings,
) -> Expansion:
    row, column, lexical = pairs
    forward = solution.probability
    order = np.lexsort((column, -forward, row))
    place = np.arange(len(order)) - np.searchsorted(row[order], row[order])
    kept = np.sort(order[(place < settings.max_targets) & (forward[order] >= settings.min_probability)])
    # of a phrase that no text has, as of one of a single token
    marginals = [np.maximum(side.count, 1) / max(side.count.sum(), 1) for side in (phrases.source, phrases.target)]
    backward = forward * marginals[0][row] / marginals[1][column]
    capped = int((backward[kept] > 1).sum())
    columns = [-np.log10(forward[kept]), -np.log10(np.clip(backward[kept], LEAST, 1)), *lexical[kept].T]
    features = np.stack([*columns, np.ones(len(kept))], 1) + 0.0
    return Expansion(made, solution, row[kept], column[kept], features, capped)


def rule_lines(phrases: PhraseFile, found: Expansion) -> Iterator[str]:
    """The rules in cdec's format."""
    source, target = phrases.source.phrases.texts(phrases.words), phrases.target.phrases.texts(phrases.words)
    for f, e, values in zip(found.row.tolist(), found.column.tolist(), found.features.tolist(), strict=True):
        named = " ".join(f"{name}={value:.6g}" for name, value in zip(FEATURES, values, strict=True))
        yield f"[X] ||| {source[f]} ||| {target[e]} ||| {named}"


# ---- diagnosis ----


def read_gold(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """P(e|f) of the rules of a grammar that have no nonterminal, by source side.

    Raises:
        InputError: no rule has the feature EgivenF, or one has something else there than a cost.
    """
    found: dict[str, dict[str, float]] = {}
    known = False
    for number, line in enumerate(stream_lines(path), 1):
        fields = line.split(" ||| ")
        if len(fields) < 4 or fields[0] != "[X]" or "[X," in fields[1]:
            continue
        values = dict(item.split("=", 1) for item in fields[3].split() if "=" in item)
        known |= "EgivenF" in values
        cost = values.get("EgivenF", "0")  # costs of 0 are not written
        try:
            found.setdefault(fields[1], {})[fields[2]] = 10 ** -float(cost)
        except (ValueError, OverflowError):
            raise InputError(f"EgivenF={quote(cost)} is no cost; make the grammar anew", path, number) from None
    if not known:
        raise InputError("no rule has the feature EgivenF; name a grammar of lscfg grammar", path)
    return found


def diagnose_lists(phrases: PhraseFile, found: Expansion, gold: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """How often the most probable translation of a fuller grammar is found, by length of the phrase.

    Only unlabelled phrases count that the grammar and the monolingual text have: how many there are, shares of those
    with the translation in the list (of each origin, too), and the mean reciprocal rank after propagation.
    """
    lists = found.candidates.lists
    source, target = phrases.source.phrases.texts(phrases.words), phrases.target.phrases.texts(phrases.words)
    lengths, labelled = phrases.source.phrases.lengths, phrases.labelled
    rank_of: dict[int, tuple[int, int]] = {}
    bounds = np.concatenate([[0], np.cumsum(np.where(labelled, 0, np.diff(lists.indptr)))])
    for f in np.flatnonzero(~labelled & (phrases.source.count > 0)).tolist():
        if source[f] not in gold:
            continue
        best = max(gold[source[f]].items(), key=lambda item: (item[1], item[0]))[0]
        entries = range(lists.indptr[f], lists.indptr[f + 1])
        place = next((at for at in entries if target[lists.indices[at]] == best), None)
        rank, origin = 0, 0
        if place is not None:
            values = found.solution.probability[bounds[f] : bounds[f + 1]]
            own = values[place - lists.indptr[f]]
            rank, origin = 1 + int((values > own).sum()), int(found.candidates.origin[place])
        rank_of[f] = (rank, origin)
    result: dict[str, float] = {}
    for length in sorted({int(lengths[f]) for f in rank_of}):
        ranks = [value for f, value in rank_of.items() if lengths[f] == length]
        name = f"{length}-grams"
        result[f"{name} of the grammar"] = len(ranks)
        result[f"{name}: translation in the list"] = _mean([rank > 0 for rank, _ in ranks])
        for bit, source_name in enumerate(ORIGINS):
            result[f"{name}: in the list from {source_name}"] = _mean([bits >> bit & 1 for _, bits in ranks])
        result[f"{name}: first"] = _mean([rank == 1 for rank, _ in ranks])
        result[f"{name}: mean reciprocal rank"] = _mean([1 / rank if rank else 0 for rank, _ in ranks])
    return {name: round(float(value), 4) for name, value in result.items()}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
