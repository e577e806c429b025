"""The kinds of clusters. A new kind is one class and one row of the entry points ``lscfg.clusters``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from lscfg.kinds import Kind, Registry
from lscfg.parallel.address import ClusterAddress
from lscfg.parallel.engine import Engine


class ClusterEngine(Kind[Any]):
    """A kind of cluster: reads an address, joins the cluster and makes engines of its workers."""

    FORMS: str
    """The addresses of the kind, for messages."""

    def read(self, text: str) -> ClusterAddress | None:
        """The address that ``--cluster`` gives; None for a text of another form.

        Raises:
            InputError: the address is incomplete, or a file is wrong.
        """
        raise NotImplementedError

    def join(self, address: ClusterAddress) -> AbstractContextManager[ClusterAddress]:
        """Joins the cluster until the end of the block, and starts its workers if they are local.

        Raises:
            InputError: nobody answers at the address.
        """
        raise NotImplementedError

    def engine(self, address: ClusterAddress, batch: int | None = None) -> Engine:
        """An engine of the workers.

        Args:
            batch: blocks that are sent together; None: the kind's default.

        Raises:
            InputError: no scheduler answers, or it has no workers.
        """
        raise NotImplementedError


CLUSTERS = Registry("lscfg.clusters", ClusterEngine, "cluster engine")
