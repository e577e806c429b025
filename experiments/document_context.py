"""Value of the other sentences of a document for context models.

    python experiments/document_context.py train.zh train.deriv --documents train.doc [--models residual,mlr]

The file of documents has a line for each sentence; neighbouring sentences with equal lines are one document, and its
sentences stand in order. A tenth of the documents is held out. The table lists the loss in nats per held-out token
whose rule competes with others, of P(e|f) alone, of each context model as it is, and of the same model that also sees

    before      the words of the previous three sentences
    salient     the 50 words of the document with the largest tf·idf, counted without the sentence itself
    topic       the nearest of 32 clusters of documents; documents are points of 50 dimensions, by a singular value
                decomposition of tf·idf, again without the sentence itself

all of them from the source side alone. "gain" is the reduction in loss from the model as it is, with documents as
independent units. With --shuffled, each sentence gets the rest of a random document: a control, whose gain should be 0.
With --seen, a tenth of the sentences is held out instead, so that other sentences of their documents are learned from.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from gaps import first_tokens, held_out_losses, with_further
from scipy import sparse
from view_settings import P_OF_TARGET, gain, print_rows

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import HELD_OUT, SentenceSettings, Task
from lscfg.context.views import number_words
from lscfg.estimate.clusters import k_means, nearest
from lscfg.estimate.svd import normalised_rows, truncated_svd
from lscfg.extract.derive import Derivations
from lscfg.induce.propagated.contexts import unit_rows
from lscfg.io.read import read_lines

BEFORE, SALIENT, DIMENSIONS, TOPICS = 3, 50, 50, 32
"""Sentences before a sentence, words of a document, dimensions and clusters of documents."""

VIEWS = ("before", "salient", "topic")
SETS: tuple[tuple[str, ...], ...] = ((), ("before",), ("salient",), ("topic",), VIEWS)


@dataclass(frozen=True)
class Documents:
    """Documents of a text, as counts of words.

    Attributes:
        of: int64 [sentences], number of each sentence's document, ascending.
        counts: [sentences, words], occurrences of each word in each sentence.
        least: least number of sentences that contain a word that serves as an item.
        learned: bool [documents], those whose frequencies and topics are learned.
    """

    of: np.ndarray
    counts: sparse.csr_matrix
    least: int
    learned: np.ndarray

    @classmethod
    def read(cls, names: Sequence[str], source: Sequence[str], least: int) -> Documents:
        """The documents of some sentences, a tenth of them held out.

        Args:
            names: the document of each sentence.

        Raises:
            ValueError: as many names as sentences are needed.
        """
        if len(names) != len(source):
            raise ValueError(f"{len(names)} lines of documents for {len(source)} sentences")
        of = np.cumsum([0, *(one != other for one, other in pairwise(names))])
        vocabulary = sorted({word for line in source for word in line.split()})
        ids, first = number_words(source, vocabulary)
        counts = sparse.csr_matrix((np.ones(len(ids)), ids, first), (len(source), len(vocabulary)))
        counts.sum_duplicates()
        return cls(of, counts, least, np.arange(of[-1] + 1) % HELD_OUT != 0)

    @cached_property
    def whole(self) -> sparse.csr_matrix:
        """[documents, words], occurrences of each word in each document."""
        member = sparse.csr_matrix((np.ones(len(self.of)), (self.of, np.arange(len(self.of)))))
        return (member @ self.counts).tocsr()

    @cached_property
    def rest(self) -> sparse.csr_matrix:
        """[sentences, words], occurrences of each word in the other sentences of the document."""
        found = (self.whole[self.of] - self.counts).tocsr()
        found.eliminate_zeros()
        return found

    @cached_property
    def idf(self) -> np.ndarray:
        """float64 [words], logarithm of the learned documents by those with the word; 0: too rare to be an item."""
        learned = self.whole[self.learned]
        documents = np.asarray((learned > 0).sum(axis=0)).ravel()
        sentences = np.asarray((self.counts[self.learned[self.of]] > 0).sum(axis=0)).ravel()
        found = np.log(learned.shape[0] / np.maximum(documents, 1))
        return np.where(sentences >= self.least, found, 0)

    def before(self) -> sparse.csr_matrix:
        """[sentences, words], 1 for words of the previous sentences of the same document."""
        n = len(self.of)
        near = [
            sparse.csr_matrix((same.astype(float), (np.arange(back, n), np.arange(n - back))), (n, n))
            for back in range(1, BEFORE + 1)
            for same in [self.of[back:] == self.of[: n - back]]
        ]
        return self._items((sum(near) @ self.counts).tocsr())

    def salient(self) -> sparse.csr_matrix:
        """[sentences, words], 1 for the words of the rest of the document with the largest tf·idf."""
        weights = (self.rest @ sparse.diags(self.idf)).tocsr()
        weights.eliminate_zeros()
        row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        order = np.lexsort((weights.indices, -weights.data, row))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - weights.indptr[row[order]]
        kept = rank < SALIENT
        entries = (np.ones(kept.sum()), (row[kept], weights.indices[kept]))
        return self._items(sparse.csr_matrix(entries, weights.shape))

    def topic(self, seed: int = 1) -> sparse.csr_matrix:
        """[sentences, topics], 1 for the topic of the rest of the document; none of a document of one sentence."""
        weigh = sparse.diags(self.idf)
        learned = unit_rows(self.whole[self.learned] @ weigh)
        k = min(DIMENSIONS, min(learned.shape) - 1)
        _, _, v = truncated_svd(learned, k, seed)
        points = normalised_rows(np.asarray(learned @ v)).astype(np.float32)
        centres = k_means(points, min(TOPICS, len(points)), np.random.default_rng(seed), at_most=True)
        rest = (self.rest @ weigh).tocsr()
        rest.eliminate_zeros()
        there = np.nonzero(np.diff(rest.indptr))[0]
        found, _ = nearest(normalised_rows(np.asarray(unit_rows(rest[there]) @ v)).astype(np.float32), centres)
        return sparse.csr_matrix((np.ones(len(there)), (there, found)), (len(self.of), len(centres)))

    def _items(self, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
        """1 for each entry, without words that are too rare; all words keep their columns."""
        found = (matrix > 0).astype(float) @ sparse.diags((self.idf > 0).astype(float))
        found = found.tocsr()
        found.eliminate_zeros()
        return found


def with_items(task: Task, items: Sequence[sparse.csr_matrix]) -> Task:
    """The task with further items of each token's sentence, [sentences, items]; those of no token are left out."""
    sentence = task.tokens.places[:, 1]
    further = [matrix[sentence].tocsc() for matrix in items]
    further = [matrix[:, np.diff(matrix.indptr) > 0] for matrix in further]
    matrix = sparse.hstack(further)
    return with_further(task, np.arange(matrix.shape[1]) + task.views.items[-1] + 1, matrix)


