"""The decoders that tuning and experiments can run: the embedded one, or cdec or Moses as an installed program."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuning.tune import Decoder


def open_decoder(
    name: str,
    ini: str | os.PathLike[str],
    jobs: int,
    once: bool = False,
    library: str | os.PathLike[str] | None = None,
) -> AbstractContextManager[Decoder]:
    """The decoder of a configuration; its processes end with the context.

    Args:
        name: ``"embedded"``, ``"cdec"`` or ``"moses"``.
        once: no sentence is decoded a second time, so that nothing has to be kept for it.
        library: of ``lscfg cdec build``; with it cdec is faster (see ``CdecDecoder``).

    Raises:
        InputError: see ``EmbeddedDecoder``, ``CdecDecoder`` and ``MosesDecoder``.
    """
    if name == "cdec":
        from cdec_bridge.decoder import CdecDecoder

        return nullcontext(CdecDecoder(ini, jobs=jobs, library=library))
    if name == "moses":
        from moses_bridge.decoder import MosesDecoder

        return nullcontext(MosesDecoder(ini, threads=jobs))
    from lscfg.decode import EmbeddedDecoder

    if once:
        return EmbeddedDecoder.from_ini(ini, jobs=jobs, cached=0)
    return EmbeddedDecoder.from_ini(ini, jobs=jobs)
