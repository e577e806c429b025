"""Variants of the graph of phrases that Saluja (2015) names as comparison or future work.

    python experiments/graph_variants.py cbow first.ja rest.ja -o ja.vectors
    python experiments/graph_variants.py multiview phrases -o graph
    python experiments/graph_variants.py moving phrases graph --gold gold.gz

"cbow" learns word vectors by continuous bags of words with negative sampling (Mikolov et al. 2013), the rival of Table
5.7, for the space "vectors" of lscfg propagate graph.

"multiview" writes a graph whose edges are those of the space "pmi". Their weights are cosines of coordinates by
multi-view diffusion (Lindenbaum et al. 2020): a walk that steps by the words to the left and by those to the right in
turn. lscfg propagate rules reads it.

"moving" lists ranks of translations if labelled phrases move too (Belkin et al. 2006; section 5.4 of the thesis): the
distribution of a phrase with n tokens is n / (n + κ) times its own plus κ / (n + κ) times that of its neighbours, over
its own labels. κ = 0 is lscfg propagate rules.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from scipy.special import expit

from lscfg.induce.propagated import expansion, ranking
from lscfg.induce.propagated import spread as spreading
from lscfg.induce.propagated.contexts import unit_rows, weighted
from lscfg.induce.propagated.diagnosis import diagnose_lists, read_gold
from lscfg.induce.propagated.diffusion import coordinates, with_cosines
from lscfg.induce.propagated.neighbours import nearest_rows, symmetric
from lscfg.induce.propagated.phrases import PhraseFile, read_graph, write_graph
from lscfg.induce.propagated.propagation import PairStep, make_step
from lscfg.induce.propagated.spaces import GraphSettings, source_graph
from lscfg.induce.propagated.spread import PropagationSettings, Spread, spread
from lscfg.io.columns import align_columns
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.log import progress

# ---- word vectors ----

BATCH = 256
"""Words whose gradients are summed before a step."""

TINY = 1e-12
"""Added to sums of squares."""

NEGATIVES_POWER = 0.75
"""Power of counts in the distribution of random words."""


@dataclass(frozen=True)
class BagSettings:
    """Settings of continuous bags of words: those of Table 5.7, and the usual ones of word2vec."""

    dims: int = 300
    window: int = 5
    negative: int = 5
    epochs: int = 5
    least: int = 2
    rate: float = 0.05
    seed: int = 1


@dataclass
class Bags:
    """Vectors of words as context (``inner``) and as predicted words (``outer``), float64 [words, dims].

    ``squares`` are the sums of the squares of both gradients: the gradient of a batch holds a frequent word many times,
    where word2vec would step each time, so AdaGrad chooses the length of steps.
    """

    inner: np.ndarray
    outer: np.ndarray
    squares: tuple[np.ndarray, np.ndarray]

    @classmethod
    def random(cls, words: int, dims: int, seed: int) -> Bags:
        """As word2vec begins: small inner vectors, no outer ones."""
        rng = np.random.default_rng(seed)
        return cls.of((rng.random((words, dims)) - 0.5) / dims, np.zeros((words, dims)))

    @classmethod
    def of(cls, inner: np.ndarray, outer: np.ndarray) -> Bags:
        """These vectors, before the first step."""
        return cls(inner, outer, (np.zeros_like(inner), np.zeros_like(outer)))

    def gradients(self, around: np.ndarray, asked: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss in nats, and its gradients by ``inner`` of each context word and by ``outer`` of each asked word.

        Args:
            around: int64 [places, 2 window], context words, -1 for none.
            asked: int64 [places, 1 + negative], the right word and random ones.
        """
        there = around >= 0
        share = there / np.maximum(there.sum(axis=1, keepdims=True), 1)
        mean = np.einsum("pw,pwd->pd", share, self.inner[np.where(there, around, 0)])
        outer = self.outer[asked]
        right = np.zeros(asked.shape)
        right[:, 0] = 1
        score = np.einsum("pd,pnd->pn", mean, outer)
        loss = float(np.logaddexp(0, np.where(right > 0, -score, score)).sum())
        error = expit(score) - right
        of_mean = np.einsum("pn,pnd->pd", error, outer)
        return loss, share[:, :, None] * of_mean[:, None], error[:, :, None] * mean[:, None]

    def step(self, around: np.ndarray, asked: np.ndarray, rate: float) -> float:
        """A step against the gradients of some places; returns their loss."""
        loss, *gradients = self.gradients(around, asked)
        for vectors, squares, at, gradient in zip(
            (self.inner, self.outer), self.squares, (around, asked), gradients, strict=True
        ):
            flat, values = at.ravel(), gradient.reshape(-1, gradient.shape[-1])
            flat, values = flat[flat >= 0], values[flat >= 0]
            which, number = np.unique(flat, return_inverse=True)
            sums = sparse.csr_matrix((np.ones(len(flat)), (number, np.arange(len(flat)))))
            total = sums @ values
            squares[which] += total**2
            vectors[which] -= rate * total / np.sqrt(squares[which] + TINY)
        return loss


