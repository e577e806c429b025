"""Parsing by the configuration of a decoder: its grammar, and the forest of a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lscfg import log
from lscfg.errors import InputError, TooLargeError
from lscfg.formats.ini import DecoderConfig
from lscfg.formats.rule_index import SOURCE, is_index
from lscfg.kernel import Forest, Grammar, ParseOptions, S, X
from lscfg.kernel.base import Vocab
from lscfg.kernel.forest import add_matching

if TYPE_CHECKING:
    from lscfg.kernel import Binding, Model


def read_grammar(
    config: DecoderConfig,
    vocab: Vocab | None = None,
    needed: bool = True,
    rules: Sequence[str] = (),
    on_demand: bool = False,
    known: tuple[Grammar, np.ndarray] | None = None,
) -> Grammar:
    """The finished grammar of a configuration, with the words of a vocabulary or a new one.

    Args:
        needed: refuse a configuration without a grammar, which otherwise gives an empty one.
        rules: further rules, lines in cdec's format.
        on_demand: leave out an index, whose rules the caller finds for each sentence.
        known: a grammar of the vocabulary, and the words of a sentence that may use its rules, which come first.

    Raises:
        InputError: there is none, a file cannot be read or is an index without ``on_demand``, or a rule is malformed.
    """
    if needed and not config.grammars and not rules:
        raise InputError("the configuration names no grammar; add grammar=FILE", config.path)
    grammar = Grammar(vocab)
    if known is not None:
        add_matching(grammar, *known)
    found = index_of(config)
    if found is not None and not on_demand:
        raise InputError("an index does not list its rules; write a grammar with lscfg grammar hiero --filter", found)
    for path in config.grammars:
        if path == found:
            continue
        before = len(grammar)
        grammar.read(path)
        if len(grammar) == before:
            _warn_of_empty(path)
    grammar.read_text("".join(f"{rule}\n" for rule in rules))
    grammar.category(config.goal)  # a category must be known before the grammar is finished
    grammar.finish(", ".join(map(os.fspath, config.grammars)) or None)
    count, scope = grammar.wide()
    if count:
        _warn_of_wide(config.path, count, scope)
    return grammar


# Each warns once: a sentence with its own rules reads the grammar, too.


@cache
def _warn_of_empty(path: str | os.PathLike[str]) -> None:
    log.warning(f"{path}: contains no rule; is the file whole?")


@cache
def _warn_of_wide(ini: Path | None, count: int, scope: int) -> None:
    log.warning(
        f"rules of more than two nonterminals with a scope above 2, up to {scope}: {count}; parsing takes time "
        f"O(n^{scope}) in the words of a sentence; lscfg grammar sampled --set rule_filter=scope leaves them out"
    )


def model_grammar(model: Model) -> tuple[Grammar, int]:
    """The rules of a model, in its order, and the category of whole sentences: [X], or [S] of several categories.

    Each of several categories gets a root rule, after the model's rules.

    Raises:
        InputError: rules whose source side is a single nonterminal form a cycle of categories.
    """
    grammar = model.grammar()
    if not has_categories(grammar):
        return grammar, X
    whole = Grammar(grammar.vocab)  # a finished grammar takes no rules
    add_matching(whole, grammar, np.arange(len(grammar.vocab), dtype=np.int32))
    for category in sorted({grammar.lhs(rule) for rule in range(len(grammar))}):
        whole.add(S, [-1 - category], [-1])
    whole.finish(model.path)
    return whole, S


def has_categories(rules: Grammar) -> bool:
    """True for the rules of a model with other categories than [X]."""
    return len(rules.categories()) > S + 1


def index_of(config: DecoderConfig) -> Path | None:
    """The index that a configuration names as a grammar; None if it names none.

    Raises:
        InputError: there are two.
    """
    found = [path for path in config.grammars if is_index(path)]
    if len(found) > 1:
        raise InputError(f"a decoder uses one index, not {len(found)}; make one index of all text", found[1])
    return found[0] if found else None


def known_words(grammar: Grammar, side: int, more: Iterable[str] = ()) -> frozenset[int]:
    """Numbers of the words of a side, ``SOURCE`` or ``TARGET``, of a grammar, and of more words.

    Args:
        more: words that join the vocabulary of the grammar.
    """
    known = grammar.source_words() if side == SOURCE else grammar.target_words()
    return known.union(map(grammar.vocab.add, more))


def given_words(rules: Sequence[str], name: str, system: Grammar | None = None) -> frozenset[str]:
    """The source words of rules from a request.

    Args:
        rules: lines in cdec's format.
        name: of the list, for messages.
        system: the grammar that the rules join; None: any categories are good.

    Raises:
        InputError: a line is not one rule, rules whose source side is a nonterminal form a cycle, or no derivation
            can contain a rule, because its category or that of a nonterminal occurs on no other side.
    """
    grammar = Grammar()
    for number, rule in enumerate(rules):
        try:
            grammar.read_text(f"{rule}\n")
        except InputError as error:
            raise InputError(f"{name}[{number}]: {error}") from None
        if len(grammar) != number + 1:
            raise InputError(f"{name}[{number}]: expected one rule, [X] ||| source ||| target ||| features")
    try:
        grammar.finish()
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    if system is not None and rules:
        _check_categories(grammar, frozenset(system.categories()), name)
    return frozenset(map(grammar.vocab.word, grammar.source_words()))


def _check_categories(given: Grammar, known: frozenset[str], name: str) -> None:
    """Refuses rules with a category that neither the known ones nor other rules use on the other side of an arrow."""
    children = [{given.category_name(-1 - symbol) for symbol in given.src(k) if symbol < 0} for k in range(len(given))]
    heads = [given.category_name(given.lhs(k)) for k in range(len(given))]
    used, made = known.union(*children), known.union(heads)
    for number, (head, below) in enumerate(zip(heads, children, strict=True)):
        if lost := ({head} - used) | (below - made):
            raise InputError(
                f"{name}[{number}]: no rule can use or fill [{min(lost)}]; the system has "
                + ", ".join(f"[{one}]" for one in sorted(known))
            )


def first_parse(grammar: Grammar, ids: np.ndarray, ways: Iterable[ParseOptions]) -> tuple[Forest | None, str]:
    """The forest of the first way to parse a sentence that succeeds; else None, and the reason."""
    if not len(ids):
        return None, "is empty"
    return _first(lambda way: grammar.parse(ids, way), f"{len(ids)} words", ways)


def first_lattice_parse(
    grammar: Grammar, arcs: np.ndarray, states: int, ways: Iterable[ParseOptions]
) -> tuple[Forest | None, str]:
    """Forest of the first successful parse of a lattice; else None, and the reason."""
    return _first(lambda way: grammar.parse_lattice(arcs, states, way), f"{states} states", ways)


def _first(
    parse: Callable[[ParseOptions], Forest | None], size: str, ways: Iterable[ParseOptions]
) -> tuple[Forest | None, str]:
    try:
        parses = map(parse, ways)
        return next((forest for forest in parses if forest is not None), None), "has no parse"
    except TooLargeError as error:  # the next forest would be even larger
        return None, f"of {size} has {error}"


def parse_options(config: DecoderConfig, grammar: Grammar, binding: Binding | None = None) -> tuple[ParseOptions, ...]:
    """The ways to parse a sentence, in order; the next one is for sentences without a parse.

    Args:
        config: the configuration.
        grammar: its grammar.
        binding: of the latent features, for categories that unknown words pass into.
    """
    options = ParseOptions(
        max_span=config.max_span,
        glue=config.glue,
        pass_through=int(config.pass_through),
        goal=grammar.category(config.goal),
        passed=() if binding is None else binding.passed,
    )
    # A sentence longer than the span limit has no parse without glue, and glue is better than no translation.
    return options, replace(options, glue=True, goal=S)