def rows(
    task: Task, documents: Documents, models: Sequence[str], sentence: np.ndarray, unit: np.ndarray
) -> Iterator[list[str]]:
    """The table.

    Args:
        sentence: int64 [sentences], the sentence whose document each sentence gets.
        unit: int64 [sentences], document or number of each sentence; a tenth of these is held out.
    """
    items = {name: getattr(documents, name)()[sentence] for name in VIEWS}
    unit = unit[task.tokens.places[:, 1]]
    for name in models:
        first = None
        for views in SETS:
            seen = with_items(task, [items[view] for view in views]) if views else task
            found = held_out_losses(seen, name, CONTEXT_MODELS[name].Settings(sentence=True), unit)
            if first is None:
                first = found.losses
                yield [P_OF_TARGET, f"{found.plain.mean():.4f}", "-"]
            gained = gain(found.unit, first - found.losses)
            yield [f"{name}{''.join(f', {view}' for view in views)}", f"{found.losses.mean():.4f}", gained]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="source side of the corpus")
    parser.add_argument("derivations", help="derivations of lscfg derive")
    parser.add_argument("--documents", required=True, help="document of each sentence")
    parser.add_argument(
        "--models", default="residual,mlr", metavar="LIST", help="context models (default: %(default)s)"
    )
    parser.add_argument("--least", type=int, default=5, help="least sentences of a word of documents (default: 5)")
    parser.add_argument("--pairs", type=int, metavar="N", help="first sentences whose rules are used (default: all)")
    parser.add_argument("--shuffled", action="store_true", help="random documents")
    parser.add_argument("--seen", action="store_true", help="hold out sentences of documents that are learned from")
    args = parser.parse_args()
    source = read_lines(args.source)
    documents = Documents.read(read_lines(args.documents), source, args.least)
    tokens = first_tokens(Derivations.load(args.derivations), args.pairs)
    task = Task.of(tokens, source, SentenceSettings(sentence=True))
    numbers = np.arange(len(source))
    sentence = np.random.default_rng(1).permutation(numbers) if args.shuffled else numbers
    unit = numbers if args.seen else documents.of
    print(f"{documents.of[-1] + 1:,} documents, {len(task.tokens.places):,} tokens with a choice")
    print_rows(["score", "loss"], rows(task, documents, args.models.split(","), sentence, unit))


if __name__ == "__main__":
    main()
