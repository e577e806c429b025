"""The weight of soft terms: the least with which translations use most of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lscfg import log
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.sentence_rules import ADDED, TERMINOLOGY
from lscfg.decode.terms import Occurrence, TermIndex, form_places
from lscfg.errors import counted

WANTED = 0.9
"""Share of the soft terms that the weight must bring into translations."""

FEWEST = 20
"""Minimum number of soft terms in a text from which a weight is learned."""

MOST_SENTENCES = 200
"""Maximum number of sentences that are translated with each weight."""

SHARES = 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0
"""Weights to try, as multiples of the mean absolute weight, since only ratios of weights matter."""

HALVINGS = 4


class LeastWeight(NamedTuple):
    """A weight, and the share of soft terms that translations use with it."""

    weight: float
    use: float


def least_weight(use: Callable[[float], float], scale: float) -> LeastWeight:
    """The least weight with the wanted use, by bisection; if none of ``SHARES`` has it, the first of the largest use.

    Args:
        use: share of the terms used with a weight, from 0 to 1.
        scale: unit of the weights.
    """
    tried: list[LeastWeight] = []
    for share in SHARES:
        tried.append(LeastWeight(share * scale, use(share * scale)))
        if tried[-1].use >= WANTED:
            break
    else:
        return max(tried, key=lambda one: one.use)
    found = tried[-1]
    below = tried[-2].weight if len(tried) > 1 else found.weight
    for _ in range(HALVINGS if below < found.weight else 0):
        middle = (below + found.weight) / 2
        made = LeastWeight(middle, use(middle))
        if made.use >= WANTED:
            found = made
        else:
            below = middle
    return found


def fit_terminology(
    decoder: EmbeddedDecoder, weights: Mapping[str, float], terms: TermIndex, sentences: Iterable[str]
) -> float | None:
    """The least weight of ``Terminology`` with which translations use the wanted share of the soft terms.

    Args:
        weights: of the decoder, without this one.
        sentences: words of a text; the first ``MOST_SENTENCES`` with soft terms count.

    Returns:
        The weight; None if the text contains fewer than ``FEWEST`` soft terms.
    """
    numbers = ((text, sum(not one.hard for one in terms.find(text.split()).occurrences)) for text in sentences)
    chosen = [*itertools.islice(((text, soft) for text, soft in numbers if soft), MOST_SENTENCES)]
    texts, total = [text for text, _ in chosen], sum(soft for _, soft in chosen)
    if total < FEWEST:
        log.info(f"soft terms: {total} in the text, too few to fit a weight, which needs {FEWEST}")
        return None

    def use(weight: float) -> float:
        found = decoder.translate(texts, {**weights, ADDED[TERMINOLOGY]: weight}, terms=terms)
        used = sum(used_soft(one.hypotheses[0].text.split(), one.found.occurrences) for one in found)
        return used / total

    found = least_weight(use, float(np.mean([abs(value) for value in weights.values() if value] or [1.0])))
    log.info(
        f"soft terms: with {ADDED[TERMINOLOGY]} {found.weight:.4g}, translations of "
        f"{counted(len(texts), 'sentence')} use {100 * found.use:.1f} % of {total} terms"
    )
    return found.weight


def used_soft(words: Sequence[str], occurrences: Iterable[Occurrence]) -> int:
    """Number of soft terms with a form in a translation, each form at another place."""
    left, used = [*words], 0
    for one in occurrences:
        if not one.hard and (places := form_places(left, [[form.split() for form in one.forms]])):
            ((begin, form),) = places
            left[begin : begin + len(form)] = [""] * len(form)
            used += 1
    return used
