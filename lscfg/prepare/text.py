"""Two plain text files: line n of one translates line n of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from lscfg.errors import InputError, counted
from lscfg.prepare.encoded import EncodedSettings, decoding_fault, encoded_lines
from lscfg.prepare.reader import RawPair, TextReader


class PlainText(TextReader[EncodedSettings]):
    """Two plain text files."""

    HELP = "two plain text files, line by line"
    VERSION = 1
    Settings = EncodedSettings
    FILES = 2

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: EncodedSettings
    ) -> Iterator[RawPair]:
        """Reads a source and a target file, or several of each.

        Raises:
            InputError: a file cannot be read or is not UTF-8, or one is shorter than the other.
        """
        for source, target in zip(files[::2], files[1::2], strict=True):
            lines = encoded_lines(source, settings.encoding), encoded_lines(target, settings.encoding)
            for number, (f, e) in enumerate(zip_longest(*lines), 1):
                if f is None or e is None:
                    shorter, longer = (source, target) if f is None else (target, source)
                    raise InputError(
                        f"{counted(number - 1, 'line')}, but {longer} has more; both need the same number of lines",
                        shorter,
                    )
                yield RawPair(str(source), number, f, e, decoding_fault(f, e) if settings.encoding else "")
