"""Splits a development set into alternate lines: the first half tunes weights, the second compares settings.

python experiments/small/halves.py DIR/dev.es DIR/dev.shp writes dev.1.es, dev.2.es, dev.1.shp and dev.2.shp into DIR.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg.errors import InputError, counted
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines


def main() -> None:
    """Writes both halves of each file.

    Raises:
        InputError: a file cannot be read, or the files differ in length.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="source and references, line by line")
    texts = {path: read_lines(path) for path in parser.parse_args().files}
    for path, lines in texts.items():
        first, text = next(iter(texts.items()))
        if len(lines) != len(text):
            raise InputError(
                f"{counted(len(lines), 'line')}, but {first} has {len(text):,}; both need the same number of lines",
                path,
            )
        for half in range(2):
            write_lines(path.with_name(f"{path.stem}.{half + 1}{path.suffix}"), lines[half::2])


if __name__ == "__main__":
    main()
