"""Fragments sampled from forests of a file against all trees of small forests with all cuts, and the command."""

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from em_oracle import corpus
from sampling import live_trees

from lscfg.cli import main
from lscfg.extract.derive import derive
from lscfg.induce.sampled.fragments import bracketed, composed
from lscfg.induce.sampled.productions import Production, edge_marginals, production_weights, read_productions
from lscfg.kernel import LineError
from lscfg.kernel.sample import GivenForest, PhraseForests, SamplerOptions, TreeSampler

ALPHA, MEAN_LENGTH = 20.0, 2.0
"""With fewer new fragments, chains of so few trees take long from one tree to another."""


def forest(number, nodes, edges):
    """A line of a file; edges: node, tails, source side, target side."""
    made = [{"node": n, "tails": list(tails), "source": f, "targets": [[e]]} for n, tails, f, e in edges]
    return {"id": number, "words": None, "parsed": True, "features": [], "nodes": nodes, "edges": made}


ATTACHED = forest(
    0,
    [["N", 0, 1], ["N", 2, 3], ["P", 1, 3], ["N", 0, 3], ["V", 3, 4], ["S", 0, 4]],
    [
        (0, (), "ann", "anna"),
        (1, (), "hat", "hut"),
        (2, (1,), "with [N,1]", "mit [1]"),
        (3, (0, 2), "[N,1] [P,2]", "[1] [2]"),
        (4, (), "sees", "sieht"),
        (5, (3, 4), "[N,1] [V,2]", "[1] [2]"),
        (5, (0, 2, 4), "[N,1] [P,2] [V,3]", "[1] [3] [2]"),
    ],
)
"""A prepositional phrase below a noun or below the sentence; the root has productions of two and of three tails."""

ONE_TREE = forest(
    1,
    [["N", 0, 1], ["N", 0, 1], ["V", 1, 2], ["S", 0, 2]],
    [
        (0, (), "ann", "anna"),
        (1, (0,), "[N,1]", "[1]"),
        (2, (), "sees", "sieht"),
        (3, (1, 2), "[N,1] [V,2]", "[1] [2]"),
    ],
)
"""A unary production over the same span and category."""

SEQUENCE = forest(
    2,
    [["X", i, i + n] for n in range(1, 5) for i in range(5 - n)],
    [
        *((i, (), word, word) for i, word in enumerate("abcd")),
        *(
            (sum(range(4, 5 - n, -1)) + i, (node(i, i + k), node(i + k, i + n)), "[X,1] [X,2]", "[1] [2]")
            for node in [lambda i, j: sum(range(4, 5 - (j - i), -1)) + i]
            for n in range(2, 5)
            for i in range(5 - n)
            for k in range(1, n)
        ),
    ],
)
"""The forest of Figure 1 of the paper: all binary trees over four phrases."""


@pytest.fixture
def path(tmp_path):
    return written(tmp_path / "forests", [ATTACHED, ONE_TREE])


