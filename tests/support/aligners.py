"""Settings of aligners."""

from __future__ import annotations

from lscfg.corpus.align import AlignmentSettings
from lscfg.corpus.aligner import ALIGNERS


def with_aligner(model: str = "eflomal", heuristic: str = "union", **own: object) -> AlignmentSettings:
    """The settings of word alignment with some of the aligner's own."""
    return AlignmentSettings(model, heuristic, ALIGNERS[model].Settings(**own))
