"""Recall and false alarms of the check of raw text, measured on planted faults, and its time.

    python benchmarks/health.py train.de train.en --planted 50

Each kind of fault of ``tests/support/planted_faults.py`` is planted in as many pairs. Columns: ``recall``, the share of
these pairs that are found; ``others``, pairs found with this fault in which nothing was planted; ``precision``, planted
pairs among those and the others. A clean text has few real faults, so ``others`` is an upper bound of false alarms;
pairs with ``&`` or ``<`` are left out first, since their entities and tags are real.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import runs

from lscfg.io.read import read_lines
from lscfg.prepare import health as health_module
from lscfg.prepare.corpus import RawFiles, check_health
from lscfg.prepare.settings import PrepareSettings

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from planted_faults import PLANTS, Pair, plant


def found_places(pairs: list[Pair], languages: tuple[str, str]) -> tuple[dict[str, set[int]], float]:
    """Numbers of the pairs with each fault, and the CPU seconds of the check."""
    with tempfile.TemporaryDirectory() as name:
        files = tuple(Path(name) / f"text.{language}" for language in languages)
        for side, file in enumerate(files):
            file.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
        began = time.process_time()
        health, _ = check_health(RawFiles(files), PrepareSettings())
        seconds = time.process_time() - began
    return {one.fault: {example.line - 1 for example in one.examples} for one in health.findings()}, seconds


def main() -> None:
    """Prints and stores the shares."""
    parser = runs.parser(__doc__)
    parser.add_argument("source", type=Path, help="clean text, whose name ends in its language")
    parser.add_argument("target", type=Path, help="its translation")
    parser.add_argument("--planted", type=int, default=50, help="pairs with each kind of fault (default: %(default)s)")
    args = parser.parse_args()
    sides = [read_lines(path) for path in (args.source, args.target)]
    pairs: list[Pair] = [pair for pair in dict.fromkeys(zip(*sides, strict=True)) if not {*"&<"} & {*"".join(pair)}]
    languages = args.source.suffix[1:], args.target.suffix[1:]
    run = runs.Run(args)
    health_module.EXAMPLES = len(pairs)  # every pair of a finding
    made, planted = plant(pairs, list(PLANTS), args.planted)
    found, seconds = found_places(made, languages)
    faulty = set().union(*planted.values())
    run.table("planted faults", ["fault", "planted", "recall", "others", "precision"])
    for kind, places in planted.items():
        right, others = len(found.get(kind, set()) & places), len(found.get(kind, set()) - faulty)
        run.row(kind, len(places), right / len(places), others, right / max(right + others, 1))
    run.table("time", ["text", "pairs", "CPU s"])
    run.row("with planted faults", len(made), seconds)
    run.save()


if __name__ == "__main__":
    main()
