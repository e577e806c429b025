"""Files of requests: their formats, and the translated files until their download."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import PurePath

from lscfg.errors import quote
from lscfg.markup.formats import FORMATS, Format, format_of
from lscfg.serve.refusal import RefusalError

STORED_FILES, STORED_SECONDS, STORED_BYTES = 64, 600.0, 1 << 26
"""Number, seconds and bytes of the translated files that wait for their download."""


def known_format(name: str) -> tuple[str, Format]:
    """The ending and the format of a file.

    Raises:
        RefusalError: the format is not supported.
    """
    found = format_of(name)
    if found is None:
        cure = f"{', '.join(FORMATS)} are; make XLIFF of other files with a CAT tool"
        raise RefusalError(415, f"files such as {quote(name)} are not translated; {cure}")
    return PurePath(name.lower()).suffix, found


@dataclass(frozen=True)
class StoredFile:
    """A translated file."""

    name: str
    """Name for the client."""
    media_type: str
    data: bytes
    warnings: tuple[str, ...] = ()


class FileStore:
    """Translated files under random names, for a while; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, tuple[float, StoredFile]] = OrderedDict()

    def add(self, file: StoredFile) -> str:
        """Keeps a file, and returns its random name."""
        name = secrets.token_urlsafe(16)
        self._files[name] = time.monotonic() + STORED_SECONDS, file
        self._clear()
        return name

    def get(self, name: str) -> StoredFile | None:
        """The file of a name; None if the file is unknown or too old."""
        self._clear()
        found = self._files.get(name)
        return None if found is None else found[1]

    def _clear(self) -> None:
        now, size = time.monotonic(), sum(len(file.data) for _, file in self._files.values())
        while self._files:
            end, file = next(iter(self._files.values()))
            if end > now and len(self._files) <= STORED_FILES and (size <= STORED_BYTES or len(self._files) == 1):
                return
            self._files.popitem(last=False)
            size -= len(file.data)
