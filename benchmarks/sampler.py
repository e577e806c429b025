"""Sampled grammars: words a second and core, two chains on two cores, and memory.

    python benchmarks/sampler.py train.ja train.en train.align [--sweeps 30] [--from-sweep 11] [--original DIR]

A chain sweeps alone, then two chains sweep at the same time in threads. That the first chain has the same trees both
times is checked before a figure is printed. The speed is the target words of all pairs by the seconds of a sweep, the
mean over the sweeps from ``--from-sweep`` on. Memory is the peak of the process after the first chain.

With ``--original``, the program of Chung et al. (2014) in that folder, converted to Python 3, sweeps over the first
2,000 pairs too, and lscfg over the same ones, in turn. That both begin with as many rules is checked first.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import runs

from lscfg.extract.extractor import RuleInputs
from lscfg.induce.sampled.chain import ChainSettings
from lscfg.induce.sampled.text import read_text
from lscfg.io.read import read_lines
from lscfg.kernel.sample import PhraseForests, TreeSampler


def sweep(
    forests: PhraseForests, settings: ChainSettings, chain: int, first: int, last: int
) -> tuple[float, TreeSampler]:
    """Mean seconds of the sweeps from the first to the last, and the sampler after the last."""
    sampler = TreeSampler(forests, settings.options(chain))
    began = time.perf_counter()
    for number in range(1, last + 1):
        if number == first:
            began = time.perf_counter()
        sampler.sweep(number)
    return (time.perf_counter() - began) / (last - first + 1), sampler


def same(one: TreeSampler, other: TreeSampler) -> bool:
    """True if both have the same trees, cut in the same way."""
    ours, theirs = one.trees(), other.trees()
    return all((ours[name] == theirs[name]).all() for name in ("edge", "cut"))


PART, TURNS = 2000, 3
"""Pairs that the original program gets, and its sweeps; the first is not timed."""


def stripped(source: str, target: str, links: str) -> tuple[str, str, str]:
    """The pair without words at its ends that have no link: the original program gives them to no rule."""
    src, tgt = source.split(), target.split()
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    (i, j), (k, last) = ((min(side), max(side) + 1) for side in zip(*pairs, strict=True))
    moved = " ".join(f"{s - i}-{t - k}" for s, t in pairs)
    return " ".join(src[i:j]), " ".join(tgt[k:last]), moved


def against(run: runs.Run, original: Path, corpus: list[list[str]], settings: ChainSettings) -> None:
    """Prints the seconds of a sweep of both programs over the first pairs."""
    pairs = [stripped(*lines) for lines in zip(*corpus, strict=True) if lines[2].strip()][:PART]
    forests = PhraseForests(settings.max_cut, settings.max_words)
    for pair in pairs:
        forests.add(*pair)
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name, side) for side in "fea"]
        for path, lines in zip(files, zip(*pairs, strict=True), strict=True):
            path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        command = [sys.executable, "sampler.py", f"--iter={TURNS}", "--dump_iter=999", f"--dump={name}/dump", *files]
        subprocess.run(command, check=True, cwd=original, capture_output=True)
        said = Path(name, "dump", "log").read_text("utf-8")
    sizes = [tuple(map(int, found)) for found in re.findall(r"^(\d+) rules, (\d+) rule types", said, re.M)]
    theirs = [float(found) for found in re.findall(r"^iteration time: (\S+) sec", said, re.M)][1:]
    first = TreeSampler(forests, settings.options()).state()
    assert sizes[0] == (first.tokens, first.types)
    ours, _ = sweep(forests, settings, 0, 2, 10 * TURNS)
    mean = sum(theirs) / len(theirs)
    run.table("original program", ["pairs", "tokens", "types", "original: a sweep s", "lscfg: a sweep s", "ratio"])
    run.row(len(pairs), first.tokens, first.types, mean, ours, mean / ours)


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("alignment", nargs="+")
    parser.add_argument("--sweeps", type=int, default=30)
    parser.add_argument("--from-sweep", type=int, default=11)
    parser.add_argument("--process", choices=("py", "dp"), default="py")
    parser.add_argument("--original", type=Path, help="folder of the original program, which has sampler.py")
    args = parser.parse_args()
    settings = ChainSettings(process=args.process)
    began = time.perf_counter()
    inputs = RuleInputs(args.source, args.target, tuple(args.alignment))
    forests = read_text(inputs, settings.max_cut, settings.max_words).forests
    reading = time.perf_counter() - began
    words = sum(len(line.split()) for line in read_lines(args.target)) * len(args.alignment)
    alone, first = sweep(forests, settings, 0, args.from_sweep, args.sweeps)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        work = [pool.submit(sweep, forests, settings, chain, args.from_sweep, args.sweeps) for chain in (0, 1)]
        (_, again), _ = (one.result() for one in work)
    both = time.perf_counter() - began
    assert same(first, again)
    began = time.perf_counter()
    sweep(forests, settings, 1, args.from_sweep, args.sweeps)
    second = time.perf_counter() - began
    sizes, state = forests.sizes(), first.state()
    run = runs.Run(args)
    run.table("corpus", ["pairs", "target words", "nodes", "edges", "read s"])
    run.row(sizes.pairs, words, sizes.nodes, sizes.edges, reading)
    run.table("a sweep", ["wall s", "words a second", "peak MiB", "gain of two chains on two cores"])
    run.row(alone, words / alone, peak / 1024, 2 * second / both)
    if args.original:
        corpus = [read_lines(path) for path in (args.source, args.target, args.alignment[0])]
        against(run, args.original, corpus, settings)
    run.table("last sweep", ["sweep", "tokens", "types", "log joint"])
    run.row(args.sweeps, state.tokens, state.types, state.log_joint)
    run.save()


if __name__ == "__main__":
    main()
