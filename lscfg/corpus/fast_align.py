"""Word alignment by the reparameterised IBM model 2 with variational EM (Dyer, Chahuneau & Smith 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lscfg.corpus.aligner import Aligner, Links, SavedModel
from lscfg.corpus.thot import best_links, read_model, train, write_model
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class FastAlignSettings(Declared):
    """Settings of fast_align, which makes no random choices."""

    iterations: int = setting(5, "iterations of EM", least=1)


class FastAlign(Aligner[FastAlignSettings]):
    """Variational EM for a log-linear IBM model 2."""

    HELP = "the reparameterised IBM model 2 by variational EM"
    VERSION = 1
    Settings = FastAlignSettings

    def align_corpus(
        self, src: list[list[str]], tgt: list[list[str]], settings: FastAlignSettings, save: Path | None
    ) -> list[Links]:
        """Trains and aligns; see ``Aligner``."""
        from thot.alignment import FastAlignModel

        model = FastAlignModel()
        model.variational_bayes = True
        train(model, src, tgt, settings.iterations)
        if save is not None:
            write_model(model, save)
        return best_links(model, src, tgt)

    def align_text(self, src: list[list[str]], tgt: list[list[str]], saved: Path) -> list[Links]:
        """Aligns other text with a saved model."""
        return self.open_saved(saved)(src, tgt)

    def open_saved(self, saved: Path) -> SavedModel:
        """Reads a saved model; see ``Aligner``."""
        from thot.alignment import FastAlignModel

        return partial(best_links, read_model(FastAlignModel(), saved))
