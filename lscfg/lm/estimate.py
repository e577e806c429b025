"""Interpolated modified Kneser-Ney n-gram models from text, like KenLM's ``lmplz``.

The formulas are those of Chen & Goodman (1998, "An empirical study of smoothing techniques for language modeling",
section 4.1.6 and equation 26); their counts and the redistribution of pruned mass follow Heafield,
Pouzyrevsky, Clark & Koehn (2013, "Scalable modified Kneser-Ney language model estimation"). With a(g) the adjusted
count of an n-gram, D the discount of its order, h a context and s(h) that context without its first word:

* a(g) is the raw count when g has the highest order or begins with ``<s>``, else the number of words seen before it;
* p(w | h) = (a(hw) - D(a(hw))) / a(h·) + b(h) p(w | s(h)), where the sum a(h·) runs over all words after h;
* b(h) = sum over w of D(a(hw)) / a(h·), where a pruned hw returns all of a(hw);
* unigrams interpolate with 1/|V|, where V is the words of the text, ``</s>`` and ``<unk>``, but not ``<s>``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lscfg import log
from lscfg.errors import InputError
from lscfg.io.write import atomic_write
from lscfg.lm.counts import EOS, UNK, Counts, adjusted_counts, count_orders, read_corpus, row_type

MIN_ORDER, MAX_ORDER = 2, 6
"""Orders of a language model; KenLM reads no unigram models."""
DEFAULT_FALLBACK = (0.5, 1.0, 1.5)
"""Discounts for adjusted counts 1, 2, and 3 or more if the text does not determine them, as in ``lmplz``."""

LOG_ZERO = -99.0
"""log10 of a backoff of zero, since ARPA readers do not accept ``-inf``."""

CHUNK = 1 << 16
"""Lines of an ARPA file that are formatted at a time."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OrderTable:
    """The n-grams of one order after pruning, in suffix order (see ``lscfg.lm.counts``); arrays have shape (n,)."""

    first: Ints
    """First word of each n-gram, an index into the model's words."""
    suffix: Ints
    """Row of the n-gram without its first word in the table one order down; zeros for unigrams."""
    log_prob: Floats
    """log10 probability of the last word after the others."""
    log_backoff: Floats | None
    """log10 backoff weight of the n-gram as a context; None at the highest order."""


@dataclass(frozen=True, eq=False)
class NgramModel:
    """An estimated model.

    Attributes:
        words: the vocabulary: ``<unk>``, ``<s>``, ``</s>``, then the words of the text in order of first occurrence.
        tables: one table for each order, unigrams first.
        discounts: D1, D2 and D3+ of each order; shape (order, 3).
    """

    words: list[str]
    tables: list[OrderTable]
    discounts: Floats

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.tables)

    @property
    def counts(self) -> list[int]:
        """Number of n-grams of each order."""
        return [len(table.first) for table in self.tables]


def check_order(order: int) -> None:
    """Raises InputError for an impossible order."""
    if not MIN_ORDER <= order <= MAX_ORDER:
        limits = f"{MIN_ORDER}..{MAX_ORDER}"
        raise InputError(
            f"order {order} of the language model is outside {limits}; choose one in this range, such as 4"
        )


def prune_thresholds(prune: Sequence[int], order: int) -> list[int]:
    """One threshold for each order: n-grams up to that raw count are dropped; the last one covers all higher orders.

    Raises:
        InputError: more thresholds than orders, a negative one, or a threshold below that of the previous order, which
            would drop contexts and suffixes of kept n-grams.
    """
    thresholds = list(prune) or [0]
    shown = " ".join(map(str, thresholds))
    if len(thresholds) > order:
        raise InputError(
            f"{len(thresholds)} prune thresholds ({shown}) for a model of order {order}; give at most {order}"
        )
    if thresholds[0] < 0 or any(low > high for low, high in pairwise(thresholds)):
        raise InputError(f"prune thresholds {shown} must start at 0 or more and never fall, as in 0 0 1")
    return thresholds + thresholds[-1:] * (order - len(thresholds))


