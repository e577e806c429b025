"""Interpolated modified Kneser-Ney n-gram models from text, as KenLM's ``lmplz`` makes them.

The formulas are those of Chen & Goodman (1998, "An empirical study of smoothing techniques for language modeling",
section 4.1.6 and equation 26); which counts enter them, and how pruned mass is given back, follows Heafield,
Pouzyrevsky, Clark & Koehn (2013, "Scalable modified Kneser-Ney language model estimation"). With a(g) the adjusted
count of an n-gram, D the discount of its order, h a context and s(h) that context without its first word:

* a(g) is the raw count when g has the highest order or begins with ``<s>``, else the number of words seen before it;
* p(w | h) = (a(hw) - D(a(hw))) / a(h·) + b(h) p(w | s(h)), where the sum a(h·) runs over all words after h;
* b(h) = sum over w of D(a(hw)) / a(h·), where a pruned hw gives back all of a(hw);
* unigrams interpolate with 1/|V|, where V is the words of the text, ``</s>`` and ``<unk>``, but not ``<s>``.

Every n-gram is a row of a table of its order. Tables are sorted by last word, then last but one, and so on ("suffix
order"), so that an n-gram is a pair (row of its suffix one order down, first word), which packs into one integer.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lscfg import log
from lscfg.errors import InputError
from lscfg.io.text import atomic_write, read_lines

UNK, BOS, EOS = 0, 1, 2
SPECIALS = ("<unk>", "<s>", "</s>")
MIN_ORDER, MAX_ORDER = 2, 6
"""Of a language model; KenLM reads no model of single words."""
DEFAULT_FALLBACK = (0.5, 1.0, 1.5)
"""Discounts for adjusted counts 1, 2, and 3 or more, where the text does not determine them; ``lmplz`` has the same."""

LOG_ZERO = -99.0
"""log10 of a backoff of zero, for ARPA readers do not take ``-inf``."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OrderTable:
    """The n-grams of one order that pruning left, in suffix order.

    Attributes:
        first: first word of each n-gram, an index into the model's words; shape (n,).
        suffix: row of the n-gram without its first word in the table one order down; shape (n,); for unigrams zeros.
        log_prob: log10 probability of the last word after the others; shape (n,).
        log_backoff: log10 backoff weight of the n-gram as a context; shape (n,); None at the highest order.
    """

    first: Ints
    suffix: Ints
    log_prob: Floats
    log_backoff: Floats | None


