"""Word alignment by the reparameterised IBM model 2 with variational EM (Dyer, Chahuneau & Smith 2013)."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.corpus.align import Links, matrix_links
from lscfg.settings import Declared, setting

HELP = "the reparameterised IBM model 2 by variational EM"
VERSION = 1


@dataclass(frozen=True)
class Settings(Declared):
    """How long is trained; there are no random choices."""

    iterations: int = setting(5, "iterations of EM", least=1)


def align_corpus(src: list[list[str]], tgt: list[list[str]], settings: Settings) -> list[Links]:
    """Links of each pair as (source position, target position), at most one for each target word."""
    from thot.alignment import FastAlignModel

    model = FastAlignModel()
    model.variational_bayes = True
    for pair in zip(src, tgt, strict=True):
        model.add_sentence_pair(*pair)
    model.start_training()
    for _ in range(settings.iterations):
        model.train()
    model.end_training()
    found = []
    for begin in range(0, len(src), 1000):
        batch = slice(begin, begin + 1000)
        found += [matrix_links(matrix) for _, matrix in model.get_best_alignments(src[batch], tgt[batch])]
    return found
