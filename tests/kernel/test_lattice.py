"""Word lattices: against the sentences that they hold, and against real cdec's forests."""

import itertools
import re
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from composition import MINIMAL, composed_system
from forests import Brute, applications, build, paths
from helpers import derivations
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lattices import EMPTY, Arcs, encode, random_lattice

from lscfg.cdec_bridge.decoder import find_cdec
from lscfg.errors import InputError, TooLargeError
from lscfg.kernel import EPSILON, Binding, Grammar, ParseOptions, S, X
from lscfg.kernel.search import SearchOptions, search


def strings(arcs: Arcs, last: int, state: int = 0) -> list[list[int]]:
    """All paths from a state to the last one."""
    if state == last:
        return [[]]
    return [[k, *rest] for k, (i, j, _) in enumerate(arcs) if i == state for rest in strings(arcs, last, j)]


def along(forest, apps: list[int]) -> list[int]:
    """The arcs of a derivation in order."""
    used: list[int] = []
    for app in apps:
        e = forest.app_edge[app]
        used += forest.paths[forest.edge_paths[e] : forest.edge_paths[e + 1]].tolist()
    return sorted(used)


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("pass_through", [0, 1, 2])
@pytest.mark.parametrize("span", [2, 100])
def test_chain_is_the_sentence(tmp_path, glue, pass_through, span):
    model, grammar, _, _ = build(tmp_path, 2, 1, False)
    binding = Binding(model, grammar)
    options = ParseOptions(span, glue, pass_through, S if glue else X)
    for sentence in ("a", "b a b", "a c q b", "b a b a c b"):
        words = sentence.split()
        forest = grammar.parse(grammar.vocab.add_line(sentence), options)
        arcs = encode(grammar, [(i, i + 1, word) for i, word in enumerate(words)])
        lattice = grammar.parse_lattice(arcs, len(words) + 1, options)
        if forest is None:
            assert lattice is None
            continue
        assert applications(lattice) == applications(forest)
        assert (lattice.node_span == forest.node_span).all() and (lattice.node_cat == forest.node_cat).all()
        found = SearchOptions(100, 50, False, 0, 0)
        mine, theirs = (search(f, grammar, None, np.arange(f.n_apps) * 0.1, found) for f in (lattice, forest))
        assert (mine.words == theirs.words).all() and (mine.apps == theirs.apps).all()
        if pass_through != 1:  # else the sentence's own rule decides which words are unknown, node by node
            assert np.allclose(binding.infer(lattice).apps, binding.infer(forest).apps)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), pass_through=st.integers(0, 2), glue=st.booleans())
def test_derivations_are_those_of_all_paths(tmp_path_factory, seed, n, pass_through, glue):
    """Arcs of a derivation are a path of the lattice; each path has the derivations of its sentence."""
    model, grammar, _, _ = build(tmp_path_factory.mktemp("m"), 2, 1, False)
    rng = np.random.default_rng(seed)
    arcs = random_lattice(rng, rng.choice(list("abcq"), n).tolist(), list("abcq"), 0)
    options = ParseOptions(100, glue, pass_through, S if glue else X)
    forest = grammar.parse_lattice(encode(grammar, arcs), n + 1, options)
    expected, g = {}, 0.0
    for path in strings(arcs, n):
        single = grammar.parse(grammar.vocab.add_line(" ".join(arcs[k][2] for k in path)), options)
        if single is not None:
            expected[tuple(sorted(path))] = paths(single)
            known = Binding(model, grammar).infer(single)
            g += known.sign * np.exp(known.log_g)
    if forest is None:
        assert not expected
        return
    assert paths(forest) == sum(expected.values())
    if paths(forest) <= 2000:
        counts: dict[tuple[int, ...], int] = {}
        for apps in derivations(forest):
            counts[tuple(along(forest, apps))] = counts.get(tuple(along(forest, apps)), 0) + 1
        assert counts == expected
    result = Binding(model, grammar).infer(forest)
    if g > 0:
        assert np.isclose(result.sign * np.exp(result.log_g), g, rtol=1e-9)
    else:
        assert result.sign == 0


