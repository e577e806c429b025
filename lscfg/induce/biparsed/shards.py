"""Passes whose parts learn at the same time, in processes or on a cluster: iterative parameter mixing.

McDonald, Hall and Mann 2010, *Distributed Training Strategies for the Structured Perceptron*.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.extract.extractor import RuleInputs
from lscfg.induce.biparsed.checkpoint import LearnerCheckpoint
from lscfg.induce.biparsed.passes import Visitor, learn_pass
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.induce.biparsed.text import read_bitexts
from lscfg.kernel.biparse import BiparseModel, Bitexts
from lscfg.parallel.choose import in_processes
from lscfg.parallel.engine import Engine, Serial, part_bounds
from lscfg.parallel.worker import drop, keep

TEXT = "bitexts"


@dataclass(frozen=True)
class PassPart:
    """A part of a pass, which any worker may do.

    Attributes:
        inputs: text, as absolute paths; number: number of the pass, from 1; pairs: pairs in the order of learning.
        checkpoint: state after the previous pass; None for the first pass.
    """

    inputs: RuleInputs
    settings: BiparseSettings
    number: int
    pairs: np.ndarray
    checkpoint: LearnerCheckpoint


def learn_shard(shard: PassPart) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of the model after the pass over the shard, and the kernel's records.

    Raises:
        InputError: weights diverge; the checkpoint is damaged, or belongs to another pass.
    """
    text = keep(TEXT, shard.checkpoint.made_from, lambda: read_bitexts(shard.inputs, shard.settings))
    model = BiparseModel(text, shard.settings.beams)
    if shard.number > 1:
        shard.checkpoint.put(shard.checkpoint.after(shard.number - 1), model)
    records = learn_pass(model, shard.pairs, shard.settings, shard.number, Visitor(Serial()))
    return model.arrays(), records


class Shards:
    """Shares the passes of a learner with workers.

    Args:
        folder: folder for checkpoints that all workers can read.
        made_from: a digest of text and settings.
    """

    def __init__(self, engine: Engine, inputs: RuleInputs, settings: BiparseSettings, folder: Path, made_from: str):
        self.folder = folder
        self._engine, self._made_from = engine, made_from
        self._settings = replace(settings, lexicon=settings.lexicon.absolute() if settings.lexicon else None)
        self._inputs = replace(inputs.absolute(), wanted=None)  # learning needs none of them

    def learn(
        self, model: BiparseModel, pairs: np.ndarray, number: int, checkpoint: LearnerCheckpoint, title: str
    ) -> np.ndarray:
        """One pass; returns the kernel's records, shard by shard.

        Args:
            model: a new model, which receives the mean of the shards' results, weighted by their pairs.

        Raises:
            InputError: the shards outnumber the pairs; see ``learn_shard``.
        """
        n = self._settings.shards
        if n > len(pairs):
            raise InputError(f"{n} shards, but only {len(pairs)} pairs to learn from")
        bounds = part_bounds(len(pairs), n)
        shards = [
            PassPart(self._inputs, self._settings, number, pairs[first:last], checkpoint)
            for first, last in pairwise(bounds)
        ]
        records = []
        for shard, (arrays, found) in zip(
            shards, log.progress(self._engine.map(learn_shard, shards), title, n), strict=True
        ):
            model.add(arrays, len(shard.pairs) / len(pairs))
            records.append(found)
        return np.concatenate(records)


@contextmanager
def in_shards(
    inputs: RuleInputs, settings: BiparseSettings, text: Bitexts, jobs: int, folder: Path | None, made_from: str
) -> Iterator[Shards | None]:
    """Workers for the shards of the settings; None for a single shard.

    Args:
        text: result of ``read_bitexts`` for the inputs; forked processes share it.
        folder: folder for checkpoints; None: a temporary one.
    """
    if settings.shards == 1 or not settings.passes:
        yield None
        return
    keep(TEXT, made_from, lambda: text)
    with TemporaryDirectory() as temporary, in_processes(min(jobs, settings.shards), large=True) as engine:
        try:
            yield Shards(engine, inputs, settings, folder or Path(temporary), made_from)
        finally:
            drop(TEXT, made_from)
