"""Limits of a service."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class ServeSettings(Declared):
    """Limits of requests.

    Raises:
        SettingError: a limit is out of its range.
    """

    max_request: int = setting(1 << 20, "maximum bytes of a request", least=100, most=1 << 28, metavar="BYTES")
    max_sentences: int = setting(100, "maximum sentences of a request", least=1)
    max_characters: int = setting(5000, "maximum characters of a sentence", least=1)
    max_words: int = setting(150, "maximum words of a sentence", least=1)
    max_translations: int = setting(200, "maximum translations of a request, over all lists", least=1)
    queue: int = setting(32, "maximum requests running or queued", least=1)
    timeout: float = setting(15.0, "seconds to receive a request, and again to answer it", above=0, most=86400)
