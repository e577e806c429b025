"""Word classes of cdec's language models: ``CLASS WORD LOGP`` in each line."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from typing import NamedTuple

from lscfg.errors import InputError, quote
from lscfg.io.read import read_lines


class WordClasses(NamedTuple):
    """A class for each word, and the logarithm of the word's probability in the class."""

    classes: dict[str, str]
    emissions: dict[str, float]


@lru_cache(8)
def read_word_classes(path: str | os.PathLike[str]) -> WordClasses:
    """Reads the classes of a file.

    Raises:
        InputError: a line is malformed, or a word has two classes.
    """
    found = WordClasses({}, {})
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split()
        try:
            name, word, value = cells
            emission = float(value)
        except ValueError:
            raise InputError(f"expected CLASS WORD LOGP, found {quote(line)}", path, number) from None
        if not math.isfinite(emission):
            raise InputError(f"the logarithm {quote(value)} is not finite", path, number)
        if word in found.classes:
            raise InputError(f"a second class of {quote(word)}; keep one of the two", path, number)
        found.classes[word], found.emissions[word] = name, emission
    return found
