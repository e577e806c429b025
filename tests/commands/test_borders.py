"""Borders of commands: limits of the system, locales, signals and other packages give one line and status 1."""

import os
import signal
import subprocess
import sys

import pytest

from lscfg.errors import InputError, LscfgError
from lscfg.io.folders import replaced_folder
from lscfg.parallel.address import ClusterAddress
from lscfg.parallel.signals import ending_on_signals
from lscfg.tuning.experiment.cache import measured

LSCFG = [sys.executable, "-P", "-m", "lscfg"]


def test_a_limit_of_memory_is_named():
    """OpenBLAS would wait for ever."""
    command = 'ulimit -v 200000; exec "$0" -P -m lscfg estimate em d -m 2 -o o'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable], capture_output=True, text=True, timeout=60, check=False
    )
    message = "address space is limited to 195 MiB; raise the limit: ulimit -v at least 262144, or unlimited"
    assert (done.returncode, done.stderr) == (1, f"lscfg estimate: {message}\n")


def test_arguments_are_utf_8_in_every_locale(tmp_path):
    (tmp_path / "größe").write_text("[X] ||| ä ||| ö ||| P=1\n", encoding="utf-8")
    own = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [*LSCFG, "inspect", "grammar", "größe"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **own}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    command[-1] = "grüße"
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **own}, capture_output=True, check=False)
    assert done.returncode == 1 and "grüße".encode() in done.stderr and done.stderr.count(b"\n") == 1


def test_a_stage_that_a_signal_ends_is_one_line(capfd):
    with ending_on_signals(), pytest.raises(LscfgError, match=r"^ended by a signal$"):
        measured(lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert capfd.readouterr().err == ""


def test_a_cluster_that_cannot_start_is_bad_input(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from lscfg.parallel.cluster import Dask

    def fail(**settings):
        try:
            raise OSError(24, "Too many open files")
        except OSError as error:
            raise RuntimeError("Cluster failed to start: see above") from error

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    message = (
        r"^the cluster local:2 cannot start \(\[Errno 24\] Too many open files\); allow more open files \(ulimit -n\)"
    )
    with pytest.raises(InputError, match=message), Dask().join(ClusterAddress(local=2)):
        pass


def test_errors_give_the_path_that_a_user_knows(tmp_path):
    with pytest.raises(InputError) as caught, replaced_folder(tmp_path / "out", "mark") as folder:
        raise InputError("cannot write: No space left on device", folder / "dropped.tsv")
    assert str(caught.value) == f"{tmp_path}/out/dropped.tsv: cannot write: No space left on device"
    with pytest.raises(OSError, match="No space") as system, replaced_folder(tmp_path / "out", "mark") as folder:
        raise OSError(28, "No space left on device", str(folder / "model"))
    assert system.value.filename == str(tmp_path / "out" / "model") and not (tmp_path / "out").exists()
