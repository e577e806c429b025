"""Spectral estimation from a derivation file to a model file: time and memory by size of the corpus.

    OPENBLAS_NUM_THREADS=1 python benchmarks/spectral.py train.deriv --reference 15.0 --folder /dev/shm

Each figure is a separate process, the command as users run it, interpreter and imports included. A check comes first:
that models are the same bytes with one thread and with all, and that both ways of the SVD find the same values. A model
file of m = 16 is large; where the system makes writers wait for its disk, ``--folder`` in memory leaves that out.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import runs

from lscfg.estimate.features import INSIDE, OUTSIDE, extract_features, scale
from lscfg.estimate.svd import SVD, truncated_svd
from lscfg.extract.derive import Derivations
from lscfg.extract.examples import Examples

FRACTIONS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)


def part(derivations: Derivations, n: int) -> Derivations:
    """The first ``n`` trees and the rules in them."""
    nodes = slice(0, int(derivations.trees[n]))
    used, rule = np.unique(derivations.rule[nodes], return_inverse=True)
    return Derivations(
        derivations.rules.select(used),
        derivations.trees[: n + 1],
        rule.astype(np.int32),
        derivations.parent[nodes],
        derivations.slot[nodes],
        derivations.span[nodes],
        derivations.lexicon,
        derivations.lexicon_count,
    )


COMMAND = """
import sys
from lscfg.cli import main
status = main(sys.argv[1:])
peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
print(peak, flush=True)
sys.exit(status)
"""


def run_command(*arguments: object) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MiB of one ``lscfg`` process."""
    begin = time.perf_counter()
    before = os.times()
    command = [sys.executable, "-P", "-c", COMMAND, *map(str, arguments), "--quiet"]
    # the process's own word for its peak: what the system says of a child begins with the peak of its parent
    peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begin, cpu, int(peak) / 1024


def decompositions(derivations: Derivations, rank: int) -> dict[str, dict[str, float]]:
    """Seconds of each way of the SVD, and its largest error relative to ARPACK's singular values."""
    examples = Examples.of(derivations)
    phi, psi = (
        scale(extract_features(examples, templates, inside).matrix, examples.is_example)[examples.is_example]
        for templates, inside in ((INSIDE, True), (OUTSIDE, False))
    )
    covariance = (phi.T @ psi / examples.n_examples).tocsr()
    found, values = {}, {}
    for method in SVD:
        begin = time.perf_counter()
        _, values[method], _ = truncated_svd(covariance, rank, 1, method)
        seconds = time.perf_counter() - begin
        error = float(np.abs(values[method] / values["arpack"] - 1).max())
        assert error < 0.01, f"{method}: singular values differ by {error}"
        found[method] = {"seconds": round(seconds, 3), "largest relative error": error}
    return found


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("derivations", help="derivation file of lscfg derive")
    parser.add_argument("--reference", type=float, metavar="SECONDS", help="what another program takes for all of it")
    parser.add_argument("-m", type=int, default=16)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", help="where the files go (default: the system's temporary folder)")
    args = parser.parse_args()
    whole = Derivations.load(args.derivations)
    run = runs.Run(args)
    run.table("SVD", ["method", "wall s", "largest relative error"])
    for method, figures in decompositions(whole, args.m).items():
        run.row(method, figures["seconds"], figures["largest relative error"])
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        model, deriv = folder / "model", folder / "deriv"
        common = ("-m", args.m, "-o", model)
        part(whole, len(whole) // 16).save(deriv)
        contents = []
        for threads in (1, args.threads):
            run_command("estimate", "spectral", deriv, *common, "--jobs", threads)
            contents.append(model.read_bytes())
        assert contents[0] == contents[1], "the model depends on the number of threads"
        columns = ["pairs", "tokens", "rules", "median wall s", "least wall s", "most wall s", "CPU s", "peak MiB"]
        run.table("sizes of the corpus", [*columns, "model MiB"])
        for fraction in FRACTIONS:
            some = part(whole, int(len(whole) * fraction))
            some.save(deriv)
            found = []
            for _ in range(args.repeats):
                model.unlink(missing_ok=True)
                found.append(run_command("estimate", "spectral", deriv, *common, "--jobs", args.threads))
            seconds = [s for s, _, _ in found]
            cpu, peak = statistics.median(cpu for _, cpu, _ in found), max(m for _, _, m in found)
            row = [statistics.median(seconds), min(seconds), max(seconds), cpu, peak, model.stat().st_size / 2**20]
            run.row(len(some), len(some.rule), len(some.rules), *row)
    if args.reference:
        run.table("reference", ["wall s", "ratio to the median", "ratio to the best run"])
        run.row(args.reference, args.reference / row[0], args.reference / row[1])
    run.save()


if __name__ == "__main__":
    main()
