"""Time and memory of an EM iteration, E and M step, by states, threads and smoothing.

    python benchmarks/em.py train.deriv --reference 16.3

Each figure is the best and the median of some iterations; the first one, in which the arrays are made, is left out. All
threads must give the same weights, which is asserted before a time is printed. Peak memory is that of a process of its
own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from lscfg.estimate.em import EMRun
from lscfg.estimate.em import Settings as EMSettings
from lscfg.extract.derive import Derivations


def measure(path: str, m: int, threads: int, smoothed: bool, repeats: int) -> dict[str, float | str]:
    """Seconds of iterations and peak MiB of this process."""
    plain = {} if smoothed else {"shrink_source": 0.0, "shrink_arity": 0.0}
    em = EMRun(Derivations.load(path), EMSettings(m, **plain), threads)
    weights = em.begin(0)
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        em.train.infer(weights)
        em.step(weights, em.train, em.tying)
        times.append(time.perf_counter() - start)
    em.train.infer(weights)
    return {
        "best": min(times[1:]),
        "median": statistics.median(times[1:]),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "likelihood": float(em.train.log_likelihood.sum()).hex(),
        "nodes": len(em.train.trees.arity),
        "trees": len(em.train.trees),
    }


def main() -> None:
    """Runs every setting in a process of its own and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("derivations", metavar="DERIVATIONS")
    parser.add_argument("-m", default="1,8,16,32", help="numbers of states (default: %(default)s)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="iterations (default: %(default)s)")
    parser.add_argument("--reference", type=float, help="seconds of another program's iteration, for the ratio")
    parser.add_argument("--unsmoothed", action="store_true", help="EM as in the paper; else with shrunk counts")
    parser.add_argument("--one", nargs=2, type=int, metavar=("M", "THREADS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.derivations, *args.one, not args.unsmoothed, args.repeats)))
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, {'unsmoothed' if args.unsmoothed else 'smoothed'}")
    print(f"{'m':>3} {'threads':>7} {'best s':>8} {'median s':>8} {'peak MiB':>8} {'ratio':>7}")
    for m in args.m.split(","):
        likelihood = None
        for threads in args.threads.split(","):
            command = [sys.executable, __file__, args.derivations, "--one", m, threads, "--repeats", str(args.repeats)]
            command += ["--unsmoothed"] if args.unsmoothed else []
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(run.stdout)
            likelihood = likelihood or found["likelihood"]
            assert found["likelihood"] == likelihood, "threads change the result"
            ratio = f"{args.reference / found['median']:7.1f}" if args.reference else "      -"
            print(f"{m:>3} {threads:>7} {found['best']:8.3f} {found['median']:8.3f} {found['peak']:8.0f} {ratio}")


if __name__ == "__main__":
    main()
