"""Stages of a system that chooses from the translations of others: how sure it takes them to be, and its choice."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lscfg.io.text import read_lines, write_json, write_lines
from lscfg.tuning.experiment.stages import Facts, Files, several, version
from lscfg.tuning.experiment.stages.decoding import DEV, OUTPUT

SCALES = (0.1, 0.2, 0.3, 0.5, 1.0)
"""What scores are multiplied by before they become probabilities: those that are tried."""


@version(1)
def agree(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The scale with the best BLEU on the development set; the first of equal ones."""
    from lscfg.tuning.bleu import corpus_bleu, corpus_stats, length_ratio

    began = time.monotonic()
    references = [read_lines(inputs[name]) for name in several("dev reference", inputs)]
    chosen = _agreed(inputs, len(references[0]), settings["scales"], jobs)
    stats = [corpus_stats(lines, references).sum(0) for lines in zip(*chosen, strict=True)]
    scores = [corpus_bleu(one) for one in stats]
    best = max(range(len(scores)), key=scores.__getitem__)
    summary = {
        "bleu": scores[best],
        "length_ratio": length_ratio(stats[best]),
        "scale": settings["scales"][best],
        "bleu_by_scale": {str(scale): score for scale, score in zip(settings["scales"], scores, strict=True)},
        "seconds": time.monotonic() - began,
    }
    write_json(folder / DEV, summary)


@version(1)
def together(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The translations of the test set that the systems agree on most."""
    scale = json.loads(inputs["dev"].read_text(encoding="utf-8"))["scale"]
    lines = _agreed(inputs, len(read_lines(inputs["test source"])), [scale], jobs)
    write_lines(folder / OUTPUT, [one[0] for one in lines])


def _agreed(inputs: Files, sentences: int, scales: Sequence[float], jobs: int) -> list[list[str]]:
    """For each sentence its translation under each scale."""
    from lscfg.parallel.choose import in_processes
    from lscfg.tuning.rescore import agreed, read_lists

    systems = [read_lists(inputs[name], {}, sentences) for name in several("lists", inputs)]
    with in_processes(jobs) as engine:
        return list(engine.map(partial(agreed, scales=scales), list(zip(*systems, strict=True))))
