"""METEOR-ES as a metric; ``lscfg.tuning.meteor`` matches words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lscfg.settings import Declared
from lscfg.tuning.meteor import WIDTH, meteor
from lscfg.tuning.metrics.metric import Floats, Metric, Stats
from lscfg.tuning.objectives import StemReferences


class Meteor(Metric[Declared]):
    """METEOR of exact matches and matches of English stems, as of 2005; not METEOR 1.5."""

    HELP = "METEOR of 2005 with exact matches and English stems"
    TITLE = "METEOR-ES"
    USUAL = False
    Settings = Declared

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: Declared
    ) -> Stats:
        """Exact matches, matches of stems, chunks and both lengths, [sentences, 5], of the best reference."""
        lines = zip(output, *references, strict=True)
        rows = [StemReferences(others).row(line.split()) for line, *others in lines]
        return np.array(rows, np.int32).reshape(-1, WIDTH)

    def score(self, sums: Stats) -> Floats:
        """See ``lscfg.tuning.meteor.meteor``."""
        return meteor(sums)