def written(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class Trees:
    """All trees of a forest, with the numbers of edges at their nodes; independent of the reader."""

    def __init__(self, line, max_cut=100):
        self.nodes, self.max_cut = line["nodes"], max_cut
        self.edges = [[e for e in line["edges"] if e["node"] == node] for node in range(len(self.nodes))]
        self.root = len(self.nodes) - 1

    def trees(self, node):
        for number, edge in enumerate(self.edges[node]):
            for parts in itertools.product(*(list(self.trees(tail)) for tail in edge["tails"])):
                yield {node: number} | {k: v for part in parts for k, v in part.items()}

    def most(self, node):
        """Edges of the largest tree."""
        return max(len(tree) for tree in self.trees(node))

    def states(self):
        """Pairs of a state, the sorted (node, edge, cut), and its fragments."""
        for tree in self.trees(self.root):
            free = [node for node in tree if node != self.root and self.most(node) <= self.max_cut]
            for cuts in itertools.product((0, 1), repeat=len(free)):
                cut = dict.fromkeys(tree, 1) | dict(zip(free, cuts, strict=True))
                key = tuple(sorted((node, edge, cut[node]) for node, edge in tree.items()))
                yield key, [self.fragment(node, tree, cut) for node in tree if cut[node]]

    def fragment(self, head, tree, cut):
        """Nested (category, source, target, parts); a part is None where the fragment ends."""
        edge = self.edges[head][tree[head]]
        parts = [None if cut[tail] else self.fragment(tail, tree, cut) for tail in edge["tails"]]
        return self.nodes[head][0], edge["source"], edge["targets"][0][0], tuple(parts)

    def state_of(self, edge, cut):
        found, todo = [], [self.root]
        while todo:
            node = todo.pop()
            found.append((node, int(edge[node]), int(cut[node])))
            todo += self.edges[node][edge[node]]["tails"]
        return tuple(sorted(found))


def productions_of(fragment):
    yield fragment[:3]
    for part in fragment[3]:
        if part:
            yield from productions_of(part)


def log_probability(fragments, process, base):
    """Of all fragments together: a Dirichlet process for each category, and with py for each number of edges."""
    total, restaurants = 0.0, {}
    for fragment in fragments:
        length = len(list(productions_of(fragment)))
        restaurants.setdefault((fragment[0], length if process == "py" else 0), []).append(fragment)
        if process == "py":
            total += length * math.log(MEAN_LENGTH) - MEAN_LENGTH - math.lgamma(length + 1)
    for tokens in restaurants.values():
        total += math.lgamma(ALPHA) - math.lgamma(ALPHA + len(tokens))
        for fragment, n in Counter(tokens).items():
            start = ALPHA * math.exp(base(fragment))
            total += math.lgamma(start + n) - math.lgamma(start)
    return total


def tails_of(fragment):
    return len(fragment[3]) + sum(tails_of(part) for part in fragment[3] if part)


def bases(lines):
    """Logs of base probabilities by name; those of productions are relative to the trees, each as likely."""
    names = sorted(
        {(line["nodes"][e["node"]][0], e["source"], e["targets"][0][0]) for line in lines for e in line["edges"]}
    )

    def uniform(fragment):
        return -len(list(productions_of(fragment))) * math.log(len(names))

    return names, uniform


@pytest.mark.parametrize("moves", ["local", "tree"])
@pytest.mark.parametrize(
    ("process", "base", "max_cut"),
    [("dp", "uniform", 100), ("dp", "pcfg", 100), ("py", "uniform", 100), ("dp", "uniform", 2)],
)
def test_samples_have_the_exact_distribution(path, process, base, max_cut, moves):
    lines = [ATTACHED, ONE_TREE]
    given = read_productions(written(path, lines), 100)
    names, log_base = bases(lines)
    if base == "pcfg":
        weights = dict(
            zip(map(name_of, given.productions), production_weights(given.categories, given.forests), strict=True)
        )

        def log_base(fragment):
            return sum(weights[p] for p in productions_of(fragment)) - tails_of(fragment) * math.log(2)

    assert sorted(map(name_of, given.productions)) == names
    trees = [Trees(line, max_cut) for line in lines]
    options = SamplerOptions(process, ALPHA, 0.0, mean_length=MEAN_LENGTH, base=base, moves=moves)
    sampler = TreeSampler(given.kernel(max_cut, base == "pcfg"), options)
    exact = exact_of(trees, process, log_base)
    distance, noise = distance_of(exact, sampled(trees, sampler, 30_000, every=3))
    assert distance < (1.5 if moves == "tree" else 1.2) * noise


def name_of(production):
    """Category and sides as in the file."""
    tails = production.tails
    source = [f"[{tails[s]},{s + 1}]" if isinstance(s, int) else s for s in production.source]
    target = [f"[{s + 1}]" if isinstance(s, int) else s for s in production.target]
    return production.category, " ".join(source), " ".join(target)


def exact_of(trees, process, log_base):
    logs = {}
    for states in itertools.product(*(list(tree.states()) for tree in trees)):
        fragments = [fragment for _, found in states for fragment in found]
        logs[tuple(key for key, _ in states)] = log_probability(fragments, process, log_base)
    total = np.logaddexp.reduce(list(logs.values()))
    return {state: math.exp(value - total) for state, value in logs.items()}


def sampled(trees, sampler, sweeps, every=1, temperature=1.0):
    found, (edge, cut) = Counter(), live_trees(sampler)
    bounds = np.cumsum([0, *(len(tree.nodes) for tree in trees)])
    for number in range(1, sweeps + 1):
        sampler.sweep(number, temperature=temperature)
        if number > 20 and number % every == 0:
            parts = zip(trees, bounds, bounds[1:], strict=False)
            found[tuple(tree.state_of(edge[a:b], cut[a:b]) for tree, a, b in parts)] += 1
    return found


def distance_of(exact, found):
    """Total variation, and its expectation for as many independent draws."""
    n = sum(found.values())
    assert found.keys() <= exact.keys()
    distance = sum(abs(found[state] / n - p) for state, p in exact.items()) / 2
    return distance, sum(math.sqrt(2 * p * (1 - p) / (math.pi * n)) for p in exact.values()) / 2


@pytest.mark.parametrize(("density", "balanced"), [(True, 1 / 5), (False, 1 / 3)])
def test_five_trees_of_a_file_are_equally_likely_only_with_the_density_factor(tmp_path, density, balanced):
    """Figure 1 of the paper, at a temperature at which fragments do not count."""
    given = read_productions(written(tmp_path / "f", [SEQUENCE]), 100)
    trees = [Trees(SEQUENCE)]
    sampler = TreeSampler(given.kernel(100, pcfg=False), SamplerOptions(density=density))
    shapes = Counter()
    for (key,), n in sampled(trees, sampler, 6_000, temperature=1e9).items():
        shapes[tuple((node, edge) for node, edge, _ in key)] += n
    n, expected = sum(shapes.values()), sorted([balanced, *[(1 - balanced) / 4] * 4])
    assert len(shapes) == 5
    for count, p in zip(sorted(shapes.values()), expected, strict=True):
        assert abs(count - n * p) < 4 * math.sqrt(n * p * (1 - p))


def test_probabilities_of_productions_are_those_of_all_trees(path):
    given = read_productions(path, 100)
    names = list(map(name_of, given.productions))
    weights = {name: -math.log(sum(other[0] == name[0] for other in names)) for name in names}
    for rounds in (1, 2):
        counts = Counter(dict.fromkeys(names, 1.0))
        for line in (ATTACHED, ONE_TREE):
            trees = Trees(line)
            derived = [
                list(productions_of(trees.fragment(trees.root, t, dict.fromkeys(t, 0))))
                for t in trees.trees(trees.root)
            ]
            chances = np.array([math.exp(sum(weights[p] for p in tree)) for tree in derived])
            for tree, chance in zip(derived, chances / chances.sum(), strict=True):
                for production in tree:
                    counts[production] += chance
        weights = {n: math.log(counts[n] / sum(c for o, c in counts.items() if o[0] == n[0])) for n in names}
        made = production_weights(given.categories, given.forests, rounds)
        assert made == pytest.approx([weights[name] for name in names], abs=1e-12)
    only = given.forests[1]
    assert edge_marginals(only, np.log(np.arange(1.0, 5) / 9)) == pytest.approx(np.ones(4))


def test_fragments_as_trees_and_as_rules(path):
    given = read_productions(path, 100)
    number = {name_of(p): k for k, p in enumerate(given.productions)}
    fragment = (
        number["S", "[N,1] [P,2] [V,3]", "[1] [3] [2]"],
        -1,
        number["P", "with [N,1]", "mit [1]"],
        -1,
        number["V", "sees", "sieht"],
    )
    assert bracketed(given.productions, fragment) == "(S [N,1] (P with [N,2]) (V sees))"
    assert composed(given.productions, fragment) == ("S", "[N,1] with [N,2] sees", "[1] sieht mit [2]")


def test_a_fragment_may_be_deeper_than_the_stack():
    unary, above = Production("N", (0,), ("[", 0), ("N",)), Production("S", (0, "(", 1), (1, 0), ("N", "V"))
    productions = [above, unary, Production("N", ("a",), ("b",), ())]
    fragment = (0, *[1] * 2000, 2, -1)
    assert bracketed(productions, fragment) == f"(S {'(N ' * 2000}(N a){')' * 2000} -LRB- [V,1])"
    assert composed(productions, fragment) == ("S", "a ( [V,1]", f"[1] {'[ ' * 2000}b")
    assert bracketed(productions, (*fragment[:-2], -1, -1)) == f"(S {'(N ' * 2000}[N,1]{')' * 2000} -LRB- [V,2])"


def test_a_restored_chain_goes_on_with_the_same_draws(path):
    given = read_productions(path, 100)
    for options in (SamplerOptions(), SamplerOptions(base="pcfg", tables="exact", informed=True)):
        forests = given.kernel(100, options.base == "pcfg")
        one, other = TreeSampler(forests, options), TreeSampler(forests, options)
        for sweep in range(1, 6):
            one.sweep(sweep)
            one.adapt()
        one.keep()
        other.restore(one.checkpoint())
        for sampler in (one, other):
            sampler.sweep(6)
        ours, theirs = one.checkpoint(), other.checkpoint()
        assert all((ours[name] == theirs[name]).all() for name in ours if name != "rule")  # not set outside of trees
        damaged = one.checkpoint()
        damaged["rules.symbols"] = damaged["rules.symbols"].copy()
        damaged["rules.symbols"][0] = 99
        with pytest.raises(ValueError, match="another chain"):
            TreeSampler(forests, options).restore(damaged)


def ints(*values):
    return np.array(values, np.int32)


GOOD = GivenForest(ints([0, 1], [1, 2], [0, 2]), ints(0, 1, 2, 3), ints(0, 0, 1), ints(0, 0, 0, 2), ints(0, 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"span": ints([0, 0], [1, 2], [0, 2])}, "node 0 has an empty span"),
        ({"span": ints([0, 2], [1, 2], [0, 2])}, "node 2 has tails that do not lie side by side"),
        ({"span": ints([0, 1], [1, 3], [0, 2])}, "node 2 has tails that do not lie side by side"),
        ({"tails": ints(0, 2)}, "node 2 has tails"),
        ({"label": ints(0, 0, 2)}, "node 2 has an edge with an unknown label"),
        ({"first_edge": ints(0, 2, 2, 3)}, "node 1 has no edge"),
        ({"first_edge": ints(0, 1, 1, 3)}, "node 1 has no edge"),
        ({"first_edge": ints(0, 2**30, 2, 3)}, "edges or tails are not in order"),
        ({"first_tail": ints(0, 2**30, 0, 2)}, "edges or tails are not in order"),
    ],
)
def test_the_kernel_refuses_other_arrays(change, message):
    forests = PhraseForests()
    with pytest.raises(LineError, match="without labels"):
        forests.give(GOOD)
    forests.label(ints(0, 1), np.log([1.0, 1.0]))
    forests.give(GOOD)
    with pytest.raises(LineError, match=message):
        forests.give(replace(GOOD, **change))
    with pytest.raises(LineError, match="not those of text"):
        forests.add("a", "b", "0-0")
    with pytest.raises(LineError, match="labels precede"):
        forests.label(ints(0), np.zeros(1))
    assert forests.sizes().pairs == 1 and forests.sizes().max_level == 3
    with pytest.raises(ValueError, match="moves blocked needs text"):
        TreeSampler(forests, SamplerOptions(moves="blocked"))


