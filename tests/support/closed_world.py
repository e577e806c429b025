"""A world of ten rules, in which corpora and their derivations are drawn together: for joint tests of the sampler.

Geweke (2004) tests a chain by the joint distribution of parameters and data: draws from it have to keep it when the
chain changes them. Text and links of a pair are what its derivation says, so whole corpora are drawn forward, with
their derivations. Each is looked at before and after some sweeps of the chain (as by Gandy & Scott 2020): the
differences of all quantities have to be 0 on average.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np
from sampling import length_of, poisson_of, rules_of

from lscfg.kernel.sample import PhraseForests, SamplerOptions, TreeSampler

RULES = [
    *(((f,), (e,)) for f, e in zip("abc", "pqr", strict=True)),
    (("b", "a"), ("q", "p")),
    ((1, 2), (1, 2)),
    ((1, 2), (2, 1)),
    ((1, "a"), (1, "p")),
    (("b", 1), (1, "q")),
    ((1, "a", 2), (1, "p", 2)),
    ((1, "b", 2), (1, "q", 2)),
]
"""Composed ones come of others by single changes of a tree, so that a chain may go from each to each."""

LENGTH = [length_of(rule) for rule in RULES]
ARITY = [sum(isinstance(symbol, int) for symbol in rule[0]) for rule in RULES]
WORDS = [len(rule[0]) - arity for rule, arity in zip(RULES, ARITY, strict=True)]
WAYS = [2 if len(rule[0]) == 3 else 1 for rule in RULES]
"""Derivations of a rule in any forest: only that of three phrases side by side has two."""

GROUPS = {
    "py": {length: [k for k in range(len(RULES)) if LENGTH[k] == length] for length in sorted(set(LENGTH))},
    "dp": {0: list(range(len(RULES)))},
}
"""Rules of each restaurant: one for each length of which there are rules, or one for all."""

ONE_DISCOUNT = 0.5
"""Of the one restaurant, whose discount is not drawn."""

MOST_WORDS = 6
"""Of a pair."""

LAST = ("a b c a a a", "p q r p p p", "0-0")
"""A pair that is not sampled, so that all words are known and some sizes are always the same."""


class WrongLengthError(Exception):
    """A derivation has more or fewer words than a pair may have."""


class Restaurants:
    """Tokens of all rules at their tables, with the parameters of each restaurant, and the mean length of rules."""

    def __init__(self, model, alpha, discount, mean, sizes=()):
        self.model, self.groups = model, GROUPS[model]
        self.alpha, self.discount, self.mean = alpha, discount, mean
        self.sizes = [list(of_rule) for of_rule in sizes] or [[] for _ in RULES]

    @classmethod
    def drawn(cls, model, rng):
        discount = {group: rng.random() if model == "py" else ONE_DISCOUNT for group in GROUPS[model]}
        return cls(model, {group: rng.exponential() for group in GROUPS[model]}, discount, rng.gamma(2.0))

    def law(self):
        """Probabilities of the restaurants that a rule may come from; what is missing to 1 has no rule."""
        if self.model == "dp":
            return {0: 1.0}
        return {length: math.exp(poisson_of(length, self.mean)) for length in self.groups}

    def join(self, group, rng):
        """A token of a rule of the restaurant: the rule."""
        alpha, d, members = self.alpha[group], self.discount[group], self.groups[group]
        tables = [(rule, table) for rule in members for table in range(len(self.sizes[rule]))]
        weights = [self.sizes[rule][table] - d for rule, table in tables]
        chosen = rng.choices([*tables, None], [*weights, alpha + d * len(tables)])[0]
        if chosen:
            self.sizes[chosen[0]][chosen[1]] += 1
            return chosen[0]
        rule = rng.choice(members)
        self.sizes[rule].append(1)
        return rule

    def tokens(self):
        return sum(map(sum, self.sizes))

    def arrays(self, lengths):
        """Counts of the tokens and the restaurants in a checkpoint."""
        count = np.array([sum(of_rule) for of_rule in self.sizes], np.int32)
        tokens, tables = np.zeros(lengths, np.int64), np.zeros(lengths)
        alpha, discount = np.ones(lengths), np.zeros(lengths)
        for group, members in self.groups.items():
            tokens[group] = sum(count[rule] for rule in members)
            tables[group] = sum(len(self.sizes[rule]) for rule in members)
            alpha[group], discount[group] = self.alpha[group], self.discount[group]
        seats = [(k, size, n) for k, sizes in enumerate(self.sizes) for size, n in sorted(Counter(sizes).items())]
        return {
            "count": count,
            "length.tokens": tokens,
            "length.tables": tables,
            "length.alpha": alpha,
            "length.discount": discount,
            "mean_length": np.array([self.mean]),
            "seats": np.array(seats, np.int32),
        }

    def log_joint(self):
        total = 0.0
        log_law = {group: math.log(share) for group, share in self.law().items()}
        for group, members in self.groups.items():
            alpha, d = self.alpha[group], self.discount[group]
            sizes = [size for rule in members for size in self.sizes[rule]]
            total += sum(math.log(alpha + k * d) for k in range(len(sizes)))
            total -= sum(math.log(alpha + k) for k in range(sum(sizes)))
            total += sum(size * log_law[group] - math.log(len(members)) for size in sizes)
            total += sum(math.log(k - d) for size in sizes for k in range(1, size))
        return total

    def quantities(self, long):
        """Tokens, types, tables, largest count, log joint, alpha and discount of a restaurant, mean length, two more.

        Tokens of rules of two derivations show most about the multiplicity of rules, those of rules of two long
        phrases, which are given, about the density factor.
        """
        tokens = [sum(of_rule) for of_rule in self.sizes]
        of_pieces = sum(tokens), sum(n > 0 for n in tokens), sum(map(len, self.sizes)), max(tokens)
        group = [*self.groups][-2:][0]
        return (
            *of_pieces,
            self.log_joint(),
            self.alpha[group],
            self.discount[group],
            self.mean,
            tokens[-1] + tokens[-2],
            long,
        )


@dataclass
class Node:
    rule: int
    children: list

    def words(self):
        return WORDS[self.rule] + sum(child.words() for child in self.children)

    def long(self):
        """Number of rules of the derivation with two children of two words or more."""
        own = sum(child.words() > 1 for child in self.children) == 2
        return own + sum(child.long() for child in self.children)


def draw_derivation(restaurants, rng, groups, least):
    """A derivation whose tokens join the restaurants; groups draws a list of one of these.

    Raises:
        WrongLengthError: it would have one; some tokens have joined.
    """
    root = Node(-1, [])
    todo, words = [root], 0
    while todo:
        node = todo.pop()
        node.rule = restaurants.join(groups()[0], rng)
        words += WORDS[node.rule]
        node.children = [Node(-1, []) for _ in range(ARITY[node.rule])]
        todo += reversed(node.children)
        if words + len(todo) > MOST_WORDS:
            raise WrongLengthError
    if words < least:
        raise WrongLengthError
    return root


def spell(root):
    """Text and links of a derivation, and spans of its rules in preorder with the rules."""
    sides, spans, rules = ([], []), [], []

    def source(node):
        place = len(spans)
        spans.append([len(sides[0]), 0])
        rules.append(node.rule)
        node.ids = {}
        children = iter(node.children)
        for symbol in RULES[node.rule][0]:
            if isinstance(symbol, int):
                source(next(children))
            else:
                node.ids[symbol] = len(sides[0])
                sides[0].append(symbol)
        spans[place][1] = len(sides[0])
        node.place = place

    def target(node):
        first = len(sides[1])
        of_target = dict(zip("pqr", "abc", strict=True))
        for symbol in RULES[node.rule][1]:
            if isinstance(symbol, int):
                target(node.children[symbol - 1])
            else:
                sides[1].append((symbol, node.ids[of_target[symbol]]))
        spans[node.place] += [first, len(sides[1])]

    source(root)
    target(root)
    links = " ".join(f"{link}-{position}" for position, (_, link) in enumerate(sides[1]))
    return (" ".join(sides[0]), " ".join(word for word, _ in sides[1]), links), spans, rules


def draw_corpus(model, pairs, least, rng, np_rng):
    """Restaurants with all tokens, derivations of pairs of ``least`` to ``MOST_WORDS`` words, and the corpus's weight:
    lengths that there are not would end it. None is drawn, and it weighs as much less."""
    while True:
        restaurants = Restaurants.drawn(model, np_rng)
        law = restaurants.law()
        draw = partial(rng.choices, [*law], [*law.values()])
        try:
            roots = [draw_derivation(restaurants, rng, draw, least) for _ in range(pairs)]
        except WrongLengthError:
            continue
        return restaurants, roots, sum(law.values()) ** restaurants.tokens()


def begin(restaurants, roots, seed, **options):
    """The kernel's sampler where the corpus is; which edges are within rules is drawn."""
    forests, trees, words, rules = PhraseForests(), [], {}, []
    for text, spans, of_pair in map(spell, roots):
        forests.add(*text)
        trees.append(fitted(text, spans, seed))
        rules += of_pair
        for word in f"{text[0]} {text[1]}".split():
            words.setdefault(word, len(words))
    forests.add(*LAST)
    for word in f"{LAST[0]} {LAST[1]}".split():
        words.setdefault(word, len(words))
    wanted = {"tables": "exact", "base": "listed", "corrected": True, "places": True, "held_out": 1}
    sampler = TreeSampler(forests, SamplerOptions(restaurants.model, seed=seed, **wanted | options))
    ways = math.fsum(math.log(WAYS[rule]) for rule in rules) if sampler.options.corrected else 0.0
    rest = forests.sizes().nodes - sum(len(tree["edge"]) for tree in trees)
    symbols = [[*(words.get(s, -1) for s in f), *(-s if isinstance(s, int) else words[s] for s in e)] for f, e in RULES]
    of_nodes = {
        name: np.concatenate([*(tree[name] for tree in trees), np.zeros(rest, trees[0][name].dtype)])
        for name in trees[0]
    }
    sampler.restore(
        {
            "rules.symbols": np.concatenate(symbols).astype(np.int32),
            "rules.offsets": np.cumsum([0, *map(len, symbols)]),
            "rules.src_length": np.array([len(rule[0]) for rule in RULES], np.int32),
            "rules.arity": np.array(ARITY, np.int32),
            "kept": np.zeros(len(RULES), np.int64),
            "kept_short": np.zeros(len(RULES), np.int64),
            "places": np.zeros((0, 8), np.int32),
            **of_nodes,
            **restaurants.arrays(2 * MOST_WORDS + MOST_WORDS + 2),
            "cut_rates": np.zeros(0),
            "log_ways": np.array([ways]),
            "state": np.zeros(10, np.int64),
        }
    )
    assert abs(sampler.state().log_joint + ways - restaurants.log_joint()) < 1e-6
    return sampler


