"""Words of corrections, with the capitals that a person typed."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lscfg.bundle.places import preparation_of
from lscfg.decode.derivations import Translated
from lscfg.formats.kbest import Hypothesis
from lscfg.later import later

if TYPE_CHECKING:
    from lscfg.prepare import record, sides
else:
    record = later("lscfg.prepare.record")
    sides = later("lscfg.prepare.sides")


class TypedCorrections:
    """Gives the words of a correction the capitals that a person typed, which ``lscfg prepare restore`` keeps.

    Args:
        config: ``cdec.ini`` of the system; without a preparation next to it, the words stay as they are.
    """

    def __init__(self, config: str | os.PathLike[str]):
        self._config = Path(config)

    @cached_property
    def _side(self) -> sides.Side | None:
        folder = preparation_of(self._config)
        return None if folder is None else record.Record.read(folder).sides[1].side()

    def hypotheses(self, sentence: Translated) -> list[Hypothesis]:
        """The k-best list of a sentence.

        Raises:
            InputError: the preparation cannot be read.
        """
        pair, found = sentence.answered, sentence.hypotheses
        if pair is None or not pair.typed or self._side is None:
            return found
        return [replace(found[0], text=self._side.uncased(pair.typed)), *found[1:]]