QUIRKS = {
    "at most three arcs around a word that passes through": [
        ("[X] ||| a ||| x", 9, 1, [(0, 1, "q"), (1, 2, EMPTY), (2, 3, EMPTY)], 1),
        ("[X] ||| a ||| x", 9, 1, [(0, 1, "q"), (1, 2, EMPTY), (2, 3, EMPTY), (3, 4, EMPTY)], 0),
        ("[X] ||| a ||| x", 9, 1, [(0, 1, "a"), (1, 2, EMPTY), (2, 3, EMPTY), (3, 4, EMPTY)], 1),
        ("[X] ||| a ||| x", 1, 1, [(0, 1, "a"), (1, 2, EMPTY), (2, 3, EMPTY)], 1),
    ],
    "the shortest path counts, wherever the rule goes along": [
        ("[X] ||| a ||| x", 9, 1, [(0, 1, "q"), (1, 2, EMPTY), (2, 3, EMPTY), (3, 4, EMPTY), (0, 4, EMPTY)], 1),
        ("[X] ||| a b ||| x", 1, 0, [(0, 1, "a"), (1, 2, "b")], 0),
        ("[X] ||| a b ||| x", 1, 0, [(0, 1, "a"), (1, 2, "b"), (0, 2, EMPTY)], 1),
    ],
    "an arc counts to the state behind the one where it begins": [
        ("[X] ||| a b ||| x", 1, 0, [(0, 1, "a"), (1, 3, "b"), (0, 3, EMPTY)], 1),
        ("[X] ||| a b ||| x", 1, 0, [(0, 1, "a"), (1, 3, "b"), (0, 3, EMPTY), (1, 2, EMPTY), (2, 3, EMPTY)], 0),
    ],
    "rules of a single nonterminal have no limit, and no empty arcs": [
        ("[S] ||| [X,1] ||| [1]", 1, 1, [(0, 1, "q"), (1, 2, EMPTY)], 2),
        ("[X] ||| [Y,1] ||| [1]\n[Y] ||| a ||| x", 9, 0, [(0, 1, "a"), (1, 2, EMPTY)], 1),
    ],
}
"""Grammar, span limit, whether words pass through, arcs, and the number of derivations with glue."""


@pytest.mark.parametrize("quirk", QUIRKS)
def test_spans_are_measured_as_cdec_measures_them(quirk):
    for text, span, pass_through, arcs, count in QUIRKS[quirk]:
        grammar, last = Grammar(), max(j for _, j, _ in arcs)
        grammar.read_text(text + "\n")
        grammar.finish()
        forest = grammar.parse_lattice(encode(grammar, arcs), last + 1, ParseOptions(span, True, pass_through, S))
        assert (0 if forest is None else paths(forest)) == count, arcs


class AlongPaths:
    """All derivations of a lattice, path by path and from the root down.

    A derivation is a list of (rule, state, state, arcs that the rule itself covers), preorder. Rules may cover empty
    arcs anywhere, except those of a single nonterminal.
    """

    def __init__(self, grammar: Grammar, arcs: Arcs, last: int, options: ParseOptions):
        self.grammar, self.arcs, self.last, self.options = grammar, arcs, last, options
        self.rules = [(r, grammar.lhs(r), grammar.src(r)) for r in range(len(grammar))]
        self.translated = {src[0] for _, lhs, src in self.rules if lhs == X and len(src) == 1}
        self.lengths = self.shortest()

    def shortest(self) -> dict[tuple[int, int], int]:
        """Arcs of the shortest path; where there is none, of that to the next state that can be reached."""
        found: dict[tuple[int, int], int] = {}
        for i in range(self.last + 1):
            for j in range(self.last, i, -1):
                ways = [len(path) for path in strings(self.arcs, j, i)]
                if ways or (i, j + 1) in found:
                    found[i, j] = min(ways) if ways else found[i, j + 1]
        return found

    def all(self) -> list[tuple]:
        found = []
        for path in strings(self.arcs, self.last):
            self.path, self.states = path, [0, *(self.arcs[k][1] for k in path)]
            found += self.node(self.options.goal, 0, len(self.path))
        return found

    def rules_for(self, category: int, i: int, arcs: list[int]) -> list[tuple[int, list[int], int]]:
        """Rule, source side and span limit."""
        found = [(r, src, self.options.max_span) for r, lhs, src in self.rules if lhs == category]
        top, joined, passed = (len(self.rules) + k for k in range(3))
        if category == S and self.options.glue:
            found += [(top, [-1 - X], self.last), *[(joined, [-1 - S, -1 - X], self.last)] * (i == 0)]
        if category == X and self.options.pass_through:
            words = {self.grammar.vocab.find(self.arcs[k][2]) for k in arcs if self.arcs[k][2] != EMPTY}
            known = self.translated if self.options.pass_through == 2 else set()
            found += [(passed, [word], 3) for word in words - known]
        return found

    def node(self, category: int, p: int, q: int) -> list[tuple]:
        """Of a category over the path's arcs p .. q-1."""
        i, j = self.states[p], self.states[q]
        found = []
        for rule, src, limit in self.rules_for(category, i, self.path[p:q]):
            if len(src) == 1 and src[0] < 0:
                found += [((rule, i, j, ()), *below) for below in self.node(-1 - src[0], p, q)]
            elif self.lengths[i, j] <= limit:
                found += [((rule, i, j, own), *below) for own, below in self.matches(src, p, q, i, limit)]
        return found

    def matches(self, src: list[int], p: int, q: int, i: int, limit: int) -> Iterator[tuple[tuple, tuple]]:
        """Ways of a rule that began in state i through arcs p .. q-1: its own arcs, and what is below it."""
        if p == q:
            if not src:
                yield (), ()
            return
        word = self.arcs[self.path[p]][2]
        # cdec checks an arc by the state after its first one, wherever the arc ends
        if self.lengths[i, self.states[p] + 1] <= limit:
            left = src if word == EMPTY else src[1:] if src and src[0] == self.grammar.vocab.find(word) else None
            if left is not None:
                for own, below in self.matches(left, p + 1, q, i, limit):
                    yield (self.path[p], *own), below
        if src and src[0] < 0:
            for r in range(p + 1, q + 2 - len(src)):
                if self.lengths[i, self.states[r]] <= limit:
                    for own, below in self.matches(src[1:], r, q, i, limit):
                        yield from ((own, (*first, *below)) for first in self.node(-1 - src[0], p, r))


