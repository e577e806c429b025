"""Grammars as files in cdec's format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lscfg.corpus.parallel import check_words
from lscfg.formats.segments import check_segments, grammar_path, write_segments
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.select import Selection
from lscfg.grammar.table import RuleTable, X
from lscfg.io.read import read_blocks
from lscfg.io.write import write_blocks
from lscfg.log import progress
from lscfg.parallel.choose import in_threads

ROOT_RULE = "[S] ||| [X,1] ||| [1] |||"

BLOCK = 50_000
"""Rules that are turned into text at a time."""


# ---- files ----


def write_grammar(
    path: str | os.PathLike[str],
    counted: RuleCounts,
    selection: Selection,
    threads: int = 1,
    unknown: Sequence[str] = (),
) -> None:
    """Writes the selected rules in cdec's format.

    A grammar with its own glue ends with the root rule ``[S] -> [X,1]`` and is meant for a decoder without Hiero's
    glue rules; a Hiero grammar is meant for one with them. A grammar of several categories ends with a root rule and a
    glue rule for each. The number of threads does not change the file.

    Args:
        path: the grammar.
        counted: all rules.
        selection: result of ``select_rules``.
        threads: number of threads.
        unknown: words that pass through as each category except [X]; decoders pass words through as [X].

    Raises:
        InputError: a word cannot appear in a grammar, or the file cannot be written.
    """
    check_words(counted.rules.words)
    blocks = _blocks(counted, RuleFeatures(counted), selection.kept, unknown)
    write_blocks(path, progress(blocks, "write", -(-len(selection.kept) // BLOCK)), threads)


def _blocks(
    counted: RuleCounts, features: RuleFeatures, which: np.ndarray, unknown: Sequence[str] = ()
) -> Iterator[Callable[[], bytes]]:
    rules = counted.rules

    def lines(chosen: np.ndarray) -> bytes:
        text = rules.kernel.text(chosen, counted.features, features(chosen))
        return text if rules.lhs is None else _with_categories(rules, chosen, text)

    for begin in range(0, len(which), BLOCK):
        yield partial(lines, which[begin : begin + BLOCK])
    if rules.lhs is not None:
        added = [*glue_rules(rules), *_pass_rules(rules, unknown)]
        yield lambda: "".join(f"{line}\n" for line in added).encode()
    elif counted.own_glue:
        yield lambda: (ROOT_RULE + "\n").encode()


def _with_categories(rules: RuleTable, chosen: np.ndarray, text: bytes) -> bytes:
    """The lines of rules, whose sides the kernel wrote with [X] for every category."""
    lines = []
    for rule, line in zip(chosen.tolist(), text.decode().splitlines(), strict=True):
        features = line.rpartition("|||")[2]  # begins with a blank, or is empty
        lines.append(f"{rules.text(rule).rstrip(' ')} |||{features}\n")
    return "".join(lines).encode()


def glue_rules(rules: RuleTable) -> Iterator[str]:
    """Rules that make a sentence of nodes of any category."""
    for category in np.unique(rules.category).tolist():
        name = rules.categories[category]
        yield f"[S] ||| [{name},1] ||| [1] |||"
        yield f"[S] ||| [S,1] [{name},2] ||| [1] [2] ||| Glue=1"


def unknown_words(rules: RuleTable, which: np.ndarray, sentences: Sequence[str]) -> list[str]:
    """Words of a text that none of these rules translates alone, sorted."""
    alone = which[(rules.src_length[which] == 1) & (rules.arity[which] == 0)]
    known = {rules.words[word] for word in rules.symbols[rules.offsets[alone]].tolist()}
    return sorted({word for line in sentences for word in line.split()} - known)


def _pass_rules(rules: RuleTable, unknown: Sequence[str]) -> Iterator[str]:
    check_words(unknown)
    for category in np.unique(rules.category).tolist():
        name = rules.categories[category]
        for word in unknown if name != X else ():
            yield f"[{name}] ||| {word} ||| {word} ||| PassThrough=1"


_LINKED = re.compile(rb"(?<!\S)\[[^\s,]+,([0-9])\](?!\S)")
"""A nonterminal on a target side with its category, which other programs leave out."""


def write_union(path: str | os.PathLike[str], *grammars: str | os.PathLike[str], threads: int = 1) -> int:
    """Writes a grammar of all rules of several; a rule in more than one has the features of the first.

    Returns:
        Number of rules.

    Raises:
        InputError: a file cannot be read or written.
    """
    met: set[bytes] = set()

    def new_rules(block: bytes) -> bytes:
        kept = []
        for line in block.splitlines():
            if not line.lstrip().startswith(b"["):  # an empty line or a comment
                continue
            sides = [b" ".join(field.split()) for field in re.split(rb"(?<!\S)\|\|\|(?!\S)", line, maxsplit=3)[:3]]
            rule = b" ||| ".join([*sides[:-1], _LINKED.sub(rb"[\1]", sides[-1])])
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
        selection: result of ``select_rules`` for these sentences, separately.

    Raises:
        InputError: a word cannot appear in a grammar, a sentence not in the input, or a file cannot be written.
    """
    assert selection.sentences is not None and len(selection.sentences) == len(sentences)
    check_words(counted.rules.words)
    check_segments(folder, sentences)
    features = RuleFeatures(counted)
    paths = [grammar_path(folder, n) for n in range(len(sentences))]

    def write(item: tuple[Path, np.ndarray]) -> None:
        write_blocks(item[0], _blocks(counted, features, item[1]))

    _ = (counted.own_glue and features._glue, counted.rules.kernel)  # once, not in each thread
    with in_threads(threads) as engine:
        work = zip(paths, selection.sentences, strict=True)
        for _ in progress(engine.map(write, work), "write", len(paths)):
            pass
    write_segments(folder, sentences)
