"""The k-best lists of all decoding runs so far, merged per sentence, as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import InputError, cut
from lscfg.formats.kbest import Hypothesis, HypothesisList
from lscfg.kernel.lists import PackedLists
from lscfg.tuning.bleu import WIDTH, bleu, check_references, corpus_bleu
from lscfg.tuning.objectives import BLEU, Counter, Objective


@dataclass(slots=True)
class Candidates:
    """The distinct hypotheses of one sentence, in the order in which they arrived."""

    references: Counter
    columns: dict[int, int] = field(default_factory=dict)
    """Column of ``features`` by number of the feature; only features that this sentence has seen take a column."""
    features: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    """Feature values, shape (hypotheses, columns)."""
    stats: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, WIDTH), dtype=np.int32))
    """Statistics of the objective, shape (hypotheses, width)."""
    digests: set[bytes] = field(default_factory=set)
    """Hashes of the hypotheses in the list: 64 bits over words and features."""

    def numbers(self) -> NDArray[np.intp]:
        """The features' numbers by column, shape (columns,)."""
        return np.fromiter(self.columns, dtype=np.intp, count=len(self.columns))


class Pool:
    """Per sentence the distinct pairs of translation and feature vector, with the translation's statistics.

    Features are named; they are numbered in the order in which they first occur, and a hypothesis that does not name
    a feature has it with value 0. Values are kept as 32-bit floats, which nine decimal digits (the k-best format)
    reproduce exactly.

    Attributes:
        references: the references of each sentence.
    """

    def __init__(self, references: Sequence[Sequence[str]], objective: Objective = BLEU):
        """Prepares empty lists.

        Args:
            references: one document per reference set, each with one line per sentence.
            objective: the metric that the lists are for.

        Raises:
            InputError: there are no references, or their numbers of lines differ.
        """
        check_references(references)
        self.objective = objective
        self.references = list(zip(*references, strict=True))
        self.names: list[str] = []
        self._number: dict[str, int] = {}
        self.sentences = [
            Candidates(objective.references(lines), stats=np.zeros((0, objective.width), np.int32))
            for lines in self.references
        ]
        self._packed: PackedLists | None = None

    def __len__(self) -> int:
        """Number of hypotheses."""
        return sum(len(candidates.stats) for candidates in self.sentences)

    def add(self, lists: Sequence[Sequence[Hypothesis]]) -> int:
        """Adds one k-best list per sentence (an empty one adds nothing) and returns how many hypotheses were new.

        Raises:
            InputError: the number of lists is wrong, or a feature is not finite as a 32-bit float; nothing is added
            then.
        """
        if len(lists) != len(self.sentences):
            raise InputError(f"{len(lists)} k-best lists for {len(self.sentences)} sentences of references")
        values = [_values(sentence, hypotheses) for sentence, hypotheses in enumerate(lists)]
        before = len(self)
        self._packed = None
        for candidates, hypotheses, flat in zip(self.sentences, lists, values, strict=True):
            if hypotheses:
                self._add_sentence(candidates, hypotheses, flat)
        return len(self) - before

    def _add_sentence(
        self, candidates: Candidates, hypotheses: Sequence[Hypothesis], values: NDArray[np.float32]
    ) -> None:
        columns = candidates.columns
        if isinstance(hypotheses, HypothesisList):
            texts = hypotheses.texts
            rows, cells = self._array_cells(columns, hypotheses)
        else:
            texts = [hypothesis.text for hypothesis in hypotheses]
            rows, cells = self._cells(columns, hypotheses)
        features = np.zeros((len(hypotheses), len(columns)), dtype=np.float32)
        features[rows, cells] = values
        fresh, words = [], []
        for row, text in enumerate(texts):
            tokens = text.split()
            # Without its trailing zeros a row's digest does not change when the sentence gets more columns later.
            content = " ".join(tokens).encode() + b"\n" + features[row].tobytes().rstrip(b"\0")
            digest = blake2b(content, digest_size=8).digest()
            if digest not in candidates.digests:
                candidates.digests.add(digest)
                fresh.append(row)
                words.append(tokens)
        known = np.pad(candidates.features, ((0, 0), (0, len(columns) - candidates.features.shape[1])))
        candidates.features = np.concatenate([known, features[fresh]])
        candidates.stats = np.concatenate([candidates.stats, candidates.references.stats(words)])

    def _column(self, columns: dict[int, int], name: str) -> int:
        """Of a feature in a sentence, and its number, new or known."""
        number = self._number.setdefault(name, len(self._number))
        if number == len(self.names):
            self.names.append(name)
        return columns.setdefault(number, len(columns))

    def _cells(
        self, columns: dict[int, int], hypotheses: Sequence[Hypothesis]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Row and column of each value, hypothesis by hypothesis; features get columns as they occur."""
        column_of = {self.names[number]: column for number, column in columns.items()}
        cells: list[int] = []
        for hypothesis in hypotheses:
            if not column_of.keys() >= hypothesis.features.keys():
                for name in hypothesis.features:
                    column_of[name] = self._column(columns, name)
            cells.extend(map(column_of.__getitem__, hypothesis.features))
        lengths = [len(hypothesis.features) for hypothesis in hypotheses]
        return np.repeat(np.arange(len(hypotheses)), lengths), np.array(cells, np.intp)

    def _array_cells(self, columns: dict[int, int], found: HypothesisList) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """As ``_cells``, for lists in arrays."""
        rows, places = np.nonzero(found.values)
        there, first = np.unique(places, return_index=True)
        column_of = np.zeros(len(found.names), np.intp)
        for place in there[np.argsort(first)].tolist():
            column_of[place] = self._column(columns, found.names[place])
        return rows, column_of[places]

    def vector(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """The weights by feature number, shape (features,); 0 for a feature without weight."""
        return np.array([weights.get(name, 0.0) for name in self.names], dtype=np.float64)

    def start(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """The start weights by feature number.

        Raises:
            InputError: a start weight is not finite, or the pool is empty.
        """
        check_start(weights)
        if not len(self):
            raise InputError("no hypotheses to learn from: every k-best list is empty")
        return self.vector(weights)

    def named(self, vector: NDArray[np.float64], others: Mapping[str, float]) -> dict[str, float]:
        """Weights by name, sorted: those by feature number, and ``others`` of features outside the pool."""
        weights = {**others, **dict(zip(self.names, vector.tolist(), strict=True))}
        return {name: float(weights[name]) for name in sorted(weights)}

    def packed(self) -> PackedLists:
        """All hypotheses in the kernel's layout; a sentence without hypotheses has an empty one with features of 0."""
        if self._packed is None:
            rows = []
            for candidates in self.sentences:
                if len(candidates.stats):
                    rows.append((candidates.numbers(), candidates.features, candidates.stats))
                else:
                    nothing = np.zeros(0, dtype=np.intp), np.zeros((1, 0), dtype=np.float32)
                    rows.append((*nothing, candidates.references.stats([[]])))
            self._packed = PackedLists(rows, len(self.names), self.objective.kernel)
        return self._packed

    def best_stats(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Summed statistics, shape (width,), of each sentence's highest-scoring hypothesis (the first of equals).

        A sentence without any hypothesis counts as translated by nothing. ``weights`` are by feature number.
        """
        lists = self.packed()
        return np.asarray(lists.stats[lists.best(lists.scores(weights))].sum(axis=0, dtype=np.int64))

    def score(self, weights: NDArray[np.float64]) -> float:
        """The objective (0 to 100) of the highest-scoring hypotheses; ``weights`` are by feature number."""
        return self.objective.score(self.best_stats(weights))

    def bleu(self, weights: NDArray[np.float64]) -> float:
        """BLEU (0 to 100) of the highest-scoring hypotheses; ``weights`` are by feature number."""
        return corpus_bleu(self.best_stats(weights)[-WIDTH:])

    def oracle_bleu(self, sweeps: int = 5) -> float:
        """BLEU (0 to 100) of a greedy choice (see ``choose``): a lower bound of the best that the pool allows."""
        lists = [
            (candidates.stats if len(candidates.stats) else candidates.references.stats([[]]))[:, -WIDTH:]
            for candidates in self.sentences
        ]
        return corpus_bleu(choose(lists, sweeps)[1])


def choose(lists: Sequence[NDArray[np.int32]], sweeps: int = 5) -> tuple[list[int], NDArray[np.int64]]:
    """A greedy choice of hypotheses for a high BLEU of the corpus: one of each sentence, and their summed statistics.

    Starts from the first hypotheses and goes over the sentences until no exchange of one hypothesis raises the corpus's
    BLEU, at most ``sweeps`` times.

    Args:
        lists: BLEU statistics of each sentence's hypotheses, [hypotheses, 10], at least one.
    """
    chosen = [0] * len(lists)
    total = np.zeros(WIDTH, dtype=np.int64)
    for stats in lists:
        total += stats[0]
    score = corpus_bleu(total)
    for _ in range(sweeps):
        changed = False
        for sentence, stats in enumerate(lists):
            others = total - stats[chosen[sentence]]
            scores = bleu(others + stats)
            best = int(scores.argmax())
            if scores[best] > score:
                chosen[sentence], total, score, changed = best, others + stats[best], float(scores[best]), True
        if not changed:
            break
    return chosen, total


def check_start(weights: Mapping[str, float]) -> None:
    """Refuses start weights that are not finite.

    Raises:
        InputError: a weight is not finite.
    """
    for name, value in weights.items():
        if not math.isfinite(value):
            raise InputError(f"start weight of {cut(name)} is {value}, which is not finite")


def _values(sentence: int, hypotheses: Sequence[Hypothesis]) -> NDArray[np.float32]:
    """The feature values of a list one after another, as 32-bit floats; zero is always +0."""
    with np.errstate(over="ignore"):
        if isinstance(hypotheses, HypothesisList):
            values = hypotheses.values[np.nonzero(hypotheses.values)].astype(np.float32) + np.float32(0)
        else:
            values = np.array([v for h in hypotheses for v in h.features.values()], dtype=np.float32) + np.float32(0)
    if not np.isfinite(values).all():
        bad = int(np.argmin(np.isfinite(values)))
        name, value = [item for h in hypotheses for item in h.features.items()][bad]
        raise InputError(
            f"sentence {sentence + 1}: feature {cut(name)} has value {value}, which is not finite, or too large for 32"
            " bits (3.4e38); scale it"
        )
    return values
