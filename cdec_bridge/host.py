"""cdec as a decoder host."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from lscfg.cdec_bridge.decoder import LIBRARY_VARIABLE, CdecDecoder, find_cdec, find_library, needed_cdec
from lscfg.decode.host import DecoderHost, KBestDecoder
from lscfg.errors import InputError
from lscfg.formats.segments import check_whole_lines, grammars_of_lines


class Cdec(DecoderHost):
    """Runs an installed cdec, with lscfg's plug-in for latent features."""

    HELP = "an installed cdec"

    def open(
        self, ini: str | os.PathLike[str], jobs: int, once: bool = False, library: str | os.PathLike[str] | None = None
    ) -> AbstractContextManager[KBestDecoder]:
        """See ``DecoderHost.open``; with ``library`` cdec is faster (see ``CdecDecoder``)."""
        return nullcontext(CdecDecoder(ini, jobs=jobs, library=library))

    def library(self, plugin: Path | None = None) -> Path | None:
        """The library that cdec loads for latent features and packed features."""
        return plugin.resolve() if plugin else find_library()

    def programs(self, latent: bool, plugin: Path | None = None) -> dict[str, Path]:
        """The program and the library.

        Raises:
            InputError: no cdec program is found, or the environment names a missing library.
        """
        program, library = needed_cdec(), self.library(plugin)
        return {"cdec": program} | ({"plug-in": library} if library else {})

    def check(self, latent: Sequence[str], plugin: Path | None = None) -> None:
        """Finds cdec, and its plug-in if a system has latent features.

        Raises:
            InputError: as ``programs``; a system has latent features, and there is no plug-in.
        """
        if "plug-in" not in self.programs(bool(latent), plugin) and latent:
            raise InputError(
                f"{', '.join(latent)}: in cdec latent features need lscfg's plug-in; name its shared library by plugin "
                f"in [decoder] or by the environment variable {LIBRARY_VARIABLE}, or take --decoder embedded"
            )

    def check_source(self, lines: Sequence[str], path: str | os.PathLike[str], ini: str | os.PathLike[str]) -> None:
        """Refuses lines of which cdec would read a part; cdec itself reads segments and lattices."""
        check_whole_lines(lines, path)

    def installed(self) -> list[Path]:
        """The program and the library that the environment names."""
        return [path for path in (find_cdec(), find_library()) if path]

    def find(self, word: str, ini: str | os.PathLike[str]) -> Path | None:
        """The file that a word of a configuration names; cdec is run in the folder of the configuration."""
        return Path(ini).parent / word

    def sentence_files(self, ini: str | os.PathLike[str], sentences: Sequence[str]) -> list[Path]:
        """Grammars that segments name."""
        found = (Path(ini).parent / grammar for grammar in grammars_of_lines(sentences))
        return [path for path in found if path.is_file()]
