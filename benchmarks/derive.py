"""What ``lscfg derive`` costs: seconds beside reference figures, memory against corpus size, time against both sizes.

    python benchmarks/derive.py train.ja train.en train.align --reference 'original pipeline=10.5'

Each run of the command is a process of its own, timed by the wall from start to end, start-up included. That the output
is right is checked before a figure is printed: as many trees as pairs, and the same bytes for any number of threads.
The tables of growth are also drawn, into the file of ``--plot``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def run(files: list[Path], output: Path, threads: int = 1) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MiB of one run of the command."""
    begin = time.perf_counter()
    before = os.times()
    command = [*COMMAND, *map(str, files), "-o", str(output), "--jobs", str(threads)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    wall, after = time.perf_counter() - begin, os.times()
    if process.returncode:
        sys.exit(f"lscfg derive ended with status {process.returncode}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, int(process.stdout) / 1024


def best(files: list[Path], output: Path, repeats: int, threads: int = 1) -> tuple[float, float, float, float]:
    """The run of least wall seconds, and the longest wall seconds of all."""
    runs = [run(files, output, threads) for _ in range(repeats)]
    return (*min(runs), max(runs)[0])


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def speed(files: list[Path], folder: Path, repeats: int, references: list[tuple[str, float]]) -> None:
    """Time on the corpus, with one and two threads, beside the reference figures."""
    pairs = sum(1 for _ in files[0].open("rb"))
    print(f"\n## {pairs} sentence pairs, best of {repeats}\n")
    names = "".join(f" times faster than {name} |" for name, _ in references)
    print(f"| threads | wall s (to the longest) | CPU s | peak MiB |{names}")
    print("| --- " * (4 + len(references)) + "|")
    digests = set()
    for threads in (1, 2):
        output = folder / "out"
        wall, cpu, memory, longest = best(files, output, repeats, threads)
        digests.add(digest(output))
        assert len(digests) == 1, "the output depends on the number of threads"
        assert Derivations.load(output).statistics()["trees"] == pairs
        ratios = "".join(f" | {seconds / wall:.1f}" for _, seconds in references)
        print(f"| {threads} | {wall:.3f} (to {longest:.3f}) | {cpu:.2f} | {memory:.0f}{ratios} |")


def corpus_growth(files: list[Path], folder: Path, repeats: int) -> list[tuple[int, float, float, int]]:
    """Parts and multiples of the corpus: (pairs, wall seconds, peak MiB, rule types).

    Parts of the corpus bring new rules with them, repetitions do not: there memory must stand still.
    """
    lines = [path.read_bytes().splitlines(keepends=True) for path in files]
    total = len(lines[0])
    parts = [folder / f"size{k}" for k in range(3)]
    for path, side in zip(parts, lines, strict=True):
        path.write_bytes(side[0])
    start = best(parts, folder / "out", repeats)[0]
    print(f"\n## Growth with the corpus (one pair takes {start:.3f} s: start-up)\n")
    print("| pairs | rule types | wall s | microseconds a pair, without start-up | peak MiB |")
    print("| --- | --- | --- | --- | --- |")
    rows = []
    for part in (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8):
        count = max(1, round(total * part))
        for path, side in zip(parts, lines, strict=True):
            path.write_bytes(b"".join(side) * int(part) if part >= 1 else b"".join(side[:count]))
        wall, _, memory, _ = best(parts, folder / "out", repeats)
        sizes = Derivations.load(folder / "out").statistics()
        assert sizes["trees"] == count
        rows.append((count, wall, memory, sizes["rule types"]))
        note = f"{count}" if part <= 1 else f"{count} (the corpus {part} times)"
        each = 1e6 * (wall - start) / count
        print(f"| {note} | {sizes['rule types']} | {wall:.3f} | {each:.2f} | {memory:.0f} |")
    return rows


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


def length_growth(repeats: int, pairs: int = 50) -> dict[str, list[tuple[int, float]]]:
    """Microseconds of the kernel for one sentence pair, by alignment and words."""
    lengths = (25, 50, 100, 200, 400, 2000)
    print("\n## Growth with sentence length: microseconds a word in the kernel\n")
    print("| alignment | " + " | ".join(f"{n} words" for n in lengths) + " |")
    print("| --- " * (1 + len(lengths)) + "|")
    found: dict[str, list[tuple[int, float]]] = {}
    for name in alignments(4):
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
            found.setdefault(name, []).append((n, 1e6 * min(seconds) / pairs))
        print(f"| {name} | " + " | ".join(f"{each / n:.3f}" for n, each in found[name]) + " |")
    return found


def plot(path: Path, corpus: list[tuple[int, float, float, int]], lengths: dict[str, list[tuple[int, float]]]) -> None:
    """Draws the growth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (time_axis, memory_axis, length_axis) = pyplot.subplots(1, 3, figsize=(15, 4))
    pairs = [row[0] for row in corpus]
    time_axis.plot(pairs, [row[1] for row in corpus], "o-")
    time_axis.set(xlabel="sentence pairs", ylabel="seconds", xlim=(0, None), ylim=(0, None))
    memory_axis.plot(pairs, [row[2] for row in corpus], "o-", label="peak MiB")
    memory_axis.plot(pairs, [row[3] / 1000 for row in corpus], "s--", label="1000 rule types")
    memory_axis.set(xlabel="sentence pairs", xlim=(0, None), ylim=(0, None))
    memory_axis.legend()
    for name, points in lengths.items():
        short = [point for point in points if point[0] <= 400]
        length_axis.plot(*zip(*short, strict=True), "o-", label=name)
    length_axis.set(xlabel="words", ylabel="microseconds a pair", xlim=(0, None), ylim=(0, None))
    length_axis.legend()
    figure.tight_layout()
    figure.savefig(path)
    print(f"\nplot: {path}")


def reference(text: str) -> tuple[str, float]:
    name, _, seconds = text.rpartition("=")
    return name or "reference", float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of lscfg derive on a word-aligned corpus.")
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
    parser.add_argument("--plot", type=Path, default=Path("derive.png"), metavar="FILE", help="(default: %(default)s)")
    args = parser.parse_args()
    files = [args.source, args.target, args.alignment]
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as folder:
        speed(files, Path(folder), args.repeats, args.reference)
        corpus = corpus_growth(files, Path(folder), min(3, args.repeats))
    plot(args.plot, corpus, length_growth(args.repeats))


if __name__ == "__main__":
    main()
