"""``lscfg heatmap``: pictures of the span marginals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.kernel import Inference

HELP = "draw the span marginals of sentences as charts, models side by side"
EXAMPLE = "lscfg heatmap MLE=mle.lscfg SPECTRAL=spectral8.lscfg --text dev.ja --sentences 0,7-9 -o charts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, NamedFile, output_folder

    parser.add_argument(
        "models",
        type=NamedFile,
        metavar="[NAME=]MODEL",
        nargs="+",
        help="model files, or cdec.ini files with an LSCFG line",
    )
    parser.add_argument(
        "--text", type=InputFile, metavar="TEXT", required=True, help="tokenized source sentences, one a line"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_folder("sentence.*"),
        metavar="DIR",
        required=True,
        help="write DIR/sentence.N.svg there",
    )
    parser.add_argument("--sentences", metavar="LIST", help="numbers from 0 and ranges, as 0,7-9 (default: all)")
    parser.add_argument(
        "--format", choices=("svg", "png", "pdf"), default="svg", help="format of the pictures (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads for inference (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> None:
    """Writes one picture a sentence.

    Raises:
        InputError: a file cannot be read or is malformed, a sentence is not there, or matplotlib is not installed.
    """
    from pathlib import Path

    from lscfg.corpus.parallel import check_plain, check_sentences
    from lscfg.decode.analysis import Analyser, Analysis
    from lscfg.errors import InputError
    from lscfg.io.text import read_lines
    from lscfg.log import progress
    from lscfg.parallel.engine import in_threads
    from lscfg.study.heatmap import draw_charts

    analysers: dict[str, Analyser] = {}
    for text in args.models:
        name, path = text.name or Path(text.path).stem, text.path
        if name in analysers:
            raise InputError(f"two models are called {name}; write NAME={path}")
        analysers[name] = Analyser.from_ini(path) if path.endswith(".ini") else Analyser.from_model(path)
    sentences = read_lines(args.text)
    check_plain(sentences, args.text)
    check_sentences(sentences, args.text, allow_empty=True)
    chosen = range(len(sentences)) if args.sentences is None else _numbers(args.sentences, len(sentences))
    chosen = [number for number in chosen if sentences[number].split()]

    def work(number: int) -> tuple[int, dict[str, Analysis]]:
        return number, {name: analyser(sentences[number], number) for name, analyser in analysers.items()}

    with in_threads(args.threads) as engine:
        for number, found in progress(engine.map(work, chosen), "heatmap", len(chosen)):
            charts = {name + _remark(analysis.inference): analysis.chart() for name, analysis in found.items()}
            path = Path(args.output) / f"sentence.{number}.{args.format}"
            draw_charts(sentences[number].split(), charts, f"sentence {number}", path)


def _remark(inference: Inference | None) -> str:
    """What is to be known of a chart beside its values."""
    if inference is None:
        return ", no parse"
    return {1: "", 0: ", g = 0", -1: ", g < 0"}[inference.sign]


def _numbers(text: str, n: int) -> list[int]:
    """The numbers of a list such as 0,7-9.

    Raises:
        InputError: it is none, or has a number of n or more.
    """
    from lscfg.errors import InputError, cut

    found: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isascii() and first.isdigit() and (not dash or (last.isascii() and last.isdigit()))):
            raise InputError(f"--sentences {cut(text)}: expected numbers and ranges, as 0,7-9")
        if int(last or first) < int(first):
            raise InputError(f"--sentences {cut(text)}: the range {cut(part)} ends before it begins")
        if int(last or first) >= n:
            raise InputError(f"--sentences {cut(text)}: the text has the sentences 0 to {n - 1}")
        found |= dict.fromkeys(range(int(first), int(last or first) + 1))
    return list(found)
