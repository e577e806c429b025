"""Word alignment by the reparameterised IBM model 2 with variational EM (Dyer, Chahuneau & Smith 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lscfg.corpus.thot import Links, best_links, read_model, train, write_model
from lscfg.settings import Declared, setting

HELP = "the reparameterised IBM model 2 by variational EM"
VERSION = 1


@dataclass(frozen=True)
class Settings(Declared):
    """How long is trained; there are no random choices."""

    iterations: int = setting(5, "iterations of EM", least=1)


def align_corpus(src: list[list[str]], tgt: list[list[str]], settings: Settings, save: Path | None) -> list[Links]:
    """Links of each pair as (source position, target position), at most one for each target word.

    Args:
        save: the folder that gets the trained model's files, if any.
    """
    from thot.alignment import FastAlignModel

    model = FastAlignModel()
    model.variational_bayes = True
    train(model, src, tgt, settings.iterations)
    if save is not None:
        write_model(model, save)
    return best_links(model, src, tgt)


def align_text(src: list[list[str]], tgt: list[list[str]], saved: Path) -> list[Links]:
    """Links of other text by a saved model."""
    from thot.alignment import FastAlignModel

    return best_links(read_model(FastAlignModel(), saved), src, tgt)