def described(forest, apps: list[int]) -> tuple:
    """A derivation as ``AlongPaths`` has it."""
    found = []
    for app in apps:
        e = forest.app_edge[app]
        own = tuple(forest.paths[forest.edge_paths[e] : forest.edge_paths[e + 1]].tolist())
        found.append((int(forest.app_rule[app]), *forest.node_span[forest.edge_head[e]].tolist(), own))
    return tuple(found)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("span", [1, 2, 3, 100])
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), pass_through=st.integers(0, 2), glue=st.booleans())
def test_derivations_go_along_empty_arcs_and_keep_the_span_limit(span, epsilon, seed, n, pass_through, glue):
    grammar = Grammar()
    rules = [
        "a ||| x",
        "b ||| y",
        "a b ||| z",
        "b [X,1] ||| [1] x",
        "[X,1] [X,2] ||| [2] [1]",
        "[X,1] c [Y,2] ||| [1] [2]",
    ]
    grammar.read_text("".join(f"[X] ||| {rule}\n" for rule in [*rules, "[Y,1] ||| [1]"]))
    grammar.read_text("[Y] ||| c b ||| y\n[S] ||| a [X,1] ||| [1] s\n")
    grammar.finish()
    rng = np.random.default_rng(seed)
    arcs = random_lattice(rng, rng.choice(list("abcq"), n).tolist(), list("abc"), epsilon)
    options = ParseOptions(span, glue, pass_through, S if glue else X)
    forest = grammar.parse_lattice(encode(grammar, arcs), n + 1, options)
    assume(forest is None or paths(forest) <= 1000)
    expected = AlongPaths(grammar, arcs, n, options).all()
    found = [] if forest is None else [described(forest, apps) for apps in derivations(forest)]
    assert sorted(found) == sorted(expected)


def test_composed_rules_over_a_lattice(tmp_path):
    """The value of a lattice is the sum over the sentences in it, and shares are those of its derivations."""
    _, grammar, binding, tensors, root = composed_system(tmp_path, 2, 3, 80)
    assert binding.counts()["composed"] > 50 and len(MINIMAL) > 0
    arcs = [(0, 1, "a"), (0, 1, "b"), (1, 2, "q"), (1, 2, "b"), (0, 2, "a"), (2, 3, "c"), (2, 3, "c"), (1, 3, "a")]
    options = ParseOptions(100, True, 2, S)
    forest = grammar.parse_lattice(encode(grammar, arcs), 4, options)
    result, g = binding.infer(forest), 0.0
    for path in strings(arcs, 3):
        single = grammar.parse(grammar.vocab.add_line(" ".join(arcs[k][2] for k in path)), options)
        inner = binding.infer(single)
        g += inner.sign * np.exp(inner.log_g)
    assert np.isclose(result.sign * np.exp(result.log_g), g)
    brute = Brute(forest, grammar, tensors, root)
    marginals = np.zeros(forest.n_apps)
    for apps in derivations(forest):
        marginals[apps] += brute.value(apps) / g
    assert np.allclose(result.apps, marginals, atol=1e-9 * np.abs(marginals).max())
    mass = -marginals[marginals < 0].sum() / np.abs(marginals).sum()
    assert 0.01 < mass < 0.99 and result.negative_mass == pytest.approx(mass, rel=1e-9)


