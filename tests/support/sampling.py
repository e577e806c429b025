"""Samples of trees against all trees: every tree of a small corpus with every set of cuts, and its probability."""

import itertools
import math
from collections import Counter
from functools import cache, cached_property

import numpy as np
from trees import Decomposition

from lscfg.kernel.base import view
from lscfg.kernel.sample import PhraseForests, SamplerOptions, TreeSampler

ALPHA, MEAN_LENGTH = 5.0, 2.0

SMALL = (
    ["a b c d", "c a b", "b d a c", "a a b", "d c b a", "c d"],
    ["p q r s", "r p q", "q s p r", "p p q", "s r q p", "r s"],
    ["0-0 1-1 2-2 3-3", "0-0 1-1 2-2", "0-0 1-1 2-2 3-3", "0-0 1-1 2-2", "0-0 1-1 2-2 3-3", "0-0 1-1"],
)
"""Source, target and links of a corpus."""


def write_corpus(folder, columns):
    """Source, target and links as files f, e and a; their paths."""
    paths = [folder / name for name in "fea"]
    for path, lines in zip(paths, columns, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines))
    return list(map(str, paths))


def forests_of(pairs, max_cut=7):
    """Of pairs with the links of one alignment or of several."""
    made = PhraseForests(max_cut)
    for source, target, links in pairs:
        first, *others = [links] if isinstance(links, str) else links
        made.add(source, target, first)
        for more in others:
            made.join(source, target, more)
    return made


def rules_of(arrays):
    """The rules of a sampler's arrays, as ``PairTrees`` has them."""
    begins, found = arrays["vocab.offsets"], []
    words = [bytes(arrays["vocab.bytes"][i:j]).decode() for i, j in itertools.pairwise(begins)]
    for k, middle in enumerate(arrays["rules.src_length"].tolist()):
        begin, end = arrays["rules.offsets"][k : k + 2]
        gaps, symbols = itertools.count(1), arrays["rules.symbols"][begin:end].tolist()
        source = tuple(words[s] if s >= 0 else next(gaps) for s in symbols[:middle])
        found.append((source, tuple(words[s] if s >= 0 else -s for s in symbols[middle:])))
    return found


def cut_nodes(key):
    return frozenset(node for node, _, cut in key if cut)


class PairTrees:
    """All trees of a pair with all cuts: for each the state (node, edge, cut) of its nodes, and its rules.

    Of several alignments, each has its nodes, and a root above all leads to them.
    """

    def __init__(self, pair, max_cut):
        source, target, alignments = pair
        self.words, self.max_cut = (source.split(), target.split()), max_cut
        self.spans, self.edges, self.roots, self.read_before = [], [], [], {}
        for links in [alignments] if isinstance(alignments, str) else alignments:
            self.add(Decomposition(source, target, links))
        self.root = self.roots[0]
        if len(self.roots) > 1:
            self.root = len(self.edges)
            self.spans.append(self.spans[self.roots[0]])
            self.edges.append([[root] for root in self.roots])

    @cached_property
    def states(self):
        """The rules of each state."""
        found = {}
        for tree in self.trees(self.root):
            free = [node for node in tree if node not in (self.root, *self.roots) and not self.is_long(node)]
            for cuts in itertools.product((0, 1), repeat=len(free)):
                cut = dict.fromkeys(tree, 1) | dict(zip(free, cuts, strict=True)) | {self.root: self.root_cut}
                key = tuple(sorted((node, edge, cut[node]) for node, edge in tree.items()))
                found[key] = self.rules(key)
        return found

    @property
    def root_cut(self):
        """True if the root begins a rule, and not the roots of several alignments."""
        return int(len(self.roots) == 1)

    def rules(self, key):
        """Rules of a state."""
        tree, cut = ({node: entry[k] for node, *entry in key} for k in (0, 1))
        return [self.rule(node, tree, cut) for node in tree if cut[node]]

    def add(self, made):
        """The nodes of an alignment."""
        first = len(self.spans)
        self.spans += [(span[:2], span[2:]) for span in made.span.tolist()]
        self.edges += [[[first + t for t in edge.tails] for edge in edges] for edges in made.edges]
        self.roots.append(len(self.edges) - 1)

    def level(self, node):
        """Minimal edges below it, in any tree."""
        return 1 + sum(self.level(tail) for tail in self.edges[node][0])

    def derivations(self, key):
        """States with the same rules at the same places: those that differ in edges within rules only."""
        return self.cut_sets[cut_nodes(key)]

    @cached_property
    def cut_sets(self):
        """Number of states with the same nodes cut."""
        return Counter(map(cut_nodes, self.states))

    def is_long(self, node):
        return any(end - begin > self.max_cut for begin, end in self.spans[node])

    def trees(self, node):
        """Dictionaries from nodes to edges."""
        for number, tails in enumerate(self.edges[node]):
            for parts in itertools.product(*(list(self.trees(tail)) for tail in tails)):
                tree = {node: number}
                for part in parts:
                    tree |= part
                yield tree

    def frontier(self, head, tree, cut):
        """The nodes at which the rule at a head ends, in source order."""
        found, todo = [], list(self.edges[head][tree[head]])
        while todo:
            node = todo.pop()
            if cut[node]:
                found.append(node)
            else:
                todo += self.edges[node][tree[node]]
        return sorted(found, key=lambda node: self.spans[node][0])

    def rule(self, head, tree, cut):
        """The two sides as words, and numbers of nonterminals."""
        frontier, sides = self.frontier(head, tree, cut), []
        for side in (0, 1):
            symbols = dict(enumerate(self.words[side]))
            begin, end = self.spans[head][side]
            for number, node in enumerate(frontier, 1):
                first, last = self.spans[node][side]
                symbols |= dict.fromkeys(range(first, last), None) | {first: number}
            sides.append(tuple(symbols[k] for k in range(begin, end) if symbols[k] is not None))
        return tuple(sides)

    def read(self, edge, cut):
        """The state in the sampler's arrays of this pair."""
        arrays = edge.tobytes(), cut.tobytes()
        if arrays not in self.read_before:
            self.read_before[arrays] = self._state(edge, cut)
        return self.read_before[arrays]

    def _state(self, edge, cut):
        found, todo = [], [self.root]
        while todo:
            node = todo.pop()
            found.append((node, int(edge[node]), int(cut[node])))
            todo += self.edges[node][edge[node]]
        return tuple(sorted(found))


