"""Growth of time and memory of each stage with the corpus: CPU seconds, wall seconds and peak memory, with exponents.

    python benchmarks/growth.py grow train.ja train.en train.align --copies 16 --output big
    python benchmarks/growth.py measure train.ja train.en train.align --copies 1,4,16 --stages derive,em

A corpus is grown by copies of itself. In copies a share of the tokens, drawn at random, has other names than their
words: ``word~1``, ``word~2`` and so on. The numbers of names of a word grow by a law of powers, and tokens prefer
frequent names (Pitman and Yor 1997). So new rules come for ever, of rare words and frequent ones. By default the
minimal rules of 49,500 Japanese-English pairs grow as those of halves of this text do: with exponent 0.76.

Each stage is a command, or several, each a separate process. Peaks are of the largest process.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import runs

from lscfg.extract.derive import Derivations
from lscfg.io.read import read_lines

PROGRAM = """
import sys
from lscfg.cli import main
status = main()
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(status)
"""
"""The command, and at last its own peak in KiB: what wait4 reports begins with the process that started it."""

STAGES = {
    "derive": "derive {f} {e} {a} -o {out}/derivations",
    "minimal grammar": "grammar minimal {out}/derivations -o {out}/minimal.gz",
    "hiero grammar": "grammar hiero {f} {e} {a} -o {out}/hiero.gz",
    "hiero grammar in 1 GiB": "grammar hiero {f} {e} {a} --memory 1 -o {out}/hiero.gz",
    "hiero for a text": "grammar hiero {f} {e} {a} --filter {text} -o {out}/filtered.gz",
    "sampled for a text": "grammar sampled {f} {e} {a} --filter {text} --sweeps 5 --set keep_every=5 -o {out}/s.gz",
    "lm": "lm {e} -o {out}/lm.arpa.gz --order 4 --estimator lscfg --discount-fallback",
    "spectral": "estimate spectral {out}/derivations -o {out}/spectral.lscfg",
    "em": "estimate em {out}/derivations --iterations 1 -o {out}/em.lscfg",
    "clusters": "estimate clusters {out}/derivations --iterations 1 -o {out}/clusters.lscfg",
    "mle": "estimate mle {out}/derivations -o {out}/mle.lscfg",
    "context": "context {out}/mle.lscfg {f} --derivations {out}/derivations -o {out}/context.lscfg",
}
"""Lines of commands by stage; ``derive`` comes first, since others take what it writes."""


def grow(lines: list[str], copies: int, share: float, exponent: float, seed: int) -> Iterator[str]:
    """Lines of one side, copy after copy; the first is the text itself."""
    rng = random.Random(seed)
    given: dict[str, list[int]] = defaultdict(list)  # numbers of the names that a word has got, one for each token
    names: Counter[str] = Counter()
    yield from lines
    for _ in range(1, copies):
        for line in lines:
            words = line.split()
            for k, word in enumerate(words):
                if rng.random() < share:
                    before = given[word]
                    new = not before or rng.random() * len(before) < exponent * names[word]
                    names[word] += new
                    number = names[word] if new else rng.choice(before)
                    before.append(number)
                    words[k] = f"{word}~{number}"
            yield " ".join(words)


def write_grown(args: argparse.Namespace, copies: int, folder: Path) -> dict[str, Path]:
    """The three files of the grown corpus."""
    found = {name: folder / f"{name}.{copies}" for name in "fea"}
    for number, (name, path) in enumerate(zip("fea", (args.source, args.target, args.alignment), strict=True)):
        lines = read_lines(path)
        with found[name].open("w", encoding="utf-8") as file:
            grown = (
                lines * copies if name == "a" else grow(lines, copies, args.share, args.exponent, args.seed + number)
            )
            file.writelines(f"{line}\n" for line in grown)
    return found


def run_command(line: str, jobs: int) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MiB of a command."""
    begin, before = time.perf_counter(), os.times()
    words = [sys.executable, "-P", "-c", PROGRAM, *line.split(), "--quiet"]
    words += [] if line.startswith("lm ") else ["--jobs", str(jobs)]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"lscfg {line}: {done.stderr}")
    wall, after = time.perf_counter() - begin, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, int(done.stderr.split()[-1]) / 1024


def exponent(before: tuple[float, float], after: tuple[float, float]) -> float:
    """Of the law of powers through two points (size, value)."""
    return math.log(after[1] / before[1]) / math.log(after[0] / before[0])


def measure(args: argparse.Namespace) -> None:
    """The table of all stages and sizes."""
    sizes = [int(copies) for copies in args.copies.split(",")]
    stages = args.stages.split(",") if args.stages else list(STAGES)
    run = runs.Run(args)
    run.table("stages", ["pairs", "stage", "wall s", "CPU s", "peak MiB"])
    rows: dict[str, list[tuple[float, float, float]]] = {stage: [] for stage in stages}
    types: list[tuple[int, int]] = []
    for copies in sizes:
        with tempfile.TemporaryDirectory(dir=args.folder) as name:
            folder = Path(name)
            files = write_grown(args, copies, folder)
            pairs = copies * len(read_lines(args.source))
            given = {**files, "out": folder, "text": args.text}
            run_command(STAGES["derive"].format(**given), args.jobs)
            types.append((pairs, len(Derivations.load(folder / "derivations").rules)))
            for stage in stages:
                figures = run_command(STAGES[stage].format(**given), args.jobs)
                rows[stage].append(figures)
                run.row(pairs, stage, *figures)
                for made in {*folder.iterdir()} - {*files.values(), folder / "derivations"}:
                    made.unlink()  # a model may be gigabytes
    run.table("minimal rules", ["pairs", "rules"])
    for pairs, n in types:
        run.row(pairs, n)
    if len(sizes) > 1:
        run.table("exponents of growth between the last two sizes", ["stage", "CPU", "memory"])
        for stage, found in rows.items():
            ends = [(types[k][0], found[k]) for k in (-2, -1)]
            run.row(stage, *(exponent(*((size, figures[k]) for size, figures in ends)) for k in (1, 2)))
        run.row("minimal rules", exponent(types[-2], types[-1]), None)
    run.save()


def main() -> None:
    """Reads the command line and does the action."""
    parser = runs.parser(__doc__)
    parser.add_argument("action", choices=("grow", "measure"))
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("alignment")
    parser.add_argument("--copies", default="1,4,16", help="sizes, separated by commas")
    parser.add_argument("--share", type=float, default=0.075, help="share of the tokens with other names")
    parser.add_argument("--exponent", type=float, default=0.7, help="of the names of a word, by tokens that have them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stages", help=f"some of {', '.join(STAGES)}")
    parser.add_argument("--text", help="text of 'hiero for a text'")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where to work, or write")
    args = parser.parse_args()
    if args.action == "measure":
        measure(args)
    else:
        for copies in args.copies.split(","):
            write_grown(args, int(copies), args.folder)


if __name__ == "__main__":
    main()
