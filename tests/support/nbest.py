"""Writes n-best lists as Moses does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lscfg.formats.kbest import Hypothesis
from lscfg.io.write import atomic_write


def format_features(features: dict[str, float]) -> str:
    """The inverse of ``parse_features``; consecutive values ``Name_0``, ``Name_1`` ... are one feature."""
    texts: list[str] = []
    previous = ""
    for name, value in features.items():
        stem, _, number = name.rpartition("_")
        if stem and number == "0" and f"{stem}_1" in features:
            texts.append(f"{stem}= {value:.9g}")
        elif stem and number.isdigit() and previous == f"{stem}_{int(number) - 1}":
            texts.append(f"{value:.9g}")
        else:
            texts.append(f"{name}= {value:.9g}")
        previous = name
    return " ".join(texts)


def write_nbest(path: str | os.PathLike[str], lists: Iterable[Sequence[Hypothesis]]) -> None:
    """Writes one n-best list per sentence, sentences numbered from 0."""
    with atomic_write(path) as file:
        for sentence, hypotheses in enumerate(lists):
            for h in hypotheses:
                file.write(f"{sentence} ||| {h.text} ||| {format_features(dict(h.features))} ||| {h.score:.9g}\n")