def check_fallback(fallback: Sequence[float] | None) -> tuple[float, float, float] | None:
    """The three fallback discounts (the last given one repeats), or None if none are given.

    Raises:
        InputError: not one to three discounts, or a discount that is negative or above its count.
    """
    if fallback is None:
        return None
    if not 1 <= len(fallback) <= 3:
        raise InputError(f"{len(fallback)} fallback discounts; give one to three, for counts 1, 2, and 3 or more")
    one, two, three = [*fallback, *[fallback[-1]] * (3 - len(fallback))]
    for count, discount in enumerate((one, two, three), 1):
        if not 0 <= discount <= count:
            raise InputError(f"fallback discount {discount:g} for count {count} is outside 0..{count}")
    return one, two, three


def _counts_of_counts(counts: Ints) -> Ints:
    """Numbers of n-grams with an adjusted count of 0, 1, ..., 4, and of 5 or more."""
    return np.bincount(np.minimum(counts, 5), minlength=6)


def _discounts(n: Ints, length: int) -> tuple[float, float, float]:
    """D1, D2 and D3+ of one order (Chen & Goodman 1998, equation 26).

    Args:
        n: numbers of n-grams with an adjusted count of 0, 1, ..., 4, and of 5 or more.

    Raises:
        InputError: a required count of counts is zero, or a discount is out of range.
    """
    cure = (
        "use more text, remove repeated lines, or set fallback discounts (--discount-fallback; in an experiment"
        " discount_fallback = true in [language_model])"
    )
    for count in (1, 2, 3):
        if n[count] == 0:
            raise InputError(
                f"cannot estimate discounts: no {length}-gram has adjusted count {count}; the text is too small or"
                f" artificial; {cure}"
            )
    y = n[1] / (n[1] + 2 * n[2])
    one, two, three = (float(count - (count + 1) * y * n[count + 1] / n[count]) for count in (1, 2, 3))
    for count, discount in enumerate((one, two, three), 1):
        if not 0 <= discount <= count:
            raise InputError(
                f"cannot estimate discounts: {discount:.4g} for {length}-grams of adjusted count {count} is outside"
                f" 0..{count}; the text is unlike natural language; {cure}"
            )
    return one, two, three


def _log10(values: Floats) -> Floats:
    """log10 with ``LOG_ZERO`` as the floor; rounding must not lift a probability above 1, nor leave a minus zero."""
    result: Floats = np.minimum(np.log10(np.maximum(values, 10.0**LOG_ZERO)), 0.0) + 0.0
    return result


def estimate_ngrams(
    path: str | os.PathLike[str],
    order: int = 4,
    prune: Sequence[int] = (),
    discount_fallback: Sequence[float] | None = None,
) -> NgramModel:
    """Estimates a model from a text with one tokenised sentence per line (UTF-8, may be compressed).

    Args:
        path: the text.
        order: length of the longest n-grams, 2..6.
        prune: n-grams whose raw count is at most the threshold of their order are dropped; see ``prune_thresholds``.
        discount_fallback: discounts for orders where the text does not determine them, such as ``DEFAULT_FALLBACK``;
            without them such a text is an error.

    Raises:
        InputError: bad order, thresholds or discounts; a text without words, with reserved words, too small for the
            discounts, or without any sentence as long as the order.
    """
    check_order(order)
    thresholds = prune_thresholds(prune, order)
    fallback = check_fallback(discount_fallback)
    words, text, longest = read_corpus(path)
    if longest < order:
        raise InputError(
            f"no {order}-grams: the longest sentence has {longest} words with <s> and </s>; use a lower order", path
        )
    counted = count_orders(len(words), text, order)
    del text
    adjusted = adjusted_counts(counted)

    discounts = np.empty((order, 3))
    for length, counts in enumerate(adjusted, 1):
        try:
            discounts[length - 1] = _discounts(_counts_of_counts(counts), length)
        except InputError as error:
            if fallback is None:
                raise InputError(str(error), path) from None
            log.info(f"{path}: fallback discounts {' '.join(f'{d:g}' for d in fallback)} for {length}-grams")
            discounts[length - 1] = fallback

    kept = [table.raw > threshold for table, threshold in zip(counted, thresholds, strict=True)]
    kept[0][UNK : EOS + 1] = True
    outcomes = int(kept[0].sum()) - 1  # without <s>
    probs, backoffs = [np.full(1, 1 / outcomes)], []
    sizes = [1, *map(len, counted)]
    for table, counts, keep, discount, contexts in zip(counted, adjusted, kept, discounts, sizes, strict=False):
        prob, backoff = _smooth(table, counts, keep, discount, probs[-1], contexts)
        probs.append(prob)
        backoffs.append(backoff)
    tables: list[OrderTable] = []
    moved: Ints | None = None
    own_backoffs = [*backoffs[1:], None]  # backoff weights of an order's n-grams, as contexts of the next order
    for table, keep, prob, own in zip(counted, kept, probs[1:], own_backoffs, strict=True):
        suffix = table.suffix if moved is None else moved[table.suffix]
        log_backoff = None if own is None else _log10(own[keep])
        tables.append(OrderTable(table.first[keep], suffix[keep], _log10(prob[keep]), log_backoff))
        moved = (np.cumsum(keep) - 1).astype(row_type(len(table)))
    return NgramModel(words, tables, discounts)


