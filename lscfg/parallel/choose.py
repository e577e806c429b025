"""The choice of an engine: threads or processes of this machine, or the cluster that this process has joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lscfg.errors import InputError, quote
from lscfg.later import later
from lscfg.parallel.engine import Engine, Serial

if TYPE_CHECKING:
    from lscfg.parallel import clusters, processes, threads
    from lscfg.parallel.address import ClusterAddress
else:
    clusters = later("lscfg.parallel.clusters")
    processes = later("lscfg.parallel.processes")
    threads = later("lscfg.parallel.threads")

_joined: ClusterAddress | None = None


def in_threads(workers: int, ahead: int | None = None) -> Engine:
    """An engine of threads; ``Serial`` for one.

    Args:
        ahead: blocks for each worker, at most, that are held with their results; None: the default of ``Threads``.

    Raises:
        InputError: workers is less than 1.
    """
    if workers == 1:
        return Serial()
    return threads.Threads(workers) if ahead is None else threads.Threads(workers, ahead)


def in_processes(workers: int, environment: Mapping[str, str] | None = None, large: bool = False) -> Engine:
    """An engine of processes; ``Serial`` for one without an environment.

    Where this process has joined a cluster, the engine takes the cluster's workers instead.

    Args:
        environment: variables to set in a worker before it imports anything of lscfg; such workers run on this machine,
            cluster or not.
        large: each block takes seconds, so a cluster sends the blocks one by one.

    Raises:
        InputError: workers is less than 1.
    """
    if _joined is not None and environment is None:
        return on_workers(_joined, 1 if large else None)
    if workers == 1 and environment is None:
        return Serial()
    return processes.Processes(workers, environment)


def on_workers(address: ClusterAddress, batch: int | None = None) -> Engine:
    """An engine of the workers of a cluster; see ``lscfg.parallel.clusters.ClusterEngine.engine``."""
    return clusters.CLUSTERS[address.kind].engine(address, batch)


def read_cluster(text: str) -> ClusterAddress:
    """The address that ``--cluster`` gives.

    Raises:
        InputError: no kind of cluster has such addresses, the address is incomplete, or a file is wrong.
    """
    kinds = [clusters.CLUSTERS[name] for name in clusters.CLUSTERS]
    for kind in kinds:
        if (address := kind.read(text)) is not None:
            return address
    raise InputError(f"{quote(text)} is not the address of a cluster; give {' or '.join(kind.FORMS for kind in kinds)}")


@contextmanager
def on_cluster(text: str | None) -> Iterator[ClusterAddress | None]:
    """Joins the cluster that ``--cluster`` gives: until the end of the block ``in_processes`` takes its workers.

    None joins nothing.

    Raises:
        InputError: the text is not a cluster, nobody answers there, or an extra is missing.
    """
    if text is None:
        yield None
        return
    address = read_cluster(text)
    with clusters.CLUSTERS[address.kind].join(address) as found, joined_to(found):
        yield found


@contextmanager
def joined_to(address: ClusterAddress | None) -> Iterator[None]:
    """Makes ``in_processes`` take the workers of a cluster until the end of the block."""
    global _joined
    before, _joined = _joined, address
    try:
        yield
    finally:
        _joined = before
