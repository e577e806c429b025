"""Words of corrections and terms, with the capitals that a person typed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lscfg.bundle.places import preparation_of
from lscfg.decode.derivations import Translated
from lscfg.later import later

if TYPE_CHECKING:
    from lscfg.prepare import record, sides
else:
    record = later("lscfg.prepare.record")
    sides = later("lscfg.prepare.sides")


class TypedWords:
    """Gives the words of corrections and hard terms the capitals that a person typed, which restoring keeps.

    Args:
        config: ``cdec.ini`` of the system; without a preparation next to it, the words stay as they are.
        terms: see ``Glossary.typed``.
    """

    def __init__(self, config: str | os.PathLike[str], terms: Mapping[str, str]):
        self._config, self._terms = Path(config), terms

    @cached_property
    def _side(self) -> sides.Side | None:
        folder = preparation_of(self._config)
        return None if folder is None else record.Record.read(folder).sides[1].side()

    def best(self, sentence: Translated) -> str:
        """The best translation of a sentence. The texts of a k-best list stay: other programs compare them.

        Raises:
            InputError: the preparation cannot be read.
        """
        pair = sentence.answered
        if pair is not None and pair.typed and self._side is not None:
            return self._side.uncased(pair.typed)
        words = sentence.hypotheses[0].text.split()
        for one in sorted(sentence.terms, reverse=True, key=lambda one: one.target):
            if one.form in self._terms:
                words[slice(*one.target)] = self._terms[one.form].split()
        return " ".join(words)
