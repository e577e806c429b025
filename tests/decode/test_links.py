"""Word links: the fifth field of rules, best partners by brute force, and whole translations by recursion over text."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import pytest
from decoders import GRAMMAR, SENTENCES, WEIGHTS, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Derivation
from lscfg.decode.links import RuleLinks, best_partners, joined_links
from lscfg.errors import InputError
from lscfg.kernel import Grammar

LINKED = """[X] ||| a b ||| x y ||| P=1
[X] ||| a [X,1] b ||| y [1] x ||| P=1 ||| 0-2 2-0 1-1
[X] ||| c d ||| x ||| P=1 ||| 1-0
[X] ||| c ||| z ||| P=2 ||| 10 5 3
[X] ||| d ||| ||| |||
[X] ||| e f ||| x z y |||
[X] ||| e ||| z ||| EgivenF=1
[X] ||| f ||| z ||| EgivenF=0.5 FgivenE=0.75
[X] ||| f ||| y ||| EgivenF=2
[X] ||| 7 g ||| h 7 |||
"""


def grammar_of(text: str) -> Grammar:
    grammar = Grammar()
    grammar.read_text(text)
    grammar.finish()
    return grammar


def test_the_fifth_field_links_words():
    grammar = grammar_of(LINKED)
    links = [grammar.links(rule) for rule in range(len(grammar))]
    assert links[:5] == [[], [(0, 2), (2, 0)], [(1, 0)], [], []]  # links of nonterminals are left out
    with pytest.raises(IndexError):
        grammar.links(len(grammar))


@pytest.mark.parametrize("link", ["2-0", "0-1", "0-99999999999"])
def test_a_link_outside_the_rule_is_refused_by_line(tmp_path, link):
    (tmp_path / "g").write_text(f"[X] ||| a ||| x |||\n[X] ||| a b ||| x ||| P=1 ||| 1-0 {link}\n")
    with pytest.raises(InputError, match=r"g:2: .*outside the rule of 2 and 1 symbols"):
        Grammar.from_files([tmp_path / "g"])


@pytest.mark.parametrize("field", ["0", "0-", "-0", "0-0-0", "0-0 x", "a-0"])
def test_other_fields_are_no_links(field):
    assert grammar_of(f"[X] ||| a b ||| x ||| P=1 ||| {field}\n").links(0) == []


def test_links_of_rules():
    grammar = grammar_of(LINKED)
    costs = {6: 1.0, 7: 1.25, 8: 2.0}
    links = RuleLinks(grammar, lambda rule: costs.get(rule, 0.0))
    assert links(0) == ((0, 0), (0, 1), (1, 0), (1, 1))  # a block: no word has an own rule
    assert links(1) == ((0, 1), (1, 0))  # y [1] x: numbers of words, not places
    assert links(2) == ((1, 0),)
    assert links(4) == ()
    assert links(5) == ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2))  # z is nearest to e, y to f, and x to neither
    assert links(9) == ((0, 1), (1, 0))  # equal words are partners; the others are left to each other


def partners_by_force(costs: list[list[float]], n: int) -> set[tuple[int, int]]:
    """The definition, link by link: no other partner is better."""
    m, known, found = len(costs), math.inf, set()

    def better(a: tuple[int, int], b: tuple[int, int]) -> bool:
        near = [abs((i + 0.5) / m - (j + 0.5) / n) for i, j in (a, b)]
        return (costs[a[0]][a[1]], near[0], a) < (costs[b[0]][b[1]], near[1], b)

    for i, j in itertools.product(range(m), range(n)):
        if costs[i][j] == known:
            continue
        if not any(better((i, k), (i, j)) for k in range(n)) or not any(better((k, j), (i, j)) for k in range(m)):
            found.add((i, j))
    left = [i for i in range(m) if all(i != k for k, _ in found)]
    alone = [j for j in range(n) if all(j != k for _, k in found)]
    return found | {(i, j) for j in alone for i in (left or range(m))}


def test_best_partners_by_brute_force():
    rng = random.Random(1)
    for _ in range(500):
        m, n = rng.randint(0, 4), rng.randint(0, 4)
        costs = [[rng.choice([math.inf, math.inf, 0.0, 1.0, 2.5]) for _ in range(n)] for _ in range(m)]
        assert {*best_partners(costs, n)} == partners_by_force(costs, n)


def yields(
    rules: Derivation, number: int, links_of: dict[tuple[str, str], set[tuple[int, int]]]
) -> tuple[int, list[set[int]]]:
    """Recursive reference: the number of source words below a rule, and the links of each target word below it.

    Links are relative to the first source word below the rule. They come from the texts of both sides alone.
    """
    rule = rules[number]
    below = [yields(rules, child, links_of) for child in rule.children]
    at, own, starts = 0, [], []
    for symbol in rule.source.split():
        if symbol.startswith("["):
            starts.append(at)
            at += below[len(starts) - 1][0]
        else:
            own.append(at)
            at += 1
    found: list[set[int]] = []
    word = 0
    for symbol in rule.target.split():
        if symbol.startswith("["):
            child = int(symbol[:-1].split(",")[1]) - 1
            found += [{starts[child] + i for i in links} for links in below[child][1]]
        else:
            found.append({own[i] for i, j in links_of[rule.source, rule.target] if j == word})
            word += 1
    return at, found


LINKS_OF = {
    ("la casa", "the house"): {(0, 0), (1, 1)},
    ("[X,1] verde [X,2]", "[X,2] green [X,1]"): {(0, 0)},
    ("[X,1] , [X,2]", "the [X,2] the [X,1]"): {(0, 1)},
} | {((f, e)): {(0, 0)} for f, e in (("casa", "house"), ("la", "the"), ("verde", "green"), ("otra", "otra"))}


def test_links_of_translations_by_recursion(tmp_path: Path) -> None:
    config = small_config(tmp_path)
    more = "[X] ||| [X,1] verde [X,2] ||| [2] green [1] |||\n[X] ||| [X,1] , [X,2] ||| the [2] the [1] ||| ||| 1-2\n"
    (tmp_path / "grammar").write_text(GRAMMAR + more)
    sentences = [*SENTENCES, "la casa verde otra , casa verde la casa"]
    links_of = dict(LINKS_OF)
    for source, target in (("[X,1] verde", "green [X,1]"), ("[X,1] verde", "[X,1] green")):
        links_of[source, target] = {(0, 0)}
    for glue in ("[X,1]", "[S,1] [X,2]"):
        links_of[glue, glue] = set()
    count = 0
    with EmbeddedDecoder(config) as decoder:
        for found in decoder.translate(sentences, WEIGHTS, 50, derivations=True):
            for hypothesis, derivation in zip(found.hypotheses, found.derivations, strict=True):
                for word in found.sentence.split():
                    links_of[word, word] = {(0, 0)}
                words, expected = yields(derivation, 0, links_of)
                assert words == len(found.sentence.split())
                assert joined_links(derivation, len(hypothesis.text.split())) == [tuple(sorted(e)) for e in expected]
                count += 1
    assert count > 80
