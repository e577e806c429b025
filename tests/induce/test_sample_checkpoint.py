"""A chain that stopped goes on with the same bytes, and no file that is damaged or another one's is taken."""

import numpy as np
import pytest
from sampling import SMALL, PairTrees, forests_of, write_corpus

from lscfg.cli import main
from lscfg.induce.sampled import checkpoint
from lscfg.io import tensors
from lscfg.kernel.sample import CHECKPOINT, SamplerOptions, TreeSampler


@pytest.fixture
def sample(tmp_path):
    """The command on a small corpus: its status, and the grammar that it writes if it does."""
    files = write_corpus(tmp_path, SMALL)

    def run(*options, out="out"):
        words = ["--chains", "2", "--set", "keep_every=5", "--set", "multiplicity=corrected", "--jobs", "1"]
        words += ["--set", "tables=exact", "--set", "offtree=informed", "--set", "resample=true"]
        status = main(["grammar", "sampled", *files, "-o", str(tmp_path / out), *words, *map(str, options)])
        return status, (tmp_path / out).read_bytes() if status == 0 else None

    return run


@pytest.mark.parametrize(("first", "moves"), [(0, "local"), (1, "blocked"), (7, "local"), (9, "type"), (20, "local")])
def test_more_sweeps_are_those_of_one_run(sample, tmp_path, first, moves):
    folder = tmp_path / "chains"
    whole = sample("--sweeps", 20, "--set", f"moves={moves}")
    assert sample("--sweeps", first, "--set", f"moves={moves}", "--checkpoint", folder)[0] == 0
    again = ["--sweeps", 20, "--set", f"moves={moves}", "--checkpoint", folder, "--resume"]
    assert sample(*again) == whole
    assert sample(*again) == whole  # nothing is left to do


def test_a_chain_that_was_stopped_in_a_sweep_goes_on(sample, tmp_path, monkeypatch):
    folder, whole = tmp_path / "chains", sample("--sweeps", 12)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    sweep, left = TreeSampler.sweep, [17]  # the second chain stops in its fifth

    def stopping(self, *args):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        sweep(self, *args)

    monkeypatch.setattr(TreeSampler, "sweep", stopping)
    assert sample("--sweeps", 12, "--checkpoint", folder)[0] == 130
    left[0] = -1
    assert sample("--sweeps", 12, "--checkpoint", folder, "--resume") == whole
    assert left[0] == -1 - 8


def test_one_of_other_text_or_settings_is_refused(sample, tmp_path, capsys):
    folder = tmp_path / "chains"
    assert sample("--sweeps", 6, "--checkpoint", folder)[0] == 0
    for options in (["--seed", "2"], ["--set", "alpha=3"], ["--set", "keep_every=3"], ["--set", "sample=last"]):
        assert sample("--sweeps", 6, "--checkpoint", folder, "--resume", *options)[0] == 1
        assert "chain.0001: the checkpoint belongs to other text or settings" in capsys.readouterr().err
    assert sample("--sweeps", 6, "--checkpoint", folder, "--resume", "--set", "rule_filter=scope")[0] == 0
    assert sample("--sweeps", 5, "--checkpoint", folder, "--resume")[0] == 1
    assert "already has 6 sweeps" in capsys.readouterr().err
    (tmp_path / "e").write_text("".join(f"{line} t\n" for line in SMALL[1]))
    assert sample("--sweeps", 6, "--checkpoint", folder, "--resume")[0] == 1
    assert "other text" in capsys.readouterr().err
    assert sample("--resume")[0] == 1
    assert "--resume needs --checkpoint" in capsys.readouterr().err


def damaged(name, array):
    """The array with something wrong in it that no chain of the corpus has."""
    worse = array.copy()
    worse.flat[0] = {
        "kept_short": -1,
        "length.alpha": -1,
        "mean_length": 0,
        "log_ways": 7,
        "rules.symbols": 99,
        "rules.src_length": 50,
    }.get(name, 77)
    return worse


