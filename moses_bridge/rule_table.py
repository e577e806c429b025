"""Rule table and glue grammar of Moses, with the rules and features of a grammar in cdec's format.

A line is ``source [X] ||| target [X] ||| scores ||| alignment ||| counts ||| ||| |||``. Nonterminals are ``[X][X]``;
the alignment field (positions among the symbols of both sides) links them. Labels replace the second X, and the [X]
of the target side. Scores are 10^-feature in the order of ``score_names``, so their natural logarithm in Moses is
-ln 10 times the feature. Counts are those of the target side, the source side and the rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from lscfg.corpus.parallel import check_words
from lscfg.errors import InputError, quote
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.select import Selection
from lscfg.grammar.table import X
from lscfg.grammar.write import BLOCK
from lscfg.io.read import read_bytes
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

_LABELLED = re.compile(re.escape(GLUE[-1]).replace(re.escape("[X][X]"), r"\[X\]\[[^][\s]+\]"))
"""A glue rule for a label."""

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

    Rules of several categories have their labels on the target side, and each label has a glue rule.

    Raises:
        InputError: a word cannot be part of a rule table, a file cannot be written, the table has the name of
            ``GLUE_FILE``, or another ``GLUE_FILE`` exists.
    """
    if Path(path).name == GLUE_FILE:
        raise InputError(f"Moses' glue rules go into the file {GLUE_FILE} of this folder; name another file", path)
    check_words(counted.rules.words)
    glue, lines = Path(path).parent / GLUE_FILE, _glue_lines(counted)
    own = (GLUE, ROOT, lines, *_labelled_glue(glue))
    check_replaceable(glue, *("".join(f"{line}\n" for line in each) for each in own))
    table = _Table(counted)
    sources = [table.source(rule).encode() for rule in selection.kept.tolist()]
    which = selection.kept[np.array(sorted(range(len(sources)), key=sources.__getitem__), np.int64)]
    del sources
    write_blocks(path, progress(table.blocks(which), "write", -(-len(which) // BLOCK)), threads)
    write_lines(glue, lines)


def _glue_lines(counted: RuleCounts) -> tuple[str, ...]:
    """The glue grammar; with labels, the glue rules are those of ``lscfg.grammar.write.glue_rules``."""
    rules = counted.rules
    if rules.lhs is None:
        return ROOT if counted.own_glue else GLUE
    labels = sorted(rules.categories[category] for category in np.unique(rules.category).tolist())
    return (*GLUE[:-1], *(GLUE[-1].replace("[X][X]", f"[X][{label}]") for label in labels))


def _labelled_glue(path: Path) -> list[list[str]]:
    """The lines of an earlier glue grammar for other labels; none if the file is something else."""
    if not path.is_file():
        return []
    lines = read_bytes(path).decode("utf-8", "replace").split("\n")[:-1]
    ours = tuple(lines[: len(GLUE) - 1]) == GLUE[:-1] and all(map(_LABELLED.fullmatch, lines[len(GLUE) - 1 :]))
    return [lines] if ours else []


class _Table:
    def __init__(self, counted: RuleCounts):
        self._rules = counted.rules
        self._category = counted.rules.category
        self._features = RuleFeatures(counted)
        self._order = [counted.features.index(name) for name in score_names(counted)]
        self._words = escape_words(counted.rules.words)
        self._gaps = [f"[X][{name}]" for name in counted.rules.categories]
        of_source, of_target = counted.side_counts()
        self._counts = np.stack([of_target, of_source, counted.count], 1)

    def blocks(self, which: np.ndarray) -> Iterator[Callable[[], bytes]]:
        for begin in range(0, len(which), BLOCK):
            yield partial(self._lines, which[begin : begin + BLOCK])

    def source(self, rule: int) -> str:
        """The source side with its left-hand side."""
        return self._side(self._rules.src(rule).tolist(), self._gaps, X)

    def _side(self, symbols: list[int], gaps: list[str], label: str) -> str:
        """A side with its left-hand side; ``gaps[k]`` is the nonterminal of the symbol -1-k."""
        return " ".join([self._words[s] if s >= 0 else gaps[-1 - s] for s in symbols] + [f"[{label}]"])

    def _lines(self, which: np.ndarray) -> bytes:
        scores = 10 ** -np.minimum(self._features(which)[:, self._order], LARGEST)
        form = " ".join(["%.6g"] * len(self._order))
        lines = []
        for rule, row, counts in zip(which.tolist(), scores.tolist(), self._counts[which].tolist(), strict=True):
            src, tgt = self._rules.src(rule).tolist(), self._rules.tgt(rule).tolist()
            places = [i for i, symbol in enumerate(src) if symbol < 0]
            target = self._side(
                tgt, [self._gaps[-1 - src[i]] for i in places], self._rules.categories[self._category[rule]]
            )
            links = " ".join(f"{place}-{tgt.index(-1 - k)}" for k, place in enumerate(places))
            lines.append(
                f"{self._side(src, self._gaps, X)} ||| {target} ||| {form % tuple(row)} ||| {links} ||| "
                f"{counts[0]:.6g} {counts[1]:.6g} {counts[2]:.6g} ||| ||| |||\n"
            )
        return "".join(lines).encode("utf-8")