def learn_vectors(lines: Sequence[str], settings: BagSettings) -> tuple[list[str], np.ndarray]:
    """The words that occur often enough, the most frequent first, and their vectors, float64 [words, dims]."""
    counts = Counter(word for line in lines for word in line.split())
    words = sorted((word for word, count in counts.items() if count >= settings.least), key=lambda w: (-counts[w], w))
    number = {word: k for k, word in enumerate(words)}
    sentences = [[number[word] for word in line.split() if word in number] for line in lines]
    padding = [-1] * settings.window
    text = np.array([k for one in sentences for k in (*padding, *one)] + padding, np.int64)
    places = np.flatnonzero(text >= 0)
    offsets = np.array([k for k in range(-settings.window, settings.window + 1) if k])
    frequency = np.array([counts[word] for word in words]) ** NEGATIVES_POWER
    edges = np.cumsum(frequency / frequency.sum())
    rng, bags = np.random.default_rng(settings.seed), Bags.random(len(words), settings.dims, settings.seed)
    steps = settings.epochs * math.ceil(len(places) / BATCH)
    for done, chosen in enumerate(progress(_batches(places, settings.epochs, rng), "cbow", steps)):
        random = np.searchsorted(edges, rng.random((len(chosen), settings.negative)))
        asked = np.column_stack([text[chosen], np.minimum(random, len(words) - 1)])
        bags.step(text[chosen[:, None] + offsets], asked, settings.rate * (1 - done / steps))
    return words, bags.inner


