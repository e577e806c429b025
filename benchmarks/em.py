"""Time and memory of an EM iteration, E and M step, by states, threads and smoothing.

    python benchmarks/em.py train.deriv --reference 16.3
    python benchmarks/em.py forests.deriv --forests --threads 1

Each figure is the best and the median of some iterations; the first one, in which the arrays are made, is left out. All
threads must give the same weights, which is asserted before a time is printed. Each figure comes from a separate
process. Forests stand next to trees of the same file, with the ratio of their least CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import runs

from lscfg.estimate.em import EMRun, EMSettings
from lscfg.extract.derive import Derivations


def measure(
    path: str, m: int, threads: int, smoothed: bool, repeats: int, forests: bool = False
) -> dict[str, float | str]:
    """Seconds of iterations and peak MiB of this process."""
    plain = {} if smoothed else {"shrink_source": 0.0, "shrink_arity": 0.0}
    em = EMRun(Derivations.load(path), EMSettings(m, forests=forests, **plain), threads)
    weights = em.begin(0)
    times, cpu = [], []
    for _ in range(repeats + 1):
        start, began = time.perf_counter(), time.process_time()
        em.train.infer(weights)
        em.step(weights, em.train, em.tying)
        times.append(time.perf_counter() - start)
        cpu.append(time.process_time() - began)
    em.train.infer(weights)
    return {
        "best": min(times[1:]),
        "median": statistics.median(times[1:]),
        "CPU": min(cpu[1:]),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "likelihood": float(em.train.log_likelihood.sum()).hex(),
    }


def main() -> None:
    """Runs every setting in a separate process and prints a table."""
    parser = runs.parser(__doc__)
    parser.add_argument("derivations", metavar="DERIVATIONS")
    parser.add_argument("-m", default="1,8,16,32", help="numbers of states (default: %(default)s)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="iterations (default: %(default)s)")
    parser.add_argument("--reference", type=float, help="seconds of another program's iteration, for the ratio")
    parser.add_argument("--forests", action="store_true", help="also over the forests that the file has")
    parser.add_argument("--unsmoothed", action="store_true", help="EM as in the paper; else with shrunk counts")
    parser.add_argument("--one", nargs=2, type=int, metavar=("M", "THREADS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.derivations, *args.one, not args.unsmoothed, args.repeats, args.forests)))
        return
    run = runs.Run(args)
    run.table("an iteration", ["m", "counts", "threads", "best s", "median s", "CPU s", "peak MiB", "ratio"])
    for m in args.m.split(","):
        likelihoods: dict[str, str] = {}
        for threads in args.threads.split(","):
            trees = None
            for counts in ("trees", *(["forests"] if args.forests else [])):
                command = [sys.executable, __file__, args.derivations, "--one", m, threads]
                command += ["--repeats", str(args.repeats), *(["--unsmoothed"] if args.unsmoothed else [])]
                command += ["--forests"] if counts == "forests" else []
                found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
                assert likelihoods.setdefault(counts, found["likelihood"]) == found["likelihood"], "threads matter"
                trees = trees or found
                ratio = found["CPU"] / trees["CPU"] if counts == "forests" else None
                if args.reference and counts == "trees":
                    ratio = args.reference / found["median"]
                run.row(m, counts, threads, *(found[name] for name in ("best", "median", "CPU", "peak")), ratio)
    run.save()


if __name__ == "__main__":
    main()
