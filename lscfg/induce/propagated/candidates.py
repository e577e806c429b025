"""Candidate translations of unlabelled phrases: from neighbours, a decoder and phrases of similar spelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.errors import InputError
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.table import RuleTable
from lscfg.induce.propagated.contexts import unit_rows, values_at
from lscfg.induce.propagated.ngrams import NGrams
from lscfg.induce.propagated.phrases import PhraseFile

ORIGINS = ("neighbours", "decoder", "characters", "map", "stems", "parallel", "sentences")
"""Origins of candidates; the k-th is bit k of an origin."""

ORDERS = ("ranks", "lex")
NEAREST = 20
"""Number of labelled phrases of the most similar spelling whose labels become candidates."""

RANK = 5
"""Added to ranks before inversion, so that the first rank counts little more than the second."""


@dataclass(frozen=True)
class CandidateLists:
    """Lists of unlabelled phrases.

    Attributes:
        lists: [phrases, targets], labels of labelled phrases, and scores of candidates that sum to 1 for each phrase.
        origin: uint8 [entries of lists], bits of ``ORIGINS``; 0 for labels.
        lexical: float64 [entries of lists, 2], -log10 of the lexical weights, of the target and of the source words.
    """

    lists: sparse.csr_matrix
    origin: np.ndarray
    lexical: np.ndarray


def from_neighbours(walk: sparse.csr_matrix, labels: sparse.csr_matrix) -> sparse.csr_matrix:
    """The labels of neighbours, with the sums of their shares."""
    return (walk @ labels).tocsr()


def from_spelling(phrases: Sequence[str], labels: sparse.csr_matrix) -> sparse.csr_matrix:
    """The labels of phrases of similar spelling, by the cube of the cosine of their character n-grams (n = 2, 3, 4)."""
    grams = [_spelling(text) for text in phrases]
    number = {gram: k for k, gram in enumerate(dict.fromkeys(gram for one in grams for gram in one))}
    row = np.repeat(np.arange(len(grams)), [len(one) for one in grams])
    column = np.array([number[gram] for one in grams for gram in one], np.int64)
    rarity = np.log(len(grams) / np.maximum(np.bincount(column, minlength=len(number)), 1)) + 1e-9
    counts = np.array([value for one in grams for value in one.values()], float)
    vectors = unit_rows(sparse.csr_matrix((counts * rarity[column], (row, column)), shape=(len(grams), len(number))))
    labelled = np.diff(labels.indptr) > 0
    known, open_rows = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    rows, columns, values = [], [], []
    for begin in range(0, len(open_rows), 512):
        block = open_rows[begin : begin + 512]
        alike = (vectors[block] @ vectors[known].T).toarray()
        best = _largest(alike, NEAREST)
        rows.append(np.repeat(block, best.shape[1]))
        columns.append(known[best.ravel()])
        values.append(np.take_along_axis(alike, best, 1).ravel() ** 3)
    if not rows:
        return sparse.csr_matrix(labels.shape)
    places = (np.concatenate(rows), np.concatenate(columns))
    votes = sparse.csr_matrix((np.concatenate(values), places), shape=(len(grams), len(grams)))
    votes.eliminate_zeros()
    return (votes @ labels).tocsr()


def _largest(values: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest values of each row, int64 [rows, k], largest first; of equal values, the first."""
    size = values.shape[1]
    if size <= k:
        return np.argsort(-values, axis=1, kind="stable")
    least = np.partition(values, size - k, axis=1)[:, size - k]
    found = np.empty((len(values), k), np.int64)
    for row, own in enumerate(values):
        places = np.flatnonzero(own >= least[row])
        found[row] = places[np.argsort(-own[places], kind="stable")[:k]]
    return found


def _spelling(text: str) -> Counter[str]:
    marked = f"<{text}>"
    return Counter(marked[at : at + n] for n in (2, 3, 4) for at in range(len(marked) + 1 - n))