def fitted(text, spans, seed):
    """A tree of a pair with rules at the spans, each derivation of these as likely as another; by the kernel."""
    forests = PhraseForests()
    forests.add(*text)
    sampler = TreeSampler(forests, SamplerOptions(seed=seed))
    assert sampler.begin(np.array([0, len(spans)]), np.array(spans, np.int32)) is None
    trees = sampler.trees()
    number = [RULES.index(rule) if rule in RULES else -1 for rule in rules_of(sampler.arrays())]
    return trees | {"rule": np.array(number, np.int32)[np.maximum(trees["rule"], 0)]}


def read(model, sampler):
    """The quantities of a sampler."""
    sampler.keep()
    now, sizes = sampler.checkpoint(), [[] for _ in RULES]
    for rule, size, tables in now["seats"].tolist():
        sizes[rule] += [size] * tables
    alpha, discount = ({k: now[f"length.{name}"][k] for k in GROUPS[model]} for name in ("alpha", "discount"))
    spans = now["places"][:, 4:]
    long = (spans >= 0).all(axis=1) & (spans[:, 1] - spans[:, 0] > 1) & (spans[:, 3] - spans[:, 2] > 1)
    return Restaurants(model, alpha, discount, now["mean_length"][0], sizes).quantities(int(long.sum()))


def scores(model, corpora, seed, pairs=2, least=4, sweeps=10, **options):
    """z of each quantity that changes: of the mean difference that some sweeps make, by its standard deviation.

    Corpora have so many pairs, of ``least`` to ``MOST_WORDS`` words: shorter ones mostly have one tree.
    """
    rng, np_rng, changes, weights = Random(seed), np.random.default_rng(seed), [], []
    for number in range(corpora):
        restaurants, roots, weight = draw_corpus(model, pairs, least, rng, np_rng)
        before = restaurants.quantities(sum(root.long() for root in roots))
        sampler = begin(restaurants, roots, seed * corpora + number, **options)
        for sweep in range(1, sweeps + 1):
            sampler.sweep(sweep)
            sampler.resample(sweep)
        changes.append(np.subtract(read(model, sampler), before))
        weights.append(weight)
    share, changes = np.array(weights) / sum(weights), np.array(changes)
    changes = changes[:, np.abs(changes).max(axis=0) > 1e-9]
    mean = share @ changes
    return mean / np.sqrt(share**2 @ (changes - mean) ** 2)
