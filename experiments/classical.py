"""Classical and modern Chinese of NiuTrans' corpus Classical-Modern as training, development and test text.

    python experiments/classical.py CORPUS -o DIR
    python experiments/classical.py CORPUS --pairs 200000 -o DIR.200000

CORPUS contains a folder for each chapter, with source.txt and target.txt, anywhere below it. The script writes train,
dev and test of both sides, one character a word, into DIR: pairs of at most 40 characters on either side. Chapters are
ordered by the SHA-256 of their paths. Dev and test draw 1,000 pairs each from the first 150 chapters and the next 150,
without sentences whose letters are the source of a training pair; all other chapters make the training text, or --pairs
of it. A smaller training text is the beginning of a larger one. Counts go to standard output.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.folders import make_folder
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines

CHAPTERS, PAIRS, LONGEST = 150, 1000, 40
SIDES = {"source": "old", "target": "new"}

Pair = tuple[str, str]


def digest(text: str) -> str:
    """Returns a key that orders texts at random, always in the same way."""
    return hashlib.sha256(text.encode()).hexdigest()


def characters(line: str) -> list[str]:
    """Returns the characters of a line without blanks, marks and invisible ones."""
    return [one for one in unicodedata.normalize("NFC", line) if unicodedata.category(one)[0] not in "CMZ"]


def pairs_of(chapter: Path) -> Iterator[Pair]:
    """Yields the pairs of a chapter that are short enough, as words of one character.

    Raises:
        InputError: The sides differ in their number of lines.
    """
    old, new = (read_lines(chapter / f"{name}.txt") for name in SIDES)
    if len(old) != len(new):
        raise InputError(f"{chapter}: {len(old)} and {len(new)} lines")
    for one, other in zip(old, new, strict=True):
        pair = characters(one), characters(other)
        if min(map(len, pair)) > 0 and max(map(len, pair)) <= LONGEST:
            yield " ".join(pair[0]), " ".join(pair[1])


def letters(line: str) -> str:
    """Returns the letters of a line, which leaves out blanks and punctuation."""
    return "".join(filter(str.isalnum, line))


def draw(pool: Iterable[Pair], known: set[str]) -> tuple[list[Pair], int]:
    """Chooses pairs with different sources that the training text does not contain; counts those left out."""
    unlike = {letters(one): (one, other) for one, other in pool}
    kept = {text: pair for text, pair in unlike.items() if text and text not in known}
    return [kept[text] for text in sorted(kept, key=digest)[:PAIRS]], len(unlike) - len(kept)


def main() -> None:
    """Writes the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True)
    parser.add_argument("--pairs", type=int, metavar="N", help="pairs of the training text (default: all)")
    args = parser.parse_args()
    chapters = sorted(
        (path.parent for path in args.corpus.rglob("source.txt")),
        key=lambda path: digest(path.relative_to(args.corpus).as_posix()),
    )
    if len(chapters) <= 2 * CHAPTERS:
        parser.error(f"{args.corpus}: {len(chapters)} chapters; more than {2 * CHAPTERS} are needed")
    train = [pair for chapter in chapters[2 * CHAPTERS :] for pair in pairs_of(chapter)]
    known = {letters(old) for old, _ in train}
    sets = {"train": train[: args.pairs]}
    counts = {"chapters": len(chapters), "train": len(sets["train"])}
    for place, name in enumerate(("dev", "test")):
        pool = (pair for chapter in chapters[place * CHAPTERS :][:CHAPTERS] for pair in pairs_of(chapter))
        sets[name], counts[f"{name}, known"] = draw(pool, known)
        counts[name] = len(sets[name])
    make_folder(args.output)
    for name, pairs in sets.items():
        for side, ending in enumerate(SIDES.values()):
            write_lines(args.output / f"{name}.{ending}", [pair[side] for pair in pairs])
            counts[f"{name}.{ending}, characters"] = sum(len(pair[side].split()) for pair in pairs)
    print(json.dumps(counts, indent=2))


if __name__ == "__main__":
    main()
