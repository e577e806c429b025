"""A new kind of cluster is one class and one row."""

import os

import pytest
from work import square, who

from lscfg.errors import InputError
from lscfg.parallel.choose import in_processes, on_cluster

TOY = '''
"""Two processes of this machine in place of a cluster."""

from contextlib import contextmanager

from lscfg.parallel.address import ClusterAddress
from lscfg.parallel.clusters import ClusterEngine
from lscfg.parallel.processes import Processes


class Toy(ClusterEngine):
    HELP = "a toy"
    FORMS = "toy"

    def read(self, text):
        return ClusterAddress(kind="toy") if text == "toy" else None

    @contextmanager
    def join(self, address):
        yield address

    def engine(self, address, batch=None):
        return Processes(2)
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    (tmp_path / "toys-1.dist-info").mkdir()
    (tmp_path / "toys-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1\n")
    (tmp_path / "toys-1.dist-info" / "entry_points.txt").write_text("[lscfg.clusters]\ntoy = toy_cluster:Toy\n")
    (tmp_path / "toy_cluster.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
def test_a_row_adds_a_kind_of_cluster():
    with on_cluster("toy") as address, in_processes(1) as engine:
        assert address.kind == "toy" and engine.workers == 2
        assert [*engine.map(square, range(5))] == [0, 1, 4, 9, 16]
        assert os.getpid() not in {*engine.map(who, range(4))}


@pytest.mark.usefixtures("installed")
def test_a_text_of_no_kind_names_the_addresses_of_all():
    pytest.importorskip("distributed", reason="needs lscfg[cluster]")
    with (
        pytest.raises(InputError, match=r"'here' is no cluster; give .*local:N or a \.yaml file or toy"),
        on_cluster("here"),
    ):
        pass
