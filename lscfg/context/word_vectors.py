"""Word vectors from a file, instead of canonical directions of the surrounding words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lscfg.context.correlation import Correlation
from lscfg.context.views import Views
from lscfg.estimate.svd import normalised_rows
from lscfg.io.vectors import read_vectors
from lscfg.kernel import CONTEXT_EXTRA_WORDS


def given_directions(path: Path, views: Views, vocabulary: Sequence[str]) -> Correlation:
    """Directions of items: the word's vector, of length 1, divided by its distance (1 in gaps); 0 without a vector.

    Raises:
        InputError: see ``read_vectors``.
    """
    of_word = normalised_rows(read_vectors(path, vocabulary))
    look, split, outer = views.look, views.split, views.outer
    slot, word = np.divmod(views.items.astype(np.int64), len(vocabulary) + CONTEXT_EXTRA_WORDS)
    plain = views.is_word(len(vocabulary))
    distance = np.where(slot < 2 * look.window, slot % look.window + 1, 1)
    found = np.zeros((len(word), of_word.shape[1]))
    found[plain] = of_word[word[plain]] / distance[plain, None]
    return Correlation(found[:split], found[split:outer], np.ones(of_word.shape[1]), found[outer:])
