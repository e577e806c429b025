"""Rules of a grammar by their composition (Xiao et al. 2012, Table 1)."""

from __future__ import annotations

import os

import numpy as np

from lscfg.errors import InputError
from lscfg.io.columns import align_columns
from lscfg.kernel import Grammar

TYPES = ("phrase", "one nonterminal", "two, monotone", "two, swapped", "more")
"""Types of rules: words only, one nonterminal, two in the same or in the other order on the target side, and
more than two."""


def rule_types(path: str | os.PathLike[str]) -> np.ndarray:
    """int64 [types, 3]: for each of ``TYPES`` the number of rules, and the sums of their source and target words.

    Rules of [S] are omitted: glue and root rules belong to the decoder.

    Raises:
        InputError: the file is not a grammar; see ``lscfg.kernel.Grammar.read``.
    """
    grammar, found = Grammar(), np.zeros((len(TYPES), 3), np.int64)
    grammar.read(path)
    start = grammar.category("S")
    for rule in range(len(grammar)):
        if grammar.lhs(rule) == start:
            continue
        src, tgt = grammar.src(rule), grammar.tgt(rule)
        order = [-1 - symbol for symbol in tgt if symbol < 0]
        arity = len(order)
        kind = arity if arity < 2 else 2 + (order != [0, 1]) if arity == 2 else len(TYPES) - 1
        found[kind] += (1, len(src) - arity, len(tgt) - arity)
    if not found[:, 0].any():
        raise InputError("no rule of a category other than [S]", path)
    return found


def describe_rule_types(path: str | os.PathLike[str]) -> str:
    """A table of the types found, and of all rules: number, share, mean words of source and target sides."""
    found = rule_types(path)
    rows = [["rules of", "number", "share", "source words", "target words"]]
    for name, (count, *words) in zip((*TYPES, "all types"), [*found.tolist(), found.sum(0).tolist()], strict=True):
        if count or name != TYPES[-1]:
            means = [f"{total / count:.2f}" if count else "" for total in words]
            rows.append([name, str(count), f"{100 * count / found[:, 0].sum():.1f} %", *means])
    return "\n".join(align_columns(rows))
