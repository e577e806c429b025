"""A random part of a corpus: some of its training pairs, in their order, and its other files unchanged.

    python experiments/part.py DIR 5000 --monolingual -o DIR.5000
    python experiments/part.py DIR 5000 --monolingual disjoint -o DIR.5000.disjoint
    python experiments/part.py DIR 5000 --noisy 0.3 -o DIR.5000.noisy

The files of DIR whose names begin with train. are the sides of the training text. A seed chooses the same pairs always.
With --monolingual, files mono.* have the sides of all other pairs, each shuffled for itself, and all.* the training
text itself, whose pairs show what could be won. With --monolingual disjoint, the first side has the other pairs of the
first half alone, and the second side those of the second half, so that no sentence's translation is there.
With --noisy SHARE, mono.* have the other pairs in order, a share of them with the second side of another such pair and
without a tenth of the words of each side; all.* have the pairs of train.* and then those of mono.*.
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
    parser.add_argument(
        "--monolingual", nargs="?", const="whole", choices=("whole", "disjoint"), help="write the other pairs, too"
    )
    parser.add_argument("--noisy", type=float, metavar="SHARE", help="write the other pairs, a share of them wrong")
    args = parser.parse_args()
    if args.noisy is not None and (args.monolingual or not 0 <= args.noisy <= 1):
        parser.error("--noisy takes a share from 0 to 1, and replaces --monolingual")
    if args.output.resolve() == args.corpus.resolve():
        parser.error(f"-o {args.output}: is the corpus; give another folder")
    sides = {path.name: _lines(path.read_bytes()) for path in sorted(args.corpus.glob("train.*"))}
    sizes = {len(lines) for lines in sides.values()}
    if len(sizes) != 1:
        parser.error(f"{args.corpus}: found {len(sides)} files train.* of {sorted(sizes)} lines; they must be equal")
    if not 0 < args.pairs <= min(sizes):
        parser.error(f"{args.pairs} pairs of {min(sizes)}")
    kept = sorted(random.Random(args.seed).sample(range(min(sizes)), args.pairs))
    args.output.mkdir(parents=True, exist_ok=True)
    others, written = sorted({*range(min(sizes))} - {*kept}), {*sides}
    for number, (name, lines) in enumerate(sides.items()):
        (args.output / name).write_bytes(b"".join(lines[k] for k in kept))
        if args.monolingual:
            rest = [lines[k] for k in (others if args.monolingual == "whole" else _half(others, number))]
            random.Random(f"{args.seed} {name}").shuffle(rest)
            for part, own in {"mono": rest, "all": lines}.items():
                (args.output / name.replace("train", part, 1)).write_bytes(b"".join(own))
    if args.noisy is not None:
        own, further = ({name: [lines[k] for k in rows] for name, lines in sides.items()} for rows in (kept, others))
        draw = random.Random(f"{args.seed} noisy")
        wrong = sorted(draw.sample(range(len(others)), round(args.noisy * len(others))))
        for number, name in enumerate(further):
            further[name] = _noisy(further[name], wrong, number, draw)
        for name, lines in further.items():
            (args.output / name.replace("train", "mono", 1)).write_bytes(b"".join(lines))
            (args.output / name.replace("train", "all", 1)).write_bytes(b"".join(own[name] + lines))
    if args.monolingual or args.noisy is not None:  # the corpus may be such a part, too
        written |= {name.replace("train", part, 1) for name in sides for part in ("mono", "all")}
    for path in args.corpus.iterdir():
        if path.is_file() and path.name not in written:
            shutil.copy(path, args.output / path.name)


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends; the last one gets an end if it lacks one."""
    return [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")] if data else []


def _noisy(lines: list[bytes], wrong: list[int], turn: int, draw: random.Random) -> list[bytes]:
    """Lines without a tenth of the words of the wrong ones, which change places in a circle by so many turns."""
    found = list(lines)
    for place, other in zip(wrong, wrong[turn:] + wrong[:turn], strict=True):
        words = lines[other].split()
        found[place] = b" ".join([word for word in words if draw.random() >= 0.1] or words) + b"\n"
    return found


def _half(items: list[int], number: int) -> list[int]:
    """The first half of the items, or the second one."""
    middle = len(items) // 2
    return items[middle:] if number else items[:middle]


if __name__ == "__main__":
    main()
