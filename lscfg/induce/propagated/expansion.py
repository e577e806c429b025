"""Rules for unlabelled phrases and their features (thesis, section 5.1.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.induce.propagated.candidates import ORIGINS
from lscfg.induce.propagated.phrases import PhraseFile
from lscfg.induce.propagated.ranking import learn_ranking
from lscfg.induce.propagated.spaces import GraphSettings
from lscfg.induce.propagated.spread import LEAST, PropagationSettings, Spread, spread


@dataclass(frozen=True)
class Expansion:
    """New rules.

    Attributes:
        spread: all candidates with their probabilities.
        row, column: int64 [rules], source and target phrases; features: float64 [rules, ``FEATURES``].
        capped: number of rules whose P(f|e) exceeded 1.
    """

    spread: Spread
    row: np.ndarray
    column: np.ndarray
    features: np.ndarray
    capped: int

    def translated(self, phrases: PhraseFile) -> set[str]:
        """The phrases with a rule."""
        texts = phrases.source.phrases.texts(phrases.words)
        return {texts[f] for f in np.unique(self.row).tolist()}

    def statistics(self) -> dict[str, object]:
        """Sizes for the log and the report."""
        found, bits = self.spread, self.spread.origin
        origins = {f"candidates from {name}": int((bits >> k & 1).sum()) for k, name in enumerate(ORIGINS)}
        residuals = found.solution.residuals
        return {
            "phrases with candidates": len(np.unique(found.row)),
            **origins,
            "phrases reached by a label": int(found.solution.reached.sum()),
            "phrases not at rest": len(found.solution.unsettled),
            "sweeps": len(residuals),
            "last change": f"{residuals[-1]:.2g}" if residuals else "none",
            "rules": len(self.row),
            "phrases with a rule": len(np.unique(self.row)),
            "P(f|e) above 1, set to 1": self.capped,
        }


COUNTERPARTS = {
    "GraphEgivenF": "EgivenF",
    "GraphFgivenE": "FgivenE",
    "GraphLexEgivenF": "MaxLexEgivenF",
    "GraphLexFgivenE": "MaxLexFgivenE",
}
"""Features of new rules, and the corresponding features of rules from parallel text."""

FEATURES = (*COUNTERPARTS, "Graph")
"""Features of new rules: -log10 of the propagated P(e|f), of P(f|e) by Bayes' rule, and of the lexical weights; 1."""


def expand(
    phrases: PhraseFile,
    graph: tuple[sparse.csr_matrix, GraphSettings],
    nbest: tuple[Mapping[int, Sequence[str]], str] | None,
    settings: PropagationSettings,
    threads: int = 1,
) -> Expansion:
    """Rules for unlabelled phrases.

    Args:
        graph: similarities of source phrases and the settings of the graph, which also apply to target phrases.
        nbest: translations of the unlabelled phrases, best first, and the name of their file.

    Raises:
        InputError: no chosen source can propose candidates, or the graph does not use target vectors; see also
            ``spread``.
    """
    needs = {"decoder": "needs lists of translations (--nbest)"} if nbest is None else {}
    if not (settings.source_stemmer or settings.source_stems):
        needs["stems"] = "needs a stemmer (source_stemmer)"
    if needs.keys() >= {*settings.candidates}:
        raise InputError("no candidates: " + ", ".join(f"{name} {needs[name]}" for name in settings.candidates))
    if settings.target_vectors and graph[1].space != "vectors":
        raise InputError(f"target_vectors has no effect on a graph of the space {graph[1].space}; leave it out")
    found = spread(phrases, graph, nbest, settings, threads)
    if settings.ranking == "learned":
        found = learn_ranking(phrases, graph, found, settings, threads)
    return _rules(phrases, found, settings)


def _rules(phrases: PhraseFile, found: Spread, settings: PropagationSettings) -> Expansion:
    row, column, lexical = found.row, found.column, found.lexical
    forward = found.probability
    order = np.lexsort((column, -forward, row))
    place = np.arange(len(order)) - np.searchsorted(row[order], row[order])
    kept = np.sort(order[(place < settings.max_targets) & (forward[order] >= settings.min_probability)])
    # a phrase in no text counts as a single token
    marginals = [np.maximum(side.count, 1) / max(side.count.sum(), 1) for side in (phrases.source, phrases.target)]
    backward = forward * marginals[0][row] / marginals[1][column]
    capped = int((backward[kept] > 1).sum())
    columns = [-np.log10(forward[kept]), -np.log10(np.clip(backward[kept], LEAST, 1)), *lexical[kept].T]
    features = np.stack([*columns, np.ones(len(kept))], 1) + 0.0
    return Expansion(found, row[kept], column[kept], features, capped)


def rule_lines(phrases: PhraseFile, found: Expansion) -> Iterator[str]:
    """The rules in cdec's format."""
    source, target = phrases.source.phrases.texts(phrases.words), phrases.target.phrases.texts(phrases.words)
    for f, e, values in zip(found.row.tolist(), found.column.tolist(), found.features.tolist(), strict=True):
        named = " ".join(f"{name}={value:.6g}" for name, value in zip(FEATURES, values, strict=True))
        yield f"[X] ||| {source[f]} ||| {target[e]} ||| {named}"