def labelled(n=80):
    """Derivations with forests of random pairs, whose nodes have categories."""
    plain = corpus(n, forests=True)
    longer = plain.span[:, 1] - plain.span[:, 0] > 1
    of_forests = plain.forests.span[:, 1] - plain.forests.span[:, 0] > 1
    return plain.with_categories(("W", "P"), longer.astype(np.int32), of_forests.astype(np.int32))


def lines_of(derivations):
    """The forests of derivations as lines, nodes from the last to the root."""
    found, rules = derivations.forests, derivations.forests.rules
    for number, (first, end) in enumerate(itertools.pairwise(found.first.tolist())):
        nodes, edges = [], []
        for node in range(end - 1, first - 1, -1):
            begin, last = found.span[node, :2].tolist()
            category = rules.categories[rules.category[found.rule[found.edge[node]]]]
            nodes.append([category, begin, last])
            for edge in range(found.edge[node], found.edge[node + 1]):
                rule = found.rule[edge]
                tails = found.tail[found.first_tail[edge] : found.first_tail[edge + 1]]
                below = [end - 1 - tail for tail in tails.tolist()]
                edges.append((end - 1 - node, below, rules.src_text(rule), rules.tgt_text(rule)))
        yield forest(number, nodes, edges)


@pytest.mark.parametrize("settings", [(), ("base=pcfg",), ("max_words=4",)])
def test_derivations_are_forests_too(tmp_path, settings):
    """Writes the same bytes for the same forests as lines and as derivations."""
    derivations = labelled()
    derivations.save(tmp_path / "derivations")
    written(tmp_path / "lines", lines_of(derivations))
    assert len({edge["source"] for line in lines_of(derivations) for edge in line["edges"]}) > 10
    outputs = []
    for name in ("derivations", "lines"):
        grammar, trees = tmp_path / f"{name}.g", tmp_path / f"{name}.t"
        options = [word for setting in ("sweeps=12", *settings) for word in ("--set", setting)]
        given = ["grammar", "sampled", str(tmp_path / name), "-o", str(grammar), "--write", f"fragments={trees}"]
        assert main([*given, *options]) == 0
        outputs.append((grammar.read_bytes(), trees.read_bytes()))
    assert outputs[0] == outputs[1]
    assert b"[P] ||| [W,1] [W,2] ||| " in outputs[0][0]


