"""The embedded decoder as a host."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lscfg.decode.decoder import CACHED, EmbeddedDecoder
from lscfg.decode.host import DecoderHost, KBestDecoder
from lscfg.decode.inputs import check_inputs
from lscfg.formats.ini import find_file, read_ini
from lscfg.formats.segments import grammars_of_lines
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
        with in_processes(jobs) as engine, EmbeddedDecoder.from_ini(ini, engine, cached, needed=False) as decoder:
            yield decoder

    def check_source(self, lines: Sequence[str], path: str | os.PathLike[str], ini: str | os.PathLike[str]) -> None:
        """Accepts lattices, and lines that name grammars."""
        check_inputs(lines, path, read_ini(ini))

    def sentence_files(self, ini: str | os.PathLike[str], sentences: Sequence[str]) -> list[Path]:
        """Grammars that segments name."""
        return [path for grammar in grammars_of_lines(sentences) if (path := find_file(grammar, ini)) is not None]
