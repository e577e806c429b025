"""Rules with more than two nonterminals, compared with an enumeration of derivations that uses no forests."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import kenlm
import numpy as np
import pytest
from derivation_sums import log_sum, marginals
from helpers import rule_table, save_model
from searches import EVERYTHING, LM_WEIGHT, OOV_WEIGHT, WORDS, quiet, random_arpa
from seeds import seeds

from lscfg.errors import InputError
from lscfg.kernel import LATENT_FEATURES, Binding, BindingOptions, FeatureOptions, Forest, Grammar, Model, ParseOptions
from lscfg.kernel.forest import REST, ForestBuilder, X
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import Hypergraph, KBest, SearchOptions, edge_moments, search, search_hypergraph
from lscfg.model.parameters import OneState

SOURCES = [
    "x",
    "y",
    "x [X,1]",
    "[X,1] y [X,2]",
    "x [X,1] y [X,2] x [X,3]",
    "[X,1] [X,2] y [X,3]",
    "[X,1] x [X,2] [X,3] y [X,4]",
]
BARE = ParseOptions(max_span=20, glue=False, pass_through=0, goal=X)

Found = tuple[tuple[str, ...], tuple[int, ...]]
"""Target words, and the rules that were applied in order of number."""


def ngrams_of(words: tuple[str, ...]) -> Counter[tuple[str, ...]]:
    return Counter(words[i : i + n] for n in range(1, 5) for i in range(len(words) - n + 1))


def random_rules(rng: random.Random) -> list[tuple[list[str], list[str]]]:
    rules = []
    for source in SOURCES:
        slots = [f"[{k}]" for k in range(1, source.count("X") + 1)]
        for _ in range(2):
            target = [*slots, *rng.choices(WORDS, k=rng.randint(0, 2) if slots else 1)]
            rng.shuffle(target)
            if (source.split(), target) not in rules:
                rules.append((source.split(), target))
    return rules


def enumerate_all(rules: list[tuple[list[str], list[str]]], words: tuple[str, ...]) -> list[Found]:
    """Each derivation of the words by matching source sides from left to right."""

    @cache
    def of_span(i: int, j: int) -> list[Found]:
        found = []
        for number, (source, target) in enumerate(rules):
            for parts in match(tuple(source), i, j):
                for chosen in itertools.product(*(of_span(*part) for part in parts)):
                    text = [w for s in target for w in (chosen[int(s[1:-1]) - 1][0] if s[0] == "[" else (s,))]
                    used = sorted([number, *(r for part in chosen for r in part[1])])
                    found.append((tuple(text), tuple(used)))
        return found

    @cache
    def match(source: tuple[str, ...], i: int, j: int) -> list[tuple[tuple[int, int], ...]]:
        if not source:
            return [()] if i == j else []
        if source[0][0] != "[":
            return match(source[1:], i + 1, j) if i < j and words[i] == source[0] else []
        if len(source) == 1:
            return [((i, j),)] if i < j else []
        return [((i, k), *rest) for k in range(i + 1, j) for rest in match(source[1:], k, j)]

    return of_span(0, len(words))


class Case:
    def __init__(self, seed: int, folder: Path):
        rng = random.Random(seed)
        self.rules = random_rules(rng)
        self.all: list[Found] = []
        while not (20 < len(self.all) < 20_000 and max(self.arities()) > 3 - seed % 2):
            self.words = tuple(rng.choices("xy", k=8))
            self.all = enumerate_all(self.rules, self.words)
        self.grammar = Grammar()
        for source, target in self.rules:
            self.grammar.read_text(f"[X] ||| {' '.join(source)} ||| {' '.join(target)} ||| F=1\n")
        self.grammar.finish()
        forest = self.grammar.parse(self.grammar.vocab.add_line(" ".join(self.words)), BARE)
        assert forest is not None
        self.forest: Forest = forest
        self.rule_scores = np.random.default_rng(seed).normal(size=len(self.rules) + 6)
        self.rule_scores[len(self.rules) :] = 0
        self.app_scores = self.rule_scores[forest.app_rule]
        self.path = random_arpa(folder / f"{seed}.arpa", 3, rng)
        model = kenlm.Model(str(self.path), quiet())
        self.score = [self.rule_scores[list(used)].sum() for _, used in self.all]
        self.with_lm = []
        for (text, _), score in zip(self.all, self.score, strict=True):
            scores = list(model.full_scores(" ".join(text), bos=True, eos=True))
            lm, oov = sum(p for p, _, _ in scores), sum(unknown for _, _, unknown in scores)
            self.with_lm.append(score + LM_WEIGHT * lm + OOV_WEIGHT * oov)

    def arities(self) -> set[int]:
        """Numbers of nonterminals of the rules that some derivation uses."""
        return {sum(w[0] == "[" for w in self.rules[rule][0]) for _, used in self.all for rule in used}

    def search(self, k: int, lm: bool, unique: bool = False) -> KBest:
        model = LanguageModel(self.path, self.grammar.vocab) if lm else None
        weights = (LM_WEIGHT, OOV_WEIGHT) if lm else (0.0, 0.0)
        return search(self.forest, self.grammar, model, self.app_scores, SearchOptions(EVERYTHING, k, unique, *weights))

    def rows(self, found: KBest) -> list[Found]:
        word = self.grammar.vocab.word
        return [
            (
                tuple(word(w) for w in found.words[found.word_offsets[h] : found.word_offsets[h + 1]]),
                tuple(
                    sorted(self.forest.app_rule[found.apps[found.app_offsets[h] : found.app_offsets[h + 1]]].tolist())
                ),
            )
            for h in range(len(found))
        ]


@pytest.fixture(scope="module", params=range(8))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(request.param, tmp_path_factory.mktemp("case"))


@pytest.mark.parametrize("lm", [False, True])
def test_every_derivation_is_found_and_shows_each_rule_once(case: Case, lm: bool) -> None:
    found = case.search(len(case.all) + 10, lm)
    assert Counter(case.rows(found)) == Counter(case.all)
    expected = sorted(case.with_lm if lm else case.score, reverse=True)
    assert found.score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("lm", [False, True])
def test_each_string_once(case: Case, lm: bool) -> None:
    best: dict[tuple[str, ...], float] = {}
    for (text, _), score in zip(case.all, case.with_lm if lm else case.score, strict=True):
        best[text] = max(score, best.get(text, -np.inf))
    found = case.search(len(best) + 10, lm, unique=True)
    texts = [text for text, _ in case.rows(found)]
    assert len(set(texts)) == len(texts) == len(best)
    assert found.score == pytest.approx([best[text] for text in texts], abs=1e-4)


def test_inside_is_the_sum_over_derivations(case: Case) -> None:
    assert log_sum(case.forest, case.app_scores) == pytest.approx(np.logaddexp.reduce(case.score))
    assert log_sum(case.forest, np.zeros(case.forest.n_apps)) == pytest.approx(np.log(len(case.all)))


def test_marginals_are_shares_of_derivations(case: Case) -> None:
    apps = marginals(case.forest, case.app_scores)
    found = np.bincount(case.forest.app_rule, apps, len(case.rule_scores))[: len(case.rules)]
    weight = np.exp(np.array(case.score) - np.logaddexp.reduce(case.score))
    expected = np.zeros(len(case.rules))
    for (_, used), share in zip(case.all, weight, strict=True):
        np.add.at(expected, list(used), share)
    assert found == pytest.approx(expected)


def test_tails_lie_inside_their_edge_and_match_its_rule(case: Case) -> None:
    forest = case.forest
    for edge in range(forest.n_edges):
        rule, head = int(forest.app_rule[forest.edge_apps[edge]]), forest.edge_head[edge]
        begin, end = forest.node_span[head].tolist()
        if forest.node_cat[head] == REST:
            first, second = (forest.node_span[q].tolist() for q in forest.edge_tail[edge])
            assert rule == len(case.rules) + 5 and (first[0], second[1]) == (begin, end)
            continue
        tails = forest.tails(edge)
        assert len(tails) == case.grammar.arity(rule)
        at, tail = begin, iter(tails)
        for symbol in case.grammar.src(rule):
            if symbol < 0:
                i, at_next = forest.node_span[next(tail)].tolist()
                assert i == at
                at = at_next
            else:
                assert forest.words[at] == symbol
                at += 1
        assert at == end


def whole_graph(case: Case) -> tuple[KBest, Hypergraph, np.ndarray]:
    """The best derivation, the whole hypergraph of the search, and the scores of its edges."""
    model = LanguageModel(case.path, case.grammar.vocab)
    options = SearchOptions(EVERYTHING, 1, False, LM_WEIGHT, OOV_WEIGHT)
    found, graph = search_hypergraph(case.forest, case.grammar, model, case.app_scores, options, EVERYTHING)
    own = np.where(graph.app >= 0, case.app_scores[np.maximum(graph.app, 0)], 0.0)
    scores = own + LM_WEIGHT * graph.lm + OOV_WEIGHT * graph.oov
    return found, graph, scores


def test_envelope_has_the_translations_of_the_list(case: Case) -> None:
    found, graph, scores = whole_graph(case)
    envelope = graph.envelope(scores, np.zeros(len(scores)))
    assert len(envelope.score) == 1 and envelope.score[0] == pytest.approx(max(case.with_lm), abs=1e-4)
    assert envelope.words[: envelope.word_offsets[1]].tolist() == found.words.tolist()


def test_expected_counts_are_those_of_all_derivations(case: Case) -> None:
    _, graph, scores = whole_graph(case)
    texts = [words for words, _ in case.all]
    reference = max(texts, key=len)
    refined = graph.refine([np.array([case.grammar.vocab.add(word) for word in reference], np.int32)])
    given = scores[refined.edge]
    found = edge_moments(refined.items, refined.head, refined.tail, given, given)
    share = np.exp(np.array(case.with_lm) - np.logaddexp.reduce(case.with_lm))
    expected = Counter[tuple[str, ...]]()
    for words, p in zip(texts, share.tolist(), strict=True):
        for gram, n in ngrams_of(words).items():
            expected[gram] += n * p
    users = np.repeat(np.arange(len(refined.edge)), np.diff(refined.gram_offsets))
    counts = np.bincount(refined.grams, found.posterior[users], len(refined.order))
    grams = sorted(ngrams_of(reference), key=len)  # of equal lengths, in order of occurrence
    assert counts == pytest.approx([expected[gram] for gram in grams], abs=1e-4)
    totals = [sum(p for gram, p in expected.items() if len(gram) == n) for n in range(1, 5)]
    assert found.posterior @ refined.sizes == pytest.approx(totals, abs=1e-4)


def test_a_lattice_gives_what_its_sentence_gives(case: Case) -> None:
    ids = case.grammar.vocab.add_line(" ".join(case.words))
    arcs = np.array([(i, i + 1, word) for i, word in enumerate(ids.tolist())], np.int32)
    forest = case.grammar.parse_lattice(arcs, len(ids) + 1, BARE)
    assert forest is not None and forest.paths is not None
    assert log_sum(forest, case.rule_scores[forest.app_rule]) == pytest.approx(np.logaddexp.reduce(case.score))
    rest = np.flatnonzero(forest.node_cat[forest.edge_head] == REST)
    assert len(rest) and (forest.edge_paths[rest] == forest.edge_paths[rest + 1]).all()


@pytest.mark.parametrize(
    "unknown", [BindingOptions(), BindingOptions(compose=True), BindingOptions(compose=True, oov=True)]
)
def test_latent_features_of_such_rules_are_zero(case: Case, unknown: BindingOptions, tmp_path: Path) -> None:
    others = ("Context", "Sense", "Span", "Neural", "Orient")
    names = tuple(name for name in LATENT_FEATURES if not name.startswith(others))
    known = [(s, t) for s, t in case.rules if sum(w[0] == "[" for w in s) <= 2][1:]  # one is unknown
    table = rule_table(
        sorted(
            {f"{' '.join(s)} ||| {' '.join(t).replace('[', '[X,')}" for s, t in known}, key=lambda text: text.count("X")
        )
    )
    rng = np.random.default_rng(0)
    tensors = [rng.uniform(0.1, 0.4, (2,) * (int(a) + 1)) for a in table.arity]
    one = OneState(rng.uniform(0.1, 0.4, len(table)), np.array([0.1]))
    model = save_model(tmp_path / "model", table, tensors, np.array([0.6, 0.4]), np.array([0.1, 0.2]), one)
    binding = Binding(Model(model), case.grammar, unknown)
    inference = binding.infer(case.forest)
    features = binding.features(case.forest, inference, FeatureOptions(names=names))
    arity = np.array([case.grammar.arity(r) for r in range(len(case.rules))] + [9] * 6)[case.forest.app_rule]
    assert np.isfinite(features).all() and np.isfinite(inference.apps).all()
    assert (features[arity > 2] == 0).all() and (arity > 2).any()
    if inference.sign > 0:
        assert (features[arity <= 2] != 0).any()
    assert (inference.apps[(arity > 2) & (arity < 9)] == 0).all()


def test_scopes_are_told() -> None:
    grammar = Grammar()
    for source in ("a [X,1] b [X,2] c [X,3]", "[X,1] [X,2] b [X,3]", "[X,1] [X,2] [X,3] [X,4]", "[X,1] [X,2]"):
        target = " ".join(f"[{k}]" for k in range(1, source.count("X") + 1))
        grammar.read_text(f"[X] ||| {source} ||| {target} |||\n")
    assert grammar.wide() == (2, 5)


@seeds(30)
def test_scope_is_the_number_of_free_borders(seed: int) -> None:
    """Borders of nonterminals that no word fixes (Hopkins and Langmead 2010); words stand on the target side too."""
    rng = np.random.default_rng(seed)
    source = [f"[X,{k}]" for k in (1, 2, 3)]
    for _ in range(int(rng.integers(0, 4))):
        source.insert(int(rng.integers(len(source) + 1)), "w")
    target = [f"[{k}]" for k in (1, 2, 3)]
    for _ in range(3):
        target.insert(int(rng.integers(len(target) + 1)), "v")
    gap = [symbol != "w" for symbol in source]
    scope = gap[0] + gap[-1] + sum(one and other for one, other in pairwise(gap))
    grammar = Grammar()
    grammar.read_text(f"[X] ||| {' '.join(source)} ||| {' '.join(target)} |||\n")
    assert grammar.wide() == ((1, scope) if scope > 2 else (0, 0))


def test_ten_nonterminals_are_refused_nine_are_not() -> None:
    for n in (9, 10):
        grammar = Grammar()
        source, target = (" ".join(f"[{x}{k}]" for k in range(1, n + 1)) for x in ("X,", ""))
        if n == 10:
            with pytest.raises(InputError, match="10 nonterminals; a rule may have 9 at most"):
                grammar.read_text(f"[X] ||| {source} ||| {target} |||\n")
            continue
        grammar.read_text(f"[X] ||| {source} ||| {target} |||\n[X] ||| x ||| a |||\n")
        grammar.finish()
        forest = grammar.parse(grammar.vocab.add_line("x " * 9), BARE)
        assert forest is not None and len(forest.tails(forest.n_edges - 1)) == 9
        assert (forest.node_cat == REST).sum() == 7


def test_a_decoder_cannot_build_such_an_edge() -> None:
    grammar = Grammar()
    grammar.read_text("[X] ||| [X,1] a [X,2] b [X,3] ||| [1] [2] [3] |||\n[X] ||| x ||| y |||\n")
    grammar.finish()
    for rule, message in ((0, "has 3 nonterminals, not 2"), (len(grammar) + 5, "the grammar has no rule")):
        builder = ForestBuilder(grammar.vocab.add_line("x x"))
        for i in range(2):
            builder.add_node(X, i, i + 1)
            builder.add_application(1)
        builder.add_node(X, 0, 2)
        builder.add_application(rule, 0, 1)
        with pytest.raises(InputError, match=message):
            builder.finish(grammar)


@pytest.mark.parametrize(
    ("arity", "pops"), [(2, 1), (2, 5), (2, 9), (3, 16), (3, 25), (3, 40), (4, 64), (4, 99), (4, 150)]
)
def test_pruning_goes_through_the_cube_of_all_tails(tmp_path: Path, arity: int, pops: int) -> None:
    """Behind a choice of items come those with the next item of one tail, whatever their sums of scores are.

    The pops are enough for all choices of the tails but the first.
    """
    rng = random.Random(10 * arity + pops)
    grammar, slots = Grammar(), range(1, arity + 1)
    order = rng.sample([f"[{k}]" for k in slots], arity)
    grammar.read_text(f"[X] ||| {' '.join(f's{k} [X,{k}]' for k in slots)} ||| {' '.join(order)} |||\n")
    words = [rng.sample(WORDS[:4], 4) for _ in slots]  # known to the language model
    for k, some in zip(slots, words, strict=True):
        grammar.read_text("".join(f"[X] ||| x{k} ||| {word} |||\n" for word in some))
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line(" ".join(f"s{k} x{k}" for k in slots)), BARE)
    assert forest is not None
    path = random_arpa(tmp_path / "arpa", 2, rng)
    model, options = LanguageModel(path, grammar.vocab), SearchOptions(pops, 1000, False, LM_WEIGHT, OOV_WEIGHT)
    by_rule = np.array([rng.uniform(-3, 3) for _ in range(len(grammar) + 6)])
    found = search(forest, grammar, model, by_rule[forest.app_rule], options)
    got = {tuple(map(grammar.vocab.word, found.words[a:b])) for a, b in itertools.pairwise(found.word_offsets)}

    lm = kenlm.Model(str(path), quiet())

    def told(text: list[str]) -> float:
        total, state, after = 0.0, kenlm.State(), kenlm.State()
        lm.NullContextWrite(state)
        for word in text:
            total += lm.BaseScore(state, word, after)
            state, after = after, kenlm.State()
        return LM_WEIGHT * total

    lists, first = [], 1
    for some in words:
        scored = [(by_rule[first + n] + told([word]), by_rule[first + n], word) for n, word in enumerate(some)]
        lists.append([(own, word) for _, own, word in sorted(scored, reverse=True)[:pops]])
        first += len(some)

    def text(ranks: tuple[int, ...]) -> list[str]:
        return [lists[int(slot[1]) - 1][ranks[int(slot[1]) - 1]][1] for slot in order]

    def score(ranks: tuple[int, ...]) -> float:
        return sum(some[rank][0] for some, rank in zip(lists, ranks, strict=True)) + told(text(ranks))

    start = (0,) * arity
    open_, seen, expected = {start}, {start}, set()
    while open_ and len(expected) < pops:
        best = max(open_, key=score)
        open_.remove(best)
        expected.add(tuple(text(best)))
        for k in range(arity):
            behind = (*best[:k], best[k] + 1, *best[k + 1 :])
            if behind[k] < len(lists[k]) and behind not in seen:
                seen.add(behind)
                open_.add(behind)
    assert got == expected
