"""Chains that the workers of a cluster run have the bytes of those that one process runs."""

import json

import pytest

pytest.importorskip("distributed", reason="needs lscfg[cluster]")
pytest.importorskip("cryptography", reason="needs lscfg[cluster]")

from clusters import forget_sockets, real_cluster
from sampling import SMALL, write_corpus

from lscfg.cli import main


@pytest.fixture
def sample(tmp_path):
    """The command on a small corpus: its status, trace without times, and what else it writes."""
    files = write_corpus(tmp_path, SMALL)

    def run(name, *options):
        out, trace, trees = (tmp_path / f"{name}.{what}" for what in ("grammar", "trace", "deriv"))
        words = ["--chains", "3", "--sweeps", "12", "--set", "keep_every=4", "--quiet", *map(str, options)]
        words += ["-o", str(out), "--write", f"trace={trace}", "--write", f"derivations={trees}"]
        status = main(["grammar", "sampled", *files, *words])
        if status:
            return status
        records = [json.loads(line) | {"seconds": 0} for line in trace.read_text().splitlines()]
        return status, records, out.read_bytes(), trees.read_bytes()

    return run


def test_workers_of_this_machine_change_no_byte(sample, tmp_path):
    held_out = ["--held-out", *(tmp_path / name for name in ("f", "e", "a"))]
    here = sample("here", "--jobs", 1, *held_out)
    assert here[0] == 0 and len({record["chain"] for record in here[1]}) == 3
    assert sample("there", "--cluster", "local:2", *held_out) == here
    assert sample("begun", "--cluster", "local:2", "--start-from", tmp_path / "here.deriv") == sample(
        "both", "--jobs", 2, "--start-from", tmp_path / "here.deriv"
    )


def test_a_cluster_that_loses_a_worker_changes_no_byte_and_chains_go_on_elsewhere(sample, tmp_path):
    here, more = sample("here", "--jobs", 1), sample("more", "--jobs", 1, "--sweeps", 16)
    folder = tmp_path / "chains"
    with real_cluster(tmp_path, 2) as cluster:
        assert sample("there", "--cluster", cluster.address, "--checkpoint", folder) == here
        cluster.workers[0].kill()
        again = ["--checkpoint", folder, "--resume", "--sweeps", 16]
        assert sample("again", "--cluster", cluster.address, *again) == more
    forget_sockets()
    assert sorted(path.name for path in folder.iterdir()) == [f"chain.{n:04}" for n in (1, 2, 3)]


def test_an_error_of_a_worker_is_the_command_s(sample, tmp_path, capsys):
    folder = tmp_path / "chains"
    assert sample("first", "--checkpoint", folder)[0] == 0
    assert sample("other", "--checkpoint", folder, "--resume", "--seed", 2, "--cluster", "local:2") == 1
    assert "chain.0001: the checkpoint belongs to other text or settings" in capsys.readouterr().err
