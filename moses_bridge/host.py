"""Moses as a decoder host."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from lscfg.decode.host import DecoderHost, KBestDecoder
from lscfg.errors import InputError
from lscfg.moses_bridge.decoder import VARIABLE, MosesDecoder, find_moses


class Moses(DecoderHost):
    """Runs an installed Moses, or the Moses of ``lscfg moses build`` for latent features."""

    HELP = "an installed Moses"

    def open(
        self, ini: str | os.PathLike[str], jobs: int, once: bool = False, library: str | os.PathLike[str] | None = None
    ) -> AbstractContextManager[KBestDecoder]:
        """See ``DecoderHost.open``; latent features are part of the program."""
        return nullcontext(MosesDecoder(ini, threads=jobs))

    def programs(self, latent: bool, plugin: Path | None = None) -> dict[str, Path]:
        """The program.

        Raises:
            InputError: the environment names a missing program, or no Moses is found.
        """
        moses = find_moses(latent)
        if moses is None:
            raise InputError(f"no Moses found; make it with lscfg moses build, and put it on PATH or set {VARIABLE}")
        return {"moses": moses}

    def installed(self) -> list[Path]:
        """The program."""
        moses = find_moses(False)
        return [moses] if moses else []
