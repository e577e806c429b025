"""Cost and gain of a larger pop limit of the embedded decoder, and of pruning: search errors, BLEU and seconds.

    python benchmarks/pop_limits.py cdec.ini weights devtest.ja devtest.en [--pops 50 100 200 500 1000 2000]
    python benchmarks/pop_limits.py cdec.ini weights dev.ja dev.en --pops 200 100 --prune 0 1e-8 1e-7 1e-6

A sentence has a search error where some search, of those asked for, finds a translation of a higher model score; the
loss is the mean difference. "others" is the share of translations that differ from those of the first row. "first" is
the time of a first pass over the text, parsing and latent features included; "again" is that of one more pass, as a
tuning makes many. Times are CPU seconds of one process, reading the grammar left out. Before anything is printed, each
score must be the weighted sum of its features, and both passes must give the same bytes.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import runs

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.tuning.bleu import corpus_bleu, corpus_stats

DIGITS = 1e-6
"""By less than this two scores do not differ: rounding of sums in another order."""


def with_pruning(config: DecoderConfig, prune: str) -> DecoderConfig:
    """The configuration with this least marginal; 0 leaves a configuration without latent features as it is."""
    if config.latent is None:
        assert float(prune) == 0, "only latent features have marginals"
        return config
    options = {**config.latent.options, "prune": prune}
    return replace(config, latent=replace(config.latent, options=options))


def main() -> None:
    """Prints a row for each pop limit and least marginal."""
    parser = runs.parser(__doc__)
    parser.add_argument("ini")
    parser.add_argument("weights")
    parser.add_argument("text")
    parser.add_argument("reference")
    parser.add_argument("--pops", type=int, nargs="+", default=[50, 100, 200, 500, 1000, 2000])
    parser.add_argument("--prune", nargs="+", default=["0"], help="least marginals (default: none)")
    parser.add_argument("--lines", type=int, help="of the text, from its beginning (default: all)")
    args = parser.parse_args()
    lines, references = read_lines(args.text)[: args.lines], [read_lines(args.reference)[: args.lines]]
    config, weights = read_ini(args.ini), read_weights(args.weights)

    scores, rows, texts = [], [], []
    for pops, prune in itertools.product(args.pops, args.prune):
        with EmbeddedDecoder.from_config(with_pruning(replace(config, pop_limit=pops), prune)) as decoder:
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
        texts.append([found.texts[0] for found in first])
        bleu = corpus_bleu(corpus_stats(texts[-1], references).sum(0))
        others = float(np.mean([a != b for a, b in zip(texts[0], texts[-1], strict=True)]))
        rows.append((pops, prune, others, bleu, *seconds))

    best = np.max(scores, 0)
    run = runs.Run(args)
    run.table(
        f"{len(lines)} sentences", ["pops", "prune", "share of errors", "loss", "others", "BLEU", "first s", "again s"]
    )
    for (pops, prune, *found), of_search in zip(rows, scores, strict=True):
        lost = best - np.array(of_search)
        run.row(pops, prune, float((lost > DIGITS).mean()), float(lost.mean()), *found)
    run.save()


if __name__ == "__main__":
    main()
