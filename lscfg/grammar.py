"""The minimal grammar with the usual features of a hierarchical system (paper, section 5.1), in cdec's format."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from lscfg.derive import Derivations
from lscfg.errors import InputError
from lscfg.log import progress
from lscfg.text import atomic_write

MAX_ARITY = 2

FEATURES = (
    "EgivenF",
    "FgivenE",
    "MaxLexEgivenF",
    "MaxLexFgivenE",
    "CountEF",
    "SampleCountF",
    "IsSingletonF",
    "IsSingletonFE",
    "Glue",
    "Inverse",
)
"""The features of each rule. EgivenF, FgivenE: -log10 of the relative frequencies P(e|f), P(f|e). MaxLexEgivenF,
MaxLexFgivenE: -log10 of the lexical weights. CountEF, SampleCountF: log10(1 + count) of the rule, of its source side.
IsSingletonF, IsSingletonFE: 1 where the source side, the rule occurs once. Glue: 1 for [X,1] [X,2] in order, which does
here what the glue rule does in a Hiero grammar. Inverse: 1 where the two nonterminals change places."""

NO_TRANSLATION = 1e-7
"""Lexical probability of a word that no word of the other side translates."""

MAX_TARGETS = 30
"""Target sides that a source side keeps. Bare nonterminals with some unlinked target word have thousands, most of them
seen once; they would be tried in every span of every sentence."""

ROOT_RULE = "[S] ||| [X,1] ||| [1] ||| "


def rule_features(derivations: Derivations) -> np.ndarray:
    """The values of ``FEATURES`` for every rule type, float64 [rules, features]."""
    rules = derivations.rules
    count = derivations.counts.astype(float)
    count_f = np.bincount(rules.source_id, count)[rules.source_id]
    count_e = np.bincount(rules.target_id, count)[rules.target_id]
    lexical = np.array(list(_lexical_weights(derivations))).reshape(-1, 2)
    first_of_tgt = rules.offsets[:-1] + rules.src_length
    length = np.diff(rules.offsets)
    bare = (rules.arity == 2) & (rules.src_length == 2) & (length == 4)
    has_target = first_of_tgt < rules.offsets[1:]
    ordered = np.zeros(len(rules), bool)
    ordered[has_target] = rules.symbols[first_of_tgt[has_target]] == -1
    inverse = np.array([rules.arity[r] == 2 and _swapped(rules.tgt(r)) for r in range(len(rules))], bool)
    columns = [
        -np.log10(count / count_f),
        -np.log10(count / count_e),
        lexical[:, 0],
        lexical[:, 1],
        np.log10(1 + count),
        np.log10(1 + count_f),
        count_f == 1,
        count == 1,
        bare & ordered,
        inverse,
    ]
    return np.stack([np.asarray(c, float) for c in columns], 1) + 0.0  # + 0.0 turns -0 into 0


def _swapped(tgt: np.ndarray) -> bool:
    nonterminals = tgt[tgt < 0]
    return len(nonterminals) == 2 and bool(nonterminals[0] < nonterminals[1])


def _lexical_weights(derivations: Derivations) -> Iterator[tuple[float, float]]:
    """-log10 of the lexical weights (e|f) and (f|e) of each rule.

    Each word takes its best partner among the words of the other side and NULL (Koehn et al. 2003, with the maximum in
    place of the mean); probabilities are relative frequencies of links, a word without a link counting as one to NULL.
    """
    pairs, counts = derivations.lexicon, derivations.lexicon_count.astype(float)
    sides = []
    for given, wanted in ((0, 1), (1, 0)):
        total = np.bincount(pairs[:, given] + 1, counts)
        cost = -np.log10(counts / total[pairs[:, given] + 1])
        keys = zip(pairs[:, wanted].tolist(), pairs[:, given].tolist(), strict=True)
        sides.append(dict(zip(keys, cost.tolist(), strict=True)))
    worst = -float(np.log10(NO_TRANSLATION))

    def weight(words: list[int], others: list[int], costs: dict[tuple[int, int], float]) -> float:
        return sum(min([costs.get((w, o), worst) for o in others] + [costs.get((w, -1), worst)]) for w in words)

    rules = derivations.rules
    for rule in progress(range(len(rules)), "lexical weights"):
        f = [s for s in rules.src(rule).tolist() if s >= 0]
        e = [s for s in rules.tgt(rule).tolist() if s >= 0]
        yield weight(e, f, sides[0]), weight(f, e, sides[1])


def most_frequent_targets(derivations: Derivations, limit: int) -> np.ndarray:
    """bool [rules]: whether a rule is among the ``limit`` most frequent ones of its source side (ties: the earlier)."""
    return most_frequent(derivations.rules.source_id, derivations.counts, limit)


def most_frequent(source: np.ndarray, counts: np.ndarray, limit: int) -> np.ndarray:
    """bool [rules]: whether a rule is among the ``limit`` most frequent ones of its source side (ties: the earlier).

    Args:
        source: int64 [rules], number of the source side; counts: int64 [rules].
    """
    order = np.lexsort((np.arange(len(source)), -counts, source))
    first_of_source = np.searchsorted(source[order], source[order])
    kept = np.zeros(len(source), bool)
    kept[order] = np.arange(len(order)) - first_of_source < limit
    return kept


def write_grammar(path: str | os.PathLike[str], derivations: Derivations, max_targets: int = MAX_TARGETS) -> int:
    """Writes the minimal grammar in cdec's format and returns its number of rules.

    Rules of more than two nonterminals are left out, and so are target sides beyond the ``max_targets`` most frequent
    of a source side; relative frequencies are those of all rules. The last line is the root rule ``[S] -> [X,1]``: the
    grammar is meant for a decoder without Hiero's glue rules.

    Raises:
        InputError: ``max_targets`` is less than 1.
    """
    if max_targets < 1:
        raise InputError(f"a source side needs at least 1 target side, not {max_targets}")
    rules = derivations.rules
    values = rule_features(derivations)
    kept = np.nonzero((rules.arity <= MAX_ARITY) & most_frequent_targets(derivations, max_targets))[0]
    with atomic_write(path) as file:
        for rule in kept.tolist():
            row = values[rule].tolist()
            features = " ".join(f"{name}={value:.6g}" for name, value in zip(FEATURES, row, strict=True) if value)
            file.write(f"{rules.text(rule)} ||| {features}\n")
        file.write(ROOT_RULE + "\n")
    return len(kept)
