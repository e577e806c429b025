"""Chains that begin with the trees of a file."""

from collections import Counter

import numpy as np
import pytest
from sampling import SMALL, CorpusTrees, PairTrees, cut_nodes, forests_of, options_of, write_corpus

from lscfg.cli import main
from lscfg.extract.derive import Derivations
from lscfg.kernel.sample import SamplerOptions, TreeSampler


@pytest.fixture
def run(tmp_path):
    """The command on a small corpus, whose files are changed by name: its status, and the derivations it writes."""
    files = write_corpus(tmp_path, SMALL)

    def sample(*options, out="out"):
        words = ["-o", str(tmp_path / "grammar"), "--write", f"derivations={tmp_path / out}", *map(str, options)]
        status = main(["grammar", "sampled", *files, *words])
        return status, Derivations.load(tmp_path / out) if status == 0 else None

    return sample


def heads_of(trees, key):
    """Spans of the rules of a state, in preorder."""
    heads = [(*trees.spans[node][0], *trees.spans[node][1]) for node in cut_nodes(key)]
    return sorted(heads, key=lambda span: (span[0], -span[1]))


@pytest.mark.parametrize("links", ["0-0 1-1 2-2 3-3", ("0-0 1-1 2-2", "0-0 1-1 2-2 3-3"), "1-0 2-1 2-2"])
def test_every_state_may_be_the_first(links):
    """All have the same rules as the tree that was given, and each derivation of these comes up as often."""
    pair = ("a b c d", "p q r s", links)
    for max_cut in (7, 2):
        trees, forests, found = PairTrees(pair, max_cut), forests_of([pair], max_cut), {}
        for key in trees.states:
            heads = heads_of(trees, key)
            seen = found.setdefault(tuple(heads), Counter())
            for seed in range(8):
                sampler = TreeSampler(forests, SamplerOptions(seed=seed))
                assert sampler.begin(np.array([0, len(heads)]), np.array(heads)) is None
                arrays = sampler.trees()
                begun = trees.read(arrays["edge"], arrays["cut"])
                assert heads_of(trees, begun) == heads
                assert sampler.state().tokens == len(heads)
                seen[begun] += 1
        ways = max(trees.cut_sets.values())
        counts = max(found.values(), key=lambda counts: counts.total())
        n = counts.total()
        if isinstance(links, str):  # of several alignments, the first one that has the rules is taken
            assert len(counts) == ways and all(abs(k - n / ways) < 5 * (n / ways) ** 0.5 for k in counts.values())


def test_a_chain_that_begins_there_has_the_exact_distribution():
    pairs = [("a b c d", "p q r s", "0-0 1-1 2-2 3-3")]
    corpus, sampler = CorpusTrees(pairs, "py"), TreeSampler(forests_of(pairs), options_of(tables="exact"))
    assert sampler.begin(np.array([0, 1]), np.array([[0, 4, 0, 4]])) is None
    assert sampler.state().tokens == sampler.state().types == 1
    found = Counter()
    for number in range(1, 6_000):
        sampler.sweep(number)
        found[corpus.state_of(sampler)] += 1
    distance, noise = corpus.distance(found)
    assert distance < 1.3 * noise


@pytest.mark.parametrize(
    "heads",
    [
        [],
        [[0, 4, 0, 3]],
        [[0, 3, 0, 3]],
        [[0, 4, 0, 4], [0, 4, 0, 4]],
        [[0, 4, 0, 4], [0, 2, 0, 2], [1, 3, 1, 3]],
        [[0, 4, 0, 4], [0, 2, 0, 1]],
    ],
)
def test_what_is_no_tree_of_the_forest_is_seen(heads):
    sampler = TreeSampler(forests_of([("a b c d", "p q r s", "0-0 1-1 2-2 3-3")]))
    assert sampler.begin(np.array([0, len(heads)]), np.array(heads).reshape(-1, 4)) == 0


def same_trees(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("trees", "span"))


def test_trees_of_the_last_sample_come_back(run, tmp_path):
    """A chain without a sweep keeps what it begins with; the second one begins with the sample before the last."""
    made = run("--sweeps", 30, "--set", "level_sweeps=0")[1]
    trees, n = made.trees, len(SMALL[0])
    back = run("--sweeps", 0, "--start-from", tmp_path / "out", "--chains", 2, out="back")[1]
    for chain in (0, 1):
        ours, theirs = trees[(3 - chain) * n : (4 - chain) * n + 1], back.trees[chain * n : (chain + 1) * n + 1]
        assert np.array_equal(ours - ours[0], theirs - theirs[0])
        assert np.array_equal(made.span[ours[0] : ours[-1]], back.span[theirs[0] : theirs[-1]])


def test_minimal_trees_may_be_the_first(run, tmp_path):
    files = [str(tmp_path / name) for name in "fea"]
    assert main(["derive", *files, "-o", str(tmp_path / "minimal")]) == 0
    begun = run("--sweeps", 0, "--start-from", tmp_path / "minimal")[1]
    assert same_trees(begun, Derivations.load(tmp_path / "minimal"))
    assert same_trees(begun, run("--sweeps", 0, "--set", "start=minimal")[1])


def test_a_chain_that_was_stopped_begins_no_second_time(run, tmp_path):
    assert run("--sweeps", 10)[0] == 0
    init = ["--start-from", tmp_path / "out", "--set", "level_sweeps=0"]
    whole = run("--sweeps", 20, *init, out="whole")[1]
    assert run("--sweeps", 10, *init, "--checkpoint", tmp_path / "chains", out="part")[0] == 0
    again = run("--sweeps", 20, *init, "--checkpoint", tmp_path / "chains", "--resume", out="part")[1]
    assert same_trees(whole, again)
    assert run("--sweeps", 20, *init[2:], "--checkpoint", tmp_path / "chains", "--resume", out="part")[0] == 1


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"f": SMALL[0][:5], "e": SMALL[1][:5], "a": SMALL[2][:5]}, [], "6 trees for 5 pairs to sample"),
        ({"f": ["a b c c", *SMALL[0][1:]]}, [], "the tree of sentence pair 1 differs from the words of"),
        ({"e": [*SMALL[1][:5], "s r"]}, [], "the tree of sentence pair 6 differs from the words of"),
        (
            {"a": [*SMALL[2][:4], "0-0 1-1 2-3 3-2", SMALL[2][5]]},
            [],
            "the tree of sentence pair 5 is not in its forest",
        ),
        ({}, ["--set", "max_words=3"], "the tree of sentence pair 1 is not in its forest"),
        ({}, ["--start-from", "f"], "f: "),
    ],
)
def test_trees_of_other_pairs_are_refused(run, tmp_path, capsys, change, options, message):
    assert run("--sweeps", 0)[0] == 0
    for name, lines in change.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    init = [str(tmp_path / word) if word == "f" else word for word in options]
    assert run("--start-from", tmp_path / "out", *init, out="other")[0] == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert message in error and not (tmp_path / "other").exists()