def test_what_is_refused():
    grammar = Grammar()
    grammar.read_text("[X] ||| a ||| x\n")
    one = np.array([[0, 1, 0]])
    with pytest.raises(InputError, match="the grammar is not finished; call finish after"):
        grammar.parse_lattice(one, 2, ParseOptions())
    grammar.finish()
    for bad in ((1, 0, 0), (0, 0, 0), (-1, 1, 0), (0, 2, 0), (0, 2**31 - 1, 0)):
        with pytest.raises(InputError, match="arc 1 leads from state"):
            grammar.parse_lattice(np.array([[0, 1, 0], bad]), 2, ParseOptions())
    for states in (-1, 2**31 - 1):
        with pytest.raises(InputError, match="a lattice of 1 arcs and"):
            grammar.parse_lattice(one, states, ParseOptions())
    with pytest.raises(InputError, match="span limit"):
        grammar.parse_lattice(one, 2, ParseOptions(max_span=0))
    with pytest.raises(ValueError, match="arcs of shape"):
        grammar.parse_lattice(np.zeros((2, 2)), 2, ParseOptions())
    for nothing in (np.empty((0, 3)), one[:0]):
        for states in (0, 1, 2):
            assert grammar.parse_lattice(nothing, states, ParseOptions()) is None
    assert grammar.parse_lattice(one, 3, ParseOptions()) is None  # the last state cannot be reached
    unknown = np.array([[0, 1, -1]])  # passed through, if it may
    assert grammar.parse_lattice(unknown, 2, ParseOptions()) is not None
    assert grammar.parse_lattice(unknown, 2, ParseOptions(pass_through=0)) is None
    for word in (-7, -3, 2, 10**9):
        with pytest.raises(InputError, match=f"arcs contain the word id {word}; ids are 0 to 1, or -1"):
            grammar.parse_lattice(np.array([[0, 1, word]]), 2, ParseOptions())
    with pytest.raises(InputError, match="arcs must be 32-bit integers"):
        grammar.parse_lattice(np.array([[0, 2**32 + 1, 0]]), 2, ParseOptions())
    for wrong in (np.array([[0, 1, 0.5]]), np.array([[0, 1, np.nan]])):
        with pytest.raises(TypeError, match="arcs must be integers, not float64"):
            grammar.parse_lattice(wrong, 2, ParseOptions())
    assert grammar.parse_lattice(np.array([[0, 1, EPSILON]]), 2, ParseOptions()) is None


# ---- real cdec ----


def plf(arcs: Arcs, states: int) -> str:
    """The lattice in the Python lattice format of Moses and cdec, the arc's number as its cost."""
    columns = []
    for i in range(states - 1):
        column = "".join(f"('{word}',{k + 1},{j - i})," for k, (f, j, word) in enumerate(arcs) if f == i)
        columns.append(f"({column}),")
    return f"({''.join(columns)})"


