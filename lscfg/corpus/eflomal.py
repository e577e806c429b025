"""Word alignment by Gibbs sampling with Dirichlet priors (Östling & Tiedemann 2016).

The parameters are lexical, of an HMM, and of fertility.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lscfg.corpus.aligner import Aligner, Links, SavedModel
from lscfg.corpus.thot import best_links, matrix_links, read_model, train, write_model
from lscfg.settings import Declared, setting

# Eflomal is the default aligner because its links repeat: on the ja-en training text, joined by union, they give
# 503,000 rule tokens of 67,321 types, where FastAlign with grow-diag-final-and gives as many tokens of 93,787 types.
# It takes twice FastAlign's time.


@dataclass(frozen=True)
class EflomalSettings(Declared):
    """Settings of eflomal."""

    iterations: int | None = setting(
        None,
        "sweeps of the last stage, with a quarter as many of each of the two before it",
        least=1,
        most=1_000_000_000,  # all stages together are counted in 32 bits
        shown="5000 over the root of the number of pairs",
    )
    seed: int = setting(1, "seed of the samples", least=0, most=2**32 - 1)


class Eflomal(Aligner[EflomalSettings]):
    """Gibbs sampling with Dirichlet priors."""

    HELP = "Gibbs sampling of lexical, HMM and fertility parameters"
    VERSION = 1
    Settings = EflomalSettings

    def align_corpus(
        self, src: list[list[str]], tgt: list[list[str]], settings: EflomalSettings, save: Path | None
    ) -> list[Links]:
        """Trains and aligns; see ``Aligner``."""
        from thot.alignment import EflomalAlignmentModel

        model = EflomalAlignmentModel()
        model.seed = settings.seed
        model.deterministic = True
        # Links from the samplers' last states; those that the trained parameters find from scratch are far worse.
        model.emit_training_alignments = True
        if settings.iterations:
            quarter = max(1, settings.iterations // 4)
            model.set_iterations(max(2, quarter), quarter, settings.iterations)  # in proportion as the model's own
        train(model, src, tgt)
        if save is not None:
            write_model(model, save)
        return [matrix_links(model.get_training_alignment(k)[1]) for k in range(len(src))]

    def align_text(self, src: list[list[str]], tgt: list[list[str]], saved: Path) -> list[Links]:
        """Samples links of other text under the trained parameters, from the same seed."""
        return self.open_saved(saved)(src, tgt)

    def open_saved(self, saved: Path) -> SavedModel:
        """Reads a saved model; see ``Aligner``."""
        from thot.alignment import EflomalAlignmentModel

        return partial(best_links, read_model(EflomalAlignmentModel(), saved))