@pytest.mark.parametrize("name", sorted(set(CHECKPOINT) - {"places", "kept", "state", "rule", "edge"}))
def test_a_damaged_one_is_refused(sample, tmp_path, capsys, name):
    folder = tmp_path / "chains"
    assert sample("--sweeps", 6, "--checkpoint", folder)[0] == 0
    arrays, metadata = tensors.load(folder / "chain.0001", "sampler")
    for wrong in (damaged(name, arrays[name]), arrays[name][:-1]):
        tensors.save(folder / "chain.0001", arrays | {name: wrong}, metadata)
        assert sample("--sweeps", 9, "--checkpoint", folder, "--resume")[0] == 1
        assert "chain.0001: the checkpoint is damaged: " in capsys.readouterr().err


UNSEEN = ("kept_short", "length.tables", "log_ways", "length.alpha", "length.discount", "mean_length", "cut_rates")
"""Arrays of which a value in its range may be another one."""

SEEN = sorted(set(CHECKPOINT) - {"kept", "state", "places", *UNSEEN})


def with_a_changed_bit(sample, folder, name, random):
    """Status and grammar of a chain that goes on from a checkpoint with a random bit of an array changed."""
    assert sample("--sweeps", 6, "--checkpoint", folder)[0] == 0
    arrays, metadata = tensors.load(folder / "chain.0001", "sampler")
    worse = arrays[name].copy().view(np.uint8)
    worse.flat[random.integers(worse.size)] ^= np.uint8(1 << random.integers(8))
    tensors.save(folder / "chain.0001", arrays | {name: worse.view(arrays[name].dtype)}, metadata)
    return sample("--sweeps", 9, "--checkpoint", folder, "--resume")


@pytest.mark.parametrize("seed", range(40))
def test_random_damage_is_refused_or_does_no_harm(sample, tmp_path, seed):
    """Variables outside the current trees are drawn again; every other change must be noticed."""
    random = np.random.default_rng(seed)
    status, grammar = with_a_changed_bit(sample, tmp_path / "chains", str(random.choice(SEEN)), random)
    assert status == 1 or grammar == sample("--sweeps", 9)[1]


@pytest.mark.parametrize("name", UNSEEN)
def test_random_damage_that_may_be_another_value_is_refused_or_gives_a_grammar(sample, tmp_path, name):
    status, grammar = with_a_changed_bit(sample, tmp_path / "chains", name, np.random.default_rng(1))
    assert status == 1 or grammar


def test_an_edge_that_a_node_lacks_is_refused():
    """Nodes outside the tree included."""
    pairs = [("a b c d", "p q r s", "0-0 1-1 2-2 3-3")]
    arrays = TreeSampler(forests_of(pairs), SamplerOptions()).checkpoint()
    for node, edges in enumerate(PairTrees(pairs[0], 7).edges):
        for edge in (-1, len(edges)):
            worse = arrays["edge"].copy()
            worse[node] = edge
            with pytest.raises(ValueError, match="belong to another chain"):
                TreeSampler(forests_of(pairs), SamplerOptions()).restore(arrays | {"edge": worse})


def test_a_state_that_is_none_is_refused():
    """A rule without tokens has it; states are the last symbols of rules, -1 to -2 here."""
    pairs, options = [("a b c d", "p q r s", "0-0 1-1 2-2 3-3")], SamplerOptions(states=2)
    sampler = TreeSampler(forests_of(pairs), options)
    for number in range(1, 6):
        sampler.sweep(number)
    arrays = sampler.checkpoint()
    TreeSampler(forests_of(pairs), options).restore(arrays)
    last = arrays["rules.offsets"][1 + np.flatnonzero(arrays["count"] == 0)[0]] - 1
    for state in (0, -3):
        worse = arrays["rules.symbols"].copy()
        worse[last] = state
        with pytest.raises(ValueError, match="belong to another chain"):
            TreeSampler(forests_of(pairs), options).restore(arrays | {"rules.symbols": worse})
