"""Times of the Hiero grammar of a corpus: extraction, selection, writing, filtering; and how extraction grows.

    python benchmarks/hiero.py SOURCE TARGET ALIGNMENT [--filter TEXT] [--repeats N] [--threads N]

Each figure is the least of the repeats; the greatest follows. Before any time is printed, the grammar's counts
are checked to add up to the number of phrase pairs that they come of, and the file to hold all selected rules.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import runs

from lscfg.corpus.parallel import stream_aligned
from lscfg.extract.hiero import HieroRules, extract_files
from lscfg.grammar.select import Selection, select_rules
from lscfg.grammar.write import write_grammar
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.kernel import Grammar
from lscfg.moses_bridge.rule_table import write_rule_table
from lscfg.parallel.engine import available_cores


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, tuple[float, float]]:
    """The result of the work, and its least and most wall seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, (min(seconds), max(seconds))


def extracted(pairs: list[tuple[str, str, str]], repeats: int) -> tuple[HieroRules, tuple[float, float]]:
    """The rules of the pairs, from files, and the seconds of their extraction."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("f", "e", "links")]
        for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
            write_lines(path, lines)
        return timed(lambda: extract_files(*paths[:2], paths[2:]), repeats)


def growth(run: runs.Run, pairs: list[tuple[str, str, str]], repeats: int) -> None:
    """Extraction from the first part of the corpus, and from sentences glued together to greater length."""
    run.table("growth with the corpus", ["pairs", "wall s", "longest wall s", "rules"])
    for parts in (8, 4, 2, 1):
        some = pairs[: len(pairs) // parts]
        made, seconds = extracted(some, repeats)
        run.row(len(some), *seconds, len(made.rules))
    run.table("growth with sentence length", ["mean words", "wall s", "longest wall s", "phrase pairs"])
    for times in (1, 4, 16):
        some = [glued(pairs[k : k + times]) for k in range(0, len(pairs) - times + 1, times)]
        words = sum(len(f.split(" ")) for f, _, _ in some) / len(some)
        made, seconds = extracted(some, repeats)
        run.row(words, *seconds, made.phrases)


def glued(pairs: list[tuple[str, str, str]]) -> tuple[str, str, str]:
    """Sentence pairs as one."""
    links, i, j = [], 0, 0
    for f, e, a in pairs:
        links += [f"{i + int(x)}-{j + int(y)}" for x, y in (link.split("-") for link in a.split())]
        i, j = i + len(f.split(" ")), j + len(e.split(" "))
    return " ".join(f for f, _, _ in pairs), " ".join(e for _, e, _ in pairs), " ".join(links)


def main() -> None:
    """Prints the times."""
    parser = runs.parser(__doc__)
    parser.add_argument("corpus", nargs=3, metavar="FILE", help="source, target, alignment")
    parser.add_argument("--filter", metavar="TEXT")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=available_cores())
    args = parser.parse_args()

    made: HieroRules
    selection: Selection
    made, extraction = timed(lambda: extract_files(*args.corpus[:2], args.corpus[2:]), args.repeats)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert abs(made.count.sum() - made.used) < 1e-6 * made.used
    selection, selecting = timed(lambda: select_rules(made), args.repeats)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grammar.gz"
        _, writing = timed(lambda: write_grammar(path, made, selection, args.threads), args.repeats)
        assert len(Grammar.from_files([path])) == len(selection.kept)
        size = path.stat().st_size / 2**20
        _, moses = timed(lambda: write_rule_table(path, made, selection, args.threads), 1)

    run = runs.Run(args)
    run.table("sizes", ["pairs", "initial phrase pairs", "rules", "peak MiB of extraction", "MiB of the grammar"])
    run.row(made.sentences, made.phrases, len(made.rules), peak, size)
    run.table("steps", ["step", "rules", "wall s", "longest wall s"])
    run.row("extraction", len(made.rules), *extraction)
    run.row("selection", len(selection.kept), *selecting)
    run.row("writing", len(selection.kept), *writing)
    run.row("Moses rule table", len(selection.kept), *moses)
    if args.filter:
        sentences = read_lines(args.filter)
        filtered, filtering = timed(lambda: select_rules(made, sentences=sentences), args.repeats)
        run.row(f"selection for {len(sentences)} sentences", len(filtered.kept), *filtering)
    growth(run, list(stream_aligned(*args.corpus)), args.repeats)
    run.save()


if __name__ == "__main__":
    main()