def cdec_forests(
    folder: Path, grammar: Path, lines: list[str], *options: str
) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Sizes of forests, as cdec prints them, and k-best lists."""
    program = find_cdec()
    if program is None:
        pytest.skip("no cdec: not on PATH and CDEC_ROOT is not set")
    (folder / "in").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [program, "-f", "scfg", "-g", grammar, "-i", folder / "in", *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, check=True)
    sizes = re.findall(
        r"parse failed|Init\. forest \(nodes/edges\): (\d+/\d+)\n *Init\. forest *\(paths\): (\S+)",
        done.stderr.decode("utf-8", "replace"),
    )
    lists: list[list[str]] = [[] for _ in lines]
    for line in done.stdout.decode("utf-8").splitlines():
        number = line.split(" ||| ")[0]
        if number.isdigit():
            lists[int(number)].append(line)
    return sizes, lists


def our_size(forest) -> tuple[str, str]:
    """Size of our forest, as cdec prints it; cdec has one more node and edge, [Goal] -> [S,1]."""
    if forest is None:
        return ("", "")
    return f"{forest.n_nodes + 1}/{forest.n_apps + 1}", f"{paths(forest):g}"


def same_size(ours: tuple[str, str], theirs: tuple[str, str]) -> bool:
    return ours[0] == theirs[0] and (not ours[0] or np.isclose(float(ours[1]), float(theirs[1]), rtol=1e-5))


def test_cdec_has_these_quirks(tmp_path):
    for text, span, pass_through, arcs, count in itertools.chain(*QUIRKS.values()):
        (tmp_path / "g").write_text(text + "\n")
        options = ["--scfg_max_span_limit", str(span), *(["-P"] if pass_through else [])]
        sizes, _ = cdec_forests(tmp_path, tmp_path / "g", [plf(arcs, max(j for _, j, _ in arcs) + 1)], *options)
        assert [size[1] for size in sizes] == [str(count) if count else ""], arcs


@pytest.mark.parametrize("pass_through", [0, 1])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("span", [2, 3, 10])
def test_forests_and_costs_equal_cdec_s(tmp_path, span, epsilon, pass_through):
    rules = [*MINIMAL, "b [X,1] a [X,2] ||| [2] x [1]", "a [X,1] c ||| [1] y", "[X,1] b ||| [1]"]
    text = (
        "".join(f"[X] ||| {rule}\n" for rule in [*rules, "a ||| x"])
        + "[S] ||| a [X,1] ||| [1] s\n[X] ||| [Y,1] ||| [1]\n"
    )
    (tmp_path / "g").write_text(text + "[Y] ||| c b ||| y\n")
    rng = np.random.default_rng(span)
    lattices = [random_lattice(rng, rng.choice(list("abcq"), 4).tolist(), list("abc"), epsilon) for _ in range(60)]
    options = ["--scfg_max_span_limit", str(span), "-k", "3000", *(["-P"] if pass_through else [])]
    sizes, lists = cdec_forests(tmp_path, tmp_path / "g", [plf(arcs, 5) for arcs in lattices], *options)
    assert len(sizes) == len(lattices)
    grammar = Grammar.from_files([tmp_path / "g"])
    grammar.category("Y")
    parsed = 0
    for arcs, size, list_ in zip(lattices, sizes, lists, strict=True):
        forest = grammar.parse_lattice(encode(grammar, arcs), 5, ParseOptions(span, True, pass_through, S))
        assert same_size(our_size(forest), size)
        if forest is None or paths(forest) > 3000:
            continue
        parsed += 1
        theirs = sorted((line.split(" ||| ")[1], cost_of(line)) for line in list_)
        found = search(forest, grammar, None, np.zeros(forest.n_apps), SearchOptions(10**5, 3000, False, 0, 0))
        ours = []
        for h in range(len(found)):
            words = found.words[found.word_offsets[h] : found.word_offsets[h + 1]]
            apps = found.apps[found.app_offsets[h] : found.app_offsets[h + 1]]
            cost = sum(k + 1 for k in along(forest, apps.tolist()))
            ours.append((" ".join(grammar.vocab.word(int(w)) for w in words), cost))
        assert sorted(ours) == theirs
    assert parsed > 8


def cost_of(line: str) -> int:
    return int(re.search(r"LatticeCost_0=(\d+)", line)[1])


def test_real_lattices_equal_cdec_s(tmp_path, shared):
    folder = shared / "oracle" / "cdec"
    grammar_file = next(path for path in sorted(folder.glob("hiero*gr*")))
    rng = np.random.default_rng(0)
    sentences = (folder / "input.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = sorted({word for line in sentences for word in line.split() if "'" not in word and "\\" not in word})
    lattices = [
        random_lattice(rng, line.split(), vocabulary, epsilon)
        for line in sentences
        if "'" not in line and "\\" not in line
        for epsilon in (0.0, 0.3)
    ][:40]
    lines = [plf(arcs, max(j for _, j, _ in arcs) + 1) for arcs in lattices]
    sizes, _ = cdec_forests(tmp_path, grammar_file, lines, "-P", "--scfg_max_span_limit", "12")
    grammar = Grammar.from_files([grammar_file])
    for arcs, size in zip(lattices, sizes, strict=True):
        forest = grammar.parse_lattice(
            encode(grammar, arcs), max(j for _, j, _ in arcs) + 1, ParseOptions(12, True, 1, S)
        )
        assert same_size(our_size(forest), size)


@pytest.mark.parametrize("word", ["*EPS*", "a"])
def test_parallel_arcs_meet_the_limit_before_memory_does(word):
    """A thousand arcs over each of three hops are a billion paths, all in one cell of the chart."""
    grammar = Grammar()
    grammar.read_text("[X] ||| a a a a ||| b\n[X] ||| a ||| b\n")
    grammar.finish()
    a = grammar.vocab.find("a")
    one = EPSILON if word == "*EPS*" else a
    arcs = [(hop, hop + 1, one) for hop in range(3) for _ in range(1_000)] + [(3, 4, a)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooLargeError, match="more than 200,000 rule applications"):
        grammar.parse_lattice(np.array(arcs, np.int32), 5, ParseOptions(most=200_000))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # KiB