@dataclass(frozen=True)
class NgramModel:
    """An estimated model.

    Attributes:
        words: the vocabulary; ``<unk>``, ``<s>``, ``</s>``, then the words of the text as they first came.
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


@dataclass(frozen=True)
class _Counts:
    """All n-grams of one order before pruning, in suffix order; every array has shape (n,).

    ``suffix`` and ``context`` are rows one order down: the n-gram without its first and without its last word.
    """

    first: Ints
    suffix: Ints
    context: Ints
    raw: Ints


def check_order(order: int) -> None:
    """Raises InputError unless the order is one that a model can have."""
    if not MIN_ORDER <= order <= MAX_ORDER:
        limits = f"{MIN_ORDER}..{MAX_ORDER}"
        raise InputError(f"order {order} of the language model is outside {limits}; choose one inside, such as 4")


def prune_thresholds(prune: Sequence[int], order: int) -> list[int]:
    """One threshold for each order: n-grams of at most that raw count are dropped; the last one goes for the rest.

    Raises:
        InputError: more thresholds than orders, a negative one, or a threshold below that of the order before, which
            would drop the contexts and suffixes of n-grams that stay.
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
    """The three fallback discounts (the last one given goes for the rest), or None where none are wanted.

    Raises:
        InputError: not one to three of them, or a discount larger than the count it is taken from, or negative.
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


def tokenized_lines(path: str | os.PathLike[str]) -> Iterator[list[str]]:
    """The words of each line of a text, split as ``lmplz`` splits: at space, tab, NUL and carriage return only.

    Other blanks of Unicode (such as the no-break space) are parts of words. A last line that lacks its newline counts.

    Raises:
        InputError: unreadable, not UTF-8, without any word, or a word of the text is one that models reserve.
    """
    empty = True
    for number, line in enumerate(read_lines(path), 1):
        words = [word for word in line.replace("\t", " ").replace("\r", " ").replace("\0", " ").split(" ") if word]
        for reserved in SPECIALS:
            if reserved in words:
                raise InputError(
                    f"word {reserved} is reserved by the language model; take it out of the text or write it otherwise",
                    path,
                    number,
                )
        empty = empty and not words
        yield words
    if empty:
        raise InputError("no words to estimate a model from; give a text of one tokenized sentence a line", path)


def _read_corpus(path: str | os.PathLike[str]) -> tuple[list[str], Ints, Ints]:
    """The vocabulary, the text as word indices with ``<s>`` and ``</s>`` round each line, and each token's place in it.

    Both arrays have shape (tokens,); ``<s>`` has place 0. An empty line is the sentence ``<s> </s>``.
    """
    index = {word: number for number, word in enumerate(SPECIALS)}
    number_of = index.setdefault
    tokens = array("q")
    for words in tokenized_lines(path):
        tokens.append(BOS)
        tokens.extend([number_of(word, len(index)) for word in words])
        tokens.append(EOS)
    text: Ints = np.frombuffer(tokens, dtype=np.int64)
    at = np.arange(len(text))
    place = at - np.maximum.accumulate(np.where(text == BOS, at, 0))
    return list(index), text, place


def _count(words: int, text: Ints, place: Ints, order: int) -> list[_Counts]:
    """Counts the n-grams of orders 1 to ``order``; an n-gram has ``<s>`` at most as its first word.

    Unigrams are all words, so that row and word index are the same; ``<unk>`` and ``<s>`` have count 0, for neither is
    ever predicted.
    """
    raw = np.bincount(text, minlength=words)
    raw[BOS] = 0
    nothing = np.zeros(words, dtype=np.int64)
    tables = [_Counts(np.arange(words), nothing, nothing, raw)]
    row = text  # for each token the row of the n-gram of the order at hand that ends there
    for length in range(2, order + 1):
        ends = np.flatnonzero(place >= length - 1)
        key = row[ends] * words + text[ends - length + 1]
        unique, example, inverse, raw = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        suffix, first = np.divmod(unique, words)
        tables.append(_Counts(first, suffix, row[ends[example] - 1], raw))
        row = np.full(len(text), -1, dtype=np.int64)
        row[ends] = inverse
    return tables


def _adjusted(tables: list[_Counts]) -> list[Ints]:
    """Adjusted counts of every order; the arrays have the tables' shapes."""
    adjusted = []
    for table, above in pairwise(tables):
        # Each row above is a distinct word to the left of its suffix. Nothing stands left of <s>, so what begins with
        # it keeps its raw count (which is 0 for <s> itself).
        left = np.bincount(above.suffix, minlength=len(table.first))
        adjusted.append(np.where(table.first == BOS, table.raw, left))
    return [*adjusted, tables[-1].raw]


def _discounts(counts: Ints, length: int) -> tuple[float, float, float]:
    """D1, D2 and D3+ from the adjusted counts of one order (Chen & Goodman 1998, equation 26).

    Raises:
        InputError: a count of counts that is needed is zero, or a discount comes out of range.
    """
    cure = "give more text, take out repeated lines, or set fallback discounts (--discount-fallback)"
    n = np.bincount(np.minimum(counts, 5), minlength=6)
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
    return np.minimum(np.log10(np.maximum(values, 10.0**LOG_ZERO)), 0.0) + 0.0


