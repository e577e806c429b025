"""A random part of a corpus: some of its training pairs, in their order, and its other files unchanged.

    python experiments/part.py DIR 5000 --monolingual -o DIR.5000

The files of DIR whose names begin with train. are the sides of the training text. A seed chooses the same pairs always.
With --monolingual, files mono.* have the sides of all other pairs, each shuffled for itself, half.* the first half of
each, and all.* the training text itself, whose pairs show what could be won.
"""

from __future__ import annotations

import argparse
import random
import shutil
from pathlib import Path


def main() -> None:
    """Writes the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, metavar="DIR")
    parser.add_argument("pairs", type=int, metavar="N")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--monolingual", action="store_true", help="write the other pairs, too")
    args = parser.parse_args()
    sides = {path.name: path.read_bytes().splitlines(True) for path in sorted(args.corpus.glob("train.*"))}
    sizes = {len(lines) for lines in sides.values()}
    if len(sizes) != 1:
        parser.error(f"{args.corpus}: found {len(sides)} files train.* of {sorted(sizes)} lines; they must be equal")
    if not 0 < args.pairs <= min(sizes):
        parser.error(f"{args.pairs} pairs of {min(sizes)}")
    kept = sorted(random.Random(args.seed).sample(range(min(sizes)), args.pairs))
    args.output.mkdir(parents=True, exist_ok=True)
    for name, lines in sides.items():
        (args.output / name).write_bytes(b"".join(lines[k] for k in kept))
        if args.monolingual:
            rest = [lines[k] for k in sorted({*range(len(lines))} - {*kept})]
            random.Random(f"{args.seed} {name}").shuffle(rest)
            parts = {"mono": rest, "half": rest[: len(rest) // 2], "all": lines}
            for part, own in parts.items():
                (args.output / name.replace("train", part, 1)).write_bytes(b"".join(own))
    for path in args.corpus.iterdir():
        if path.is_file() and path.name not in sides:
            shutil.copy(path, args.output / path.name)


if __name__ == "__main__":
    main()
