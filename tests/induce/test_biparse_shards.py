"""Shards of the biparser's learner: means of models, and the same bytes whoever learns them, killed or not."""

import dataclasses
import json
import signal
import time

import numpy as np
import pytest
from biparsing import ended, make_corpus, started
from clusters import forget_sockets, real_cluster

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.induce.biparsed import shards
from lscfg.induce.biparsed.passes import Visitor, learn_pass
from lscfg.induce.biparsed.rules import induce
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.induce.biparsed.text import read_bitexts
from lscfg.io import tensors
from lscfg.kernel.biparse import SPARSE, BiparseModel
from lscfg.parallel.choose import on_cluster
from lscfg.parallel.engine import Serial

SETTINGS = BiparseSettings(passes=2, shards=3, batch=8, held_out=0.1)


@pytest.fixture
def corpus(tmp_path):
    return make_corpus(tmp_path)


def by_name(text, model):
    """Contents of a model, by the words of rules and weights."""
    words, arrays = text.arrays(), model.arrays()
    names = words["vocab.bytes"].tobytes().decode()  # words of one letter each
    sides = [
        arrays["rules.symbols"][a:b] for a, b in np.lib.stride_tricks.sliding_window_view(arrays["rules.offsets"], 2)
    ]
    rules = [
        (arrays["rules.src_length"][k], *(names[s] if s >= 0 else s for s in side.tolist()))
        for k, side in enumerate(sides)
    ]
    found = {
        ("rule", *rule): tuple(arrays[f"rule.{what}"][k] for what in ("weight", "squares"))
        for k, rule in enumerate(rules)
    }
    found |= {("only", *rule): arrays["rule.only"][k] for k, rule in enumerate(rules)}
    for kind in SPARSE:
        for k, pair in enumerate(arrays[f"{kind}.words"].tolist()):
            found[(kind, *pair)] = tuple(arrays[f"{kind}.{what}"][k] for what in ("weight", "squares"))
    shown = {}
    for k, rule in enumerate(arrays["aligned.rule"].tolist()):
        links = arrays["links.items"][slice(*arrays["links.offsets"][k : k + 2])]
        shown[("shown", *rules[rule], *map(tuple, links.tolist()))] = arrays["aligned.now"][k]
    return found | shown | {("dense",): (*arrays["dense"], *arrays["dense.squares"])}


def test_a_mean_is_that_of_all_weights_with_the_rules_of_all(corpus):
    text = read_bitexts(corpus, SETTINGS)
    parts = [np.arange(0, 20), np.arange(20, 60)]
    models = [BiparseModel(text, SETTINGS.beams) for _ in parts]
    for model, pairs in zip(models, parts, strict=True):
        learn_pass(model, pairs.astype(np.int32), SETTINGS, 1, Visitor(Serial()))
    mean = BiparseModel(text, SETTINGS.beams)
    for model, share in zip(models, (0.25, 0.75), strict=True):
        mean.add(model.arrays(), share)
    one, other, both = (by_name(text, model) for model in (*models, mean))
    assert one.keys() | other.keys() == both.keys()
    assert one.keys() - other.keys() and other.keys() - one.keys()
    for key, value in both.items():
        if key[0] == "shown":
            assert value == one.get(key, 0) + other.get(key, 0), key
        elif key[0] == "only":
            known = {found[key] for found in (one, other) if key in found}
            assert value == (known.pop() if len(known) == 1 else -1), key
        else:
            expected = sum(share * np.array(found.get(key, 0.0)) for found, share in ((one, 0.25), (other, 0.75)))
            assert value == pytest.approx(expected, rel=1e-6, abs=1e-12), key


def test_the_mean_of_equal_models_is_the_model(corpus):
    text = read_bitexts(corpus, SETTINGS)
    model, mean = (BiparseModel(text, SETTINGS.beams) for _ in range(2))
    learn_pass(model, np.arange(60, dtype=np.int32), SETTINGS, 1, Visitor(Serial()))
    model.keep()
    arrays = model.arrays()
    for _ in range(2):
        mean.add(arrays, 0.5)
    for name, array in mean.arrays().items():
        assert array.tolist() == ((2 if name == "aligned.now" else 1) * arrays[name]).tolist(), name


@pytest.mark.parametrize("changes", [{}, {"held_out": 0.0, "adagrad": False}])
def test_a_shard_of_a_pass_is_a_pass_over_its_pairs(corpus, monkeypatch, changes):
    """One shard of all pairs is what is learned without shards, through a checkpoint."""
    settings = dataclasses.replace(SETTINGS, **changes)
    whole = induce(corpus, dataclasses.replace(settings, shards=1), 1)
    monkeypatch.setattr(shards, "part_bounds", lambda items, parts: [0, items])
    one = induce(corpus, settings, 1)
    assert one.rules.weights.tobytes() == whole.rules.weights.tobytes()
    assert one.rules.weights.any()


