"""Hidden states of sampled rules: their exact distribution, and the models that come of their counts."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from sampling import CorpusTrees, PairTrees, forests_of, length_of, options_of, poisson, table_numbers, write_corpus

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.estimate import em
from lscfg.extract.derive import Derivations
from lscfg.induce.sampled.chain import ChainSettings
from lscfg.induce.sampled.convergence import history
from lscfg.kernel.sample import SamplerOptions, TreeSampler
from lscfg.model.parameters import Parameters
from lscfg.settings import SettingError

PAIRS = [("a b c", "p q r", "0-0 1-2 2-1"), ("a", "p", "0-0")]
COPIES = [("a b", "p q", "0-0 1-1")] * 2


def log_joint(rules, group, length, base, alpha, discount):
    """Of all rules together, summed over all seatings; group, log of length and log of base of a rule are given."""
    counts, total = Counter(rules), 0.0
    of_group = defaultdict(list)
    for rule, n in counts.items():
        of_group[group(rule)].append((n, base(rule)))
        total += n * length(rule)
    for members in of_group.values():
        ways = np.ones(1)
        for n, log in members:
            ways = np.convolve(ways, [w * math.exp(t * log) for t, w in enumerate(table_numbers(n, discount))])
        n = sum(n for n, _ in members)
        rising = np.cumprod([1.0, *(alpha + k * discount for k in range(len(ways) - 1))])
        total += math.log(ways @ rising) - math.lgamma(alpha + n) + math.lgamma(alpha)
    return total


class CorpusStates(CorpusTrees):
    """All trees, cuts and states of cut nodes, of a model with a restaurant for each state of a head and length.

    Args:
        share: one restaurant for all heads; arity: whether the base is divided by the states of all nonterminals. Both
            are faults to be seen.
    """

    def __init__(self, pairs, model, m, max_cut=7, discount=0.0, alpha=5.0, corrected=False, share=False, arity=True):
        self.pairs = [PairTrees(pair, max_cut) for pair in pairs]
        types = [len({word for pair in pairs for word in pair[side].split()}) for side in (0, 1)]

        def group(rule):
            return (0 if share else rule[1][0], length_of(rule[0]) if model == "py" else 0)

        def length(rule):
            return poisson(length_of(rule[0])) if model == "py" else 0.0

        def base(rule):
            sides, states = rule
            log = length(rule) if model == "py" else -sum(len(sides[k]) * math.log(types[k]) for k in (0, 1))
            return log - arity * (len(states) - 1) * math.log(m)

        self.logs = {}
        for keys in itertools.product(*(self.with_states(pair, m) for pair in self.pairs)):
            rules = [rule for pair, key in zip(self.pairs, keys, strict=True) for rule in self.rules(pair, *key)]
            self.logs[keys] = log_joint(rules, group, length, base, alpha, discount)
            if corrected:
                ways = [pair.derivations(key) for pair, (key, _) in zip(self.pairs, keys, strict=True)]
                self.logs[keys] -= math.log(math.prod(ways))
        total = np.logaddexp.reduce(list(self.logs.values()))
        self.exact = {state: math.exp(value - total) for state, value in self.logs.items()}

    @staticmethod
    def with_states(pair, m):
        for key in pair.states:
            cut = [node for node, _, is_cut in key if is_cut]
            for states in itertools.product(range(m), repeat=len(cut)):
                yield key, tuple(zip(cut, states, strict=True))

    @staticmethod
    def rules(pair, key, states):
        tree, cut, state = {n: e for n, e, _ in key}, {n: c for n, _, c in key}, dict(states)
        return [
            (pair.rule(head, tree, cut), (state[head], *(state[child] for child in pair.frontier(head, tree, cut))))
            for head in state
        ]

    def state_of(self, sampler):
        node_state, at, found = sampler.trees()["node_state"], 0, []
        for pair, key in zip(self.pairs, super().state_of(sampler), strict=True):
            found.append((key, tuple((node, int(node_state[at + node])) for node, _, cut in key if cut)))
            at += len(pair.edges)
        return tuple(found)

    def sampled(self, pairs, sweeps, max_cut=7, every=1, **options):
        sampler, found = TreeSampler(forests_of(pairs, max_cut), options_of(**options)), Counter()
        for number in range(1, sweeps + 1):
            sampler.sweep(number)
            if number > 20 and number % every == 0:
                found[self.state_of(sampler)] += 1
        return self.distance(found)


@pytest.mark.parametrize(
    ("pairs", "m", "max_cut", "options"),
    [
        (PAIRS, 2, 7, {}),
        (PAIRS, 2, 1, {"model": "dp", "corrected": True}),
        (PAIRS[:1], 3, 0, {}),
        (PAIRS[:1], 2, 7, {"moves": "tree", "every": 20}),
        (PAIRS[:1], 2, 7, {"informed": True}),
        (COPIES, 2, 7, {"tables": "exact", "alpha": 0.1, "discount": 0.8, "every": 3}),
        ([("a b c", "p q r", ("0-0 1-1 2-2", "0-0 1-1 1-2"))], 2, 7, {}),
    ],
)
def test_states_have_the_exact_distribution(pairs, m, max_cut, options):
    every, model = options.pop("every", 1), options.get("model", "py")
    facts = {name: options[name] for name in ("alpha", "discount", "corrected") if name in options}
    corpus = CorpusStates(pairs, model, m, max_cut, **facts)
    sweeps = 8_000 if "tables" in options else 10_000
    distance, noise = corpus.sampled(pairs, sweeps * (every if every > 3 else 1), max_cut, every, states=m, **options)
    assert distance < 1.4 * noise


@pytest.mark.parametrize(
    ("fault", "options"), [({"share": True}, {}), ({"arity": False}, {}), ({}, {"density": False})]
)
def test_faults_are_seen(fault, options):
    """Heads that share restaurants, a base of all states together, trees without the density factor."""
    pairs = [("a b c d", "p q r s", "0-0 1-1 2-2 3-3")]
    corpus = CorpusStates(pairs, "py", 2, 0, alpha=0.5, **fault)
    distance, noise = corpus.sampled(pairs, 8_000, 0, states=2, alpha=0.5, **options)
    assert distance > 2 * noise


def test_one_state_is_none():
    """Bit for bit, whatever is drawn."""
    pairs = [*PAIRS, ("a b c d", "p q r s", "0-0 1-1 2-2 3-3")]
    for options in ({}, {"tables": "exact"}, {"moves": "tree"}, {"model": "dp", "informed": True}):
        samplers = [TreeSampler(forests_of(pairs), SamplerOptions(**options, **more)) for more in ({}, {"states": 1})]
        for number in range(1, 20):
            for sampler in samplers:
                sampler.sweep(number)
        one, other = (sampler.checkpoint() for sampler in samplers)
        assert all(one[name].tobytes() == other[name].tobytes() for name in one)
        assert not one["node_state"].any()


def test_states_do_not_matter_where_all_rules_are_new():
    """Of one rule a pair, each of another length, all states are as likely as one another."""
    pairs = [("a", "p", "0-0"), ("a b", "p", "0-0 1-0")]
    sampler, found = TreeSampler(forests_of(pairs), options_of(states=3)), Counter()
    for number in range(6_000):
        sampler.sweep(number + 1)
        found[tuple(sampler.trees()["node_state"].tolist())] += 1
    assert len(found) == 9 and all(abs(n - 6_000 / 9) < 5 * (6_000 / 9) ** 0.5 for n in found.values())


def test_chains_of_other_states_draw_from_another_distribution():
    one, two = (history([], ChainSettings(states=m))["distribution"] for m in (1, 2))
    assert one != two


SOURCE = ["a b c d", "a b c", "c a", "b d a", "a", "d c b a"] * 3
TARGET = ["p q r s", "p r q", "p r", "q s p", "p", "s r q p"] * 3
LINKS = ["0-0 1-1 2-2 3-3", "0-0 1-2 2-1", "0-1 1-0", "0-0 1-1 2-2", "0-0", "0-0 1-1 2-2 3-3"] * 3


@pytest.fixture
def sample(tmp_path):
    """The command on a small corpus: its status, and the derivations and the grammar that it writes."""
    files = write_corpus(tmp_path, (SOURCE, TARGET, LINKS))

    def run(*options, out="out"):
        words = [
            *files,
            "-o",
            str(tmp_path / "grammar"),
            "--write",
            f"derivations={tmp_path / out}",
            "--set",
            "level_sweeps=0",
        ]
        status = main(["grammar", "sampled", *words, *map(str, options)])
        return status, (tmp_path / out).read_bytes() + (tmp_path / "grammar").read_bytes() if not status else None

    return run


@pytest.mark.parametrize(
    "options",
    [
        "--set tables=exact --set resample=true --set multiplicity=corrected",
        "--set shards=5 --set offtree=informed",
        "--set moves=tree",
    ],
)
def test_a_chain_with_states_has_the_same_bytes_again(sample, tmp_path, options):
    """With any number of threads, and from a checkpoint."""
    words = [*options.split(), "--set", "states=3", "--set", "burn_in=4"]
    one = sample(*words, "--sweeps", 9, "--jobs", 1)
    folder = ["--checkpoint", tmp_path / "chains"]
    assert one == sample(*words, "--sweeps", 9, "--jobs", 2) and one[0] == 0
    assert sample(*words, "--sweeps", 2, *folder)[0] == 0
    assert one == sample(*words, "--sweeps", 9, *folder, "--resume")


def test_counts_are_those_of_the_states(sample, tmp_path):
    """Tensors without smoothing are mean counts of rules with states, by those of the heads."""
    assert sample("--set", "states=3", "--sweeps", 40, "--set", "max_cut=0")[0] == 0
    made, m = Derivations.load(tmp_path / "out"), 3
    assert set(made.state) == {0, 1, 2} and (np.diff(made.trees)[: len(SOURCE)] == [7, 5, 3, 5, 1, 7] * 3).all()
    counts = defaultdict(lambda: np.zeros((m, m, m)))
    children = defaultdict(lambda: [0, 0])
    for node, (parent, slot) in enumerate(zip(made.parent.tolist(), made.slot.tolist(), strict=True)):
        if parent >= 0:
            children[parent][slot] = made.state[node]
    weight, heads = 1 / 5, np.zeros(m)
    for node, rule in enumerate(made.rule.tolist()):
        counts[made.rules.text(rule)][made.state[node], *children[node]] += weight
        heads[made.state[node]] += weight
    settings = em.EMSettings(m, 0, init="samples", shrink_source=1e-12, shrink_arity=1e-12)
    model = em.ExpectationMaximisation().estimate(made, settings).parameters()
    assert model.rank == m and len(model.rules) == len(counts)
    for rule in range(len(model.rules)):
        arity = int(model.rules.arity[rule])
        expected = counts[model.rules.text(rule)]
        expected = expected[(slice(None), *[slice(None)] * arity, *[0] * (2 - arity))]
        got = model.tensor(rule)
        assert got == pytest.approx(expected / heads.reshape(-1, *[1] * arity), rel=1e-6, abs=1e-9)
    assert model.root == pytest.approx(np.bincount(made.state[made.trees[:-1]], minlength=m) / len(made), abs=0.02)


def test_a_model_comes_of_them(sample, tmp_path):
    assert sample("--set", "states=2", "--sweeps", 20)[0] == 0
    files = ["estimate", "em", str(tmp_path / "out"), "-o", str(tmp_path / "model"), "--quiet", "--set", "init=samples"]
    for more in (["--iterations", "0"], ["--iterations", "2"], ["--iterations", "2", "--set", "held_out=0.2"]):
        assert main([*files, "-m", "2", *more]) == 0
        model = Parameters.load(tmp_path / "model")
        assert model.rank == 2 and model.about["settings"]["init"] == "samples"


def test_what_has_no_states_is_refused(sample, tmp_path, capsys):
    assert sample("--sweeps", 3)[0] == 0
    with pytest.raises(InputError, match="no hidden states"):
        em.ExpectationMaximisation().estimate(Derivations.load(tmp_path / "out"), em.EMSettings(2, init="samples"))
    assert sample("--sweeps", 3, "--set", "states=4")[0] == 0
    with pytest.raises(InputError, match="have 4 hidden states; use -m 4"):
        em.ExpectationMaximisation().estimate(Derivations.load(tmp_path / "out"), em.EMSettings(2, init="samples"))
    texts = [str(tmp_path / name) for name in "fea"]
    assert sample("--set", "states=2", "--held-out", *texts)[0] == 1
    assert "needs states = 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"states": 0}, "states"),
        ({"states": 256}, "states"),
        ({"states": 2, "moves": "blocked"}, "states"),
        ({"states": 2, "moves": "type"}, "states"),
        ({"states": 2, "chains": 2}, "chains"),
    ],
)
def test_settings_out_of_range(values, name):
    with pytest.raises(SettingError) as error:
        ChainSettings(**values)
    assert error.value.name == name
    if name == "states":
        with pytest.raises(ValueError, match="states of the sampler"):
            SamplerOptions(**values)
