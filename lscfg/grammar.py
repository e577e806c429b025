"""Grammars with the usual features of a hierarchical system (paper, section 5.1), in cdec's format.

One implementation for all grammars: a ``RuleCounts`` says which rules there are and how often, a ``Selection`` which of
them are written, ``RuleFeatures`` what their features are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from lscfg.corpus import check_words
from lscfg.derive import Derivations
from lscfg.errors import InputError
from lscfg.formats.segments import check_segments, grammar_path, write_segments
from lscfg.kernel import Matcher
from lscfg.log import progress
from lscfg.parameters import MAX_ARITY
from lscfg.rules import RuleTable
from lscfg.text import read_blocks, write_blocks

FEATURES = (
    "EgivenF",
    "FgivenE",
    "MaxLexEgivenF",
    "MaxLexFgivenE",
    "CountEF",
    "SampleCountF",
    "IsSingletonF",
    "IsSingletonFE",
)
"""The features of each rule. EgivenF, FgivenE: -log10 of the relative frequencies P(e|f), P(f|e). MaxLexEgivenF,
MaxLexFgivenE: -log10 of the lexical weights. CountEF, SampleCountF: log10(1 + count) of the rule, of its source side.
IsSingletonF, IsSingletonFE: 1 where the source side, the rule occurs once (however small a share of a count it has)."""

GLUE_FEATURES = ("Glue", "Inverse")
"""Features of a grammar with rules of bare nonterminals. Glue: 1 for [X,1] [X,2] in order, which does here what the
glue rule does in a Hiero grammar. Inverse: 1 where the two nonterminals of a rule change places."""

NO_TRANSLATION = 1e-7
"""Lexical probability of a word that no word of the other side translates."""

MAX_TARGETS = 30
"""Target sides that a source side keeps. Bare nonterminals with some unlinked target word have thousands, most of them
seen once; they would be tried in every span of every sentence."""

ROOT_RULE = "[S] ||| [X,1] ||| [1] |||"

BLOCK = 50_000
"""Rules that are turned into text at a time."""


@dataclass(frozen=True)
class RuleCounts:
    """The rules of a corpus, how often they occur, and which words are linked in it.

    Attributes:
        rules: the rule types.
        count: float64 [rules], the number of occurrences, or the sum of their shares.
        tokens: int64 [rules], the number of occurrences.
        lexicon: int32 [pairs, 2], words that are linked somewhere (source, target); -1: the other one has no link.
        lexicon_count: int64 [pairs], how often.
        max_arity: most nonterminals of a rule that has a place in a grammar.
    """

    rules: RuleTable
    count: np.ndarray
    tokens: np.ndarray
    lexicon: np.ndarray
    lexicon_count: np.ndarray
    max_arity: int = field(default=MAX_ARITY, kw_only=True)

    own_glue: ClassVar[bool] = False
    """Whether the grammar has rules of bare nonterminals and a root rule, in place of the decoder's glue rules."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that a grammar of these rules has."""
        return FEATURES + GLUE_FEATURES if self.own_glue else FEATURES

    def statistics(self) -> dict[str, int]:
        """Rule types and tokens by arity, for the log."""
        arity = np.minimum(self.rules.arity, MAX_ARITY + 1)
        sizes = {"rule tokens": int(self.tokens.sum()), "rule types": len(self.rules)}
        for k in range(MAX_ARITY + 2):
            name = f"arity {k}" if k <= MAX_ARITY else f"arity > {MAX_ARITY}"
            if k <= MAX_ARITY or (arity == k).any():
                sizes[f"types of {name}"] = int((arity == k).sum())
                sizes[f"tokens of {name}"] = int(self.tokens[arity == k].sum())
        return sizes


class MinimalRules(RuleCounts):
    """The rules of minimal derivations."""

    own_glue = True

    @classmethod
    def of(cls, derivations: Derivations) -> MinimalRules:
        """The rules of derivation trees; of as few nonterminals in a grammar as the trees were made for."""
        counts, lexicon = derivations.counts, (derivations.lexicon, derivations.lexicon_count)
        most = derivations.options.max_arity
        return cls(derivations.rules, counts.astype(np.float64), counts, *lexicon, max_arity=most)


# ---- features ----