def _smooth(
    table: Counts, counts: Ints, keep: NDArray[np.bool_], discount: Floats, lower: Floats, contexts: int
) -> tuple[Floats, Floats]:
    """Probabilities of one order, including pruned n-grams, and the backoff weights of their contexts.

    Args:
        counts: adjusted counts.
        keep: True for n-grams that pruning keeps.
        lower: probabilities of the order below.
        contexts: number of n-grams one order down.
    """
    taken = np.concatenate(([0.0], discount))[np.minimum(counts, 3)]
    total = np.bincount(table.context, counts, contexts)
    freed = np.bincount(table.context, np.where(keep, taken, counts), contexts)
    # Words without followers (</s>, <unk>) are not a context and pass all mass down.
    backoff = np.divide(freed, total, out=np.ones(contexts), where=total > 0)
    return (counts - taken) / total[table.context] + backoff[table.context] * lower[table.suffix], backoff


def write_arpa(model: NgramModel, path: str | os.PathLike[str]) -> None:
    """Writes the model in ARPA format (log10, 7 significant digits); equal models give equal bytes.

    ``<s>`` is never predicted; it carries the probability of ``<unk>`` and is not part of the sum of 1.

    Raises:
        InputError: the file cannot be written.
    """
    with atomic_write(path) as file:
        file.write("\\data\\\n")
        file.writelines(f"ngram {length}={count}\n" for length, count in enumerate(model.counts, 1))
        for length, table in enumerate(model.tables, 1):
            file.write(f"\n\\{length}-grams:\n")
            for begin in range(0, len(table.first), CHUNK):
                part = slice(begin, begin + CHUNK)
                probs, names = table.log_prob[part].tolist(), _names(model, length, part)
                if table.log_backoff is None:
                    lines = [f"{prob:.7g}\t{name}\n" for prob, name in zip(probs, names, strict=True)]
                else:
                    rows = zip(probs, names, table.log_backoff[part].tolist(), strict=True)
                    lines = [f"{prob:.7g}\t{name}\t{backoff:.7g}\n" for prob, name, backoff in rows]
                file.write("".join(lines))
        file.write("\n\\end\\\n")


def _names(model: NgramModel, length: int, part: slice) -> Iterator[str]:
    """The words of selected n-grams of an order."""
    table = model.tables[length - 1]
    first, row = [table.first[part]], table.suffix[part]
    for lower in model.tables[length - 2 :: -1] if length > 1 else ():
        first.append(lower.first[row])
        row = lower.suffix[row]
    return map(" ".join, zip(*([model.words[word] for word in words.tolist()] for words in first), strict=True))
