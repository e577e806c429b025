"""Temporary folders that end with their owners, also in processes of ``multiprocessing``."""

from __future__ import annotations

import shutil
import tempfile
from multiprocessing.util import Finalize
from pathlib import Path

LAST = -100
"""Priority at the end of a process: after the end of its children, which may use the folders."""


class TemporaryFolder:
    """A folder that is removed with this object, or at the end of the process, but not by forks of the process.

    Args:
        prefix: beginning of the name.

    Attributes:
        path: the folder.
    """

    def __init__(self, prefix: str = "lscfg-") -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        # not weakref.finalize: processes of multiprocessing end without atexit, which would call it
        Finalize(self, shutil.rmtree, (self.path,), {"ignore_errors": True}, exitpriority=LAST)
