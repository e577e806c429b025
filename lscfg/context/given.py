"""Vectors of words from a file in place of canonical directions of the words around."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lscfg.context.cca import Correlation
from lscfg.context.views import Views
from lscfg.estimate.svd import normalised_rows
from lscfg.io.vectors import read_vectors
from lscfg.kernel import SENSE_WORDS

VECTORS = "word vectors of the source, as text, in place of learned dimensions; rare words are told apart, too"
"""What the setting is that names the file."""


def given_directions(path: Path, views: Views, vocabulary: Sequence[str]) -> Correlation:
    """What each item adds: its word's vector, of length 1, divided by its distance; 0 without a vector.

    Raises:
        InputError: see ``read_vectors``.
    """
    of_word = normalised_rows(read_vectors(path, vocabulary))
    slot, word = np.divmod(views.items.astype(np.int64), len(vocabulary) + SENSE_WORDS)
    plain = word < len(vocabulary)
    found = np.zeros((len(word), of_word.shape[1]))
    found[plain] = of_word[word[plain]] / (slot[plain] % views.window + 1)[:, None]
    return Correlation(found[: views.split], found[views.split :], np.ones(of_word.shape[1]))