def test_derivations_without_forests_are_refused(tmp_path, capsys):
    derive(["a b"], ["c d"], ["0-0 1-1"]).save(tmp_path / "d")
    assert main(["grammar", "sampled", str(tmp_path / "d"), "-o", str(tmp_path / "g")]) == 1
    assert f"{tmp_path / 'd'}: the derivations contain no forests; create them with" in capsys.readouterr().err
    derive(["a b"], ["c d"], ["0-0 1-1"], forests=True).save(tmp_path / "f")
    assert main(["grammar", "sampled", str(tmp_path / "f"), "-o", str(tmp_path / "g"), "--set", "max_words=1"]) == 1
    assert f"{tmp_path / 'f'}: no forest is left" in capsys.readouterr().err


def test_the_command_writes_rules_and_trees_and_threads_change_nothing(path, tmp_path):
    outputs = []
    for jobs in ("1", "2"):
        files = [str(tmp_path / f"{name}{jobs}") for name in ("grammar", "fragments", "trace")]
        words = ["grammar", "sampled", str(path), "-o", files[0], "--jobs", jobs, "--chains", "2", "--set", "shards=2"]
        assert main([*words, "--write", f"fragments={files[1]}", "--write", f"trace={files[2]}"]) == 0
        outputs.append([Path(name).read_text() for name in files[:2]])
    assert outputs[0] == outputs[1]
    trees = [line.split(" ||| ") for line in outputs[0][1].splitlines()]
    rules = Counter()
    for count, category, _, source, target in trees:
        rules[category, source, target] += float(count)
    grammar = [line.split(" ||| ") for line in outputs[0][0].splitlines()]
    assert {tuple(rule[:3]) for rule in grammar} == set(rules)
    for *rule, features in grammar:
        values = dict(pair.split("=") for pair in features.split())
        count = 10 ** float(values["CountEF"]) - 1
        assert count == pytest.approx(rules[tuple(rule)], rel=1e-4)
        same = sum(n for other, n in rules.items() if other[:2] == tuple(rule[:2]))
        assert 10 ** -float(values["EgivenF"]) == pytest.approx(count / same, rel=1e-4)
    roots = sum(float(tree[0]) for tree in trees if tree[1] == "[S]")
    assert roots == pytest.approx(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f["edges"][2].update(source="with [V,1]"), ":2: [V,1] of with [V,1] over a node N"),
        (lambda f: f["edges"][2].update(source="with"), ":2: the source side with does not fit its 1 tail"),
        (lambda f: f["edges"][2].update(targets=[["mit [2]"]]), ":2: [2] of the target side mit [2] is not on"),
        (lambda f: f["edges"][2].update(targets=[["mit"]]), ":2: the target side mit does not fit"),
        (lambda f: f["edges"][2].update(tails=[4]), ":2: not a forest (node 2 with tails [4]; tails precede"),
        (lambda f: f["nodes"].__setitem__(1, ["N", 2, 4]), ":2: tails of the spans"),
        (lambda f: f["edges"].pop(4), ":2: the root has no derivation"),
        (lambda f: f["edges"][0].update(source="|||"), ":2: "),
        (lambda f: f["nodes"].__setitem__(4, ["V]", 3, 4]), ":2: V] cannot be a category"),
        (lambda f: f.update(cut={"top": 3}), ":2: lscfg inspect marginals kept only"),
        (lambda f: f.pop("nodes"), ":2: not a forest (it lacks 'nodes')"),
    ],
)
def test_bad_forests(path, capsys, change, message, tmp_path):
    line = json.loads(json.dumps(ATTACHED))
    change(line)
    written(path, [ONE_TREE, line])
    assert main(["grammar", "sampled", str(path), "-o", str(tmp_path / "g")]) == 1
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error and not (tmp_path / "g").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "moves=type"], "moves type needs text"),
        (["--set", "states=2"], "states 2 needs text"),
        (["--set", "base=lexical"], "base lexical needs text"),
        (["--set", "alignments=chosen"], "alignments chosen needs text"),
        (["--sizes"], "--sizes needs source, target and alignments"),
        (["--max-targets", "3"], "--max-targets needs source"),
        (["--write", "derivations=x"], "one of fragments, trace"),
        (["--set", "max_words=1"], "no forest is left"),
    ],
)
def test_options_that_need_text(path, capsys, options, message, tmp_path):
    assert main(["grammar", "sampled", str(path), "-o", str(tmp_path / "g"), *options]) in (1, 2)
    assert message in capsys.readouterr().err


def test_productions_need_forests():
    assert SamplerOptions(base="pcfg").fault(given=False) == "base pcfg needs given forests"
    with pytest.raises(ValueError, match="pcfg needs given"):
        TreeSampler(PhraseForests(), SamplerOptions(base="pcfg"))
