"""Selection of the rules of a grammar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.grammar.counts import RuleCounts, bare_rules
from lscfg.grammar.table import RuleTable
from lscfg.kernel import Matcher
from lscfg.log import progress

MAX_TARGETS = 30
"""Default for the most target sides of a source side. Bare nonterminals with some unlinked target word have thousands,
most of them singletons, which would be tried in every span of every sentence."""


# ---- which rules are written ----


@dataclass(frozen=True)
class Selection:
    """Rules to write.

    Attributes:
        kept: int64, numbers of the rules, ascending.
        dropped: number of other rules by reason.
        sentences: for each sentence of the filter, the kept rules that may match it, int64; None without a filter.
    """

    kept: np.ndarray
    dropped: dict[str, int]
    sentences: list[np.ndarray] | None = None


def most_frequent(source: np.ndarray, counts: np.ndarray, limit: int) -> np.ndarray:
    """bool [rules]: True for the ``limit`` most frequent rules of each source side (ties: the earlier).

    Args:
        source: int64 [rules], number of the source side; counts: int64 [rules].
    """
    order = np.lexsort((np.arange(len(source)), -counts, source))
    first_of_source = np.searchsorted(source[order], source[order])
    kept = np.zeros(len(source), bool)
    kept[order] = np.arange(len(order)) - first_of_source < limit
    return kept


def matching_sides(rules: RuleTable, sentences: Sequence[str], work: str = "filter") -> Iterator[np.ndarray]:
    """For each sentence the source sides (by ``rules.source_id``, ascending) that can cover some part of it.

    A nonterminal covers one or more words; words are separated by blanks.

    Args:
        work: name of the work in the progress display.
    """
    ids = {word: k for k, word in enumerate(rules.words)}
    if rules.lhs is not None:
        yield from _matching_categories(rules, sentences, work)
        return
    matcher = Matcher(rules.kernel, rules.source_id)
    for line in progress(sentences, work, len(sentences)):
        words = [ids.get(word, -1) for word in line.split(" ") if word]
        yield matcher.match(np.array(words, np.int32))


def _matching_categories(rules: RuleTable, sentences: Sequence[str], work: str) -> Iterator[np.ndarray]:
    """``matching_sides`` of rules of several categories: source sides that match with any of them."""
    blind = rules.without_categories()
    pairs = np.unique(np.column_stack([blind.source_id, rules.source_id]), axis=0)
    for found in matching_sides(blind, sentences, work):
        yield np.sort(pairs[np.isin(pairs[:, 0], found), 1])


def check_max_targets(most: int) -> None:
    """Refuses a negative number of target sides.

    Raises:
        InputError: it is negative.
    """
    if most < 0:
        raise InputError(f"a source side keeps at least 1 target side (0: all), not {most}")


def select_rules(
    counted: RuleCounts,
    max_targets: int = MAX_TARGETS,
    sentences: Sequence[str] | None = None,
    separately: bool = False,
) -> Selection:
    """Selects rules that their extractor allows, that have a frequent target side and that can match the text.

    Args:
        max_targets: most target sides of a source side, the most frequent ones; 0: all. Glue rules without counts stay.
        sentences: keep only rules whose source side can match a part of one of these sentences.
        separately: also list the rules of each sentence.

    Raises:
        InputError: ``max_targets`` is negative.
    """
    check_max_targets(max_targets)
    rules = counted.rules
    kept = np.ones(len(rules), bool)
    dropped = {}
    for reason, barred in counted.barred().items():
        dropped[reason] = int((kept & barred).sum())
        kept &= ~barred
    if max_targets:
        allowed, frequent = np.flatnonzero(kept), np.zeros(len(rules), bool)
        frequent[allowed] = most_frequent(rules.source_id[allowed], counted.count[allowed], max_targets)
        if counted.plain_glue:
            frequent |= bare_rules(rules)
        dropped[f"beyond the {max_targets} most frequent target sides"] = int((kept & ~frequent).sum())
        kept &= frequent
    if sentences is None:
        return Selection(np.flatnonzero(kept), dropped)
    useful = np.zeros(int(rules.source_id.max(initial=-1)) + 1, bool)
    sides = []
    for found in matching_sides(rules, sentences):
        useful[found] = True
        if separately:
            sides.append(found)
    useful = useful[rules.source_id]
    dropped["no match in the filter text"] = int((kept & ~useful).sum())
    numbers = np.flatnonzero(kept & useful)
    if not separately:
        return Selection(numbers, dropped)
    by_side = numbers[np.argsort(rules.source_id[numbers], kind="stable")]
    bounds = np.searchsorted(rules.source_id[by_side], np.arange(len(useful) + 1))
    each = [np.sort(by_side[_ranges(bounds[found], bounds[found + 1])]) for found in sides]
    return Selection(numbers, dropped, each)


def _ranges(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The numbers first[k] .. last[k] - 1 for each k, one range after the other."""
    lengths = last - first
    result: np.ndarray = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths - first, lengths)
    return result
