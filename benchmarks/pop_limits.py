"""Cost and gain of a larger pop limit of the embedded decoder: search errors, BLEU and seconds.

    python benchmarks/pop_limits.py cdec.ini weights devtest.ja devtest.en [--pops 50 100 200 500 1000 2000]

A sentence has a search error where some pop limit, of those asked for, finds a translation of a higher model score; the
loss is the mean difference. "first" is the time of a first pass over the text, parsing and latent features included;
"again" is that of one more pass, as a tuning makes many. Times are CPU seconds of one process, reading the grammar left
out. Before anything is printed, each score must be the weighted sum of its features, and both passes must give the same
bytes.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import runs

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.ini import read_ini
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.tuning.bleu import corpus_bleu, corpus_stats

DIGITS = 1e-6
"""By less than this two scores do not differ: rounding of sums in another order."""


def main() -> None:
    """Prints a row for each pop limit."""
    parser = runs.parser(__doc__)
    parser.add_argument("ini")
    parser.add_argument("weights")
    parser.add_argument("text")
    parser.add_argument("reference")
    parser.add_argument("--pops", type=int, nargs="+", default=[50, 100, 200, 500, 1000, 2000])
    parser.add_argument("--lines", type=int, help="of the text, from its beginning (default: all)")
    args = parser.parse_args()
    lines, references = read_lines(args.text)[: args.lines], [read_lines(args.reference)[: args.lines]]
    config, weights = read_ini(args.ini), read_weights(args.weights)

    scores, rows = [], []
    for pops in args.pops:
        with EmbeddedDecoder.from_config(replace(config, pop_limit=pops)) as decoder:
            passes, seconds = [], []
            for _ in range(2):
                start = time.process_time()
                passes.append(decoder.decode_arrays(lines, weights))
                seconds.append(time.process_time() - start)
            vector = np.array([weights.get(name, 0.0) for name in decoder.feature_names])
        first, again = passes
        for a, b in zip(first, again, strict=True):
            assert a.texts == b.texts and np.array_equal(a.scores, b.scores), "two passes differ"
            assert abs(a.features[0] @ vector - a.scores[0]) < DIGITS * max(1, abs(a.scores[0])), (
                "not the sum of features"
            )
        scores.append([found.scores[0] for found in first])
        bleu = corpus_bleu(corpus_stats([found.texts[0] for found in first], references).sum(0))
        rows.append((pops, *seconds, bleu))

    best = np.max(scores, 0)
    run = runs.Run(args)
    run.table(f"{len(lines)} sentences", ["pops", "share of errors", "loss", "BLEU", "first s", "again s"])
    for (pops, first_s, again_s, bleu), of_pops in zip(rows, scores, strict=True):
        lost = best - np.array(of_pops)
        run.row(pops, (lost > DIGITS).mean(), lost.mean(), bleu, first_s, again_s)
    run.save()


if __name__ == "__main__":
    main()
