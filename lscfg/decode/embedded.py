"""The embedded decoder as a host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lscfg.decode.decoder import CACHED, EmbeddedDecoder
from lscfg.decode.host import DecoderHost, KBestDecoder
from lscfg.parallel.choose import in_processes


class Embedded(DecoderHost):
    """Decodes in this process and its workers; no other program is needed."""

    HELP = "built in"
    SHARES = GRAPHS = DERIVATIONS = True

    @contextmanager
    def open(
        self, ini: str | os.PathLike[str], jobs: int, once: bool = False, library: str | os.PathLike[str] | None = None
    ) -> Iterator[KBestDecoder]:
        """See ``DecoderHost.open``; latent features need no plug-in."""
        cached = 0 if once else CACHED
        with in_processes(jobs) as engine, EmbeddedDecoder.from_ini(ini, engine, cached=cached) as decoder:
            yield decoder
