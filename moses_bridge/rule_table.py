"""Rule table and glue grammar of Moses, with the rules and features of a grammar in cdec's format.

A line is ``source [X] ||| target [X] ||| scores ||| alignment ||| counts ||| ||| |||``. Nonterminals are ``[X][X]``;
the alignment field (positions among the symbols of both sides) links them. Scores are 10^-feature in the order of
``score_names``, so their natural logarithm in Moses is -ln 10 times the feature. Counts are those of
the target side, the source side and the rule.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from lscfg.corpus.parallel import check_words
from lscfg.errors import InputError, quote
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.select import Selection
from lscfg.grammar.write import BLOCK
from lscfg.io.write import check_replaceable, write_blocks, write_lines
from lscfg.log import progress

LARGEST = 30.0
"""Upper limit of a feature: Moses stores scores as 32-bit numbers, and a score of 0 has no logarithm."""

GLUE = (
    "<s> [X] ||| <s> [S] ||| 1 ||| ||| 0 ||| ||| |||",
    "[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 ||| 0 ||| ||| |||",
    "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0 ||| ||| |||",
)
ROOT = (
    "<s> </s> [X] ||| <s> </s> [S] ||| 1 ||| ||| 0 ||| ||| |||",
    "<s> [X][X] </s> [X] ||| <s> [X][X] </s> [S] ||| 1 ||| 0-0 1-1 2-2 ||| 0 ||| ||| |||",
)
"""Glue rules for a grammar with its own glue: one [X] is the whole sentence. The empty sentence has a rule, too, since
Moses writes no line for a sentence without a derivation, nor for any sentence after it."""

GLUE_FILE = "glue-grammar"
"""Name of the glue grammar, in the folder of the rule table."""

_ESCAPES = str.maketrans({"|": "&#124;", "[": "&#91;", "]": "&#93;"})


def score_names(counted: RuleCounts) -> list[str]:
    """The features in the order of the scores: first the four that the tools of Moses expect."""
    first = ["FgivenE", "MaxLexFgivenE", "EgivenF", "MaxLexEgivenF"]
    return first + [name for name in counted.features if name not in first]


def escape_words(words: list[str]) -> list[str]:
    """The words with ``|``, ``[`` and ``]`` escaped as by Moses' escape-special-chars.perl.

    The text to translate must be escaped in the same way.

    Raises:
        InputError: a word equals the escaped form of another one, so the two could not be distinguished.
    """
    escaped = [word.translate(_ESCAPES) for word in words]
    known = set(words)
    for word, other in zip(words, escaped, strict=True):
        if word != other and other in known:
            raise InputError(
                f"the corpus has both the word {quote(word)} and its escaped form {quote(other)}; use one of them"
            )
    return escaped


def write_rule_table(path: str | os.PathLike[str], counted: RuleCounts, selection: Selection, threads: int = 1) -> None:
    """Writes the selected rules as a rule table, sorted by source side, and ``GLUE_FILE`` next to it.

    Raises:
        InputError: a word cannot be part of a rule table, a file cannot be written, or another ``GLUE_FILE`` exists.
    """
    check_words(counted.rules.words)
    glue = Path(path).parent / GLUE_FILE
    check_replaceable(glue, *("".join(f"{line}\n" for line in lines) for lines in (GLUE, ROOT)))
    table = _Table(counted)
    sources = [table.source(rule).encode() for rule in selection.kept.tolist()]
    which = selection.kept[np.array(sorted(range(len(sources)), key=sources.__getitem__), np.int64)]
    del sources
    write_blocks(path, progress(table.blocks(which), "write", -(-len(which) // BLOCK)), threads)
    write_lines(glue, ROOT if counted.own_glue else GLUE)


class _Table:
    def __init__(self, counted: RuleCounts):
        self._rules = counted.rules
        self._features = RuleFeatures(counted)
        self._order = [counted.features.index(name) for name in score_names(counted)]
        self._words = escape_words(counted.rules.words)
        counts = counted.count
        self._counts = np.stack(
            [*(np.bincount(side, counts)[side] for side in (self._rules.target_id, self._rules.source_id)), counts], 1
        )

    def blocks(self, which: np.ndarray) -> Iterator[Callable[[], bytes]]:
        for begin in range(0, len(which), BLOCK):
            yield partial(self._lines, which[begin : begin + BLOCK])

    def source(self, rule: int) -> str:
        """The source side with its left-hand side."""
        return self._side(self._rules.src(rule).tolist())

    def _side(self, symbols: list[int]) -> str:
        return " ".join([self._words[s] if s >= 0 else "[X][X]" for s in symbols] + ["[X]"])

    def _lines(self, which: np.ndarray) -> bytes:
        scores = 10 ** -np.minimum(self._features(which)[:, self._order], LARGEST)
        form = " ".join(["%.6g"] * len(self._order))
        lines = []
        for rule, row, counts in zip(which.tolist(), scores.tolist(), self._counts[which].tolist(), strict=True):
            tgt = self._rules.tgt(rule).tolist()
            lines.append(
                f"{self.source(rule)} ||| {self._side(tgt)} ||| {form % tuple(row)} ||| {self._links(rule, tgt)} ||| "
                f"{counts[0]:.6g} {counts[1]:.6g} {counts[2]:.6g} ||| ||| |||\n"
            )
        return "".join(lines).encode("utf-8")

    def _links(self, rule: int, tgt: list[int]) -> str:
        if not self._rules.arity[rule]:
            return ""
        places = [i for i, symbol in enumerate(self._rules.src(rule).tolist()) if symbol < 0]
        return " ".join(f"{place}-{tgt.index(-1 - k)}" for k, place in enumerate(places))
