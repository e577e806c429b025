"""Seconds until a correction counts, and BLEU of a text whose sentences are corrected one after another.

    python benchmarks/corrections.py cdec.ini weights dev.ja dev.en --aligner aligner --lines 200

Each sentence is translated, then its reference is stored as its correction; the translation that counts for BLEU comes
before its own correction. ``next s`` is the time from the correction to the end of the next translation of the same
sentence, which must be the correction. ``restart s`` reads the whole memory again.

With ``--stored DIR``, the folder of a memory, the text is also translated without and with this memory, by turns of
sentences. The table lists the mean CPU time of a sentence: the first time, when phrases must be looked up, and the
least of ``PASSES`` later times.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import runs

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.memory import ALIGNER, Memory, open_memory
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.log import progress
from lscfg.tuning.evaluate import corpus_score

PASSES = 4
WARM = 100
"""Last lines of the source, which are translated first, and not measured."""


def cpu_seconds(
    decoder: EmbeddedDecoder, sources: Sequence[str], weights: Mapping[str, float], memory: Memory, turn: int = 0
) -> np.ndarray:
    """CPU time without and with a memory of each sentence, float64 [2, sentences].

    Args:
        turn: 1 begins with the memory, 0 without it; the next sentence begins with the other.
    """
    found = np.empty((2, len(sources)))
    for number, source in enumerate(sources, turn):
        for side in (number % 2, 1 - number % 2):
            begin = time.process_time()
            list(decoder.translate([source], weights, memory=memory if side else None))
            found[side, number - turn] = time.process_time() - begin
    return found


def measure_stored(run: runs.Run, decoder: EmbeddedDecoder, folder: Path, args: argparse.Namespace) -> None:
    """Adds the table of ``--stored``."""
    memory, weights, text = Memory(folder), read_weights(args.weights), read_lines(args.source)
    sources = text[: min(args.lines, len(text) - WARM)]
    cpu_seconds(decoder, text[-WARM:], weights, memory)
    first = cpu_seconds(decoder, sources, weights, memory)
    later = np.min([cpu_seconds(decoder, sources, weights, memory, turn % 2) for turn in range(1, PASSES + 1)], axis=0)
    run.table("other sentences", ["time", "stored", "sentences", "ms without", "ms with", "ratio"])
    for name, times in (("first", first), ("later", later)):
        without, with_memory = (1000 * times.mean(axis=1)).tolist()
        run.row(name, len(memory), len(sources), without, with_memory, with_memory / without)


def main() -> None:
    """Prints the figures and keeps them."""
    parser = runs.parser(__doc__)
    for name in ("ini", "weights", "source", "reference"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--aligner", type=Path, help="saved aligner (default: one-word rules of the grammar)")
    parser.add_argument("--lines", type=int, default=200, help="most sentences (default: %(default)s)")
    parser.add_argument("--correction", type=float, default=0.0, help="weight of Correction (default: %(default)s)")
    parser.add_argument("--stored", type=Path, help="folder of a memory: measures sentences that it does not contain")
    args = parser.parse_args()
    text = read_lines(args.source)
    if args.stored and len(text) <= WARM:
        parser.error(f"--stored: {args.source} has {len(text)} lines; the last {WARM} are not measured, so give more")
    sources, references = text[: args.lines], read_lines(args.reference)[: args.lines]
    weights = read_weights(args.weights) | {"Correction": args.correction}
    static, learned, seconds = [], [], []
    exact = rules = 0
    with TemporaryDirectory() as folder, EmbeddedDecoder.from_ini(args.ini, cached=0) as decoder:
        if args.aligner:
            shutil.copyfile(args.aligner, Path(folder) / ALIGNER)
        memory = open_memory(folder, decoder.align)

        def translated(text: str, memory: Memory | None) -> str:
            (found,) = decoder.translate([text], weights, memory=memory)
            return found.hypotheses[0].text

        for source, reference in progress(zip(sources, references, strict=True), "corrections", len(sources)):
            static.append(translated(source, None))
            learned.append(translated(source, memory))
            begin = time.perf_counter()
            rules += memory.add(source, reference)[1]
            exact += translated(source, memory) == " ".join(reference.split())
            seconds.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        assert Memory(folder).pairs == memory.pairs
        restart = time.perf_counter() - begin
        run = runs.Run(args)
        columns = ["pairs", "rules", "exact", "median next s", "p95 next s", "restart s", "static", "learned"]
        run.table("corrections", columns)
        scores = [corpus_score("bleu", output, [references]) for output in (static, learned)]
        run.row(len(sources), rules, exact, *np.quantile(seconds, [0.5, 0.95]).tolist(), restart, *scores)
        if args.stored:
            measure_stored(run, decoder, args.stored, args)
    run.save()


if __name__ == "__main__":
    main()