class RuleFeatures:
    """The features of rules; relative frequencies are those of all rules, also of those that are not written."""

    def __init__(self, counted: RuleCounts):
        self._counted = counted
        rules = counted.rules
        source, target = rules.source_id, rules.target_id
        self._count_f = np.bincount(source, counted.count)[source]
        self._count_e = np.bincount(target, counted.count)[target]
        self._single_f = np.bincount(source, counted.tokens)[source] == 1
        # -log10 of relative frequencies of links, a word without a link counting as one to NULL
        pairs, links = counted.lexicon, counted.lexicon_count.astype(float)
        costs = [-np.log10(links / np.bincount(given, links)[given]) for given in (pairs + 1).T]
        self._lexicon_costs = np.stack(costs, 1)

    def __call__(self, which: np.ndarray) -> np.ndarray:
        """Values of ``RuleCounts.features`` for some rules, float64 [len(which), features]."""
        counted = self._counted
        count, count_f, count_e = counted.count[which], self._count_f[which], self._count_e[which]
        lexical = self.lexical_weights(which)
        columns = [
            -np.log10(np.minimum(count / count_f, 1)),  # sums of shares are rounded
            -np.log10(np.minimum(count / count_e, 1)),
            lexical[:, 0],
            lexical[:, 1],
            np.log10(1 + count),
            np.log10(1 + count_f),
            self._single_f[which],
            counted.tokens[which] == 1,
        ]
        if counted.own_glue:
            columns += [self._glue[which], self._inverse[which]]
        return np.stack([np.asarray(c, float) for c in columns], 1) + 0.0  # + 0.0 turns -0 into 0

    def lexical_weights(self, which: np.ndarray) -> np.ndarray:
        """-log10 of the lexical weights (e|f) and (f|e) of some rules, float64 [len(which), 2].

        Each word takes its best partner among the words of the other side and NULL (Koehn et al. 2003, with the maximum
        in place of the mean).
        """
        rules, worst = self._counted.rules, -float(np.log10(NO_TRANSLATION))
        return rules.kernel.lexical_weights(self._counted.lexicon, self._lexicon_costs, worst, which)

    @cached_property
    def _inverse(self) -> np.ndarray:
        """bool [rules]: two nonterminals that change places."""
        rules = self._counted.rules
        rule = np.repeat(np.arange(len(rules)), np.diff(rules.offsets))
        in_target = np.arange(len(rule)) >= (rules.offsets[:-1] + rules.src_length)[rule]
        nonterminals = np.flatnonzero(in_target & (rules.symbols < 0))
        having, first = np.unique(rule[nonterminals], return_index=True)
        inverse = np.zeros(len(rules), bool)
        inverse[having] = rules.symbols[nonterminals[first]] == -2
        return inverse & (rules.arity == 2)

    @cached_property
    def _glue(self) -> np.ndarray:
        """bool [rules]: the rule [X,1] [X,2] in order."""
        rules = self._counted.rules
        return (rules.arity == 2) & (rules.src_length == 2) & (np.diff(rules.offsets) == 4) & ~self._inverse


def rule_features(counted: RuleCounts) -> np.ndarray:
    """The values of ``counted.features`` for every rule type, float64 [rules, features]."""
    return RuleFeatures(counted)(np.arange(len(counted.rules)))


# ---- which rules are written ----


@dataclass(frozen=True)
class Selection:
    """Rules to write.

    Attributes:
        kept: int64, their numbers, ascending.
        dropped: how many others there are, by the reason.
        sentences: the kept rules that each sentence of the filter can use, int64 each; None without a filter.
    """

    kept: np.ndarray
    dropped: dict[str, int]
    sentences: list[np.ndarray] | None = None


def most_frequent_targets(counted: RuleCounts, limit: int) -> np.ndarray:
    """bool [rules]: whether a rule is among the ``limit`` most frequent ones of its source side (ties: the earlier)."""
    return most_frequent(counted.rules.source_id, counted.count, limit)


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


def matching_sides(rules: RuleTable, sentences: Sequence[str]) -> Iterator[np.ndarray]:
    """For each sentence the source sides (by ``rules.source_id``, ascending) that can cover some part of it.

    A nonterminal covers one or more words; words are separated by blanks.
    """
    ids = {word: k for k, word in enumerate(rules.words)}
    matcher = Matcher(rules.kernel, rules.source_id)
    for line in progress(sentences, "filter", len(sentences)):
        words = [ids.get(word, -1) for word in line.split(" ") if word]
        yield matcher.match(np.array(words, np.int32))


