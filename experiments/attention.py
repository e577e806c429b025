"""Attention that selects words of the sentence, and correlation analysis that represents them.

    python experiments/attention.py train.ja train.deriv [--pairs 10000] [--models softmax,ls,cca] [--slopes 0,1,4,16]

Saluja (2015, section 4.3) leaves this hybrid as future work. The source side f of a rule attends to each word c of its
sentence by the information of c about the translation e of f in the training tokens,

    i(f, c) = sum over e of P(e|f,c) log(P(e|f,c) / P(e|f)),  P(e|f,c) = (n(e,f,c) + prior P(e|f)) / (n(f,c) + prior).

In the view of the whole sentence, c counts exp(slope i(f, c)) instead of 1, scaled so that the words of the sentence
keep their number. With slope 0, attention is even. For a training token, n counts the sentences outside its own fifth
of the text, as a token would count for itself. The other views are the words to the left, to the right and in
gaps. Directions come from generalised correlation of all views; a model without directions sees their items. The losses
are those of experiments/gaps.py, and "gain" is the reduction in loss from the first row of the model. "words" is the
mean number of words with the same entropy as the attention.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
from gaps import HELD_OUT, first_tokens, held_out_losses
from scipy import sparse
from view_settings import SENTENCE, VIEWS, gain, parts_of, print_rows, together

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import SentenceSettings, Task, ViewVectorSettings
from lscfg.extract.derive import Derivations
from lscfg.io.read import read_lines
from lscfg.study.mrr import P_OF_TARGET

FOLDS = 5
"""Parts of the training text, of which the others decide on attention."""


def sentence_items(task: Task) -> slice:
    """The items of the view of the whole sentence."""
    return parts_of(task.views, len(task.tokens.rules.words))[VIEWS.index(SENTENCE)]


def information(task: Task, prior: float) -> sparse.csr_matrix:
    """i(f, c) from the used tokens of the task, [source sides, items of the sentence]; 0 where f was not seen with c.

    Args:
        prior: tokens by which P(e|f,c) is drawn to P(e|f), above 0.
    """
    kept = np.nonzero(task.used & (task.own >= 0))[0]
    words = task.views.matrix.tocsc()[:, sentence_items(task)].tocsr()[kept]
    words.data[:] = 1  # a token that sees a word twice is one token
    n_sides = len(task.begin) - 1
    side_of = np.repeat(np.arange(n_sides), np.diff(task.begin))
    of_rows = sparse.csr_matrix((np.ones(len(kept)), (task.own[kept], np.arange(len(kept)))), (task.rows, len(kept)))
    to_sides = sparse.csr_matrix((np.ones(task.rows), (side_of, np.arange(task.rows))), (n_sides, task.rows))
    plain = task.counts / np.maximum(to_sides @ task.counts, 1)[side_of]
    with_word = (of_rows @ words).tocoo()
    of_sides = (to_sides @ with_word).tocsr()
    row, item, side = with_word.row, with_word.col, side_of[with_word.row]
    seen = np.asarray(of_sides[side, item]).ravel()
    share = (with_word.data + prior * plain[row]) / (seen + prior)
    terms = sparse.csr_matrix((share * np.log(share / plain[row]), (side, item)), of_sides.shape)
    met = sparse.csr_matrix((plain[row], (side, item)), of_sides.shape)
    places = of_sides.tocoo()
    rest = prior / (places.data + prior)  # the factor of translations that were not seen with the word
    unmet = rest * np.log(rest) * (1 - np.asarray(met[places.row, places.col]).ravel())
    return (terms + sparse.csr_matrix((unmet, (places.row, places.col)), of_sides.shape)).tocsr()


def informed(task: Task, prior: float) -> sparse.coo_matrix:
    """i(f, c) of the words around each token, [tokens, items of the sentence]; of a used token from other folds."""
    words = task.views.matrix.tocsc()[:, sentence_items(task)].tocoo()
    side, values = task.side[words.row], np.zeros(len(words.data))
    fold = np.where(task.used, task.tokens.places[:, 1] // HELD_OUT % FOLDS, FOLDS)
    for number in range(FOLDS + 1):
        known = information(dataclasses.replace(task, used=task.used & (fold != number)), prior)
        asked = (fold[words.row] == number) & (side < known.shape[0])
        values[asked] = np.asarray(known[side[asked], words.col[asked]]).ravel()
    return sparse.coo_matrix((values, (words.row, words.col)), words.shape)


def attended(task: Task, slope: float, values: sparse.coo_matrix) -> tuple[Task, float]:
    """The task whose view of the sentence is weighted by attention, and the mean perplexity of the weights.

    Args:
        values: see ``informed``.
    """
    part, columns = sentence_items(task), task.views.matrix.tocsc()
    words = columns[:, part].tocoo()
    weights = words.data * np.exp(slope * values.data)
    sizes, sums = (np.bincount(words.row, each, task.views.matrix.shape[0]) for each in (words.data, weights))
    shares = weights / sums[words.row]
    entropy = np.bincount(words.row, -shares * np.log(shares / words.data), len(sums))
    data = shares * sizes[words.row]
    view = sparse.csc_matrix((data, (words.row, words.col)), words.shape)
    matrix = sparse.hstack([columns[:, : part.start], view, columns[:, part.stop :]], "csr")
    views = dataclasses.replace(task.views, matrix=matrix)
    return dataclasses.replace(task, views=views, text=None, bases={}), float(np.exp(entropy[sums > 0]).mean())


def rows(task: Task, models: Sequence[str], slopes: Sequence[float], prior: float, dims: int) -> Iterator[list[str]]:
    """The table: losses of tokens with gaps, of those without, and of all, and the gain."""
    train = dataclasses.replace(task, used=task.tokens.places[:, 1] % HELD_OUT != 0)
    parts = parts_of(task.views, len(task.tokens.rules.words))
    views = tuple(name for name, part in zip(VIEWS, parts, strict=False) if part.start < part.stop)
    first: dict[str, np.ndarray] = {}
    values = informed(train, prior)
    for slope in slopes:
        own, words = attended(train, slope, values)
        for name in models:
            settings = CONTEXT_MODELS[name].Settings
            correlates = issubclass(settings, ViewVectorSettings)
            seen = together(own, views) if correlates else own  # models share directions
            found = held_out_losses(seen, name, settings(k=dims) if correlates else settings())
            if not first:
                yield [P_OF_TARGET, "-", *found.means(found.plain), "-"]
            first.setdefault(name, found.losses)
            shown = f"{name}, slope = {slope:g}"
            yield [shown, f"{words:.1f}", *found.means(found.losses), gain(found.unit, first[name] - found.losses)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="source side of the corpus")
    parser.add_argument("derivations", help="derivations of lscfg derive")
    parser.add_argument("--pairs", type=int, default=10_000, help="first sentence pairs that are used")
    parser.add_argument("--models", default="softmax,ls,cca", metavar="LIST")
    parser.add_argument("--slopes", default="0,1,4,16", metavar="LIST", help="first the one to compare with")
    parser.add_argument("--prior", type=float, default=5, metavar="TOKENS", help="strength of P(e|f)")
    parser.add_argument("--dims", type=int, default=200, help="coordinates that views share (default: %(default)s)")
    args = parser.parse_args()
    tokens = first_tokens(Derivations.load(args.derivations), args.pairs)
    task = Task.of(tokens, read_lines(args.source), SentenceSettings(sentence=True, gaps=True))
    slopes = [float(slope) for slope in args.slopes.split(",")]
    found = rows(task, args.models.split(","), slopes, args.prior, args.dims)
    print_rows(["score", "words", "with gaps", "without", "all"], found)


if __name__ == "__main__":
    main()