def learned(corpus, folder, name, *options):
    """Output of the command, except times, and its status."""
    files = {what: folder / f"{name}.{what}" for what in ("grammar", "trace", "links", "deriv", "spans")}
    words = [
        corpus.source,
        corpus.target,
        *corpus.alignments,
        "-o",
        files["grammar"],
        "--write",
        f"trace={files['trace']}",
    ]
    words += [
        "--write",
        f"best-links={files['links']}",
        "--write",
        f"derivations={files['deriv']}",
        "--write",
        f"boundary={files['spans']}",
    ]
    words += ["--passes", 2, "--set", "folds=2", "--set", "batch=8", "--set", "held_out=0.1", "--quiet", *options]
    status = main(["grammar", "biparsed", *map(str, words)])
    trace = [json.loads(line) | {"seconds": 0} for line in files.pop("trace").read_text().splitlines()]
    return status, trace, {what: path.read_bytes() for what, path in files.items()}


@pytest.mark.parametrize("count", [1, 3])
def test_workers_change_no_byte(corpus, tmp_path, count):
    one, *others = (learned(corpus, tmp_path, f"jobs{n}", "--set", f"shards={count}", "--jobs", n) for n in (1, 2, 4))
    assert one[0] == 0 and others == [one, one]
    assert len({record["held-out ln p"] for record in one[1]}) > 1
    if count == 1:
        with on_cluster("local:2"):
            assert learned(corpus, tmp_path, "there") == one


def test_a_cluster_that_loses_a_worker_changes_no_byte(corpus, tmp_path):
    here = learned(corpus, tmp_path, "here", "--set", "shards=3", "--jobs", 1)
    with real_cluster(tmp_path, 2) as cluster:
        options = ["--set", "shards=3", "--checkpoint", tmp_path / "state"]
        with on_cluster(cluster.address):
            there = learned(corpus, tmp_path, "there", *options)
            cluster.workers[0].kill()
            again = learned(corpus, tmp_path, "again", *options)
    forget_sockets()
    assert there == here and again == here


@pytest.mark.parametrize("count", [1, 2])
def test_a_killed_run_goes_on_with_the_same_bytes(corpus, tmp_path, count):
    """Killed where it stands, with its processes, after some passes; those that are left are done then."""
    options = ["--set", f"shards={count}", "--jobs", 2]
    process = started(corpus, tmp_path, "--passes", 1000, *options)
    state = tmp_path / "state" / "fold.0001"
    while not state.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert ended(process)[0] == -9
    _, metadata = tensors.load(state, "biparser")
    passes = len(json.loads(metadata["state"])["trace"]) + 1
    assert ended(started(corpus, tmp_path, "--passes", passes, "--resume", *options)) == (0, "")
    other = tmp_path / "other"
    other.mkdir()
    assert ended(started(corpus, other, "--passes", passes, "--set", f"shards={count}", "--jobs", 1)) == (0, "")
    assert (tmp_path / "grammar").read_bytes() == (other / "grammar").read_bytes()


def test_a_checkpoint_that_another_run_overwrites_is_told(corpus, tmp_path, monkeypatch):
    learn, theirs = shards.learn_shard, tmp_path / "other" / "fold.0001"
    induce(corpus, SETTINGS, 1, theirs.parent)

    def late(shard):
        if shard.number == 2:
            (tmp_path / "state" / "fold.0001").write_bytes(theirs.read_bytes())
        return learn(shard)

    monkeypatch.setattr(shards, "learn_shard", late)
    with pytest.raises(InputError, match="is of pass 2, not 1: another run writes the same file"):
        induce(corpus, SETTINGS, 1, tmp_path / "state")


def test_shards_need_pairs_and_a_checkpoint_of_as_many_shards(corpus, tmp_path):
    with pytest.raises(InputError, match="60 shards, but only 54 pairs to learn from"):
        induce(corpus, dataclasses.replace(SETTINGS, shards=60), 1)
    folder = tmp_path / "state"
    induce(corpus, dataclasses.replace(SETTINGS, passes=1), 1, folder)
    with pytest.raises(InputError, match=r"fold.0001: the checkpoint belongs to other text or settings"):
        induce(corpus, dataclasses.replace(SETTINGS, shards=2), 1, folder, resume=True)