def select_rules(
    counted: RuleCounts,
    max_targets: int = MAX_TARGETS,
    sentences: Sequence[str] | None = None,
    separately: bool = False,
) -> Selection:
    """Which rules a grammar gets: of few enough nonterminals, with a frequent target side, of use for the text.

    Args:
        max_targets: target sides that a source side keeps, the most frequent ones; 0: all.
        sentences: keep only rules whose source side can match a part of one of these sentences.
        separately: list the rules of each sentence too.

    Raises:
        InputError: ``max_targets`` is negative.
    """
    if max_targets < 0:
        raise InputError(f"a source side keeps at least 1 target side (0: all), not {max_targets}")
    rules = counted.rules
    kept = rules.arity <= counted.max_arity
    dropped = {f"more than {counted.max_arity} nonterminals": int((~kept).sum())}
    if max_targets:
        frequent = most_frequent_targets(counted, max_targets)
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
    """The numbers first[k] .. last[k] - 1 for each k, one range behind the other."""
    lengths = last - first
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths - first, lengths)


# ---- files ----


def write_grammar(path: str | os.PathLike[str], counted: RuleCounts, selection: Selection, threads: int = 1) -> None:
    """Writes the selected rules in cdec's format.

    A grammar with glue of its own ends with the root rule ``[S] -> [X,1]`` and is meant for a decoder without Hiero's
    glue rules; a Hiero grammar is meant for one with them. The number of threads does not change the file.

    Raises:
        InputError: a word cannot stand in a grammar, or the file cannot be written.
    """
    check_words(counted.rules.words)
    blocks = _blocks(counted, RuleFeatures(counted), selection.kept)
    write_blocks(path, progress(blocks, "write", -(-len(selection.kept) // BLOCK)), threads)


def _blocks(counted: RuleCounts, features: RuleFeatures, which: np.ndarray) -> Iterator[Callable[[], bytes]]:
    def lines(chosen: np.ndarray) -> bytes:
        return counted.rules.kernel.text(chosen, counted.features, features(chosen))

    for begin in range(0, len(which), BLOCK):
        yield partial(lines, which[begin : begin + BLOCK])
    if counted.own_glue:
        yield lambda: (ROOT_RULE + "\n").encode()


def write_union(path: str | os.PathLike[str], *grammars: str | os.PathLike[str], threads: int = 1) -> int:
    """Writes a grammar of all rules of others, those of several with the features that the first one gives them.

    Returns:
        How many rules it has.

    Raises:
        InputError: a file cannot be read or written.
    """
    met: set[bytes] = set()

    def new_rules(block: bytes) -> bytes:
        kept = []
        for line in block.splitlines():
            rule = b" ||| ".join(line.removesuffix(b" |||").split(b" ||| ", 3)[:3])
            if rule not in met:
                met.add(rule)
                kept.append(line + b"\n")
        return b"".join(kept)

    blocks = (block for grammar in grammars for block, _ in read_blocks(grammar, BLOCK))
    write_blocks(path, (partial(bytes, new_rules(block)) for block in blocks), threads)
    return len(met)


def write_sentence_grammars(
    folder: str | os.PathLike[str],
    counted: RuleCounts,
    selection: Selection,
    sentences: Sequence[str],
    threads: int = 1,
) -> None:
    """Writes a grammar for each sentence, ``grammar.N.gz`` with N from 0, and the input for cdec that names them.

    Args:
        selection: what ``select_rules`` gave for these sentences separately.

    Raises:
        InputError: a word cannot stand in a grammar, a sentence not in the input, or a file cannot be written.
    """
    assert selection.sentences is not None and len(selection.sentences) == len(sentences)
    check_words(counted.rules.words)
    check_segments(folder, sentences)
    features = RuleFeatures(counted)
    paths = [grammar_path(folder, n) for n in range(len(sentences))]

    def write(item: tuple[Path, np.ndarray]) -> None:
        write_blocks(item[0], _blocks(counted, features, item[1]))

    _ = (counted.own_glue and features._inverse, counted.rules.kernel)  # made once, not by each thread
    with ThreadPoolExecutor(threads) as pool:
        work = zip(paths, selection.sentences, strict=True)
        for _ in progress(pool.map(write, work), "write", len(paths)):
            pass
    write_segments(folder, sentences)


# ---- sizes ----


def effective_size(counted: RuleCounts, m: int, kept: np.ndarray | None = None) -> int:
    """Rules counted once for each assignment of m states to their nonterminals, as in the paper's Table 2.

    Rules without nonterminals that occur once share the parameters of the OOV rule, and count as that one.
    """
    rules, tokens = counted.rules, counted.tokens
    chosen = np.arange(len(rules)) if kept is None else kept
    arity = rules.arity[chosen]
    repeated = int(((arity == 0) & (tokens[chosen] > 1)).sum())
    return m * (1 + repeated) + m**2 * int((arity == 1).sum()) + m**3 * int((arity == 2).sum())
