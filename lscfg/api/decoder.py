"""The built-in decoder for programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import overload

from lscfg.closing import Closing
from lscfg.corpus.parallel import check_plain, check_sentences
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.weights import read_weights, warn_of_weights


class Decoder(Closing):
    """Translates tokenised sentences by a decoder's configuration, in this process.

    Args:
        config: a ``cdec.ini``.
        weights: a file of feature weights, or the weights; None for the file that the configuration names.

    Raises:
        InputError: a file cannot be read or is malformed, or there are no weights.
    """

    def __init__(
        self, config: str | os.PathLike[str], weights: str | os.PathLike[str] | Mapping[str, float] | None = None
    ):
        self.config = os.fspath(config)
        self._decoder = EmbeddedDecoder.from_ini(config, cached=0)
        if weights is None and self._decoder.config.weights is None:
            raise InputError("no weights; give them as the second argument, or with weights= in the ini", config)
        chosen = self._decoder.config.weights if weights is None else weights
        self.weights = dict(chosen) if isinstance(chosen, Mapping) else read_weights(str(chosen))
        named = "weights" if isinstance(chosen, Mapping) else chosen
        warn_of_weights(self.weights, self._decoder.feature_names, self._decoder.live_features, named)

    @overload
    def translate(self, lines: Iterable[str]) -> list[str]: ...
    @overload
    def translate(self, lines: Iterable[str], k: int) -> list[list[Hypothesis]]: ...

    def translate(self, lines: Iterable[str], k: int | None = None) -> list[str] | list[list[Hypothesis]]:
        """The best translation of each sentence, or its k best with scores and features.

        Args:
            lines: sentences of words that blanks separate; an empty one has an empty translation.

        Raises:
            InputError: a line contains a forbidden word, or k is less than 1.
        """
        if isinstance(lines, str):
            raise TypeError("lines is one string; give a list of sentences")
        sentences = list(lines)
        check_plain(sentences, "lines")
        check_sentences(sentences, "lines", allow_empty=True)
        found = [one.hypotheses for one in self._decoder.translate(sentences, self.weights, 1 if k is None else k)]
        return [best[0].text for best in found] if k is None else found

    def close(self) -> None:
        """Frees grammar and language model."""
        self._decoder.close()

    def __repr__(self) -> str:
        return f"<Decoder {os.path.basename(self.config)}: {len(self._decoder.feature_names)} features>"
