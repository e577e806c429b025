"""Time of a sentence of documents: reading and filling by lscfg against one parse by Python's own parsers.

    python benchmarks/markup.py --units 10000

Every document holds units with nested tags. Each unit gets a translation of as many words, all linked to words in
reverse order, so that every tag moves. Columns: ``ratio``, the time of lscfg in parses by html.parser or ElementTree.
"""

from __future__ import annotations

import html.parser
import re
import time
from collections.abc import Callable
from xml.etree import ElementTree

import runs

from lscfg.markup.document import UnitPiece, WordAlignment
from lscfg.markup.formats import FORMATS

HTML = '<p>la <b>casa <i>roja</i></b> y <a href="x">una <em>flor</em></a> n&amp;m <br>, sol {}.</p>\n'
XLIFF = '<trans-unit id="{0}"><source>la <g id="1">casa <g id="2">roja</g></g> <x id="3"/> {0}.</source></trans-unit>\n'


def translated(text: str) -> UnitPiece:
    """A unit's text with a translation in reverse order."""
    source = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]
    words = [f"w{k}" for k in range(len(source))]
    target = [found.span() for found in re.finditer(r"\S+", " ".join(words))]
    links = [[len(source) - 1 - k] for k in range(len(source))]
    return UnitPiece(text, "", " ".join(words), "", WordAlignment(source, target, links))


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor seconds of the best of three calls."""
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def costs(ending: str, text: str, parse: Callable[[str], object]) -> tuple[float, float, float]:
    """Microseconds of reading and of filling a unit, and the ratio to a parse of the document."""
    kind, data = FORMATS[ending], text.encode()
    pieces = [[translated(unit.text)] for unit in kind.read(data).units]
    read = cpu_seconds(lambda: kind.read(data))
    whole = cpu_seconds(lambda: kind.read(data).filled(pieces))
    return 1e6 * read / len(pieces), 1e6 * (whole - read) / len(pieces), whole / cpu_seconds(lambda: parse(text))


def main() -> None:
    """Prints the times and keeps them."""
    parser = runs.parser(__doc__)
    parser.add_argument("--units", type=int, default=10_000, help="units of a document (default: %(default)s)")
    args = parser.parse_args()
    run = runs.Run(args)
    run.table("a unit", ["format", "read us", "fill us", "ratio"])
    html_text = "".join(HTML.format(k) for k in range(args.units))
    xliff_text = f"<xliff version='1.2'>{''.join(XLIFF.format(k) for k in range(args.units))}</xliff>"
    run.row(".html", *costs(".html", html_text, html.parser.HTMLParser().feed))
    run.row(".xlf", *costs(".xlf", xliff_text, ElementTree.fromstring))
    run.save()


if __name__ == "__main__":
    main()
