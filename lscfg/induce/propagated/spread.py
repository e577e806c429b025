"""Candidates of unlabelled phrases and their probabilities: all sources, then propagation over the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from lscfg.induce.propagated.candidates import (
    ORDERS,
    ORIGINS,
    from_decoder,
    from_neighbours,
    from_spelling,
    make_lists,
)
from lscfg.induce.propagated.contexts import values_at
from lscfg.induce.propagated.mapping import from_map
from lscfg.induce.propagated.morphology import from_stems
from lscfg.induce.propagated.neighbours import transitions
from lscfg.induce.propagated.phrases import PhraseFile
from lscfg.induce.propagated.propagation import METHODS, SOLVERS, TARGETS, Solution, make_step, solve
from lscfg.induce.propagated.spaces import GraphSettings, similar_phrases
from lscfg.prepare.stems import stemmer
from lscfg.settings import Declared, SettingError, setting

GOLD = "gold"
"""The method that does not propagate."""

RANKINGS = ("learned", "propagated")

LEAST = 1e-9
"""Least probability of a rule in a grammar."""


@dataclass(frozen=True)
class PropagationSettings(Declared):
    """Settings of propagation over the graph."""

    method: str = setting(
        "slp",
        "propagation: structured (slp), plain (lp), or from the nearest labels only (nearest); "
        "gold: rules of a fuller grammar, as an upper bound",
        choices=(*METHODS, GOLD),
    )
    shares: str = setting("list", "targets over which similarities are normalised", choices=TARGETS)
    solver: str = setting("linear", "linear: the unique solution; sweeps: as in the thesis", choices=SOLVERS)
    candidates: tuple[str, ...] = setting(ORIGINS, "sources of candidates", choices=ORIGINS)
    source_stemmer: str = setting("", "Snowball stemmer of the source, such as german, for candidates from stems")
    target_stemmer: str = setting("", "Snowball stemmer of the target")
    source_stems: Path | None = setting(None, "file of words and stems instead of a stemmer of the source")
    target_stems: Path | None = setting(None, "file of words and stems instead of a stemmer of the target")
    target_vectors: Path | None = setting(None, "word vectors of the target for a graph of the space vectors, as text")
    list_order: str = setting("ranks", "order of the candidates", choices=ORDERS)
    ranking: str = setting(
        "learned",
        "P(e|f): propagated, or from a log-linear model of candidates, learned from phrases with translations",
        choices=RANKINGS,
    )
    r: int = setting(20, "maximum candidates of a phrase", least=1, option="list-size")
    k: int = setting(100, "maximum similar targets of a target", least=1, option="target-neighbours")
    sweeps: int = setting(200, "maximum sweeps", least=1)
    max_targets: int = setting(5, "maximum rules of a phrase", least=1)
    min_probability: float = setting(0.001, "minimum probability of a rule", least=LEAST, most=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("target_stemmer", "target_stems"):
            if getattr(self, name) and not (self.source_stemmer or self.source_stems):
                raise SettingError(name, "needs a stemmer of the source")


@dataclass(frozen=True)
class Spread:
    """Pairs of an unlabelled phrase and a candidate.

    Attributes:
        row, column: int64 [pairs], source and target phrases, in ascending order.
        origin: uint8 [pairs], bits of ``ORIGINS``.
        lexical: float64 [pairs, 2], -log10 of the lexical weights.
        values: by source of candidates, float64 [pairs], its value of the pair; 0 for missing pairs.
        probability: float64 [pairs], P(e|f); the probabilities of a phrase sum to 1.
        solution: result of propagation.
    """

    row: np.ndarray
    column: np.ndarray
    origin: np.ndarray
    lexical: np.ndarray
    values: Mapping[str, np.ndarray]
    probability: np.ndarray
    solution: Solution


def spread(
    phrases: PhraseFile,
    graph: tuple[sparse.csr_matrix, GraphSettings],
    nbest: tuple[Mapping[int, Sequence[str]], str] | None,
    settings: PropagationSettings,
    threads: int = 1,
) -> Spread:
    """Candidates with probabilities from propagation; for the arguments see ``expand``.

    Raises:
        InputError: see ``from_decoder``, ``stemmer`` and ``read_vectors``.
    """
    walk, space = transitions(graph[0]), graph[1]
    sources = {}
    if "neighbours" in settings.candidates:
        sources["neighbours"] = from_neighbours(walk, phrases.labels)
    if "decoder" in settings.candidates and nbest is not None:
        sources["decoder"] = from_decoder(nbest[0], phrases, nbest[1])
    if "characters" in settings.candidates:
        sources["characters"] = from_spelling(phrases.source.phrases.texts(phrases.words), phrases.labels)
    if "map" in settings.candidates:
        sources["map"] = from_map(phrases, space)
    if "stems" in settings.candidates and (settings.source_stemmer or settings.source_stems):
        stems = stemmer(settings.source_stemmer, settings.source_stems)
        sources["stems"] = from_stems(phrases, stems, stemmer(settings.target_stemmer, settings.target_stems))
    sources |= {name: matrix for name, matrix in phrases.proposed.items() if name in settings.candidates}
    made = make_lists(phrases, sources, settings.r, settings.list_order)
    similar = sparse.identity(len(phrases.target.count), format="csr")
    if settings.method == "slp":
        used = np.unique(made.lists.indices)
        vectors = settings.target_vectors
        similar = similar + similar_phrases(phrases.target, phrases.words, space, settings.k, vectors, used, threads)
    step = make_step(walk, made.lists, phrases.labelled, similar.tocsr(), settings.shares)
    if settings.method == "nearest":  # unlabelled phrases do not influence each other
        step = dataclasses.replace(step, operator=sparse.csr_matrix(step.operator.shape))
    chosen, lists = made.origin > 0, made.lists
    solution = solve(step, lists.data[chosen], settings.solver, settings.sweeps)
    row = np.repeat(np.arange(lists.shape[0]), np.diff(lists.indptr))[chosen]
    column = lists.indices[chosen].astype(np.int64)
    values = {name: values_at(matrix, row, column) for name, matrix in sources.items()}
    return Spread(row, column, made.origin[chosen], made.lexical[chosen], values, solution.probability, solution)