def length_of(rule):
    source, target = rule
    gaps = [isinstance(symbol, int) for symbol in source]
    scope = gaps[0] + gaps[-1] + sum(a and b for a, b in itertools.pairwise(gaps))
    return len(source) + len(target) - 2 * sum(gaps) + scope


def poisson_of(length, mean):
    return length * math.log(mean) - mean - math.lgamma(length + 1)


def poisson(length):
    return poisson_of(length, MEAN_LENGTH)


def log_probability(rules, model, alpha=ALPHA, types=(1, 1)):
    """Of all rules together, by the closed form of a Dirichlet process, or of one for each length."""
    counts = Counter(rules)
    groups = Counter(length_of(rule) for rule in rules) if model == "py" else Counter({0: len(rules)})
    total = sum(math.lgamma(alpha) - math.lgamma(alpha + n) for n in groups.values())
    for rule, n in counts.items():
        if model == "py":
            base = math.exp(poisson(length_of(rule)))
            total += n * poisson(length_of(rule))
        else:
            base = types[0] ** -len(rule[0]) * types[1] ** -len(rule[1])
        total += math.lgamma(n + alpha * base) - math.lgamma(alpha * base)
    return total


def table_numbers(n, discount):
    """Generalised Stirling numbers: of seatings of n customers by their number of tables, each with the product over
    its tables of (1 - d)(2 - d) ... (size - 1 - d)."""
    numbers = [1.0]
    for customers in range(n):
        more = [0.0, *numbers]
        for tables in range(1, customers + 1):
            more[tables] += (customers - tables * discount) * numbers[tables]
        numbers = more
    return numbers


def log_pitman_yor(rules, alpha, discount):
    """Of all rules together, by a process for each length, summed over all their seatings."""
    counts, total = Counter(rules), 0.0
    for length in {length_of(rule) for rule in rules}:
        of_length = [n for rule, n in counts.items() if length_of(rule) == length]
        ways = np.ones(1)
        for n in of_length:
            ways = np.convolve(
                ways, [w * math.exp(t * poisson(length)) for t, w in enumerate(table_numbers(n, discount))]
            )
        rising = np.cumprod([1.0, *(alpha + k * discount for k in range(len(ways) - 1))])
        n = sum(of_length)
        total += math.log(ways @ rising) - math.lgamma(alpha + n) + math.lgamma(alpha) + n * poisson(length)
    return total


def log_resampled(rules, base):
    """Of all rules together, by a Pitman-Yor process for each length; its concentration has the distribution
    Gamma(1, 1) and its discount is uniform, over which it is integrated. base: of each rule, in logs."""
    counts, total = Counter(rules), 0.0
    for length in {length_of(rule) for rule in rules}:
        of_length = sorted((n, base(rule)) for rule, n in counts.items() if length_of(rule) == length)
        total += math.log(integrated(tuple(of_length)))
    return total


