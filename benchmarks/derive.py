"""Cost of ``lscfg derive``: time next to reference figures, and growth of time and memory with the corpus.

    python benchmarks/derive.py train.ja train.en train.align --reference 'original pipeline=10.5'

Each run of the command is a separate process, timed by the wall from start to end. The output is checked before a
figure is printed: as many trees as pairs, and the same bytes for any number of threads.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import runs

from lscfg.errors import exit_reason
from lscfg.extract.derive import Derivations
from lscfg.kernel import DeriveOptions, Deriver

# The peak is the child's own: what wait4 reports begins with the size of the process that started it.
PROGRAM = """
import sys
from lscfg.cli import main
status = main()
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
sys.exit(status)
"""
COMMAND = [sys.executable, "-P", "-c", PROGRAM, "derive", "--quiet"]


def run_command(files: list[Path], output: Path, threads: int = 1) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MiB of one run of the command."""
    begin = time.perf_counter()
    before = os.times()
    command = [*COMMAND, *map(str, files), "-o", str(output), "--jobs", str(threads)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    wall, after = time.perf_counter() - begin, os.times()
    if process.returncode:
        sys.exit(f"lscfg derive ended with {exit_reason(process.returncode)}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, int(process.stdout) / 1024


def best(files: list[Path], output: Path, repeats: int, threads: int = 1) -> tuple[float, float, float, float]:
    """The run of least wall seconds, and the longest wall seconds of all."""
    found = [run_command(files, output, threads) for _ in range(repeats)]
    return (*min(found), max(found)[0])


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def speed(run: runs.Run, files: list[Path], folder: Path, repeats: int, references: list[tuple[str, float]]) -> None:
    """Time on the corpus, with one and two threads, next to the reference figures."""
    pairs = sum(1 for _ in files[0].open("rb"))
    names = [f"times faster than {name}" for name, _ in references]
    run.table(f"{pairs} sentence pairs", ["threads", "wall s", "longest wall s", "CPU s", "peak MiB", *names])
    digests = set()
    for threads in (1, 2):
        output = folder / "out"
        wall, cpu, memory, longest = best(files, output, repeats, threads)
        digests.add(digest(output))
        assert len(digests) == 1, "the output depends on the number of threads"
        assert Derivations.load(output).statistics()["trees"] == pairs
        run.row(threads, wall, longest, cpu, memory, *(seconds / wall for _, seconds in references))


def corpus_growth(run: runs.Run, files: list[Path], folder: Path, repeats: int) -> None:
    """Time and memory of parts and multiples of the corpus.

    Parts of the corpus bring new rules with them, repetitions do not: there memory must stand still.
    """
    lines = [path.read_bytes().splitlines(keepends=True) for path in files]
    total = len(lines[0])
    parts = [folder / f"size{k}" for k in range(3)]
    for path, side in zip(parts, lines, strict=True):
        path.write_bytes(side[0])
    start = best(parts, folder / "out", repeats)[0]
    columns = ["pairs", "of the corpus", "rule types", "wall s", "us a pair without start-up", "peak MiB"]
    run.table("growth with the corpus", columns)
    run.row(1, None, None, start, None, None)
    for part in (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8):
        count = max(1, round(total * part))
        for path, side in zip(parts, lines, strict=True):
            path.write_bytes(b"".join(side) * int(part) if part >= 1 else b"".join(side[:count]))
        wall, _, memory, _ = best(parts, folder / "out", repeats)
        sizes = Derivations.load(folder / "out").statistics()
        assert sizes["trees"] == count
        run.row(count, f"{part:g}", sizes["rule types"], wall, 1e6 * (wall - start) / count, memory)


def alignments(n: int) -> dict[str, list[tuple[int, int]]]:
    """Alignments of n words with n words: usual ones, and such as send a careless stack scan far."""
    identity = [(i, i) for i in range(n)]
    rng = random.Random(n)
    local = sorted(range(n), key=lambda i: i + rng.uniform(0, 5))
    permutation = list(range(n))
    rng.shuffle(permutation)
    return {
        "local reordering": list(enumerate(local)),
        "monotone": identity,
        "inverse": [(i, n - 1 - i) for i in range(n)],
        "random": list(enumerate(permutation)),
        "ends linked": [*identity, (0, n - 1), (n - 1, 0)],
        "from both ends": [(i, i if i % 2 else n - 1 - i) for i in range(n)],
        "no links": [],
    }


def length_growth(run: runs.Run, repeats: int, pairs: int = 50) -> None:
    """Microseconds of the kernel for a word, by alignment and sentence length."""
    lengths = (25, 50, 100, 200, 400, 2000)
    run.table("growth with sentence length", ["alignment", *(f"{n} words: us a word" for n in lengths)])
    for name in alignments(4):
        found = []
        for n in lengths:
            line = (" ".join(f"w{i}" for i in range(n)) + "\n").encode() * pairs
            links = (" ".join(f"{i}-{j}" for i, j in alignments(n)[name]) + "\n").encode() * pairs
            seconds = []
            for _ in range(repeats):
                deriver = Deriver(DeriveOptions())
                begin = time.perf_counter()
                deriver.add_lines((line, line, links), pairs)
                seconds.append(time.perf_counter() - begin)
                assert (deriver.nodes().parent == -1).sum() == pairs
            found.append(1e6 * min(seconds) / pairs / n)
        run.row(name, *found)


def reference(text: str) -> tuple[str, float]:
    name, _, seconds = text.rpartition("=")
    return name or "reference", float(seconds)


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("alignment", type=Path)
    parser.add_argument(
        "--reference",
        type=reference,
        action="append",
        default=[],
        metavar="NAME=SECONDS",
        help="what another program takes for this corpus; may be given again",
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="runs of each (default: %(default)s)")
    args = parser.parse_args()
    files = [args.source, args.target, args.alignment]
    made = runs.Run(args)
    with tempfile.TemporaryDirectory() as folder:
        speed(made, files, Path(folder), args.repeats, args.reference)
        corpus_growth(made, files, Path(folder), min(3, args.repeats))
    length_growth(made, args.repeats)
    made.save()


if __name__ == "__main__":
    main()
