"""COMET (Rei et al., 2020) as a metric, for machines with the package and a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lscfg.errors import InputError
from lscfg.extras import installed_versions
from lscfg.settings import Declared, setting
from lscfg.tuning.metrics.metric import Floats, Metric, Stats

BATCH = 8
"""Sentences in a batch of the model."""


@dataclass(frozen=True)
class CometSettings(Declared):
    """Settings of COMET."""

    model: Path | None = setting(None, "checkpoint of COMET (.ckpt); nothing is loaded from the network")


class Comet(Metric[CometSettings]):
    """Mean of the sentence scores of a neural model, times 100."""

    HELP = "neural model of COMET, which also reads the source"
    TITLE = "COMET"
    FROM_TEXT = False
    Settings = CometSettings

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: CometSettings
    ) -> Stats:
        """Score of each sentence, a mean over the references, and 1; [sentences, 2].

        Raises:
            InputError: the checkpoint is not given or not a file, COMET cannot be loaded, or the source is not as long
                as the output.
        """
        if settings.model is None or not settings.model.is_file():
            raise InputError(
                "no checkpoint of COMET; name the .ckpt file of a model on this machine with --comet", settings.model
            )
        try:
            from comet import load_from_checkpoint
        except ImportError as error:
            raise InputError(f"COMET cannot be loaded ({error}): pip install unbabel-comet") from error
        if len(source) != len(output):
            raise InputError("COMET reads the source, too; name it with --source")
        data = [
            {"src": src, "mt": line, "ref": reference}
            for document in references
            for src, line, reference in zip(source, output, document, strict=True)
        ]
        model = load_from_checkpoint(os.fspath(settings.model))
        scores = model.predict(data, batch_size=BATCH, gpus=0, progress_bar=False).scores
        means = 100 * np.array(scores, np.float64).reshape(len(references), -1).mean(axis=0)
        return np.stack([means, np.ones_like(means)], axis=1)

    def score(self, sums: Stats) -> Floats:
        """Means."""
        means: Floats = sums[..., 0] / np.maximum(sums[..., 1], 1)
        return means

    def signature(self, references: int, samples: int, seed: int, settings: CometSettings) -> str:
        """The checkpoint and the version of the package."""
        versions = installed_versions(["unbabel-comet"]).items()
        name = settings.model.name if settings.model else ""
        return f"{name}, times 100" + "".join(f", {package} {version}" for package, version in versions)
