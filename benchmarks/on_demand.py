"""Time and memory of an index of a large text: making and opening it, and the rules of sentences.

    python benchmarks/on_demand.py train.ja train.en train.align test.ja --copies 50

Sentences of 18 to 22 words are looked up; lines of a text of shorter sentences can be joined.

The text is repeated. In each copy but the first, a third of the words, chosen by a hash, become new words, so that
frequent words stay frequent and rare ones stay rare. Memory is private memory at the end of the look-ups.

Pairs in memory are those of the text: ``all s`` reads them, ``next s`` one more; both include a look-up.
"""

from __future__ import annotations

import time
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import runs

from lscfg.extract.hiero_settings import HieroSettings
from lscfg.extract.on_demand import MOST_TAUGHT, RuleIndex, write_index
from lscfg.io.read import read_lines

WORDS = (18, 22)
"""Words of the sentences that are looked up."""


def main() -> None:
    """Prints the figures and keeps them."""
    parser = runs.parser(__doc__)
    runs.add_aligned_text(parser)
    parser.add_argument("text", type=Path, help="sentences to look up")
    parser.add_argument("--copies", type=int, default=1, help="repetitions of the text (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=10, help="maximum sentences (default: %(default)s)")
    parser.add_argument("--places", type=int, nargs="+", default=[300, 100], help="samples (default: 300 100)")
    args = parser.parse_args()
    run = runs.Run(args)
    sentences = [line for line in read_lines(args.text) if WORDS[0] <= len(line.split()) <= WORDS[1]][: args.sentences]
    with TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("source", "target", "links")]
        for path, made in zip(files, (args.source, args.target, args.alignment[0]), strict=True):
            repeat(made, path, args.copies, changed=path != files[2])
        start = time.process_time()
        pairs = write_index(folder + "/index", *files[:2], files[2:], HieroSettings())
        made_in = time.process_time() - start
        start = time.process_time()
        index = RuleIndex(folder + "/index")
        opened_in = time.process_time() - start
        run.table("an index", ["pairs", "making s", "file MiB", "opening s"])
        run.row(pairs, made_in, Path(folder, "index").stat().st_size / 2**20, opened_in)
        run.table("a sentence", ["samples", "words", "rules", "places", "target places", "ms", "slowest ms", "MiB"])
        for places in args.places:
            index.places = places
            look_up(run, index, sentences)
        teach(run, index, list(zip(*(read_lines(path)[:MOST_TAUGHT] for path in files), strict=True)), sentences[0])
    run.save()


def look_up(run: runs.Run, index: RuleIndex, sentences: list[str]) -> None:
    """Measures the look-up of each sentence; the first one is repeated, since it maps pages of the file."""
    seconds, rules, examined = [], [], []
    index.text(sentences[0], 15)
    for sentence in sentences:
        start = time.process_time()
        rules.append(index.text(sentence, 15).count("\n"))
        seconds.append(time.process_time() - start)
        examined.append(index.examined())
    words = float(np.mean([len(sentence.split()) for sentence in sentences]))
    milliseconds = 1000 * np.array(seconds)
    source, target = np.mean(examined, axis=0).tolist()
    mean = float(np.mean(rules)), source, target, float(milliseconds.mean()), float(milliseconds.max())
    run.row(index.places, words, *mean, private_memory())


def teach(run: runs.Run, index: RuleIndex, pairs: list[tuple[str, str, str]], sentence: str) -> None:
    """Measures additions to the text in memory."""
    run.table("pairs in memory", ["pairs", "all s", "next s"])
    for size in (1_000, min(MOST_TAUGHT, len(pairs)) - 1):
        index.teach(())
        seconds = []
        for known in (pairs[:size], pairs[: size + 1]):
            start = time.process_time()
            index.teach(known)
            index.text(sentence, 15)
            seconds.append(time.process_time() - start)
        run.row(size, *seconds)


def repeat(source: Path, target: Path, copies: int, changed: bool) -> None:
    """Writes the copies of a text."""
    lines = read_lines(source)
    with open(target, "w", encoding="utf-8") as file:
        for copy in range(copies):
            names: dict[str, str] = {}
            for line in lines:
                if changed and copy:
                    words = line.split()
                    for word in words:
                        if word not in names:
                            names[word] = f"{word}~{copy}" if zlib.crc32(f"{word} {copy}".encode()) % 3 == 0 else word
                    line = " ".join([names[word] for word in words])
                file.write(f"{line}\n")


def private_memory() -> float:
    """Private memory of this process in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    main()
