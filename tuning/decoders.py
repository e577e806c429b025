"""The decoders that tuning and experiments can run: the embedded one, or cdec or Moses as an installed program."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from lscfg.formats.ini import find_file, named_words
from lscfg.formats.segments import segment_grammar
from lscfg.io.text import file_hash
from lscfg.parallel.engine import in_processes

if TYPE_CHECKING:
    from lscfg.tuning.tune import TuningDecoder


DECODERS = ("embedded", "cdec", "moses")


def open_decoder(
    name: str,
    ini: str | os.PathLike[str],
    jobs: int,
    once: bool = False,
    library: str | os.PathLike[str] | None = None,
) -> AbstractContextManager[TuningDecoder]:
    """The decoder of a configuration; its processes end with the context.

    Args:
        name: ``"embedded"``, ``"cdec"`` or ``"moses"``.
        once: no sentence is decoded a second time, so that nothing has to be kept for it.
        library: of ``lscfg cdec build``; with it cdec is faster (see ``CdecDecoder``).

    Raises:
        InputError: see ``EmbeddedDecoder``, ``CdecDecoder`` and ``MosesDecoder``.
    """
    if name == "cdec":
        from lscfg.cdec_bridge.decoder import CdecDecoder

        return nullcontext(CdecDecoder(ini, jobs=jobs, library=library))
    if name == "moses":
        from lscfg.moses_bridge.decoder import MosesDecoder

        return nullcontext(MosesDecoder(ini, threads=jobs))
    return _embedded(ini, jobs, once)


@contextmanager
def _embedded(ini: str | os.PathLike[str], jobs: int, once: bool) -> Iterator[TuningDecoder]:
    from lscfg.decode.decoder import EmbeddedDecoder

    kept = {"cached": 0} if once else {}
    with in_processes(jobs) as engine, EmbeddedDecoder.from_ini(ini, engine, **kept) as decoder:
        yield decoder


def _named_files(name: str, ini: str | os.PathLike[str]) -> list[Path]:
    """The files that a configuration names, but for weights, which tuning gives to the decoder itself."""
    words = named_words(ini, leave="weights")
    # cdec is run in the folder of its ini
    found = (Path(ini).parent / word if name == "cdec" else find_file(word, ini) for word in words)
    return [path for path in found if path is not None and os.path.isfile(path)]


def decoder_identity(name: str, ini: str | os.PathLike[str], sentences: Sequence[str] = ()) -> str:
    """A hash of all that a decoder's output depends on: its configuration, the files in it, an installed program.

    Args:
        name: as of ``open_decoder``.
        sentences: what will be decoded; cdec's segments may name a grammar for each of them.

    Raises:
        InputError: a file cannot be read, or the program is not there.
    """
    files = [Path(ini), *_named_files(name, ini)]
    if name == "cdec":
        from lscfg.cdec_bridge.decoder import find_cdec, find_library

        files += [path for path in (find_cdec(), find_library()) if path]
        own = dict.fromkeys(grammar for line in sentences if (grammar := segment_grammar(line)))
        files += [path for path in (Path(ini).parent / grammar for grammar in own) if path.is_file()]
    elif name == "moses":
        from lscfg.moses_bridge.decoder import find_moses

        files += [path for path in [find_moses(False)] if path]
    text = " ".join([name, *(file_hash(path) for path in files)])
    return hashlib.sha256(text.encode()).hexdigest()
