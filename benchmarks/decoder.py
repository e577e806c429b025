"""The embedded decoder compared with cdec or Moses: translations, scores and time.

    python benchmarks/decoder.py cdec.ini weights dev.ja --cdec-root ~/cdec
    python benchmarks/decoder.py cdec.ini weights dev.ja --moses moses_lscfg

Both read the same configuration; paths in it count from the working directory. Before anything is printed, derivations
of both k-best lists that have the same words and features must have the same score, up to 1e-4 and cdec's rounding.
Then come the sentences with the same first translation; those of the others where both scores are level in this sense,
and where one is better; and our best score less cdec's. Times are user CPU of one process with lists of one, load times
taken off; of several rounds the least counts.

Moses has another search, so its lists are compared with longer ones of ours: how many of its hypotheses are there with
the same words and features, and how many of these have a latent feature. Its scores of them may differ from ours by a
constant, which is shown with its range.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import runs
from cdec import user_seconds

from lscfg.cdec_bridge.decoder import program_below
from lscfg.cdec_bridge.processes import CdecProcesses
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.ini import read_ini
from lscfg.formats.kbest import parse_hypothesis
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.kernel import LatentOptions
from lscfg.moses_bridge.decoder import MosesDecoder

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from reference import common_hypotheses


def is_level(ours: float, theirs: float) -> bool:
    """True if scores differ by at most 1e-4 and the rounding of cdec, which prints six digits."""
    return abs(ours - theirs) <= 1e-4 + 5e-6 * abs(theirs)


def compare_moses(args: argparse.Namespace, lines: list[str], weights: dict[str, float]) -> None:
    """Prints agreement with Moses."""
    decoder = MosesDecoder(args.ini, Path(args.moses))
    theirs = decoder.decode(lines, weights, args.k, unique=False)
    with EmbeddedDecoder.from_ini(args.ini) as embedded:
        ours = embedded.decode(lines, weights, 4 * args.k)
    config = read_ini(args.ini)
    latent = LatentOptions.of(config.latent.options.items()).features.names if config.latent else ()
    # Moses' glue is worth ln 2.718
    common = list(common_hypotheses(ours, theirs, 5e-5, {"Glue": 1e-3}))
    with_latent = sum(any(other.features.get(name) for name in latent) for _, other in common)
    gaps = [other.score - own.score for own, other in common]
    first = sum(own[0].text == lists[0].text for own, lists in zip(ours, theirs, strict=True))
    run = runs.Run(args)
    titles = ["sentences", "same first translation", "hypotheses of Moses", "in our lists", "with latent features"]
    run.table("agreement with Moses", [*titles, "least difference of scores", "largest difference of scores"])
    run.row(len(lines), first, sum(map(len, theirs)), len(common), with_latent, min(gaps), max(gaps))
    run.save()


def main() -> None:
    """Prints agreement and times."""
    parser = runs.parser(__doc__)
    parser.add_argument("ini")
    parser.add_argument("weights")
    parser.add_argument("text")
    host = parser.add_mutually_exclusive_group(required=True)
    host.add_argument("--cdec-root", help="source tree of cdec, built")
    host.add_argument("--moses", help="program of lscfg moses build")
    parser.add_argument("-k", type=int, default=50, help="length of the lists that are compared (default: %(default)s)")
    parser.add_argument("--lines", type=int, help="of the text, from its beginning (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    lines, weights = read_lines(args.text)[: args.lines], read_weights(args.weights)
    if args.moses:
        compare_moses(args, lines, weights)
        return
    program = program_below(args.cdec_root)
    if program is None:
        parser.error(f"no cdec below {args.cdec_root}")
    text = "".join(f"{line}\n" for line in lines)
    ini, weights_file = Path(args.ini), Path(args.weights)

    processes = CdecProcesses(program, ini, ["-w", args.weights], args.k)
    theirs = [[parse_hypothesis(line, program)[1] for line in found] for found in processes.decode(lines)]
    assert all(theirs), "cdec has no parse of some sentence"
    with EmbeddedDecoder.from_ini(ini) as decoder:
        ours = decoder.decode(lines, weights, args.k)
    common = list(common_hypotheses(ours, theirs))
    for a, b in common:
        assert is_level(a.score, b.score), (
            f"the same derivation has the score {a.score} here, {b.score} in cdec: {b.text}"
        )

    gains = [a[0].score - b[0].score for a, b in zip(ours, theirs, strict=True)]
    others = [n for n, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a[0].text != b[0].text]
    kinds = Counter(
        "level" if is_level(ours[n][0].score, theirs[n][0].score) else "ours" if gains[n] > 0 else "theirs"
        for n in others
    )
    run = runs.Run(args)
    titles = ["sentences", "same first translation", "level", "ours better", "cdec's better"]
    titles += ["mean difference of best scores", "least", "largest"]
    run.table("agreement with cdec", [*titles, "hypotheses of cdec", "in our lists with the same scores"])
    first = [len(lines), len(lines) - len(others), kinds["level"], kinds["ours"], kinds["theirs"]]
    run.row(*first, sum(gains) / len(gains), min(gains), max(gains), sum(map(len, theirs)), len(common))

    load = user_seconds(program, ini, weights_file, "")[0]
    cdec = min(user_seconds(program, ini, weights_file, text, "-k", "1")[0] for _ in range(args.rounds)) - load
    seconds = []
    for _ in range(args.rounds):
        with EmbeddedDecoder.from_ini(ini) as decoder:
            start = time.process_time()
            decoder.decode(lines, weights)
            seconds.append(time.process_time() - start)
    run.table("time", ["cdec s", "embedded s", "ratio"])
    run.row(cdec, min(seconds), min(seconds) / cdec)
    run.save()


if __name__ == "__main__":
    main()
