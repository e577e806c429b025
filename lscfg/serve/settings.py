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

    max_request: int = setting(1 << 20, "most bytes of a request", least=100, most=1 << 28, metavar="BYTES")
    max_sentences: int = setting(100, "most sentences of a request", least=1)
    max_characters: int = setting(5000, "most characters of a sentence", least=1)
    max_words: int = setting(150, "most words of a sentence", least=1)
    max_translations: int = setting(200, "most translations that a request asks for, in all lists", least=1)
    queue: int = setting(32, "most requests that are worked on or wait", least=1)
    timeout: float = setting(30.0, "seconds for a request to come, and again to be answered", above=0, most=86400)
