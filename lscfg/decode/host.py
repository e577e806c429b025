"""Decoder hosts, which are kinds: the embedded decoder, and decoders that are installed programs, such as cdec.

A new host is one class in one file and one row among the entry points ``lscfg.decoder_hosts``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Protocol

from lscfg.corpus.parallel import check_plain_sentences
from lscfg.formats.ini import find_file, named_words
from lscfg.formats.kbest import Hypothesis
from lscfg.io.read import file_hash
from lscfg.kinds import Kind, Registry
from lscfg.settings import Declared


class KBestDecoder(Protocol):
    """Anything that yields k-best lists."""

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool = ...
    ) -> Sequence[Sequence[Hypothesis]]:
        """At most ``k`` hypotheses of each sentence, best first; with ``unique`` no translation twice in a list.

        Equal arguments must give equal lists, or a resumed tuning differs from an uninterrupted one.
        """
        ...


class DecoderHost(Kind[Declared]):
    """A decoder that tuning and experiments can run."""

    SHARES: ClassVar[bool] = False
    """True if the engine of lscfg shares out the sentences: a cluster can then take part, and several stages can run at
    the same time."""
    GRAPHS: ClassVar[bool] = False
    """True if the decoder returns hypergraphs, too."""
    DERIVATIONS: ClassVar[bool] = False
    """True if the report can show derivations of the decoder."""
    Settings = Declared

    def open(
        self, ini: str | os.PathLike[str], jobs: int, once: bool = False, library: str | os.PathLike[str] | None = None
    ) -> AbstractContextManager[KBestDecoder]:
        """The decoder of a configuration. Its processes end with the context.

        Args:
            jobs: threads or processes.
            once: no sentence is decoded twice, so the decoder need not keep anything.
            library: the host's plug-in, see ``library``.

        Raises:
            InputError: the decoder is not installed, or the configuration is missing or malformed.
        """
        raise NotImplementedError

    def library(self, plugin: Path | None = None) -> Path | None:
        """The plug-in of the host, if it has one: the given file, else the one that the environment names.

        Raises:
            InputError: the environment names a missing file.
        """
        return None

    def programs(self, latent: bool, plugin: Path | None = None) -> dict[str, Path]:
        """The files outside the configuration on which the output depends, by their names in a manifest.

        Args:
            latent: the host needs latent features.
            plugin: as for ``library``.

        Raises:
            InputError: a program is not installed.
        """
        return {}

    def check(self, latent: Sequence[str], plugin: Path | None = None) -> None:
        """Finds all that the decoder needs, so that nothing is missing after hours of work.

        Args:
            latent: names of the systems with latent features.
            plugin: as for ``library``.

        Raises:
            InputError: the decoder is not installed, or the plug-in for latent features is missing.
        """
        self.programs(bool(latent), plugin)

    def check_source(self, lines: Sequence[str], path: str | os.PathLike[str], ini: str | os.PathLike[str]) -> None:
        """Refuses lines that the decoder cannot translate: by default all but sentences, which may be empty.

        Raises:
            InputError: the first bad line, with the cure.
        """
        check_plain_sentences(lines, path)

    def installed(self) -> list[Path]:
        """Programs and libraries of the host, as far as they are installed."""
        return []

    def find(self, word: str, ini: str | os.PathLike[str]) -> Path | None:
        """The file that a word of a configuration names, if it names one."""
        return find_file(word, ini)

    def sentence_files(self, ini: str | os.PathLike[str], sentences: Sequence[str]) -> list[Path]:
        """The files that the sentences themselves name."""
        return []


DECODER_HOSTS = Registry("lscfg.decoder_hosts", DecoderHost, "decoder")

EMBEDDED = "embedded"
"""Name of the default host."""


def decoder_identity(name: str, ini: str | os.PathLike[str], sentences: Sequence[str] = ()) -> str:
    """A hash of everything that a decoder's output depends on, except the weights, which tuning sets.

    Args:
        name: of the host.
        sentences: source sentences, which may name files in some hosts.

    Raises:
        InputError: a file cannot be read, or the program is not installed.
    """
    host = DECODER_HOSTS[name]
    named = (host.find(word, ini) for word in named_words(ini, leave="weights"))
    files = [Path(ini), *(path for path in named if path is not None and os.path.isfile(path))]
    files += [*host.installed(), *host.sentence_files(ini, sentences)]
    text = " ".join([name, *(file_hash(path) for path in files)])
    return hashlib.sha256(text.encode()).hexdigest()