def estimate_ngrams(
    path: str | os.PathLike[str],
    order: int = 4,
    prune: Sequence[int] = (),
    discount_fallback: Sequence[float] | None = None,
) -> NgramModel:
    """Estimates a model from a text of one tokenized sentence a line (UTF-8; decompressed if the name ends in .gz).

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
    words, text, place = _read_corpus(path)
    longest = int(place.max()) + 1
    if longest < order:
        raise InputError(
            f"no {order}-grams: the longest sentence has {longest} words with <s> and </s>; use a lower order", path
        )
    counted = _count(len(words), text, place, order)
    del text, place
    adjusted = _adjusted(counted)

    discounts = np.empty((order, 3))
    for length, counts in enumerate(adjusted, 1):
        try:
            discounts[length - 1] = _discounts(counts, length)
        except InputError as error:
            if fallback is None:
                raise InputError(str(error), path) from None
            log.warn(f"{path}: fallback discounts {' '.join(f'{d:g}' for d in fallback)} for {length}-grams")
            discounts[length - 1] = fallback

    kept: list[NDArray[np.bool_]] = []
    probs: list[Floats] = []
    backoffs: list[Floats] = []  # of the contexts, so the first is that of the empty one
    for table, counts, discount, threshold in zip(counted, adjusted, discounts, thresholds, strict=True):
        keep = table.raw > threshold
        if not kept:
            keep[[UNK, BOS, EOS]] = True
            lower = np.full(1, 1.0 / (np.count_nonzero(keep) - 1))  # uniform; <s> is no outcome
        else:
            lower = probs[-1]
        taken = np.concatenate(([0.0], discount))[np.minimum(counts, 3)]
        contexts = len(lower)
        total = np.bincount(table.context, counts, contexts)
        freed = np.bincount(table.context, np.where(keep, taken, counts), contexts)
        # What nothing follows (</s>, <unk>) is no context: it passes everything down.
        backoff = np.divide(freed, total, out=np.ones(contexts), where=total > 0)
        kept.append(keep)
        backoffs.append(backoff)
        probs.append((counts - taken) / total[table.context] + backoff[table.context] * lower[table.suffix])

    tables: list[OrderTable] = []
    moved = np.zeros(1, dtype=np.int64)  # where the rows one order down are once pruned ones are gone
    for length, (table, keep, prob) in enumerate(zip(counted, kept, probs, strict=True), 1):
        log_backoff = _log10(backoffs[length][keep]) if length < order else None
        tables.append(OrderTable(table.first[keep], moved[table.suffix[keep]], _log10(prob[keep]), log_backoff))
        moved = np.cumsum(keep) - 1
    return NgramModel(words, tables, discounts)


def write_arpa(model: NgramModel, path: str | os.PathLike[str]) -> None:
    """Writes the model in ARPA format (log10, 7 significant digits); equal models give equal bytes.

    ``<s>`` is never predicted; it carries the probability of ``<unk>``, as what adds up to 1 does not include it.

    Raises:
        InputError: the file cannot be written.
    """
    chunk = 65536
    with atomic_write(path) as file:
        file.write("\\data\\\n")
        file.writelines(f"ngram {length}={count}\n" for length, count in enumerate(model.counts, 1))
        names: list[str] = []
        for length, table in enumerate(model.tables, 1):
            first = [model.words[word] for word in table.first.tolist()]
            if length == 1:
                names = first
            else:
                names = [f"{word} {names[row]}" for word, row in zip(first, table.suffix.tolist(), strict=True)]
            file.write(f"\n\\{length}-grams:\n")
            for start in range(0, len(names), chunk):
                part = slice(start, start + chunk)
                probs = table.log_prob[part].tolist()
                if table.log_backoff is None:
                    lines = [f"{prob:.7g}\t{name}\n" for prob, name in zip(probs, names[part], strict=True)]
                else:
                    backoffs = table.log_backoff[part].tolist()
                    rows = zip(probs, names[part], backoffs, strict=True)
                    lines = [f"{prob:.7g}\t{name}\t{backoff:.7g}\n" for prob, name, backoff in rows]
                file.write("".join(lines))
        file.write("\n\\end\\\n")