@cache
def integrated(of_length):
    """Over concentration and discount, by quadrature; of rules with a number of tokens and a base in logs."""
    n, value = sum(n for n, _ in of_length), 0.0
    alphas, alpha_weights = np.polynomial.laguerre.laggauss(24)
    halves, half_weights = np.polynomial.legendre.leggauss(12)
    tokens = np.array([math.lgamma(alpha) - math.lgamma(alpha + n) for alpha in alphas])
    for discount, weight in zip((halves + 1) / 2, half_weights / 2, strict=True):
        ways = np.ones(1)
        for k, base in of_length:
            ways = np.convolve(ways, [w * math.exp(t * base) for t, w in enumerate(table_numbers(k, discount))])
        steps = alphas[:, None] + discount * np.arange(len(ways) - 1)
        rising = np.cumprod(np.hstack([np.ones((len(alphas), 1)), steps]), axis=1)
        value += weight * float(alpha_weights @ (np.exp(tokens) * (rising @ ways)))
    return value


def log_by_bases(rules, alpha, length, base):
    """Of all rules together, by a Dirichlet process for each length; logs of a distribution of lengths, and of what a
    rule begins with."""
    counts = Counter(rules)
    groups = Counter(length_of(rule) for rule in rules)
    total = sum(math.lgamma(alpha) - math.lgamma(alpha + n) + n * length(ell) for ell, n in groups.items())
    for rule, n in counts.items():
        start = alpha * math.exp(base(rule))
        total += math.lgamma(n + start) - math.lgamma(start)
    return total


def live_trees(sampler):
    """Edges and cuts in the sampler's memory, where they stay; a copy by ``trees`` takes longer than several sweeps."""
    if not hasattr(sampler, "live_trees"):
        v = sampler._view()
        arrays = view(v.edge, v.n_nodes, np.int32, None), view(v.cut, v.n_nodes, np.uint8, None)
        sampler.live_trees = tuple(map(np.asarray, arrays))
    return sampler.live_trees


class CorpusTrees:
    """All states of a small corpus with their probabilities."""

    def __init__(
        self, pairs, model, max_cut=7, temperature=1.0, corrected=False, seated=None, bases=None, resampled=None
    ):
        self.pairs = [PairTrees(pair, max_cut) for pair in pairs]
        types = [len({word for pair in pairs for word in pair[side].split()}) for side in (0, 1)]
        self.logs = {}
        for states in itertools.product(*(pair.states for pair in self.pairs)):
            rules = [rule for pair, key in zip(self.pairs, states, strict=True) for rule in pair.states[key]]
            if seated:
                log = log_pitman_yor(rules, *seated)
            elif resampled:
                log = log_resampled(rules, resampled)
            elif bases:
                log = log_by_bases(rules, ALPHA, *bases)
            else:
                log = log_probability(rules, model, ALPHA, types)
            if corrected:
                log -= sum(math.log(pair.derivations(key)) for pair, key in zip(self.pairs, states, strict=True))
            self.logs[states] = log / temperature
        total = np.logaddexp.reduce(list(self.logs.values()))
        self.exact = {state: math.exp(value - total) for state, value in self.logs.items()}

    def condition(self, holds):
        """Leaves out all states in which something does not hold."""
        total = sum(p for state, p in self.exact.items() if holds(state))
        self.exact = {state: p / total for state, p in self.exact.items() if holds(state)}

    def state_of(self, sampler):
        (edge, cut), at, found = live_trees(sampler), 0, []
        for pair in self.pairs:
            end = at + len(pair.edges)
            found.append(pair.read(edge[at:end], cut[at:end]))
            at = end
        return tuple(found)

    def distance(self, found):
        """Total variation, and what it is expected to be for as many independent draws."""
        n = sum(found.values())
        assert found.keys() <= self.exact.keys()
        tv = sum(abs(found[state] / n - p) for state, p in self.exact.items()) / 2
        return tv, sum(math.sqrt(2 * p * (1 - p) / (math.pi * n)) for p in self.exact.values()) / 2


@cache
def trees_of(pairs, model, max_cut, corrected):
    """All states of a small corpus, listed once for all tests of it; pairs: a tuple."""
    return CorpusTrees(pairs, model, max_cut, corrected=corrected)


def options_of(**others):
    """Options of the closed form, without a discount unless another one is given."""
    return SamplerOptions(**{"alpha": ALPHA, "discount": 0, "mean_length": MEAN_LENGTH} | others)


def sampled_states(corpus, forests, sweeps, every=1, temperature=1.0, **options):
    """Share of each state among sweeps after the first ones."""
    return states_of(corpus, TreeSampler(forests, options_of(**options)), sweeps, every, temperature)


def states_of(corpus, sampler, sweeps, every=1, temperature=1.0, max_level=None):
    """Rules and counts of a sampler."""
    found = Counter()
    for number in range(1, sweeps + 1):
        sampler.sweep(number, max_level, temperature)
        if number > 20 and number % every == 0:
            found[corpus.state_of(sampler)] += 1
    return found