def from_decoder(nbest: Mapping[int, Sequence[str]], phrases: PhraseFile, path: str) -> sparse.csr_matrix:
    """Translations of a decoder that are target phrases, with scores 1 / rank.

    Args:
        nbest: translations of the lines that ``lscfg propagate phrases --wanted`` wrote, best first.
        path: file of the translations.

    Raises:
        InputError: a phrase has no list, or a list belongs to no phrase.
    """
    open_rows = np.flatnonzero(~phrases.labelled)
    cure = "decode the file that lscfg propagate phrases --wanted wrote with these phrases"
    if wrong := [line for line in nbest if not 0 <= line < len(open_rows)]:
        raise InputError(f"has a list {wrong[0]}, but the {len(open_rows)} wanted phrases count from 0; {cure}", path)
    if not nbest and len(open_rows):
        raise InputError(f"has no list, but {len(open_rows)} phrases are wanted; {cure}", path)
    number = {text: k for k, text in enumerate(phrases.target.phrases.texts(phrases.words))}
    found: dict[tuple[int, int], float] = {}
    for line, translations in sorted(nbest.items()):
        for rank, translation in enumerate(translations):
            if (target := number.get(translation)) is not None:
                found.setdefault((int(open_rows[line]), target), 1 / (1 + rank))
    if nbest and not found:
        log.warning(f"{path}: contains no target phrase among its translations; do the lists belong to these phrases?")
    rows, columns = np.array([*found] or np.zeros((0, 2)), np.int64).T
    return sparse.csr_matrix(([*found.values()], (rows, columns)), shape=phrases.labels.shape)


def make_lists(
    phrases: PhraseFile, sources: Mapping[str, sparse.csr_matrix], r: int, order: str = "ranks"
) -> CandidateLists:
    """The r best candidates of each unlabelled phrase.

    Args:
        sources: by name of ``ORIGINS``, scores [phrases, targets], larger is better.
        order: ``ranks``, the sum of reciprocal ranks by each source and by the lexical weights, or ``lex``, only the
            lexical weight of the target words, as in the thesis.
    """
    labelled = phrases.labelled
    origin = sparse.csr_matrix(phrases.labels.shape)
    opened = sparse.diags((~labelled).astype(float))
    sources = {name: (opened @ matrix).tocsr() for name, matrix in sources.items()}
    for name, matrix in sources.items():
        bits = matrix.copy()
        bits.eliminate_zeros()
        bits.data[:] = 1 << ORIGINS.index(name)
        origin = origin + bits
    pairs = origin.tocoo()
    row, column = pairs.row.astype(np.int64), pairs.col.astype(np.int64)
    lexical = lexical_weights(phrases, row, column)
    if order == "lex":
        score = 10 ** -lexical[:, 0]
    else:
        score = _reciprocal_ranks(row, -lexical.sum(1))
        for matrix in sources.values():
            value = values_at(matrix, row, column)
            score += np.where(value > 0, _reciprocal_ranks(row, value), 0)
    best = np.lexsort((column, -score, row))
    place = np.arange(len(best)) - np.searchsorted(row[best], row[best])
    kept = np.sort(best[place < r])
    row, column, score = row[kept], column[kept], score[kept]
    score = score / np.maximum(np.bincount(row, score, len(labelled))[row], 1e-300)
    known = phrases.labels.tocoo()
    every = np.concatenate([row, known.row]), np.concatenate([column, known.col])
    entries = np.lexsort((every[1], every[0]))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(every[0], minlength=len(labelled)))])
    data = np.concatenate([score, known.data])[entries]
    lists = sparse.csr_matrix((data, every[1][entries], offsets), shape=origin.shape)
    origins = np.concatenate([pairs.data[kept].astype(np.uint8), np.zeros(known.nnz, np.uint8)])[entries]
    weights = np.concatenate([lexical[kept], np.zeros((known.nnz, 2))])[entries]
    return CandidateLists(lists, origins, weights)


def _reciprocal_ranks(row: np.ndarray, value: np.ndarray) -> np.ndarray:
    """1 / (RANK + rank) of each value within its row, largest first; equal values share the best rank."""
    order = np.lexsort((-value, row))
    rows, values = row[order], value[order]
    new = np.concatenate([[True], (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])])[: len(order)]
    place = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    ranks = np.empty(len(order))
    ranks[order] = place - np.searchsorted(rows, rows)
    return 1 / (RANK + 1 + ranks)


def lexical_weights(phrases: PhraseFile, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """-log10 of the lexical weights of pairs of phrases, float64 [pairs, 2]; see ``RuleFeatures.lexical_weights``."""
    rules = rule_table(phrases, row, column)
    ones = np.ones(len(row))
    counted = RuleCounts(rules, ones, ones.astype(np.int64), phrases.lexicon, phrases.lexicon_count)
    return RuleFeatures(counted).lexical_weights(np.arange(len(row)))


def rule_table(phrases: PhraseFile, row: np.ndarray, column: np.ndarray) -> RuleTable:
    """Pairs of phrases as rules without nonterminals."""
    source, target = list(phrases.source.phrases.tuples()), list(phrases.target.phrases.tuples())
    joined = NGrams.of([source[f] + target[e] for f, e in zip(row.tolist(), column.tolist(), strict=True)])
    lengths = phrases.source.phrases.lengths[row].astype(np.int32)
    return RuleTable(phrases.words, joined.symbols, joined.offsets, lengths, np.zeros(len(row), np.int32))