def _batches(places: np.ndarray, epochs: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for _ in range(epochs):
        order = rng.permutation(places)
        yield from (order[begin : begin + BATCH] for begin in range(0, len(order), BATCH))


# ---- multi-view diffusion ----

NEAREST = 20
"""Neighbours in the graph of each view; the walk of two steps has up to the square of as many."""


def two_views(left: sparse.csr_matrix, right: sparse.csr_matrix, rank: int, time: int) -> np.ndarray:
    """Coordinates of nodes, float64 [nodes, at most 2 rank], by a walk that alternates between two symmetric graphs.

    The kernel is [[0, LR], [RL, 0]]; a node has coordinates in both halves.
    """
    product = (left @ right).tocsr()
    placed = coordinates(sparse.bmat([[None, product], [product.T, None]]).tocsr(), rank, time)
    return np.hstack([placed[: left.shape[0]], placed[left.shape[0] :]])


def multiview_graph(phrases: PhraseFile, settings: GraphSettings, time: int, threads: int = 1) -> sparse.csr_matrix:
    """The graph of pmi with cosines of the coordinates of two views; edges without a positive one are dropped."""
    side = phrases.source
    n, views = len(phrases.words), []
    for begin in (0, n):
        counts = side.contexts.tocsc()[:, begin : begin + n].tocsr()
        columns = side.frequent[(side.frequent >= begin) & (side.frequent < begin + n)] - begin
        views.append(symmetric(nearest_rows(unit_rows(weighted(counts)), NEAREST, columns, threads)))
    placed = two_views(*views, settings.rank, time)
    return with_cosines(source_graph(side, phrases.words, settings, threads), placed)


# ---- labelled phrases that move ----

CLOSE = 1e-9
"""Change of all probabilities in a step below which a solution is reached."""


def moving_step(kappa: float, count: np.ndarray) -> Callable[..., PairStep]:
    """A replacement of ``make_step`` in which labelled phrases move; its constant is the solution itself.

    Args:
        count: int64 [phrases], tokens of each phrase.
    """

    def step(
        walk: sparse.csr_matrix, lists: sparse.csr_matrix, labelled: np.ndarray, similar: sparse.csr_matrix, target: str
    ) -> PairStep:
        every = make_step(walk, lists, np.zeros(len(labelled), bool), similar, target)
        stay = np.where(labelled, count / (count + kappa), 0.0)
        of_pair = np.repeat(np.arange(lists.shape[0]), np.diff(lists.indptr))
        moves, constant = sparse.diags(1 - stay[of_pair]) @ every.operator, stay[of_pair] * lists.data
        x, change = constant, np.inf
        while change > CLOSE:
            new = moves @ x + constant
            x, change = new, np.abs(new - x).max(initial=0)
        free = ~labelled[of_pair]
        number = np.cumsum(~labelled) - 1
        return PairStep(sparse.csr_matrix((free.sum(), free.sum())), x[free], number[of_pair[free]])

    return step


def moving_spread(kappa: float) -> Callable[..., Spread]:
    """A replacement of ``spread`` in which labelled phrases move."""

    def found(phrases: PhraseFile, *inputs: Any) -> Spread:
        with patch.object(spreading, "make_step", moving_step(kappa, np.maximum(phrases.source.count, 1))):
            return spread(phrases, *inputs)

    return found


def moving_ranks(
    phrases: PhraseFile,
    graph: tuple[sparse.csr_matrix, GraphSettings],
    settings: PropagationSettings,
    gold: dict[str, dict[str, float]],
    kappa: float,
) -> dict[str, float]:
    """The figures of lscfg propagate rules about lists; see ``diagnose_lists``."""
    moved = moving_spread(kappa)
    with patch.object(expansion, "spread", moved), patch.object(ranking, "spread", moved):
        return diagnose_lists(phrases, expansion.expand(phrases, graph, None, settings), gold)


# ---- the command ----


def main() -> None:
    """Runs a variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    action = actions.add_parser("cbow")
    action.add_argument("text", nargs="+")
    for field in dataclasses.fields(BagSettings):
        action.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    action.add_argument("-o", "--output", required=True)
    action = actions.add_parser("multiview")
    action.add_argument("phrases")
    action.add_argument("--rank", type=int, default=200)
    action.add_argument("--time", type=int, default=1)
    action.add_argument("-o", "--output", required=True)
    action = actions.add_parser("moving")
    action.add_argument("phrases")
    action.add_argument("graph")
    action.add_argument("--gold", required=True)
    action.add_argument("--kappas", default="0,1,5,20")
    args = parser.parse_args()
    if args.action == "cbow":
        given = BagSettings(**{field.name: getattr(args, field.name) for field in dataclasses.fields(BagSettings)})
        words, vectors = learn_vectors([line for name in args.text for line in read_lines(name)], given)
        rows = zip(words, vectors, strict=True)
        write_lines(Path(args.output), [" ".join([word, *(f"{value:.5g}" for value in row)]) for word, row in rows])
        return
    phrases = PhraseFile.read(args.phrases)
    if args.action == "multiview":
        settings = GraphSettings(rank=args.rank)
        graph = multiview_graph(phrases, settings, args.time)
        write_graph(args.output, graph, phrases, settings.facts())
        return
    graph, about = read_graph(args.graph, phrases)
    gold = read_gold(args.gold)
    rows = [["ranking", "κ", "1-grams: first", "mean reciprocal rank", "2-grams: first", "mean reciprocal rank"]]
    names = [f"{n}-grams: {name}" for n in (1, 2) for name in ("first", "mean reciprocal rank")]
    for order in ("propagated", "learned"):
        for kappa in map(float, args.kappas.split(",")):
            chosen = PropagationSettings(ranking=order)
            found = moving_ranks(phrases, (graph, GraphSettings.of(about)), chosen, gold, kappa)
            rows.append([order, f"{kappa:g}", *(f"{found[name]:.4f}" if name in found else "-" for name in names)])
    print(*align_columns(rows), sep="\n")


if __name__ == "__main__":
    main()
